import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import yauzl from 'yauzl'
import { ZipFile } from 'yazl'
import { exportCatalogus, exportZaaktype } from '../../src/catalogi/package/export.ts'
import { CatalogusExists, type ImportOptions, importPackage, typeKey } from '../../src/catalogi/package/import.ts'
import { readPackage } from '../../src/catalogi/package/read.ts'
import { openSelectielijst } from '../../src/catalogi/selectielijst.ts'
import { systemActor } from '../../src/core/access.ts'
import { BASE, givenCatalogus, type TestApp, testApp, uuidOf } from '../app.ts'
import { programEnv } from '../program-env.ts'
import {
  besluittypeBody,
  eigenschapBody,
  iotBody,
  post,
  publish,
  resultaattypeBody,
  ZTC,
  zaaktypeBody,
  ziotBody,
} from './catalogi.ts'

const ZTC_ELSEWHERE = 'https://oud.example/catalogi/api/v1/'
const test = await testApp(t)

/** A catalogue with one of everything, and zaaktypen that refer to each other; its URL and that of a zaaktype. */
async function givenFilled({ on = test } = {}) {
  const catalogus = await givenCatalogus(on)
  const iot = await post(on, 'informatieobjecttypen', iotBody(catalogus))
  const besluittype = await post(on, 'besluittypen', { ...besluittypeBody(catalogus), informatieobjecttypen: [iot] })
  const deel = await post(on, 'zaaktypen', { ...zaaktypeBody(catalogus), identificatie: 'DEEL' })
  const zaaktype = await post(on, 'zaaktypen', {
    ...zaaktypeBody(catalogus),
    besluittypen: [besluittype],
    deelzaaktypen: [deel],
    gerelateerdeZaaktypen: [{ zaaktype: deel, aardRelatie: 'vervolg', toelichting: 't' }],
    trefwoorden: ['a'],
    broncatalogus: { url: '', domein: 'BRON', rsin: '' },
    bronzaaktype: { url: '', identificatie: 'B', omschrijving: 'o' },
  })
  await on.call('PATCH', deel, { gerelateerdeZaaktypen: [{ zaaktype, aardRelatie: 'bijdrage' }] })
  const checklistitemStatustype = [{ itemnaam: 'a', vraagstelling: 'b', verplicht: true, toelichting: 'c' }]
  const statustype = await post(on, 'statustypen', {
    zaaktype,
    omschrijving: 'S',
    volgnummer: 1,
    checklistitemStatustype,
  })
  await post(on, 'zaaktype-informatieobjecttypen', { ...ziotBody(zaaktype, iot), statustype })
  await post(on, 'resultaattypen', {
    ...resultaattypeBody(zaaktype),
    besluittypen: [besluittype],
    informatieobjecttypen: [iot],
  })
  await post(on, 'roltypen', { zaaktype, omschrijving: 'R', omschrijvingGeneriek: 'initiator' })
  await post(on, 'eigenschappen', { ...eigenschapBody(zaaktype), statustype })
  await post(on, 'zaakobjecttypen', {
    zaaktype,
    anderObjecttype: true,
    objecttype: 'https://o.example/1',
    relatieOmschrijving: 'o',
  })
  await publish(on, iot)
  return { catalogus, zaaktype }
}

const LISTS = [
  'informatieobjecttypen',
  'besluittypen',
  'zaaktypen',
  'statustypen',
  'zaaktype-informatieobjecttypen',
  'resultaattypen',
  'roltypen',
  'eigenschappen',
  'zaakobjecttypen',
]

/** Everything in a catalogue, without what an import may change: uuids (unless kept), and that all are concepts. */
async function contents(on: TestApp, catalogus: string, keepUuids: boolean): Promise<string[]> {
  const all: { catalogus: string }[] = [(await on.call('GET', catalogus)).body]
  for (const path of LISTS) {
    const { body } = await on.call('GET', `${ZTC}/${path}?status=alles&pageSize=500`)
    all.push(...body.results.filter((item: { catalogus: string }) => item.catalogus === catalogus))
  }
  const plain = JSON.stringify(all, (key, value) => (key === 'concept' ? undefined : value))
  const hidden = keepUuids ? plain : plain.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
  return JSON.parse(hidden)
    .map((item: object) => JSON.stringify(item))
    .sort()
}

t.test('the types of a catalogue go into another catalogue, where each can stay as it is', async (t) => {
  const { catalogus } = await givenFilled()
  const bytes = await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!)
  const doel = await givenCatalogus(test)
  const first = await importInto(test, bytes, { catalogusUuid: uuidOf(doel) })
  t.equal(first.made.catalogus, undefined)
  t.equal(first.made.zaaktype, 2)
  t.same(first.known, [])
  const before = await contents(test, doel, true)
  const again = (keepZaaktypen: Set<string>) => importInto(test, bytes, { catalogusUuid: uuidOf(doel), keepZaaktypen })
  const [some] = (await again(new Set())).known.filter(({ resource }) => resource === 'zaaktype')
  t.equal(some!.used, false, 'a zaaktype gets a next version unless it is kept')
  const kept = new Set((await again(new Set())).known.map(({ resource, key }) => typeKey(resource, key)))
  const stored = await contents(test, doel, true)
  t.not(stored.length, before.length)
  const nothing = await again(kept)
  t.same(nothing.made, {})
  t.same(await contents(test, doel, true), stored)
})

async function importInto(on: TestApp, bytes: Buffer, options: ImportOptions = {}) {
  const selectielijst = await openSelectielijst(on.config, on.parts.services, on.app.read)
  return importPackage(on.app.mutate, systemActor('test', BASE), selectielijst, await readPackage(bytes), options)
}

t.test('a catalogue that is exported and imported elsewhere is the same catalogue, all concepts', async (t) => {
  const { catalogus } = await givenFilled()
  const bytes = await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!)
  for (const keepUuids of [true, false]) {
    const other = await testApp(t)
    const imported = await importInto(other, bytes, { keepUuids })
    t.same(imported.made, {
      catalogus: 1,
      informatieobjecttype: 1,
      besluittype: 1,
      zaaktype: 2,
      statustype: 1,
      zaaktypeinformatieobjecttype: 1,
      resultaattype: 1,
      roltype: 1,
      eigenschap: 1,
      zaakobjecttype: 1,
    })
    t.same(imported.changes, [])
    t.equal(imported.urls[0] === catalogus, keepUuids)
    t.same(await contents(other, imported.urls[0]!, keepUuids), await contents(test, catalogus, keepUuids))
    const { body } = await other.call('GET', `${ZTC}/informatieobjecttypen?status=concept`)
    t.equal(body.count, 1, 'what was published arrives as concept')
    if (keepUuids) await t.rejects(importInto(other, bytes, { keepUuids }), /bestaat hier al met deze uuid/)
    else
      await t.rejects(importInto(other, bytes, { keepUuids }), { message: /Catalogus/, faults: [{ code: 'unique' }] })
  }
})

t.test('the ZIP has a JSON file per kind with names in snake_case', async (t) => {
  const { catalogus } = await givenFilled()
  const zip = await yauzl.fromBufferPromise(
    await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!),
    {
      lazyEntries: true,
    },
  )
  const files: Record<string, Record<string, unknown>[]> = {}
  for await (const entry of zip.eachEntry())
    files[entry.fileName] = JSON.parse(await text(await zip.openReadStreamPromise(entry)))
  t.same(Object.keys(files).sort(), [
    'BesluitType.json',
    'Catalogus.json',
    'Eigenschap.json',
    'InformatieObjectType.json',
    'ResultaatType.json',
    'RolType.json',
    'StatusType.json',
    'ZaakObjectType.json',
    'ZaakType.json',
    'ZaakTypeInformatieObjectType.json',
  ])
  t.match(files['ZaakType.json'], [{ begin_geldigheid: '2024-01-01', gerelateerde_zaaktypen: [{ aard_relatie: /./ }] }])
  t.match(files['StatusType.json'], [{ checklistitem_statustype: [{ itemnaam: 'a' }] }])
  t.match(files['BesluitType.json'], [{ zaaktypen: [] }])
})

t.test('a zaaktype goes into a catalogue that has its types already, or gets them', async (t) => {
  const { zaaktype } = await givenFilled()
  const bytes = await buffer((await exportZaaktype(test.app.read, BASE, uuidOf(zaaktype)))!)
  const doel = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(doel))
  await t.rejects(importInto(test, bytes), /catalogus/, 'into which catalogue must be said')
  const imported = await importInto(test, bytes, { catalogusUuid: uuidOf(doel), identificatiePrefix: 'KOPIE' })
  t.equal(imported.made.informatieobjecttype, undefined, 'the existing one is used')
  t.equal(imported.made.besluittype, 1)
  t.same(
    imported.changes.map(({ resource, label, field, taken }) => [resource, label, field, taken]),
    [
      ['informatieobjecttype', 'Brief', 'url', iot],
      ['zaaktype', 'MELDING', 'identificatie', 'KOPIE_MELDING'],
      ['zaaktype', 'MELDING', 'deelzaaktypen', null],
      ['zaaktype', 'MELDING', 'gerelateerdeZaaktypen', null],
    ],
    'what is not as in the file is told, object by object',
  )
  const made = (await test.call('GET', imported.urls[0]!)).body
  t.match(made, { catalogus: doel, identificatie: 'KOPIE_MELDING', informatieobjecttypen: [iot], concept: true })
  t.equal(made.besluittypeOmschrijving[0], 'Besluit')
  const again = await importInto(test, bytes, { catalogusUuid: uuidOf(doel), newTypes: true })
  t.equal(again.made.informatieobjecttype, 1)
})

t.test('a file of another service is taken over with terms of no length, and published', async (t) => {
  const { catalogus, zaaktype } = await givenFilled()
  const pack = await readPackage(await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!))
  const moved = JSON.parse(
    JSON.stringify([...pack]).replaceAll(`${BASE}/catalogi/api/v1/`, 'https://oud.example/catalogi/api/v1/'),
  ) as [string, (Record<string, unknown> & { brondatum_archiefprocedure: { procestermijn: string } })[]][]
  const items = Object.fromEntries(moved)
  for (const item of items.ZaakType!) item.servicenorm = 'P0D'
  const [resultaattype] = items.ResultaatType!
  resultaattype!.brondatum_archiefprocedure.procestermijn = 'P0D'
  resultaattype!.omschrijving_generiek = 'Afgebroken'
  items.RolType![0]!.kleur = 'groen'
  const other = await testApp(t)
  const selectielijst = await openSelectielijst(other.config, other.parts.services, other.app.read)
  const actor = systemActor('test', BASE)
  const imported = await importPackage(other.app.mutate, actor, selectielijst, new Map(moved) as never)
  t.same(
    imported.changes.map(({ label, field, given, taken }) => [label, field, given, taken]),
    [
      ['DEEL', 'servicenorm', 'P0D', null],
      ['MELDING', 'servicenorm', 'P0D', null],
      ['Toegekend', 'brondatumArchiefprocedure.procestermijn', 'P0D', null],
      ['R', 'kleur', 'groen', null],
    ],
  )
  for (const { url } of imported.changes) t.equal((await other.call('GET', url)).status, 200)
  const { results } = (await other.call('GET', `${ZTC}/resultaattypen?status=alles`)).body
  t.match(results, [{ omschrijvingGeneriek: 'Afgebroken', brondatumArchiefprocedure: { procestermijn: null } }])
  for (const path of ['informatieobjecttypen', 'besluittypen', 'zaaktypen'])
    for (const { url } of (await other.call('GET', `${ZTC}/${path}?status=concept`)).body.results)
      t.equal((await other.call('POST', `${url}/publish`)).status, 200)
  t.ok(zaaktype)
})

t.test('an import with a fault leaves nothing behind, and says what is wrong with what', async (t) => {
  const { zaaktype } = await givenFilled()
  const bytes = await buffer((await exportZaaktype(test.app.read, BASE, uuidOf(zaaktype)))!)
  const pack = await readPackage(bytes)
  pack.get('Eigenschap')![0]!.definitie = ''
  const doel = await givenCatalogus(test)
  const selectielijst = await openSelectielijst(test.config, test.parts.services, test.app.read)
  const options = { catalogusUuid: uuidOf(doel) }
  await t.rejects(importPackage(test.app.mutate, systemActor('test', BASE), selectielijst, pack, options), {
    message: /Eigenschap kenteken/,
    faults: [{ name: 'definitie', code: 'blank' }],
  })
  t.same((await test.call('GET', doel)).body.zaaktypen, [])
})

t.test('a catalogue that is there is refused by its name and uuid, and taken over under another', async (t) => {
  const { catalogus } = await givenFilled()
  const { domein, rsin } = (await test.call('GET', catalogus)).body
  const bytes = await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!)
  const count = async () => (await test.call('GET', `${ZTC}/catalogussen`)).body.count
  const before = await count()
  const error = await importInto(test, bytes).catch((error: unknown) => error)
  t.type(error, CatalogusExists)
  const { message, existing } = error as CatalogusExists
  t.match(existing, { domein, rsin, uuid: uuidOf(catalogus) })
  t.ok(message.includes(domein) && message.includes(uuidOf(catalogus)) && !message.includes('nonFieldErrors'), message)
  await t.rejects(importInto(test, bytes, { catalogusAs: { domein: 'klein', rsin } }), {
    message: /Catalogus klein/,
    faults: [{ name: 'domein' }],
  })
  t.equal(await count(), before)
  const { urls, changes } = await importInto(test, bytes, { catalogusAs: { domein: 'ANDER', rsin } })
  t.same(changes, [])
  t.match((await test.call('GET', urls[0]!)).body, { domein: 'ANDER', rsin, zaaktypen: { length: 2 } })
  await t.rejects(importInto(test, bytes, { catalogusAs: { domein: 'ANDER', rsin } }), /Catalogus ANDER .* is er al/)
})

async function zip(files: Record<string, string>): Promise<Buffer> {
  const file = new ZipFile()
  for (const [name, content] of Object.entries(files)) file.addBuffer(Buffer.from(content), name)
  file.end()
  return buffer(file.outputStream)
}

t.test('what is no export is refused with what was expected', async (t) => {
  await t.rejects(readPackage(Buffer.from('geen zip')), /geen ZIP/)
  await t.rejects(readPackage(await zip({ 'x.json': '[]' })), /verwacht: Catalogus.json.*gevonden: x.json/)
  const folders = { 'a/ZaakType.json': '[]', 'b/Catalogus.json': '[]' }
  await t.rejects(readPackage(await zip(folders)), /staan in meer dan een map/)
  await t.rejects(readPackage(await zip({ 'ZaakType.json': '{' })), /ZaakType.json is geen JSON/)
  await t.rejects(readPackage(await zip({ 'ZaakType.json': '[1]' })), /geen lijst/)
})

t.test('a ZIP that was packed again is read: with a folder around its files, and with backslashes', async (t) => {
  const { catalogus } = await givenFilled()
  const bytes = await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!)
  const expected = await readPackage(bytes)
  const files = Object.fromEntries([...expected].map(([name, items]) => [`${name}.json`, JSON.stringify(items)]))
  const below = (folder: string) =>
    Object.fromEntries(Object.entries(files).map(([name, json]) => [folder + name, json]))
  for (const folder of ['m/', 'een/map/']) t.same(await readPackage(await zip(below(folder))), expected, folder)
  const more = { ...below('m/'), '__MACOSX/m/Catalogus.json': 'x', 'm/._Catalogus.json': 'x', 'm/lees mij.txt': 'x' }
  t.same(await readPackage(await zip(more)), expected, 'what a system adds is not looked at')
  t.same(await readPackage(await zip({ ...files, 'oud/Catalogus.json': 'x' })), expected, 'those at the top count')
  const slashes = await zip(below('map/'))
  for (let at = slashes.indexOf('map/'); at !== -1; at = slashes.indexOf('map/', at)) slashes.write('map\\', at)
  t.same(await readPackage(slashes), expected, 'backslashes')
})

t.test('a ZIP costs no more than its bounds allow, and says which one it goes beyond', async (t) => {
  const MB = 1024 * 1024
  const read = async (content: string, files: Record<string, string> = {}) =>
    readPackage(await zip({ 'ZaakType.json': content, ...files }), MB)
  await t.rejects(read(`[${' '.repeat(2 * MB)}]`), /meer dan 1 MB aan JSON/)
  const half = `[${' '.repeat(0.6 * MB)}]`
  await t.rejects(read(half, { 'StatusType.json': half }), /meer dan 1 MB/, 'all files together')
  await t.rejects(read(`${'['.repeat(1000)}${']'.repeat(1000)}`), /niveaus/)
  await t.rejects(read(`[{"url":"x","a":[${'0,'.repeat(100_000)}0]}]`), /waarden/)
  await t.rejects(read(`[${Array.from({ length: 10_000 }, () => '{"url":""}').join()}]`), /onderdelen/)
  const wide = `[{"url":"x","a":"${'x'.repeat(MB)}"}]`
  await t.rejects(readPackage(await zip({ 'ZaakType.json': wide }), 2 * MB), /onderdeel van meer dan 1 MB/)
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n}${'x'.repeat(200)}.json`, '']))
  const refused = await readPackage(await zip(many)).catch((error: Error) => error)
  t.ok(refused instanceof Error && refused.message.length < 5000, 'not every name is repeated')
})

t.test('an address of the file that says little is no reason to change other texts', async (t) => {
  const { catalogus } = await givenFilled()
  const pack = await readPackage(await buffer((await exportCatalogus(test.app.read, BASE, uuidOf(catalogus)))!))
  const [zaaktype] = pack.get('ZaakType')!
  const text = JSON.stringify([...pack]).replaceAll(zaaktype!.url, `${ZTC_ELSEWHERE}zaaktypen/e`)
  const other = await testApp(t)
  const selectielijst = await openSelectielijst(other.config, other.parts.services, other.app.read)
  const imported = await importPackage(
    other.app.mutate,
    systemActor('test', BASE),
    selectielijst,
    new Map(JSON.parse(text)),
  )
  t.same(imported.changes, [])
  const { results } = (await other.call('GET', `${ZTC}/zaaktypen?status=alles`)).body
  t.same(results.map(({ identificatie }: { identificatie: string }) => identificatie).sort(), ['DEEL', 'MELDING'])
})

t.test('the command writes a file and takes it over', async (t) => {
  const { catalogus } = await givenFilled()
  const file = join(t.testdir({}), 'typen.zip')
  const other = await testApp(t)
  const run = (databaseUrl: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, ['src/main.ts', 'catalogus', ...args, '--json'], {
      env: programEnv({ DATABASE_URL: databaseUrl, SECRET_KEY: test.config.secretKey! }),
    })
  await run(test.databaseUrl, 'export', file, '--catalogus', uuidOf(catalogus))
  t.ok((await readFile(file)).length > 1000)
  const { stdout } = await run(other.databaseUrl, 'import', file)
  t.match(JSON.parse(stdout), { made: { catalogus: 1, zaaktype: 2 }, changes: [] })
  t.equal((await other.call('GET', `${ZTC}/zaaktypen?status=concept`)).body.count, 2)
  const { rsin } = (await test.call('GET', catalogus)).body
  await t.rejects(run(other.databaseUrl, 'import', file), /is er al, met uuid/)
  await run(other.databaseUrl, 'import', file, '--domein', 'ANDER', '--rsin', rsin)
  t.equal((await other.call('GET', `${ZTC}/catalogussen?domein=ANDER`)).body.count, 1)
  await t.rejects(run(other.databaseUrl, 'import', file, '--domein', 'ANDER'), { code: 64 })
  await t.rejects(run(other.databaseUrl, 'import', `${file}.weg`), { code: 64 })
  await t.rejects(run(other.databaseUrl, 'export', file, '--catalogus', 'x'), { code: 64 })
})
