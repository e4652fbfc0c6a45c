// The list of abonnementen, and when they are blocked.
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { readModus } from '../../notificaties/settings.ts'
import { COUNTED, type Figures, readFigures } from '../../nrc/abonnement/figures.ts'
import { mutateFromPage } from '../change.ts'
import { formFaultsOf, readForm } from '../form.ts'
import { formatNumber } from '../format.ts'
import { type Cursor, keysetPage } from '../keyset-list.ts'
import { redirectWith } from '../page.ts'
import { administering, nameOf, viewing } from './abonnement.ts'
import { stateOf } from './labels.ts'

const Grenzen = Type.Object({
  blokkeerNaUren: Type.Integer({ minimum: 1, maximum: 87_600 }),
  blokkeerVanafAantal: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
})

/** A count as it is shown: it ends at a bound. */
export const capped = (aantal: number): string =>
  aantal > COUNTED ? `meer dan ${formatNumber(COUNTED)}` : formatNumber(aantal)

export function registerAbonnementenLijst(app: FastifyInstance): void {
  app.get('/abonnementen', { config: viewing }, async (request, reply) => {
    const [lijst, modus] = await Promise.all([
      keysetPage(request, {
        key: ({ id }: Figures) => String(id),
        rows: async (limit, { na, voor }: Cursor) => {
          const key = /^\d{1,15}$/.exec(String(na ?? voor ?? ''))?.[0]
          const cursor =
            key === undefined ? sql`true` : voor === undefined ? sql`a.id > ${key}::bigint` : sql`a.id < ${key}::bigint`
          const order = voor === undefined ? sql`asc` : sql`desc`
          const rows = await readFigures(app.read, sql`${cursor} order by a.id ${order} limit ${limit}`)
          return voor === undefined ? rows : rows.reverse()
        },
      }),
      readModus(app.read),
    ])
    return reply.pagina('abonnementen', {
      titel: 'Abonnementen',
      lijst,
      modus,
      rijen: lijst.rijen.map((rij) => ({ ...rij, naam: nameOf(rij), staat: stateOf(rij) })),
      capped,
    })
  })

  app.get('/abonnementen/grenzen', { config: viewing }, async (_request, reply) =>
    reply.pagina('abonnement-grenzen', { ...GRENZEN, waarden: await readGrenzen(), fouten: {} }),
  )

  app.post('/abonnementen/grenzen', { config: administering }, async (request, reply) => {
    try {
      const form = readForm(Grenzen, request.body)
      await mutateFromPage(request, async (m) => {
        const oud = await readGrenzen()
        await m.trx.updateTable('notificatieInstelling').set(form).execute()
        m.vastleggen({ handeling: 'abonnementen-grenzen', soort: 'notificatie-instelling', oud, nieuw: form })
      })
      return await redirectWith(
        request,
        reply,
        '/abonnementen/grenzen',
        'De grenzen zijn opgeslagen. Ze gelden vanaf nu.',
      )
    } catch (error) {
      const fouten = formFaultsOf(error)
      return reply.code(400).pagina('abonnement-grenzen', { ...GRENZEN, waarden: request.body ?? {}, fouten })
    }
  })

  const readGrenzen = () =>
    app.read
      .selectFrom('notificatieInstelling')
      .select(['blokkeerNaUren', 'blokkeerVanafAantal'])
      .executeTakeFirstOrThrow()
}

const GRENZEN = { titel: 'Grenzen van abonnementen', kruimels: [{ pad: '/abonnementen', naam: 'Abonnementen' }] }
