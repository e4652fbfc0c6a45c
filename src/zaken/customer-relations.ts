// zaakcontactmomenten and zaakverzoeken: what a customer said or asked about a case. The contactmoment or verzoek stands in
// another register, which keeps the other side of the relation (zrc-024, zrc-025).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { Reference, Url, Uuid } from '../http/input.ts'
import { link, resolveLink } from '../http/links.ts'
import { openRemoteRelations, type RemoteChange, siblingList } from '../services/remote-relations.ts'
import type { Services } from '../services/services.ts'
import { closedForNotes, requireWritable, type ZaakCore, zaakForChange } from './lock.ts'
import { by, byUrl, findOne, holdOne, type PartRow, type PartSource, sendAll, sendOne } from './part-queries.ts'
import { recordBelow } from './records.ts'
import { ALLEEN_BIJWERKEN, access, LEZEN } from './rights.ts'
import { Params } from './zaak/columns.ts'

/** `veld` is the field, and the column, with the URL; `remote` the kind at the other side, in list `lijst`. */
const ZAAKCONTACTMOMENT = {
  naam: 'zaakcontactmoment',
  pad: '/zaakcontactmomenten',
  veld: 'contactmoment',
  remote: 'objectcontactmoment',
  lijst: 'objectcontactmomenten',
} as const
const ZAAKVERZOEK = {
  naam: 'zaakverzoek',
  pad: '/zaakverzoeken',
  veld: 'verzoek',
  remote: 'objectverzoek',
  lijst: 'objectverzoeken',
} as const
type Relation = typeof ZAAKCONTACTMOMENT | typeof ZAAKVERZOEK

type Row = PartRow & { contactmoment: string; verzoek: string }

// The two differ in nothing but names, in the standard as well.
const routes =
  (relatie: Relation): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { pad, veld } = relatie
    const { services } = app.parts
    const remoteRelations = openRemoteRelations(app.mutate, services)
    const bron = sourceOf(relatie)
    const Input = Type.Object({ zaak: Url(), [veld]: Reference() })
    const Resource = Type.Object({ url: Url(), uuid: Uuid, ...Input.properties })
    const Filter = Type.Object({ zaak: Type.Optional(Url()), [veld]: Type.Optional(Url()) })

    app.get(
      pad,
      { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Type.Array(Resource) } } },
      async (request, reply) => {
        const query = request.query as Record<string, string | undefined>
        return sendAll(request, reply, bron, [
          ...byUrl('x.zaakId', query.zaak, request.base, 'zaak'),
          ...by(`x.${veld}`, query[veld]),
        ]) as Promise<never>
      },
    )

    app.post(
      pad,
      { config: access(ALLEEN_BIJWERKEN), schema: { body: Input, response: { 201: Resource } } },
      async (request, reply) => {
        const body = request.body as Record<string, string>
        const url = expected(body[veld])
        const faults = await judge(services, veld, url, request.base)
        const made = await remoteRelations.create(request.actor, async (m, remote) => {
          const zaak = await zaakForChange(m, expected(body.zaak), ALLEEN_BIJWERKEN)
          requireWritable(m, zaak, faults, closedForNotes(app.parts.config))
          return create(m, relatie, zaak, url, remote)
        })
        return reply
          .code(201)
          .header('location', made.url)
          .send(made as never)
      },
    )

    app.get(
      `${pad}/:uuid`,
      {
        config: access(LEZEN),
        schema: { params: Params, querystring: Type.Object({}), response: { 200: Resource } },
      },
      async (request, reply) => sendOne(request, reply, bron),
    )

    app.delete(
      `${pad}/:uuid`,
      { config: access(ALLEEN_BIJWERKEN), schema: { params: Params } },
      async (request, reply) => {
        const { uuid } = request.params
        await remoteRelations.delete(request.actor, { table: relatie.naam, uuid }, (m) =>
          deleteRelation(m, relatie, uuid, closedForNotes(app.parts.config)),
        )
        return reply.code(204).send()
      },
    )
  }

export const zaakcontactmomenten = routes(ZAAKCONTACTMOMENT)
export const zaakverzoeken = routes(ZAAKVERZOEK)

/** Both kinds, for who reads all that hangs on cases. */
export const sources = () => [sourceOf(ZAAKCONTACTMOMENT), sourceOf(ZAAKVERZOEK)]

function sourceOf({ naam, veld }: Relation): PartSource<Row, { url: string; uuid: string }> {
  return {
    kind: naam,
    table: naam,
    toResource: (row, base) => ({
      url: link(base, naam, row.uuid),
      uuid: row.uuid,
      zaak: link(base, 'zaak', row.zaakUuid),
      [veld]: row[veld],
    }),
  }
}

/** It is there, and is what it has to be: asked before a transaction begins. */
async function judge(services: Services, field: Relation['veld'], url: string, base: string): Promise<InvalidParam[]> {
  const target = resolveLink(url, base)
  if (target.kind === 'ours') return [fault(field, 'invalid-resource', 'Deze URL is van een andere resource.')]
  const fetched = target.kind === 'elsewhere' ? await services.fetchJson(url) : undefined
  if (fetched?.kind !== 'ok') return [fault(field, 'bad-url', `Dit ${field} is niet op te vragen.`)]
  const { bronorganisatie, tekst } = (fetched.body ?? {}) as Record<string, unknown>
  if (typeof bronorganisatie === 'string' && typeof tekst === 'string') return []
  return [fault(field, 'invalid-resource', `Deze URL is niet van een ${field}.`)]
}

async function create(m: Mutation, relatie: Relation, zaak: ZaakCore, url: string, remote: RemoteChange) {
  const { naam, veld } = relatie
  const made = one(
    await m.sql<{ uuid: string }[]>`
    insert into ${m.sql(naam)} (zaak_id, ${m.sql(veld)}) values (${zaak.id}, ${url}) returning uuid`,
  )
  const { uuid } = made
  remote.changedRows.push({ table: naam, uuid })
  remote.relations.push({
    kind: relatie.remote,
    sourceTable: naam,
    sourceUuid: uuid,
    listUrl: siblingList(url, relatie.lijst),
    content: { [veld]: url, object: link(m.actor.base, 'zaak', zaak.uuid), objectType: 'zaak' },
  })
  const bron = sourceOf(relatie)
  const nieuw = bron.toResource(expected(await findOne(m.read, bron, uuid)), m.actor.base)
  recordBelow(m, zaak, { actie: 'create', resource: naam, url: nieuw.url, uuid, detail: url, oud: null, nieuw })
  return nieuw
}

async function deleteRelation(
  m: Mutation,
  relatie: Relation,
  uuid: string,
  closed: ReturnType<typeof closedForNotes>,
): Promise<void> {
  const { naam, veld } = relatie
  const bron = sourceOf(relatie)
  const { zaak, before: row } = await holdOne(m, bron, uuid, ALLEEN_BIJWERKEN)
  requireWritable(m, zaak, [], closed)
  await m.sql`delete from ${m.sql(naam)} where id = ${row.id}`
  const oud = bron.toResource(row, m.actor.base)
  const detail = row[veld]
  recordBelow(m, zaak, {
    actie: 'destroy',
    resource: naam,
    url: oud.url,
    uuid,
    detail,
    oud,
    nieuw: null,
    stil: true, // the standard announces no more of it than that it came
  })
}
