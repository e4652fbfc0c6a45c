// substatussen: steps within a status. Beside the standard.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Config } from '../config.ts'
import type { Mutation } from '../core/mutate.ts'
import { fault, invalid, onObject, throwFaults } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { isFuture } from '../http/formats.ts'
import { Moment, Text, Url, Uuid } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { closedForNotes, requireWritable, touchZaak, type ZaakCore, zaakForChange } from './lock.ts'
import { by, byUrl, findOne, type PartRow, paged, sendOne, sendPage } from './part-queries.ts'
import { recordBelow } from './records.ts'
import { AANMAKEN, access, LEZEN, STATUSSEN_TOEVOEGEN } from './rights.ts'
import { NullableReference, Params } from './zaak/columns.ts'

const TOEVOEGEN = [...AANMAKEN, ...STATUSSEN_TOEVOEGEN] as const
const DOELGROEPEN = ['betrokkenen', 'intern', ''] as const

const Input = Type.Object({
  zaak: Url(),
  status: NullableReference,
  omschrijving: Text(200, { minLength: 1 }),
  tijdstip: Type.Optional(Moment),
  doelgroep: Type.Optional(Type.Enum(DOELGROEPEN, { default: 'betrokkenen' })),
})
const Substatus = Type.Object({ url: Url(), uuid: Uuid, ...Input.properties })
const MomentFilter = Type.Optional(Moment)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  zaak: Type.Optional(Url()),
  status: Type.Optional(Url()),
  doelgroep: Type.Optional(Type.Enum(DOELGROEPEN)),
  tijdstip__gt: MomentFilter,
  tijdstip__gte: MomentFilter,
  tijdstip__lt: MomentFilter,
  tijdstip__lte: MomentFilter,
})

type Row = PartRow & {
  omschrijving: string
  tijdstip: string
  doelgroep: (typeof DOELGROEPEN)[number]
  statusUuid: string
}
export const source = paged<Row, ReturnType<typeof toSubstatus>>(
  {
    kind: 'substatus',
    table: 'substatus',
    columns: sql`s.uuid as status_uuid`,
    joins: sql`join status s on s.id = x.status_id`,
    toResource: toSubstatus,
  },
  [
    { column: sql`x.tijdstip`, descending: true },
    { column: sql`x.id`, descending: true },
  ],
)

export const substatussen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/substatussen',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Substatus) } } },
    async (request, reply) => {
      const { zaak, status, doelgroep, tijdstip__gt, tijdstip__gte, tijdstip__lt, tijdstip__lte } = request.query
      const moment = (operator: string, value: string | undefined) =>
        value === undefined ? [] : [sql`x.tijdstip ${sql.raw(operator)} ${value}::timestamptz`]
      return sendPage(request, reply, source, [
        ...byUrl('x.zaakId', zaak, request.base, 'zaak'),
        ...byUrl('x.statusId', status, request.base, 'status'),
        ...by('x.doelgroep', doelgroep),
        ...moment('>', tijdstip__gt),
        ...moment('>=', tijdstip__gte),
        ...moment('<', tijdstip__lt),
        ...moment('<=', tijdstip__lte),
      ])
    },
  )

  app.post(
    '/substatussen',
    { config: access(TOEVOEGEN), schema: { body: Input, response: { 201: Substatus } } },
    async (request, reply) => {
      const { body } = request
      const made = await app.mutate(request.actor, async (m) =>
        createSubstatus(m, await zaakForChange(m, body.zaak, TOEVOEGEN), body, app.parts.config),
      )
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/substatussen/:uuid',
    {
      config: access(LEZEN),
      schema: { params: Params, querystring: Type.Object(PageQuery), response: { 200: Substatus } },
    },
    async (request, reply) => sendOne(request, reply, source),
  )
}

async function createSubstatus(m: Mutation, zaak: ZaakCore, input: Static<typeof Input>, config: Config) {
  if (input.tijdstip && isFuture(input.tijdstip, config.jwtLeeway))
    throwFaults([fault('tijdstip', 'date-in-future', 'Dit moment ligt in de toekomst.')])
  const statusId = await findStatus(m, zaak, input.status)
  requireWritable(m, zaak, [], closedForNotes(config))
  const made = one(
    await m.sql<{ uuid: string }[]>`
    insert into substatus (zaak_id, status_id, omschrijving, tijdstip, doelgroep)
    values (${zaak.id}, ${statusId}, ${input.omschrijving}, coalesce(${input.tijdstip ?? null}::timestamptz, clock_timestamp()),
      ${input.doelgroep ?? 'betrokkenen'}) returning uuid`,
  )
  await touchZaak(m, zaak.id)
  const row = expected(await findOne(m.read, source, made.uuid))
  const nieuw = toSubstatus(row, m.actor.base)
  const detail = row.omschrijving
  recordBelow(m, zaak, {
    actie: 'create',
    resource: 'substatus',
    url: nieuw.url,
    uuid: row.uuid,
    detail,
    oud: null,
    nieuw,
  })
  return nieuw
}

/** The status that is named, or else the current one. */
async function findStatus(m: Mutation, zaak: ZaakCore, url: string | null | undefined): Promise<number> {
  if (!url) {
    const current = await m.trx
      .selectFrom('status')
      .where('zaakId', '=', zaak.id)
      .select('id')
      .orderBy('datumStatusGezet', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!current) throw invalid('status', 'required', 'De zaak heeft nog geen status.')
    return current.id
  }
  const uuid = localUuid(url, m.actor.base, 'status') ?? null
  const [status] = await m.sql<
    { id: number; zaak_id: number }[]
  >`select id, zaak_id from status where uuid = ${uuid}::uuid`
  if (!status) throw invalid('status', 'bad-url', 'Deze status bestaat niet.')
  if (status.zaak_id !== zaak.id)
    throwFaults([onObject('zaak-status-mismatch', 'Deze status hoort bij een andere zaak.')])
  return status.id
}

function toSubstatus(row: Row, base: string) {
  return {
    url: link(base, 'substatus', row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    status: link(base, 'status', row.statusUuid),
    omschrijving: row.omschrijving,
    tijdstip: row.tijdstip,
    doelgroep: row.doelgroep,
  }
}
