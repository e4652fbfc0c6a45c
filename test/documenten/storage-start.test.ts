// A process that starts while its document storage is not there.
// In a process of its own: it starts the program in it.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import t from 'tap'
import { runApi } from '../../src/cli/run-api.ts'
import { runWorker } from '../../src/cli/run-worker.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { DOCUMENTEN } from './importing.ts'

/** The HTTP side of the program, as `api` starts it. */
async function givenProgram(t: { teardown(work: () => unknown): unknown }, { config, databaseUrl }: TestApp) {
  const box = secretBox(config.secretKey!)
  const api = await runApi({ ...config, port: 0 }, databaseUrl, box, openLog('silent'))
  t.teardown(() => api.stop())
  return api.address
}

async function givenDocument(test: TestApp): Promise<string> {
  const { body } = await test.call('POST', DOCUMENTEN, {
    bronorganisatie: '000000000',
    creatiedatum: '2024-02-29',
    titel: 'Titel',
    auteur: 'Auteur',
    taal: 'nld',
    informatieobjecttype: await givenInformatieobjecttype(test),
    inhoud: 'AAAA',
    bestandsomvang: 3,
  })
  return body.url
}

const status = async (url: string) => (await fetch(url)).status

t.test(
  'a directory that is not mounted is not taken for a new store, and the process starts all the same',
  async (t) => {
    const test = await testApp(t)
    const root = test.config.documentenDir
    const url = await givenDocument(test)
    rmSync(root, { recursive: true })
    mkdirSync(root)
    const address = await givenProgram(t, test)
    const worker = await runWorker({ ...test.config, workerConcurrency: 1 }, test.databaseUrl, openLog('silent'))
    t.teardown(() => worker.stop())
    t.strictSame(readdirSync(root), [])
    t.equal(await status(`${address}/livez`), 200)
    const ready = await fetch(`${address}/readyz`)
    t.equal(ready.status, 503)
    t.match(await ready.json(), { checks: { storage: { status: 'failed' }, database: { status: 'ok' } } })
    t.equal((await test.call('GET', url)).status, 200)
    t.equal((await test.call('GET', `${url}/download`)).status, 503)
    t.strictSame(readdirSync(root), [])
  },
)

t.test('without documents the directory is made', async (t) => {
  const test = await testApp(t)
  rmSync(test.config.documentenDir, { recursive: true })
  const address = await givenProgram(t, test)
  t.equal(await status(`${address}/readyz`), 200)
})

t.test('a directory that cannot be made does not keep the process from starting', async (t) => {
  const test = await testApp(t)
  const address = await givenProgram(t, { ...test, config: { ...test.config, documentenDir: '/dev/null/documenten' } })
  t.equal(await status(`${address}/livez`), 200)
  t.equal(await status(`${address}/readyz`), 503)
})

t.test('settings of the storage that do not fit are told by name at the start, without their values', async (t) => {
  for (const [env, fault] of [
    [{ DOCUMENTEN_API_BACKEND: 'zolder' }, 'DOCUMENTEN_API_BACKEND'],
    [{ DOCUMENTEN_API_BACKEND: 'azure_blob_storage' }, 'AZURE_ACCOUNT_NAME'],
    [{ S3_ACCESS_KEY_ID: 'id-van-ons' }, 'S3_SECRET_ACCESS_KEY'],
    [{ AZURE_ACCOUNT_NAME: 'account', AZURE_CLIENT_SECRET: 'geheim-van-ons' }, 'AZURE_TENANT_ID'],
    [{ S3_ENDPOINT_URL: 'https://wie:geheim-van-ons@s3.example' }, 'S3_ENDPOINT_URL'],
  ] as const) {
    try {
      readConfig(env)
      t.fail(`${fault} is taken`)
    } catch (error) {
      t.ok(error instanceof ConfigError)
      t.match((error as Error).message, fault)
      t.notMatch((error as Error).message, 'van-ons')
    }
  }
  t.equal(readConfig({}).documentenBackend, 'filesystem')
  t.match(readConfig({ DOCUMENTEN_API_BACKEND: 's3_storage' }).s3, { bucket: 'openzaak', location: 'documenten/' })
})
