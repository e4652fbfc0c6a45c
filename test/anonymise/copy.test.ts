// An anonymised copy is made of what the conformance test makes, with words and numbers in it that must not come through.
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { copyAnonymised } from '../../src/anonymise/copy.ts'
import { openReplacements } from '../../src/anonymise/replacements.ts'
import { openTestNumbers } from '../../src/anonymise/test-numbers.ts'
import { ensureBootstrapClient } from '../../src/autorisaties/clients.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { openDatabase } from '../../src/database/database.ts'
import { passesElfproef } from '../../src/http/formats.ts'
import { SECRET, type TestApp, testApp } from '../app.ts'
import { auditRecords, storedAuditTexts } from '../audit-records.ts'
import { besluiten } from '../conformance/besluiten.ts'
import { documenten } from '../conformance/documenten.ts'
import type { Line } from '../conformance/line.ts'
import { zaken } from '../conformance/zaken.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'
import { CRS, ZAKEN } from '../zaken/given.ts'

const BSN = '123456782'
const WORD = 'Geheimzinnig'

async function directory(t: Test): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'zaakstroom-copy-'))
  t.teardown(() => rm(made, { recursive: true, force: true }))
  return join(made, 'documenten')
}

/** One of everything, and two cases of one person with what must not come through at each place for it. */
async function givenData(test: TestApp): Promise<{ zaak: string }> {
  const made: Record<string, string> = {}
  for (const line of [...zaken, ...documenten, ...besluiten] as Line[]) {
    const body = await line.given(test)
    const answer = await test.call('POST', line.at?.(body) ?? line.path, body, { headers: line.headers ?? {} })
    made[line.resource] ??= answer.body?.url
  }
  const rol = (await test.call('GET', made.rol!)).body
  const { zaak, roltype } = rol
  await test.call(
    'PATCH',
    zaak,
    {
      omschrijving: `${WORD} van Jansen`,
      toelichting: `${WORD}, bel 0612345678`,
      kenmerken: [{ kenmerk: BSN, bron: WORD }],
      zaakgeometrie: { type: 'Point', coordinates: [5.123456, 52.654321] },
    },
    CRS,
  )
  const persoon = {
    inpBsn: BSN,
    inpA_nummer: '1234567890',
    geslachtsnaam: WORD,
    voornamen: WORD,
    geboortedatum: '1980-07-09',
    verblijfsadres: {
      aoaIdentificatie: '0363200000123456',
      wplWoonplaatsNaam: WORD,
      gorOpenbareRuimteNaam: WORD,
      aoaPostcode: '1234AB',
      aoaHuisnummer: 77,
    },
  }
  for (const body of [
    {
      zaak,
      roltype,
      betrokkeneType: 'natuurlijk_persoon',
      betrokkeneIdentificatie: persoon,
      indicatieMachtiging: 'gemachtigde',
      roltoelichting: WORD,
      contactpersoonRol: { naam: WORD, emailadres: 'geheim@geheimzinnig.nl', telefoonnummer: '0612345678' },
      authenticatieContext: {
        source: 'digid',
        levelOfAssurance: 'urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract',
        representee: { identifierType: 'bsn', identifier: BSN },
        mandate: { services: [{ id: 'x' }] },
      },
    },
  ])
    assertMade(await test.call('POST', `${ZAKEN}/rollen`, body))
  assertMade(
    await test.call('POST', `${ZAKEN}/zaakobjecten`, {
      zaak,
      objectType: 'natuurlijk_persoon',
      objectIdentificatie: persoon,
      relatieomschrijving: WORD,
    }),
  )
  assertMade(
    await test.call('POST', `${ZAKEN}/zaakobjecten`, {
      zaak,
      objectType: 'overige',
      objectTypeOverige: 'iets',
      objectIdentificatie: { overigeData: { bsn: Number(BSN), naam: WORD, lijst: [WORD, { diep: BSN }] } },
    }),
  )
  return { zaak }
}

function assertMade({ status, text }: { status: number; text: string }): void {
  if (status !== 201) throw new Error(`${status} ${text}`)
}

const sourceOf = ({ databaseUrl: url, parts }: TestApp) => ({ url, numbers: parts.box.numbers })

const tables = (sql: TestApp['database']['sql']) => sql<{ name: string }[]>`
  select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`

t.test('a copy has nothing of a person, and everything else', async (t) => {
  const test = await testApp(t)
  const { zaak } = await givenData(test)
  const to = (await emptyDatabase(t)).url
  const files = await directory(t)
  const report = await copyAnonymised(sourceOf(test), to, files, () => {})

  const copy = openDatabase(to, { max: 3, name: 'test' })
  t.teardown(() => copy.close())
  const forbidden = [BSN, WORD, '0612345678', '1234567890', '0363200000123456', '5.123456', '1980-07-09', '1234AB']
  for (const { name } of await tables(copy.sql)) {
    const rows = await copy.sql.unsafe<{ row: string }[]>(`select t::text as row from "${name}" t`)
    const text = rows.map(({ row }) => row).join('\n') + (name === 'audit' ? await storedAuditTexts(copy) : '')
    for (const word of forbidden) t.notOk(text.toLowerCase().includes(word.toLowerCase()), `${word} in ${name}`)
  }
  const count = async (sql: TestApp['database']['sql'], table: string) =>
    (await sql.unsafe<{ count: number }[]>(`select count(*)::integer as count from "${table}"`))[0]?.count
  for (const name of ['zaak', 'rol', 'zaakobject', 'enkelvoudiginformatieobject_versie', 'besluit'])
    t.equal(await count(copy.sql, name), await count(test.database.sql, name), `rows of ${name}`)
  t.strictSame(
    await copy.sql`select uuid, identificatie, startdatum, zaaktype_id, laatst_gemuteerd from zaak order by id`,
    await test.database
      .sql`select uuid, identificatie, startdatum, zaaktype_id, laatst_gemuteerd from zaak order by id`,
    'numbers, dates and relations stay',
  )
  for (const name of [
    'applicatie_secret',
    'abonnement',
    'service',
    'data_key',
    'beheer_account',
    'delivery',
    'idempotency_key',
  ])
    t.equal(await count(copy.sql, name), 0, `nothing in ${name}`)
  t.equal(
    (await copy.sql`select 1 from pg_constraint where contype = 'f'`).length,
    (await test.database.sql`select 1 from pg_constraint where contype = 'f'`).length,
    'with all references',
  )

  const numbers = await copy.sql<{ number: string }[]>`
    select betrokkene_identificatie ->> 'inpBsn' as number from rol where betrokkene_identificatie ->> 'inpBsn' <> ''
      and uuid = (select uuid from rol order by id desc limit 1)
    union all select authenticatie_context #>> '{representee,identifier}' from rol where authenticatie_context is not null
    union all select object_identificatie ->> 'inpBsn' from zaakobject where object_identificatie ->> 'inpBsn' <> ''
      and object_type = 'natuurlijk_persoon' and relatieomschrijving <> ''
    union all select object_identificatie #>> '{overigeData,bsn}' from zaakobject where object_type = 'overige' and object_type_overige <> ''
      and object_identificatie #>> '{overigeData,bsn}' is not null`
  const trail = await auditRecords(copy, copy.sql`resource = 'rol'`)
  const recorded = trail.filter(({ nieuw }) => nieuw?.authenticatieContext)
  const all = [...numbers, ...recorded.map(({ nieuw }) => ({ number: nieuw.betrokkeneIdentificatie.inpBsn }))]
  const [number] = all.map((row) => row.number)
  t.ok(recorded.length >= 1 && all.length >= 5, 'the person is found at all places')
  t.strictSame([...new Set(all.map((row) => row.number))], [number], 'with one number at all of them')
  t.match(number, /^9999\d{5}$/, 'of those for testing')
  t.ok(passesElfproef(number!), 'that passes the elfproef')

  const rolReport = report.tables.find(({ name }) => name === 'rol')
  t.match(rolReport, { replaced: { betrokkene_identificatie: Number, contactpersoon_rol: Number } })
  t.ok((report.leftOut.applicatie_secret ?? '').length > 10, 'the report says why a table is not there')

  const box = secretBox('another key, of the copy alone')
  await ensureBootstrapClient(copy, box, { id: 'beheer', secret: SECRET })
  const other = await testApp(t, {
    DATABASE_URL: to,
    SECRET_KEY: 'another key, of the copy alone',
    DOCUMENTEN_DIR: files,
  })
  const found = await other.call(
    'POST',
    `${ZAKEN}/zaken/_zoek`,
    {
      rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: number,
    },
    CRS,
  )
  t.equal(found.body.results?.[0]?.url, zaak, `the case is found by the new number ${found.text.slice(0, 300)}`)
  t.match(found.body.results?.[0], { zaakgeometrie: { type: 'Point' }, kenmerken: [{ kenmerk: number }] })
  const documents = (await other.call('GET', '/documenten/api/v1/enkelvoudiginformatieobjecten')).body
  const document = documents.results.find((one: { inhoud: string | null }) => one.inhoud)
  const bytes = await other.call('GET', document.inhoud)
  t.equal(bytes.status, 200, 'bytes of a document are there')
  t.equal(Buffer.byteLength(bytes.text), document.bestandsomvang, 'as many as it says')
  t.equal((await other.call('GET', '/readyz')).status, 200, 'the program runs on it')
  const made = await other.call('GET', zaak, undefined, CRS)
  const changed = await other.call('PATCH', zaak, { omschrijving: 'Gaat verder' }, CRS)
  t.equal(changed.status, 200, changed.text.slice(0, 300))
  t.equal(made.body.startdatum, changed.body.startdatum)
  const [versie] = await copy.sql<{ wrong: number }[]>`
    select count(*)::integer as wrong from enkelvoudiginformatieobject_versie v join file f on f.id = v.file_id
    where v.bestandsomvang <> f.size`
  t.equal(versie?.wrong, 0, 'a document and its bytes say the same size')
})

t.test('the source is refused as a target, by whatever address, and so is a database with rows', async (t) => {
  const test = await testApp(t)
  const same = new URL(test.databaseUrl)
  same.searchParams.set('application_name', 'elsewhere')
  const before = await test.database.sql`select * from applicatie`
  for (const to of [test.databaseUrl, same.href])
    await t.rejects(
      copyAnonymised(sourceOf(test), to, undefined, () => {}),
      /the source itself/,
    )
  t.strictSame(await test.database.sql`select * from applicatie`, before)

  const filled = await testApp(t)
  await t.rejects(
    copyAnonymised(sourceOf(test), filled.databaseUrl, undefined, () => {}),
    /rows in table applicatie/,
  )
  const migrated = (await testDatabase(t)).url
  const report = await copyAnonymised(sourceOf(test), migrated, undefined, () => {})
  t.equal(report.tables.find(({ name }) => name === 'applicatie')?.rows, 1, 'a schema without rows is taken')
  await t.rejects(
    copyAnonymised(sourceOf(test), migrated, undefined, () => {}),
    /rows in table applicatie/,
    'once',
  )
})

t.test('a directory with files in it is refused, and documents without one', async (t) => {
  const test = await testApp(t)
  for (const line of documenten.slice(0, 1)) await test.call('POST', line.path, await line.given(test))
  const to = (await emptyDatabase(t)).url
  await t.rejects(
    copyAnonymised(sourceOf(test), to, undefined, () => {}),
    /--files names a directory/,
  )
  await t.rejects(
    copyAnonymised(sourceOf(test), to, import.meta.dirname, () => {}),
    /--files is not empty/,
  )
  const sql = openDatabase(to, { max: 1, name: 'test' })
  t.teardown(() => sql.close())
  t.equal((await tables(sql.sql)).length, 0, 'and nothing was written')
})

t.test('two persons do not get one number, and one person has one', async (t) => {
  const numbers = openTestNumbers((text) => Number(text) * 7)
  const given = new Map<string, string>()
  let number = 100_000_000
  while (given.size < 20_000)
    if (passesElfproef(String(++number))) given.set(String(number), numbers.of(String(number)))
  t.equal(new Set(given.values()).size, given.size)
  for (const [text, replaced] of given) if (numbers.of(text) !== replaced) t.fail(`${text} changed`)
  t.ok(
    [...given.values()].every((text) => /^9\d{8}$/.test(text) && passesElfproef(text)),
    'all for testing',
  )
})

t.test('a replacement has the shape of its value, and is the same for the same key alone', async (t) => {
  const none = () => null
  const one = openReplacements(Buffer.alloc(32, 1), new Set(['rood']))
  const two = openReplacements(Buffer.alloc(32, 2), new Set())
  for (const text of ['Jan', 'Een zin van enige lengte, met leestekens.', 'x'.repeat(5000)]) {
    const made = String(one.text(text, none))
    t.ok(made.length <= text.length && made.length > 0, 'a text is at most as long')
    t.equal(made, openReplacements(Buffer.alloc(32, 1), new Set()).text(text, none))
    if (text.length > 5) t.not(made, two.text(text, none))
  }
  t.match(one.code('AB-2026/001', none), /^[A-Z]{2}-\d{4}\/\d{3}$/)
  t.match(one.email('jan@example.nl', none), /^p[0-9a-f]{12}@example\.org$/)
  t.match(one.file('Brief Jansen.PDF', none), /^[a-z-]+\.PDF$/)
  t.match(
    one.url('https://brp.example/personen/123456782?bsn=1', none),
    /^https:\/\/brp\.example\/personen\/9999\d{5}$/,
  )
  t.match(one.detail({ geboortedatum: '1980-07-09' }, none), { geboortedatum: /^1980-\d\d-\d\d$/ })
  t.match(one.detail({ inpA_nummer: '1234567890' }, none), { inpA_nummer: /^[1-9]\d{9}$/ })
  t.equal(one.property('rood', none), 'rood', 'a value that is chosen from a list')
  t.equal(one.property('20260301', none), '20260301', 'a date')
  t.equal(one.identificatie('ZAAK-2026-0000000001', none), 'ZAAK-2026-0000000001')
  t.not(one.identificatie('Z-123456782', none), 'Z-123456782', 'a number with a BSN in it')
  const polygon = {
    type: 'Polygon',
    coordinates: [
      [
        [5, 52],
        [5.1, 52],
        [5.1, 52.1],
        [5, 52],
      ],
    ],
  }
  const moved = one.geometry(polygon, none) as unknown as typeof polygon
  t.strictSame(moved.coordinates[0]?.[0], moved.coordinates[0]?.[3], 'a polygon is closed')
  t.notSame(moved, polygon)
})

t.test('bytes are one file for all of a size, and take no room', async (t) => {
  const { openPlaceholders } = await import('../../src/anonymise/placeholders.ts')
  const files = await directory(t)
  const placeholders = await openPlaceholders(files)
  const columns = ['id', 'backend', 'key', 'size', 'sha256', 'created_at'].map((name) => ({ name, replaced: 0 }))
  const made: (string | null)[][] = []
  for (let n = 0; n < 3; n++) {
    const cells = [String(n), 's3_storage', 'a', '70000000', 'x', '2026-01-01 00:00:00+00']
    await placeholders.place(cells, columns)
    made.push(cells)
  }
  const places = await Promise.all(made.map((cells) => stat(join(files, cells[2]!))))
  t.equal(places[0]?.size, 2 ** 26)
  t.equal(made[0]?.[3], String(2 ** 26))
  t.equal(places[0]?.nlink, 3)
  t.ok(places[0]!.blocks * 512 < 100_000, 'mostly a hole')
})
