// The report of a takeover as a CSV file.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../database/database.ts'
import { csvStream, neutralizeCell } from '../documenten/import/report.ts'
import type { Takeover } from '../overnemen/takeover.ts'

/** Writes all remarks of a takeover to `file`, for its owner only. @returns how many rows it has */
export async function writeReport(database: Database, takeover: Takeover, file: string): Promise<number> {
  let rows = 0
  async function* records() {
    yield ['soort', 'sleutel', 'uitkomst', 'code', 'veld', 'tekst', 'ronde']
    const pages = database.sql<FindingRow[]>`
      select soort, sleutel, uitkomst, code, field, text, round from takeover_remark
      where takeover_id = ${takeover.id} order by soort, code, id`.cursor(1000)
    for await (const page of pages)
      for (const { soort, sleutel, uitkomst, code, field, text, round } of page) {
        rows++
        yield [soort, sleutel, uitkomst, code, field, text, String(round)]
      }
  }
  await pipeline(csvStream(records(), neutralizeCell), createWriteStream(file, { mode: 0o600 }))
  return rows
}

type FindingRow = Record<'soort' | 'sleutel' | 'uitkomst' | 'code' | 'field' | 'text', string> & { round: number }
