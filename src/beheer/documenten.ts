// documenten: looking up documents, their versions and what they belong to, and downloading one.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { contentSender } from '../documenten/document/download.ts'
import { findDocument } from '../documenten/document/read.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../http/input.ts'
import { contains } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { writeAudit } from './change.ts'
import { historyOf, keysetByNumber, queryText, requireVisible, uuidIn, uuidParam, visible } from './lookup.ts'

type Regel = {
  id: number
  uuid: string
  identificatie: string
  titel: string
  soort: string | null
  creatiedatum: string
  vertrouwelijkheidaanduiding: string
}

const REGEL = sql`select e.id, e.uuid, e.identificatie, v.titel, coalesce(t.omschrijving, e.informatieobjecttype_url) as soort,
  v.creatiedatum, e.vertrouwelijkheidaanduiding
  from enkelvoudiginformatieobject e
  join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
  left join informatieobjecttype t on t.id = e.informatieobjecttype_id`

export function registerDocumenten(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const
  const send = contentSender(app)

  app.get('/documenten', { config }, async (request, reply) => {
    const lijst = await keysetByNumber<Regel>(request, app.read, {
      select: REGEL,
      id: sql`e.id`,
      conditions: [visible(request, sql`e.vertrouwelijkheidaanduiding`), ...(await filters(request))],
    })
    const typen = await app.read
      .selectFrom('informatieobjecttype')
      .select('omschrijving')
      .distinct()
      .orderBy('omschrijving')
      .limit(1000)
      .execute()
    return reply.pagina('documenten', {
      titel: 'Documenten',
      lijst,
      filter: Object.fromEntries(FILTERS.map((name) => [name, queryText(request, name)])),
      typen: typen.map(({ omschrijving }) => omschrijving),
      niveaus: VERTROUWELIJKHEIDAANDUIDINGEN,
    })
  })

  app.get('/documenten/:uuid', { config }, async (request, reply) => {
    const document = await vindDocument(request)
    const { sql: query } = app.parts.database
    const [type] = await query`
      select omschrijving from informatieobjecttype where id = ${document.informatieobjecttypeId}`
    const versies = await query`
      select v.versie, v.begin_registratie as op, v.titel, v.bestandsnaam, v.bestandsomvang, v.bestand_id is not null as inhoud
      from enkelvoudiginformatieobject_versie v where v.enkelvoudiginformatieobject_id = ${document.id}
      order by v.versie desc limit 50`
    const relaties = await query`
      select r.object_type as soort, r.object_uuid as uuid, r.object_url as url, coalesce(z.identificatie, b.identificatie) as naam,
        z.vertrouwelijkheidaanduiding <= ${request.beheerder!.maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding as zichtbaar
      from objectinformatieobject r left join zaak z on z.uuid = r.object_uuid left join besluit b on b.uuid = r.object_uuid
      where r.enkelvoudiginformatieobject_id = ${document.id} order by r.id desc limit 50`
    return reply.pagina('document', {
      titel: document.titel,
      kruimels: [{ pad: '/documenten', naam: 'Documenten' }],
      document,
      soort: type?.omschrijving || 'Zonder omschrijving',
      versies,
      relaties,
    })
  })

  app.get<{ Querystring: { versie?: string } }>('/documenten/:uuid/download', { config }, async (request, reply) => {
    const { versie = '' } = request.query
    const row = await vindDocument(request, /^[1-9]\d{0,8}$/.test(versie) ? Number(versie) : undefined)
    if (row.bestandId === null) throw notFound('Van deze versie is geen bestand.')
    await writeAudit(app.parts.database.db, request, [
      {
        handeling: 'document-downloaden',
        soort: 'document',
        id: row.uuid,
        weergave: row.identificatie,
        nieuw: { versie: row.versie },
      },
    ])
    return send(request, reply, row)
  })

  app.get('/documenten/:uuid/geschiedenis', { config }, async (request, reply) => {
    const document = await vindDocument(request)
    return reply.pagina('geschiedenis', {
      titel: 'Geschiedenis',
      kruimels: [
        { pad: '/documenten', naam: 'Documenten' },
        { pad: `/documenten/${document.uuid}`, naam: document.titel },
      ],
      lijst: await historyOf(app, request, document.uuid),
    })
  })

  async function vindDocument(request: FastifyRequest, versie?: number) {
    const row = await findDocument(app.read, uuidParam(request), versie === undefined ? {} : { versie })
    if (!row) throw notFound('Dit document bestaat niet.')
    requireVisible(request, row.laatsteVertrouwelijkheidaanduiding)
    return row
  }
}

const FILTERS = ['zoek', 'titel', 'type', 'vertrouwelijkheidaanduiding']

// Types are looked up first: the planner then knows how rare they are.
async function filters(request: FastifyRequest): Promise<RawBuilder<unknown>[]> {
  const [zoek, titel, type, niveau] = FILTERS.map((name) => queryText(request, name))
  const uuid = zoek ? uuidIn(zoek) : undefined
  const typen = type
    ? await request.server.read
        .selectFrom('informatieobjecttype')
        .where('omschrijving', '=', type)
        .select('id')
        .execute()
    : []
  return [
    ...(uuid ? [sql`e.uuid = ${uuid}`] : zoek ? [sql`e.identificatie = ${zoek}`] : []),
    ...words(titel).map((word) => contains(sql`v.titel`, word)),
    ...(type ? [sql`e.informatieobjecttype_id = any(${typen.map(({ id }) => id)}::bigint[])`] : []),
    ...(VERTROUWELIJKHEIDAANDUIDINGEN.some((level) => level === niveau)
      ? [sql`e.vertrouwelijkheidaanduiding = ${niveau}::vertrouwelijkheidaanduiding`]
      : []),
  ]
}

// In any order, and parts of words count: who looks for `beroep bezwaar` means both.
const words = (text = ''): string[] => text.split(/\s+/).filter(Boolean).slice(0, 10)
