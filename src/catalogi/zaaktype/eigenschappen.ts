// eigenschappen: the properties that cases of a type have of their own.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import type { Mutation } from '../../database/mutate.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { OptionalDate, OptionalText, Patch, Reference, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { Page, PageQuery } from '../../http/page.ts'
import { type InvalidParam, throwFaults } from '../../http/problem.ts'
import { Detail, NullableDate, NullableUrl, Params, Teksten } from '../fields.ts'
import {
  dateFaults,
  deleteAccess,
  OnderZaaktypeFilter,
  onderZaaktype,
  readAccess,
  requireStatustype,
  requireZaaktypeForChange,
  updateAccess,
  zaaktypeFaults,
} from '../rules.ts'
import {
  deletePart,
  expandableSource,
  OF_ZAAKTYPE,
  partForChange,
  recordType,
  sendType,
  sendTypes,
  type TypeSource,
} from '../type-source.ts'

const Specificatie = Type.Object({
  groep: Type.Optional(Type.String({ maxLength: 32, pattern: '^[A-Za-z0-9 _]*$', default: '' })),
  formaat: Type.Enum(['tekst', 'getal', 'datum', 'datum_tijd']),
  lengte: Text(14, { minLength: 1 }),
  kardinaliteit: Type.String({ minLength: 1, maxLength: 3, pattern: '^([1-9][0-9]*|N)?$' }),
  waardenverzameling: Teksten(100),
})
export const EigenschapInput = Type.Object({
  naam: Text(20, { minLength: 1 }),
  definitie: Text(255, { minLength: 1 }),
  specificatie: Specificatie,
  toelichting: OptionalText(1000),
  zaaktype: Reference(),
  statustype: NullableUrl,
  beginGeldigheid: OptionalDate,
  eindeGeldigheid: OptionalDate,
})
const Eigenschap = Type.Object({
  url: Url(),
  ...EigenschapInput.properties,
  zaaktypeIdentificatie: Type.String(),
  catalogus: Url(),
  beginObject: NullableDate,
  eindeObject: NullableDate,
})
const Filter = Type.Object({ ...PageQuery, ...ExpandQuery, ...OnderZaaktypeFilter })
const EigenschapPatch = Patch(EigenschapInput)
type Input = Static<typeof EigenschapInput>

export const eigenschappen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/eigenschappen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Eigenschap) } } },
    async (request, reply) => sendTypes(request, reply, source, request.query),
  )

  app.post(
    '/eigenschappen',
    { config: updateAccess, schema: { body: EigenschapInput, response: { 201: Eigenschap } } },
    async (request, reply) => {
      const eigenschap = await app.mutate(request.actor, (m) => createEigenschap(m, request.body))
      return reply.code(201).header('location', eigenschap.url).send(eigenschap)
    },
  )

  app.get(
    '/eigenschappen/:uuid',
    { config: readAccess, schema: { params: Params, querystring: Detail, response: { 200: Eigenschap } } },
    async (request, reply) => sendType(request, reply, source, request.params.uuid),
  )

  app.put(
    '/eigenschappen/:uuid',
    { config: updateAccess, schema: { params: Params, body: EigenschapInput, response: { 200: Eigenschap } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeEigenschap(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/eigenschappen/:uuid',
    { config: updateAccess, schema: { params: Params, body: EigenschapPatch, response: { 200: Eigenschap } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeEigenschap(m, request.params.uuid, 'partial_update', request.body)),
  )

  app.delete('/eigenschappen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteEigenschap(m, request.params.uuid))
    return reply.code(204).send()
  })
}

/** @param own a uuid to use instead of a new one */
export async function createEigenschap(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  throwFaults(specificatieFaults(input.specificatie))
  const statustypeId = await requireStatustype(m, input.statustype ?? null, zaaktype.id)
  throwFaults([...zaaktypeFaults(m, [zaaktype]), ...dateFaults(input)])
  const { uuid } = await m.trx
    .insertInto('eigenschap')
    .values({ ...own, ...toRow(input), zaaktypeId: zaaktype.id, statustypeId })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  return recordType(m, source, 'create', uuid, null)
}

export async function changeEigenschap(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof EigenschapPatch>,
) {
  const before = await partForChange(m, source, 'eigenschap', uuid)
  const oud = toEigenschap(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(EigenschapInput, { ...oud, ...body })
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  throwFaults(specificatieFaults(input.specificatie))
  const statustypeId = await requireStatustype(m, input.statustype ?? null, zaaktype.id)
  throwFaults([...zaaktypeFaults(m, [before, zaaktype]), ...dateFaults(input)])
  await m.trx
    .updateTable('eigenschap')
    .set({ ...toRow(input), zaaktypeId: zaaktype.id, statustypeId })
    .where('id', '=', before.id)
    .execute()
  return recordType(m, source, actie, uuid, oud)
}

export const deleteEigenschap = (m: Mutation, uuid: string): Promise<void> => deletePart(m, source, 'eigenschap', uuid)

const LENGTE = {
  tekst: (lengte: string) => /^\d{1,3}$/.test(lengte) && Number(lengte) <= 255,
  getal: (lengte: string) => /^\d+(,\d+)?$/.test(lengte),
  datum: (lengte: string) => lengte === '8', // JJJJMMDD
  datum_tijd: (lengte: string) => lengte === '14', // JJJJMMDDuummss
}

/** ztc-015: the length fits the kind of value. */
function specificatieFaults({ formaat, lengte }: Input['specificatie']): InvalidParam[] {
  if (LENGTE[formaat](lengte)) return []
  return [
    {
      name: 'specificatie.nonFieldErrors',
      code: 'invalid',
      reason: `Deze lengte past niet bij het formaat ${formaat}.`,
    },
  ]
}

function toRow(input: Input) {
  const { specificatie } = input
  return {
    naam: input.naam,
    definitie: input.definitie,
    toelichting: input.toelichting ?? '',
    specificatieGroep: specificatie.groep ?? '',
    specificatieFormaat: specificatie.formaat,
    specificatieLengte: specificatie.lengte,
    specificatieKardinaliteit: specificatie.kardinaliteit,
    specificatieWaardenverzameling: specificatie.waardenverzameling ?? [],
    beginGeldigheid: input.beginGeldigheid ?? null,
    eindeGeldigheid: input.eindeGeldigheid ?? null,
  }
}

function allEigenschappen(db: ReadDb) {
  return db
    .selectFrom('eigenschap as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Eigenschappen = ReturnType<typeof allEigenschappen>

function listEigenschappen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allEigenschappen(db).where(onderZaaktype(filter, base)).select('t.id')
}

function selectEigenschap(query: Eigenschappen) {
  return query
    .selectAll('t')
    .select(OF_ZAAKTYPE)
    .leftJoin('statustype as s', 's.id', 't.statustypeId')
    .select('s.uuid as statustypeUuid')
}
type EigenschapRow = Awaited<ReturnType<ReturnType<typeof selectEigenschap>['executeTakeFirstOrThrow']>>

function toEigenschap(row: EigenschapRow, base: string): Static<typeof Eigenschap> {
  return {
    url: link(base, 'eigenschap', row.uuid),
    naam: row.naam,
    definitie: row.definitie,
    specificatie: {
      groep: row.specificatieGroep,
      formaat: row.specificatieFormaat as Input['specificatie']['formaat'],
      lengte: row.specificatieLengte,
      kardinaliteit: row.specificatieKardinaliteit,
      waardenverzameling: row.specificatieWaardenverzameling,
    },
    toelichting: row.toelichting,
    zaaktype: link(base, 'zaaktype', row.zaaktypeUuid),
    zaaktypeIdentificatie: row.zaaktypeIdentificatie,
    catalogus: link(base, 'catalogus', row.catalogusUuid),
    statustype: row.statustypeUuid ? link(base, 'statustype', row.statustypeUuid) : null,
    beginGeldigheid: row.beginGeldigheid,
    eindeGeldigheid: row.eindeGeldigheid,
    beginObject: row.beginGeldigheid,
    eindeObject: row.eindeGeldigheid,
  }
}

const source: TypeSource<EigenschapRow, Static<typeof Eigenschap>, Static<typeof Filter>> = {
  resource: 'eigenschap',
  listed: listEigenschappen,
  rows: (db, condition) => selectEigenschap(allEigenschappen(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toEigenschap,
  named: (row) => ({ uuid: row.uuid, zaaktypeUuid: row.zaaktypeUuid, weergave: row.naam }),
}
expandableSource(source)
