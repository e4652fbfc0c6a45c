// The OpenAPI documents, one per component, pages to read them, and one to try the APIs. Besides: the root of every API.
import { once as eventOf } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Config } from '../../config.ts'
import { Problem } from '../../core/problem.ts'
import { inTurn } from '../../lib/in-turn.ts'
import { NEWEST, TITLES, toDocument } from './document.ts'
import { type Described, type Json, type Operation, toOperation } from './operation.ts'
import { serveReference, TRY_PATH } from './pages.ts'
import { OLDER, toOpenapi30 } from './version-3-0.ts'

/**
 * Remembers the routes that are made from here on. `serve` comes after the last of them: it adds the routes of the
 * documents themselves.
 * @param versions of the APIs, as `API-version` announces them
 * @param contact whom to ask about them
 */
export function collectOpenapi(
  app: FastifyInstance,
  versions: Record<string, string>,
  contact: Config['apiContact'],
): { serve(): Promise<void> } {
  const components = new Map<string, Operation[]>()
  app.addHook('onRoute', (route) => {
    if (route.url === '/docs' || route.url.startsWith('/docs/')) route.config = { ...route.config, access: 'public' }
    const [, component, path] = AT_ROOT[route.url] ?? /^\/(\w+)\/api\/v1(\/.*)$/.exec(route.url) ?? []
    if (!component || !path || !TITLES[component] || (route.schema as Described | undefined)?.hide) return
    const operations = components.get(component) ?? []
    components.set(component, operations)
    for (const method of [route.method].flat()) operations.push(toOperation(route, component, method, path))
  })
  return {
    serve: async () => {
      const documents = new Map<string, () => Json>()
      const works: (() => void)[] = []
      for (const component of Object.keys(TITLES)) {
        const operations = components.get(component)
        if (!operations) continue
        const document = once(() => toDocument(component, versions[component] ?? '1.0.0', operations))
        documents.set(component, document)
        works.push(document, ...serveComponent(app, component, operations, document, contact))
      }
      workAhead(app, works)
      serveReference(app, documents)
      await serveTrial(app, [...documents.keys()])
    },
  }
}

/** Routes beside the root of their API. */
const AT_ROOT: Record<string, [url: string, component: string, path: string]> = {
  '/events': ['/events', 'notificaties', '/events'],
}

/** Makes something at the first question for it. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const AHEAD_MS = 2000

/** Stands for our address until it is known. */
const ANYWHERE = 'https://zaakstroom.invalid'

/**
 * A document as it is sent, by our address. Writing it takes long and anybody may ask, also under made-up names of ours: so it
 * is written once, and only the address is put in. Who asks for the same gets the same bytes.
 */
function written(write: () => Promise<string>): (base: string) => Promise<Buffer> {
  let text: Promise<string> | undefined
  const kept = new LRUCache<string, Buffer>({ max: 4 })
  return async (base) => {
    text ??= write()
    text.catch(() => {
      text = undefined // whoever asks next tries again
    })
    const bytes = kept.get(base) ?? Buffer.from((await text).replaceAll(ANYWHERE, () => base))
    kept.set(base, bytes)
    return bytes
  }
}

const threads = inTurn(1, Number.POSITIVE_INFINITY, () => new Problem(503)) // a dozen documents at most, each once

async function toYaml(json: string): Promise<string> {
  return threads(async () => {
    const thread = new Worker(new URL('./yaml-thread.ts', import.meta.url), { workerData: json, env: {} })
    const [yaml] = await eventOf(thread, 'message')
    return yaml
  })
}

function serveComponent(
  app: FastifyInstance,
  component: string,
  operations: Operation[],
  newest: () => Json,
  contact: Config['apiContact'],
): (() => void)[] {
  const root = `/${component}/api/v1`
  const options = { config: { access: 'public' }, schema: { hide: true } } as const
  const anywhere = (document: Json): Json => ({
    ...document,
    info: { ...(document.info as Json), contact: { url: `${ANYWHERE}/docs/`, ...contact } },
    servers: [{ url: `${ANYWHERE}${root}` }],
    paths: Object.fromEntries(
      Object.entries(document.paths as Record<string, Json>).map(([path, item]) => [
        path,
        Object.hasOwn(AT_ROOT, path) ? { servers: [{ url: ANYWHERE }], ...item } : item,
      ]),
    ),
  })
  const text = {
    newest: once(() => JSON.stringify(anywhere(newest()))),
    older: once(() => JSON.stringify(toOpenapi30(anywhere(newest())))),
  }
  const bytes = {
    json: { newest: written(async () => text.newest()), older: written(async () => text.older()) },
    yaml: { newest: written(() => toYaml(text.newest())), older: written(() => toYaml(text.older())) },
  }
  /** `X-OAS-Version` is what clients of gemma-zds-client look at; those ask for `?v=3`, and read no 3.1. */
  const documentFor = (request: FastifyRequest, reply: FastifyReply, format: 'json' | 'yaml'): Promise<Buffer> => {
    const { v } = request.query as { v?: unknown }
    const isOlder = v === '3' || v === '3.0' || v === '3.0.3'
    reply.header('x-oas-version', isOlder ? OLDER : NEWEST)
    return bytes[format][isOlder ? 'older' : 'newest'](request.base)
  }

  const lists = [
    ...new Set(
      operations.flatMap(({ method, path }) => (method === 'GET' ? (/^\/([^/:]+)$/.exec(path)?.[1] ?? []) : [])),
    ),
  ].sort()
  for (const url of [root, `${root}/`]) {
    app.get(url, options, async (request) =>
      Object.fromEntries(lists.map((name) => [name, `${request.base}${root}/${name}`])),
    )
  }
  // Anyone may read them, also a page elsewhere: they hold nothing of ours but the contract.
  const open = (reply: FastifyReply) => reply.header('access-control-allow-origin', '*')
  for (const folder of ['', '/schema']) {
    app.get(`${root}${folder}/openapi.json`, options, async (request, reply) =>
      open(reply)
        .type('application/json; charset=utf-8')
        .send(await documentFor(request, reply, 'json')),
    )
    app.get(`${root}${folder}/openapi.yaml`, options, async (request, reply) =>
      open(reply)
        .type('application/yaml')
        .send(await documentFor(request, reply, 'yaml')),
    )
  }
  for (const url of [`${root}/schema`, `${root}/schema/`]) {
    app.get(url, options, async (request, reply) => reply.redirect(`${request.base}/docs/${component}/`))
  }
  return [text.newest, text.older]
}

/**
 * Makes the documents before anybody asks: together they are half a second of work, and whoever asks first holds up all others.
 * A step at a time, and not at once: a process that has just started, perhaps in place of one that was killed, has others to serve.
 */
function workAhead(app: FastifyInstance, works: (() => void)[]): void {
  const closing = new AbortController()
  app.addHook('onClose', async () => closing.abort())
  app.addHook('onListen', async () => {
    const run = async () => {
      for (const work of works) {
        await sleep(AHEAD_MS, undefined, { ref: false, signal: closing.signal })
        work()
      }
    }
    void run().catch(() => {}) // the application was closed, or whoever asks for the document is told what is wrong
  })
}

// The page has a policy of its own, since it runs scripts: those that we serve, and no others. It may ask only us.
const DOCS_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

async function serveTrial(app: FastifyInstance, components: string[]): Promise<void> {
  const urls = components.map((component) => ({
    name: TITLES[component],
    url: `../../${component}/api/v1/openapi.json`,
  }))
  await app.register(async (docs) => {
    // The page wants one document of its own; it never shows it, since the list above stands before it.
    const document = { openapi: NEWEST, info: { title: 'Zaakstroom', version: packageJson.version }, paths: {} }
    await docs.register(swagger, { mode: 'static', specification: { document: document as never } })
    await docs.register(swaggerUi, {
      routePrefix: TRY_PATH,
      staticCSP: DOCS_CSP,
      theme: { title: "Zaakstroom: API's" },
      logo: { type: 'image/svg+xml', content: Buffer.from(LOGO) },
      uiConfig: { urls, docExpansion: 'none', defaultModelsExpandDepth: 0 } as never,
    })
  })
}

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 40"><text x="0" y="28" font-family="sans-serif" font-size="24" fill="#fff">Zaakstroom</text></svg>'
