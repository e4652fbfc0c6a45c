// Nobody who sends slowly, stops halfway or never reads holds what all share: a connection of the database, a transaction or a lock.
import { createHash, randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import type { FastifyInstance, RouteOptions } from 'fastify'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { givenInformatieobjecttype, SECRET, testApp } from '../app.ts'
import { base64, DRC, EIO, form, givenDocument, givenLock } from '../documenten/documenten.ts'
import { givenImport } from '../documenten/importing.ts'
import { until } from '../until.ts'
import { CRS, givenZaak, ZAKEN } from '../zaken/given.ts'

/** More than there are connections. */
const CONNECTIONS = 4
const SENDERS = CONNECTIONS + 2

const routes: (RouteOptions & { url: string })[] = []
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => void routes.push(route))
subscribe('fastify.initialization', collect)
const test = await testApp(t, { DATABASE_POOL_SIZE: String(CONNECTIONS), DOCUMENTEN_UPLOAD_CHUNK_SIZE: '100000' })
unsubscribe('fastify.initialization', collect)
await test.app.listen({ host: '127.0.0.1', port: 0 })
const { port } = test.app.server.address() as { port: number }
const { sql } = test.database
const authorization = `Bearer ${signToken('beheer', SECRET, { id: '', name: '' })}`
const watching = postgres(test.databaseUrl, { max: 1, onnotice: () => {} })
t.teardown(() => watching.end())

/** Waits until no transaction is open, and says that a good client is answered meanwhile. */
async function nothingIsHeld(t: Test, what: string) {
  await until(`no transaction beside ${what}`, async () => {
    const open = await watching`select query from pg_stat_activity
      where datname = current_database() and xact_start is not null and pid <> pg_backend_pid() and backend_type = 'client backend'`
    return open.length === 0
  })
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 2 * CONNECTIONS }, () => test.call('GET', `${ZAKEN}/zaken?pageSize=1`, undefined, CRS)),
  )
  t.ok(
    answers.every(({ status }) => status === 200),
    `a good client is answered beside ${what}, in ${Math.round(performance.now() - began)} ms`,
  )
}

async function opened(t: Test, head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(head)
  return socket
}

type Sending = { url: string; type: string; begin: string; cookie?: string }
const type = await givenInformatieobjecttype(test)
const inJson = (values: object) =>
  JSON.stringify({ titel: 'x', informatieobjecttype: type, ...values }).replace(/\}$/, '')

/** By its route: how the body begins of whoever is stopped halfway. */
const BODIES: Record<string, () => Promise<Sending>> = {
  [`POST ${EIO}`]: async () => ({ url: EIO, type: 'application/json', begin: `${inJson({})},"inhoud":"AAAA` }),
  [`PUT ${EIO}/:uuid`]: () => ofDocument(),
  [`PATCH ${EIO}/:uuid`]: () => ofDocument(),
  [`POST ${DRC}/document_registreren`]: async () => ({
    url: `${DRC}/document_registreren`,
    type: 'application/json',
    begin: `{"enkelvoudiginformatieobject":${inJson({})},"inhoud":"AAAA`,
  }),
  [`PUT ${DRC}/bestandsdelen/:uuid`]: async () => {
    const { body } = await test.call('POST', EIO, {
      ...{ bronorganisatie: '000000000', creatiedatum: '2025-03-01', titel: 'x', auteur: 'x', taal: 'nld' },
      ...{ informatieobjecttype: type, inhoud: null, bestandsomvang: 90_000 },
    })
    const sent = form({ lock: body.lock }, Buffer.alloc(90_000))
    const { pathname } = new URL(body.bestandsdelen[0].url)
    return {
      url: pathname,
      type: sent.headers['content-type'] ?? '',
      begin: sent.body.toString('latin1').slice(0, 300),
    }
  },
  [`POST ${DRC}/import/:uuid/upload`]: async () => ({
    url: `${DRC}/import/${await givenImport(test)}/upload`,
    type: 'text/csv',
    begin: 'uuid,identificatie,',
  }),
  'POST /beheer/imports/nieuw': async () => {
    const session = randomBytes(32).toString('base64url')
    await sql`
      with account as (insert into beheer_account (gebruikersnaam, rol) values (${session}, 'administrator') returning id)
      insert into beheer_session (key, account_id, expires_at)
      select ${createHash('sha256').update(session).digest()}, id, now() + interval '1 hour' from account`
    const address = `http://localhost:${port}`
    const page = await fetch(`${address}/beheer/imports`, { headers: { cookie: `zaakstroom=${session}` } })
    const [, token] = /name="_csrf" value="([^"]+)"/.exec(await page.text()) ?? []
    const cookies = page.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
    const parts = [
      `--grens\r\ncontent-disposition: form-data; name="_csrf"\r\n\r\n${token}\r\n`,
      '--grens\r\ncontent-disposition: form-data; name="bestand"; filename="x.csv"\r\ncontent-type: text/csv\r\n\r\nuuid,',
    ]
    return {
      url: '/beheer/imports/nieuw',
      type: `multipart/form-data; boundary=grens\r\norigin: ${address}\r\nhost: localhost:${port}`,
      begin: parts.join(''),
      cookie: [`zaakstroom=${session}`, ...cookies].join('; '),
    }
  },
}

async function ofDocument(): Promise<Sending> {
  const { url } = await givenDocument(test)
  const lock = await givenLock(test, url)
  return { url: new URL(url).pathname, type: 'application/json', begin: `${inJson({ lock })},"inhoud":"AAAA` }
}

t.test('each route whose body is read as it comes waits for its sender with nothing in its hands', async (t) => {
  const streamed = routes.filter(({ config }) => (config as { stream?: boolean } | undefined)?.stream)
  const names = streamed.map(({ method, url }) => `${method} ${url}`).filter((name) => !name.startsWith('DELETE '))
  t.same(names.sort(), Object.keys(BODIES).sort(), 'every one has a body here')
  for (const name of names) {
    const { url, type, begin, cookie } = await BODIES[name]!()
    const head = [
      `${name.split(' ')[0]} ${url} HTTP/1.1`,
      ...(cookie ? [] : ['host: localhost']),
      cookie ? `cookie: ${cookie}` : `authorization: ${authorization}`,
      `content-type: ${type}`,
      'content-length: 1000000',
    ]
    for (const kind of ['stops', 'drips']) {
      const sockets: Socket[] = []
      for (let n = 0; n < SENDERS; n++) sockets.push(await opened(t, `${head.join('\r\n')}\r\n\r\n${begin}`))
      const timer = setInterval(() => {
        if (kind === 'drips') for (const socket of sockets) socket.write('A')
      }, 20)
      await nothingIsHeld(t, `${name} of whoever ${kind}`)
      clearInterval(timer)
      t.ok(
        sockets.some(({ bytesRead, closed }) => bytesRead === 0 && !closed),
        'which is waited for',
      )
      for (const socket of sockets) socket.destroy()
    }
  }
})

t.test('whoever does not read what is written as he reads it holds nothing', async (t) => {
  const zaak = await givenZaak(test)
  await sql`
    insert into zaakobject (zaak_id, object_type, object_identificatie)
    select id, 'overige', jsonb_build_object('overigeData', jsonb_build_object('x', repeat(md5(n::text), 1800)))
    from zaak, generate_series(1, 400) n where uuid = ${zaak.uuid}`
  const document = await givenDocument(test, { inhoud: base64(Buffer.alloc(20_000_000)) })
  const accept = { 'text/event-stream': 'text/event-stream' }
  for (const [what, url, more] of [
    ['a list', `${ZAKEN}/zaakobjecten?pageSize=500`, ''],
    ['changes', `${ZAKEN}/zaken/_deltas?limit=1000`, ''],
    ['events', `${ZAKEN}/zaken/_deltas`, `accept: ${accept['text/event-stream']}\r\n`],
    ['content', new URL(document.inhoud).pathname + new URL(document.inhoud).search, ''],
  ] as const) {
    const sockets: Socket[] = []
    for (let n = 0; n < SENDERS; n++) {
      const socket = await opened(
        t,
        `GET ${url} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n${more}\r\n`,
      )
      socket.once('data', () => socket.pause())
      sockets.push(socket)
    }
    await until(`the beginning of ${what}`, () => sockets.every((socket) => socket.bytesRead > 0))
    t.ok(
      sockets.every((socket) => !socket.readableEnded),
      `${what} goes on`,
    )
    await nothingIsHeld(t, `${what} that nobody reads`)
    for (const socket of sockets) socket.destroy()
  }
})

/** What waits for somebody else: a sender, a receiver, a store or another server. */
const WAITS =
  /\bfor await\b|\bpipeline\(|\.pipe\(|\bstore\.(?:write|read|readWhole|list)\(|\bservices?\.fetch|\bfetch(?:Json)?\(|\brequest\.(?:raw|file|parts)\b|\bsleep\(|\bfromAsync\(/
/** What looks so, and does not wait. */
const MEMORY: Record<string, string> = {
  'src/documenten/import/receive.ts pipeline(': 'COPY of a portion of rows that is in memory',
}

t.test('nothing within a transaction waits for a stream, a store or another server', async (t) => {
  const found: string[] = []
  for (const file of [...globSync('src/**/*.ts'), ...globSync('tasks/*.ts')]) {
    const text = await readFile(file, 'utf8')
    for (const part of workOf(text)) {
      const [waits] = WAITS.exec(part) ?? []
      if (waits) found.push(`${file} ${waits}`)
    }
  }
  t.same(found, Object.keys(MEMORY))
})

/** What is given to `mutate`, and every function that works with a `Mutation`. */
function* workOf(text: string): Generator<string> {
  for (const { 0: call, index } of text.matchAll(/\b(?:mutate|mutateFromPage|inPart)(?:<[^(]*>)?\(/g))
    yield text.slice(index, endOf(text, index + call.length - 1, '()'))
  for (const { 0: head, index } of text.matchAll(/\bfunction\*? \w+(?:<[^(]*>)?\(/g)) {
    const end = endOf(text, index + head.length - 1, '()')
    if (!/\bm\??: (?:Pick<)?Mutation\b/.test(text.slice(index, end))) continue
    const body = text.indexOf('{\n', end)
    yield text.slice(body, endOf(text, body, '{}'))
  }
}

function endOf(text: string, from: number, [open, close]: string): number {
  let level = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === open) level++
    else if (text[at] === close && --level === 0) return at
  }
  return text.length
}
