// What the tests of the bulk import share: CSV files, and an import from its creation to its report.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseString } from 'fast-csv'
import { COLUMN_NAMES, type ColumnName } from '../../src/documenten/import/columns.ts'
import { type Answer, type TestApp, uuidOf } from '../app.ts'

export const API = '/documenten/api/v1/import'
export const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'

/** Cells by column. What is not in it is empty; names that are no column need to be in the header. */
export type CsvRow = Partial<Record<ColumnName, string>> & Record<string, string>

export function csvText(rows: (CsvRow | string[])[], header: readonly string[] = COLUMN_NAMES): string {
  const lines = rows.map((rowOf) => (Array.isArray(rowOf) ? rowOf : header.map((naam) => rowOf[naam] ?? '')))
  return [header, ...lines].map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
}

const cell = (text: string) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A row that becomes a document, given its type and file. */
export function goodRow(type: string, bestandspad: string, values: CsvRow = {}): CsvRow {
  return {
    bronorganisatie: '000000000',
    creatiedatum: '2024-02-29',
    titel: `Titel van ${bestandspad}`,
    auteur: 'Auteur',
    taal: 'nld',
    bestandspad,
    informatieobjecttype: type,
    ...values,
  }
}

export async function givenFile(
  { importDir }: TestApp,
  path: string,
  content: string | Buffer = path,
): Promise<string> {
  await mkdir(dirname(join(importDir, path)), { recursive: true })
  await writeFile(join(importDir, path), content)
  return path
}

/** A new import; its uuid. */
export async function givenImport({ call }: TestApp): Promise<string> {
  const { status, body, text } = await call('POST', `${API}/create`)
  if (status !== 201) throw new Error(`no import: ${text}`)
  return uuidOf(body.url)
}

export type Uitkomst = { uuid: string; status: Answer['body']; rows: Record<string, string>[]; text: string }

/** Runs an import from beginning to end. */
export async function runImport(test: TestApp, csv: string | Buffer): Promise<Uitkomst> {
  const uuid = await givenImport(test)
  const uploaded = await test.call('POST', `${API}/${uuid}/upload`, csv)
  if (uploaded.status !== 200) throw new Error(`refused: ${uploaded.text}`)
  await test.runJobs()
  return outcome(test, uuid)
}

export async function outcome(test: TestApp, uuid: string, query = ''): Promise<Uitkomst> {
  const { body: status } = await test.call('GET', `${API}/${uuid}/status`)
  const { text } = await test.call('GET', `${API}/${uuid}/report${query}`)
  return { uuid, status, text, rows: await readReport(text) }
}

/** The rows of a report by the names of its header. It has the separator and the byte order mark of the upload. */
export async function readReport(text: string): Promise<Record<string, string>[]> {
  const delimiter = [';', '\t'].find((separator) => text.split('\n', 1)[0]?.includes(separator)) ?? ','
  const [header = [], ...rows]: string[][] = await Array.fromAsync(
    parseString<string[], string[]>(text.replace(/^\ufeff/, ''), { headers: false, delimiter }),
  )
  return rows.map((cells) => Object.fromEntries(header.map((naam, index) => [naam, cells[index] ?? ''])))
}
