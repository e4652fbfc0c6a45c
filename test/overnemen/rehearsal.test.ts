// The evening of the switch before it comes, and the switch itself while a client goes on writing.
import { execFile } from 'node:child_process'
import t, { type Test } from 'tap'
import { readerOf } from '../../src/database/database.ts'
import { ownAddress } from '../../src/http/links.ts'
import { makeDry, openJournal } from '../../src/overnemen/playback/journal.ts'
import { play } from '../../src/overnemen/playback/play.ts'
import { meet, openTarget } from '../../src/overnemen/playback/target.ts'
import { planSample, rehearseSwitch } from '../../src/overnemen/rehearsal.ts'
import { beginRound } from '../../src/overnemen/round.ts'
import { switchOver, type Takeover } from '../../src/overnemen/takeover.ts'
import { SECRET, type TestApp, testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'
import { emptyDatabase } from '../setup.ts'
import { fillOpenZaak, fillOtherKinds, OLD } from './open-zaak-database.ts'

const CRS = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }
const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const ZAKEN = '/zaken/api/v1/zaken'

async function roundOf(test: TestApp, given: Partial<Parameters<typeof beginRound>[1]> & { url: string }) {
  const begun = await beginRound(test.parts, {
    ...{ kind: 'api', secret: SECRET, trial: false, readOnly: true },
    settings: { clientId: 'beheer', oudeUrls: [], bytes: 'laten', naast: 2 },
    ...given,
  })
  try {
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  } finally {
    await begun.release()
  }
  return begun.state()
}

/** An old installation with its address, and a new one. */
async function givenBoth(t: Test) {
  const { url } = await emptyDatabase(t)
  await fillOpenZaak(url, { zaken: 4, documents: 2 })
  await fillOtherKinds(url)
  const old = await testApp(t)
  const first = { kind: 'open-zaak' as const, url, secret: url }
  const settings = { oudeUrls: [OLD], bytes: 'laten' as const, naast: 2 }
  const taken = await roundOf(old, { ...first, settings })
  await old.database.sql.begin((sql) => switchOver(sql, taken))
  return { old, address: await old.app.listen({ host: '127.0.0.1', port: 0 }), here: await testApp(t) }
}

/** The subcommand as an operator runs it, on the database of an application. */
const run = (test: TestApp, args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = programEnv({
      ...{ DATABASE_URL: test.databaseUrl, SECRET_KEY: 'key of the tests, long enough', LOG_LEVEL: 'silent' },
      ...{ DATA_DIR: test.config.dataDir, PUBLIC_URL: ownAddress(test.config), NOTIFICATIONS_DISABLED: 'true' },
    })
    const child = execFile(process.execPath, [MAIN, 'overnemen', ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
    child.stdin?.end(SECRET)
  })

t.test('the switch and the way back are rehearsed, and change nothing on either side', async (t) => {
  const { old, address, here } = await givenBoth(t)
  const { database, parts, config } = here
  await roundOf(here, { url: address })
  const second = await roundOf(here, { url: address })
  t.equal(second.round, 2)
  const rehearsed = await rehearseSwitch(database, second)
  t.match(rehearsed, { removed: 0 })
  const [state] = await database.sql<Takeover[]>`select * from takeover`
  t.equal(state?.status, 'klaar', 'the switch was undone')

  const before = await old.database.sql`select count(*) from audit`
  const connection = await database.sql.reserve()
  const target = openTarget({ url: address, clientId: 'beheer', secret: SECRET })
  try {
    t.equal(await meet(target, []), 200)
    await makeDry(connection)
    const journal = openJournal(connection, await planSample(connection, second, address, 3))
    const base = ownAddress(config)
    await play(
      { reader: readerOf(database), stores: parts, base, target, journal, dry: true },
      new AbortController().signal,
      () => {},
    )
    const counts = await journal.counts()
    t.ok(counts.length > 12, 'of each kind')
    t.same([...new Set(counts.map(({ state }) => state))], ['equal'], JSON.stringify(counts))
    t.equal(counts.find(({ resource }) => resource === 'zaak')?.count, 3)
  } finally {
    await connection`discard temp`
    connection.release()
    await target.close()
  }
  t.same([...(await old.database.sql`select count(*) from audit`)], [...before])
  t.equal((await database.sql`select from playback`).length, 0, 'and nothing of it is kept')
  const { stdout, stderr, code } = await run(here, [
    'oefenen',
    address,
    '--to',
    address,
    '--client',
    'beheer',
    '--secret-stdin',
  ])
  t.equal(code, 0, stderr)
  t.match(stdout, /\| Ronde 3 \| .* 0 geweigerd \|/)
  t.match(stdout, /\| Omschakelen \(teruggedraaid\) \|/)
  t.match(stdout, /objecten vergeleken: \d+ gelijk \|/)
  t.match(stdout, /## Wat nooit teruggaat/)
  await database.sql`update takeover set status = 'gestopt'`
  t.equal(await rehearseSwitch(database, second), undefined, 'what is not complete is not switched')
})

t.test('what a client was told through the switch is on the new side, each once', async (t) => {
  const { old, address, here } = await givenBoth(t)
  await roundOf(here, { url: address })
  const zaaktype = (await old.call('GET', ZAKEN, undefined, CRS)).body.results[0].zaaktype
  const path = new URL(zaaktype).pathname
  const told: string[] = []
  let side = old
  const write = async (n: number) => {
    const base = (await side.call('GET', path)).body.url
    const body = {
      zaaktype: base,
      bronorganisatie: '000000000',
      verantwoordelijkeOrganisatie: '000000000',
      startdatum: '2026-03-02',
      identificatie: `DOOR-${n}`,
    }
    const answer = await side.call('POST', ZAKEN, body, CRS)
    if (answer.status === 201) told.push(`DOOR-${n}`)
    return answer.status
  }
  for (let n = 0; n < 5; n++) t.equal(await write(n), 201)
  side = here
  t.not(await write(5), 201, 'the new side takes none before the switch')
  const last = await roundOf(here, { url: address })
  await here.database.sql.begin((sql) => switchOver(sql, last))
  for (let n = 6; n < 10; n++) t.equal(await write(n), 201)
  const kept = await here.database.sql<{ identificatie: string }[]>`
    select identificatie from zaak where identificatie like 'DOOR-%' order by identificatie`
  t.same(
    kept.map(({ identificatie }) => identificatie),
    told.sort(),
  )
})
