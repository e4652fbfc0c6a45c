// What the overview says of each part of the service: its state, and to `alarms` what is wrong and what to do about it.

import packageJson from '../../../package.json' with { type: 'json' }
import type { DiskSpace } from '../../documenten/storage/index.ts'
import type { FeedAge } from '../../feed/age.ts'
import { UNRECORDED_TO } from '../../notificaties/claims.ts'
import type { Figures } from '../../nrc/abonnement/figures.ts'
import type { Setback } from '../../operations/clock.ts'
import type { DiskGrowth } from '../../operations/figures.ts'
import type { readiness } from '../../operations/health.ts'
import { OLD_SNAPSHOT_SECONDS } from '../../operations/snapshot.ts'
import { formatAgo, formatBytes, formatDate, formatDuration, formatNumber } from '../frame/format.ts'
import { t, words } from '../language/language.ts'
import { nameOf } from '../notificaties/abonnementen/abonnement.ts'
import { stateOf, subscriberOutcome } from '../notificaties/abonnementen/labels.ts'
import { outcomeOf, type Tone } from '../notificaties/notificatie-labels.ts'
import { fullWeek, isFullSoon } from './growth.ts'

export type Alarm = {
  tone: 'fout' | 'let-op'
  text: string
  advice: string
  path?: string
  link?: string
  /** What it is about, when it stands for several. */
  items?: { text: string; path: string }[]
}
export type Component = { name: string; tone: Tone; state: string; detail: string }

/** What is counted for the overview is counted up to here. */
export const TOT = 10_000
/** What failed of today is held against the moment of each message: up to here. */
export const TODAY_TO = 1_000
/** From so many failures in a row, or when the receiver does not know us, an abonnement asks for attention. */
const MAX_FAULTS = 5
const LATE_MS = 15 * 60_000
/** With less room left than this we warn. */
const LITTLE_SPACE = 0.1

type Checks = Awaited<ReturnType<typeof readiness>>

/** Whether it answers; a schema of another version and another key are faults as well. */
export function database({ database, schema, key }: Checks, alarms: Alarm[]): Component {
  if (database.status !== 'ok') {
    alarms.push({
      tone: 'fout',
      text: t('De database antwoordt niet.'),
      advice: t('Controleer of PostgreSQL draait en bereikbaar is. De dienst herstelt vanzelf.'),
    })
    return { name: t('Database'), tone: 'fout', state: t('Antwoordt niet'), detail: '' }
  }
  if (key.status === 'degraded') {
    alarms.push({
      tone: 'fout',
      text: t('Een sleutel ontbreekt: wat ermee is versleuteld wordt geweigerd.'),
      advice: t('Geef de dienst in DATA_KEYS alle sleutels die nog nodig zijn. Zie de pagina Sleutels.'),
    })
    return { name: t('Database'), tone: 'fout', state: t('Sleutel ontbreekt'), detail: '' }
  }
  if (key.status !== 'ok') {
    alarms.push({
      tone: 'fout',
      text: t('Geheimen zijn niet te lezen: een sleutel is een andere dan waarmee deze database is gevuld.'),
      advice: t(
        'Start de dienst met de sleutel waarmee de database is gevuld. Tot die tijd wordt geen applicatie toegelaten.',
      ),
    })
    return { name: t('Database'), tone: 'fout', state: t('Andere sleutel'), detail: '' }
  }
  if (schema.status !== 'ok') {
    alarms.push({
      tone: 'fout',
      text: t('De database hoort niet bij deze versie van het programma.'),
      advice: t('Voer de opdracht migrate uit, of start overal dezelfde versie.'),
    })
    return { name: t('Database'), tone: 'fout', state: t('Ander schema'), detail: '' }
  }
  return { name: t('Database'), tone: 'goed', state: t('Werkt'), detail: '' }
}

const BACKENDS: Record<string, string> = words({
  filesystem: 'map op schijf',
  s3_storage: 'S3',
  azure_blob_storage: 'Azure',
})

/** Where the bytes of documents go, and the virus scanner before it. */
export function storagePart({ storage, malwareScanner }: Checks, backend: string, alarms: Alarm[]): Component {
  const detail = BACKENDS[backend] ?? backend
  if (malwareScanner && malwareScanner.status !== 'ok')
    alarms.push({
      tone: 'let-op',
      text: t('De virusscanner antwoordt niet.'),
      advice: t(
        'Start clamd opnieuw en bekijk zijn log. De instelling CLAMD_UNAVAILABLE zegt of uploaden intussen doorgaat.',
      ),
    })
  if (storage.status === 'ok') return { name: t('Documentopslag'), tone: 'goed', state: t('Werkt'), detail }
  alarms.push({
    tone: 'fout',
    text: t`De documentopslag (${detail}) is niet beschikbaar: uploaden en downloaden lukken niet.`,
    advice:
      backend === 'filesystem'
        ? t('Controleer of de schijf is aangekoppeld, beschrijfbaar is en ruimte heeft.')
        : t('Controleer of de opslagdienst bereikbaar is en of de inloggegevens kloppen.'),
  })
  return { name: t('Documentopslag'), tone: 'fout', state: t('Niet beschikbaar'), detail }
}

export function reportLostContent(count: number, alarms: Alarm[]): void {
  if (count === 0) return
  alarms.push({
    tone: 'fout',
    text:
      count === 1
        ? t('De inhoud van een document is uit de documentopslag verdwenen.')
        : t`De inhoud van ${formatNumber(count)} documenten is uit de documentopslag verdwenen.`,
    advice: t(
      'Zet de bestanden terug uit een back-up; in het log staat welke het zijn. De opdracht storage check zoekt naar meer. Deze melding verdwijnt vanzelf.',
    ),
  })
}

/** So many abonnementen are named when more are in trouble. */
const NAMED = 3

/** What needs somebody at abonnementen: each by itself, or one block for all. @param troubled those in trouble, the worst first */
export function reportAbonnementen(troubled: Figures[], alarms: Alarm[]): void {
  const each: (Alarm & { path: string })[] = []
  tellAbonnementen(troubled, each)
  if (each.length <= NAMED) {
    alarms.push(...each)
    return
  }
  alarms.push({
    tone: each.some(({ tone }) => tone === 'fout') ? 'fout' : 'let-op',
    text: t`Bij ${each.length} abonnementen komen berichten niet aan.`,
    advice: t('De ergste staan hieronder. Gaat het bij allemaal mis, kijk dan eerst naar het netwerk en de firewall.'),
    items: each.slice(0, NAMED).map(({ text, path }) => ({ text, path })),
    path: '/abonnementen',
    link: t('Naar alle abonnementen'),
  })
}

function tellAbonnementen(troubled: Figures[], alarms: (Alarm & { path: string })[]): void {
  for (const abonnement of troubled) {
    const { uuid, status, reason, failures, lastOutcome, lastHttpStatus, oudsteWachtendeOp } = abonnement
    const to = { path: `/abonnementen/${uuid}`, link: t('Naar dit abonnement') }
    const name = nameOf(abonnement)
    if (status === 'geblokkeerd' || status === 'opgezegd') {
      const state = stateOf(abonnement).text.toLowerCase()
      alarms.push({
        tone: 'fout',
        text: t`Het abonnement ${name} is ${state}. ${reason}`,
        advice: t(
          'Nieuwe berichten worden niet klaargezet. Los de oorzaak op en hervat het: dan komt ook wat is gemist.',
        ),
        ...to,
      })
    } else if (status === 'gepauzeerd') {
      if (oudsteWachtendeOp !== null)
        alarms.push({
          tone: 'let-op',
          text: t`Het abonnement ${name} is gepauzeerd, en er wachten berichten, het oudste van ${formatAgo(oudsteWachtendeOp)}. ${reason}`,
          advice: t('Zij gaan niet weg zolang het gepauzeerd is. Hervat het zodra de ontvanger weer kan.'),
          ...to,
        })
    } else if (failures >= MAX_FAULTS || (failures > 0 && (lastHttpStatus === 401 || lastHttpStatus === 403))) {
      const { text, advice } = subscriberOutcome(lastOutcome, lastHttpStatus)
      alarms.push({
        tone: 'let-op',
        text: t`Het abonnement ${name} neemt geen berichten aan: ${text.toLowerCase()}.`,
        advice,
        ...to,
      })
    } else if (oudsteWachtendeOp !== null && Date.parse(oudsteWachtendeOp) < Date.now() - LATE_MS) {
      alarms.push({
        tone: 'let-op',
        text: t`Voor het abonnement ${name} wacht een bericht van ${formatAgo(oudsteWachtendeOp)}.`,
        advice: t('De ontvanger is traag, of krijgt meer dan hij aankan.'),
        ...to,
      })
    }
  }
}

export type Receiver = {
  uit: boolean
  mode: string
  apiRoot: string | null
  unreachable: string | undefined
  laatste: { outcome: string; httpStatus: number | null; begunAt: string } | undefined
}

/** The service that our messages go to: switched off, built in, or another one that is reached or not. */
export function receiverPart({ uit, mode, apiRoot, unreachable, laatste }: Receiver, alarms: Alarm[]): Component {
  const name = t('Notificatiedienst')
  const settings = { path: '/configuratie/notificaties', link: t('Naar de configuratie van notificaties') }
  if (uit) return { name, tone: '', state: t('Uitgezet'), detail: t('NOTIFICATIONS_DISABLED staat aan.') }
  if (mode === 'ingebouwd')
    return { name, tone: 'goed', state: t('Ingebouwd'), detail: t('Berichten gaan naar de abonnementen hier.') }
  if (apiRoot === null) {
    alarms.push({
      tone: 'let-op',
      text: t('Er is geen notificatiedienst ingesteld.'),
      advice: t('Berichten blijven bewaard tot er een is.'),
      ...settings,
    })
    return { name, tone: 'let-op', state: t('Niet ingesteld'), detail: '' }
  }
  if (unreachable !== undefined) {
    alarms.push({
      tone: 'fout',
      text: t`De notificatiedienst is niet bereikbaar: ${unreachable}.`,
      advice: t(
        'Berichten blijven bewaard en worden herhaald. Verstuur een testbericht om te zien welke stap mislukt.',
      ),
      ...settings,
    })
    return { name, tone: 'fout', state: t('Niet bereikbaar'), detail: unreachable }
  }
  if (!laatste) return { name, tone: 'goed', state: t('Bereikbaar'), detail: t('Er is nog niets verstuurd.') }
  const { text, advice } = outcomeOf(laatste.outcome, laatste.httpStatus)
  const when = formatAgo(laatste.begunAt)
  if (laatste.outcome === 'delivered')
    return { name, tone: 'goed', state: t('Werkt'), detail: t`Laatste bericht bezorgd: ${when}.` }
  alarms.push({
    tone: 'let-op',
    text: t`De laatste poging om een bericht te bezorgen mislukte (${when}): ${text}.`,
    advice,
    ...settings,
  })
  return { name, tone: 'let-op', state: t('Laatste poging mislukt'), detail: `${text}, ${when}.` }
}

export type Worker = {
  name: string
  version: string
  host: string
  pid: number
  startedAt: string
  seenAt: string
  stil: boolean
  stilte: number
}

/**
 * Workers that are silent are faults, and so is a kind of work that no living worker does.
 * @param mayRest whether a worker is registered only where there is work, as one for many organisations is
 */
export function workerPart(workers: Worker[], alarms: Alarm[], mayRest = false): Component {
  if (mayRest && workers.length === 0) return { name: t('Workers'), tone: 'goed', state: t('Geen'), detail: '' }
  for (const { name, host, pid, stilte } of workers.filter(({ stil }) => stil))
    alarms.push({
      tone: 'fout',
      text: t`Worker ${name} (${host}, pid ${pid}) is stil sinds ${formatDuration(Math.abs(stilte))}.`,
      advice: t('Controleer of het proces nog draait. Een andere worker neemt zijn werk binnen 20 seconden over.'),
      path: '/taken',
      link: t('Naar de taken'),
    })
  const alive = workers.filter(({ stil }) => !stil)
  for (const [name, work] of [
    ['worker', t('imports en opruimen')],
    ['notificaties', t('het versturen van notificaties')],
  ] as const) {
    if (alive.some((worker) => worker.name === name)) continue
    alarms.push({
      tone: 'fout',
      text: t`Er draait geen worker voor ${work}.`,
      advice: t('Start het programma met de opdracht worker (of start). Wat wacht blijft bewaard.'),
      path: '/taken',
      link: t('Naar de taken'),
    })
  }
  const older = alive.filter(({ version }) => version !== packageJson.version)
  if (older.length > 0)
    alarms.push({
      tone: 'let-op',
      text: t`${older.length === 1 ? t('Een worker heeft') : t`${older.length} workers hebben`} een andere versie dan deze pagina's.`,
      advice: t('Rond de uitrol van de nieuwe versie af.'),
    })
  const detail = alive.length === workers.length ? '' : t`${workers.length - alive.length} stil`
  const complete = new Set(alive.map((one) => one.name)).size >= 2
  return {
    name: t('Workers'),
    tone: !complete || detail ? 'fout' : 'goed',
    state: alive.length === 0 ? t('Geen') : t`${alive.length} actief`,
    detail,
  }
}

export type JobCounts = Record<'wacht' | 'gepland' | 'bezig' | 'mislukt', number> & { oldest: number; total: number }

/** Whether jobs wait for too long, or failed. */
export function jobsPart({ queue }: Checks, { wacht, mislukt, oldest }: JobCounts, alarms: Alarm[]): Component {
  const laat = queue.status !== 'ok'
  if (laat)
    alarms.push({
      tone: 'let-op',
      text: t`Taken blijven liggen: de oudste wacht al ${formatDuration(oldest)}.`,
      advice: t('Controleer of er workers actief zijn. Bij grote drukte loopt dit vanzelf weer in.'),
      path: '/taken?staat=wacht',
      link: t('Naar de wachtende taken'),
    })
  if (mislukt > 0)
    alarms.push({
      tone: 'let-op',
      text: mislukt === 1 ? t('Er is een taak mislukt.') : t`Er zijn ${formatNumber(mislukt)} taken mislukt.`,
      advice: t('Bekijk waarom, neem de oorzaak weg en laat ze opnieuw uitvoeren.'),
      path: '/taken?staat=mislukt',
      link: t('Naar de mislukte taken'),
    })
  const detail =
    wacht > 0 ? t`${formatNumber(wacht)} wachten, de oudste ${formatDuration(oldest)}` : t('er wacht niets')
  return {
    name: t('Taken'),
    tone: laat || mislukt > 0 ? 'let-op' : 'goed',
    state: laat ? t('Achter') : t('Op tijd'),
    detail,
  }
}

/** From here on somebody should look what holds the feed. */
const FEED_LATE_SECONDS = 300

/** How far readers of changes are behind, by a transaction that goes on and on. */
export function feedPart({ on, seconds }: FeedAge, alarms: Alarm[]): Component {
  const name = t('Wijzigingen voor kopieën')
  if (!on) return { name, tone: '', state: t('Uitgezet'), detail: t('FEED_DAYS is 0.') }
  if (seconds < FEED_LATE_SECONDS)
    return { name, tone: 'goed', state: t('Op tijd'), detail: seconds < 1 ? '' : t`achter: ${formatDuration(seconds)}` }
  alarms.push({
    tone: 'let-op',
    text: t`Wie een kopie bijhoudt krijgt al ${formatDuration(seconds)} geen wijzigingen.`,
    advice: t(
      'Een transactie in de database blijft openstaan. Zoek in pg_stat_activity wie dat is, en beëindig die; daarna loopt het vanzelf in.',
    ),
  })
  return { name, tone: 'let-op', state: t('Achter'), detail: formatDuration(seconds) }
}

export type Notificaties = {
  gepland: number
  /** Seconds that the oldest waits, as the job noted it; null: nothing waited then. */
  oldest: number | null
  mislukt: number
  misluktVandaag: number
  /** Attempts that delivered, as the job counted them. */
  bezorgdVandaag: number
  vandaag: string
}

/** @param count of deliveries; one more than UNRECORDED_TO: even more */
export function reportUnrecorded(count: number, alarms: Alarm[]): void {
  if (count === 0) return
  const many = count > UNRECORDED_TO ? t`meer dan ${formatNumber(UNRECORDED_TO)}` : formatNumber(count)
  alarms.push({
    tone: 'fout',
    text: t`De uitkomst van bezorgingen kan niet worden vastgelegd: ${many}.`,
    advice: t(
      'De database weigert wat de worker schrijft. De oorzaak staat in zijn logboek; ontvangers krijgen intussen niets dubbel. Daarna herstelt het vanzelf.',
    ),
  })
}

/** That the clock of the database was ahead lately. */
export function reportSetback(setback: Setback | undefined, alarms: Alarm[]): void {
  if (!setback) return
  const { aheadSeconds, deliveries, receivers, jobs, resumed } = setback
  const pulled = t`Teruggezet: ${formatNumber(deliveries)} bezorgingen, ${formatNumber(receivers)} ontvangers, ${formatNumber(jobs)} taken.`
  const blocked =
    resumed === 0 ? '' : ` ${t`Abonnementen die daardoor waren geblokkeerd en zijn hervat: ${formatNumber(resumed)}.`}`
  alarms.push({
    tone: 'let-op',
    text: t`De klok van de database liep voor, ten minste ${formatDuration(aheadSeconds)}; wat te ver vooruit was gepland, gaat weer door.`,
    advice: `${pulled}${blocked} ${t('Controleer of de server van de database zijn tijd met NTP bijhoudt. Deze melding verdwijnt na een week.')}`,
  })
}

/** That a session holds an old snapshot. */
export function reportSnapshot(seconds: number, alarms: Alarm[]): void {
  if (seconds < OLD_SNAPSHOT_SECONDS) return
  alarms.push({
    tone: 'let-op',
    text: t`Een sessie in de database leest al ${formatDuration(seconds)} van hetzelfde moment.`,
    advice: t(
      'Zolang blijft alles staan wat sindsdien is verwijderd of gewijzigd, en groeien tabellen. Zoek in pg_stat_activity wie dat is (backend_xmin), en beëindig die als niemand haar nodig heeft.',
    ),
  })
}

/** That deliveries of messages of today failed. */
export function reportNotificaties({ misluktVandaag, vandaag }: Notificaties, alarms: Alarm[]): void {
  if (misluktVandaag === 0) return
  alarms.push({
    tone: 'let-op',
    text:
      misluktVandaag === 1
        ? t('Vandaag is één bezorging mislukt.')
        : t`Vandaag zijn ${misluktVandaag > TODAY_TO ? t`meer dan ${formatNumber(TODAY_TO)}` : formatNumber(misluktVandaag)} bezorgingen mislukt.`,
    advice: t`Bekijk de oorzaak en verstuur ze opnieuw. Het gaat om berichten van ${formatDate(vandaag)}.`,
    path: `/notificaties?status=mislukt&van=${vandaag}`,
    link: t('Naar wat vandaag is mislukt'),
  })
}

/** @param disk undefined where the store has no disk that we see, such as S3 */
export function diskPart(disk: DiskSpace | undefined, growth: DiskGrowth, alarms: Alarm[]): Component {
  const name = t('Schijfruimte')
  if (!disk) return { name, tone: '', state: t('Onbekend'), detail: t('Zie de opslag zelf.') }
  const { free, total } = disk
  const week = fullWeek(growth)
  const room = t`${formatBytes(free)} vrij van ${formatBytes(total)}`
  const detail = week === null ? room : t`${room}, vol in ${week}`
  if (free / total >= LITTLE_SPACE) {
    if (!isFullSoon(growth)) return { name, tone: 'goed', state: t('Genoeg'), detail }
    alarms.push({
      tone: 'let-op',
      text: t`Gaat het zo door, dan is de schijf van de documenten vol in ${week ?? ''}.`,
      advice: t('Maak de schijf groter, of ruim op. Als zij vol is lukt uploaden niet meer.'),
      path: '/groei',
      link: t('Naar de groei'),
    })
    return { name, tone: 'let-op', state: t('Bijna vol'), detail }
  }
  alarms.push({
    tone: 'let-op',
    text: t`Op de schijf van de documenten is nog ${formatBytes(free)} vrij.`,
    advice: t('Maak de schijf groter, of ruim op. Als zij vol is lukt uploaden niet meer.'),
    path: '/bewaartermijnen',
    link: t('Naar de bewaartermijnen'),
  })
  return { name, tone: 'let-op', state: t('Weinig'), detail }
}
