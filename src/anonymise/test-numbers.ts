// Numbers for persons that are nobody's. Numbers that begin with a 9 are for testing; those that begin with 9999 are the persons of the
// test environment of the BRP, and are used up first. A number is given to one person only, so that a copy has as many
// persons as its source.
import { passesElfproef } from '../http/formats.ts'

const FIRST = 999_900_000
const LAST = 999_999_999
const LOWEST = 900_000_000
/** Of eleven numbers in a row whose last digits differ one passes; a place is a number without its last digit. */
const PLACES = (FIRST - LOWEST) / 10

/**
 * Memory is the same for any number of persons: a table of all test numbers, with whose each is.
 * @param place where a number of a person begins to look for one; it decides nothing else
 */
export function openTestNumbers(place: (text: string) => number): { of(text: string): string } {
  const official = numbersBetween(FIRST, LAST)
  const first = new Map<string, string>()
  const taken = new Uint8Array(official.length)
  let owners: Uint32Array | undefined
  return {
    of(text) {
      const known = first.get(text)
      if (known) return known
      const start = place(text)
      if (first.size < official.length) {
        let at = start % official.length
        while (taken[at]) at = (at + 1) % official.length
        taken[at] = 1
        const given = String(official[at])
        first.set(text, given)
        return given
      }
      owners ??= new Uint32Array(PLACES)
      const owner = Number(text)
      for (let step = 0; step < PLACES; step++) {
        const at = (start + step) % PLACES
        if (owners[at] !== 0 && owners[at] !== owner) continue
        const number = numberAt(at)
        if (number === undefined) continue
        owners[at] = owner
        return number
      }
      throw new Error('there are more persons than test numbers')
    },
  }
}

function numberAt(place: number): string | undefined {
  for (let digit = 0; digit < 10; digit++) {
    const text = String(LOWEST + place * 10 + digit)
    if (passesElfproef(text)) return text
  }
  return undefined
}

function numbersBetween(from: number, to: number): number[] {
  const found: number[] = []
  for (let number = from; number <= to; number++) if (passesElfproef(String(number))) found.push(number)
  return found
}
