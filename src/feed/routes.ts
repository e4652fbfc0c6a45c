// The routes of a feed: deltas as a list and as events, and snapshots. By "Synchronisatie van collecties" of developer.overheid.nl;
// docs/standard.md says where this differs.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { orAnew } from '../core/history.ts'
import { notFound, Problem } from '../core/problem.ts'
import { contentSender } from '../documenten/document/download.ts'
import { header, prefers } from '../http/header.ts'
import { Url, Uuid } from '../http/input.ts'
import type { Described } from '../http/openapi/operation.ts'
import { sendRows, Written } from '../http/stream.ts'
import { largeTurn } from '../http/turns.ts'
import { expired, type Page, readPage } from './deltas.ts'
import { openEvents } from './events.ts'
import type { Feed, Viewer } from './kinds.ts'
import { findFile, listSnapshots, orderSnapshot } from './snapshots.ts'
import { beginOf, type ToldDelta, tellDeltas } from './tell.ts'

const Operation = Type.Object({
  type: Type.Enum(['create', 'update', 'delete'], {
    description: 'Na delete is de resource er niet meer, of niet meer te lezen met de rechten van de client.',
  }),
  resource_type: Type.String({ description: 'Soort, zoals in notificaties.' }),
  resource_id: Uuid,
  resource: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'De hele resource zoals de lijst haar nu geeft; ontbreekt bij delete.',
    }),
  ),
})
const Delta = Type.Object({
  id: Type.String({ description: 'Positie na deze delta.' }),
  prev_id: Type.String({ description: 'Positie waar deze delta op aansluit.' }),
  operations: Type.Array(Operation, { description: 'Alles wat in één transactie gebeurde.' }),
})
const Deltas = Type.Object({
  position: Type.String({ description: 'Tot hier reikt dit antwoord: de volgende vraag begint met after=position.' }),
  at_end: Type.Boolean({
    description: 'Of de client nu bij is. Anders volgt er meer op position, ook als items leeg is.',
  }),
  items: Type.Array(Delta, { description: 'Wat de client ervan mag lezen, op volgorde.' }),
})
const MOST = 1000
const Query = Type.Object({
  after: Type.Optional(
    Type.String({ maxLength: 60, description: 'Positie tot waar de client alles heeft; zonder: de oudste die er is.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, default: 100, description: 'Aantal deltas.' })),
})

/** Deltas and snapshots of one collection. */
export const feedRoutes =
  (feed: Feed): FastifyPluginAsyncTypebox =>
  async (app) => {
    const sendEvents = openEvents(app, feed)
    await app.register(snapshots(feed))

    app.get(
      `${feed.path}/_deltas`,
      {
        config: feed.access,
        schema: {
          summary: 'Wat er veranderde, op volgorde',
          description:
            'Met Accept: text/event-stream (liever dan JSON) als server-sent events, die doorgaan waar de lijst ophoudt (Last-Event-ID of after). Een positie die niet meer geldt is 410.',
          querystring: Query,
          response: { 200: Deltas },
        },
      },
      async (request, reply) => {
        const { after, limit = 100 } = request.query
        const here = { mutate: app.mutate, log: request.log, base: request.base }
        if (prefers(header(request, 'accept'), 'text/event-stream', 'application/json'))
          return orAnew(here, expired, () => sendEvents(request, reply, header(request, 'last-event-id') || after))
        const pause = async () => {
          await largeTurn(request)
          if (reply.raw.closed) throw new Problem(408) // nobody reads it
        }
        const viewer = { reader: app.reader, actor: request.actor, base: request.base, pause }
        const { page, start, told } = await orAnew(here, expired, () => readSeen(viewer, feed, after, limit))
        return sendRows<never>(request, reply, {
          first: 1,
          next: async () => ({ rows: [], more: false }),
          toResources: () => writtenOf(told, start),
          head: `{"position":"${page.position}","at_end":${page.isEnd},"items":[`,
          tail: ']}',
        })
      },
    )
  }

const Snapshots = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Positie waar de deltas op aansluiten: after=id.' }),
      href: Url(),
      total: Type.Integer({ description: 'Aantal resources.' }),
    }),
    { description: 'De oudste eerst. Leeg: de eerste wordt gemaakt, vraag het na Retry-After opnieuw.' },
  ),
})
const SnapshotParams = Type.Object({ positie: Type.String({ maxLength: 60 }) })

const snapshots =
  (feed: Feed): FastifyPluginAsyncTypebox =>
  async (app) => {
    const send = contentSender(app)

    app.get(
      `${feed.path}/_snapshots`,
      {
        config: feed.access,
        schema: {
          summary: 'Momentopnamen om een kopie mee te beginnen',
          description: 'Is er voor de rechten van de client geen van vandaag, dan wordt er een gemaakt.',
          response: { 200: Snapshots },
        },
      },
      async (request, reply) => {
        const viewer = { reader: app.reader, actor: request.actor, base: request.base }
        const { found, isFresh } = await listSnapshots(viewer, feed)
        if (!isFresh) await orderSnapshot(app.mutate, viewer, feed)
        if (found.length === 0) reply.header('retry-after', '5')
        const path = request.url.split('?', 1)[0]
        return {
          items: found.map(({ position, total }) => ({
            id: position,
            href: `${request.base}${path}/${position}`,
            total,
          })),
        }
      },
    )

    app.get(
      `${feed.path}/_snapshots/:positie`,
      {
        config: feed.access,
        schema: {
          summary: 'Een momentopname: gzip van een regel JSON per resource',
          description: 'Met Range is een onderbroken download te vervolgen. Een die er niet meer is, is 410.',
          params: SnapshotParams,
          produces: ['application/gzip'],
        } as Described & { params: typeof SnapshotParams },
      },
      async (request, reply) => {
        if (request.params.positie === '') throw notFound()
        const viewer = { reader: app.reader, actor: request.actor, base: request.base }
        const { found } = await listSnapshots(viewer, feed)
        const snapshot = found.find(({ position }) => position === request.params.positie)
        if (!snapshot)
          throw new Problem(410, { detail: 'Deze momentopname is er niet (meer), of is van andere rechten.' })
        const file = await findFile(app.reader, app.parts.box, snapshot.id)
        const bestandsnaam = `${feed.path.slice(1)}.ndjson.gz`
        return send(
          request,
          reply,
          { ...file, bestandsnaam, uuid: snapshot.position } as Parameters<typeof send>[2],
          'application/gzip',
        )
      },
    )
  }

/** So long is looked for something that a client with few rights may see. */
const SEEK_MS = 2_000

/**
 * The next deltas of which the viewer may see something: pages with nothing for it are passed by, up to the end or for some time.
 * @throws as `readPage`
 */
async function readSeen(viewer: Viewer, feed: Feed, after: string | undefined, limit: number) {
  const until = performance.now() + SEEK_MS
  let page: Page = await readPage(viewer, feed, after, limit)
  const { start } = page
  for (;;) {
    const told = tellDeltas(viewer, feed, page.deltas)
    let first: ToldDelta[] = []
    while (first.length === 0) {
      const next = await told.next()
      if (next.done) break
      first = next.value
    }
    if (first.length > 0 || page.isEnd || performance.now() > until) return { page, start, told: joined(first, told) }
    await viewer.pause?.()
    page = await readPage(viewer, feed, page.position, limit)
  }
}

async function* joined(first: ToldDelta[], rest: AsyncIterable<ToldDelta[]>): AsyncGenerator<ToldDelta[]> {
  yield first
  yield* rest
}

async function* begun(begin: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield begin
  yield* rest
}

/** Those that are text already as one, with commas in between. @param start on which the first one follows */
async function* writtenOf(deltas: AsyncIterable<ToldDelta[]>, start: string): AsyncGenerator<Written> {
  let before = start
  for await (const some of deltas) {
    let texts: string[] = []
    for (const delta of some) {
      const { json } = delta
      const begin = beginOf(delta, before)
      before = delta.id
      if (typeof json === 'string') {
        texts.push(begin + json)
        continue
      }
      if (texts.length > 0) yield new Written([texts.join()])
      texts = []
      yield new Written(begun(begin, json))
    }
    if (texts.length > 0) yield new Written([texts.join()])
  }
}
