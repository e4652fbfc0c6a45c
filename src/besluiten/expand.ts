// What `expand` can include in answers of the Besluiten API. What the caller may not read is left out.
import { expansionAlsoElsewhere } from '../catalogi/expand.ts'
import { subresourceTree } from '../documenten/expand.ts'
import { alsoElsewhere, type ExpandTree, type Expansion } from '../http/expand.ts'
import { localUuid } from '../http/links.ts'
import { zaakTree } from '../zaken/expand.ts'
import { LEZEN as ZAKEN_LEZEN } from '../zaken/rights.ts'
import { toZaak } from '../zaken/zaak/columns.ts'
import { findReadable as findReadableZaken } from '../zaken/zaak/read.ts'
import { toBesluit } from './columns.ts'
import { findReadable } from './read.ts'
import { LEZEN } from './rights.ts'

const zaak = alsoElsewhere({
  component: 'zrc',
  scopes: ZAKEN_LEZEN,
  load: async (urls, { base, actor, server }) => {
    const uuids = urls.flatMap((url) => localUuid(url, base, 'zaak') ?? [])
    const found = (await findReadableZaken(server.read, actor, uuids)).map((row) => toZaak(row, base))
    return new Map(found.map((one) => [one.url, one as Record<string, unknown>]))
  },
  within: zaakTree,
})

const besluit: Expansion = {
  component: 'brc',
  scopes: LEZEN,
  load: async (urls, { base, actor, server }) => {
    const uuids = urls.flatMap((url) => localUuid(url, base, 'besluit') ?? [])
    const found = (await findReadable(server.read, actor, uuids)).map((row) => toBesluit(row, base))
    return new Map(found.map((one) => [one.url, one as Record<string, unknown>]))
  },
  within: () => besluitTree,
}

export const besluitTree: ExpandTree = { besluittype: expansionAlsoElsewhere('besluittype'), zaak }
export const besluitinformatieobjectTree: ExpandTree = { ...subresourceTree, besluit }
