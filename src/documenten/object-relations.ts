// Relations of documents to objects, here and in other registers.

import { invalid } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { resolveLink } from '../http/links.ts'
import type { Services } from '../services/services.ts'

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
