// Catalogues: the list, one with the types in it, making, changing and removing one.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { activiteitOf } from '../../catalogi/activiteiten.ts'
import { CatalogusInput, changeCatalogus, createCatalogus, deleteCatalogus } from '../../catalogi/catalogussen.ts'
import { loadResources } from '../../catalogi/loaders.ts'
import { TYPE_KEY, validOn } from '../../catalogi/versions.ts'
import { notFound } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { readInput } from '../../http/input.ts'
import { uuidOf } from '../../http/links.ts'
import { mutateFromPage } from '../frame/change.ts'
import { formFaultsOf } from '../frame/form.ts'
import { keysetPage } from '../frame/keyset-list.ts'
import { keysetByNumber, queryText, sortsOf, uuidParam } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { t, words } from '../language/language.ts'
import { administering, stateOf, TYPES, type TypePath, viewing } from './context.ts'
import { type FormPage, fieldsOf, showForm, submitForm } from './edit.ts'
import { boundedBy, changedState, type Group } from './fields.ts'

const GROUPS: Group[] = words(
  boundedBy(CatalogusInput, [
    {
      key: 'catalogus',
      title: '',
      fields: [
        { name: 'naam', label: 'Naam', help: 'Bijvoorbeeld “Zaaktypen van de gemeente”.', optional: true },
        {
          name: 'domein',
          label: 'Domein',
          help: 'Een korte code van ten hoogste vijf hoofdletters, bijvoorbeeld ALG.',
        },
        { name: 'rsin', label: 'RSIN', help: 'Het nummer van negen cijfers van uw organisatie.' },
      ],
    },
    {
      key: 'beheerder',
      title: 'Wie de catalogus beheert',
      fields: [
        { name: 'contactpersoonBeheerNaam', label: 'Naam van de beheerder' },
        { name: 'contactpersoonBeheerTelefoonnummer', label: 'Telefoonnummer', optional: true },
        { name: 'contactpersoonBeheerEmailadres', label: 'E-mailadres', kind: 'email', optional: true },
      ],
    },
    {
      key: 'versie',
      title: 'Versie',
      folded: true,
      fields: [
        { name: 'versie', label: 'Versie van de catalogus', optional: true },
        { name: 'begindatumVersie', label: 'Vanaf', kind: 'date', optional: true },
      ],
    },
  ]),
  'title',
  'label',
  'help',
)
const CRUMB = words({ path: '/catalogi', name: 'Catalogi' }, 'name')

const SORTS = sortsOf('catalogus', 'c', {
  naam: sql`lower(c.naam)`,
  domein: sql`c.domein`,
  rsin: sql`c.rsin`,
})

type CatalogusLine = {
  id: number
  uuid: string
  naam: string
  domein: string
  rsin: string
  zaaktypen: number
  informatieobjecttypen: number
  besluittypen: number
  concepten: number
}

export function registerCatalogus(app: FastifyInstance): void {
  app.get('/catalogi', { config: viewing }, async (request, reply) => {
    const list = await keysetByNumber<CatalogusLine>(request, app.read, {
      select: sql`select c.id, c.uuid, c.naam, c.domein, c.rsin,
        (select count(distinct t.identificatie)::int from zaaktype t where t.catalogus_id = c.id) as zaaktypen,
        (select count(distinct t.omschrijving)::int from informatieobjecttype t where t.catalogus_id = c.id) as informatieobjecttypen,
        (select count(distinct t.omschrijving)::int from besluittype t where t.catalogus_id = c.id) as besluittypen,
        (select count(*)::int from zaaktype t where t.catalogus_id = c.id and t.concept) as concepten from catalogus c`,
      id: sql`c.id`,
      sorts: SORTS,
      conditions: [],
    })
    return reply.page('catalogi', { title: t('Catalogi'), list })
  })

  app.get('/catalogi/nieuw', { config: administering }, async (_request, reply) => showForm(reply, newPage(), {}))
  app.post('/catalogi/nieuw', { config: administering }, async (request, reply) => {
    const page = newPage()
    return submitForm(request, reply, page, async ({ body }) => {
      const input = readInput(CatalogusInput, body)
      const made = await mutateFromPage(request, async (m) => {
        const catalogus = await createCatalogus(m, input)
        m.audit({
          handeling: 'catalogus-maken',
          soort: 'catalogus',
          id: uuidOf(catalogus.url),
          weergave: catalogus.naam || catalogus.domein,
          nieuw: changedState(fieldsOf(page), {}, catalogus).nieuw,
        })
        return catalogus
      })
      return {
        to: `/catalogi/${uuidOf(made.url)}`,
        notice: t('De catalogus is gemaakt. Voeg nu een zaaktype toe, of begin met een voorbeeld.'),
      }
    })
  })

  app.get('/catalogi/:uuid', { config: viewing }, async (request, reply) => {
    const catalogus = await requireCatalogusRow(request)
    const asked = queryText(request, 'soort')
    const path: TypePath = Object.hasOwn(TYPES, asked) ? (asked as TypePath) : 'zaaktypen'
    const filter = { zoek: queryText(request, 'zoek'), staat: queryText(request, 'staat') }
    const list = await listTypes(request, catalogus.id, path, filter)
    return reply.page('catalogus', {
      title: catalogus.naam || t`Catalogus ${catalogus.domein}`,
      breadcrumbs: [CRUMB],
      catalogus,
      activiteit: await activiteitOf(app.reader, { catalogusId: catalogus.id, identificatie: '' }),
      defaultSort: 'omschrijving',
      soort: path,
      info: TYPES[path],
      soorten: Object.values(TYPES),
      list: { ...list, rows: list.rows.map((row) => ({ ...row, state: stateOf(row) })) },
      filter,
    })
  })

  app.get('/catalogi/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const { page, resource } = await editPage(request)
    return showForm(reply, page, resource)
  })
  app.post('/catalogi/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const uuid = uuidParam(request)
    const { page } = await editPage(request)
    return submitForm(request, reply, page, async ({ body, requireFresh }) => {
      await mutateFromPage(request, async (m) => {
        await m.trx.selectFrom('catalogus').where('uuid', '=', uuid).forUpdate().select('id').execute()
        const [before] = await loadResources('catalogus', m.read, m.actor.base, [uuid], null)
        if (!before) throw notFound(t('Deze catalogus bestaat niet meer.'))
        requireFresh(before)
        const after = await changeCatalogus(m, uuid, 'partial_update', body)
        m.audit({
          handeling: 'catalogus-wijzigen',
          soort: 'catalogus',
          id: uuid,
          weergave: after.naam || after.domein,
          ...changedState(fieldsOf(page), before, after),
        })
      })
      return { to: `/catalogi/${uuid}`, notice: t('De wijziging is opgeslagen.') }
    })
  })

  app.get('/catalogi/:uuid/verwijderen', { config: administering }, async (request, reply) => {
    const catalogus = await requireCatalogusRow(request)
    const name = catalogus.naam || t`Catalogus ${catalogus.domein}`
    return reply.page('catalogi-confirm', {
      title: t('Catalogus verwijderen'),
      breadcrumbs: [CRUMB, { path: `/catalogi/${catalogus.uuid}`, name }],
      lines: [t`U verwijdert “${name}”. Dat kan alleen als er geen typen meer in staan.`],
      button: t('Verwijderen'),
      isDangerous: true,
      back: `/catalogi/${catalogus.uuid}`,
    })
  })
  app.post('/catalogi/:uuid/verwijderen', { config: administering }, async (request, reply) => {
    const catalogus = await requireCatalogusRow(request)
    try {
      await mutateFromPage(request, async (m) => {
        await deleteCatalogus(m, catalogus.uuid)
        m.audit({
          handeling: 'catalogus-verwijderen',
          soort: 'catalogus',
          id: catalogus.uuid,
          weergave: catalogus.naam || catalogus.domein,
        })
      })
    } catch (error) {
      return redirectWith(
        request,
        reply,
        `/catalogi/${catalogus.uuid}`,
        Object.values(formFaultsOf(error)).join(' '),
        'fout',
      )
    }
    return redirectWith(request, reply, '/catalogi', t('De catalogus is verwijderd.'))
  })

  function newPage(): FormPage {
    return {
      title: t('Nieuwe catalogus'),
      breadcrumbs: [CRUMB],
      groups: GROUPS,
      back: '/catalogi',
      button: t('Catalogus maken'),
      intro: t('Een catalogus houdt de zaaktypen, documenttypen en besluittypen van een organisatie bij elkaar.'),
    }
  }

  async function editPage(request: FastifyRequest): Promise<{ page: FormPage; resource: object }> {
    const row = await requireCatalogusRow(request)
    const resource = one(await loadResources('catalogus', app.read, request.base, [row.uuid], null))
    const path = `/catalogi/${row.uuid}`
    const page = {
      title: t('Catalogus wijzigen'),
      breadcrumbs: [CRUMB, { path: path, name: row.naam || t`Catalogus ${row.domein}` }],
      groups: GROUPS,
      back: path,
      button: t('Opslaan'),
      extra: { deletePath: `${path}/verwijderen` },
    }
    return { page, resource }
  }

  async function requireCatalogusRow(request: FastifyRequest) {
    const catalogus = await app.read
      .selectFrom('catalogus')
      .where('uuid', '=', uuidParam(request))
      .selectAll()
      .executeTakeFirst()
    if (!catalogus) throw notFound(t('Deze catalogus bestaat niet.'))
    return catalogus
  }

  type Row = {
    id: number
    uuid: string
    sort: string
    key: string
    omschrijving: string
    concept: boolean
    begin: string
    einde: string | null
    versions: number
    draft: string | null
  }

  /** One row for every type, with the version that counts: the valid one, or else the newest. By name. */
  async function listTypes(
    request: FastifyRequest,
    catalogusId: number,
    path: TypePath,
    { zoek, staat }: { zoek: string; staat: string },
  ) {
    const { type } = TYPES[path]
    const key = sql.raw(`t.${TYPE_KEY[type]}`)
    const group = sql`case when ${key} = '' then t.uuid::text else ${key} end`
    const pattern = `%${zoek.replace(/[%_\\]/g, '\\$&')}%`
    const asked = queryText(request, 'sorteer')
    const orders: Record<string, RawBuilder<unknown>> = {
      identificatie: sql`lower(${key})`,
      geldig: sql`to_char(t.begin_geldigheid, 'YYYY-MM-DD')`,
      versies: sql`to_char(count(*) over (partition by ${group}), 'FM0000000000')`,
    }
    const name = asked.replace(/^-/, '')
    const by = (Object.hasOwn(orders, name) ? orders[name] : undefined) ?? sql`lower(t.omschrijving)`
    return keysetPage<Row>(request, {
      key: ({ id, sort }) => `${id}:${sort}`,
      rows: async (limit, { na, voor }) => {
        const ascending = asked.startsWith('-') === (voor !== undefined)
        const [, id, sort] = /^(\d{1,15}):([^\0]*)$/s.exec(na ?? voor ?? '') ?? []
        const place =
          id === undefined ? sql`true` : sql`(s.sort, s.id) ${sql.raw(ascending ? '>' : '<')} (${sort}, ${Number(id)})`
        const order = ascending ? sql`s.sort, s.id` : sql`s.sort desc, s.id desc`
        const { rows } = await sql<Row>`
          select * from (
            select distinct on (${group}) t.id, t.uuid, ${by} as sort, ${key} as key, t.omschrijving, t.concept,
              t.begin_geldigheid as begin, t.einde_geldigheid as einde,
              count(*) over (partition by ${group})::int as versions,
              max(case when t.concept then t.uuid::text end) over (partition by ${group}) as draft
            from ${sql.table(type)} t where t.catalogus_id = ${catalogusId}
            order by ${group}, t.concept, ${validOn('t.', null)} desc, t.begin_geldigheid desc, t.id desc) s
          where ${place} and (${zoek} = '' or s.omschrijving ilike ${pattern} or s.key ilike ${pattern})
            and ${staat === 'concept' ? sql`s.draft is not null` : staat === 'definitief' ? sql`not s.concept` : sql`true`}
          order by ${order} limit ${limit}`.execute(app.read)
        return rows
      },
    })
  }
}
