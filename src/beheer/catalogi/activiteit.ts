// The processing activity of a catalogue, or of all versions of a zaaktype: what the log of processing names.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ActivityOf, activiteitOf, saveActiviteit } from '../../catalogi/activiteiten.ts'
import { notFound } from '../../core/problem.ts'
import { mutateFromPage } from '../frame/change.ts'
import { uuidParam } from '../frame/lookup.ts'
import type { Crumb } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { administering, crumbsOf, pathOf, requireVersion } from './context.ts'
import { type FormPage, fieldsOf, showForm, submitForm } from './edit.ts'
import { changedState } from './fields.ts'

type Place = {
  of: ActivityOf
  soort: 'catalogus' | 'zaaktype'
  uuid: string
  name: string
  back: string
  breadcrumbs: Crumb[]
}

export function registerActiviteit(app: FastifyInstance): void {
  const places = {
    '/catalogi/:uuid/verwerkingsactiviteit': ofCatalogus,
    '/catalogi/zaaktypen/:uuid/verwerkingsactiviteit': ofZaaktype,
  }
  for (const [path, find] of Object.entries(places)) {
    app.get(path, { config: administering }, async (request, reply) => {
      const place = await find(request)
      return showForm(reply, pageOf(place), { activiteit: await activiteitOf(app.reader, place.of) })
    })
    app.post(path, { config: administering }, async (request, reply) => save(request, reply, await find(request)))
  }

  async function save(request: FastifyRequest, reply: FastifyReply, place: Place): Promise<FastifyReply> {
    const page = pageOf(place)
    return submitForm(request, reply, page, async ({ body, requireFresh }) => {
      const after = { activiteit: String(body.activiteit ?? '') }
      await mutateFromPage(request, async (m) => {
        const before = { activiteit: await activiteitOf({ sql: m.sql }, place.of) }
        requireFresh(before)
        await saveActiviteit(m, place.of, after.activiteit)
        m.audit({
          handeling: `${place.soort}-wijzigen`,
          soort: place.soort,
          id: place.uuid,
          weergave: place.name,
          ...changedState(fieldsOf(page), before, after),
        })
      })
      return { to: place.back, notice: t('De verwerkingsactiviteit is opgeslagen.') }
    })
  }

  async function ofCatalogus(request: FastifyRequest): Promise<Place> {
    const row = await app.read
      .selectFrom('catalogus')
      .where('uuid', '=', uuidParam(request))
      .select(['id', 'uuid', 'naam', 'domein'])
      .executeTakeFirst()
    if (!row) throw notFound(t('Deze catalogus bestaat niet.'))
    const name = row.naam || t`Catalogus ${row.domein}`
    const back = `/catalogi/${row.uuid}`
    const breadcrumbs = [
      { path: '/catalogi', name: t('Catalogi') },
      { path: back, name },
    ]
    return {
      of: { catalogusId: row.id, identificatie: '' },
      soort: 'catalogus',
      uuid: row.uuid,
      name,
      back,
      breadcrumbs,
    }
  }

  async function ofZaaktype(request: FastifyRequest): Promise<Place> {
    const version = await requireVersion(app, request, 'zaaktype')
    return {
      of: { catalogusId: version.catalogusId, identificatie: version.key },
      soort: 'zaaktype',
      uuid: version.uuid,
      name: version.omschrijving,
      back: pathOf(version),
      breadcrumbs: crumbsOf(version),
    }
  }

  const pageOf = ({ soort, breadcrumbs, back }: Place): FormPage => ({
    title: t('Verwerkingsactiviteit'),
    breadcrumbs,
    groups: [
      {
        key: 'activiteit',
        title: '',
        fields: [
          {
            name: 'activiteit',
            label: t('Adres in het register'),
            kind: 'url',
            optional: true,
            max: 1000,
            help:
              soort === 'zaaktype'
                ? t('Leeg: die van de catalogus. Alle versies van het zaaktype hebben dezelfde.')
                : t('Leeg: die van deze installatie. Een zaaktype kan een eigen hebben.'),
          },
        ],
      },
    ],
    back,
    button: t('Opslaan'),
    intro: t(
      'Waar in uw register van verwerkingsactiviteiten zulke zaken staan. Het logboek van verwerkingen noemt dit adres bij elke regel.',
    ),
  })
}
