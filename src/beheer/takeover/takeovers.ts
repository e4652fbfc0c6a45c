// The pages of takeovers: how far they are, what did not fit, and the switch at the end.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../core/problem.ts'
import { countStream } from '../../http/stream.ts'
import { wayBackWarnings } from '../../overnemen/playback/state.ts'
import { matching, reportCsvOf } from '../../overnemen/report.ts'
import { faultsOf, forecastOf, progressOf, WEEKEND_SECONDS } from '../../overnemen/round.ts'
import { isSwitchable, switchOver, switchWarnings, type Takeover } from '../../overnemen/takeover.ts'
import { wayToSwitch } from '../../overnemen/way-to-switch.ts'
import { mutateFromPage } from '../frame/change.ts'
import { openEventStreams, type StreamState } from '../frame/event-stream.ts'
import { formatDuration } from '../frame/format.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { queryText, sortRows, uuidParam } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { reason, t, words } from '../language/language.ts'
import {
  codeLabel,
  kindLabel,
  OUTCOMES,
  type Outcome,
  remedyLabel,
  stepsToShow,
  takeoverState,
  takeoverStatus,
  waySteps,
} from './takeover-labels.ts'

const viewer = { access: 'beheer', rol: 'viewer' } as const
const administrator = { access: 'beheer', rol: 'administrator' } as const
const LIST = words({ path: '/overnemen', name: 'Overnemen' }, 'name')

type TakeoverRow = Takeover & {
  created_at: string
  round_begun_at: string
  round_done_at: string | null
  switched_at: string | null
}
type ReportRow = {
  id: number
  kind: string
  key: string
  outcome: Outcome
  code: string
  field: string
  value: string
  text: string
  identificatie: string
  round: number
}

export function registerTakeovers(app: FastifyInstance): void {
  const { reader } = app
  const stream = openEventStreams(app)

  app.get(LIST.path, { config: viewer }, async (request, reply) => {
    const found = await reader.sql<TakeoverRow[]>`select * from takeover order by id desc limit 50`
    const rows = sortRows(request, found, {
      bron: ({ source }) => source,
      begonnen: ({ round_begun_at }) => round_begun_at,
    })
    return reply.page('takeovers', {
      title: t('Overnemen'),
      rows: rows.map((row) => ({ ...shown(row), staat: takeoverStatus(row) })),
      isActive: rows.some(({ status }) => status === 'loopt'),
    })
  })

  app.get(`${LIST.path}/:uuid`, { config: viewer }, async (request, reply) => {
    const row = await find(request)
    const [way, forecast, steps, faults, rounds, state] = await Promise.all([
      row.trial ? undefined : wayToSwitch(reader.sql, row),
      forecastOf(reader, row),
      progressOf(reader, row),
      faultsOf(reader, row),
      reader.sql<
        {
          round: number
          begun_at: string
          done_at: string | null
          seen: number
          written: number
          removed: number
          refused: number
        }[]
      >`
        select round, min(begun_at) as begun_at, max(done_at) as done_at, sum(seen)::bigint as seen,
          sum(written)::bigint as written, sum(removed)::bigint as removed, sum(refused)::bigint as refused
        from takeover_step where takeover_id = ${row.id} group by round order by round desc limit 20`,
      readState(row.uuid),
    ])
    const runs = row.status === 'loopt'
    return reply.page('takeover', {
      title: t`Overnemen uit ${row.source}`,
      breadcrumbs: [LIST],
      row: shown(row),
      staat: takeoverStatus(row),
      isActive: runs,
      progress: runs ? state?.values : null,
      forecast: forecast >= 60 ? formatDuration(forecast) : '',
      isNoWeekend: forecast > WEEKEND_SECONDS,
      ...stepsToShow(steps),
      isStopped: row.status === 'gestopt',
      hasFailed: steps.some(({ fault }) => fault !== null),
      faults: faults.map((fault) => ({
        ...fault,
        name: kindLabel(fault.kind),
        reden: codeLabel(fault.code),
        remedy: remedyLabel(fault.code),
        words: OUTCOMES[fault.outcome as Outcome],
      })),
      rounds,
      way: way ? waySteps(way) : [],
      canSwitch: isSwitchable(row),
    })
  })

  app.get(
    `${LIST.path}/:uuid/stroom`,
    { config: viewer, exposeHeadRoute: false, logLevel: 'warn' },
    async (request, reply) => {
      const { uuid } = await find(request)
      return stream(request, reply, t`overneming ${uuid}`, () => readState(uuid))
    },
  )

  app.get(`${LIST.path}/:uuid/regels`, { config: viewer }, async (request, reply) => {
    const row = await find(request)
    const filter = filterOf(request)
    const [list, kinds] = await Promise.all([
      keysetPage<ReportRow>(request, {
        key: ({ id }) => String(id),
        rows: (limit, { na, voor }) => {
          const back = voor !== undefined
          const edge = isNumber(na)
            ? reader.sql`and id > ${na}`
            : isNumber(voor)
              ? reader.sql`and id < ${voor}`
              : reader.sql``
          return reader.sql<ReportRow[]>`
            select id, kind, key, outcome, code, field, value, text, identificatie, round from takeover_remark
            where takeover_id = ${row.id} ${matching(reader.sql, filter)} ${edge}
            order by id ${back ? reader.sql`desc` : reader.sql`asc`} limit ${limit}`
        },
      }),
      faultsOf(reader, row),
    ])
    const choices = (name: 'kind' | 'code', label: (value: string) => string) => [
      ['', t('Alle')],
      ...[...new Set(kinds.map((kind) => kind[name]))].sort().map((value) => [value, label(value)]),
    ]
    return reply.page('takeover-lines', {
      title: t('Rapport'),
      breadcrumbs: [LIST, { path: `${LIST.path}/${row.uuid}`, name: row.source }],
      row: shown(row),
      filter,
      isFiltered: Object.values(filter).some(Boolean),
      outcomes: [['', t('Alle')], ...Object.entries(OUTCOMES).map(([value, { text }]) => [value, text])],
      kinds: choices('kind', kindLabel),
      codes: choices('code', codeLabel),
      list: {
        ...list,
        rows: list.rows.map((one) => ({
          ...one,
          name: kindLabel(one.kind),
          reden: codeLabel(one.code),
          remedy: remedyLabel(one.code),
          words: OUTCOMES[one.outcome],
          page: one.outcome === 'geweigerd' ? null : pageOf(one),
        })),
      },
    })
  })

  // Streamed: it may be a row for every object.
  app.get(`${LIST.path}/:uuid/rapport`, { config: viewer }, async (request, reply) => {
    const row = await find(request)
    countStream(request, reply)
    return reply
      .headers({ 'content-disposition': `attachment; filename="overnemen-${row.uuid}.csv"` })
      .type('text/csv; charset=utf-8')
      .send(reportCsvOf(reader.sql, row.id, filterOf(request)))
  })

  app.get(`${LIST.path}/:uuid/omschakelen`, { config: administrator }, async (request, reply) => {
    const row = await find(request)
    return confirm(reply, row, {
      title: t('Omschakelen'),
      lines: [
        t(
          'Vanaf de omschakeling is deze installatie de baas: wat is overgenomen mag hier worden gewijzigd, en wijzigingen worden gemeld aan abonnees.',
        ),
        t(
          'Meldingen die nog klaarstaan vervallen, zodat abonnees geen oude berichten krijgen. Uit deze bron kan daarna niet meer worden overgenomen.',
        ),
        t(
          'Doe dit als de oude installatie alleen-lezen is, en de laatste ronde en de controle klaar zijn. Wie daarna toch terug moet, laat terugspelen wat hier is gewijzigd (stap Weg terug).',
        ),
        ...[...(await switchWarnings(reader.sql)), ...(await wayBackWarnings(reader.sql))].map(reason),
      ],
      button: t('Nu omschakelen'),
      back: t('Nog niet omschakelen'),
      typed: true,
    })
  })

  app.post(`${LIST.path}/:uuid/omschakelen`, { config: administrator }, async (request, reply) => {
    const row = await find(request)
    const path = `${LIST.path}/${row.uuid}`
    const { bevestiging } = request.body as { bevestiging?: unknown }
    if (
      String(bevestiging ?? '')
        .trim()
        .toLowerCase() !== SWITCH_WORD
    )
      return redirectWith(
        request,
        reply,
        `${path}/omschakelen`,
        t`Er is niet omgeschakeld: typ het woord ${SWITCH_WORD} in het veld.`,
        'fout',
      )
    const removed = await mutateFromPage(request, async (m) => {
      const gone = await switchOver(m.sql, row)
      m.audit({
        handeling: 'overneming-omschakelen',
        ...object(row),
        oud: { status: row.status },
        nieuw: { status: gone === undefined ? row.status : 'omgeschakeld', vervallenMeldingen: gone ?? 0 },
      })
      return gone
    })
    if (removed === undefined)
      return redirectWith(
        request,
        reply,
        path,
        t('Er is niet omgeschakeld: er loopt een ronde, of het was al gedaan.'),
        'fout',
      )
    return redirectWith(request, reply, path, t`Omgeschakeld. Er zijn ${removed} meldingen vervallen.`)
  })

  app.get(`${LIST.path}/:uuid/wijzigbaar`, { config: administrator }, async (request, reply) => {
    const row = await find(request)
    const closed = row.read_only
    return confirm(reply, row, {
      title: closed ? t('Wijzigen toestaan') : t('Wijzigen weigeren'),
      lines: closed
        ? [
            t(
              'Wat is overgenomen kan dan hier al worden gewijzigd, bijvoorbeeld om te oefenen. Er gaan geen meldingen over uit.',
            ),
            t('Een volgende ronde overschrijft een wijziging alleen als hetzelfde object in de bron ook is gewijzigd.'),
          ]
        : [t('De API’s weigeren dan weer elke wijziging van wat is overgenomen, tot de omschakeling.')],
      button: closed ? t('Wijzigen toestaan') : t('Wijzigen weigeren'),
      back: t('Niets veranderen'),
    })
  })

  app.post(`${LIST.path}/:uuid/wijzigbaar`, { config: administrator }, async (request, reply) => {
    const row = await find(request)
    await mutateFromPage(request, async (m) => {
      await m.sql`update takeover set read_only = ${!row.read_only} where id = ${row.id}`
      m.audit({
        handeling: 'overneming-wijzigbaar',
        ...object(row),
        oud: { readOnly: row.read_only },
        nieuw: { readOnly: !row.read_only },
      })
    })
    const done = row.read_only ? t('Wijzigen is toegestaan.') : t('Wijzigen wordt geweigerd tot de omschakeling.')
    return redirectWith(request, reply, `${LIST.path}/${row.uuid}`, done)
  })

  function confirm(
    reply: FastifyReply,
    row: TakeoverRow,
    words: { title: string; lines: string[]; button: string; back: string; typed?: boolean },
  ): Promise<FastifyReply> {
    return reply.page('takeover-confirm', {
      typed: false,
      word: SWITCH_WORD,
      breadcrumbs: [LIST, { path: `${LIST.path}/${row.uuid}`, name: row.source }],
      row: shown(row),
      staat: takeoverStatus(row),
      ...words,
    })
  }

  async function find(request: FastifyRequest): Promise<TakeoverRow> {
    const [row] = await reader.sql<TakeoverRow[]>`select * from takeover where uuid = ${uuidParam(request)}`
    if (!row) throw notFound(t('Deze overneming bestaat niet.'))
    return row
  }

  async function readState(uuid: string): Promise<StreamState | undefined> {
    const [row] = await reader.sql<(TakeoverRow & { seconden: number; stil: number })[]>`
      select o.*, extract(epoch from now() - o.round_begun_at)::float8 as seconden,
        extract(epoch from now() - coalesce(max(s.updated_at), o.round_begun_at))::float8 as stil
      from takeover o left join takeover_step s on s.takeover_id = o.id and s.round = o.round
      where o.uuid = ${uuid} group by o.id`
    return row && takeoverState(row, await progressOf(reader, row))
  }
}

/** What is typed before what cannot be undone; it is the same in each language, since it is no sentence. */
const SWITCH_WORD = 'omschakelen'

type Filter = { outcome: string; kind: string; code: string }

const filterOf = (request: FastifyRequest): Filter => ({
  outcome: queryText(request, 'uitkomst'),
  kind: queryText(request, 'soort'),
  code: queryText(request, 'code'),
})

/** Where the pages show the object of a row. */
function pageOf({ kind, key }: ReportRow): string | null {
  if (kind === 'zaak') return `/zaken/${key}`
  if (kind === 'document' || kind === 'bestand') return `/documenten/${key}`
  if (kind === 'applicatie') return `/applicaties/${key}`
  return null
}

/** Without its secret. */
function shown({ secret: _, ...row }: TakeoverRow): Omit<TakeoverRow, 'secret'> {
  return row
}

const object = ({ uuid, source }: Takeover) => ({ soort: 'overneming', id: uuid, weergave: source })
const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)
