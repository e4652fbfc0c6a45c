// imports: the bulk imports of documents: the list, one import with its progress and its failures, cancelling and deleting.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { forbidden, notFound } from '../../core/problem.ts'
import { placeOf } from '../../documenten/import/columns.ts'
import {
  canContinue,
  cancelImport,
  continueImport,
  deleteImport,
  pauseImport,
} from '../../documenten/import/control.ts'
import { dialectOf } from '../../documenten/import/dialect.ts'
import { createDraftOfRest, listConcepten, requestDryRun } from '../../documenten/import/draft.ts'
import { hasRows, sendReport } from '../../documenten/import/index.ts'
import { sharedReason } from '../../documenten/import/judge.ts'
import { isNdjson, ndjsonStream } from '../../documenten/import/ndjson.ts'
import { footOf, receiptOf } from '../../documenten/import/receipt.ts'
import { csvStream, reportCharset } from '../../documenten/import/report.ts'
import { failedRows, type Level, levelPlaces, reportRows } from '../../documenten/import/report-rows.ts'
import { cellAt, type ImportRow, importsWithPlace, requireImport, rowsOf } from '../../documenten/import/rows.ts'
import { countStream } from '../../http/stream.ts'
import { mutateFromPage } from '../frame/change.ts'
import { openEventStreams, type StreamState } from '../frame/event-stream.ts'
import { formFaultsOf } from '../frame/form.ts'
import { moment } from '../frame/format.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { keysetByNumber, queryText, sortsOf, uuidParam } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { signedIn } from '../frame/session.ts'
import { t, words } from '../language/language.ts'
import {
  importState,
  importStatus,
  MAX_KINDS,
  type Progress,
  perSecond,
  queueState,
  speedText,
  stoppedText,
} from './import-labels.ts'
import { registerImportStart } from './import-start.ts'
import { MOST_MARKED, markedWorkbook } from './marked-workbook.ts'
import { hiddenText, isAbove, levelOf } from './row-level.ts'
import { recentSpeed, speedFigures, speedPicture } from './speed-picture.ts'

const viewer = { access: 'beheer', rol: 'viewer' } as const
const operator = { access: 'beheer', rol: 'operator' } as const
/** Those of a little over the last minutes. */
const RECENT_FIGURES = 40
const LIST_PAGE = words({ path: '/imports', name: 'Imports' }, 'name')

const SORTS = sortsOf('import', 'i', {
  bestand: sql`lower(i.bestandsnaam)`,
  staat: sql`i.status`,
  rijen: sql`i.total`,
  gelukt: sql`i.succeeded`,
  mislukt: sql`coalesce(i.failed, 0)`,
})

export async function registerImports(app: FastifyInstance): Promise<void> {
  const { reader } = app
  const watch = openEventStreams(app)
  await registerImportStart(app, watch)

  app.get('/imports', { config: viewer }, async (request, reply) => {
    const list = await keysetByNumber<ImportRow>(request, app.read, {
      select: sql`select i.*, case when i.status = 'queued' then
        (select count(*)::int from import q where q.status = 'queued' and q.id <= i.id) end as place from import i`,
      id: sql`i.id`,
      sorts: SORTS,
      conditions: [sql`i.deleted_at is null`],
    })
    const concepten = await listConcepten(app.read, 20)
    const isActive = list.rows.some(isRunning)
    return reply.page('imports', {
      title: t('Imports'),
      defaultSort: '-nummer',
      list: { ...list, rows: list.rows.map((row) => ({ ...row, ...summaryOf(row) })) },
      concepten,
      isActive,
    })
  })

  app.get('/imports/:uuid', { config: viewer }, async (request, reply) => {
    const row = await importOfRequest(request)
    const isActive = isRunning(row)
    const kinds = row.failed ? await faultKinds(row) : []
    const figures = await speedFigures(reader, row.id)
    return reply.page('import', {
      title: nameOfImport(row),
      breadcrumbs: [LIST_PAGE],
      row,
      ...summaryOf(row),
      isActive,
      picture: speedPicture(figures),
      queue: row.status === 'queued' ? queueState(row).values : null,
      progress: isActive || row.startedAt ? (await readProgress(row.uuid))?.values : null,
      stopped: stoppedText(row),
      canContinue: canContinue(row),
      hasReport: hasRows(row),
      receipt: hasRows(row) ? await receiptOf(app.read, row) : undefined,
      mayHide: levelOf(request, row.startedBy) !== undefined,
      notImported: row.total - row.succeeded,
      asWorkbook: hasRows(row) && !isNdjson(row.header as string[]) && row.total - row.succeeded <= MOST_MARKED,
      kinds: kinds.slice(0, MAX_KINDS),
      moreKinds: kinds.length > MAX_KINDS,
    })
  })

  app.get(
    '/imports/:uuid/stroom',
    { config: viewer, exposeHeadRoute: false, logLevel: 'warn' },
    async (request, reply) => {
      const { uuid, status } = await importOfRequest(request)
      if (status === 'queued') return watch(request, reply, t`import ${uuid}`, () => readPlace(uuid))
      return watch(request, reply, t`import ${uuid}`, () => readProgress(uuid))
    },
  )

  app.get('/imports/:uuid/rijen', { config: viewer }, async (request, reply) => {
    const row = await importOfRequest(request)
    const level = levelOf(request, row.startedBy)
    const kind = await chosenKind(row, queryText(request, 'reden'))
    const onlyFailed = queryText(request, 'resultaat') === 'mislukt' && !kind
    const header = row.header as string[]
    const [pad, titel] = [placeOf(header, 'bestandspad'), placeOf(header, 'titel')]
    const list = await keysetPage<ReportRow>(request, {
      key: ({ number }) => String(number),
      rows: (limit, { na, voor }) => {
        const from = isRow(na)
          ? sql`and u.number > ${Number(na)}`
          : isRow(voor)
            ? sql`and u.number < ${Number(voor)}`
            : sql``
        const which = kind
          ? sql`and not u.succeeded and hashtextextended(import_reason(u.remark), 0) = ${kind.hash}::bigint`
          : onlyFailed
            ? sql`and not u.succeeded`
            : sql``
        const above = isAbove(level, levelPlaces(header), sql`u.document_uuid`)
        return listRows(row, [pad, titel], above, sql`${which} ${from}`, limit, voor !== undefined)
      },
    })
    return reply.page('import-rows', {
      title: kind ? t('Rijen met dezelfde fout') : t('Rijen'),
      breadcrumbs: [LIST_PAGE, { path: `/imports/${row.uuid}`, name: nameOfImport(row) }],
      row,
      kind,
      choice: onlyFailed ? 'mislukt' : '',
      list: {
        ...list,
        rows: list.rows.map(({ titel, hidden, ...row }) => ({
          ...row,
          ...(hidden && { remark: hiddenText(), documentUuid: null }),
          bestandspad: hidden ? '' : shortened(row.bestandspad),
          documentTitel: hidden ? '' : shortened(titel),
        })),
      },
    })
  })

  app.get('/imports/:uuid/rapport', { config: viewer }, async (request, reply) => {
    const row = await importOfRequest(request)
    const neutraliseer = queryText(request, 'formules') === 'neutraliseren'
    return sendReport(request, reply, await app.reportReader(), row, {
      toegekend: true,
      foot: neutraliseer ? footOf(await receiptOf(app.read, row)) : undefined,
      neutraliseer,
      level: levelOf(request, row.startedBy),
    })
  })

  // Streamed: it may be all rows of the file.
  app.get('/imports/:uuid/niet-geimporteerd', { config: viewer }, async (request, reply) => {
    const row = await importOfRequest(request)
    if (!hasRows(row)) throw notFound(t('Dit bestand is er pas als de import is gestopt.'))
    countStream(request, reply)
    const dialect = dialectOf(row)
    const rows = failedRows(reader, row, levelOf(request, row.startedBy))
    if (dialect.kind === 'ndjson')
      return reply
        .headers({ 'content-disposition': `attachment; filename="niet-geimporteerd-${row.uuid}.ndjson"` })
        .type('application/x-ndjson')
        .send(ndjsonStream(rows))
    async function* records() {
      yield row.header as string[]
      yield* rows
    }
    return reply
      .headers({ 'content-disposition': `attachment; filename="niet-geimporteerd-${row.uuid}.csv"` })
      .type(`text/csv; charset=${reportCharset(dialect)}`)
      .send(csvStream(records(), undefined, dialect))
  })

  app.get('/imports/:uuid/niet-geimporteerd.xlsx', { config: viewer }, async (request, reply) => {
    const row = await importOfRequest(request)
    const header = row.header as string[]
    if (!hasRows(row) || isNdjson(header) || row.total - row.succeeded > MOST_MARKED)
      throw notFound(t('Dit bestand is er pas als de import is gestopt, en niet van zoveel rijen.'))
    countStream(request, reply)
    const level = levelOf(request, row.startedBy)
    const rows = reportRows(await app.reportReader(), row, { toegekend: false, which: 'rest', level })
    return reply
      .headers({ 'content-disposition': `attachment; filename="niet-geimporteerd-${row.uuid}.xlsx"` })
      .type('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
      .send(Buffer.from(await markedWorkbook(header, rows, dialectOf(row).workbook?.sheet ?? 'Documenten')))
  })

  app.post('/imports/:uuid/pauzeren', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    const done = t('De import is gepauzeerd. De rijen waar hij mee bezig was, worden nog afgemaakt.')
    return change(request, reply, row, `/imports/${row.uuid}`, done, async () => {
      await mutateFromPage(request, async (m) => {
        const { processed } = await pauseImport(m, row.uuid)
        m.audit({ handeling: 'import-pauzeren', ...object(row), nieuw: { verwerkt: processed } })
      })
    })
  })

  app.post('/imports/:uuid/verder', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    return change(request, reply, row, `/imports/${row.uuid}`, t('De import gaat verder.'), async () => {
      await mutateFromPage(request, async (m) => {
        const { status, processed } = await continueImport(m, row.uuid)
        m.audit({
          handeling: 'import-verder',
          ...object(row),
          oud: { status: row.status },
          nieuw: { status, verwerkt: processed },
        })
      })
    })
  })

  // The rows that failed, as a file of their own: it goes through the same steps.
  app.post('/imports/:uuid/opnieuw', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    if (!hasRows(row)) throw notFound(t('Dit kan pas als de import is gestopt.'))
    // The draft would be his, with all that its rows hold.
    const level = levelOf(request, row.startedBy)
    if (level !== undefined && (await hidesRest(row, level)))
      throw forbidden(
        undefined,
        t(
          'Onder de rijen die niet zijn geïmporteerd, zijn er die vertrouwelijker zijn dan u mag zien. Vraag iemand die ze mag zien.',
        ),
      )
    const uuid = await mutateFromPage(request, async (m) => {
      const made = await createDraftOfRest(m, row, signedIn(request).gebruikersnaam)
      await requestDryRun(m, made.uuid)
      m.audit({ handeling: 'import-opnieuw', ...object(row), nieuw: { rijen: made.total } })
      return made.uuid
    })
    const text = t('De rijen die niet zijn geïmporteerd, staan klaar en worden nu gecontroleerd.')
    return redirectWith(request, reply, `/imports/concept/${uuid}`, text)
  })

  app.get('/imports/:uuid/annuleren', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    return confirmation(reply, row, {
      title: t('Import annuleren'),
      lines: [
        t('De import stopt na de rijen waar hij nu mee bezig is. Wat al is geïmporteerd, blijft staan.'),
        t('Een geannuleerde import kan niet verder gaan. De rijen die overblijven kunt u daarna downloaden.'),
      ],
      button: t('Import annuleren'),
      back: t('Niet annuleren'),
    })
  })

  app.post('/imports/:uuid/annuleren', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    return change(request, reply, row, `/imports/${row.uuid}`, t('De import is geannuleerd.'), async () => {
      await mutateFromPage(request, async (m) => {
        const { status, processed } = await cancelImport(m, row.uuid)
        m.audit({
          handeling: 'import-annuleren',
          ...object(row),
          oud: { status: row.status },
          nieuw: { status, verwerkt: processed },
        })
      })
    })
  })

  app.get('/imports/:uuid/verwijderen', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    return confirmation(reply, row, {
      title: t('Import verwijderen'),
      lines: [
        t('U verwijdert deze import met het rapport en de rijen van het bestand. Dit is niet terug te draaien.'),
        t('De documenten die zijn geïmporteerd, blijven bestaan.'),
      ],
      button: t('Import verwijderen'),
      back: t('Niet verwijderen'),
    })
  })

  app.post('/imports/:uuid/verwijderen', { config: operator }, async (request, reply) => {
    const row = await importOfRequest(request)
    return change(
      request,
      reply,
      row,
      '/imports',
      t('De import is verwijderd. De documenten zijn er nog.'),
      async () => {
        await mutateFromPage(request, async (m) => {
          const { status, total, succeeded } = await deleteImport(m, row.uuid)
          m.audit({
            handeling: 'import-verwijderen',
            ...object(row),
            oud: { status, totaal: total, geslaagd: succeeded },
          })
        })
      },
    )
  })

  /** Does it, or says on the page of the import why not. */
  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    row: ImportRow,
    path: string,
    done: string,
    work: () => Promise<void>,
  ): Promise<FastifyReply> {
    try {
      await work()
    } catch (error) {
      formFaultsOf(error)
      const now = await requireImport(app.read, row.uuid)
      return redirectWith(
        request,
        reply,
        `/imports/${row.uuid}`,
        t`Dat kan nu niet: de import staat op “${importStatus(now).text}”, of er wordt net aan gewerkt. Probeer het zo nodig opnieuw.`,
        'fout',
      )
    }
    return redirectWith(request, reply, path, done)
  }

  function confirmation(
    reply: FastifyReply,
    row: ImportRow,
    text: { title: string; lines: string[]; button: string; back: string },
  ): Promise<FastifyReply> {
    return reply.page('import-confirm', {
      breadcrumbs: [LIST_PAGE, { path: `/imports/${row.uuid}`, name: nameOfImport(row) }],
      row,
      ...summaryOf(row),
      ...text,
    })
  }

  async function importOfRequest(request: FastifyRequest): Promise<ImportRow> {
    return requireImport(app.read, uuidParam(request))
  }

  async function readProgress(uuid: string): Promise<StreamState | undefined> {
    const [row] = await reader.sql<(Progress & { id: number; now: number })[]>`
      select id, status, reason, total, processed, processed - succeeded as failed,
        extract(epoch from coalesce(ended_at, now()) - started_at)::float8 as seconden,
        extract(epoch from now() - updated_at)::float8 as stil,
        exists (select from worker where seen_at > now() - interval '15 seconds') as werkers,
        paused_at is not null as gepauzeerd, (extract(epoch from now()) * 1000)::float8 as now
      from import where uuid = ${uuid} and deleted_at is null`
    if (!row) return undefined
    const speed = recentSpeed(await speedFigures(reader, row.id, RECENT_FIGURES), row.now)
    return importState({ ...row, speed })
  }

  async function readPlace(uuid: string): Promise<StreamState | undefined> {
    const row = await importsWithPlace(app.read).where('uuid', '=', uuid).executeTakeFirst()
    return row && queueState(row)
  }

  async function faultKinds({ id }: ImportRow): Promise<FaultKind[]> {
    const kinds = await reader.sql<FaultKind[]>`
      select s.hash::text, s.reason, s.count, array(
        select import_line(u.import_id, u.number) from import_outcome u
        where u.import_id = s.import_id and not u.succeeded and hashtextextended(import_reason(u.remark), 0) = s.hash
        order by u.number limit 5) as examples
      from import_fault_kind s where s.import_id = ${id} order by s.count desc, s.hash limit ${MAX_KINDS + 1}`
    return kinds.map(inWords)
  }

  async function chosenKind({ id }: ImportRow, key: string): Promise<FaultKind | undefined> {
    if (!/^-?\d{1,19}$/.test(key) || BigInt.asIntN(64, BigInt(key)) !== BigInt(key)) return undefined
    const [kind] = await reader.sql<FaultKind[]>`
      select hash::text, reason, count, '{}'::integer[] as examples from import_fault_kind
      where import_id = ${id} and hash = ${key}::bigint`
    return kind && inWords(kind)
  }

  /** Whether a row that was not imported is above this level. */
  async function hidesRest(row: ImportRow, level: Level): Promise<boolean> {
    const { rows } = await sql`
      select from import_row r left join import_outcome u on u.import_id = ${row.id} and u.number = r.number
      where r.import_id = ${rowsOf(row)}::bigint and r.number > 1 and u.succeeded is not true
        and ${isAbove(level, levelPlaces(row.header as string[]))} limit 1`.execute(app.read)
    return rows.length > 0
  }

  async function listRows(
    row: ImportRow,
    [pad, titel]: [number, number],
    above: RawBuilder<boolean>,
    where: ReturnType<typeof sql>,
    limit: number,
    back: boolean,
  ): Promise<ReportRow[]> {
    const order = back ? sql`desc` : sql`asc`
    const { rows } = await sql<ReportRow>`
      select u.number, import_line(u.import_id, u.number) as line, u.succeeded, u.remark, u.document_uuid as "documentUuid",
        ${cellAt(pad)} as bestandspad, ${cellAt(titel)} as titel, coalesce(${above}, false) as hidden
      from (select u.* from import_outcome u where u.import_id = ${row.id}::bigint ${where} order by u.number ${order} limit ${limit}) u
      left join import_row r on r.import_id = ${rowsOf(row)}::bigint and r.number = u.number
      order by u.number ${order}`.execute(app.read)
    return rows
  }
}

const inWords = (kind: FaultKind): FaultKind => ({ ...kind, reason: sharedReason(kind.reason) })
type FaultKind = { hash: string; reason: string; count: number; examples: number[] }
type ReportRow = {
  number: number
  /** Its number in the file. */
  line: number
  succeeded: boolean
  remark: string
  documentUuid: string | null
  bestandspad: string
  titel: string
  /** Above what he may see. */
  hidden: boolean
}

const isRunning = ({ status, pausedAt }: ImportRow) => status === 'active' && pausedAt === null

function summaryOf(row: ImportRow) {
  const end = row.endedAt ? Date.parse(row.endedAt) : Date.now()
  const seconden = row.startedAt ? Math.max(0.1, (end - Date.parse(row.startedAt)) / 1000) : 0
  return {
    staat: importStatus(row),
    door: row.startedBy || row.clientId || t('onbekend'),
    startedVia: row.startedBy ? t('via deze pagina’s') : t('via de API'),
    seconden,
    snelheid: speedText(row.processed, seconden),
    perSeconde: row.processed > 0 && seconden > 0 ? perSecond(row.processed, seconden) : '–',
  }
}

/** The import for people. */
function nameOfImport({ bestandsnaam, createdAt }: Pick<ImportRow, 'bestandsnaam' | 'createdAt'>): string {
  return bestandsnaam ? t`Import van ${bestandsnaam}` : t`Import van ${moment(createdAt)}`
}

const object = (row: ImportRow) => ({ soort: 'import', id: row.uuid, weergave: nameOfImport(row) })
const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)
const isRow = (text: string | undefined): text is string => isNumber(text) && Number(text) < 2 ** 31
const shortened = (text = '') => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
