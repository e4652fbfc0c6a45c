// zaakobjecten: what a case is about.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { fetchTypes, NO_REMOTE_TYPES, type RemoteTypes } from '../catalogi/remote-types.ts'
import { LIMITS } from '../core/limits.ts'
import type { Actie, Mutation } from '../core/mutate.ts'
import type { InvalidParam } from '../core/problem.ts'
import { fault, immutable, onObject, throwFaults } from '../core/problem.ts'
import { changesOf, jsonOf, rowOf, sealedJsonOf } from '../database/driver-values.ts'
import { expected, one } from '../database/rows.ts'
import { merged } from '../http/documented.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalText, Patch, Put, Url, Uuid } from '../http/input.ts'
import { link, resolveLink } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { aNummerFault, Part, readPart } from './betrokkenen.ts'
import { requireWritable, touchZaak, type ZaakCore, zaakForChange } from './lock.ts'
import { Definition, definitionFaults } from './object-schema.ts'
import { OBJECT_TYPES, OBJECTTYPEN } from './objecttypen.ts'
import {
  by,
  byUrl,
  findAll,
  findOne,
  holdOne,
  type PartRow,
  paged,
  readable,
  sendOne,
  sendPage,
} from './part-queries.ts'
import { countUpTo, requireRoom } from './quota.ts'
import { recordBelow } from './records.ts'
import { access, BIJWERKEN, KOPPELEN, LEZEN, ONTKOPPELEN } from './rights.ts'
import { requireTypeOfZaak, typeLink } from './types.ts'
import { rederiveArchivering } from './zaak/archive.ts'
import { anyObject, NullableReference, OptionalReference, Params } from './zaak/columns.ts'
import { type ObjectDates, withObjectDates } from './zaak/object-dates.ts'

export const ZaakobjectPart = Type.Object({
  object: OptionalReference,
  zaakobjecttype: NullableReference,
  objectType: Type.Enum(OBJECT_TYPES),
  objectTypeOverige: OptionalText(100),
  objectTypeOverigeDefinitie: Part(Definition),
  relatieomschrijving: OptionalText(80),
  objectIdentificatie: anyObject(merged('ObjectIdentificatie', OBJECTTYPEN)),
})
export type ZaakobjectPart = Static<typeof ZaakobjectPart>
const ZaakobjectInput = Type.Object({ zaak: Url(), ...ZaakobjectPart.properties })
const ZaakobjectPut = Put(ZaakobjectInput)
const ZaakobjectPatch = Patch(ZaakobjectInput)
export const Zaakobject = Type.Object({ url: Url(), uuid: Uuid, ...ZaakobjectInput.properties })
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  zaak: Type.Optional(Url()),
  object: Type.Optional(Url()),
  objectType: Type.Optional(Type.Enum(OBJECT_TYPES)),
})
const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })

type ZaakobjectRow = PartRow & {
  object: string
  typeUuid: string | null
  zaakobjecttypeUrl: string | null
  objectType: string
  objectTypeOverige: string
  objectTypeOverigeDefinitie: Definition | null
  relatieomschrijving: string
  objectIdentificatie: Record<string, unknown> | null
}
export const source = paged<ZaakobjectRow, ReturnType<typeof toZaakobject>>({
  kind: 'zaakobject',
  table: 'zaakobject',
  columns: sql`y.uuid as type_uuid`,
  joins: sql`left join zaakobjecttype y on y.id = x.zaakobjecttype_id`,
  first: LIMITS.firstLarge,
  toResource: toZaakobject,
})

export const zaakobjecten: FastifyPluginAsyncTypebox = async (app) => {
  readable(source)

  app.get(
    '/zaakobjecten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Zaakobject) } } },
    async (request, reply) => {
      const { zaak, object, objectType } = request.query
      const conditions = [
        ...byUrl('x.zaakId', zaak, request.base, 'zaak'),
        ...by('x.object', object),
        ...by('x.objectType', objectType),
      ]
      return sendPage(request, reply, source, conditions, by('z.groep', objectType))
    },
  )

  app.post(
    '/zaakobjecten',
    { config: access(KOPPELEN), schema: { body: ZaakobjectInput, response: { 201: Zaakobject } } },
    async (request, reply) => {
      const faults = await judgeObject(app, request.body, request.base)
      const typen = await fetchTypes(app.parts.services, request.base, [
        ['zaakobjecttype', request.body.zaakobjecttype],
      ])
      const made = await withObjectDates(app, (objects) =>
        app.mutate(request.actor, async (m) =>
          createZaakobject(
            m,
            await zaakForChange(m, request.body.zaak, KOPPELEN),
            request.body,
            faults,
            typen,
            objects,
          ),
        ),
      )
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/zaakobjecten/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Zaakobject } } },
    async (request, reply) => sendOne(request, reply, source),
  )

  app.put(
    '/zaakobjecten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: ZaakobjectPut, response: { 200: Zaakobject } } },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/zaakobjecten/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: ZaakobjectPatch, response: { 200: Zaakobject } } },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/zaakobjecten/:uuid',
    { config: access(ONTKOPPELEN), schema: { params: Params } },
    async (request, reply) => {
      await withObjectDates(app, (objects) =>
        app.mutate(request.actor, (m) => deleteZaakobject(m, request.params.uuid, objects)),
      )
      return reply.code(204).send()
    },
  )

  async function change(
    { actor, base }: FastifyRequest,
    actie: 'update' | 'partial_update',
    uuid: string,
    given: Static<typeof ZaakobjectPatch>,
  ) {
    const definitie = given.objectTypeOverigeDefinitie
    const known = definitie ? await findOne(app.read, source, uuid) : undefined
    const faults =
      definitie && known?.object ? await definitionFaults(app.parts.services, definitie, known.object, base) : []
    return withObjectDates(app, (objects) =>
      app.mutate(actor, (m) => changeZaakobject(m, uuid, actie, given, faults, objects)),
    )
  }
}

/** The object is there, and is what its definitie says: asked before a transaction begins. */
export async function judgeObject(
  app: FastifyInstance,
  { object: url, objectTypeOverigeDefinitie: definitie }: Partial<ZaakobjectPart>,
  base: string,
): Promise<InvalidParam[]> {
  if (!url) return []
  const { services } = app.parts
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') {
    const fetched = target.kind === 'elsewhere' ? await services.fetchJson(url) : undefined
    if (fetched?.kind !== 'ok') return [fault('object', 'bad-url', 'Dit object is niet op te vragen.')]
  } // else it is looked up in the transaction
  return definitie ? definitionFaults(services, definitie, url, base) : []
}

const TABLES: Record<string, string> = {
  zaak: 'zaak',
  status: 'status',
  enkelvoudiginformatieobject: 'enkelvoudiginformatieobject',
  rol: 'rol',
  resultaat: 'resultaat',
}

async function ownObjectFaults(m: Mutation, url: string | undefined): Promise<InvalidParam[]> {
  const target = url ? resolveLink(url, m.actor.base) : undefined
  if (target?.kind !== 'ours') return []
  const table = TABLES[target.resource]
  if (!table) return []
  const [row] = await m.sql`select 1 from ${m.sql(table)} where uuid = ${target.uuid}`
  return row ? [] : [fault('object', 'bad-url', 'Dit object bestaat niet.')]
}

/**
 * The case is locked, and the actor may change it.
 * @param elsewhere what `judgeObject` found before the transaction
 * @param objects dates that archiving may count from, asked on the way
 * @throws Problem 400 when the object or its type does not fit, or the case is archived; 403 when it is closed and the actor
 * may not change closed ones (zrc-007)
 */
/** Objects that are somebody, or have somebody in them. */
const OF_PERSONS = new Set<string>(['natuurlijk_persoon', 'zakelijk_recht'])

export async function createZaakobject(
  m: Mutation,
  zaak: ZaakCore,
  input: ZaakobjectPart,
  elsewhere: InvalidParam[] = [],
  typen: RemoteTypes = NO_REMOTE_TYPES,
  objects?: ObjectDates,
) {
  const part = readObject(input.objectType, input.objectTypeOverigeDefinitie ? null : input.objectIdentificatie)
  throwFaults([...elsewhere, ...(await ownObjectFaults(m, input.object)), ...part.faults, ...kindFaults(input)])
  const named = input.zaakobjecttype
  const type = named ? await requireTypeOfZaak(m, 'zaakobjecttype', named, zaak, typen) : null
  requireWritable(m, zaak)
  const values = {
    zaakId: zaak.id,
    object: input.object ?? '',
    zaakobjecttypeId: type?.id ?? null,
    zaakobjecttypeUrl: type?.remote?.url ?? null,
    objectType: input.objectType,
    objectTypeOverige: input.objectTypeOverige ?? '',
    objectTypeOverigeDefinitie: jsonOf(m.sql, input.objectTypeOverigeDefinitie),
    relatieomschrijving: input.relatieomschrijving ?? '',
    objectIdentificatie: sealedJsonOf(m.sql, m.numbers, part.value),
  }
  if (OF_PERSONS.has(input.objectType)) await m.settleActs()
  const made = one(
    await m.sql<{ uuid: string; there: number }[]>`insert into zaakobject ${rowOf(m.sql, 'zaakobject', values)}
    returning uuid, ${countUpTo(m, 'zaakobject', 'zaak_id', zaak.id, LIMITS.related)} as there`,
  )
  requireRoom(made.there, 'zaakobjecten')
  await touchZaak(m, zaak.id)
  await rederive(m, zaak, input.objectType, objects)
  return record(m, zaak, 'create', null, made.uuid)
}

const readObject = (objectType: string, value: unknown) => {
  const shape = OBJECTTYPEN[objectType]
  if (!shape) return { value: null, faults: [] }
  const part = readPart(shape, value, 'objectIdentificatie')
  return { value: part.value, faults: [...part.faults, ...aNummerFault(part.value, 'objectIdentificatie')] }
}

/** What the fields say together about the kind of object. */
function kindFaults(input: ZaakobjectPart): InvalidParam[] {
  const faults = otherFaults(input)
  if (!input.object && !input.objectIdentificatie && !input.objectTypeOverigeDefinitie)
    faults.unshift(onObject('invalid-zaakobject', 'Geef object of objectIdentificatie.'))
  return faults
}

type OtherObject = Pick<ZaakobjectPart, 'object' | 'objectType' | 'objectTypeOverige' | 'objectTypeOverigeDefinitie'>

/** What it takes to be of another kind than the standard has. */
function otherFaults(input: OtherObject): InvalidParam[] {
  const faults: InvalidParam[] = []
  const definitie = input.objectTypeOverigeDefinitie
  if (definitie && !input.object)
    faults.push(fault('object', 'required', 'Bij objectTypeOverigeDefinitie hoort een object.'))
  if (input.objectType === 'overige' && !input.objectTypeOverige && !definitie)
    faults.push(onObject('missing-object-type-overige', 'Geef objectTypeOverige bij objectType overige.'))
  if (input.objectType !== 'overige' && input.objectTypeOverige)
    faults.push(onObject('invalid-object-type-overige-usage', 'objectTypeOverige hoort bij objectType overige.'))
  // The pattern of the standard, [a-z_]+, has to be found somewhere: clients send names as they are.
  if (input.objectTypeOverige && !/[a-z_]/.test(input.objectTypeOverige))
    faults.push(fault('objectTypeOverige', 'invalid', 'Hierin staan kleine letters of lage streepjes.'))
  return faults
}

async function changeZaakobject(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  given: Static<typeof ZaakobjectPatch>,
  faults: InvalidParam[],
  objects: ObjectDates,
) {
  const { zaak, before } = await holdOne(m, source, uuid, BIJWERKEN)
  const oud = toZaakobject(before, m.actor.base)
  const definitie = given.objectTypeOverigeDefinitie
  const part = readObject(before.objectType, definitie ? null : given.objectIdentificatie)
  requireWritable(m, zaak, [
    ...(['zaak', 'object', 'zaakobjecttype', 'objectType'] as const)
      .filter((name) => given[name] !== undefined && (given[name] || null) !== (oud[name] || null))
      .map(immutable),
    ...faults,
    ...part.faults,
    ...(given.objectTypeOverige !== undefined || definitie !== undefined
      ? otherFaults({ ...oud, ...given, object: oud.object, objectType: before.objectType })
      : []),
  ])
  const values = {
    ...(given.relatieomschrijving !== undefined && { relatieomschrijving: given.relatieomschrijving }),
    ...(given.objectTypeOverige !== undefined && { objectTypeOverige: given.objectTypeOverige }),
    ...(definitie !== undefined && { objectTypeOverigeDefinitie: jsonOf(m.sql, definitie) }),
    ...(definitie && { objectIdentificatie: null }),
    ...(part.value && { objectIdentificatie: sealedJsonOf(m.sql, m.numbers, part.value) }),
  }
  if (part.value || definitie) await m.settleActs()
  if (Object.keys(values).length > 0)
    await m.sql`update zaakobject set ${changesOf(m.sql, 'zaakobject', values)} where id = ${before.id}`
  await touchZaak(m, zaak.id)
  await rederive(m, zaak, before.objectType, objects)
  return record(m, zaak, actie, oud, uuid)
}

async function deleteZaakobject(m: Mutation, uuid: string, objects: ObjectDates): Promise<void> {
  const { zaak, before } = await holdOne(m, source, uuid, ONTKOPPELEN)
  await deleteZaakobjecten(m, zaak, [before])
  await rederive(m, zaak, before.objectType, objects, 'went')
}

/** Those of them that are there, whatever the rights of the actor. */
export const findZaakobjecten = (m: Mutation, uuids: readonly string[]) => findAll(m.read, source, uuids)

/** Removes those of one case, which is locked. The right was judged by the caller. */
export async function deleteZaakobjecten(m: Mutation, zaak: ZaakCore, rows: readonly ZaakobjectRow[]): Promise<void> {
  if (rows.length === 0) return
  requireWritable(m, zaak)
  await m.settleActs()
  await m.sql`delete from zaakobject where id = any(${rows.map(({ id }) => id)}::bigint[])`
  await touchZaak(m, zaak.id)
  for (const row of rows) {
    const { uuid, objectType: detail } = row
    const oud = toZaakobject(row, m.actor.base)
    recordBelow(m, zaak, { actie: 'destroy', resource: 'zaakobject', url: oud.url, uuid, detail, oud, nieuw: null })
  }
}

/** Only these kinds hold days that archiving may count from. */
async function rederive(
  m: Mutation,
  zaak: ZaakCore,
  objectType: string,
  objects: ObjectDates,
  change: 'came' | 'went' = 'came',
): Promise<void> {
  if (change === 'went' || objectType === 'overige' || objectType === 'woz_waarde')
    await rederiveArchivering(m, zaak.id, ['zaakobject'], objects, change)
}

async function record(m: Mutation, zaak: ZaakCore, actie: Actie, oud: object | null, uuid: string) {
  const row = expected(await findOne(m.read, source, uuid))
  const nieuw = toZaakobject(row, m.actor.base)
  const detail = row.relatieomschrijving || row.objectType
  recordBelow(m, zaak, { actie, resource: 'zaakobject', url: nieuw.url, uuid, detail, oud, nieuw })
  return nieuw
}

function toZaakobject(row: ZaakobjectRow, base: string) {
  return {
    url: link(base, 'zaakobject', row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    object: row.object,
    zaakobjecttype: typeLink(base, 'zaakobjecttype', row.typeUuid, row.zaakobjecttypeUrl) || null,
    objectType: row.objectType,
    objectTypeOverige: row.objectTypeOverige,
    objectTypeOverigeDefinitie: row.objectTypeOverigeDefinitie,
    relatieomschrijving: row.relatieomschrijving,
    objectIdentificatie: row.objectIdentificatie,
  }
}
