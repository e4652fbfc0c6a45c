// remove-file: removes bytes that no row refers to any more. Running twice is harmless.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Database } from '../src/database/database.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { readInput } from '../src/http/input.ts'
import { belongsToSource } from '../src/overnemen/bytes.ts'

const Payload = Type.Object({ bestanden: Type.Array(Type.Integer()) })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-file': Static<typeof Payload>
    }
  }
}

type Parts = { database: Database; storeFor: Stores['storeFor'] }

export function removeFile({ database, storeFor }: Parts): Task {
  return async (payload) => {
    for (const id of readInput(Payload, payload).bestanden) {
      // The row goes first, but only for good when the bytes are gone too: the transaction waits for that.
      await database.sql.begin(async (sql) => {
        const [row] = await sql<{ backend: string; sleutel: string }[]>`
          delete from bestand b where b.id = ${id}
            and not exists (select from enkelvoudiginformatieobject_versie v where v.bestand_id = b.id)
            and not exists (select from bestandsdeel d where d.bestand_id = b.id)
          returning b.backend, b.sleutel`
        if (row && !(await belongsToSource(sql, row.sleutel))) await storeFor(row.backend).remove(row.sleutel)
      })
    }
  }
}
