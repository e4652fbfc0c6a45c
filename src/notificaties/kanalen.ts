// kanalen: the channels that we publish on, their registration at the notifications service, and a test of the way there.
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Config } from '../config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { ownAddress, PATHS } from '../http/links.ts'
import { parseForeignJson } from '../lib/foreign-json.ts'
import { momentNow } from '../lib/moment.ts'
import { allowedAddress, FOR_SERVICES } from '../services/addresses.ts'
import { isBelow, openCaller, outgoingUrl, type RemoteService, SERVICE_COLUMNS } from '../services/services.ts'
import { type CallAnswer, FAILURES, failureKind, type Proxies, usesProxy } from '../services/transport.ts'

export type Kanaal = {
  naam: string
  /** Name of the main resource. */
  hoofdobject: string
  /** Names of the kenmerken in messages. */
  kenmerken: string[]
  uitleg: string
}

export const KANALEN: Kanaal[] = [
  {
    naam: 'zaken',
    hoofdobject: 'zaak',
    kenmerken: ['bronorganisatie', 'zaaktype', 'zaaktype.catalogus', 'vertrouwelijkheidaanduiding'],
    uitleg: 'Zaken en wat erbij hoort, zoals statussen, resultaten en rollen.',
  },
  {
    naam: 'documenten',
    hoofdobject: 'enkelvoudiginformatieobject',
    kenmerken: [
      'bronorganisatie',
      'informatieobjecttype',
      'vertrouwelijkheidaanduiding',
      'informatieobjecttype.catalogus',
    ],
    uitleg: 'Documenten, gebruiksrechten en verzendingen. De bulkimport van documenten stuurt geen berichten.',
  },
  {
    naam: 'besluiten',
    hoofdobject: 'besluit',
    kenmerken: ['verantwoordelijkeOrganisatie', 'besluittype', 'besluittype.catalogus'],
    uitleg: 'Besluiten en de documenten waarin ze zijn vastgelegd.',
  },
  ...(['zaaktype', 'informatieobjecttype', 'besluittype'] as const).map((type) => ({
    naam: `${type}n`,
    hoofdobject: type,
    kenmerken: ['catalogus'],
    uitleg: `Versies van een ${type}.`,
  })),
  { naam: 'autorisaties', hoofdobject: 'applicatie', kenmerken: [], uitleg: 'Applicaties en hun rechten.' },
]

/**
 * The filters as a receiver must know them. It turns the names in messages into snake_case before it compares, but not
 * those of the registration.
 */
export function filters({ kenmerken }: Kanaal): string[] {
  return kenmerken.map((naam) => naam.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

/** No notifications service is configured. */
export class NoService extends Error {}

type Parts = { database: Database; box: SecretBox; config: Config }
type ServiceConnection = {
  dienst: RemoteService
  call(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<CallAnswer>
}

const MAX_ANSWER = 1024 * 1024

/**
 * Makes or updates channels at the notifications service, all or only those named. Doing it again is harmless.
 * @returns per channel whether it succeeded, and if not why
 * @throws NoService
 */
export async function registerKanalen(
  parts: Parts,
  names?: string[],
): Promise<{ naam: string; gelukt: boolean; reden: string }[]> {
  return withService(parts, async ({ dienst, call }) => {
    const results = []
    for (const kanaal of KANALEN.filter(({ naam }) => !names || names.includes(naam))) {
      const { naam } = kanaal
      const body = {
        naam,
        documentatieLink: `${ownAddress(parts.config)}/ref/kanalen/#${naam}`,
        filters: filters(kanaal),
      }
      try {
        const found = await call('GET', `kanaal?naam=${encodeURIComponent(naam)}`)
        requireSuccess(found)
        const known = listed(found, naam)
        if (known.length > 1) throw new Error('multiple_kanalen_found: de dienst heeft dit kanaal meer dan eens')
        // Only below the root that was registered: our credentials go along.
        const text = known[0]?.url
        const url = text === undefined ? undefined : outgoingUrl(text)
        if (text !== undefined && !(url && isBelow(url, dienst.apiRoot))) {
          throw new Error('de dienst noemt voor dit kanaal een adres buiten haar API-root')
        }
        requireSuccess(url ? await call('PUT', url.href, body) : await call('POST', 'kanaal', body))
        results.push({ naam, gelukt: true, reden: '' })
      } catch (error) {
        results.push({ naam, gelukt: false, reden: reasonOf(error) })
      }
    }
    return results
  })
}

/** An answer that is no success. */
class Refused extends Error {}

function requireSuccess({ status, shown }: CallAnswer): void {
  if (status >= 200 && status < 300) return
  throw new Refused(`het antwoord was ${status}: ${shown().toString('utf8').slice(0, 500)}`)
}

function reasonOf(error: unknown): string {
  const kind = failureKind(error)
  return kind === 'unknown' ? (error as Error).message : FAILURES[kind]
}

function listed({ body }: CallAnswer, naam: string): { url: string }[] {
  const answer = parseForeignJson(body)
  const list = Array.isArray(answer) ? answer : (answer as { results?: unknown }).results
  if (!Array.isArray(list)) throw new Error('het antwoord is geen lijst van kanalen')
  return list.filter((kanaal) => kanaal?.naam === naam && typeof kanaal.url === 'string')
}

export const STAGES = ['DNS', 'TCP', 'TLS', 'HTTP', 'rights'] as const
export type Stage = { stage: (typeof STAGES)[number]; outcome: 'ok' | 'failed' | 'skipped'; detail: string }
// What a proxy does for us is only seen as a whole.
const THROUGH_PROXY = (['DNS', 'TCP', 'TLS'] as const).map(
  (stage): Stage => ({ stage, outcome: 'skipped', detail: 'proxy' }),
)

/**
 * Goes the way of a notification step by step, and ends with a message on channel `test`. That the service does not know
 * that channel is no fault: it then has accepted who we are.
 * @throws NoService
 */
export async function testNotificatie(parts: Parts): Promise<Stage[]> {
  return withService(parts, async ({ dienst, call }) => {
    const url = new URL(dienst.apiRoot)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const stages: Stage[] = []
    const step = async (stage: Stage['stage'], work: () => Promise<string>) => {
      if (stages.some(({ outcome }) => outcome === 'failed'))
        return void stages.push({ stage, outcome: 'skipped', detail: '' })
      try {
        stages.push({ stage, outcome: 'ok', detail: await work() })
      } catch (error) {
        stages.push({ stage, outcome: 'failed', detail: reasonOf(error) })
      }
    }
    let answer: CallAnswer | undefined
    const at = { host, port, lookup: FOR_SERVICES.lookup }
    if (usesProxy(parts.config.proxies)) stages.push(...THROUGH_PROXY)
    else {
      await step('DNS', () => allowedAddress(FOR_SERVICES, host))
      await step('TCP', () => opened(connect(at), 'connect', dienst.timeoutMs))
      if (url.protocol !== 'https:') stages.push({ stage: 'TLS', outcome: 'skipped', detail: 'http' })
      else
        await step('TLS', () => {
          const servername = isIP(host) ? {} : { servername: host }
          return opened(connectTls({ ...at, ...servername }), 'secureConnect', dienst.timeoutMs)
        })
    }
    await step('HTTP', async () => {
      answer = await call('POST', 'notificaties', testMessage(parts.config))
      const { status } = answer
      if (status === 404 || status >= 500 || (status >= 300 && status < 400)) requireSuccess(answer)
      return String(status)
    })
    await step('rights', async () => {
      const { status } = expected(answer)
      if (status !== 400) requireSuccess(expected(answer))
      return status === 400 ? 'recognised; there is no channel test' : 'accepted'
    })
    return stages
  })
}

function testMessage(config: Config) {
  const url = `${ownAddress(config)}/ref/kanalen/`
  return {
    kanaal: 'test',
    hoofdObject: url,
    resource: 'test',
    resourceUrl: url,
    actie: 'test',
    aanmaakdatum: momentNow(),
    kenmerken: {},
  }
}

/**
 * Whether something listens at the address of the service: the first steps of the test only, without sending anything.
 * @returns why not, or undefined when it does, or when only a proxy could tell
 */
export async function unreachable(apiRoot: string, ms: number, proxies: Proxies): Promise<string | undefined> {
  if (usesProxy(proxies)) return undefined
  const { hostname, port, protocol } = new URL(apiRoot)
  const host = hostname.replace(/^\[|\]$/g, '')
  try {
    await allowedAddress(FOR_SERVICES, host)
    const at = { host, port: Number(port || (protocol === 'https:' ? 443 : 80)), lookup: FOR_SERVICES.lookup }
    await opened(connect(at), 'connect', ms)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

async function opened(socket: ReturnType<typeof connect>, event: string, ms: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once(event, resolve)
  socket.once('error', reject)
  socket.setTimeout(ms, () => reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })))
  try {
    await promise
    return ''
  } finally {
    socket.destroy()
  }
}

async function withService<T>(
  { database, box, config }: Parts,
  work: (service: ServiceConnection) => Promise<T>,
): Promise<T> {
  const dienst = await database.db
    .selectFrom('notificatieSettings as i')
    .innerJoin('service as d', 'd.id', 'i.configuredServiceId')
    .select(SERVICE_COLUMNS.map((column) => `d.${column}` as const))
    .executeTakeFirst()
  if (!dienst) throw new NoService('no notifications service is configured')
  const caller = openCaller(box, 1, config.proxies)
  try {
    return await work({
      dienst,
      call: (method, path, body) =>
        caller.send(dienst, {
          url: new URL(path, dienst.apiRoot),
          method,
          limit: MAX_ANSWER,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
    })
  } finally {
    await caller.close()
  }
}

/** The page that the registration of a channel refers to; receivers fetch it. */
export const kanalenPage: FastifyPluginAsyncTypebox = async (app) => {
  const page = `<!doctype html><html lang="nl"><meta charset="utf-8"><title>Kanalen</title><main><h1>Kanalen</h1>${KANALEN.map(
    (kanaal) => `<section id="${kanaal.naam}"><h2>${kanaal.naam}</h2><p>${kanaal.uitleg}</p>
<dl><dt>Hoofdobject</dt><dd>${kanaal.hoofdobject} (<code>${pathOf(kanaal.hoofdobject)}</code>)</dd>
<dt>Kenmerken</dt><dd>${kanaal.kenmerken.map((naam) => `<code>${naam}</code>`).join(', ') || 'geen'}</dd></dl></section>`,
  ).join('')}</main></html>`
  for (const url of ['/ref/kanalen', '/ref/kanalen/']) {
    app.get(url, { config: { access: 'public' } }, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(page),
    )
  }
}

function pathOf(resource: string): string {
  return (PATHS as Record<string, string>)[resource] ?? resource
}
