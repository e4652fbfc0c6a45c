// What a case has to do with other cases: the one that it is a part of, and those that it is related to.

import type { RemoteTypes } from '../../catalogi/remote-types.ts'
import { deelzaaktypeOfZaaktype } from '../../catalogi/type-relations.ts'
import type { FieldCode } from '../../core/codes.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Mutation } from '../../core/mutate.ts'
import type { InvalidParam } from '../../core/problem.ts'
import { fault, invalid } from '../../core/problem.ts'
import { replaceRows } from '../../database/replace-rows.ts'
import { link, resolveLink } from '../../http/links.ts'
import type { ZaakCore } from '../lock.ts'
import { type Named, named } from './beside.ts'
import type { ZaakPatch } from './columns.ts'

/** zrc-013: a part of a case has no parts itself, and is of a type that fits. */
export async function judgeHoofdzaak(
  m: Mutation,
  url: string | null | undefined,
  own: Pick<ZaakCore, 'zaaktypeId' | 'zaaktypeUrl'>,
  typen: RemoteTypes,
  self?: ZaakCore,
): Promise<{ id: number | null; uuid: string | null; faults: InvalidParam[] }> {
  const none = { id: null, uuid: null }
  if (!url) return { ...none, faults: [] }
  const wrong = (code: FieldCode, reason: string) => ({ ...none, faults: [fault('hoofdzaak', code, reason)] })
  const target = resolveLink(url, m.actor.base)
  if (target.kind !== 'ours') return wrong('no_match', 'Deze URL is geen zaak van deze dienst.')
  if (target.resource !== 'zaak') return wrong('incorrect_match', 'Deze URL is van een andere resource.')
  if (target.uuid === self?.uuid) return wrong('self-forbidden', 'Een zaak is geen hoofdzaak van zichzelf.')
  const [hoofdzaak] = await m.sql<
    {
      id: number
      hoofdzaak_id: number | null
      zaaktype_url: string | null
      past: boolean
      full: boolean
      has_parts: boolean
    }[]
  >`select h.id, h.hoofdzaak_id, h.zaaktype_url,
      exists (select from zaak d where d.hoofdzaak_id = h.id offset ${LIMITS.related - 1}) as full,
      exists (select from zaak d where d.hoofdzaak_id = ${self?.id ?? null}) as has_parts,
      ${m.sql.unsafe(deelzaaktypeOfZaaktype('h.zaaktype_id', 'own.id'))} as past
    from zaak h left join zaaktype own on own.id = ${own.zaaktypeId} where h.uuid = ${target.uuid} for no key update of h`
  if (!hoofdzaak) return wrong('does_not_exist', 'Deze zaak bestaat niet.')
  if (hoofdzaak.hoofdzaak_id !== null)
    return wrong('deelzaak-als-hoofdzaak', 'Deze zaak is zelf een deelzaak en kan geen hoofdzaak zijn.')
  if (hoofdzaak.has_parts)
    return wrong('deelzaak-als-hoofdzaak', 'Deze zaak heeft zelf deelzaken en kan geen deelzaak zijn.')
  if (hoofdzaak.full && hoofdzaak.id !== self?.hoofdzaakId)
    return wrong('max_items', `Een zaak heeft ten hoogste ${LIMITS.related} deelzaken.`)
  const remote = hoofdzaak.zaaktype_url === null ? undefined : typen.get('zaaktype', hoofdzaak.zaaktype_url)
  if (remote && 'code' in remote) return wrong('bad-url', 'Het zaaktype van de hoofdzaak is niet op te vragen.')
  const past = hoofdzaak.past || (remote?.deelzaaktypen ?? []).some((type) => type === own.zaaktypeUrl)
  if (!past && hoofdzaak.id !== self?.hoofdzaakId)
    return wrong('invalid-deelzaaktype', 'Het zaaktype is geen deelzaaktype van het zaaktype van de hoofdzaak.')
  return { id: hoofdzaak.id, uuid: target.uuid, faults: [] }
}
type RelevanteAard = NonNullable<ZaakPatch['relevanteAndereZaken']>[number]['aardRelatie']
type OtherZaak = { id: number | null; url: string }
type Relations = {
  relevant: (OtherZaak & { aardRelatie: RelevanteAard; overigeRelatie: string; toelichting: string })[]
  gerelateerd: OtherZaak[]
  faults: InvalidParam[]
}

/**
 * zrc-011: the other cases exist, and are others. Those elsewhere were asked before. One that is named twice counts once.
 * @param self the uuid of the case, when it is there already
 */
export async function judgeRelations(m: Mutation, given: ZaakPatch, self?: string): Promise<Relations> {
  const { relevanteAndereZaken = [], gerelateerdeZaken = [] } = given
  const result: Relations = { relevant: [], gerelateerd: [], faults: [] }
  const urls = [...relevanteAndereZaken, ...gerelateerdeZaken].map(({ url }) => url)
  if (urls.length === 0) return result
  const uuids = urls.flatMap((url) => {
    const target = resolveLink(url, m.actor.base)
    return target.kind === 'ours' && target.resource === 'zaak' ? target.uuid : []
  })
  const rows = await m.sql<
    { id: number; uuid: string }[]
  >`select id, uuid from zaak where uuid = any(${uuids}::uuid[]) for key share`
  const find = (name: string, url: string): number | null | undefined => {
    const target = resolveLink(url, m.actor.base)
    if (target.kind === 'elsewhere') return null
    if (target.kind === 'ours' && target.resource === 'zaak' && target.uuid === self) {
      result.faults.push(fault(name, 'self-forbidden', 'Een zaak heeft geen relatie met zichzelf.'))
      return undefined
    }
    const id = target.kind === 'ours' ? rows.find(({ uuid }) => uuid === target.uuid)?.id : undefined
    if (id !== undefined) return id
    const other = target.kind === 'ours' && target.resource !== 'zaak'
    result.faults.push(
      fault(
        name,
        other ? 'invalid-resource' : 'bad-url',
        other ? 'Deze URL is van een andere resource.' : 'Deze zaak bestaat niet.',
      ),
    )
    return undefined
  }
  for (const [index, one] of relevanteAndereZaken.entries()) {
    const name = `relevanteAndereZaken.${index}`
    const id = find(`${name}.url`, one.url)
    const overigeRelatie = one.overigeRelatie ?? ''
    if (one.aardRelatie === 'overig' && overigeRelatie === '')
      result.faults.push(
        fault(`${name}.overigeRelatie`, 'overigerelatie-required', 'Omschrijf de relatie als de aard overig is.'),
      )
    const isKnown = ({ id: other, url, aardRelatie }: (typeof result.relevant)[number]) =>
      aardRelatie === one.aardRelatie && (id === null ? url === one.url : other === id)
    if (id !== undefined && !result.relevant.some(isKnown))
      result.relevant.push({
        id,
        url: one.url,
        aardRelatie: one.aardRelatie,
        overigeRelatie,
        toelichting: one.toelichting ?? '',
      })
  }
  for (const [index, { url }] of gerelateerdeZaken.entries()) {
    const id = find(`gerelateerdeZaken.${index}.url`, url)
    if (id === undefined || result.gerelateerd.some((known) => (id === null ? known.url === url : known.id === id)))
      continue
    result.gerelateerd.push({ id, url })
  }
  return result
}

/** The cases of ours that a change relates, or relates no more. */
export async function otherRelated(
  m: Mutation,
  zaakId: number,
  given: ZaakPatch,
  { gerelateerd }: Relations,
): Promise<Named[]> {
  if (given.gerelateerdeZaken === undefined) return []
  const rows = await m.sql<{ id: number }[]>`
    select andere_zaak_id as id from zaak_gerelateerde_zaak where zaak_id = ${zaakId} and andere_zaak_id is not null`
  const [was, will] = [new Set(rows.map(({ id }) => id)), new Set(gerelateerd.flatMap(({ id }) => id ?? []))]
  return [...was.symmetricDifference(will)].flatMap((id) => named('gerelateerdeZaken', id))
}

/** Replaces the lists that are given as a whole. Related cases of our own know of each other. */
export async function writeRelations(
  m: Mutation,
  zaakId: number,
  { relevant, gerelateerd }: Relations,
  given: ZaakPatch = { relevanteAndereZaken: [], gerelateerdeZaken: [] },
): Promise<void> {
  if (given.relevanteAndereZaken)
    await replaceRows(
      m.trx.deleteFrom('zaakAndereZaak').where('zaakId', '=', zaakId),
      relevant.map(({ id, url, aardRelatie, overigeRelatie, toelichting }, place) => ({
        zaakId,
        place,
        andereZaakId: id,
        andereZaakUrl: id === null ? url : null,
        aardRelatie,
        overigeRelatie,
        toelichting,
      })),
      (rows) => m.trx.insertInto('zaakAndereZaak').values(rows),
    )
  if (given.gerelateerdeZaken) {
    await replaceRows(
      m.trx
        .deleteFrom('zaakGerelateerdeZaak')
        .where((where) => where.or([where('zaakId', '=', zaakId), where('andereZaakId', '=', zaakId)])),
      gerelateerd.flatMap(({ id, url }) => [
        { zaakId, andereZaakId: id, andereZaakUrl: id === null ? url : null },
        ...(id === null || id === zaakId ? [] : [{ zaakId: id, andereZaakId: zaakId, andereZaakUrl: null }]),
      ]),
      (rows) =>
        m.trx
          .insertInto('zaakGerelateerdeZaak')
          .values(rows)
          .onConflict((conflict) => conflict.doNothing()),
    )
    // The others know of it too, and so have lists that grow without a change of their own.
    const others = gerelateerd.flatMap(({ id }) => id ?? [])
    const [full] = await m.sql<{ uuid: string }[]>`select z.uuid from zaak z where z.id = any(${others}::bigint[])
      and exists (select from zaak_gerelateerde_zaak g where g.zaak_id = z.id offset ${LIMITS.related}) limit 1`
    if (full)
      throw invalid(
        'gerelateerdeZaken',
        'max_items',
        `Een zaak heeft ten hoogste ${LIMITS.related} gerelateerde zaken: ${link(m.actor.base, 'zaak', full.uuid)}.`,
      )
  }
}
