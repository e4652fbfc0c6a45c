// import: many documents from one CSV and files that the server can read. Beside the standard; for clients with all rights.

import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { FieldCode } from '../../core/codes.ts'
import type { Mutation } from '../../core/mutate.ts'
import { invalid, notFound, Problem } from '../../core/problem.ts'
import type { Db, Reader } from '../../database/database.ts'
import { isLockTimeout, isUniqueViolation } from '../../database/error-codes.ts'
import { expected, one } from '../../database/rows.ts'
import { when } from '../../database/when.ts'
import { header } from '../../http/header.ts'
import { Moment, Url, Uuid } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { Page, PageQuery, sendPageOf } from '../../http/page.ts'
import { countStream } from '../../http/stream.ts'
import { importBaseDirFault } from './base-dir.ts'
import { charsetNamed } from './charset.ts'
import { CsvError, copyLines, readImportCsv } from './csv.ts'
import { dialectOf } from './dialect.ts'
import { readImportNdjson, reportNdjson } from './ndjson.ts'
import { enqueueBatch, openNext, stopImport } from './progress.ts'
import { reportCharset, reportCsv } from './report.ts'
import { reportRows } from './report-rows.ts'
import { type ImportRow, imported, importsWithPlace, PLACE, requireImport } from './rows.ts'

const IMPORT_STATUS = ['pending', 'active', 'finished', 'error'] as const
const Urls = { url: Url(), uploadUrl: Url(), statusUrl: Url(), reportUrl: Url() }
const Created = Type.Object(Urls)
const Status = Type.Object({
  ...Urls,
  status: Type.Enum(IMPORT_STATUS),
  total: Type.Integer({ minimum: 0 }),
  processed: Type.Integer({ minimum: 0 }),
  processedSuccessfully: Type.Integer({ minimum: 0 }),
  processedInvalid: Type.Integer({ minimum: 0 }),
  emptyRows: Type.Integer({ minimum: 0, description: 'Lege rijen in het bestand: overgeslagen, en niet meegeteld.' }),
  createdOn: Moment,
  startedOn: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
  finishedOn: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
  reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Waarom de import is gestopt of wacht.',
  }),
  queuePosition: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    description: 'De plaats in de wachtrij, zolang een andere import voorgaat.',
  }),
})
const CreateQuery = Type.Object(
  {
    wachten: Type.Optional(
      Type.Boolean({
        description: 'Is er al een open import, dan wacht deze tot die en alle eerdere wachtende zijn gestopt.',
      }),
    ),
  },
  { additionalProperties: false },
)
const Params = Type.Object({ uuid: Uuid })
const ReportQuery = Type.Object({
  formules: Type.Optional(
    Type.Enum(['neutraliseren'], {
      description: 'Zet een apostrof voor cellen die een spreadsheet als formule zou uitvoeren.',
    }),
  ),
  toegekend: Type.Optional(
    Type.Boolean({ description: 'Vul lege uuid- en identificatie-cellen met wat het document kreeg.' }),
  ),
})

const config = { access: 'alle-autorisaties' } as const

export const imports: FastifyPluginAsyncTypebox = async (app) => {
  const { parts } = app
  app.removeAllContentTypeParsers()
  // The body stays a stream; the handler judges the content type, after the rules that come before it.
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  app.get(
    '/',
    { config, schema: { querystring: Type.Object(PageQuery), response: { 200: Page(Status) } } },
    async (request, reply) =>
      sendPageOf(
        request,
        reply,
        {
          count: async () =>
            (await imported(app.read).select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) =>
            importsWithPlace(app.read).orderBy('id', 'desc').limit(limit).offset(offset).execute(),
        },
        (rows) => rows.map((row) => toStatus(row, request.base)),
      ),
  )

  app.post(
    '/create',
    { config, schema: { querystring: CreateQuery, response: { 201: Created } } },
    async (request, reply) => {
      const { uuid } = await app.mutate(request.actor, async (m) => {
        if (!request.query.wachten) return createImport(m)
        const made = await queueImport(m)
        await openNext(m.trx)
        return made
      })
      return reply.code(201).send(urls(request.base, uuid))
    },
  )

  app.post(
    '/:uuid/upload',
    { config: { ...config, stream: true }, schema: { params: Params }, bodyLimit: Number.MAX_SAFE_INTEGER },
    async (request, reply) => {
      try {
        await app.mutate(request.actor, async (m) => upload(m, request))
      } catch (error) {
        if (request.raw.errored) throw new Problem(400, { code: 'parse_error', detail: 'De verbinding is verbroken.' })
        readOn(request)
        throw error instanceof CsvError ? csvProblem(error) : error
      }
      return reply.code(200).send()
    },
  )

  for (const path of ['/:uuid', '/:uuid/status']) {
    app.get(path, { config, schema: { params: Params, response: { 200: Status } } }, async (request) =>
      toStatus(await requireImport(app.read, (request.params as Static<typeof Params>).uuid), request.base),
    )
  }

  app.get('/:uuid/report', { config, schema: { params: Params, querystring: ReportQuery } }, async (request, reply) => {
    const row = await requireImport(app.read, request.params.uuid)
    return sendReport(request, reply, await app.reportReader(), row, {
      toegekend: request.query.toegekend ?? false,
      neutraliseer: request.query.formules === 'neutraliseren',
    })
  })

  app.post('/:uuid/cancel', { config, schema: { params: Params, response: { 200: Status } } }, async (request) => {
    const row = await app.mutate(request.actor, (m) => cancelImport(m, request.params.uuid))
    return toStatus(row, request.base)
  })

  app.delete('/:uuid/delete', { config, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteImport(m, request.params.uuid))
    return reply.code(204).send()
  })

  async function upload(m: Mutation, request: FastifyRequest<{ Params: Static<typeof Params> }>): Promise<void> {
    m.unrecorded('an import is no resource of the standard')
    if ((request.body as Readable).readableDidRead) throw new Problem(503, { headers: { 'retry-after': '1' } }) // the body comes once
    const { id } = await requireImport(m.read, request.params.uuid)
    if (!(await holdImport(m.trx, id))) throw importFault('invalid-status', IN_USE)
    const found = await requireImport(m.read, request.params.uuid)
    if (found.status !== 'queued') await refuseOtherImport(m, id)
    const fault = importBaseDirFault(parts.config)
    if (fault) throw importFault(fault.code, fault.reden)
    if (!hasNoFile(found))
      throw importFault('invalid-status', `Deze import heeft al een bestand (${statusFor(found)}).`)
    const { kind, charset } = requireKind(request)
    await waitForClient(m)
    const read = kind === 'ndjson' ? readImportNdjson : readImportCsv
    const { kop, regels, dialect } = await read(request.body as Readable, { charset })
    const lines = copyLines(found.id, regels)
    await copyInto(m, 'import_row', lines)
    await activateImport(m, found, {
      kop,
      dialect,
      baseUrl: request.base,
      batchSize: parts.config.importBatchSize,
      totaal: lines.aantal,
      emptyRows: lines.leeg,
    })
  }
}

/** No time limits, as long as the client keeps sending: a silent one is cut off by the server, `connectionTimeout`. */
export async function waitForClient(m: Mutation): Promise<void> {
  await m.sql`select set_config(name, '0', true) from unnest(array['statement_timeout', 'idle_in_transaction_session_timeout']) name`
}

const hasNoFile = ({ status, kop }: ImportRow) => status === 'pending' || (status === 'queued' && kop === null)

/** The rows of an import are there: it starts, or goes on waiting for its turn. */
export async function activateImport(
  m: Mutation,
  { id, uuid }: { id: number; uuid: string },
  {
    kop,
    dialect,
    ...values
  }: { kop: string[]; dialect: unknown; baseUrl: string; batchSize: number; totaal: number; emptyRows: number },
): Promise<void> {
  // Its turn may have come during the upload.
  const { status } = await m.trx
    .selectFrom('import')
    .where('id', '=', id)
    .select('status')
    .forUpdate()
    .executeTakeFirstOrThrow()
  const isDone = values.totaal === 0
  await m.trx
    .updateTable('import')
    .set({
      ...values,
      status: isDone ? 'finished' : status === 'pending' ? 'active' : status,
      kop: sql`${JSON.stringify(kop)}::text::json`,
      dialect: sql`${JSON.stringify(dialect)}::text::jsonb`,
      startedAt: status === 'pending' || isDone ? sql`now()` : null,
      endedAt: isDone ? sql`now()` : null,
      updatedAt: sql`now()`,
    })
    .where('id', '=', id)
    .execute()
  if (status !== 'pending') return
  if (isDone) await openNext(m.trx)
  else await enqueueBatch(m.trx, { import: uuid, vanaf: 0 })
}

/** Fills a table of rows with the lines of `copyLines`. */
export async function copyInto(
  m: Mutation,
  table: 'import_row' | 'import_draft_row',
  lines: AsyncIterable<Buffer>,
): Promise<void> {
  const target = await m.sql`copy ${m.sql(table)} from stdin`.writable()
  try {
    await pipeline(lines, target, { end: false })
  } catch (error) {
    target.destroy(error as Error) // the server is told that no more will come
    throw error
  }
  target.end()
  await finished(target)
}

/**
 * Lets the rest of a refused upload come in, unused, for a while: closing the connection at once could cost a client that
 * is still sending the answer.
 */
function readOn({ raw }: Pick<FastifyRequest, 'raw'>): void {
  if (raw.readableEnded || raw.destroyed) return
  const limit = setTimeout(() => raw.destroy(), LINGER_MS).unref()
  raw.once('close', () => clearTimeout(limit)).resume()
}

const LINGER_MS = 30_000

/**
 * Held for as long as a file is being uploaded to the import, or somebody changes its state by hand. Its row stays free meanwhile: its
 * turn may come during an upload.
 * @returns false when somebody else holds it
 */
export async function holdImport(trx: Db, id: number): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('import'), ${id}::int) as held`.execute(trx)
  return one(rows).held
}

/** The import, locked for a change of its state. One that is being uploaded right now, or changed, is refused with `busy`. */
async function lockImport(m: Mutation, uuid: string, busy: FieldCode): Promise<ImportRow> {
  const found = await requireImport(m.read, uuid)
  const isHeld = await holdImport(m.trx, found.id)
  const row = isHeld && (await lockedRow(m, found.id).skipLocked().executeTakeFirst())
  if (row) return row
  await requireImport(m.read, uuid)
  throw importFault(busy, IN_USE)
}

/** The same, waiting for a batch that is being written, though not for an upload that goes on and on. */
async function lockImportSoon(m: Mutation, uuid: string): Promise<ImportRow> {
  await m.sql`set local lock_timeout = '3s'`
  const found = await requireImport(m.read, uuid)
  try {
    await m.sql`select pg_advisory_xact_lock(hashtext('import'), ${found.id}::int)`
    const row = await lockedRow(m, found.id).executeTakeFirst()
    if (row) return row
  } catch (error) {
    throw isLockTimeout(error) ? importFault('invalid-status', IN_USE) : error
  }
  throw notFound()
}

function lockedRow(m: Mutation, id: number) {
  const alive = m.trx.selectFrom('import').where('deletedAt', 'is', null)
  return alive.where('id', '=', id).selectAll().select(PLACE).forUpdate()
}

const IN_USE = 'Aan deze import wordt op dit moment al gewerkt.'
const MOST_QUEUED = 100

/**
 * Only one import is open at a time: the index `import_one_open` says so, this names the one that is.
 * @throws Problem `existing-import-started` when there is one
 */
export async function createImport(m: Mutation, values: Made = {}): Promise<{ id: number; uuid: string }> {
  const made = (await countQueued(m)) === 0 ? await insertImport(m, { status: 'pending', ...values }) : undefined
  if (made) return made
  await refuseOtherImport(m)
  throw new Problem(409, { detail: 'De open import is zojuist gestopt: probeer het opnieuw.' })
}

/**
 * An import that waits for its turn. The caller calls `openNext` when it is complete.
 * @throws Problem `existing-import-started` when too many wait
 */
export async function queueImport(m: Mutation, values: Made = {}): Promise<{ id: number; uuid: string }> {
  if ((await countQueued(m)) >= MOST_QUEUED)
    throw importFault('existing-import-started', `Er wachten al ${MOST_QUEUED} imports.`)
  return expected(await insertImport(m, { status: 'queued', ...values }))
}

type Made = { startedBy?: string; bestandsnaam?: string }

async function countQueued(m: Mutation): Promise<number> {
  const count = sql<number>`count(*)::int`.as('count')
  return (await m.trx.selectFrom('import').where('status', '=', 'queued').select(count).executeTakeFirstOrThrow()).count
}

function insertImport(m: Mutation, values: Made & { status: 'pending' | 'queued' }) {
  m.unrecorded('an import is no resource of the standard')
  return m.trx
    .insertInto('import')
    .values({ applicatieUuid: m.actor.applicatieUuid, clientId: m.actor.clientId, ...values })
    .onConflict((conflict) => conflict.doNothing()) // naming the index takes its condition as parameters, which no plan can use
    .returning(['id', 'uuid'])
    .executeTakeFirst()
}

async function refuseOtherImport(m: Mutation, id?: number): Promise<void> {
  const other = await m.trx
    .selectFrom('import')
    .where('status', 'in', ['pending', 'active'])
    .$call(when(id, (query, id) => query.where('id', '!=', id)))
    .select(['uuid', 'status'])
    .executeTakeFirst()
  if (!other) return
  const url = link(m.actor.base, 'import', other.uuid)
  throw importFault('existing-import-started', `Er is al een open import (${other.status}): ${url}/status`)
}

/** Ends an open import, or one that waits for its turn; what was imported stays. */
export async function cancelImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImportSoon(m, uuid)
  if (!['queued', 'pending', 'active'].includes(found.status)) {
    throw importFault('invalid-status', `Deze import is al gestopt (${found.status}).`)
  }
  await stopImport(m.trx, found.id, GEANNULEERD)
  return requireImport(m.read, found.uuid)
}

/** Lets no further batch begin; the one that is being handled is finished. */
export async function pauseImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImportSoon(m, uuid)
  if (found.status !== 'active' || found.pausedAt) throw importFault('invalid-status', 'Deze import loopt niet.')
  await m.trx.updateTable('import').set({ pausedAt: sql`now()` }).where('id', '=', found.id).execute()
  return requireImport(m.read, found.uuid)
}

/** Whether it may go on: it is paused, or it stopped by itself with rows left. */
export function canContinue({ status, reason, pausedAt, verwerkt, totaal }: ImportRow): boolean {
  if (status === 'active') return pausedAt !== null
  return status === 'error' && reason !== GEANNULEERD && verwerkt < totaal
}

/** Lets an import go on behind its last batch. */
export async function continueImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImportSoon(m, uuid)
  if (!canContinue(found)) throw importFault('invalid-status', `Deze import kan niet verder gaan (${found.status}).`)
  await refuseOtherImport(m, found.id)
  await m.trx
    .updateTable('import')
    .set({ status: 'active', reason: null, pausedAt: null, endedAt: null, updatedAt: sql`now()` })
    .where('id', '=', found.id)
    .execute()
    .catch((error) => {
      throw isUniqueViolation(error) ? importFault('existing-import-started', 'Er is al een open import.') : error
    })
  await enqueueBatch(m.trx, { import: found.uuid, vanaf: found.verwerkt })
  return requireImport(m.read, found.uuid)
}

/** The reason of an import that somebody cancelled. */
export const GEANNULEERD = 'Geannuleerd.'
const PAUSED = 'Gepauzeerd.'
const WAITS_FOR_TURN = 'Wacht op zijn beurt: een andere import gaat voor.'

/** Removes an import that does not run; its documents stay. @returns what it was */
export async function deleteImport(m: Mutation, uuid: string): Promise<ImportRow> {
  m.unrecorded('an import is no resource of the standard')
  const found = await lockImport(m, uuid, 'import-invalid-status')
  if (found.status === 'active')
    throw importFault('import-invalid-status', 'Een lopende import kan niet worden verwijderd.')
  await deleteImportRow(m, found)
  return found
}

/** Whether there is a report: the import has ended, and had rows. */
export function hasReport(row: ImportRow): boolean {
  return (row.status === 'finished' || row.status === 'error') && row.kop !== null && row.totaal > 0
}

/** Answers with the report. */
export function sendReport(
  request: FastifyRequest,
  reply: FastifyReply,
  reader: Reader,
  row: ImportRow,
  options: { toegekend: boolean; neutraliseer: boolean },
): FastifyReply {
  if (!hasReport(row)) throw notFound()
  countStream(request, reply)
  const dialect = dialectOf(row)
  const header = row.kop as string[]
  if (dialect.kind === 'ndjson')
    return reply
      .type('application/x-ndjson')
      .header('content-disposition', `attachment; filename="report-${row.uuid}.ndjson"`)
      .send(reportNdjson(header, reportRows(reader, row, options)))
  return reply
    .type(`text/csv; charset=${reportCharset(dialect)}`)
    .header('content-disposition', `attachment; filename="report-${row.uuid}.csv"`)
    .send(reportCsv(header, reportRows(reader, row, options), { ...options, dialect }))
}

/** Out of sight at once; a job removes its rows bit by bit. */
export async function deleteImportRow(
  m: Pick<Mutation, 'trx' | 'enqueue'>,
  { id, status }: Pick<ImportRow, 'id' | 'status'>,
): Promise<void> {
  await m.trx
    .updateTable('import')
    .set({ deletedAt: sql`now()`, status: status === 'pending' || status === 'queued' ? 'error' : status })
    .where('id', '=', id)
    .execute()
  if (status === 'pending') await openNext(m.trx)
  await m.enqueue('remove-import', { id }, { jobKey: `remove-import:${id}` })
}

const KINDS = new Map<string, 'csv' | 'ndjson'>([
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
])

/** What the client says that the file is; its charset is UTF-8 when it declares none. */
function requireKind(request: FastifyRequest): { kind: 'csv' | 'ndjson'; charset: string } {
  const [type = '', ...parameters] = header(request, 'content-type')
    .split(';')
    .map((part) => part.trim().toLowerCase())
  const kind = KINDS.get(type)
  if (!kind || header(request, 'content-encoding')) throw new Problem(415)
  const label = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '')
    .trim()
  const charset = label ? charsetNamed(label) : 'utf-8'
  if (!charset)
    throw new Problem(415, { detail: 'Deze tekenset is niet bekend. Gebruik utf-8, utf-16 of windows-1252.' })
  if (request.body === undefined || request.body === null)
    throw csvProblem(new CsvError('empty-file', 'Het bestand is leeg.'))
  return { kind, charset }
}

function csvProblem(fault: CsvError): Problem {
  if (fault.code === 'parse_error') return new Problem(400, { code: 'parse_error', detail: fault.message })
  return importFault(fault.code, fault.message)
}

/** 400 on the import as a whole: `__all__` is the name that clients know for it. */
export function importFault(code: FieldCode, reason: string): Problem {
  return invalid('__all__', code, reason)
}

function urls(base: string, uuid: string): Static<typeof Created> {
  const url = link(base, 'import', uuid)
  return { url, uploadUrl: `${url}/upload`, statusUrl: `${url}/status`, reportUrl: `${url}/report` }
}

function toStatus(row: ImportRow, base: string): Static<typeof Status> {
  return {
    ...urls(base, row.uuid),
    status: statusFor(row),
    total: row.totaal,
    processed: row.verwerkt,
    processedSuccessfully: row.geslaagd,
    processedInvalid: row.mislukt ?? 0,
    emptyRows: row.emptyRows,
    createdOn: row.createdAt,
    startedOn: row.startedAt,
    finishedOn: row.endedAt,
    reason: row.pausedAt ? PAUSED : row.status === 'queued' ? WAITS_FOR_TURN : row.reason,
    queuePosition: row.place,
  }
}

/** Clients know four. To them one that waits for its turn is what it would be without the others: without a file, or about to run. */
function statusFor({ status, kop }: ImportRow): Static<typeof Status>['status'] {
  if (status === 'queued') return kop === null ? 'pending' : 'active'
  return status as Static<typeof Status>['status']
}
