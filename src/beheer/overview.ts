// Overview: the state of the service on one page: what is wrong, where to do something about it, and what is going on.

import type { FastifyInstance } from 'fastify'
import packageJson from '../../package.json' with { type: 'json' }
import type { Reader } from '../database/database.ts'
import { one } from '../database/rows.ts'
import type { DiskSpace } from '../documenten/storage/index.ts'
import type { readiness } from '../http/health.ts'
import { unreachable } from '../notificaties/kanalen.ts'
import { EXTERNAL } from '../notificaties/outbox.ts'
import { pausedAt, readModus, readSettings } from '../notificaties/settings.ts'
import { type Figures, readAlarms } from '../nrc/abonnement/figures.ts'
import { nameOf } from './abonnementen/abonnement.ts'
import { stateOf, subscriberOutcome } from './abonnementen/labels.ts'
import { formatAgo, formatBytes, formatDate, formatDuration, formatNumber } from './format.ts'
import { t, words } from './language/language.ts'
import { outcomeOf, type Tone } from './notificatie-labels.ts'

type Parts = FastifyInstance['parts']
type Storing = { soort: 'fout' | 'let-op'; tekst: string; advies: string; path?: string; link?: string }
type Component = { naam: string; soort: Tone; staat: string; detail: string }

/** A worker gives a sign of life every second. */
const STIL_NA = 5
const TOT = 10_000
const COUNT_JOBS_TO = 100_000
/** Abonnementen that are named one by one. */
const MAX_ALARMS = 10
/** From so many failures in a row, or when the receiver does not know us, an abonnement asks for attention. */
const MAX_FAULTS = 5
const LATE_MS = 15 * 60_000
/** With less room left than this we warn. */
const LITTLE_SPACE = 0.1

export function registerOverview(app: FastifyInstance): void {
  const bereik = remembered(5_000, (apiRoot, ms: number) => unreachable(apiRoot, ms, app.parts.config.proxies))
  const databaseGrootte = remembered(60_000, async () => {
    const [row] = await app.reader.sql<[{ omvang: number }]>`
      select pg_database_size(current_database()) as omvang`
    return row.omvang
  })
  const lostContent = remembered(10_000, () => app.own.countLost())
  app.get('/', { config: { access: 'beheer', rol: 'viewer' } }, async (_request, reply) => {
    const { parts } = app
    const [
      controles,
      workers,
      taken,
      notificaties,
      ontvanger,
      lopend,
      schijf,
      omvang,
      versies,
      pauze,
      vermist,
      zorgen,
    ] = await Promise.all([
      app.own.readiness(),
      readWorkers(app.reader),
      countJobs(app.reader),
      countNotificaties(app.reader),
      readReceiver(parts, app.reader, bereik),
      readImport(app.reader),
      readDisk(parts),
      databaseGrootte(''),
      readVersions(app.reader),
      pausedAt(app.read),
      lostContent(''),
      readAlarms(app.read, MAX_ALARMS),
    ])
    const storingen: Storing[] = []
    const onderdelen: Component[] = [
      database(controles, storingen),
      storagePart(controles, parts.store.backend, storingen),
      receiverPart(ontvanger, storingen),
      workerPart(workers, storingen),
      jobsPart(controles, taken, storingen),
      diskPart(schijf, storingen),
    ]
    reportNotificaties(notificaties, storingen)
    reportAbonnementen(zorgen, storingen)
    reportLostContent(vermist, storingen)
    return reply.page('overview', {
      title: t('Overzicht'),
      nu: new Date().toISOString(),
      storingen,
      onderdelen,
      workers,
      taken,
      notificaties,
      lopend,
      schijf,
      omvang,
      versies,
      pauze,
      capped: (aantal: number, tot = TOT) => (aantal > tot ? t`meer dan ${formatNumber(tot)}` : formatNumber(aantal)),
    })
  })
}

/** What was asked a moment ago is not asked again: pages that refresh themselves may be open anywhere. */
function remembered<Rest extends unknown[], T>(ms: number, ask: (key: string, ...rest: Rest) => Promise<T>) {
  let kept: { key: string; until: number; answer: Promise<T> } | undefined
  return (key: string, ...rest: Rest): Promise<T> => {
    if (kept?.key === key && performance.now() < kept.until) return kept.answer
    const answer = ask(key, ...rest)
    const mine = { key, until: performance.now() + ms, answer }
    kept = mine
    answer.catch(() => {
      if (kept === mine) kept = undefined
    })
    return answer
  }
}

type Controles = Awaited<ReturnType<typeof readiness>>

function database({ database, schema, key }: Controles, storingen: Storing[]): Component {
  if (database.status !== 'ok') {
    storingen.push({
      soort: 'fout',
      tekst: t('De database antwoordt niet.'),
      advies: t('Controleer of PostgreSQL draait en bereikbaar is. De dienst herstelt vanzelf.'),
    })
    return { naam: t('Database'), soort: 'fout', staat: t('Antwoordt niet'), detail: '' }
  }
  if (key.status !== 'ok') {
    storingen.push({
      soort: 'fout',
      tekst: t('Geheimen zijn niet te lezen: SECRET_KEY is een andere sleutel dan waarmee deze database is gevuld.'),
      advies: t(
        'Start de dienst met de sleutel waarmee de database is gevuld. Tot die tijd wordt geen applicatie toegelaten.',
      ),
    })
    return { naam: t('Database'), soort: 'fout', staat: t('Andere sleutel'), detail: '' }
  }
  if (schema.status !== 'ok') {
    storingen.push({
      soort: 'fout',
      tekst: t('De database hoort niet bij deze versie van het programma.'),
      advies: t('Voer de opdracht migrate uit, of start overal dezelfde versie.'),
    })
    return { naam: t('Database'), soort: 'fout', staat: t('Ander schema'), detail: '' }
  }
  return { naam: t('Database'), soort: 'goed', staat: t('Werkt'), detail: '' }
}

const BACKENDS: Record<string, string> = words({
  filesystem: 'map op schijf',
  s3_storage: 'S3',
  azure_blob_storage: 'Azure',
})

function storagePart({ storage, malwareScanner }: Controles, backend: string, storingen: Storing[]): Component {
  const detail = BACKENDS[backend] ?? backend
  if (malwareScanner && malwareScanner.status !== 'ok')
    storingen.push({
      soort: 'let-op',
      tekst: t('De virusscanner antwoordt niet.'),
      advies: t(
        'Start clamd opnieuw en bekijk zijn log. De instelling CLAMD_UNAVAILABLE zegt of uploaden intussen doorgaat.',
      ),
    })
  if (storage.status === 'ok') return { naam: t('Documentopslag'), soort: 'goed', staat: t('Werkt'), detail }
  storingen.push({
    soort: 'fout',
    tekst: t`De documentopslag (${detail}) is niet beschikbaar: uploaden en downloaden lukken niet.`,
    advies:
      backend === 'filesystem'
        ? t('Controleer of de schijf is aangekoppeld, beschrijfbaar is en ruimte heeft.')
        : t('Controleer of de opslagdienst bereikbaar is en of de inloggegevens kloppen.'),
  })
  return { naam: t('Documentopslag'), soort: 'fout', staat: t('Niet beschikbaar'), detail }
}

function reportLostContent(aantal: number, storingen: Storing[]): void {
  if (aantal === 0) return
  storingen.push({
    soort: 'fout',
    tekst:
      aantal === 1
        ? t('De inhoud van een document is uit de documentopslag verdwenen.')
        : t`De inhoud van ${formatNumber(aantal)} documenten is uit de documentopslag verdwenen.`,
    advies: t(
      'Zet de bestanden terug uit een back-up; in het log staat welke het zijn. De opdracht storage check zoekt naar meer. Deze melding verdwijnt vanzelf.',
    ),
  })
}

function reportAbonnementen(zorgen: Figures[], storingen: Storing[]): void {
  for (const abonnement of zorgen) {
    const { uuid, status, reden, fouten, laatsteUitkomst, laatsteHttpStatus, oudsteWachtendeOp } = abonnement
    const naar = { path: `/abonnementen/${uuid}`, link: t('Naar dit abonnement') }
    const naam = nameOf(abonnement)
    if (status === 'geblokkeerd' || status === 'opgezegd') {
      const staat = stateOf(abonnement).tekst.toLowerCase()
      storingen.push({
        soort: 'fout',
        tekst: t`Het abonnement ${naam} is ${staat}. ${reden}`,
        advies: t(
          'Nieuwe berichten worden niet klaargezet. Los de oorzaak op en hervat het: dan komt ook wat is gemist.',
        ),
        ...naar,
      })
    } else if (fouten >= MAX_FAULTS || (fouten > 0 && (laatsteHttpStatus === 401 || laatsteHttpStatus === 403))) {
      const { tekst, advies } = subscriberOutcome(laatsteUitkomst, laatsteHttpStatus)
      storingen.push({
        soort: 'let-op',
        tekst: t`Het abonnement ${naam} neemt geen berichten aan: ${tekst.toLowerCase()}.`,
        advies,
        ...naar,
      })
    } else if (oudsteWachtendeOp !== null && Date.parse(oudsteWachtendeOp) < Date.now() - LATE_MS) {
      storingen.push({
        soort: 'let-op',
        tekst: t`Voor het abonnement ${naam} wacht een bericht van ${formatAgo(oudsteWachtendeOp)}.`,
        advies: t('De ontvanger is traag, of krijgt meer dan hij aankan.'),
        ...naar,
      })
    }
  }
}

type Receiver = {
  uit: boolean
  modus: string
  apiRoot: string | null
  onbereikbaar: string | undefined
  laatste: { uitkomst: string; httpStatus: number | null; begonnenOp: string } | undefined
}

async function readReceiver(
  parts: Parts,
  { db, sql }: Reader,
  bereik: (apiRoot: string, ms: number) => Promise<string | undefined>,
): Promise<Receiver> {
  const [{ dienst }, modus] = await Promise.all([readSettings(db), readModus(db)])
  const [service] =
    dienst === null ? [] : await sql<{ api_root: string }[]>`select api_root from dienst where slug = ${dienst}`
  const [laatste] = await sql<NonNullable<Receiver['laatste']>[]>`
    select uitkomst, http_status as "httpStatus", begonnen_op as "begonnenOp" from notificatie_poging
    where abonnement_id = ${EXTERNAL} and uitkomst <> 'lost' order by begonnen_op desc limit 1`
  const apiRoot = service?.api_root ?? null
  const uit = parts.config.notificationsDisabled
  return {
    uit,
    modus,
    apiRoot,
    laatste,
    onbereikbaar: apiRoot && !uit && modus !== 'ingebouwd' ? await bereik(apiRoot, 2_000) : undefined,
  }
}

function receiverPart({ uit, modus, apiRoot, onbereikbaar, laatste }: Receiver, storingen: Storing[]): Component {
  const naam = t('Notificatiedienst')
  const instellen = { path: '/configuratie/notificaties', link: t('Naar de configuratie van notificaties') }
  if (uit) return { naam, soort: '', staat: t('Uitgezet'), detail: t('NOTIFICATIONS_DISABLED staat aan.') }
  if (modus === 'ingebouwd')
    return { naam, soort: 'goed', staat: t('Ingebouwd'), detail: t('Berichten gaan naar de abonnementen hier.') }
  if (apiRoot === null) {
    storingen.push({
      soort: 'let-op',
      tekst: t('Er is geen notificatiedienst ingesteld.'),
      advies: t('Berichten blijven bewaard tot er een is.'),
      ...instellen,
    })
    return { naam, soort: 'let-op', staat: t('Niet ingesteld'), detail: '' }
  }
  if (onbereikbaar !== undefined) {
    storingen.push({
      soort: 'fout',
      tekst: t`De notificatiedienst is niet bereikbaar: ${onbereikbaar}.`,
      advies: t(
        'Berichten blijven bewaard en worden herhaald. Verstuur een testbericht om te zien welke stap mislukt.',
      ),
      ...instellen,
    })
    return { naam, soort: 'fout', staat: t('Niet bereikbaar'), detail: onbereikbaar }
  }
  if (!laatste) return { naam, soort: 'goed', staat: t('Bereikbaar'), detail: t('Er is nog niets verstuurd.') }
  const { tekst, advies } = outcomeOf(laatste.uitkomst, laatste.httpStatus)
  const wanneer = formatAgo(laatste.begonnenOp)
  if (laatste.uitkomst === 'delivered')
    return { naam, soort: 'goed', staat: t('Werkt'), detail: t`Laatste bericht bezorgd: ${wanneer}.` }
  storingen.push({
    soort: 'let-op',
    tekst: t`De laatste poging om een bericht te bezorgen mislukte (${wanneer}): ${tekst}.`,
    advies,
    ...instellen,
  })
  return { naam, soort: 'let-op', staat: t('Laatste poging mislukt'), detail: `${tekst}, ${wanneer}.` }
}

type Worker = {
  naam: string
  versie: string
  host: string
  pid: number
  gestartOp: string
  gezienOp: string
  stil: boolean
  stilte: number
}

async function readWorkers({ sql }: Reader): Promise<Worker[]> {
  const rows = await sql<Omit<Worker, 'stil'>[]>`
    select naam, versie, host, pid, gestart_op as "gestartOp", gezien_op as "gezienOp",
      extract(epoch from clock_timestamp() - gezien_op)::float8 as stilte
    from worker order by naam, id`
  return rows.map((row) => ({ ...row, stil: Math.abs(row.stilte) > STIL_NA }))
}

function workerPart(workers: Worker[], storingen: Storing[]): Component {
  for (const { naam, host, pid, stilte } of workers.filter(({ stil }) => stil))
    storingen.push({
      soort: 'fout',
      tekst: t`Worker ${naam} (${host}, pid ${pid}) is stil sinds ${formatDuration(Math.abs(stilte))}.`,
      advies: t('Controleer of het proces nog draait. Een andere worker neemt zijn werk binnen 20 seconden over.'),
      path: '/taken',
      link: t('Naar de taken'),
    })
  const levend = workers.filter(({ stil }) => !stil)
  for (const [naam, werk] of [
    ['worker', t('imports en opruimen')],
    ['notificaties', t('het versturen van notificaties')],
  ] as const) {
    if (levend.some((worker) => worker.naam === naam)) continue
    storingen.push({
      soort: 'fout',
      tekst: t`Er draait geen worker voor ${werk}.`,
      advies: t('Start het programma met de opdracht worker (of start). Wat wacht blijft bewaard.'),
      path: '/taken',
      link: t('Naar de taken'),
    })
  }
  const oud = levend.filter(({ versie }) => versie !== packageJson.version)
  if (oud.length > 0)
    storingen.push({
      soort: 'let-op',
      tekst: t`${oud.length === 1 ? t('Een worker heeft') : t`${oud.length} workers hebben`} een andere versie dan deze pagina's.`,
      advies: t('Rond de uitrol van de nieuwe versie af.'),
    })
  const detail = levend.length === workers.length ? '' : t`${workers.length - levend.length} stil`
  const compleet = new Set(levend.map(({ naam }) => naam)).size >= 2
  return {
    naam: t('Workers'),
    soort: !compleet || detail ? 'fout' : 'goed',
    staat: levend.length === 0 ? t('Geen') : t`${levend.length} actief`,
    detail,
  }
}

type JobCounts = Record<'wacht' | 'gepland' | 'bezig' | 'mislukt', number> & { oudste: number; totaal: number }

async function countJobs({ sql }: Reader): Promise<JobCounts> {
  const rows = await sql<{ staat: keyof JobCounts; aantal: number; oudste: number }[]>`
    select taak_staat(locked_at, attempts, max_attempts, run_at) as staat, count(*)::int as aantal,
      coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as oudste
    from (select * from graphile_worker.jobs limit ${COUNT_JOBS_TO + 1}) j group by 1`
  const per = Object.fromEntries(rows.map(({ staat, aantal }) => [staat, aantal]))
  const oudste = Math.max(0, rows.find(({ staat }) => staat === 'wacht')?.oudste ?? 0)
  const totaal = rows.reduce((sum, { aantal }) => sum + aantal, 0)
  return { wacht: 0, gepland: 0, bezig: 0, mislukt: 0, ...per, oudste, totaal }
}

function jobsPart({ queue }: Controles, { wacht, mislukt, oudste }: JobCounts, storingen: Storing[]): Component {
  const laat = queue.status !== 'ok'
  if (laat)
    storingen.push({
      soort: 'let-op',
      tekst: t`Taken blijven liggen: de oudste wacht al ${formatDuration(oudste)}.`,
      advies: t('Controleer of er workers actief zijn. Bij grote drukte loopt dit vanzelf weer in.'),
      path: '/taken?staat=wacht',
      link: t('Naar de wachtende taken'),
    })
  if (mislukt > 0)
    storingen.push({
      soort: 'let-op',
      tekst: mislukt === 1 ? t('Er is een taak mislukt.') : t`Er zijn ${formatNumber(mislukt)} taken mislukt.`,
      advies: t('Bekijk waarom, neem de oorzaak weg en laat ze opnieuw uitvoeren.'),
      path: '/taken?staat=mislukt',
      link: t('Naar de mislukte taken'),
    })
  const detail =
    wacht > 0 ? t`${formatNumber(wacht)} wachten, de oudste ${formatDuration(oudste)}` : t('er wacht niets')
  return {
    naam: t('Taken'),
    soort: laat || mislukt > 0 ? 'let-op' : 'goed',
    staat: laat ? t('Achter') : t('Bij'),
    detail,
  }
}

type Notificaties = {
  gepland: number
  oudste: number | null
  mislukt: number
  misluktVandaag: number
  bezorgdVandaag: number
  vandaag: string
}

async function countNotificaties({ sql }: Reader): Promise<Notificaties> {
  // In each place, and not once before: the planner then knows how few messages are of today.
  const begin = sql`date_trunc('day', now() at time zone 'Europe/Amsterdam') at time zone 'Europe/Amsterdam'`
  return one(
    await sql<Notificaties[]>`
    select
      (select count(*)::int from (select from levering where status = 'gepland' limit ${TOT + 1}) n) as gepland,
      (select extract(epoch from now() - n.aanmaakdatum)::float8 from notificatie n
        where n.id = (select min(notificatie_id) from levering where status = 'gepland')) as oudste,
      (select count(*)::int from (select from levering where status = 'mislukt' limit ${TOT + 1}) n) as mislukt,
      (select count(*)::int from (select from levering l join notificatie n on n.id = l.notificatie_id
        where l.status = 'mislukt' and n.aanmaakdatum >= ${begin} limit ${TOT + 1}) n) as "misluktVandaag",
      (select count(*)::int from (select from notificatie n where aanmaakdatum >= ${begin}
        and not exists (select from levering l where l.notificatie_id = n.id) limit ${TOT + 1}) n) as "bezorgdVandaag",
      (now() at time zone 'Europe/Amsterdam')::date::text as vandaag`,
  )
}

function reportNotificaties({ misluktVandaag, vandaag }: Notificaties, storingen: Storing[]): void {
  if (misluktVandaag === 0) return
  storingen.push({
    soort: 'let-op',
    tekst:
      misluktVandaag === 1
        ? t('Vandaag is één notificatie mislukt.')
        : t`Vandaag zijn ${misluktVandaag > TOT ? t`meer dan ${formatNumber(TOT)}` : formatNumber(misluktVandaag)} notificaties mislukt.`,
    advies: t`Bekijk de oorzaak en verstuur ze opnieuw. Het gaat om berichten van ${formatDate(vandaag)}.`,
    path: `/notificaties?status=mislukt&van=${vandaag}`,
    link: t('Naar wat vandaag is mislukt'),
  })
}

async function readImport({ sql }: Reader) {
  const [row] = await sql<
    {
      uuid: string
      status: string
      totaal: number
      verwerkt: number
      geslaagd: number
      mislukt: number
      procent: number | null
      snelheid: number | null
      reden: string | null
    }[]
  >`
    select uuid, status, totaal, verwerkt, geslaagd, mislukt, procent::float8, rijen_per_seconde::float8 as snelheid, reden
    from import_overzicht where status in ('pending', 'active') limit 1`
  return row
}

/** Undefined when documents are elsewhere, or the directory cannot be read now. */
async function readDisk({ store }: Parts): Promise<DiskSpace | undefined> {
  return store.space?.().catch(() => undefined)
}

function diskPart(disk: DiskSpace | undefined, storingen: Storing[]): Component {
  const naam = t('Schijfruimte')
  if (!disk) return { naam, soort: '', staat: t('Onbekend'), detail: t('Zie de opslag zelf.') }
  const { free, total } = disk
  const detail = t`${formatBytes(free)} vrij van ${formatBytes(total)}`
  if (free / total >= LITTLE_SPACE) return { naam, soort: 'goed', staat: t('Genoeg'), detail }
  storingen.push({
    soort: 'let-op',
    tekst: t`Op de schijf van de documenten is nog ${formatBytes(free)} vrij.`,
    advies: t('Maak de schijf groter, of ruim op. Als zij vol is lukt uploaden niet meer.'),
    path: '/bewaartermijnen',
    link: t('Naar de bewaartermijnen'),
  })
  return { naam, soort: 'let-op', staat: t('Weinig'), detail }
}

async function readVersions({ sql }: Reader) {
  const [row] = await sql<[{ postgresql: string; schema: string }]>`
    select current_setting('server_version') as postgresql, (select max(naam) from migratie) as schema`
  return { programma: packageJson.version, ...row }
}
