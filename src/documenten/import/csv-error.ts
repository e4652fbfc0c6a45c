export type CsvFoutCode = 'parse_error' | 'empty-file' | 'missing-import-headers' | 'duplicate-import-headers'

/** Why an import CSV is refused as a whole. The message is Dutch and meant for the client. */
export class CsvFout extends Error {
  readonly code: CsvFoutCode

  constructor(code: CsvFoutCode, message: string) {
    super(message)
    this.name = 'CsvFout'
    this.code = code
  }
}
