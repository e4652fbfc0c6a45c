// In a process of its own: it measures memory.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import type { Answer } from '../app.ts'
import { freePort } from '../free-port.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { EIO, newDocument } from './documenten.ts'

const SECRET = 'a secret that only this test knows, 32+'
const LINUX = process.platform === 'linux' ? {} : { skip: 'reads the memory of a process as Linux tells it' }
const GIB = 1024 ** 3

t.test('a document of 150 MB raises the memory of the service by less than 100 MB', LINUX, async (t) => {
  const { call, peak } = await givenService(t)
  const informatieobjecttype = await givenType(call)
  const make = (megabytes: number) => call('POST', EIO, jsonWith(newDocument(informatieobjecttype), megabytes))
  await make(1)
  const before = await peak()
  const made = await make(150)
  t.equal(made.bestandsomvang, 150 * 1024 * 1024)
  const raised = (await peak()) - before
  t.ok(raised < 100, `raised by ${raised} MB`)
})

// TEST_LARGE_UPLOAD=1 node test/documenten/geheugen.test.ts: takes 10 GB of disk for a while, and a minute or two.
const LARGE = process.env.TEST_LARGE_UPLOAD ? LINUX : { skip: 'set TEST_LARGE_UPLOAD=1 to run it' }

t.test('a file of more than 4 GiB goes through bestandsdelen', LARGE, async (t) => {
  const { call, peak } = await givenService(t, { DOCUMENTEN_UPLOAD_CHUNK_SIZE: String(4 * GIB) })
  const informatieobjecttype = await givenType(call)
  const size = 4 * GIB + 5
  const made = await call('POST', EIO, newDocument(informatieobjecttype, { bestandsomvang: size }))
  t.match(made.bestandsdelen, [{ omvang: 4 * GIB }, { omvang: 5 }])
  const before = await peak()
  for (const { url, omvang } of made.bestandsdelen) {
    const line = 'grens'
    const head = `--${line}\r\ncontent-disposition: form-data; name="lock"\r\n\r\n${made.lock}\r\n--${line}\r\ncontent-disposition: form-data; name="inhoud"; filename="x"\r\n\r\n`
    const body = Readable.from(framed(head, omvang, `\r\n--${line}--\r\n`))
    await call('PUT', url, body, { 'content-type': `multipart/form-data; boundary=${line}` })
  }
  await call('POST', `${made.url}/unlock`, { lock: made.lock })
  const whole = await call('GET', made.url)
  t.match(whole, { bestandsomvang: size, bestandsdelen: [], inhoud: /download/ })
  const end = await call('GET', whole.inhoud, undefined, { range: `bytes=${4 * GIB}-` })
  t.equal(end, '\0'.repeat(5))
  t.ok((await peak()) - before < 100)
})

function* framed(head: string, size: number, tail: string) {
  yield Buffer.from(head)
  const zeros = Buffer.alloc(1024 * 1024)
  for (let left = size; left > 0; left -= zeros.length) yield zeros.subarray(0, left)
  yield Buffer.from(tail)
}

function jsonWith(document: object, megabytes: number): Readable {
  const block = Buffer.alloc(3 * 1024 * 1024, 'inhoud').toString('base64')
  return Readable.from(
    (function* () {
      yield `${JSON.stringify(document).slice(0, -1)},"inhoud":"`
      for (let n = 0; n < megabytes / 3; n++) yield megabytes < 3 ? block.slice(0, 4 * 1024) : block
      yield '"}'
    })(),
  )
}

type Call = (method: string, url: string, body?: object, headers?: Record<string, string>) => Promise<Answer['body']>

/** The service as a process of its own. */
async function givenService(t: { teardown(work: () => unknown): unknown }, env: Record<string, string> = {}) {
  const { url } = await testDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-memory-'))
  const port = await freePort()
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts'), 'api'], {
    env: {
      ...process.env,
      DATABASE_URL: url,
      DATA_DIR: directory,
      PORT: String(port),
      SECRET_KEY: 'the key of this test only',
      BOOTSTRAP_CLIENT_ID: 'beheer',
      BOOTSTRAP_CLIENT_SECRET: SECRET,
      LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
    await rm(directory, { recursive: true, force: true })
  })
  const base = `http://127.0.0.1:${port}`
  await answering(child, base)
  const call: Call = async (method, path, body, headers = {}) => {
    const response = await fetch(new URL(path, base), {
      method,
      headers: {
        authorization: `Bearer ${signToken('beheer', SECRET)}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body && { body: (body instanceof Readable ? body : JSON.stringify(body)) as never, duplex: 'half' }),
    } as RequestInit)
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status}: ${text}`)
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  }
  return { call, peak: () => peakMemory(child.pid!) }
}

async function answering(child: ChildProcess, base: string): Promise<void> {
  await until('an answer', async () => {
    if (child.exitCode !== null) throw new Error('the service has ended')
    return (await fetch(`${base}/livez`).catch(() => undefined))?.ok
  })
}

/** Highest resident memory so far, in MB. */
async function peakMemory(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

async function givenType(call: Call): Promise<string> {
  const { url: catalogus } = await call('POST', '/catalogi/api/v1/catalogussen', {
    domein: 'GROOT',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'x',
  })
  const { url } = await call('POST', '/catalogi/api/v1/informatieobjecttypen', {
    catalogus,
    omschrijving: 'Film',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'x',
  })
  await call('POST', `${url}/publish`, {})
  return url
}
