// Cloud events of others: a case was linked to something elsewhere, or that link went. They come in at /events, in structured
// mode, from whoever has the scope cloudevents.bezorgen; a link becomes a zaakobject. 202 comes after the commit and says that
// the event need not come again. That is also so for one that we have no use for: sending it again would change nothing.
// What was done is remembered by source and id, in the transaction that does it: an event that comes twice is done once.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Config } from '../config.ts'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { invalid, Problem } from '../core/problem.ts'
import { takeWhole } from '../http/content.ts'
import { readInput } from '../http/input.ts'
import { jsonParser } from '../http/json.ts'
import { inOwnForm, localUuid } from '../http/links.ts'
import { UUID_PATTERN } from '../lib/uuid.ts'
import { CLOUD_EVENT } from '../notificaties/cloud-events.ts'
import { holdZaak, type ZaakCore } from './lock.ts'
import { OBJECT_TYPES } from './objecttypen.ts'
import { createZaakobject, deleteZaakobjecten, findZaakobjecten, ZaakobjectPart } from './zaakobjecten.ts'

const LINKED = 'nl.overheid.zaken.zaak-gekoppeld'
const UNLINKED = 'nl.overheid.zaken.zaak-ontkoppeld'
const MAX_BYTES = 65_536
const access = { component: 'nrc', scopes: ['cloudevents.bezorgen'] } as const

const Attribute = Type.String({ minLength: 1, maxLength: 255 })
/** With an id it has to fit an entry of an index (2,704 bytes), also in characters of four bytes. */
const Source = Type.String({ minLength: 1, maxLength: 400 })
const CloudEvent = Type.Object({
  specversion: Type.String({ pattern: '^1\\.\\d+$', maxLength: 10 }),
  id: Attribute,
  source: Source,
  type: Attribute,
  data: Type.Optional(
    Type.Unsafe<unknown>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Bij een koppeling: zaak (URL of urn:uuid:…), linkTo, linkObjectType en label.',
    }),
  ),
})
type CloudEvent = Static<typeof CloudEvent>
const Accepted = Type.Object({ accepted: Type.Boolean(), event_id: Type.String() })

/** Why nothing was done. The answer is 202 all the same. */
class Unusable extends Error {}

export const events: FastifyPluginAsyncTypebox = async (app) => {
  app.removeAllContentTypeParsers()
  const parse = jsonParser(app)
  takeWhole(app, CLOUD_EVENT, async (request, body) => {
    try {
      return await parse(request, body)
    } catch (error) {
      if (error instanceof Problem) throw error
      throw invalid('cloudevent', 'malformed-cloudevent', 'De inhoud is geen geldige JSON.')
    }
  })

  app.post(
    '/events',
    {
      config: { access, isOn: ({ enableCloudEvents, zakenApi }: Config) => enableCloudEvents && zakenApi },
      bodyLimit: MAX_BYTES,
      attachValidation: true,
      schema: {
        body: CloudEvent,
        response: { 202: Accepted },
        consumes: [CLOUD_EVENT],
        summary: 'Cloud event ontvangen',
        description: `Een zaak is elders gekoppeld (\`${LINKED}\`) of ontkoppeld (\`${UNLINKED}\`).`,
      } as object,
    },
    async (request, reply) => {
      const event = readEvent(request)
      const { id, type } = event
      const outcome = await receive(request, event)
      if (outcome === DONE) request.log.info({ event: id, type }, 'incoming_cloud_event_handled')
      else request.log.warn({ event: id, type, reason: outcome }, 'incoming_cloud_event_error')
      return reply.code(202).send({ accepted: true, event_id: id } as never)
    },
  )

  /** What came of it, for the log and the table. */
  async function receive({ actor }: FastifyRequest, event: CloudEvent): Promise<string> {
    if (event.type !== LINKED && event.type !== UNLINKED) return 'unknown type'
    const once = (outcome: string, work: (m: Mutation) => Promise<void>) =>
      app.mutate(actor, async (m) => {
        m.unrecorded('an event that came before changes nothing')
        const rows = await m.sql<{ id: string }[]>`insert into received_event (source, id, type, outcome)
          values (${event.source}, ${event.id}, ${event.type}, ${outcome}) on conflict do nothing returning id`
        if (rows.length === 0) return 'seen before'
        await work(m)
        return outcome
      })
    try {
      return await once(DONE, (m) => (event.type === LINKED ? link(m, event.data) : unlink(m, event.data)))
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) throw error
      return once(reason, async () => {})
    }
  }
}

const DONE = 'uitgevoerd'

function readEvent({ body, validationError }: FastifyRequest): CloudEvent {
  const faults = validationError instanceof Problem ? (validationError.invalidParams ?? []) : []
  if (validationError && faults.length === 0) throw validationError
  const [first] = faults
  if (!first) return body as CloudEvent
  throw invalid('cloudevent', 'malformed-cloudevent', `${first.name}: ${first.reason}`)
}

/**
 * What is wrong with what the event asks for; undefined for a fault that may be gone when it comes again, such as a case that
 * is being taken over (409). Without values, which may be personal.
 */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof Unusable) return error.message
  if (!(error instanceof Problem) || ![400, 403, 404].includes(error.status)) return undefined
  const faults = (error.invalidParams ?? []).map(({ name, code }) => `${name}: ${code}`)
  return (faults.length > 0 ? faults.join(', ') : error.code).slice(0, 500)
}

/** The zaakobject of a link. The other side is not asked whether it is there: the event comes from who knows. */
async function link(m: Mutation, data: unknown): Promise<void> {
  const { linkTo, linkObjectType, label } = fieldsOf(data)
  const zaak = await zaakOf(m, data)
  const isKnown = (OBJECT_TYPES as readonly unknown[]).includes(linkObjectType)
  const input = readInput(ZaakobjectPart, {
    object: linkTo,
    relatieomschrijving: label,
    ...(isKnown ? { objectType: linkObjectType } : { objectType: 'overige', objectTypeOverige: linkObjectType }),
  })
  await createZaakobject(m, zaak, input)
}

async function unlink(m: Mutation, data: unknown): Promise<void> {
  const { linkTo } = fieldsOf(data)
  const zaak = await zaakOf(m, data)
  if (typeof linkTo !== 'string' || linkTo === '') throw new Unusable('missing-linkTo')
  const rows = await m.trx
    .selectFrom('zaakobject')
    .where('zaakId', '=', zaak.id)
    .where('object', '=', inOwnForm(linkTo))
    .select('uuid')
    .orderBy('id')
    .limit(LIMITS.related)
    .execute()
  const objects = await findZaakobjecten(
    m,
    rows.map(({ uuid }) => uuid),
  )
  await deleteZaakobjecten(m, zaak, objects)
}

function fieldsOf(data: unknown): Record<string, unknown> {
  if (typeof data !== 'object' || data === null) throw new Unusable('missing-data')
  return data as Record<string, unknown>
}

const UUID_URN = new RegExp(`^urn:uuid:(${UUID_PATTERN})$`, 'i')

async function zaakOf(m: Mutation, data: unknown): Promise<ZaakCore> {
  const named = String(fieldsOf(data).zaak ?? '')
  const uuid = UUID_URN.exec(named)?.[1]
  const found = uuid ?? localUuid(named, m.actor.base, 'zaak')
  const zaak = found && (await holdZaak(m, found))
  if (!zaak) throw new Unusable('unknown-zaak')
  return zaak
}
