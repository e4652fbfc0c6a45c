export type CsvErrorCode =
  | 'parse_error'
  | 'empty-file'
  | 'missing-import-headers'
  | 'duplicate-import-headers'
  | 'too-many-rows'

/** Why an import CSV is refused as a whole. The message is Dutch and meant for the client. */
export class CsvError extends Error {
  readonly code: CsvErrorCode

  constructor(code: CsvErrorCode, message: string) {
    super(message)
    this.name = 'CsvError'
    this.code = code
  }
}
