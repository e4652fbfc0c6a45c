// klantcontacten: contacts with a customer about a case. The standard replaced them, and says so in a warning.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { fault } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { isFuture } from '../http/formats.ts'
import { Moment, OptionalText, Url, Uuid } from '../http/input.ts'
import { link } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { requireWritable, type ZaakCore, zaakForChange } from './lock.ts'
import { byUrl, findOne, type PartRow, paged, sendOne, sendPage } from './part-queries.ts'
import { recordBelow } from './records.ts'
import { access, BIJWERKEN, LEZEN } from './rights.ts'
import { Params } from './zaak/columns.ts'

const Input = Type.Object({
  zaak: Url(),
  identificatie: OptionalText(14),
  datumtijd: Moment,
  kanaal: OptionalText(20),
  onderwerp: OptionalText(200),
  toelichting: OptionalText(1000),
})
const Klantcontact = Type.Object({ url: Url(), uuid: Uuid, ...Input.properties })
const Filter = Type.Object({ ...PageQuery, ...CursorQuery, zaak: Type.Optional(Url()) })

type Row = PartRow & {
  identificatie: string
  datumtijd: string
  kanaal: string
  onderwerp: string
  toelichting: string
}
export const source = paged<Row, ReturnType<typeof toKlantcontact>>({
  kind: 'klantcontact',
  table: 'klantcontact',
  toResource: toKlantcontact,
})

export const klantcontacten: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply) => {
    const text = 'Deze resource verdwijnt: gebruik zaakcontactmomenten.'
    reply.header('warning', `299 "${request.base}${request.url.split('?', 1)[0]}" "${text}"`)
  })

  app.get(
    '/klantcontacten',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Klantcontact) } } },
    async (request, reply) =>
      sendPage(request, reply, source, byUrl('x.zaakId', request.query.zaak, request.base, 'zaak')),
  )

  app.post(
    '/klantcontacten',
    { config: access(BIJWERKEN), schema: { body: Input, response: { 201: Klantcontact } } },
    async (request, reply) => {
      const { body } = request
      const made = await app.mutate(request.actor, async (m) =>
        createKlantcontact(m, await zaakForChange(m, body.zaak, BIJWERKEN), body, app.parts.config.jwtLeeway),
      )
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/klantcontacten/:uuid',
    {
      config: access(LEZEN),
      schema: { params: Params, querystring: Type.Object(PageQuery), response: { 200: Klantcontact } },
    },
    async (request, reply) => sendOne(request, reply, source),
  )
}

async function createKlantcontact(m: Mutation, zaak: ZaakCore, input: Static<typeof Input>, leeway: number) {
  const isAhead = isFuture(input.datumtijd, leeway)
  requireWritable(m, zaak, isAhead ? [fault('datumtijd', 'date-in-future', 'Dit moment ligt in de toekomst.')] : [])
  const values = {
    zaak_id: zaak.id,
    identificatie: input.identificatie || crypto.randomUUID().replaceAll('-', '').slice(0, 12),
    datumtijd: input.datumtijd,
    kanaal: input.kanaal ?? '',
    onderwerp: input.onderwerp ?? '',
    toelichting: input.toelichting ?? '',
  }
  const made = one(await m.sql<{ uuid: string }[]>`insert into klantcontact ${m.sql(values)} returning uuid`)
  const row = expected(await findOne(m.read, source, made.uuid))
  const nieuw = toKlantcontact(row, m.actor.base)
  const detail = row.identificatie
  const { uuid } = row
  recordBelow(m, zaak, { actie: 'create', resource: 'klantcontact', url: nieuw.url, uuid, detail, oud: null, nieuw })
  return nieuw
}

function toKlantcontact(row: Row, base: string) {
  return {
    url: link(base, 'klantcontact', row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    identificatie: row.identificatie,
    datumtijd: row.datumtijd,
    kanaal: row.kanaal,
    onderwerp: row.onderwerp,
    toelichting: row.toelichting,
  }
}
