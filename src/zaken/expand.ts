// What `expand` can include in answers of the Zaken API. Each resource says here how many of its kind are read in one
// query; what the caller may not read is left out.
import type { FastifyRequest } from 'fastify'
import { expansionAlsoElsewhere } from '../catalogi/expand.ts'
import { subresourceTree } from '../documenten/expand.ts'
import { alsoElsewhere, type ExpandTree, type Expansion } from '../http/expand.ts'
import { localUuid } from '../http/links.ts'
import { LEZEN } from './rights.ts'
import { toZaak } from './zaak/columns.ts'
import { findReadable } from './zaak/read.ts'

export type Kind =
  | 'zaak'
  | 'status'
  | 'resultaat'
  | 'rol'
  | 'zaakinformatieobject'
  | 'zaakobject'
  | 'zaakeigenschap'
  | 'zaakbesluit'
  | 'substatus'
  | 'klantcontact'
  | 'zaakcontactmoment'
  | 'zaakverzoek'
  | 'zaaknotitie'
type Loader = (request: FastifyRequest, uuids: string[]) => Promise<{ url: string }[]>
const loaders = new Map<Kind, Loader>()

/** Says how a kind is read, when its module is loaded. @param load what the caller may not read it leaves out */
export function expandable(kind: Kind, load: Loader): void {
  loaders.set(kind, load)
}
expandable('zaak', async (request, uuids) =>
  (await findReadable(request.server.read, request.actor, uuids)).map((row) => toZaak(row, request.base)),
)

function to(kind: Kind): Expansion {
  return {
    component: 'zrc',
    scopes: LEZEN,
    load: async (urls, request) => {
      const uuids = urls.flatMap((url) =>
        kind === 'zaakeigenschap' || kind === 'zaakbesluit'
          ? nestedUuid(url)
          : (localUuid(url, request.base, kind) ?? []),
      )
      const load = loaders.get(kind)
      if (!load) throw new Error(`nothing says how a ${kind} is read`)
      if (uuids.length === 0) return new Map()
      return new Map((await load(request, uuids)).map((found) => [found.url, found]))
    },
    within: () => tree(kind),
  }
}

const nestedUuid = (url: string) => /\/(?:zaakeigenschappen|besluiten)\/([0-9a-f-]{36})$/.exec(url)?.[1] ?? []

/** What can be expanded within a resource of this kind. */
export function tree(kind: Kind): ExpandTree {
  switch (kind) {
    case 'zaak':
      return {
        zaaktype: expansionAlsoElsewhere('zaaktype'),
        hoofdzaak: to('zaak'),
        deelzaken: to('zaak'),
        relevanteAndereZaken: alsoElsewhere(to('zaak')),
        gerelateerdeZaken: alsoElsewhere(to('zaak')),
        eigenschappen: to('zaakeigenschap'),
        rollen: to('rol'),
        status: to('status'),
        zaakinformatieobjecten: to('zaakinformatieobject'),
        zaakobjecten: to('zaakobject'),
        resultaat: to('resultaat'),
      }
    case 'status':
      return {
        zaak: to('zaak'),
        statustype: expansionAlsoElsewhere('statustype'),
        gezetdoor: to('rol'),
        zaakinformatieobjecten: to('zaakinformatieobject'),
      }
    case 'resultaat':
      return { zaak: to('zaak'), resultaattype: expansionAlsoElsewhere('resultaattype') }
    case 'rol':
      return { zaak: to('zaak'), roltype: expansionAlsoElsewhere('roltype'), statussen: to('status') }
    case 'zaakinformatieobject':
      return { zaak: to('zaak'), status: to('status'), ...subresourceTree }
    case 'zaakobject':
      return { zaak: to('zaak'), zaakobjecttype: expansionAlsoElsewhere('zaakobjecttype') }
    case 'zaakeigenschap':
      return { zaak: to('zaak'), eigenschap: expansionAlsoElsewhere('eigenschap') }
    default:
      return { zaak: to('zaak') }
  }
}
export const zaakTree = (): ExpandTree => tree('zaak')
