// What has to be done until the switch, in the order of the manual, and which of it is done.
import type { ReadSql } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { type WayBack, wayBackOf } from './playback/state.ts'
import { switchWarnings, type Takeover } from './takeover.ts'

/** `hand`: nobody but the operator knows. */
export type WayState = 'klaar' | 'open' | 'let-op' | 'hand'
export type Way = {
  proef: { state: WayState; at: string | null }
  rapport: { state: WayState; count: number }
  ronde: { state: WayState; at: string | null }
  bestanden: { state: WayState; count: number }
  notificaties: { state: WayState; warnings: string[] }
  controle: { state: WayState; at: string | null; count: number }
  omschakelen: { state: WayState; at: string | null }
  terug: { state: WayState; back: WayBack | undefined }
}

/** The state of each step of a takeover that is no dry run. */
export async function wayToSwitch(sql: ReadSql, { id, source, status }: Takeover): Promise<Way> {
  const [proef] = await sql<{ at: string | null }[]>`
    select round_done_at as at from takeover where source = ${source} and trial and status = 'klaar' order by id desc limit 1`
  const rows = await sql<
    {
      refused: number
      missing: number
      round_done_at: string | null
      checked_at: string | null
      differences: number | null
      checked_since: boolean | null
      switched_at: string | null
    }[]
  >`
    select (select count(*) from takeover_remark r where r.takeover_id = o.id and r.outcome = 'geweigerd') as refused,
      (select count(*) from takeover_file b where b.takeover_id = o.id and b.state = 'ontbreekt') as missing,
      o.round_done_at, o.checked_at, o.differences, o.checked_at > o.round_done_at as checked_since, o.switched_at
    from takeover o where o.id = ${id}`
  const { refused, missing, round_done_at, checked_at, differences, checked_since, switched_at } = one([...rows])
  const isRead = status === 'klaar' || status === 'omgeschakeld'
  const warnings = await switchWarnings(sql)
  const back = status === 'omgeschakeld' ? await wayBackOf(sql, { id }) : undefined
  const checked = checked_at !== null && (checked_since === true || status === 'omgeschakeld')
  return {
    proef: { state: proef || isRead ? 'klaar' : 'open', at: proef?.at ?? null },
    rapport: { state: !isRead ? 'open' : refused > 0 ? 'let-op' : 'klaar', count: refused },
    ronde: { state: isRead ? 'klaar' : 'open', at: round_done_at },
    bestanden: { state: !isRead ? 'open' : missing > 0 ? 'let-op' : 'klaar', count: missing },
    notificaties: { state: warnings.length > 0 ? 'let-op' : 'klaar', warnings },
    controle: {
      state: !checked ? 'open' : (differences ?? 0) > 0 ? 'let-op' : 'klaar',
      at: checked_at,
      count: differences ?? 0,
    },
    omschakelen: { state: status === 'omgeschakeld' ? 'klaar' : 'open', at: switched_at },
    terug: { state: back && (!back.kept || (back.played?.refused ?? 0) > 0) ? 'let-op' : 'hand', back },
  }
}
