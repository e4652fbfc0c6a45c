// One id from the request to the delivery.
import { connect } from 'node:net'
import type { JobHelpers } from 'graphile-worker'
import t from 'tap'
import { openLog } from '../../src/telemetry/log.ts'
import { currentRequestId, underOrigin } from '../../src/telemetry/request-id.ts'
import { type TaskParts, taskList } from '../../tasks/index.ts'
import type {} from '../../tasks/remove-file.ts'
import { givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { EIO, newDocument } from '../documenten/documenten.ts'
import { API, csvText, givenFile, givenImport, goodRow } from '../documenten/importing.ts'
import { givenNotificaties } from '../notificaties/given.ts'

t.test('a request keeps the id that it came with, when that is sane, and always answers with one', async (t) => {
  const test = await testApp(t)
  const idOf = async (given?: string, url = '/zaken/api/v1/zaken') =>
    (await test.call('GET', url, undefined, given === undefined ? {} : { headers: { 'x-request-id': given } })).headers[
      'x-request-id'
    ]
  const uuid = /^[0-9a-f]{16}$/
  for (const sane of [
    'a',
    '0af7651916cd43dd8448eb211c80319c',
    'Root=1-67891233-abcdef012345678912345678',
    'x'.repeat(128),
  ])
    t.equal(await idOf(sane), sane)
  for (const odd of ['', 'a b', 'a\tb', '"x"', '<script>', 'é', '{"a":1}', 'x'.repeat(129), 'a,b', '123456782'])
    t.match(await idOf(odd), uuid, odd)
  t.match(await idOf(), uuid)
  t.not(await idOf(), await idOf())
  for (const url of [
    '/nergens',
    '/zaken/api/v1/zaken?onbekend=1',
    '/livez',
    '/zaken/api/v1/%zz',
    '/beheer/inloggen',
    '/openapi.json',
  ])
    t.equal(await idOf('mijn-id', url), 'mijn-id', url)
})

t.test('also where the request could not be read', async (t) => {
  const test = await testApp(t)
  const address = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const text = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    let received = ''
    socket.on('data', (data) => (received += data))
    socket.on('close', () => resolve(received))
    socket.write('GET / HTTP/1.1\r\nhost : x\r\n\r\n')
  })
  t.match(text, /^HTTP\/1.1 400/)
  t.match(text, /\r\nx-request-id: [0-9a-f]{16}\r\n/)
})

t.test('it goes into the audit trail, the message, its delivery and the jobs', async (t) => {
  const { receiver, ...test } = await givenNotificaties(t)
  const { sql } = test.database
  const type = await givenInformatieobjecttype(test)
  const made = await test.call('POST', EIO, newDocument(type), { headers: { 'x-request-id': 'verzoek-1' } })
  const uuid = uuidOf(made.body.url)
  t.same(
    [...(await sql`select request_id as "requestId" from audit where hoofd_object_uuid = ${uuid}`)],
    [{ requestId: 'verzoek-1' }],
  )
  t.same(
    [...(await sql`select request_id as "requestId" from notificatie where hoofd_object_uuid = ${uuid}`)],
    [{ requestId: 'verzoek-1' }],
  )
  await test.runJobs()
  const [delivered] = receiver.received.filter(({ body }) => body.resourceUrl === made.body.url)
  t.equal(delivered!.headers['x-request-id'], 'verzoek-1')
})

t.test('a job goes on under the id of the request that queued it', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const type = await givenInformatieobjecttype(test)
  const file = await givenFile(test, 'een.txt')
  const uuid = await givenImport(test)
  const csv = csvText([goodRow(type, file)])
  const upload = await test.call('POST', `${API}/${uuid}/upload`, csv, { headers: { 'x-request-id': 'verzoek-2' } })
  t.equal(upload.status, 200, upload.text)
  const [job] = await sql<{ payload: Record<string, unknown> }[]>`
    select payload from _private_jobs where payload ->> 'import' = ${uuid}`
  t.equal(job?.payload.requestId, 'verzoek-2')

  const seen: string[] = []
  const storeFor = () => {
    seen.push(currentRequestId())
    return test.parts.store
  }
  const [storedFile] = await sql<{ id: number }[]>`
    insert into file (backend, key, size) values ('filesystem', 'nergens', 0) returning id`
  const tasks = taskList({ ...test.parts, storeFor } as unknown as TaskParts)
  await tasks['remove-file']({ bestanden: [storedFile!.id], requestId: 'verzoek-3' }, {} as JobHelpers)
  t.same(seen, ['verzoek-3'])
})

t.test('a request leaves a line with who asked what, from where, and what came of it', async (t) => {
  const lines: string[] = []
  const test = await testApp(t, {}, (line) => lines.push(line))
  await test.call('GET', '/catalogi/api/v1/catalogussen?page=1', undefined, {
    headers: { 'x-request-id': 'verzoek-5' },
  })
  const line = lines.map((text) => JSON.parse(text)).find(({ event }) => event === 'request')
  t.match(line, {
    ...{ reqId: 'verzoek-5', method: 'GET', path: '/catalogi/api/v1/catalogussen', status: 200 },
    ...{ client_id: 'beheer', user_id: 'gebruiker-1', address: '127.0.0.1', timestamp: /^\d{4}-.*Z$/ },
  })
})

t.test('lines that a job logs have the id', async (t) => {
  const lines: string[] = []
  const log = openLog('info', { write: (line) => void lines.push(line) })
  await underOrigin({ requestId: 'verzoek-4' }, async () => log.info('in a job'))
  log.info('elsewhere')
  t.same(
    lines.map((line) => JSON.parse(line).reqId),
    ['verzoek-4', undefined],
  )
})
