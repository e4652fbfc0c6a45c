// What somebody should know of at this moment. Each question is bounded: where there is more than so much of a kind, `isWhole` says
// that not all was seen, and then nothing of that kind counts as over.
import { X509Certificate } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Database, ReadSql } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import type { Store } from '../../documenten/storage/index.ts'
import { timeZone } from '../../lib/day.ts'
import { withoutNumbers } from '../../telemetry/log.ts'
import { storageChecks } from '../health.ts'
import type { Condition, Kind } from './kinds.ts'

/** So many of a kind are told of. */
export const MOST = 500
/** A receiver that fails for so long is told of. */
const FAILING_MINUTES = 15
const WAITING_MINUTES = 15
/** A disk with less room than this is told of, and again with less than the second. It is well again with a bit more. */
const DISK = [0.1, 0.05] as const
const DISK_WELL = 0.12
/** Days before something runs out: when it is told of, and when again. */
const DAYS = [30, 7, 0] as const

type Parts = { database: Database; store: Store; box: SecretBox; config: Config }
export type Found = { conditions: Condition[]; isWhole(kind: Kind): boolean }

/** Looks at everything. @param open keys of what is told of already */
export async function findConditions(parts: Parts, open: ReadonlySet<string>): Promise<Found> {
  const { sql } = parts.database
  const { now } = one(await sql<{ now: string }[]>`select now()`)
  const found = [
    ...(await findAbonnementen(sql)),
    ...(await findExternal(sql)),
    ...(await findImports(sql)),
    ...(await findStorage(parts, open)),
    ...(await findJobs(sql)),
    ...(await stillGone(sql, open)),
    ...(await findExpiring(parts, Date.parse(now))),
  ]
  const counts = Map.groupBy(found, ({ kind }) => kind)
  return {
    conditions: found.map((one) => ({ ...one, text: withoutNumbers(one.text) })),
    isWhole: (kind) => (counts.get(kind)?.length ?? 0) <= MOST,
  }
}

async function findAbonnementen(sql: ReadSql): Promise<Condition[]> {
  const rows = await sql<
    { uuid: string; url: string; label: string | null; status: string; reason: string; isStopped: boolean }[]
  >`
    select a.uuid, a.callback_url as url, p.label, a.status, a.reason,
      a.status in ('geblokkeerd', 'opgezegd', 'gepauzeerd') as "isStopped"
    from abonnement a left join applicatie p on p.id = a.applicatie_id
    where a.deleted_at is null and (a.status in ('geblokkeerd', 'opgezegd')
      or a.status = 'gepauzeerd' and a.applicatie_id is null and a.reason = ''
      or a.status = 'actief' and a.failing_since < now() - make_interval(mins => ${FAILING_MINUTES}))
    order by a.id limit ${MOST + 1}`
  return rows.map(({ uuid, url, label, status, reason, isStopped }) => {
    const host = URL.parse(url)?.host ?? 'wordt opgehaald' // the path may hold a secret
    const name = label ? `${label} (${host})` : host
    const why = status === 'gepauzeerd' ? 'De applicatie ervan is verwijderd.' : reason
    return {
      key: `abonnement:${uuid}`,
      kind: 'abonnement',
      level: isStopped ? 2 : 1,
      text: isStopped
        ? `Het abonnement ${name} is ${status}. ${why}`.trim()
        : `Het abonnement ${name} neemt al meer dan ${FAILING_MINUTES} minuten geen berichten aan.`,
      path: `/abonnementen/${uuid}`,
    }
  })
}

/** So many of the waiting messages are looked at for their age. */
const LOOKED_AT = 10_000

async function findExternal(sql: ReadSql): Promise<Condition[]> {
  const { fails } = one(
    await sql<{ fails: boolean }[]>`
    select exists (select from notificatie_settings where service_id is not null and mode in ('extern', 'beide'))
      and not exists (select from external_receiver where paused_at is not null)
      and (select outcome <> 'delivered' from delivery_attempt
        where abonnement_id = 0 and outcome <> 'lost' order by begun_at desc limit 1) is true
      and (select aanmaakdatum < now() - make_interval(mins => ${FAILING_MINUTES}) from notificatie where id = (
        select min(notificatie_id) from (select notificatie_id from delivery where abonnement_id = 0 and status = 'gepland'
          order by next_attempt_at, notificatie_id limit ${LOOKED_AT}) w)) is true as fails`,
  )
  if (!fails) return []
  const text = `De externe notificatiedienst neemt al meer dan ${FAILING_MINUTES} minuten geen berichten aan.`
  return [{ key: 'notificatiedienst', kind: 'abonnement', level: 1, text, path: '/configuratie/notificaties' }]
}

async function findImports(sql: ReadSql): Promise<Condition[]> {
  const rows = await sql<{ uuid: string; name: string; status: string; processed: number; total: number }[]>`
    select uuid, bestandsnaam as name, status, processed, total from import
    where deleted_at is null and (status = 'error' and ended_at > now() - interval '3 days'
      or status = 'active' and paused_at is null and updated_at < now() - make_interval(mins => ${WAITING_MINUTES}))
    order by id desc limit ${MOST + 1}`
  return rows
    .map(({ uuid, name, status, processed, total }) => {
      const what = `De import ${name || uuid}`
      const done = `(${processed} van ${total} rijen)`
      return status === 'error'
        ? { key: `import-gestopt:${uuid}`, text: `${what} is gestopt voor het einde ${done}.` }
        : { key: `import:${uuid}`, text: `${what} ligt al meer dan ${WAITING_MINUTES} minuten stil ${done}.` }
    })
    .map(({ key, text }) => ({ key, text, kind: 'import', level: 1, path: `/imports/${key.split(':')[1]}` }))
}

async function findStorage(parts: Parts, open: ReadonlySet<string>): Promise<Condition[]> {
  const [{ storage, malwareScanner }, space] = await Promise.all([
    storageChecks(parts.store),
    parts.store.space?.().catch(() => undefined),
  ])
  const found: Condition[] = []
  const tell = (name: string, kind: Kind, level: number, text: string, path = '/') =>
    void found.push({ key: name, kind, level, text, path })
  if (storage.status === 'failed') tell('opslag', 'schijf', 2, 'De documentopslag antwoordt niet.')
  if (storage.status === 'degraded')
    tell('opslag', 'schijf', 1, 'De documentopslag neemt niets aan: uploaden lukt niet.')
  if (malwareScanner && malwareScanner.status !== 'ok')
    tell('virusscanner', 'schijf', 1, 'De virusscanner antwoordt niet.')
  if (parts.box.ring.lacking.size > 0)
    tell(
      'sleutel',
      'verloopt',
      3,
      'Een sleutel ontbreekt in DATA_KEYS: wat ermee is versleuteld wordt geweigerd.',
      '/sleutels',
    )
  const part = space && space.free / space.total
  if (part !== undefined && part < (open.has('schijf') ? DISK_WELL : DISK[0])) {
    const percent = Math.floor(part * 100)
    const text = `Op de schijf van de documenten is nog ${percent}% vrij.`
    tell('schijf', 'schijf', part < DISK[1] ? 2 : 1, text, '/bewaartermijnen')
  }
  return found
}

async function findJobs(sql: ReadSql): Promise<Condition[]> {
  const { count } = one(
    await sql<{ count: number }[]>`
    select count(*)::int as count from (select * from jobs order by id limit ${LOOKED_AT}) j
    where attempts >= max_attempts`,
  )
  if (count === 0) return []
  const text = count === 1 ? 'Een taak is mislukt: alle pogingen zijn gebruikt.' : `${count} taken zijn mislukt.`
  return [{ key: 'taken', kind: 'worker', level: 1, text, path: '/taken?staat=mislukt' }]
}

/** What each worker is for, by its name. */
const WORKERS: Record<string, string> = {
  worker: 'imports en opruimen',
  notificaties: 'het versturen van notificaties',
}
const SILENT_SECONDS = 20

/** That no living worker does a kind of work. Who looks again and again says how long that was so. */
export async function findGone(sql: ReadSql): Promise<Condition[]> {
  const alive = await sql<{ name: string }[]>`
    select distinct name from worker where abs(extract(epoch from clock_timestamp() - seen_at)) < ${SILENT_SECONDS}`
  return Object.entries(WORKERS)
    .filter(([name]) => !alive.some((one) => one.name === name))
    .map(([name, work]) => ({
      key: `worker:${name}`,
      kind: 'worker',
      level: 1,
      text: `Er draait geen worker voor ${work}. Wat wacht blijft bewaard.`,
      path: '/taken',
    }))
}

/** An api found that they are gone (watch-workers.ts): a worker only says when they are back. */
const stillGone = async (sql: ReadSql, open: ReadonlySet<string>) =>
  (await findGone(sql)).filter(({ key }) => open.has(key))

async function findExpiring({ database, config }: Parts, now: number): Promise<Condition[]> {
  const { sql } = database
  const certificates = await sql<{ key: string; name: string; pem: string; path: string }[]>`
    (select 'certificaat:' || uuid as key, 'Het client-certificaat voor de dienst ' || label as name, certificaat as pem,
      '/diensten/' || uuid as path from service where certificaat <> '' order by id limit ${MOST})
    union all (select 'ca:' || uuid, 'Een CA-certificaat van de dienst ' || label, ca, '/diensten/' || uuid
      from service where ca <> '' order by id limit ${MOST})
    union all (select 'certificaat:' || a.uuid, 'Het client-certificaat voor het abonnement ' || coalesce(p.label, ''), a.certificaat,
      '/abonnementen/' || a.uuid from abonnement a left join applicatie p on p.id = a.applicatie_id
      where a.certificaat <> '' and a.deleted_at is null order by a.id limit ${MOST})`
  const ends = [...certificates, ...fscCertificates(config)].map(({ pem, ...rest }) => ({ ...rest, end: endOf(pem) }))
  const secrets = await sql<{ key: string; name: string; path: string; end: string }[]>`
    select 'geheim:' || s.client_id as key, 'Het geheim van de client ' || s.client_id as name,
      '/applicaties/' || (array_agg(a.uuid))[1] as path, max(s.expires_at) as end
    from applicatie_secret s join applicatie_client c on c.client_id = s.client_id join applicatie a on a.id = c.applicatie_id
    group by s.client_id
    having bool_and(s.expires_at < now() + make_interval(days => ${DAYS[0]})) and max(s.last_signed_at) > now() - interval '90 days'
    order by s.client_id limit ${MOST}`
  const issuers = await sql<{ uuid: string; label: string }[]>`
    select i.uuid, i.label from token_issuer i join token_issuer_keys k on k.issuer_id = i.id
    where k.failure <> '' and k.fetched_at < now() - make_interval(mins => ${config.tokenKeysKeptHours * 30})
    order by i.id limit ${MOST}`
  return [
    ...[...ends, ...secrets.map((secret) => ({ ...secret, end: Date.parse(secret.end) }))].flatMap((one) =>
      expiring(one, now),
    ),
    ...issuers.map(({ uuid, label }): Condition => {
      const text = `De sleutels van de token-uitgever ${label} zijn niet op te halen; die van eerder gelden straks niet meer.`
      return { key: `token-uitgever:${uuid}`, kind: 'verloopt', level: 1, text, path: `/token-uitgevers/${uuid}` }
    }),
  ]
}

const fscCertificates = ({ fsc }: Config) =>
  (fsc?.certificates ?? []).map((pem, place) => {
    return { key: `fsc:${place}`, name: 'Een certificaat van FSC_CERTIFICATES', pem, path: '/configuratie' }
  })

/** When the first of these certificates runs out; undefined when that cannot be read. */
function endOf(pem: string): number | undefined {
  try {
    const parts = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
    return Math.min(...parts.map((part) => Date.parse(new X509Certificate(part).validTo)))
  } catch {
    return undefined
  }
}

function expiring(
  given: { key: string; name: string; path: string; end: number | undefined },
  now: number,
): Condition[] {
  const { key, name, path, end = Number.POSITIVE_INFINITY } = given
  const left = (end - now) / 86_400_000
  const level = DAYS.filter((days) => left < days).length
  if (level === 0) return []
  const day = new Date(end).toLocaleDateString('nl-NL', { dateStyle: 'long', timeZone: timeZone() })
  const text = left < 0 ? `${name} is verlopen op ${day}.` : `${name} verloopt op ${day}.`
  return [{ key, kind: 'verloopt', level, text, path }]
}
