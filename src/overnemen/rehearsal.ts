// The evening of the switch, rehearsed on the real source: a second round is a round as any other, the switch is made and undone, and
// for the way back a sample of what was taken over is compared with what stands there. At the source all of it reads only.
import type postgres from 'postgres'
import type { Database } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { KINDS } from './kinds.ts'
import { BACK } from './playback/kinds.ts'
import { switchOver, type Takeover } from './takeover.ts'

/** Rolls the switch back. */
class Rehearsed extends Error {}

/**
 * Makes the switch in a transaction that is undone.
 * @returns undefined when the switch may not be made: a round is not complete
 */
export async function rehearseSwitch(
  { sql }: Pick<Database, 'sql'>,
  takeover: Takeover,
): Promise<{ removed: number; seconds: number } | undefined> {
  const begun = performance.now()
  let removed: number | undefined
  await sql
    .begin(async (within) => {
      removed = await switchOver(within, takeover)
      throw new Rehearsed()
    })
    .catch((error) => {
      if (!(error instanceof Rehearsed)) throw error
    })
  return removed === undefined ? undefined : { removed, seconds: (performance.now() - begun) / 1000 }
}

/** How kinds of the feed are called in a takeover. */
const TAKEN = new Map([
  ['enkelvoudiginformatieobject', 'document'],
  ['gebruiksrechten', 'gebruiksrecht'],
])

/**
 * Writes down some objects of each kind as if they had changed here since the switch: the newest that were taken over.
 * @param sql a connection of which `makeDry` made the tables its own
 * @returns id of the playback
 */
export async function planSample(
  sql: postgres.ReservedSql,
  { id }: Pick<Takeover, 'id'>,
  target: string,
  perKind: number,
): Promise<number> {
  const { playback } = one(
    await sql<{ playback: number }[]>`
      insert into playback (takeover_id, target, planned_to) values (${id}, ${target}, pg_current_snapshot()::text)
      returning id as playback`,
  )
  for (const { name } of BACK) {
    const kind = KINDS.find((one) => one.name === (TAKEN.get(name) ?? name))
    if (!kind) continue
    // What stands below a case is asked for there.
    const main = kind.refs.some(({ id: column }) => column === 'zaak_id')
      ? sql`(select z.uuid from zaak z where z.id = x.zaak_id)`
      : sql`null::uuid`
    await sql`
      insert into playback_item (playback_id, resource, uuid, row_id, main, made_here, state)
      select ${playback}, ${name}, x.uuid, x.id, ${main}, false, 'waiting' from ${sql(kind.table)} x
      where exists (select from takeover_object o where o.takeover_id = ${id} and o.kind = ${kind.name} and o.uuid = x.uuid)
      order by x.id desc limit ${perKind}`
  }
  return playback
}
