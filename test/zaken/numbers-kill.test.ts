// Slow: it kills processes while keys are replaced.
// Keys are replaced while clients make rollen and look for persons, and processes are killed in the middle of it: each rol is found by its
// number at every moment, rows of before there were keys are sealed on the way, and the old key is retired at the end.
// It starts and kills the program.
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { findSecretBox } from '../../src/cli/server.ts'
import { readConfig } from '../../src/config.ts'
import { deflated } from '../../src/core/audit-contents.ts'
import { passesElfproef } from '../../src/http/formats.ts'
import { countSealed } from '../../src/operations/reseal.ts'
import { givenZaaktype, testApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { givenZaak, ZAKEN } from './given.ts'
import { isReady, MAIN, openClient, processSettings, START_MS, supervise } from './processes.ts'

t.setTimeout(580_000)
const LIMIT = { timeout: 570_000 }
const PLAIN = 6_000
const CLIENTS = 4

const numbers: string[] = []
for (let n = 999_910_000; numbers.length < 4_000; n++) if (passesElfproef(String(n))) numbers.push(String(n))

t.test('each person is found before, during and after a rotation under load, whatever is killed', LIMIT, async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Belanghebbende', omschrijvingGeneriek: 'belanghebbende' }],
  })
  const [roltype] = (await test.call('GET', zaaktype)).body.roltypen
  const zaken: string[] = []
  for (let n = 0; n < 8; n++) zaken.push((await givenZaak(test, { zaaktype })).url)
  // Rows of a version that sealed nothing, also in the audit trail.
  const before = numbers.slice(0, 1_000)
  await sql`
    insert into rol (zaak_id, betrokkene_type, betrokkene_identificatie, roltype_id, omschrijving, omschrijving_generiek)
    select (select min(id) from zaak), 'natuurlijk_persoon', jsonb_build_object('inpBsn', (${before}::text[])[1 + n % 1000]),
      (select max(id) from roltype), 'Belanghebbende', 'belanghebbende' from generate_series(1, ${PLAIN}::int) n`
  const uuids = { hoofdObjectUuid: randomUUID(), resourceUuid: null }
  const packed = before.map((inpBsn) =>
    deflated(JSON.stringify(['x', 'x', null, { betrokkeneIdentificatie: { inpBsn } }]), uuids).toString('hex'),
  )
  await sql`
    insert into audit (bron, actie, resultaat, hoofd_object_uuid, resource, packed)
    select 'zrc', 'create', 201, ${uuids.hoofdObjectUuid}, 'rol', decode((${packed}::text[])[1 + n % 1000], 'hex')
    from generate_series(1, ${PLAIN}::int) n`

  const line = `nieuw:${randomBytes(32).toString('base64')}`
  const settings = processSettings(test)
  const [one, two] = [await freePort(), await freePort()]
  const withNew = { ...settings, DATA_KEYS: line }
  const rings = new Map<number, boolean>()
  const startApi = (port: number, isNew: boolean) => {
    rings.set(port, isNew)
    return supervise(t, 'api', { ...(isNew ? withNew : settings), PORT: String(port) })
  }
  const ready = (port: number) => until('an api', () => isReady(`http://127.0.0.1:${port}`), START_MS)
  let apis = [startApi(one, false), startApi(two, false)]
  let worker = supervise(t, 'worker', settings)
  await Promise.all([ready(one), ready(two)])

  // ---- the load ----
  const made: string[] = []
  let next = 1_000
  let isOver = false
  let looks = 0
  const lost: string[] = []
  const clients = Array.from({ length: CLIENTS }, () =>
    [one, two].map((port) => openClient(`http://127.0.0.1:${port}`)),
  )
  const find = async (which: number, number: string): Promise<boolean> => {
    const path = `${ZAKEN}/rollen?betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=${number}`
    for (let attempt = 0; ; attempt++) {
      const answer = await clients[which]![(which + attempt) % 2]!.call('GET', path)
      // A process that ends or begins is asked again; one that says it lacks a key has failed.
      if (answer.status === 503 && /sleutel/.test(String(answer.body.detail))) return false
      if (answer.status === 200) return Number(answer.body.count) > 0
    }
  }
  const load = clients.map(async (ofClient, which) => {
    for (let turn = 0; !isOver; turn++) {
      const number = numbers[next++ % numbers.length]!
      const body = {
        zaak: zaken[(which + turn) % zaken.length],
        roltype,
        roltoelichting: 'x',
        betrokkeneType: 'natuurlijk_persoon',
        betrokkeneIdentificatie: { inpBsn: number },
      }
      const answer = await ofClient[turn % 2]!.call('POST', `${ZAKEN}/rollen`, body)
      if (answer.status === 201) made.push(number)
      for (const known of [
        before[Math.floor(Math.random() * before.length)],
        made[Math.floor(Math.random() * made.length)],
      ]) {
        if (!known) continue
        looks++
        if (!(await find(which, known))) lost.push(known)
      }
    }
  })
  const more = (count: number) => {
    const from = made.length
    return until(`${count} more rollen`, () => made.length >= from + count)
  }
  await more(20)

  // ---- the roll-out: one process after the other gets the new ring ----
  for (const [place, port] of [one, two].entries()) {
    await apis[place]!.stop()
    apis = apis.with(place, startApi(port, true))
    await ready(port)
    await more(20)
  }
  await worker.stop()
  worker = supervise(t, 'worker', withNew)
  const keys = (...args: string[]) =>
    new Promise<{ code: number; said: string }>((resolve) => {
      execFile(process.execPath, [MAIN, 'keys', ...args], { env: programEnv(withNew) }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, said: stdout + stderr }),
      )
    })
  t.match(await keys('retire', 'secret-key'), { code: 64 }, 'it is needed')
  await until('the new key seals', async () => {
    const holders = await sql<
      { seals: string }[]
    >`select seals from key_holder where seen_at > now() - interval '30 seconds'`
    return holders.length >= 3 && holders.every(({ seals }) => seals === 'nieuw')
  })
  // Each batch of rows is slow, so that the worker is killed in the middle.
  await sql`create function slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$`
  await sql`create trigger slowly after update on rol for each statement execute function slowly()`
  const begun = await keys('reseal')
  t.equal(begun.code, 0, begun.said)
  const state = async () =>
    (
      await sql<{ position: number; done: boolean }[]>`
    select position, done_at is not null as done from reseal where place = 'rol'`
    )[0]!
  await until('the middle', async () => (await state()).position > 0)
  t.notOk((await state()).done)
  worker.kill('SIGKILL')
  apis[0]!.kill('SIGKILL')
  await more(20)
  await until('all is sealed anew', async () => (await sql`select from reseal where done_at is null`).length === 0)
  await more(20)
  isOver = true
  await Promise.all(load)

  t.same(lost, [], `found each time (${looks} times)`)
  t.ok(looks > 100)
  const box = await findSecretBox(
    readConfig({ DATABASE_URL: test.databaseUrl, SECRET_KEY: settings.SECRET_KEY!, DATA_KEYS: line }),
    false,
  )
  const counts = await countSealed({ sql })
  t.same(counts.get(undefined), undefined, 'what was not sealed is')
  t.same(counts.get('secret-key'), undefined)
  t.ok((counts.get('nieuw')?.get('rol') ?? 0) >= PLAIN + made.length)
  t.ok((counts.get('nieuw')?.get('audit') ?? 0) >= PLAIN + made.length)
  test.database.useNumbers(box.numbers)
  const left = await sql`select from rol where inp_bsn_lookup is null`
  t.equal(left.length, 0, 'each row is found by the key')
  const retired = await keys('retire', 'secret-key')
  t.equal(retired.code, 0, retired.said)
  for (const number of [...before.slice(0, 20), ...made.slice(0, 20)]) t.ok(await find(0, number))
  for (const ofClient of clients) for (const client of ofClient) await client.close()
  t.same(
    [...apis, worker].flatMap(({ faults }) => faults),
    [],
  )
})
