// The file of an import, made from the files in a directory: what they tell by themselves is filled in, and the rest is for people.
//
// What was found of each file goes into a journal beside the file that is asked for, in the order of the names. One that was broken off
// goes on from it: of a file with the same size and time its row is taken over. The journal becomes the file at the end.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, createWriteStream } from 'node:fs'
import { open, opendir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { matchesGlob } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import mime from 'mime-types'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../core/vertrouwelijkheidaanduiding.ts'
import { beneath } from '../documenten/import/bestandspad.ts'
import { COLUMN_NAMES, type ColumnName, type CsvRow } from '../documenten/import/columns.ts'
import { csvStream, neutralizeCell } from '../documenten/import/report.ts'
import { dayOf } from '../lib/day.ts'
import { isSidecar, openSidecars, type Sidecar } from './import-sidecars.ts'
import { UsageError } from './usage.ts'

/** What is the same for every file. */
type Given = Partial<Pick<CsvRow, 'informatieobjecttype' | 'bronorganisatie' | 'auteur' | 'taal'>>

export type Preparing = {
  /** Where files are looked for, in all directories below it; links are not followed. */
  root: string
  /** The import directory, and where `root` is in it: '' when they are the same. */
  base: string
  below: string
  /** `.xlsx`, or anything else for a CSV. */
  out: string
  given: Given
  /** Patterns of names, or of paths from `root`. */
  exclude: string[]
  /** Whether metadata lies beside the files. */
  sidecars: boolean
  /** The case of a Dossier, when there is one. */
  caseOf(dossier: Sidecar): Promise<string | undefined>
  counted(so: Counts): void
}
export type Counts = { files: number; bytes: number; takenOver: number; leftOut: number; refused: number }
export type Prepared = Counts & { list: string | undefined; dossiers: string | undefined }

/** What systems leave behind, and nobody archives. */
export const LEFT_BEHIND = ['Thumbs.db', 'desktop.ini', '.DS_Store', '._*', '~$*', '.~lock.*']
const MOST_IN_WORKBOOK = 200_000

type Journaled = { path: string; size: number; mtime: number; row: Partial<CsvRow>; dossier?: Sidecar }

/** @throws UsageError when there is such a file already, or a workbook would be too large */
export async function prepareFile(preparing: Preparing): Promise<Prepared> {
  const { root, base, below, out, exclude, counted } = preparing
  const [journal, before, list, dossierList] = [
    `${out}.bezig`,
    `${out}.vorige`,
    `${out}.niet-mee.csv`,
    `${out}.dossiers.csv`,
  ]
  const own = new Set([out, `${out}.nieuw`, journal, before, list, dossierList])
  const so: Counts = { files: 0, bytes: 0, takenOver: 0, leftOut: 0, refused: 0 }
  const others: string[][] = []
  const note = (path: string, soort: 'overgeslagen' | 'geweigerd', reden: string) => {
    so[soort === 'overgeslagen' ? 'leftOut' : 'refused']++
    others.push([path, soort, reden])
  }
  // One that was broken off early must not cost what the one before it had read.
  if ((await sizeOf(journal)) >= (await sizeOf(before))) await rename(journal, before).catch(() => {})
  const earlier = await openJournal(before)
  const source = beneath(base)
  const lookBeside = preparing.sidecars
    ? openSidecars(root, (path, reason) => note(path, 'overgeslagen', `metadata: ${reason}`))
    : undefined
  const dossiers = new Map<string, { dossier: Sidecar; uuid: string | undefined }>()
  const written = await open(journal, 'w', 0o600)
  try {
    let lines = ''
    for await (const found of filesIn(Buffer.from(root), '', exclude, note)) {
      if (own.has(found.file.toString())) continue
      if (lookBeside && isSidecar(found.path)) continue
      const path = below === '' ? found.path : `${below}/${found.path}`
      const opened = source.open(path)
      if ('fout' in opened) {
        note(path, 'geweigerd', opened.fout.text)
        continue
      }
      closeSync(opened.fd)
      try {
        const taken = await earlier.take(path, found.file)
        const { row, size, mtime } = taken
        const dossier = taken.isNew ? await fill(row, found, lookBeside) : taken.dossier
        if (!taken.isNew) so.takenOver++
        if (dossier) await nameCase(row, dossier)
        lines += `${JSON.stringify({ path, size, mtime, row, ...(dossier && { dossier }) } satisfies Journaled)}\n`
        so.files++
        so.bytes += size
      } catch (error) {
        note(
          path,
          'geweigerd',
          `Het bestand kan niet worden gelezen (${(error as { code?: string }).code ?? 'onbekend'}).`,
        )
      }
      if (lines.length > 64 * 1024) {
        await written.write(lines)
        lines = ''
      }
      counted(so)
    }
    await written.write(lines)
    await written.sync()
  } finally {
    source.close()
    await written.close()
    await earlier.close()
  }
  const made = `${out}.nieuw`
  if (out.endsWith('.xlsx')) await writeWorkbook(journal, made, so.files)
  else await pipeline(csvStream(csvRecords(journal), undefined, AS_EXCEL), createWriteStream(made, { mode: 0o600 }))
  await rename(made, out)
  const cases = [...dossiers.values()].filter(({ uuid }) => uuid === undefined)
  await writeList(list, ['pad', 'soort', 'reden'], others)
  await writeList(
    dossierList,
    ['identificatie', 'omschrijving', 'startdatum'],
    cases.map(({ dossier }) => [dossier.identificatie, dossier.omschrijving, dossier.values.creatiedatum ?? '']),
  )
  for (const left of [journal, before]) await rm(left, { force: true })
  return { ...so, list: others.length > 0 ? list : undefined, dossiers: cases.length > 0 ? dossierList : undefined }

  /** What a file tells of itself, and below that what its metadata says. @returns the Dossier that it is in */
  async function fill(
    row: Partial<CsvRow>,
    { file, name, path: within }: Found,
    beside: typeof lookBeside,
  ): Promise<Sidecar | undefined> {
    const path = below === '' ? within : `${below}/${within}`
    const read = await readFileOf(file)
    const { values = {}, dossier } = (await beside?.(file.toString())) ?? {}
    Object.assign(row, {
      taal: 'nld',
      ...Object.fromEntries(Object.entries(preparing.given).filter(([, value]) => value !== '')),
      creatiedatum: dayOf(read.mtime),
      titel: titleOf(name),
      formaat: formatOf(read.begin, name),
      bestandsnaam: name,
      bestandspad: path,
      'integriteit.algoritme': 'sha_256',
      'integriteit.waarde': read.sha256,
      'integriteit.datum': dayOf(new Date()),
      ...values,
      informatieobjecttype: preparing.given.informatieobjecttype,
      bestandsomvang: String(read.size),
    })
    if (values['integriteit.algoritme'] === 'sha_256' && values['integriteit.waarde'] !== read.sha256)
      note(path, 'geweigerd', 'Het controlegetal van de metadata is niet dat van het bestand.')
    return dossier
  }

  async function nameCase(row: Partial<CsvRow>, dossier: Sidecar): Promise<void> {
    const key = dossier.identificatie || dossier.omschrijving
    const known = dossiers.get(key) ?? { dossier, uuid: await preparing.caseOf(dossier) }
    dossiers.set(key, known)
    if (known.uuid !== undefined) row.zaakUuid = known.uuid
  }
}

const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? -1

// As Excel opens and saves it in Dutch.
const AS_EXCEL = { separator: ';', newline: '\r\n', sepLine: false, charset: 'utf-8', mark: true } as const

async function writeList(path: string, header: string[], rows: string[][]): Promise<void> {
  await rm(path, { force: true })
  if (rows.length === 0) return
  async function* records() {
    yield header
    yield* rows
  }
  await pipeline(csvStream(records(), neutralizeCell, AS_EXCEL), createWriteStream(path, { mode: 0o600 }))
}

/** Rows that were found before, in their order; of a file that changed since its row is empty again. */
async function openJournal(path: string) {
  const lines = linesOf(path)
  let next = await lines.next()
  return {
    async take(path: string, file: Buffer) {
      const handle = await open(file)
      const { size, mtimeMs: mtime } = await handle.stat().finally(() => handle.close())
      const known = next.done ? undefined : next.value
      if (known?.path !== path) return { row: {} as Partial<CsvRow>, size, mtime, isNew: true, dossier: undefined }
      next = await lines.next()
      const isNew = known.size !== size || known.mtime !== mtime
      return { row: isNew ? {} : known.row, size, mtime, isNew, dossier: known.dossier }
    },
    close: () => lines.return(undefined),
  }
}

async function* linesOf(path: string): AsyncGenerator<Journaled> {
  try {
    for await (const line of createInterface({ input: createReadStream(path) })) yield JSON.parse(line) as Journaled
  } catch {
    // not there, or broken off within a line: from here on files are read
  }
}

async function* csvRecords(journal: string): AsyncGenerator<string[]> {
  yield [...COLUMN_NAMES]
  for await (const { row } of linesOf(journal)) yield COLUMN_NAMES.map((column) => safeCell(column, row[column] ?? ''))
}

/** A cell that no spreadsheet runs as a formula, and that says the same to an import. */
function safeCell(column: ColumnName, text: string): string {
  if (neutralizeCell(text) === text) return text
  if (column === 'bestandspad') return `./${text}`
  if (column === 'bestandsnaam') return '' // then it is that of bestandspad
  for (let at = 1; at < text.length; at++) if (neutralizeCell(text.slice(at)) === text.slice(at)) return text.slice(at)
  return ''
}

/** Columns with few values, which a workbook offers. */
const CHOICES: Partial<Record<ColumnName, readonly string[]>> = {
  vertrouwelijkheidaanduiding: VERTROUWELIJKHEIDAANDUIDINGEN,
  status: ['in_bewerking', 'ter_vaststelling', 'definitief', 'gearchiveerd'],
  indicatieGebruiksrecht: ['ja', 'nee'],
  'ondertekening.soort': ['analoog', 'digitaal', 'pki'],
}

/** Every cell is text: a spreadsheet takes no nought off a number, and makes no date of one. */
async function writeWorkbook(journal: string, out: string, count: number): Promise<void> {
  if (count > MOST_IN_WORKBOOK)
    throw new UsageError(`${count} files are too many for a workbook (${MOST_IN_WORKBOOK}): name a CSV with --out`)
  const { colToLetter, writeXlsx } = await import('hucre/xlsx')
  const rows: string[][] = [[...COLUMN_NAMES]]
  for await (const { row } of linesOf(journal)) rows.push(COLUMN_NAMES.map((column) => row[column] ?? ''))
  const dataValidations = COLUMN_NAMES.flatMap((column, place) => {
    const letter = colToLetter(place)
    const values = CHOICES[column]
    return values
      ? { type: 'list' as const, values: [...values], allowBlank: true, range: `${letter}2:${letter}1048576` }
      : []
  })
  const columns = COLUMN_NAMES.map(() => ({ numFmt: '@', width: 20 }))
  const sheet = { name: 'Documenten', columns, rows, dataValidations, freezePane: { rows: 1 } }
  await writeFile(out, await writeXlsx({ sheets: [sheet] }), { mode: 0o600 })
}

type Found = {
  /** With all bytes of its name. */ file: Buffer
  name: string /** From where the search began, as `bestandspad` has it. */
  path: string
}
type Note = (path: string, soort: 'overgeslagen' | 'geweigerd', reden: string) => void

/** Names are bytes: some of an old archive are no UTF-8. In the order of their names, so that a second run gives the same file. */
async function* filesIn(directory: Buffer, above: string, exclude: string[], note: Note): AsyncGenerator<Found> {
  const entries: { name: Buffer; isDirectory(): boolean; isFile(): boolean; isSymbolicLink(): boolean }[] = []
  try {
    // biome-ignore lint/suspicious/noExplicitAny: the types of Node do not know of names as buffers here
    for await (const entry of await opendir(directory, { encoding: 'buffer' as any }))
      entries.push(entry as unknown as (typeof entries)[number])
  } catch (error) {
    note(
      above || '.',
      'overgeslagen',
      `De map kan niet worden gelezen (${(error as { code?: string }).code ?? 'onbekend'}).`,
    )
  }
  entries.sort((a, b) => Buffer.compare(a.name, b.name))
  for (const entry of entries) {
    const name = componentOf(entry.name)
    const path = above === '' ? name : `${above}/${name}`
    const file = Buffer.concat([directory, Buffer.from('/'), entry.name])
    if (exclude.some((pattern) => matchesGlob(name, pattern) || matchesGlob(path, pattern)))
      note(path, 'overgeslagen', 'Het valt onder --exclude, of is van het besturingssysteem.')
    else if (entry.isDirectory()) yield* filesIn(file, path, exclude, note)
    else if (entry.isFile()) yield { file, name, path }
    else note(path, 'overgeslagen', entry.isSymbolicLink() ? 'Het is een koppeling.' : 'Het is geen gewoon bestand.')
  }
}

async function readFileOf(file: Buffer) {
  const handle = await open(file)
  try {
    const { size, mtime } = await handle.stat()
    const sha256 = createHash('sha256')
    let begin: Buffer | undefined
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      begin ??= chunk as Buffer
      sha256.update(chunk as Buffer)
    }
    return { size, mtime, begin: begin ?? Buffer.alloc(0), sha256: sha256.digest('hex') }
  } finally {
    await handle.close()
  }
}

/** A name as a part of `bestandspad`: of one that is no UTF-8, the bytes that are no text as `%E9`. */
function componentOf(name: Buffer): string {
  if (isUtf8(name)) return name.toString()
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
const BEGINS: [format: string, bytes: string][] = [
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

/** What holds files of many kinds: which it is, its name tells. */
const CONTAINERS = new Set(['application/zip', 'application/x-ole-storage', 'application/xml', 'text/plain', ''])

/** The format by content where that is certain, and else by the name, which knows e-mail, Office, images and video. '' when neither tells. */
function formatOf(begin: Buffer, name: string): string {
  const found = formatByContent(begin)
  return (CONTAINERS.has(found) && mime.lookup(name)) || found
}

function formatByContent(begin: Buffer): string {
  const text = begin.toString('latin1', 0, 8192)
  for (const [format, bytes] of BEGINS) if (text.startsWith(bytes)) return format
  const isText =
    begin.length > 0 && !text.includes('\0') && !begin.subarray(0, 4096).toString().slice(0, -1).includes('\ufffd')
  return isText ? 'text/plain' : ''
}
