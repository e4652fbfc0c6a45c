// The rules of the Besluiten API, each once, by the number that the standard gives it. Three are kept elsewhere: brc-004 by
// having no field for the nature of a relation, brc-005 and brc-006 where relations are written.

import { findBesluittypeInfo } from '../catalogi/rules.ts'
import { isBesluittypeOfZaaktype, isDocumenttypeOfBesluittype } from '../catalogi/type-relations.ts'
import type { Config } from '../config.ts'
import type { FieldCode } from '../core/codes.ts'
import type { Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam, invalidAll, onObject } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { link, resolveLink } from '../http/links.ts'
import { today } from '../lib/day.ts'
import type { Services } from '../services/services.ts'
import { holdZaak, type ZaakCore } from '../zaken/lock.ts'
import { type BesluitInput, type BesluitPatch, type BesluitRow, besluittypeLink } from './columns.ts'

// ---- the type ----

/** A besluittype as besluiten need it; `id` and `uuid` are empty when it stands elsewhere. */
export type Besluittype = {
  id: number | null
  besluittypeUuid: string | null
  besluittypeUrl: string | null
  concept: boolean
  catalogusUrl: string
  /** The zaaktypen that a type elsewhere names; those of ours are in the database. */
  zaaktypen: string[]
}

const immutable = (name: string) => fault(name, 'wijzigen-niet-toegelaten', 'Dit veld kan niet worden gewijzigd.')

/**
 * brc-001: the type of a besluit exists and is a besluittype.
 * @param elsewhere what `fetchBesluittypeElsewhere` found, for a URL that is not ours
 * @throws Problem 400 on `besluittype`: `bad-url` or `invalid-resource`
 */
export async function requireBesluittype(
  db: ReadDb,
  url: string,
  base: string,
  elsewhere: Besluittype | InvalidParam | undefined,
): Promise<Besluittype> {
  const found = elsewhere ?? (await findOwnBesluittype(db, url, base))
  if ('code' in found) throw invalidAll([found])
  return found
}

async function findOwnBesluittype(db: ReadDb, url: string, base: string): Promise<Besluittype | InvalidParam> {
  const target = resolveLink(url, base)
  if (target.kind === 'ours' && target.resource !== 'besluittype')
    return fault('besluittype', 'invalid-resource', 'Deze URL is van een andere resource.')
  const type = target.kind === 'ours' ? await findBesluittypeInfo(db, target.uuid) : undefined
  if (!type) return fault('besluittype', 'bad-url', 'Dit besluittype bestaat niet.')
  return {
    id: type.id,
    besluittypeUuid: type.uuid,
    besluittypeUrl: null,
    concept: type.concept,
    catalogusUrl: link(base, 'catalogus', type.catalogusUuid),
    zaaktypen: [],
  }
}

/** brc-001 for a type elsewhere: to be asked before a transaction begins. Undefined for a URL of ours. */
export async function fetchBesluittypeElsewhere(
  services: Services,
  url: string,
  base: string,
): Promise<Besluittype | InvalidParam | undefined> {
  if (resolveLink(url, base).kind !== 'elsewhere') return undefined
  const fetched = await services.fetchJson(url)
  if (fetched.kind !== 'ok') return fault('besluittype', 'bad-url', 'Dit besluittype is niet op te vragen.')
  const { catalogus, concept, informatieobjecttypen, publicatieIndicatie, zaaktypen } = (fetched.body ?? {}) as Record<
    string,
    unknown
  >
  if (
    typeof catalogus !== 'string' ||
    typeof concept !== 'boolean' ||
    typeof publicatieIndicatie !== 'boolean' ||
    !Array.isArray(informatieobjecttypen)
  )
    return fault('besluittype', 'invalid-resource', 'Deze URL is niet van een besluittype.')
  const named = Array.isArray(zaaktypen) ? zaaktypen.filter((one) => typeof one === 'string') : []
  return { id: null, besluittypeUuid: null, besluittypeUrl: url, concept, catalogusUrl: catalogus, zaaktypen: named }
}

/** What the rules ask of the settings. */
export type Settings = Pick<Config, 'allowUnpublishedTypes' | 'jwtLeeway'>

/** brc-001: besluiten are taken of a published type. Whether it is valid today does not matter. */
export function publishedFaults(type: { concept: boolean }, { allowUnpublishedTypes }: Settings): InvalidParam[] {
  return type.concept && !allowUnpublishedTypes
    ? [fault('besluittype', 'not-published', 'Dit besluittype is nog een concept.')]
    : []
}

/** brc-001: the type of a besluit stays. What else is wrong with the new one is said too. */
export async function besluittypeChangeFaults(
  db: ReadDb,
  given: BesluitPatch,
  row: BesluitRow,
  base: string,
  config: Settings,
) {
  const url = given.besluittype
  if (url === undefined || sameLink(url, besluittypeLink(row, base), base)) return []
  const found = resolveLink(url, base).kind === 'elsewhere' ? undefined : await findOwnBesluittype(db, url, base)
  if (found && 'code' in found) return [found]
  return [...(found ? publishedFaults(found, config) : []), immutable('besluittype')]
}

// ---- the other fields ----

/** brc-002: the number is unique within the organisation. The database keeps the rule; asked here, faults come together. */
export async function identificatieFaults(db: ReadDb, input: BesluitInput): Promise<InvalidParam[]> {
  if (!input.identificatie) return []
  const known = await db
    .selectFrom('besluit')
    .where('identificatie', '=', input.identificatie)
    .where('verantwoordelijkeOrganisatie', '=', input.verantwoordelijkeOrganisatie)
    .select('id')
    .executeTakeFirst()
  if (!known) return []
  const reason = 'Deze identificatie bestaat al binnen de verantwoordelijke organisatie.'
  return [fault('identificatie', 'identificatie-niet-uniek', reason)]
}

/** brc-002: the number and its organisation stay. An empty number is none given. */
export function identificatieChangeFaults(given: BesluitPatch, row: BesluitRow): InvalidParam[] {
  const faults: InvalidParam[] = []
  if (given.identificatie && given.identificatie !== row.identificatie) faults.push(immutable('identificatie'))
  const { verantwoordelijkeOrganisatie } = given
  if (verantwoordelijkeOrganisatie !== undefined && verantwoordelijkeOrganisatie !== row.verantwoordelijkeOrganisatie)
    faults.push(immutable('verantwoordelijkeOrganisatie'))
  return faults
}

/** A besluit has been taken. `jwtLeeway` in seconds, of clocks that differ. */
export function dateFaults({ datum }: { datum?: string | undefined }, { jwtLeeway }: Settings): InvalidParam[] {
  return datum !== undefined && datum > today(jwtLeeway)
    ? [fault('datum', 'future_not_allowed', 'Deze datum ligt in de toekomst.')]
    : []
}

// ---- the case ----

/** The case that a besluit names, locked so that it does not close meanwhile; null when it names none. */
export async function judgeZaak(
  m: Mutation,
  url: string | undefined,
): Promise<{ zaak: ZaakCore | null; faults: InvalidParam[] }> {
  if (!url) return { zaak: null, faults: [] }
  const wrong = (code: FieldCode, reason: string) => ({ zaak: null, faults: [fault('zaak', code, reason)] })
  const target = resolveLink(url, m.actor.base)
  if (target.kind === 'ours' && target.resource !== 'zaak')
    return wrong('invalid-resource', 'Deze URL is van een andere resource.')
  const zaak = target.kind === 'ours' ? await holdZaak(m, target.uuid) : undefined
  return zaak ? { zaak, faults: [] } : wrong('bad-url', 'Deze zaak bestaat niet.')
}

/** brc-007: decisions of this type can be taken in cases of the zaaktype. Both are ours, or both stand elsewhere. */
export async function zaaktypeFaults(
  db: ReadDb,
  type: Pick<Besluittype, 'id' | 'zaaktypen'>,
  zaak: ZaakCore | null,
): Promise<InvalidParam[]> {
  if (!zaak) return []
  const { zaaktypeId, zaaktypeUrl } = zaak
  const past =
    zaaktypeId === null
      ? type.id === null && type.zaaktypen.includes(zaaktypeUrl ?? '')
      : type.id !== null && (await isBesluittypeOfZaaktype(db, zaaktypeId, type.id))
  if (past) return []
  return [onObject('zaaktype-mismatch', 'Het besluittype hoort niet bij het zaaktype van de zaak.')]
}

/** A case at another server: the type of it may well be ours. */
export type ZaakElsewhere = { url: string; zaaktype: string }

/** The case elsewhere that a besluit names: to be asked before a transaction begins. Undefined for none, or one of ours. */
export async function fetchZaakElsewhere(
  services: Services,
  url: string | undefined,
  base: string,
): Promise<ZaakElsewhere | InvalidParam | undefined> {
  if (!url || resolveLink(url, base).kind !== 'elsewhere') return undefined
  const fetched = await services.fetchJson(url)
  if (fetched.kind !== 'ok') return fault('zaak', 'bad-url', 'Deze zaak is niet op te vragen.')
  const { zaaktype, bronorganisatie } = (fetched.body ?? {}) as Record<string, unknown>
  if (typeof zaaktype !== 'string' || typeof bronorganisatie !== 'string')
    return fault('zaak', 'invalid-resource', 'Deze URL is niet van een zaak.')
  return { url, zaaktype }
}

/** brc-007 for a case elsewhere: both types are ours, or the besluittype elsewhere names that zaaktype. */
export async function zaaktypeElsewhereFaults(
  db: ReadDb,
  type: Pick<Besluittype, 'id' | 'zaaktypen'>,
  { zaaktype }: ZaakElsewhere,
  base: string,
): Promise<InvalidParam[]> {
  const target = resolveLink(zaaktype, base)
  if (type.id === null && type.zaaktypen.includes(zaaktype)) return []
  if (type.id !== null && target.kind === 'ours' && target.resource === 'zaaktype') {
    const own = await db.selectFrom('zaaktype').where('uuid', '=', target.uuid).select('id').executeTakeFirst()
    if (own && (await isBesluittypeOfZaaktype(db, own.id, type.id))) return []
  }
  return [onObject('zaaktype-mismatch', 'Het besluittype hoort niet bij het zaaktype van de zaak.')]
}

// ---- documents ----

/** brc-003: what a besluit is laid down in is a document of ours, unless `fetchDocumentElsewhere` found it. */
export function judgeDocumentUrl(url: string, base: string): { uuid: string } | InvalidParam {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') return unknownDocument()
  if (target.resource !== 'enkelvoudiginformatieobject')
    return fault('informatieobject', 'invalid-resource', 'Deze URL is van een andere resource.')
  return { uuid: target.uuid }
}
export const unknownDocument = () => fault('informatieobject', 'bad-url', 'Dit document bestaat niet.')

/** The types of document that a besluittype elsewhere names; none when it is ours or does not answer. */
export async function fetchDocumenttypen(services: Services, besluittypeUrl: string | null): Promise<string[]> {
  const fetched = besluittypeUrl === null ? undefined : await services.fetchJson(besluittypeUrl)
  const body = fetched?.kind === 'ok' ? (fetched.body as { informatieobjecttypen?: unknown } | null) : undefined
  const named = body?.informatieobjecttypen
  return Array.isArray(named) ? named.filter((url) => typeof url === 'string') : []
}

/** The type of a document: one of ours, or one elsewhere. */
export type Documenttype = { id: number | null; url: string | null }

/** What the type of a document elsewhere is to us: it may well be one of ours. */
export async function documenttypeElsewhere(db: ReadDb, url: string, base: string): Promise<Documenttype> {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') return { id: null, url }
  const own = target.resource === 'informatieobjecttype' ? target.uuid : null
  const row = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', 'is not distinct from', own)
    .select('id')
    .executeTakeFirst()
  return { id: row?.id ?? null, url }
}

/**
 * brc-008: decisions of this type are laid down in documents of that type. Both are ours or both stand elsewhere.
 * @param remoteTypes what `fetchDocumenttypen` found
 */
export async function informatieobjecttypeFaults(
  db: ReadDb,
  besluittypeId: number | null,
  type: Documenttype,
  remoteTypes: readonly string[],
): Promise<InvalidParam[]> {
  const related =
    besluittypeId === null
      ? type.url !== null && remoteTypes.includes(type.url)
      : type.id !== null && (await isDocumenttypeOfBesluittype(db, besluittypeId, type.id))
  if (related) return []
  const code = 'missing-besluittype-informatieobjecttype-relation'
  return [onObject(code, 'Het informatieobjecttype van het document hoort niet bij het besluittype.')]
}

/** The besluit that one of its documents names. @throws Problem 400 on `besluit` */
export function requireBesluitUrl(url: string, base: string): string {
  const target = resolveLink(url, base)
  if (target.kind === 'ours' && target.resource !== 'besluit')
    throw invalidAll([fault('besluit', 'incorrect_match', 'Deze URL is van een andere resource.')])
  if (target.kind !== 'ours') throw unknownBesluit()
  return target.uuid
}
export const unknownBesluit = () => invalidAll([fault('besluit', 'object-does-not-exist', 'Dit besluit bestaat niet.')])

function sameLink(one: string, other: string, base: string): boolean {
  const [a, b] = [resolveLink(one, base), resolveLink(other, base)]
  return one === other || (a.kind === 'ours' && b.kind === 'ours' && a.resource === b.resource && a.uuid === b.uuid)
}
