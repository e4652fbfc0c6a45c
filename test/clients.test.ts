// It starts programs: those of docs/examples, run against the service as a client would.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { prepareNrc } from '../src/nrc/start.ts'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, SECRET, testApp } from './app.ts'
import { until } from './until.ts'
import { givenResultaattype, givenZaak } from './zaken/given.ts'

const run = promisify(execFile)
const DOCS = join(import.meta.dirname, '../docs')
const hasPython = await run('python3', ['-c', 'import sys; assert sys.version_info >= (3, 9)']).then(
  () => true,
  () => false,
)

const test = await testApp(t)
const catalogus = await givenCatalogus(test)
const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
const zaaktype = await givenZaaktype(test, {
  catalogus,
  concept: true,
  statustypen: ['Ontvangen', 'Klaar'],
  informatieobjecttypen: [informatieobjecttype],
})
await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
await test.call('POST', `${zaaktype}/publish`)
await test.app.listen({ port: 0, host: '127.0.0.1' })
const { port } = test.app.server.address() as AddressInfo

for (const [language, command, file, skip] of [
  ['JavaScript', process.execPath, 'case.mjs', false],
  ['Python', 'python3', 'case.py', hasPython ? false : 'there is no python3 of 3.9 or later'],
] as const) {
  t.test(`the program in ${language} makes a case with a document, and closes it`, { skip }, async (t) => {
    const { stdout } = await run(command, [join(DOCS, 'examples', file)], {
      env: { ...process.env, API: `http://127.0.0.1:${port}`, CLIENT_ID: 'beheer', CLIENT_SECRET: SECRET },
    })
    const [, url = '', einddatum, archiefactiedatum] = stdout.trim().split(' ')
    const { body } = await test.call('GET', new URL(url).pathname, undefined, {
      headers: { 'accept-crs': 'EPSG:4326' },
    })
    t.match(body, { omschrijving: 'Kapvergunning eik', toelichting: 'Boom is gekeurd.', einddatum, archiefactiedatum })
    t.match(einddatum, /^\d{4}-\d\d-\d\d$/)
    t.match(archiefactiedatum, /^\d{4}-\d\d-\d\d$/)
    t.equal(body.zaakinformatieobjecten.length, 1)
    t.ok(body.resultaat)
  })
}

t.test('the program that reads everything shows each case with what hangs on it', async (t) => {
  const { stdout } = await run(process.execPath, [join(DOCS, 'examples', 'read.mjs')], {
    env: { ...process.env, API: `http://127.0.0.1:${port}`, CLIENT_ID: 'beheer', CLIENT_SECRET: SECRET },
  })
  const lines = stdout.trim().split('\n')
  const { count } = (
    await test.call('GET', '/zaken/api/v1/zaken', undefined, { headers: { 'accept-crs': 'EPSG:4326' } })
  ).body
  t.ok(count > 0)
  t.equal(lines.length, count)
  for (const line of lines) t.match(line, /^EXAMPLE-[\w-]+\tKlaar\t\d+\t\S/)
})

t.test('the program that fetches messages gets each once, in order', async (t) => {
  await test.database.sql`update notificatie_settings set mode = 'ingebouwd'`
  await prepareNrc(test.database, test.config)
  const env = { ...process.env, API: `http://127.0.0.1:${port}`, CLIENT_ID: 'beheer', CLIENT_SECRET: SECRET }
  const fetched = async (more: object) =>
    (await run(process.execPath, [join(DOCS, 'examples', 'messages.mjs')], { env: { ...env, ...more } })).stdout.trim()
  const url = await fetched({})
  t.match(url, /\/abonnement\/[0-9a-f-]{36}$/)
  for (let n = 0; n < 3; n++) await givenZaak(test, { zaaktype })
  const first = await fetched({ ABONNEMENT: url })
  t.match(first, /^\S+ create zaak \S+\n\S+ create zaak \S+\n\S+ create zaak \S+$/)
  t.equal(await fetched({ ABONNEMENT: url }), '', 'all of it was confirmed')
})

t.test('the program that keeps a copy has all cases, and goes on where it was', async (t) => {
  const directory = t.testdir()
  const program = () =>
    run('node', [join(DOCS, 'examples', 'copy.mjs'), join(directory, 'copy.json')], {
      env: { ...process.env, API: `http://127.0.0.1:${port}`, CLIENT_ID: 'beheer', CLIENT_SECRET: SECRET },
    })
  const first = program()
  const jobs = setInterval(() => void test.runJobs().catch(() => {}), 300)
  t.teardown(() => clearInterval(jobs))
  const { stdout } = await first
  clearInterval(jobs)
  const headers = { 'accept-crs': 'EPSG:4326' }
  const list = (await test.call('GET', '/zaken/api/v1/zaken', undefined, { headers })).body
  t.match(stdout, `zaak ${list.count}\n`)
  await test.call('DELETE', new URL(list.results[0].url).pathname, undefined, { headers })
  await until('the delete', async () =>
    (await program()).stdout.includes(list.count === 1 ? '' : `zaak ${list.count - 1}\n`),
  )
})

t.test('what docs/clients.md shows of a token is what the programs have', async (t) => {
  const text = await readFile(join(DOCS, 'clients.md'), 'utf8')
  for (const [language, file] of [
    ['js', 'case.mjs'],
    ['python', 'case.py'],
  ]) {
    const [, block = ''] = new RegExp(`\`\`\`${language}\n(?:import [^\n]*\n+)*([\\s\\S]*?)\`\`\``).exec(text) ?? []
    t.match(block, /token/)
    t.ok((await readFile(join(DOCS, 'examples', file!), 'utf8')).includes(block.trim()), file!)
  }
})
