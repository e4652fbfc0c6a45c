// Overview: the state of the service on one page: what is wrong, where to do something about it, and what is going on.

import type { FastifyInstance } from 'fastify'
import packageJson from '../../../package.json' with { type: 'json' }
import { EXTERNAL } from '../../core/outbox.ts'
import type { Reader } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import type { DiskSpace } from '../../documenten/storage/index.ts'
import { feedAge } from '../../feed/age.ts'
import { timeZone } from '../../lib/day.ts'
import { countUnrecorded } from '../../notificaties/claims.ts'
import { ALL } from '../../notificaties/figures.ts'
import { unreachable } from '../../notificaties/kanalen.ts'
import { readModus, readSettings } from '../../notificaties/settings.ts'
import { readAlarms } from '../../nrc/abonnement/figures.ts'
import { lastSetback } from '../../operations/clock.ts'
import { diskGrowth, LATE_SECONDS, notedBytes } from '../../operations/figures.ts'
import { oldestSnapshot } from '../../operations/snapshot.ts'
import { formatNumber } from '../frame/format.ts'
import { t, words } from '../language/language.ts'
import { deliveryPicture } from '../notificaties/delivery-picture.ts'
import { queuePictures } from '../notificaties/queue-picture.ts'
import { COUNT_JOBS_TO, SILENT_AFTER } from './jobs.ts'
import {
  type Alarm,
  type Component,
  database,
  diskPart,
  feedPart,
  type JobCounts,
  jobsPart,
  type Notificaties,
  type Receiver,
  receiverPart,
  reportAbonnementen,
  reportLostContent,
  reportNotificaties,
  reportSetback,
  reportSnapshot,
  reportUnrecorded,
  storagePart,
  TODAY_TO,
  TOT,
  type Worker,
  workerPart,
} from './overview-parts.ts'

type Parts = FastifyInstance['parts']

/** Abonnementen that are named one by one. */
const MAX_ALARMS = 10

export function registerOverview(app: FastifyInstance): void {
  const reach = app.each(() =>
    remembered(5_000, (apiRoot, ms: number) => unreachable(apiRoot, ms, app.parts.config.proxies)),
  )
  const unrecorded = app.each(() => remembered(10_000, () => countUnrecorded(app.reader.sql)))
  const lostContent = app.each(() => remembered(10_000, () => app.own.countLost()))
  app.get('/', { config: { access: 'beheer', rol: 'viewer' } }, async (_request, reply) => {
    const { parts } = app
    const [
      checks,
      workers,
      jobs,
      notificaties,
      receiver,
      running,
      disk,
      size,
      versions,
      lost,
      troubled,
      stuck,
      setback,
      age,
      snapshot,
      steps,
      picture,
      days,
      queue,
      growth,
    ] = await Promise.all([
      app.own.readiness(),
      readWorkers(app.reader),
      countJobs(app.reader),
      countNotificaties(app.reader),
      readReceiver(parts, app.reader, reach()),
      readImport(app.reader),
      readDisk(parts),
      notedBytes(app.reader),
      readVersions(app.reader),
      lostContent()(''),
      readAlarms(app.read, MAX_ALARMS),
      unrecorded()(''),
      lastSetback(app.reader.sql),
      feedAge(app.reader.sql),
      oldestSnapshot(app.reader.sql),
      readFirstSteps(app.reader),
      deliveryPicture(app.reader, 'hour'),
      deliveryPicture(app.reader, 'day'),
      queuePictures(app.reader, 'deliveries'),
      diskGrowth(app.reader),
    ])
    const alarms: Alarm[] = []
    const components: Component[] = [
      database(checks, alarms),
      storagePart(checks, parts.store.backend, alarms),
      receiverPart(receiver, alarms),
      workerPart(workers, alarms, app.hasMany),
      jobsPart(checks, jobs, alarms),
      feedPart(age, alarms),
      diskPart(disk, growth, alarms),
    ]
    reportUnrecorded(stuck, alarms)
    reportSetback(setback, alarms)
    reportSnapshot(snapshot, alarms)
    reportNotificaties(notificaties, alarms)
    reportAbonnementen(troubled, alarms)
    reportLostContent(lost, alarms)
    return reply.page('overview', {
      title: t('Overzicht'),
      now: new Date().toISOString(),
      alarms,
      components,
      workers,
      jobs,
      notificaties,
      running,
      disk,
      size,
      versions,
      picture: picture.isEmpty ? null : picture,
      days: days.isEmpty ? null : days,
      queue,
      lateSeconds: LATE_SECONDS,
      todayTo: TODAY_TO,
      steps: steps.some(({ isDone }) => !isDone) ? steps : [],
      isIdle:
        !running && jobs.total === 0 && notificaties.gepland + notificaties.mislukt + notificaties.bezorgdVandaag === 0,
      capped: (count: number, until = TOT) =>
        count > until ? t`meer dan ${formatNumber(until)}` : formatNumber(count),
    })
  })
}

/** What was asked a moment ago is not asked again: pages that refresh themselves may be open anywhere. */
function remembered<Rest extends unknown[], T>(ms: number, ask: (key: string, ...rest: Rest) => Promise<T>) {
  let kept: { key: string; until: number; answer: Promise<T> } | undefined
  return (key: string, ...rest: Rest): Promise<T> => {
    if (kept?.key === key && performance.now() < kept.until) return kept.answer
    const answer = ask(key, ...rest)
    const mine = { key, until: performance.now() + ms, answer }
    kept = mine
    answer.catch(() => {
      if (kept === mine) kept = undefined
    })
    return answer
  }
}

async function readReceiver(
  parts: Parts,
  { db, sql }: Reader,
  reach: (apiRoot: string, ms: number) => Promise<string | undefined>,
): Promise<Receiver> {
  const [{ dienst }, mode] = await Promise.all([readSettings(db), readModus(db)])
  const [service] =
    dienst === null ? [] : await sql<{ api_root: string }[]>`select api_root from service where slug = ${dienst}`
  const [laatste] = await sql<NonNullable<Receiver['laatste']>[]>`
    select outcome, http_status as "httpStatus", begun_at as "begunAt" from delivery_attempt
    where abonnement_id = ${EXTERNAL} and outcome <> 'lost' order by begun_at desc limit 1`
  const apiRoot = service?.api_root ?? null
  const uit = parts.config.notificationsDisabled
  return {
    uit,
    mode,
    apiRoot,
    laatste,
    unreachable: apiRoot && !uit && mode !== 'ingebouwd' ? await reach(apiRoot, 2_000) : undefined,
  }
}

async function readWorkers({ sql }: Reader): Promise<Worker[]> {
  const rows = await sql<Omit<Worker, 'stil'>[]>`
    select name, version, host, pid, started_at as "startedAt", seen_at as "seenAt",
      extract(epoch from clock_timestamp() - seen_at)::float8 as stilte
    from worker order by name, id`
  return rows.map((row) => ({ ...row, stil: Math.abs(row.stilte) > SILENT_AFTER }))
}

async function countJobs({ sql }: Reader): Promise<JobCounts> {
  const rows = await sql<{ staat: keyof JobCounts; count: number; oldest: number }[]>`
    select job_state(locked_at, attempts, max_attempts, run_at) as staat, count(*)::int as count,
      coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as oldest
    from (select * from jobs limit ${COUNT_JOBS_TO + 1}) j group by 1`
  const per = Object.fromEntries(rows.map(({ staat, count }) => [staat, count]))
  const oldest = Math.max(0, rows.find(({ staat }) => staat === 'wacht')?.oldest ?? 0)
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return { wacht: 0, gepland: 0, bezig: 0, mislukt: 0, ...per, oldest, total }
}

async function countNotificaties({ sql }: Reader): Promise<Notificaties> {
  const begin = sql`date_trunc('day', now() at time zone ${timeZone()}::text) at time zone ${timeZone()}::text`
  // Messages have their keys nearly in the order of their moments: of today are those from the first keys of today on.
  return one(
    await sql<Notificaties[]>`
    select
      (select count(*)::int from (select from delivery where status = 'gepland' limit ${TOT + 1}) n) as gepland,
      (select case when deliveries > 0 then delivery_seconds + extract(epoch from now() - minute) end::float8
        from queue_figure order by minute desc limit 1) as oldest,
      (select count(*)::int from (select from delivery where status = 'mislukt' limit ${TOT + 1}) n) as mislukt,
      (select count(*)::int from (select from delivery l join notificatie n on n.id = l.notificatie_id
        where l.status = 'mislukt' and n.aanmaakdatum >= ${begin} and l.notificatie_id >= (
          select min(id) from (select id from notificatie where aanmaakdatum >= ${begin} order by aanmaakdatum, id limit 500) t)
        limit ${TODAY_TO + 1}) n) as "misluktVandaag",
      (select coalesce(sum(delivered), 0)::int from delivery_figure
        where abonnement_id = ${ALL} and hour >= ${begin}) as "bezorgdVandaag",
      (now() at time zone 'Europe/Amsterdam')::date::text as vandaag`,
  )
}

const STEPS = words(
  {
    catalogus: { name: 'Maak een catalogus: daarin staan de typen van uw organisatie.', path: '/catalogi/nieuw' },
    zaaktype: { name: 'Publiceer een zaaktype; er zijn voorbeelden om mee te beginnen.', path: '/catalogi' },
    applicatie: { name: 'Geef een applicatie rechten, zodat zij zaken kan maken.', path: '/applicaties' },
    zaak: { name: 'Laat de applicatie een zaak of een document maken.', path: '/zaken' },
  },
  'name',
)

/** What an installation needs before it is of use, and whether it is there. */
async function readFirstSteps({ sql }: Reader): Promise<{ name: string; path: string; isDone: boolean }[]> {
  const done = one(
    await sql<Record<keyof typeof STEPS, boolean>[]>`
    select exists (select from catalogus) as catalogus, exists (select from zaaktype where not concept) as zaaktype,
      exists (select from applicatie where heeft_alle_autorisaties) or exists (select from autorisatie)
        or exists (select from catalogus_autorisatie) as applicatie,
      exists (select from zaak) or exists (select from enkelvoudiginformatieobject) as zaak`,
  )
  if (done.zaak) return []
  return Object.entries(STEPS).map(([key, step]) => ({ ...step, isDone: done[key as keyof typeof STEPS] }))
}

async function readImport({ sql }: Reader) {
  const [row] = await sql<
    {
      uuid: string
      status: string
      total: number
      processed: number
      succeeded: number
      failed: number
      percent: number | null
      snelheid: number | null
      reason: string | null
    }[]
  >`
    select uuid, status, total, processed, succeeded, failed, percent::float8, rows_per_second::float8 as snelheid, reason
    from import_overview where status in ('pending', 'active') limit 1`
  return row
}

/** Undefined when documents are elsewhere, or the directory cannot be read now. */
async function readDisk({ store }: Parts): Promise<DiskSpace | undefined> {
  return store.space?.().catch(() => undefined)
}

async function readVersions({ sql }: Reader) {
  const [row] = await sql<[{ postgresql: string; schema: string }]>`
    select current_setting('server_version') as postgresql, (select max(name) from migration) as schema`
  return { programma: packageJson.version, ...row }
}
