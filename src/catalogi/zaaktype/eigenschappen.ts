// eigenschappen: the properties that cases of a type have of their own.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import type { Eigenschap as EigenschapTable } from '../../database/types.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { OptionalText, Patch, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../../http/page.ts'
import { readAccess, updateAccess } from '../access.ts'
import { registerBatch } from '../batch.ts'
import {
  GELDIGHEID,
  NullableUrl,
  OBJECT_PERIOD,
  OF_ZAAKTYPE,
  type OwnOfPart,
  Params,
  Texts,
  ZAAKTYPE,
} from '../fields.ts'
import { registerPartRoutes } from '../part-routes.ts'
import {
  BelowZaaktypeFilter,
  belowZaaktype,
  requireStatustype,
  requireZaaktypeForChange,
  zaaktypeFaults,
} from '../parts.ts'
import { deletePart, partForChange, recordType, sendTypes, type TypeSource, ZAAKTYPE_COLUMNS } from '../type-source.ts'
import { dateFaults } from '../versions.ts'

const Specificatie = Type.Object({
  groep: Type.Optional(Type.String({ maxLength: 32, pattern: '^[A-Za-z0-9 _]*$', default: '' })),
  formaat: Type.Enum(['tekst', 'getal', 'datum', 'datum_tijd']),
  lengte: Text(14, { minLength: 1 }),
  kardinaliteit: Type.String({ minLength: 1, maxLength: 3, pattern: '^([1-9][0-9]*|N)?$' }),
  waardenverzameling: Texts(100),
})

const { kept, spread, apart, shown } = fieldsOf<EigenschapTable, EigenschapRow>()

/** The fields of an eigenschap, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'eigenschap', row.uuid)),
  naam: kept(Text(20, { minLength: 1 }), 'naam'),
  definitie: kept(Text(255, { minLength: 1 }), 'definitie'),
  specificatie: spread({
    input: Specificatie,
    columns: {
      specificatieGroep: '',
      specificatieFormaat: '',
      specificatieLengte: '',
      specificatieKardinaliteit: '',
      specificatieWaardenverzameling: [],
    },
    write: (value) => ({
      specificatieGroep: value.groep ?? '',
      specificatieFormaat: value.formaat,
      specificatieLengte: value.lengte,
      specificatieKardinaliteit: value.kardinaliteit,
      specificatieWaardenverzameling: value.waardenverzameling ?? [],
    }),
    read: (row) => ({
      groep: row.specificatieGroep,
      formaat: row.specificatieFormaat as Static<typeof Specificatie>['formaat'],
      lengte: row.specificatieLengte,
      kardinaliteit: row.specificatieKardinaliteit,
      waardenverzameling: row.specificatieWaardenverzameling,
    }),
  }),
  toelichting: kept(OptionalText(1000), 'toelichting', ''),
  ...ZAAKTYPE,
  statustype: apart(NullableUrl, (row, base) => row.statustypeUuid && link(base, 'statustype', row.statustypeUuid)),
  ...GELDIGHEID,
  ...OF_ZAAKTYPE,
  ...OBJECT_PERIOD,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof EigenschapTable, ColumnsOf<typeof FIELDS> | OwnOfPart | 'statustypeId'>,
  never
>

export const EigenschapInput = Type.Object(inputsOf(FIELDS))
const Eigenschap = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<EigenschapTable, typeof FIELDS>(FIELDS)
const toEigenschap = answerReader<EigenschapRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({ ...PageQuery, ...CursorQuery, ...ExpandQuery, ...BelowZaaktypeFilter })
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

  registerBatch(app, '/eigenschappen', { answer: Eigenschap, query: Filter }, 'eigenschap', source)
  registerPartRoutes(app, '/eigenschappen', Eigenschap, source, deleteEigenschap)

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

/** PUT (`update`) or PATCH. Holds it and its zaaktype. @throws Problem 404; 400, also below a published zaaktype (ztc-010) */
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

/** @throws Problem 404, 400 (ztc-010), 409 when it is in use */
export const deleteEigenschap = (m: Mutation, uuid: string): Promise<void> => deletePart(m, source, 'eigenschap', uuid)

const LENGTHS = {
  tekst: (lengte: string) => /^\d{1,3}$/.test(lengte) && Number(lengte) <= 255,
  getal: (lengte: string) => /^\d+(,\d+)?$/.test(lengte),
  datum: (lengte: string) => lengte === '8', // JJJJMMDD
  datum_tijd: (lengte: string) => lengte === '14', // JJJJMMDDuummss
}

/** ztc-015: the length fits the kind of value. */
function specificatieFaults({ formaat, lengte }: Input['specificatie']): InvalidParam[] {
  if (LENGTHS[formaat](lengte)) return []
  return [
    {
      name: 'specificatie.nonFieldErrors',
      code: 'invalid',
      reason: `Deze lengte past niet bij het formaat ${formaat}.`,
    },
  ]
}

function allEigenschappen(db: ReadDb) {
  return db
    .selectFrom('eigenschap as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Eigenschappen = ReturnType<typeof allEigenschappen>

function listEigenschappen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allEigenschappen(db).where(belowZaaktype(filter, base)).select('t.id')
}

function selectEigenschap(query: Eigenschappen) {
  return query
    .selectAll('t')
    .select(ZAAKTYPE_COLUMNS)
    .leftJoin('statustype as s', 's.id', 't.statustypeId')
    .select('s.uuid as statustypeUuid')
}
type EigenschapRow = Awaited<ReturnType<ReturnType<typeof selectEigenschap>['executeTakeFirstOrThrow']>>

export const source: TypeSource<EigenschapRow, Static<typeof Eigenschap>, Static<typeof Filter>> = {
  resource: 'eigenschap',
  listed: listEigenschappen,
  rows: (db, condition) => selectEigenschap(allEigenschappen(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toEigenschap,
  named: (row) => ({ uuid: row.uuid, zaaktypeUuid: row.zaaktypeUuid, weergave: row.naam }),
}
