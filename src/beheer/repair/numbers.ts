// numbers: numbers of cases and documents that were handed out and never used, and ending one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { endReservedDocumentnummer } from '../../documenten/document/numbers.ts'
import { endReservedZaaknummer } from '../../zaken/reserved-numbers.ts'
import type { FormFaults, FormValues } from '../frame/form.ts'
import { moment } from '../frame/format.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { queryText } from '../frame/lookup.ts'
import { t, words } from '../language/language.ts'
import { repair } from './confirm.ts'

const config = { access: 'beheer', rol: 'hersteller' } as const
const PATH = '/gereserveerde-nummers'
const KINDS = words(
  {
    zaak: { name: 'Zaak', table: 'reserved_zaaknummer' },
    document: { name: 'Document', table: 'reserved_documentnummer' },
  } as const,
  'name',
)
type Kind = keyof typeof KINDS
type Row = { soort: Kind; identificatie: string; bronorganisatie: string; at: string }

export function registerReservedNumbers(app: FastifyInstance): void {
  app.get(PATH, { config }, async (request, reply) => {
    const asked = queryText(request, 'soort')
    const soort: Kind = asked === 'document' ? 'document' : 'zaak'
    const zoek = queryText(request, 'zoek')
    // The key of the table: what somebody looks for is its begin.
    const list = await keysetPage<Row>(request, {
      key: (row) => `${row.identificatie} ${row.bronorganisatie}`,
      rows: async (limit, { na, voor }) => {
        const [identificatie = '', bronorganisatie = ''] = (voor ?? na ?? '').split(/ (?=\S*$)/)
        const compare = voor === undefined ? sql`>` : sql`<`
        const order = voor === undefined ? sql`asc` : sql`desc`
        const beyond =
          na === undefined && voor === undefined
            ? sql`true`
            : sql`(identificatie, bronorganisatie) ${compare} (${identificatie}, ${bronorganisatie})`
        const { rows } = await sql<Row>`
          select ${soort}::text as soort, identificatie, bronorganisatie, reserved_at as at from ${sql.table(KINDS[soort].table)}
          where ${beyond} and starts_with(identificatie, ${zoek})
          order by identificatie ${order}, bronorganisatie ${order} limit ${limit}`.execute(app.read)
        return rows
      },
    })
    return reply.page('reserved-numbers', {
      title: t('Gereserveerde nummers'),
      list,
      soort,
      zoek,
      soorten: Object.entries(KINDS).map(([value, { name }]) => [value, name]),
    })
  })

  app.get(`${PATH}/beeindigen`, { config }, async (request, reply) => endForm(reply, await numberOf(request)))

  app.post(`${PATH}/beeindigen`, { config }, async (request, reply) => {
    const number = await numberOf(request)
    const { soort, identificatie, bronorganisatie, at } = number
    const end = soort === 'zaak' ? endReservedZaaknummer : endReservedDocumentnummer
    return repair(request, reply, {
      title: t`Reservering van ${identificatie} beëindigen`,
      breadcrumbs: crumbs(),
      back: PATH,
      button: t('Reservering beëindigen'),
      typed: identificatie,
      form: (values, faults) => endForm(reply, number, values, faults),
      prepare: async () => async (m) => {
        await end(m, number)
        return {
          fields: [],
          lines: [
            t`Het nummer is sinds ${moment(at)} gereserveerd voor ${bronorganisatie}.`,
            t(
              'Het wordt niet opnieuw uitgegeven. Een applicatie die het al kent, kan er nog steeds iets mee maken: zij geeft haar nummer zelf op.',
            ),
          ],
          state: `${soort} ${bronorganisatie}`,
        }
      },
      audit: {
        handeling: 'nummer-beeindigen',
        soort,
        id: '',
        weergave: identificatie,
        oud: { identificatie, bronorganisatie, gereserveerd: at },
      },
      done: { path: PATH, text: t`De reservering van ${identificatie} is beëindigd.` },
    })
  })

  /** @throws Problem 404 when it is not reserved (any more) */
  async function numberOf(request: FastifyRequest): Promise<Row> {
    const asked = queryText(request, 'soort')
    const soort: Kind = asked === 'document' ? 'document' : 'zaak'
    const { rows } = await sql<Row>`
      select ${soort}::text as soort, identificatie, bronorganisatie, reserved_at as at from ${sql.table(KINDS[soort].table)}
      where identificatie = ${queryText(request, 'nummer')} and bronorganisatie = ${queryText(request, 'bronorganisatie')}`.execute(
      app.read,
    )
    const [number] = rows
    if (!number) throw notFound(t('Dit nummer is niet (meer) gereserveerd.'))
    return number
  }
}

const crumbs = () => [{ path: PATH, name: t('Gereserveerde nummers') }]
const endForm = (reply: FastifyReply, { identificatie }: Row, values: FormValues = {}, faults: FormFaults = {}) =>
  reply.page('repair-act', {
    title: t`Reservering van ${identificatie} beëindigen`,
    breadcrumbs: crumbs(),
    help: t('Voor een nummer dat een applicatie reserveerde en niet meer gaat gebruiken.'),
    values,
    faults,
    back: PATH,
  })
