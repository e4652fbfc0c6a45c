// Twenty clients create cases with a key and repeat each request until it has an answer, while processes are killed and all
// connections of the database are broken off again and again: each key is one case, with one audit record and one message. Repeat
// with KILL_SEED=…; KILL_CREATES=10000 for a long run.
// It starts and kills the program.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { uuidOf } from '../app.ts'
import { until } from '../until.ts'
import { zaakBody } from './given.ts'
import { CREATE, endAll, givenService, openClient, randomFrom } from './processes.ts'

const CREATES = Number(process.env.KILL_CREATES ?? 400)
const CLIENTS = 20
const FAULTS = Math.ceil(CREATES / 60)
const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31))
const LIMIT_MS = Math.max(580_000, CREATES * 200)
t.setTimeout(LIMIT_MS)
t.comment(`KILL_SEED=${seed}`)
const random = randomFrom(seed)

t.test('a create that is repeated with its key is done once, whatever was killed', { timeout: LIMIT_MS }, async (t) => {
  const service = await givenService(t, { apis: 2, workers: 1 })
  const { apis, test } = service
  const { sql } = test.database
  const clients = Array.from({ length: CLIENTS }, () => apis.map(({ address }) => openClient(address)))
  const urls: string[] = []
  let [next, repeated, replayed] = [0, 0, 0]
  const create = async (which: number, n: number) => {
    const body = zaakBody(service.zaaktype, { omschrijving: `PROEF ${n}` })
    for (let attempt = 0; ; attempt++) {
      const client = clients[which]![(which + attempt) % apis.length]!
      const answer = await client.call('POST', CREATE, body, undefined, { 'idempotency-key': `sleutel-${n}` })
      if (answer.status === 201) {
        urls[n] = answer.body.url
        if (attempt > 0) repeated++
        if (answer.headers['idempotency-replayed'] === 'true') replayed++
        return
      }
      t.ok(answer.status === undefined || [409, 503].includes(answer.status), `${answer.status}: said to be repeated`)
      await sleep(50 + random() * 100)
    }
  }
  const all = Promise.all(
    Array.from({ length: CLIENTS }, async (_, which) => {
      for (let n = next++; n < CREATES; n = next++) await create(which, n)
    }),
  )
  const targets = Array.from({ length: FAULTS }, () => random() * CREATES).sort((a, b) => a - b)
  for (const target of targets) {
    await until(`create ${target}`, () => next >= target)
    await sleep(random() * 30)
    if (random() < 0.5) apis[random() < 0.5 ? 0 : 1]!.kill('SIGKILL')
    else
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'zaakstroom api'`
  }
  await all
  t.comment(`${CREATES} keys, ${repeated} of them repeated, ${replayed} of these done before; ${FAULTS} faults`)
  t.ok(repeated > 0 && replayed > 0)
  const rows = await sql<{ omschrijving: string; uuid: string; sporen: number; berichten: number }[]>`
    select z.omschrijving, z.uuid,
      (select count(*)::int from audit a where a.hoofd_object_uuid = z.uuid) as sporen,
      (select count(*)::int from notificatie n where n.hoofd_object_uuid = z.uuid) as berichten
    from zaak z where z.omschrijving like 'PROEF %'`
  t.equal(rows.length, CREATES, 'as many cases as keys')
  t.equal(new Set(rows.map(({ omschrijving }) => omschrijving)).size, CREATES, 'each its own')
  t.same(
    rows.filter(({ sporen, berichten }) => sporen !== 1 || berichten !== 1),
    [],
    'each with one record and one message',
  )
  t.same(
    rows.filter(({ omschrijving, uuid }) => uuidOf(urls[Number(omschrijving.slice(6))]!) !== uuid),
    [],
    'and every client was told of its own',
  )
  for (const client of clients.flat()) await client.close()
  await endAll(t, service)
})
