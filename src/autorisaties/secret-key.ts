// Whether SECRET_KEY is the key with which this database was written. A value that was encrypted at the first use tells.

import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { SecretBox } from '../core/secret-box.ts'
import { WrongKey } from '../core/wrong-key.ts'
import { serviceOwner } from '../services/services.ts'

const OWNER = 'secret key check'
const TEXT = 'zaakstroom'

/** @throws WrongKey */
export async function requireKey(sql: postgres.Sql, box: SecretBox): Promise<void> {
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from secret_key_check`
  if (row) {
    if (!opens(box, row.sealed, OWNER)) throw new WrongKey()
    return
  }
  // Of a database that is older than this check, the key has to open something.
  const stored = await sql<{ owner: string; sealed: Buffer }[]>`
    (select client_id as owner, geheim as sealed from applicatie_secret order by id desc limit 100)
    union all (select ${serviceOwner('')} || uuid, geheim from service where geheim is not null limit 100)
    union all (select ${serviceOwner('')} || uuid, certificate_key from service where certificate_key is not null limit 100)`
  if (stored.length > 0 && !stored.some(({ sealed, owner }) => opens(box, sealed, owner))) throw new WrongKey()
  await sql`insert into secret_key_check (sealed) values (${box.seal(TEXT, OWNER)}) on conflict do nothing`
  await requireKey(sql, box) // another process may have been first
}

function opens(box: SecretBox, sealed: Buffer, owner: string): boolean {
  try {
    box.open(sealed, owner)
    return true
  } catch {
    return false
  }
}

/**
 * The box of this process: the one given, or, when its key is wrong, one that refuses everything, so that nothing is stored
 * under a second key. The process goes on and `/readyz` fails.
 */
export async function usableBox(sql: postgres.Sql, box: SecretBox, log: Logger): Promise<SecretBox> {
  try {
    await requireKey(sql, box)
    return box
  } catch (error) {
    if (!(error instanceof WrongKey)) throw error
    log.error(`${error.message}: give this process the right one and start it again`)
    const refuse = () => {
      throw new WrongKey()
    }
    return { seal: refuse, open: refuse }
  }
}
