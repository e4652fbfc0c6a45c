// Begins a round: what is read, the snapshot that all of it sees, and the jobs that do it.
import type { Reader } from '../database/database.ts'
import { expected } from '../database/rows.ts'
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
      await startRound(parts, takeover, await source.plan(takeover.ronde))
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
      if (last?.proef && last.status === 'klaar') await dropShadow(parts.database.sql, last)
    },
  }
}

export type Progress = {
  naam: string
  verwacht: number
  gelezen: number
  geschreven: number
  ongewijzigd: number
  geweigerd: number
  verwijderd: number
  klaar: boolean
  fout: string | null
  seconden: number | null
}

/** The steps of the present round, parts of one kind together, in their order. */
export async function progressOf({ sql }: Pick<Reader, 'sql'>, takeover: Takeover): Promise<Progress[]> {
  return sql<Progress[]>`
    select naam, sum(verwacht)::bigint as verwacht, sum(gelezen)::bigint as gelezen, sum(geschreven)::bigint as geschreven,
      sum(ongewijzigd)::bigint as ongewijzigd, sum(geweigerd)::bigint as geweigerd, sum(verwijderd)::bigint as verwijderd,
      bool_and(done_at is not null) as klaar, max(fout) as fout,
      extract(epoch from max(coalesce(done_at, updated_at)) - min(begun_at))::float8 as seconden
    from takeover_step where takeover_id = ${takeover.id} and ronde = ${takeover.ronde}
    group by naam order by min(volgorde)`
}

/** How many objects have each remark, by kind and code. */
export async function faultsOf(
  { sql }: Pick<Reader, 'sql'>,
  takeover: Pick<Takeover, 'id'>,
): Promise<{ uitkomst: string; soort: string; code: string; aantal: number; voorbeeld: string }[]> {
  return sql<{ uitkomst: string; soort: string; code: string; aantal: number; voorbeeld: string }[]>`
    select uitkomst, soort, code, count(*)::bigint as aantal, min(tekst) as voorbeeld
    from takeover_remark where takeover_id = ${takeover.id}
    group by 1, 2, 3 order by uitkomst desc, aantal desc, soort, code`
}
