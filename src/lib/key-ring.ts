// The keys of this process: the first one seals, all open. From each come the keys that are used, one for each purpose.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { KeyMissing, type WrongKey } from './wrong-key.ts'

/** `key`: the text of SECRET_KEY, or the bytes of a key of DATA_KEYS. */
export type DataKey = { id: string; key: string | Buffer }

/** What SECRET_KEY is called among the keys. */
export const SECRET_KEY = 'secret-key'
export const KEY_ID = /^[a-z0-9][a-z0-9-]{0,19}$/
export const KEY_BYTES = 32

const VERSION = 1
const [NONCE, TAG] = [12, 16]

export type KeyRing = {
  /** The first one seals as soon as every process has it. */
  readonly ids: readonly string[]
  /** The key that seals now. */
  readonly sealing: string
  /** Keys that something is sealed with, and that are not here. */
  readonly lacking: ReadonlySet<string>
  sealWith(id: string): void
  lacks(ids: readonly string[]): void
  /** From now on nothing is sealed or opened: all throws this. */
  refuse(error: WrongKey): void
  /** @throws KeyMissing, WrongKey */
  derive(id: string, purpose: string): Buffer
}

/** @param keys the one that is to seal first; at least one */
export function keyRing(keys: readonly DataKey[]): KeyRing {
  const material = new Map(keys.map(({ id, key }) => [id, key]))
  const derived = new Map<string, Buffer>()
  let sealing = keys[0]?.id ?? ''
  let lacking: ReadonlySet<string> = new Set()
  let refusal: WrongKey | undefined
  return {
    ids: [...material.keys()],
    get sealing() {
      return sealing
    },
    get lacking() {
      return lacking
    },
    sealWith: (id) => {
      sealing = id
    },
    lacks: (ids) => {
      lacking = new Set(ids)
    },
    refuse: (error) => {
      refusal = error
    },
    derive: (id, purpose) => {
      if (refusal) throw refusal
      const name = `${id} ${purpose}`
      const known = derived.get(name)
      if (known) return known
      const key = material.get(id)
      if (key === undefined) throw new KeyMissing(id)
      const made = Buffer.from(hkdfSync('sha256', key, 'zaakstroom', purpose, KEY_BYTES))
      derived.set(name, made)
      return made
    },
  }
}

/** AES-256-GCM with a new nonce; `owner` is authenticated along. */
export function encrypt(key: Buffer, text: string, owner: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** @throws when the key is another one, or the value was changed or moved */
export function decrypt(key: Buffer, sealed: Buffer, owner: string): string {
  if (sealed.length < NONCE + TAG) throw new Error('too short to be sealed')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE)).setAAD(Buffer.from(owner))
  decipher.setAuthTag(sealed.subarray(-TAG))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8')
}

/** Version and key id, before what is sealed: `1 | length of the id | id`. */
export const headOf = (id: string): Buffer => Buffer.from([VERSION, id.length, ...Buffer.from(id)])

/** The id that a value begins with. What has none was sealed with SECRET_KEY, before there were more keys. */
export function keyIdOf(sealed: Buffer): string | undefined {
  const length = sealed[1] ?? 0
  if (sealed[0] !== VERSION || sealed.length < 2 + length + NONCE + TAG) return undefined
  const id = sealed.toString('latin1', 2, 2 + length)
  return KEY_ID.test(id) ? id : undefined
}
