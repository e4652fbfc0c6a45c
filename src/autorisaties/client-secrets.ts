// The secrets with which clients sign. A client id may have two at once: while it is moved to the new one, the old one
// still counts. A secret is made here, shown once to whoever asked for it, and stored encrypted.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { generateSecret, type SecretBox } from '../core/secret-box.ts'
import type { Db, ReadDb } from '../database/database.ts'
import { link } from '../http/links.ts'

/** Beside a new one; each token is tried with all. */
const MOST_SECRETS = 4

/** There is no such client id. */
export class UnknownClient extends Error {}

/** What may be known of a secret. */
export type ClientSecret = { id: number; createdAt: string; expiresAt: string | null }
export type Client = {
  clientId: string
  applicatieUuid: string
  label: string
  heeftAlleAutorisaties: boolean
  aantalAutorisaties: number
  geheimen: ClientSecret[]
}

/** All client ids with their application and what may be known of their secrets, the valid ones only. */
export async function listClients(db: ReadDb | Db): Promise<Client[]> {
  const { rows } = await sql<Client>`
    select c.client_id, a.uuid as applicatie_uuid, a.label, a.heeft_alle_autorisaties,
      (select count(*) from autorisatie r where r.applicatie_id = a.id)
        + (select count(*) from catalogus_autorisatie k where k.applicatie_id = a.id) as aantal_autorisaties,
      coalesce((select jsonb_agg(jsonb_build_object('id', g.id, 'createdAt', g.created_at, 'expiresAt', g.expires_at) order by g.id)
        from applicatie_secret g where g.client_id = c.client_id and (g.expires_at is null or g.expires_at > now())), '[]')
        as geheimen
    from applicatie_client c join applicatie a on a.id = c.applicatie_id
    order by c.client_id`.execute(db)
  return rows
}

/**
 * Gives a client id a secret beside the ones that it has.
 * @param secret left out: 256 random bits
 * @returns the secret, to show once
 * @throws UnknownClient
 */
export async function createSecret(
  m: Mutation,
  box: SecretBox,
  clientId: string,
  secret = generateSecret(),
): Promise<string> {
  return changeSecrets(m, clientId, async () => {
    await insertClientSecret(m, box, clientId, secret)
    return secret
  })
}

/**
 * Replaces the secret of a client id: the new one counts at once, those before it for a while longer, and no longer than they
 * would have.
 * @param options.graceHours how long they still count; 0: not at all
 * @returns the new secret, to show once
 * @throws UnknownClient
 */
export async function rotateSecret(
  m: Mutation,
  box: SecretBox,
  clientId: string,
  { graceHours = 24, secret = generateSecret() } = {},
): Promise<string> {
  return changeSecrets(m, clientId, async (before) => {
    // Whoever rotates again, because the first answer was lost, does not take away what the client still signs with.
    const kept = graceHours > 0 ? before.slice(-MOST_SECRETS).map(({ id }) => id) : []
    await m.trx
      .deleteFrom('applicatieSecret')
      .where('clientId', '=', clientId)
      .where((eb) => eb.or([eb('id', 'not in', [0, ...kept]), eb('expiresAt', '<=', sql<string>`now()`)]))
      .execute()
    await m.trx
      .updateTable('applicatieSecret')
      .set({ expiresAt: sql`least(expires_at, now() + make_interval(secs => ${graceHours * 3600}))` })
      .where('clientId', '=', clientId)
      .execute()
    await insertClientSecret(m, box, clientId, secret)
    return secret
  })
}

/**
 * Takes secrets from a client id: tokens signed with them are refused at once, by every process.
 * @param which one by its id, `oud`: all but the newest, or all of them
 * @returns how many
 * @throws UnknownClient
 */
export async function revokeSecret(m: Mutation, clientId: string, which: number | 'oud' | 'alle'): Promise<number> {
  return changeSecrets(m, clientId, async (before) => {
    const newest = before.at(-1)?.id ?? 0
    const { numDeletedRows } = await m.trx
      .deleteFrom('applicatieSecret')
      .where('clientId', '=', clientId)
      .$if(which === 'oud', (query) => query.where('id', '!=', newest))
      .$if(typeof which === 'number', (query) => query.where('id', '=', which as number))
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  })
}

/**
 * Gives a client id these secrets and no others; none: no token of it is taken any more.
 * @returns whether anything changed
 * @throws UnknownClient
 */
export async function setSecrets(m: Mutation, box: SecretBox, clientId: string, secrets: string[]): Promise<boolean> {
  const rows = await m.trx
    .selectFrom('applicatieSecret')
    .where('clientId', '=', clientId)
    .select('sealedSecret')
    .execute()
  const known = rows.map(({ sealedSecret }) => box.open(sealedSecret, clientId))
  if (isDeepStrictEqual(known.toSorted(), secrets.toSorted())) return false
  await changeSecrets(m, clientId, async () => {
    await m.trx.deleteFrom('applicatieSecret').where('clientId', '=', clientId).execute()
    for (const secret of secrets) await insertClientSecret(m, box, clientId, secret)
  })
  return true
}

async function insertClientSecret(m: Mutation, box: SecretBox, clientId: string, secret: string): Promise<void> {
  await m.trx
    .insertInto('applicatieSecret')
    .values({ clientId, sealedSecret: box.seal(secret, clientId) })
    .execute()
}

/** The record says which secrets there were and are, never what they are. The standard announces nothing of this. */
async function changeSecrets<T>(
  m: Mutation,
  clientId: string,
  work: (before: ClientSecret[]) => Promise<T>,
): Promise<T> {
  const applicatie = await m.trx
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', '=', clientId)
    .select(['a.uuid', 'a.label'])
    .forUpdate('c')
    .executeTakeFirst()
  if (!applicatie) throw new UnknownClient(`there is no client ${clientId}`)
  const oud = await secretsOfClient(m, clientId)
  const result = await work(oud)
  m.record({
    component: 'ac',
    actie: 'update',
    resource: 'applicatiegeheim',
    url: link(m.actor.base, 'applicatie', applicatie.uuid),
    uuid: applicatie.uuid,
    weergave: `${applicatie.label} - ${clientId}`,
    kanaal: null,
    oud: { clientId, geheimen: oud },
    nieuw: { clientId, geheimen: await secretsOfClient(m, clientId) },
  })
  return result
}

function secretsOfClient(m: Mutation, clientId: string): Promise<ClientSecret[]> {
  return m.trx
    .selectFrom('applicatieSecret')
    .where('clientId', '=', clientId)
    .orderBy('id')
    .select(['id', 'createdAt', 'expiresAt'])
    .execute()
}
