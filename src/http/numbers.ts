// Numbers of a JSON body as they were sent. JavaScript has doubles: a number of 20 digits becomes another one, and 1.50 becomes 1.5.
// Where a text is asked, the text that was sent is what counts; where anything may stand, a number that would change is refused.

/** By the object or list that holds the number: its key, and the text of the number, where that is not what the double reads as. */
const sources = new WeakMap<object, Map<string, string>>()

// A number that is not surely written as JavaScript writes it: many digits, an exponent, a zero at the end of a fraction, or -0.
const UNUSUAL = /[[:,]\s*(?:-?(?:\d{16}|[\d.]{18}|\d+[eE]|\d+\.\d*[eE]|\d+\.\d*0(?!\d))|-0(?![\d.]))/

/** Whether a number may be in it that JavaScript writes otherwise. Most bodies have none, and are parsed once. */
export const mayChange = (json: string): boolean => UNUSUAL.test(json)

/** Parses what was found to be JSON, and remembers the text of each number that JavaScript writes otherwise. */
export function keepSources(json: string): unknown {
  return JSON.parse(json, function (this: object, key: string, value: unknown, context?: { source?: string }) {
    if (typeof value === 'number' && context?.source !== undefined && context.source !== String(value)) {
      let ofHolder = sources.get(this)
      if (!ofHolder) {
        ofHolder = new Map()
        sources.set(this, ofHolder)
      }
      ofHolder.set(key, context.source)
    }
    return value
  })
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
