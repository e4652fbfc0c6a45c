// Formats that a text may have to fit, with what is said when it does not.

import { isIP } from 'node:net'
import Format from 'typebox/format'
import type { FieldCode } from '../core/codes.ts'
import { LIMITS } from '../core/limits.ts'
import { isUuid } from '../lib/uuid.ts'
import { isDuration, isTerm, MAX_YEARS } from './duration.ts'

/** RSIN and BSN: weights 9…2 and -1 from the left. */
export function passesElfproef(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const weight = digits.length - place
    sum += Number(digits[place]) * (weight === 1 ? -1 : weight)
  }
  return sum % 11 === 0
}

/** Formats, with the code and reason of a value that fails them. */
export const FORMATS: Record<
  string,
  {
    test: (text: string) => boolean
    code: (text: string) => FieldCode | FieldCode[]
    reason: string | ((text: string) => string)
  }
> = {
  date: { test: isDate, code: () => 'invalid', reason: 'Dit is geen geldige datum (JJJJ-MM-DD).' },
  'date-time': { test: isMoment, code: () => 'invalid', reason: 'Dit is geen geldig moment (ISO 8601).' },
  uuid: {
    test: isUuid,
    code: () => 'invalid',
    reason: 'Dit is geen geldige UUID.',
  },
  // An empty text passes here: where it is not allowed, the minimum length says so (`blank`).
  uri: { test: orEmpty(isUrl), code: () => 'invalid', reason: 'Dit is geen geldige URL.' },
  'uri-reference-zgw': { test: orEmpty(isUrl), code: () => 'bad-url', reason: 'Dit is geen geldige URL.' },
  email: {
    test: orEmpty(isEmail),
    code: () => 'invalid',
    reason: 'Dit is geen geldig e-mailadres.',
  },
  // Nine digits. What is longer the maximum length of the schema refuses.
  rsin: {
    test: orEmpty((text) => /^[0-9]{9,}$/.test(text) && (text.length > 9 || passesElfproef(text))),
    // Of what is too short both faults are told, as Open Zaak does: what it would be with more digits is no better.
    code: (text) => {
      if (!/^[0-9]+$/.test(text)) return 'only-digits'
      if (text.length < 9) return passesElfproef(text) ? 'min_length' : ['invalid', 'min_length']
      return 'invalid'
    },
    reason: (text) =>
      /^[0-9]{0,8}$/.test(text)
        ? 'Dit nummer heeft negen cijfers.'
        : 'Dit is geen geldig nummer: alleen cijfers, en het voldoet aan de elfproef.',
  },
  // A number of the trade register where a setting takes one (ROL_NNP_ID_TAKES_KVK).
  'rsin-or-kvk': {
    test: (text) => text === '' || /^[0-9]{8}$/.test(text) || (/^[0-9]{9}$/.test(text) && passesElfproef(text)),
    code: () => 'invalid',
    reason: 'Dit is geen RSIN van negen cijfers en geen KVK-nummer van acht.',
  },
  duration: { test: isTerm, code: () => 'invalid', reason: noDuration(MAX_YEARS.term) },
  'duration-archiving': { test: isDuration, code: () => 'invalid', reason: noDuration(MAX_YEARS.archiving) },
}

// What is longer than any text may be is refused by its length: nobody reads all of it to find out what else is wrong.
for (const [name, { test }] of Object.entries(FORMATS))
  Format.Set(name, (text) => text.length > LIMITS.text || test(text))

function noDuration(years: number): string {
  return `Dit is geen geldige duur (ISO 8601, niet negatief, ten hoogste ${years} jaar).`
}

function orEmpty(test: (text: string) => boolean): (text: string) => boolean {
  return (text) => text === '' || test(text)
}

/** One `@`, and a dot within what comes behind it. Written out: as one expression it would try every dot against every rest. */
function isEmail(text: string): boolean {
  const at = text.indexOf('@')
  const dot = text.lastIndexOf('.', text.length - 2)
  return at > 0 && dot > at + 1 && !/\s/.test(text) && text.indexOf('@', at + 1) === -1
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** A moment that lies ahead of the clock. `leeway` in seconds. */
export const isFuture = (moment: string, leeway: number): boolean => Date.parse(moment) > Date.now() + leeway * 1000

/** ISO 8601, also without a time or an offset: `momentInUtc` fills those in. */
export function isMoment(text: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})([T ](\d{2}):(\d{2})(:(\d{2})(\.\d{1,9})?)?(Z|[+-](\d{2}):?(\d{2}))?)?$/i.exec(
    text,
  )
  if (!parts?.[1] || !isDate(parts[1])) return false
  return (
    Number(parts[3] ?? 0) < 24 &&
    Number(parts[4] ?? 0) < 60 &&
    Number(parts[6] ?? 0) < 60 &&
    Number(parts[9] ?? 0) < 15 &&
    Number(parts[10] ?? 0) < 60
  )
}

/** A moment as the client wrote it, with an offset where it had none: what the database then stores is what was meant. */
export function momentInUtc(text: string): string {
  const moment = text.length === 10 ? `${text}T00:00:00` : text.replace(' ', 'T')
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(moment) ? moment : `${moment}Z`
}

// Hosts without a dot are taken: inside a container network our own address is often one.
function isUrl(text: string): boolean {
  if (!/^(https?|ftps?):\/\/[^\s<>"\\^`{|}]+$/i.test(text)) return false
  const hostname = URL.parse(text)?.hostname ?? ''
  return hostname !== '' && (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /^[^.].*$/.test(hostname))
}
