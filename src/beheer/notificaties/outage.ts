// What an outage would come to, in the page of settings beside the schedule: a dry run with the receivers that there are.
import { sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { type DryReceiver, type DryRun, dryRun, type OutageSettings } from '../../notificaties/dry-run.ts'
import { formatDuration, formatNumber } from '../frame/format.ts'
import { t } from '../language/language.ts'
import { nameOf } from './abonnementen/abonnement.ts'

/** Those that get most. */
const SHOWN = 20
const DAYS = 7
const LAST = 200

export type OutageLine = { name: string; uuid: string | null; perHour: string } & Record<
  'made' | 'failed' | 'blocked' | 'caughtUp',
  string
>

/**
 * @param options.perHour messages for each receiver; undefined: as in the last days
 * @param options.external how many the external service gets at once; undefined: it gets none
 * @param options.subscribers whether abonnementen get messages
 */
export async function outageLines(
  db: ReadDb,
  settings: OutageSettings,
  options: { hours: number; perHour: number | undefined; external: number | undefined; subscribers: boolean },
): Promise<OutageLine[]> {
  const { hours, perHour, external, subscribers } = options
  const { rows } = await sql<{
    id: number
    uuid: string | null
    callbackUrl: string
    atOnce: number
    perHour: number
    ms: number | null
  }>`
    select r.id, r.uuid, r.callback_url, r.at_once, f.per_hour, p.ms
    from (
      select 0::bigint as id, null::uuid as uuid, '' as callback_url, ${external ?? 0}::int as at_once where ${external !== undefined}
      union all select id, uuid, callback_url, concurrency from abonnement where ${subscribers} and deleted_at is null) r
    cross join lateral (
      select coalesce(sum(delivered + failed), 0)::float8
        / greatest(1, extract(epoch from now() - min(hour)) / 3600)::float8 as per_hour
      from delivery_figure where abonnement_id = r.id and hour > now() - make_interval(days => ${DAYS}::int)) f
    cross join lateral (
      select percentile_disc(0.5) within group (order by duration_ms) as ms from (
        select duration_ms from delivery_attempt where abonnement_id = r.id and outcome = 'delivered'
        order by begun_at desc limit ${LAST}) x) p
    order by r.id = 0 desc, f.per_hour desc, r.id limit ${SHOWN}`.execute(db)
  return rows.map((row) => {
    const rate = perHour ?? row.perHour
    const isFetched = row.id !== 0 && row.callbackUrl === ''
    const receiver: DryReceiver = {
      isExternal: row.id === 0,
      rate: rate / 3600,
      speed: row.ms === null ? null : row.atOnce / (Math.max(1, row.ms) / 1000),
    }
    // Nobody is called, so nothing fails.
    const outcome = dryRun(isFetched ? { ...settings, outageCounts: 'geen' } : settings, receiver, hours * 3600)
    return {
      name: row.id === 0 ? t('Notificatiedienst') : nameOf(row),
      uuid: row.uuid,
      perHour: formatNumber(rate < 10 ? rate : Math.round(rate)),
      ...inWords(outcome, receiver, isFetched),
    }
  })
}

function inWords(
  { made, failed, blockedAfter, lost, caughtUp }: DryRun,
  { isExternal }: DryReceiver,
  isFetched: boolean,
) {
  const many = formatNumber(failed)
  const after = formatDuration(blockedAfter ?? 0)
  return {
    made: formatNumber(made),
    failed:
      failed === 0 ? t('geen') : isExternal ? t`${many}: u verstuurt ze opnieuw` : t`${many}: gaan vanzelf opnieuw`,
    blocked:
      (blockedAfter === null ? t('nee') : t`na ${after}; dan Hervatten`) +
      (lost > 0 ? t`. Niet meer bewaard: ${formatNumber(lost)}` : ''),
    caughtUp: isFetched ? t('als hij heeft opgehaald') : caughtUpInWords(made, caughtUp),
  }
}

function caughtUpInWords(made: number, seconds: number | null): string {
  if (made === 0) return t('meteen')
  if (seconds === null) return t('nog niet bekend')
  if (seconds === Infinity) return t('nooit: er komt meer dan hij aanneemt')
  return t`binnen ${formatDuration(Math.max(1, seconds))}`
}
