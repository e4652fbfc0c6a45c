// Numbers of persons in JSON: sealed where they stand, so that all else of it stays as it is. Each becomes the text `~1.<key>.<…>`
// in the place of its value; the driver opens what it reads (src/database/database.ts), and who writes JSON with persons seals it. What
// is looked for by number has an HMAC of it beside the row.
import { createHmac } from 'node:crypto'
import { decrypt, encrypt, type KeyRing } from './key-ring.ts'
import { KeyMissing } from './wrong-key.ts'

/** By which persons are found. */
export const SEARCHED = ['inpBsn', 'anpIdentificatie', 'inpA_nummer'] as const
export type Searched = (typeof SEARCHED)[number]

/** Members whose values are numbers of persons, wherever they stand: in the spelling of the APIs and of other registers. */
const MEMBERS = `${SEARCHED.join('|')}|identifier|bsn|burgerservicenummer|inp_bsn|anp_identificatie|inp_a_nummer`
// JSON as JSON.stringify and PostgreSQL write it: within a text a quote is never without its backslash.
const PLAIN = new RegExp(String.raw`"(${MEMBERS})":( ?)("(?:[^"\\]|\\.)+"|-?\d[\d.eE+-]*)`, 'g')
const SEALED = new RegExp(String.raw`"(${MEMBERS})":( ?)"~1\.([a-z0-9-]{1,20})\.([\w-]{38,})"`, 'g')
const SEALED_VALUE = /^"~1\.([a-z0-9-]{1,20})\.[\w-]{38,}"$/
const LOOKUP_BYTES = 16
const REMEMBERED = 64

export type Numbers = {
  /** JSON with its numbers sealed. */
  seal(json: string): string
  /** JSON with its numbers as they were. @throws KeyMissing */
  open(json: string): string
  /** JSON of a row as it is stored, with all of its numbers sealed with this key. The same text: there was nothing to do. */
  reseal(json: string, key: string): string
  /** An HMAC of a number, by which it is found. @param key when it is not the one that seals now */
  lookup(member: Searched, value: string, key?: string): Buffer
  /** The same by each key of the ring, that which seals first. @throws KeyMissing when a key lacks that rows may need */
  lookups(member: Searched, value: string): Buffer[]
  /** JSON with an HMAC in the place of each number: what is compared, and tells no number. */
  digests(json: string): string
}

/** @param ring the keys; what is written under another key than the one that seals is found all the same */
export function numbersOf(ring: KeyRing): Numbers {
  const sealed = (key: string, member: string, space: string, value: string) =>
    `"${member}":${space}"~1.${key}.${encrypt(ring.derive(key, 'nummers'), value, member).toString('base64url')}"`
  // A change seals a number for its row and for its audit record, and reads the row back. The cipher is asked once for these: among other
  // work it takes 0.1 ms each time. A sealed text is used twice at most.
  const recent = new Map<string, string>()
  const remember = (name: string, text: string) => {
    recent.set(name, text)
    for (const oldest of recent.keys()) {
      if (recent.size <= REMEMBERED) break
      recent.delete(oldest)
    }
  }
  const sealedOnce = (key: string, member: string, space: string, value: string): string => {
    const name = `${key} ${member} ${value}`
    const known = recent.get(name)
    if (known !== undefined) {
      recent.delete(name)
      return `"${member}":${space}"${known}"`
    }
    const text = sealed(key, member, '', value).slice(member.length + 4, -1)
    remember(name, text)
    remember(`${member} ${text}`, value)
    return `"${member}":${space}"${text}"`
  }
  /** What only looks sealed, as a client may have sent it where nothing is sealed, is nothing of ours. */
  const opened = (key: string, member: string, text: string): string | undefined => {
    if (ring.lacking.has(key)) throw new KeyMissing(key)
    if (!ring.ids.includes(key)) return undefined
    const derived = ring.derive(key, 'nummers')
    try {
      return decrypt(derived, Buffer.from(text, 'base64url'), member)
    } catch {
      return undefined
    }
  }
  const hmac = (key: string, member: string, value: string) =>
    createHmac('sha256', ring.derive(key, `zoeken ${member}`))
      .update(value)
      .digest()
      .subarray(0, LOOKUP_BYTES)
  const open = (json: string) =>
    json.includes('"~1.')
      ? json.replace(SEALED, (whole, member, space, key, text) => {
          const value = recent.get(`${member} ~1.${key}.${text}`) ?? opened(key, member, text)
          return value === undefined ? whole : `"${member}":${space}${value}`
        })
      : json
  return {
    seal: (json) => json.replace(PLAIN, (_, member, space, value) => sealedOnce(ring.sealing, member, space, value)),
    open,
    reseal: (json, key) =>
      json.replace(PLAIN, (whole, member, space, value: string) => {
        const by = SEALED_VALUE.exec(value)?.[1]
        if (by === key) return whole
        const text = by === undefined ? '' : value.slice(`"~1.${by}.`.length, -1)
        return sealed(key, member, space, by === undefined ? value : (opened(by, member, text) ?? value))
      }),
    lookup: (member, value, key = ring.sealing) => hmac(key, member, value),
    lookups: (member, value) => {
      const [lacking] = ring.lacking
      if (lacking !== undefined) throw new KeyMissing(lacking)
      const others = ring.ids.filter((id) => id !== ring.sealing)
      return [ring.sealing, ...others].map((id) => hmac(id, member, value))
    },
    digests: (json) =>
      json.replace(
        PLAIN,
        (_, member, space, value) => `"${member}":${space}"${hmac(ring.sealing, 'checksum', value).toString('hex')}"`,
      ),
  }
}

/** In the place of keys that a database was not given: nothing is opened, and a number is never written as it is. */
export const WITHOUT_KEYS: Numbers = {
  seal: (json) => {
    if (new RegExp(PLAIN.source).test(json))
      throw new Error('numbers of persons are sealed, and there are no keys here')
    return json
  },
  open: (json) => json,
  reseal: (json) => json,
  lookup: () => refuse(),
  lookups: () => refuse(),
  digests: (json) => json,
}

const refuse = (): never => {
  throw new Error('persons are found with keys, and there are none here')
}

/** The keys that numbers in JSON are sealed with; `undefined`: there is one that is not sealed. */
export function keysIn(json: string): Set<string | undefined> {
  return new Set(Array.from(json.matchAll(PLAIN), ([, , , value = '']) => SEALED_VALUE.exec(value)?.[1]))
}

/** A regular expression of PostgreSQL that finds JSON with a number that is not sealed. */
export const UNSEALED = `"(${MEMBERS})": ("[^"~]|-?[0-9])`
