// The program in docs/clients.md, taken out of the document and run against the service as a client would.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, SECRET, testApp } from './app.ts'

t.test('the program in docs/clients.md makes a case with a status and a document', async (t) => {
  const text = await readFile(new URL('../docs/clients.md', import.meta.url), 'utf8')
  const [token, program] = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code!)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-clients-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'token.mjs'), token!)
  await writeFile(join(directory, 'case.mjs'), program!)

  const test = await testApp(t)
  const catalogus = await givenCatalogus(test)
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  await givenZaaktype(test, {
    catalogus,
    statustypen: ['Ontvangen', 'Klaar'],
    informatieobjecttypen: [informatieobjecttype],
  })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'case.mjs')], {
    env: { ...process.env, API: `http://127.0.0.1:${port}`, CLIENT_ID: 'beheer', CLIENT_SECRET: SECRET },
  })
  const url = stdout.trim().split(' ')[1]!
  const { body } = await test.call('GET', new URL(url).pathname, undefined, { headers: { 'accept-crs': 'EPSG:4326' } })
  t.equal(body.omschrijving, 'Kapvergunning eik')
  t.ok(body.status)
  t.equal(body.zaakinformatieobjecten.length, 1)
})
