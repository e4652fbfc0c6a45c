// What `expand` can include in answers of the Documenten API.
import { expansionTo } from '../catalogi/expansie.ts'
import type { ExpandTree, Expansion } from '../expand.ts'
import { link, localUuid, resolveLink } from '../links.ts'
import { SCOPES_LEZEN } from './rules.ts'
import { findReadable, toDocument } from './vinden.ts'

/** Types of ours, and those elsewhere that can be fetched; what cannot be is left out. */
function typeExpansion(): Expansion {
  const own = expansionTo('informatieobjecttype')
  return {
    ...own,
    load: async (urls, request) => {
      const found = await own.load(urls, request)
      for (const url of urls.filter((one) => resolveLink(one, request.base).kind === 'elsewhere')) {
        const fetched = await request.server.parts.diensten.fetchJson(url)
        if (fetched.kind === 'ok' && fetched.body !== null && typeof fetched.body === 'object')
          found.set(url, fetched.body as Record<string, unknown>)
      }
      return found
    },
  }
}

/** Within a document. */
export const documentTree: ExpandTree = { informatieobjecttype: typeExpansion() }

/** Within what hangs on a document: a document that the caller may not read is left out. */
export const subresourceTree: ExpandTree = {
  informatieobject: {
    component: 'drc',
    scopes: SCOPES_LEZEN,
    load: async (urls, request) => {
      const uuids = urls.flatMap((url) => localUuid(url, request.base, 'enkelvoudiginformatieobject') ?? [])
      const rows = await findReadable(request.server.read, request.actor, uuids)
      return new Map(
        rows.map((row) => [
          link(request.base, 'enkelvoudiginformatieobject', row.uuid),
          toDocument(row, request.base) as Record<string, unknown>,
        ]),
      )
    },
    within: () => documentTree,
  },
}
