// What a takeover prints: its state, its progress and what a comparison found, a line each.
import type { Compared, OfType } from '../overnemen/check.ts'
import { reasonOf } from '../overnemen/patience.ts'
import { type faultsOf, type Progress, WEEKEND_SECONDS } from '../overnemen/round.ts'
import type { Takeover } from '../overnemen/takeover.ts'

/** What `--json` shows of a takeover: nothing that is secret. */
export const publicOf = ({ uuid, kind, source, trial, status, round }: Takeover) => ({
  uuid,
  kind,
  source,
  trial,
  status,
  round,
})
/** The first line of a takeover: where it stands as a whole. */
export const headline = ({ source, status, round, trial }: Takeover) =>
  `${source}: round ${round}${trial ? ' (dry run)' : ''} ${status}`

/** How long a round takes, and an honest word when that is no weekend. */
export function forecastLine(seconds: number, kind: Takeover['kind']): string {
  const hours = seconds / 3600
  const told = hours < 2 ? `${Math.max(1, Math.round(seconds / 60))} minutes` : `${Math.round(hours)} hours`
  if (seconds <= WEEKEND_SECONDS)
    return `Forecast: about ${told}, and the bytes of documents as fast as disk and network go.`
  const advice = kind === 'api' ? 'take over from the database if you can, or begin days before' : 'begin days before'
  return `Forecast: about ${told}. That is no weekend (${WEEKEND_SECONDS / 3600} hours): ${advice}; the old installation goes on meanwhile.`
}

/** Why it waits, and until when. */
export const waitLine = (fault: string, until: string | Date | null) =>
  `${reasonOf(fault, 'en')}${until ? `; next attempt at ${new Date(until).toTimeString().slice(0, 8)}` : ''}`

/** How far one kind of object is. */
export function progressLine({
  name,
  seen,
  written,
  unchanged,
  refused,
  removed,
  seconden,
  klaar,
  fault,
  retry_at,
}: Progress): string {
  const rate = seconden ? `${Math.round(seen / seconden)}/s` : ''
  const parts = [
    `${seen} read`,
    `${written} written`,
    unchanged > 0 ? `${unchanged} as before` : '',
    refused > 0 ? `${refused} REFUSED` : '',
    removed > 0 ? `${removed} removed` : '',
    rate,
    klaar ? '' : 'not complete',
    fault ? waitLine(fault, retry_at) : '',
  ]
  return `  ${name.padEnd(30)}${parts.filter(Boolean).join(', ')}`
}

export const faultLine = ({ outcome, kind, code, aantal, voorbeeld }: Awaited<ReturnType<typeof faultsOf>>[number]) =>
  `  ${outcome.padEnd(11)} ${String(aantal).padStart(8)}  ${kind} ${code}: ${voorbeeld}`

export const comparedLine = ({ kind, daar, hier, gelijk, verschillen, bekend }: Compared) =>
  `  ${kind.padEnd(30)}${daar} there, ${hier} here, ${gelijk} equal${verschillen ? `, ${verschillen} DIFFERENCES` : ''}${bekend ? `, ${bekend} known from the report` : ''}`

export const typeLine = ({ kind, type, daar, hier, bekend }: OfType) =>
  `  ${`${kind} of one type`.padEnd(30)}${daar} there, ${hier} here${bekend ? `, ${bekend} known from the report` : ''}${daar === hier + bekend ? '' : ', DIFFERENT'}: ${type}`

export const answersLine = ({ kind, gevraagd, gelijk }: { kind: string; gevraagd: number; gelijk: number }) =>
  `  ${`${kind} (API)`.padEnd(36)}${gevraagd} answers of both, ${gelijk} equal`

let told = 0
/** Where a comparison is, on stderr, at most every two seconds. */
export function tellCheck(kind: string, read: number): void {
  if (performance.now() - told < 2000) return
  told = performance.now()
  console.error(`comparing ${kind}: ${read}`)
}

/** How far a round is, on stderr, at most every two seconds. */
export function tell(steps: Progress[]): void {
  if (performance.now() - told < 2000) return
  told = performance.now()
  const read = steps.reduce((sum, { seen }) => sum + seen, 0)
  const expected = steps.reduce((sum, step) => sum + Math.max(step.expected, step.seen), 0)
  const busy = steps.find(({ klaar, seconden }) => !klaar && seconden !== null)
  console.error(
    `${read} of about ${expected} rows${busy ? `, at ${busy.name}` : ''}${busy?.fault ? ` (${waitLine(busy.fault, busy.retry_at)})` : ''}`,
  )
}
