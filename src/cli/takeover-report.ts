// The report of a takeover as a CSV file.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../database/database.ts'
import { reportCsvOf } from '../overnemen/report.ts'
import type { Takeover } from '../overnemen/takeover.ts'

/** Writes all remarks of a takeover to `file`, for its owner only. @returns how many rows it has */
export async function writeReport(database: Database, takeover: Takeover, file: string): Promise<number> {
  const report = reportCsvOf(database.sql, takeover.id)
  await pipeline(report, createWriteStream(file, { mode: 0o600 }))
  return report.rows()
}
