// A thousand numbers of persons go through the service: into rollen, objects, representatives and combined operations, changed, deleted,
// repeated and refused. Afterwards the whole database, its write-ahead log, payloads of jobs, the log, metrics, traces, the spans of the
// log of processing and all files are searched for each of them, in every usual form: none is there. By the APIs each of them is found,
// before, during and after the keys were replaced.
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { readConfig } from '../src/config.ts'
import { systemActor } from '../src/core/access.ts'
import { agreeOnKey } from '../src/core/key-register.ts'
import { mutator } from '../src/core/mutate.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { migrate } from '../src/database/migrate.ts'
import { passesElfproef } from '../src/http/formats.ts'
import { keyRing } from '../src/lib/key-ring.ts'
import { numbersOf, WITHOUT_KEYS } from '../src/lib/numbers.ts'
import { openCollector } from '../src/operations/collector.ts'
import { exportPortion } from '../src/operations/export-verwerkingen.ts'
import { countSealed, resealPortion, startReseal } from '../src/operations/reseal.ts'
import { openLog } from '../src/telemetry/log.ts'
import { register } from '../src/telemetry/metrics.ts'
import { openTracing } from '../src/telemetry/tracing.ts'
import { givenZaaktype, testApp } from './app.ts'
import { storedAuditTexts } from './audit-records.ts'
import { ownServer } from './database/own-server.ts'
import { givenCollector, spansOf } from './telemetry/collector.ts'
import { until } from './until.ts'
import { givenZaak, made, ZAKEN, zaakBody } from './zaken/given.ts'

const COUNT = 1000
const NUMBERS: string[] = []
for (let n = 999_900_000; NUMBERS.length < COUNT; n++) if (passesElfproef(String(n))) NUMBERS.push(String(n))
const SECRET_KEY = 'key of the tests, long enough'

/** What stands for a number in a text, but for its digits. */
const otherForms = (number: string): string[] => [
  Buffer.from(number).toString('base64').replace(/=+$/, ''),
  Buffer.from(`"${number}"`).toString('base64').replace(/=+$/, ''),
  Buffer.from(number).toString('hex'),
  `${number.slice(0, 3)}.${number.slice(3, 6)}.${number.slice(6)}`,
  `${number.slice(0, 4)}.${number.slice(4, 6)}.${number.slice(6)}`,
  `${number.slice(0, 4)} ${number.slice(4, 6)} ${number.slice(6)}`,
  ...['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHash(name).update(number).digest('hex')),
  createHash('sha256').update(number).digest('base64').replace(/=+$/, ''),
]
/** The shortest of these. */
const HEAD = 11
/** By their first characters, so that one look at each place of a text is enough for all. */
const FORMS = Map.groupBy(NUMBERS.flatMap(otherForms), (form) => form.slice(0, HEAD))
const DIGITS = new Set([...NUMBERS, ...NUMBERS.map((number) => [...number].reverse().join(''))])

/** Those of the numbers that a text tells, with the form. */
function found(text: string): string[] {
  const all: string[] = []
  // By itself, and not as the last digits of a sum of seconds in the metrics.
  for (const [digits] of text.matchAll(/(?<![\d.])\d{9}(?!\d)/g)) if (DIGITS.has(digits)) all.push(digits)
  for (const [run] of text.matchAll(/[\w+/=. -]{11,}/g))
    for (let at = 0; at + HEAD <= run.length; at++)
      for (const form of FORMS.get(run.slice(at, at + HEAD)) ?? []) if (run.startsWith(form, at)) all.push(form)
  return all
}

/** A row with its `bytea` as they are: among megabytes of hexadecimal digits some number of a thousand stands by chance. */
const bytesOf = (row: string) =>
  row.replace(/\\\\x((?:[0-9a-f]{2})+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'))

/** What a file holds, opened when it is compressed. */
async function contentOf(path: string): Promise<string> {
  const bytes = await readFile(path)
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1')
}

t.test('the search of this test finds a number in each form', (t) => {
  for (const form of [NUMBERS[7]!, ...otherForms(NUMBERS[7]!)]) t.equal(found(`{"x": "${form}"}`).length, 1, form)
  t.same(found('999900000123 and 1234567890'), [])
  t.end()
})

t.test('numbers in JSON are sealed where they stand, and all else stays as it is', (t) => {
  const [one, two] = ['een', 'twee'].map((id) => ({ id, key: randomBytes(32) })) as [
    { id: string; key: Buffer },
    { id: string; key: Buffer },
  ]
  const ring = keyRing([one])
  const numbers = numbersOf(ring)
  const value = {
    inpBsn: NUMBERS[0],
    naam: 'zegt "inpBsn":"123456782" en \\',
    inpA_nummer: '',
    diep: [{ anpIdentificatie: 'a"b\\', identifier: '1' }],
    bsn: 123456782,
  }
  const sealed = numbers.seal(JSON.stringify(value))
  t.strictSame(Object.keys(JSON.parse(sealed)), Object.keys(value))
  t.match(JSON.parse(sealed), { inpBsn: /^~1\.een\./, naam: value.naam, inpA_nummer: '', bsn: /^~1\.een\./ })
  t.strictSame(JSON.parse(numbers.open(sealed)), value)
  t.strictSame(JSON.parse(numbers.open(sealed.replaceAll(':"~', ': "~'))), value, 'also as PostgreSQL writes it')
  const asSent = JSON.stringify({ identifier: JSON.parse(sealed).inpBsn })
  t.equal(numbers.open(numbers.seal(asSent)), asSent, 'what looks sealed and was sent comes back as it was sent')
  t.equal(numbers.open(asSent), asSent, 'and elsewhere it is nothing of ours')
  const both = numbersOf(keyRing([two, one]))
  t.strictSame(JSON.parse(both.open(sealed)), value)
  const again = both.reseal(sealed, 'twee')
  t.notMatch(again, /~1\.een\./)
  t.equal(both.reseal(again, 'twee'), again)
  t.strictSame(JSON.parse(both.open(again)), value)
  t.strictSame(JSON.parse(both.open(both.reseal(JSON.stringify(value), 'twee'))), value, 'what was not sealed is')
  ring.lacks(['twee'])
  t.throws(() => numbers.open(again), /the key twee cannot be read/)
  t.throws(() => numbers.lookups('inpBsn', NUMBERS[0]!), /the key twee/, 'nobody is found by half')
  t.throws(() => WITHOUT_KEYS.seal(JSON.stringify(value)), /there are no keys/)
  t.equal(WITHOUT_KEYS.seal('{"a":1}'), '{"a":1}')
  t.end()
})

t.test('none of a thousand numbers is anywhere in the clear, and each is found', { timeout: 580_000 }, async (t) => {
  const server = await ownServer(t)
  await migrate(server.url)
  let log = ''
  const collector = await givenCollector(t)
  const env = {
    DATABASE_URL: server.url,
    SECRET_KEY,
    LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '0.25', // the same is asked a hundred times and more
    LOGBOEK_DATAVERWERKINGEN: 'true',
    LOGBOEK_ACTIVITEIT: 'https://register.gemeente.example/zaken',
    LOGBOEK_OTLP_ENDPOINT: collector.url,
  }
  const tracing = await openTracing(readConfig(env), openLog('silent'), 'api')
  t.teardown(tracing.close)
  const test = await testApp(t, env, (line) => {
    log += line
  })
  const { call, database, parts } = test
  const { sql } = database
  await sql`create table job_payload (payload text)`
  await sql`create function keep_payload() returns trigger language plpgsql as
    $$ begin insert into job_payload values (new.payload::text); return null; end $$`
  await sql`create trigger keep_payload after insert or update on _private_jobs for each row execute function keep_payload()`
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Belanghebbende', omschrijvingGeneriek: 'belanghebbende' }],
  })
  const [roltype] = (await call('GET', zaaktype)).body.roltypen
  // Each has few persons: a line in the log of processing is about all who are involved in its case.
  const zaken = await Promise.all(Array.from({ length: 50 }, () => givenZaak(test, { zaaktype })))
  const person = (inpBsn: string, more: object = {}) => ({
    betrokkeneType: 'natuurlijk_persoon',
    roltype,
    roltoelichting: 'x',
    betrokkeneIdentificatie: { inpBsn, geslachtsnaam: 'Jansen', ...more },
  })
  const represented = (identifier: string) => ({
    indicatieMachtiging: 'gemachtigde',
    authenticatieContext: {
      source: 'digid',
      levelOfAssurance: 'urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract',
      representee: { identifierType: 'bsn', identifier },
      mandate: { services: [{ id: '5628edbd-333e-460d-8a69-8f083b8cf1b8' }] },
    },
  })
  const urlOf = (place: number) => zaken[place % zaken.length]!.url
  /** By number: the rol that it is found by. */
  const rollen = new Map<string, string>()
  const asked: Promise<unknown>[] = []
  let next = 0
  const take = () => NUMBERS[next++ % COUNT]!
  for (let turn = 0; next < COUNT; turn++) {
    const zaak = urlOf(turn)
    const [a, b, c, d, e, f] = [take(), take(), take(), take(), take(), take()] as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    const key = { 'idempotency-key': `"${turn}-sleutel"` }
    const post = async (body: object, headers = {}) =>
      made(await call('POST', `${ZAKEN}/rollen`, { zaak, ...body }, { headers }))
    asked.push(
      (async () => {
        const first = await post({ ...person(a), ...represented(b) }, key)
        t.equal((await post({ ...person(a), ...represented(b) }, key)).url, first.url, 'repeated')
        t.equal(first.betrokkeneIdentificatie.inpBsn, a)
        t.equal(first.authenticatieContext.representee.identifier, b)
        rollen.set(a, first.url)
        const object = { zaak, objectType: 'natuurlijk_persoon', objectIdentificatie: { inpBsn: c } }
        const right = { identificatie: '1', avgAard: 'x', heeftAlsGerechtigde: { natuurlijkPersoon: { inpBsn: c } } }
        const url = made(await call('POST', `${ZAKEN}/zaakobjecten`, object)).url
        made(
          await call('POST', `${ZAKEN}/zaakobjecten`, {
            zaak,
            objectType: 'zakelijk_recht',
            objectIdentificatie: right,
          }),
        )
        const other = {
          zaak,
          objectType: 'overige',
          objectTypeOverige: 'x',
          objectIdentificatie: { overigeData: { bsn: c } },
        }
        t.equal(made(await call('POST', `${ZAKEN}/zaakobjecten`, other)).objectIdentificatie.overigeData.bsn, c)
        t.equal((await call('GET', url)).body.objectIdentificatie.inpBsn, c)
        if (turn % 2 === 0) await call('DELETE', url)
        const changed = await call('PUT', first.url, { zaak, ...person(d) })
        t.equal(changed.body.betrokkeneIdentificatie?.inpBsn, d, changed.text)
        rollen.delete(a)
        rollen.set(d, first.url)
        const gone = await post(person(e))
        await call('DELETE', gone.url)
        // Refused: with a number in the body, and in the address.
        await call('POST', `${ZAKEN}/rollen`, {
          zaak,
          ...person(f, { inpA_nummer: 'x', geslachtsnaam: 'x'.repeat(300) }),
        })
        await call('GET', `${ZAKEN}/rollen?betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=${f}&page=x`)
        const anp = await post({
          ...person(''),
          betrokkeneIdentificatie: { anpIdentificatie: f, inpA_nummer: `1${f}` },
        })
        t.equal(anp.betrokkeneIdentificatie.anpIdentificatie, f)
        if (turn % 10 === 0) {
          const body = {
            zaak: zaakBody(zaaktype),
            rollen: [person(e)],
            status: undefined,
            zaakobjecten: [{ ...object, zaak: undefined }],
          }
          await call('POST', `${ZAKEN}/zaak_registreren`, body, { headers: { 'idempotency-key': `"${turn}-zaak"` } })
        }
      })(),
    )
    if (asked.length % 8 === 0) await Promise.all(asked)
  }
  await Promise.all(asked)
  await test.runJobs()
  t.ok(rollen.size > 150)

  const isFound = async (number: string) => {
    const field = 'betrokkeneIdentificatie__natuurlijkPersoon__inpBsn'
    const list = await call('GET', `${ZAKEN}/rollen?${field}=${number}`)
    const cases = await call(
      'POST',
      `${ZAKEN}/zaken/_zoek`,
      { [`rol__${field}`]: number },
      { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } },
    )
    const one = (list.body.results ?? []).find(({ url }: { url: string }) => url === rollen.get(number))
    return one?.betrokkeneIdentificatie.inpBsn === number && cases.body.count > 0
  }
  const lost = async () => {
    const all = await Promise.all([...rollen.keys()].map(async (number) => ((await isFound(number)) ? [] : [number])))
    return all.flat()
  }
  t.same(await lost(), [], 'each is found')
  const trail = (await call('GET', `${zaken[0]!.url}/audittrail`)).text
  t.ok(found(trail).length > 20, 'who may read the trail reads the numbers')

  const snapshot = await until('a snapshot', async () => {
    const { body } = await call('GET', `${ZAKEN}/zaken/_snapshots`)
    await test.runJobs()
    return body.items[0]
  })
  t.ok(snapshot.total > 500, 'a file in the store that has them')

  const lines = openCollector(test.config)
  const searched = async () => {
    await test.app.acts?.settle()
    while ((await exportPortion(database, lines.send)) > 0);
    const places: [string, string][] = [
      ['spans', JSON.stringify(collector.requests.map(({ body }) => body))],
      ['log', log],
      ['metrics', await register.metrics()],
      ['audit', await storedAuditTexts(database)],
    ]
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema = any(current_schemas(false))`
    for (const { name } of [
      ...tables,
      { name: 'pg_stats' },
      { name: 'pg_stats_ext' },
      { name: 'pg_stats_ext_exprs' },
    ]) {
      const rows = await sql.unsafe<{ row: string }[]>(`select x::text as row from ${name} x`)
      places.push([name, rows.map(({ row }) => bytesOf(row)).join('\n')])
    }
    for (const directory of [test.config.dataDir, test.importDir])
      for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
        if (file.isFile()) places.push([file.name, await contentOf(join(file.parentPath, file.name))])
    return places
  }
  const hits = async () => (await searched()).flatMap(([place, text]) => found(text).map((form) => `${place}: ${form}`))
  await sql`analyze`
  await tracing.close() // which sends what is left
  t.same(await hits(), [], 'neither in tables and statistics, nor in log, metrics, spans and files')
  t.ok(log.length > 100_000)
  t.ok((await sql`select from job_payload`).length > 0, 'jobs were looked at')
  const spans = collector.requests.splice(0).flatMap(spansOf)
  const named = (name: string) => spans.filter((span) => span.name === name)
  t.ok(named(`POST ${ZAKEN}/rollen`).length > 50, 'traces were looked at')
  t.ok(
    spans.filter(({ attributes }) => attributes.some(({ key }) => key === 'dpl.core.data_subject_id')).length > 1000,
    'and lines that are about persons',
  )
  /** The log before the writes of this test cannot have them: these were made with it. */
  const wal = join(server.directory, 'pg_wal')
  let bytes = 0
  for (const file of await readdir(wal, { withFileTypes: true })) {
    if (!file.isFile()) continue
    const text = await readFile(join(wal, file.name), 'latin1')
    bytes += text.length
    const digits = [...text.matchAll(/(?<!\d)\d{9}(?!\d)/g)].filter(([number]) => DIGITS.has(number))
    t.same(
      digits.map(([number]) => number),
      [],
      `write-ahead log ${file.name}`,
    )
  }
  t.ok(bytes > 1_000_000)

  // What was written before there were keys is found, and sealed by the job as well.
  const [plain] = await sql<{ uuid: string; url: string; bsn: string }[]>`
    update rol set inp_bsn_lookup = null, betrokkene_identificatie = betrokkene_identificatie || ${sql.json({ inpBsn: '999999990' })}
    where uuid = ${rollen
      .get([...rollen.keys()][0]!)!
      .split('/')
      .at(-1)!} returning uuid, '' as url, '' as bsn`
  const url = `${ZAKEN}/rollen/${plain!.uuid}`
  const byPlain = async () =>
    (await call('GET', `${ZAKEN}/rollen?betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=999999990`)).body.count
  t.equal(await byPlain(), 1)
  t.equal((await call('GET', url)).body.betrokkeneIdentificatie.inpBsn, '999999990')
  rollen.delete([...rollen.keys()][0]!)

  // Another key: found before, half-way, and after.
  const box = secretBox(
    keyRing([
      { id: 'nieuw', key: randomBytes(32) },
      { id: 'secret-key', key: SECRET_KEY },
    ]),
  )
  await sql`insert into data_key (id, sealed) values ('nieuw', ''), ('secret-key', '') on conflict do nothing`
  await agreeOnKey(sql, box)
  database.useNumbers(box.numbers)
  Object.assign(parts.box, box)
  await test.app.acts?.settle()
  await mutator(database)(systemActor('test'), async (m) => {
    await startReseal(m, 'nieuw')
    m.unrecorded('a test')
  })
  while (await resealPortion(database, box)) {
    const some = [...rollen.keys()].filter((_, place) => place % 10 === 0)
    for (const number of some) if (!(await isFound(number))) t.fail(`lost: ${number}`)
  }
  t.equal(await byPlain(), 1)
  t.same(await lost(), [], 'each is found after that')
  await test.app.acts?.settle()
  const counts = await countSealed(database)
  t.same(
    [...(counts.get('secret-key') ?? [])].filter(([place]) => place !== 'idempotency_key'),
    [],
    'all has the new key',
  )
  t.same(counts.get(undefined), undefined, 'and nothing is without one')
  t.ok((counts.get('nieuw')?.get('audit') ?? 0) > 500)
  const [someone = ''] = rollen.keys()
  const looks = (key?: string) => sql`
    select from verwerking where lookups && array[${box.numbers.lookup('inpBsn', someone, key)}::bytea]`
  t.same([(await looks('secret-key')).length, (await looks()).length > 0], [0, true], 'and who looked at somebody too')
  const unfound = await sql`
    select from verwerking v where lookups is not null and not exists (
      select from verwerking_block b where v.id between b.first_id and b.last_id and b.lookups @> v.lookups)`
  t.equal(unfound.length, 0, 'by blocks that have the new key as well')
  await sql`vacuum`
  t.same(await hits(), [])
})
