// Numbers of a JSON body as they were sent. JavaScript has doubles: a number of 20 digits becomes another one, and 1.50 becomes 1.5.
// Where a text is asked, the text that was sent is what counts; where anything may stand, a number that would change is refused.
import { randomBytes } from 'node:crypto'

/** By the object or list that holds the number: its key, and the text of the number, where that is not what the double reads as. */
const sources = new WeakMap<object, Map<string, string>>()

// A number that is not surely written as JavaScript writes it: many digits, an exponent, a zero at the end of a fraction, or -0.
const UNUSUAL = /[[:,]\s*(?:-?(?:\d{16}|[\d.]{18}|\d+[eE]|\d+\.\d*[eE]|\d+\.\d*0(?!\d))|-0(?![\d.]))/

/** Whether a number may be in it that JavaScript writes otherwise. Most bodies have none, and are parsed once. */
export const mayChange = (json: string): boolean => UNUSUAL.test(json)

const TOKEN = /"|-?\d[\d.eE+-]*/g // the start of a text, or a number
const MARK = `${randomBytes(16).toString('hex')} ` // what no client knows
const SLICE_MS = 5
const SLICE_STEPS = 256 // between two looks at the clock

/**
 * Remembers the text of each number of a body that JavaScript writes otherwise. Only a body that has one is parsed again, with
 * those numbers as marked texts: asking the parser for the text of every number takes ten times as long as parsing.
 * @param json what was found to be JSON
 * @param parsed the same, parsed
 * @param turn what to wait for after each few ms of work, when it may take long
 * @returns the value to go on with
 */
export async function keepSources(json: string, parsed: unknown, turn?: () => Promise<void>): Promise<unknown> {
  const steps = markSources(json, parsed)
  for (let end = performance.now() + SLICE_MS; ; ) {
    const { done, value } = steps.next()
    if (done) return value
    if (!turn || performance.now() < end) continue
    await turn()
    end = performance.now() + SLICE_MS
  }
}

/** The same at once, for what is short. */
export function keepSourcesAtOnce(json: string, parsed: unknown): unknown {
  if (!mayChange(json)) return parsed
  const steps = markSources(json, parsed)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Yields where its work may rest. */
function* markSources(json: string, parsed: unknown): Generator<void, unknown> {
  let steps = 0
  const isDue = () => ++steps % SLICE_STEPS === 0
  let marked = ''
  let copied = 0
  let at = 0
  for (;;) {
    TOKEN.lastIndex = at
    const [token] = TOKEN.exec(json) ?? []
    if (token === undefined) break
    at = token === '"' ? endOfText(json, TOKEN.lastIndex) : TOKEN.lastIndex
    if (token !== '"' && String(Number(token)) !== token) {
      marked += `${json.slice(copied, at - token.length)}"${MARK}${token}"`
      copied = at
    }
    if (isDue()) yield
  }
  if (copied === 0) return parsed
  yield
  const root = { value: JSON.parse(marked + json.slice(copied)) }
  const holders: Record<string, unknown>[] = [root]
  for (let holder = holders.pop(); holder; holder = holders.pop()) {
    for (const key of Object.keys(holder)) {
      const value = holder[key]
      if (typeof value === 'string') {
        if (value.startsWith(MARK)) holder[key] = numberOf(value.slice(MARK.length), holder, key)
      } else if (value !== null && typeof value === 'object') holders.push(value as Record<string, unknown>)
      if (isDue()) yield
    }
  }
  return root.value
}

function endOfText(json: string, from: number): number {
  for (let quote = json.indexOf('"', from); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let before = quote
    while (json[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return json.length
}

function numberOf(source: string, holder: object, key: string): number {
  let ofHolder = sources.get(holder)
  if (!ofHolder) {
    ofHolder = new Map()
    sources.set(holder, ofHolder)
  }
  ofHolder.set(key, source)
  return Number(source)
}

/** The numbers below `holder` of which the text that was sent is another one than JavaScript would write, by their key. */
export const sourcesIn = (holder: object): ReadonlyMap<string, string> | undefined => sources.get(holder)

/**
 * Whether a number is not the same after it was read: an integer with other digits, what is too large, or a fraction with more
 * digits than a double has. Of coordinates a fraction is a measurement, which may be rounded.
 */
export function isChanged(source: string, path: readonly string[]): boolean {
  const value = Number(source)
  if (!Number.isFinite(value)) return true
  if (path.includes('coordinates') && !Number.isInteger(value)) return false
  return decimal(source) !== decimal(String(value))
}

/** Digits and power of ten of a number, in one spelling for all that are equal. */
function decimal(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace(/^-/, '').split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end--
  if (end === 0) return '0'
  const power = Number(exponent) - fraction.length + digits.length - end
  return `${mantissa.startsWith('-') ? '-' : ''}${digits.slice(0, end)}e${power}`
}
