// resultaten: the outcome of a case, one at most.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { fetchTypes, type RemoteType, type RemoteTypes } from '../catalogi/remote-types.ts'
import type { Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam, immutable } from '../core/problem.ts'
import { jsonOf, rowOf } from '../database/driver-values.ts'
import { expected, one } from '../database/rows.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalText, Patch, Put, Reference, Url, Uuid } from '../http/input.ts'
import { link } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { requireWritable, touchZaak, type ZaakCore, zaakForChange } from './lock.ts'
import {
  byType,
  byUrl,
  findOne,
  holdOne,
  isOnlyType,
  type PartRow,
  paged,
  readable,
  sendOne,
  sendPage,
} from './part-queries.ts'
import { recordBelow } from './records.ts'
import { findLackingForResultaat, judgeRequirements, type Requirements } from './requirements.ts'
import { access, BIJWERKEN, LEZEN } from './rights.ts'
import { requireTypeOfZaak, typeLink } from './types.ts'
import { rederiveArchivering, saveArchivering } from './zaak/archive.ts'
import { Params } from './zaak/columns.ts'
import { type ObjectDates, withObjectDates } from './zaak/object-dates.ts'

export const ResultaatPart = Type.Object({ resultaattype: Reference(), toelichting: OptionalText(1000) })
const ResultaatInput = Type.Object({ zaak: Url(), ...ResultaatPart.properties })
const ResultaatPut = Put(ResultaatInput)
const ResultaatPatch = Patch(ResultaatInput)
export const Resultaat = Type.Object({ url: Url(), uuid: Uuid, ...ResultaatInput.properties })
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  zaak: Type.Optional(Url()),
  resultaattype: Type.Optional(Url()),
})
const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })

type ResultaatRow = PartRow & {
  typeUuid: string | null
  resultaattypeUrl: string | null
  omschrijving: string
  toelichting: string
}
export const source = paged<ResultaatRow, ReturnType<typeof toResultaat>>({
  kind: 'resultaat',
  table: 'resultaat',
  columns: sql`y.uuid as type_uuid, coalesce(y.omschrijving, x.resultaattype_elsewhere ->> 'omschrijving') as omschrijving`,
  joins: sql`left join resultaattype y on y.id = x.resultaattype_id`,
  toResource: toResultaat,
})

export const resultaten: FastifyPluginAsyncTypebox = async (app) => {
  readable(source)

  app.get(
    '/resultaten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Resultaat) } } },
    async (request, reply) => {
      const { zaak, resultaattype } = request.query
      const conditions = [
        ...byUrl('x.zaakId', zaak, request.base, 'zaak'),
        ...byType('x.resultaattypeId', 'x.resultaattypeUrl', resultaattype, request.base, 'resultaattype'),
      ]
      const counted = byType('z.typeId', 'z.typeUrl', resultaattype, request.base, 'resultaattype')
      return sendPage(request, reply, source, conditions, counted, isOnlyType(conditions, resultaattype, request.base))
    },
  )

  app.post(
    '/resultaten',
    { config: access(BIJWERKEN), schema: { body: ResultaatInput, response: { 201: Resultaat } } },
    async (request, reply) => {
      const wanted = [['resultaattype', request.body.resultaattype]] as const
      const typen = await fetchTypes(app.parts.services, request.base, wanted)
      const resultaat = await withObjectDates(app, (objects) =>
        app.mutate(request.actor, async (m) =>
          createResultaat(m, await zaakForChange(m, request.body.zaak, BIJWERKEN), request.body, {
            typen,
            objects,
            requirements: app.parts.config.typeRequirements,
          }),
        ),
      )
      return reply.code(201).header('location', resultaat.url).send(resultaat)
    },
  )

  app.get(
    '/resultaten/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Resultaat } } },
    async (request, reply) => sendOne(request, reply, source),
  )

  app.put(
    '/resultaten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: ResultaatPut, response: { 200: Resultaat } } },
    async (request) =>
      withObjectDates(app, (objects) =>
        app.mutate(request.actor, (m) => changeResultaat(m, request.params.uuid, 'update', request.body, objects)),
      ),
  )

  app.patch(
    '/resultaten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: ResultaatPatch, response: { 200: Resultaat } } },
    async (request) =>
      withObjectDates(app, (objects) =>
        app.mutate(request.actor, (m) =>
          changeResultaat(m, request.params.uuid, 'partial_update', request.body, objects),
        ),
      ),
  )

  app.delete('/resultaten/:uuid', { config: access(BIJWERKEN), schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteResultaat(m, request.params.uuid))
    return reply.code(204).send()
  })
}

/**
 * @param asked.typen what was asked of other servers
 * @param asked.objects the same, for a case that is closed
 */
export async function createResultaat(
  m: Mutation,
  zaak: ZaakCore,
  input: Static<typeof ResultaatPart>,
  { typen, objects, requirements }: { typen: RemoteTypes; objects?: ObjectDates; requirements: Requirements },
) {
  const { id, remote } = await requireTypeOfZaak(m, 'resultaattype', input.resultaattype, zaak, typen)
  requireWritable(m, zaak, await uniqueFaults(m, zaak))
  judgeRequirements(m, zaak, await findLackingForResultaat(m, zaak.id, id), { before: 'dit resultaat', requirements })
  const made = one(
    await m.sql<{ uuid: string }[]>`
    insert into resultaat ${rowOf(m.sql, 'resultaat', {
      zaakId: zaak.id,
      resultaattypeId: id,
      ...(remote && { resultaattypeUrl: remote.url, resultaattypeElsewhere: jsonOf(m.sql, regeling(remote)) }),
      toelichting: input.toelichting ?? '',
    })} returning uuid`,
  )
  await rederiveArchivering(m, zaak.id, undefined, objects)
  await touchZaak(m, zaak.id)
  return record(m, zaak, 'create', null, made.uuid)
}

/** Told before a closed case is, as clients and suites expect. The lock on the case keeps it so. */
async function uniqueFaults(m: Mutation, zaak: ZaakCore): Promise<InvalidParam[]> {
  const there = await m.trx.selectFrom('resultaat').where('zaakId', '=', zaak.id).select('id').executeTakeFirst()
  return there ? [fault('zaak', 'unique', 'De zaak heeft al een resultaat.')] : []
}

/** What archiving needs of a type elsewhere: kept with the resultaat, since nothing can be asked when the case closes. */
const regeling = ({
  omschrijving,
  archiefnominatie,
  archiefactietermijn,
  brondatumArchiefprocedure,
}: RemoteType<'resultaattype'>) => ({
  omschrijving,
  archiefnominatie,
  archiefactietermijn,
  brondatumArchiefprocedure,
})

async function changeResultaat(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  given: Static<typeof ResultaatPatch>,
  objects: ObjectDates,
) {
  const { zaak, before } = await holdOne(m, source, uuid, BIJWERKEN)
  const oud = toResultaat(before, m.actor.base)
  requireWritable(m, zaak, [
    ...(given.zaak !== undefined && given.zaak !== oud.zaak ? [immutable('zaak')] : []),
    ...(given.resultaattype !== undefined && given.resultaattype !== oud.resultaattype
      ? [immutable('resultaattype')]
      : []),
  ])
  if (given.toelichting !== undefined)
    await m.trx.updateTable('resultaat').set({ toelichting: given.toelichting }).where('id', '=', before.id).execute()
  await rederiveArchivering(m, zaak.id, undefined, objects)
  await touchZaak(m, zaak.id)
  return record(m, zaak, actie, oud, uuid)
}

async function deleteResultaat(m: Mutation, uuid: string): Promise<void> {
  const { zaak, before } = await holdOne(m, source, uuid, BIJWERKEN)
  requireWritable(m, zaak)
  await m.trx.deleteFrom('resultaat').where('id', '=', before.id).execute()
  if (zaak.einddatum !== null)
    await saveArchivering(m, [zaak.id], {
      archiefnominatie: undefined,
      archiefactiedatum: null,
      startdatumBewaartermijn: null,
    })
  await touchZaak(m, zaak.id)
  const oud = toResultaat(before, m.actor.base)
  recordBelow(m, zaak, {
    actie: 'destroy',
    resource: 'resultaat',
    url: oud.url,
    uuid,
    detail: before.omschrijving,
    oud,
    nieuw: null,
  })
}

async function record(
  m: Mutation,
  zaak: ZaakCore,
  actie: 'create' | 'update' | 'partial_update',
  oud: object | null,
  uuid: string,
) {
  const row = expected(await findOne(m.read, source, uuid))
  const nieuw = toResultaat(row, m.actor.base)
  recordBelow(m, zaak, { actie, resource: 'resultaat', url: nieuw.url, uuid, detail: row.omschrijving, oud, nieuw })
  return nieuw
}

function toResultaat(row: ResultaatRow, base: string) {
  return {
    url: link(base, 'resultaat', row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    resultaattype: typeLink(base, 'resultaattype', row.typeUuid, row.resultaattypeUrl),
    toelichting: row.toelichting,
  }
}
