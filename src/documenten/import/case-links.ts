import type postgres from 'postgres'

/** What the import asks of cases. They stand above documents, so a task hands this in. */
export type CaseLinks = {
  /** Judges and, unless told otherwise, locks the cases that rows name. Returns what is wrong, by row. */
  judge(
    sql: postgres.Sql | postgres.TransactionSql,
    rows: readonly { number: number; zaakUuid: string; typeId: number }[],
    options?: { lock?: boolean },
  ): Promise<Map<number, string>>
  /** Links documents to their cases, without audit records and notifications. */
  link(sql: postgres.TransactionSql, rows: readonly { zaakUuid: string; uuid: string }[]): Promise<void>
}
