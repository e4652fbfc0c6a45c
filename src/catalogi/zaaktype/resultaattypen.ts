// resultaattypen: the outcomes of cases of a type, and how long their files are kept.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, notFound, throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import type { Resultaattype as ResultaattypeTable } from '../../database/types.ts'
import { alias } from '../../http/documented.ts'
import { isDuration, isoDuration } from '../../http/duration.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Nullable, OptionalChoice, OptionalText, Patch, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../../http/page.ts'
import { readAccess, updateAccess } from '../access.ts'
import {
  afleidingswijzeFaults,
  type Brondatum,
  BrondatumArchiefprocedure,
  brondatumFaults,
  procestypeFaults,
} from '../archive.ts'
import { registerBatch } from '../batch.ts'
import {
  GELDIGHEID,
  NullableUrl,
  OBJECT_PERIOD,
  OF_ZAAKTYPE,
  OptionalArchiveDuur,
  type OwnOfPart,
  Params,
  TypeRelation,
  ZAAKTYPE,
} from '../fields.ts'
import { registerPartRoutes } from '../part-routes.ts'
import {
  BelowZaaktypeFilter,
  belowZaaktype,
  catalogusFaults,
  requireZaaktypeForChange,
  type ZaaktypeOfPart,
  zaaktypeFaults,
} from '../parts.ts'
import { anyPublished, linkFaults, otherCatalogusFaults } from '../rules.ts'
import type { Found, Selectielijst } from '../selectielijst.ts'
import {
  deletePart,
  findType,
  partForChange,
  recordType,
  sendTypes,
  type TypeSource,
  ZAAKTYPE_COLUMNS,
} from '../type-source.ts'
import { dateFaults, shownVersions } from '../versions.ts'
import { hasPublishedRelations, type Relations, readRelations, writeRelations } from './resultaattype-relations.ts'
import { askSelectielijst, genericName, type Sources, sourceFaults } from './resultaattype-selectielijst.ts'

const { kept, formed, spread, apart, shown } = fieldsOf<ResultaattypeTable, ResultaattypeRow>()

/** The fields of a resultaattype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'resultaattype', row.uuid)),
  ...ZAAKTYPE,
  omschrijving: kept(Text(30, { minLength: 1 }), 'omschrijving'),
  resultaattypeomschrijving: kept(Url(), 'resultaattypeomschrijving'),
  selectielijstklasse: kept(Url(), 'selectielijstklasse'),
  toelichting: kept(OptionalText(), 'toelichting', ''),
  archiefnominatie: kept(OptionalChoice(['blijvend_bewaren', 'vernietigen']), 'archiefnominatie', ''),
  archiefactietermijn: formed(OptionalArchiveDuur, 'archiefactietermijn', null, isoDuration),
  brondatumArchiefprocedure: spread({
    input: Type.Optional(Nullable(BrondatumArchiefprocedure)),
    columns: {
      brondatumAfleidingswijze: null,
      brondatumDatumkenmerk: '',
      brondatumEinddatumBekend: false,
      brondatumObjecttype: '',
      brondatumRegistratie: '',
      brondatumProcestermijn: null,
    },
    write: (value) => ({
      brondatumAfleidingswijze: value?.afleidingswijze ?? null,
      brondatumDatumkenmerk: value?.datumkenmerk ?? '',
      brondatumEinddatumBekend: value?.einddatumBekend ?? false,
      brondatumObjecttype: value?.objecttype ?? '',
      brondatumRegistratie: value?.registratie ?? '',
      brondatumProcestermijn: value?.procestermijn ? isoDuration(value.procestermijn) : null,
    }),
    read: (row) =>
      row.brondatumAfleidingswijze === null
        ? null
        : ({
            afleidingswijze: row.brondatumAfleidingswijze,
            datumkenmerk: row.brondatumDatumkenmerk,
            einddatumBekend: row.brondatumEinddatumBekend,
            objecttype: row.brondatumObjecttype,
            registratie: row.brondatumRegistratie,
            procestermijn: row.brondatumProcestermijn,
          } as Brondatum),
  }),
  procesobjectaard: kept(OptionalText(200), 'procesobjectaard', ''),
  indicatieSpecifiek: kept(
    Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], default: null })),
    'indicatieSpecifiek',
    null,
  ),
  procestermijn: formed(OptionalArchiveDuur, 'procestermijn', null, isoDuration),
  besluittypen: apart(Type.Optional(Type.Array(TypeRelation(), { default: [] })), (row, base) =>
    row.besluittypen.map((uuid) => link(base, 'besluittype', uuid)),
  ),
  informatieobjecttypen: apart(Type.Optional(Type.Array(TypeRelation(), { default: [] })), (row, base) =>
    row.informatieobjecttypen.map((uuid) => link(base, 'informatieobjecttype', uuid)),
  ),
  ...GELDIGHEID,
  ...OF_ZAAKTYPE,
  omschrijvingGeneriek: shown(Type.String(), (row) => row.omschrijvingGeneriek),
  besluittypeOmschrijving: shown(Type.Array(Type.String()), (row) => row.besluittypeOmschrijving),
  informatieobjecttypeOmschrijving: shown(Type.Array(Type.String()), (row) => row.informatieobjecttypeOmschrijving),
  ...OBJECT_PERIOD,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof ResultaattypeTable, ColumnsOf<typeof FIELDS> | OwnOfPart | 'omschrijvingGeneriek'>,
  never
>

export const ResultaattypeInput = Type.Object(inputsOf(FIELDS))
/** What clients send; imports leave the catalogus to the zaaktype. */
const ResultaattypeBody = Type.Object({ ...ResultaattypeInput.properties, catalogus: NullableUrl })
const Resultaattype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<ResultaattypeTable, typeof FIELDS>(FIELDS)
const toResultaattype = answerReader<ResultaattypeRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  ...BelowZaaktypeFilter,
  // one version of the standard spelled these two so
  zaaktype_identificatie: Type.Optional(alias(Type.String())),
  datum_geldigheid: Type.Optional(alias(Type.String({ format: 'date' }))),
})
const ResultaattypePatch = Patch(ResultaattypeBody)
type Input = Static<typeof ResultaattypeInput> & { catalogus?: string | null }

export const resultaattypen =
  (selectielijst: Selectielijst): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/resultaattypen',
      { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Resultaattype) } } },
      async (request, reply) => sendTypes(request, reply, source, request.query),
    )

    app.post(
      '/resultaattypen',
      { config: updateAccess, schema: { body: ResultaattypeBody, response: { 201: Resultaattype } } },
      async (request, reply) => {
        const sources = await askSelectielijst(selectielijst, request.body)
        const resultaattype = await app.mutate(request.actor, (m) => createResultaattype(m, request.body, sources))
        return reply.code(201).header('location', resultaattype.url).send(resultaattype)
      },
    )

    registerBatch(app, '/resultaattypen', { answer: Resultaattype, query: Filter }, 'resultaattype', source)
    registerPartRoutes(app, '/resultaattypen', Resultaattype, source, deleteResultaattype)

    app.put(
      '/resultaattypen/:uuid',
      { config: updateAccess, schema: { params: Params, body: ResultaattypeBody, response: { 200: Resultaattype } } },
      async (request) => {
        const sources = await askSelectielijst(selectielijst, request.body)
        return app.mutate(request.actor, (m) =>
          changeResultaattype(m, request.params.uuid, 'update', request.body, sources),
        )
      },
    )

    app.patch(
      '/resultaattypen/:uuid',
      { config: updateAccess, schema: { params: Params, body: ResultaattypePatch, response: { 200: Resultaattype } } },
      async (request) => {
        const stored = await findType(app.read, source, request.params.uuid)
        if (!stored) throw notFound()
        const sources = await askSelectielijst(selectielijst, { ...stored, ...request.body })
        return app.mutate(request.actor, (m) =>
          changeResultaattype(m, request.params.uuid, 'partial_update', request.body, sources),
        )
      },
    )
  }

const BESLUITTYPEN = sql`
  select r.besluittype_id as id, r.by_url from resultaattype_besluittype r where r.resultaattype_id = t.id`
const INFORMATIEOBJECTTYPEN = sql`
  select r.informatieobjecttype_id as id, r.by_url from resultaattype_informatieobjecttype r where r.resultaattype_id = t.id`

/** @param own a uuid to use instead of a new one, and the omschrijvingGeneriek where no selectielijst says it */
export async function createResultaattype(
  m: Mutation,
  given: Input,
  sources: Sources,
  own: { uuid?: string; omschrijvingGeneriek?: string } = {},
) {
  const zaaktype = await requireZaaktypeForChange(m, given.zaaktype)
  const faults = [
    ...catalogusFaults(m, given.catalogus, zaaktype),
    ...sourceFaults(sources),
    ...archiefFaults(given, sources.klasse),
  ]
  const relaties = await readRelations(m, given, zaaktype, faults)
  const input = withDefaults(given, sources.klasse)
  throwFaults(input.brondatumArchiefprocedure ? brondatumFaults(input.brondatumArchiefprocedure) : [])
  throwFaults([
    ...zaaktypeFaults(m, [zaaktype]),
    ...ruleFaults(input, zaaktype, relaties, sources),
    ...linkFaults(m, anyPublished([...relaties.besluittypen, ...relaties.informatieobjecttypen])),
  ])
  const { id, uuid } = await m.trx
    .insertInto('resultaattype')
    .values({
      ...own,
      ...toRow(input),
      omschrijvingGeneriek: genericName(sources) ?? own.omschrijvingGeneriek ?? '',
      zaaktypeId: zaaktype.id,
    })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeRelations(m, id, relaties)
  return recordType(m, source, 'create', uuid, null)
}

/**
 * PUT (`update`) or PATCH. Holds it and its zaaktype.
 * @param sources what `askSelectielijst` found before the transaction
 * @throws Problem 404; 400, also below a published zaaktype (ztc-010)
 */
export async function changeResultaattype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ResultaattypePatch>,
  sources: Sources,
) {
  const before = await partForChange(m, source, 'resultaattype', uuid)
  const oud = toResultaattype(before, m.actor.base)
  const given = actie === 'update' ? (body as Input) : readInput(ResultaattypeInput, { ...oud, ...body })
  const zaaktype = await requireZaaktypeForChange(m, given.zaaktype)
  const faults = [
    ...catalogusFaults(m, body.catalogus, zaaktype),
    ...sourceFaults(sources).filter(({ name }) => name in body),
  ]
  if (actie === 'update') {
    const nominatie = given.archiefnominatie || oud.archiefnominatie || ''
    faults.push(...archiefFaults({ ...given, archiefnominatie: nominatie }, sources.klasse))
  }
  const relaties = await readRelations(m, given, zaaktype, faults)
  const input = withDefaults(given, sources.klasse)
  throwFaults(input.brondatumArchiefprocedure ? brondatumFaults(input.brondatumArchiefprocedure) : [])
  const named = [
    ...(body.besluittypen ? relaties.besluittypen : []),
    ...(body.informatieobjecttypen ? relaties.informatieobjecttypen : []),
  ]
  throwFaults([
    ...zaaktypeFaults(m, [before, zaaktype]),
    ...ruleFaults(input, zaaktype, relaties, sources),
    ...linkFaults(m, anyPublished(named) || (await hasPublishedRelations(m, before.id))),
  ])
  await m.trx
    .updateTable('resultaattype')
    .set({
      ...toRow(input),
      omschrijvingGeneriek: genericName(sources) ?? before.omschrijvingGeneriek,
      zaaktypeId: zaaktype.id,
    })
    .where('id', '=', before.id)
    .execute()
  await writeRelations(m, before.id, {
    ...((actie === 'update' || body.besluittypen) && { besluittypen: relaties.besluittypen }),
    ...((actie === 'update' || body.informatieobjecttypen) && {
      informatieobjecttypen: relaties.informatieobjecttypen,
    }),
  })
  return recordType(m, source, actie, uuid, oud)
}

/** @throws Problem 404, 400 (ztc-010), 409 when it is in use */
export const deleteResultaattype = (m: Mutation, uuid: string): Promise<void> =>
  deletePart(m, source, 'resultaattype', uuid)

/** What must be given: archiefnominatie and the term when no selectielijst can say them, the procedure unless files are kept for ever. */
function archiefFaults(input: Input, klasse: Found): InvalidParam[] {
  const faults: InvalidParam[] = []
  const required = { code: 'required' as const, reason: 'Dit veld is verplicht.' }
  if (!input.archiefnominatie && klasse.kind === 'unverified') faults.push({ name: 'archiefnominatie', ...required })
  if (!input.archiefactietermijn && klasse.kind === 'unverified' && input.archiefnominatie !== 'blijvend_bewaren')
    faults.push({
      name: 'archiefactietermijn',
      code: 'required',
      reason:
        'Zonder selectielijst die de termijn zegt is dit veld verplicht: zaken van dit type konden niet worden afgesloten.',
    })
  if (!input.brondatumArchiefprocedure && input.archiefnominatie !== 'blijvend_bewaren')
    faults.push({ name: 'brondatumArchiefprocedure', ...required })
  return faults
}

/** What was left empty, as the selectielijst says it. */
function withDefaults(input: Input, klasse: Found): Input {
  const { waardering, bewaartermijn } = klasse.kind === 'ok' ? klasse.body : {}
  const archiefnominatie =
    input.archiefnominatie || (waardering === 'blijvend_bewaren' || waardering === 'vernietigen' ? waardering : '')
  const archiefactietermijn =
    input.archiefactietermijn ?? (typeof bewaartermijn === 'string' && isDuration(bewaartermijn) ? bewaartermijn : null)
  const brondatumArchiefprocedure =
    input.brondatumArchiefprocedure ??
    (archiefnominatie === 'blijvend_bewaren' ? { afleidingswijze: 'afgehandeld' as const } : null)
  return { ...input, archiefnominatie, archiefactietermijn, brondatumArchiefprocedure }
}

function ruleFaults(input: Input, zaaktype: ZaaktypeOfPart, relaties: Relations, { klasse }: Sources): InvalidParam[] {
  return [
    ...dateFaults(input),
    ...otherCatalogusFaults([...relaties.besluittypen, ...relaties.informatieobjecttypen], zaaktype.catalogusId),
    ...procestypeFaults(klasse, zaaktype.selectielijstProcestype),
    ...afleidingswijzeFaults(klasse, input.brondatumArchiefprocedure?.afleidingswijze),
  ]
}

function allResultaattypen(db: ReadDb) {
  return db
    .selectFrom('resultaattype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Resultaattypen = ReturnType<typeof allResultaattypen>

function listResultaattypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allResultaattypen(db)
    .where(
      belowZaaktype(
        {
          ...filter,
          ...(filter.zaaktype_identificatie && { zaaktypeIdentificatie: filter.zaaktype_identificatie }),
          ...(filter.datum_geldigheid && { datumGeldigheid: filter.datum_geldigheid }),
        },
        base,
      ),
    )
    .select('t.id')
}

function selectResultaattype(query: Resultaattypen) {
  return query
    .selectAll('t')
    .select(ZAAKTYPE_COLUMNS)
    .select([
      shownVersions('besluittype', BESLUITTYPEN, null).as('besluittypen'),
      shownVersions('besluittype', BESLUITTYPEN, null, 'omschrijving').as('besluittypeOmschrijving'),
      shownVersions('informatieobjecttype', INFORMATIEOBJECTTYPEN, null).as('informatieobjecttypen'),
      shownVersions('informatieobjecttype', INFORMATIEOBJECTTYPEN, null, 'omschrijving').as(
        'informatieobjecttypeOmschrijving',
      ),
    ])
}
type ResultaattypeRow = Awaited<ReturnType<ReturnType<typeof selectResultaattype>['executeTakeFirstOrThrow']>>

export const source: TypeSource<ResultaattypeRow, Static<typeof Resultaattype>, Static<typeof Filter>> = {
  resource: 'resultaattype',
  listed: listResultaattypen,
  rows: (db, condition) => selectResultaattype(allResultaattypen(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toResultaattype,
  named: (row) => ({
    uuid: row.uuid,
    zaaktypeUuid: row.zaaktypeUuid,
    weergave: row.omschrijving,
  }),
}
