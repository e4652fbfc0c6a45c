// catalogi: looking up types, publishing one, and catalogues as ZIP files.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { publishBesluittype } from '../catalogi/besluittypen.ts'
import { loadResources } from '../catalogi/expand.ts'
import { publishInformatieobjecttype } from '../catalogi/informatieobjecttypen.ts'
import { openSelectielijst } from '../catalogi/selectielijst.ts'
import { publishZaaktype } from '../catalogi/zaaktype/routes.ts'
import {
  exportCatalogus,
  exportZaaktype,
  type Imported,
  importPackage,
  PackageFault,
  readPackage,
} from '../catalogi/zip.ts'
import type { Mutate, Mutation } from '../database/mutate.ts'
import { contains } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { mutateFromPage } from './change.ts'
import { requireToken } from './csrf-token.ts'
import { type Fouten, formFaultsOf } from './form.ts'
import { keysetByNumber, queryText, uuidParam } from './lookup.ts'
import { redirectWith } from './page.ts'
import { beheerActor } from './session.ts'

/** The kinds of types that are published on their own. */
const SOORTEN = {
  zaaktypen: { een: 'zaaktype', naam: 'Zaaktypen', kop: 'Zaaktype', publish: publishZaaktype },
  informatieobjecttypen: {
    een: 'informatieobjecttype',
    naam: 'Informatieobjecttypen',
    kop: 'Informatieobjecttype',
    publish: publishInformatieobjecttype,
  },
  besluittypen: { een: 'besluittype', naam: 'Besluittypen', kop: 'Besluittype', publish: publishBesluittype },
} as const
type Soort = keyof typeof SOORTEN

type TypeRegel = {
  id: number
  uuid: string
  omschrijving: string
  concept: boolean
  beginGeldigheid: string
  eindeGeldigheid: string | null
  catalogus: string
  catalogusNaam: string
  catalogusDomein: string
}

/** What is below a zaaktype, as a table each. */
const DELEN: { naam: string; kolommen: [string, string][]; select: RawBuilder<unknown>; order: RawBuilder<unknown> }[] =
  [
    {
      naam: 'Statustypen',
      kolommen: [
        ['volgnummer', 'Volgnummer'],
        ['omschrijving', 'Omschrijving'],
        ['doorlooptijd', 'Doorlooptijd'],
      ],
      select: sql`select p.volgnummer, p.omschrijving, p.doorlooptijd from statustype p`,
      order: sql`p.volgnummer`,
    },
    {
      naam: 'Resultaattypen',
      kolommen: [
        ['omschrijving', 'Omschrijving'],
        ['archiefnominatie', 'Archiefnominatie'],
        ['archiefactietermijn', 'Bewaartermijn'],
        ['afleidingswijze', 'Afleidingswijze'],
      ],
      select: sql`select p.omschrijving, replace(p.archiefnominatie, '_', ' ') as archiefnominatie, p.archiefactietermijn,
      replace(p.brondatum_afleidingswijze, '_', ' ') as afleidingswijze from resultaattype p`,
      order: sql`p.omschrijving`,
    },
    {
      naam: 'Roltypen',
      kolommen: [
        ['omschrijving', 'Omschrijving'],
        ['generiek', 'Omschrijving generiek'],
      ],
      select: sql`select p.omschrijving, replace(p.omschrijving_generiek, '_', ' ') as generiek from roltype p`,
      order: sql`p.omschrijving`,
    },
    {
      naam: 'Eigenschappen',
      kolommen: [
        ['naam', 'Naam'],
        ['definitie', 'Definitie'],
        ['formaat', 'Formaat'],
      ],
      select: sql`select p.naam, p.definitie, p.specificatie_formaat as formaat from eigenschap p`,
      order: sql`p.naam`,
    },
    {
      naam: 'Informatieobjecttypen',
      kolommen: [
        ['volgnummer', 'Volgnummer'],
        ['omschrijving', 'Omschrijving'],
        ['richting', 'Richting'],
      ],
      select: sql`select p.volgnummer, i.omschrijving, p.richting from zaaktype_informatieobjecttype p
      left join informatieobjecttype i on i.id = p.informatieobjecttype_id`,
      order: sql`p.volgnummer`,
    },
    {
      naam: 'Zaakobjecttypen',
      kolommen: [
        ['objecttype', 'Objecttype'],
        ['relatie', 'Relatie'],
      ],
      select: sql`select p.objecttype, p.relatie_omschrijving as relatie from zaakobjecttype p`,
      order: sql`p.objecttype`,
    },
  ]

export async function registerCatalogi(app: FastifyInstance): Promise<void> {
  const config = { access: 'beheer', rol: 'viewer' } as const
  const wijzigen = { access: 'beheer', rol: 'administrator' } as const
  const selectielijst = await openSelectielijst(app.parts.config, app.parts.services)

  app.get('/catalogi', { config }, async (request, reply) => {
    const lijst = await keysetByNumber(request, app.read, {
      select: sql`select c.id, c.uuid, c.naam, c.domein, c.rsin,
        (select count(*)::int from zaaktype t where t.catalogus_id = c.id) as zaaktypen,
        (select count(*)::int from informatieobjecttype t where t.catalogus_id = c.id) as informatieobjecttypen,
        (select count(*)::int from besluittype t where t.catalogus_id = c.id) as besluittypen from catalogus c`,
      id: sql`c.id`,
      conditions: [],
    })
    return reply.pagina('catalogi', { titel: 'Catalogi', lijst })
  })

  app.get('/catalogi/:uuid', { config }, async (request, reply) => {
    const catalogus = await vindCatalogus(request)
    const gevraagd = queryText(request, 'soort')
    const soort: Soort = Object.hasOwn(SOORTEN, gevraagd) ? (gevraagd as Soort) : 'zaaktypen'
    const [zoek, staat] = [queryText(request, 'zoek'), queryText(request, 'staat')]
    const lijst = await keysetByNumber(request, app.read, {
      select: sql`select t.id, t.uuid, ${soort === 'zaaktypen' ? sql`t.identificatie` : sql`''`} as identificatie, t.omschrijving, t.begin_geldigheid as begin,
        t.einde_geldigheid as einde, t.concept from ${sql.table(SOORTEN[soort].een)} t`,
      id: sql`t.id`,
      conditions: [
        sql`t.catalogus_id = ${catalogus.id}`,
        ...(zoek ? [contains(sql`t.omschrijving`, zoek)] : []),
        ...(staat === 'concept' || staat === 'definitief' ? [sql`t.concept = ${staat === 'concept'}`] : []),
      ],
    })
    return reply.pagina('catalogus', {
      titel: catalogus.naam || `Catalogus ${catalogus.domein}`,
      kruimels: [{ pad: '/catalogi', naam: 'Catalogi' }],
      catalogus,
      soort,
      soorten: Object.entries(SOORTEN).map(([pad, { naam }]) => ({ pad, naam })),
      lijst,
      filter: { zoek, staat },
    })
  })

  app.get('/catalogi/:uuid/export.zip', { config }, async (request, reply) => {
    const bytes = await exportCatalogus(app.read, request.base, uuidParam(request))
    if (!bytes) throw notFound('Deze catalogus bestaat niet.')
    return reply
      .type('application/zip')
      .header('content-disposition', 'attachment; filename="catalogus.zip"')
      .send(bytes)
  })
  app.get('/catalogi/zaaktypen/:uuid/export.zip', { config }, async (request, reply) => {
    const bytes = await exportZaaktype(app.read, request.base, uuidParam(request))
    if (!bytes) throw notFound('Dit zaaktype bestaat niet.')
    return reply
      .type('application/zip')
      .header('content-disposition', 'attachment; filename="zaaktype.zip"')
      .send(bytes)
  })

  for (const [pad, soort] of Object.entries(SOORTEN)) {
    app.get(`/catalogi/${pad}/:uuid`, { config }, async (request, reply) =>
      reply.pagina('type', { ...(await typePagina(request, soort)), pad }),
    )
    app.get(`/catalogi/${pad}/:uuid/publiceren`, { config: wijzigen }, async (request, reply) => {
      const { titel, kruimels, type } = await typePagina(request, soort)
      kruimels.push({ pad: `/catalogi/${pad}/${type.uuid}`, naam: titel })
      return reply.pagina('type-publiceren', { titel: `${soort.kop} publiceren`, kruimels, type, pad, naam: titel })
    })
    app.post(`/catalogi/${pad}/:uuid/publiceren`, { config: wijzigen }, async (request, reply) => {
      const uuid = uuidParam(request)
      const terug = `/catalogi/${pad}/${uuid}`
      try {
        await mutateFromPage(request, async (m) => {
          const published = await (soort.publish as (m: Mutation, uuid: string) => Promise<{ omschrijving: string }>)(
            m,
            uuid,
          )
          m.vastleggen({
            handeling: `${soort.een}-publiceren`,
            soort: soort.een,
            id: uuid,
            weergave: published.omschrijving,
            oud: { concept: true },
            nieuw: { concept: false },
          })
        })
      } catch (error) {
        return redirectWith(request, reply, terug, Object.values(formFaultsOf(error)).join(' '), 'fout')
      }
      return redirectWith(request, reply, terug, `${soort.kop} gepubliceerd. Het kan nu worden gebruikt.`)
    })
  }

  await app.register(async (scope) => {
    if (!scope.hasContentTypeParser('multipart/form-data')) await scope.register(multipart)
    scope.get('/catalogi/importeren', { config: wijzigen }, async (request, reply) =>
      reply.pagina('catalogi-importeren', {
        ...IMPORT,
        catalogussen: await catalogussen(),
        invoer: { catalogus: queryText(request, 'catalogus') },
      }),
    )
    scope.post('/catalogi/importeren', { config: { ...wijzigen, eigenToken: true } }, async (request, reply) => {
      const invoer: Record<string, string> = {}
      let bytes: Buffer | undefined
      const fouten: Fouten = {}
      for await (const part of request.parts({ limits: { fileSize: MAX_ZIP, files: 1, fields: 10 } })) {
        if (part.type === 'field') {
          invoer[part.fieldname] = String(part.value)
          continue
        }
        await requireToken(request, reply, invoer._csrf ?? '')
        bytes = await part.toBuffer()
      }
      await requireToken(request, reply, invoer._csrf ?? '')
      if (!bytes?.length) fouten.bestand = 'Kies een ZIP-bestand.'
      else {
        try {
          const imported = await importeer(request, bytes, invoer)
          const aantal = Object.values(imported.made).reduce((sum, count) => sum + count, 0)
          if (imported.changes.length > 0) return reply.pagina('catalogi-geimporteerd', changesPage(aantal, imported))
          return redirectWith(
            request,
            reply,
            '/catalogi',
            `${aantal} onderdelen overgenomen, als concept. Publiceer wat u wilt gebruiken.`,
          )
        } catch (error) {
          if (!(error instanceof PackageFault)) throw error
          fouten.bestand = error.message
        }
      }
      return reply
        .code(400)
        .pagina('catalogi-importeren', { ...IMPORT, catalogussen: await catalogussen(), invoer, fouten })
    })
  })

  async function importeer(request: FastifyRequest, bytes: Buffer, invoer: Record<string, string>): Promise<Imported> {
    const mutate: Mutate = (_actor, work) =>
      mutateFromPage(request, async (m) => {
        const done = await work(m)
        const { made, urls, changes } = done as Imported
        m.vastleggen({
          handeling: 'catalogus-importeren',
          soort: 'catalogus',
          id: invoer.catalogus ?? '',
          nieuw: { made, urls, changes },
        })
        return done
      })
    return importPackage(mutate, beheerActor(request), selectielijst, await readPackage(bytes), {
      keepUuids: invoer.uuidsBehouden === 'true',
      newTypes: invoer.nieuweTypen === 'true',
      ...(invoer.catalogus && { catalogusUuid: invoer.catalogus }),
    })
  }

  async function catalogussen(): Promise<[string, string][]> {
    const rows = await app.read
      .selectFrom('catalogus')
      .select(['uuid', 'naam', 'domein'])
      .orderBy('domein')
      .limit(500)
      .execute()
    return [
      ['', 'De catalogus in het bestand'],
      ...rows.map(({ uuid, naam, domein }): [string, string] => [uuid, naam ? `${naam} (${domein})` : domein]),
    ]
  }

  async function vindCatalogus(request: FastifyRequest) {
    const catalogus = await app.read
      .selectFrom('catalogus')
      .where('uuid', '=', uuidParam(request))
      .selectAll()
      .executeTakeFirst()
    if (!catalogus) throw notFound('Deze catalogus bestaat niet.')
    return catalogus
  }

  async function typePagina(request: FastifyRequest, { een, kop }: (typeof SOORTEN)[Soort]) {
    const uuid = uuidParam(request)
    const { rows } = await sql<TypeRegel>`
      select t.id, t.uuid, t.omschrijving, t.concept, t.begin_geldigheid as "beginGeldigheid", t.einde_geldigheid as "eindeGeldigheid",
        c.uuid as catalogus, c.naam as "catalogusNaam", c.domein as "catalogusDomein"
      from ${sql.table(een)} t join catalogus c on c.id = t.catalogus_id where t.uuid = ${uuid}`.execute(
      app.read as never,
    )
    const type = rows[0]
    if (!type) throw notFound('Dit type bestaat niet.')
    const [fields] = await loadResources(een, app.read, request.base, [uuid], null)
    return {
      titel: type.omschrijving || kop,
      kruimels: [
        { pad: '/catalogi', naam: 'Catalogi' },
        { pad: `/catalogi/${type.catalogus}`, naam: type.catalogusNaam || type.catalogusDomein },
      ],
      kop,
      type,
      velden: Object.entries(fields as Record<string, unknown>).flatMap(([naam, waarde]) => veld(naam, waarde)),
      delen: een === 'zaaktype' ? await delen(type.id) : [],
    }
  }

  async function delen(zaaktypeId: number) {
    return Promise.all(
      DELEN.map(async ({ naam, kolommen, select, order }) => {
        const { rows } = await sql`${select} where p.zaaktype_id = ${zaaktypeId} order by ${order} limit 200`.execute(
          app.read as never,
        )
        return { naam, kolommen, rijen: rows }
      }),
    )
  }
}

const IMPORT = { titel: 'Catalogus importeren', kruimels: [{ pad: '/catalogi', naam: 'Catalogi' }] }
const MAX_CHANGES = 200

/** What was taken over otherwise than the file says, to read after an import. */
function changesPage(aantal: number, { changes }: Imported) {
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return {
    titel: 'Catalogus geïmporteerd',
    kruimels: IMPORT.kruimels,
    aantal,
    kolommen: [
      ['onderdeel', 'Onderdeel'],
      ['veld', 'Veld'],
      ['bestand', 'In het bestand'],
      ['genomen', 'Overgenomen als'],
    ],
    rijen: changes.slice(0, MAX_CHANGES).map(({ resource, label, field, given, taken }) => ({
      onderdeel: `${resource} ${label}`,
      veld: field === 'url' ? 'bestaand type gebruikt' : field,
      bestand: shown(given),
      genomen: taken === null ? 'weggelaten' : shown(taken),
    })),
    meer: Math.max(0, changes.length - MAX_CHANGES),
  }
}

const MAX_ZIP = 50 * 1024 * 1024

/** Simple members of a type for people; addresses, and lists of them, have tables of their own. */
function veld(naam: string, waarde: unknown): { naam: string; waarde: string }[] {
  if (['url', 'uuid', 'concept', 'omschrijving', 'beginGeldigheid', 'eindeGeldigheid'].includes(naam)) return []
  const label = naam
    .replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase())
  if (typeof waarde === 'boolean') return [{ naam: label, waarde: waarde ? 'ja' : 'nee' }]
  if (typeof waarde === 'number') return [{ naam: label, waarde: String(waarde) }]
  if (typeof waarde === 'string') return waarde && !/^https?:/.test(waarde) ? [{ naam: label, waarde }] : []
  if (Array.isArray(waarde)) {
    const texts = waarde.filter((part) => typeof part === 'string' && !/^https?:/.test(part))
    return texts.length > 0 ? [{ naam: label, waarde: texts.join(', ') }] : []
  }
  if (waarde !== null && typeof waarde === 'object')
    return Object.entries(waarde).flatMap(([member, value]) => veld(`${naam} ${member}`, value))
  return []
}
