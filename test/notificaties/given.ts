// What the tests of notifications share: a receiver, a service that sends to it, changes, and a clock to move.
import { randomUUID } from 'node:crypto'
import { type Receiver, startReceiver } from '../../bench/receiver.ts'
import { systemActor } from '../../src/core/access.ts'
import { type Actie, mutator } from '../../src/core/mutate.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { openSenderDatabase } from '../../src/notificaties/claims.ts'
import { openSender, type Sender } from '../../src/notificaties/sender.ts'
import { type NotificationSettings, saveSettings } from '../../src/notificaties/settings.ts'
import { saveService } from '../../src/services/register.ts'
import { type TestApp, testApp } from '../app.ts'

export const SECRET = 'geheim bij de notificatiedienst, 32+'
export type TestLike = { teardown(work: () => unknown): unknown }
export type Given = TestApp & { receiver: Receiver }

export async function givenReceiver(t: TestLike): Promise<Receiver> {
  const receiver = await startReceiver()
  t.teardown(receiver.stop)
  return receiver
}

/** An application whose notifications go to a receiver. */
export async function givenNotificaties(
  t: TestLike,
  values: Partial<NotificationSettings> = {},
  env: Record<string, string> = {},
  lines?: (line: string) => void,
): Promise<Given> {
  const receiver = await givenReceiver(t)
  const test = await testApp(t, env, lines)
  await forgetMessages(test) // of the clients that the set-up made
  await configure(test, receiver.root, values)
  return { ...test, receiver }
}

export async function forgetMessages({ database: { sql } }: Pick<TestApp, 'database'>): Promise<void> {
  await sql`truncate notificatie, delivery, delivery_attempt`
}

export async function configure(
  { database, config, runJobs }: TestApp,
  apiRoot: string,
  values: Partial<NotificationSettings> = {},
  timeoutMs = 10_000,
  { client = 'zaakstroom', secret = SECRET }: { client?: string; secret?: string } = {},
): Promise<void> {
  await mutator(database)(systemActor('test'), async (m) => {
    await saveService(m, secretBox(config.secretKey!), {
      label: 'Notificaties',
      slug: 'nrc',
      soort: 'nrc',
      apiRoot,
      authenticatie: 'zgw',
      clientId: client,
      secret,
      timeoutMs,
    })
    await saveSettings(m, { dienst: 'nrc', ...values })
  })
  await runJobs()
}

export async function change({ database }: TestApp, values: Partial<NotificationSettings>): Promise<void> {
  await mutator(database)(systemActor('test'), (m) => saveSettings(m, values))
}

/** A change of a (made up) document, with its message; the id of the message. */
export async function givenChange(
  { database }: TestApp,
  hoofdobject: string = randomUUID(),
  actie: Actie = 'create',
): Promise<string> {
  const url = `http://localhost/documenten/api/v1/enkelvoudiginformatieobjecten/${hoofdobject}`
  await mutator(database)(systemActor('test', 'http://localhost'), async (m) => {
    m.record({
      component: 'drc',
      actie,
      resource: 'enkelvoudiginformatieobject',
      url,
      uuid: hoofdobject,
      weergave: 'document',
      kanaal: {
        naam: 'documenten',
        kenmerken: { bronorganisatie: '517439943', 'informatieobjecttype.catalogus': 'x' },
      },
      oud: null,
      nieuw: { url },
    })
  })
  const [row] =
    await database.sql`select uuid from notificatie where hoofd_object_uuid = ${hoofdobject} order by id desc limit 1`
  return row!.uuid
}

/** Lets time pass: everything that is planned comes nearer. */
export async function elapse({ database: { sql } }: TestApp, seconds: number): Promise<void> {
  await sql`update delivery set next_attempt_at = next_attempt_at - ${seconds} * interval '1 second'`
  await sql`update external_receiver set not_before = not_before - ${seconds} * interval '1 second'`
}

export async function stateOf({ database: { sql } }: TestApp, uuid: string): Promise<Record<string, unknown>> {
  const [row] = await sql`
    select coalesce(l.status, 'afgeleverd') as status, coalesce(l.retries, 0) as retries,
      extract(epoch from l.next_attempt_at - now())::float8 as "overSeconden",
      (select count(*) from delivery_attempt where notificatie_id = n.id) as pogingen
    from notificatie n left join delivery l on l.notificatie_id = n.id where n.uuid = ${uuid}`
  return row!
}

export async function attemptsOf({ database: { sql } }: TestApp, uuid: string) {
  return sql`
    select p.number, p.outcome, p.http_status as status, p.answer, p.duration_ms as ms
    from delivery_attempt p join notificatie n on n.id = p.notificatie_id where n.uuid = ${uuid} order by number`
}

/** A sender as a worker has one, registered under `pool`. */
export async function givenSender(t: TestLike, test: Given): Promise<{ sender: Sender; pool: string }> {
  const pool = randomUUID()
  await test.database.sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, ${pool})`
  const sender = openSender({ ...test.parts, open: () => openSenderDatabase(test.databaseUrl) })
  t.teardown(async () => {
    sender.stop()
    await sender.close()
  })
  return { sender, pool }
}
