// remove-file: removes bytes that no row refers to any more. Running twice is harmless. When bytes are to stay for a while
// (DOCUMENTEN_KEEP_DELETED_HOURS) the job leaves one that runs later.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database/database.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { readInput } from '../src/http/input.ts'
import { enqueue } from '../src/jobs/queue.ts'
import { clockGap } from '../src/operations/retention.ts'
import { belongsToSource } from '../src/overnemen/bytes.ts'

const Payload = Type.Object({ bestanden: Type.Array(Type.Integer()), kept: Type.Optional(Type.Boolean()) })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-file': Static<typeof Payload>
    }
  }
}

type Parts = { config: Pick<Config, 'documentenKeepDeletedHours'>; database: Database; storeFor: Stores['storeFor'] }

export function removeFile({ config, database, storeFor }: Parts): Task {
  return async (payload) => {
    const { bestanden, kept } = readInput(Payload, payload)
    const hours = config.documentenKeepDeletedHours
    if (hours > 0 && !kept) {
      // A crash after this adds it again: removing twice is harmless.
      return enqueue(database.db, 'remove-file', { bestanden, kept: true }, { delaySeconds: hours * 3600 })
    }
    if (kept && (await clockGap(database.sql))) {
      // The clock jumped: their time may not have come.
      return enqueue(database.db, 'remove-file', { bestanden, kept: true }, { delaySeconds: 3600 })
    }
    for (const id of bestanden) {
      // The row goes first, but only for good when the bytes are gone too: the transaction waits for that.
      await database.sql.begin(async (sql) => {
        const [row] = await sql<{ backend: string; key: string }[]>`
          delete from file b where b.id = ${id}
            and not exists (select from enkelvoudiginformatieobject_versie v where v.file_id = b.id)
            and not exists (select from bestandsdeel d where d.file_id = b.id)
            and not exists (select from feed_snapshot s where s.file_id = b.id)
          returning b.backend, b.key`
        if (row && !(await belongsToSource(sql, row.key))) await storeFor(row.backend).remove(row.key)
      })
    }
  }
}
