// The receipt of an import. When it has ended, a job reads each stored copy once more and holds it against the sum that its source had
// while it was copied. The position moves with what was counted, portion by portion, so that a job that was killed goes on from there.
//
// The hash of hashes is a chain: each copy that is whole adds a line, `sha256(hash before | "uuid size sha256\n")`, in the order of the
// rows. The receipt is signed (JWS, Ed25519) with a key that comes from the keys of the installation, and holds the public one.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { sql } from 'kysely'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Database, Db, ReadDb } from '../../database/database.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Stores } from '../storage/choose.ts'
import { checksumOf, inParallel } from '../storage/migrate.ts'
import type { ImportRow } from './rows.ts'

const PORTION = 100
const AT_ONCE = 4
/** Of copies that are not what they were so many are named. */
const NAMED = 100

/** Asks for the receipt of an import that ends, from the beginning. */
export async function askReceipt(trx: Db, id: number): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    insert into import_receipt as r (import_id) select id from import where id = ${id} and succeeded > 0
    on conflict (import_id) do update set position = 0, documents = 0, bytes = 0, gone = 0, damaged = 0, faults = '[]', hash = '',
      created_at = excluded.created_at, ended_at = null, jws = null
    returning (select uuid from import where id = r.import_id)`.execute(trx)
  for (const { uuid } of rows) await enqueueReceipt(trx, uuid)
}

/** Queues the job in place of the one that waits. */
export function enqueueReceipt(trx: Db, uuid: string, delaySeconds = 0): Promise<void> {
  return enqueue(trx, 'import-receipt', { import: uuid }, { jobKey: `import-receipt:${uuid}`, delaySeconds })
}

type Copy = {
  number: number
  line: number
  document: string
  backend: string | null
  key: string | null
  size: number | null
  sha256: Buffer | null
}
export type CopyFault = { row: number; document: string; what: 'missing' | 'damaged' }

/**
 * Reads the next copies, and signs when there are none left.
 * @returns whether there may be more
 * @throws StoreUnavailable when a store does not answer: nothing of the portion counts
 */
export async function checkNextCopies(
  { database, storeFor, box }: Pick<Stores, 'storeFor'> & { database: Database; box: SecretBox },
  uuid: string,
): Promise<boolean> {
  const [at] = await database.sql<{ id: number; position: number; hash: Buffer }[]>`
    select i.id, r.position, r.hash from import_receipt r join import i on i.id = r.import_id
    where i.uuid = ${uuid} and i.deleted_at is null and i.status in ('finished', 'error') and r.ended_at is null`
  if (!at) return false
  const copies = await database.sql<Copy[]>`
    select u.number, import_line(u.import_id, u.number) as line, u.document_uuid as document, f.backend, f.key, f.size, f.sha256
    from import_outcome u
    left join enkelvoudiginformatieobject d on d.uuid = u.document_uuid
    left join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = d.id and v.versie = 1
    left join file f on f.id = v.file_id
    where u.import_id = ${at.id} and u.succeeded and u.document_uuid is not null
      and u.number > ${at.position} order by u.number limit ${PORTION}`
  const last = copies.at(-1)
  if (!last) {
    await signReceipt(database, box, at.id)
    return false
  }
  const sums = new Map<number, Buffer | undefined>()
  await inParallel(copies, AT_ONCE, async ({ number, backend, key }) => {
    if (backend !== null && key !== null) sums.set(number, await checksumOf(storeFor(backend), key))
  })
  let { hash } = at
  let [documents, bytes, gone] = [0, 0, 0]
  const faults: CopyFault[] = []
  for (const { number, line, document, backend, size, sha256 } of copies) {
    if (backend === null || size === null || sha256 === null) {
      gone++ // deleted since
      continue
    }
    const sum = sums.get(number)
    if (!sum?.equals(sha256)) {
      faults.push({ row: line, document, what: sum ? 'damaged' : 'missing' })
      continue
    }
    documents++
    bytes += size
    hash = createHash('sha256')
      .update(hash)
      .update(`${document} ${size} ${sha256.toString('hex')}\n`)
      .digest()
  }
  await database.sql`
    update import_receipt set position = ${last.number}, hash = ${hash}, documents = documents + ${documents}, bytes = bytes + ${bytes},
      gone = gone + ${gone}, damaged = damaged + ${faults.length},
      faults = case when jsonb_array_length(faults) < ${NAMED} then faults || ${JSON.stringify(faults)}::text::jsonb else faults end
    where import_id = ${at.id} and position = ${at.position} and ended_at is null`
  return true
}

async function signReceipt(database: Database, box: SecretBox, id: number): Promise<void> {
  await database.db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ claims: Record<string, unknown> }>`
      select json_build_object('import', i.uuid, 'status', i.status, 'total', i.total, 'succeeded', i.succeeded,
        'startedOn', i.started_at, 'finishedOn', i.ended_at, 'documents', r.documents, 'bytes', r.bytes, 'gone', r.gone,
        'damaged', r.damaged, 'hash', encode(r.hash, 'hex'), 'checkedOn', now()) as claims
      from import_receipt r join import i on i.id = r.import_id where r.import_id = ${id} and r.ended_at is null
      for no key update of r`.execute(trx)
    for (const { claims } of rows)
      await trx
        .updateTable('importReceipt')
        .set({ jws: signed(box, claims), endedAt: sql`now()` })
        .where('importId', '=', id)
        .execute()
  })
}

// What stands before the 32 bytes of a private key of Ed25519 in PKCS#8 (RFC 8410).
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

function keyOf({ ring }: SecretBox): { kid: string; key: KeyObject } {
  const kid = ring.sealing
  const der = Buffer.concat([ED25519, ring.derive(kid, 'import-receipt')])
  return { kid, key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

/** A compact JWS (RFC 7515) that holds its public key. */
function signed(box: SecretBox, claims: Record<string, unknown>): string {
  const { kid, key } = keyOf(box)
  const jwk = createPublicKey(key).export({ format: 'jwk' })
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'EdDSA', kid, jwk })}.${part(claims)}`
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
}

/** The receipt, also while it is being made; undefined when there is none. */
export function receiptOf(db: ReadDb, { id }: Pick<ImportRow, 'id'>) {
  return db.selectFrom('importReceipt').where('importId', '=', id).selectAll().executeTakeFirst()
}
type Receipt = NonNullable<Awaited<ReturnType<typeof receiptOf>>>

/** What the foot of a report says of one that is complete. */
export function footOf(receipt: Receipt | undefined): string | undefined {
  if (!receipt?.jws) return undefined
  const { documents, bytes, gone, damaged, hash, jws } = receipt
  const parts = [
    `${documents} documenten`,
    `${bytes} bytes`,
    `sha256 ${hash.toString('hex')}`,
    `${damaged} beschadigd of weg`,
    `${gone} sindsdien verwijderd`,
    `JWS ${jws}`,
  ]
  return parts.join('; ')
}
