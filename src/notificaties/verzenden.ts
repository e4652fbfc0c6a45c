// verzenden: one attempt to deliver a message to the notifications service.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { SecretBox } from '../autorisaties/secrets.ts'
import type { Config } from '../config.ts'
import { type Database, isUnavailable } from '../database.ts'
import { type Dienst, type FailureKind, failureKind, openAgent, send } from '../diensten.ts'
import { notificationAttempts, notificationDelay } from '../metrics.ts'
import { delayAfter, type Herhaling } from './herhaling.ts'

export type VerzenderParts = { config: Config; database: Database; box: SecretBox; log: Logger }
export type Uitkomst = 'delivered' | 'http' | FailureKind

/** A message as the notifications service gets it. */
export type Bericht = {
  kanaal: string
  source?: string
  hoofdObject: string
  resource: string
  resourceUrl: string
  actie: string
  aanmaakdatum: string
  kenmerken: Record<string, string>
}

type Taken = Dienst &
  Herhaling & {
    uuid: string
    nummer: number
    herhalingen: number
    bericht: Omit<Bericht, 'source'>
    dienstUuid: string
  }
type Attempt = { uitkomst: Uitkomst; httpStatus: number | null; antwoord: string | null; duurMs: number }

const MAX_ANSWER = 4096

/** Attempts to deliver a message, if that is to be done now. Settles when the outcome is written. */
export function openVerzender(parts: VerzenderParts): (id: number, job: string, stop?: AbortSignal) => Promise<void> {
  const { config, database, box, log } = parts
  const agent = openAgent({ connections: config.notificationsConcurrency })
  return async (id, job, stop) => {
    const taken = await neem(database, id, job)
    if (!taken) return
    const attempt = await post(taken)
    const wacht = attempt.uitkomst === 'delivered' ? null : (delayAfter(taken.herhalingen, taken) ?? null)
    const ours = await persist(() => noteer(database, id, taken.nummer, attempt, wacht), stop)
    notificationAttempts.inc({ outcome: attempt.uitkomst })
    if (attempt.uitkomst === 'delivered') {
      notificationDelay.observe(Math.max(0, Date.now() - Date.parse(taken.bericht.aanmaakdatum)) / 1000)
    }
    const facts = { notificatie: taken.uuid, attempt: taken.nummer, ms: attempt.duurMs }
    if (!ours) log.warn(facts, 'another worker has taken this notification over; this attempt does not count')
    else if (attempt.uitkomst === 'delivered') log.debug(facts, 'notification delivered')
    else
      log.warn(
        { ...facts, kind: attempt.uitkomst, status: attempt.httpStatus, final_try: wacht === null, retry_in: wacht },
        'notification_delivery_failed',
      )
  }

  async function post({ uuid, bericht, ...taken }: Taken): Promise<Attempt> {
    const body = { ...bericht, ...(config.notificationsSource && { source: config.notificationsSource }) }
    const began = performance.now()
    const since = () => Math.round(performance.now() - began)
    try {
      const url = new URL('notificaties', taken.apiRoot)
      const headers = { 'x-message-id': uuid }
      const dienst = { ...taken, uuid: taken.dienstUuid }
      const answer = await send(agent, dienst, box, {
        url,
        method: 'POST',
        body: JSON.stringify(body),
        headers,
        limit: MAX_ANSWER,
      })
      const delivered = answer.status >= 200 && answer.status < 300
      // PostgreSQL keeps no NUL
      const antwoord = answer.body.toString('utf8').replaceAll('\0', '\uFFFD')
      return { uitkomst: delivered ? 'delivered' : 'http', httpStatus: answer.status, antwoord, duurMs: since() }
    } catch (error) {
      return { uitkomst: failureKind(error), httpStatus: null, antwoord: null, duurMs: since() }
    }
  }
}

async function neem({ sql }: Database, id: number, job: string): Promise<Taken | undefined> {
  const [row] = await sql<Taken[]>`
    select poging.nummer, poging.herhalingen, b.uuid,
      json_build_object('kanaal', b.kanaal, 'hoofdObject', b.hoofd_object, 'resource', b.resource,
        'resourceUrl', b.resource_url, 'actie', b.actie, 'aanmaakdatum', to_json(b.aanmaakdatum), 'kenmerken', b.kenmerken)
        as bericht,
      i.max_retries as "maxRetries", i.backoff, i.backoff_max as "backoffMax", i.base_factor as "baseFactor",
      d.uuid as "dienstUuid", d.api_root as "apiRoot", d.authenticatie, d.client_id as "clientId", d.header, d.geheim,
      d.gebruikers_id as "gebruikersId", d.gebruikers_weergave as "gebruikersWeergave", d.termijn_ms as "termijnMs"
    from neem_notificatie(${id}, ${job}) as poging, notificatie b, notificatie_instelling i, dienst d
    where poging.nummer is not null and b.id = ${id} and d.id = i.dienst_id`
  return row
}

async function noteer(
  { sql }: Database,
  id: number,
  nummer: number,
  attempt: Attempt,
  wacht: number | null,
): Promise<boolean> {
  const { uitkomst, httpStatus, antwoord, duurMs } = attempt
  const [row] = await sql<{ ours: boolean }[]>`
    select noteer_notificatie_poging(${id}, ${nummer}, ${uitkomst}, ${httpStatus}, ${antwoord}, ${duurMs}, ${wacht}) as ours`
  return row!.ours
}

/** What the receiver did cannot be asked again: while our own database is away, its answer is held on to. */
async function persist<T>(work: () => Promise<T>, stop?: AbortSignal): Promise<T> {
  for (let delay = 200; ; delay = Math.min(delay * 2, 2_000)) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || stop?.aborted) throw error
      await sleep(delay)
    }
  }
}
