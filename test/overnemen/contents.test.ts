import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { checkStorage } from '../../src/documenten/storage/check.ts'
import { beginRound } from '../../src/overnemen/round.ts'
import { type TestApp, testApp } from '../app.ts'
import { EICAR, givenScanner } from '../documenten/scanner.ts'
import { givenAzure, givenS3 } from '../documenten/storage-servers.ts'
import { emptyDatabase } from '../setup.ts'
import { fillOpenZaak, KIND, OLD, uuidOf } from './open-zaak-database.ts'

const CONTENT: Record<number, string> = { 1: '1234567890', 2: 'kort' } // 10 bytes are stated of each
const document = (n: number) => `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, n)}`

const { url } = await emptyDatabase(t)
await fillOpenZaak(url, { zaken: 1, documents: 4 })
const old = postgres(url, { max: 1, onnotice: () => {} })
await old`update documenten_enkelvoudiginformatieobject set inhoud = 'uploads//../weg.bin' where id = 4`
await old.end()

async function round(test: TestApp, given: { bytes: 'kopieren' | 'laten'; bestanden?: string; trial?: boolean }) {
  const { trial: dry = false, ...settings } = given
  const secret = url
  const begun = await beginRound(test.parts, {
    ...{ kind: 'open-zaak', url, secret, trial: dry, readOnly: false },
    settings: { oudeUrls: [OLD], naast: 2, ...settings },
  })
  for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  await begun.release()
  return begun
}

const remarks = async ({ database }: TestApp, trial = false) =>
  (
    await database.sql<{ line: string }[]>`
      select m.code || ' ' || right(m.key, 1) as line from takeover_remark m join takeover o on o.id = m.takeover_id
      where m.kind = 'bestand' and o.trial = ${trial} order by 1`
  ).map(({ line }) => line)
const REMARKS = ['bestand-naam 4', 'bestand-ontbreekt 3', 'omvang-anders 2']

const STORES = {
  'a mounted directory': async () => ({}),
  'a bucket of S3': async () => ({
    ...(await givenS3(t)).env,
    DOCUMENTEN_API_BACKEND: 's3_storage',
    S3_LOCATION: 'oud',
  }),
  'a container of Azure': async () => ({
    ...(await givenAzure(t)).env,
    DOCUMENTEN_API_BACKEND: 'azure_blob_storage',
    AZURE_LOCATION: 'oud',
  }),
}
for (const [name, settings] of Object.entries(STORES))
  t.test(`bytes in ${name} are taken as they lie, and stay there`, async (t) => {
    const test = await testApp(t, await settings())
    const { store } = test.parts
    async function* bytes(text: string) {
      yield Buffer.from(text)
    }
    for (const [n, text] of Object.entries(CONTENT)) await store.write(`uploads/2024/01/${n}.bin`, bytes(text))
    const stored = async () => (await Array.fromAsync(store.list())).map(({ key }) => key).sort()
    const before = await stored()

    await round(test, { bytes: 'laten', trial: true })
    t.same(await remarks(test, true), REMARKS, 'a dry run tells which files lack or have another size')
    t.equal((await test.database.sql`select from file`).length, 0)

    await round(test, { bytes: 'laten' })
    t.equal((await test.call('GET', `${document(1)}/download`)).text, CONTENT[1])
    t.equal((await test.call('GET', `${document(2)}/download`)).text, CONTENT[2])
    t.same(await test.database.sql`select key, size, sha256 from file order by key`, [
      { key: 'uploads/2024/01/1.bin', size: 10, sha256: null },
      { key: 'uploads/2024/01/2.bin', size: 4, sha256: null },
    ])
    t.same(await stored(), before, 'nothing was copied')

    t.equal((await checkStorage(test.parts, { verify: true })).found, 0)
    t.equal((await test.database.sql`select from file where sha256 is null`).length, 0, 'verified once')

    // Until the switch they are those of the installation that is in use.
    await test.database.sql`delete from zaakinformatieobject`
    await test.database.sql`delete from objectinformatieobject`
    t.equal((await test.call('DELETE', document(2))).status, 204)
    await test.runJobs()
    t.same(await stored(), before)
    await test.database.sql`update takeover set status = 'omgeschakeld'`
    t.equal((await test.call('DELETE', document(1))).status, 204)
    await test.runJobs()
    t.same(await stored(), ['uploads/2024/01/2.bin'])
  })

t.test('bytes are copied out of a directory, and a dry run looks at them only', async (t) => {
  const test = await testApp(t)
  const bestanden = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  t.teardown(() => rm(bestanden, { recursive: true }))
  await mkdir(join(bestanden, 'uploads/2024/01'), { recursive: true })
  for (const [n, text] of Object.entries(CONTENT)) await writeFile(join(bestanden, `uploads/2024/01/${n}.bin`), text)
  await round(test, { bytes: 'kopieren', bestanden, trial: true })
  t.same(await remarks(test, true), REMARKS)
  t.same(await Array.fromAsync(test.parts.store.list()), [])
  await round(test, { bytes: 'kopieren', bestanden })
  t.equal((await test.call('GET', `${document(1)}/download`)).text, CONTENT[1])
  t.equal((await Array.fromAsync(test.parts.store.list())).length, 2)

  // One that cannot be read does not keep the others from being taken.
  const unreadable = join(bestanden, 'uploads/2024/01/3.bin')
  await symlink(unreadable, unreadable)
  await round(test, { bytes: 'kopieren', bestanden })
  t.same(await remarks(test), ['bestand-naam 4', 'bestand-onleesbaar 3', 'omvang-anders 2'])
  await rm(unreadable)
  await writeFile(unreadable, 'terug.....')
  await round(test, { bytes: 'kopieren', bestanden })
  t.same(await remarks(test), ['bestand-naam 4', 'omvang-anders 2'])
  t.equal((await test.call('GET', `${document(3)}/download`)).text, 'terug.....')
})

t.test('what a malware scanner refuses is left, and told', async (t) => {
  const test = await testApp(t, { CLAMD_URL: (await givenScanner(t)).url })
  const bestanden = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  t.teardown(() => rm(bestanden, { recursive: true }))
  await mkdir(join(bestanden, 'uploads/2024/01'), { recursive: true })
  for (const [n, text] of Object.entries({ 1: CONTENT[1]!, 2: EICAR }))
    await writeFile(join(bestanden, `uploads/2024/01/${n}.bin`), text)
  await round(test, { bytes: 'kopieren', bestanden })
  t.same(await remarks(test), ['bestand-malware 2', 'bestand-naam 4', 'bestand-ontbreekt 3'])
  t.equal((await test.call('GET', `${document(1)}/download`)).text, CONTENT[1])
  t.equal((await Array.fromAsync(test.parts.store.list())).length, 1)
})
