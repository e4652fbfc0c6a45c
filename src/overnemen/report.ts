// The report of a takeover for who must repair: a line per object and remark, in groups, with what to do.
import type { Readable } from 'node:stream'
import type { ReadSql } from '../database/database.ts'
import { portions } from '../database/list.ts'
import { csvStream, neutralizeCell } from '../documenten/import/report.ts'
import { remedyOf } from './remedies.ts'

export type ReportFilter = { outcome?: string; kind?: string; code?: string }
type Line = Record<'kind' | 'key' | 'outcome' | 'code' | 'field' | 'text' | 'identificatie' | 'value', string> & {
  round: number
  aantal: number
}

const PAGE = 1000

/** Conditions on `takeover_remark` by a filter of which what is empty counts as all. */
export const matching = (sql: ReadSql, { outcome = '', kind = '', code = '' }: ReportFilter) => sql`
  ${outcome === '' ? sql`` : sql`and outcome = ${outcome}`}
  ${kind === '' ? sql`` : sql`and kind = ${kind}`}
  ${code === '' ? sql`` : sql`and code = ${code}`}`

/**
 * The report as CSV, made as it is read: rows of one group (outcome, kind and reason) together, with how many the group has.
 * Cells that a spreadsheet would run are neutralised.
 */
export function reportCsvOf(
  sql: ReadSql,
  takeoverId: number,
  filter: ReportFilter = {},
): Readable & { rows(): number } {
  let rows = 0
  async function* records() {
    yield [
      'soort',
      'identificatie',
      'uuid',
      'uitkomst',
      'veld',
      'waarde',
      'regel',
      'wat te doen',
      'code',
      'aantal in deze groep',
      'ronde',
    ]
    const groups = await sql<Pick<Line, 'outcome' | 'kind' | 'code' | 'aantal'>[]>`
      select outcome, kind, code, count(*) as aantal from takeover_remark
      where takeover_id = ${takeoverId} ${matching(sql, filter)}
      group by 1, 2, 3 order by outcome desc, kind, code`
    for (const { outcome, kind, code, aantal } of groups) {
      const lines = portions(
        PAGE,
        (after) => sql<(Omit<Line, 'outcome' | 'kind' | 'code' | 'aantal'> & { nummer: number })[]>`
          select id as nummer, key, field, text, identificatie, value, round from takeover_remark
          where takeover_id = ${takeoverId} and outcome = ${outcome} and kind = ${kind} and code = ${code} and id > ${after}
          order by id limit ${PAGE}`,
      )
      for await (const line of lines) {
        rows++
        yield [
          ...[kind, line.identificatie, line.key, outcome, line.field, line.value, line.text],
          ...[remedyOf(code), code, String(aantal), String(line.round)],
        ]
      }
    }
  }
  return Object.assign(csvStream(records(), neutralizeCell), { rows: () => rows })
}
