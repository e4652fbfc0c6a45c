// What a message says, as text: for a mail, and for a webhook that shows it to people. Always Dutch: it goes to people, not to a request.
import type { Config } from '../../config.ts'
import { timeZone } from '../../lib/day.ts'
import type { Line } from './kinds.ts'

export type MessageKind = 'melding' | 'samenvatting' | 'test'

const HEADS: Record<Line['event'], string> = { begin: 'Nu', erger: 'Erger geworden', einde: 'Voorbij', test: 'Test' }
const HEADS_OF_DIGEST: Record<Line['event'], string> = { ...HEADS, begin: 'Nog gaande', einde: 'Vandaag voorbij' }

/** The line that a test sends. */
export const testLine = (moment: string): Line => ({
  event: 'test',
  kind: 'test',
  text: 'Dit is een test van Zaakstroom: meldingen komen hier aan.',
  path: '/meldingen',
  moment,
})

/** One line that says what it is about. */
export function subjectOf(kind: MessageKind, lines: Line[]): string {
  if (kind === 'test') return 'Test van de meldingen'
  const going = lines.filter(({ event }) => event !== 'einde')
  if (kind === 'samenvatting') return going.length === 0 ? 'Alles werkt' : `${count(going.length)} gaande`
  const [first] = going.length > 0 ? going : lines
  const text = (first?.text ?? '').slice(0, 150)
  const said = first?.event === 'einde' ? `Voorbij: ${text}` : text
  return lines.length > 1 ? `${count(lines.length)}: ${said}` : said
}

const count = (number: number) => (number === 1 ? '1 melding' : `${number} meldingen`)

/** The lines by what happened, each with its page. */
export function textOf(kind: MessageKind, lines: Line[], config: Config): string {
  const heads = kind === 'samenvatting' ? HEADS_OF_DIGEST : HEADS
  const parts = Object.entries(heads).flatMap(([event, head]) => {
    const some = lines.filter((line) => line.event === event)
    if (some.length === 0) return []
    const shown = some.slice(0, MOST).map((line) => `- ${line.text}\n  ${momentOf(line)}${at(line, config)}`)
    const more = some.length > MOST ? [`- en nog ${some.length - MOST}.`] : []
    return [`${head}:\n\n${[...shown, ...more].join('\n')}`]
  })
  return parts.length > 0
    ? parts.join('\n\n')
    : 'Er is niets dat aandacht vraagt, en er is de afgelopen dag niets gebeurd.'
}

const MOST = 50

const at = (line: Line, config: Config) => {
  const url = addressOf(line, config)
  return url ? `, ${url}` : ''
}

/** The page about a line; undefined while nobody said what our address is. */
export const addressOf = ({ path }: Pick<Line, 'path'>, { publicUrl }: Config): string | undefined =>
  publicUrl && `${publicUrl.replace(/\/+$/, '')}/beheer${path}`

const momentOf = ({ event, moment }: Line) => {
  const text = new Date(moment).toLocaleString('nl-NL', { dateStyle: 'long', timeStyle: 'short', timeZone: timeZone() })
  return event === 'einde' ? `voorbij op ${text}` : `sinds ${text}`
}
