// The operations of the bulk import over HTTP: what they answer, what they refuse, and in which order they look.
// In a process of its own: it measures its memory.
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import { type Answer, BASE, givenClient, givenInformatieobjecttype, SECRET, testApp } from '../app.ts'
import { memoryInUse } from '../memory.ts'
import { until } from '../until.ts'
import { API, csvText, givenFile, givenImport, goodRow, outcome, runImport } from './importing.ts'

t.setTimeout(580_000)
const app = await testApp(t)
const { call, database } = app
const type = await givenInformatieobjecttype(app)
await givenFile(app, 'brief.txt')
const GOOD = csvText([goodRow(type, 'brief.txt')])

const upload = (uuid: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  call('POST', `${API}/${uuid}/upload`, body, { headers })
const statusOf = async (uuid: string) => (await call('GET', `${API}/${uuid}/status`)).body.status

/** The answer is a 400 with this one fault of the import as a whole. */
function refused(t: Test, { status, body, headers }: Answer, code: string, reason: RegExp, message: string): void {
  t.match(headers['content-type'], /^application.problem.json/, message)
  t.match(
    { status, body },
    { status: 400, body: { code: 'invalid', status: 400, invalidParams: [{ name: '__all__', code, reason }] } },
    message,
  )
}

/** An import in each state. */
const given = {
  pending: () => givenImport(app),
  async active() {
    const uuid = await givenImport(app)
    await upload(uuid, GOOD)
    return uuid
  },
  async finished() {
    return (await runImport(app, GOOD)).uuid
  },
  async error() {
    const uuid = await givenImport(app)
    await call('POST', `${API}/${uuid}/cancel`)
    return uuid
  },
}
const NO_MORE: Record<string, string> = { active: 'cancel', pending: 'cancel' }
async function close(uuid: string): Promise<void> {
  const action = NO_MORE[await statusOf(uuid)]
  if (action) await call('POST', `${API}/${uuid}/${action}`)
}

t.test('an import from create to report', async (t) => {
  const created = await call('POST', `${API}/create`)
  t.equal(created.status, 201)
  const url = created.body.url
  t.match(url, new RegExp(`^${BASE}${API}/[0-9a-f-]{36}$`))
  t.strictSame(created.body, {
    url,
    uploadUrl: `${url}/upload`,
    statusUrl: `${url}/status`,
    reportUrl: `${url}/report`,
  })
  const zero = { total: 0, processed: 0, processedSuccessfully: 0, processedInvalid: 0 }
  const pending = await call('GET', created.body.statusUrl)
  t.match(pending, {
    status: 200,
    body: { ...zero, ...created.body, status: 'pending', startedOn: null, finishedOn: null, reason: null },
  })
  const uploaded = await call('POST', created.body.uploadUrl, GOOD)
  t.match(uploaded, { status: 200, text: '' })
  t.match((await call('GET', url)).body, { ...zero, total: 1, status: 'active', startedOn: /Z$/, finishedOn: null })
  await app.runJobs()
  const { body } = await call('GET', url)
  t.match(body, {
    total: 1,
    processed: 1,
    processedSuccessfully: 1,
    processedInvalid: 0,
    status: 'finished',
    finishedOn: /Z$/,
  })
  const report = await call('GET', created.body.reportUrl)
  t.match(report, {
    status: 200,
    headers: {
      'content-type': /^text\/csv/,
      'content-disposition': `attachment; filename="report-${url.slice(-36)}.csv"`,
    },
  })
  const list = await call('GET', API)
  t.equal(list.body.results[0].url, url)
  t.equal((await call('DELETE', `${url}/delete`)).status, 204)
  t.equal((await call('GET', `${url}/status`)).status, 404)
})

t.test('the list shows the newest first', async (t) => {
  const uuids = [await given.error(), await given.finished(), await given.pending()]
  const { body } = await call('GET', `${API}?pageSize=3`)
  t.strictSame(
    body.results.map(({ url }: { url: string }) => url.slice(-36)),
    uuids.toReversed(),
  )
  await close(uuids[2]!)
})

t.test('of 100 creates at once one succeeds, and the others name it', async (t) => {
  const answers = await Promise.all(Array.from({ length: 100 }, () => call('POST', `${API}/create`)))
  const made = answers.filter(({ status }) => status === 201)
  t.equal(made.length, 1)
  const { url } = made[0]!.body
  const others = answers.filter(({ status }) => status === 400)
  t.equal(others.length, 99)
  for (const answer of others) refused(t, answer, 'existing-import-started', new RegExp(url), 'names the open one')
  await close(url.slice(-36))
})

t.test('the error table: every operation in every state', async (t) => {
  const operations: [name: string, method: string, path: string, body?: string][] = [
    ['upload', 'POST', 'upload', GOOD],
    ['report', 'GET', 'report'],
    ['delete', 'DELETE', 'delete'],
    ['cancel', 'POST', 'cancel'],
  ]
  const expected: Record<string, Record<string, number | string>> = {
    upload: { pending: 200, active: 'invalid-status', finished: 'invalid-status', error: 'invalid-status' },
    report: { pending: 404, active: 404, finished: 200, error: 200 }, // this error one never had a file
    delete: { pending: 204, active: 'import-invalid-status', finished: 204, error: 204 },
    cancel: { pending: 200, active: 200, finished: 'invalid-status', error: 'invalid-status' },
  }
  for (const [name, method, path, body] of operations) {
    for (const [state, make] of Object.entries(given)) {
      const uuid = await make()
      const answer = await call(method, `${API}/${uuid}/${path}`, body)
      const outcome = expected[name]![state]!
      if (typeof outcome === 'string') refused(t, answer, outcome, /./, `${name} while ${state}`)
      else t.equal(answer.status, outcome, `${name} while ${state}`)
      if (outcome === 404) t.match(answer.body, { code: 'not_found', status: 404 })
      if (answer.status !== 204) await close(uuid)
    }
  }
})

t.test('the report of an import without rows is the header, and without a file its own two columns', async (t) => {
  const empty = await givenImport(app)
  await upload(empty, csvText([]))
  t.match((await call('GET', `${API}/${empty}`)).body, { status: 'finished', total: 0, processed: 0 })
  const [header] = csvText([]).split(/\r?\n/)
  t.match(await call('GET', `${API}/${empty}/report`), { status: 200, text: `${header},opmerking,resultaat\r\n` })
  const cancelled = await givenImport(app)
  await call('POST', `${API}/${cancelled}/cancel`)
  t.match(await call('GET', `${API}/${cancelled}/report`), { status: 200, text: 'opmerking,resultaat\r\n' })
})

t.test('an import that is not there, an address that is none, a wrong method', async (t) => {
  const unknown = '00000000-0000-4000-8000-000000000000'
  for (const [method, path] of [
    ['POST', 'upload'],
    ['GET', 'status'],
    ['GET', 'report'],
    ['POST', 'cancel'],
    ['DELETE', 'delete'],
  ] as const) {
    const body = path === 'upload' ? GOOD : undefined
    t.match(await call(method, `${API}/${unknown}/${path}`, body), { status: 404, body: { code: 'not_found' } }, path)
    t.match(await call(method, `${API}/x/${path}`, body), { status: 404, body: { code: 'not_found' } }, `${path} of x`)
    const other = method === 'GET' ? 'POST' : 'GET'
    t.match(
      await call(other, `${API}/${unknown}/${path}`),
      { status: 405, body: { code: 'method_not_allowed' }, headers: { allow: new RegExp(method) } },
      `${other} ${path}`,
    )
  }
  t.equal((await call('GET', `${API}/create`)).status, 404)
})

t.test('only an application with all rights', async (t) => {
  const scopes = ['lezen', 'aanmaken', 'bijwerken', 'geforceerd-bijwerken', 'lock', 'geforceerd-unlock', 'verwijderen']
  const rights = scopes.map((scope) => `documenten.${scope}`)
  await givenClient(app, 'documenten', [
    { component: 'drc', scopes: [...rights, 'audittrails.lezen'], typeUuid: type.slice(-36), max: 'zeer_geheim' },
  ])
  const uuid = await given.finished()
  for (const [method, path] of [
    ['POST', '/create'],
    ['GET', ''],
    ['GET', `/${uuid}`],
    ['POST', `/${uuid}/upload`],
    ['GET', `/${uuid}/status`],
    ['GET', `/${uuid}/report`],
    ['POST', `/${uuid}/cancel`],
    ['DELETE', `/${uuid}/delete`],
  ] as const) {
    const body = path.endsWith('upload') ? GOOD : undefined
    const expected = { status: 403, body: { status: 403 }, headers: { 'content-type': /^application.problem.json/ } }
    const weak = await call(method, API + path, body, { as: 'documenten' })
    t.match(weak, { ...expected, body: { code: 'permission_denied' } }, `${method} ${path} without all rights`)
    t.match(
      await call(method, API + path, body, { headers: { authorization: '' } }),
      expected,
      `${path} without a token`,
    )
    t.match(await call(method, API + path, body, { as: 'niemand' }), expected, `${path} of an unknown client`)
    const forged = signToken('beheer', 'another secret that is long enough, really', { id: '', name: '' })
    const headers = { authorization: `Bearer ${forged}` }
    t.match(await call(method, API + path, body, { headers }), expected, `${path} with a forged token`)
  }
  t.equal(await statusOf(uuid), 'finished')
})

t.test('what an upload is refused for leaves it pending and nothing behind', async (t) => {
  const without = (...columns: string[]) => COLUMN_NAMES.filter((column) => !columns.includes(column))
  const row = goodRow(type, 'brief.txt')
  const files: [what: string, body: string | Buffer, code: string, reason: RegExp][] = [
    ['an empty file', '', 'empty-file', /leeg/],
    ['nothing but a byte order mark', '\ufeff', 'empty-file', /leeg/],
    ['one column absent', csvText([row], without('titel')), 'missing-import-headers', /ontbreken: titel\./],
    [
      'three columns absent',
      csvText([row], without('uuid', 'taal', 'trefwoorden')),
      'missing-import-headers',
      /uuid, taal, trefwoorden/,
    ],
    [
      'no header',
      csvText([{ ...row, auteur: 'A. de Vries' }]).split('\r\n')[1]!,
      'missing-import-headers',
      new RegExp(COLUMN_NAMES.join(', ')),
    ],
    ['a column twice', csvText([row], [...COLUMN_NAMES, 'titel']), 'duplicate-import-headers', /titel/],
    ['a further column twice', csvText([row], [...COLUMN_NAMES, 'x', 'x']), 'duplicate-import-headers', /x/],
    ['another separator', csvText([row]).replaceAll(',', '~'), 'missing-import-headers', /één kolom: .* puntkomma/],
  ]
  const uuid = await givenImport(app)
  for (const [what, body, code, reason] of files) refused(t, await upload(uuid, body), code, reason, what)
  const latin1 = Buffer.from(csvText([{ ...row, titel: 'Café' }, row]), 'latin1')
  const place = latin1.indexOf(0xe9)
  const broken: [what: string, body: string | Buffer, detail: RegExp][] = [
    ['Latin-1', latin1, new RegExp(`positie ${place} `)],
    ['UTF-16 without a mark', Buffer.from(GOOD, 'utf16le'), /positie 1 .*UTF-16/],
    [
      'half a character at the end',
      Buffer.concat([Buffer.from(GOOD), Buffer.from('é').subarray(0, 1)]),
      new RegExp(`positie ${GOOD.length} `),
    ],
    [
      'a bad byte far behind',
      Buffer.concat([Buffer.from(GOOD.repeat(1000)), Buffer.from([0xff])]),
      new RegExp(`positie ${GOOD.length * 1000} `),
    ],
    ['a quote that is not closed', `${GOOD}"`, /aanhalingsteken/],
    ['text after a closing quote', `${GOOD}"a"b,\r\n`, /Rij 3/],
  ]
  for (const [what, body, detail] of broken) {
    t.match(await upload(uuid, body), { status: 400, body: { code: 'parse_error', detail } }, what)
  }
  const types: [what: string, headers: Record<string, string>][] = [
    ['JSON', { 'content-type': 'application/json' }],
    ['no type', { 'content-type': '' }],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['a character set that nobody knows', { 'content-type': 'text/csv; charset=ebcdic-nl' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ]
  for (const [what, headers] of types) {
    t.match(await upload(uuid, GOOD, headers), { status: 415, body: { code: 'unsupported_media_type' } }, what)
  }
  t.equal(await statusOf(uuid), 'pending')
  t.strictSame(
    Array.from(await database.sql`select from import_row r join import i on i.id = r.import_id where i.uuid = ${uuid}`),
    [],
  )
  t.equal(
    (await upload(uuid, GOOD, { 'content-type': 'text/csv; charset="UTF-8"' })).status,
    200,
    'and then it goes well',
  )
  await close(uuid)
})

t.test('columns in any order, behind a byte order mark, with further ones', async (t) => {
  const header = ['extra', ...COLUMN_NAMES.toReversed(), '']
  const { rows } = await runImport(app, `\ufeff${csvText([goodRow(type, 'brief.txt', { extra: 'E' })], header)}`)
  t.match(rows, [{ extra: 'E', opmerking: '', resultaat: 'Geïmporteerd' }])
})

t.test('the order of the checks of an upload', async (t) => {
  const finished = await given.finished()
  const json = { 'content-type': 'application/json' }
  refused(t, await upload(finished, '', json), 'invalid-status', /finished/, 'status before content type')
  await rm(app.importDir, { recursive: true })
  refused(t, await upload(finished, '', json), 'import-dir-not-found', /importmap/, 'directory before status')
  await writeFile(app.importDir, '')
  refused(t, await upload(finished, '', json), 'import-dir-not-dir', /importmap/, 'a file is no directory')
  const pending = await givenImport(app)
  refused(
    t,
    await upload(finished, '', json),
    'existing-import-started',
    new RegExp(pending),
    'another import before all',
  )
  refused(t, await upload(pending, GOOD), 'import-dir-not-dir', /importmap/, 'its own being open is no hindrance')
  await rm(app.importDir)
  await mkdir(app.importDir)
  await givenFile(app, 'brief.txt')
  t.equal((await upload(pending, '', json)).status, 415, 'content type before an empty file')
  await close(pending)
})

t.test('over a real connection', { timeout: 580_000 }, async (t) => {
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as { port: number }
  const authorization = `Bearer ${signToken('beheer', SECRET, { id: '', name: '' })}`

  /**
   * Sends a body piece by piece, however long that takes; the answer may come before its end. A bare connection, because
   * the client of Node stops sending when it has the answer.
   */
  function send(uuid: string, body: AsyncIterable<Buffer>, headers: Record<string, string> = {}) {
    const socket = connect(port, '127.0.0.1')
    const head = {
      host: 'localhost',
      authorization,
      'content-type': 'text/csv',
      'transfer-encoding': 'chunked',
      ...headers,
    }
    socket.write(`POST ${API}/${uuid}/upload HTTP/1.1\r\n`)
    for (const [name, value] of Object.entries(head)) if (value) socket.write(`${name}: ${value}\r\n`)
    socket.write('\r\n')
    const sent = (async () => {
      for await (const piece of body) {
        if (piece.length === 0) continue
        socket.write(`${piece.length.toString(16)}\r\n`)
        socket.write(piece)
        if (!socket.write('\r\n')) await once(socket, 'drain')
      }
      socket.write('0\r\n\r\n')
      return 'sent'
    })()
    const answer = Promise.withResolvers<{ status: number; text: string }>()
    let text = ''
    socket.on('data', (data) => {
      text += data
      const [, status, length] = /^HTTP\/1.1 (\d+)[\s\S]*?\r\ncontent-length: (\d+)\r\n/i.exec(text) ?? []
      if (length && Buffer.byteLength(text) >= text.indexOf('\r\n\r\n') + 4 + Number(length))
        answer.resolve({ status: Number(status), text })
    })
    socket.on('error', answer.reject)
    socket.on('close', () => answer.reject(new Error('closed without an answer')))
    t.teardown(() => socket.destroy())
    return { socket, answer: answer.promise, sent }
  }

  const ROWS = `${GOOD.split('\r\n')[1]}\r\n`.repeat(500)
  async function* large(megabytes: number, head = '', rows = ROWS): AsyncGenerator<Buffer> {
    yield Buffer.from(head)
    const piece = Buffer.from(rows)
    for (let bytes = 0; bytes < megabytes * 1e6; bytes += piece.length) yield piece
  }

  const transactions = () => database.sql`select from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  /** Rows that were written and that nobody sees. */
  const hidden = () => database.sql`select from import_row where import_id < 0 limit 1`

  t.test('a refusal reaches a client that is still sending', async (t) => {
    const uuid = await givenImport(app)
    const cases: [what: string, headers: Record<string, string>, head: string, status: number, code: string][] = [
      ['a bad header', {}, 'titel\r\n', 400, 'missing-import-headers'],
      ['a bad byte', {}, `${COLUMN_NAMES.join(',')}\r\n\xff`, 400, 'parse_error'],
      ['another type', { 'content-type': 'text/plain' }, '', 415, 'unsupported_media_type'],
      ['no rights', { authorization: '' }, '', 403, 'permission_denied'],
    ]
    for (const [what, headers, head, status, code] of cases) {
      const bytes = (async function* () {
        yield Buffer.from(head, 'latin1')
        yield* large(30)
      })()
      const { answer, sent } = send(uuid, bytes, headers)
      const got = await answer
      t.equal(got.status, status, what)
      t.match(got.text, code, what)
      t.equal(await sent, 'sent', `${what}: the connection was not cut`)
    }
    t.equal(await statusOf(uuid), 'pending')
    await close(uuid)
  })

  t.test('a connection that breaks off leaves the import pending and nothing behind', async (t) => {
    const uuid = await givenImport(app)
    for (const head of ['', `${COLUMN_NAMES.join(',')}\r\n`, GOOD]) {
      const gate = Promise.withResolvers<void>()
      const body = async function* () {
        if (head) yield Buffer.from(head)
        if (head === GOOD) yield* large(2)
        await gate.promise
      }
      const arrived = once(app.app.server, 'request')
      const { socket, answer, sent } = send(uuid, body())
      answer.catch(() => {})
      sent.catch(() => {})
      await arrived
      if (head === GOOD) await until('rows of the upload', async () => (await hidden()).length > 0)
      socket.destroy()
      gate.resolve()
      await until('the end of what was written', async () => {
        await app.runJobs()
        return (await database.sql`select from import_draft`).length === 0
      })
      t.equal((await hidden()).length, 0)
      t.equal(await statusOf(uuid), 'pending')
      t.equal(
        (await database.sql`select from import_row r join import i on i.id = r.import_id where i.uuid = ${uuid}`)
          .length,
        0,
      )
      t.equal((await database.sql`select from jobs where key = ${`import:${uuid}`}`).length, 0)
    }
    t.equal((await upload(uuid, GOOD)).status, 200, 'it can be tried again')
    await close(uuid)
  })

  t.test(
    'a sender that drips, or stops, holds no connection of the database, and what is done meanwhile counts',
    async (t) => {
      const uuid = await givenImport(app)
      const gate = Promise.withResolvers<void>()
      const slow = async function* () {
        yield Buffer.from(GOOD)
        yield* large(2)
        await gate.promise
      }
      const others = Array.from({ length: 9 }, () => send(uuid, slow()))
      await until('rows of the uploads', async () => {
        const [{ count }] = await database.sql<[{ count: number }]>`
        select count(distinct import_id)::int as count from import_row where import_id < 0`
        return count === others.length
      })
      await until('no transaction', async () => (await transactions()).length === 0)
      refused(t, await call('POST', `${API}/create`), 'existing-import-started', new RegExp(uuid), 'create')
      t.equal((await upload(uuid, GOOD)).status, 200, 'whoever is first with all of it')
      gate.resolve()
      for (const { answer } of others) t.match((await answer).text, /invalid-status/)
      t.match((await call('GET', `${API}/${uuid}`)).body, { status: 'active', total: 1 })
      await app.runJobs()
      t.equal((await hidden()).length, 0)
      await close(uuid)
    },
  )

  t.test('an import that is cancelled or deleted during its upload takes no rows', async (t) => {
    for (const [method, path, told] of [
      ['POST', 'cancel', /invalid-status/],
      ['DELETE', 'delete', /not_found/],
    ] as const) {
      const uuid = await givenImport(app)
      const gate = Promise.withResolvers<void>()
      const arrived = once(app.app.server, 'request')
      const { answer } = send(
        uuid,
        (async function* () {
          yield Buffer.from(GOOD)
          await gate.promise
        })(),
      )
      await arrived
      await until(path, async () => (await call(method, `${API}/${uuid}/${path}`)).status < 300)
      gate.resolve()
      t.match((await answer).text, told)
      t.equal(
        (await database.sql`select from import_row r join import i on i.id = r.import_id where i.uuid = ${uuid}`)
          .length,
        0,
      )
    }
  })

  t.test('more uploads of one client than may be at once are asked to come again', async (t) => {
    const uuid = await givenImport(app)
    const gate = Promise.withResolvers<void>()
    const slow = async function* () {
      yield Buffer.from(GOOD)
      await gate.promise
    }
    const sending = Array.from({ length: LIMITS.uploadsOfClient + 1 }, () => send(uuid, slow()))
    const refusal = await Promise.race(sending.map(({ answer }) => answer))
    t.equal(refusal.status, 503)
    t.match(refusal.text, /retry-after: 5/i)
    gate.resolve()
    const answers = await Promise.all(sending.map(({ answer }) => answer))
    t.same(answers.map(({ status }) => status).sort(), [200, ...Array(LIMITS.uploadsOfClient - 1).fill(400), 503])
    await close(uuid)
  })

  t.test('of uploads at once one is accepted', async (t) => {
    const uuid = await givenImport(app)
    const answers = await Promise.all(Array.from({ length: 10 }, () => upload(uuid, GOOD)))
    t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(400)])
    await app.runJobs()
    t.match((await outcome(app, uuid)).status, { status: 'finished', total: 1, processedSuccessfully: 1 })
  })

  t.test('memory does not grow with the file', { timeout: 580_000 }, async (t) => {
    const uuid = await givenImport(app)
    const before = memoryInUse()
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, memoryInUse())
    }, 1000)
    const wide = csvText([goodRow(type, 'brief.txt', { beschrijving: 'x'.repeat(4000) })]).split('\r\n')[1]
    const { answer } = send(uuid, large(60, `${COLUMN_NAMES.join(',')}\r\n`, `${wide}\r\n`.repeat(20)))
    t.equal((await answer).status, 200)
    clearInterval(watch)
    t.ok((await call('GET', `${API}/${uuid}`)).body.total > 14_000)
    const grown = Math.round(peak - before)
    t.ok(grown < 30, `${grown} MB more in use for a file of 60 MB`)
    await close(uuid)
    await call('DELETE', `${API}/${uuid}/delete`)
  })

  t.test('a request line by line, closed halfway', async (t) => {
    const uuid = await givenImport(app)
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST ${API}/${uuid}/upload HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n`)
    socket.write(`content-type: text/csv\r\ncontent-length: ${GOOD.length}\r\n\r\n${GOOD.slice(0, -40)}`)
    socket.resume().end() // half-closed: no more will come
    await once(socket, 'close')
    t.equal(await statusOf(uuid), 'pending')
    await close(uuid)
  })
})

t.test('a fault of the database at the end of an upload is told at once', { timeout: 20_000 }, async (t) => {
  await database.sql.unsafe(`
    create function vol() returns trigger language plpgsql as $$
      begin if new.cells ->> 4 = 'vol' then raise disk_full; end if; return new; end $$;
    create trigger vol before insert on import_row for each row execute function vol()`)
  const uuid = await givenImport(app)
  const rows = [goodRow(type, 'brief.txt'), goodRow(type, 'brief.txt', { titel: 'vol' })]
  const { status } = await upload(uuid, csvText(rows))
  t.ok(status >= 500, String(status))
  t.equal(await statusOf(uuid), 'pending')
  await database.sql`drop trigger vol on import_row`
  t.equal((await upload(uuid, csvText(rows))).status, 200)
  await close(uuid)
})
