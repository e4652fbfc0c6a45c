// Making a document. Its bytes are in storage before the transaction begins; the transaction then writes the row that makes
// them a document, or fails, and the bytes are removed again.

import { sql } from 'kysely'
import type { Mutation } from '../../database/mutate.ts'
import { requireAllowed } from '../../http/access.ts'
import type { Vertrouwelijkheidaanduiding } from '../../http/input.ts'
import { invalidAll, Problem, throwFaults } from '../../http/problem.ts'
import { documentenKanaal, documentLabel } from '../kanaal.ts'
import { SCOPES_AANMAKEN } from '../rights.ts'
import { gebruiksrechtFault, requireFileSize, statusFault } from '../rules.ts'
import type { StoredBytes } from '../storage/index.ts'
import { judgeInformatieobjecttype, vertrouwelijkheidaanduidingOf } from '../type.ts'
import { insertFile, openUpload, type UploadParts } from './bytes.ts'
import { type DocumentCreate, type DocumentMetLock, toColumns, toDocument } from './columns.ts'
import { newLock } from './lock-rules.ts'
import { findDocument } from './read.ts'
import { insertVersion, type TypeElsewhere, typeColumns, typeSubject } from './version.ts'

/**
 * Makes a document with its first version. `bytes` are in storage already; a size without them opens an upload in parts,
 * for which the document is locked at once.
 */
export async function createDocument(
  m: Mutation,
  parts: UploadParts,
  { input, bytes, elsewhere }: { input: DocumentCreate; bytes: StoredBytes | null; elsewhere: TypeElsewhere },
): Promise<DocumentMetLock> {
  const { base } = m.actor
  const { type, faults } = await judgeInformatieobjecttype(
    m.read,
    input.informatieobjecttype,
    base,
    elsewhere,
    parts.config,
  )
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
    identificatie,
    ...typeColumns(type),
    vertrouwelijkheidaanduiding: level,
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
