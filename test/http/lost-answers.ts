// Every operation that changes something, asked while the database is lost: before it gets the commit, and when it has answered that. What
// is valid for an operation is taken from the examples and the lines of the conformance test; the operations from our own documents.
import { writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { type Answer, BASE, givenInformatieobjecttype, type TestApp, type testApp } from '../app.ts'
import { cuttingProxy } from '../database/cutting-proxy.ts'
import { base64, EIO, form, newDocument } from '../documenten/documenten.ts'
import { csvText, givenFile, givenImport, goodRow, API as IMPORT } from '../documenten/importing.ts'
import { conformanceLines, makeBodies } from '../examples/bodies.ts'
import { builtIn } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { testDatabase } from '../setup.ts'

export const FILE = new URL('../../docs/lost-answers.md', import.meta.url)
type TestLike = Parameters<typeof testApp>[0] & { comment(text: string): unknown }
type Row = { operation: string; before: string; after: string; again: string }

/** Of what has no row: why. */
const WITHOUT: Record<string, string> = {
  'POST /documenten/api/v1/import/{uuid}/upload':
    'its body comes once: a test of its own kills processes in it (`test/documenten/import-kill.test.ts`)',
  'POST /notificaties/api/v1/events': 'the same as `/events`, which takes an event once by its id',
}
const READS = /\/_(zoek|batch)$/

/** Plays all of it. `wrong` has a line for each cell that is not as it has to be. */
export async function playLostAnswers(t: TestLike): Promise<{ rows: Row[]; missing: string[]; wrong: string[] }> {
  const proxy = await cuttingProxy((await testDatabase(t)).url)
  t.teardown(proxy.close)
  const plain = await builtIn(t, { DATABASE_URL: proxy.url, DOCUMENTEN_UPLOAD_CHUNK_SIZE: '5' })
  const patterns = await operationsOf(plain)
  const rows = new Map<string, Row>()
  const wrong: string[] = []
  let keys = 0

  const call: TestApp['call'] = async (method, url, body, options = {}) => {
    const path = new URL(url, BASE).pathname
    const operation = patterns.find(({ name, pattern }) => name.startsWith(`${method} `) && pattern.test(path))?.name
    if (!operation || rows.has(operation) || READS.test(path) || Object.hasOwn(WITHOUT, operation))
      return plain.call(method, url, body, options)
    const takesKey = method === 'POST' || method === 'PATCH' || path.includes('/bestandsdelen/')
    const headers = { ...options.headers, ...(takesKey && { 'idempotency-key': `lost-${++keys}` }) }
    const ask = () => plain.call(method, url, body, { ...options, headers })
    const expect = (isSo: boolean, what: string, { status, text }: Answer) => {
      if (!isSo) wrong.push(`${operation}: ${what}: ${status} ${text.slice(0, 300)}`)
    }
    proxy.cutAt('request')
    const before = await ask()
    if (proxy.isArmed()) {
      proxy.disarm()
      return before // it is refused, or changes nothing
    }
    expect(before.status === 503 && before.body?.code === 'service_unavailable', 'not done is told', before)
    proxy.cutAt('answer')
    const after = await ask()
    expect(!proxy.isArmed(), 'it has a commit', after)
    proxy.disarm()
    expect(after.status < 300, 'done is told', after)
    const again = await ask()
    const isReplayed = again.headers['idempotency-replayed'] === 'true'
    if (takesKey)
      expect(
        isReplayed && again.status === after.status && isDeepStrictEqual(again.body, after.body),
        'its key gives the same answer',
        again,
      )
    else expect(method === 'DELETE' ? again.status === 404 : again.status < 300, 'again is as once', again)
    rows.set(operation, {
      operation,
      before: `${before.status} \`${before.body?.code}\`; not done`,
      after: `${after.status}; done`,
      again: isReplayed ? `${again.status}, the first answer` : String(again.status),
    })
    return after
  }
  const test: TestApp = { ...plain, call }
  await makeBodies(t as never, test)
  for (const line of await conformanceLines()) {
    if (!line.one.includes('DELETE')) continue
    const body = await line.given(test)
    const options = { ...(line.headers && { headers: line.headers }) }
    const made = await test.call('POST', line.at?.(body) ?? line.path, body, options)
    await line.beforeDelete?.(test, made.body)
    await test.call('DELETE', made.body.url, undefined, options)
  }
  await playOthers(t, test)
  const missing = patterns
    .map(({ name }) => name)
    .filter((name) => !rows.has(name) && !READS.test(name) && !Object.hasOwn(WITHOUT, name))
  return { rows: [...rows.values()].sort((a, b) => (a.operation < b.operation ? -1 : 1)), missing, wrong }
}

/** What has no example and no line. */
async function playOthers(t: TestLike, test: TestApp): Promise<void> {
  const type = await givenInformatieobjecttype(test)
  const upload = (await test.call('POST', EIO, newDocument(type, { inhoud: null, bestandsomvang: 10 }))).body
  for (const { url } of upload.bestandsdelen) {
    const { body, headers } = form({ lock: upload.lock }, Buffer.from('abcde'))
    await test.call('PUT', url, body, { headers })
  }
  const document = (await test.call('POST', EIO, newDocument(type, { inhoud: base64('abc'), bestandsomvang: 3 }))).body
  const { lock } = (await test.call('POST', `${document.url}/lock`)).body
  await test.call('POST', `${document.url}/unlock`, { lock })
  const row = goodRow(type, await givenFile(test, 'a.txt', Buffer.from('abc')))
  const one = await givenImport(test)
  await test.call('POST', `${IMPORT}/${one}/upload`, csvText([row]))
  await test.call('POST', `${IMPORT}/${one}/cancel`)
  await test.call('DELETE', `${IMPORT}/${one}/delete`)
  const auth = 'Bearer a-secret-of-yours'
  const { url } = await subscriber(t, { auth })
  const abonnement = { callbackUrl: url, auth, kanalen: [{ naam: 'zaken', filters: {} }] }
  const made = await test.call('POST', '/notificaties/api/v1/abonnement', abonnement)
  await test.call('DELETE', made.body.url)
}

async function operationsOf({ call }: TestApp): Promise<{ name: string; pattern: RegExp }[]> {
  const found: { name: string; pattern: RegExp }[] = []
  for (const component of ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties', 'notificaties']) {
    const { paths } = (await call('GET', `/${component}/api/v1/openapi.json`)).body as {
      paths: Record<string, Record<string, unknown>>
    }
    for (const [path, item] of Object.entries(paths))
      for (const method of ['post', 'put', 'patch', 'delete'].filter((one) => item[one])) {
        const full = `/${component}/api/v1${path}`
        const pattern = new RegExp(`^${full.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`)
        found.push({ name: `${method.toUpperCase()} ${full}`, pattern })
      }
  }
  return found
}

export const lostAnswersPage = (rows: Row[]): string => `# What becomes of a change whose answer is lost

Each operation was asked while the connection to the database was cut: before the server got the commit, and when it had answered it, so that
only that answer was lost. The last column is the same request once more: with the same \`Idempotency-Key\` where an operation takes one.
A process of the server that stands still in its commit is ended; as long as it is there the answer is 503 \`outcome_unknown\`
(\`test/core/mutate.test.ts\`), with a link that tells later ([clients.md](clients.md)).

This page is made by \`npm run answers\`, and held by \`test/http/lost-answers.test.ts\`.

| Operation | Commit not sent | Its answer lost | Once more |
| --- | --- | --- | --- |
${rows.map(({ operation, before, after, again }) => `| \`${operation}\` | ${before} | ${after} | ${again} |`).join('\n')}

Not asked here: ${Object.entries(WITHOUT)
  .map(([name, why]) => `\`${name}\` (${why})`)
  .join('; ')}.
`

if (import.meta.main) {
  t.setTimeout(900_000)
  const { rows, missing, wrong } = await playLostAnswers(t)
  for (const line of [...missing, ...wrong]) t.fail(line)
  await writeFile(FILE, lostAnswersPage(rows))
}
