// Whether there is a way back, and how far it was gone: for the page, and a word at the switch.
import type { ReadSql } from '../../database/database.ts'

/** A Dutch sentence when nothing keeps what changes after a switch. */
export async function wayBackWarnings(sql: ReadSql): Promise<string[]> {
  const feeds = await sql`select from feed`
  return feeds.length > 0
    ? []
    : ['Wijzigingen worden niet bijgehouden (FEED_DAYS is 0): na de omschakeling kunnen ze niet worden teruggespeeld.']
}

export type WayBack = {
  /** All that changed since the switch can still be played. */
  kept: boolean
  played: { at: string | null; count: number; refused: number } | undefined
}

/** Of a takeover that was switched. */
export async function wayBackOf(sql: ReadSql, { id }: { id: number }): Promise<WayBack> {
  const kept = await sql<{ whole: boolean }[]>`
    select cluster = current_cluster() and first <= coalesce(pg_snapshot_xmin(t.switch_snapshot::pg_snapshot), first) as whole
    from feed join takeover t on t.id = ${id}`
  const played = await sql<{ at: string | null; count: number; refused: number }[]>`
    select max(p.done_at) as at, count(i.uuid) as count, count(*) filter (where i.state = 'refused') as refused
    from playback p left join playback_item i on i.playback_id = p.id where p.takeover_id = ${id} group by p.takeover_id`
  return { kept: kept[0]?.whole === true, played: played[0] }
}
