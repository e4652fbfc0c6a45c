// zaaktypen: the types of cases. Every resource is one version of a type; versions share their identificatie.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { announceNewType } from '../autorisaties/applicaties.ts'
import type { ReadDb } from '../database.ts'
import { isoDuration } from '../duration.ts'
import { ExpandQuery } from '../expand.ts'
import {
  DateOnly,
  OptionalDate,
  OptionalText,
  Patch,
  Reference,
  readInput,
  Text,
  Url,
  Vertrouwelijkheid,
} from '../input.ts'
import { link, resolveLink } from '../links.ts'
import type { Mutation } from '../mutate.ts'
import { Page, PageQuery } from '../page.ts'
import { type InvalidParam, notFound, throwFaults } from '../problem.ts'
import { expandable, sendOne, sendPage } from './expansie.ts'
import {
  ANDERE_CATALOGUS,
  allPublished,
  bijwerken,
  changesOnlyEinde,
  contains,
  DatumGeldigheid,
  deleteUnlessInUse,
  filterUuid,
  findRelaties,
  geldigOp,
  getoondeVersies,
  handOverRelaties,
  isUrl,
  lezen,
  mayForce,
  mayForceDelete,
  NON_CONCEPT_OBJECT,
  NON_CONCEPT_RELATION,
  objectPeriode,
  type Relatie,
  recordChange,
  requireCatalogus,
  requireNoOverlap,
  revokeRights,
  StatusFilter,
  schrijven,
  verwijderen,
} from './rules.ts'
import type { Selectielijst } from './selectielijst.ts'
import {
  DetailOpDatum,
  Duur,
  NullableDate,
  OptionalDuur,
  OptionalUrl,
  Params,
  Teksten,
  TypeRelatie,
  Urls,
} from './velden.ts'

const Relatiezaaktype = Type.Object({
  zaaktype: TypeRelatie(),
  aardRelatie: Type.Enum(['vervolg', 'bijdrage', 'onderwerp']),
  toelichting: OptionalText(255),
})
export const ZaaktypeInput = Type.Object({
  identificatie: OptionalText(50),
  omschrijving: Text(80, { minLength: 1 }),
  omschrijvingGeneriek: OptionalText(80),
  vertrouwelijkheidaanduiding: Vertrouwelijkheid,
  doel: Text(undefined, { minLength: 1 }),
  aanleiding: Text(undefined, { minLength: 1 }),
  toelichting: OptionalText(),
  indicatieInternOfExtern: Type.Enum(['intern', 'extern']),
  handelingInitiator: Text(20, { minLength: 1 }),
  onderwerp: Text(80, { minLength: 1 }),
  handelingBehandelaar: Text(20, { minLength: 1 }),
  doorlooptijd: Duur,
  servicenorm: OptionalDuur,
  opschortingEnAanhoudingMogelijk: Type.Boolean(),
  verlengingMogelijk: Type.Boolean(),
  verlengingstermijn: OptionalDuur,
  trefwoorden: Teksten(30),
  publicatieIndicatie: Type.Boolean(),
  publicatietekst: OptionalText(),
  verantwoordingsrelatie: Teksten(40),
  productenOfDiensten: Type.Array(Url()),
  selectielijstProcestype: OptionalUrl(),
  referentieproces: Type.Object({ naam: Text(80, { minLength: 1 }), link: OptionalUrl() }),
  verantwoordelijke: Text(50, { minLength: 1 }),
  broncatalogus: Type.Optional(
    Type.Object({
      url: Type.String({ format: 'uri', maxLength: 200 }),
      domein: Type.String({ maxLength: 5, pattern: '^[A-Z]*$' }),
      rsin: Type.String({ format: 'rsin', maxLength: 9 }),
    }),
  ),
  bronzaaktype: Type.Optional(
    Type.Object({
      url: Type.String({ format: 'uri', maxLength: 200 }),
      identificatie: Text(50),
      omschrijving: Text(80),
    }),
  ),
  beginGeldigheid: DateOnly,
  eindeGeldigheid: OptionalDate,
  versiedatum: DateOnly,
  catalogus: Reference(),
  besluittypen: Type.Array(TypeRelatie()),
  deelzaaktypen: Type.Optional(Type.Array(TypeRelatie(), { default: [] })),
  gerelateerdeZaaktypen: Type.Array(Relatiezaaktype),
})
const Zaaktype = Type.Object({
  url: Url(),
  ...ZaaktypeInput.properties,
  gerelateerdeZaaktypen: Type.Array(
    Type.Object({ ...Relatiezaaktype.properties, zaaktype: Url(), zaaktypeIdentificatie: Type.String() }),
  ),
  concept: Type.Boolean(),
  beginObject: NullableDate,
  eindeObject: NullableDate,
  statustypen: Urls,
  resultaattypen: Urls,
  eigenschappen: Urls,
  roltypen: Urls,
  zaakobjecttypen: Urls,
  informatieobjecttypen: Urls,
  informatieobjecttypeOmschrijving: Type.Array(Type.String()),
  besluittypeOmschrijving: Type.Array(Type.String()),
  deelzaaktypeIdentificaties: Type.Array(Type.String()),
})
const Filter = Type.Object({
  ...PageQuery,
  ...ExpandQuery,
  catalogus: Type.Optional(Url()),
  identificatie: Type.Optional(Type.String()),
  identificatie__icontains: Type.Optional(Type.String()),
  omschrijving__icontains: Type.Optional(Type.String()),
  trefwoorden: Type.Optional(Type.Array(Type.String())),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
})
const ZaaktypePatch = Patch(ZaaktypeInput)
type Input = Static<typeof ZaaktypeInput>

export const zaaktypen =
  (selectielijst: Selectielijst): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/zaaktypen',
      { config: lezen, schema: { querystring: Filter, response: { 200: Page(Zaaktype) } } },
      async (request) => {
        const list = listZaaktypen(app.read, request.query, request.base)
        const datum = request.query.datumGeldigheid ?? null
        return sendPage(
          request,
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
      { config: schrijven, schema: { body: ZaaktypeInput, response: { 201: Zaaktype } } },
      async (request, reply) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        const zaaktype = await app.mutate(request.actor, (m) => createZaaktype(m, request.body, faults))
        return reply.code(201).header('location', zaaktype.url).send(zaaktype)
      },
    )

    app.get(
      '/zaaktypen/:uuid',
      { config: lezen, schema: { params: Params, querystring: DetailOpDatum, response: { 200: Zaaktype } } },
      async (request, reply) => {
        const row = await findZaaktype(app.read, request.params.uuid, request.query.datumGeldigheid)
        if (!row) throw notFound()
        return sendOne(request, reply, 'zaaktype', toZaaktype(row, request.base))
      },
    )

    app.put(
      '/zaaktypen/:uuid',
      { config: bijwerken, schema: { params: Params, body: ZaaktypeInput, response: { 200: Zaaktype } } },
      async (request) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        return app.mutate(request.actor, (m) => changeZaaktype(m, request.params.uuid, 'update', request.body, faults))
      },
    )

    app.patch(
      '/zaaktypen/:uuid',
      { config: bijwerken, schema: { params: Params, body: ZaaktypePatch, response: { 200: Zaaktype } } },
      async (request) => {
        const faults = await procestypeFaults(selectielijst, request.body.selectielijstProcestype)
        return app.mutate(request.actor, (m) =>
          changeZaaktype(m, request.params.uuid, 'partial_update', request.body, faults),
        )
      },
    )

    app.delete('/zaaktypen/:uuid', { config: verwijderen, schema: { params: Params } }, async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaaktype(m, request.params.uuid))
      return reply.code(204).send()
    })

    app.post(
      '/zaaktypen/:uuid/publish',
      { config: schrijven, schema: { params: Params, response: { 200: Zaaktype } } },
      async (request) => app.mutate(request.actor, (m) => publishZaaktype(m, request.params.uuid)),
    )
  }

expandable('zaaktype', async (read, base, uuids, datum) => {
  const rows = await selectZaaktype(allZaaktypen(read), datum).where('t.uuid', 'in', uuids).execute()
  return rows.map((row) => toZaaktype(row, base))
})

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
  input: Input,
  faults: InvalidParam[] = [],
  own: { uuid?: string } = {},
) {
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const relaties = await readRelaties(m, input, catalogus.id, faults)
  throwFaults([...ruleFaults(input, catalogus.id, relaties), ...linkFaults(m, relaties.besluittypen)])
  const identificatie = input.identificatie || (await nextIdentificatie(m, input.versiedatum))
  const { id, uuid } = await m.trx
    .insertInto('zaaktype')
    .values({ ...own, ...toRow(input), identificatie, catalogusId: catalogus.id })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeRelaties(m, id, relaties)
  const row = (await findZaaktype(m.read, uuid))!
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, 'create', 'zaaktype', named(row), null, zaaktype)
  await announceNewType(m, 'zrc', row.uuid)
  return zaaktype
}

async function changeZaaktype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ZaaktypePatch>,
  faults: InvalidParam[],
) {
  const before = await zaaktypeForChange(m, uuid)
  const oud = toZaaktype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(ZaaktypeInput, { ...oud, ...body })
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const relaties = await readRelaties(m, input, catalogus.id, faults)
  const onlyEinde = changesOnlyEinde(actie, body)
  const objectFaults = ruleFaults(input, catalogus.id, relaties)
  if (!mayForce(m.actor) && !onlyEinde) {
    if (!before.concept) objectFaults.push(NON_CONCEPT_OBJECT) // ztc-009
    const linked = await hasPublishedBesluittype(m, before.id)
    if (linked || (body.besluittypen && relaties.besluittypen.some(({ concept }) => !concept)))
      objectFaults.push(NON_CONCEPT_RELATION)
  }
  throwFaults(objectFaults)
  const identificatie = input.identificatie || before.identificatie
  await m.trx
    .updateTable('zaaktype')
    .set({ ...toRow(input), identificatie, catalogusId: catalogus.id })
    .where('id', '=', before.id)
    .execute()
  await writeRelaties(m, before.id, {
    ...(body.besluittypen && { besluittypen: relaties.besluittypen }),
    ...((actie === 'update' || body.deelzaaktypen) && { deelzaaktypen: relaties.deelzaaktypen }),
    ...(body.gerelateerdeZaaktypen && { gerelateerd: relaties.gerelateerd }),
  })
  const row = (await findZaaktype(m.read, uuid))!
  if (!row.concept)
    await requireNoOverlap(
      m,
      'zaaktype',
      { ...row, sleutel: row.identificatie },
      onlyEinde ? 'eindeGeldigheid' : undefined,
    )
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, actie, 'zaaktype', named(row), oud, zaaktype)
  return zaaktype
}

/**
 * Sets the relations of a zaaktype with other zaaktypen, for an import in which they may refer to each other. Those with a
 * type of ours that is not there are left out.
 * @returns what was left out
 */
export async function setZaaktypeRelaties(
  m: Mutation,
  uuid: string,
  input: Pick<Input, 'deelzaaktypen' | 'gerelateerdeZaaktypen'>,
): Promise<string[]> {
  const { id, catalogusId } = await m.trx
    .selectFrom('zaaktype')
    .where('uuid', '=', uuid)
    .select(['id', 'catalogusId'])
    .executeTakeFirstOrThrow()
  const { base } = m.actor
  const dropped: string[] = []
  const find = async (text: string) => {
    const faults: InvalidParam[] = []
    const [found] = await findRelaties(m.read, base, 'zaaktype', [text], catalogusId, 'zaaktype', faults)
    if (!found || found.catalogusId !== catalogusId) dropped.push(text)
    return found?.catalogusId === catalogusId ? [found] : []
  }
  const deelzaaktypen: Relatie[] = []
  for (const text of input.deelzaaktypen ?? []) deelzaaktypen.push(...(await find(text)))
  const gerelateerd: Gerelateerd[] = []
  for (const { zaaktype, aardRelatie, toelichting = '' } of input.gerelateerdeZaaktypen) {
    if (isElsewhere(zaaktype, base)) gerelateerd.push({ id: null, url: zaaktype, aardRelatie, toelichting })
    else
      for (const found of await find(zaaktype)) gerelateerd.push({ id: found.id, url: null, aardRelatie, toelichting })
  }
  await writeRelaties(m, id, { deelzaaktypen, gerelateerd })
  return dropped
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
  const row = (await findZaaktype(m.read, uuid))!
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, 'update', 'zaaktype', named(row), toZaaktype(before, m.actor.base), zaaktype)
  return zaaktype
}

const CONCEPT_RELATION = {
  name: 'nonFieldErrors',
  code: 'concept-relation',
  reason: 'Een gerelateerd besluittype of informatieobjecttype is nog niet gepubliceerd.',
}

async function deleteZaaktype(m: Mutation, uuid: string): Promise<void> {
  const before = await zaaktypeForChange(m, uuid)
  if (!mayForceDelete(m.actor)) {
    if (!before.concept) throwFaults([NON_CONCEPT_OBJECT]) // ztc-009
    const { rows } = await sql`
      select 1 from zaaktype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id
      where r.zaaktype_id = ${before.id} and not i.concept limit 1`.execute(m.trx)
    if (rows.length > 0 || (await hasPublishedBesluittype(m, before.id))) throwFaults([NON_CONCEPT_RELATION])
  }
  await handOverRelaties(m, 'zaaktype', before.id, [
    { table: 'zaaktype_deelzaaktype', owner: 'zaaktype_id', column: 'deelzaaktype_id' },
    { table: 'zaaktype_gerelateerd_zaaktype', owner: 'zaaktype_id', column: 'gerelateerd_zaaktype_id' },
  ])
  await deleteUnlessInUse(() => m.trx.deleteFrom('zaaktype').where('id', '=', before.id).execute())
  await revokeRights(m, uuid)
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

/** ztc-011: a published type is not linked to a new version without the forced scope. */
function linkFaults(m: Mutation, related: Relatie[]): InvalidParam[] {
  return !mayForce(m.actor) && related.some(({ concept }) => !concept) ? [NON_CONCEPT_RELATION] : []
}

type Gerelateerd = { id: number | null; url: string | null; aardRelatie: string; toelichting: string }
type Relaties = { besluittypen: Relatie[]; deelzaaktypen: Relatie[]; gerelateerd: Gerelateerd[] }

/** @throws Problem 400 with `faults` and all relations that cannot be found */
async function readRelaties(m: Mutation, input: Input, catalogusId: number, faults: InvalidParam[]): Promise<Relaties> {
  const { base } = m.actor
  if (input.servicenorm && isoDuration(input.servicenorm) === 'P0D')
    faults.push({ name: 'servicenorm', code: 'empty-duration', reason: 'De servicenorm is langer dan nul.' })
  const find = (
    type: 'besluittype' | 'zaaktype',
    values: readonly string[],
    name: string | ((index: number) => string),
  ) => findRelaties(m.read, base, type, values, catalogusId, name, faults)
  const besluittypen = await find('besluittype', input.besluittypen, 'besluittypen')
  const deelzaaktypen = await find('zaaktype', input.deelzaaktypen ?? [], 'deelzaaktypen')
  const given = input.gerelateerdeZaaktypen.map((item, index) => ({
    ...item,
    index,
    elsewhere: isElsewhere(item.zaaktype, base),
  }))
  const ours = given.filter(({ elsewhere }) => !elsewhere)
  const found = await find(
    'zaaktype',
    ours.map(({ zaaktype }) => zaaktype),
    (place) => `gerelateerdeZaaktypen.${ours[place]!.index}.zaaktype`,
  )
  throwFaults(faults)
  const gerelateerd = given.map((item) => ({
    id: item.elsewhere ? null : found[ours.indexOf(item)]!.id,
    url: item.elsewhere ? item.zaaktype : null,
    aardRelatie: item.aardRelatie,
    toelichting: item.toelichting ?? '',
  }))
  return { besluittypen, deelzaaktypen, gerelateerd }
}

const isElsewhere = (text: string, base: string) => isUrl(text) && resolveLink(text, base).kind === 'elsewhere'

function ruleFaults(input: Input, catalogusId: number, relaties: Relaties): InvalidParam[] {
  const faults: InvalidParam[] = []
  const elsewhere = (related: Relatie[]) => related.some((type) => type.catalogusId !== catalogusId)
  if (elsewhere(relaties.besluittypen)) faults.push(ANDERE_CATALOGUS) // ztc-013
  if (elsewhere(relaties.deelzaaktypen)) faults.push({ ...ANDERE_CATALOGUS, name: 'deelzaaktypen' })
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

async function writeRelaties(m: Mutation, zaaktypeId: number, relaties: Partial<Relaties>): Promise<void> {
  const { besluittypen, deelzaaktypen, gerelateerd } = relaties
  if (besluittypen) {
    await m.trx.deleteFrom('zaaktypeBesluittype').where('zaaktypeId', '=', zaaktypeId).execute()
    if (besluittypen.length > 0)
      await m.trx
        .insertInto('zaaktypeBesluittype')
        .values(besluittypen.map(({ id }) => ({ zaaktypeId, besluittypeId: id })))
        .execute()
  }
  if (deelzaaktypen) {
    await m.trx.deleteFrom('zaaktypeDeelzaaktype').where('zaaktypeId', '=', zaaktypeId).execute()
    if (deelzaaktypen.length > 0)
      await m.trx
        .insertInto('zaaktypeDeelzaaktype')
        .values(deelzaaktypen.map(({ id }) => ({ zaaktypeId, deelzaaktypeId: id })))
        .execute()
  }
  if (gerelateerd) {
    await m.trx.deleteFrom('zaaktypeGerelateerdZaaktype').where('zaaktypeId', '=', zaaktypeId).execute()
    if (gerelateerd.length > 0)
      await m.trx
        .insertInto('zaaktypeGerelateerdZaaktype')
        .values(
          gerelateerd.map(({ id, url, aardRelatie, toelichting }, volgorde) => ({
            zaaktypeId,
            volgorde,
            gerelateerdZaaktypeId: id,
            gerelateerdZaaktypeUrl: url,
            aardRelatie,
            toelichting,
          })),
        )
        .execute()
  }
}

/** The next generated identificatie of a year. Whoever asks at the same moment waits, so that none is given twice. */
async function nextIdentificatie(m: Mutation, versiedatum: string): Promise<string> {
  const prefix = `ZAAKTYPE-${versiedatum.slice(0, 4)}-`
  await sql`select pg_advisory_xact_lock(hashtext('zaaktype identificatie'))`.execute(m.trx)
  const { rows } = await sql<{ next: number }>`
    select coalesce(max(substr(identificatie, ${prefix.length + 1})::bigint), 0) + 1 as next from zaaktype
    where identificatie ~ ${`^${prefix}[0-9]{10}$`}`.execute(m.trx)
  return `${prefix}${String(rows[0]!.next).padStart(10, '0')}`
}

function toRow(input: Input) {
  const { broncatalogus, bronzaaktype, referentieproces } = input
  return {
    omschrijving: input.omschrijving,
    omschrijvingGeneriek: input.omschrijvingGeneriek ?? '',
    vertrouwelijkheidaanduiding: input.vertrouwelijkheidaanduiding,
    doel: input.doel,
    aanleiding: input.aanleiding,
    toelichting: input.toelichting ?? '',
    indicatieInternOfExtern: input.indicatieInternOfExtern,
    handelingInitiator: input.handelingInitiator,
    onderwerp: input.onderwerp,
    handelingBehandelaar: input.handelingBehandelaar,
    doorlooptijd: isoDuration(input.doorlooptijd),
    servicenorm: input.servicenorm ? isoDuration(input.servicenorm) : null,
    opschortingEnAanhoudingMogelijk: input.opschortingEnAanhoudingMogelijk,
    verlengingMogelijk: input.verlengingMogelijk,
    verlengingstermijn:
      input.verlengingMogelijk && input.verlengingstermijn ? isoDuration(input.verlengingstermijn) : null,
    trefwoorden: input.trefwoorden ?? [],
    publicatieIndicatie: input.publicatieIndicatie,
    publicatietekst: input.publicatietekst ?? '',
    verantwoordingsrelatie: input.verantwoordingsrelatie ?? [],
    productenOfDiensten: input.productenOfDiensten,
    selectielijstProcestype: input.selectielijstProcestype ?? '',
    referentieprocesNaam: referentieproces.naam,
    referentieprocesLink: referentieproces.link ?? '',
    verantwoordelijke: input.verantwoordelijke,
    broncatalogusUrl: broncatalogus?.url ?? '',
    broncatalogusDomein: broncatalogus?.domein ?? '',
    broncatalogusRsin: broncatalogus?.rsin ?? '',
    bronzaaktypeUrl: bronzaaktype?.url ?? '',
    bronzaaktypeIdentificatie: bronzaaktype?.identificatie ?? '',
    bronzaaktypeOmschrijving: bronzaaktype?.omschrijving ?? '',
    beginGeldigheid: input.beginGeldigheid,
    eindeGeldigheid: input.eindeGeldigheid ?? null,
    versiedatum: input.versiedatum,
  }
}

const named = (row: ZaaktypeRow) => ({
  uuid: row.uuid,
  catalogusUuid: row.catalogusUuid,
  weergave: `${row.identificatie} - ${row.omschrijving}`,
})

function allZaaktypen(db: ReadDb) {
  return db.selectFrom('zaaktype as t').innerJoin('catalogus as c', 'c.id', 't.catalogusId')
}
type Zaaktypen = ReturnType<typeof allZaaktypen>

function listZaaktypen(db: ReadDb, filter: Static<typeof Filter>, base: string): Zaaktypen {
  const { status = 'definitief', datumGeldigheid } = filter
  return allZaaktypen(db)
    .$if(status !== 'alles', (query) => query.where('t.concept', '=', status === 'concept'))
    .$if(filter.catalogus !== undefined, (query) =>
      query.where('c.uuid', 'is not distinct from', filterUuid(filter.catalogus!, base, 'catalogus')),
    )
    .$if(filter.identificatie !== undefined, (query) => query.where('t.identificatie', '=', filter.identificatie!))
    .$if(filter.identificatie__icontains !== undefined, (query) =>
      query.where(contains(sql.ref('t.identificatie'), filter.identificatie__icontains!)),
    )
    .$if(filter.omschrijving__icontains !== undefined, (query) =>
      query.where(contains(sql.ref('t.omschrijving'), filter.omschrijving__icontains!)),
    )
    .$if(filter.trefwoorden !== undefined, (query) =>
      query.where(sql<boolean>`t.trefwoorden @> ${filter.trefwoorden!}::text[]`),
    )
    .$if(datumGeldigheid !== undefined, (query) => query.where(sql<boolean>`${geldigOp('t.', datumGeldigheid!)}`))
}

const onderdelen = (table: string, order = 'id') =>
  sql<
    string[]
  >`array(select o.uuid from ${sql.table(table)} o where o.zaaktype_id = t.id order by o.${sql.raw(order)}, o.id)`

// Everything below and beside a type comes as arrays in the one query. `datum` decides which related versions are shown.
function selectZaaktype(query: Zaaktypen, datum: string | null) {
  const besluittypen = sql`select r.besluittype_id from zaaktype_besluittype r where r.zaaktype_id = t.id`
  const deelzaaktypen = sql`select r.deelzaaktype_id from zaaktype_deelzaaktype r where r.zaaktype_id = t.id`
  const informatieobjecttypen = sql`
    select r.informatieobjecttype_id from zaaktype_informatieobjecttype r where r.zaaktype_id = t.id`
  return query
    .selectAll('t')
    .select('c.uuid as catalogusUuid')
    .select(objectPeriode('zaaktype'))
    .select([
      onderdelen('statustype', 'volgnummer').as('statustypen'),
      onderdelen('resultaattype').as('resultaattypen'),
      onderdelen('eigenschap').as('eigenschappen'),
      onderdelen('roltype').as('roltypen'),
      onderdelen('zaakobjecttype').as('zaakobjecttypen'),
      getoondeVersies('besluittype', besluittypen, datum).as('besluittypen'),
      getoondeVersies('besluittype', besluittypen, datum, 'omschrijving').as('besluittypeOmschrijving'),
      getoondeVersies('informatieobjecttype', informatieobjecttypen, datum).as('informatieobjecttypen'),
      getoondeVersies('informatieobjecttype', informatieobjecttypen, datum, 'omschrijving').as(
        'informatieobjecttypeOmschrijving',
      ),
      getoondeVersies('zaaktype', deelzaaktypen, datum).as('deelzaaktypen'),
      getoondeVersies('zaaktype', deelzaaktypen, datum, 'identificatie').as('deelzaaktypeIdentificaties'),
      sql<
        { uuid: string | null; url: string | null; identificatie: string; aardRelatie: string; toelichting: string }[]
      >`
        coalesce((
          select jsonb_agg(jsonb_build_object('uuid', s.uuid, 'url', r.gerelateerd_zaaktype_url,
            'identificatie', coalesce(s.identificatie, ''), 'aardRelatie', r.aard_relatie, 'toelichting', r.toelichting)
            order by r.volgorde)
          from zaaktype_gerelateerd_zaaktype r
          left join zaaktype k on k.id = r.gerelateerd_zaaktype_id
          left join lateral (
            select v.uuid, v.identificatie from zaaktype v
            where v.catalogus_id = k.catalogus_id and v.identificatie = k.identificatie and (v.id = k.id or not v.concept)
            order by v.concept, ${geldigOp('v.', datum)} desc, v.begin_geldigheid desc, v.id desc limit 1) s on true
          where r.zaaktype_id = t.id), '[]')`.as('gerelateerdeZaaktypen'),
    ])
}
type ZaaktypeRow = Awaited<ReturnType<ReturnType<typeof selectZaaktype>['executeTakeFirstOrThrow']>>

function findZaaktype(db: ReadDb, uuid: string, datum?: string): Promise<ZaaktypeRow | undefined> {
  return selectZaaktype(allZaaktypen(db), datum ?? null)
    .where('t.uuid', '=', uuid)
    .executeTakeFirst()
}

function toZaaktype(row: ZaaktypeRow, base: string): Static<typeof Zaaktype> {
  return {
    url: link(base, 'zaaktype', row.uuid),
    identificatie: row.identificatie,
    omschrijving: row.omschrijving,
    omschrijvingGeneriek: row.omschrijvingGeneriek,
    vertrouwelijkheidaanduiding: row.vertrouwelijkheidaanduiding,
    doel: row.doel,
    aanleiding: row.aanleiding,
    toelichting: row.toelichting,
    indicatieInternOfExtern: row.indicatieInternOfExtern as 'intern' | 'extern',
    handelingInitiator: row.handelingInitiator,
    onderwerp: row.onderwerp,
    handelingBehandelaar: row.handelingBehandelaar,
    doorlooptijd: row.doorlooptijd,
    servicenorm: row.servicenorm,
    opschortingEnAanhoudingMogelijk: row.opschortingEnAanhoudingMogelijk,
    verlengingMogelijk: row.verlengingMogelijk,
    verlengingstermijn: row.verlengingstermijn,
    trefwoorden: row.trefwoorden,
    publicatieIndicatie: row.publicatieIndicatie,
    publicatietekst: row.publicatietekst,
    verantwoordingsrelatie: row.verantwoordingsrelatie,
    productenOfDiensten: row.productenOfDiensten,
    selectielijstProcestype: row.selectielijstProcestype,
    referentieproces: { naam: row.referentieprocesNaam, link: row.referentieprocesLink },
    verantwoordelijke: row.verantwoordelijke,
    broncatalogus: { url: row.broncatalogusUrl, domein: row.broncatalogusDomein, rsin: row.broncatalogusRsin },
    bronzaaktype: {
      url: row.bronzaaktypeUrl,
      identificatie: row.bronzaaktypeIdentificatie,
      omschrijving: row.bronzaaktypeOmschrijving,
    },
    concept: row.concept,
    beginGeldigheid: row.beginGeldigheid,
    eindeGeldigheid: row.eindeGeldigheid,
    beginObject: row.beginObject,
    eindeObject: row.eindeObject,
    versiedatum: row.versiedatum,
    catalogus: link(base, 'catalogus', row.catalogusUuid),
    statustypen: row.statustypen.map((uuid) => link(base, 'statustype', uuid)),
    resultaattypen: row.resultaattypen.map((uuid) => link(base, 'resultaattype', uuid)),
    eigenschappen: row.eigenschappen.map((uuid) => link(base, 'eigenschap', uuid)),
    informatieobjecttypen: row.informatieobjecttypen.map((uuid) => link(base, 'informatieobjecttype', uuid)),
    informatieobjecttypeOmschrijving: row.informatieobjecttypeOmschrijving,
    roltypen: row.roltypen.map((uuid) => link(base, 'roltype', uuid)),
    besluittypen: row.besluittypen.map((uuid) => link(base, 'besluittype', uuid)),
    besluittypeOmschrijving: row.besluittypeOmschrijving,
    deelzaaktypen: row.deelzaaktypen.map((uuid) => link(base, 'zaaktype', uuid)),
    deelzaaktypeIdentificaties: row.deelzaaktypeIdentificaties,
    zaakobjecttypen: row.zaakobjecttypen.map((uuid) => link(base, 'zaakobjecttype', uuid)),
    gerelateerdeZaaktypen: row.gerelateerdeZaaktypen.map(({ uuid, url, identificatie, aardRelatie, toelichting }) => ({
      zaaktype: uuid ? link(base, 'zaaktype', uuid) : url!,
      zaaktypeIdentificatie: identificatie,
      aardRelatie: aardRelatie as 'vervolg' | 'bijdrage' | 'onderwerp',
      toelichting,
    })),
  }
}
