// catalogussen: the catalogues that types are kept in.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Selectable, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../database.ts'
import type { Catalogus as CatalogusTable } from '../database-types.ts'
import { sendCacheable } from '../etag.ts'
import { OptionalDate, OptionalText, Rsin, Text, Url, Uuid } from '../input.ts'
import { link } from '../links.ts'
import type { Mutation } from '../mutate.ts'
import { Page, PageQuery, paginate } from '../page.ts'
import { notFound } from '../problem.ts'
import { lezen, schrijven } from './rules.ts'

const CatalogusInput = Type.Object({
  domein: Type.String({ minLength: 1, maxLength: 5, pattern: '^[A-Z]*$' }),
  rsin: Rsin,
  contactpersoonBeheerNaam: Text(40, { minLength: 1 }),
  contactpersoonBeheerTelefoonnummer: OptionalText(20),
  contactpersoonBeheerEmailadres: Type.Optional(Type.String({ maxLength: 254, format: 'email', default: '' })),
  naam: OptionalText(200),
  versie: OptionalText(20),
  begindatumVersie: OptionalDate,
})
const Catalogus = Type.Object({
  url: Url(),
  ...CatalogusInput.properties,
  zaaktypen: Type.Array(Url()),
  besluittypen: Type.Array(Url()),
  informatieobjecttypen: Type.Array(Url()),
})
const Filter = Type.Object({
  ...PageQuery,
  domein: Type.Optional(Type.String()),
  domein__in: Type.Optional(Type.Array(Type.String())),
  rsin: Type.Optional(Rsin),
  rsin__in: Type.Optional(Type.Array(Type.String())),
})
const Params = Type.Object({ uuid: Uuid })

export const catalogussen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/catalogussen',
    { config: lezen, schema: { querystring: Filter, response: { 200: Page(Catalogus) } } },
    async (request) => {
      const list = listCatalogussen(app.read, request.query)
      return paginate(
        request,
        {
          count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) =>
            selectCatalogus(list).orderBy('catalogus.id', 'desc').limit(limit).offset(offset).execute(),
        },
        (row) => toCatalogus(row, request.base),
      )
    },
  )

  app.post(
    '/catalogussen',
    { config: schrijven, schema: { body: CatalogusInput, response: { 201: Catalogus } } },
    async (request, reply) => {
      const catalogus = await app.mutate(request.actor, (m) => createCatalogus(m, request.body))
      return reply.code(201).header('location', catalogus.url).send(catalogus)
    },
  )

  app.get(
    '/catalogussen/:uuid',
    { config: lezen, schema: { params: Params, response: { 200: Catalogus } } },
    async (request, reply) => {
      const row = await selectCatalogus(app.read.selectFrom('catalogus'))
        .where('catalogus.uuid', '=', request.params.uuid)
        .executeTakeFirst()
      if (!row) throw notFound()
      return sendCacheable(request, reply, toCatalogus(row, request.base))
    },
  )
}

export async function createCatalogus(m: Mutation, input: Static<typeof CatalogusInput>) {
  const { id, uuid } = await m.trx
    .insertInto('catalogus')
    .values(input)
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  const row = await selectCatalogus(m.read.selectFrom('catalogus'))
    .where('catalogus.id', '=', id)
    .executeTakeFirstOrThrow()
  const catalogus = toCatalogus(row, m.actor.base)
  m.record({
    component: 'ztc',
    actie: 'create',
    resource: 'catalogus',
    url: catalogus.url,
    uuid,
    weergave: `${catalogus.domein} - ${catalogus.rsin}`,
    kanaal: null,
    oud: null,
    nieuw: catalogus,
  })
  return catalogus
}

function listCatalogussen(db: ReadDb, filter: Static<typeof Filter>) {
  return db
    .selectFrom('catalogus')
    .$if(filter.domein !== undefined, (query) => query.where('domein', '=', filter.domein!))
    .$if(filter.domein__in !== undefined, (query) => query.where('domein', 'in', filter.domein__in!))
    .$if(filter.rsin !== undefined, (query) => query.where('rsin', '=', filter.rsin!))
    .$if(filter.rsin__in !== undefined, (query) => query.where('rsin', 'in', filter.rsin__in!))
}

// The types in a catalogue as one array each: a page of catalogues stays one query.
function selectCatalogus(query: ReturnType<typeof listCatalogussen>) {
  return query
    .selectAll('catalogus')
    .select(
      sql<
        string[]
      >`array(select t.uuid from informatieobjecttype t where t.catalogus_id = catalogus.id order by t.id)`.as(
        'informatieobjecttypen',
      ),
    )
}

type CatalogusRow = Selectable<CatalogusTable> & { informatieobjecttypen: string[] }

function toCatalogus(row: CatalogusRow, base: string): Static<typeof Catalogus> {
  return {
    url: link(base, 'catalogus', row.uuid),
    domein: row.domein,
    rsin: row.rsin,
    contactpersoonBeheerNaam: row.contactpersoonBeheerNaam,
    contactpersoonBeheerTelefoonnummer: row.contactpersoonBeheerTelefoonnummer,
    contactpersoonBeheerEmailadres: row.contactpersoonBeheerEmailadres,
    naam: row.naam,
    versie: row.versie,
    begindatumVersie: row.begindatumVersie,
    zaaktypen: [],
    besluittypen: [],
    informatieobjecttypen: row.informatieobjecttypen.map((uuid) => link(base, 'informatieobjecttype', uuid)),
  }
}
