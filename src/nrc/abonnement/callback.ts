// The probe of a callback, before an abonnement is stored: without credentials it has to refuse (401 or 403), with them it has to
// accept. It is made outside any transaction, through the guard that keeps us away from forbidden addresses.
import type { Config } from '../../config.ts'
import { LIMITS } from '../../core/limits.ts'
import { type InvalidParam, Problem } from '../../core/problem.ts'
import { type Agent, FAILURES, type FailureKind, failureKind, sendWithin } from '../../services/transport.ts'

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

/** What is wrong with a callback before anybody is asked: https is needed, and no credentials in the address. */
export function addressFaults(config: Config, callbackUrl: string): InvalidParam[] {
  const fault = (reason: string) => [{ name: 'callbackUrl', code: 'invalid', reason }]
  const url = URL.parse(callbackUrl)
  if (!url) return fault('Dit is geen geldige URL.')
  if (url.username || url.password) return fault('Zet geen gebruikersnaam of wachtwoord in het adres; gebruik `auth`.')
  const { notificatiesHttpHosts: hosts } = config
  const http = LOOPBACK.test(url.hostname) || hosts.includes('*') || hosts.includes(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && http))
    return fault('De callback moet met https:// beginnen; de beheerder kan http voor een host toestaan.')
  return []
}

let running = 0

/** @throws Problem 503 when too many callbacks are being asked already */
export async function withinLimit<T>(work: () => Promise<T>): Promise<T> {
  if (running >= LIMITS.callbacks)
    throw new Problem(503, { detail: 'Er worden te veel callbacks tegelijk getest.', headers: { 'retry-after': '5' } })
  running++
  try {
    return await work()
  } finally {
    running--
  }
}

/**
 * Asks the callback twice whether it behaves as a subscriber.
 * @param auth value of the header Authorization
 * @returns its faults, each with what was answered
 * @throws Problem 503 when too many callbacks are being asked already
 */
export function probeCallback(
  agent: Agent,
  config: Config,
  callbackUrl: string,
  auth: string,
): Promise<InvalidParam[]> {
  return withinLimit(async () => {
    if (config.notificatiesTestCallbackAuth) {
      const open = await askWithoutAuth(agent, callbackUrl)
      if (open.status !== 401 && open.status !== 403) {
        return [
          {
            name: 'callbackUrl',
            code: 'no-auth-on-callback-url',
            reason: `Zonder Authorization moet de callback 401 of 403 antwoorden; ${told(open)}`,
          },
        ]
      }
    }
    const accepted = await ask(agent, callbackUrl, { authorization: auth })
    if (accepted.status >= 200 && accepted.status < 300) return []
    return [
      {
        name: 'nonFieldErrors',
        code: 'invalid-callback-url',
        reason: `Met de opgegeven auth moet de callback een testbericht (kanaal test) aannemen met 2xx; ${told(accepted)}`,
      },
    ]
  })
}

/** `status` 0: there was no answer, `kind` says why. */
type Asked = { status: number; kind?: FailureKind; body: string }

const told = ({ status, kind, body }: Asked) =>
  kind === undefined ? `het antwoord was ${status}${body ? `: ${body}` : ''}.` : `${FAILURES[kind]}.`

/** Posts a test message. Does not throw: status 0, with the kind of failure, says that there was no answer. */
export const askWithoutAuth = (agent: Agent, url: string): Promise<Asked> => ask(agent, url, {})

async function ask(agent: Agent, url: string, headers: Record<string, string>): Promise<Asked> {
  try {
    const answer = await sendWithin(TERM_MS, agent, {
      url: new URL(url),
      method: 'POST',
      body: JSON.stringify(TEST_MESSAGE),
      headers,
      limit: 4096,
      kept: true,
    })
    const body = answer.body
      .toString('utf8')
      .replace(/[^\P{C}]/gu, ' ')
      .slice(0, SHOWN)
      .trim()
    return { status: answer.status, body }
  } catch (error) {
    return { status: 0, kind: failureKind(error), body: '' }
  }
}
