// The list of abonnementen, and when they are blocked.

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { readModus } from '../../../notificaties/settings.ts'
import { COUNTED, type Figures, readFigures } from '../../../nrc/abonnement/figures.ts'
import { mutateFromPage } from '../../frame/change.ts'
import { formFaultsOf, readForm } from '../../frame/form.ts'
import { formatNumber } from '../../frame/format.ts'
import { keysetByNumber, type Sorts } from '../../frame/lookup.ts'
import { redirectWith } from '../../frame/page.ts'
import { t, words } from '../../language/language.ts'
import { administering, nameOf, viewing } from './abonnement.ts'
import { stateOf } from './labels.ts'

const Limits = Type.Object({
  blockAfterHours: Type.Integer({ minimum: 1, maximum: 87_600 }),
  blockFromCount: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
})

/** A count as it is shown: it ends at a bound. */
export const capped = (count: number): string =>
  count > COUNTED ? t`meer dan ${formatNumber(COUNTED)}` : formatNumber(count)

const SORTS: Sorts = {
  callback: {
    column: sql`lower(a.callback_url)`,
    of: (id) => sql`(select lower(callback_url) from abonnement where id = ${id}::bigint)`,
  },
  staat: { column: sql`a.status`, of: (id) => sql`(select status from abonnement where id = ${id}::bigint)` },
}

export function registerAbonnementenList(app: FastifyInstance): void {
  app.get('/abonnementen', { config: viewing }, async (request, reply) => {
    const [list, mode] = await Promise.all([
      keysetByNumber<{ id: number }>(request, app.read, {
        select: sql`select a.id from abonnement a`,
        id: sql`a.id`,
        sorts: SORTS,
        standard: 'nummer',
        conditions: [sql`a.deleted_at is null`],
      }),
      readModus(app.read),
    ])
    const ids = list.rows.map(({ id }) => id)
    const figures = new Map(
      (await readFigures(app.read, sql`a.id = any(${ids}::bigint[])`)).map((row): [number, Figures] => [row.id, row]),
    )
    const rows = ids.flatMap((id) => figures.get(id) ?? []) // one may have gone meanwhile
    return reply.page('abonnementen', {
      title: t('Abonnementen'),
      list,
      mode,
      rows: rows.map((row) => ({ ...row, naam: nameOf(row), staat: stateOf(row) })),
      capped,
    })
  })

  app.get('/abonnementen/grenzen', { config: viewing }, async (_request, reply) =>
    reply.page('abonnement-limits', { ...LIMIT_WORDS, values: await readLimits(), faults: {} }),
  )

  app.post('/abonnementen/grenzen', { config: administering }, async (request, reply) => {
    try {
      const form = readForm(Limits, request.body)
      await mutateFromPage(request, async (m) => {
        const oud = await readLimits()
        await m.trx.updateTable('notificatieSettings').set(form).execute()
        m.audit({ handeling: 'abonnementen-grenzen', soort: 'notificatie-instelling', oud, nieuw: form })
      })
      return await redirectWith(
        request,
        reply,
        '/abonnementen/grenzen',
        t('De grenzen zijn opgeslagen. Ze gelden vanaf nu.'),
      )
    } catch (error) {
      const faults = formFaultsOf(error)
      return reply.code(400).page('abonnement-limits', { ...LIMIT_WORDS, values: request.body ?? {}, faults })
    }
  })

  const readLimits = () =>
    app.read.selectFrom('notificatieSettings').select(['blockAfterHours', 'blockFromCount']).executeTakeFirstOrThrow()
}

const LIMIT_WORDS = words(
  { title: 'Grenzen van abonnementen', breadcrumbs: [{ path: '/abonnementen', name: 'Abonnementen' }] },
  'title',
  'name',
)
