// The rules of the Documenten API, each once, by the number that the standard gives it. A fault is returned where it is
// reported together with others, and thrown where it stands alone.

import type { ReadDb } from '../database/database.ts'
import type { Actor } from '../http/access.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN, type Vertrouwelijkheidaanduiding } from '../http/input.ts'
import { link, resolveLink } from '../http/links.ts'
import { type InvalidParam, invalid, type Problem } from '../http/problem.ts'
import type { Services } from '../services/services.ts'
import type { Metagegevens } from './document/columns.ts'

export type Scopes = readonly string[]
export const SCOPES_LEZEN = ['documenten.lezen'] as const
export const SCOPES_AANMAKEN = ['documenten.aanmaken'] as const
export const SCOPES_BIJWERKEN = ['documenten.bijwerken'] as const
/** On documents themselves: since 1.2 the forced scope is an alternative. */
export const SCOPES_DOCUMENT_BIJWERKEN = ['documenten.bijwerken', 'documenten.geforceerd-bijwerken'] as const
export const SCOPES_VERWIJDEREN = ['documenten.verwijderen'] as const
export const SCOPES_LOCK = ['documenten.lock'] as const
export const SCOPES_GEFORCEERD_UNLOCK = ['documenten.geforceerd-unlock'] as const
export const SCOPES_UNLOCK = [...SCOPES_LOCK, ...SCOPES_GEFORCEERD_UNLOCK] as const
export const SCOPES_AUDITTRAIL = ['audittrails.lezen'] as const

const access = <S extends Scopes>(scopes: S) => ({ access: { component: 'drc', scopes } }) as const
export const readAccess = access(SCOPES_LEZEN)
export const createAccess = access(SCOPES_AANMAKEN)
export const updateAccess = access(SCOPES_BIJWERKEN)
export const documentBijwerken = access(SCOPES_DOCUMENT_BIJWERKEN)
export const deleteAccess = access(SCOPES_VERWIJDEREN)
export const lockAccess = access(SCOPES_LOCK)
export const unlockAccess = access(SCOPES_UNLOCK)

// ---- the type ----

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
 * @param elsewhere what `fetchTypeElsewhere` found, for a URL that is not ours
 */
export async function judgeInformatieobjecttype(
  db: ReadDb,
  url: string,
  base: string,
  elsewhere: Documenttype | InvalidParam | undefined,
): Promise<{ type: Documenttype; faults: [] } | { type: null; faults: InvalidParam[] }> {
  const found = elsewhere ?? (await findOwnType(db, url, base))
  if ('code' in found) return { type: null, faults: [found] }
  const faults = publishedFault(found)
  return faults.length > 0 ? { type: null, faults } : { type: found, faults: [] }
}

const typeFault = (code: string, reason: string): InvalidParam => ({ name: 'informatieobjecttype', code, reason })

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
export function publishedFault(type: { concept: boolean }): InvalidParam[] {
  return type.concept ? [typeFault('not-published', 'Dit informatieobjecttype is nog een concept.')] : []
}

/** drc-007: what the client states wins; without a statement the type decides. */
export function vertrouwelijkheidaanduidingOf(
  stated: string | undefined,
  type: Pick<Documenttype, 'vertrouwelijkheidaanduiding'>,
): Vertrouwelijkheidaanduiding {
  return (stated || type.vertrouwelijkheidaanduiding) as Vertrouwelijkheidaanduiding
}

// ---- the fields ----

/** drc-005: what was received is not being drafted any more. */
export function statusFault(input: Pick<Metagegevens, 'ontvangstdatum' | 'status'>): InvalidParam[] {
  if (!input.ontvangstdatum || (input.status !== 'in_bewerking' && input.status !== 'ter_vaststelling')) return []
  return [
    {
      name: 'status',
      code: 'invalid_for_received',
      reason: 'Een ontvangen document is niet in_bewerking of ter_vaststelling.',
    },
  ]
}

/** drc-006: `true` arises only through a gebruiksrecht, and holds as long as there is one. */
export function gebruiksrechtFault(
  input: Pick<Metagegevens, 'indicatieGebruiksrecht'>,
  gebruiksrechten = false,
): InvalidParam[] {
  const name = 'indicatieGebruiksrecht'
  if (input.indicatieGebruiksrecht === true && !gebruiksrechten) {
    const reason = 'Er zijn nog geen gebruiksrechten bij dit document: leg eerst een gebruiksrecht vast.'
    return [{ name, code: 'missing-gebruiksrechten', reason }]
  }
  if (input.indicatieGebruiksrecht !== true && gebruiksrechten) {
    return [{ name, code: 'existing-gebruiksrechten', reason: 'Er zijn gebruiksrechten bij dit document.' }]
  }
  return []
}

/** The stated size is that of the content. @throws Problem 400 `file-size` */
export function requireFileSize(content: { omvang: number } | null, stated: number | null | undefined): void {
  if (content && content.omvang !== stated)
    throw invalid(
      'nonFieldErrors',
      'file-size',
      `De inhoud is ${content.omvang} bytes groot, niet ${stated ?? 'onbekend'}.`,
    )
}

/** Exactly one way in which a verzending reached or left its betrokkene. */
export function contactChannelFault(input: {
  binnenlandsCorrespondentieadres?: unknown
  buitenlandsCorrespondentieadres?: unknown
  correspondentiePostadres?: unknown
  telefoonnummer?: string
  faxnummer?: string
  emailadres?: string
  mijnOverheid?: boolean
}): InvalidParam[] {
  const channels = [
    input.binnenlandsCorrespondentieadres,
    input.buitenlandsCorrespondentieadres,
    input.correspondentiePostadres,
    input.telefoonnummer,
    input.faxnummer,
    input.emailadres,
    input.mijnOverheid,
  ]
  if (channels.filter(Boolean).length === 1) return []
  const reason =
    'Geef precies een van binnenlandsCorrespondentieadres, buitenlandsCorrespondentieadres, correspondentiePostadres, telefoonnummer, faxnummer, emailadres en mijnOverheid.'
  return [{ name: 'nonFieldErrors', code: 'invalid-address', reason }]
}

// ---- locks ----

/**
 * drc-009: a document is changed only by who holds its lock. That is all that counts: its status does not (drc-010).
 * @throws Problem 400 `unlocked`, `missing-lock-id` or `incorrect-lock-id`
 */
export function requireLock(lock: string | null, given: string | undefined): void {
  if (lock === null) throw invalid('nonFieldErrors', 'unlocked', 'Vergrendel het document voordat u het wijzigt.')
  if (!given) throw invalid('nonFieldErrors', 'missing-lock-id', 'Geef de lock waarmee het document is vergrendeld.')
  if (given !== lock) throw incorrectLock()
}

/** drc-009, of an upload: a part is taken only with the lock. @throws Problem 400 `incorrect-lock-id` */
export function requireSameLock(lock: string | null, given: string): void {
  if (lock === null || given !== lock) throw incorrectLock()
}

function incorrectLock(): Problem {
  return invalid('nonFieldErrors', 'incorrect-lock-id', 'Dit is niet de lock waarmee het document is vergrendeld.')
}

/** drc-009: a document has one lock. @throws Problem 400 `existing-lock` */
export function requireUnlockedForLock(lock: string | null): void {
  if (lock !== null) throw invalid('nonFieldErrors', 'existing-lock', 'Het document is al vergrendeld.')
}

/** How an unlock ends: normally, by force, or there is nothing to unlock. @throws Problem 400 `incorrect-lock-id` */
export function unlockKind(lock: string | null, given: string, mayForce: boolean): 'gewoon' | 'geforceerd' | 'niets' {
  if (lock === null && given === '') return 'niets'
  if (lock !== null && given === lock) return 'gewoon'
  if (mayForce) return 'geforceerd'
  throw incorrectLock()
}

/** An upload in parts is complete before its lock is given back. @throws Problem 400 `incomplete-upload` or `file-size` */
export function requireCompleteUpload(delen: readonly { bestandId: number | null }[]): void {
  const there = delen.filter(({ bestandId }) => bestandId !== null).length
  if (there === delen.length) return
  if (there > 0)
    throw invalid('nonFieldErrors', 'incomplete-upload', `Er zijn ${there} van de ${delen.length} bestandsdelen.`)
  throw invalid('nonFieldErrors', 'file-size', 'Er is een omvang opgegeven, maar er is nog geen inhoud.')
}

// ---- deleting ----

/** drc-008: what still belongs to something is not deleted. @throws Problem 400 `pending-relations` */
export async function requireNoRelations(db: ReadDb, documentId: number): Promise<void> {
  const relation = await db
    .selectFrom('objectinformatieobject')
    .where('enkelvoudiginformatieobjectId', '=', documentId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  if (relation) throw pendingRelations()
}

/** The same rule as the database keeps it, for a relation that came in between. */
export function pendingRelations(): Problem {
  return invalid('nonFieldErrors', 'pending-relations', 'Er zijn nog objecten waaraan dit document gekoppeld is.')
}

/** Since 1.3 a locked document is not deleted. @throws Problem 400 `destroy-locked` */
export function requireUnlockedForDelete(lock: string | null): void {
  if (lock !== null)
    throw invalid('nonFieldErrors', 'destroy-locked', 'Een vergrendeld document kan niet worden verwijderd.')
}

// ---- relations to other objects ----

/** Where a relation of a document points: an object of ours, or one elsewhere. */
export type Objectverwijzing = { objectUuid: string; objectUrl: null } | { objectUuid: null; objectUrl: string }

/** The resources that a relation of this kind may point to, by their name in links. */
export function resolveObject(url: string, base: string): Objectverwijzing | undefined {
  const target = resolveLink(url, base)
  if (target.kind === 'elsewhere') return { objectUuid: null, objectUrl: url }
  if (target.kind === 'ours' && ['zaak', 'besluit'].includes(target.resource))
    return { objectUuid: target.uuid, objectUrl: null }
  return undefined
}

/**
 * drc-002: the object of a relation can be fetched and is of its kind.
 * @throws Problem 400 on `object`: `bad-url` or `invalid-resource`
 */
export async function requireObject(
  services: Services,
  db: ReadDb,
  input: { object: string; objectType: string },
  base: string,
): Promise<Objectverwijzing> {
  const target = resolveLink(input.object, base)
  if (target.kind === 'nothing') throw invalid('object', 'bad-url', 'Dit object bestaat niet.')
  if (target.kind === 'ours') {
    if (target.resource !== (input.objectType as string))
      throw invalid('object', 'invalid-resource', `Deze URL is niet van een ${input.objectType}.`)
    const table = input.objectType === 'besluit' ? 'besluit' : 'zaak' // verzoeken are never ours
    const found = await db.selectFrom(table).where('uuid', '=', target.uuid).select('id').executeTakeFirst()
    if (!found) throw invalid('object', 'bad-url', 'Dit object bestaat niet.')
    return { objectUuid: target.uuid, objectUrl: null }
  }
  const fetched = await services.fetchJson(input.object)
  if (fetched.kind !== 'ok') throw invalid('object', 'bad-url', 'Dit object is niet op te vragen.')
  const { body } = fetched
  if (
    body === null ||
    typeof body !== 'object' ||
    Array.isArray(body) ||
    typeof (body as { url?: unknown }).url !== 'string'
  )
    throw invalid('object', 'invalid-resource', `Deze URL is niet van een ${input.objectType}.`)
  return { objectUuid: null, objectUrl: input.object }
}

/**
 * drc-004: whether the register that holds the object knows of the relation.
 * @throws Problem 400 `relation-lookup-error` when it does not say so
 */
export async function relationAtSource(
  services: Services,
  relation: { object: string; objectType: string; informatieobject: string },
): Promise<boolean> {
  const list = new URL(relation.object)
  list.search = ''
  list.pathname = `${list.pathname.split('/').slice(0, -2).join('/')}/${relation.objectType}informatieobjecten`
  list.searchParams.set('informatieobject', relation.informatieobject)
  list.searchParams.set(relation.objectType, relation.object)
  const fetched = await services.fetchJson(list.href, { fresh: true })
  const body = fetched.kind === 'ok' ? fetched.body : undefined
  const found = Array.isArray(body) ? body : (body as { results?: unknown } | undefined)?.results
  if (!Array.isArray(found))
    throw invalid(
      'nonFieldErrors',
      'relation-lookup-error',
      'Het register van het object geeft geen bruikbaar antwoord.',
    )
  return found.length > 0
}

/** drc-004. @throws Problem 400 `inconsistent-relation` */
export function requireAtSource(present: boolean): void {
  if (!present)
    throw invalid('nonFieldErrors', 'inconsistent-relation', 'De relatie bestaat niet in het register van het object.')
}

/** A relation is taken away at its source first. @throws Problem 400 `remote-relation-exists` */
export function requireNotAtSource(present: boolean): void {
  if (present)
    throw invalid('nonFieldErrors', 'remote-relation-exists', 'De relatie bestaat nog in het register van het object.')
}

// ---- references to documents ----

/**
 * The document that a sub-resource names.
 * @throws Problem 400 on `informatieobject`: `bad-url` when it does not exist, `incorrect_match` for another resource
 */
export function requireDocumentUrl(url: string, base: string): string {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw unknownDocument()
  if (target.resource !== 'enkelvoudiginformatieobject')
    throw invalid('informatieobject', 'incorrect_match', 'Deze URL is van een andere resource.')
  return target.uuid
}

export function unknownDocument(): Problem {
  return invalid('informatieobject', 'bad-url', 'Dit document bestaat niet.')
}

/** A gebruiksrecht stays with its document. @throws Problem 400 `wijzigen-niet-toegelaten` */
export function requireSameDocument(same: boolean): void {
  if (!same)
    throw invalid('informatieobject', 'wijzigen-niet-toegelaten', 'Het informatieobject kan niet worden gewijzigd.')
}

/** Rights on the audit trail reach the document, or are given for the whole component, without a type. */
export function mayReadTrail(actor: Actor, allowed: boolean): boolean {
  return (
    allowed ||
    actor.autorisaties.some(
      ({ component, scopes, typeUrl, typeUuid }) =>
        component === 'drc' && !typeUrl && !typeUuid && SCOPES_AUDITTRAIL.some((scope) => scopes.has(scope)),
    )
  )
}
