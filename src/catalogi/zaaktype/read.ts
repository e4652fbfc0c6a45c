// zaaktypen: what a type of cases is, and how it is read. Every resource is one version of a type; versions share their
// identificatie.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { DateOnly, OptionalDate, OptionalText, Reference, Text, Url, Vertrouwelijkheid } from '../../http/input.ts'
import { link, linkOr } from '../../http/links.ts'
import { contains, PageQuery } from '../../http/page.ts'
import { expandable } from '../expand.ts'
import { Duur, NullableDate, OptionalDuur, OptionalUrl, Texts, TypeRelation, Urls } from '../fields.ts'
import { DatumGeldigheid, filterUuid, objectPeriod, StatusFilter, shownVersions, validOn } from '../rules.ts'

const Relatiezaaktype = Type.Object({
  zaaktype: TypeRelation(),
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
  trefwoorden: Texts(30),
  publicatieIndicatie: Type.Boolean(),
  publicatietekst: OptionalText(),
  verantwoordingsrelatie: Texts(40),
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
  versiedatum: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' })),
  catalogus: Reference(),
  besluittypen: Type.Array(TypeRelation()),
  deelzaaktypen: Type.Optional(Type.Array(TypeRelation(), { default: [] })),
  gerelateerdeZaaktypen: Type.Array(Relatiezaaktype),
})
export type ZaaktypeInput = Static<typeof ZaaktypeInput>
export const Zaaktype = Type.Object({
  url: Url(),
  ...ZaaktypeInput.properties,
  gerelateerdeZaaktypen: Type.Array(
    Type.Object({ ...Relatiezaaktype.properties, zaaktype: Url(), zaaktypeIdentificatie: Type.String() }),
  ),
  versiedatum: DateOnly,
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
export const ZaaktypeFilter = Type.Object({
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

export function allZaaktypen(db: ReadDb) {
  return db.selectFrom('zaaktype as t').innerJoin('catalogus as c', 'c.id', 't.catalogusId')
}
type Zaaktypen = ReturnType<typeof allZaaktypen>

export function listZaaktypen(db: ReadDb, filter: Static<typeof ZaaktypeFilter>, base: string): Zaaktypen {
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
    .$if(datumGeldigheid !== undefined, (query) => query.where(sql<boolean>`${validOn('t.', datumGeldigheid!)}`))
}

const partsOf = (table: string, order = 'id') =>
  sql<
    string[]
  >`array(select o.uuid from ${sql.table(table)} o where o.zaaktype_id = t.id order by o.${sql.raw(order)}, o.id)`

// Everything below and beside a type comes as arrays in the one query. `datum` decides which related versions are shown.
export function selectZaaktype(query: Zaaktypen, datum: string | null) {
  const besluittypen = sql`
    select r.besluittype_id as id, r.by_url from zaaktype_besluittype r where r.zaaktype_id = t.id`
  const deelzaaktypen = sql`
    select r.deelzaaktype_id as id, r.by_url from zaaktype_deelzaaktype r where r.zaaktype_id = t.id`
  const informatieobjecttypen = sql`
    select r.informatieobjecttype_id as id, r.by_url from zaaktype_informatieobjecttype r where r.zaaktype_id = t.id`
  return query
    .selectAll('t')
    .select('c.uuid as catalogusUuid')
    .select(objectPeriod('zaaktype'))
    .select([
      partsOf('statustype', 'volgnummer').as('statustypen'),
      partsOf('resultaattype').as('resultaattypen'),
      partsOf('eigenschap').as('eigenschappen'),
      partsOf('roltype').as('roltypen'),
      partsOf('zaakobjecttype').as('zaakobjecttypen'),
      shownVersions('besluittype', besluittypen, datum).as('besluittypen'),
      shownVersions('besluittype', besluittypen, datum, 'omschrijving').as('besluittypeOmschrijving'),
      shownVersions('informatieobjecttype', informatieobjecttypen, datum).as('informatieobjecttypen'),
      shownVersions('informatieobjecttype', informatieobjecttypen, datum, 'omschrijving').as(
        'informatieobjecttypeOmschrijving',
      ),
      shownVersions('zaaktype', deelzaaktypen, datum).as('deelzaaktypen'),
      shownVersions('zaaktype', deelzaaktypen, datum, 'identificatie').as('deelzaaktypeIdentificaties'),
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
            order by v.concept, ${validOn('v.', datum)} desc, v.begin_geldigheid desc, v.id desc limit 1) s on true
          where r.zaaktype_id = t.id), '[]')`.as('gerelateerdeZaaktypen'),
    ])
}
export type ZaaktypeRow = Awaited<ReturnType<ReturnType<typeof selectZaaktype>['executeTakeFirstOrThrow']>>

export function findZaaktype(db: ReadDb, uuid: string, datum?: string): Promise<ZaaktypeRow | undefined> {
  return selectZaaktype(allZaaktypen(db), datum ?? null)
    .where('t.uuid', '=', uuid)
    .executeTakeFirst()
}

export function toZaaktype(row: ZaaktypeRow, base: string): Static<typeof Zaaktype> {
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
      zaaktype: linkOr(base, 'zaaktype', uuid, url),
      zaaktypeIdentificatie: identificatie,
      aardRelatie: aardRelatie as 'vervolg' | 'bijdrage' | 'onderwerp',
      toelichting,
    })),
  }
}

expandable('zaaktype', async (read, base, uuids, datum) => {
  const rows = await selectZaaktype(allZaaktypen(read), datum).where('t.uuid', 'in', uuids).execute()
  return rows.map((row) => toZaaktype(row, base))
})
