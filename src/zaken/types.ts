// The types below a zaaktype that parts of a case are of: ours, or at another server.
import { NO_REMOTE_TYPES, type RemoteType, type RemoteTypes } from '../catalogi/remote-types.ts'
import type { Mutation } from '../core/mutate.ts'
import { invalid, invalidAll, onObject } from '../core/problem.ts'
import { link, localUuid, type Resource, resolveLink } from '../http/links.ts'
import type { ZaakCore } from './lock.ts'
import type { WithZaaktype } from './rights.ts'

type TypeKind = 'statustype' | 'resultaattype' | 'roltype' | 'eigenschap' | 'zaakobjecttype'

/** A type below that of a case: the id of one of ours, or else what its server said of it. */
export type TypeOfZaak<T extends TypeKind> = { id: number; remote: null } | { id: null; remote: RemoteType<T> }

/** A type of ours, as far as it decides whether it fits a case. */
type OwnType = { id: number; zaaktypeId: number }

/**
 * The type that a body names, and zrc-016, 018, 019, 020: it belongs to the zaaktype of the case, at the same server.
 * @param typen what was asked of other servers
 * @throws Problem 400 on the field of that name, or `zaaktype-mismatch`
 */
export async function requireTypeOfZaak<T extends TypeKind>(
  m: Mutation,
  kind: T,
  url: string,
  zaak: ZaakCore,
  typen: RemoteTypes = NO_REMOTE_TYPES,
): Promise<TypeOfZaak<T>> {
  const uuid = localUuid(url, m.actor.base, kind)
  const own =
    uuid === undefined
      ? undefined
      : await m.trx
          .selectFrom(kind as 'statustype')
          .where('uuid', '=', uuid)
          .select(['id', 'zaaktypeId'])
          .executeTakeFirst()
  return judgeTypeOfZaak(kind, url, zaak, { typen, own, base: m.actor.base })
}

/**
 * The same for who looked types up himself.
 * @param known.own the type of ours that the URL names, if there is one
 */
export function judgeTypeOfZaak<T extends TypeKind>(
  kind: T,
  url: string,
  zaak: ZaakCore,
  { typen, own, base }: { typen: RemoteTypes; own: OwnType | undefined; base: string },
): TypeOfZaak<T> {
  const mismatch = () =>
    invalidAll([onObject('zaaktype-mismatch', `Dit ${kind} hoort niet bij het zaaktype van de zaak.`)])
  const remote = typen.get(kind, url)
  if (remote && 'code' in remote) throw invalidAll([remote])
  if (remote) {
    if ((remote as { zaaktype: string }).zaaktype !== zaak.zaaktypeUrl) throw mismatch()
    return { id: null, remote }
  }
  requireOwn(kind, url, base, kind)
  if (!own) throw invalid(kind, 'bad-url', `Dit ${kind} bestaat niet.`)
  if (own.zaaktypeId !== zaak.zaaktypeId) throw mismatch()
  return { id: own.id, remote: null }
}

/** The URL of a type: of one of ours, or elsewhere. */
export const typeLink = (base: string, kind: Resource, uuid: string | null, url: string | null): string =>
  uuid ? link(base, kind, uuid) : (url ?? '')
export const zaaktypeLink = (base: string, zaak: WithZaaktype): string =>
  typeLink(base, 'zaaktype', zaak.zaaktypeUuid, zaak.zaaktypeUrl)

/** The uuid in a URL that has to be of this resource of ours. @throws Problem 400 on `name` */
export function requireOwn(name: string, url: string, base: string, resource: Resource): string {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw invalid(name, 'bad-url', `Deze ${resource} bestaat niet.`)
  if (target.resource !== resource) throw invalid(name, 'invalid-resource', 'Deze URL is van een andere resource.')
  return target.uuid
}
