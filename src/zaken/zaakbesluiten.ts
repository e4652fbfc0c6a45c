// zaakbesluiten: the decisions that belong to a case. For those of ours the row comes and goes with Besluit.zaak, through
// the functions below.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { fault, invalid, notFound, onObject, throwFaults } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { ExpandQuery } from '../http/expand.ts'
import { Reference, Url, Uuid } from '../http/input.ts'
import { link, linkOr, resolveLink } from '../http/links.ts'
import { holdZaak, requireWritable, requireZaak, touchZaak, type ZaakCore } from './lock.ts'
import { findOne, holdOne, type PartRow, type PartSource, sendAll, sendOne } from './part-queries.ts'
import { recordBelow } from './records.ts'
import { ALLEEN_BIJWERKEN, access, LEZEN, requireMay } from './rights.ts'
import { rederiveArchivering } from './zaak/archive.ts'

const Zaakbesluit = Type.Object({ url: Url(), uuid: Uuid, besluit: Url() })
const ZaakParams = Type.Object({ zaakUuid: Uuid })
const Params = Type.Object({ zaakUuid: Uuid, uuid: Uuid })
const Query = Type.Object(ExpandQuery)

type Row = PartRow & { besluitUuid: string | null; besluitUrl: string | null }
export const source: PartSource<Row, ReturnType<typeof toZaakbesluit>> = {
  kind: 'zaakbesluit',
  table: 'zaakbesluit',
  toResource: toZaakbesluit,
}

export const zaakbesluiten: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/zaken/:zaakUuid/besluiten',
    {
      config: access(LEZEN),
      schema: { params: ZaakParams, querystring: Query, response: { 200: Type.Array(Zaakbesluit) } },
    },
    async (request, reply) => {
      const zaak = await requireZaak(app.read, request.actor, LEZEN, request.params.zaakUuid)
      return sendAll(request, reply, source, [sql`x.zaak_id = ${zaak.id}`])
    },
  )

  app.post(
    '/zaken/:zaakUuid/besluiten',
    {
      config: access(ALLEEN_BIJWERKEN),
      schema: { params: ZaakParams, body: Type.Object({ besluit: Reference() }), response: { 201: Zaakbesluit } },
    },
    async (request, reply) => {
      const { zaakUuid } = request.params
      const { besluit } = request.body
      await requireZaak(app.read, request.actor, ALLEEN_BIJWERKEN, zaakUuid)
      const target = resolveLink(besluit, request.base)
      if (target.kind === 'elsewhere' && (await app.parts.services.fetchJson(besluit)).kind !== 'ok')
        throwFaults([fault('besluit', 'bad-url', 'Dit besluit is niet op te vragen.')])
      if (target.kind === 'nothing') throwFaults([fault('besluit', 'bad-url', 'Dit besluit bestaat niet.')])
      if (target.kind === 'ours' && target.resource !== 'besluit')
        throwFaults([fault('besluit', 'invalid-resource', 'Deze URL is van een andere resource.')])
      const made = await app.mutate(request.actor, async (m) => {
        const zaak = await holdZaak(m, zaakUuid)
        if (!zaak) throw notFound()
        if (target.kind === 'ours') return confirm(m, zaak, target.uuid)
        requireMay(m.actor, ALLEEN_BIJWERKEN, zaak)
        requireWritable(m, zaak)
        const row = one(
          await m.sql<{ uuid: string }[]>`
          insert into zaakbesluit (zaak_id, besluit_url) values (${zaak.id}, ${besluit})
          on conflict on constraint zaakbesluit_unique do update set besluit_url = excluded.besluit_url returning uuid`,
        )
        const nieuw = toZaakbesluit(expected(await findOne(m.read, source, row.uuid)), m.actor.base)
        recordBelow(m, zaak, { ...change(nieuw), actie: 'create', oud: null, nieuw })
        return nieuw
      })
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/zaken/:zaakUuid/besluiten/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: Query, response: { 200: Zaakbesluit } } },
    async (request, reply) => sendOne(request, reply, source, request.params.zaakUuid),
  )

  app.delete(
    '/zaken/:zaakUuid/besluiten/:uuid',
    { config: access(ALLEEN_BIJWERKEN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, async (m) => {
        const { zaakUuid, uuid } = request.params
        const { zaak, before: row } = await holdOne(m, source, uuid, ALLEEN_BIJWERKEN, zaakUuid)
        if (row.besluitUuid)
          throwFaults([onObject('inconsistent-relation', 'Het besluit hoort nog bij deze zaak: wijzig het besluit.')])
        requireWritable(m, zaak)
        await m.trx.deleteFrom('zaakbesluit').where('id', '=', row.id).execute()
        const oud = toZaakbesluit(row, m.actor.base)
        recordBelow(m, zaak, { ...change(oud), actie: 'destroy', oud, nieuw: null, stil: true })
      })
      return reply.code(204).send()
    },
  )
}

const change = (besluit: { url: string; uuid: string; besluit: string }) => ({
  resource: 'zaakbesluit',
  url: besluit.url,
  uuid: besluit.uuid,
  detail: besluit.besluit,
})

/** A besluit of ours says itself to which case it belongs; a POST only asks whether it does. */
async function confirm(m: Mutation, zaak: ZaakCore, besluitUuid: string) {
  m.unrecorded('nothing changes')
  const [row] = await m.sql<
    { uuid: string }[]
  >`select uuid from zaakbesluit where zaak_id = ${zaak.id} and besluit_uuid = ${besluitUuid}`
  if (!row) throw invalid('nonFieldErrors', 'inconsistent-relation', 'Dit besluit hoort niet bij deze zaak.')
  return toZaakbesluit(expected(await findOne(m.read, source, row.uuid)), m.actor.base)
}

function toZaakbesluit(row: Row, base: string) {
  return {
    url: `${link(base, 'zaak', row.zaakUuid)}/besluiten/${row.uuid}`,
    uuid: row.uuid,
    besluit: linkOr(base, 'besluit', row.besluitUuid, row.besluitUrl),
  }
}

// ---- for the Besluiten API ----

export type BesluitOfZaak = { besluitUuid: string; ingangsdatum: string | null; vervaldatum: string | null }

/** A besluit of ours now belongs to this case. The case is locked (`zaakForChange`) and judged by the caller. */
export async function linkBesluit(m: Mutation, zaak: ZaakCore, besluit: BesluitOfZaak): Promise<void> {
  const row = one(
    await m.sql<{ uuid: string }[]>`
    insert into zaakbesluit (zaak_id, besluit_uuid, ingangsdatum, vervaldatum)
    values (${zaak.id}, ${besluit.besluitUuid}, ${besluit.ingangsdatum}, ${besluit.vervaldatum})
    on conflict on constraint zaakbesluit_unique
    do update set ingangsdatum = excluded.ingangsdatum, vervaldatum = excluded.vervaldatum returning uuid`,
  )
  const nieuw = toZaakbesluit(expected(await findOne(m.read, source, row.uuid)), m.actor.base)
  recordBelow(m, zaak, { ...change(nieuw), actie: 'create', oud: null, nieuw })
  await afterBesluit(m, zaak)
}

/** The days of a besluit changed: what is archived by them is derived again. */
export async function changeLinkedBesluit(m: Mutation, zaak: ZaakCore, besluit: BesluitOfZaak): Promise<void> {
  await m.sql`update zaakbesluit set ingangsdatum = ${besluit.ingangsdatum}, vervaldatum = ${besluit.vervaldatum}
    where zaak_id = ${zaak.id} and besluit_uuid = ${besluit.besluitUuid}`
  await afterBesluit(m, zaak)
}

/** A besluit of ours belongs to this case no more. */
export async function unlinkBesluit(m: Mutation, zaak: ZaakCore, besluitUuid: string): Promise<void> {
  const [row] = await m.sql<
    { uuid: string }[]
  >`select uuid from zaakbesluit where zaak_id = ${zaak.id} and besluit_uuid = ${besluitUuid}`
  if (!row) return
  const oud = toZaakbesluit(expected(await findOne(m.read, source, row.uuid)), m.actor.base)
  await m.trx.deleteFrom('zaakbesluit').where('uuid', '=', row.uuid).execute()
  recordBelow(m, zaak, { ...change(oud), actie: 'destroy', oud, nieuw: null, stil: true })
  await afterBesluit(m, zaak)
}

async function afterBesluit(m: Mutation, zaak: ZaakCore): Promise<void> {
  await touchZaak(m, zaak.id)
  await rederiveArchivering(m, zaak.id, ['ingangsdatum_besluit', 'vervaldatum_besluit'], undefined, 'went')
}
