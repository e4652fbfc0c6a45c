// The CSV of an import, made from the files in a directory: what they tell by themselves is filled in, and the rest is for people.
import { createHash } from 'node:crypto'
import { open, opendir } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { COLUMN_NAMES, type CsvRow } from '../documenten/import/columns.ts'
import { csvStream } from '../documenten/import/report.ts'
import { dayOf } from '../lib/day.ts'

/** What is the same for every file. */
type Given = Partial<Pick<CsvRow, 'informatieobjecttype' | 'bronorganisatie' | 'auteur' | 'taal'>>

/**
 * @param directory where files are looked for, in all directories below it; links are not followed
 * @param base the import directory, from which `bestandspad` counts
 * @param counted hears of every file
 */
export function importFileOf(
  directory: string,
  base: string,
  given: Given,
  counted: (bytes: number) => void,
): ReturnType<typeof csvStream> {
  async function* records(): AsyncGenerator<string[]> {
    yield [...COLUMN_NAMES]
    for await (const file of filesIn(Buffer.from(directory))) {
      const row = await rowOf(file, base, given)
      counted(Number(row.bestandsomvang))
      yield COLUMN_NAMES.map((column) => row[column] ?? '')
    }
  }
  // As Excel opens and saves it in Dutch.
  return csvStream(records(), undefined, {
    separator: ';',
    newline: '\r\n',
    sepLine: false,
    charset: 'utf-8',
    mark: true,
  })
}

/** Names are bytes: some of an old archive are no UTF-8. In the order of their names, so that a second run gives the same file. */
async function* filesIn(directory: Buffer): AsyncGenerator<Buffer> {
  const entries: { name: Buffer; isDirectory(): boolean; isFile(): boolean }[] = []
  // biome-ignore lint/suspicious/noExplicitAny: the types of Node do not know of names as buffers here
  for await (const entry of await opendir(directory, { encoding: 'buffer' as any }))
    entries.push(entry as unknown as (typeof entries)[number])
  entries.sort((a, b) => Buffer.compare(a.name, b.name))
  for (const entry of entries) {
    const path = Buffer.concat([directory, Buffer.from(sep), entry.name])
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile()) yield path
  }
}

async function rowOf(file: Buffer, base: string, given: Given): Promise<Partial<CsvRow>> {
  const handle = await open(file)
  try {
    const { size, mtime } = await handle.stat()
    const sha256 = createHash('sha256')
    let begin: Buffer | undefined
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      begin ??= chunk as Buffer
      sha256.update(chunk as Buffer)
    }
    const path = written(file)
    const name = path.slice(path.lastIndexOf(sep) + 1)
    return {
      taal: 'nld',
      ...given,
      creatiedatum: dayOf(mtime),
      titel: titleOf(name),
      formaat: formatOf(begin ?? Buffer.alloc(0)),
      bestandsnaam: name,
      bestandsomvang: String(size),
      bestandspad: relative(base, path).split(sep).join('/'),
      'integriteit.algoritme': 'sha_256',
      'integriteit.waarde': sha256.digest('hex'),
      'integriteit.datum': dayOf(new Date()),
    }
  } finally {
    await handle.close()
  }
}

/** A name as `bestandspad` has it: of one that is no UTF-8, the bytes that are no text as `%E9`. */
function written(name: Buffer): string {
  const text = name.toString()
  if (Buffer.from(text).equals(name)) return text
  return Array.from(name, (byte) =>
    byte < 0x80 && byte !== 0x25 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}

/** `2024-05_notulen_MT.pdf` is titled `2024-05 notulen MT`. */
function titleOf(name: string): string {
  const stem = name.replace(/(?!^)\.[^.]{1,10}$/, '')
  return (stem.replaceAll('_', ' ').trim() || name).slice(0, 200)
}

/** What files of these kinds begin with, as their specifications say. */
const BEGINS: [format: string, bytes: string, at?: number][] = [
  ['application/pdf', '%PDF-'],
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
  ['image/tiff', 'II*\0'],
  ['image/tiff', 'MM\0*'],
  ['application/zip', 'PK\x03\x04'],
  ['application/x-ole-storage', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['application/rtf', '{\\rtf'],
  ['application/xml', '<?xml'],
]

/** The format by content; that of office files by what their ZIP holds; '' when it tells nothing. */
function formatOf(begin: Buffer): string {
  const text = begin.toString('latin1', 0, 8192)
  if (text.startsWith('PK\x03\x04')) {
    const odf = /^mimetype(application\/vnd\.oasis\.opendocument\.[a-z-]+)/.exec(text.slice(30))?.[1]
    if (odf) return odf.replace(/PK$/, '')
    for (const [folder, kind] of OFFICE) if (text.includes(folder)) return `${OPEN_XML}.${kind}`
  }
  for (const [format, bytes, at = 0] of BEGINS) if (text.startsWith(bytes, at)) return format
  const isText =
    begin.length > 0 && !text.includes('\0') && !begin.subarray(0, 4096).toString().slice(0, -1).includes('\ufffd')
  return isText ? 'text/plain' : ''
}

const OPEN_XML = 'application/vnd.openxmlformats-officedocument'
const OFFICE = [
  ['word/', 'wordprocessingml.document'],
  ['xl/', 'spreadsheetml.sheet'],
  ['ppt/', 'presentationml.presentation'],
] as const
