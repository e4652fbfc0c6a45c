// The informatieobjecttype of a document: ours, or at another server.

import type { Config } from '../config.ts'
import type { FieldCode } from '../core/codes.ts'
import type { Mutation } from '../core/mutate.ts'
import type { InvalidParam } from '../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN, type Vertrouwelijkheidaanduiding } from '../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb } from '../database/database.ts'
import { link, resolveLink } from '../http/links.ts'
import type { Services } from '../services/services.ts'

/** Whether a type that is still a concept may be used. */
export type UnpublishedTypes = Pick<Config, 'allowUnpublishedTypes'>

/** An informatieobjecttype as documents need it; `id` and `uuid` are empty when it stands elsewhere. */
export type Documenttype = {
  id: number | null
  uuid: string | null
  url: string
  concept: boolean
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  catalogus: string
}

/**
 * drc-001: the type of a document can be found, is an informatieobjecttype, and is published.
 * @param m gives what to read with, and only makes it when it is asked for
 * @param elsewhere what `fetchTypeElsewhere` found, for a URL that is not ours
 */
export async function judgeInformatieobjecttype(
  m: Pick<Mutation, 'read'>,
  url: string,
  base: string,
  elsewhere: Documenttype | InvalidParam | undefined,
  config: UnpublishedTypes,
): Promise<{ type: Documenttype; faults: [] } | { type: null; faults: InvalidParam[] }> {
  const found = elsewhere ?? (await findOwnType(m.read, url, base))
  if ('code' in found) return { type: null, faults: [found] }
  const faults = publishedFault(found, config)
  return faults.length > 0 ? { type: null, faults } : { type: found, faults: [] }
}

const typeFault = (code: FieldCode, reason: string): InvalidParam => ({ name: 'informatieobjecttype', code, reason })

async function findOwnType(db: ReadDb, url: string, base: string): Promise<Documenttype | InvalidParam> {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') return typeFault('bad-url', 'Dit informatieobjecttype bestaat niet.')
  if (target.resource !== 'informatieobjecttype')
    return typeFault('invalid-resource', 'Deze URL is van een andere resource.')
  const row = await db
    .selectFrom('informatieobjecttype as t')
    .innerJoin('catalogus as c', 'c.id', 't.catalogusId')
    .where('t.uuid', '=', target.uuid)
    .select(['t.id', 't.uuid', 't.concept', 't.vertrouwelijkheidaanduiding', 'c.uuid as catalogusUuid'])
    .executeTakeFirst()
  if (!row) return typeFault('bad-url', 'Dit informatieobjecttype bestaat niet.')
  const { catalogusUuid, ...type } = row
  return { ...type, url, catalogus: link(base, 'catalogus', catalogusUuid) }
}

/** drc-001 for a type elsewhere: to be asked before a transaction begins. Undefined for a URL of ours. */
export async function fetchTypeElsewhere(
  services: Services,
  url: string | undefined,
  base: string,
): Promise<Documenttype | InvalidParam | undefined> {
  if (url === undefined || resolveLink(url, base).kind !== 'elsewhere') return undefined
  const fetched = await services.fetchJson(url)
  if (fetched.kind !== 'ok') return typeFault('bad-url', 'Dit informatieobjecttype is niet op te vragen.')
  const { catalogus, omschrijving, concept, vertrouwelijkheidaanduiding } = (fetched.body ?? {}) as Record<
    string,
    unknown
  >
  if (
    typeof catalogus !== 'string' ||
    typeof omschrijving !== 'string' ||
    typeof concept !== 'boolean' ||
    !VERTROUWELIJKHEIDAANDUIDINGEN.includes(vertrouwelijkheidaanduiding as Vertrouwelijkheidaanduiding)
  ) {
    return typeFault('invalid-resource', 'Deze URL is niet van een informatieobjecttype.')
  }
  const level = vertrouwelijkheidaanduiding as Vertrouwelijkheidaanduiding
  return { id: null, uuid: null, url, concept, catalogus, vertrouwelijkheidaanduiding: level }
}

/** drc-001: documents are made of a published type. */
export function publishedFault(
  type: { concept: boolean },
  { allowUnpublishedTypes }: UnpublishedTypes,
): InvalidParam[] {
  return type.concept && !allowUnpublishedTypes
    ? [typeFault('not-published', 'Dit informatieobjecttype is nog een concept.')]
    : []
}

/** drc-007: what the client states wins; without a statement the type decides. */
export function vertrouwelijkheidaanduidingOf(
  stated: string | undefined,
  type: Pick<Documenttype, 'vertrouwelijkheidaanduiding'>,
): Vertrouwelijkheidaanduiding {
  return (stated || type.vertrouwelijkheidaanduiding) as Vertrouwelijkheidaanduiding
}
