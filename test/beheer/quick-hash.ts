// Passwords that a test can try hundreds of times.
import { argon2Sync, randomBytes } from 'node:crypto'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import type { Rol } from '../../src/beheer/frame/session.ts'
import type { TestApp } from '../app.ts'

const COST = { memory: 8, passes: 1, parallelism: 1 } // the least there is; the program takes 46 MB and 50 ms

/** A hash as src/beheer/accounts/password.ts makes them, but checked at once: what checking costs stands in the hash itself. */
export function quickHash(password: string): string {
  const nonce = randomBytes(16)
  const key = argon2Sync('argon2id', { message: password, nonce, tagLength: 32, ...COST })
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(nonce)}$${base64(key)}`
}

/** An account with such a hash. */
export async function givenAccount(
  { database }: Pick<TestApp, 'database'>,
  account: { gebruikersnaam: string; naam?: string; rol: Rol; mayRepair?: boolean; wachtwoord: string },
): Promise<{ id: number; uuid: string }> {
  const { wachtwoord, ...given } = account
  const { uuid } = await createAccount(database.db, given)
  const [row] = await database.sql<[{ id: number }]>`
    update beheer_account set password_hash = ${quickHash(wachtwoord)} where uuid = ${uuid} returning id`
  return { id: row.id, uuid }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
