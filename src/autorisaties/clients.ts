import { createSigner } from 'fast-jwt'
import type { Config } from '../config.ts'
import { systemActor } from '../core/access.ts'
import { type Mutation, mutator } from '../core/mutate.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database, Db } from '../database/database.ts'
import { link, ownAddress } from '../http/links.ts'

/** A client id that another application has already (ac-001). */
export class ClientExists extends Error {}

export type NewClient = { id: string; label: string; alleAutorisaties: boolean; secret: string }

/**
 * Makes an application with one client id and its secret. Without configuration it is not announced.
 * @param last is done before it is committed; when it fails nothing is made
 * @throws ClientExists
 */
export async function createClient(
  database: Database,
  box: SecretBox,
  client: NewClient,
  config?: Config,
  last: () => Promise<void> = async () => {},
): Promise<void> {
  await mutator(database, announcing(config))(systemActor('client create', config && ownAddress(config)), async (m) => {
    if (await findApplicatie(m.trx, client.id)) throw new ClientExists(`client ${client.id} exists already`)
    await insertClient(m, box, client)
    await last()
  })
}

/**
 * Makes sure that this client id exists, has all rights, and has this secret and no other. Again: changes nothing. Without
 * configuration a change is not announced.
 */
export async function ensureBootstrapClient(
  database: Database,
  box: SecretBox,
  client: { id: string; secret: string },
  config?: Config,
): Promise<void> {
  const found = await findApplicatie(database.db, client.id)
  if (found?.heeftAlleAutorisaties && (await secretsOf(database.db, box, client.id)).join() === client.secret) return
  await mutator(database, announcing(config))(systemActor('bootstrap', config && ownAddress(config)), async (m) => {
    await m.sql`select pg_advisory_xact_lock(${BOOTSTRAP_LOCK}, hashtext(current_schema()))` // another process may start at the same moment
    const current = await findApplicatie(m.trx, client.id)
    if (current?.heeftAlleAutorisaties && (await secretsOf(m.trx, box, client.id)).join() === client.secret)
      return m.unrecorded('it was made a moment ago')
    if (!current) return insertClient(m, box, { ...client, label: client.id, alleAutorisaties: true })
    await m.trx.deleteFrom('autorisatie').where('applicatieId', '=', current.id).execute()
    await m.trx.deleteFrom('catalogusAutorisatie').where('applicatieId', '=', current.id).execute()
    await m.trx.updateTable('applicatie').set({ heeftAlleAutorisaties: true }).where('id', '=', current.id).execute()
    await m.trx.deleteFrom('applicatieSecret').where('clientId', '=', client.id).execute()
    await insertSecret(m, box, client)
    record(m, 'update', current.uuid, current.label, true, client.id)
  })
}

const BOOTSTRAP_LOCK = 8_305_212

// Who announces a change needs an address for it.
const announcing = (config?: Config) => ({
  announces: () => config !== undefined && !config.notificationsDisabled,
})

async function insertClient(m: Mutation, box: SecretBox, client: NewClient): Promise<void> {
  const { id, uuid } = await m.trx
    .insertInto('applicatie')
    .values({ label: client.label, heeftAlleAutorisaties: client.alleAutorisaties })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await m.trx.insertInto('applicatieClient').values({ clientId: client.id, applicatieId: id }).execute()
  await insertSecret(m, box, client)
  record(m, 'create', uuid, client.label, client.alleAutorisaties, client.id)
}

async function insertSecret(
  m: Mutation,
  box: SecretBox,
  { id, secret }: { id: string; secret: string },
): Promise<void> {
  await m.trx
    .insertInto('applicatieSecret')
    .values({ clientId: id, sealedSecret: box.seal(secret, id) })
    .execute()
}

function record(
  m: Mutation,
  actie: 'create' | 'update',
  uuid: string,
  label: string,
  heeftAlleAutorisaties: boolean,
  clientId: string,
): void {
  const url = link(m.actor.base, 'applicatie', uuid)
  m.record({
    component: 'ac',
    actie,
    resource: 'applicatie',
    url,
    uuid,
    weergave: label,
    kanaal: { naam: 'autorisaties', kenmerken: {} },
    oud: null,
    nieuw: { url, clientIds: [clientId], label, heeftAlleAutorisaties, autorisaties: [] },
  })
}

function findApplicatie(db: Db, clientId: string) {
  return db
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', '=', clientId)
    .select(['a.id', 'a.uuid', 'a.label', 'a.heeftAlleAutorisaties'])
    .executeTakeFirst()
}

async function secretsOf(db: Db, box: SecretBox, clientId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('applicatieSecret')
    .where('clientId', '=', clientId)
    .orderBy('id')
    .select('sealedSecret')
    .execute()
  return rows.map(({ sealedSecret }) => box.open(sealedSecret, clientId))
}

/** A token for a client of ours, as it would make it itself; undefined: no such client, or it has no secret. */
export async function tokenFor(
  database: Database,
  box: SecretBox,
  clientId: string,
  user: { id: string; name: string },
): Promise<string | undefined> {
  const secret = (await secretsOf(database.db, box, clientId)).at(-1)
  return secret && signToken(clientId, secret, user)
}

/** Signs a token as clients of the standard do. */
export function signToken(
  clientId: string,
  secret: string,
  user: { id: string; name: string } = { id: '', name: '' },
): string {
  const sign = createSigner({ key: secret, algorithm: 'HS256' })
  return sign({ iss: clientId, client_id: clientId, user_id: user.id, user_representation: user.name })
}
