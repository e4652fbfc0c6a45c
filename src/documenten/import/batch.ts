// One batch of an import. Three steps: read and judge the rows (prepare), copy their files (also prepare), and write all
// in one transaction (commit). While a batch is being written the next one is prepared, so files and database overlap.
// The order of the file decides all the same: what prepare finds depends on the row alone, and whether its uuid and number
// are still free is decided by commit, when all earlier rows are written. So the report depends neither on the size of
// the batches nor on the moments at which work was interrupted and repeated.

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Config } from '../../config.ts'
import { type Database, type Db, isConflict, isUnavailable, kyselyOn } from '../../database/database.ts'
import { readInput } from '../../http/input.ts'
import { localUuid } from '../../http/links.ts'
import type { InvalidParam } from '../../http/problem.ts'
import { Problem } from '../../http/problem.ts'
import { judgeZaken, linkToZaken } from '../../zaken/import-links.ts'
import { Metagegevens } from '../document/columns.ts'
import { gebruiksrechtFault, statusFault } from '../rules.ts'
import { newKey, type Store, StoreUnavailable } from '../storage/index.ts'
import { publishedFault, type UnpublishedTypes } from '../type.ts'
import { importBaseDirFault } from './base-dir.ts'
import { columnOf, rowToDocument, valuesOf } from './columns.ts'
import { type Batch, enqueueBatch, finishWhenDone, noteWaiting } from './progress.ts'
import type { Copied, TeKopieren } from './source-file.ts'
import { nameTypes } from './type-names.ts'

export type BatchParts = {
  config: Config
  database: Database
  store: Store
  kopieer(bestanden: TeKopieren[]): Promise<Copied[]>
  log: Logger
}

type GelezenRij = {
  nummer: number
  uuid: string | null
  bestandspad: string
  zaakUuid: string | null
  input: Metagegevens
}
export type TypedRow = GelezenRij & { uuid: string; typeId: number; vertrouwelijkheidaanduiding: string }
type Bestand = { sleutel: string; omvang: number; sha256: string }
/** A row of which nothing but its file can be at fault, and what became of that. */
export type Kandidaat = TypedRow & { bestand: Bestand | { fout: string } }
type MetBestand = TypedRow & { bestand: Bestand }
/** `fouten` are those of the cells themselves: they do not depend on other rows. */
type Prepared = { rows: number; fouten: Map<number, string>; kandidaten: Kandidaat[] }
/** Judged but not copied. */
type Beoordeeld = { rows: number; fouten: Map<number, string>; getypeerd: TypedRow[] }
/** A batch in preparation: how many rows it takes is known before their files are copied. */
type Voorbereiding = { beoordeeld: Promise<Beoordeeld>; klaar: Promise<Prepared> }

/** Row number of the first row; the header is row 1. */
export const EERSTE = 2
const WAIT_MS = 10_000
/** A batch ends with the row that fills it to this size: a record may be a thousand times as large as most. */
const BATCH_BYTES = 8 * 1024 * 1024

// A batch during which workers die again and again goes on row by row, to find the row that kills them. That one is left
// out when it is alone. More than one crash, because a worker may die for reasons of its own.
const CRASHES_OF_BATCH = 5
const CRASHES_OF_ROW = 3

/**
 * Handles one batch. Returns normally when there is nothing (more) to do for this job, and when the batch has to wait
 * for something that it needs: then a job for later is there, and no attempt was used. Throws when the batch failed and
 * is to be tried again.
 * @param crashes how often a worker died during this job
 */
export async function processBatch(parts: BatchParts, vooruit: ReadAhead, batch: Batch, crashes = 0): Promise<void> {
  try {
    await tryBatch(parts, vooruit, batch, crashes)
  } catch (error) {
    const reden = waitsFor(error)
    if (!reden) throw error
    parts.log.warn({ import: batch.import, err: error }, 'import waits')
    await parts.database.db.transaction().execute(async (trx) => {
      await noteWaiting(trx, batch.import, reden)
      await enqueueBatch(trx, batch, new Date(Date.now() + WAIT_MS))
    })
  }
}

/** A broken connection is not among these: then the worker itself runs the job again as soon as there is a new one. */
function waitsFor(error: unknown): string | undefined {
  if (error instanceof StoreUnavailable)
    return error.wat === 'import directory' ? 'Wacht op de importmap.' : 'Wacht op de opslag.'
  const code = String((error as { code?: unknown } | null)?.code)
  return /^(53[0-9A-Z]{3}|25006)$/.test(code) ? 'Wacht op de database.' : undefined // full, or read-only
}

async function tryBatch(parts: BatchParts, vooruit: ReadAhead, batch: Batch, crashes: number): Promise<void> {
  const ahead = vooruit.take(batch)
  const row = await activeImport(parts.database.db, batch)
  if (!row) {
    if (ahead) await discard(parts, (await ahead.klaar.catch(() => undefined))?.kandidaten)
    return
  }
  const alone = batch.perRijTot !== undefined
  if (!alone && crashes >= CRASHES_OF_BATCH) {
    parts.log.warn({ import: batch.import, vanaf: batch.vanaf }, 'workers die during this batch: it goes on row by row')
    await parts.database.db
      .transaction()
      .execute((trx) => enqueueBatch(trx, { ...batch, perRijTot: batch.vanaf + row.batchgrootte }))
    return
  }
  if (alone && crashes >= CRASHES_OF_ROW) {
    parts.log.error({ import: batch.import, row: batch.vanaf + EERSTE }, 'workers die of this row: it is left out')
    await commit(parts, row, batch, { rows: 1, fouten: new Map([[batch.vanaf + EERSTE, GIFTIG]]), kandidaten: [] })
    return
  }
  const work = ahead ?? prepare(parts, row, batch.vanaf, alone ? 1 : row.batchgrootte)
  const next = { import: batch.import, vanaf: batch.vanaf + (await work.beoordeeld).rows }
  // Not after a crash: who dies of a row must die during its own batch.
  if (next.vanaf < row.totaal && !alone && crashes === 0)
    vooruit.start(next, () => prepare(parts, row, next.vanaf, row.batchgrootte))
  await discard(parts, await commit(parts, row, batch, await work.klaar))
}

const GIFTIG = 'Deze rij is overgeslagen: bij het verwerken ervan viel het programma telkens uit.'

async function activeImport(db: Db, batch: Batch) {
  const row = await db
    .selectFrom('import')
    .where('uuid', '=', batch.import)
    .where('status', '=', 'active')
    .where('verwerkt', '=', batch.vanaf)
    .select(['id', 'uuid', 'kop', 'basisUrl', 'batchgrootte', 'totaal'])
    .executeTakeFirst()
  return (
    row && { ...row, kop: row.kop as string[], basisUrl: row.basisUrl ?? '', batchgrootte: row.batchgrootte ?? 500 }
  )
}
type ActiveImport = NonNullable<Awaited<ReturnType<typeof activeImport>>>

// ---- prepare ----

/**
 * Judges the rows of a batch and copies the files of those that pass. Nothing is written to the database. `aantal` is how
 * many rows at most; large ones make it fewer, and what becomes of a row does not depend on that.
 * Both promises reject with StoreUnavailable when storage or the import directory is away: that is no row's fault.
 */
function prepare(parts: BatchParts, row: ActiveImport, vanaf: number, aantal: number): Voorbereiding {
  const beoordeeld = judge(parts, row, vanaf, aantal)
  const klaar = beoordeeld.then(async ({ rows, fouten, getypeerd }) => {
    return { rows, fouten, kandidaten: await copyFiles(parts, getypeerd) }
  })
  klaar.catch(() => {}) // whoever takes it sees the failure
  return { beoordeeld, klaar }
}

async function judge(parts: BatchParts, row: ActiveImport, vanaf: number, aantal: number): Promise<Beoordeeld> {
  const fault = importBaseDirFault(parts.config)
  if (fault) throw new StoreUnavailable(fault.code, 'import directory')
  const { db } = parts.database
  const { rows: regels } = await sql<{ nummer: number; cellen: string[] }>`
    select nummer, cellen from (
      select nummer, cellen, sum(omvang) over (order by nummer) - omvang as ervoor from import_regel
      where import_id = ${row.id} and nummer >= ${vanaf + EERSTE} and nummer < ${vanaf + EERSTE + aantal}
    ) r where ervoor < ${BATCH_BYTES} order by nummer`.execute(db)
  if (regels.length === 0) throw new Error('the rows of this import are gone')
  const fouten = new Map<number, string>()
  await nameTypes(db, row.basisUrl, row.kop, regels)
  const gelezen = regels.flatMap(({ nummer, cellen }) => {
    const result = readRow(row.kop, cellen, nummer)
    if ('fout' in result) fouten.set(nummer, result.fout)
    return 'fout' in result ? [] : [result]
  })
  return { rows: regels.length, fouten, getypeerd: await judgeTypes(db, parts.config, row.basisUrl, gelezen, fouten) }
}

/** The checks that need nothing but the row: the same fields and rules as a regular create. */
export function readRow(kop: string[], cellen: string[], nummer: number): GelezenRij | { fout: string } {
  const values = valuesOf(kop, cellen, nummer)
  if ('fout' in values) return values
  const { body, uuid, bestandspad, zaakUuid, fouten } = rowToDocument(values.rij)
  const faults = fouten.map(({ kolom, reden }) => `${kolom}: ${reden}`)
  const skip = new Set<string>(fouten.map(({ kolom }) => kolom))
  const input = readFields(body, (fault) => {
    if (!skip.has(columnOf(fault.name))) faults.push(`${columnOf(fault.name)}: ${fault.reason}`)
  })
  if (bestandspad.includes('\0')) faults.push('bestandspad: Dit pad bevat een teken dat niet is toegestaan.')
  if (faults.length > 0 || !input) return { fout: faults.join(' ') }
  return { nummer, uuid, bestandspad, zaakUuid, input }
}

function readFields(body: Record<string, unknown>, report: (fault: InvalidParam) => void): Metagegevens | undefined {
  try {
    const input = readInput(Metagegevens, body)
    const faults = [...statusFault(input), ...gebruiksrechtFault(input)]
    faults.forEach(report)
    return input
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    error.invalidParams?.forEach(report)
    return undefined
  }
}

/** The checks of the type: one query, however many rows. */
export async function judgeTypes(
  db: Db,
  config: UnpublishedTypes,
  base: string,
  rows: GelezenRij[],
  fouten: Map<number, string>,
): Promise<TypedRow[]> {
  const typeUuid = (url: string) => localUuid(url, base, 'informatieobjecttype')
  const wanted = [...new Set(rows.flatMap(({ input }) => typeUuid(input.informatieobjecttype) ?? []))]
  if (wanted.length === 0) {
    for (const { nummer } of rows) fouten.set(nummer, GEEN_TYPE)
    return []
  }
  const types = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', 'in', wanted)
    .select(['id', 'uuid', 'concept', 'vertrouwelijkheidaanduiding'])
    .execute()
  const typeByUuid = new Map(types.map((type) => [type.uuid, type]))
  return rows.flatMap((row) => {
    const { nummer, uuid, input } = row
    const type = typeByUuid.get(typeUuid(input.informatieobjecttype) ?? '')
    const fout = type ? publishedFault(type, config).map(({ name, reason }) => `${name}: ${reason}`)[0] : GEEN_TYPE
    if (!type || fout) {
      fouten.set(nummer, fout ?? GEEN_TYPE)
      return []
    }
    return {
      ...row,
      uuid: uuid ?? randomUUID(),
      typeId: type.id,
      vertrouwelijkheidaanduiding: input.vertrouwelijkheidaanduiding || type.vertrouwelijkheidaanduiding,
    }
  })
}

const GEEN_TYPE = 'informatieobjecttype: Dit informatieobjecttype bestaat niet.'

const BESTAAT = {
  uuid: 'uuid: Er bestaat al een document met deze uuid; dat blijft ongewijzigd.',
  identificatie: 'identificatie: Deze identificatie bestaat al binnen de bronorganisatie.',
}

export const numberKey = ({ bronorganisatie, identificatie }: { bronorganisatie: string; identificatie?: string }) =>
  `${bronorganisatie} ${identificatie}`

type Bezet = { uuids: Set<string>; nummers: Set<string> }

/** Which of the uuids and numbers of these rows the register holds already. */
export async function existing(db: Db, rows: { uuid: string; input: Metagegevens }[]): Promise<Bezet> {
  const uuids = rows.map(({ uuid }) => uuid)
  const numbered = rows.filter(({ input }) => input.identificatie)
  const found = await sql<{ uuid: string; bronorganisatie: string; identificatie: string }>`
    select uuid, bronorganisatie, identificatie from enkelvoudiginformatieobject where uuid = any(${uuids}::uuid[])
    union
    select uuid, bronorganisatie, identificatie from enkelvoudiginformatieobject
    where (identificatie, bronorganisatie) in (
      select * from unnest(${numbered.map(({ input }) => input.identificatie)}::text[], ${numbered.map(({ input }) => input.bronorganisatie)}::text[]))`.execute(
    db,
  )
  return { uuids: new Set(found.rows.map(({ uuid }) => uuid)), nummers: new Set(found.rows.map(numberKey)) }
}

/** What a row has in common with documents that exist; undefined when it is new. */
export function conflict({ uuid, input }: TypedRow, { uuids, nummers }: Bezet): string | undefined {
  const faults: string[] = []
  if (uuids.has(uuid)) faults.push(BESTAAT.uuid)
  if (input.identificatie && nummers.has(numberKey(input))) faults.push(BESTAAT.identificatie)
  return faults.length > 0 ? faults.join(' ') : undefined
}

/** Copies the files of the rows, and holds them against the size and checksum that the row states. */
async function copyFiles(parts: BatchParts, rows: TypedRow[]): Promise<Kandidaat[]> {
  if (rows.length === 0) return []
  // Only saves copying: an earlier batch may not be written yet, so that the decision falls when this one is.
  const bezet = await existing(parts.database.db, rows)
  const map = newKey() // one directory for the whole batch: it is synced once
  const wanted = rows
    .filter((row) => !conflict(row, bezet))
    .map(({ nummer, bestandspad, input }) => ({
      nummer,
      bestandspad,
      sleutel: `${map}/${nummer}`,
      ...(input.integriteit && { algoritme: input.integriteit.algoritme }),
    }))
  const copied = new Map((await parts.kopieer(wanted)).map((result) => [result.nummer, result]))
  const kandidaten: Kandidaat[] = []
  const mismatched: Kandidaat[] = []
  for (const row of rows) {
    const result = copied.get(row.nummer)
    if (!result) kandidaten.push({ ...row, bestand: { fout: conflict(row, bezet)! } })
    else if ('fout' in result) kandidaten.push({ ...row, bestand: { fout: `bestandspad: ${result.fout.tekst}` } })
    else {
      const { sleutel, omvang, sha256 } = result
      const faults = contentFaults(row.input, result)
      if (faults.length > 0) mismatched.push({ ...row, bestand: { sleutel, omvang, sha256 } })
      kandidaten.push({
        ...row,
        bestand: faults.length > 0 ? { fout: faults.join(' ') } : { sleutel, omvang, sha256 },
      })
    }
  }
  await discard(parts, mismatched)
  return kandidaten
}

export function contentFaults(
  input: Metagegevens,
  { omvang, controle }: { omvang: number; controle?: string },
): string[] {
  const faults: string[] = []
  if (typeof input.bestandsomvang === 'number' && input.bestandsomvang !== omvang) {
    faults.push(`bestandsomvang: Het bestand is ${omvang} bytes groot.`)
  }
  const stated = input.integriteit?.waarde?.trim().toLowerCase()
  if (stated && controle !== undefined && stated !== controle) {
    faults.push('integriteit.waarde: Deze waarde hoort niet bij het bestand.')
  }
  return faults
}

async function discard(parts: BatchParts, rows: Kandidaat[] = []): Promise<void> {
  // What stays behind when this fails is swept away later.
  await Promise.all(rows.filter(hasFile).map(({ bestand }) => parts.store.remove(bestand.sleutel).catch(() => {})))
}

function hasFile(row: Kandidaat): row is MetBestand {
  return 'sleutel' in row.bestand
}

// ---- commit ----

/** Writes the batch. @returns the rows whose copied file is not needed after all */
async function commit(parts: BatchParts, row: ActiveImport, batch: Batch, prepared: Prepared): Promise<Kandidaat[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const made = await parts.database.sql.begin((connection) => writeBatch(parts, connection, row, batch, prepared))
      return made ? prepared.kandidaten.filter(({ nummer }) => !made.has(nummer)) : prepared.kandidaten
    } catch (error) {
      if (attempt === 3 || !isConflict(error)) throw error
    }
  }
}

/** @returns the documents, or undefined when this batch is not (or no longer) to be done */
async function writeBatch(
  { store }: BatchParts,
  connection: postgres.TransactionSql,
  { id, totaal }: ActiveImport,
  batch: Batch,
  prepared: Prepared,
): Promise<Made | undefined> {
  const trx = kyselyOn(connection)
  const vanaf = batch.vanaf + prepared.rows
  // What a crash of the database may lose of this is done again: position, documents and report go together. The last
  // batch waits for the disk, and so for all before it.
  if (vanaf < totaal) await connection`set local synchronous_commit = off`
  // A process that is frozen in here must lose its locks before the others take over its job: they need those rows.
  await connection`set local idle_in_transaction_session_timeout = '10s'`
  const current = await trx
    .selectFrom('import')
    .where('id', '=', id)
    .select(['status', 'verwerkt'])
    .forUpdate()
    .executeTakeFirst()
  // Cancelled meanwhile, or done by another worker after this one was taken for dead.
  if (current?.status !== 'active' || current.verwerkt !== batch.vanaf) return undefined
  const fouten = new Map(prepared.fouten)
  const made = await insertDocuments({ connection, backend: store.backend }, prepared.kandidaten, fouten)
  await insertResults(trx, id, made, fouten)
  await trx
    .updateTable('import')
    .set((eb) => ({
      verwerkt: eb('verwerkt', '+', prepared.rows),
      geslaagd: eb('geslaagd', '+', made.size),
      bijgewerktOp: sql`now()`,
      reden: null,
    }))
    .where('id', '=', id)
    .execute()
  if (!(await finishWhenDone(trx, id))) {
    const { perRijTot = 0 } = batch
    await enqueueBatch(trx, { import: batch.import, vanaf, ...(vanaf < perRijTot && { perRijTot }) })
  }
  return made
}

type Made = Map<number, { uuid: string; identificatie: string }>
type Target = { connection: postgres.TransactionSql; backend: string }

/** How often rows are offered again that met something which was not there when they were judged. */
const TRIES = 5

/**
 * Inserts what it can. The outcome is that of the file's order, as if the rows came one by one: of two rows with one uuid
 * or number the first that becomes a document wins. Normally that is one statement for all rows. When the database
 * refuses one for a reason that we did not foresee, the rows are halved until it stands alone; the second half is
 * judged only when the first is done.
 */
async function insertDocuments(target: Target, rows: Kandidaat[], fouten: Map<number, string>): Promise<Made> {
  const made: Made = new Map()
  if (rows.length === 0) return made
  const { connection } = target
  await connection`set constraints all immediate` // a deferred one would refuse the batch as a whole, at its end
  const zaakFouten = await judgeZaken(connection, withZaak(rows))
  let bezet = await existing(kyselyOn(connection), rows)
  const todo = [{ rows, tries: 0 }]
  for (let part = todo.shift(); part; part = todo.shift()) {
    const { accepted, refused } = judgeInOrder(part.rows, bezet, zaakFouten)
    const outcome = await insertAll(target, accepted)
    if ('inserted' in outcome) {
      for (const { nummer, uuid, identificatie } of outcome.inserted) made.set(nummer, { uuid, identificatie })
      for (const [nummer, fout] of refused) fouten.set(nummer, fout)
      for (const { uuid, input } of accepted) {
        bezet.uuids.add(uuid)
        if (input.identificatie) bezet.nummers.add(numberKey(input))
      }
    } else if (!outcome.error && part.tries < TRIES) {
      bezet = await existing(kyselyOn(connection), rows)
      todo.unshift({ rows: part.rows, tries: part.tries + 1 })
    } else if (part.rows.length === 1) {
      fouten.set(part.rows[0]!.nummer, refusal(outcome.error))
    } else {
      const middle = Math.ceil(part.rows.length / 2)
      todo.unshift({ rows: part.rows.slice(0, middle), tries: 0 }, { rows: part.rows.slice(middle), tries: 0 })
    }
  }
  return made
}

export const withZaak = <R extends { zaakUuid: string | null }>(rows: R[]) =>
  rows.filter((row): row is R & { zaakUuid: string } => row.zaakUuid !== null)

/** Which of the rows may become documents when each is held against the register and the rows before it. */
export function judgeInOrder(rows: Kandidaat[], { uuids, nummers }: Bezet, zaakFouten: Map<number, string>) {
  const bezet = { uuids: new Set(uuids), nummers: new Set(nummers) }
  const accepted: MetBestand[] = []
  const refused: [number, string][] = []
  for (const row of rows) {
    const { nummer, uuid, input, bestand } = row
    const fout = conflict(row, bezet) ?? zaakFouten.get(nummer) ?? ('fout' in bestand ? bestand.fout : undefined)
    if (fout) refused.push([nummer, fout])
    else if (hasFile(row)) {
      accepted.push(row)
      bezet.uuids.add(uuid)
      if (input.identificatie) bezet.nummers.add(numberKey(input))
    }
  }
  return { accepted, refused }
}

/** All rows or none. Without `error` some met an existing uuid or number: given out meanwhile, or one that we made up. */
async function insertAll(
  { connection, backend }: Target,
  rows: MetBestand[],
): Promise<{ inserted: Inserted[] } | { error?: unknown }> {
  if (rows.length === 0) return { inserted: [] }
  try {
    const inserted = await connection.savepoint(async (inner) => {
      const result = await insertRows(kyselyOn(inner), backend, rows)
      if (result.length < rows.length) throw NOT_ALL
      await linkToZaken(inner, withZaak(rows))
      return result
    })
    return { inserted }
  } catch (error) {
    if (error === NOT_ALL) return {}
    if (isUnavailable(error) || isConflict(error)) throw error
    return { error }
  }
}

const NOT_ALL = new Error('some rows were skipped')

/** What the database says of a row. A text of its own is shown only when somebody wrote it for that (`raise`). */
function refusal(error: unknown): string {
  const { code, message, constraint_name, column_name } = (error ?? {}) as Partial<postgres.PostgresError>
  const kolom = column_name ? `${column_name}: ` : ''
  const rule = constraint_name ? `regel ${constraint_name}` : code === 'P0001' ? message?.slice(0, 200) : code
  return `${kolom}De database weigert deze rij${rule ? ` (${rule})` : ''}.`
}

type Inserted = { nummer: number; uuid: string; identificatie: string }

/** One statement for document, version and bytes of all rows. Rows that meet an existing one are left out. */
async function insertRows(trx: Db, backend: string, rows: MetBestand[]): Promise<Inserted[]> {
  const values = rows.map(({ nummer, uuid, typeId, vertrouwelijkheidaanduiding, bestandspad, bestand, input }) => ({
    ...input,
    nummer,
    uuid,
    sleutel: bestand.sleutel,
    type_id: typeId,
    vertrouwelijkheidaanduiding,
    bestandsnaam: input.bestandsnaam || bestandspad.slice(bestandspad.lastIndexOf('/') + 1),
    omvang: bestand.omvang,
    sha256: bestand.sha256,
    ondertekening_soort: input.ondertekening?.soort ?? null,
    ondertekening_datum: input.ondertekening?.datum ?? null,
    integriteit_algoritme: input.integriteit?.algoritme ?? null,
    integriteit_waarde: input.integriteit?.waarde ?? null,
    integriteit_datum: input.integriteit?.datum ?? null,
  }))
  const result = await sql<Inserted>`
    with invoer as materialized (
      select x.*, coalesce(nullif(x.identificatie, ''), document_identificatie(x.creatiedatum)) as kenmerk
      from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb) as x(
        nummer integer, uuid uuid, sleutel text, type_id bigint, identificatie text, bronorganisatie text, creatiedatum date, titel text,
        vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding, auteur text, status text, formaat text, taal text,
        bestandsnaam text, omvang bigint, sha256 text, link text, beschrijving text, ontvangstdatum date, verzenddatum date,
        "indicatieGebruiksrecht" boolean, verschijningsvorm text, ondertekening_soort text, ondertekening_datum date,
        integriteit_algoritme text, integriteit_waarde text, integriteit_datum date, trefwoorden jsonb)
      order by nummer
    ), document as (
      insert into enkelvoudiginformatieobject (uuid, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding)
      select uuid, bronorganisatie, kenmerk, type_id, vertrouwelijkheidaanduiding from invoer order by nummer
      on conflict do nothing
      returning id, uuid
    ), bytes as (
      insert into bestand (backend, sleutel, omvang, sha256)
      select ${backend}, i.sleutel, i.omvang, decode(i.sha256, 'hex') from invoer i join document d on d.uuid = i.uuid
      returning id, sleutel
    ), versie as (
      insert into enkelvoudiginformatieobject_versie (
        enkelvoudiginformatieobject_id, versie, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding,
        creatiedatum, titel, auteur, status, formaat, taal, bestandsnaam, bestandsomvang, bestand_id, link, beschrijving,
        ontvangstdatum, verzenddatum, indicatie_gebruiksrecht, verschijningsvorm, ondertekening_soort, ondertekening_datum,
        integriteit_algoritme, integriteit_waarde, integriteit_datum, trefwoorden)
      select d.id, 1, i.bronorganisatie, i.kenmerk, i.type_id, i.vertrouwelijkheidaanduiding,
        i.creatiedatum, i.titel, i.auteur, i.status, i.formaat, i.taal, i.bestandsnaam, i.omvang, b.id, i.link, i.beschrijving,
        i.ontvangstdatum, i.verzenddatum, i."indicatieGebruiksrecht", i.verschijningsvorm, i.ondertekening_soort, i.ondertekening_datum,
        i.integriteit_algoritme, i.integriteit_waarde, i.integriteit_datum,
        array(select jsonb_array_elements_text(i.trefwoorden))
      from invoer i join document d on d.uuid = i.uuid join bytes b on b.sleutel = i.sleutel
    )
    select i.nummer, i.uuid, i.kenmerk as identificatie from invoer i join document d on d.uuid = i.uuid`.execute(trx)
  return result.rows
}

async function insertResults(trx: Db, importId: number, made: Made, fouten: Map<number, string>): Promise<void> {
  const results = [
    ...[...made].map(([nummer, document]) => ({ nummer, geslaagd: true, opmerking: '', ...document })),
    ...[...fouten].map(([nummer, opmerking]) => ({ nummer, geslaagd: false, opmerking })),
  ]
  await sql`
    insert into import_resultaat (import_id, nummer, geslaagd, opmerking, document_uuid, identificatie)
    select ${importId}::bigint, nummer, geslaagd, opmerking, uuid, identificatie
    from jsonb_to_recordset(${JSON.stringify(results)}::text::jsonb)
      as x(nummer integer, geslaagd boolean, opmerking text, uuid uuid, identificatie text)`.execute(trx)
}

// ---- ahead ----

/** Batches that are being prepared before their job came. */
export type ReadAhead = {
  take(batch: Batch): Voorbereiding | undefined
  start(batch: Batch, work: () => Voorbereiding): void
}

/** Keeps one batch ahead, for this process. What no job asks for in half a minute was done elsewhere: it is discarded. */
export function openReadAhead(parts: BatchParts): ReadAhead {
  let kept: { batch: Batch; work: Voorbereiding; timer: NodeJS.Timeout } | undefined
  const drop = () => {
    const dropped = kept
    kept = undefined
    if (!dropped) return
    clearTimeout(dropped.timer)
    void dropped.work.klaar.then((prepared) => discard(parts, prepared.kandidaten)).catch(() => {})
  }
  return {
    take(batch) {
      if (kept?.batch.import !== batch.import || kept.batch.vanaf !== batch.vanaf) return undefined
      if (batch.perRijTot !== undefined) return void drop()
      const { work, timer } = kept
      clearTimeout(timer)
      kept = undefined
      return work
    },
    start(batch, work) {
      drop()
      kept = { batch, work: work(), timer: setTimeout(drop, 30_000).unref() }
    },
  }
}
