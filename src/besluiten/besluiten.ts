// besluiten: decisions, taken in a case or apart from any.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { byKey, type Condition, type Conditions } from '../database/list.ts'
import { sendCacheable } from '../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../http/expand.ts'
import { Rsin, Url } from '../http/input.ts'
import { localUuid, resolveLink } from '../http/links.ts'
import { CursorQuery, Page, PageQuery, sendPageOf } from '../http/page.ts'
import { openRemoteRelations } from '../services/remote-relations.ts'
import { type ChangeKind, changeBesluit } from './change.ts'
import { Besluit, BesluitInput, BesluitPatch, BesluitPut, Params, toBesluit } from './columns.ts'
import { createBesluit } from './create.ts'
import { deleteBesluit } from './delete.ts'
import { besluitTree } from './expand.ts'
import { besluitenById, countBesluiten, findBesluit, idList, pageOfBesluiten, requireBesluit } from './read.ts'
import { AANMAKEN, access, BIJWERKEN, LEZEN, reached, VERWIJDEREN } from './rights.ts'
import { fetchBesluittypeElsewhere, fetchZaakElsewhere } from './rules.ts'

const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  identificatie: Type.Optional(Type.String()),
  verantwoordelijkeOrganisatie: Type.Optional(Rsin),
  besluittype: Type.Optional(Url()),
  zaak: Type.Optional(Url()),
})
const DetailQuery = Type.Object({ ...PageQuery, ...ExpandQuery })

export const besluiten: FastifyPluginAsyncTypebox = async (app) => {
  const { config, services } = app.parts
  const remoteRelations = openRemoteRelations(app.mutate, services)

  app.get(
    '/besluiten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Besluit) } } },
    async (request, reply) => {
      const conditions = filtered(request.query, request)
      const list = app.listing((reader) => ({
        count: () => countBesluiten(reader, conditions),
        isFiltered: conditions.counted.length > 1 || conditions.others.length > 0,
        rows: (limit, offset, known) => pageOfBesluiten(reader, request.actor, conditions, limit, offset, known),
        byKey: byKey(reader, idList(conditions), (ids) => besluitenById(reader, request.actor, ids)),
      }))
      const paths = request.query.expand
      return sendPageOf(request, reply, list, (rows) => {
        const besluiten = rows.map((row) => toBesluit(row, request.base))
        return paths ? expandEach(request, besluiten, paths, besluitTree) : besluiten
      })
    },
  )

  app.post(
    '/besluiten',
    { config: access(AANMAKEN), schema: { body: BesluitInput, response: { 201: Besluit } } },
    async (request, reply) => {
      const elsewhere = await fetchBesluittypeElsewhere(services, request.body.besluittype, request.base)
      const zaakElsewhere = await fetchZaakElsewhere(services, request.body.zaak, request.base)
      const row = await remoteRelations.create(request.actor, (m, remote) =>
        createBesluit(m, request.body, { elsewhere, config, zaakElsewhere, remote }),
      )
      const besluit = toBesluit(row, request.base)
      return reply.code(201).header('location', besluit.url).send(besluit)
    },
  )

  app.get(
    '/besluiten/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Besluit } } },
    async (request, reply) => {
      const row = await requireBesluit(app.read, request.actor, LEZEN, request.params.uuid)
      const besluit = toBesluit(row, request.base)
      const paths = request.query.expand
      const [answer] = paths ? await expand(request, [besluit], paths, besluitTree) : [besluit]
      return sendCacheable(request, reply, answer)
    },
  )

  app.put(
    '/besluiten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: BesluitPut, response: { 200: Besluit } } },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/besluiten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: BesluitPatch, response: { 200: Besluit } } },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/besluiten/:uuid',
    { config: access(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteBesluit(m, request.params.uuid))
      return reply.code(204).send()
    },
  )

  async function change({ actor, base }: FastifyRequest, actie: ChangeKind, uuid: string, given: BesluitPatch) {
    const known = await findBesluit(app.read, uuid)
    // Who names the case that it has already need not wait for the server of that case.
    const moves = given.zaak && given.zaak !== known?.zaakUrl
    const zaakElsewhere = moves ? await fetchZaakElsewhere(services, given.zaak, base) : undefined
    const typeUrl = moves ? known?.besluittypeUrl : undefined
    const type = typeUrl ? await fetchBesluittypeElsewhere(services, typeUrl, base) : undefined
    const zaaktypen = type && 'zaaktypen' in type ? type.zaaktypen : []
    return remoteRelations.create(actor, (m, remote) =>
      changeBesluit(m, uuid, actie, given, { config, zaakElsewhere, zaaktypen, remote }),
    )
  }
}

/** What a filter leaves of the besluiten that the caller may read. */
function filtered(filter: Static<typeof Filter>, { actor, base }: FastifyRequest): Conditions {
  const counted: Condition[] = [reached(actor)]
  const others: Condition[] = []
  if (filter.identificatie !== undefined) others.push(sql`b.identificatie = ${filter.identificatie}`)
  if (filter.verantwoordelijkeOrganisatie !== undefined)
    counted.push(sql`b.verantwoordelijke_organisatie = ${filter.verantwoordelijkeOrganisatie}`)
  if (filter.besluittype !== undefined) counted.push(ofType(filter.besluittype, base))
  if (filter.zaak !== undefined) {
    const uuid = localUuid(filter.zaak, base, 'zaak') ?? null
    if (resolveLink(filter.zaak, base).kind === 'elsewhere') others.push(sql`b.zaak_url = ${filter.zaak}`)
    else others.push(sql`b.zaak_id = (select z.id from zaak z where z.uuid = ${uuid}::uuid)`)
  }
  return { counted, others }
}

function ofType(url: string, base: string): RawBuilder<boolean> {
  if (resolveLink(url, base).kind === 'elsewhere') return sql`b.besluittype_url = ${url}`
  const uuid = localUuid(url, base, 'besluittype') ?? null
  return sql`b.besluittype_id = (select t.id from besluittype t where t.uuid = ${uuid}::uuid)`
}
