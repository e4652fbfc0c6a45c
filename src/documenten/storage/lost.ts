// Content of which the bytes are gone from the store. The row says so until they are back, so that every process can tell.
import type { Logger } from 'pino'
import { systemActor } from '../../core/access.ts'
import type { Mutate } from '../../core/mutate.ts'
import { Problem } from '../../core/problem.ts'
import type { Database } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { contentLost } from '../../telemetry/metrics.ts'
import type { Stores } from './choose.ts'

type Stored = { backend: string; key: string; size: number }

type LookParts = Pick<Stores, 'storeFor'> & { database: Database; log: Logger }

const LOOK_AGAIN = 20 // at this many when the pages ask how many there are

/** Notes that bytes are gone. The answer to whoever asked for them. */
export async function reportLost({ log }: { log: Logger }, mutate: Mutate, stored: Stored): Promise<Problem> {
  const { backend, key } = stored
  log.error({ backend, key }, 'the bytes of a document are gone from the store')
  contentLost.inc()
  await mutate(systemActor('download'), async (m) => {
    m.unrecorded('it is the state of the store, not of a document')
    await m.sql`
      update file set missing_since = now() where backend = ${backend} and key = ${key} and missing_since is null`
  }).catch((error) => log.warn({ err: error }, 'could not note that the bytes of a document are gone'))
  return new Problem(503, {
    code: 'inhoud-vermist',
    detail:
      'De inhoud van dit document is niet meer in de opslag te vinden. Dat ligt niet aan de aanvraag; de beheerder is gewaarschuwd.',
  })
}

/** How much content is lost. Some of it is looked for again first: it may have been put back. */
export async function countLost({ database: { sql }, storeFor, log }: LookParts): Promise<number> {
  const noted = await sql<(Stored & { id: number })[]>`
    select id, backend, key, size from file where missing_since is not null
    order by missing_since desc limit ${LOOK_AGAIN}`
  for (const { id, backend, key, size } of noted) {
    try {
      const found = await storeFor(backend).read(key)
      found?.stream.destroy()
      if (found?.size === size) await sql`update file set missing_since = null where id = ${id}`
    } catch (error) {
      log.debug({ err: error }, 'cannot look for lost content now')
      break
    }
  }
  const row = one(await sql<{ count: number }[]>`select count(*) as count from file where missing_since is not null`)
  return row.count
}
