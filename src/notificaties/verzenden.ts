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

type Asked = { id: number; job: string }
type Taken = Omit<Dienst, 'uuid'> &
  Herhaling &
  Omit<Bericht, 'source'> & { id: number; nummer: number; herhalingen: number; uuid: string; dienstUuid: string }
type Attempt = { uitkomst: Uitkomst; httpStatus: number | null; antwoord: string | null; duurMs: number }
type Ended = Attempt & { id: number; nummer: number; wacht: number | null }

const MAX_ANSWER = 4096
const COLLECT_MS = 8 // what ends within so many milliseconds is written down together
const PORTION = 20 // in one statement; the next need not wait for it

/** Attempts to deliver a message, if that is to be done now. Settles when the outcome is written. */
export function openVerzender(parts: VerzenderParts): (id: number, job: string, stop?: AbortSignal) => Promise<void> {
  const { config, database, box, log } = parts
  const agent = openAgent({ connections: config.notificationsConcurrency })
  const neem = together(0, (asked: Asked[]) => neemAlle(database, asked))
  const noteer = together(COLLECT_MS, (ended: Ended[]) => noteerAlle(database, ended))
  return async (id, job, stop) => {
    const taken = await neem({ id, job })
    if (!taken) return
    const attempt = await post(taken)
    const wacht = attempt.uitkomst === 'delivered' ? null : (delayAfter(taken.herhalingen, taken) ?? null)
    const note = (nummer: number) => persist(() => noteer({ id, nummer, wacht, ...attempt }), stop)
    let ours = await note(taken.nummer)
    if (!ours) {
      // The attempt was begun without waiting for the disk: a crash of the database may have undone that.
      const again = await persist(() => neem({ id, job }), stop)
      if (again) ours = await note(again.nummer)
    }
    notificationAttempts.inc({ outcome: attempt.uitkomst })
    if (attempt.uitkomst === 'delivered') {
      notificationDelay.observe(Math.max(0, Date.now() - Date.parse(taken.aanmaakdatum)) / 1000)
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

  async function post(taken: Taken): Promise<Attempt> {
    const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken } = taken
    const source = config.notificationsSource
    const bericht: Bericht = {
      kanaal,
      ...(source && { source }),
      hoofdObject,
      resource,
      resourceUrl,
      actie,
      aanmaakdatum,
      kenmerken,
    }
    const began = performance.now()
    const since = () => Math.round(performance.now() - began)
    try {
      const url = new URL('notificaties', taken.apiRoot)
      const headers = { 'x-message-id': taken.uuid }
      const dienst = { ...taken, uuid: taken.dienstUuid }
      const answer = await send(agent, dienst, box, {
        url,
        method: 'POST',
        body: JSON.stringify(bericht),
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

async function neemAlle({ sql }: Database, asked: Asked[]): Promise<(Taken | undefined)[]> {
  const ids = asked.map(({ id }) => id)
  const jobs = asked.map(({ job }) => job)
  const rows = await sql<Taken[]>`
    select id, nummer, herhalingen, uuid, kanaal, hoofd_object as "hoofdObject", resource, resource_url as "resourceUrl",
      actie, aanmaakdatum, kenmerken, max_retries as "maxRetries", backoff, backoff_max as "backoffMax",
      base_factor as "baseFactor", dienst_uuid as "dienstUuid", api_root as "apiRoot", authenticatie,
      client_id as "clientId", header, geheim, gebruikers_id as "gebruikersId",
      gebruikers_weergave as "gebruikersWeergave", termijn_ms as "termijnMs"
    from neem_notificaties(${ids}::bigint[], ${jobs}::bigint[])`
  const taken = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = taken.get(id)
    taken.delete(id) // a message that was asked twice is sent once
    return row
  })
}

async function noteerAlle({ sql }: Database, ended: Ended[]): Promise<boolean[]> {
  const column = <K extends keyof Ended>(name: K) => ended.map((one) => one[name])
  const [row] = await sql<{ ours: number[] }[]>`
    select noteer_notificatie_pogingen(${column('id')}::bigint[], ${column('nummer')}::integer[],
      ${column('uitkomst')}::text[], ${column('httpStatus')}::integer[], ${column('antwoord')}::text[],
      ${column('duurMs')}::integer[], ${column('wacht')}::float8[]) as ours`
  const ours = new Set(row!.ours)
  return ended.map((_, index) => ours.has(index + 1))
}

/**
 * Does in one go what is asked within so many milliseconds (0: at the same moment), or as soon as it is a portion. When that
 * fails, each is tried by itself, so that none fails because of another.
 */
function together<In, Out>(ms: number, work: (asked: In[]) => Promise<Out[]>): (one: In) => Promise<Out> {
  let waiting: { one: In; resolve(out: Out | PromiseLike<Out>): void }[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = async () => {
    clearTimeout(timer)
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      const out = await work(batch.map(({ one }) => one))
      for (const [index, { resolve }] of batch.entries()) resolve(out[index]!)
    } catch (error) {
      const alone = async (one: In) => {
        if (batch.length === 1) throw error
        return (await work([one]))[0]!
      }
      for (const { one, resolve } of batch) resolve(alone(one))
    }
  }
  return (one) =>
    new Promise((resolve) => {
      waiting.push({ one, resolve })
      if (waiting.length === PORTION) flush()
      else if (waiting.length > 1) return
      else if (ms === 0) setImmediate(flush)
      else timer = setTimeout(flush, ms)
    })
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
