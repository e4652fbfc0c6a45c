// The log of processing (Logboek Dataverwerkingen): who did what with which case and which person. Changes write their line in their
// transaction, reads after their answer; then lines go to the collector.
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { settleAll, settlePortion, startSettling } from '../../src/core/settle-verwerkingen.ts'
import { type LogOptions, logOptionsOf, openSpool } from '../../src/core/verwerkingen.ts'
import { openCollector, type Send } from '../../src/operations/collector.ts'
import { exportPortion } from '../../src/operations/export-verwerkingen.ts'
import { removeOldLines } from '../../tasks/retention.ts'
import { givenInformatieobjecttype, givenZaaktype, SECRET, type TestApp, testApp, uuidOf } from '../app.ts'
import { base64, EIO, newDocument } from '../documenten/documenten.ts'
import { attributesOf, givenCollector, type Sent } from '../telemetry/collector.ts'
import { until } from '../until.ts'
import { CRS, givenZaak, made, ZAKEN, zaakBody } from '../zaken/given.ts'

const [BSN, OTHER_BSN] = ['999990019', '999990020']
const ACTIVITEIT = 'https://register.gemeente.nl/verwerkingen/zaken'
const ON = { LOGBOEK_DATAVERWERKINGEN: 'true', LOGBOEK_ACTIVITEIT: ACTIVITEIT }
type Row = {
  handeling: string
  zaken: string[]
  objecten: string[]
  activiteit: string
  persons: { inpBsn?: string }[] | null
  client_id: string
  gebruikers_id: string
  gebruikers_weergave: string
  trace: string
  parent: string | null
}

/** The line of a request, as soon as it is written. */
const lineOf = (test: TestApp, requestId: string): Promise<Row> =>
  until(`the line of ${requestId}`, async () => {
    const [row] = await linesOf(test, requestId)
    return row
  })
/** What a worker does each second. */
const settle = ({ database, config }: Pick<TestApp, 'database' | 'config'>) =>
  settleAll(database, logOptionsOf(config) as LogOptions)
async function linesOf(test: TestApp, requestId: string): Promise<Row[]> {
  await settle(test)
  return test.database.sql<Row[]>`
    select handeling, zaken, objecten, activiteit, betrokkenen as persons, client_id, gebruikers_id, gebruikers_weergave,
      encode(trace_id, 'hex') as trace, encode(parent_span_id, 'hex') as parent
    from verwerking where request_id = ${requestId} order by id`
}

let asked = 0
/** A request, and its line. */
async function told(test: TestApp, method: string, url: string, body?: unknown, headers = {}) {
  const requestId = `verzoek-${++asked}`
  const answer = await test.call(method, url, body, {
    headers: { ...CRS.headers, ...headers, 'x-request-id': requestId },
  })
  if (answer.status >= 400) throw new Error(`${method} ${url}: ${answer.text}`)
  return { answer, line: await lineOf(test, requestId) }
}

async function givenPerson(test: TestApp) {
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Belanghebbende', omschrijvingGeneriek: 'belanghebbende' }],
  })
  const [roltype] = (await test.call('GET', zaaktype)).body.roltypen
  const rolOf = (zaak: string, inpBsn: string) => ({
    zaak,
    roltype,
    roltoelichting: 'x',
    betrokkeneType: 'natuurlijk_persoon',
    betrokkeneIdentificatie: { inpBsn },
  })
  const zaak: string = (await givenZaak(test, { zaaktype })).url
  return { zaaktype, zaak, rolOf }
}
const BY_BSN = `${ZAKEN}/rollen?betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=`

t.test('each act has one line, with who did it, what it was about and whom', async (t) => {
  const test = await testApp(t, ON)
  const { zaaktype, zaak, rolOf } = await givenPerson(test)
  const uuid = uuidOf(zaak)

  const created = await told(test, 'POST', `${ZAKEN}/zaken`, zaakBody(zaaktype), {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
  })
  t.match(created.line, {
    handeling: 'create zaak',
    zaken: [uuidOf(created.answer.body.url)],
    activiteit: ACTIVITEIT,
    client_id: 'beheer',
    gebruikers_id: 'gebruiker-1',
    gebruikers_weergave: 'Gebruiker Een',
    trace: '0af7651916cd43dd8448eb211c80319c',
    parent: 'b7ad6b7169203331',
  })
  const rol = await told(test, 'POST', `${ZAKEN}/rollen`, rolOf(zaak, BSN))
  t.match(rol.line, { handeling: 'create rol', zaken: [uuid], persons: [{ inpBsn: BSN }] })
  const rolUrl: string = rol.answer.body.url

  const read = await told(test, 'GET', zaak)
  t.match(read.line, { handeling: 'GET /zaken/api/v1/zaken/:uuid', zaken: [uuid], persons: [{ inpBsn: BSN }] })
  t.match(read.line.trace, /^[0-9a-f]{32}$/, 'without a trace of its own the request has one by its id')
  const etag = String(read.answer.headers.etag)
  const known = await told(test, 'GET', zaak, undefined, { 'if-none-match': etag })
  t.equal(known.answer.status, 304)
  t.match(known.line, { zaken: [uuid], persons: [{ inpBsn: BSN }] }, 'who has it already looks at it')

  const list = await told(test, 'GET', `${ZAKEN}/zaken`)
  t.strictSame(new Set(list.line.zaken), new Set([uuid, uuidOf(created.answer.body.url)]), 'a list: each case in it')
  t.equal(list.line.persons, null, 'of which it shows nobody')
  const expanded = await told(test, 'GET', `${ZAKEN}/zaken?expand=rollen`)
  t.match(expanded.line.persons, [{ inpBsn: BSN }], 'unless it does')
  const searched = await told(test, 'GET', `${BY_BSN.replace('inpBsn', 'inp%42sn')}${OTHER_BSN}`)
  t.match(searched.line, { zaken: [], persons: [{ inpBsn: OTHER_BSN }] }, 'who is looked for and not found')
  const zoek = await told(test, 'POST', `${ZAKEN}/zaken/_zoek`, {
    rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: BSN,
  })
  t.match(zoek.line, { zaken: [uuid], persons: [{ inpBsn: BSN }] })

  const changed = await told(test, 'PUT', rolUrl, rolOf(zaak, OTHER_BSN))
  const both = (line: Row) => line.persons?.map(({ inpBsn }) => inpBsn).sort()
  t.strictSame(both(changed.line), [BSN, OTHER_BSN], 'who it was, and who it became')
  const deleted = await told(test, 'DELETE', rolUrl)
  t.match(deleted.line, { handeling: 'destroy rol', persons: [{ inpBsn: OTHER_BSN }] })
  await told(test, 'POST', `${ZAKEN}/rollen`, rolOf(zaak, BSN))
  const gone = await told(test, 'DELETE', zaak)
  t.match(
    gone.line,
    { handeling: 'destroy zaak', zaken: [uuid], persons: [{ inpBsn: BSN }] },
    'also when the rol is gone with it',
  )

  const { sql } = test.database
  const [stored] = await sql<{ text: string }[]>`select string_agg(v::text, '') as text from verwerking v`
  t.notOk(stored?.text.includes(BSN) || stored?.text.includes(OTHER_BSN), 'numbers are sealed')
  t.equal((await sql`select 1 from verwerking group by request_id having count(*) > 1`).length, 0, 'one line each')
})

t.test('what shows nobody anything has no line', async (t) => {
  const test = await testApp(t, ON)
  const { zaak } = await givenPerson(test)
  await test.call('GET', zaak, undefined, {
    headers: { ...CRS.headers, authorization: '', 'x-request-id': 'zonder-token' },
  })
  await test.call('GET', `${ZAKEN}/zaken/${uuidOf(zaak).replace(/^.{8}/, '00000000')}`, undefined, {
    headers: { ...CRS.headers, 'x-request-id': 'niet-gevonden' },
  })
  await test.call('POST', `${ZAKEN}/rollen`, { zaak }, { headers: { 'x-request-id': 'geweigerd' } })
  await told(test, 'GET', zaak) // and so those before are through
  for (const id of ['zonder-token', 'niet-gevonden', 'geweigerd']) t.equal((await linesOf(test, id)).length, 0, id)
})

t.test('a document belongs to its cases, and a number that a token names is no name', async (t) => {
  const test = await testApp(t, ON)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  const zaak = (await givenZaak(test, { zaaktype })).url
  const document = await told(
    test,
    'POST',
    EIO,
    newDocument(informatieobjecttype, { inhoud: base64('x'), bestandsomvang: 1 }),
  )
  const { url } = document.answer.body
  t.match(document.line, { handeling: 'create enkelvoudiginformatieobject', zaken: [], objecten: [uuidOf(url)] })
  made(await test.call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak, informatieobject: url }))
  const download = await told(test, 'GET', `${url}/download`)
  t.match(download.line, { handeling: /download$/, zaken: [uuidOf(zaak)], objecten: [uuidOf(url)] })

  const token = signToken('beheer', SECRET, { id: BSN, name: `Inwoner ${BSN}` })
  const { line } = await told(test, 'GET', url, undefined, { authorization: `Bearer ${token}` })
  t.match(line, { gebruikers_id: '[number]', gebruikers_weergave: 'Inwoner [number]' })
})

t.test('the activity is that of the zaaktype, of its catalogus, or of the installation', async (t) => {
  const test = await testApp(t, ON)
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test)
  const other = await givenZaaktype(test)
  const activityOf = async (type: string) => {
    const { answer, line } = await told(test, 'POST', `${ZAKEN}/zaken`, zaakBody(type))
    const read = await told(test, 'GET', answer.body.url)
    t.equal(read.line.activiteit, line.activiteit, 'of a change as of a read')
    return line.activiteit
  }
  t.equal(await activityOf(zaaktype), ACTIVITEIT)
  const set = (identificatie: string, url: string) => sql`
    insert into verwerkingsactiviteit select catalogus_id, ${identificatie}, ${url} from zaaktype where uuid = ${uuidOf(zaaktype)}`
  await set('', 'https://register.gemeente.nl/catalogus')
  t.equal(await activityOf(zaaktype), 'https://register.gemeente.nl/catalogus')
  await set('MELDING', 'https://register.gemeente.nl/melding')
  t.equal(await activityOf(zaaktype), 'https://register.gemeente.nl/melding')
  t.equal(await activityOf(other), ACTIVITEIT, 'another catalogus')

  const requestId = 'twee-activiteiten'
  await test.call('GET', `${ZAKEN}/zaken`, undefined, { headers: { ...CRS.headers, 'x-request-id': requestId } })
  await until('both lines', async () => (await linesOf(test, requestId)).length === 2)
  const lines = await linesOf(test, requestId)
  t.strictSame(
    new Set(lines.map(({ activiteit }) => activiteit)),
    new Set(['https://register.gemeente.nl/melding', ACTIVITEIT]),
  )
  t.equal(lines.flatMap(({ zaken }) => zaken).length, 4, 'a list of cases of several: a line for each')
})

t.test('a change and its line are there together, or neither', async (t) => {
  const test = await testApp(t, ON)
  const { zaaktype, zaak, rolOf } = await givenPerson(test)
  const { sql } = test.database
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`
  await sql`create trigger refuse before insert on verwerking_unsettled for each row execute function refuse()`
  const counts = async () =>
    (
      await sql<
        { n: number[] }[]
      >`select array[(select count(*) from zaak), (select count(*) from rol), (select count(*) from audit)]::int[] as n`
    )[0]?.n
  const before = await counts()
  t.equal((await test.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype), CRS)).status, 500)
  t.equal((await test.call('POST', `${ZAKEN}/rollen`, rolOf(zaak, BSN))).status, 500)
  t.strictSame(await counts(), before)
  const read = await test.call('GET', zaak, undefined, { headers: { ...CRS.headers, 'x-request-id': 'wacht' } })
  t.equal(read.status, 200)
  await sql`drop trigger refuse on verwerking_unsettled`
  t.match(await lineOf(test, 'wacht'), { zaken: [uuidOf(zaak)] }, 'a read is written as soon as there is room')
})

t.test('acts wait until they are settled, each once, and are found by their block', async (t) => {
  const test = await testApp(t, ON)
  const { zaak, rolOf } = await givenPerson(test)
  const { sql } = test.database
  made(await test.call('POST', `${ZAKEN}/rollen`, rolOf(zaak, BSN)))
  await sql`create trigger refuse before insert on verwerking for each row execute function suppress_redundant_updates_trigger()`
  await t.rejects(settle(test), 'one that ends halfway')
  await sql`drop trigger refuse on verwerking`
  await settle(test)
  for (let read = 0; read < 3; read++)
    await test.call('GET', zaak, undefined, { headers: { ...CRS.headers, 'x-request-id': `blok-${read}` } })
  await until('all three', async () => {
    const [waiting] = await sql<{ lines: number }[]>`select sum(lines)::int as lines from verwerking_unsettled`
    return waiting?.lines === 3
  })
  await Promise.all([settle(test), settle(test)])
  const lines = await Promise.all([0, 1, 2].map((read) => linesOf(test, `blok-${read}`)))
  for (const line of lines) t.match(line, [{ zaken: [uuidOf(zaak)], persons: [{ inpBsn: BSN }] }])
  t.equal((await sql`select 1 from verwerking_unsettled`).length, 0)
  const lost = await sql`
    select 1 from verwerking v where not exists (
      select from verwerking_block b where v.id between b.first_id and b.last_id and b.zaken @> v.zaken and b.objecten @> v.objecten
        and (v.lookups is null or b.lookups @> v.lookups))`
  t.equal(lost.length, 0, 'each line in a block')
  const overlapping = await sql`
    select 1 from verwerking_block a join verwerking_block b on a.last_id < b.last_id and a.last_id >= b.first_id`
  t.equal(overlapping.length, 0)
})

t.test('one process settles at a time', async (t) => {
  const test = await testApp(t, ON)
  const { sql } = test.database
  await givenPerson(test)
  let other: Promise<void> | undefined
  await sql.begin(async (trx) => {
    await settlePortion(trx, logOptionsOf(test.config) as LogOptions)
    await givenPerson(test)
    other = settle(test)
    const held = async () =>
      (
        await sql`select 1 from pg_locks where locktype = 'advisory' and classid = 7340035 and not granted
          and database = (select oid from pg_database where datname = current_database())`
      ).length > 0
    await until('the other waits', held, 20_000)
    t.equal((await sql`select 1 from verwerking_unsettled`).length, 2)
  })
  await other
  t.equal((await sql`select 1 from verwerking_unsettled`).length, 0)
  t.equal((await sql`select 1 from verwerking`).length, 2)
})

t.test('what was read shortly before a case goes has its persons', async (t) => {
  const test = await testApp(t, ON)
  const { zaak, rolOf } = await givenPerson(test)
  const { sql } = test.database
  made(await test.call('POST', `${ZAKEN}/rollen`, rolOf(zaak, BSN)))
  await settle(test)
  await test.call('GET', zaak, undefined, { headers: { ...CRS.headers, 'x-request-id': 'kort-ervoor' } })
  await until('it is written', async () => (await sql`select 1 from verwerking_unsettled`).length > 0)
  await test.call('DELETE', zaak)
  t.match(await lineOf(test, 'kort-ervoor'), { zaken: [uuidOf(zaak)], persons: [{ inpBsn: BSN }] })
})

t.test('a worker settles within seconds', async (t) => {
  const test = await testApp(t, ON)
  const settling = startSettling(test.database, logOptionsOf(test.config), test.app.log as never)
  t.teardown(settling.stop)
  const { zaak } = await givenPerson(test)
  await test.call('GET', zaak, undefined, CRS)
  await until('both lines', async () => (await test.database.sql`select 1 from verwerking`).length === 2)
})

t.test('while the log is off nothing is written', async (t) => {
  const test = await testApp(t)
  const { zaak } = await givenPerson(test)
  await test.call('GET', zaak, undefined, CRS)
  await test.app.close()
  t.equal((await test.database.sql`select 1 from verwerking_unsettled union all select 1 from verwerking`).length, 0)
})

t.test('lines that wait when the application closes are written', async (t) => {
  const test = await testApp(t, ON)
  const { zaak } = await givenPerson(test)
  await Promise.all(Array.from({ length: 20 }, () => test.call('GET', zaak, undefined, CRS)))
  await test.app.close()
  await settle(test)
  t.equal((await test.database.sql`select 1 from verwerking where handeling like 'GET%'`).length, 20)
})

// ---- the collector ----

const sentOf = (collector: { all(): Sent[] }) => collector.all().map((span) => ({ ...span, ...attributesOf(span) }))

async function givenLines(t: Test, env: Record<string, string> = {}) {
  const collector = await givenCollector(t)
  const test = await testApp(t, {
    ...ON,
    LOGBOEK_OTLP_ENDPOINT: collector.url,
    LOGBOEK_OTLP_HEADERS: 'x-sleutel=een%20geheim',
    OTEL_TRACES_SAMPLER_ARG: '0',
    ...env,
  })
  const { zaak, rolOf } = await givenPerson(test)
  for (const bsn of [BSN, OTHER_BSN]) await told(test, 'POST', `${ZAKEN}/rollen`, rolOf(zaak, bsn))
  await told(test, 'GET', zaak)
  const out = openCollector(test.config)
  const spoolOf = openSpool()
  const spooled = async () => (await spoolOf(test.database.sql)).waiting
  return { collector, test, zaak, out, spooled }
}

t.test('the collector gets a span for each person of each line, whatever part of the traces is sent', async (t) => {
  const { collector, test, zaak, out, spooled } = await givenLines(t)
  t.equal(await spooled(), 4)
  t.equal(await exportPortion(test.database, out.send), 4)
  t.equal(await spooled(), 0)
  const spans = sentOf(collector)
  t.equal(
    spans.length,
    1 + 1 + 3 + 3,
    'a case, a rol, a second one, and the case with both: the act, and each below it',
  )
  const acts = spans.filter(({ name }) => name === 'GET /zaken/api/v1/zaken/:uuid')
  const [act] = acts
  t.match(act, { 'zaakstroom.zaken': [uuidOf(zaak)], 'dpl.core.data_subject_id': undefined })
  const looked = acts.filter(({ parentSpanId }) => parentSpanId === act?.spanId)
  t.equal(new Set(looked.map(({ traceId }) => traceId)).size, 1, 'in one trace')
  t.equal(new Set(looked.map(({ spanId }) => spanId)).size, 2)
  for (const span of looked)
    t.match(span, {
      'dpl.core.processing_activity_id': ACTIVITEIT,
      'dpl.core.data_subject_id': /^~1\.secret-key\.[\w-]{38,}$/,
      'dpl.core.data_subject_id_type': 'BSN',
      'zaakstroom.client_id': 'beheer',
      'zaakstroom.user_id': 'gebruiker-1',
      'zaakstroom.zaken': [uuidOf(zaak)],
      'zaakstroom.data_subject_pseudonym': /^[0-9a-f]{32}$/,
    })
  const sealed = looked.map((span) => String((span as Record<string, unknown>)['dpl.core.data_subject_id']))
  const opened = sealed.map((text) => test.database.numbers.open(JSON.stringify({ inpBsn: text })))
  t.strictSame(
    opened.sort(),
    [BSN, OTHER_BSN].map((bsn) => `{"inpBsn":"${bsn}"}`),
    'which this installation can open',
  )
  t.match(collector.requests[0], { url: '/v1/traces', headers: { 'x-sleutel': 'een geheim' } })
  const everything = JSON.stringify(collector.requests.map(({ body }) => body))
  for (const number of [BSN, OTHER_BSN]) t.notOk(everything.includes(number), 'and nobody reads')
})

t.test('a collector that is away, or refuses, loses nothing', async (t) => {
  const { collector, test, out, spooled } = await givenLines(t)
  for (const answer of [400, 401]) {
    collector.answer = answer
    await t.rejects(exportPortion(test.database, out.send), `${answer}`)
    t.equal(await spooled(), 4)
  }
  collector.answer = 200
  t.equal(await exportPortion(test.database, out.send), 4)
})

t.test('only an ExportTraceServiceResponse without rejected spans confirms', async (t) => {
  const { collector, test, out, spooled } = await givenLines(t)
  const rejected = { text: '{"partialSuccess":{"rejectedSpans":"6","errorMessage":"no room"}}' }
  const answers: [string, { status?: number; headers?: Record<string, string>; text?: string }, RegExp][] = [
    ['all are rejected, and an empty request as well', rejected, /refuses an empty request: 6 rejected: no room/],
    ['a page of a gateway', { text: '<!doctype html><title>Sign in</title>' }, /no ExportTraceServiceResponse/],
    ['nothing at all', { text: '' }, /no ExportTraceServiceResponse/],
    ['JSON of something else', { text: '{"ok":true}' }, /no ExportTraceServiceResponse/],
    ['a redirect', { status: 302, headers: { location: '/' } }, /status 302/],
    ['too many', { status: 429, headers: { 'retry-after': '120' } }, /status 429/],
  ]
  for (const [name, answer, message] of answers) {
    collector.judge = () => answer
    await t.rejects(exportPortion(test.database, out.send), { message }, name)
    t.equal(await spooled(), 4, name)
  }
  collector.judge = () => ({ status: 503, headers: { 'retry-after': '120' } })
  const refused = await exportPortion(test.database, out.send).catch((error: unknown) => error)
  t.match(refused, { retryAfterMs: 120_000 }, 'which is waited for')
  collector.judge = () => ({ text: '{"partialSuccess":{"errorMessage":"a warning"}}' })
  t.equal(await exportPortion(test.database, out.send), 4, 'a warning is no refusal')
})

t.test(
  'a line that the collector refuses by itself is set aside, all others go on, and it can be sent again',
  async (t) => {
    const { collector, test, zaak, out, spooled } = await givenLines(t)
    const refusals: [string, { status?: number; text?: string }][] = [
      ['400', { status: 400 }],
      ['too large', { status: 413 }],
      ['rejected', { text: '{"partialSuccess":{"rejectedSpans":1}}' }],
    ]
    const { sql } = test.database
    for (const [name, refusal] of refusals) {
      await told(test, 'GET', `${zaak}/zaakeigenschappen`)
      await told(test, 'GET', zaak)
      const waiting = await spooled()
      collector.judge = (spans) =>
        spans.some((span) => span.name.endsWith('/zaakeigenschappen')) ? refusal : undefined
      t.equal(await exportPortion(test.database, out.send), waiting, name)
      t.equal(await spooled(), 0, 'they hold up nothing')
      const aside = await sql`select v.handeling from verwerking_aside a join verwerking v on v.id = a.id`
      t.match(aside, [{ handeling: /zaakeigenschappen$/ }], name)
      collector.judge = () => undefined
      await sql`select send_lines_again()`
      t.equal(await exportPortion(test.database, out.send, { until: 0 }), 1, 'again')
      t.equal((await sql`select from verwerking_aside`).length, 0)
    }
  },
)

t.test('a person of a list is told with his own case, and no request is larger than the bound', async (t) => {
  const { collector, test, zaak, out } = await givenLines(t)
  while ((await exportPortion(test.database, out.send)) > 0);
  const { sql } = test.database
  const zaken = Array.from({ length: 300 }, () => crypto.randomUUID())
  const persons = zaken.map((uuid, at) => ({
    inpBsn: `~1.secret-key.${'x'.repeat(60)}${at}`,
    zaken: [uuid],
    rollen: [uuid],
  }))
  await sql`
    insert into verwerking (activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken, objecten,
      betrokkenen, trace_id, request_id)
    select 'x', 'GET /zaken/api/v1/rollen', '', '', '', '', ${zaken}::uuid[], ${zaken}::uuid[], ${JSON.stringify(persons)}::text::jsonb,
      ${Buffer.alloc(16, 1)}, 'lijst-' || n from generate_series(1, 20) n`
  await sql`insert into verwerking_spool select min(id), max(id) from verwerking where request_id like 'lijst-%'`
  const sizes: number[] = []
  collector.judge = (_spans, bytes) => {
    sizes.push(bytes)
    return undefined
  }
  collector.requests.length = 0
  let sent = 0
  for (let count = 1; count > 0; sent += count) count = await exportPortion(test.database, out.send)
  t.equal(sent, 20)
  t.ok(Math.max(...sizes) <= 1_010_000, `${Math.max(...sizes)} bytes at most`)
  const spans = sentOf(collector).map((span) => span as unknown as Record<string, unknown>)
  t.equal(spans.length, 20 * 301)
  const own = spans.filter((span) => 'dpl.core.data_subject_id' in span)
  t.ok(own.every((span) => (span['zaakstroom.zaken'] as string[]).length === 1))
  t.equal((spans[0]?.['zaakstroom.zaken'] as string[] | undefined)?.length, 300, 'the act names all of them once')

  const list = await told(test, 'GET', `${ZAKEN}/rollen?zaak=${encodeURIComponent(zaak)}`)
  t.notOk(
    list.line.persons?.some((person) => 'zaken' in person),
    'of one case there is nothing to tell apart',
  )
  await test.call('POST', `${ZAKEN}/rollen`, await otherRol(test))
  const all = await told(test, 'GET', `${ZAKEN}/rollen`)
  const cases = all.line.persons?.map((person) => (person as { zaken?: string[] }).zaken?.length)
  t.strictSame(cases?.sort(), [1, 2], 'each with his own')
})

/** A rol in a case of its own. */
async function otherRol(test: TestApp) {
  const { zaak, rolOf } = await givenPerson(test)
  return rolOf(zaak, BSN)
}

t.test('a line is about those who are involved at the moment of the act', async (t) => {
  const test = await testApp(t, ON)
  const { zaak, rolOf } = await givenPerson(test)
  const rol = (await test.call('POST', `${ZAKEN}/rollen`, rolOf(zaak, BSN))).body.url
  const look = async (id: string) => {
    await test.call('GET', zaak, undefined, { headers: { ...CRS.headers, 'x-request-id': id } })
    await until(
      'it is written',
      async () =>
        (
          await test.database.sql`
      select from verwerking_unsettled where content like ${`%${id}%`} union all select from verwerking where request_id = ${id}`
        ).length > 0,
    )
  }
  await look('voor')
  await test.call('DELETE', rol)
  await test.call('POST', `${ZAKEN}/rollen`, rolOf(zaak, OTHER_BSN))
  t.match((await lineOf(test, 'voor')).persons, [{ inpBsn: BSN }], 'who left was looked at')
  await test.call(
    'DELETE',
    (await test.call('GET', `${ZAKEN}/rollen?zaak=${encodeURIComponent(zaak)}`)).body.results[0].url,
  )
  await look('tussen')
  await test.call('POST', `${ZAKEN}/rollen`, rolOf(zaak, OTHER_BSN))
  t.equal((await lineOf(test, 'tussen')).persons, null, 'who came later was not')
})

t.test('after a restore lines with numbers of before are sent as well', async (t) => {
  const { test, out, spooled } = await givenLines(t)
  const delivered = { until: 0, wholeAt: performance.now() }
  t.equal(await exportPortion(test.database, out.send, delivered), 4)
  delivered.until = 1000 // what the process saw before the database was put back
  await told(test, 'GET', `${ZAKEN}/zaken`)
  t.equal(await exportPortion(test.database, out.send, delivered), 0)
  t.equal(await exportPortion(test.database, out.send, delivered), 1, 'the newest line is older than that')
  t.equal(await spooled(), 0)
})

t.test('a line that was sent when the process was killed is sent again under the same ids', async (t) => {
  const { collector, test, out, spooled } = await givenLines(t)
  const crashed: Send = async (lines, beat) => {
    await out.send(lines, beat)
    throw new Error('killed')
  }
  await t.rejects(exportPortion(test.database, crashed), { message: 'killed' })
  t.equal(await spooled(), 4)
  const first = collector.all().map(({ spanId, traceId }) => `${traceId} ${spanId}`)
  t.equal(await exportPortion(test.database, out.send), 4)
  const all = collector.all().map(({ spanId, traceId }) => `${traceId} ${spanId}`)
  t.strictSame(all, [...first, ...first])
})

t.test('one process sends at a time', async (t) => {
  const { test, out } = await givenLines(t)
  const others: number[] = []
  const slow: Send = async (lines, beat) => {
    others.push(await exportPortion(test.database, out.send))
    return out.send(lines, beat)
  }
  t.equal(await exportPortion(test.database, slow), 4)
  t.strictSame(others, [0])
})

t.test('whoever lost its lease meanwhile counts nothing as sent, and is no fault of the collector', async (t) => {
  const { test, out, spooled } = await givenLines(t)
  const robbed: Send = async (lines, beat) => {
    await test.database.sql`
      update verwerking_lease set holder = gen_random_uuid(), until = clock_timestamp() + interval '1 minute'`
    return out.send(lines, beat)
  }
  t.equal(await exportPortion(test.database, robbed), 0)
  t.equal(await spooled(), 4)
  t.equal(await exportPortion(test.database, out.send), 0, 'the other one sends')
  await test.database.sql`update verwerking_lease set until = clock_timestamp() - interval '1 minute'`
  t.equal(await exportPortion(test.database, out.send), 4, 'until its lease has ended')
})

t.test('beyond as many lines as may wait nothing is shown or changed, and what repairs that goes on', async (t) => {
  const { test, zaak, out } = await givenLines(t, { LOGBOEK_SPOOL_MOST: '4' })
  const read = () => test.call('GET', zaak, undefined, CRS)
  const refused = await until('a refusal', async () => {
    const answer = await read()
    return answer.status === 503 ? answer : undefined
  })
  t.match(refused.body.detail, /logboek van verwerkingen/)
  t.equal(refused.headers['retry-after'], '60')
  t.equal((await test.call('POST', `${ZAKEN}/rollen`, {})).status, 503)
  t.equal((await test.call('GET', '/catalogi/api/v1/zaaktypen')).status, 200, 'types are nobody')
  await settle(test)
  while ((await exportPortion(test.database, out.send)) > 0);
  await until('room', async () => (await read()).status === 200)
})

t.test('lines go after their term, and not before the collector has them', async (t) => {
  const { test, out } = await givenLines(t)
  const { sql } = test.database
  const count = async () => (await sql`select 1 from verwerking`).length
  await sql`update verwerking set at = now() - interval '366 days' where id < (select max(id) from verwerking)`
  await removeOldLines(test.database, test.config)
  t.equal(await count(), 4, 'they wait')
  await exportPortion(test.database, out.send)
  await removeOldLines(test.database, test.config)
  t.equal(await count(), 1)
  t.equal((await sql`select 1 from verwerking_block`).length, 1, 'with their block')
})
