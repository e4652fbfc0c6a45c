// What `expand` can include in answers of the Catalogi API, and how lists and details are answered with it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReadDb } from '../database/database.ts'
import type { Listing } from '../database/list.ts'
import { sendCacheable } from '../http/etag.ts'
import { alsoElsewhere, type ExpandTree, type Expansion, expand, expandEach } from '../http/expand.ts'
import { localUuid, type Resource } from '../http/links.ts'
import { sendPageOf } from '../http/page.ts'

/** How resources of one kind are read; `loaders.ts` has it. @param datum related types are shown as they are on this day */
export type LoadTypes = (
  resource: Resource,
  read: ReadDb,
  base: string,
  uuids: string[],
  datum: string | null,
) => Promise<{ url: string }[]>

declare module 'fastify' {
  interface FastifyInstance {
    loadTypes: LoadTypes
  }
}

const partOf = { zaaktype: 'zaaktype', catalogus: 'catalogus' } as const
const FIELDS: Partial<Record<Resource, Record<string, Resource>>> = {
  catalogus: { zaaktypen: 'zaaktype', besluittypen: 'besluittype', informatieobjecttypen: 'informatieobjecttype' },
  zaaktype: {
    catalogus: 'catalogus',
    statustypen: 'statustype',
    resultaattypen: 'resultaattype',
    eigenschappen: 'eigenschap',
    informatieobjecttypen: 'informatieobjecttype',
    roltypen: 'roltype',
    besluittypen: 'besluittype',
    deelzaaktypen: 'zaaktype',
    gerelateerdeZaaktypen: 'zaaktype',
    zaakobjecttypen: 'zaakobjecttype',
  },
  informatieobjecttype: { catalogus: 'catalogus', zaaktypen: 'zaaktype', besluittypen: 'besluittype' },
  besluittype: {
    catalogus: 'catalogus',
    zaaktypen: 'zaaktype',
    informatieobjecttypen: 'informatieobjecttype',
    resultaattypen: 'resultaattype',
  },
  statustype: { ...partOf, eigenschappen: 'eigenschap', zaakobjecttypen: 'zaakobjecttype' },
  resultaattype: { ...partOf, besluittypen: 'besluittype', informatieobjecttypen: 'informatieobjecttype' },
  roltype: partOf,
  eigenschap: { ...partOf, statustype: 'statustype' },
  zaaktypeinformatieobjecttype: {
    ...partOf,
    informatieobjecttype: 'informatieobjecttype',
    statustype: 'statustype',
  },
  zaakobjecttype: { ...partOf, resultaattypen: 'resultaattype', statustype: 'statustype' },
}

/**
 * Fields that hold resources of the Catalogi API can be expanded with this, in whatever component they stand: a case takes
 * `expansionTo('zaaktype')` for its field zaaktype.
 */
function expansionTo(resource: Resource): Expansion {
  return {
    component: 'ztc',
    scopes: ['catalogi.lezen'],
    load: async (urls, request) => {
      const uuids = urls.flatMap((url) => localUuid(url, request.base, resource) ?? [])
      const { datumGeldigheid } = request.query as { datumGeldigheid?: string }
      const { read, loadTypes } = request.server
      const found = await loadTypes(resource, read, request.base, uuids, datumGeldigheid ?? null)
      return new Map(found.map((item) => [item.url, item]))
    },
    within: () => catalogiTree(resource),
  }
}

/** The same for fields that may point to another server. What is referred to there is not followed. */
export const expansionAlsoElsewhere = (resource: Resource): Expansion => alsoElsewhere(expansionTo(resource))

// Where a field holds objects, the URL in them.
const MEMBERS: Record<string, string> = { gerelateerdeZaaktypen: 'zaaktype' }

/** What can be expanded within a type or a part of one. */
export function catalogiTree(resource: Resource): ExpandTree {
  const fields = Object.entries(FIELDS[resource] ?? {})
  return Object.fromEntries(
    fields.map(([field, target]) => {
      const member = MEMBERS[field]
      return [field, { ...expansionTo(target), ...(member && { member }) }]
    }),
  )
}

/**
 * A page of resources, with `_expand` when the caller asks for it. Lists find the ids of a page first, and compute what
 * stands beside the rows only for those: PostgreSQL would compute it for every row that an offset skips.
 */
export async function sendPage<Row, R extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  list: Listing<Row>,
  toResource: (row: Row) => R,
): Promise<FastifyReply> {
  const paths = wanted(request)
  return sendPageOf(request, reply, list, (rows) => {
    const resources = rows.map(toResource)
    return paths ? expandEach(request, resources, paths, catalogiTree(resource)) : resources
  })
}

/** One resource with its ETag, and `_expand` when the caller asks for it. */
export async function sendOne<R extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  value: R,
): Promise<FastifyReply> {
  const paths = wanted(request)
  const [answer] = paths ? await expand(request, [value], paths, catalogiTree(resource)) : [value]
  return sendCacheable(request, reply, answer)
}

function wanted(request: FastifyRequest): string[] | undefined {
  return (request.query as { expand?: string[] }).expand
}
