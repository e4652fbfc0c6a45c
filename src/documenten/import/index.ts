// import: many documents from one CSV and files that the server can read. Beside the standard; for clients with all rights.

import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { refuseBeforeSwitch } from '../../core/before-switch.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import type { Reader } from '../../database/database.ts'
import { byKey } from '../../database/list.ts'
import { takePieces } from '../../http/content.ts'
import { header } from '../../http/header.ts'
import { Moment, Url, Uuid } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { CursorQuery, Page, PageQuery, sendPageOf } from '../../http/page.ts'
import { countStream } from '../../http/stream.ts'
import { noteDocument } from '../../http/verwerkingen.ts'
import { whenClosed } from '../../http/when-closed.ts'
import { importBaseDirFault } from './base-dir.ts'
import { charsetNamed } from './charset.ts'
import { COLUMN_NAMES } from './columns.ts'
import {
  activateImport,
  cancelImport,
  createImport,
  deleteImport,
  holdImport,
  IN_USE,
  importFault,
  queueImport,
  refuseOtherImport,
  requireEnded,
  requireMayImport,
} from './control.ts'
import { CsvError, readImportCsv } from './csv.ts'
import { dialectOf } from './dialect.ts'
import { readImportNdjson, reportNdjson } from './ndjson.ts'
import { passedOverBy } from './passed-over.ts'
import { openNext } from './progress.ts'
import { type CopyFault, footOf, receiptOf } from './receipt.ts'
import { countReceiving, putIntoImport, receiveRows } from './receive.ts'
import { reportCharset, reportCsv } from './report.ts'
import { type Level, reportRows } from './report-rows.ts'
import { type ImportRow, imported, importsWithPlace, requireImport } from './rows.ts'

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
  alreadyImported: Type.Integer({
    minimum: 0,
    description:
      'Rijen die al eerder een document werden, volgens hun kolom resultaat of de import waarvan dit de rest is: overgeslagen, en niet meegeteld.',
  }),
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
const Bewijs = Type.Object({
  import: Url(),
  status: Type.Enum(['bezig', 'klaar']),
  documents: Type.Integer({ minimum: 0, description: 'Kopieën die gelijk zijn aan hun bron.' }),
  bytes: Type.Integer({ minimum: 0 }),
  gone: Type.Integer({ minimum: 0, description: 'Documenten die sindsdien zijn verwijderd.' }),
  damaged: Type.Integer({ minimum: 0, description: 'Kopieën die anders zijn dan hun bron, of weg.' }),
  faults: Type.Array(
    Type.Object({ row: Type.Integer(), document: Type.String(), what: Type.Enum(['missing', 'damaged']) }),
    { description: 'Daarvan de eerste honderd.' },
  ),
  hash: Type.String({ description: 'De keten over alle kopieën, hexadecimaal.' }),
  checkedOn: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
  jws: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
})
const CreateQuery = Type.Object(
  {
    wachten: Type.Optional(
      Type.Boolean({
        description: 'Is er al een open import, dan wacht deze tot die en alle eerdere wachtende zijn gestopt.',
      }),
    ),
    rest_van: Type.Optional(
      Type.Unsafe<string>({
        ...Uuid,
        description:
          'De import waarvan deze de rest is: rijen die daar een document werden, worden overgeslagen. Zo mag het hele bestand met verbeterde rijen nog eens.',
      }),
    ),
  },
  { additionalProperties: false },
)
const Params = Type.Object({ uuid: Uuid })
const ReportQuery = Type.Object({
  rijen: Type.Optional(
    Type.Enum(['mislukt', 'rest'], {
      description:
        'Alleen de rijen die zijn geweigerd (mislukt), of ook die welke niet zijn geprobeerd (rest). Verbeterd komen ze terug met create?rest_van=.',
    }),
  ),
  formules: Type.Optional(
    Type.Enum(['neutraliseren'], {
      description: 'Zet een apostrof voor cellen die een spreadsheet als formule zou uitvoeren.',
    }),
  ),
  bewijs: Type.Optional(Type.Boolean({ description: 'Zet het bewijs, als het er is, onder het rapport.' })),
  toegekend: Type.Optional(
    Type.Boolean({ description: 'Vul lege uuid- en identificatie-cellen met wat het document kreeg.' }),
  ),
})

const config = { access: 'alle-autorisaties' } as const
const NEWEST_FIRST = {
  from: sql`import`,
  id: sql`id`,
  conditions: [sql`deleted_at is null`],
  order: [{ column: sql`id`, descending: true }],
}

export const imports: FastifyPluginAsyncTypebox = async (app) => {
  const { parts } = app
  app.removeAllContentTypeParsers()
  // The body stays a stream; the handler judges the content type, after the rules that come before it.
  takePieces(app, '*', async (_request, body) => body)

  app.get(
    '/',
    {
      config,
      schema: {
        summary: 'Imports, de nieuwste eerst',
        querystring: Type.Object({ ...PageQuery, ...CursorQuery }),
        response: { 200: Page(Status) },
      },
    },
    async (request, reply) =>
      sendPageOf(
        request,
        reply,
        {
          count: async () =>
            (await imported(app.read).select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) =>
            importsWithPlace(app.read).orderBy('id', 'desc').limit(limit).offset(offset).execute(),
          byKey: byKey(app.reader, NEWEST_FIRST, (ids) =>
            importsWithPlace(app.read).where('id', 'in', ids).orderBy('id', 'desc').execute(),
          ),
        },
        (rows) => rows.map((row) => toStatus(row, request.base)),
      ),
  )

  app.post(
    '/create',
    {
      config,
      schema: {
        summary: 'Een import beginnen',
        description:
          'Toevoeging aan de standaard. Een import is pending tot het bestand er is (upload), active tot alle rijen zijn verwerkt, en eindigt als finished, of als error wanneer hij is geannuleerd of is gestopt. Staan er al zoveel open als mag (gewoonlijk één), dan is het 400 existing-import-started, tenzij met wachten=true. Van een import krijgt niemand bericht: er gaan geen notificaties uit. Het rapport noemt de documenten.',
        querystring: CreateQuery,
        response: { 201: Created },
      },
    },
    async (request, reply) => {
      const { uuid } = await app.mutate(request.actor, async (m) => {
        requireMayImport(parts.config)
        const { wachten, rest_van: rest } = request.query
        const values = rest === undefined ? {} : { restOf: await requireEnded(m, rest) }
        if (!wachten) return createImport(m, values)
        const made = await queueImport(m, values)
        await openNext(m.trx)
        return made
      })
      return reply.code(201).send(urls(request.base, uuid))
    },
  )

  app.post(
    '/:uuid/upload',
    {
      config: { ...config, stream: true },
      schema: {
        summary: 'Het bestand van een import',
        description: `Als text/csv, met een rij per document en deze kolommen in willekeurige volgorde: ${COLUMN_NAMES.join(', ')}. Andere kolommen komen ongewijzigd terug in het rapport. Of als application/x-ndjson, met per regel een document zoals de API het aanneemt, met daarbij bestandspad, uuid en zaakUuid. Een bestand zonder de kolommen, of met onleesbare inhoud, wordt geweigerd; een foute rij krijgt een opmerking en houdt geen andere rij tegen.`,
        params: Params,
      },
      bodyLimit: Number.MAX_SAFE_INTEGER,
    },
    async (request, reply) => {
      try {
        await upload(request, reply)
      } catch (error) {
        if (request.raw.errored) throw new Problem(400, { code: 'parse_error', detail: 'De verbinding is verbroken.' })
        readOn(request)
        throw error instanceof CsvError ? csvProblem(error) : error
      }
      return reply.code(200).send()
    },
  )

  for (const path of ['/:uuid', '/:uuid/status']) {
    const summary = 'Hoe het met een import staat'
    app.get(path, { config, schema: { summary, params: Params, response: { 200: Status } } }, async (request) =>
      toStatus(await requireImport(app.read, (request.params as Static<typeof Params>).uuid), request.base),
    )
  }

  const reportSchema = {
    summary: 'Het rapport van een import',
    description:
      'Het bestand zoals het kwam, met achter elke rij de kolommen opmerking (waarom de rij niet is verwerkt) en resultaat (Geïmporteerd of Niet geïmporteerd). Het is er zodra de import finished of error is, ook zonder rijen; eerder is het 404.',
    params: Params,
    querystring: ReportQuery,
  }
  app.get('/:uuid/report', { config, schema: reportSchema }, async (request, reply) => {
    const row = await requireImport(app.read, request.params.uuid)
    const receipt = request.query.bewijs ? await receiptOf(app.read, row) : undefined
    return sendReport(request, reply, await app.reportReader(), row, {
      foot: footOf(receipt),
      toegekend: request.query.toegekend ?? false,
      which: request.query.rijen,
      neutraliseer: request.query.formules === 'neutraliseren',
    })
  })

  const receiptSchema = {
    summary: 'Het bewijs van een import',
    description:
      'Na het einde wordt elke opgeslagen kopie nog eens gelezen en vergeleken met de som van haar bron. Het bewijs telt ze, en is ondertekend als jws (RFC 7515, EdDSA, met de publieke sleutel in de kop). De hash is een keten: sha256 van de vorige en van de regel “uuid omvang sha256” met een LF, in de volgorde van de rijen. Zolang er nog wordt gelezen is het status bezig, zonder jws. Zonder documenten, en zolang de import loopt, is het 404.',
    params: Params,
    response: { 200: Bewijs },
  }
  app.get('/:uuid/bewijs', { config, schema: receiptSchema }, async (request) => {
    const row = await requireImport(app.read, request.params.uuid)
    const found = hasReport(row) && (await receiptOf(app.read, row))
    if (!found) throw notFound()
    return {
      import: link(request.base, 'import', row.uuid),
      status: found.endedAt === null ? 'bezig' : 'klaar',
      documents: found.documents,
      bytes: found.bytes,
      gone: found.gone,
      damaged: found.damaged,
      faults: found.faults as CopyFault[],
      hash: found.hash.toString('hex'),
      checkedOn: found.endedAt,
      jws: found.jws,
    } as const
  })

  const cancelSchema = {
    summary: 'Een import annuleren',
    description:
      'De rijen die al een document zijn, blijven. Van een import die al is geëindigd is het 400 invalid-status.',
    params: Params,
    response: { 200: Status },
  }
  app.post('/:uuid/cancel', { config, schema: cancelSchema }, async (request) => {
    const row = await app.mutate(request.actor, (m) => cancelImport(m, request.params.uuid))
    return toStatus(row, request.base)
  })

  const deleteSchema = {
    summary: 'Een import verwijderen',
    description:
      'Met zijn rijen en zijn rapport; de documenten blijven. Van een import die active is, is het 400 import-invalid-status.',
    params: Params,
  }
  app.delete('/:uuid/delete', { config, schema: deleteSchema }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteImport(m, request.params.uuid))
    return reply.code(204).send()
  })

  type Upload = FastifyRequest<{ Params: Static<typeof Params> }>

  /** What is wrong with the import is told before its file is read, and judged again when that is there. */
  async function upload(request: Upload, reply: FastifyReply): Promise<void> {
    const { actor } = request
    const look = <T>(work: (m: Mutation) => Promise<T>) => app.mutate({ ...actor, key: undefined }, work)
    const open = await look((m) => importForUpload(m, request, false))
    const { kind, charset } = requireKind(request)
    countReceiving(request, reply)
    const read = kind === 'ndjson' ? readImportNdjson : readImportCsv
    const sha256 = createHash('sha256')
    const { header, regels, dialect, firstRow } = await read(hashed(request.body as Readable, sha256), { charset })
    const receiver = { mutate: app.mutate, config: parts.config, actor }
    const passesOver = await look(async (m) => {
      m.unrecorded('it only reads', 'drc')
      return passedOverBy(m, header, open)
    })
    const options = { most: parts.config.importMaxRows, firstRow, passesOver }
    await receiveRows(receiver, regels, options, (rows) =>
      app.mutate(actor, async (m) => {
        const found = await importForUpload(m, request, true)
        await putIntoImport(m, rows, found.id)
        await activateImport(m, found, {
          header,
          dialect,
          baseUrl: request.base,
          batchSize: parts.config.importBatchSize,
          sha256: sha256.digest(),
          ...rows.counts,
        })
      }),
    )
  }

  /** @returns the import that waits for its file, with `isHeld` held until the change is over */
  async function importForUpload(m: Mutation, request: Upload, isHeld: boolean): Promise<ImportRow> {
    m.unrecorded('an import is no resource of the standard', 'drc')
    await refuseBeforeSwitch(m)
    const { id } = await requireImport(m.read, request.params.uuid)
    if (isHeld && !(await holdImport(m.trx, id))) throw importFault('invalid-status', IN_USE)
    const found = await requireImport(m.read, request.params.uuid)
    requireMayImport(parts.config)
    if (found.status !== 'queued') await refuseOtherImport(m, id)
    const fault = importBaseDirFault(parts.config)
    if (fault) throw importFault(fault.code, fault.reden)
    if (!hasNoFile(found))
      throw importFault('invalid-status', `Deze import heeft al een bestand (${statusFor(found)}).`)
    return found
  }
}

/** The same bytes, of which the hash is kept; the stream stays open when reading stops early. */
async function* hashed(bytes: Readable, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes.iterator({ destroyOnReturn: false })) {
    hash.update(chunk as Uint8Array)
    yield chunk as Uint8Array
  }
}

const hasNoFile = ({ status, header }: ImportRow) => status === 'pending' || (status === 'queued' && header === null)

/**
 * Lets the rest of a refused upload come in, unused, for a while: closing the connection at once could cost a client that
 * is still sending the answer.
 */
function readOn({ raw }: Pick<FastifyRequest, 'raw'>): void {
  if (raw.readableEnded || raw.destroyed) return
  const limit = setTimeout(() => raw.destroy(), LINGER_MS).unref()
  whenClosed(raw, () => clearTimeout(limit))
  raw.resume()
}

const LINGER_MS = 30_000

const PAUSED = 'Gepauzeerd.'
const NO_WORKER = 'Er draait geen worker: de import gaat verder zodra er een is.'
const WAITS_FOR_TURN = 'Wacht op zijn beurt: een andere import gaat voor.'

/** Whether there is a report: the import has ended. Of one without rows, or without a file, it is the header. */
const hasReport = ({ status }: ImportRow): boolean => status === 'finished' || status === 'error'

/** Whether its report has rows. */
export const hasRows = (row: ImportRow): boolean => hasReport(row) && row.header !== null && row.total > 0

/** Answers with the report. */
export function sendReport(
  request: FastifyRequest,
  reply: FastifyReply,
  reader: Reader,
  row: ImportRow,
  options: {
    toegekend: boolean
    neutraliseer: boolean
    which?: 'mislukt' | 'rest' | undefined
    level?: Level | undefined
    foot?: string | undefined
  },
): FastifyReply {
  if (!hasReport(row)) throw notFound()
  countStream(request, reply)
  const dialect = dialectOf(row)
  const header = (row.header as string[] | null) ?? []
  const rows = reportRows(reader, row, { ...options, shows: (document) => noteDocument(request, document) })
  if (dialect.kind === 'ndjson')
    return reply
      .type('application/x-ndjson')
      .header('content-disposition', `attachment; filename="report-${row.uuid}.ndjson"`)
      .send(reportNdjson(header, rows, options.foot))
  return reply
    .type(`text/csv; charset=${reportCharset(dialect)}`)
    .header('content-disposition', `attachment; filename="report-${row.uuid}.csv"`)
    .send(reportCsv(header, rows, { ...options, dialect }))
}

const KINDS = new Map<string, 'csv' | 'ndjson'>([
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
  ['application/json-lines', 'ndjson'],
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

function urls(base: string, uuid: string): Static<typeof Created> {
  const url = link(base, 'import', uuid)
  return { url, uploadUrl: `${url}/upload`, statusUrl: `${url}/status`, reportUrl: `${url}/report` }
}

function toStatus(row: ImportRow, base: string): Static<typeof Status> {
  return {
    ...urls(base, row.uuid),
    status: statusFor(row),
    total: row.total,
    processed: row.processed,
    processedSuccessfully: row.succeeded,
    processedInvalid: row.failed ?? 0,
    emptyRows: row.emptyRows,
    alreadyImported: row.passedOver,
    createdOn: row.createdAt,
    startedOn: row.startedAt,
    finishedOn: row.endedAt,
    reason: reasonOf(row),
    queuePosition: row.place,
  }
}

function reasonOf({ pausedAt, status, lacksWorker, reason }: ImportRow): string | null {
  if (pausedAt) return PAUSED
  if (status === 'queued') return WAITS_FOR_TURN
  return lacksWorker ? NO_WORKER : reason
}

/** Clients know four. To them one that waits for its turn is what it would be without the others: without a file, or about to run. */
function statusFor({ status, header }: ImportRow): Static<typeof Status>['status'] {
  if (status === 'queued') return header === null ? 'pending' : 'active'
  return status as Static<typeof Status>['status']
}
