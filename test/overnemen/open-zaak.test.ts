// Slow: a whole archive is taken over in rounds, from the schema of each release.
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { checkTakeover } from '../../src/overnemen/check.ts'
import { fromEwkb } from '../../src/overnemen/open-zaak/geometry.ts'
import { reasonOf, untilThere } from '../../src/overnemen/patience.ts'
import { portionRunner } from '../../src/overnemen/portions.ts'
import { reportCsvOf } from '../../src/overnemen/report.ts'
import { beginRound, progressOf, type Round } from '../../src/overnemen/round.ts'
import { SourceUnavailable } from '../../src/overnemen/source.ts'
import { switchOver } from '../../src/overnemen/takeover.ts'
import { lossesOnWayBack } from '../../src/overnemen/way-back.ts'
import { BASE, type TestApp, testApp } from '../app.ts'
import { copiedDatabase, emptyDatabase } from '../setup.ts'
import { deleteCase, fillOpenZaak, fillOtherKinds, KIND, OLD, RSIN, uuidOf } from './open-zaak-database.ts'
import { VERSIONS } from './open-zaak-schema.ts'

const ZAKEN = 30
const DOCUMENTS = 10

// Filled once: each test gets a copy.
const filled = await emptyDatabase(t)
await fillOpenZaak(filled.url, { zaken: ZAKEN, documents: DOCUMENTS })

async function givenOpenZaak(t: { teardown(work: () => unknown): unknown }) {
  const { url } = await copiedDatabase(t, filled.url)
  const files = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  await mkdir(join(files, 'uploads/2024/01'), { recursive: true })
  for (let n = 1; n <= DOCUMENTS; n++)
    await writeFile(join(files, `uploads/2024/01/${n}.bin`), `inhoud ${n}`.padEnd(10, '.'))
  const old = postgres(url, { max: 2, onnotice: () => {} })
  t.teardown(async () => {
    await old.end()
    await rm(files, { recursive: true })
  })
  return { url, files, old }
}

type OpenZaak = { url: string; files: string }

/** One round, to its end. */
async function round(
  test: TestApp,
  { url, files }: OpenZaak,
  given: { trial?: boolean; readOnly?: boolean; bytes?: 'kopieren' | 'laten'; wijzigingen?: boolean } = {},
): Promise<Round> {
  const { trial = false, readOnly = true, bytes = 'kopieren', wijzigingen = false } = given
  const begun = await beginRound(test.parts, {
    kind: 'open-zaak',
    url,
    secret: url,
    trial,
    readOnly,
    settings: { oudeUrls: ['https://oud.example'], bestanden: files, bytes, wijzigingen, naast: 2 },
  })
  try {
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  } finally {
    await begun.release()
  }
  return begun
}

const remarks = async ({ database }: TestApp) =>
  (
    await database.sql<{ line: string }[]>`
      select outcome || ' ' || kind || ' ' || code as line from takeover_remark group by 1 order by 1`
  ).map(({ line }) => line)

t.test('a case comes over with its uuid, dates, parts and audit trail, and its own URLs become ours', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: 'https://nieuw.example' })
  const source = await givenOpenZaak(t)
  await source.old`insert into zaken_zaakkenmerk (id, kenmerk, bron, zaak_id) values (1, ${`${OLD}/zaken/api/v1/x`}, 'ERP', 1)`
  await round(test, source)
  const { status, body } = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`, undefined, {
    headers: { 'accept-crs': 'EPSG:4326' },
  })
  t.equal(status, 200)
  t.match(body, {
    url: `https://nieuw.example/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`,
    identificatie: 'ZAAK-2024-0000000001',
    bronorganisatie: RSIN,
    zaaktype: `https://nieuw.example/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 1)}`,
    registratiedatum: '2024-01-02',
    laatstGemuteerd: '2024-03-01T10:00:01.123456Z',
    zaakgeometrie: { type: 'Point', coordinates: [4.95, 52.4] },
    kenmerken: [{ kenmerk: 'https://nieuw.example/zaken/api/v1/x', bron: 'ERP' }],
  })
  const closed = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 2)}`, undefined, {
    headers: { 'accept-crs': 'EPSG:4326' },
  })
  t.match(closed.body, {
    einddatum: '2024-03-01',
    resultaat: `https://nieuw.example/zaken/api/v1/resultaten/${uuidOf(KIND.resultaat, 2)}`,
    status: `https://nieuw.example/zaken/api/v1/statussen/${uuidOf(KIND.status, ZAKEN + 2)}`,
    zaakinformatieobjecten: [`https://nieuw.example/zaken/api/v1/zaakinformatieobjecten/${uuidOf(KIND.zio, 2)}`],
  })
  const trail = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}/audittrail`)
  t.match(trail.body, [
    {
      uuid: uuidOf(KIND.audit, 1),
      bron: 'ZRC',
      hoofdObject: `https://nieuw.example/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`,
      aanmaakdatum: '2024-01-01T09:00:00Z',
      wijzigingen: { nieuw: { url: `${OLD}/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}` } }, // evidence stays as it was
    },
  ])
  const rol = await test.call('GET', `/zaken/api/v1/rollen/${uuidOf(KIND.rol, 3)}`)
  t.match(rol.body, { betrokkeneIdentificatie: { inpBsn: '111222333', inpA_nummer: '', verblijfsadres: null } })
  const zaaktype = await test.call('GET', `/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 2)}`)
  t.match(zaaktype.body, { concept: true, doorlooptijd: 'P1M10D', servicenorm: 'P0D' })
})

t.test(
  'the audit trail keeps the order of the source, whatever part comes first, and the comparison sees another order',
  async (t) => {
    const test = await testApp(t)
    const source = await givenOpenZaak(t)
    const { sql } = test.database
    await source.old`
      insert into audittrails_audittrail select (jsonb_populate_record(a,
        jsonb_build_object('id', 100 + n, 'uuid', md5(n::text)::uuid, 'actie', 'partial_update'))).*
      from audittrails_audittrail a, generate_series(1, 20000) n where a.id = 1`
    const begun = await beginRound(test.parts, {
      ...{ kind: 'open-zaak', url: source.url, secret: source.url, trial: false, readOnly: true },
      settings: { oudeUrls: ['https://oud.example'], bestanden: source.files, bytes: 'kopieren', naast: 2 },
    })
    const runner = portionRunner(test.parts)
    const steps = await sql<{ id: number; name: string }[]>`
      select id, name from takeover_step order by phase, place desc`
    t.equal(steps.filter(({ name }) => name === 'audit').length, 2)
    for (const { id } of steps) while (await runner.runStep(id));
    await runner.close()
    await begun.release()
    const path = `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}/audittrail`
    const trail = (await test.call('GET', path)).body as { uuid: string }[]
    const there = await source.old<{ uuid: string }[]>`
      select uuid from audittrails_audittrail where id = 1 or id > 100 order by id`
    t.same(
      trail.map(({ uuid }) => uuid),
      there.map(({ uuid }) => uuid),
    )
    const differences = async () => {
      const found: string[] = []
      await checkTakeover(test.parts, begun.takeover, {
        files: 0,
        report: ({ kind, code, field }) => found.push(`${kind} ${code} ${field}`),
      })
      return found
    }
    t.same(await differences(), [])
    await sql`update audit set id = default where id = (select min(id) from audit)`
    await sql`update status set id = default where uuid = ${uuidOf(KIND.status, 2)}`
    t.same(await differences(), ['status verschilt volgorde', 'audit verschilt volgorde'])
  },
)

t.test('documents come over with their versions and bytes, each path copied once', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  await source.old`
    insert into documenten_enkelvoudiginformatieobject select (jsonb_populate_record(d,
      '{"id": 101, "versie": 2, "titel": "Tweede", "begin_registratie": "2024-01-05T11:00:00Z"}'::jsonb)).*
    from documenten_enkelvoudiginformatieobject d where id = 1`
  await source.old`update documenten_enkelvoudiginformatieobjectcanonical set lock = 'slot', latest_version_id = 101 where id = 1`
  await rm(join(source.files, 'uploads/2024/01/2.bin'))
  await round(test, source)
  const path = `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, 1)}`
  t.match((await test.call('GET', path)).body, { versie: 2, titel: 'Tweede', locked: true, bestandsomvang: 10 })
  t.match((await test.call('GET', `${path}?versie=1`)).body, {
    versie: 1,
    titel: 'Document 1',
    beginRegistratie: '2024-01-01T11:00:00Z',
  })
  t.equal((await test.call('GET', `${path}/download?versie=1`)).text, 'inhoud 1..')
  t.equal((await test.call('GET', `${path}/download`)).text, 'inhoud 1..')
  const [files] = await test.database.sql<{ n: number }[]>`select count(*) as n from file`
  t.equal(files!.n, DOCUMENTS - 1)
  t.ok((await remarks(test)).includes('geweigerd bestand bestand-ontbreekt'))
  t.equal(
    (await test.call('GET', `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, 2)}/download`))
      .status,
    204,
  )
  // The file is found later.
  await writeFile(join(source.files, 'uploads/2024/01/2.bin'), '1234567890')
  await round(test, source)
  t.equal(
    (await test.call('GET', `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, 2)}/download`))
      .text,
    '1234567890',
  )
  t.notOk((await remarks(test)).includes('geweigerd bestand bestand-ontbreekt'))
})

t.test('what does not fit is taken with a mark, or listed with its reason, and stops nothing', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const { old } = source
  await old`update documenten_enkelvoudiginformatieobject set identificatie = 'DOCUMENT-2024-0000000001' where id = 2`
  await old`update zaken_zaakidentificatie set bronorganisatie = '000000000' where id = 3`
  await old`update zaken_zaak set archiefstatus = 'gearchiveerd' where identificatie_ptr_id = 5`
  await old`update zaken_zaak set _zaaktype_id = null, _zaaktype_base_url_id = 1, _zaaktype_relative_url = 'zaaktypen/x' where identificatie_ptr_id = 7`
  await old`update zaken_zaak set _zaaktype_id = 2 where identificatie_ptr_id = 9`
  await old`
    insert into catalogi_zaaktype select (jsonb_populate_record(z, jsonb_build_object('id', 900, 'concept', false,
      'uuid', gen_random_uuid(), 'datum_begin_geldigheid', '2030-01-01'))).* from catalogi_zaaktype z where id = 1`
  await old`update documenten_enkelvoudiginformatieobject set inhoud = '' where id = 4`
  await old`update zaken_zaak set archiefstatus = 'onzin' where identificatie_ptr_id = 11`
  await old`insert into documenten_enkelvoudiginformatieobjectcanonical (id, lock) values (900, '')`
  await old`alter table zaken_rol drop constraint zaken_rol_uuid_key`
  await old`update zaken_rol set uuid = ${uuidOf(KIND.rol, 12)} where id = 13`
  await old`update zaken_natuurlijkpersoon set inp_bsn = '123456789' where rol_id = 14`
  await old`update zaken_zaak set zaakgeometrie = '00' where identificatie_ptr_id = 21`
  await round(test, source)
  t.same(await remarks(test), [
    'gemarkeerd adres adres-onbevestigd',
    'gemarkeerd adres adres-oud',
    'gemarkeerd applicatie client-id-dubbel',
    'gemarkeerd applicatie geheim-leeg',
    'gemarkeerd document identificatie-dubbel',
    'gemarkeerd document zonder-inhoud',
    'gemarkeerd overneming nummer-per-jaar',
    'gemarkeerd rol elfproef',
    'gemarkeerd zaak elfproef',
    'gemarkeerd zaak gearchiveerd-open',
    'gemarkeerd zaak geometrie',
    'gemarkeerd zaak type-elders',
    'gemarkeerd zaaktype concept-in-gebruik',
    'gemarkeerd zaaktype versies-overlappen',
    'gemarkeerd zaaktype waarde-anders',
    'geweigerd document zonder-versie',
    'geweigerd geheim geheim-zonder-applicatie',
    'geweigerd rol uuid-dubbel',
    'geweigerd rol verwijzing-ontbreekt',
    'geweigerd status verwijzing-ontbreekt',
    'geweigerd zaak regel',
    'geweigerd zaakrelatie verwijzing-ontbreekt',
  ])
  const list = await test.call(
    'GET',
    '/documenten/api/v1/enkelvoudiginformatieobjecten?identificatie=DOCUMENT-2024-0000000001',
  )
  t.equal(list.body.count, 2)
  const elsewhere = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 7)}`, undefined, {
    headers: { 'accept-crs': 'EPSG:4326' },
  })
  t.equal(elsewhere.body.zaaktype, 'http://elders.example/catalogi/api/v1/zaaktypen/x')
  // Mended at the source: the next round takes it, and the report loses it.
  await old`update zaken_zaak set archiefstatus = 'gearchiveerd' where identificatie_ptr_id = 11`
  await round(test, source)
  const left = await remarks(test)
  t.notOk(left.some((line) => line.startsWith('geweigerd zaak') || line.includes('verwijzing')))
  t.ok(left.includes('gemarkeerd applicatie client-id-dubbel'), 'what did not change is still remarked on')
})

t.test('the report says which field, what it holds, the rule and what to do, and no number of a person', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const { old } = source
  await old`update zaken_zaak set archiefstatus = 'onzin' where identificatie_ptr_id = 11`
  await old`update zaken_zaak set einddatum = 'infinity' where identificatie_ptr_id = 12`
  await old`alter table zaken_zaak drop constraint zaken_zaak_check`
  await old`update zaken_zaak set omschrijving = 'x', _zaaktype_id = null where identificatie_ptr_id = 13`
  await old`alter table zaken_status drop constraint zaken_status_zaak_id_datum_status_gezet_key`
  await old`update zaken_status set datum_status_gezet = '2024-01-01 10:00+00' where id = ${ZAKEN + 2}`
  await old`update zaken_rol set betrokkene_type = '111222333' where id = 5`
  await old`update catalogi_statustype set statustypevolgnummer = 10000 where id = 4`
  await old`update documenten_enkelvoudiginformatieobject set vertrouwelijkheidaanduiding = 'top' where id = 3`
  await round(test, source)
  const lines: string[] = []
  for await (const chunk of reportCsvOf(test.database.sql, 1, { outcome: 'geweigerd' })) lines.push(String(chunk))
  const rows = lines.join('').trim().split('\r\n')
  t.equal(
    rows.shift(),
    'soort,identificatie,uuid,uitkomst,veld,waarde,regel,wat te doen,code,aantal in deze groep,ronde',
  )
  const found = (kind: string, code: string) =>
    rows.filter((row) => row.startsWith(`${kind},`) && row.includes(`,${code},`))
  t.match(found('zaak', 'regel'), [
    /^zaak,ZAAK-2024-0000000011,.*,geweigerd,archiefstatus,onzin,"Moet een van deze zijn: nog_te_archiveren, .*herstel de waarde in de bron/,
  ])
  t.match(found('zaak', 'waarde'), [/^zaak,ZAAK-2024-0000000012,.*,einddatum,infinity,"Moet een dag zijn die bestaat/])
  t.match(found('zaak', 'verwijzing-ontbreekt'), [/^zaak,ZAAK-2024-0000000013,.*,zaaktype,,Dit veld is verplicht/])
  t.match(found('status', 'bestaat-al'), [
    /^status,ZAAK-2024-0000000002,.*,"zaak, datumStatusGezet",2024-01-01T10:00:00Z,"Er is al een ander/,
  ])
  t.match(found('rol', 'regel'), [/^rol,ZAAK-2024-0000000005,.*,betrokkeneType,•••••••••,/])
  t.match(found('statustype', 'regel'), [/^statustype,Klaar,.*,volgnummer,10000,Moet van 1 tot en met 9999 zijn/])
  t.match(found('document', 'waarde'), [
    /^document,DOCUMENT-2024-0000000003,.*,versie 1: vertrouwelijkheidaanduiding,top,"Moet een van deze/,
  ])
  t.match(
    found('status', 'verwijzing-ontbreekt')[0],
    /^status,ZAAK-2024-00000000\d\d,/,
    'by the number of its case, which is refused',
  )
  for (const row of rows) {
    t.notMatch(row, '111222333')
    t.notMatch(row, /_check|_unique|_is_term|past niet/)
  }
})

t.test('a client id in two applicaties has the rights of both, with the secret it had', async (t) => {
  const test = await testApp(t)
  await round(test, await givenOpenZaak(t))
  const token = signToken('portaal', 'geheim-van-het-portaal-1234567890abcdef')
  const get = async (url: string) =>
    (
      await test.app.inject({
        url,
        headers: { authorization: `Bearer ${token}`, host: 'localhost', 'accept-crs': 'EPSG:4326' },
      })
    ).json()
  t.equal((await get('/zaken/api/v1/zaken')).count, ZAKEN) // of the first
  t.equal((await get('/documenten/api/v1/enkelvoudiginformatieobjecten')).count, DOCUMENTS) // of the second
  const shown = await test.call('GET', `/autorisaties/api/v1/applicaties/${uuidOf(KIND.applicatie, 2)}`)
  t.same(shown.body.clientIds, ['portaal', 'Balie'])
  const [stored] = await test.database.sql<
    { sealed_secret: Buffer }[]
  >`select sealed_secret from applicatie_secret where client_id = 'portaal'`
  t.notOk(stored!.sealed_secret.toString('latin1').includes('geheim-van-het-portaal'))
})

t.test('a later round writes what changed, removes what is gone, and leaves the rest untouched', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  await round(test, source)
  const rows = () =>
    test.database.sql<{ uuid: string; xmin: string }[]>`select uuid, xmin::text from zaak order by uuid`
  const before = await rows()
  await source.old`update zaken_zaak set omschrijving = 'anders' where identificatie_ptr_id = 1`
  await deleteCase(source.old, 4)
  const second = await round(test, source)
  const after = await rows()
  const changed = after.filter(({ uuid, xmin }) => before.find((row) => row.uuid === uuid)?.xmin !== xmin)
  t.same(
    changed.map(({ uuid }) => uuid),
    [uuidOf(KIND.zaak, 1)],
  )
  t.equal(after.length, ZAKEN - 1)
  t.notOk(after.some(({ uuid }) => uuid === uuidOf(KIND.zaak, 4)))
  const [trail] = await test.database.sql<{ n: number }[]>`
    select count(*) as n from audit where hoofd_object_uuid = ${uuidOf(KIND.zaak, 4)}`
  t.equal(trail!.n, 0)
  const zaken = (await progressOf(test.database, await second.state())).find(({ name }) => name === 'zaak')
  t.match(zaken, { seen: ZAKEN - 1, written: 1, unchanged: ZAKEN - 2 })
})

t.test(
  'a later round reads only what changed: by the audit trail, by moments, by locks, and by what is there no more',
  async (t) => {
    const test = await testApp(t)
    const source = await givenOpenZaak(t)
    const { old } = source
    await fillOtherKinds(source.url)
    await old`update zaken_zaak set laatst_gemuteerd = '2024-01-01', archiefstatus = case when identificatie_ptr_id = 11 then 'onzin' else archiefstatus end`
    await old`update documenten_enkelvoudiginformatieobject set vertrouwelijkheidaanduiding = 'top' where id = 5`
    await round(test, source)
    const refusedAt = (await remarks(test)).filter((line) => line.startsWith('geweigerd'))
    t.ok(refusedAt.includes('geweigerd zaak regel') && refusedAt.includes('geweigerd document waarde'))
    const none = await round(test, source, { wijzigingen: true })
    const read = async (begun: Round, name: string) =>
      (await progressOf(test.database, await begun.state())).find((one) => one.name === name)
    t.match(await read(none, 'zaak'), { seen: 1, written: 0 }, 'only what was refused')
    t.same(
      (await remarks(test)).filter((line) => line.startsWith('geweigerd')),
      refusedAt,
      'what was not looked at keeps its remarks',
    )

    const trail = (id: number, path: string) => old`
    insert into audittrails_audittrail select (jsonb_populate_record(a, jsonb_build_object('id', ${id}::int, 'uuid', gen_random_uuid(),
      'actie', 'update', 'aanmaakdatum', now(), 'hoofd_object', ${OLD + path}::text))).* from audittrails_audittrail a where id = 1`
    await old`update zaken_zaak set omschrijving = 'door de audittrail' where identificatie_ptr_id = 2`
    await old`delete from zaken_status where id = ${ZAKEN + 2}`
    await trail(901, `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 2)}`)
    await old`update zaken_zaak set omschrijving = 'door het moment', laatst_gemuteerd = now() where identificatie_ptr_id = 3`
    await old`update zaken_zaak set omschrijving = 'door niets' where identificatie_ptr_id = 6`
    await old`update zaken_zaak set archiefstatus = 'nog_te_archiveren' where identificatie_ptr_id = 11`
    await old`update documenten_enkelvoudiginformatieobject set titel = 'Anders', begin_registratie = now() where id = 2`
    await old`update documenten_enkelvoudiginformatieobjectcanonical set lock = 'slot' where id = 3`
    await old`update documenten_verzending set toelichting = 'verzonden'`
    await old`update besluiten_besluit set toelichting = 'besloten'`
    await trail(902, `/besluiten/api/v1/besluiten/${uuidOf(KIND.other, 12)}`)
    await deleteCase(old, 4)
    const later = await round(test, source, { wijzigingen: true })
    t.equal((await later.state()).status, 'klaar')
    t.match(await read(later, 'zaak'), { seen: 3, written: 3 })
    t.match(await read(later, 'document'), { written: 2 })
    t.match(await read(later, 'audit'), { written: 2 })
    const { sql } = test.database
    const cases = await sql<
      { omschrijving: string }[]
    >`select omschrijving from zaak where omschrijving like 'door%' order by 1`
    t.same(
      cases.map(({ omschrijving }) => omschrijving),
      ['door de audittrail', 'door het moment'],
    )
    t.equal((await sql`select from zaak where uuid = ${uuidOf(KIND.zaak, 4)}`).length, 0, 'it is gone there')
    t.equal((await sql`select from status where uuid = ${uuidOf(KIND.status, ZAKEN + 2)}`).length, 0)
    t.equal((await sql`select from verzending where toelichting = 'verzonden'`).length, 1)
    t.equal((await sql`select from besluit where toelichting = 'besloten'`).length, 1)
    t.equal((await sql`select from enkelvoudiginformatieobject where lock = 'slot'`).length, 1)
    t.notOk((await remarks(test)).includes('geweigerd zaak regel'), 'mended, and asked again')
    await old`update documenten_enkelvoudiginformatieobjectcanonical set lock = '' where id = 3`
    await round(test, source, { wijzigingen: true })
    t.equal((await sql`select from enkelvoudiginformatieobject where lock is not null`).length, 0)
    const differences: string[] = []
    await checkTakeover(test.parts, later.takeover, {
      files: 0,
      report: ({ kind, code, field }) => differences.push(`${kind} ${code} ${field}`),
    })
    t.same(differences, ['zaak verschilt omschrijving'], 'the proof reads the whole, and finds what nothing told of')
    await round(test, source)
    t.equal((await sql`select from zaak where omschrijving = 'door niets'`).length, 1)
  },
)

t.test('a round of changes finds by counting what no audit line and no moment tells of', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const { old } = source
  const { sql } = test.database
  await fillOtherKinds(source.url)
  await old`update zaken_zaak set laatst_gemuteerd = '2024-01-01'`
  await old`insert into zaken_zaakrelatie (zaak_id, _gerelateerde_zaak_id) values (5, 6), (6, 5)`
  await round(test, source)
  const zaak = (n: number) => uuidOf(KIND.zaak, n)
  const pairs = (table: string) => sql<{ a: string; b: string }[]>`
    select a.uuid as a, b.uuid as b from ${sql(table)} r join zaak a on a.id = r.zaak_id join zaak b on b.id = r.andere_zaak_id
    order by 1, 2`
  t.equal((await pairs('zaak_gerelateerde_zaak')).length, 2)
  t.equal((await pairs('zaak_andere_zaak')).length, 1)
  // The other side of a new relation; what a cascade takes along, and what it sets to null.
  await old`delete from zaken_zaakrelatie`
  await old`insert into zaken_zaakrelatie (zaak_id, _gerelateerde_zaak_id) values (7, 8), (8, 7)`
  await old`update zaken_status set gezetdoor_id = null where gezetdoor_id = 9`
  await old`delete from zaken_natuurlijkpersoon where rol_id = 9`
  await old`delete from zaken_rol where id = 9`
  await deleteCase(old, 2) // case 1 names it
  const later = await round(test, source, { wijzigingen: true })
  t.equal((await later.state()).status, 'klaar')
  t.same(
    [...(await pairs('zaak_gerelateerde_zaak'))],
    [
      { a: zaak(7), b: zaak(8) },
      { a: zaak(8), b: zaak(7) },
    ],
  )
  t.equal((await pairs('zaak_andere_zaak')).length, 0)
  t.equal((await sql`select from rol where uuid = ${uuidOf(KIND.rol, 9)}`).length, 0)
  t.equal((await sql`select from status where uuid = ${uuidOf(KIND.status, 9)} and gezetdoor_id is null`).length, 1)
  const differences: string[] = []
  await checkTakeover(test.parts, later.takeover, {
    files: 0,
    report: ({ kind, code, field }) => differences.push(`${kind} ${code} ${field}`),
  })
  t.same(differences, [])
  t.notOk((await remarks(test)).some((line) => line.includes('telling-anders')))
  // What was read and is not here: the round says so. Nothing changed there, so nothing is written.
  await sql`delete from resultaat where uuid = ${uuidOf(KIND.resultaat, 6)}`
  await round(test, source, { wijzigingen: true })
  t.ok((await remarks(test)).includes('gemarkeerd resultaat telling-anders'))
})

t.test('a round that was cut short goes on where it was', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const given = {
    kind: 'open-zaak' as const,
    url: source.url,
    secret: source.url,
    trial: false,
    readOnly: true,
    settings: { oudeUrls: [OLD], bestanden: source.files, bytes: 'kopieren' as const, naast: 2 },
  }
  const first = await beginRound(test.parts, given)
  // A crash: the jobs of the first phase were done, and the process that held the snapshot is gone.
  await test.database.sql`update _private_jobs set run_at = now() + interval '1 hour'`
  await first.release()
  const second = await beginRound(test.parts, given)
  t.ok(second.resumed)
  t.equal(second.takeover.round, 1)
  await test.database.sql`update _private_jobs set run_at = now()`
  for (let i = 0; i < 50 && (await second.state()).status === 'loopt'; i++) await test.runJobs()
  await second.release()
  t.equal((await second.state()).status, 'klaar')
  const [zaken] = await test.database.sql<{ n: number }[]>`select count(*) as n from zaak`
  t.equal(zaken!.n, ZAKEN)
})

t.test('a step that two workers come to at once is done once', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const begun = await beginRound(test.parts, {
    kind: 'open-zaak',
    url: source.url,
    secret: source.url,
    trial: false,
    readOnly: true,
    settings: { oudeUrls: [OLD], bestanden: source.files, bytes: 'laten', naast: 1 },
  })
  const runners = [portionRunner(test.parts), portionRunner(test.parts)]
  const steps = await test.database.sql<{ id: number; name: string }[]>`select id, name from takeover_step order by id`
  for (const { id } of steps) await Promise.all(runners.map((runner) => runner.runStep(id)))
  for (const runner of runners) await runner.close()
  await begun.release()
  for (const { name, seen: readBack, expected } of await progressOf(test.database, await begun.state()))
    if (name === 'zaak') t.same({ seen: readBack, expected }, { seen: ZAKEN, expected: ZAKEN })
  const [rows] = await test.database.sql`select seen from takeover_step where name = 'zaak'`
  t.same(rows, { seen: ZAKEN })
})

t.test(
  'a step that fails again and again stops the round, says no values, and goes on when it is asked to',
  async (t) => {
    const test = await testApp(t)
    const source = await givenOpenZaak(t)
    const { sql } = test.database
    const given = {
      ...{ kind: 'open-zaak' as const, url: source.url, secret: source.url, trial: false, readOnly: true },
      settings: { oudeUrls: [OLD], bestanden: source.files, bytes: 'kopieren' as const, naast: 2 },
    }
    const first = await beginRound(test.parts, given)
    await source.old`alter table zaken_rol rename to weg`
    for (let i = 0; i < 40 && (await first.state()).status === 'loopt'; i++) {
      await sql`update _private_jobs set run_at = now() where run_at > now()`
      await test.runJobs()
    }
    await first.release()
    t.equal((await first.state()).status, 'gestopt')
    const rol = (await progressOf(test.database, await first.state())).find(({ name }) => name === 'rol')
    t.match(rol, { klaar: false, fault: 'PostgresError 42P01' })
    const errors = await sql<{ last_error: string }[]>`
    select last_error from _private_jobs where last_error is not null`
    t.match(errors, [{ last_error: 'PostgresError 42P01' }])
    await source.old`alter table weg rename to zaken_rol`
    const second = await beginRound(test.parts, given)
    t.ok(second.resumed)
    for (let i = 0; i < 50 && (await second.state()).status === 'loopt'; i++) await test.runJobs()
    await second.release()
    t.equal((await second.state()).status, 'klaar')
    const [rows] = await sql<{ n: number }[]>`select count(*) as n from rol`
    t.equal(rows!.n, ZAKEN)
  },
)

t.test(
  'a source that is away is waited for, with the reason and the next attempt, and no attempt counts',
  async (t) => {
    const test = await testApp(t)
    const source = await givenOpenZaak(t)
    const { sql } = test.database
    const begun = await beginRound(test.parts, {
      ...{ kind: 'open-zaak', url: source.url, secret: source.url, trial: false, readOnly: true },
      settings: { oudeUrls: [OLD], bestanden: source.files, bytes: 'kopieren', naast: 2 },
    })
    const name = new URL(source.url).pathname.slice(1)
    await begun.release()
    await source.old.end()
    await sql`alter database ${sql(name)} allow_connections false`
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    for (let i = 0; i < 10; i++) {
      await sql`update _private_jobs set run_at = now() where run_at > now()`
      await test.runJobs()
    }
    const steps = await sql<{ fault: string; until: number }[]>`
    select fault, extract(epoch from retry_at - now())::float8 as until from takeover_step where fault is not null`
    t.ok(steps.length > 0)
    for (const { fault, until } of steps) {
      t.equal(fault, 'SourceUnavailable 55000')
      t.ok(until > 0 && until <= 15)
    }
    t.match(reasonOf(steps[0]!.fault, 'nl'), 'de database van de bron is er niet')
    const [{ most } = { most: 0 }] = await sql<{ most: number }[]>`select max(attempts) as most from _private_jobs`
    t.ok(most <= 1)
    await sql`alter database ${sql(name)} allow_connections true`
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) {
      await sql`update _private_jobs set run_at = now() where run_at > now()`
      await test.runJobs()
    }
    t.equal((await begun.state()).status, 'klaar')
    t.equal((await sql`select from takeover_step where fault is not null or retry_at is not null`).length, 0)
  },
)

t.test('a comparison waits for the source too, and keeps what it found when it is stopped', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const begun = await round(test, source)
  await test.database.sql`update zaak set omschrijving = 'anders' where uuid = ${uuidOf(KIND.zaak, 1)}`
  await rename(source.files, `${source.files}-weg`)
  const check = (waiting: () => unknown, signal?: AbortSignal) =>
    checkTakeover(test.parts, begun.takeover, { files: 100, waiting, ...(signal && { signal }) })
  const stop = new AbortController()
  await t.rejects(
    check(() => stop.abort(), stop.signal),
    { name: 'AbortError' },
  )
  t.ok((await remarks(test)).includes('verschil zaak verschilt'))
  await rename(`${source.files}-weg`, source.files)
  let asked = 0
  const said: unknown[] = []
  const work = async () => {
    if (++asked < 3) throw new SourceUnavailable('ECONNREFUSED')
    return 'there'
  }
  t.equal(await untilThere(work, (reason, until) => said.push(reason, until instanceof Date), undefined, 0.01), 'there')
  t.same(said, ['ECONNREFUSED', true, 'ECONNREFUSED', true])
})

t.test('a dry run gives the report and keeps nothing', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  await source.old`update zaken_zaak set archiefstatus = 'onzin' where identificatie_ptr_id = 11`
  const dry = await round(test, source, { trial: true })
  t.equal((await dry.state()).status, 'klaar')
  t.equal(await test.database.sql.begin((sql) => switchOver(sql, dry.takeover)), undefined, 'it is not switched to')
  t.equal((await dry.state()).status, 'klaar')
  t.ok((await remarks(test)).some((line) => line === 'geweigerd zaak regel'))
  for (const table of ['zaak', 'zaaktype', 'enkelvoudiginformatieobject', 'takeover_object', 'file']) {
    const [row] = await test.database.sql<{ n: number }[]>`select count(*) as n from ${test.database.sql(table)}`
    t.equal(row!.n, 0, table)
  }
  const schemas = await test.database.sql`select from pg_namespace where nspname like 'takeover_proef%'`
  t.equal(schemas.length, 0)
})

t.test(
  'until the switch what was taken over is read-only and silent; then it can change, from a clean outbox',
  async (t) => {
    const test = await testApp(t)
    const source = await givenOpenZaak(t)
    const taken = await round(test, source)
    const messages = async () => (await test.database.sql<{ n: number }[]>`select count(*) as n from notificatie`)[0]!.n
    t.equal(await messages(), 0)
    const change = () =>
      test.call(
        'PATCH',
        `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`,
        { omschrijving: 'hier' },
        {
          headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
        },
      )
    t.match(await change(), { status: 409, body: { code: 'overneming-alleen-lezen' } })
    const zaak = {
      zaaktype: `${BASE}/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 1)}`,
      ...{ bronorganisatie: RSIN, verantwoordelijkeOrganisatie: RSIN, startdatum: '2024-01-01' },
    }
    const crs = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }
    const document = `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, 1)}`
    for (const [path, body] of [
      ['/zaken/api/v1/zaken', zaak],
      ['/zaken/api/v1/zaaknummer_reserveren', { bronorganisatie: RSIN }],
      ['/documenten/api/v1/documentnummer_reserveren', { bronorganisatie: RSIN }],
      [`${document}/lock`, {}],
      ['/catalogi/api/v1/catalogussen', { domein: 'NIEUW', rsin: RSIN, contactpersoonBeheerNaam: 'X' }],
    ] as const)
      t.match(
        await test.call('POST', path, body, crs),
        { status: 409, body: { code: 'overneming-alleen-lezen' } },
        path,
      )
    await round(test, source, { readOnly: false })
    t.equal((await change()).status, 200)
    t.match((await test.call('POST', `${document}/lock`, {}, crs)).status, 200)
    t.equal(await messages(), 0)
    t.type(await test.database.sql.begin((sql) => switchOver(sql, taken.takeover)), 'number')
    t.equal(await test.database.sql.begin((sql) => switchOver(sql, taken.takeover)), undefined, 'once')
    t.equal(await messages(), 0)
    t.equal((await change()).status, 200)
    t.equal(await messages(), 1)
    await t.rejects(round(test, source), { name: 'SwitchedAlready' }, 'what is done here since is not undone')
    t.equal((await change()).status, 200)
  },
)

t.test(
  'numbers are right before the first row is there: above all of the source, of each year, reserved ones included',
  async (t) => {
    const test = await testApp(t)
    const { sql } = test.database
    const source = await givenOpenZaak(t)
    await source.old`insert into zaken_zaakidentificatie (id, identificatie, bronorganisatie) values (999, 'ZAAK-2023-0000000500', ${RSIN})`
    const begun = await beginRound(test.parts, {
      ...{ kind: 'open-zaak', url: source.url, secret: source.url, trial: false, readOnly: false },
      settings: { oudeUrls: [OLD], bestanden: source.files, bytes: 'kopieren', naast: 2 },
    })
    const next = async (day: string, way: string) =>
      (await sql<{ nummer: string }[]>`select zaak_identificatie(${day}::date, ${way}, ${day}::date) as nummer`)[0]!
        .nummer
    t.equal(await next('2026-01-01', 'use-start-datum-year'), 'ZAAK-2026-0000000501')
    t.equal(await next('2023-01-01', 'use-number-per-year'), 'ZAAK-2023-0000000502')
    t.equal(await next('2024-01-01', 'use-number-per-year'), `ZAAK-2024-${String(ZAKEN + 3).padStart(10, '0')}`)
    t.equal(await next('2026-01-01', 'use-number-per-year'), 'ZAAK-2026-0000000001')
    const steps = await sql<{ name: string }[]>`select name from takeover_step order by phase, place limit 2`
    t.same(
      steps.map(({ name }) => name),
      ['catalogus', 'reservering'],
    )
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
    await begun.release()
    const [reserved] = await sql<{ n: number }[]>`select count(*) as n from reserved_zaaknummer`
    t.equal(reserved!.n, 1)
    t.ok((await remarks(test)).includes('gemarkeerd overneming nummer-per-jaar'), 'as the source does')
    const [setting] = await sql<
      { value: string }[]
    >`select value from setting where name = 'ZAAK_IDENTIFICATIE_GENERATOR'`
    t.equal(setting?.value, 'use-number-per-year')
  },
)

t.test('only what somebody confirmed is an old address; the others are counted, with where they stand', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: 'https://nieuw.example' })
  const source = await givenOpenZaak(t)
  await source.old`insert into django_site (id, domain, name) values (2, 'example.com', 'example.com')`
  const products = ['http://example.com/product/1', 'http://elders.example/product/1', `${OLD}/product/1`]
  await source.old`update zaken_zaak set producten_of_diensten = ${products} where identificatie_ptr_id <= 3`
  await source.old`
    update zaken_rol set betrokkene = 'http://tweede.example/path/zaken/api/v1/x' where id = 1`
  for (const trial of [true, false]) {
    await round(test, source, { trial })
    const counted = await test.database.sql<{ regel: string }[]>`
      select concat_ws(' ', key, code, field, substring(text from '\\d+ keer')) as regel from takeover_remark
      where kind = 'adres' and field !~ '^(audit|applicatie|zaaktype)'
        and takeover_id = (select id from takeover where trial = ${trial}) order by 1`
    t.same(
      counted.map(({ regel }) => regel),
      [
        'example.com adres-onbevestigd zaak producten_of_diensten 3 keer',
        'oud.example adres-oud zaak producten_of_diensten 3 keer',
        'tweede.example/path adres-onbevestigd rol betrokkene 1 keer',
      ],
    )
  }
  const { body } = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`, undefined, {
    headers: { 'accept-crs': 'EPSG:4326' },
  })
  t.same(body.productenOfDiensten, [...products.slice(0, 2), 'https://nieuw.example/product/1'])
})

t.test('keys of the audit trail are shown as the old API showed them, however deep', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const stored = {
    object_data: { drie_vier: [{ een_twee_drie: 1 }], _een_twee: 2 },
    inp_a_nummer: '3',
    adres_buitenland_1: '4',
    gelijk: { A_b: 'waarde_blijft' },
  }
  await source.old`update audittrails_audittrail set nieuw = ${source.old.json(stored)} where id = 1`
  await round(test, source)
  const trail = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}/audittrail`)
  t.same(trail.body[0].wijzigingen.nieuw, {
    objectData: { drieVier: [{ eenTweeDrie: 1 }], _eenTwee: 2 },
    inpA_nummer: '3',
    adresBuitenland_1: '4',
    gelijk: { A_b: 'waarde_blijft' },
  })
})

for (const version of VERSIONS)
  t.test(
    `Open Zaak ${version} comes over in a round, a round of changes and a whole one, and nothing differs`,
    async (t) => {
      const test = await testApp(t)
      const { url } = await emptyDatabase(t)
      await fillOpenZaak(url, { zaken: 4, documents: 2, version })
      await fillOtherKinds(url)
      const source = { url, files: '/nergens' }
      for (const wijzigingen of [false, true, false]) {
        const done = await round(test, source, { bytes: 'laten', wijzigingen })
        t.equal((await done.state()).status, 'klaar')
        t.same(
          (await progressOf(test.database, done.takeover)).filter(
            ({ name, refused, fault }) => (refused > 0 && name !== 'bestanden') || fault,
          ),
          [],
        )
        const differences: string[] = []
        await checkTakeover(test.parts, done.takeover, {
          files: 0,
          report: ({ kind, code, field }) => differences.push(`${kind} ${code} ${field}`),
        })
        t.same(
          differences.filter((line) => !line.startsWith('bestand')),
          [],
        )
      }
    },
  )

t.test('an older Open Zaak lacks tables and columns, and comes over with what it has', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  await source.old.unsafe(`
    drop table zaken_zaakrelatie, zaken_zaaknotitie, zaken_substatus, autorisaties_catalogusautorisatie,
      documenten_reserveddocument, catalogi_resultaattype_besluittypen, catalogi_resultaattype_informatieobjecttypen,
      catalogi_checklistitem, documenten_verzending cascade;
    alter table zaken_zaak drop laatst_gemuteerd, drop laatst_geopend, drop communicatiekanaal_naam,
      drop opschorting_eerdere_opschorting, drop processobjectaard, drop startdatum_bewaartermijn,
      drop _zaaktype_base_url_id, drop _zaaktype_relative_url;
    alter table zaken_rol drop contactpersoon_rol_naam, drop authenticatie_context, drop begin_geldigheid, drop einde_geldigheid;
    alter table zaken_status drop gezetdoor_id;
    alter table zaken_zaakinformatieobject drop status_id, drop vernietigingsdatum;
    alter table zaken_zaakcontactmoment drop _objectcontactmoment;
    alter table documenten_enkelvoudiginformatieobject drop verschijningsvorm, drop trefwoorden,
      drop _informatieobjecttype_base_url_id, drop _informatieobjecttype_relative_url;
    alter table catalogi_eigenschap drop statustype_id;
    alter table catalogi_zaaktype drop identificatie, add identificatie bigint;
    update catalogi_zaaktype set identificatie = id`)
  const done = await round(test, source)
  t.equal((await done.state()).status, 'klaar')
  t.same(
    (await progressOf(test.database, done.takeover)).filter(({ refused }) => refused > 0),
    [],
  )
  const zaak = await test.call('GET', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`, undefined, {
    headers: { 'accept-crs': 'EPSG:4326' },
  })
  t.match(zaak.body, { identificatie: 'ZAAK-2024-0000000001', laatstGemuteerd: '2024-01-02T00:00:00Z', status: String })
  const zaaktype = await test.call('GET', `/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 1)}`)
  t.match(zaaktype.body, { identificatie: '1' })
})

t.test('what another service mirrors of a relation stays known, so that it is removed there too', async (t) => {
  const test = await testApp(t)
  const source = await givenOpenZaak(t)
  const elders = 'http://elders.example/contactmomenten/api/v1'
  const uuid = '77777777-0000-4000-8000-000000000001'
  await source.old`
    insert into zaken_zaakcontactmoment (id, uuid, contactmoment, _objectcontactmoment, zaak_id)
    values (1, ${uuid}, ${`${elders}/contactmomenten/1`}, ${`${elders}/objectcontactmomenten/9`}, 1)`
  await round(test, source)
  await round(test, source)
  const mirrors = () => test.database.sql`select kind, source_table, source_uuid, list_url, url, content from mirror`
  t.match(await mirrors(), [
    {
      kind: 'objectcontactmoment',
      source_table: 'zaakcontactmoment',
      source_uuid: uuid,
      list_url: `${elders}/objectcontactmomenten`,
      url: `${elders}/objectcontactmomenten/9`,
      content: { contactmoment: `${elders}/contactmomenten/1`, objectType: 'zaak' },
    },
  ])
  await test.database.sql`
    insert into reserved_documentnummer (bronorganisatie, identificatie) values (${RSIN}, 'DOCUMENT-2024-0000000900')`
  await test.database.sql`update enkelvoudiginformatieobject set duplicate = 1 where uuid = ${uuidOf(KIND.document, 1)}`
  const losses = await lossesOnWayBack(test.database)
  t.same(
    losses.map(({ wat, aantal }) => [wat, aantal]),
    [
      ['Geheimen van clients', 2],
      ['Rechten op een hele catalogus', 1],
      ['Client-ids bij meer dan een applicatie', 1],
      ['Gereserveerde nummers', 1],
      ['Dubbele identificaties', 1],
      ['Spiegels van relaties bij andere diensten', 1],
    ],
  )
  await source.old`delete from zaken_zaakcontactmoment`
  await round(test, source)
  t.same(await mirrors(), [])
})

t.test('geometry is read as PostGIS stores it, whatever its kind', async (t) => {
  t.same(fromEwkb('0101000020E6100000CDCCCCCCCCCC13403333333333334A40'), { type: 'Point', coordinates: [4.95, 52.4] })
  t.same(
    fromEwkb(
      '0107000020E6100000010000000102000000020000000000000000001440000000000000' +
        '4A40666666666666144066666666660E4A40',
    ),
    {
      type: 'GeometryCollection',
      geometries: [
        {
          type: 'LineString',
          coordinates: [
            [5, 52],
            [5.1, 52.1125],
          ],
        },
      ],
    },
  )
})
