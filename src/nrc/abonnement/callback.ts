// The probe of a callback, before an abonnement is stored: without credentials it has to refuse (401 or 403), with them it has to
// accept. It is made outside any transaction, through the guard that keeps us away from forbidden addresses.
import type { Dispatcher } from 'undici'
import type { Config } from '../../config.ts'
import { type InvalidParam, Problem } from '../../http/problem.ts'
import { FAILURES, failureKind, sendWithin } from '../../services/services.ts'

const TERM_MS = 10_000
const AT_ONCE = 20
const SHOWN = 200
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

const MESSAGE = JSON.stringify({
  kanaal: 'test',
  resource: 'test',
  resourceUrl: 'https://example.com/test/api/v1/test',
  hoofdObject: 'https://example.com/test/api/v1/test',
  actie: 'create',
  aanmaakdatum: '2019-01-01T12:00:00Z',
  kenmerken: {},
})

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

/**
 * Asks the callback twice whether it behaves as a subscriber.
 * @param auth value of the header Authorization
 * @returns its faults, each with what was answered
 * @throws Problem 503 when too many callbacks are being asked already
 */
export async function probeCallback(
  agent: Dispatcher,
  config: Config,
  callbackUrl: string,
  auth: string,
): Promise<InvalidParam[]> {
  if (running >= AT_ONCE) throw new Problem(503, { detail: 'Er worden te veel callbacks tegelijk getest.' })
  running++
  try {
    if (config.notificatiesTestCallbackAuth) {
      const open = await ask(agent, callbackUrl, {})
      if (open.status !== 401 && open.status !== 403) {
        return [
          {
            name: 'callbackUrl',
            code: 'no-auth-on-callback-url',
            reason: `Zonder Authorization moet de callback 401 of 403 antwoorden; ${open.text}`,
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
        reason: `Met de opgegeven auth moet de callback een testbericht (kanaal test) aannemen met 2xx; ${accepted.text}`,
      },
    ]
  } finally {
    running--
  }
}

async function ask(
  agent: Dispatcher,
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  try {
    const answer = await sendWithin(TERM_MS, agent, {
      url: new URL(url),
      method: 'POST',
      body: MESSAGE,
      headers,
      limit: 4096,
    })
    const body = answer.body
      .toString('utf8')
      .replace(/[^\P{C}]/gu, ' ')
      .slice(0, SHOWN)
      .trim()
    return { status: answer.status, text: `het antwoord was ${answer.status}${body ? `: ${body}` : ''}.` }
  } catch (error) {
    return { status: 0, text: `${FAILURES[failureKind(error)]}.` }
  }
}
