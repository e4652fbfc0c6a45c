// Filters of the list of documents and of a search.
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { LIMITS } from '../../core/limits.ts'
import { invalid } from '../../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { Order } from '../../database/list.ts'
import { lastOf } from '../../database/rows.ts'
import { alias, documentedAs } from '../../http/documented.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Rsin, Url, Uuid, Verbatim } from '../../http/input.ts'
import { localUuid, resolveLink } from '../../http/links.ts'
import { CursorQuery, containsPart, PageQuery } from '../../http/page.ts'
import { resolveObject } from '../object-relations.ts'
import { LEZEN, reached, readsAll } from '../rights.ts'
import type { Selection } from './read.ts'

const OBJECT_TYPE = Type.Enum(['besluit', 'zaak', 'verzoek'])
const Words = Type.Optional(Type.Array(Type.String()))
const DateFilter = Type.Optional(Type.String({ format: 'date' }))

export const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  bronorganisatie: Type.Optional(Rsin),
  identificatie: Type.Optional(Type.String()),
  trefwoorden: Words,
  trefwoorden__overlap: Words,
  titel: Type.Optional(Verbatim()),
  auteur: Type.Optional(Verbatim()),
  beschrijving: Type.Optional(Verbatim()),
  creatiedatum__gte: DateFilter,
  creatiedatum__lte: DateFilter,
  informatieobjecttype: Type.Optional(Url()),
  vertrouwelijkheidaanduiding: Type.Optional(Type.Enum([...VERTROUWELIJKHEIDAANDUIDINGEN])),
  locked: Type.Optional(Type.Boolean()),
  // Two spellings: of the standard since 1.6, and the one in use before.
  objectinformatieobjecten_object: Type.Optional(Url()),
  objectinformatieobjecten_objectType: Type.Optional(OBJECT_TYPE),
  objectinformatieobjecten__object: Type.Optional(alias(Url())),
  objectinformatieobjecten__objectType: Type.Optional(alias(OBJECT_TYPE)),
  ordering: Type.Optional(Type.Array(Type.String(), { maxItems: LIMITS.ordering })),
})
export type Filter = Static<typeof Filter>

export const Search = Type.Object({
  uuid__in: Type.Array(Uuid, { maxItems: LIMITS.uuids }),
  identificatie: Type.Optional(Type.String()),
  bronorganisatie: Type.Optional(Rsin),
  expand: Type.Optional(
    Type.Unsafe<string | string[]>(
      documentedAs({}, { type: 'array', items: { type: 'string' }, description: 'Op te nemen relaties.' }),
    ),
  ),
})
export const SearchQuery = Type.Object({ ...PageQuery, ...CursorQuery, ...ExpandQuery })

/** What a filter leaves of the documents that the caller may read. */
export function filtered(filter: Partial<Filter>, request: FastifyRequest): Selection {
  const leestAlles = readsAll(request.actor, LEZEN)
  const selection: Selection = {
    leestAlles,
    geteld: leestAlles ? [] : [reached(request.actor, LEZEN)],
    document: [],
    versie: [],
    rest: [],
    volgorde: ordering(filter.ordering),
  }
  const add = <Value>(
    kind: 'geteld' | 'document' | 'versie' | 'rest',
    value: Value | undefined,
    condition: (value: Value) => RawBuilder<boolean>,
  ) => {
    if (value !== undefined) selection[kind].push(condition(value))
  }
  add('geteld', filter.bronorganisatie, () => sql`e.bronorganisatie = ${filter.bronorganisatie}`)
  add('geteld', filter.informatieobjecttype, (url) => ofType(url, request.base))
  add(
    'geteld',
    filter.vertrouwelijkheidaanduiding,
    () => sql`e.vertrouwelijkheidaanduiding = ${filter.vertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding`,
  )
  add('document', filter.identificatie, () => sql`e.identificatie = ${filter.identificatie}`)
  add('document', filter.locked, () => (filter.locked ? sql`e.lock is not null` : sql`e.lock is null`))
  add('versie', filter.trefwoorden, () => sql`v.trefwoorden @> ${filter.trefwoorden}::text[]`)
  add('versie', filter.trefwoorden__overlap, () => sql`v.trefwoorden && ${filter.trefwoorden__overlap}::text[]`)
  for (const field of ['titel', 'auteur', 'beschrijving'] as const) {
    add('versie', filter[field], (text) => containsPart(sql.ref(`v.${field}`), text))
  }
  add('versie', filter.creatiedatum__gte, () => sql`v.creatiedatum >= ${filter.creatiedatum__gte}::date`)
  add('rest', filter.creatiedatum__gte, () => sql`v.creatiedatum < ${filter.creatiedatum__gte}::date`)
  add('rest', filter.creatiedatum__lte, () => sql`v.creatiedatum > ${filter.creatiedatum__lte}::date`)
  add('versie', filter.creatiedatum__lte, () => sql`v.creatiedatum <= ${filter.creatiedatum__lte}::date`)
  const object = filter.objectinformatieobjecten_object ?? filter.objectinformatieobjecten__object
  const objectType = filter.objectinformatieobjecten_objectType ?? filter.objectinformatieobjecten__objectType
  const related = (object ?? objectType) === undefined ? undefined : relatedTo(object, objectType, request.base)
  const relations = sql`select from objectinformatieobject o where o.enkelvoudiginformatieobject_id = e.id`
  add('document', related, (relation) => sql`exists (${relations} and ${relation})`)
  return selection.document.length === 1 ? { ...selection, onlyRelation: related } : selection
}

function ofType(url: string, base: string): RawBuilder<boolean> {
  if (resolveLink(url, base).kind === 'elsewhere') return sql`e.informatieobjecttype_url = ${url}`
  const uuid = localUuid(url, base, 'informatieobjecttype') ?? null
  return sql`e.informatieobjecttype_id = (select t.id from informatieobjecttype t where t.uuid = ${uuid}::uuid)`
}

function relatedTo(object: string | undefined, objectType: string | undefined, base: string): RawBuilder<boolean> {
  const target = object === undefined ? undefined : resolveObject(object, base)
  if (object !== undefined && !target) return sql`false`
  return sql`true
    ${objectType === undefined ? sql`` : sql`and o.object_type = ${objectType}`}
    ${target?.objectUuid ? sql`and o.object_uuid = ${target.objectUuid}::uuid` : sql``}
    ${target?.objectUrl ? sql`and o.object_url = ${target.objectUrl}` : sql``}`
}

const ORDERING = new Map(
  Object.entries({
    auteur: 'v.auteur',
    bestandsomvang: 'v.bestandsomvang',
    creatiedatum: 'v.creatiedatum',
    formaat: 'v.formaat',
    status: 'v.status',
    titel: 'v.titel',
    vertrouwelijkheidaanduiding: 'place_in_alphabet(e.vertrouwelijkheidaanduiding)', // by its text, as existing clients know it
  }),
)

/**
 * What is equal is ordered by age, in the direction of the last name: an index can then be read from either end.
 * @throws Problem 400 on `ordering` for what a list cannot be ordered by
 */
function ordering(names: string[] | undefined): Order {
  if (!names?.length) return []
  const order = names.map((name) => {
    const descending = name.startsWith('-')
    const column = ORDERING.get(descending ? name.slice(1) : name)
    if (!column)
      throw invalid('ordering', 'invalid_choice', `Mogelijk: ${[...ORDERING.keys()].join(', ')}, met - voor aflopend.`)
    return { column: sql.raw(column), descending, isOptional: column === 'v.bestandsomvang' }
  })
  return [...order, { column: sql`e.id`, descending: lastOf(order).descending }]
}
