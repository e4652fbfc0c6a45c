// What a list of cases can be asked, as query parameters and as the body of a search.

import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static, type TSchema } from 'typebox'
import { reach } from '../../core/access.ts'
import { LIMITS } from '../../core/limits.ts'
import { invalid } from '../../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import { all, type Condition, type Conditions, type Order, type Rest } from '../../database/list.ts'
import { expected } from '../../database/rows.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Rsin, Url, Verbatim } from '../../http/input.ts'
import { localUuid, type Resource, resolveLink } from '../../http/links.ts'
import { CursorQuery, contains, containsPart, PageQuery } from '../../http/page.ts'
import type { Numbers } from '../../lib/numbers.ts'
import { LEVELS } from '../betrokkenen.ts'
import { isSearched, rollenOf } from '../persons.ts'
import { LEZEN, reached, type ZaaktypeOrigin } from '../rights.ts'
import { ARCHIEFNOMINATIES, ARCHIEFSTATUSSEN } from './columns.ts'

const opt = <T extends TSchema>(schema: T) => Type.Optional(schema)
const DateFilter = opt(Type.String({ format: 'date' }))
const IsNull = opt(Type.Boolean())
const text = (maxLength: number) => opt(Type.String({ maxLength }))

export const BETROKKENE_TYPES = [
  'natuurlijk_persoon',
  'niet_natuurlijk_persoon',
  'vestiging',
  'organisatorische_eenheid',
  'medewerker',
] as const
const OMSCHRIJVINGEN_GENERIEK = [
  'adviseur',
  'behandelaar',
  'belanghebbende',
  'beslisser',
  'initiator',
  'klantcontacter',
  'zaakcoordinator',
  'mede_initiator',
] as const

/** Filters on who is involved: name of the parameter after `betrokkeneIdentificatie__`, kind, member, longest value. */
const IDENTIFICATIES = [
  ['natuurlijkPersoon', 'inpBsn', 9],
  ['natuurlijkPersoon', 'anpIdentificatie', 17],
  ['natuurlijkPersoon', 'inpA_nummer', 10],
  ['nietNatuurlijkPersoon', 'innNnpId', 9],
  ['nietNatuurlijkPersoon', 'annIdentificatie', 17],
  ['nietNatuurlijkPersoon', 'kvkNummer', 8],
  ['nietNatuurlijkPersoon', 'vestigingsNummer', 24],
  ['vestiging', 'vestigingsNummer', 24],
  ['vestiging', 'kvkNummer', 8],
  ['medewerker', 'identificatie', 128],
  ['organisatorischeEenheid', 'identificatie', 255],
] as const
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const ROL = {
  betrokkene: opt(Url()),
  betrokkeneType: opt(Type.Enum(BETROKKENE_TYPES)),
  omschrijvingGeneriek: opt(Type.Enum(OMSCHRIJVINGEN_GENERIEK)),
  machtiging: opt(Type.Enum(['eigen', 'gemachtigde', 'machtiginggever'])),
  machtiging__loa: opt(Type.Enum(LEVELS.flat())),
  ...Object.fromEntries(
    IDENTIFICATIES.map(([kind, member, max]) => [`betrokkeneIdentificatie__${kind}__${member}`, text(max)]),
  ),
}
/** Parameters of the list of rollen; on cases each begins with `rol__`. */
export const RolParameters = ROL
export type RolFilter = { [name: string]: unknown }

/** What filters on rollen keep, of rol `x`. `prefix` stands before the names of the parameters. */
export function rolConditions(filter: RolFilter, prefix: string, numbers: Numbers): Condition[] {
  if (!Object.keys(filter).some((name) => name.startsWith(prefix))) return []
  const found: Condition[] = []
  const value = (name: string) => filter[prefix + name] as string | undefined
  if (value('betrokkene')) found.push(sql`x.betrokkene = ${value('betrokkene')}`)
  if (value('betrokkeneType')) found.push(sql`x.betrokkene_type = ${value('betrokkeneType')}`)
  if (value('omschrijvingGeneriek')) found.push(sql`x.omschrijving_generiek = ${value('omschrijvingGeneriek')}`)
  const machtiging = value('machtiging')
  if (machtiging) found.push(sql`x.indicatie_machtiging = ${machtiging === 'eigen' ? '' : machtiging}`)
  const loa = value('machtiging__loa')
  if (loa) {
    const scheme = LEVELS.find((levels) => (levels as readonly string[]).includes(loa)) ?? []
    const upTo = scheme.slice(0, (scheme as readonly string[]).indexOf(loa) + 1)
    found.push(sql`x.authenticatie_context is not null`)
    found.push(sql`x.authenticatie_context ->> 'levelOfAssurance' = any(${upTo}::text[])`)
  }
  for (const [kind, member] of IDENTIFICATIES) {
    const given = value(`betrokkeneIdentificatie__${kind}__${member}`)
    if (given && isSearched(member)) {
      found.push(
        sql`x.id = any(array(select id from rol where betrokkene_type = ${snake(kind)} and id = any(${rollenOf(numbers, member, given)})))`,
      )
    } else if (given) {
      const column = sql.raw(`betrokkene_identificatie ->> '${member}'`)
      const fits = sql`betrokkene_type = ${snake(kind)} and ${column} = ${given} and ${column} <> ''`
      // Of one person there are few: they are found first, whatever the database expects.
      if (member === 'identificatie') found.push(fits)
      else found.push(sql`x.id = any(array(select id from rol where ${fits}))`)
    }
  }
  return found
}

/**
 * The same of the counts `z` of cases that have such a rol; undefined where these do not know it. Of two values they do not know
 * whether one rol has both.
 */
function keptRolCondition(filter: RolFilter): Condition[] | undefined {
  const given = Object.entries(filter).filter(([name, value]) => name.startsWith('rol__') && value)
  const [[name, value] = []] = given
  const column = name && KEPT_OF_ROL.get(name)
  if (!column || given.length > 1) return undefined
  return [sql`z.kind = ${`rol.${column}`}`, sql`z.groep = ${value === 'eigen' ? '' : value}`]
}
const KEPT_OF_ROL = new Map([
  ['rol__omschrijvingGeneriek', 'omschrijving_generiek'],
  ['rol__betrokkeneType', 'betrokkene_type'],
  ['rol__machtiging', 'indicatie_machtiging'],
])

const DATES: Record<string, string[]> = {
  archiefactiedatum: ['', '__lt', '__gt', '__isnull'],
  startdatum: ['', '__gt', '__gte', '__lt', '__lte'],
  registratiedatum: ['', '__gt', '__lt'],
  einddatum: ['', '__gt', '__lt', '__isnull'],
  einddatumGepland: ['', '__gt', '__lt'],
  uiterlijkeEinddatumAfdoening: ['', '__gt', '__lt'],
}
const OPERATORS: Record<string, string> = { '': '=', __gt: '>', __gte: '>=', __lt: '<', __lte: '<=' }
/** What these leave out. */
const OPPOSITES: Record<string, string> = { __gt: '<=', __gte: '<', __lt: '>=', __lte: '>' }
/** Dates of which is counted whether they are there. */
const COUNTED_DATES = ['einddatum', 'archiefactiedatum']
const DATE_FILTERS = Object.entries(DATES).flatMap(([name, suffixes]) =>
  suffixes.map((suffix) => ({ name, suffix, parameter: name + suffix, column: sql.raw(`z.${snake(name)}`) })),
)

/** Filters that a list and a search share. */
export const ATTRIBUTEN = {
  identificatie: opt(Type.String()),
  identificatie__icontains: opt(Verbatim()),
  omschrijving: opt(Verbatim()),
  zaaktype__omschrijving: opt(Verbatim()),
  bronorganisatie: opt(Rsin),
  bronorganisatie__in: opt(Type.Array(Rsin)),
  zaaktype: opt(Url()),
  zaaktype__in: opt(Type.Array(Url())),
  zaaktype__not_in: opt(Type.Array(Url())),
  archiefnominatie: opt(Type.Enum(ARCHIEFNOMINATIES)),
  archiefnominatie__in: opt(Type.Array(Type.Enum(ARCHIEFNOMINATIES))),
  archiefstatus: opt(Type.Enum(ARCHIEFSTATUSSEN)),
  archiefstatus__in: opt(Type.Array(Type.Enum(ARCHIEFSTATUSSEN))),
  ...Object.fromEntries(
    Object.entries(DATES).flatMap(([name, suffixes]) =>
      suffixes.map((suffix) => [name + suffix, suffix === '__isnull' ? IsNull : DateFilter]),
    ),
  ),
  ...Object.fromEntries(Object.entries(ROL).map(([name, schema]) => [`rol__${name}`, schema])),
  maximaleVertrouwelijkheidaanduiding: opt(Type.Enum([...VERTROUWELIJKHEIDAANDUIDINGEN])),
  kenmerk__bron: opt(Type.String()),
  kenmerk: opt(Type.String()),
  status__statustype: opt(Url()),
  resultaat__resultaattype: opt(Url()),
  ordering: opt(Type.Array(Type.String(), { maxItems: LIMITS.ordering })),
}
export const ListQuery = Type.Object({ ...PageQuery, ...CursorQuery, ...ExpandQuery, ...ATTRIBUTEN })
export type ZaakFilter = Partial<Static<typeof ListQuery>> & Record<string, unknown>

/** What a filter asks of one of the parts of a case, `x`. `kept`: the same of counts of cases `z` in `zaak_part_count`. */
type PartCondition = { part: RawBuilder<unknown>; conditions: Condition[]; kept?: Condition[] | undefined }
/**
 * `kept`: all conditions, on the counts of parts. `onlyPart`: the conditions are nothing but this, so that it can be counted
 * without the cases. `rest`: what the one condition that is not counted leaves out.
 */
export type ZaakConditions = Conditions & { kept?: Condition[]; onlyPart?: PartCondition; rest?: Rest }

/**
 * The conditions of a list of cases: the rights of the caller and the filter.
 * @param deel leaves only cases of zaaktypen of ours, or elsewhere
 * @throws Problem 400 on a value that says nothing
 */
export function zaakConditions(filter: ZaakFilter, request: FastifyRequest, deel?: ZaaktypeOrigin): ZaakConditions {
  // Of type and level, by which all counts are kept, and of more, which those of cases alone know.
  const ofType: Condition[] =
    reach(request.actor, 'zrc', LEZEN) === 'alles' ? [] : [reached(request.actor, LEZEN, deel)]
  const ofMore: Condition[] = []
  const others: Condition[] = []
  const parts: PartCondition[] = []
  const left: { there: Condition[]; out: Condition; empty?: Condition }[] = [] // by filters on dates
  if (deel) ofType.push(deel === 'eigen' ? sql`z.zaaktype_id is not null` : sql`z.zaaktype_url is not null`)
  const addTo =
    (conditions: Condition[]) =>
    <Value>(value: Value, condition: (value: NonNullable<Value>) => Condition) => {
      if (value !== undefined && value !== null && value !== '') conditions.push(condition(value))
    }
  const addOfType = addTo(ofType)
  const addCounted = addTo(ofMore)
  const add = addTo(others)
  const uuid = (url: string, resource: Resource) => localUuid(url, request.base, resource) ?? null
  const isElsewhere = (url: string) => resolveLink(url, request.base).kind === 'elsewhere'
  const types = (urls: string[]) => {
    const { uuids, elsewhere } = zaaktypenOf(urls, request.base)
    const own = sql`z.zaaktype_id = any(array(select t.id from zaaktype t
      where t.uuid = any(${uuids}::uuid[])))`
    if (elsewhere.length === 0 || deel === 'eigen') return own
    const elders = sql`z.zaaktype_url = any(${elsewhere}::text[])`
    return elsewhere.length === urls.length || deel === 'elders' ? elders : sql`(${own} or ${elders})`
  }
  const partType = (column: string, url: string, resource: 'statustype' | 'resultaattype') =>
    isElsewhere(url)
      ? sql`${sql.ref(`${column}_url`)} = ${url}`
      : sql`${sql.ref(`${column}_id`)} = (select y.id from ${sql.table(resource)} y where y.uuid = ${uuid(url, resource)}::uuid)`
  add(filter.identificatie, () => sql`z.identificatie = ${filter.identificatie}`)
  // What an index finds in both together is looked for in the one.
  const words = sql`z.identificatie || ' ' || z.omschrijving`
  const part = (name: 'identificatie__icontains' | 'omschrijving', column: string) =>
    add(filter[name], (text) => sql`${containsPart(words, text)} and ${containsPart(sql.ref(column), text)}`)
  part('identificatie__icontains', 'z.identificatie')
  part('omschrijving', 'z.omschrijving')
  const ofTypeNamed = deel === 'eigen' ? addOfType : add // of types elsewhere the name is not counted
  ofTypeNamed(filter.zaaktype__omschrijving, (text) => {
    const own = sql`z.zaaktype_id = any(array(select t.id from zaaktype t where ${contains(sql`t.omschrijving`, text)}))`
    const elders = sql`z.zaaktype_url is not null and ${contains(sql`z.zaaktype_omschrijving`, text)}`
    return deel === 'eigen' ? own : deel === 'elders' ? elders : sql`(${own} or ${elders})`
  })
  addCounted(filter.bronorganisatie, () => sql`z.bronorganisatie = ${filter.bronorganisatie}`)
  addCounted(filter.bronorganisatie__in, () => sql`z.bronorganisatie = any(${filter.bronorganisatie__in}::text[])`)
  addOfType(filter.zaaktype, (url) => types([url]))
  addOfType(filter.zaaktype__in, types)
  addOfType(filter.zaaktype__not_in, (urls) => sql`(${types(urls)}) is not true`)
  for (const name of ['archiefnominatie', 'archiefstatus'] as const) {
    addCounted(filter[name], () => sql`${sql.ref(`z.${name}`)} = ${filter[name]}`)
    addCounted(filter[`${name}__in`], () => sql`${sql.ref(`z.${name}`)} = any(${filter[`${name}__in`]}::text[])`)
  }
  for (const { name, suffix, parameter, column } of DATE_FILTERS) {
    const value = filter[parameter]
    const addNull = COUNTED_DATES.includes(name) ? addCounted : add
    if (suffix === '__isnull') addNull(value, () => (value ? sql`${column} is null` : sql`${column} is not null`))
    else add(value, () => sql`${column} ${sql.raw(expected(OPERATORS[suffix]))} ${value}::date`)
    const opposite = OPPOSITES[suffix]
    if (opposite && value) {
      const out = sql`${column} ${sql.raw(opposite)} ${value}::date`
      left.push(
        COUNTED_DATES.includes(name)
          ? { there: [sql`${column} is not null`], out }
          : { there: [], out, empty: sql`${column} is null` },
      )
    }
  }
  const rol = rolConditions(filter, 'rol__', request.server.parts.box.numbers)
  if (rol.length > 0) parts.push({ part: sql`rol x`, conditions: rol, kept: keptRolCondition(filter) })
  const max = filter.maximaleVertrouwelijkheidaanduiding
  addOfType(max, () => sql`z.vertrouwelijkheidaanduiding <= ${max}::vertrouwelijkheidaanduiding`)
  const marks = (mark: object) => sql`z.kenmerken <> '[]' and z.kenmerken @> ${JSON.stringify([mark])}::text::jsonb`
  add(filter.kenmerk__bron, () => marks({ bron: filter.kenmerk__bron }))
  add(filter.kenmerk, (text) => {
    const [bron, kenmerk, ...more] = text.split(':')
    if (kenmerk === undefined || more.length > 0) throw invalid('kenmerk', 'invalid', 'Geef bron:kenmerk.')
    return marks({ bron, kenmerk })
  })
  if (filter.status__statustype) {
    const url = filter.status__statustype
    parts.push({
      part: sql`status x`,
      conditions: [sql`x.laatst`, partType('x.statustype', url, 'statustype')],
      kept: [sql`z.kind = 'status' and z.groep = 'laatst'`, partType('z.type', url, 'statustype')],
    })
  }
  if (filter.resultaat__resultaattype) {
    const url = filter.resultaat__resultaattype
    parts.push({
      part: sql`resultaat x`,
      conditions: [partType('x.resultaattype', url, 'resultaattype')],
      kept: [sql`z.kind = 'resultaat'`, partType('z.type', url, 'resultaattype')],
    })
  }
  const counted = [...ofType, ...ofMore]
  const only = parts.length === 1 && others.length === 0 ? parts[0] : undefined
  const kept = ofMore.length === 0 && only?.kept
  const out = others.length === 1 && parts.length === 0 ? left[0] : undefined
  const rest = out && {
    counted: [...counted, ...out.there],
    conditions: [...counted, out.out],
    ...(out.empty && { empty: [...counted, out.empty] }),
  }
  for (const { part, conditions } of parts)
    others.push(sql`exists (select from ${part} where x.zaak_id = z.id and ${all(conditions)})`)
  return {
    counted,
    others,
    ...(kept && { kept: [...ofType, ...kept] }),
    ...(only && counted.length === 0 && { onlyPart: only }),
    ...(rest && { rest }),
  }
}

/** Zaaktypen that a filter names: the uuids of those that may be ours, and the URLs of those elsewhere. */
function zaaktypenOf(urls: string[], base: string): { uuids: string[]; elsewhere: string[] } {
  const known = zaaktypenByList.get(urls)
  if (known) return known
  const targets = urls.map((url) => ({ url, target: resolveLink(url, base) }))
  const found = {
    uuids: targets.flatMap(({ target }) =>
      target.kind === 'ours' && target.resource === 'zaaktype' ? target.uuid : [],
    ),
    elsewhere: targets.flatMap(({ url, target }) => (target.kind === 'elsewhere' ? url : [])),
  }
  zaaktypenByList.set(urls, found)
  return found
}
// The conditions of one request are made several times, and a list may have a thousand URLs.
const zaaktypenByList = new WeakMap<string[], { uuids: string[]; elsewhere: string[] }>()

/** What to count apart: where types of ours and types elsewhere both matter, an index counts each kind alone but not both. */
export function originsOf(filter: ZaakFilter, { actor }: FastifyRequest): (ZaaktypeOrigin | undefined)[] {
  const groups = reach(actor, 'zrc', LEZEN)
  const both =
    groups !== 'alles' &&
    groups.some(({ typeIds }) => typeIds.length > 0) &&
    groups.some(({ typeUrls }) => typeUrls.length > 0)
  return both || filter.zaaktype__omschrijving || filter.zaaktype__in ? ['eigen', 'elders'] : [undefined]
}

const ORDERING = new Map(
  Object.entries({
    startdatum: 'z.startdatum',
    einddatum: 'z.einddatum',
    publicatiedatum: 'z.publicatiedatum',
    archiefactiedatum: 'z.archiefactiedatum',
    registratiedatum: 'z.registratiedatum',
    identificatie: 'z.identificatie',
  }),
)

const OPTIONAL = new Set(['z.einddatum', 'z.publicatiedatum', 'z.archiefactiedatum'])

/**
 * What is equal is ordered by age, in the direction of the last name: an index can then be read from either end.
 * @throws Problem 400 on `ordering` for what a list cannot be ordered by
 */
export function ordering(names: string[] | undefined): Order {
  const order = (names ?? []).map((name) => {
    const descending = name.startsWith('-')
    const column = ORDERING.get(descending ? name.slice(1) : name)
    if (!column)
      throw invalid('ordering', 'invalid_choice', `Mogelijk: ${[...ORDERING.keys()].join(', ')}, met - voor aflopend.`)
    return { column: sql.raw(column), descending, isOptional: OPTIONAL.has(column) }
  })
  return [...order, { column: sql`z.id`, descending: order.at(-1)?.descending ?? true }]
}
