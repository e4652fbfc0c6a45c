// The rules of the Zaken API that several resources share, each once, by the number that the standard gives it.
import { type RawBuilder, sql } from 'kysely'
import { NO_REMOTE_TYPES, type RemoteType, type RemoteTypes } from '../catalogi/remote-types.ts'
import type { ReadDb } from '../database/database.ts'
import type { Mutation } from '../database/mutate.ts'
import { type Actor, isAllowed, reach, requireAllowed, type Subject } from '../http/access.ts'
import type { Vertrouwelijkheidaanduiding } from '../http/input.ts'
import { link, type Resource, resolveLink } from '../http/links.ts'
import { forbidden, type InvalidParam, invalid, invalidAll, notFound } from '../http/problem.ts'

// ---- rights ----

export type Scopes = readonly string[]
export const LEZEN = ['zaken.lezen'] as const
export const AANMAKEN = ['zaken.aanmaken'] as const
export const ALLEEN_BIJWERKEN = ['zaken.bijwerken'] as const
export const GEFORCEERD = ['zaken.geforceerd-bijwerken'] as const
export const BIJWERKEN = [...ALLEEN_BIJWERKEN, ...GEFORCEERD] as const
export const VERWIJDEREN = ['zaken.verwijderen'] as const
export const STATUSSEN_TOEVOEGEN = ['zaken.statussen.toevoegen'] as const
export const HEROPENEN = ['zaken.heropenen'] as const
export const STATUS_ZETTEN = [...AANMAKEN, ...STATUSSEN_TOEVOEGEN, ...HEROPENEN] as const
export const KOPPELEN = [...AANMAKEN, ...BIJWERKEN] as const
export const ONTKOPPELEN = [...BIJWERKEN, ...VERWIJDEREN] as const
export const AUDITTRAIL = ['audittrails.lezen'] as const

/** The first gate of a route: one of these scopes on any right. */
export const access = <S extends Scopes>(scopes: S) => ({ access: { component: 'zrc', scopes } }) as const

/** Where the zaaktype of a case stands: the uuid of one of ours, or else its URL. */
export type WithZaaktype = { zaaktypeUuid: string | null; zaaktypeUrl: string | null }
/** What rights are compared with. */
export type ZaakSubject = WithZaaktype & { vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding }
export const subjectOf = (zaak: ZaakSubject): Subject => ({
  type: zaak.zaaktypeUuid ? { uuid: zaak.zaaktypeUuid } : { url: zaak.zaaktypeUrl ?? '' },
  vertrouwelijkheidaanduiding: zaak.vertrouwelijkheidaanduiding,
})
export const mayDo = (actor: Actor, scopes: Scopes, zaak: ZaakSubject): boolean =>
  isAllowed(actor, 'zrc', scopes, subjectOf(zaak))

/** zrc-006. @throws Problem 403 when no right with one of these scopes reaches the case */
export function requireMay(actor: Actor, scopes: Scopes, zaak: ZaakSubject): void {
  requireAllowed(actor, 'zrc', scopes, subjectOf(zaak))
}

/** Cases of zaaktypen of ours, or cases of zaaktypen elsewhere. */
export type ZaaktypeOrigin = 'eigen' | 'elders'

/**
 * zrc-006 for lists: whether the rights of the actor with one of these scopes reach case `z`.
 * @param deel looks only at cases of this kind
 */
export function reached(actor: Actor, scopes: Scopes = LEZEN, deel?: ZaaktypeOrigin): RawBuilder<boolean> {
  const groups = reach(actor, 'zrc', scopes)
  if (groups === 'alles') return sql<boolean>`true`
  const choices = groups.flatMap(({ max, typeIds, typeUrls }) => {
    if (max === null) return []
    const upTo = sql`z.vertrouwelijkheidaanduiding <= ${max}::vertrouwelijkheidaanduiding`
    return [
      ...(typeIds.length > 0 && deel !== 'elders'
        ? [sql`(${upTo} and z.zaaktype_id = any(${typeIds}::bigint[]))`]
        : []),
      ...(typeUrls.length > 0 && deel !== 'eigen'
        ? [sql`(${upTo} and z.zaaktype_url = any(${typeUrls}::text[]))`]
        : []),
    ]
  })
  return choices.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(choices, sql` or `)})`
}

// ---- the case of a change ----

function selectCore(db: ReadDb) {
  return db
    .selectFrom('zaak as z')
    .leftJoin('zaaktype as t', 't.id', 'z.zaaktypeId')
    .leftJoin('catalogus as c', 'c.id', 't.catalogusId')
    .select(['z.id', 'z.uuid', 'z.identificatie', 'z.bronorganisatie', 'z.zaaktypeId', 'z.vertrouwelijkheidaanduiding'])
    .select(['z.einddatum', 'z.archiefstatus', 'z.hoofdzaakId', 't.uuid as zaaktypeUuid', 'c.uuid as catalogusUuid'])
    .select(['z.zaaktypeUrl', 'z.zaaktypeCatalogusUrl'])
}
/** What every change below a case has to know of it. */
export type ZaakCore = Awaited<ReturnType<ReturnType<typeof selectCore>['executeTakeFirstOrThrow']>>

/** A case without a lock, to judge a reader by. @throws Problem 404, or 403 without the right */
export async function requireZaak(db: ReadDb, actor: Actor, scopes: Scopes, uuid: string): Promise<ZaakCore> {
  const zaak = await selectCore(db).where('z.uuid', '=', uuid).executeTakeFirst()
  if (!zaak) throw notFound()
  requireMay(actor, scopes, zaak)
  return zaak
}

/** The case with this uuid, locked: it does not change until the transaction ends. */
export function holdZaak(m: Mutation, uuid: string): Promise<ZaakCore | undefined> {
  return selectCore(m.read).where('z.uuid', '=', uuid).forNoKeyUpdate('z').executeTakeFirst()
}

/**
 * The case that the body of something below it names, locked.
 * @throws Problem 400 on `name` when it is no case of ours, 403 without the right
 */
export async function zaakForChange(m: Mutation, url: string, scopes: Scopes, name = 'zaak'): Promise<ZaakCore> {
  const target = resolveLink(url, m.actor.base)
  if (target.kind === 'ours' && target.resource !== 'zaak')
    throw invalid(name, 'incorrect_match', 'Deze URL is van een andere resource.')
  const zaak = target.kind === 'ours' ? await holdZaak(m, target.uuid) : undefined
  if (!zaak) throw invalid(name, 'object-does-not-exist', 'Deze zaak bestaat niet.')
  requireMay(m.actor, scopes, zaak)
  return zaak
}

/** zrc-007: a closed case is changed only by who may force it. @throws Problem 403 */
export function requireOpenZaak(zaak: ZaakCore, actor: Actor): void {
  if (zaak.einddatum !== null && !mayDo(actor, GEFORCEERD, zaak))
    throw forbidden(undefined, 'De zaak is afgesloten; wijzigen vraagt het recht zaken.geforceerd-bijwerken.')
}

/** What hangs on an archived case stays as it is, whoever asks. */
export function archivedFaults(zaak: Pick<ZaakCore, 'archiefstatus'>): InvalidParam[] {
  if (zaak.archiefstatus === 'nog_te_archiveren') return []
  return [onObject('zaak-archiefstatus-invalid', 'De zaak is gearchiveerd of overgedragen en kan niet meer wijzigen.')]
}

/** A case below which something changed. */
export async function touchZaak(m: Mutation, zaakId: number): Promise<void> {
  await m.sql`update zaak set laatst_gemuteerd = now() where id = ${zaakId}`
}

// ---- types ----

type Typesoort = 'statustype' | 'resultaattype' | 'roltype' | 'eigenschap' | 'zaakobjecttype'

/** A type below that of a case: the id of one of ours, or else what its server said of it. */
export type TypeOfZaak<T extends Typesoort> = { id: number; elders: null } | { id: null; elders: RemoteType<T> }

/**
 * The type that a body names, and zrc-016, 018, 019, 020: it belongs to the zaaktype of the case, at the same server.
 * @param typen what was asked of other servers
 * @throws Problem 400 on the field of that name, or `zaaktype-mismatch`
 */
export async function requireTypeOfZaak<T extends Typesoort>(
  m: Mutation,
  soort: T,
  url: string,
  zaak: ZaakCore,
  typen: RemoteTypes = NO_REMOTE_TYPES,
): Promise<TypeOfZaak<T>> {
  const mismatch = () =>
    invalidAll([onObject('zaaktype-mismatch', `Dit ${soort} hoort niet bij het zaaktype van de zaak.`)])
  const elders = typen.get(soort, url)
  if (elders && 'code' in elders) throw invalidAll([elders])
  if (elders) {
    if ((elders as { zaaktype: string }).zaaktype !== zaak.zaaktypeUrl) throw mismatch()
    return { id: null, elders }
  }
  const uuid = requireOwn(soort, url, m.actor.base, soort)
  const type = await m.trx
    .selectFrom(soort as 'statustype')
    .where('uuid', '=', uuid)
    .select(['id', 'zaaktypeId'])
    .executeTakeFirst()
  if (!type) throw invalid(soort, 'bad-url', `Dit ${soort} bestaat niet.`)
  if (type.zaaktypeId !== zaak.zaaktypeId) throw mismatch()
  return { id: type.id, elders: null }
}

/** The URL of a type: of one of ours, or elsewhere. */
export const typeLink = (base: string, soort: Resource, uuid: string | null, url: string | null): string =>
  uuid ? link(base, soort, uuid) : (url ?? '')
export const zaaktypeLink = (base: string, zaak: WithZaaktype): string =>
  typeLink(base, 'zaaktype', zaak.zaaktypeUuid, zaak.zaaktypeUrl)

/** The uuid in a URL that has to be of this resource of ours. @throws Problem 400 on `name` */
export function requireOwn(name: string, url: string, base: string, resource: Resource): string {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw invalid(name, 'bad-url', `Deze ${resource} bestaat niet.`)
  if (target.resource !== resource) throw invalid(name, 'invalid-resource', 'Deze URL is van een andere resource.')
  return target.uuid
}

// ---- faults ----

export const fault = (name: string, code: string, reason: string): InvalidParam => ({ name, code, reason })
export const onObject = (code: string, reason: string) => fault('nonFieldErrors', code, reason)

export const immutable = (name: string) =>
  fault(name, 'wijzigen-niet-toegelaten', 'Dit veld kan niet worden gewijzigd.')

/** A moment that lies ahead of the clock. `leeway` in seconds. */
export const isFuture = (moment: string, leeway: number): boolean => Date.parse(moment) > Date.now() + leeway * 1000

// ---- records ----

/** How people name a case. */
export const zaakLabel = (zaak: Pick<ZaakCore, 'bronorganisatie' | 'identificatie'>) =>
  `${zaak.bronorganisatie} - ${zaak.identificatie}`

/** Where changes of a case and of what hangs on it are announced. */
export function zakenKanaal(
  zaak: ZaakSubject & Pick<ZaakCore, 'bronorganisatie' | 'catalogusUuid' | 'zaaktypeCatalogusUrl'>,
  base: string,
) {
  return {
    naam: 'zaken',
    kenmerken: {
      bronorganisatie: zaak.bronorganisatie,
      zaaktype: zaaktypeLink(base, zaak),
      'zaaktype.catalogus': typeLink(base, 'catalogus', zaak.catalogusUuid, zaak.zaaktypeCatalogusUrl),
      vertrouwelijkheidaanduiding: zaak.vertrouwelijkheidaanduiding,
    },
  }
}

/**
 * Records a change of something below a case. It is announced unless `stil`; the standard announces of some resources only
 * that they came.
 */
export function recordBelow(
  m: Mutation,
  zaak: ZaakCore,
  change: {
    actie: 'create' | 'update' | 'partial_update' | 'destroy'
    resource: string
    url: string
    uuid: string
    detail: string
    oud: unknown
    nieuw: unknown
    stil?: boolean
  },
): void {
  const { detail, stil = false, ...rest } = change
  m.record({
    component: 'zrc',
    ...rest,
    weergave: `(${zaakLabel(zaak)}) - ${detail}`,
    hoofdobject: { url: link(m.actor.base, 'zaak', zaak.uuid), uuid: zaak.uuid },
    kanaal: stil ? null : zakenKanaal(zaak, m.actor.base),
  })
}

export const ZAAKEIGENSCHAPPEN = 'zaakeigenschappen'
/** The one resource with a nested URL. */
export const eigenschapLink = (base: string, zaakUuid: string, uuid: string) =>
  `${link(base, 'zaak', zaakUuid)}/${ZAAKEIGENSCHAPPEN}/${uuid}`
