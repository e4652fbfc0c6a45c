// The history of a database, which a restore ends. Positions that clients hold are of one history: in another one they would name what
// their reader never saw. Where a database knows by itself that it is another one (`current_cluster()`), or finds a position or a mark
// beside the documents (documenten/storage/mark.ts) that is ahead of it, another history begins, and positions of before are refused.
import type { FastifyBaseLogger } from 'fastify'
import { systemActor } from './access.ts'
import type { Mutate } from './mutate.ts'
import type { Problem } from './problem.ts'

/** A position of this history that lies ahead of it: the database was put back to a moment of before, with all that it knew of itself. */
export class Rewound extends Error {
  readonly epoch: string
  constructor(epoch: string) {
    super('a position is ahead of the database')
    this.epoch = epoch
  }
}

/** The same work; but when it finds that the database was put back, another history begins. @throws `expired` then */
export async function orAnew<T>(
  { mutate, log, base }: { mutate: Mutate; log: Pick<FastifyBaseLogger, 'warn'>; base: string },
  expired: () => Problem,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Rewound)) throw error
    log.warn('a position is ahead of the database, which was put back: positions of before are refused from now on')
    await mutate(systemActor('feed', base), async (m) => {
      m.unrecorded('positions are no data of anybody')
      await m.sql`select begin_history() where exists (select from feed where epoch = ${error.epoch})
        or exists (select from history where epoch = ${error.epoch})`
    })
    throw expired()
  }
}
