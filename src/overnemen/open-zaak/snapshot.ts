// The snapshot that all portions of a round see: it is there as long as the process that exported it holds its transaction.
import { openDatabase } from '../../database/database.ts'
import { one } from '../../database/rows.ts'

/**
 * Exports a snapshot of the database and holds it.
 * @returns its name, and what lets it go
 */
export async function holdSnapshot(url: string): Promise<{ name: string; release(): Promise<void> }> {
  const database = openDatabase(url, {
    max: 1,
    name: 'overnemen snapshot',
    isForeign: true,
    settings: { default_transaction_read_only: 'on', idle_in_transaction_session_timeout: '0', statement_timeout: '0' },
  })
  const released = Promise.withResolvers<void>()
  const exported = Promise.withResolvers<string>()
  const done = database.sql
    .begin('isolation level repeatable read read only', async (sql) => {
      const rows = await sql<{ name: string }[]>`select pg_export_snapshot() as name`
      exported.resolve(one(rows).name)
      await released.promise
    })
    .then(
      () => {},
      (error) => exported.reject(error),
    )
  const name = await exported.promise.catch(async (error) => {
    await database.close()
    throw error
  })
  return {
    name,
    async release() {
      released.resolve()
      await done
      await database.close()
    },
  }
}
