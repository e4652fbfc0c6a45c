// Centre state: how each organisation is doing, in words, and what of that asks for attention.

import { LATE_SECONDS } from '../../operations/figures.ts'
import type { Figures } from '../../organisations/figures.ts'
import type { Kept } from '../../organisations/keep-figures.ts'
import type { Limits } from '../../organisations/organisation.ts'
import type { Known } from '../../organisations/overview.ts'
import { formatDuration, formatNumber } from '../frame/format.ts'
import { t, words } from '../language/language.ts'
import type { Tone } from '../notificaties/notificatie-labels.ts'

/** Figures are read once a minute: older ones tell that nobody reads them. */
export const OLD_SECONDS = 180
/** A worker opens a runner within a second or two: for so long work may wait without one. */
const NOBODY_SECONDS = 120
/** From so much of a limit on it asks for attention. */
const NEARLY = 0.9

type Finding = { kind: Kind; tone: Tone; text: string; since?: string | null; advice: string }

/** What may be so, the worst first: the order of the list. */
export const KINDS = words({
  away: 'Database weg',
  unreadable: 'Tabellen niet te lezen',
  'read-only': 'Alleen lezen',
  suspended: 'Stilgezet',
  moving: 'Wordt verplaatst',
  adding: 'Wordt toegevoegd',
  behind: 'Schema loopt achter',
  late: 'Werk te laat',
  full: 'Grens in zicht',
  failed: 'Berichten mislukt',
} as const)
export type Kind = keyof typeof KINDS
const RANKS = Object.keys(KINDS) as Kind[]

type Bound = {
  name: keyof Limits
  label: string
  /** How much it may be; undefined: there is no limit. */
  most: number | undefined
  /** How much it is; undefined: nobody counts it. */
  used: number | undefined
  /** Of the limit, 0 to 1 and beyond. */
  share: number | undefined
}

export type Member = Omit<Known, 'limits'> & {
  kept: Kept | undefined
  figures: Figures | null
  findings: Finding[]
  bounds: Bound[]
}

/** @param schema the newest file of this program */
export function memberOf({ limits, ...known }: Known, kept: Kept | undefined, schema: string): Member {
  const figures = kept?.figures ?? null
  const bounds = boundsOf({ limits, ...known }, figures)
  const findings = [...findFaults(known, kept), ...(figures ? findWork(figures, schema) : []), ...findFull(bounds)]
  const inOrder = findings.toSorted((one, other) => RANKS.indexOf(one.kind) - RANKS.indexOf(other.kind))
  return { ...known, kept, figures, findings: inOrder, bounds }
}

/** What asks for attention first, then by name. */
export function byAttention(all: Member[]): Member[] {
  const rank = ({ findings: [first] }: Member) => (first ? RANKS.indexOf(first.kind) : RANKS.length)
  return all.toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name, 'nl'))
}

function findFaults({ state, reason }: Pick<Known, 'state' | 'reason'>, kept: Kept | undefined): Finding[] {
  const found: Finding[] = []
  if (kept?.fault === 'away')
    found.push({
      kind: 'away',
      tone: 'fout',
      text: KINDS.away,
      since: kept.faultSince,
      advice: t('Kijk of haar PostgreSQL draait en van hier te bereiken is. Zij gaat vanzelf verder.'),
    })
  if (kept?.fault === 'unreadable')
    found.push({
      kind: 'unreadable',
      tone: 'fout',
      text: KINDS.unreadable,
      since: kept.faultSince,
      advice: t('Haar tabellen zijn er niet, of worden nu gewijzigd. Duurt het langer, voer dan migrate uit.'),
    })
  if (state === 'read-only')
    found.push({
      kind: state,
      tone: 'let-op',
      text: KINDS[state],
      advice: reason.startsWith('migrate: ')
        ? t('Haar tabellen gingen niet mee naar deze versie. Neem de oorzaak weg en voer migrate nog eens uit.')
        : t('Wijzigingen worden geweigerd tot iemand haar weer in gebruik neemt.'),
    })
  if (state === 'suspended')
    found.push({
      kind: state,
      tone: 'let-op',
      text: KINDS[state],
      advice: t('Al haar verzoeken worden geweigerd, en haar taken wachten.'),
    })
  if (state === 'moving')
    found.push({
      kind: state,
      tone: 'bezig',
      text: KINDS[state],
      advice: t('Haar verzoeken wachten enkele seconden. Duurt het langer, dan is het verplaatsen afgebroken.'),
    })
  if (state === 'adding')
    found.push({
      kind: state,
      tone: 'bezig',
      text: KINDS[state],
      advice: t('Haar tabellen worden gemaakt of gevuld. Duurt het langer, dan is het toevoegen afgebroken.'),
    })
  return found
}

function findWork(figures: Figures, schema: string): Finding[] {
  const { jobs, late, workers, silent, messages, messagesLate, failed } = figures
  const found: Finding[] = []
  if (figures.schema < schema)
    found.push({
      kind: 'behind',
      tone: 'let-op',
      text: KINDS.behind,
      advice: t`Zij heeft ${figures.schema}, en dit programma ${schema}. Voer migrate uit.`,
    })
  const isLeft = jobs > 0 && workers === 0 && late > NOBODY_SECONDS
  if (late > LATE_SECONDS || isLeft)
    found.push({
      kind: 'late',
      tone: 'let-op',
      text: t`Taken wachten ${formatDuration(late)}`,
      advice:
        workers === 0
          ? t('Er is geen worker voor haar aan het werk. Kijk of er een draait, en naar WORKER_ORGANISATIONS.')
          : t('Haar worker heeft meer werk dan hij aankan. Kijk bij haar Taken wat er wacht.'),
    })
  if (silent > OLD_SECONDS)
    found.push({
      kind: 'late',
      tone: 'let-op',
      text: t`Worker stil, ${formatDuration(silent)}`,
      advice: t('Een worker die voor haar werkte geeft geen teken van leven. Een andere neemt zijn taken over.'),
    })
  if (messages > 0 && messagesLate > LATE_SECONDS)
    found.push({
      kind: 'late',
      tone: 'let-op',
      text: t`Berichten wachten ${formatDuration(messagesLate)}`,
      advice: t('Een ontvanger neemt ze niet aan. Kijk bij haar Abonnementen welke dat is.'),
    })
  if (failed > 0)
    found.push({
      kind: 'failed',
      tone: 'let-op',
      text: failed === 1 ? t('1 bericht mislukt') : t`${formatNumber(failed)} berichten mislukt`,
      advice: t('Binnen een dag werden deze berichten niet bezorgd. Kijk bij haar Notificaties waarom.'),
    })
  return found
}

function findFull(bounds: Bound[]): Finding[] {
  return bounds
    .filter(({ share = 0 }) => share >= NEARLY)
    .map(({ label, share = 0 }) => ({
      kind: 'full',
      tone: 'let-op',
      text: t`${label}: ${formatNumber(Math.floor(share * 100))} %`,
      advice: t('Wat boven de grens komt wordt geweigerd. Verhoog hem, of vraag haar om op te ruimen.'),
    }))
}

const BOUNDS: Record<keyof Limits, string> = words({
  connections: 'Verbindingen',
  requests: 'Verzoeken tegelijk',
  bytes: 'Inhoud van documenten',
  abonnementen: 'Abonnementen',
  imports: 'Imports tegelijk',
  importRows: 'Rijen per import',
})

function boundsOf({ limits, requests }: Pick<Known, 'limits' | 'requests'>, figures: Figures | null): Bound[] {
  const used: Partial<Record<keyof Limits, number | undefined>> = {
    requests,
    bytes: figures?.contentBytes,
    abonnementen: figures?.abonnementen,
  }
  return (Object.keys(BOUNDS) as (keyof Limits)[]).map((name) => {
    const most = limits[name]
    const now = used[name]
    const share = most === undefined || now === undefined ? undefined : now / Math.max(most, 1)
    return { name, label: BOUNDS[name], most, used: now, share }
  })
}
