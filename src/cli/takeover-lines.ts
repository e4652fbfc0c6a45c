// What a takeover prints: its state, its progress and what a comparison found, a line each.
import type { Compared, OfType } from '../overnemen/check.ts'
import type { faultsOf, Progress } from '../overnemen/round.ts'
import type { Takeover } from '../overnemen/takeover.ts'

/** What `--json` shows of a takeover: nothing that is secret. */
export const publicOf = ({ uuid, soort, bron, proef, status, ronde }: Takeover) => ({
  uuid,
  soort,
  bron,
  proef,
  status,
  ronde,
})
/** The first line of a takeover: where it stands as a whole. */
export const headline = ({ bron, status, ronde, proef }: Takeover) =>
  `${bron}: round ${ronde}${proef ? ' (dry run)' : ''} ${status}`

/** How far one kind of object is. */
export function progressLine({
  naam,
  gelezen,
  geschreven,
  ongewijzigd,
  geweigerd,
  verwijderd,
  seconden,
  klaar,
  fout,
}: Progress): string {
  const rate = seconden ? `${Math.round(gelezen / seconden)}/s` : ''
  const parts = [
    `${gelezen} read`,
    `${geschreven} written`,
    ongewijzigd > 0 ? `${ongewijzigd} as before` : '',
    geweigerd > 0 ? `${geweigerd} REFUSED` : '',
    verwijderd > 0 ? `${verwijderd} removed` : '',
    rate,
    klaar ? '' : 'not complete',
    fout ? `last fault: ${fout}` : '',
  ]
  return `  ${naam.padEnd(30)}${parts.filter(Boolean).join(', ')}`
}

export const faultLine = ({ uitkomst, soort, code, aantal, voorbeeld }: Awaited<ReturnType<typeof faultsOf>>[number]) =>
  `  ${uitkomst.padEnd(11)} ${String(aantal).padStart(8)}  ${soort} ${code}: ${voorbeeld}`

export const comparedLine = ({ soort, daar, hier, gelijk, verschillen, bekend }: Compared) =>
  `  ${soort.padEnd(30)}${daar} there, ${hier} here, ${gelijk} equal${verschillen ? `, ${verschillen} DIFFERENCES` : ''}${bekend ? `, ${bekend} known from the report` : ''}`

export const typeLine = ({ soort, type, daar, hier }: OfType) =>
  `  ${`${soort} of one type`.padEnd(30)}${daar} there, ${hier} here${daar === hier ? '' : ', DIFFERENT'}: ${type}`

export const answersLine = ({ soort, gevraagd, gelijk }: { soort: string; gevraagd: number; gelijk: number }) =>
  `  ${`${soort} (API)`.padEnd(36)}${gevraagd} answers of both, ${gelijk} equal`

let told = 0
/** Where a comparison is, on stderr, at most every two seconds. */
export function tellCheck(soort: string, read: number): void {
  if (performance.now() - told < 2000) return
  told = performance.now()
  console.error(`comparing ${soort}: ${read}`)
}

/** How far a round is, on stderr, at most every two seconds. */
export function tell(steps: Progress[]): void {
  if (performance.now() - told < 2000) return
  told = performance.now()
  const read = steps.reduce((sum, { gelezen }) => sum + gelezen, 0)
  const expected = steps.reduce((sum, { verwacht, gelezen }) => sum + Math.max(verwacht, gelezen), 0)
  const busy = steps.find(({ klaar, seconden }) => !klaar && seconden !== null)
  console.error(
    `${read} of about ${expected} rows${busy ? `, at ${busy.naam}` : ''}${busy?.fout ? ` (${busy.fout})` : ''}`,
  )
}
