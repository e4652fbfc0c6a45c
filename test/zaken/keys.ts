// Twenty clients create cases with a key and repeat each request until it has an answer, while processes are killed and all
// connections of the database are broken off again and again: each key is one case, with one audit record and one message.
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidOf } from '../app.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { until } from '../until.ts'
import { zaakBody } from './given.ts'
import { CREATE, endAll, givenService, openClient } from './processes.ts'

const CLIENTS = 20

export async function playKeys(
  stage: StageLike,
  judge: JudgeLike,
  { creates, random }: { creates: number; random: () => number },
): Promise<void> {
  const faults = Math.ceil(creates / 60)
  const service = await givenService(stage, { apis: 2, workers: 1 })
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
      judge.equal(
        answer.status === undefined || [409, 503].includes(answer.status),
        true,
        `${answer.status}: said to be repeated`,
      )
      await sleep(50 + random() * 100)
    }
  }
  const all = Promise.all(
    Array.from({ length: CLIENTS }, async (_, which) => {
      for (let n = next++; n < creates; n = next++) await create(which, n)
    }),
  )
  const targets = Array.from({ length: faults }, () => random() * creates).sort((a, b) => a - b)
  for (const target of targets) {
    await until(`create ${target}`, () => next >= target)
    await sleep(random() * 30)
    if (random() < 0.5) apis[random() < 0.5 ? 0 : 1]!.kill('SIGKILL')
    else
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'zaakstroom api'`
  }
  await all
  stage.comment(`${creates} keys, ${repeated} of them repeated, ${replayed} of these done before; ${faults} faults`)
  judge.equal(repeated > 0, true, 'some were repeated')
  // In a few hundred it may be that none was cut off between its commit and its answer.
  judge.equal(replayed > 0 || creates < 1000, true, 'and some of these had been done')
  const rows = await sql<{ omschrijving: string; uuid: string; sporen: number; berichten: number }[]>`
    select z.omschrijving, z.uuid,
      (select count(*)::int from audit a where a.hoofd_object_uuid = z.uuid) as sporen,
      (select count(*)::int from notificatie n where n.hoofd_object_uuid = z.uuid) as berichten
    from zaak z where z.omschrijving like 'PROEF %'`
  judge.equal(rows.length, creates, 'as many cases as keys')
  judge.equal(new Set(rows.map(({ omschrijving }) => omschrijving)).size, creates, 'each its own')
  judge.same(
    rows.filter(({ sporen, berichten }) => sporen !== 1 || berichten !== 1),
    [],
    'each with one record and one message',
  )
  judge.same(
    rows.filter(({ omschrijving, uuid }) => uuidOf(urls[Number(omschrijving.slice(6))]!) !== uuid),
    [],
    'and every client was told of its own',
  )
  for (const client of clients.flat()) await client.close()
  await endAll(judge, service)
}
