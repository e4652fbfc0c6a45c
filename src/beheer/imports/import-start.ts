// Import start: an import from the browser, in steps: the file is taken in and shown, a dry run lists its wrong rows, and then
// it starts or is thrown away. The file waits between the steps in the database, for a day.

import multipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { Problem } from '../../core/problem.ts'
import { isLockTimeout } from '../../database/error-codes.ts'
import { importBaseDirFault } from '../../documenten/import/base-dir.ts'
import { columnNamed, placeOf } from '../../documenten/import/columns.ts'
import { COLUMN_NAMES, CsvError } from '../../documenten/import/csv.ts'
import { dialectOf } from '../../documenten/import/dialect.ts'
import {
  type Concept,
  createDraft,
  deleteDraft,
  receiveFile,
  requestDryRun,
  requireConcept,
  sameFileBefore,
  startDraft,
} from '../../documenten/import/draft.ts'
import { sharedReason } from '../../documenten/import/judge.ts'
import { isNdjson } from '../../documenten/import/ndjson.ts'
import { countReceiving } from '../../documenten/import/receive.ts'
import { csvStream } from '../../documenten/import/report.ts'
import { levelPlaces } from '../../documenten/import/report-rows.ts'
import { cellAt, imported } from '../../documenten/import/rows.ts'
import { formParts } from '../../http/forms.ts'
import { closedSignal } from '../../http/when-closed.ts'
import { mutateFromPage } from '../frame/change.ts'
import { requireToken } from '../frame/csrf-token.ts'
import type { EventStreams, StreamState } from '../frame/event-stream.ts'
import type { FormFaults } from '../frame/form.ts'
import { formatBytes } from '../frame/format.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { queryText, uuidParam } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { beheerActor, signedIn } from '../frame/session.ts'
import { reason, t, words } from '../language/language.ts'
import { COLUMNS } from './import-columns.ts'
import { dryRunState, isDryRunning, MAX_KINDS, type Progress } from './import-labels.ts'
import { faultsByColumn } from './marked-workbook.ts'
import { hiddenText, isAbove, levelOf } from './row-level.ts'

const viewer = { access: 'beheer', rol: 'viewer' } as const
const operator = { access: 'beheer', rol: 'operator' } as const
const LIST_PAGE = words({ path: '/imports', name: 'Imports' }, 'name')
const PREVIEW_ROWS = 20
/** So many of them are wrong rows, when a dry run found some. */
const PREVIEW_FAULTS = 10
const MAX_COLUMNS = 100 // a file may have thousands
const STUCK_MS = 120_000

export async function registerImportStart(app: FastifyInstance, watch: EventStreams): Promise<void> {
  const { reader } = app
  const { config } = app.parts

  app.get('/imports/nieuw', { config: operator }, async (_request, reply) => showForm(reply, {}))

  // Only the header: what a spreadsheet can be filled below.
  app.get('/imports/leeg.csv', { config: viewer }, async (_request, reply) => {
    async function* records() {
      yield [...COLUMN_NAMES]
    }
    return reply
      .headers({ 'content-disposition': 'attachment; filename="import-leeg.csv"' })
      .type('text/csv; charset=utf-8')
      .send(csvStream(records()))
  })

  // As Excel opens and saves it in Dutch: semicolons, and a byte order mark so that it knows the characters.
  app.get('/imports/voorbeeld.csv', { config: viewer }, async (_request, reply) => {
    const [type] = await reader.sql<{ naam: string }[]>`
      select t.omschrijving || ' (' || c.domein || ')' as naam from informatieobjecttype t join catalogus c on c.id = t.catalogus_id
      where not t.concept and t.einde_geldigheid is null order by t.id limit 1`
    const example = COLUMN_NAMES.map((column) =>
      column === 'informatieobjecttype' && type ? String(type.naam) : COLUMNS[column].example,
    )
    const lines = [[...COLUMN_NAMES], example].map((cells) =>
      cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';'),
    )
    return reply
      .headers({ 'content-disposition': 'attachment; filename="import-voorbeeld.csv"' })
      .type('text/csv; charset=utf-8')
      .send(`\ufeff${lines.join('\r\n')}\r\n`)
  })

  await app.register(async (scope) => {
    if (!scope.hasContentTypeParser('multipart/form-data')) await scope.register(multipart)
    const options = { config: { ...operator, checksToken: true, stream: true }, bodyLimit: Number.MAX_SAFE_INTEGER }
    scope.post('/imports/nieuw', options, async (request, reply) => {
      if (!request.isMultipart())
        throw new Problem(400, { detail: t('Dit formulier kwam niet compleet aan. Probeer het opnieuw.') })
      const charset = { value: '' }
      try {
        const uuid = await receive(request, reply, charset)
        return await redirectWith(request, reply, `/imports/concept/${uuid}`)
      } catch (error) {
        if (request.raw.errored || (request.raw.destroyed && !request.raw.complete))
          throw new Problem(400, { detail: t('De verbinding is verbroken. Er is niets bewaard.') })
        if (!(error instanceof CsvError)) throw error
        return showForm(reply.code(400), { bestand: `${reason(error.message)} ${ADVICE[error.code]}` }, charset.value)
      }
    })
  })

  app.get('/imports/concept/:uuid', { config: viewer }, async (request, reply) => {
    const concept = await requireConcept(app.read, uuidParam(request))
    const header = concept.header as string[]
    // The last column of NDJSON is the line itself.
    const level = levelOf(request, concept.createdBy)
    const shown = Math.min(isNdjson(header) ? header.length - 1 : header.length, MAX_COLUMNS)
    const [place, type] = levelPlaces(header)
    const read = await reader.sql<
      { line: number; count: number; cells: string[]; remark: string | null; hidden: boolean }[]
    >`
      select import_draft_line(${concept.id}, r.number) as line, json_array_length(cells) as count, f.remark, coalesce(
        level_of_import_row(cells, null, ${place}, ${type}) > ${level ?? null}::text::vertrouwelijkheidaanduiding, false) as hidden, (
        select coalesce(json_agg(case when octet_length(c.cel::text) > 1000 then to_json(substr(c.cel::text, 2, 100)) else c.cel end
          order by c.n), '[]')
        from json_array_elements(cells) with ordinality c(cel, n) where c.n <= ${shown + 5}) as cells
      from (
        select * from (
        (select number, remark from import_draft_fault where draft_id = ${concept.id} order by number limit ${PREVIEW_FAULTS})
        union all
        (select r.number, null from import_draft_rows(${concept.id}) r
          where not exists (select from import_draft_fault f where f.draft_id = ${concept.id} and f.number = r.number)
          order by r.number limit ${PREVIEW_ROWS})
        ) x order by remark is null, number limit ${PREVIEW_ROWS}
      ) f join import_draft_rows(${concept.id}) r on r.number = f.number
      order by f.remark is null, r.number`
    const rows = read.map(({ hidden, ...row }) =>
      hidden ? { ...row, cells: row.cells.map(() => ''), remark: row.remark && hiddenText() } : row,
    )
    const names = header.slice(0, shown)
    const faulty = rows.map(({ remark }) => faultsByColumn(names, remark ?? ''))
    const used = names.map((_, place) => rows.some((row, at) => row.cells[place] || faulty[at]?.has(place)))
    // Columns with a fault come first: that is what somebody looks for.
    const isFaulty = names.map((_, place) => faulty.some((faults) => faults.has(place)))
    const order = names.map((_, place) => place).filter((place) => used[place])
    order.sort((one, other) => Number(isFaulty[other]) - Number(isFaulty[one]))
    const rankOf = (place: number) => (place < names.length ? order.indexOf(place) : place)
    const isBusy = isDryRunning(concept)
    const kinds = concept.trialFaults > 0 ? await faultKinds(concept) : []
    const fault = importBaseDirFault(config)
    const space = await app.parts.store.space?.().catch(() => undefined) // one that is away is told elsewhere
    return reply.page('import-draft', {
      title: t`Controleren: ${concept.bestandsnaam || t('bestand zonder naam')}`,
      breadcrumbs: [LIST_PAGE],
      concept,
      kop: order.map((place) => shortened(names[place] ?? '')),
      workbook: dialectOf(concept).workbook,
      sameFile: await sameFileBefore(app.read, concept),
      empty: names.filter((_, place) => !used[place]).map((naam) => shortened(naam) || t('(zonder naam)')),
      breed: header.length > shown,
      onbekend: header.filter((naam) => !columnNamed(naam)).map((naam) => shortened(naam) || t('(zonder naam)')),
      rows: rows.map(({ line, count, cells, remark }, at) => ({
        line,
        scheef: count > header.length,
        remark,
        // Cells that have no column stand behind the others.
        cells: [
          ...cells.slice(0, header.length > shown ? shown : undefined),
          ...names.slice(cells.length).map(() => ''),
        ]
          .map((cell, place) => ({ text: shortened(cell), fault: faulty[at]?.get(place), place }))
          .filter(({ place }) => used[place] ?? true)
          .sort((one, other) => rankOf(one.place) - rankOf(other.place)),
      })),
      isBusy,
      // A run that was lost can be asked for again.
      vast: isBusy && Date.now() - Date.parse(concept.trialUpdatedAt ?? concept.createdAt) > STUCK_MS,
      progress: isBusy ? (await readTrial(concept.uuid))?.values : null,
      free: space?.free,
      kinds: kinds.slice(0, MAX_KINDS),
      moreKinds: kinds.length > MAX_KINDS,
      open: await openImport(),
      directoryFault: fault?.reden,
    })
  })

  app.get(
    '/imports/concept/:uuid/stroom',
    { config: viewer, exposeHeadRoute: false, logLevel: 'warn' },
    async (request, reply) => {
      const { uuid } = await requireConcept(app.read, uuidParam(request))
      return watch(request, reply, t`concept ${uuid}`, () => readTrial(uuid))
    },
  )

  app.get('/imports/concept/:uuid/fouten', { config: viewer }, async (request, reply) => {
    const concept = await requireConcept(app.read, uuidParam(request))
    const header = concept.header as string[]
    const [pad, titel] = [placeOf(header, 'bestandspad'), placeOf(header, 'titel')]
    const [kind] = await chosenReason(concept, queryText(request, 'reden'))
    const reason = kind ? sql`and hashtextextended(import_reason(f.remark), 0) = ${kind.hash}::bigint` : sql``
    const above = isAbove(levelOf(request, concept.createdBy), levelPlaces(header))
    const list = await keysetPage<DraftFault>(request, {
      key: ({ number }) => String(number),
      rows: async (limit, { na, voor }) => {
        const from = isRow(na)
          ? sql`and f.number > ${Number(na)}`
          : isRow(voor)
            ? sql`and f.number < ${Number(voor)}`
            : sql``
        const order = voor === undefined ? sql`asc` : sql`desc`
        const { rows } = await sql<DraftFault>`
          select f.number, import_draft_line(f.draft_id, f.number) as line, f.remark, ${cellAt(pad)} as bestandspad, ${cellAt(titel)} as titel,
            coalesce(${above}, false) as hidden
          from import_draft_fault f
          left join import_draft_rows(${concept.id}) r on r.number = f.number
          where f.draft_id = ${concept.id} ${reason} ${from} order by f.number ${order} limit ${limit}`.execute(
          app.read,
        )
        return rows
      },
    })
    return reply.page('import-draft-faults', {
      title: t('Rijen met een fout'),
      breadcrumbs: [
        LIST_PAGE,
        { path: `/imports/concept/${concept.uuid}`, name: t`Controleren: ${concept.bestandsnaam}` },
      ],
      concept,
      kind,
      list: {
        ...list,
        rows: list.rows.map(({ titel, hidden, ...row }) => ({
          ...row,
          ...(hidden && { remark: hiddenText() }),
          bestandspad: hidden ? '' : shortened(row.bestandspad),
          documentTitel: hidden ? '' : shortened(titel),
        })),
      },
    })
  })

  app.post('/imports/concept/:uuid/proef', { config: operator }, async (request, reply) => {
    const uuid = uuidParam(request)
    await mutateFromPage(request, async (m) => {
      const concept = await requestDryRun(m, uuid)
      m.audit({ handeling: 'import-proefdraaien', ...object(concept) })
    })
    return redirectWith(request, reply, `/imports/concept/${uuid}`)
  })

  app.post('/imports/concept/:uuid/starten', { config: operator }, async (request, reply) => {
    const uuid = uuidParam(request)
    const waits = (request.body as { wachten?: unknown } | undefined)?.wachten === 'ja'
    try {
      const started = await mutateFromPage(request, async (m) => {
        const { import: made, concept } = await startDraft(m, uuid, {
          config,
          startedBy: signedIn(request).gebruikersnaam,
          waits,
        })
        m.audit({
          handeling: 'import-starten',
          ...object(concept),
          id: made.uuid,
          nieuw: { bestandsnaam: concept.bestandsnaam, rijen: concept.total },
        })
        return made.uuid
      })
      return await redirectWith(
        request,
        reply,
        `/imports/${started}`,
        waits
          ? t('De import begint vanzelf zodra hij aan de beurt is. U kunt deze pagina gerust verlaten.')
          : t('De import is gestart. U kunt deze pagina gerust verlaten.'),
      )
    } catch (error) {
      const fault = error instanceof Problem ? error.invalidParams?.[0] : undefined
      const text = fault?.code === 'existing-import-started' ? alreadyOne() : (fault?.reason ?? lockFault(error))
      if (!text) throw error
      return redirectWith(request, reply, `/imports/concept/${uuid}`, text, 'fout')
    }
  })

  app.post('/imports/concept/:uuid/annuleren', { config: operator }, async (request, reply) => {
    const uuid = uuidParam(request)
    await mutateFromPage(request, async (m) => {
      const concept = await deleteDraft(m, uuid)
      m.audit({ handeling: 'import-bestand-weggooien', ...object(concept) })
    })
    return redirectWith(request, reply, '/imports', t('Het bestand is weggegooid. Er is niets geïmporteerd.'))
  })

  async function showForm(reply: FastifyReply, faults: FormFaults, charset = ''): Promise<FastifyReply> {
    return reply.page('import-new', {
      title: t('Import starten'),
      breadcrumbs: [LIST_PAGE],
      faults,
      charset,
      charsets: CHARSETS.map(({ name, label }) => [name, label]),
      columns: COLUMN_NAMES.map((name) => ({ name, ...COLUMNS[name] })),
      open: await openImport(),
      directoryFault: importBaseDirFault(config)?.reden,
    })
  }

  /** Takes the file of the form in. The token and the charset come before it. */
  async function receive(request: FastifyRequest, reply: FastifyReply, charset: { value: string }): Promise<string> {
    let token = ''
    let sheet = ''
    const limits = { fields: 5, fieldBytes: 1000, fileBytes: config.minUploadSize }
    for await (const part of formParts(request, limits)) {
      if (part.type === 'field') {
        if (part.fieldname === '_csrf') token = String(part.value)
        if (part.fieldname === 'tekenset' && CHARSETS.some(({ name }) => name === part.value))
          charset.value = String(part.value)
        if (part.fieldname === 'blad') sheet = String(part.value).slice(0, 100)
        continue
      }
      await requireToken(request, reply, token)
      if (!part.filename) throw new CsvError('empty-file', t('Er is geen bestand gekozen.'))
      return await accept(request, reply, part, charset.value, sheet)
    }
    await requireToken(request, reply, token)
    throw new CsvError('empty-file', t('Er is geen bestand gekozen.'))
  }

  async function accept(
    request: FastifyRequest,
    reply: FastifyReply,
    part: MultipartFile,
    charset: string,
    sheet: string,
  ): Promise<string> {
    const bestandsnaam = part.filename.replaceAll('\0', '').toWellFormed().slice(0, 255)
    countReceiving(request, reply)
    const signal = closedSignal(reply.raw)
    const receiver = { mutate: app.mutate, config, actor: beheerActor(request), signal }
    return receiveFile(
      receiver,
      part.file,
      { bestandsnaam, charset, sheet, most: config.importMaxRows },
      async (file) => {
        if (part.file.truncated)
          throw new CsvError('parse_error', t`Het bestand is groter dan ${formatBytes(config.minUploadSize)}.`)
        return mutateFromPage(request, async (m) => {
          const createdBy = signedIn(request).gebruikersnaam
          const { uuid, total, bytes } = await createDraft(m, file, { bestandsnaam, baseUrl: request.base, createdBy })
          m.audit({
            handeling: 'import-bestand-klaarzetten',
            soort: 'import-bestand',
            id: uuid,
            weergave: bestandsnaam,
            nieuw: { bestandsnaam, rijen: total, bytes },
          })
          await requestDryRun(m, uuid) // nobody should start what was not tried
          return uuid
        })
      },
    )
  }

  async function openImport() {
    return imported(app.read)
      .where('status', 'in', ['pending', 'active'])
      .select(['uuid', 'status', 'bestandsnaam', 'createdAt'])
      .executeTakeFirst()
  }

  async function readTrial(uuid: string): Promise<StreamState | undefined> {
    const [row] = await reader.sql<Progress[]>`
      select coalesce(trial_status, '') as status, trial_reason as reason, total, trial_handled as processed,
        trial_faults as failed,
        extract(epoch from coalesce(trial_ended_at, now()) - trial_started_at)::float8 as seconden,
        extract(epoch from now() - trial_updated_at)::float8 as stil,
        exists (select from worker where seen_at > now() - interval '15 seconds') as werkers
      from import_draft where uuid = ${uuid} and deleted_at is null`
    return row && dryRunState(row)
  }

  async function chosenReason({ id }: Concept, key: string) {
    if (!/^-?\d{1,19}$/.test(key) || BigInt.asIntN(64, BigInt(key)) !== BigInt(key)) return []
    const kinds = await reader.sql<{ hash: string; reason: string; count: number }[]>`
      select hash::text, reason, count from import_draft_fault_kind
      where draft_id = ${id} and hash = ${key}::bigint`
    return kinds.map((kind) => ({ ...kind, reason: sharedReason(kind.reason) }))
  }

  async function faultKinds({ id }: Concept) {
    const kinds = await reader.sql<
      { hash: string; reason: string; count: number; examples: { number: number; remark: string }[] }[]
    >`
      select hash::text, reason, count, examples from import_draft_fault_kind
      where draft_id = ${id} order by count desc, hash limit ${MAX_KINDS + 1}`
    return kinds.map((kind) => ({ ...kind, reason: sharedReason(kind.reason) }))
  }
}

type DraftFault = { number: number; line: number; remark: string; bestandspad: string; titel: string; hidden: boolean }

const alreadyOne = () =>
  t(
    'Er is al een import bezig, daarom is deze niet gestart. Uw bestand staat nog klaar: zet het in de wachtrij, of start het als de andere import klaar is.',
  )
/** By their names in the Encoding Standard. A byte order mark goes before what is chosen. */
const CHARSETS = words(
  [
    { name: '', label: 'UTF-8, of wat het bestand zelf zegt' },
    { name: 'windows-1252', label: 'windows-1252 (“CSV” van Excel in Windows)' },
    { name: 'macintosh', label: 'macintosh (“CSV” van Excel op een oudere Mac)' },
    { name: 'iso-8859-15', label: 'iso-8859-15' },
    { name: 'utf-16le', label: 'UTF-16 zonder byte order mark' },
  ],
  'label',
)
const CHOOSE_AGAIN =
  'Kies hieronder in welke tekenset het staat, of sla het op als CSV in UTF-8 (in Excel: “CSV UTF-8”), en kies het opnieuw. Er is niets bewaard.'
const ADVICE: Record<CsvError['code'], string> = words({
  parse_error: CHOOSE_AGAIN,
  'empty-file': 'Kies een CSV-bestand met een kopregel en ten minste één rij.',
  'missing-import-headers':
    'Voeg deze kolommen toe, ook als ze leeg blijven, en kies het bestand opnieuw. Er is niets bewaard.',
  'duplicate-import-headers': 'Laat elke kolom één keer voorkomen, en kies het bestand opnieuw. Er is niets bewaard.',
  'too-many-rows': 'Verdeel het over meer bestanden, en kies er een. Er is niets bewaard.',
})

/** Another import was being started at the same moment. */
function lockFault(error: unknown): string | undefined {
  return isLockTimeout(error) ? alreadyOne() : undefined
}

const isRow = (text: string | undefined) => text !== undefined && /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31
const object = (concept: Concept) => ({ soort: 'import-bestand', id: concept.uuid, weergave: concept.bestandsnaam })
const shortened = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
