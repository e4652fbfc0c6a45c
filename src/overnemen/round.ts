// Begins a round: what is read, the snapshot that all of it sees, and the jobs that do it.
import type { Reader } from '../database/database.ts'
import { expected, one } from '../database/rows.ts'
import {
  beginTakeover,
  dropShadow,
  findTakeover,
  openSource,
  startRound,
  type Takeover,
  type TakeoverParts,
  takeSnapshot,
} from './takeover.ts'

export type Round = {
  takeover: Takeover
  /** The round of an earlier run goes on. */
  resumed: boolean
  /** Reads the takeover anew. */
  state(): Promise<Takeover>
  /** Gives the snapshot back; to be called when the round is complete, or left to the workers. */
  release(): Promise<void>
}

/** @throws when the source cannot be read; then nothing was queued */
export async function beginRound(parts: TakeoverParts, given: Parameters<typeof beginTakeover>[1]): Promise<Round> {
  const { takeover, resumed } = await beginTakeover(parts, given)
  const snapshot = await takeSnapshot(parts, takeover)
  try {
    const source = await openSource(parts, takeover)
    try {
      await startRound(parts, takeover, source)
    } finally {
      await source.close()
    }
  } catch (error) {
    await snapshot.release()
    throw error
  }
  return {
    takeover,
    resumed,
    async state() {
      return expected(await findTakeover(parts.database, takeover.id))
    },
    async release() {
      await snapshot.release()
      const last = await findTakeover(parts.database, takeover.id)
      if (last?.trial && last.status === 'klaar') await dropShadow(parts.database.sql, last)
    },
  }
}

/** From Friday 18:00 to Monday 07:00. */
export const WEEKEND_SECONDS = 61 * 3600

/** How long the steps of the present round take, as it was told at its begin: those of one phase side by side. */
export async function forecastOf({ sql }: Pick<Reader, 'sql'>, { id, round, settings }: Takeover): Promise<number> {
  const rows = await sql<{ seconds: number }[]>`
    select coalesce(sum(greatest(longest, total / ${settings.naast})), 0)::float8 as seconds from (
      select max(forecast) as longest, sum(forecast) as total from takeover_step
      where takeover_id = ${id} and round = ${round} group by phase) p`
  return one(rows).seconds
}

export type Progress = {
  name: string
  expected: number
  seen: number
  written: number
  unchanged: number
  refused: number
  removed: number
  klaar: boolean
  fault: string | null
  retry_at: string | null
  seconden: number | null
}

/** The steps of the present round, parts of one kind together, in their order. */
export async function progressOf({ sql }: Pick<Reader, 'sql'>, takeover: Takeover): Promise<Progress[]> {
  return sql<Progress[]>`
    select name, sum(expected)::bigint as expected, sum(seen)::bigint as seen, sum(written)::bigint as written,
      sum(unchanged)::bigint as unchanged, sum(refused)::bigint as refused, sum(removed)::bigint as removed,
      bool_and(done_at is not null) as klaar, max(fault) as fault, max(retry_at) as retry_at,
      extract(epoch from max(coalesce(done_at, updated_at)) - min(begun_at))::float8 as seconden
    from takeover_step where takeover_id = ${takeover.id} and round = ${takeover.round}
    group by name order by min(place)`
}

/** How many objects have each remark, by kind and code. */
export async function faultsOf(
  { sql }: Pick<Reader, 'sql'>,
  takeover: Pick<Takeover, 'id'>,
): Promise<{ outcome: string; kind: string; code: string; aantal: number; voorbeeld: string }[]> {
  return sql<{ outcome: string; kind: string; code: string; aantal: number; voorbeeld: string }[]>`
    select outcome, kind, code, count(*)::bigint as aantal, min(text) as voorbeeld
    from takeover_remark where takeover_id = ${takeover.id}
    group by 1, 2, 3 order by outcome desc, aantal desc, kind, code`
}
