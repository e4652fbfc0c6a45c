// notificaties: messages that other publishers give us, for the abonnementen here (and for the external service, when the mode
// says so). 201 comes after the commit: from then on the message is not lost.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { planDeliveries, wakeSender } from '../core/outbox.ts'
import { fault, invalid, throwFaults } from '../core/problem.ts'
import { Moment, Text, Url } from '../http/input.ts'
import { inOwnForm } from '../http/links.ts'
import { sourcesIn } from '../http/numbers.ts'
import { currentRequestId } from '../telemetry/request-id.ts'
import { isConsistent } from './kenmerken.ts'
import { publishAccess } from './rights.ts'

const MAX_KENMERKEN = 100
const CLOCK_LEEWAY_MS = 60_000

const Notificatie = Type.Object({
  kanaal: Text(50, { minLength: 1 }),
  source: Type.Optional(Text(100)),
  hoofdObject: Url(),
  resource: Text(100, { minLength: 1 }),
  resourceUrl: Url(),
  actie: Text(100, { minLength: 1 }),
  aanmaakdatum: Moment,
  kenmerken: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      default: null,
      description: 'Namen met een waarde als tekst.',
    }),
  ),
})
type Notificatie = Static<typeof Notificatie>

export const notificaties: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/notificaties',
    { config: publishAccess, schema: { body: Notificatie, response: { 201: Notificatie } } },
    async (request, reply) => {
      const kenmerken = readKenmerken(request.body.kenmerken ?? {})
      const message = { ...request.body, kenmerken }
      await app.mutate(request.actor, (m) => publish(m, message))
      return reply.code(201).send(message)
    },
  )
}

/**
 * As texts: publishers also give numbers, booleans and nothing. A URL of ours stands as in our answers.
 * @throws Problem 400 for anything else
 */
function readKenmerken(given: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(given)
  if (entries.length > MAX_KENMERKEN)
    throw invalid('kenmerken', 'max-items', `Een bericht heeft ten hoogste ${MAX_KENMERKEN} kenmerken.`)
  throwFaults(
    entries
      .filter(([, value]) => typeof value === 'object' && value !== null)
      .map(([naam]) => ({ name: `kenmerken.${naam}`, code: 'invalid', reason: 'Een kenmerk is een tekst.' })),
  )
  throwFaults(
    entries
      .filter(([naam, value]) => naam.length > 100 || String(value ?? '').length > 1000)
      .map(([naam]) => ({
        name: `kenmerken.${naam.slice(0, 100)}`,
        code: 'max_length',
        reason: 'Een kenmerk heeft ten hoogste 100 tekens in zijn naam en 1000 in zijn waarde.',
      })),
  )
  const sources = sourcesIn(given)
  return Object.fromEntries(
    entries.map(([naam, value]) => [naam, value === null ? '' : inOwnForm(sources?.get(naam) ?? String(value))]),
  )
}

/** @throws Problem 400: the kanaal does not exist, the kenmerken are not its own, or the moment is still to come */
async function publish(m: Mutation, message: Notificatie & { kenmerken: Record<string, string> }): Promise<void> {
  m.unrecorded('a message of another publisher is no resource of ours')
  const { kanaal, source = '', hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken } = message
  const known = await m.trx.selectFrom('kanaal').select('filters').where('naam', '=', kanaal).executeTakeFirst()
  throwFaults([
    ...(known ? [] : [fault('kanaal', 'message_kanaal', `Kanaal ${kanaal} bestaat niet.`)]),
    ...(known && !isConsistent(kenmerken, known.filters)
      ? [fault('kenmerken', 'kenmerken_inconsistent', `Kanaal ${kanaal} kent: ${known.filters.join(', ')}.`)]
      : []),
    ...(Date.parse(aanmaakdatum) > Date.now() + CLOCK_LEEWAY_MS
      ? [fault('aanmaakdatum', 'future_not_allowed', 'Dit moment ligt in de toekomst.')]
      : []),
  ])
  // The order of messages of another publisher is that of their main object, whatever its URL looks like.
  await m.sql`
    with bericht as (
      insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, bron,
        aanmaakdatum_text, request_id)
      values (${kanaal}, ${hoofdObject}, md5(${hoofdObject})::uuid, ${resource}, ${resourceUrl}, ${actie},
        ${m.sql.json(kenmerken)}, ${source}, ${aanmaakdatum},
        ${currentRequestId()})
      returning id, hoofd_object_uuid, kanaal, kenmerken, resource, actie, cloudevent
    )${planDeliveries(m.sql)}
    select ${wakeSender(m.sql)}`
}
