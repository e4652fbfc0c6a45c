// Making, changing and deleting documents. Bytes go to storage before the transaction begins; the transaction then writes
// the row that makes them a document, or fails, and the bytes are removed again.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Insertable, sql } from 'kysely'
import type { Mutation } from '../../database/mutate.ts'
import type { EnkelvoudiginformatieobjectVersie } from '../../database/types.ts'
import { requireAllowed } from '../../http/access.ts'
import type { Vertrouwelijkheidaanduiding } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { type InvalidParam, invalid, invalidAll, notFound, Problem, throwFaults } from '../../http/problem.ts'
import { catalogusElders, documentenKanaal, documentLabel } from '../kanaal.ts'
import {
  createAccess,
  type Documenttype,
  deleteAccess,
  documentBijwerken,
  fetchTypeElsewhere,
  gebruiksrechtFault,
  judgeInformatieobjecttype,
  requireFileSize,
  requireLock,
  requireNoRelations,
  requireUnlockedForDelete,
  SCOPES_AANMAKEN,
  SCOPES_DOCUMENT_BIJWERKEN,
  SCOPES_VERWIJDEREN,
  statusFault,
  unknownDocument,
  vertrouwelijkheidaanduidingOf,
} from '../rules.ts'
import { newKey, type StoredBytes } from '../storage/index.ts'
import {
  Document,
  DocumentCreate,
  DocumentMetLock,
  DocumentPatch,
  DocumentUpdate,
  type Metagegevens,
  toColumns,
} from './columns.ts'
import { discard, inhoudFaults, keepingInhoud, registerInhoud, requireValidBody } from './content.ts'
import { type DocumentRow, findDocument, Params, requireMay, subjectOf, toDocument } from './read.ts'

const FIELDS = Object.keys(DocumentUpdate.properties)

export const documentChanges: FastifyPluginAsyncTypebox = async (app) => {
  const { store, services } = app.parts
  registerInhoud(app)

  app.post(
    '/enkelvoudiginformatieobjecten',
    {
      config: createAccess,
      schema: { body: DocumentCreate, response: { 201: DocumentMetLock } },
      attachValidation: true,
    },
    async (request, reply) => {
      const document = await keepingInhoud(app, request, async () => {
        requireValidBody(request, FIELDS, inhoudFaults(request, request.body?.inhoud))
        const input = request.body
        const bytes = await receivedBytes(app, request, input)
        const elsewhere = await fetchTypeElsewhere(services, input.informatieobjecttype, request.base)
        return app.mutate(request.actor, (m) => createDocument(m, app.parts, { input, bytes, elsewhere }))
      })
      return reply.code(201).header('location', document.url).send(document)
    },
  )

  app.put(
    '/enkelvoudiginformatieobjecten/:uuid',
    {
      config: documentBijwerken,
      schema: { params: Params, body: DocumentUpdate, response: { 200: Document } },
      attachValidation: true,
    },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/enkelvoudiginformatieobjecten/:uuid',
    {
      config: documentBijwerken,
      schema: { params: Params, body: DocumentPatch, response: { 200: Document } },
      attachValidation: true,
    },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/enkelvoudiginformatieobjecten/:uuid',
    { config: deleteAccess, schema: { params: Params } },
    async (request, reply) => {
      const { uuid } = request.params
      const catalogus = await catalogusElders(app.parts, uuid, request.base)
      await app.mutate(request.actor, (m) => deleteDocument(m, uuid, catalogus))
      return reply.code(204).send()
    },
  )

  async function change(request: FastifyRequest, actie: Wijziging['actie'], uuid: string, given: DocumentPatch) {
    return keepingInhoud(app, request, async () => {
      const fault = request.validationError as unknown
      const exists = !(fault instanceof Problem && fault.status === 404) // which says that the path has no uuid
      if (fault && !(exists && (await findDocument(app.read, uuid)))) throw notFound()
      requireValidBody(request, FIELDS, inhoudFaults(request, given?.inhoud))
      const bytes = await receivedBytes(app, request, given)
      const elsewhere = await fetchTypeElsewhere(services, given.informatieobjecttype, request.base)
      const catalogus = given.informatieobjecttype ? '' : await catalogusElders(app.parts, uuid, request.base)
      const { document, used } = await app.mutate(request.actor, (m) =>
        changeDocument(m, app.parts, { actie, uuid, given, bytes, elsewhere, catalogus }),
      )
      if (!used) await discard(store, bytes)
      return document
    })
  }
}

/** The content that came with a request. A size of 0 without content is an empty file: that is made here. */
export async function receivedBytes(
  { parts }: FastifyInstance,
  request: FastifyRequest,
  given: DocumentPatch,
): Promise<StoredBytes | null> {
  if (typeof given.inhoud !== 'string' && given.bestandsomvang === 0) {
    request.ontvangen.bytes = await parts.store.write(newKey(), nothing())
  }
  return request.ontvangen.bytes
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

type Parts = { config: { uploadChunkSize: number }; store: { backend: string } }
type Elsewhere = Documenttype | InvalidParam | undefined

// ---- create ----

/**
 * Makes a document with its first version. `bytes` are in storage already; a size without them opens an upload in parts,
 * for which the document is locked at once.
 */
export async function createDocument(
  m: Mutation,
  parts: Parts,
  { input, bytes, elsewhere }: { input: DocumentCreate; bytes: StoredBytes | null; elsewhere: Elsewhere },
): Promise<DocumentMetLock> {
  const { base } = m.actor
  const { type, faults } = await judgeInformatieobjecttype(m.read, input.informatieobjecttype, base, elsewhere)
  if (!type) throw invalidAll(faults)
  const level = vertrouwelijkheidaanduidingOf(input.vertrouwelijkheidaanduiding, type)
  requireAllowed(m.actor, 'drc', SCOPES_AANMAKEN, { type: typeSubject(type), vertrouwelijkheidaanduiding: level })
  throwFaults([...statusFault(input), ...gebruiksrechtFault(input)])
  const stated = bytes && input.bestandsomvang === undefined ? bytes.omvang : (input.bestandsomvang ?? null)
  requireFileSize(bytes, stated)
  const upload = bytes === null && stated !== null
  const lock = upload ? newLock() : null

  const { id, uuid, identificatie } = await insertIdentity(m, input, {
    bronorganisatie: input.bronorganisatie,
    ...typeColumns(type),
    vertrouwelijkheidaanduiding: level,
    isGereedVoorPublicatie: input.isGereedVoorPublicatie ?? null,
    lock,
  })
  await insertVersion(m, {
    enkelvoudiginformatieobjectId: id,
    versie: 1,
    ...toColumns(input),
    bronorganisatie: input.bronorganisatie,
    identificatie,
    ...typeColumns(type),
    vertrouwelijkheidaanduiding: level,
    indicatieGebruiksrecht: input.indicatieGebruiksrecht ?? null,
    bestandsomvang: stated,
    bestandId: bytes && (await insertFile(m, parts.store.backend, bytes)),
  })
  if (upload) await openUpload(m, parts, id, stated)
  const row = (await findDocument(m.read, uuid))!
  const document = { ...toDocument(row, base), lock: lock ?? '' }
  m.record({
    component: 'drc',
    actie: 'create',
    resource: 'enkelvoudiginformatieobject',
    url: document.url,
    uuid,
    weergave: documentLabel(row),
    kanaal: documentenKanaal(row, base, type.catalogus),
    oud: null,
    nieuw: document,
  })
  return document
}

const typeSubject = (type: Documenttype) => (type.uuid ? { uuid: type.uuid } : { url: type.url })
const typeColumns = (type: Documenttype) => ({
  informatieobjecttypeId: type.id,
  informatieobjecttypeUrl: type.id === null ? type.url : null,
})

/** A lock as clients know it: 32 hexadecimal digits. */
export const newLock = (): string => crypto.randomUUID().replaceAll('-', '')

type Identity = {
  bronorganisatie: string
  informatieobjecttypeId: number | null
  informatieobjecttypeUrl: string | null
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  isGereedVoorPublicatie: boolean | null
  lock: string | null
}

/** Gives the document its number: the one that the client states, which may be a reserved one, or the next free one. */
async function insertIdentity(m: Mutation, input: DocumentCreate, values: Identity) {
  const insert = (identificatie: string | ReturnType<typeof sql<string>>) =>
    m.trx
      .insertInto('enkelvoudiginformatieobject')
      .values({ ...values, identificatie })
      .returning(['id', 'uuid', 'identificatie'])
  if (input.identificatie) {
    const made = await insert(input.identificatie).executeTakeFirstOrThrow()
    await m.trx
      .deleteFrom('documentnummerReservering')
      .where('identificatie', '=', input.identificatie)
      .where('bronorganisatie', '=', input.bronorganisatie)
      .execute()
    return made
  }
  for (let attempt = 1; attempt <= 10; attempt++) {
    const made = await insert(sql<string>`document_identificatie(${input.creatiedatum}::date)`)
      .onConflict((conflict) => conflict.constraint('enkelvoudiginformatieobject_identificatie_uniek').doNothing())
      .executeTakeFirst()
    if (made) return made
    await sql`select haal_documentnummers_in(${input.creatiedatum}::date)`.execute(m.trx)
  }
  throw new Problem(409, { detail: 'Er kon geen vrij nummer worden gevonden.' })
}

async function insertVersion(m: Mutation, values: Insertable<EnkelvoudiginformatieobjectVersie>): Promise<void> {
  await m.trx.insertInto('enkelvoudiginformatieobjectVersie').values(values).execute()
}

/** The row that says where bytes are. */
export async function insertFile(m: Mutation, backend: string, bytes: StoredBytes): Promise<number> {
  const { id } = await m.trx
    .insertInto('bestand')
    .values({
      backend,
      sleutel: bytes.sleutel,
      omvang: bytes.omvang,
      sha256: Buffer.from(bytes.sha256, 'hex'),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

// ---- upload in parts ----

const MAX_PARTS = 10_000

async function openUpload(m: Mutation, parts: Parts, documentId: number, omvang: number): Promise<void> {
  const size = parts.config.uploadChunkSize
  const count = Math.ceil(omvang / size)
  if (count > MAX_PARTS) throw invalid('bestandsomvang', 'max_value', `Deze waarde is ten hoogste ${MAX_PARTS * size}.`)
  await sql`
    insert into bestandsdeel (enkelvoudiginformatieobject_id, volgnummer, omvang)
    select ${documentId}::bigint, n, least(${size}::bigint, ${omvang}::bigint - (n - 1)::bigint * ${size}::bigint)
    from generate_series(1, ${count}::integer) n`.execute(m.trx)
}

/** Removes the parts of an upload; a job removes the bytes that had come. */
export async function closeUpload(m: Mutation, documentId: number): Promise<void> {
  const parts = await m.trx
    .deleteFrom('bestandsdeel')
    .where('enkelvoudiginformatieobjectId', '=', documentId)
    .returning('bestandId')
    .execute()
  await deleteFiles(
    m,
    parts.flatMap(({ bestandId }) => bestandId ?? []),
  )
}

/** Leaves it to a job to remove bytes, as far as nothing refers to them by then. */
export async function deleteFiles(m: Mutation, ids: number[]): Promise<void> {
  if (ids.length > 0) await m.enqueue('verwijder-bestand', { bestanden: ids })
}

// ---- change ----

type Wijziging = {
  actie: 'update' | 'partial_update'
  uuid: string
  given: DocumentPatch
  bytes: StoredBytes | null
  elsewhere: Elsewhere
  /** Of the type that it keeps, when that stands elsewhere. */
  catalogus: string
}

/** Adds a version. `used` says whether the document has the bytes now. */
export async function changeDocument(
  m: Mutation,
  parts: Parts,
  { actie, uuid, given, bytes, elsewhere, catalogus }: Wijziging,
): Promise<{ document: Document; used: boolean }> {
  const { base } = m.actor
  const before = await lockDocument(m, uuid)
  requireMay(m.actor, SCOPES_DOCUMENT_BIJWERKEN, before)
  const oud = toDocument(before, base)
  const [gebruiksrechten, judged] = [
    await hasGebruiksrechten(m, before.id),
    given.informatieobjecttype === undefined
      ? null
      : await judgeInformatieobjecttype(m.read, given.informatieobjecttype, base, elsewhere),
  ]
  const input = mergedInput(oud, given, actie, gebruiksrechten)
  const level = given.vertrouwelijkheidaanduiding || before.vertrouwelijkheidaanduiding
  if (judged?.type !== null) {
    // The rights reach what the document was and what it becomes.
    const type = judged ? typeSubject(judged.type) : subjectOf(before).type
    requireAllowed(m.actor, 'drc', SCOPES_DOCUMENT_BIJWERKEN, { type, vertrouwelijkheidaanduiding: level })
  }
  throwFaults([...(judged?.faults ?? []), ...statusFault(input), ...gebruiksrechtFault(input, gebruiksrechten)])
  const content = newContent(before, given, actie, bytes)
  requireLock(before.lock, given.lock)

  const columns = {
    bronorganisatie: input.bronorganisatie,
    identificatie: input.identificatie!,
    informatieobjecttypeId: before.informatieobjecttypeId,
    informatieobjecttypeUrl: before.informatieobjecttypeUrl,
    ...(judged?.type && typeColumns(judged.type)),
    vertrouwelijkheidaanduiding: level,
  }
  const versie = before.versie + 1
  await insertVersion(m, {
    enkelvoudiginformatieobjectId: before.id,
    versie,
    ...toColumns(input),
    ...columns,
    indicatieGebruiksrecht: input.indicatieGebruiksrecht ?? null,
    bestandsomvang: content.omvang,
    bestandId: content.bytes ? await insertFile(m, parts.store.backend, content.bytes) : content.bestandId,
  })
  await m.trx
    .updateTable('enkelvoudiginformatieobject')
    .set({ ...columns, versie, isGereedVoorPublicatie: input.isGereedVoorPublicatie ?? null })
    .where('id', '=', before.id)
    .execute()
  await closeUpload(m, before.id)
  if (content.upload) await openUpload(m, parts, before.id, content.omvang!)

  const after = (await findDocument(m.read, uuid))!
  const document = toDocument(after, base)
  m.record({
    component: 'drc',
    actie,
    resource: 'enkelvoudiginformatieobject',
    url: document.url,
    uuid,
    weergave: documentLabel(after),
    kanaal: documentenKanaal(after, base, judged?.type?.catalogus ?? catalogus),
    oud,
    nieuw: document,
  })
  return { document, used: content.bytes !== null }
}

/**
 * The latest version of a document, locked until the transaction ends: versions get their numbers one after the other, and
 * a lock is given once.
 * @throws Problem 404
 */
export async function lockDocument(m: Mutation, uuid: string): Promise<DocumentRow> {
  const found = await m.trx
    .selectFrom('enkelvoudiginformatieobject')
    .where('uuid', '=', uuid)
    .select('id')
    .forUpdate()
    .executeTakeFirst()
  if (!found) throw notFound()
  return (await findDocument(m.read, uuid))!
}

/** The document that a sub-resource names in its field informatieobject, locked. @throws Problem 400 on that field */
export async function lockNamedDocument(m: Mutation, uuid: string): Promise<DocumentRow> {
  return lockDocument(m, uuid).catch((error) => {
    throw error instanceof Problem && error.status === 404 ? unknownDocument() : error
  })
}

export async function hasGebruiksrechten(m: Mutation, documentId: number): Promise<boolean> {
  const found = await m.trx
    .selectFrom('gebruiksrecht')
    .where('enkelvoudiginformatieobjectId', '=', documentId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** What the document becomes: a PATCH keeps what it does not name, a PUT only the number and what rules decide. */
function mergedInput(
  oud: Document,
  given: DocumentPatch,
  actie: Wijziging['actie'],
  gebruiksrechten: boolean,
): Metagegevens {
  const merged = { ...(actie === 'partial_update' ? oud : {}), ...given } as Metagegevens
  return {
    ...merged,
    identificatie: given.identificatie || oud.identificatie,
    indicatieGebruiksrecht:
      given.indicatieGebruiksrecht === undefined && actie === 'update'
        ? gebruiksrechten || null
        : merged.indicatieGebruiksrecht,
  }
}

type Content = { bytes: StoredBytes | null; bestandId: number | null; omvang: number | null; upload: boolean }

/** The content of the next version. @throws Problem 400 `file-size` */
function newContent(
  before: DocumentRow,
  given: DocumentPatch,
  actie: Wijziging['actie'],
  bytes: StoredBytes | null,
): Content {
  const put = actie === 'update'
  const kept = !put && given.inhoud === undefined && before.bestandId !== null
  const omvang = given.bestandsomvang !== undefined ? given.bestandsomvang : put ? null : before.bestandsomvang
  const none = { bytes: null, bestandId: null, upload: false }
  if (kept) {
    requireFileSize({ omvang: Number(before.omvang) }, omvang)
    return { ...none, bestandId: before.bestandId, omvang }
  }
  if (typeof given.inhoud === 'string' && bytes) {
    const stated = put && given.bestandsomvang === undefined ? bytes.omvang : omvang
    requireFileSize(bytes, stated)
    return { ...none, bytes, omvang: bytes.omvang }
  }
  if (omvang === null) return { ...none, omvang }
  if (omvang > 0) return { ...none, omvang, upload: true }
  return bytes
    ? { ...none, bytes, omvang }
    : { ...none, bestandId: before.omvang === 0 ? before.bestandId : null, omvang }
}

// ---- delete ----

/** Removes a document with all its versions and what hangs on it; its bytes go by a job after the commit. */
async function deleteDocument(m: Mutation, uuid: string, catalogus: string): Promise<void> {
  const row = await lockDocument(m, uuid)
  requireMay(m.actor, SCOPES_VERWIJDEREN, row)
  await requireNoRelations(m.read, row.id)
  requireUnlockedForDelete(row.lock)
  const { rows } = await sql<{ bestandId: number }>`
    select bestand_id from enkelvoudiginformatieobject_versie where enkelvoudiginformatieobject_id = ${row.id} and bestand_id is not null
    union select bestand_id from bestandsdeel where enkelvoudiginformatieobject_id = ${row.id} and bestand_id is not null`.execute(
    m.trx,
  )
  await m.trx.deleteFrom('enkelvoudiginformatieobject').where('id', '=', row.id).execute()
  await deleteFiles(
    m,
    rows.map(({ bestandId }) => bestandId),
  )
  m.record({
    component: 'drc',
    actie: 'destroy',
    resource: 'enkelvoudiginformatieobject',
    url: link(m.actor.base, 'enkelvoudiginformatieobject', uuid),
    uuid,
    weergave: documentLabel(row),
    kanaal: documentenKanaal(row, m.actor.base, catalogus),
    oud: toDocument(row, m.actor.base),
    nieuw: null,
    spoor: 'wis',
  })
}
