// Every operation that changes something, asked while the database is lost: before it gets the commit, and when it has answered that. What
// is valid for an operation is taken from the examples and the lines of the conformance test; the operations from our own documents.
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { until } from '../until.ts'
import { playForms } from './lost-forms.ts'

export const FILE = new URL('../../docs/lost-answers.md', import.meta.url)
type TestLike = Parameters<typeof testApp>[0] & { comment(text: string): unknown }
export type Row = { operation: string; before: string; after: string; again: string; frozen: string; gone: string }
/** What an operation is asked with, and what became of it. */
type Ask = (headers?: Record<string, string>, signal?: AbortSignal) => Promise<Answer>
type Asked = {
  operation: string
  takesKey: boolean
  ask: Ask
  expect(isSo: boolean, what: string, answer: Answer): void
}
/** @returns the cell, and what the walk goes on with; undefined: the operation is refused here, or changes nothing */
type Fault = (asked: Asked) => Promise<{ cell: string; answer: Answer } | { cell: undefined; answer: Answer }>

/** Of what has no row: why. */
const WITHOUT: Record<string, string> = {
  'POST /documenten/api/v1/import/{uuid}/upload':
    'its body comes once: a test of its own kills processes in it (`test/documenten/import-kill.test.ts`)',
  'POST /notificaties/api/v1/events': 'the same as `/events`, which takes an event once by its id',
}
const READS = /\/_(zoek|batch)$/

const FROZEN_MS = 50
const GONE_MS = 100

/**
 * Plays all of it. `wrong` has a line for each cell that is not as it has to be.
 * @param isFrozen also with a process of the server that stands still, which takes three seconds for each operation
 */
export async function playLostAnswers(
  t: TestLike,
  { isFrozen = false } = {},
): Promise<{ rows: Row[]; missing: string[]; wrong: string[] }> {
  const lost = await walk(t, cutTwice)
  const gone = await walk(t, hangUp)
  const frozen = isFrozen ? await walk(t, standStill) : undefined
  const walks = [lost, gone, ...(frozen ? [frozen] : [])]
  const rows = [...lost.cells].map(([operation, cell]) => {
    const [before = '', after = '', again = ''] = cell.split(' | ')
    return {
      operation,
      before,
      after,
      again,
      gone: gone.cells.get(operation) ?? '',
      frozen: frozen?.cells.get(operation) ?? '',
    }
  })
  return {
    rows: rows.sort((a, b) => (a.operation < b.operation ? -1 : 1)),
    missing: walks.flatMap(({ missing }) => missing),
    wrong: walks.flatMap(({ wrong }) => wrong),
  }
}

type Proxy = Awaited<ReturnType<typeof cuttingProxy>>
const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true'

/** The database is lost before it gets the commit, then when it has answered it, and then the request comes once more. */
const cutTwice =
  (proxy: Proxy): Fault =>
  async ({ operation, takesKey, ask, expect }) => {
    proxy.cutAt('request')
    const before = await ask()
    if (proxy.isArmed()) return { cell: undefined, answer: before }
    expect(before.status === 503 && before.body?.code === 'service_unavailable', 'not done is told', before)
    proxy.cutAt('answer')
    const after = await ask()
    expect(!proxy.isArmed(), 'it has a commit', after)
    proxy.disarm()
    expect(after.status < 300, 'done is told', after)
    const again = await ask()
    if (takesKey)
      expect(
        isReplay(again) && again.status === after.status && isDeepStrictEqual(again.body, after.body),
        'its key gives the same answer',
        again,
      )
    else expect(isAsOnce(operation, again), 'again is as once', again)
    return {
      cell: `${before.status} \`${before.body?.code}\`; not done | ${after.status}; done | ${again.status}${isReplay(again) ? ', the first answer' : ''}`,
      answer: after,
    }
  }

const isAsOnce = (operation: string, { status }: Answer) =>
  operation.startsWith('DELETE') ? status === 404 : status < 300

/** The process of the server stands still with the commit in its socket, and the connection is lost. */
const standStill =
  (proxy: Proxy, call: TestApp['call']): Fault =>
  async ({ operation, takesKey, ask, expect }) => {
    let stopped = 0
    proxy.cutAt(({ pid, end }) => {
      stopped = pid
      process.kill(pid, 'SIGSTOP')
      setTimeout(end, FROZEN_MS)
    })
    const lost = await ask().finally(() => stopped && process.kill(stopped, 'SIGCONT'))
    if (proxy.isArmed()) return { cell: undefined, answer: lost }
    const isUnknown = lost.status === 503 && lost.body?.code === 'outcome_unknown'
    expect(isUnknown, 'it is not known', lost)
    const link = /^<(.*)>; rel="status"$/.exec(String(lost.headers.link))?.[1] ?? ''
    let told = 'unknown'
    await until('the outcome', async () => {
      told = (await call('GET', link)).body?.outcome ?? 'unknown'
      return told !== 'unknown'
    })
    const again = await ask()
    const isDone = told === 'done'
    if (takesKey) expect(isReplay(again) === isDone && again.status < 300, `${told}, and so does its key`, again)
    else expect(isDone ? isAsOnce(operation, again) : again.status < 300, `${told}, and once more`, again)
    return {
      cell: `${lost.status} \`${lost.body?.code}\`; then ${told === 'done' ? 'done' : 'not done'}, ${again.status}`,
      answer: again,
    }
  }

/** The client hangs up while its commit is on the way. */
const hangUp =
  (proxy: Proxy): Fault =>
  async ({ operation, takesKey, ask, expect }) => {
    const client = new AbortController()
    proxy.cutAt(() => client.abort())
    const first = await ask(undefined, client.signal).catch(() => undefined)
    if (proxy.isArmed()) return { cell: undefined, answer: first! }
    await sleep(GONE_MS)
    let again = await ask()
    await until('it is not at work', async () => {
      if (again.status === 409) again = await ask()
      return again.status !== 409
    })
    if (takesKey) expect(isReplay(again) && again.status < 300, 'it was done once', again)
    else expect(isAsOnce(operation, again), 'it was done', again)
    return { cell: `done; ${again.status}${isReplay(again) ? ', the first answer' : ''}`, answer: again }
  }

/** Every operation once, each with this fault. */
async function walk(t: TestLike, faultOf: (proxy: Proxy, call: TestApp['call']) => Fault) {
  const proxy = await cuttingProxy((await testDatabase(t)).url)
  t.teardown(proxy.close)
  const plain = await builtIn(t, { DATABASE_URL: proxy.url, DOCUMENTEN_UPLOAD_CHUNK_SIZE: '5' })
  const patterns = await operationsOf(plain)
  const cells = new Map<string, string>()
  const wrong: string[] = []
  const fault = faultOf(proxy, plain.call)
  let keys = 0

  const call: TestApp['call'] = async (method, url, body, options = {}) => {
    const path = new URL(url, BASE).pathname
    const operation = patterns.find(({ name, pattern }) => name.startsWith(`${method} `) && pattern.test(path))?.name
    if (!operation || cells.has(operation) || READS.test(path) || Object.hasOwn(WITHOUT, operation))
      return plain.call(method, url, body, options)
    const takesKey = method === 'POST' || method === 'PATCH' || path.includes('/bestandsdelen/')
    const headers = { ...options.headers, ...(takesKey && { 'idempotency-key': `lost-${++keys}` }) }
    const { cell, answer } = await fault({
      operation,
      takesKey,
      ask: (more, signal) =>
        plain.call(method, url, body, { ...options, headers: { ...headers, ...more }, ...(signal && { signal }) }),
      expect: (isSo, what, { status, text }) => {
        if (!isSo) wrong.push(`${operation}: ${what}: ${status} ${text.slice(0, 300)}`)
      },
    })
    proxy.disarm()
    if (cell !== undefined) cells.set(operation, cell)
    // What is gone was there, for who goes on.
    return method === 'DELETE' && answer.status === 404 ? { ...answer, status: 204 } : answer
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
    .filter((name) => !cells.has(name) && !READS.test(name) && !Object.hasOwn(WITHOUT, name))
  return { cells, missing, wrong }
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

/** With the cells of the page for the process that stands still, where that was not played. */
export function withFrozenOf(page: string, rows: Row[]): Row[] {
  const cells = new Map(page.split('\n').map((line) => [line.split('`')[1], line.split(' | ')[5]?.replace(/ \|$/, '')]))
  return rows.map((row) => ({ ...row, frozen: cells.get(row.operation) ?? '' }))
}

/** Of the page: what is behind this is made by `npm run answers -- --forms`. */
const FORMS = '## The forms of the pages'
export const formsOf = (page: string): string => page.split(`${FORMS}\n`)[1] ?? ''

export function lostAnswersPage(rows: Row[], forms: string): string {
  const hasFrozen = rows.some(({ frozen }) => frozen !== '')
  const cellsOf = ({ before, after, again, gone, frozen }: Omit<Row, 'operation'>) =>
    [before, after, again, gone, ...(hasFrozen ? [frozen] : [])].join(' | ')
  const heads = {
    before: 'Commit not sent',
    after: 'Its answer lost',
    again: 'Once more',
    gone: 'Client gone',
    frozen: 'Process stands still',
  }
  return `# What becomes of a change whose answer is lost

Each operation was asked while the connection to the database was cut: before the server got the commit, and when it had answered it, so that
only that answer was lost. *Once more* is the same request again: with the same \`Idempotency-Key\` where an operation takes one. *Client
gone*: the client hung up while its commit was on the way, and asked again.
A process of the server that stands still in its commit is ended; as long as it is there the answer is 503 \`outcome_unknown\`
(\`test/core/mutate.test.ts\`), with a link that tells later ([clients.md](clients.md)). \`npm run answers -- --frozen\` plays that for each
operation, in a quarter of an hour, and adds what it came to.

This page is made by \`npm run answers\`, and held by \`test/http/lost-answers.test.ts\`.

| Operation | ${cellsOf(heads)} |
| --- | --- | --- | --- | --- |${hasFrozen ? ' --- |' : ''}
${rows.map((row) => `| \`${row.operation}\` | ${cellsOf(row)} |`).join('\n')}

Not asked here: ${Object.entries(WITHOUT)
    .map(([name, why]) => `\`${name}\` (${why})`)
    .join('; ')}.

${FORMS}
${forms}`
}

const formsText = (table: string): string => `
The tests of the pages were run with the answer of the commit lost the first time that each form changed something: each was answered as it is
without that, and what the tests found afterwards was as it is without. \`npm run answers -- --forms\` does so again.

${table}`

if (import.meta.main) {
  const page = await readFile(FILE, 'utf8')
  if (process.argv.includes('--forms')) {
    const { table, passed } = await playForms()
    if (!passed) process.exitCode = 1
    await writeFile(FILE, page.replace(formsOf(page), formsText(table)))
  } else {
    t.setTimeout(1_500_000)
    const isFrozen = process.argv.includes('--frozen')
    const { rows, missing, wrong } = await playLostAnswers(t, { isFrozen })
    for (const line of [...missing, ...wrong]) t.fail(line)
    await writeFile(FILE, lostAnswersPage(isFrozen ? rows : withFrozenOf(page, rows), formsOf(page)))
  }
}
