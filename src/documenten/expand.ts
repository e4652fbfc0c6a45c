// What `expand` can include in answers of the Documenten API.
import { expansionAlsoElsewhere } from '../catalogi/expand.ts'
import { alsoElsewhere, type ExpandTree } from '../http/expand.ts'
import { link, localUuid } from '../http/links.ts'
import { toDocument } from './document/columns.ts'
import { findReadable } from './document/read.ts'
import { LEZEN } from './rights.ts'

/** Within a document. */
export const documentTree: ExpandTree = { informatieobjecttype: expansionAlsoElsewhere('informatieobjecttype') }

/** Within what hangs on a document: a document that the caller may not read is left out. */
export const subresourceTree: ExpandTree = {
  informatieobject: alsoElsewhere({
    component: 'drc',
    scopes: LEZEN,
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
  }),
}
