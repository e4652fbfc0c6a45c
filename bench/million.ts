// A database as a large municipality has it after some years: a million cases with what hangs on them, and documents. Made by
// insert-select without triggers, foreign keys and indexes, by a role that owns the tables and need not be a superuser;
// afterwards the counts are made anew.
import postgres from 'postgres'
import { migrate } from '../src/database/migrate.ts'
import { withPath } from '../test/with-path.ts'

export type Sizes = { zaken: number; documenten: number }
export const TYPES = 50

/** Fills the database with this URL, and makes it when there is none; does nothing when it holds as many cases already. */
export async function givenMillion(url: string, { zaken, documenten }: Sizes): Promise<void> {
  await createDatabase(url)
  await migrate(url)
  const sql = postgres(withPath(url), { max: 1, onnotice: () => {} })
  try {
    const [found] = await sql`select count(*)::integer as n from zaak`
    if (found!.n >= zaken) return
    if (found!.n > 0) throw new Error(`${url} holds ${found!.n} cases: drop it first`)
    await setTriggers(sql, 'disable')
    await sql`select setseed(0.5)`
    await fillCatalogi(sql)
    const makeForeignKeys = await dropForeignKeys(sql)
    const makeIndexes = await dropIndexes(sql)
    for (const [name, statement] of statements(zaken, documenten)) {
      const begin = performance.now()
      await sql.unsafe(statement)
      console.error(`${name}: ${Math.round(performance.now() - begin)} ms`)
    }
    await makeIndexes()
    await makeForeignKeys()
    await setTriggers(sql, 'enable')
    await sql`select count_anew()`
    await sql`vacuum analyze`
  } finally {
    await sql.end()
  }
}

async function createDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const server = postgres(Object.assign(new URL(url), { pathname: '/postgres' }).href, { max: 1 })
  try {
    const [there] = await server`select from pg_database where datname = ${name}`
    if (!there) await server`create database ${server(name)} template template0 encoding 'UTF8'`
  } finally {
    await server.end()
  }
}

async function setTriggers(sql: postgres.Sql, state: 'enable' | 'disable'): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select distinct tgrelid::regclass::text as name from pg_trigger join pg_class c on c.oid = tgrelid
    where not tgisinternal and c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`
  for (const { name } of tables) await sql.unsafe(`alter table ${name} ${state} trigger user`)
}

/** Those of the large tables: looking up a million rows one by one would take longer than all the rest. */
async function dropForeignKeys(sql: postgres.Sql): Promise<() => Promise<void>> {
  const keys = await sql<{ table: string; name: string; definition: string }[]>`
    select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and conrelid = any(${TABLES}::regclass[])`
  for (const { table, name } of keys) await sql.unsafe(`alter table ${table} drop constraint ${name}`)
  return async () => {
    for (const { table, name, definition } of keys)
      await sql.unsafe(`alter table ${table} add constraint ${name} ${definition}`)
  }
}

/** Making an index of all rows at once is much quicker than adding a million rows to it. */
async function dropIndexes(sql: postgres.Sql): Promise<() => Promise<void>> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
    where i.indrelid = any(${TABLES}::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`)
  return async () => {
    await sql`set maintenance_work_mem = '512MB'`
    for (const { name, definition } of indexes) {
      const begin = performance.now()
      await sql.unsafe(definition)
      console.error(`${name}: ${Math.round(performance.now() - begin)} ms`)
    }
  }
}

const TABLES = [
  'zaak',
  'status',
  'rol',
  'resultaat',
  'zaakobject',
  'zaakeigenschap',
  'zaakinformatieobject',
  'enkelvoudiginformatieobject',
  'enkelvoudiginformatieobject_versie',
  'objectinformatieobject',
  'besluit',
]

/** 50 zaaktypen with four statustypen, three resultaattypen and four roltypen each; 50 types of documents, ten of besluiten. */
async function fillCatalogi(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    insert into catalogus (domein, rsin, contactpersoon_beheer_naam) values ('BENCH', '000000000', 'x');
    insert into zaaktype (catalogus_id, identificatie, omschrijving, vertrouwelijkheidaanduiding, doel, aanleiding,
      indicatie_intern_of_extern, handeling_initiator, onderwerp, handeling_behandelaar, doorlooptijd,
      opschorting_en_aanhouding_mogelijk, verlenging_mogelijk, publicatie_indicatie, referentieproces_naam, verantwoordelijke,
      begin_geldigheid, versiedatum, concept)
    select 1, 'ZT' || n, (array['Aanvraag', 'Melding', 'Bezwaar', 'Vergunning', 'Subsidie'])[1 + n % 5] || ' ' || n, 'openbaar', 'x', 'x',
      'extern', 'x', 'x', 'x', 'P56D', false, false, false, 'x', 'x', '2015-01-01', '2015-01-01', false
    from generate_series(1, ${TYPES}) n;
    insert into statustype (zaaktype_id, omschrijving, volgnummer)
    select t, (array['Ontvangen', 'In behandeling', 'Besloten', 'Afgerond'])[n], n from generate_series(1, ${TYPES}) t, generate_series(1, 4) n;
    insert into resultaattype (zaaktype_id, omschrijving, resultaattypeomschrijving)
    select t, 'Resultaat ' || n, 'x' from generate_series(1, ${TYPES}) t, generate_series(1, 3) n;
    insert into roltype (zaaktype_id, omschrijving, omschrijving_generiek)
    select t, (array['Initiator', 'Behandelaar', 'Belanghebbende', 'Adviseur'])[n], (array['initiator', 'behandelaar', 'belanghebbende', 'adviseur'])[n]
    from generate_series(1, ${TYPES}) t, generate_series(1, 4) n;
    insert into informatieobjecttype (catalogus_id, omschrijving, vertrouwelijkheidaanduiding, begin_geldigheid, concept, informatieobjectcategorie)
    select 1, 'Soort ' || n, 'openbaar', '2015-01-01', false, 'x' from generate_series(1, ${TYPES}) n;
    insert into besluittype (catalogus_id, omschrijving, publicatie_indicatie, begin_geldigheid, concept)
    select 1, 'Besluit ' || n, false, '2015-01-01', false from generate_series(1, 10) n`)
}

const LEVELS = `enum_range(null::vertrouwelijkheidaanduiding)`

/** Types are not used evenly: the first has a seventh of all, the last a hundredth. */
const TYPE = `(1 + floor(${TYPES} * power(random(), 2)))::bigint`
const WORDS = `array['aanvraag', 'melding', 'vergunning', 'boom', 'dakkapel', 'parkeren', 'overlast', 'verhuizing', 'paspoort',
  'subsidie', 'horeca', 'evenement', 'bezwaar', 'leerplicht', 'uitkering', 'schuldhulp', 'riool', 'lantaarnpaal', 'sloop', 'kapvergunning']`
const word = () => `(${WORDS})[1 + floor(20 * random())::integer]`

function* statements(zaken: number, documenten: number): Generator<[name: string, statement: string]> {
  const day = (n: string, of: number) => `date '2019-01-01' + (${n} * 2500::bigint / ${of})::integer`
  yield [
    'zaken',
    `insert into zaak (identificatie, bronorganisatie, omschrijving, zaaktype_id, registratiedatum, verantwoordelijke_organisatie,
       startdatum, einddatum, einddatum_gepland, uiterlijke_einddatum_afdoening, publicatiedatum, laatst_gemuteerd,
       vertrouwelijkheidaanduiding, zaakgeometrie, zaakgeometrie_grenzen, kenmerken, archiefnominatie, archiefstatus, archiefactiedatum)
     select 'ZAAK-' || to_char(dag, 'YYYY') || '-' || lpad(n::text, 10, '0'), '000000000', initcap(woord) || ' ' || woord2 || ' ' || (n % 9973),
       type, dag, '000000000', dag + extra - 3, eind, dag + 56, dag + 56 + extra, case when n % 5 = 0 then dag + extra end, dag + time '12:00',
       (${LEVELS})[case when n % 10 < 7 then 1 + type % 4 else 1 + floor(8 * random())::integer end],
       case when n % 2 = 0 then jsonb_build_object('type', 'Point', 'coordinates', jsonb_build_array(lengte, breedte)) end,
       case when n % 2 = 0 then box(point(lengte, breedte), point(lengte, breedte)) end,
       case when n % 10 = 0 then jsonb_build_array(jsonb_build_object('bron', case when n % 100 = 0 then 'BAG' else 'DSO' end, 'kenmerk', 'K' || n)) else '[]' end,
       case when eind is not null then case when n % 7 = 0 then 'blijvend_bewaren' else 'vernietigen' end end,
       case when eind is not null and n % 11 = 0 then 'gearchiveerd' else 'nog_te_archiveren' end,
       eind + 365 * (1 + n % 10)
     from (
       select n, dag, extra, woord, woord2, type, lengte, breedte, case when n % 5 < 3 then dag + extra * 5 end as eind
       from (select n, ${day('n', zaken)} as dag, floor(20 * random())::integer as extra, ${word()} as woord, ${word()} as woord2,
           ${TYPE} as type, 3.4 + 3.7 * random() as lengte, 50.8 + 2.6 * random() as breedte
         from generate_series(1, ${zaken}) n) een
     ) twee`,
  ]
  yield [
    'statussen',
    `insert into status (zaak_id, statustype_id, datum_status_gezet, statustoelichting, laatst)
     select z.id, (z.zaaktype_id - 1) * 4 + n, z.registratiedatum + time '08:00' + (n - 1) * interval '3 days' + z.id % 32000 * interval '1 second',
       'Toelichting ' || n, n = hoogste
     from (select id, zaaktype_id, registratiedatum, case when einddatum is not null then 4 else id % 4 end as hoogste from zaak) z,
       generate_series(1, z.hoogste) n order by z.id`,
  ]
  yield [
    'rollen',
    `insert into rol (zaak_id, betrokkene, betrokkene_type, betrokkene_identificatie, roltype_id, omschrijving, omschrijving_generiek, registratiedatum)
     select z.id, case when n = 3 then 'https://personen.example/api/' || z.id % 5000 else '' end,
       case n when 1 then case when z.id % 6 = 0 then 'niet_natuurlijk_persoon' else 'natuurlijk_persoon' end when 2 then 'medewerker' else 'vestiging' end,
       case n when 1 then case when z.id % 6 = 0 then jsonb_build_object('innNnpId', (z.id % 20000 + 100000000)::text, 'kvkNummer', (z.id % 20000 + 10000000)::text)
         else jsonb_build_object('inpBsn', (z.id % 200000 + 100000000)::text, 'geslachtsnaam', 'Naam ' || z.id) end
         when 2 then jsonb_build_object('identificatie', 'mw' || z.id % 400) else jsonb_build_object('vestigingsNummer', (z.id % 30000 + 100000)::text) end,
       (z.zaaktype_id - 1) * 4 + n, (array['Initiator', 'Behandelaar', 'Belanghebbende'])[n], (array['initiator', 'behandelaar', 'belanghebbende'])[n],
       z.registratiedatum
     from zaak z, generate_series(1, 2 + (z.id % 4 = 0)::integer) n order by z.id`,
  ]
  yield [
    'resultaten',
    `insert into resultaat (zaak_id, resultaattype_id, toelichting) select id, (zaaktype_id - 1) * 3 + 1 + id % 3, 'x' from zaak
     where einddatum is not null order by id`,
  ]
  yield [
    'zaakobjecten',
    `insert into zaakobject (zaak_id, object, object_type) select id, 'https://objecten.example/api/' || id % 50000, (array['adres', 'pand', 'overige'])[1 + id % 3]
     from zaak where id % 3 = 0 order by id`,
  ]
  yield [
    'eigenschappen',
    `insert into eigenschap (zaaktype_id, naam, definitie, specificatie_formaat, specificatie_lengte, specificatie_kardinaliteit)
     select id, 'Kleur', 'x', 'tekst', '10', '1' from zaaktype;
     insert into zaakeigenschap (zaak_id, eigenschap_id, naam, waarde) select id, zaaktype_id, 'Kleur', 'rood' from zaak where id % 4 = 0`,
  ]
  yield [
    'documenten',
    `insert into enkelvoudiginformatieobject (bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding)
     select '000000000', 'DOCUMENT-' || lpad(n::text, 10, '0'), type, (${LEVELS})[1 + (type + n % 3) % 8]
     from (select n, ${TYPE} as type from generate_series(1, ${documenten}) n) d`,
  ]
  yield [
    'versies',
    `insert into enkelvoudiginformatieobject_versie (enkelvoudiginformatieobject_id, versie, begin_registratie, bronorganisatie,
       identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding, creatiedatum, titel, auteur, status, formaat, taal,
       bestandsnaam, bestandsomvang, beschrijving, trefwoorden)
     select id, 1, ${day('id', documenten)}, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding, ${day('id', documenten)},
       initcap(${word()}) || ' ' || ${word()} || ' ' || id % 9973, 'Auteur ' || floor(3000 * power(random(), 2)),
       (array['', 'in_bewerking', 'definitief', 'definitief', 'definitief'])[1 + id % 5],
       (array['application/pdf', 'application/pdf', 'image/png', 'text/plain'])[1 + id % 4], 'nld', 'brief-' || id || '.pdf',
       floor(1000000 * random()), 'Beschrijving over ' || ${word()} || ' ' || ${word()}, array['gemeente', ${word()}]
     from enkelvoudiginformatieobject order by id`,
  ]
  yield [
    'documenten bij zaken',
    `insert into zaakinformatieobject (zaak_id, enkelvoudiginformatieobject_id, registratiedatum)
     select 1 + d.id % ${zaken}, d.id, now() from enkelvoudiginformatieobject d order by d.id;
     insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_uuid)
     select i.enkelvoudiginformatieobject_id, 'zaak', z.uuid from zaakinformatieobject i join zaak z on z.id = i.zaak_id order by i.id`,
  ]
  yield [
    'besluiten',
    `insert into besluit (identificatie, verantwoordelijke_organisatie, besluittype_id, zaak_id, datum, ingangsdatum)
     select 'BESLUIT-' || z.id, '000000000', 1 + z.id % 10, z.id, z.startdatum, z.startdatum from zaak z where z.id % 5 = 0 order by z.id`,
  ]
}
