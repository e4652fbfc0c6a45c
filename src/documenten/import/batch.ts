// One batch of an import. Three steps: read and judge the rows (prepare), copy their files (also prepare), and write all
// in one transaction (commit). While a batch is being written the next one is prepared, so files and database overlap;
// the order of the file decides all the same, because a prepared row still meets the constraints when it is written.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Config } from '../../config.ts'
import { type Database, type Db, isUnavailable, kyselyOn } from '../../database.ts'
import { readInput } from '../../input.ts'
import { localUuid } from '../../links.ts'
import type { InvalidParam } from '../../problem.ts'
import { Problem } from '../../problem.ts'
import { nieuweSleutel, type Opslag, OpslagOnbeschikbaar } from '../opslag/index.ts'
import { gebruiksrechtFault, publishedFault, statusFault } from '../rules.ts'
import { Metagegevens } from '../velden.ts'
import { importBaseDirFault } from './basis.ts'
import { kolomVan, naarDocument, waarden } from './kolommen.ts'
import type { Gekopieerd, TeKopieren } from './kopieer.ts'
import { type Batch, enqueueBatch, finishWhenDone, noteWaiting } from './verloop.ts'

export type BatchParts = {
  config: Config
  database: Database
  opslag: Opslag
  kopieer(bestanden: TeKopieren[]): Promise<Gekopieerd[]>
  log: Logger
}

type Kandidaat = {
  nummer: number
  uuid: string
  bestandspad: string
  sleutel: string
  input: Metagegevens
  typeId: number
  vertrouwelijkheidaanduiding: string
  bestand: { omvang: number; sha256: string }
}
type Prepared = { rows: number; fouten: Map<number, string>; kandidaten: Kandidaat[] }

/** Row number of the first row; the header is row 1. */
const EERSTE = 2
const WAIT_MS = 10_000

/**
 * Handles one batch. Returns normally when there is nothing (more) to do for this job, and when the batch has to wait
 * for its storage or directory: then a job for later is there. Throws when the batch failed and is to be tried again.
 */
export async function verwerkBatch(parts: BatchParts, vooruit: Vooruit, batch: Batch): Promise<void> {
  const ahead = vooruit.take(batch)
  const row = await activeImport(parts.database.db, batch)
  if (!row) {
    if (ahead) await discard(parts, await ahead.catch(() => undefined))
    return
  }
  const prepared = await (ahead ?? prepare(parts, row, batch.vanaf)).catch(async (error) => {
    if (!(error instanceof OpslagOnbeschikbaar)) throw error
    await wait(parts, batch, error)
  })
  if (!prepared) return
  const next = { import: batch.import, vanaf: batch.vanaf + prepared.rows }
  if (next.vanaf < row.totaal) vooruit.start(next, () => prepare(parts, row, next.vanaf))
  const lost = await commit(parts, row.id, batch, prepared)
  await discard(parts, { kandidaten: lost })
}

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

async function wait(parts: BatchParts, batch: Batch, cause: Error): Promise<void> {
  parts.log.warn({ import: batch.import, err: cause }, 'import waits')
  await parts.database.db.transaction().execute(async (trx) => {
    await noteWaiting(trx, batch.import, 'Wacht op de opslag of de importmap.')
    await enqueueBatch(trx, batch, new Date(Date.now() + WAIT_MS))
  })
}

// ---- prepare ----

/**
 * Judges the rows of a batch and copies the files of those that pass. Nothing is written to the database.
 * @throws OpslagOnbeschikbaar when storage or the import directory is away: that is no row's fault
 */
async function prepare(parts: BatchParts, row: ActiveImport, vanaf: number): Promise<Prepared> {
  const fault = importBaseDirFault(parts.config)
  if (fault) throw new OpslagOnbeschikbaar(`import directory: ${fault.code}`)
  const { db } = parts.database
  const regels = await db
    .selectFrom('importRegel')
    .where('importId', '=', row.id)
    .where('nummer', '>=', vanaf + EERSTE)
    .where('nummer', '<', vanaf + EERSTE + row.batchgrootte)
    .orderBy('nummer')
    .select(['nummer', 'cellen'])
    .execute()
  const fouten = new Map<number, string>()
  const gelezen = regels.flatMap(({ nummer, cellen }) => {
    const result = readRow(row.kop, cellen as string[], nummer)
    if ('fout' in result) fouten.set(nummer, result.fout)
    return 'fout' in result ? [] : [result]
  })
  const kandidaten = await judgeByDatabase(db, row.basisUrl, gelezen, fouten)
  return { rows: regels.length, fouten, kandidaten: await copyFiles(parts, kandidaten, fouten) }
}

type GelezenRij = { nummer: number; uuid: string | null; bestandspad: string; input: Metagegevens }

/** The checks that need nothing but the row: the same fields and rules as a regular create. */
function readRow(kop: string[], cellen: string[], nummer: number): GelezenRij | { fout: string } {
  const values = waarden(kop, cellen, nummer)
  if ('fout' in values) return values
  const { body, uuid, bestandspad, zaakUuid, fouten } = naarDocument(values.rij)
  const faults = fouten.map(({ kolom, reden }) => `${kolom}: ${reden}`)
  const skip = new Set<string>(fouten.map(({ kolom }) => kolom))
  const input = readFields(body, (fault) => {
    if (!skip.has(kolomVan(fault.name))) faults.push(`${kolomVan(fault.name)}: ${fault.reason}`)
  })
  if (bestandspad.includes('\0')) faults.push('bestandspad: Dit pad bevat een teken dat niet is toegestaan.')
  if (zaakUuid !== null) faults.push('zaakUuid: Deze zaak bestaat niet.')
  if (faults.length > 0 || !input) return { fout: faults.join(' ') }
  return { nummer, uuid, bestandspad, input }
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

/** The checks against the register and against earlier rows of the batch: three queries, however many rows. */
async function judgeByDatabase(
  db: Db,
  base: string,
  rows: GelezenRij[],
  fouten: Map<number, string>,
): Promise<Omit<Kandidaat, 'bestand'>[]> {
  if (rows.length === 0) return []
  const typeUuid = (url: string) => localUuid(url, base, 'informatieobjecttype')
  const wanted = [...new Set(rows.flatMap(({ input }) => typeUuid(input.informatieobjecttype) ?? []))]
  const [types, taken] = await Promise.all([
    wanted.length === 0
      ? []
      : db
          .selectFrom('informatieobjecttype')
          .where('uuid', 'in', wanted)
          .select(['id', 'uuid', 'concept', 'vertrouwelijkheidaanduiding'])
          .execute(),
    existing(db, rows),
  ])
  const typeByUuid = new Map(types.map((type) => [type.uuid, type]))
  return rows.flatMap((row) => {
    const { nummer, uuid, input } = row
    const type = typeByUuid.get(typeUuid(input.informatieobjecttype) ?? '')
    const faults: string[] = []
    if (!type) faults.push('informatieobjecttype: Dit informatieobjecttype bestaat niet.')
    else faults.push(...publishedFault(type).map(({ name, reason }) => `${name}: ${reason}`))
    if (uuid && taken.uuids.has(uuid)) faults.push(BESTAAT.uuid)
    if (input.identificatie && taken.nummers.has(nummerKey(input))) faults.push(BESTAAT.identificatie)
    if (!type || faults.length > 0) {
      fouten.set(nummer, faults.join(' '))
      return []
    }
    return {
      ...row,
      uuid: uuid ?? randomUUID(),
      sleutel: '',
      typeId: type.id,
      vertrouwelijkheidaanduiding: input.vertrouwelijkheidaanduiding || type.vertrouwelijkheidaanduiding,
    }
  })
}

const BESTAAT = {
  uuid: 'uuid: Er bestaat al een document met deze uuid; dat blijft ongewijzigd.',
  identificatie: 'identificatie: Deze identificatie bestaat al binnen de bronorganisatie.',
}

const nummerKey = ({ bronorganisatie, identificatie }: { bronorganisatie: string; identificatie?: string }) =>
  `${bronorganisatie} ${identificatie}`

/** Which of the uuids and numbers of these rows the register holds already. */
async function existing(db: Db, rows: { uuid: string | null; input: Metagegevens }[]) {
  const uuids = rows.flatMap(({ uuid }) => uuid ?? [])
  const numbered = rows.filter(({ input }) => input.identificatie)
  const found = await sql<{ uuid: string; bronorganisatie: string; identificatie: string }>`
    select uuid, bronorganisatie, identificatie from enkelvoudiginformatieobject where uuid = any(${uuids}::uuid[])
    union
    select uuid, bronorganisatie, identificatie from enkelvoudiginformatieobject
    where (identificatie, bronorganisatie) in (
      select * from unnest(${numbered.map(({ input }) => input.identificatie)}::text[], ${numbered.map(({ input }) => input.bronorganisatie)}::text[]))`.execute(
    db,
  )
  return { uuids: new Set(found.rows.map(({ uuid }) => uuid)), nummers: new Set(found.rows.map(nummerKey)) }
}

/** Copies the files of the rows that passed, and holds them against the size and checksum that the row states. */
async function copyFiles(
  parts: BatchParts,
  rows: Omit<Kandidaat, 'bestand'>[],
  fouten: Map<number, string>,
): Promise<Kandidaat[]> {
  if (rows.length === 0) return []
  const map = nieuweSleutel() // one directory for the whole batch: it is synced once
  const wanted = rows.map(({ nummer, bestandspad, input }) => ({
    nummer,
    bestandspad,
    sleutel: `${map}/${nummer}`,
    ...(input.integriteit && { algoritme: input.integriteit.algoritme }),
  }))
  const copied = new Map((await parts.kopieer(wanted)).map((result) => [result.nummer, result]))
  const mismatched: { sleutel: string }[] = []
  const passed = rows.flatMap((row, index) => {
    const result = copied.get(row.nummer)!
    if ('fout' in result) {
      fouten.set(row.nummer, `bestandspad: ${result.fout.tekst}`)
      return []
    }
    const { sleutel } = wanted[index]!
    const faults = contentFaults(row.input, result)
    if (faults.length === 0) return { ...row, sleutel, bestand: { omvang: result.omvang, sha256: result.sha256 } }
    fouten.set(row.nummer, faults.join(' '))
    mismatched.push({ sleutel })
    return []
  })
  await discard(parts, { kandidaten: mismatched })
  return passed
}

function contentFaults(input: Metagegevens, { omvang, controle }: { omvang: number; controle?: string }): string[] {
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

async function discard(parts: BatchParts, prepared: { kandidaten: { sleutel: string }[] } | undefined): Promise<void> {
  // What stays behind when this fails is swept away later.
  await Promise.all((prepared?.kandidaten ?? []).map(({ sleutel }) => parts.opslag.remove(sleutel).catch(() => {})))
}

// ---- commit ----

/** Writes the batch. @returns the rows whose copied file is not needed after all */
async function commit(parts: BatchParts, id: number, batch: Batch, prepared: Prepared): Promise<{ sleutel: string }[]> {
  const written = await parts.database.sql.begin(async (connection) => {
    const trx = kyselyOn(connection)
    const current = await trx
      .selectFrom('import')
      .where('id', '=', id)
      .select(['status', 'verwerkt'])
      .forUpdate()
      .executeTakeFirst()
    // Cancelled meanwhile, or done by another worker after this one was taken for dead.
    if (current?.status !== 'active' || current.verwerkt !== batch.vanaf) return undefined
    const fouten = new Map(prepared.fouten)
    const made = await insertDocuments({ connection, backend: parts.opslag.backend }, prepared.kandidaten, fouten)
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
    if (!(await finishWhenDone(trx, id)))
      await enqueueBatch(trx, { import: batch.import, vanaf: batch.vanaf + prepared.rows })
    return made
  })
  return written ? prepared.kandidaten.filter(({ nummer }) => !written.has(nummer)) : prepared.kandidaten
}

type Made = Map<number, { uuid: string; identificatie: string }>
type Target = { connection: postgres.TransactionSql; backend: string }

/**
 * Inserts what it can, in the order of the file: of two rows with one uuid or number the first wins. Should the database
 * refuse a row for a reason that we did not foresee, the rows are halved until it stands alone, and the others get in.
 */
async function insertDocuments(target: Target, rows: Kandidaat[], fouten: Map<number, string>): Promise<Made> {
  const made: Made = new Map()
  if (rows.length === 0) return made
  try {
    const inserted = await target.connection.savepoint((inner) =>
      insertRows(kyselyOn(inner), target.backend, firsts(rows)),
    )
    for (const { nummer, uuid, identificatie } of inserted) made.set(nummer, { uuid, identificatie })
  } catch (error) {
    if (isUnavailable(error) || isRetryable(error)) throw error
    if (rows.length === 1) {
      fouten.set(
        rows[0]!.nummer,
        `De database weigert deze rij (${(error as { code?: string }).code ?? 'onbekende fout'}).`,
      )
      return made
    }
    const middle = Math.ceil(rows.length / 2)
    for (const half of [rows.slice(0, middle), rows.slice(middle)]) {
      for (const [nummer, document] of await insertDocuments(target, half, fouten)) made.set(nummer, document)
    }
    return made
  }
  const skipped = rows.filter(({ nummer }) => !made.has(nummer))
  if (skipped.length > 0) await explainSkipped(target, skipped, made, fouten)
  return made
}

/** The rows that may stand in one statement: of those with the same uuid or number only the first. */
function firsts(rows: Kandidaat[]): Kandidaat[] {
  const seen = new Set<string>()
  return rows.filter(({ uuid, input }) => {
    const keys = [uuid, ...(input.identificatie ? [nummerKey(input)] : [])]
    if (keys.some((key) => seen.has(key))) return false
    for (const key of keys) seen.add(key)
    return true
  })
}

function isRetryable(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === '40001' || code === '40P01'
}

/** A skipped row met an existing uuid or number, or else a number that we made up: then it is tried again. */
async function explainSkipped(
  target: Target,
  rows: Kandidaat[],
  made: Made,
  fouten: Map<number, string>,
): Promise<void> {
  const taken = await existing(kyselyOn(target.connection), rows)
  const again: Kandidaat[] = []
  for (const row of rows) {
    if (taken.uuids.has(row.uuid)) fouten.set(row.nummer, BESTAAT.uuid)
    else if (row.input.identificatie && taken.nummers.has(nummerKey(row.input)))
      fouten.set(row.nummer, BESTAAT.identificatie)
    else again.push(row)
  }
  for (const [nummer, document] of await insertDocuments(target, again, fouten)) made.set(nummer, document)
}

/** One statement for document, version and bytes of all rows. Rows that meet an existing one are left out. */
async function insertRows(trx: Db, backend: string, rows: Kandidaat[]) {
  const values = rows.map(
    ({ nummer, uuid, sleutel, typeId, vertrouwelijkheidaanduiding, bestandspad, bestand, input }) => ({
      ...input,
      nummer,
      uuid,
      sleutel,
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
    }),
  )
  const result = await sql<{ nummer: number; uuid: string; identificatie: string }>`
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
export type Vooruit = {
  take(batch: Batch): Promise<Prepared> | undefined
  start(batch: Batch, work: () => Promise<Prepared>): void
}

/** Keeps one batch ahead, for this process. What no job asks for in half a minute was done elsewhere: it is discarded. */
export function vooruit(parts: BatchParts): Vooruit {
  let kept: { batch: Batch; prepared: Promise<Prepared>; timer: NodeJS.Timeout } | undefined
  const drop = () => {
    const dropped = kept
    kept = undefined
    if (!dropped) return
    clearTimeout(dropped.timer)
    void dropped.prepared.then((prepared) => discard(parts, prepared)).catch(() => {})
  }
  return {
    take(batch) {
      if (kept?.batch.import !== batch.import || kept.batch.vanaf !== batch.vanaf) return undefined
      const { prepared, timer } = kept
      clearTimeout(timer)
      kept = undefined
      return prepared
    },
    start(batch, work) {
      drop()
      const prepared = work()
      prepared.catch(() => {}) // whoever takes it sees the failure
      kept = { batch, prepared, timer: setTimeout(drop, 30_000).unref() }
    },
  }
}
