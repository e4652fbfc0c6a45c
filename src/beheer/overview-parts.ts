// What the overview says of each part of the service: its state, and to `storingen` what is wrong and what to do about it.

import packageJson from '../../package.json' with { type: 'json' }
import type { DiskSpace } from '../documenten/storage/index.ts'
import type { readiness } from '../http/health.ts'
import type { Figures } from '../nrc/abonnement/figures.ts'
import { nameOf } from './abonnementen/abonnement.ts'
import { stateOf, subscriberOutcome } from './abonnementen/labels.ts'
import { formatAgo, formatBytes, formatDate, formatDuration, formatNumber } from './format.ts'
import { t, words } from './language/language.ts'
import { outcomeOf, type Tone } from './notificatie-labels.ts'

export type Storing = { soort: 'fout' | 'let-op'; tekst: string; advies: string; path?: string; link?: string }
export type Component = { naam: string; soort: Tone; staat: string; detail: string }

/** What is counted for the overview is counted up to here. */
export const TOT = 10_000
/** From so many failures in a row, or when the receiver does not know us, an abonnement asks for attention. */
const MAX_FAULTS = 5
const LATE_MS = 15 * 60_000
/** With less room left than this we warn. */
const LITTLE_SPACE = 0.1

type Controles = Awaited<ReturnType<typeof readiness>>

/** Whether it answers; a schema of another version and another key are faults as well. */
export function database({ database, schema, key }: Controles, storingen: Storing[]): Component {
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

/** Where the bytes of documents go, and the virus scanner before it. */
export function storagePart({ storage, malwareScanner }: Controles, backend: string, storingen: Storing[]): Component {
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

export function reportLostContent(aantal: number, storingen: Storing[]): void {
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

/** A fault for each abonnement that needs somebody. @param zorgen those in trouble, the worst first */
export function reportAbonnementen(zorgen: Figures[], storingen: Storing[]): void {
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

export type Receiver = {
  uit: boolean
  modus: string
  apiRoot: string | null
  onbereikbaar: string | undefined
  laatste: { uitkomst: string; httpStatus: number | null; begonnenOp: string } | undefined
}

/** The service that our messages go to: switched off, built in, or another one that is reached or not. */
export function receiverPart(
  { uit, modus, apiRoot, onbereikbaar, laatste }: Receiver,
  storingen: Storing[],
): Component {
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

export type Worker = {
  naam: string
  versie: string
  host: string
  pid: number
  gestartOp: string
  gezienOp: string
  stil: boolean
  stilte: number
}

/** Workers that are silent are faults, and so is a kind of work that no living worker does. */
export function workerPart(workers: Worker[], storingen: Storing[]): Component {
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

export type JobCounts = Record<'wacht' | 'gepland' | 'bezig' | 'mislukt', number> & { oudste: number; totaal: number }

/** Whether jobs wait for too long, or failed. */
export function jobsPart({ queue }: Controles, { wacht, mislukt, oudste }: JobCounts, storingen: Storing[]): Component {
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

export type Notificaties = {
  gepland: number
  oudste: number | null
  mislukt: number
  misluktVandaag: number
  bezorgdVandaag: number
  vandaag: string
}

/** That messages of today failed. */
export function reportNotificaties({ misluktVandaag, vandaag }: Notificaties, storingen: Storing[]): void {
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

/** @param disk undefined where the store has no disk that we see, such as S3 */
export function diskPart(disk: DiskSpace | undefined, storingen: Storing[]): Component {
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
