// What is played back: a row for each object that changed since the switch, with how far it is and what it is called there. Each step is
// committed before the next, so that a command that was killed goes on where it was.
import type postgres from 'postgres'
import { jsonOf } from '../../database/driver-values.ts'
import { one } from '../../database/rows.ts'
import type { Takeover } from '../takeover.ts'
import { BACK } from './kinds.ts'

type Sql = postgres.Sql | postgres.ReservedSql

/** `sent`: a create was sent, and its answer not seen. `made`: it is there, and is yet to be compared. The others are ends. */
export type State = 'waiting' | 'sent' | 'made' | 'created' | 'changed' | 'deleted' | 'equal' | 'refused'
export type PlayRemark = {
  outcome: 'geweigerd' | 'gemarkeerd'
  code: string
  field: string
  value: string
  text: string
}
export type Item = {
  place: number
  resource: string
  uuid: string
  row_id: number
  /** The case, document or besluit that it belongs to, when that is still here. */
  main: string | null
  made_here: boolean
  state: State
  there: string | null
  locked: boolean
  label: string
  remarks: PlayRemark[]
}
export type Journal = ReturnType<typeof openJournal>

/** The changes since the switch are not kept, or not all of them. */
export class NoWayBack extends Error {
  override name = 'NoWayBack'
}

/** Where changes are read from: those of the switch, or of a moment. */
export type From = { moment: string | undefined }

const AT_ONCE = 50

/** @param sql for a dry run a connection of its own, in which `makeDry` made tables that go with it */
export function openJournal(sql: Sql, id: number) {
  return {
    /** Items of a kind in these states, in the order in which they changed here. */
    async *items(resource: string, states: State[]): AsyncGenerator<Item[]> {
      for (let after = 0; ; ) {
        const rows = await sql<Item[]>`
          select place, resource, uuid, row_id, main, made_here, state, there, locked, label, remarks from playback_item
          where playback_id = ${id} and resource = ${resource} and state = any(${states}) and place > ${after}
          order by place limit ${AT_ONCE}`
        if (rows.length === 0) return
        after = rows.at(-1)?.place ?? after
        yield rows
      }
    },
    async save({ resource, place }: Item, { state, there, locked, label, remarks }: Partial<Item>): Promise<void> {
      await sql`
        update playback_item set state = coalesce(${state ?? null}, state), there = coalesce(${there ?? null}::uuid, there),
          locked = coalesce(${locked ?? null}::boolean, locked),
          label = coalesce(${label ?? null}, label), remarks = coalesce(${remarks ? jsonOf(sql, remarks) : null}, remarks)
        where playback_id = ${id} and resource = ${resource} and place = ${place}`
    },
    /** What objects made here are called there; null: not there yet. Others have the same uuid on both sides. */
    async names(uuids: string[]): Promise<Map<string, string | null>> {
      if (uuids.length === 0) return new Map()
      const rows = await sql<{ uuid: string; there: string | null }[]>`
        select distinct on (uuid) uuid, there from playback_item
        where playback_id = ${id} and uuid = any(${uuids}::uuid[]) and made_here order by uuid, there nulls last`
      return new Map(rows.map(({ uuid, there }) => [uuid, there]))
    },
    /** Which of these uuids of the other side are known: as a name of something of ours, or as what was taken over. */
    async known(uuids: string[]): Promise<Set<string>> {
      const rows = await sql<{ uuid: string | null }[]>`
        select there as uuid from playback_item where playback_id = ${id} and there = any(${uuids}::uuid[])
        union select uuid from takeover_object where uuid = any(${uuids}::uuid[])`
      return new Set(rows.flatMap(({ uuid }) => uuid ?? []))
    },
    async counts(): Promise<{ resource: string; state: State; count: number; remarks: number }[]> {
      return sql<{ resource: string; state: State; count: number; remarks: number }[]>`
        select resource, state, count(*) as count, sum(jsonb_array_length(remarks))::bigint as remarks
        from playback_item where playback_id = ${id} group by 1, 2 order by 1, 2`
    },
    async remarks(after: number): Promise<Pick<Item, 'place' | 'resource' | 'uuid' | 'label' | 'remarks'>[]> {
      return sql<Pick<Item, 'place' | 'resource' | 'uuid' | 'label' | 'remarks'>[]>`
        select place, resource, uuid, label, remarks from playback_item
        where playback_id = ${id} and place > ${after} and remarks <> '[]' order by place limit 1000`
    },
    /** Everything was tried. */
    async done(): Promise<void> {
      await sql`update playback set done_at = now() where id = ${id}`
    },
  }
}

/** Tables of this connection alone, which are found before ours: a dry run writes there. `discard temp` removes them. */
export async function makeDry(sql: postgres.ReservedSql): Promise<void> {
  await sql`create temp table playback (like playback including all)`
  await sql`create temp table playback_item (like playback_item including all)`
}

/**
 * Writes down what changed since the switch, or since the last time that this was asked for the same target. Statuses go by their own
 * moment: there the last that is made decides whether a case is closed.
 * @throws NoWayBack when the changes are not kept
 */
export async function planPlayback(
  sql: Sql,
  {
    id,
    switched_at,
    switch_snapshot,
  }: Pick<Takeover, 'id'> & { switched_at: string | null; switch_snapshot: string | null },
  target: string,
  { moment }: From,
): Promise<number> {
  const since = moment === undefined ? switch_snapshot : null
  const [kept] = await sql<{ whole: boolean }[]>`
    select cluster = current_cluster() and first <= coalesce(pg_snapshot_xmin(${since}::text::pg_snapshot), first) as whole from feed`
  if (!kept?.whole) throw new NoWayBack('changes since the switch are not kept (any more): see FEED_DAYS')
  const plan = async (within: Sql) => {
    const [known] = await within<{ planned_to: string }[]>`
      select planned_to from playback where takeover_id = ${id} and target = ${target}`
    const after = known?.planned_to ?? since
    const { playback, now } = one(
      await within<{ playback: number; now: string }[]>`
        insert into playback (takeover_id, target, planned_to) values (${id}, ${target}, pg_current_snapshot()::text)
        on conflict (takeover_id, target) do update set planned_to = excluded.planned_to, done_at = null
        returning id as playback, planned_to as now`,
    )
    // What was refused is tried again: who gives the command again may have mended the cause.
    await within`
      update playback_item set state = 'waiting'
      where playback_id = ${playback} and state = 'refused' and resource = any(${BACK.map(({ name }) => name)})`
    await within`
      insert into playback_item (playback_id, resource, uuid, row_id, main, made_here, state)
      select ${playback}, x.resource, x.uuid, x.row_id, coalesce(z.uuid, d.uuid, b.uuid), x.made_here,
        case when x.component = 'ztc' then 'refused' else 'waiting' end
      from (
        select component, resource, uuid, (array_agg(row_id order by xact desc, id desc))[1] as row_id,
          (array_agg(main_id order by xact desc, id desc))[1] as main_id,
          (array_agg(operation order by xact, id))[1] = 'insert' as made_here, min(xact::text::numeric) as first, min(id) as place
        from change c
        where pg_visible_in_snapshot(c.xact, ${now}::text::pg_snapshot)
          and case when ${after}::text is null then c.made_at >= ${moment ?? switched_at}::timestamptz
            else c.xact >= pg_snapshot_xmin(${after}::text::pg_snapshot)
              and not pg_visible_in_snapshot(c.xact, ${after}::text::pg_snapshot) end
        group by component, resource, uuid
      ) x
      left join zaak z on x.component = 'zrc' and z.id = x.main_id
      left join enkelvoudiginformatieobject d on x.component = 'drc' and d.id = x.main_id
      left join besluit b on x.component = 'brc' and b.id = x.main_id
      left join status s on x.resource = 'status' and s.id = x.row_id
      order by x.resource, s.datum_status_gezet nulls first, x.first, x.place
      on conflict (playback_id, resource, uuid) do update set row_id = excluded.row_id, main = excluded.main, remarks = '[]',
        state = case when playback_item.state = 'sent' then 'sent' else excluded.state end`
    return playback
  }
  return 'begin' in sql ? (sql.begin(plan as never) as Promise<number>) : plan(sql)
}
