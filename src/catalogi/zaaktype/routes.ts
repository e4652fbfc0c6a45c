// Routes: the types of cases.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { announceType, revokeType } from '../../autorisaties/types.ts'
import type { Mutation } from '../../database/mutate.ts'
import { expected, one } from '../../database/rows.ts'
import { isoDuration } from '../../http/duration.ts'
import { Patch, readInput } from '../../http/input.ts'
import { Page } from '../../http/page.ts'
import { type InvalidParam, notFound, throwFaults } from '../../http/problem.ts'
import { deleteAccess, readAccess, updateAccess, writeAccess } from '../access.ts'
import { sendOne, sendPage } from '../expand.ts'
import { DetailOnDate, Params } from '../fields.ts'
import { recordChange } from '../records.ts'
import { handOverRelations } from '../related-types.ts'
import {
  anyPublished,
  deleteUnlessInUse,
  linkFaults,
  otherCatalogusFaults,
  publishedFaults,
  requireCatalogus,
  requireDeletable,
} from '../rules.ts'
import type { Selectielijst } from '../selectielijst.ts'
import { allPublished, changesOnlyEnd, requireNoOverlap } from '../versions.ts'
import {
  allZaaktypen,
  selectZaaktype,
  toRow,
  toZaaktype,
  Zaaktype,
  ZaaktypeInput,
  type ZaaktypeRow,
} from './columns.ts'
import { findZaaktype, listZaaktypen, ZaaktypeFilter } from './read.ts'
import { type Relations, readRelations, writeRelations } from './relations.ts'

const ZaaktypePatch = Patch(ZaaktypeInput)

export const zaaktypen =
  (selectielijst: Selectielijst): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/zaaktypen',
      { config: readAccess, schema: { querystring: ZaaktypeFilter, response: { 200: Page(Zaaktype) } } },
      async (request, reply) => {
        const list = listZaaktypen(app.read, request.query, request.base)
        const datum = request.query.datumGeldigheid ?? null
        return sendPage(
          request,
          reply,
          'zaaktype',
          {
            count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
            rows: (limit, offset) => {
              const page = list.select('t.id').orderBy('t.id', 'desc').limit(limit).offset(offset)
              return selectZaaktype(allZaaktypen(app.read).where('t.id', 'in', page), datum)
                .orderBy('t.id', 'desc')
                .execute()
            },
          },
          (row) => toZaaktype(row, request.base),
        )
      },
    )

    app.post(
      '/zaaktypen',
      { config: writeAccess, schema: { body: ZaaktypeInput, response: { 201: Zaaktype } } },
      async (request, reply) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        const zaaktype = await app.mutate(request.actor, (m) => createZaaktype(m, request.body, faults))
        return reply.code(201).header('location', zaaktype.url).send(zaaktype)
      },
    )

    app.get(
      '/zaaktypen/:uuid',
      { config: readAccess, schema: { params: Params, querystring: DetailOnDate, response: { 200: Zaaktype } } },
      async (request, reply) => {
        const row = await findZaaktype(app.read, request.params.uuid, request.query.datumGeldigheid)
        if (!row) throw notFound()
        return sendOne(request, reply, 'zaaktype', toZaaktype(row, request.base))
      },
    )

    app.put(
      '/zaaktypen/:uuid',
      { config: updateAccess, schema: { params: Params, body: ZaaktypeInput, response: { 200: Zaaktype } } },
      async (request) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        return app.mutate(request.actor, (m) => changeZaaktype(m, request.params.uuid, 'update', request.body, faults))
      },
    )

    app.patch(
      '/zaaktypen/:uuid',
      { config: updateAccess, schema: { params: Params, body: ZaaktypePatch, response: { 200: Zaaktype } } },
      async (request) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        return app.mutate(request.actor, (m) =>
          changeZaaktype(m, request.params.uuid, 'partial_update', request.body, faults),
        )
      },
    )

    app.delete('/zaaktypen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaaktype(m, request.params.uuid))
      return reply.code(204).send()
    })

    app.post(
      '/zaaktypen/:uuid/publish',
      { config: writeAccess, schema: { params: Params, response: { 200: Zaaktype } } },
      async (request, reply) => {
        const zaaktype = await app.mutate(request.actor, (m) => publishZaaktype(m, request.params.uuid))
        const missing = missingParts(zaaktype)
        if (missing.length > 0) reply.header('x-warning', `Dit zaaktype heeft nog geen ${missing.join(', geen ')}.`)
        return zaaktype
      },
    )
  }

/** ztc-001: the procestype is one of the selectielijst. */
export async function procestypeFaults(selectielijst: Selectielijst, url: string | undefined): Promise<InvalidParam[]> {
  if (!url) return []
  const found = await selectielijst.find(url, 'ProcesType')
  return found.kind === 'fault' ? [{ name: 'selectielijstProcestype', code: found.code, reason: found.reason }] : []
}

/**
 * @param faults what was found wrong already, reported together with the other fields
 * @param own a uuid to use instead of a new one
 */
export async function createZaaktype(
  m: Mutation,
  input: ZaaktypeInput,
  faults: InvalidParam[] = [],
  own: { uuid?: string } = {},
) {
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const relaties = await readRelations(m, input, catalogus.id, faults)
  throwFaults([...ruleFaults(input, catalogus.id, relaties), ...linkFaults(m, anyPublished(relaties.besluittypen))])
  const identificatie = input.identificatie || (await nextIdentificatie(m, versionDate(input)))
  const { id, uuid } = await m.trx
    .insertInto('zaaktype')
    .values({ ...own, ...toRow(input), ...ownColumns(input), identificatie, catalogusId: catalogus.id })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeRelations(m, id, relaties)
  const row = expected(await findZaaktype(m.read, uuid))
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, 'create', 'zaaktype', named(row), null, zaaktype)
  await announceType(m, 'zrc', null, placeOf(row))
  return zaaktype
}

/**
 * PUT (`update`) or PATCH; the version is held until the change is made.
 * @param faults what was found wrong already, reported together with the relations
 * @throws Problem 404; 400 when it was published and more than its end changes, without the forced scope (ztc-009), or when
 * its period would overlap another's (ztc-016)
 */
export async function changeZaaktype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ZaaktypePatch>,
  faults: InvalidParam[],
) {
  const before = await zaaktypeForChange(m, uuid)
  const oud = toZaaktype(before, m.actor.base)
  const input = actie === 'update' ? (body as ZaaktypeInput) : readInput(ZaaktypeInput, { ...oud, ...body })
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const relaties = await readRelations(m, input, catalogus.id, faults)
  const onlyEinde = changesOnlyEnd(actie, body)
  const objectFaults = ruleFaults(input, catalogus.id, relaties)
  if (!onlyEinde) {
    const given = body.besluittypen ? relaties.besluittypen : []
    const linked = anyPublished(given) || (await hasPublishedBesluittype(m, before.id))
    objectFaults.push(...publishedFaults(m, before), ...linkFaults(m, linked))
  }
  throwFaults(objectFaults)
  const identificatie = input.identificatie || before.identificatie
  await m.trx
    .updateTable('zaaktype')
    .set({ ...toRow(input), ...ownColumns(input), identificatie, catalogusId: catalogus.id })
    .where('id', '=', before.id)
    .execute()
  await writeRelations(m, before.id, {
    ...(body.besluittypen && { besluittypen: relaties.besluittypen }),
    ...((actie === 'update' || body.deelzaaktypen) && { deelzaaktypen: relaties.deelzaaktypen }),
    ...(body.gerelateerdeZaaktypen && { gerelateerd: relaties.gerelateerd }),
  })
  const row = expected(await findZaaktype(m.read, uuid))
  if (!row.concept)
    await requireNoOverlap(
      m,
      'zaaktype',
      { ...row, sleutel: row.identificatie },
      onlyEinde ? 'eindeGeldigheid' : undefined,
    )
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, actie, 'zaaktype', named(row), oud, zaaktype)
  await announceType(m, 'zrc', placeOf(before), placeOf(row))
  return zaaktype
}

/** Makes a version usable, with what is below it. Publishing it again runs the same checks and changes nothing. */
export async function publishZaaktype(m: Mutation, uuid: string) {
  const before = await zaaktypeForChange(m, uuid)
  const published =
    (await allPublished(
      m,
      'besluittype',
      sql`select r.besluittype_id from zaaktype_besluittype r where r.zaaktype_id = ${before.id}`,
    )) &&
    (await allPublished(
      m,
      'informatieobjecttype',
      sql`select r.informatieobjecttype_id from zaaktype_informatieobjecttype r where r.zaaktype_id = ${before.id}`,
    ))
  if (!published) throwFaults([CONCEPT_RELATION])
  await requireNoOverlap(m, 'zaaktype', { ...before, sleutel: before.identificatie })
  await m.trx.updateTable('zaaktype').set({ concept: false }).where('id', '=', before.id).execute()
  const row = expected(await findZaaktype(m.read, uuid))
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, 'update', 'zaaktype', named(row), toZaaktype(before, m.actor.base), zaaktype)
  return zaaktype
}

/** What a case needs of its type to run to its end. The standard's own suites publish types without, so it is a warning. */
function missingParts(zaaktype: {
  roltypen: readonly string[]
  resultaattypen: readonly string[]
  statustypen: readonly string[]
}): string[] {
  return [
    ...(zaaktype.statustypen.length < 2 ? ['twee statustypen'] : []),
    ...(zaaktype.resultaattypen.length === 0 ? ['resultaattypen'] : []),
    ...(zaaktype.roltypen.length === 0 ? ['roltypen'] : []),
  ]
}

const CONCEPT_RELATION = {
  name: 'nonFieldErrors',
  code: 'concept-relation',
  reason: 'Een gerelateerd besluittype of informatieobjecttype is nog niet gepubliceerd.',
}

/**
 * Relations with the type go over to another version; what is below it goes.
 * @throws Problem 404; 400 when it was published, without the forced scope (ztc-009); 409 when it is in use
 */
export async function deleteZaaktype(m: Mutation, uuid: string): Promise<void> {
  const before = await zaaktypeForChange(m, uuid)
  await requireDeletable(m, before, async () => {
    const { rows } = await sql`
      select 1 from zaaktype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id
      where r.zaaktype_id = ${before.id} and not i.concept limit 1`.execute(m.trx)
    return rows.length > 0 || hasPublishedBesluittype(m, before.id)
  })
  await handOverRelations(m, 'zaaktype', before.id, [
    { table: 'zaaktype_deelzaaktype', owner: 'zaaktype_id', column: 'deelzaaktype_id' },
    { table: 'zaaktype_gerelateerd_zaaktype', owner: 'zaaktype_id', column: 'gerelateerd_zaaktype_id' },
  ])
  await deleteUnlessInUse(() => m.trx.deleteFrom('zaaktype').where('id', '=', before.id).execute())
  await revokeType(m, 'zrc', uuid, placeOf(before))
  recordChange(m, 'destroy', 'zaaktype', named(before), toZaaktype(before, m.actor.base), null)
}

async function zaaktypeForChange(m: Mutation, uuid: string): Promise<ZaaktypeRow> {
  await m.trx.selectFrom('zaaktype').where('uuid', '=', uuid).forUpdate().select('id').execute()
  const row = await findZaaktype(m.read, uuid)
  if (!row) throw notFound()
  return row
}

async function hasPublishedBesluittype(m: Mutation, zaaktypeId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from zaaktype_besluittype r join besluittype b on b.id = r.besluittype_id
    where r.zaaktype_id = ${zaaktypeId} and not b.concept limit 1`.execute(m.trx)
  return rows.length > 0
}

function ruleFaults(input: ZaaktypeInput, catalogusId: number, relaties: Relations): InvalidParam[] {
  const faults = [
    ...otherCatalogusFaults(relaties.besluittypen, catalogusId),
    ...otherCatalogusFaults(relaties.deelzaaktypen, catalogusId, 'deelzaaktypen'),
  ]
  if (input.verlengingMogelijk && !input.verlengingstermijn)
    faults.push({
      name: 'nonFieldErrors',
      code: 'verlenging-mismatch',
      reason: 'Als verlenging mogelijk is, is verlengingstermijn verplicht.',
    })
  if (isFilled(input.broncatalogus) !== isFilled(input.bronzaaktype))
    faults.push({
      name: 'nonFieldErrors',
      code: 'invalid-bronzaaktype-for-broncatalogus',
      reason: 'Broncatalogus en bronzaaktype gaan samen.',
    })
  return faults
}

const isFilled = (group: object | undefined) => Object.values(group ?? {}).some((value) => value !== '')

/** Deprecated since Catalogi 1.3.2, where it may be left out: then the version is of the day on which it begins. */
const versionDate = ({ versiedatum, beginGeldigheid }: ZaaktypeInput) => versiedatum ?? beginGeldigheid

/** The next generated identificatie of a year. Whoever asks at the same moment waits, so that none is given twice. */
async function nextIdentificatie(m: Mutation, versiedatum: string): Promise<string> {
  const prefix = `ZAAKTYPE-${versiedatum.slice(0, 4)}-`
  await sql`select pg_advisory_xact_lock(hashtext('zaaktype identificatie'))`.execute(m.trx)
  const { rows } = await sql<{ next: number }>`
    select coalesce(max(substr(identificatie, ${prefix.length + 1})::bigint), 0) + 1 as next from zaaktype
    where identificatie ~ ${`^${prefix}[0-9]{10}$`}`.execute(m.trx)
  return `${prefix}${String(one(rows).next).padStart(10, '0')}`
}

/** The columns that are not what the field says. */
function ownColumns(input: ZaaktypeInput) {
  const { verlengingMogelijk, verlengingstermijn } = input
  return {
    verlengingstermijn: verlengingMogelijk && verlengingstermijn ? isoDuration(verlengingstermijn) : null,
    versiedatum: versionDate(input),
  }
}

const placeOf = ({ catalogusId, identificatie: sleutel }: ZaaktypeRow) => ({ catalogusId, sleutel })
const named = (row: ZaaktypeRow) => ({
  uuid: row.uuid,
  catalogusUuid: row.catalogusUuid,
  weergave: `${row.identificatie} - ${row.omschrijving}`,
})
