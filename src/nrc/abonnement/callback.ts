// The probe of a callback, before an abonnement is stored: without credentials it has to refuse (401 or 403), with them it has to
// accept. It is made outside any transaction, to addresses that services/addresses.ts allows. Who asks for it learns whether the
// callback behaves, and why no answer came; nothing of what came back: that is for those who may read the log and the pages.

import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../config.ts'
import type { FieldCode } from '../../core/codes.ts'
import { LIMITS } from '../../core/limits.ts'
import { type InvalidParam, onObject, Problem } from '../../core/problem.ts'
import { forClients } from '../../services/addresses.ts'
import {
  type Agent,
  clientReason,
  type FailureKind,
  failureCode,
  failureKind,
  sendWithin,
} from '../../services/transport.ts'
import { ownName } from '../../telemetry/current-organisation.ts'

const TERM_MS = 10_000
const SHOWN = 200
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** What callbacks are tried out with: of a kanaal to which nobody subscribes. */
export const TEST_MESSAGE = {
  kanaal: 'test',
  resource: 'test',
  resourceUrl: 'https://example.com/test/api/v1/test',
  hoofdObject: 'https://example.com/test/api/v1/test',
  actie: 'create',
  aanmaakdatum: '2019-01-01T12:00:00Z',
  kenmerken: {},
}

const REFUSED = {
  address:
    'Dit adres is niet voor iedereen bereikbaar, en mag daarom geen callback zijn; de beheerder kan het toestaan (ALLOWED_PRIVATE_HOSTS).',
  own: 'Dit is een adres van deze dienst zelf.',
}

/** What is wrong with a callback before anybody is asked. */
export function callbackFaults(config: Config, callbackUrl: string): InvalidParam[] {
  const faults = addressFaults(config, callbackUrl)
  const refused = faults.length === 0 && forClients(config).refuses(new URL(callbackUrl))
  return refused ? [{ name: 'callbackUrl', code: 'invalid', reason: REFUSED[refused] }] : faults
}

/** What is wrong with an address that gets credentials of ours: https is needed, and no credentials in the address. */
export function addressFaults(config: Config, callbackUrl: string): InvalidParam[] {
  const fault = (reason: string): InvalidParam[] => [{ name: 'callbackUrl', code: 'invalid', reason }]
  const url = URL.parse(callbackUrl)
  if (!url) return fault('Dit is geen geldige URL.')
  if (url.username || url.password) return fault('Zet geen gebruikersnaam of wachtwoord in het adres; gebruik `auth`.')
  const { notificatiesHttpHosts: hosts } = config
  const http = LOOPBACK.test(url.hostname) || hosts.includes('*') || hosts.includes(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && http))
    return fault('De callback moet met https:// beginnen; de beheerder kan http voor een host toestaan.')
  return []
}

/** How many there are, by organisation: those of one do not refuse another's. */
const running = new Map<string, number>()

/** @throws Problem 503 when too many callbacks are being asked already */
export async function withinLimit<T>(work: () => Promise<T>): Promise<T> {
  const place = ownName('')
  const others = running.get(place) ?? 0
  if (others >= LIMITS.callbacks)
    throw new Problem(503, { detail: 'Er worden te veel callbacks tegelijk getest.', headers: { 'retry-after': '5' } })
  running.set(place, others + 1)
  try {
    return await work()
  } finally {
    const left = (running.get(place) ?? 1) - 1
    if (left > 0) running.set(place, left)
    else running.delete(place)
  }
}

/**
 * Asks the callback twice whether it behaves as a subscriber. What it answered is a line in the log.
 * @param auth value of the header Authorization
 * @throws Problem 503 when too many callbacks are being asked already
 */
export function probeCallback(
  { agent, config, log }: { agent: Agent; config: Config; log: FastifyBaseLogger },
  callbackUrl: string,
  auth: string,
): Promise<InvalidParam[]> {
  const fault = (name: string, code: FieldCode, should: string, { status, kind, nodeCode }: Asked): InvalidParam[] => {
    const { host } = new URL(callbackUrl)
    log.info({ host, code, ...(kind ? { kind, nodeCode } : { status }) }, 'a callback does not behave: no abonnement')
    // That nobody is there says nothing of whether it is protected.
    return kind
      ? [onObject('invalid-callback-url', `De callback gaf geen antwoord: ${clientReason(kind)}.`)]
      : [{ name, code, reason: `${should}: mislukt.` }]
  }
  return withinLimit(async () => {
    if (config.notificatiesTestCallbackAuth) {
      const open = await askWithoutAuth(agent, callbackUrl)
      const should = 'Zonder Authorization moet de callback 401 of 403 antwoorden'
      if (open.status !== 401 && open.status !== 403)
        return fault('callbackUrl', 'no-auth-on-callback-url', should, open)
    }
    const accepted = await ask(agent, callbackUrl, { authorization: auth })
    if (accepted.status >= 200 && accepted.status < 300) return []
    const should = 'Met de opgegeven auth moet de callback een testbericht (kanaal test) aannemen met 2xx'
    return fault('nonFieldErrors', 'invalid-callback-url', should, accepted)
  })
}

/** `status` 0: there was no answer, `kind` says why. */
type Asked = { status: number; kind?: FailureKind; nodeCode?: string | undefined; body: string }

/** Posts a test message. Does not throw: status 0, with the kind of failure, says that there was no answer. */
export const askWithoutAuth = (agent: Agent, url: string): Promise<Asked> => ask(agent, url, {})

async function ask(agent: Agent, url: string, credentials: Record<string, string>): Promise<Asked> {
  try {
    const answer = await sendWithin(TERM_MS, agent, {
      url: new URL(url),
      method: 'POST',
      body: JSON.stringify(TEST_MESSAGE),
      credentials,
      limit: 4096,
      statusSuffices: true,
    })
    const body = answer
      .shown()
      .toString('utf8')
      .replace(/[^\P{C}]/gu, ' ')
      .slice(0, SHOWN)
      .trim()
    return { status: answer.status, body }
  } catch (error) {
    return { status: 0, kind: failureKind(error), nodeCode: failureCode(error), body: '' }
  }
}
