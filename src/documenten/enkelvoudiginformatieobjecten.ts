// enkelvoudiginformatieobjecten: documents, of which every change is a new version.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type ExpressionBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { type Actor, isAllowed } from '../access.ts'
import type { ReadDb } from '../database.ts'
import type { DB } from '../database-types.ts'
import { sendCacheable } from '../etag.ts'
import { Moment, Rsin, Uuid } from '../input.ts'
import { link } from '../links.ts'
import { Page, PageQuery, paginate } from '../page.ts'
import { forbidden, notFound } from '../problem.ts'
import { lezen, readable, SCOPES_LEZEN } from './rules.ts'
import { Document } from './velden.ts'

const Filter = Type.Object({
  ...PageQuery,
  bronorganisatie: Type.Optional(Rsin),
  identificatie: Type.Optional(Type.String()),
})
/** Which version: the highest, this one, or the one that was the highest at a moment. */
export const VersionQuery = Type.Object({
  versie: Type.Optional(Type.Integer({ minimum: 1 })),
  registratieOp: Type.Optional(Moment),
})
export const Params = Type.Object({ uuid: Uuid })

export const enkelvoudiginformatieobjecten: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/enkelvoudiginformatieobjecten',
    { config: lezen, schema: { querystring: Filter, response: { 200: Page(Document) } } },
    async (request) => {
      const list = listDocumenten(app.read, request.actor, request.query)
      return paginate(
        request,
        {
          count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) => selectDocument(list).orderBy('e.id').limit(limit).offset(offset).execute(),
        },
        (row) => ({ ...toDocument(row, request.base), _expand: {} }),
      )
    },
  )

  app.get(
    '/enkelvoudiginformatieobjecten/:uuid',
    { config: lezen, schema: { params: Params, querystring: VersionQuery, response: { 200: Document } } },
    async (request, reply) => {
      const row = await findDocument(app.read, request.params.uuid, request.query)
      if (!row) throw notFound()
      if (!mayRead(request.actor, row)) throw forbidden()
      return sendCacheable(request, reply, { ...toDocument(row, request.base), _expand: {} })
    },
  )
}

// Every query on documents begins here: `e` is the document, `v` one of its versions, `t` the type of that version.
function documentVersions(db: ReadDb) {
  return db
    .selectFrom('enkelvoudiginformatieobject as e')
    .innerJoin('enkelvoudiginformatieobjectVersie as v', 'v.enkelvoudiginformatieobjectId', 'e.id')
    .leftJoin('informatieobjecttype as t', 't.id', 'v.informatieobjecttypeId')
    .leftJoin('informatieobjecttype as laatste', 'laatste.id', 'e.informatieobjecttypeId')
}
type Documents = ReturnType<typeof documentVersions>

function listDocumenten(db: ReadDb, actor: Actor, filter: Static<typeof Filter>): Documents {
  return documentVersions(db)
    .whereRef('v.versie', '=', 'e.versie')
    .$call((query) => onlyReadable(query, actor))
    .$if(filter.bronorganisatie !== undefined, (query) =>
      query.where('e.bronorganisatie', '=', filter.bronorganisatie!),
    )
    .$if(filter.identificatie !== undefined, (query) => query.where('e.identificatie', '=', filter.identificatie!))
}

/** Keeps what the actor may read: per highest confidentiality the types of his rights. */
export function onlyReadable(query: Documents, actor: Actor): Documents {
  const { reach, alleenGereed } = readable(actor)
  const published = alleenGereed ? query.where('v.isGereedVoorPublicatie', '=', true) : query
  if (reach === 'alles') return published
  return published.where((eb) =>
    eb.or(
      reach.flatMap(({ max, typeIds, typeUrls }) =>
        max === null ? [] : [eb.and([eb('e.vertrouwelijkheidaanduiding', '<=', max), ofTypes(eb, typeIds, typeUrls)])],
      ),
    ),
  )
}

type DocumentTables = DB & { e: DB['enkelvoudiginformatieobject'] }

function ofTypes(eb: ExpressionBuilder<DocumentTables, 'e'>, ids: number[], urls: string[]) {
  return eb.or([
    ...(ids.length > 0 ? [eb('e.informatieobjecttypeId', 'in', ids)] : []),
    ...(urls.length > 0 ? [eb('e.informatieobjecttypeUrl', 'in', urls)] : []),
  ])
}

function selectDocument(query: Documents) {
  return query
    .leftJoin('bestand as b', 'b.id', 'v.bestandId')
    .selectAll('v')
    .select(['e.uuid', 'e.lock', 't.uuid as typeUuid', 'b.backend', 'b.sleutel', 'b.omvang', 'b.sha256'])
    .select([
      'e.vertrouwelijkheidaanduiding as laatsteVertrouwelijkheidaanduiding',
      'laatste.uuid as laatsteTypeUuid',
      'e.informatieobjecttypeUrl as laatsteTypeUrl',
    ])
}
export type DocumentRow = Awaited<ReturnType<ReturnType<typeof selectDocument>['executeTakeFirstOrThrow']>>

/** One version of a document; undefined when there is no such document or version. */
export function findDocument(
  db: ReadDb,
  uuid: string,
  version: Static<typeof VersionQuery>,
): Promise<DocumentRow | undefined> {
  return selectDocument(documentVersions(db))
    .where('e.uuid', '=', uuid)
    .$if(version.versie !== undefined, (query) => query.where('v.versie', '=', version.versie!))
    .$if(version.registratieOp !== undefined, (query) =>
      query.where('v.beginRegistratie', '<=', version.registratieOp!),
    )
    .orderBy('v.versie', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Rights look at the latest version, whichever version is asked for. */
export function mayRead(actor: Actor, row: DocumentRow): boolean {
  if (actor.alleenGereedVoorPublicatie && row.isGereedVoorPublicatie !== true) return false
  return isAllowed(actor, 'drc', SCOPES_LEZEN, {
    type: row.laatsteTypeUuid ? { uuid: row.laatsteTypeUuid } : { url: row.laatsteTypeUrl ?? '' },
    vertrouwelijkheidaanduiding: row.laatsteVertrouwelijkheidaanduiding,
  })
}

export function toDocument(row: DocumentRow, base: string): Document {
  const url = link(base, 'enkelvoudiginformatieobject', row.uuid)
  return {
    url,
    identificatie: row.identificatie,
    bronorganisatie: row.bronorganisatie,
    creatiedatum: row.creatiedatum,
    titel: row.titel,
    vertrouwelijkheidaanduiding: row.vertrouwelijkheidaanduiding,
    auteur: row.auteur,
    status: row.status as Document['status'],
    formaat: row.formaat,
    taal: row.taal,
    versie: row.versie,
    beginRegistratie: row.beginRegistratie,
    bestandsnaam: row.bestandsnaam,
    inhoud: row.bestandId === null ? null : `${url}/download?versie=${row.versie}`,
    bestandsomvang: row.bestandsomvang,
    link: row.link,
    beschrijving: row.beschrijving,
    ontvangstdatum: row.ontvangstdatum,
    verzenddatum: row.verzenddatum,
    indicatieGebruiksrecht: row.indicatieGebruiksrecht,
    verschijningsvorm: row.verschijningsvorm,
    ondertekening:
      row.ondertekeningSoort === null
        ? null
        : ({ soort: row.ondertekeningSoort, datum: row.ondertekeningDatum } as Document['ondertekening']),
    integriteit:
      row.integriteitAlgoritme === null
        ? null
        : ({
            algoritme: row.integriteitAlgoritme,
            waarde: row.integriteitWaarde,
            datum: row.integriteitDatum,
          } as Document['integriteit']),
    informatieobjecttype: row.typeUuid
      ? link(base, 'informatieobjecttype', row.typeUuid)
      : row.informatieobjecttypeUrl!,
    locked: row.lock !== null,
    bestandsdelen: [],
    trefwoorden: row.trefwoorden,
    inhoudIsVervallen: row.inhoudIsVervallen,
    tonenAanInitiator: row.tonenAanInitiator,
    isGereedVoorPublicatie: row.isGereedVoorPublicatie,
  }
}
