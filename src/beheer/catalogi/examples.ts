// Starting points: complete example zaaktypen to make in a catalogue.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EXAMPLES, loadExample, verifyExample } from '../../catalogi/examples/load.ts'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import { notFound } from '../../core/problem.ts'
import { uuidOf } from '../../http/links.ts'
import { today } from '../../lib/day.ts'
import { mutateFromPage } from '../frame/change.ts'
import type { FormValues } from '../frame/form.ts'
import { uuidParam } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { administering, catalogusCrumbs } from './context.ts'

export function registerExamples(app: FastifyInstance, selectielijst: Selectielijst): void {
  app.get('/catalogi/:uuid/voorbeelden', { config: administering }, async (request, reply) => {
    const catalogus = await requireCatalogus(request)
    const rows = await app.read
      .selectFrom('zaaktype')
      .where('catalogusId', '=', catalogus.id)
      .select('identificatie')
      .distinct()
      .execute()
    const present = new Set(rows.map(({ identificatie }) => identificatie))
    return reply.page('catalogi-examples', {
      title: t('Beginnen met een voorbeeld'),
      breadcrumbs: catalogusCrumbs({
        catalogus: catalogus.uuid,
        catalogusNaam: catalogus.naam || t`Catalogus ${catalogus.domein}`,
      }),
      examples: EXAMPLES.map((example) => ({
        ...example,
        present: example.zaaktypen.every(({ zaaktype }) => present.has(zaaktype.identificatie)),
      })),
    })
  })

  app.post('/catalogi/:uuid/voorbeelden', { config: administering }, async (request, reply) => {
    const catalogus = await requireCatalogus(request)
    const example = EXAMPLES.find(({ key }) => key === (request.body as FormValues | null)?.voorbeeld)
    if (!example) throw notFound(t('Dit voorbeeld bestaat niet.'))
    const verified = await verifyExample(selectielijst, example, request.base)
    const made = await mutateFromPage(request, async (m) => {
      const zaaktypen = await loadExample(m, catalogus.uuid, example, verified, { beginGeldigheid: today() })
      m.audit({
        handeling: 'catalogus-voorbeeld',
        soort: 'catalogus',
        id: catalogus.uuid,
        weergave: example.title,
        nieuw: { Zaaktypen: zaaktypen.map(({ omschrijving }) => omschrijving).join(', ') },
      })
      for (const { url, omschrijving } of zaaktypen)
        m.audit({ handeling: 'zaaktype-voorbeeld', soort: 'zaaktype', id: uuidOf(url), weergave: omschrijving })
      return zaaktypen
    })
    const last = made.at(-1)
    if (!last)
      return redirectWith(
        request,
        reply,
        `/catalogi/${catalogus.uuid}`,
        t('Deze zaaktypen staan al in de catalogus. Er is niets gemaakt.'),
        'info',
      )
    const names = made.map(({ omschrijving }) => `“${omschrijving}”`).join(t(' en '))
    return redirectWith(
      request,
      reply,
      `/catalogi/zaaktypen/${uuidOf(last.url)}`,
      t`${names} ${made.length === 1 ? t('is') : t('zijn')} gemaakt, als concept. Pas aan wat u anders wilt en publiceer.`,
    )
  })

  async function requireCatalogus(request: FastifyRequest) {
    const catalogus = await app.read
      .selectFrom('catalogus')
      .where('uuid', '=', uuidParam(request))
      .select(['id', 'uuid', 'naam', 'domein'])
      .executeTakeFirst()
    if (!catalogus) throw notFound(t('Deze catalogus bestaat niet.'))
    return catalogus
  }
}
