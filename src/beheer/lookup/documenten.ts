// documenten: looking up documents, their versions and what they belong to, and downloading one.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import { contentSender } from '../../documenten/document/download.ts'
import { findDocument } from '../../documenten/document/read.ts'
import { historyOf } from '../frame/history.ts'
import { keysetByNumber, queryText, requireVisible, type Sorts, uuidIn, uuidParam, visible } from '../frame/lookup.ts'
import { CSP } from '../frame/page.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { containsWords, isSearchable } from './search.ts'
import { chosenTypes, typeChoices } from './type-choices.ts'

type Line = {
  id: number
  uuid: string
  identificatie: string
  titel: string
  soort: string | null
  creatiedatum: string
  vertrouwelijkheidaanduiding: string
}

const LINE = sql`select e.id, e.uuid, e.identificatie, v.titel, coalesce(t.omschrijving, e.informatieobjecttype_url) as soort,
  v.creatiedatum, e.vertrouwelijkheidaanduiding
  from enkelvoudiginformatieobject e
  join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
  left join informatieobjecttype t on t.id = e.informatieobjecttype_id`

type Verzending = {
  aard: string
  who: string
  contact: string
  verzonden: string | null
  ontvangen: string | null
  channel: string
  toelichting: string
}

type Versie = {
  versie: number
  at: string
  titel: string
  formaat: string
  bestandsnaam: string
  bestandsomvang: number | null
  inhoud: boolean
}

const PDF = 'application/pdf'
/** What is shown: by the format that was given with the document, or by the end of its file name. */
const SHOWN: [type: string, formats: string[], endings: string[]][] = [
  [PDF, [PDF], ['pdf']],
  ['image/png', ['image/png'], ['png']],
  ['image/jpeg', ['image/jpeg', 'image/jpg'], ['jpg', 'jpeg']],
  ['image/gif', ['image/gif'], ['gif']],
  ['image/webp', ['image/webp'], ['webp']],
  ['text/plain; charset=utf-8', ['text/plain', 'text/csv', 'text/markdown'], ['txt', 'csv', 'md', 'log']],
]

/** The type under which a version may be shown, if any. Formats with scripts in them, such as HTML and SVG, are not among these. */
function shownAs({
  formaat,
  bestandsnaam,
  inhoud,
}: Pick<Versie, 'formaat' | 'bestandsnaam' | 'inhoud'>): string | undefined {
  if (!inhoud) return undefined
  const format = formaat.replace(/;.*/s, '').trim().toLowerCase()
  const ending = /\.([a-z0-9]+)$/i.exec(bestandsnaam)?.[1]?.toLowerCase() ?? ''
  return SHOWN.find(([, formats, endings]) => (format ? formats.includes(format) : endings.includes(ending)))?.[0]
}

/** The version that the query asks. */
function versionIn(request: FastifyRequest, name = 'versie'): number | undefined {
  const text = queryText(request, name)
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}

export function registerDocumenten(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const
  const send = contentSender(app)

  app.get('/documenten', { config }, async (request, reply) => {
    const list = await keysetByNumber<Line>(request, app.read, {
      select: LINE,
      id: sql`e.id`,
      sorts: SORTS,
      conditions: [visible(request, sql`e.vertrouwelijkheidaanduiding`), ...(await filters(request))],
    })
    return reply.page('documenten', {
      title: t('Documenten'),
      savedFilters: await savedFilters(request),
      list,
      filter: Object.fromEntries(FILTERS.map((name) => [name, queryText(request, name)])),
      isShort: queryText(request, 'titel') !== '' && !isSearchable(queryText(request, 'titel')),
      typen: await typeChoices(app.read, 'informatieobjecttype'),
      levels: VERTROUWELIJKHEIDAANDUIDINGEN,
    })
  })

  app.get('/documenten/:uuid', { config }, async (request, reply) => {
    const document = await documentOfRequest(request)
    const { sql: query } = app.reader
    const [type] = await query<{ omschrijving: string }[]>`
      select omschrijving from informatieobjecttype where id = ${document.informatieobjecttypeId}`
    const versions = await query<Versie[]>`
      select v.versie, v.begin_registratie as at, v.titel, v.formaat, v.bestandsnaam, v.bestandsomvang,
        v.file_id is not null as inhoud
      from enkelvoudiginformatieobject_versie v where v.enkelvoudiginformatieobject_id = ${document.id}
      order by v.versie desc limit 50`
    const relations = await query<
      { kind: string; uuid: string | null; url: string | null; name: string | null; isVisible: boolean | null }[]
    >`
      select r.object_type as kind, r.object_uuid as uuid, r.object_url as url, coalesce(b.identificatie, z.identificatie) as name,
        coalesce(z.vertrouwelijkheidaanduiding, 'openbaar')
          <= ${signedIn(request).maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding as "isVisible"
      from objectinformatieobject r left join besluit b on b.uuid = r.object_uuid
      left join zaak z on z.uuid = r.object_uuid or z.id = b.zaak_id
      where r.enkelvoudiginformatieobject_id = ${document.id} order by r.id desc limit 50`
    const rights = await query<{ start: string; end: string | null; voorwaarden: string }[]>`
      select startdatum as start, einddatum as "end", left(omschrijving_voorwaarden, 2000) as voorwaarden
      from gebruiksrecht where enkelvoudiginformatieobject_id = ${document.id} order by id desc limit 50`
    const verzendingen = await query<Verzending[]>`
      select aard_relatie as aard, betrokkene as who, concat_ws(' ', nullif(contactpersoonnaam, ''), contact_persoon) as contact,
        verzenddatum as verzonden, ontvangstdatum as ontvangen, toelichting,
        concat_ws(', ',
          (select concat_ws(' ', a ->> 'naamOpenbareRuimte', a ->> 'huisnummer', a ->> 'huisletter', a ->> 'huisnummerToevoeging',
            a ->> 'postcode', a ->> 'woonplaatsnaam') from (select binnenlands_correspondentieadres) as o(a) where a is not null),
          (select concat_ws(' ', a ->> 'adresBuitenland1', a ->> 'adresBuitenland2', a ->> 'adresBuitenland3', a ->> 'landPostadres')
            from (select buitenlands_correspondentieadres) as o(a) where a is not null),
          (select concat_ws(' ', a ->> 'postadresType', a ->> 'postBusOfAntwoordnummer', a ->> 'postadresPostcode', a ->> 'woonplaatsnaam')
            from (select correspondentie_postadres) as o(a) where a is not null),
          nullif(emailadres, ''), nullif(telefoonnummer, ''), nullif(faxnummer, ''), case when mijn_overheid then 'MijnOverheid' end) as channel
      from verzending where enkelvoudiginformatieobject_id = ${document.id} order by id desc limit 50`
    // Who a document was sent to is a person more often than not.
    if (verzendingen.length > 0)
      await app.own.audit(request, [
        {
          handeling: 'persoonsgegevens-bekijken',
          soort: 'document',
          id: document.uuid,
          weergave: document.identificatie,
        },
      ])
    const asked = versionIn(request, 'bekijken')
    const shown = versions.find((version) => version.versie === asked && shownAs(version))
    if (shown) reply.header('content-security-policy', `${CSP}; frame-src 'self'`)
    return reply.page('document', {
      title: document.titel,
      breadcrumbs: [{ path: '/documenten', name: t('Documenten') }],
      document,
      soort: type?.omschrijving || t('Zonder omschrijving'),
      versions: versions.map((version) => ({ ...version, isViewable: shownAs(version) !== undefined })),
      relations,
      rights,
      verzendingen,
      events: (await historyOf(app, request, document.uuid, 5)).rows,
      preview: shown && { versie: shown.versie, soort: shownAs(shown), titel: shown.titel },
    })
  })

  // What a browser shows safely: the type is one of ours and never guessed (nosniff), and nothing in it may run or load anything.
  app.get('/documenten/:uuid/voorbeeld', { config }, async (request, reply) => {
    const row = await documentOfRequest(request, versionIn(request))
    const type = shownAs({ ...row, inhoud: row.fileId !== null })
    if (!type) throw notFound(t('Van deze versie is geen voorbeeld.'))
    if (!request.headers.range)
      await app.own.audit(request, [
        {
          handeling: 'document-bekijken',
          soort: 'document',
          id: row.uuid,
          weergave: row.identificatie,
          nieuw: { versie: row.versie },
        },
      ])
    reply.headers({
      // The viewer of PDF, a part of the browser, does not start in a sandbox.
      'content-security-policy':
        type === PDF
          ? "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
          : "default-src 'none'; sandbox; frame-ancestors 'self'",
      'x-frame-options': 'SAMEORIGIN',
    })
    return send(request, reply, row, type)
  })

  app.get('/documenten/:uuid/download', { config }, async (request, reply) => {
    const row = await documentOfRequest(request, versionIn(request))
    if (row.fileId === null) throw notFound(t('Van deze versie is geen bestand.'))
    await app.own.audit(request, [
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
    const document = await documentOfRequest(request)
    return reply.page('history', {
      title: t('Geschiedenis'),
      breadcrumbs: [
        { path: '/documenten', name: t('Documenten') },
        { path: `/documenten/${document.uuid}`, name: document.titel },
      ],
      list: await historyOf(app, request, document.uuid),
    })
  })

  async function documentOfRequest(request: FastifyRequest, versie?: number) {
    const row = await findDocument(app.read, uuidParam(request), versie === undefined ? {} : { versie })
    if (!row) throw notFound(t('Dit document bestaat niet.'))
    requireVisible(request, row.laatsteVertrouwelijkheidaanduiding)
    return row
  }
}

const OF_DOCUMENT = sql`from enkelvoudiginformatieobject_versie w join enkelvoudiginformatieobject d
  on d.id = w.enkelvoudiginformatieobject_id and d.versie = w.versie where d.id =`
const OF_VERSION = sql`v.enkelvoudiginformatieobject_id`
const SORTS: Sorts = {
  identificatie: {
    column: sql`e.identificatie`,
    of: (id) => sql`(select identificatie from enkelvoudiginformatieobject where id = ${id}::bigint)`,
  },
  titel: { column: sql`v.titel`, of: (id) => sql`(select titel ${OF_DOCUMENT} ${id}::bigint)`, id: OF_VERSION },
  creatiedatum: {
    column: sql`v.creatiedatum`,
    of: (id) => sql`(select creatiedatum ${OF_DOCUMENT} ${id}::bigint)`,
    id: OF_VERSION,
  },
}

const FILTERS = ['zoek', 'titel', 'type', 'vertrouwelijkheidaanduiding']

// Types are looked up first: the planner then knows how rare they are.
async function filters(request: FastifyRequest): Promise<RawBuilder<unknown>[]> {
  const [search, titel, type, level] = FILTERS.map((name) => queryText(request, name))
  const uuid = search ? uuidIn(search) : undefined
  const typen = type ? await chosenTypes(request.server.read, 'informatieobjecttype', type) : []
  return [
    ...(uuid ? [sql`e.uuid = ${uuid}`] : search ? [sql`e.identificatie = ${search}`] : []),
    ...(titel ? [containsWords(sql`v.titel`, titel)] : []),
    ...(type ? [sql`e.informatieobjecttype_id = any(${typen}::bigint[])`] : []),
    ...(VERTROUWELIJKHEIDAANDUIDINGEN.some((one) => one === level)
      ? [sql`e.vertrouwelijkheidaanduiding = ${level}::vertrouwelijkheidaanduiding`]
      : []),
  ]
}
