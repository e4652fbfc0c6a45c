// Another organisation of this installation as the source of a takeover: two that become one.
import { ensureBootstrapClient } from '../autorisaties/clients.ts'
import { requireKeys } from '../core/key-register.ts'
import { generateSecret } from '../core/secret-box.ts'
import { openDatabase } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { configOf } from '../organisations/organisation.ts'
import { organisationOf, withControl } from './control.ts'
import { findSecretBox } from './server.ts'

/**
 * Its APIs, with a client that is made there for this takeover, or gets another secret.
 * @param by RSIN of the organisation that takes over; part of the client id
 * @throws UsageError when there is none with this RSIN
 */
export async function openOwnSource(
  rsin: string,
  by: string,
): Promise<{ url: string; clientId: string; secret: string }> {
  return withControl(async (control) => {
    const config = configOf(process.env, await organisationOf(control, rsin))
    const box = await findSecretBox(config, false)
    const database = openDatabase(expected(config.databaseUrl), { max: 2, name: 'command' })
    try {
      database.useNumbers(box.numbers)
      await requireKeys(database.sql, box)
      const client = { id: `overnemen-${by}`, secret: generateSecret() }
      await ensureBootstrapClient(database, box, client, config)
      return { url: expected(config.publicUrl), clientId: client.id, secret: client.secret }
    } finally {
      await database.close()
    }
  })
}
