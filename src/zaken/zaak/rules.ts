// The rules of a case itself: what stands in it, and when it may be archived.
import type { Static } from 'typebox'
import type { RemoteTypes } from '../../catalogi/remote-types.ts'
import type { Config } from '../../config.ts'
import type { Mutation } from '../../core/mutate.ts'
import type { InvalidParam } from '../../core/problem.ts'
import { fault, immutable } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { isFuture } from '../../http/formats.ts'
import { resolveLink } from '../../http/links.ts'
import type { ZaakCore } from '../lock.ts'
import type { Requirements } from '../requirements.ts'
import type { Zaak, ZaakPatch } from './columns.ts'

export type ZaakBody = Static<typeof Zaak>
/** `nummering`: how numbers are made. */
export type Settings = {
  leeway: number
  nummering: Config['zaakIdentificatieGenerator']
  allowUnpublishedTypes: boolean
  /** Whether a hoofdzaak or gerelateerde zaak may be named without rights on it. */
  relateWithoutRights: boolean
  /** Whether what a type asks before a status is only warned of. */
  requirements: Requirements
}
/** Of this moment: the pages may change some while the program runs. */
export const settingsOf = ({
  jwtLeeway,
  zaakIdentificatieGenerator,
  allowUnpublishedTypes,
  relateWithoutRights,
  typeRequirements,
}: Config): Settings => ({
  leeway: jwtLeeway,
  nummering: zaakIdentificatieGenerator,
  allowUnpublishedTypes,
  relateWithoutRights,
  requirements: typeRequirements,
})

/** zrc-001: cases are made of a published type. */
export const publicationFaults = ({ concept }: { concept: boolean }, { allowUnpublishedTypes }: Settings) =>
  concept && !allowUnpublishedTypes ? [fault('zaaktype', 'not-published', 'Dit zaaktype is nog een concept.')] : []

/** The type of a case stays. */
export async function zaaktypeFaults(
  m: Mutation,
  url: string | undefined,
  kern: ZaakCore,
  typen: RemoteTypes,
  settings: Settings,
): Promise<InvalidParam[]> {
  if (url === undefined || url === kern.zaaktypeUrl) return []
  const remote = typen.get('zaaktype', url)
  if (remote) return 'code' in remote ? [remote] : [...publicationFaults(remote, settings), immutable('zaaktype')]
  const target = resolveLink(url, m.actor.base)
  if (target.kind === 'ours' && target.resource === 'zaaktype' && target.uuid === kern.zaaktypeUuid) return []
  if (target.kind === 'ours' && target.resource !== 'zaaktype')
    return [fault('zaaktype', 'invalid-resource', 'Deze URL is van een andere resource.')]
  const [zaaktype] =
    target.kind === 'ours'
      ? await m.sql<{ concept: boolean }[]>`select concept from zaaktype where uuid = ${target.uuid}`
      : []
  if (!zaaktype) return [fault('zaaktype', 'bad-url', 'Dit zaaktype bestaat niet.')]
  return [...publicationFaults(zaaktype, settings), immutable('zaaktype')]
}

/** zrc-014. */
export function paymentFaults(input: ZaakPatch, { leeway }: Settings): InvalidParam[] {
  if (!input.laatsteBetaaldatum) return []
  const name = 'laatsteBetaaldatum'
  if (input.betalingsindicatie === 'nvt')
    return [fault(name, 'betaling-nvt', 'Zonder kosten (nvt) is er geen laatste betaaldatum.')]
  return isFuture(input.laatsteBetaaldatum, leeway)
    ? [fault(name, 'future_not_allowed', 'Dit moment ligt in de toekomst.')]
    : []
}

/** zrc-015. */
export function productFaults(given: readonly string[], known: readonly string[]): InvalidParam[] {
  if (given.every((url) => known.includes(url))) return []
  const reason = 'Niet al deze producten of diensten horen bij het zaaktype.'
  return [fault('productenOfDiensten', 'invalid-products-services', reason)]
}

/** zrc-015 for a change. A type elsewhere was asked only for products that the case does not have yet. */
export async function productenFaults(
  m: Mutation,
  given: readonly string[],
  oud: ZaakBody,
  kern: ZaakCore,
  typen: RemoteTypes,
): Promise<InvalidParam[]> {
  if (kern.zaaktypeUrl === null) {
    const row = one(
      await m.sql<
        { producten_of_diensten: string[] }[]
      >`select producten_of_diensten from zaaktype where id = ${kern.zaaktypeId}`,
    )
    return productFaults(given, row.producten_of_diensten)
  }
  const type = typen.get('zaaktype', kern.zaaktypeUrl)
  if (type && 'code' in type) return [type]
  return productFaults(given, [...(oud.productenOfDiensten ?? []), ...(type?.productenOfDiensten ?? [])])
}

/** `laatstGeopend` is no moment to come; the clocks of others may run ahead by the leeway of tokens. */
export function openedFaults({ laatstGeopend }: ZaakPatch, { leeway }: Settings): InvalidParam[] {
  return laatstGeopend && isFuture(laatstGeopend, leeway)
    ? [fault('laatstGeopend', 'date-in-future', 'Dit moment ligt in de toekomst.')]
    : []
}

/** zrc-022: a case is archived when all that archiving needs is there. */
export function archiveringFaults(zaak: ZaakPatch, openDocuments: boolean): InvalidParam[] {
  if (!zaak.archiefstatus || zaak.archiefstatus === 'nog_te_archiveren') return []
  const faults: InvalidParam[] = []
  if (!zaak.archiefnominatie)
    faults.push(fault('archiefnominatie', 'archiefnominatie-not-set', 'Vul eerst de archiefnominatie in.'))
  if (openDocuments)
    faults.push(fault('archiefstatus', 'documents-not-archived', 'Niet alle documenten hebben de status gearchiveerd.'))
  if (!zaak.archiefactiedatum)
    faults.push(fault('archiefactiedatum', 'archiefactiedatum-not-set', 'Vul eerst de archiefactiedatum in.'))
  return faults
}

/** zrc-022 for a change: of what archives a case, or would take from one that is archived what that needs. */
export async function archivingFaults(
  m: Mutation,
  kern: ZaakCore,
  given: ZaakPatch,
  oud: ZaakBody,
): Promise<InvalidParam[]> {
  const changes = (['archiefstatus', 'archiefnominatie', 'archiefactiedatum'] as const).filter(
    (name) => given[name] !== undefined && (given[name] ?? null) !== (oud[name] ?? null),
  )
  if (changes.length === 0) return []
  const isArchiving = changes.includes('archiefstatus')
  return archiveringFaults({ ...oud, ...given } as ZaakPatch, isArchiving && (await hasOpenDocuments(m, kern)))
}

/** Whether a document of ours with the case has a latest version that is not archived (zrc-022). */
async function hasOpenDocuments(m: Mutation, kern: ZaakCore): Promise<boolean> {
  const [open] = await m.sql`
    select 1 from zaakinformatieobject i
    join enkelvoudiginformatieobject e on e.id = i.enkelvoudiginformatieobject_id
    join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
    where i.zaak_id = ${kern.id} and v.status <> 'gearchiveerd' limit 1`
  return open !== undefined
}
