// The fields of a zaaktype, how they stand in its row, and the query that finds it.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import type { Zaaktype as ZaaktypeTable } from '../../database/types.ts'
import { isoDuration } from '../../http/duration.ts'
import { DateOnly, OptionalDate, OptionalText, Patch, Text, Url, Vertrouwelijkheid } from '../../http/input.ts'
import { link, linkOr } from '../../http/links.ts'
import {
  CATALOGUS,
  CONCEPT,
  Duur,
  linksOf,
  Names,
  OptionalDuur,
  OptionalUrl,
  type OwnOfType,
  Texts,
  TypeRelation,
  Urls,
  VERSIONS_PERIOD,
} from '../fields.ts'
import { objectPeriod, shownVersions, validOn } from '../versions.ts'

/** All versions `t` with their catalogue `c`, to narrow down. */
export function allZaaktypen(db: ReadDb) {
  return db.selectFrom('zaaktype as t').innerJoin('catalogus as c', 'c.id', 't.catalogusId')
}
export type Zaaktypen = ReturnType<typeof allZaaktypen>

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
            order by r.place)
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

const Relatiezaaktype = Type.Object({
  zaaktype: TypeRelation(),
  aardRelatie: Type.Enum(['vervolg', 'bijdrage', 'onderwerp']),
  toelichting: OptionalText(255),
})

const { kept, formed, spread, apart, shown } = fieldsOf<ZaaktypeTable, ZaaktypeRow>()

/** The fields of a zaaktype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'zaaktype', row.uuid)),
  identificatie: apart(OptionalText(50), (row) => row.identificatie),
  omschrijving: kept(Text(80, { minLength: 1 }), 'omschrijving'),
  omschrijvingGeneriek: kept(OptionalText(80), 'omschrijvingGeneriek', ''),
  vertrouwelijkheidaanduiding: kept(Vertrouwelijkheid, 'vertrouwelijkheidaanduiding'),
  doel: kept(Text(undefined, { minLength: 1 }), 'doel'),
  aanleiding: kept(Text(undefined, { minLength: 1 }), 'aanleiding'),
  toelichting: kept(OptionalText(), 'toelichting', ''),
  indicatieInternOfExtern: kept(Type.Enum(['intern', 'extern']), 'indicatieInternOfExtern'),
  handelingInitiator: kept(Text(20, { minLength: 1 }), 'handelingInitiator'),
  onderwerp: kept(Text(80, { minLength: 1 }), 'onderwerp'),
  handelingBehandelaar: kept(Text(20, { minLength: 1 }), 'handelingBehandelaar'),
  doorlooptijd: formed(Duur, 'doorlooptijd', '', isoDuration),
  servicenorm: formed(OptionalDuur, 'servicenorm', null, isoDuration),
  opschortingEnAanhoudingMogelijk: kept(Type.Boolean(), 'opschortingEnAanhoudingMogelijk'),
  verlengingMogelijk: kept(Type.Boolean(), 'verlengingMogelijk'),
  verlengingstermijn: apart(OptionalDuur, (row) => row.verlengingstermijn),
  trefwoorden: kept(Texts(30), 'trefwoorden', []),
  publicatieIndicatie: kept(Type.Boolean(), 'publicatieIndicatie'),
  publicatietekst: kept(OptionalText(), 'publicatietekst', ''),
  verantwoordingsrelatie: kept(Texts(40), 'verantwoordingsrelatie', []),
  productenOfDiensten: kept(Type.Array(Url()), 'productenOfDiensten'),
  selectielijstProcestype: kept(OptionalUrl(), 'selectielijstProcestype', ''),
  referentieproces: spread({
    input: Type.Object({ naam: Text(80, { minLength: 1 }), link: OptionalUrl() }),
    columns: { referentieprocesNaam: '', referentieprocesLink: '' },
    write: ({ naam, link }) => ({ referentieprocesNaam: naam, referentieprocesLink: link ?? '' }),
    read: (row) => ({ naam: row.referentieprocesNaam, link: row.referentieprocesLink }),
  }),
  verantwoordelijke: kept(Text(50, { minLength: 1 }), 'verantwoordelijke'),
  broncatalogus: spread({
    input: Type.Optional(
      Type.Object({
        url: Type.String({ format: 'uri', maxLength: 200 }),
        domein: Type.String({ maxLength: 5, pattern: '^[A-Z]*$' }),
        rsin: Type.String({ format: 'rsin', maxLength: 9 }),
      }),
    ),
    columns: { broncatalogusUrl: '', broncatalogusDomein: '', broncatalogusRsin: '' },
    write: ({ url, domein, rsin }) => ({
      broncatalogusUrl: url,
      broncatalogusDomein: domein,
      broncatalogusRsin: rsin,
    }),
    read: (row) => ({ url: row.broncatalogusUrl, domein: row.broncatalogusDomein, rsin: row.broncatalogusRsin }),
  }),
  bronzaaktype: spread({
    input: Type.Optional(
      Type.Object({
        url: Type.String({ format: 'uri', maxLength: 200 }),
        identificatie: Text(50),
        omschrijving: Text(80),
      }),
    ),
    columns: { bronzaaktypeUrl: '', bronzaaktypeIdentificatie: '', bronzaaktypeOmschrijving: '' },
    write: ({ url, identificatie, omschrijving }) => ({
      bronzaaktypeUrl: url,
      bronzaaktypeIdentificatie: identificatie,
      bronzaaktypeOmschrijving: omschrijving,
    }),
    read: (row) => ({
      url: row.bronzaaktypeUrl,
      identificatie: row.bronzaaktypeIdentificatie,
      omschrijving: row.bronzaaktypeOmschrijving,
    }),
  }),
  ...CONCEPT,
  beginGeldigheid: kept(DateOnly, 'beginGeldigheid'),
  eindeGeldigheid: kept(OptionalDate, 'eindeGeldigheid', null),
  ...VERSIONS_PERIOD,
  versiedatum: apart(
    Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' })),
    (row) => row.versiedatum,
    DateOnly,
  ),
  ...CATALOGUS,
  statustypen: shown(Urls, (row, base) => linksOf(row.statustypen, 'statustype', base)),
  resultaattypen: shown(Urls, (row, base) => linksOf(row.resultaattypen, 'resultaattype', base)),
  eigenschappen: shown(Urls, (row, base) => linksOf(row.eigenschappen, 'eigenschap', base)),
  informatieobjecttypen: shown(Urls, (row, base) => linksOf(row.informatieobjecttypen, 'informatieobjecttype', base)),
  informatieobjecttypeOmschrijving: shown(Names, (row) => row.informatieobjecttypeOmschrijving),
  roltypen: shown(Urls, (row, base) => linksOf(row.roltypen, 'roltype', base)),
  besluittypen: apart(Type.Array(TypeRelation()), (row, base) => linksOf(row.besluittypen, 'besluittype', base)),
  besluittypeOmschrijving: shown(Names, (row) => row.besluittypeOmschrijving),
  deelzaaktypen: apart(Type.Optional(Type.Array(TypeRelation(), { default: [] })), (row, base) =>
    linksOf(row.deelzaaktypen, 'zaaktype', base),
  ),
  deelzaaktypeIdentificaties: shown(Names, (row) => row.deelzaaktypeIdentificaties),
  zaakobjecttypen: shown(Urls, (row, base) => linksOf(row.zaakobjecttypen, 'zaakobjecttype', base)),
  gerelateerdeZaaktypen: apart(
    Type.Array(Relatiezaaktype),
    (row, base) =>
      row.gerelateerdeZaaktypen.map(({ uuid, url, identificatie, aardRelatie, toelichting }) => ({
        zaaktype: linkOr(base, 'zaaktype', uuid, url),
        zaaktypeIdentificatie: identificatie,
        aardRelatie: aardRelatie as 'vervolg' | 'bijdrage' | 'onderwerp',
        toelichting,
      })),
    Type.Array(Type.Object({ ...Relatiezaaktype.properties, zaaktype: Url(), zaaktypeIdentificatie: Type.String() })),
  ),
}
/** Columns that the code of zaaktypen writes: the rules decide what they hold. */
type Own = OwnOfType | 'identificatie' | 'verlengingstermijn' | 'versiedatum'
// A column that none of them holds, and that the code does not write, does not compile.
const _nothingForgotten = {} satisfies Record<Exclude<keyof ZaaktypeTable, ColumnsOf<typeof FIELDS> | Own>, never>

export const ZaaktypeInput = Type.Object(inputsOf(FIELDS))
export type ZaaktypeInput = Static<typeof ZaaktypeInput>
export const ZaaktypePatch = Patch(ZaaktypeInput)
export const Zaaktype = Type.Object(answersOf(FIELDS))
/** All columns of the fields, without the `Own`. */
export const toRow = rowWriter<ZaaktypeTable, typeof FIELDS>(FIELDS)
export const toZaaktype = answerReader<ZaaktypeRow, typeof FIELDS>(FIELDS)

/** Deprecated since Catalogi 1.3.2, where it may be left out: then the version is of the day on which it begins. */
export const versionDate = ({ versiedatum, beginGeldigheid }: ZaaktypeInput) => versiedatum ?? beginGeldigheid

/** The columns that are not what the field says. */
export function ownColumns(input: ZaaktypeInput) {
  const { verlengingMogelijk, verlengingstermijn } = input
  return {
    verlengingstermijn: verlengingMogelijk && verlengingstermijn ? isoDuration(verlengingstermijn) : null,
    versiedatum: versionDate(input),
  }
}
