// abonnement: who gets messages, of which kanalen, and where. An abonnement belongs to the applicatie that made it.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { orAnew } from '../../core/history.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Mutation } from '../../core/mutate.ts'
import { fault, throwFaults } from '../../core/problem.ts'
import { documentedAs } from '../../http/documented.ts'
import { sendCacheable } from '../../http/etag.ts'
import { Patch, Text, Url, Uuid } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { sendAllById, sendRows } from '../../http/stream.ts'
import { eventBody } from '../../notificaties/cloud-events.ts'
import { bericht, subscriberOwner, subscriberServers } from '../../notificaties/deliver.ts'
import { receiverAnswers } from '../../notificaties/resend.ts'
import { forClients } from '../../services/addresses.ts'
import { openAgent } from '../../services/transport.ts'
import { readAccess, requireOwner, subscribeAccess } from '../rights.ts'
import { probeCallback } from './callback.ts'
import { expired, handOut, readHandedOut } from './fetch.ts'
import { judge, MAX_AUTH, MAX_KANALEN, requireSecretFor } from './judge.ts'
import { listAbonnementen, requireAbonnement, toAbonnement, writtenAbonnement } from './read.ts'
import { isStopped, resumeAbonnement } from './state.ts'
import { changeAbonnement, createAbonnement, deleteAbonnement } from './write.ts'

const AbonnementKanaal = Type.Object({
  naam: Text(50, { minLength: 1 }),
  filters: Type.Optional(
    Type.Unsafe<Record<string, string>>(
      documentedAs(
        { type: 'object', default: {} },
        { type: 'object', additionalProperties: { type: 'string', maxLength: 1000 } },
      ),
    ),
  ),
})
const AbonnementInput = Type.Object({
  callbackUrl: Type.String({
    format: 'uri',
    maxLength: 2000,
    description: 'Alleen een lege tekst ("") zegt dat de ontvanger de berichten ophaalt: zie …/berichten.',
  }),
  auth: Type.Optional(
    Type.String({ maxLength: MAX_AUTH, default: '', writeOnly: true, description: 'Verplicht bij een callback.' }),
  ),
  kanalen: Type.Array(AbonnementKanaal, { maxItems: MAX_KANALEN }),
  sendCloudevents: Type.Optional(Type.Boolean({ default: false })),
})
const AbonnementPatch = Patch(AbonnementInput)
type AbonnementPatch = Static<typeof AbonnementPatch>
const { auth: _, callbackUrl: __, ...Shown } = AbonnementInput.properties
const Abonnement = Type.Object({
  url: Url(),
  callbackUrl: Type.String({ description: 'Leeg: de ontvanger haalt de berichten op.' }),
  ...Shown,
})
const Params = Type.Object({ uuid: Uuid })
const BerichtenQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      maxLength: 60,
      description:
        'De positie van het laatste bericht dat de ontvanger heeft: dat en alle eerdere zijn daarmee bevestigd.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Aantal, standaard 100.' })),
})
const Berichten = Type.Object({
  next: Url(),
  items: Type.Array(
    Type.Object({
      id: Type.String({ description: 'De positie van dit bericht.' }),
      uuid: Uuid,
      bericht: Type.Unsafe<object>({
        type: 'object',
        additionalProperties: true,
        description: 'Het bericht van de standaard, of het cloud event, zoals het naar een callback gaat.',
      }),
    }),
  ),
})

const authFaults = (callbackUrl: string, auth: string) =>
  callbackUrl !== '' && auth === ''
    ? [fault('auth', 'required', 'Een callback wil zien wie haar aanroept: geef de waarde van Authorization.')]
    : []

export const abonnementen: FastifyPluginAsyncTypebox = async (app) => {
  const { config, box } = app.parts
  const agent = app.each(
    () => openAgent({ policy: forClients(app.parts.config), connections: 20, proxies: app.parts.config.proxies }),
    (agent) => agent.destroy(),
  )
  const probe = () => ({ agent: agent(), config, log: app.log })

  /** Else nothing is ever sent to an abonnement here, and so nobody is asked anything. */
  async function isBuiltIn(): Promise<boolean> {
    const { mode } = await app.read.selectFrom('notificatieSettings').select('mode').executeTakeFirstOrThrow()
    return mode !== 'extern'
  }

  app.get(
    '/abonnement',
    { config: readAccess, schema: { response: { 200: Type.Array(Abonnement) } } },
    async (request, reply) => {
      const { actor, base } = request
      const own = actor.alleAutorisaties ? sql<boolean>`true` : sql<boolean>`p.uuid = ${actor.applicatieUuid}::uuid`
      return sendAllById(request, reply, {
        first: LIMITS.firstLarge, // one may have 64 kB of filters
        select: (after, limit) => listAbonnementen(app.read, own, limit, after),
        toResources: (rows) => rows.map((row) => writtenAbonnement(row, base)),
      })
    },
  )

  app.post(
    '/abonnement',
    { config: subscribeAccess, schema: { body: AbonnementInput, response: { 201: Abonnement } } },
    async (request, reply) => {
      const { body } = request
      const kanalen = await judge(app.read, config, body, request.base)
      if (kanalen.length === 0)
        throwFaults([{ name: 'kanalen', code: 'required', reason: 'Noem ten minste een kanaal.' }])
      const { callbackUrl, auth = '', sendCloudevents: cloudevents = false } = body
      throwFaults(authFaults(callbackUrl, auth))
      if (callbackUrl !== '' && (await isBuiltIn())) throwFaults(await probeCallback(probe(), callbackUrl, auth))
      const abonnement = await app.mutate(request.actor, async (m) => {
        const uuid = crypto.randomUUID()
        const applicatieUuid = m.actor.applicatieUuid || null
        await createAbonnement(m, { box, config }, uuid, { callbackUrl, auth, cloudevents, applicatieUuid }, kanalen)
        return toAbonnement(await requireAbonnement(m.read, uuid), m.actor.base)
      })
      return reply.code(201).header('location', abonnement.url).send(abonnement)
    },
  )

  app.get(
    '/abonnement/:uuid',
    { config: readAccess, schema: { params: Params, response: { 200: Abonnement } } },
    async (request, reply) => {
      const row = await requireAbonnement(app.read, request.params.uuid)
      requireOwner(request.actor, row.applicatieUuid)
      return sendCacheable(request, reply, toAbonnement(row, request.base))
    },
  )

  app.get(
    '/abonnement/:uuid/berichten',
    {
      config: subscribeAccess,
      exposeHeadRoute: false, // asking is what confirms
      schema: {
        description:
          'Toevoeging aan de standaard: berichten ophalen in plaats van ze te ontvangen, op volgorde. Wie de volgende vraagt (`next`) bevestigt wat hij heeft; geen items: er wacht niets.',
        params: Params,
        querystring: BerichtenQuery,
        response: { 200: Berichten },
      },
    },
    async (request, reply) => {
      const { after, limit = 100 } = request.query
      const { uuid } = request.params
      const here = { mutate: app.mutate, log: request.log, base: request.base }
      const handed = await orAnew(here, expired, () => app.mutate(request.actor, (m) => handOut(m, uuid, after, limit)))
      const next = `${link(request.base, 'abonnement', uuid)}/berichten?after=${handed.textOf(handed.to)}&limit=${limit}`
      let { from } = handed
      return sendRows(request, reply, {
        head: `{"next":${JSON.stringify(next)},"items":[`,
        tail: ']}',
        first: LIMITS.firstLarge, // a message of another publisher may be large
        next: async (most) => {
          const rows = from < handed.to ? await readHandedOut(app.read, { ...handed, from }, most) : []
          from = rows.at(-1)?.place ?? handed.to
          return { rows, more: rows.length === most }
        },
        toResources: (rows) =>
          rows.map(({ place, notificatieId, message }) => ({
            id: handed.textOf(place),
            uuid: message.uuid,
            bericht: handed.cloudevents ? eventBody(config, message, notificatieId) : bericht(config, message),
          })),
      })
    },
  )

  app.put(
    '/abonnement/:uuid',
    { config: subscribeAccess, schema: { params: Params, body: AbonnementInput, response: { 200: Abonnement } } },
    async (request) => change(request.actor, request.params.uuid, request.body),
  )

  app.patch(
    '/abonnement/:uuid',
    { config: subscribeAccess, schema: { params: Params, body: AbonnementPatch, response: { 200: Abonnement } } },
    async (request) => change(request.actor, request.params.uuid, request.body),
  )

  app.delete('/abonnement/:uuid', { config: subscribeAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteAbonnement(m, request.params.uuid))
    return reply.code(204).send()
  })

  /**
   * The callback is asked again when its address or its auth is another one; what is not given is taken as it is stored. It is
   * asked too when nothing is sent to it any more: when it behaves, that ends. So it is when it fails and its owner writes the
   * abonnement; that it does not behave yet is no reason to refuse the change then.
   */
  async function change(actor: Mutation['actor'], uuid: string, given: AbonnementPatch) {
    const row = await requireAbonnement(app.read, uuid)
    requireOwner(actor, row.applicatieUuid)
    const kanalen = await judge(app.read, config, given, actor.base)
    requireSecretFor(row, given)
    const callbackUrl = given.callbackUrl ?? row.callbackUrl
    const stored =
      row.authenticatie === 'header'
        ? box.tryOpenFor(row.auth, subscriberOwner(row.uuid), subscriberServers(row))
        : undefined
    const auth = given.auth ?? stored
    const isOther = callbackUrl !== row.callbackUrl || auth !== stored || isStopped(row.status)
    if (row.authenticatie === 'header') throwFaults(authFaults(callbackUrl, auth ?? ''))
    const isFetched = callbackUrl === ''
    const mayAsk = !isFetched && auth !== undefined && (await isBuiltIn())
    const asked = mayAsk && isOther
    if (asked) throwFaults(await probeCallback(probe(), callbackUrl, auth))
    const isMended =
      asked ||
      (mayAsk &&
        row.isFailing &&
        (given.callbackUrl !== undefined || given.auth !== undefined) &&
        (await probeCallback(probe(), callbackUrl, auth)).length === 0)
    return app.mutate(actor, async (m) => {
      const settings = {
        ...(given.callbackUrl !== undefined && { callbackUrl: given.callbackUrl }),
        ...(given.auth !== undefined && { authenticatie: 'header' as const, auth: given.auth }),
        ...(given.sendCloudevents !== undefined && { cloudevents: given.sendCloudevents }),
      }
      await changeAbonnement(m, box, row.uuid, settings, given.kanalen ? kanalen : undefined)
      if (isMended) await receiverAnswers(m, row.id)
      if ((asked || isFetched) && isStopped(row.status)) await resumeAbonnement(m, row.uuid)
      return toAbonnement(await requireAbonnement(m.read, row.uuid), m.actor.base)
    })
  }
}
