// Idempotency-Key: who repeats a request gets the answer of the first time, and nothing is done twice.
import { connect } from 'node:net'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { toProblem } from '../../src/core/problem.ts'
import { OutcomeUnknown } from '../../src/database/database.ts'
import { signal } from '../../src/database/listen.ts'
import { givenClient, givenInformatieobjecttype, givenZaaktype, SECRET, testApp, uuidOf } from '../app.ts'
import { base64, EIO, form, newDocument } from '../documenten/documenten.ts'
import { givenOtherServer } from '../other-server.ts'
import { until } from '../until.ts'
import { CRS, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'

const test = await testApp(t, { DOCUMENTEN_UPLOAD_CHUNK_SIZE: '5' })
const { sql } = test.database
const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
const post = (key: string, body: unknown, as?: string, path = `${ZAKEN}/zaken`) =>
  test.call('POST', path, body, { ...(as && { as }), headers: { ...CRS.headers, 'idempotency-key': key } })
const count = async (table: string) => (await sql.unsafe(`select count(*)::int as n from ${table}`))[0]!.n as number
const counts = async () => ({
  zaak: await count('zaak'),
  audit: await count('audit'),
  bericht: await count('notificatie'),
})

t.test('the same request with its key is done once, and gets the same answer', async (t) => {
  const before = await counts()
  const first = await post('"een"', zaakBody(zaaktype))
  t.equal(first.status, 201)
  t.equal(first.headers['idempotency-replayed'], undefined)
  const again = await post('"een"', zaakBody(zaaktype))
  t.equal(again.status, 201)
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.equal(again.headers.location, first.headers.location)
  t.strictSame(again.body, first.body)
  t.equal((await post('een', zaakBody(zaaktype))).headers['idempotency-replayed'], 'true', 'a bare key is the same one')
  const { zaak, audit, bericht } = await counts()
  t.strictSame(
    { zaak, audit, bericht },
    { zaak: before.zaak + 1, audit: before.audit + 1, bericht: before.bericht + 1 },
  )
  t.equal(
    (await post('twee', zaakBody(zaaktype))).headers['idempotency-replayed'],
    undefined,
    'another key is another case',
  )
})

t.test('another request with a known key is refused, and keys belong to an applicatie', async (t) => {
  t.equal((await post('drie', zaakBody(zaaktype))).status, 201)
  const other = await post('drie', zaakBody(zaaktype, { omschrijving: 'anders' }))
  t.same([other.status, other.body.code], [422, 'idempotency-key-reused'])
  const rights = [
    { component: 'zrc', scopes: ['zaken.aanmaken', 'zaken.lezen'], typeUuid: uuidOf(zaaktype), max: 'zeer_geheim' },
  ]
  const client = await givenClient(test, 'een-ander', rights)
  const made = await post('drie', zaakBody(zaaktype), client)
  t.same([made.status, made.headers['idempotency-replayed']], [201, undefined])
  // That a case has its first status, or is closed, is refused to this client; but not to who did it.
  const [begin] = (await test.call('GET', zaaktype)).body.statustypen
  const status = { zaak: made.body.url, statustype: begin, datumStatusGezet: '2024-05-01T10:00:00Z' }
  const set = await post('status', status, client, `${ZAKEN}/statussen`)
  t.equal(set.status, 201, set.text)
  const again = await post('status', status, client, `${ZAKEN}/statussen`)
  t.same([again.status, again.headers['idempotency-replayed'], again.body.url], [201, 'true', set.body.url])
  t.equal((await post('anders', status, client, `${ZAKEN}/statussen`)).status, 403)
  // Its rights are taken: what a GET refuses is not answered again either.
  const elsewhere = await givenZaaktype(test)
  await sql`update autorisatie set type_uuid = ${uuidOf(elsewhere)}
    where applicatie_id = (select applicatie_id from applicatie_client where client_id = 'een-ander')`
  await signal(sql, 'zaakstroom_autorisaties')
  await until(
    'the lost right',
    async () => (await test.call('GET', made.body.url, undefined, { ...CRS, as: client })).status === 403,
  )
  const refused = await post('drie', zaakBody(zaaktype), client)
  t.same([refused.status, refused.headers['idempotency-replayed'], refused.body.uuid], [403, undefined, undefined])
})

t.test('requests with one key at the same time are done once', async (t) => {
  const before = await counts()
  const answers = await Promise.all(Array.from({ length: 8 }, () => post('vier', zaakBody(zaaktype))))
  for (const answer of answers) {
    t.ok([201, 409].includes(answer.status), `${answer.status} ${answer.text}`)
    if (answer.status === 409) t.equal(answer.headers['retry-after'], '1')
  }
  t.equal((await counts()).zaak, before.zaak + 1)
})

t.test('what was refused is refused again, and done neither when it could be now', async (t) => {
  const wrong = await post('vijf', zaakBody(zaaktype, { startdatum: 'gisteren' }))
  t.equal(wrong.status, 400)
  const again = await post('vijf', zaakBody(zaaktype, { startdatum: 'gisteren' }))
  t.equal(again.text, wrong.text, 'to the instance')
  t.equal(again.headers['idempotency-replayed'], 'true')
  const body = zaakBody(zaaktype, { identificatie: 'ZAAK-VIJF' })
  t.equal((await test.call('POST', `${ZAKEN}/zaken`, body, CRS)).status, 201)
  const taken = await post('zes', body)
  t.equal(taken.status, 400)
  await sql`delete from zaak where identificatie = 'ZAAK-VIJF'`
  t.equal((await post('zes', body)).text, taken.text)
})

t.test('a condition that fails and a right that lacks are judged anew', async (t) => {
  const { url } = (await test.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype), CRS)).body
  const patch = (etag: string) =>
    test.call(
      'PATCH',
      url,
      { toelichting: 'x' },
      { headers: { ...CRS.headers, 'idempotency-key': 'eis', 'if-match': etag } },
    )
  t.equal((await patch('"een-andere"')).status, 412)
  const etag = String((await test.call('GET', url, undefined, CRS)).headers.etag)
  t.equal((await patch(etag)).status, 200)
  const client = await givenClient(test, 'zonder-recht', [])
  t.equal((await post('recht', zaakBody(zaaktype), client)).status, 403)
  t.same(await sql`select from idempotency_key where key = 'recht'`, [])
})

t.test('a change that cannot be made twice answers as the first time', async (t) => {
  const body = zaakBody(zaaktype, { identificatie: 'ZAAK-ZEVEN' })
  const first = await post('zeven', body)
  t.strictSame((await post('zeven', body)).body, first.body, 'the number is taken, by itself')
  const patch = (value: string, etag = '') =>
    test.call(
      'PATCH',
      first.body.url,
      { toelichting: value },
      {
        headers: { ...CRS.headers, 'idempotency-key': 'acht', ...(etag && { 'if-match': etag }) },
      },
    )
  const etag = String((await test.call('GET', first.body.url, undefined, CRS)).headers.etag)
  const changed = await patch('a', etag)
  t.equal(changed.status, 200)
  const repeated = await patch('a', etag)
  t.same([repeated.status, repeated.body], [200, changed.body], 'although it is another state by now')
  await test.call('DELETE', first.body.url, undefined, CRS)
  t.same((await patch('a', etag)).body, changed.body, 'and also when it has gone')
  t.strictSame((await post('zeven', body)).body, first.body)
})

t.test('bytes that come again are not stored again', async (t) => {
  const type = await givenInformatieobjecttype(test)
  const stored = async () => (await Array.fromAsync(test.parts.store.list())).length
  const before = await stored()
  const body = newDocument(type, { inhoud: base64('abc'), bestandsomvang: 3 })
  const first = await post('negen', body, undefined, EIO)
  t.equal(first.status, 201)
  t.strictSame((await post('negen', body, undefined, EIO)).body, first.body)
  t.equal(await stored(), before + 1)
  t.equal(
    (await post('negen', { ...body, inhoud: base64('abd') }, undefined, EIO)).status,
    422,
    'other bytes are another request',
  )
  t.equal(await stored(), before + 1)

  const upload = (await test.call('POST', EIO, newDocument(type, { inhoud: null, bestandsomvang: 5 }))).body
  const put = (grens: string, bytes: string) => {
    const { body, headers } = form({ lock: upload.lock }, Buffer.from(bytes))
    const text = Buffer.from(body.toString('latin1').replaceAll('----grens', grens), 'latin1')
    const type = headers['content-type']!.replace('----grens', grens)
    return test.call('PUT', upload.bestandsdelen[0].url, text, {
      headers: { 'content-type': type, 'idempotency-key': 'tien' },
    })
  }
  t.equal((await put('----grens1', '12345')).status, 200)
  t.equal(
    (await put('----grens2', '12345')).headers['idempotency-replayed'],
    'true',
    'a form has another boundary each time',
  )
  t.equal((await put('----grens3', '54321')).status, 422)
})

t.test('all that changes something takes a key', async (t) => {
  const twice = async (key: string, path: string, body: unknown) => {
    const first = await post(key, body, undefined, path)
    const again = await post(key, body, undefined, path)
    t.ok(first.status < 300, `${path}: ${first.status} ${first.text}`)
    t.equal(again.headers['idempotency-replayed'], 'true', path)
    t.same([again.status, again.body], [first.status, first.body], path)
  }
  await twice('import', '/documenten/api/v1/import/create', undefined)
  await twice('nummers', `${ZAKEN}/zaaknummer_reserveren`, { bronorganisatie: '517439943', aantal: 2 })
  await twice('catalogus', '/catalogi/api/v1/catalogussen', {
    domein: 'KEYS',
    rsin: '517439943',
    contactpersoonBeheerNaam: 'Iemand',
  })
  await twice('kanaal', '/notificaties/api/v1/kanaal', { naam: 'met-sleutel' })
})

t.test(
  'a lock is had again by who lost its answer, and a repeated unlock takes no lock of somebody else',
  async (t) => {
    const type = await givenInformatieobjecttype(test)
    const { url } = (await test.call('POST', EIO, newDocument(type, { inhoud: base64('abc'), bestandsomvang: 3 }))).body
    for (const [kind, body] of [
      ['zonder', undefined],
      ['met', {}],
    ] as const) {
      const lock = (key: string) => post(key, body, undefined, `${url}/lock`)
      const unlock = (key: string, id: string) => post(key, { lock: id }, undefined, `${url}/unlock`)
      const first = await lock(`slot-${kind}`)
      t.equal(first.status, 200, first.text)
      const again = await lock(`slot-${kind}`)
      t.same([again.status, again.body, again.headers['idempotency-replayed']], [200, first.body, 'true'], kind)
      t.equal((await unlock(`los-${kind}`, first.body.lock)).status, 204)
      const others = await lock(`een-ander-${kind}`)
      t.same(
        await unlock(`los-${kind}`, first.body.lock).then(({ status, headers }) => [
          status,
          headers['idempotency-replayed'],
        ]),
        [204, 'true'],
      )
      t.equal((await test.call('GET', url)).body.locked, true, 'the lock of somebody else stays')
      t.equal((await unlock(`weer-los-${kind}`, others.body.lock)).status, 204)
    }
  },
)

t.test('an unlock that joins parts is kept when it has joined them', async (t) => {
  const type = await givenInformatieobjecttype(test)
  const upload = (await test.call('POST', EIO, newDocument(type, { inhoud: null, bestandsomvang: 10 }))).body
  for (const { url } of upload.bestandsdelen) {
    const { body, headers } = form({ lock: upload.lock }, Buffer.from('abcde'))
    t.equal((await test.call('PUT', url, body, { headers })).status, 200)
  }
  const unlock = () => post('delen', { lock: upload.lock }, undefined, `${upload.url}/unlock`)
  t.equal((await unlock()).status, 204)
  t.equal((await test.call('GET', upload.url)).body.bestandsomvang, 10)
  const again = await unlock()
  t.same([again.status, again.headers['idempotency-replayed']], [204, 'true'])
})

t.test('a request without a body keeps its key also when somebody sends it one', async (t) => {
  const before = await count('import')
  const create = (key: string) =>
    post(key, { wat: 'dan ook' }, undefined, '/documenten/api/v1/import/create?wachten=true')
  const first = await create('met-inhoud')
  t.equal(first.status, 201, first.text)
  t.strictSame((await create('met-inhoud')).body, first.body)
  t.equal(await count('import'), before + 1)
})

t.test('a client that hangs up while it is let in can repeat its request', async (t) => {
  const address = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const body = JSON.stringify(zaakBody(zaaktype))
  const authorization = `Bearer ${signToken('beheer', SECRET)}`
  for (let n = 0; n < 20; n++) {
    const client = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {})
    client.write(
      `POST ${ZAKEN}/zaken HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nAccept-Crs: EPSG:4326\r\nContent-Crs: EPSG:4326\r\n` +
        `Idempotency-Key: opgehangen-${n}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
      () => client.destroy(),
    )
  }
  for (let n = 0; n < 20; n++) t.equal((await post(`opgehangen-${n}`, zaakBody(zaaktype))).status, 201)
})

t.test('a key is kept in the transaction of its change, also of one of which nothing is recorded', async (t) => {
  const made = await post('samen', { naam: 'samen' }, undefined, '/notificaties/api/v1/kanaal')
  t.equal(made.status, 201, made.text)
  const [row] = await sql<{ same: boolean }[]>`
    select k.xmin = (select xmin from kanaal where naam = 'samen') as same from idempotency_key k where key = 'samen'`
  t.equal(row!.same, true)
})

t.test('what another server has to agree with is asked once', async (t) => {
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const type = await givenZaaktype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  const { url: zaak } = await givenZaak(test, { zaaktype: type })
  const document = { bronorganisatie: '517439943', informatieobjecttype, locked: false, status: 'definitief' }
  const elders = await givenOtherServer(t, test, { '/drc/documenten/1': document })
  const body = { zaak, informatieobject: `${elders.root}/drc/documenten/1` }
  const path = `${ZAKEN}/zaakinformatieobjecten`
  const first = await post('elders', body, undefined, path)
  t.equal(first.status, 201, first.text)
  const again = await post('elders', body, undefined, path)
  t.strictSame([again.status, again.headers['idempotency-replayed'], again.body], [201, 'true', first.body])
  const [kept] = await sql`select status from idempotency_key where key = 'elders'`
  t.equal(kept!.status, 200)
  await sql`update idempotency_key set status = null where key = 'elders'`
  t.equal((await post('elders', body, undefined, path)).status, 409, 'while that server has not answered')
})

t.test('keys are 1 to 255 characters', async (t) => {
  for (const key of ['', '""', 'x'.repeat(256), '"open', 'twee woorden', 'é']) {
    const answer = await post(key, zaakBody(zaaktype))
    t.equal(answer.status, 400, JSON.stringify(key))
    t.match(answer.body.invalidParams, [{ name: 'Idempotency-Key', code: 'invalid' }])
  }
  t.equal((await post('x'.repeat(255), zaakBody(zaaktype))).status, 201)
  t.equal((await post('"twee woorden"', zaakBody(zaaktype))).status, 201)
})

t.test('a key counts for its term, and a job removes it then', async (t) => {
  t.equal((await post('oud', zaakBody(zaaktype))).status, 201)
  await sql`update idempotency_key set created_at = now() - interval '25 hours' where key = 'oud'`
  const anew = await post('oud', zaakBody(zaaktype))
  t.same([anew.status, anew.headers['idempotency-replayed']], [201, undefined])
  await sql`update idempotency_key set created_at = now() - interval '25 hours' where key = 'oud'`
  const before = await count('idempotency_key')
  await sql`select add_job('remove-keys')`
  await test.runJobs()
  t.equal(await count('idempotency_key'), before - 1)
  await sql`select remove_keys(interval '24 hours', 3, 2)`
  t.ok(
    (await sql`select from idempotency_key group by applicatie_uuid having count(*) > 3`).length <= 1,
    'a portion at a time',
  )
  while (Number((await sql`select remove_keys(interval '24 hours', 3, 2) as n`)[0]!.n) > 0);
  t.equal((await sql`select from idempotency_key group by applicatie_uuid having count(*) > 3`).length, 0)
})

t.test('who does not know whether it was done is told to repeat it with the key', async (t) => {
  t.match(toProblem(new OutcomeUnknown()).detail, /met dezelfde Idempotency-Key/)
})
