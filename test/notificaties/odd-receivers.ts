// What tests of receivers that fail for a while share: an application with odd receivers, as abonnementen or as the external service,
// and a clock to move.
import { randomUUID } from 'node:crypto'
import { secretBox } from '../../src/core/secret-box.ts'
import { subscriberOwner } from '../../src/notificaties/deliver.ts'
import { type TestApp, testApp } from '../app.ts'
import { configure, forgetMessages, givenReceiver, type TestLike } from './given.ts'

export type Odd = {
  test: TestApp
  /** Ids of the messages that a receiver accepted, in their order. */
  accepted(name: string): string[]
  /** What a receiver answers from now on: a status, with headers where they matter. */
  answers(answer: (name: string, id: string) => number | [status: number, headers: Record<string, string>]): void
  /** Forgets all messages, and how the receivers did. */
  reset(): Promise<void>
}

/** @param names of abonnementen; `extern`: the external service, alone */
export async function startOdd(t: TestLike, names: readonly string[]): Promise<Odd> {
  const receiver = await givenReceiver(t)
  const test = await testApp(t)
  await forgetMessages(test)
  const { sql } = test.database
  if (names[0] === 'extern') await configure(test, receiver.root)
  else for (const name of names) await givenAbonnement(test, `${receiver.root}${name}`)
  const accepted = new Map<string, string[]>()
  return {
    test,
    accepted: (name) => accepted.get(name) ?? [],
    answers(answer) {
      receiver.answer = (response, { headers, path, id: ofExternal }) => {
        const id = String(headers['webhook-id'] ?? ofExternal)
        const name = names[0] === 'extern' ? 'extern' : (path.split('/').at(-1) ?? '')
        const [status, more] = [answer(name, id)].flat() as [number, Record<string, string>?]
        if (status >= 200 && status < 300) accepted.set(name, [...(accepted.get(name) ?? []), id])
        response.writeHead(status, { ...more, ...(status === 302 && { location: '/' }) }).end()
      }
    },
    async reset() {
      await forgetMessages(test)
      await sql`update external_receiver set failures = 0, failing_since = null, not_before = null`
      accepted.clear()
    },
  }
}

/** An abonnement on kanaal documenten, in a service that delivers to its own. */
export async function givenAbonnement({ database: { sql }, config }: TestApp, callbackUrl: string): Promise<number> {
  await sql`update notificatie_settings set mode = 'ingebouwd'`
  await sql`insert into kanaal (naam) values ('documenten') on conflict do nothing`
  const uuid = randomUUID()
  const auth = secretBox(config.secretKey!).seal('geheim', subscriberOwner(uuid))
  const [row] = await sql<{ id: number }[]>`
    insert into abonnement (uuid, callback_url, auth) values (${uuid}, ${callbackUrl}, ${auth}) returning id`
  await sql`insert into abonnement_kanaal (abonnement_id, kanaal_id) select ${row!.id}, id from kanaal where naam = 'documenten'`
  return row!.id
}

/** Lets so many seconds pass for what waits, and has sent what is due then. */
export async function pass({ test }: Pick<Odd, 'test'>, seconds: number): Promise<void> {
  const { sql } = test.database
  const earlier = sql`${seconds} * interval '1 second'`
  await sql`update delivery set next_attempt_at = next_attempt_at - ${earlier}`
  await sql`update abonnement set not_before = not_before - ${earlier}`
  await sql`update external_receiver set not_before = not_before - ${earlier}`
  await test.runJobs()
}
