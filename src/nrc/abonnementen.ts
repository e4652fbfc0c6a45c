// abonnement: who gets messages, of which kanalen, and where. An abonnement belongs to the applicatie that made it.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { SecretBox } from '../autorisaties/secret-box.ts'
import type { Config } from '../config.ts'
import type { Database, ReadDb } from '../database/database.ts'
import type { Mutation } from '../database/mutate.ts'
import { documentedAs } from '../http/documented.ts'
import { Patch, Text, Url, Uuid } from '../http/input.ts'
import { link } from '../http/links.ts'
import { type InvalidParam, notFound, throwFaults } from '../http/problem.ts'
import { subscriberOwner } from '../notificaties/deliver.ts'
import { openAgent } from '../services/services.ts'
import { addressFaults, probeCallback } from './callback.ts'
import { unknownFilters } from './kenmerken.ts'
import { readAccess, requireOwner, subscribeAccess } from './rights.ts'

const MAX_KANALEN = 100
const MAX_FILTERS = 50
const MAX_AUTH = 8192
const MAX_ABONNEMENTEN = 1000 // of one applicatie; a list that the standard does not page

const AbonnementKanaal = Type.Object({
  naam: Text(50, { minLength: 1 }),
  filters: Type.Optional(
    Type.Unsafe<Record<string, string>>(
      documentedAs(
        { type: 'object', default: {} },
        { type: 'object', additionalProperties: { type: 'string', maxLength: 1000 } },
      ),
    ),
  ),
})
const AbonnementInput = Type.Object({
  callbackUrl: Type.String({ format: 'uri', minLength: 1, maxLength: 2000 }),
  auth: Type.String({ minLength: 1, maxLength: MAX_AUTH, writeOnly: true }),
  kanalen: Type.Array(AbonnementKanaal, { maxItems: MAX_KANALEN }),
  sendCloudevents: Type.Optional(Type.Boolean({ default: false })),
})
type AbonnementInput = Static<typeof AbonnementInput>
const AbonnementPatch = Patch(AbonnementInput)
type AbonnementPatch = Static<typeof AbonnementPatch>
const { auth: _, ...Shown } = AbonnementInput.properties
const Abonnement = Type.Object({ url: Url(), ...Shown })
const Params = Type.Object({ uuid: Uuid })

export const abonnementen: FastifyPluginAsyncTypebox = async (app) => {
  const { config, box } = app.parts
  const agent = openAgent({ connections: 20 })
  app.addHook('onClose', () => agent.destroy())

  app.get(
    '/abonnement',
    { config: readAccess, schema: { response: { 200: Type.Array(Abonnement) } } },
    async (request) => {
      const { actor, base } = request
      const own = actor.alleAutorisaties ? sql<boolean>`true` : sql<boolean>`p.uuid = ${actor.applicatieUuid}::uuid`
      return (await selectAbonnementen(app.read, own)).map((row) => toAbonnement(row, base))
    },
  )

  app.post(
    '/abonnement',
    { config: subscribeAccess, schema: { body: AbonnementInput, response: { 201: Abonnement } } },
    async (request, reply) => {
      const { body } = request
      const kanalen = await judge(app.read, config, body)
      if (kanalen.length === 0)
        throwFaults([{ name: 'kanalen', code: 'required', reason: 'Noem ten minste een kanaal.' }])
      throwFaults(await probeCallback(agent, config, body.callbackUrl, body.auth))
      const abonnement = await app.mutate(request.actor, (m) => createAbonnement(m, box, body, kanalen))
      return reply.code(201).header('location', abonnement.url).send(abonnement)
    },
  )

  app.get(
    '/abonnement/:uuid',
    { config: readAccess, schema: { params: Params, response: { 200: Abonnement } } },
    async (request) => {
      const row = await requireAbonnement(app.read, request.params.uuid)
      requireOwner(request.actor, row.applicatieUuid)
      return toAbonnement(row, request.base)
    },
  )

  app.put(
    '/abonnement/:uuid',
    { config: subscribeAccess, schema: { params: Params, body: AbonnementInput, response: { 200: Abonnement } } },
    async (request) => change(request.actor, request.params.uuid, request.body),
  )

  app.patch(
    '/abonnement/:uuid',
    { config: subscribeAccess, schema: { params: Params, body: AbonnementPatch, response: { 200: Abonnement } } },
    async (request) => change(request.actor, request.params.uuid, request.body),
  )

  app.delete('/abonnement/:uuid', { config: subscribeAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteAbonnement(m, request.params.uuid))
    return reply.code(204).send()
  })

  /** The callback is asked again when its address or its auth is another one; what is not given is taken as it is stored. */
  async function change(actor: Mutation['actor'], uuid: string, given: AbonnementPatch) {
    const row = await requireAbonnement(app.read, uuid)
    requireOwner(actor, row.applicatieUuid)
    const kanalen = await judge(app.read, config, given)
    const stored = row.authenticatie === 'header' ? box.open(row.auth, subscriberOwner(row.uuid)) : undefined
    const callbackUrl = given.callbackUrl ?? row.callbackUrl
    const auth = given.auth ?? stored
    if (auth !== undefined && (callbackUrl !== row.callbackUrl || auth !== stored))
      throwFaults(await probeCallback(agent, config, callbackUrl, auth))
    return app.mutate(actor, (m) => changeAbonnement(m, box, row.uuid, given, given.kanalen ? kanalen : undefined))
  }
}

// ---- reading ----

type AbonnementRow = {
  id: number
  uuid: string
  applicatieUuid: string | null
  callbackUrl: string
  authenticatie: string
  auth: Buffer
  cloudevents: boolean
  kanalen: { naam: string; filters: Record<string, string> }[]
}

async function selectAbonnementen(db: ReadDb, kept: ReturnType<typeof sql<boolean>>): Promise<AbonnementRow[]> {
  const { rows } = await sql<AbonnementRow>`
    select a.id, a.uuid, p.uuid as applicatie_uuid, a.callback_url, a.authenticatie, a.auth, a.cloudevents,
      coalesce((select jsonb_agg(jsonb_build_object('naam', k.naam, 'filters', ak.filters) order by ak.id)
        from abonnement_kanaal ak join kanaal k on k.id = ak.kanaal_id where ak.abonnement_id = a.id), '[]') as kanalen
    from abonnement a left join applicatie p on p.id = a.applicatie_id
    where a.verwijderd_op is null and ${kept} order by a.id limit ${MAX_ABONNEMENTEN}`.execute(db as never)
  return rows
}

async function requireAbonnement(db: ReadDb, uuid: string): Promise<AbonnementRow> {
  const [row] = await selectAbonnementen(db, sql<boolean>`a.uuid = ${uuid}::uuid`)
  if (!row) throw notFound()
  return row
}

/** `auth` is never shown: some receivers take what they are shown for their own key. */
const toAbonnement = ({ uuid, callbackUrl, kanalen, cloudevents }: AbonnementRow, base: string) => ({
  url: link(base, 'abonnement', uuid),
  callbackUrl,
  kanalen,
  sendCloudevents: cloudevents,
})

// ---- judging ----

type Groep = { kanaalId: number; filters: Record<string, string> }

/**
 * What can be judged without asking the callback.
 * @returns the kanalen that were given, with their ids
 * @throws Problem 400 with all faults
 */
async function judge(db: ReadDb, config: Config, given: AbonnementPatch): Promise<Groep[]> {
  const namen = [...new Set((given.kanalen ?? []).map(({ naam }) => naam))]
  const known = namen.length
    ? await db.selectFrom('kanaal').select(['id', 'naam', 'filters']).where('naam', 'in', namen).execute()
    : []
  const byName = new Map(known.map((kanaal) => [kanaal.naam, kanaal]))
  const faults: InvalidParam[] = [
    ...(given.callbackUrl === undefined ? [] : addressFaults(config, given.callbackUrl)),
    // A header takes what latin-1 has, and no line break: that would be a second header.
    ...(given.auth !== undefined && !/^[\t\x20-\x7e\xa0-\xff]*$/.test(given.auth)
      ? [{ name: 'auth', code: 'invalid', reason: 'Deze waarde kan niet in een header staan.' }]
      : []),
  ]
  const groepen: Groep[] = []
  for (const [index, { naam, filters = {} }] of (given.kanalen ?? []).entries()) {
    const kanaal = byName.get(naam)
    const at = `kanalen.${index}`
    if (!kanaal) faults.push({ name: `${at}.naam`, code: 'kanaal_naam', reason: `Kanaal ${naam} bestaat niet.` })
    else {
      faults.push(...filterFaults(`${at}.filters`, filters, kanaal.filters))
      groepen.push({ kanaalId: kanaal.id, filters })
    }
  }
  throwFaults(faults)
  return groepen
}

function filterFaults(name: string, filters: Record<string, unknown>, known: readonly string[]): InvalidParam[] {
  const entries = Object.entries(filters)
  if (entries.length > MAX_FILTERS)
    return [{ name, code: 'max-items', reason: `Een groep heeft ten hoogste ${MAX_FILTERS} filters.` }]
  const wrong = entries.filter(([, value]) => typeof value !== 'string' || value.length === 0 || value.length > 1000)
  if (wrong.length > 0)
    return wrong.map(([naam]) => ({
      name: `${name}.${naam.slice(0, 100)}`,
      code: 'invalid',
      reason: 'Een filter is een tekst van 1 tot 1000 tekens; * laat alles door.',
    }))
  const unknown = unknownFilters(filters as Record<string, string>, known)
  if (unknown.length === 0) return []
  const reason = `Dit kanaal kent niet: ${unknown.map((naam) => naam.slice(0, 100)).join(', ')}. Het kent: ${known.join(', ')}.`
  return [{ name, code: 'inconsistent-abonnement-filters', reason }]
}

// ---- writing ----

const UNRECORDED = 'the standard keeps no audit trail of kanalen and abonnementen'

async function createAbonnement(m: Mutation, box: SecretBox, input: AbonnementInput, groepen: Groep[]) {
  m.unrecorded(UNRECORDED)
  const uuid = crypto.randomUUID()
  const applicatie = await m.trx
    .selectFrom('applicatie as p')
    .where('p.uuid', '=', m.actor.applicatieUuid)
    .select((e) => [
      'p.id',
      e
        .selectFrom('abonnement as a')
        .whereRef('a.applicatieId', '=', 'p.id')
        .where('a.verwijderdOp', 'is', null)
        .select((f) => f.fn.countAll<number>().as('count'))
        .as('count'),
    ])
    .executeTakeFirst()
  if ((applicatie?.count ?? 0) >= MAX_ABONNEMENTEN) {
    const reason = `Een applicatie heeft ten hoogste ${MAX_ABONNEMENTEN} abonnementen.`
    throwFaults([{ name: 'nonFieldErrors', code: 'max-items', reason }])
  }
  const { id } = await m.trx
    .insertInto('abonnement')
    .values({
      uuid,
      applicatieId: applicatie?.id ?? null,
      clientId: m.actor.clientId,
      callbackUrl: input.callbackUrl,
      auth: box.seal(input.auth, subscriberOwner(uuid)),
      cloudevents: input.sendCloudevents ?? false,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await writeKanalen(m, id, groepen)
  return toAbonnement(await requireAbonnement(m.read, uuid), m.actor.base)
}

async function changeAbonnement(
  m: Mutation,
  box: SecretBox,
  uuid: string,
  given: AbonnementPatch,
  groepen: Groep[] | undefined,
) {
  m.unrecorded(UNRECORDED)
  const row = await lockAbonnement(m, uuid)
  await m.trx
    .updateTable('abonnement')
    .set({
      gewijzigdOp: sql`now()`,
      ...(given.callbackUrl !== undefined && { callbackUrl: given.callbackUrl }),
      ...(given.auth !== undefined && {
        authenticatie: 'header' as const,
        auth: box.seal(given.auth, subscriberOwner(uuid)),
      }),
      ...(given.sendCloudevents !== undefined && { cloudevents: given.sendCloudevents }),
    })
    .where('id', '=', row.id)
    .execute()
  if (groepen) {
    await m.trx.deleteFrom('abonnementKanaal').where('abonnementId', '=', row.id).execute()
    await writeKanalen(m, row.id, groepen)
  }
  return toAbonnement(await requireAbonnement(m.read, uuid), m.actor.base)
}

/** At once nothing more is sent to it; what was still to be delivered is removed by the daily clean-up, in portions. */
async function deleteAbonnement(m: Mutation, uuid: string): Promise<void> {
  m.unrecorded(UNRECORDED)
  const row = await lockAbonnement(m, uuid)
  await m.trx.updateTable('abonnement').set({ verwijderdOp: sql`now()` }).where('id', '=', row.id).execute()
}

/** @throws Problem 404, or 403 for that of another applicatie */
async function lockAbonnement(m: Mutation, uuid: string): Promise<{ id: number }> {
  const row = await m.trx
    .selectFrom('abonnement as a')
    .leftJoin('applicatie as p', 'p.id', 'a.applicatieId')
    .select(['a.id', 'p.uuid as applicatieUuid'])
    .where('a.uuid', '=', uuid)
    .where('a.verwijderdOp', 'is', null)
    .forUpdate('a')
    .executeTakeFirst()
  if (!row) throw notFound()
  requireOwner(m.actor, row.applicatieUuid)
  return row
}

async function writeKanalen(m: Mutation, abonnementId: number, groepen: Groep[]): Promise<void> {
  if (groepen.length === 0) return
  await m.sql`
    insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
    select ${abonnementId}, g.kanaal_id, g.filters
    from jsonb_to_recordset(${m.sql.json(groepen.map(({ kanaalId, filters }) => ({ kanaal_id: kanaalId, filters })))})
      as g(kanaal_id bigint, filters jsonb)`
}

const PORTION = 5000

/**
 * Removes what deleted abonnementen left: their deliveries in portions, then themselves. Running it again is harmless.
 * @returns how many abonnementen are gone
 */
export async function removeDeletedAbonnementen({ sql }: Database): Promise<number> {
  for (let removed = PORTION; removed === PORTION; ) {
    const { count } = await sql`
      delete from levering where ctid = any(array(
        select l.ctid from levering l join abonnement a on a.id = l.abonnement_id
        where a.verwijderd_op is not null limit ${PORTION}))`
    removed = count
  }
  const { count } = await sql`
    delete from abonnement a where a.verwijderd_op is not null
      and not exists (select from levering l where l.abonnement_id = a.id)`
  return count
}
