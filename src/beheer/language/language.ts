// Language: in which language the pages of a request are. Dutch is what the code says; English is looked up by the Dutch sentence, as
// with gettext. What users typed is never looked up: only what went through `t`, `words`, `reason` or a template.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ENGLISH } from './english/index.ts'
import { REASONS } from './english/reasons.ts'

export type Language = 'nl' | 'en'

const current = new AsyncLocalStorage<Language>()

/** The language of the request that this runs for; Dutch outside a request. */
export const language = (): Language => current.getStore() ?? 'nl'

/** The conventions of dates and numbers that go with it. */
export const localeOf = () => (language() === 'en' ? 'en-GB' : 'nl-NL')

/** Runs `work`, and all that it starts, in a language. */
export const inLanguage = <T>(wanted: Language, work: () => T): T => current.run(wanted, work)

/**
 * A sentence of our own in the language of the request: t('Zoeken'), or with values as t`${count} rijen`, whose key is
 * "{1} rijen". The values stay as they are.
 */
export function t(text: string | TemplateStringsArray, ...values: unknown[]): string {
  if (typeof text === 'string') return language() === 'en' ? (ENGLISH.get(text) ?? text) : text
  const english = language() === 'en' ? ENGLISH.get(keyOf(text)) : undefined
  return fill(english ?? keyOf(text), values)
}

/** The key of a sentence with values between its parts. */
export const keyOf = (parts: readonly string[]) => parts.reduce((all, part, index) => `${all}{${index}}${part}`)

const fill = (sentence: string, values: unknown[]) =>
  sentence.replace(/\{(\d+)(:lower)?\}/g, (_, place: string, lower?: string) => {
    const value = String(values[Number(place) - 1])
    return lower ? lowerFirst(value) : value
  })

/** As a word stands within a sentence; one that begins with an abbreviation stays. */
export const lowerFirst = (text: string) =>
  /^\p{Lu}{2}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1)

/** The Dutch of every table, for the test that asks an English word for each. */
export const wordsOfTables = new Set<string>()

/**
 * A table of which texts are read in the language of the request.
 * @param names the properties (with all in them) or places in lists that hold such texts, anywhere in the table; none: every text
 */
export function words<T extends object>(table: T, ...names: string[]): T {
  for (const [name, value] of Object.entries(table)) {
    if (typeof value === 'object' && value !== null)
      words(value, ...(names.includes(name) && !/^\d/.test(name) ? [] : names))
    else if (typeof value === 'string' && (names.length === 0 || names.includes(name))) {
      wordsOfTables.add(value)
      Object.defineProperty(table, name, { get: () => t(value), enumerable: true })
    }
  }
  return table
}

/** Why the API refuses something, for a form: it says so in Dutch, and what has no English here stays so. */
export function reason(dutch: string): string {
  if (language() === 'nl') return dutch
  const exact = KNOWN.get(dutch)
  if (exact !== undefined) return exact
  for (const { pattern, english } of PATTERNS) {
    const found = pattern.exec(dutch)
    if (found) return fill(english, found.slice(1))
  }
  const [, field, why] = /^([\w.]+): (.+)$/s.exec(dutch) ?? [] // of a row of an import
  return why === undefined ? dutch : `${field}: ${reason(why)}`
}

const KNOWN = new Map([...ENGLISH, ...Object.entries(REASONS)])
/** The sentences with values in them, the longest first. Those of a word or two would fit too much. */
const PATTERNS = [...KNOWN]
  .filter(([dutch]) => dutch.includes('{1}') && dutch.replace(/\{\d+\}/g, '').length > 12)
  .sort(([one], [other]) => other.length - one.length)
  .map(([dutch, english]) => {
    const parts = dutch.split(/\{\d+\}/).map((part) => RegExp.escape(part))
    return { pattern: new RegExp(`^${parts.join('(.*)')}$`, 's'), english }
  })
