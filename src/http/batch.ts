// `_batch`: many resources of one kind in one request (NL API Strategy, module batching). A request in it names a resource by its
// key, or a list by its filter; the answer has a result for each, in their order.
//
// Rights are part of the statement that finds the ids. What the caller may not read is not found, as what is not there: nothing
// else is asked of it, so that neither the answer nor its time tells them apart.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RawBuilder } from 'kysely'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { LIMITS } from '../core/limits.ts'
import { fault, type InvalidParam, Problem, throwFaults } from '../core/problem.ts'
import type { Reader } from '../database/database.ts'
import { type Condition, firstOfEach, type IdList, idsByUuid, isByKey } from '../database/list.ts'
import { documentedAs, orNull } from './documented.ts'
import { type ExpandTree, expandEach, selectFields } from './expand.ts'
import { readQuery, Uuid } from './input.ts'
import { jsonPieces } from './json-pieces.ts'
import { uuidOf } from './links.ts'
import { cursorText, firstPortion } from './page.ts'
import { sendWritten, Written } from './stream.ts'
import { largeTurn } from './turns.ts'

const CONTEXT = {
  expand: Type.Optional(Type.Array(Type.String(), { description: 'Op te nemen relaties.' })),
  fields: Type.Optional(
    Type.Unsafe<unknown>(
      documentedAs(
        {},
        {
          type: 'array',
          items: { type: 'object', additionalProperties: true },
          description:
            'Wat van elke resource wordt geantwoord: namen van velden, en objecten met de velden van een relatie of groep.',
        },
      ),
    ),
  ),
}
const Filter = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'De parameters van de lijst.',
})

const Requests = Type.Array(Type.Object({ key: Type.Optional(Uuid), filter: Type.Optional(Filter) }), {
  minItems: 1,
  maxItems: LIMITS.batch,
  description: 'Van elk de `key` van een resource, of een `filter`.',
})
/** Making the text of a statement for many filters takes long, and others are kept waiting meanwhile. */
const FILTERS_AT_ONCE = 5

type Body = { context?: Static<Type.TObject<typeof CONTEXT>>; requests: Static<typeof Requests> }

/**
 * The schema of a `_batch`, and what is held against it before.
 * @param name of one resource, in the document
 * @param context what can be asked of all resources beside `expand` and `fields`
 */
export function batchOf<T extends TObject, C extends Record<string, TSchema> = Record<never, never>>(
  name: string,
  item: T,
  context: C = {} as C,
) {
  const properties = {
    ...item.properties,
    _expand: {
      type: 'object',
      additionalProperties: true,
      description: 'De relaties waar met `expand` om gevraagd is.',
    },
    items: { type: 'array', items: item, description: 'Van een filter: wat eraan voldoet.' },
    nextToken: {
      type: 'string',
      description: 'Van een filter waaraan meer voldoet: de cursor waarmee de lijst verder gaat.',
    },
  }
  const result = documentedAs(
    { type: ['object', 'null'] },
    orNull({ $id: `${name}UitBatch`, type: 'object', properties }),
  )
  const members = { ...CONTEXT, ...context }
  return {
    preValidation: async (request: FastifyRequest) => requireBounds(request, members),
    schema: {
      summary: `Uitvoeren: ${name.toLowerCase()} batch`,
      description: `Toevoeging aan de standaard (NL API Strategie, module batching): ten hoogste ${LIMITS.batch} sleutels of filters tegelijk. Per vraag volgt een resultaat, in dezelfde volgorde: de resource, of null als die er niet is of niet gelezen mag worden; van een filter ten hoogste ${LIMITS.batchItems} resources in items.`,
      body: Type.Object({
        context: Type.Optional(Type.Object(members)),
        requests: Requests,
      }),
      response: { 200: Type.Object({ results: Type.Array(Type.Unsafe<unknown>(result)) }) },
    },
  }
}

/** @throws Problem 400: with the code of the module when it asks too much at once, or for what `context` does not have */
function requireBounds({ body }: FastifyRequest, members: object): void {
  const { requests, context } = (body ?? {}) as { requests?: unknown; context?: unknown }
  const unknown = Object.keys(Object(context)).find((name) => !Object.hasOwn(members, name))
  if (unknown !== undefined && !Array.isArray(context))
    throwFaults([fault(`context.${unknown.slice(0, 50)}`, 'unknown-parameters', 'Dit is hier niet bekend.')])
  if (!Array.isArray(requests) || requests.length <= LIMITS.batch) return
  const detail = `Een _batch heeft ten hoogste ${LIMITS.batch} vragen, en dit zijn er ${requests.length}.`
  throw new Problem(400, { code: 'request-limit-exceeded', detail })
}

const NO_FILTERS = new Set(['page', 'pageSize', 'cursor', 'limit', 'expand', 'datumGeldigheid'])

/** The parameters of a list that its filter has in a `_batch`: without those of pages, and those of the context. */
export const filtersOf = (query: TObject): TObject =>
  Type.Object(Object.fromEntries(Object.entries(query.properties).filter(([name]) => !NO_FILTERS.has(name))))

/** How a kind is read for a `_batch`. */
export type BatchSource<Row extends { id: number; uuid: string }> = {
  /** What `filtersOf` makes. */
  filters: TObject
  /** The table, and what rights leave of it. */
  keys: { from: RawBuilder<unknown>; id: RawBuilder<unknown>; uuid: RawBuilder<unknown>; conditions: Condition[] }
  /** What rights leave of the list with this filter. @throws Problem 400 */
  list(filter: Record<string, unknown>): IdList
  /** Those with these ids that the caller may still read, in any order. */
  rows(reader: Reader, ids: number[]): Promise<Row[]>
  /**
   * The answers of rows, in their order.
   * @param show has to be given each resource, and makes one answer of each
   * @param isPlain whether that is the resource as it is
   */
  answers(rows: Row[], show: Show, isPlain: boolean): Iterable<object> | AsyncIterable<object | Written>
  tree: ExpandTree
  /** Whether `_expand` is there, empty, also when nobody asked. */
  isExpandable?: boolean
  /** How many rows are read at once, where single rows may be large. */
  first?: number | undefined
}
export type Show = (resources: { url: string }[]) => Iterable<object> | AsyncIterable<object>

/**
 * Answers a `_batch`.
 * @throws Problem 400: on a request in it, on `expand` or `fields`, or when more resources would be answered than
 *   `LIMITS.batchResources`; 403 without the scope on what is expanded
 */
export async function sendBatch<Row extends { id: number; uuid: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  source: BatchSource<Row>,
): Promise<FastifyReply> {
  const { context = {}, requests } = request.body as Body
  const { expand: paths = [], fields } = context
  if (fields !== undefined && paths.length > 0)
    throwFaults([fault('context.fields', 'invalid', 'Geef fields of expand, niet beide.')]) // as zrc-029 has it
  const isPlain = fields === undefined && paths.length === 0
  const show: Show = (resources) => {
    if (fields !== undefined) return selectFields(request, resources, fields, source.tree)
    return isPlain && !source.isExpandable ? resources : expandEach(request, resources, paths, source.tree)
  }
  await Array.fromAsync(show([])) // refuses what cannot be expanded, whatever is found
  const { reader } = request.server
  const lists = await readLists(request, requests, source)
  const uuids = requests.flatMap(({ key }) => key ?? [])
  const byUuid = await idsByUuid(reader, source.keys, uuids)
  const idsOf = new Map<number, number[]>()
  const ends = new Map<number, string>() // of the results of filters
  let count = byUuid.size
  for (let from = 0; from < lists.size && count <= LIMITS.batchResources; from += FILTERS_AT_ONCE) {
    const group = [...lists].slice(from, from + FILTERS_AT_ONCE)
    if (lists.size > FILTERS_AT_ONCE) await largeTurn(request)
    const found = await firstOfEach(
      reader,
      group.map(([, list]) => list),
      LIMITS.batchItems + 1,
    )
    for (const [index, [place, { order }]] of group.entries()) {
      const keys = found[index] ?? []
      const isMore = keys.length > LIMITS.batchItems
      const ids = keys.slice(0, LIMITS.batchItems).map(({ id }) => id)
      idsOf.set(place, ids)
      count += ids.length
      const last = isMore && isByKey(order) ? keys[LIMITS.batchItems - 1] : undefined
      ends.set(
        place,
        last ? `],"nextToken":"${cursorText(request.server.parts.box, { at: last.at, isBefore: false })}"}` : ']}',
      )
    }
  }
  const wanted = requests.flatMap(({ key }, place) => {
    const ids = key === undefined ? (idsOf.get(place) ?? []) : (byUuid.get(key.toLowerCase()) ?? [])
    return [ids].flat().map((id) => ({ place, id }))
  })
  if (wanted.length > LIMITS.batchResources)
    throw new Problem(400, {
      code: 'response-limit-exceeded',
      detail: `Het antwoord zou meer dan ${LIMITS.batchResources} resources bevatten.`,
    })
  const size = source.first ?? (fields === undefined ? firstPortion(paths) : 50)
  const answers = answersTo(reader, source, wanted, size, (rows, noted) => source.answers(rows, noted(show), isPlain))
  return sendWritten(request, reply, new Written(resultsOf(answers, requests.length, ends)))
}

/** The lists that requests ask for, by the place of the request. @throws Problem 400 with all faults */
async function readLists(
  request: FastifyRequest,
  requests: Body['requests'],
  source: Pick<BatchSource<never>, 'filters' | 'list'>,
): Promise<Map<number, IdList>> {
  const faults: InvalidParam[] = []
  const lists = new Map<number, IdList>()
  for (const [place, { key, filter }] of requests.entries()) {
    const name = `requests.${place}`
    if (lists.size > 0 && lists.size % FILTERS_AT_ONCE === 0) await largeTurn(request)
    if ((key === undefined) === (filter === undefined))
      faults.push(fault(name, 'invalid', 'Geef een key of een filter.'))
    else if (filter) {
      try {
        const read = readQuery(source.filters, filter) as Record<string, unknown>
        if (Object.keys(read).length === 0)
          faults.push(fault(`${name}.filter`, 'required', 'Geef ten minste een voorwaarde.'))
        else lists.set(place, source.list(read))
      } catch (error) {
        if (!(error instanceof Problem) || !error.invalidParams) throw error
        for (const one of error.invalidParams)
          faults.push({ ...one, name: one.name === 'nonFieldErrors' ? `${name}.filter` : `${name}.filter.${one.name}` })
      }
    }
  }
  throwFaults(faults)
  return lists
}

type Wanted = { place: number; id: number }
type Answer = { place: number; answer: object | Written }

/** The answers, read so many rows at a time, with the request that each is for. What went meanwhile is left out. */
async function* answersTo<Row extends { id: number; uuid: string }>(
  reader: Reader,
  source: BatchSource<Row>,
  wanted: Wanted[],
  size: number,
  make: (rows: Row[], noted: (show: Show) => Show) => Iterable<object> | AsyncIterable<object | Written>,
): AsyncGenerator<Answer> {
  for (let from = 0; from < wanted.length; from += size) {
    const few = wanted.slice(from, from + size)
    const byId = new Map(
      (
        await source.rows(
          reader,
          few.map(({ id }) => id),
        )
      ).map((row) => [row.id, row]),
    )
    const rows = few.flatMap(({ id }) => byId.get(id) ?? [])
    // Which resource each answer is of: with `fields` it need not say so.
    const uuids: string[] = []
    const noted =
      (show: Show): Show =>
      (resources) => {
        for (const { url } of resources) uuids.push(uuidOf(url))
        return show(resources)
      }
    let at = 0
    let answered = 0
    for await (const answer of make(rows, noted)) {
      const uuid = uuids[answered++]
      while (at < few.length && byId.get(few[at]?.id ?? 0)?.uuid !== uuid) at++
      const place = few[at++]?.place
      if (place !== undefined) yield { place, answer }
    }
  }
}

/**
 * The answer of all requests as JSON, in pieces.
 * @param ends what ends the result of a filter, by its place
 */
async function* resultsOf(
  answers: AsyncIterable<Answer>,
  count: number,
  ends: Map<number, string>,
): AsyncGenerator<string> {
  let place = 0
  let items = 0 // of the result at this place
  const begin = () => `${place > 0 ? ',' : ''}${ends.has(place) ? '{"items":[' : ''}`
  /** What ends the results before that place, of which there is nothing or something already. */
  const upTo = (next: number): string => {
    let text = ''
    for (; place < next; place++, items = 0) {
      if (items === 0) text += begin()
      text += ends.get(place) ?? (items === 0 ? 'null' : '')
    }
    return text
  }
  yield '{"results":['
  for await (const { place: next, answer } of answers) {
    const before = upTo(next) + (items === 0 ? begin() : ',')
    items++
    yield before
    if (answer instanceof Written) yield* answer.pieces
    else yield* jsonPieces(answer)
  }
  yield `${upTo(count)}]}`
}
