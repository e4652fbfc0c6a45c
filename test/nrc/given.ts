// What the tests of abonnementen share.

import { systemActor } from '../../src/core/access.ts'
import type { Mutation } from '../../src/core/mutate.ts'
import { mutator } from '../../src/core/mutate.ts'
import { prepareNrc } from '../../src/nrc/start.ts'
import { type TestApp, testApp } from '../app.ts'
import type { Received } from './subscriber.ts'

export const API = '/notificaties/api/v1'

/** An application that delivers to its own abonnementen. */
export async function builtIn(t: Parameters<typeof testApp>[0], env: Record<string, string> = {}): Promise<TestApp> {
  const test = await testApp(t, { NOTIFICATIES_MODE: 'ingebouwd', ...env })
  await prepareNrc(test.database, test.config)
  await test.database.sql`truncate notificatie, delivery, delivery_attempt` // of the clients that the set-up made
  return test
}

/** @returns the address of the abonnement */
export async function subscribe(
  test: TestApp,
  callbackUrl: string,
  kanalen: object[] = [{ naam: 'documenten' }],
  more: object = {},
): Promise<string> {
  const { status, body, text } = await test.call('POST', `${API}/abonnement`, {
    callbackUrl,
    auth: 'x',
    kanalen,
    ...more,
  })
  if (status !== 201) throw new Error(text)
  return body.url
}

export const uuidOf = (url: string): string => url.split('/').at(-1)!

export const change = <T>({ database }: TestApp, work: (m: Mutation) => Promise<T>): Promise<T> =>
  mutator(database)(systemActor('test', 'http://localhost'), work)

/** What came but for the probes. */
export const real = (received: Received[]): Received[] => received.filter(({ body }) => body.kanaal !== 'test')

export const idsOf = (received: Received[]): unknown[] => real(received).map(({ headers }) => headers['webhook-id'])
