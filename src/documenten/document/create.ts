// Making a document. Its bytes are in storage before the transaction begins; the transaction then writes the row that makes
// them a document, or fails, and the bytes are removed again.
import { randomUUIDv7 } from 'node:crypto'
import { sql as statement } from 'kysely'
import type postgres from 'postgres'
import { isStill, type KnownInformatieobjecttype, type KnownTypes } from '../../catalogi/known-types.ts'
import { requireAllowed } from '../../core/access.ts'
import type { Mutation } from '../../core/mutate.ts'
import { invalidAll, throwFaults } from '../../core/problem.ts'
import type { NewRow } from '../../core/records.ts'
import { momentOf, selectedRowOf } from '../../database/driver-values.ts'
import { link, resolveLink } from '../../http/links.ts'
import { DOCUMENT_LABEL, documentenKanaal } from '../kanaal.ts'
import { AANMAKEN } from '../rights.ts'
import { gebruiksrechtFault, requireFileSize, statusFault, warnOfSignature } from '../rules.ts'
import type { StoredBytes } from '../storage/index.ts'
import { type Documenttype, judgeInformatieobjecttype, vertrouwelijkheidaanduidingOf } from '../type.ts'
import { insertParts, planUpload, type UploadParts } from './bytes.ts'
import { type DocumentCreate, type DocumentWithLock, toColumns, toDocument } from './columns.ts'
import { newLock } from './lock-rules.ts'
import { type TypeElsewhere, typeColumns, typeSubject } from './version.ts'

type New = { input: DocumentCreate; bytes: StoredBytes | null; elsewhere: TypeElsewhere }

/**
 * Judges a new document with its first version. Nothing is written: that is done with the row that this returns. `bytes` are in
 * storage already; a size without them opens an upload in parts, for which the document is locked at once.
 */
export async function judgeNewDocument(
  m: Mutation,
  parts: UploadParts,
  known: KnownTypes<KnownInformatieobjecttype>,
  given: New,
): Promise<NewRow<DocumentWithLock>> {
  const { base } = m.actor
  const { input, elsewhere } = given
  if (m.attempt > 1 && !input.identificatie)
    await statement`select skip_documentnummers(${input.creatiedatum}::date)`.execute(m.trx)
  const target = resolveLink(input.informatieobjecttype, base)
  if (elsewhere || target.kind !== 'ours' || target.resource !== 'informatieobjecttype') {
    const { type, faults } = await judgeInformatieobjecttype(
      m,
      input.informatieobjecttype,
      base,
      elsewhere,
      parts.config,
    )
    if (!type) throw invalidAll(faults)
    return judgeOfType(m, parts, given, type)
  }
  return known.judge(m, target.uuid, async (found) => {
    const own = found && {
      ...found,
      url: input.informatieobjecttype,
      catalogus: link(base, 'catalogus', found.catalogus_uuid),
    }
    const { type, faults } = await judgeInformatieobjecttype(m, input.informatieobjecttype, base, own, parts.config)
    if (!type) throw invalidAll(faults)
    return judgeOfType(m, parts, given, type, found)
  })
}

async function judgeOfType(
  m: Mutation,
  parts: UploadParts,
  { input, bytes }: New,
  type: Documenttype,
  known?: KnownInformatieobjecttype,
): Promise<NewRow<DocumentWithLock>> {
  const { base } = m.actor
  const { bronorganisatie } = input
  const level = vertrouwelijkheidaanduidingOf(input.vertrouwelijkheidaanduiding, type)
  requireAllowed(m.actor, 'drc', AANMAKEN, { type: typeSubject(type), vertrouwelijkheidaanduiding: level })
  throwFaults([...statusFault(input), ...gebruiksrechtFault(input)])
  warnOfSignature(input)
  const stated = bytes && input.bestandsomvang === undefined ? bytes.size : (input.bestandsomvang ?? null)
  requireFileSize(bytes, stated)
  const upload = bytes === null && stated !== null ? planUpload(parts, stated) : null
  const lock = upload && newLock()
  const uuid = randomUUIDv7()
  const version = {
    ...toColumns(input),
    ...typeColumns(type),
    versie: 1,
    vertrouwelijkheidaanduiding: level,
    bestandsomvang: stated,
  }
  const document: DocumentWithLock = {
    ...toDocument(
      {
        ...version,
        ...MADE_LATER,
        uuid,
        lock,
        typeUuid: type.uuid,
        fileId: bytes && 0,
        bestandsdelen: upload,
      },
      base,
    ),
    lock: lock ?? '',
  }
  return {
    insert: (sql) =>
      insertDocument(sql, input, known, {
        bytes: bytes && { backend: parts.store.backend, ...bytes },
        version,
        identity: {
          uuid,
          bronorganisatie,
          ...typeColumns(type),
          vertrouwelijkheidaanduiding: level,
          isGereedVoorPublicatie: input.isGereedVoorPublicatie ?? null,
          lock,
        },
      }),
    ...(upload && { after: (id) => insertParts(m, id, upload) }),
    ...(!input.identificatie && { taken: 'enkelvoudiginformatieobject_identificatie_unique' }),
    change: {
      component: 'drc',
      actie: 'create',
      resource: 'enkelvoudiginformatieobject',
      url: document.url,
      uuid,
      kanaal: documentenKanaal(
        {
          bronorganisatie,
          laatsteTypeUuid: type.uuid,
          laatsteTypeUrl: type.url,
          laatsteVertrouwelijkheidaanduiding: level,
          laatsteCatalogusUuid: known?.catalogus_uuid ?? null,
        },
        base,
        type.catalogus,
      ),
      oud: null,
      nieuw: document,
    },
  }
}

/** What the database makes of a new document. */
const MADE_LATER = { enkelvoudiginformatieobjectId: 0, identificatie: '', beginRegistratie: '' }

type Rows = {
  identity: Omit<Parameters<typeof selectedRowOf<'enkelvoudiginformatieobject'>>[2], 'identificatie'>
  version: Omit<
    Parameters<typeof selectedRowOf<'enkelvoudiginformatieobjectVersie'>>[2],
    'identificatie' | 'enkelvoudiginformatieobjectId'
  >
  bytes: (StoredBytes & { backend: string }) | null
}

/**
 * The document, the row that says where its bytes are, and its first version. Its number is the one that the client states, which
 * may be a reserved one, or the next free one.
 */
function insertDocument(
  sql: postgres.Sql | postgres.TransactionSql,
  { identificatie, bronorganisatie, creatiedatum }: DocumentCreate,
  known: KnownInformatieobjecttype | undefined,
  { identity, version, bytes }: Rows,
) {
  const document = {
    ...identity,
    identificatie: identificatie || sql`document_identificatie(${creatiedatum}::date)`,
  }
  const versie = {
    ...version,
    enkelvoudiginformatieobjectId: sql`document.id`,
    identificatie: sql`document.identificatie`,
    ...(bytes && { fileId: sql`bytes.id` }),
  }
  return sql`${
    identificatie
      ? sql`reservering as (
        delete from reserved_documentnummer
        where identificatie = ${identificatie} and bronorganisatie = ${bronorganisatie}),`
      : sql``
  }
    document as (
      insert into enkelvoudiginformatieobject ${selectedRowOf(sql, 'enkelvoudiginformatieobject', document)}
      ${known ? isStill(sql, 'informatieobjecttype', known) : sql``}
      returning id, bronorganisatie, identificatie
    ), ${
      bytes
        ? sql`bytes as (
          insert into file (backend, key, size, sha256)
          select ${bytes.backend}, ${bytes.key}, ${bytes.size}, ${Buffer.from(bytes.sha256, 'hex')} from document
          returning id
        ),`
        : sql``
    }
    versie as (
      insert into enkelvoudiginformatieobject_versie ${selectedRowOf(sql, 'enkelvoudiginformatieobjectVersie', versie)}
      from document ${bytes ? sql`cross join bytes` : sql``}
      returning begin_registratie
    ), gemaakt as (
      select id, ${sql.unsafe(DOCUMENT_LABEL)} as weergave, jsonb_build_object('identificatie', identificatie,
        'beginRegistratie', ${sql.unsafe(momentOf('begin_registratie'))}) as nieuw
      from document cross join versie
    )`
}
