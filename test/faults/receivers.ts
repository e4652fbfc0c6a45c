// Days of receivers: abonnementen that are down, refuse or rest for a weekend, with workers that are killed meanwhile. Days go by as
// moments that are moved in the database; what is sent is sent by the workers of the scene.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startReceiver } from '../../bench/receiver.ts'
import { givenChange } from '../notificaties/given.ts'
import { givenAbonnement } from '../notificaties/odd-receivers.ts'
import type { JudgeLike } from '../stage.ts'
import { until } from '../zaken/processes.ts'
import type { Cell, Scene } from './scene.ts'

type Answers = (name: string, hour: number) => number | 'continue' | [number, Record<string, string>]

const WELL = ['well', 'well-too', 'continue']
const BY_NAME: Record<string, Answers> = {
  // Three are down for all of it, each in its own way; the others have bad hours.
  'are away for a weekend': (name, hour) => {
    if (name.startsWith('down')) return Number(name.split('-')[1])
    if (name === 'continue') return 'continue'
    if (name === 'rests') return hour % 10 === 0 ? [429, { 'retry-after': '3600' }] : 204
    if (name === 'expired') return hour > 20 && hour < 40 ? 401 : 204
    return 204
  },
  'answer anything by the hour': (name, hour) => {
    if (WELL.includes(name)) return name === 'continue' ? 'continue' : 204
    const statuses = [204, 400, 401, 404, 413, 422, 429, 500, 503]
    return statuses[(hour + name.length) % statuses.length]!
  },
}
const NAMES = [...WELL, 'down-503', 'down-401', 'down-422', 'rests', 'expired']
const HOURS = 63
const STEP_H = 3

export const RECEIVERS: Cell[] = Object.entries(BY_NAME).map(([what, answers]) => ({
  name: `receivers ${what}`,
  lasts: 0,
  allowed: { cut: true },
  strike: async (scene, judge) => {
    await playDays(scene, judge, answers)
    return async () => {}
  },
}))

async function playDays(scene: Scene, judge: JudgeLike, answers: Answers): Promise<void> {
  const { load, workers, random, stage } = scene
  const { sql } = scene.test.database
  const receiver = await startReceiver()
  const accepted = new Map<string, string[]>(NAMES.map((name) => [name, []]))
  const objects = Array.from({ length: 6 }, () => randomUUID())
  let hour = 0
  let isOver = false
  receiver.answer = (response, { path, headers }) => {
    const name = path.split('/').at(-1)!
    const answer = isOver ? 204 : answers(name, hour)
    const [status, more] = Array.isArray(answer) ? answer : [answer === 'continue' ? 204 : answer, {}]
    if (status === 204) accepted.get(name)?.push(String(headers['webhook-id']))
    if (answer === 'continue') response.socket?.write('HTTP/1.1 100 Continue\r\n\r\n')
    response.writeHead(status, more).end()
  }
  await load.pause()
  const [{ mode, from } = { mode: '', from: 0 }] = await sql<{ mode: string; from: number }[]>`
    select mode, (select coalesce(max(id), 0) from notificatie) as from from notificatie_settings`
  try {
    for (const name of NAMES) await givenAbonnement(scene.test, `${receiver.root}${name}`)
    await sql`update notificatie_settings set mode = 'beide'`
    for (hour = 0; hour < HOURS; hour += STEP_H) {
      if (hour % 9 === 0) for (const object of objects) await givenChange(scene.test, object, 'update')
      if (hour === 27) workers[Math.floor(random() * workers.length)]!.kill('SIGKILL')
      await passHours(STEP_H)
      await sleep(700)
    }
    const [{ failed } = { failed: 0 }] = await sql<{ failed: number }[]>`
      select count(*)::int as failed from delivery where abonnement_id <> 0 and status = 'mislukt'`
    const [{ waits } = { waits: 0 }] = await sql<{ waits: number }[]>`
      select count(*)::int as waits from delivery where abonnement_id <> 0`
    stage.comment(`after ${HOURS} hours ${waits} wait, of which ${failed} failed`)
    isOver = true
    await passHours(1) // as far as a probe, or what somebody asked for
    await until('everything told', async () => {
      const [left] = await sql`select from delivery where abonnement_id <> 0 and status = 'gepland' limit 1`
      if (left) await passHours(1)
      return !left
    })
    const messages = await sql<{ uuid: string; object: string }[]>`
      select uuid, delivery_order(hoofd_object_uuid, cloudevent) as object from notificatie n
      where id > ${from} and kanaal = 'documenten' order by id`
    judge.equal(messages.length, objects.length * Math.ceil(HOURS / 9))
    const failedAt = await sql<{ name: string; uuid: string }[]>`
      select a.callback_url as name, n.uuid from delivery l join abonnement a on a.id = l.abonnement_id
      join notificatie n on n.id = l.notificatie_id where l.status = 'mislukt'`
    for (const name of NAMES) {
      const got = [...new Set(accepted.get(name))]
      const inOrder = messages.filter(({ uuid }) => got.includes(uuid))
      const lost = messages.filter(({ uuid }) => !got.includes(uuid)).map(({ uuid }) => uuid)
      const told = failedAt.filter((one) => one.name.endsWith(`/${name}`)).map(({ uuid }) => uuid)
      judge.same(lost, [], `${name}: nothing is lost (${told.length} are told to have failed)`)
      const objectOf = new Map(messages.map(({ uuid, object }) => [uuid, object]))
      const byObject = (uuids: string[]) => Map.groupBy(uuids, (uuid) => objectOf.get(uuid))
      const expected = byObject(inOrder.map(({ uuid }) => uuid))
      const wrong = [...byObject(got.filter((uuid) => objectOf.has(uuid)))].filter(
        ([object, uuids]) => String(uuids) !== String(expected.get(object)),
      )
      judge.same(wrong, [], `${name}: in order`)
    }
  } finally {
    await sql`delete from delivery where abonnement_id <> 0`
    await sql`delete from delivery_attempt where abonnement_id <> 0`
    await sql`delete from abonnement_kanaal`
    await sql`delete from abonnement`
    await sql`update notificatie_settings set mode = ${mode}`
    await receiver.stop()
    load.resume()
  }

  /** For abonnementen only: the external service is called meanwhile as ever. */
  async function passHours(hours: number): Promise<void> {
    const earlier = sql`make_interval(hours => ${hours}::int)`
    // In the order in which workers record, so that neither waits for the other.
    await sql`update delivery l set next_attempt_at = l.next_attempt_at - ${earlier} from (
      select notificatie_id, abonnement_id from delivery where abonnement_id <> 0 and status = 'gepland'
      order by notificatie_id, abonnement_id for update) o
      where l.notificatie_id = o.notificatie_id and l.abonnement_id = o.abonnement_id`
    await sql`update abonnement set not_before = not_before - ${earlier}`
    await sql`select add_job('send-notificaties', '{"all": true}'::json, job_key => 'send-notificaties')`
  }
}
