// Changing a document: it gets a new version.

import { requireAllowed } from '../../core/access.ts'
import type { Mutation } from '../../core/mutate.ts'
import { throwFaults } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { requireMatch } from '../../http/etag.ts'
import { documentenKanaal, documentLabel } from '../kanaal.ts'
import { DOCUMENT_BIJWERKEN, requireMay, subjectOf } from '../rights.ts'
import { gebruiksrechtFault, hasGebruiksrechten, requireFileSize, statusFault, warnOfSignature } from '../rules.ts'
import type { StoredBytes } from '../storage/index.ts'
import { judgeInformatieobjecttype } from '../type.ts'
import { closeUpload, insertFile, openUpload, type UploadParts } from './bytes.ts'
import { type Document, type DocumentPatch, type Metagegevens, toColumns, toDocument } from './columns.ts'
import { holdDocument } from './hold.ts'
import { requireLock } from './lock-rules.ts'
import { type DocumentRow, findDocument } from './read.ts'
import { insertVersion, type TypeElsewhere, typeColumns, typeSubject } from './version.ts'

export type DocumentChange = {
  actie: 'update' | 'partial_update'
  uuid: string
  given: DocumentPatch
  bytes: StoredBytes | null
  elsewhere: TypeElsewhere
  /** Of the type that it keeps, when that stands elsewhere. */
  catalogus: string
}

/** Adds a version. `used` says whether the document has the bytes now. */
export async function changeDocument(
  m: Mutation,
  parts: UploadParts,
  { actie, uuid, given, bytes, elsewhere, catalogus }: DocumentChange,
): Promise<{ document: Document; used: boolean }> {
  const { base } = m.actor
  const before = await holdDocument(m, uuid)
  requireMay(m.actor, DOCUMENT_BIJWERKEN, before)
  const oud = toDocument(before, base)
  requireMatch(m, oud)
  const [gebruiksrechten, judged] = [
    await hasGebruiksrechten(m.read, before.id),
    given.informatieobjecttype === undefined
      ? null
      : await judgeInformatieobjecttype(m, given.informatieobjecttype, base, elsewhere, parts.config),
  ]
  const input = mergedInput(oud, given, actie, gebruiksrechten)
  const level = given.vertrouwelijkheidaanduiding || before.vertrouwelijkheidaanduiding
  if (judged?.type !== null) {
    // The rights reach what the document was and what it becomes.
    const type = judged ? typeSubject(judged.type) : subjectOf(before).type
    requireAllowed(m.actor, 'drc', DOCUMENT_BIJWERKEN, { type, vertrouwelijkheidaanduiding: level })
  }
  throwFaults([...(judged?.faults ?? []), ...statusFault(input), ...gebruiksrechtFault(input, gebruiksrechten)])
  warnOfSignature(input)
  const content = newContent(before, given, actie, bytes)
  requireLock(before.lock, given.lock)

  const columns = {
    bronorganisatie: input.bronorganisatie,
    identificatie: expected(input.identificatie),
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
    bestandsomvang: content.size,
    fileId: content.bytes ? await insertFile(m, parts.store.backend, content.bytes) : content.fileId,
  })
  await m.trx
    .updateTable('enkelvoudiginformatieobject')
    .set({ ...columns, versie, isGereedVoorPublicatie: input.isGereedVoorPublicatie ?? null })
    .where('id', '=', before.id)
    .execute()
  const keepsUpload =
    actie === 'partial_update' &&
    given.inhoud === undefined &&
    given.bestandsomvang === undefined &&
    oud.bestandsdelen.length > 0
  if (!keepsUpload) await closeUpload(m, before.id)
  if (content.upload && !keepsUpload) await openUpload(m, parts, before.id, expected(content.size))

  const after = expected(await findDocument(m.read, uuid))
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

/** What the document becomes: a PATCH keeps what it does not name, a PUT only the number and what rules decide. */
function mergedInput(
  oud: Document,
  given: DocumentPatch,
  actie: DocumentChange['actie'],
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

type Content = { bytes: StoredBytes | null; fileId: number | null; size: number | null; upload: boolean }

/** The content of the next version. @throws Problem 400 `file-size` */
function newContent(
  before: DocumentRow,
  given: DocumentPatch,
  actie: DocumentChange['actie'],
  bytes: StoredBytes | null,
): Content {
  const put = actie === 'update'
  const kept = !put && given.inhoud === undefined && before.fileId !== null
  const size = given.bestandsomvang !== undefined ? given.bestandsomvang : put ? null : before.bestandsomvang
  const none = { bytes: null, fileId: null, upload: false }
  if (kept) {
    requireFileSize({ size: Number(before.size) }, size)
    return { ...none, fileId: before.fileId, size }
  }
  if (typeof given.inhoud === 'string' && bytes) {
    const stated = put && given.bestandsomvang === undefined ? bytes.size : size
    requireFileSize(bytes, stated)
    return { ...none, bytes, size: bytes.size }
  }
  if (size === null) return { ...none, size }
  if (size > 0) return { ...none, size, upload: true }
  return bytes ? { ...none, bytes, size } : { ...none, fileId: before.size === 0 ? before.fileId : null, size }
}
