// zaaknotities: notes on a case (1.7). A note changes as long as it is a concept; it leaves no trail and is not announced.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { refuseBeforeSwitch } from '../core/before-switch.ts'
import type { Actie, Mutation } from '../core/mutate.ts'
import { invalid } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { alias } from '../http/documented.ts'
import { Moment, OptionalText, Patch, Put, Text, Url } from '../http/input.ts'
import { link } from '../http/links.ts'
import { CursorQuery, contains, Page, PageQuery } from '../http/page.ts'
import { timeZone } from '../lib/day.ts'
import { closedForNotes, requireWritable, zaakForChange } from './lock.ts'
import { by, byUrl, findOne, holdOne, type PartRow, paged, sendOne, sendPage } from './part-queries.ts'
import { ALLEEN_BIJWERKEN, access, LEZEN } from './rights.ts'
import { Params } from './zaak/columns.ts'

const Input = Type.Object({
  onderwerp: Text(255, { minLength: 1 }),
  tekst: Text(undefined, { minLength: 1 }),
  aangemaaktDoor: OptionalText(255),
  notitieType: Type.Optional(Type.Enum(['intern', 'extern'], { default: 'intern' })),
  status: Type.Optional(Type.Enum(['concept', 'definitief'], { default: 'concept' })),
  gerelateerdAan: Url(),
})
const InputPut = Put(Input)
const InputPatch = Patch(Input)
const Zaaknotitie = Type.Object({
  url: Url(),
  ...Input.properties,
  aanmaakdatum: Moment,
  wijzigingsdatum: Moment,
})
const TEXTS = { onderwerp: 'onderwerp', tekst: 'tekst', aangemaaktDoor: 'aangemaakt_door' } as const
const MOMENTS = { aanmaakdatum: 'aanmaakdatum', wijzigingsdatum: 'wijzigingsdatum' } as const
const OPERATORS: Record<string, string> = { '': '=', __gt: '>', __gte: '>=', __lt: '<', __lte: '<=' }
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...Object.fromEntries(
    Object.keys(TEXTS).flatMap((name) =>
      [name, `${name}__icontains`].map((key) => [key, Type.Optional(Type.String())]),
    ),
  ),
  ...Object.fromEntries(
    Object.keys(MOMENTS).flatMap((name) =>
      Object.keys(OPERATORS).flatMap((suffix) => [
        [name + suffix, Type.Optional(Moment)],
        [`${name}__date${suffix}`, Type.Optional(Type.String({ format: 'date' }))],
      ]),
    ),
  ),
  notitieType: Type.Optional(Type.Enum(['intern', 'extern'])),
  status: Type.Optional(Type.Enum(['concept', 'definitief'])),
  gerelateerdAan: Type.Optional(Url()),
  zaak: Type.Optional(alias(Url())), // as GZAC names it
})

type Row = PartRow & {
  onderwerp: string
  tekst: string
  aangemaaktDoor: string
  notitieType: 'intern' | 'extern'
  status: 'concept' | 'definitief'
  aanmaakdatum: string
  wijzigingsdatum: string
}
export const source = paged<Row, ReturnType<typeof toZaaknotitie>>({
  kind: 'zaaknotitie',
  table: 'zaaknotitie',
  toResource: toZaaknotitie,
})

type Closed = ReturnType<typeof closedForNotes>

export const zaaknotities: FastifyPluginAsyncTypebox = async (app) => {
  const closed = () => closedForNotes(app.parts.config)

  app.get(
    '/zaaknotities',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Zaaknotitie) } } },
    async (request, reply) =>
      sendPage(request, reply, source, conditions(request.query as Record<string, string>, request.base)),
  )

  app.post(
    '/zaaknotities',
    { config: access(ALLEEN_BIJWERKEN), schema: { body: Input, response: { 201: Zaaknotitie } } },
    async (request, reply) => {
      const { body } = request
      const made = await app.mutate(request.actor, async (m) => {
        m.unrecorded('the standard keeps no record of notes')
        await refuseBeforeSwitch(m)
        const zaak = await zaakForChange(m, body.gerelateerdAan, ALLEEN_BIJWERKEN, 'gerelateerdAan')
        requireWritable(m, zaak, [], closed())
        const values = { ...toRow(body), onderwerp: body.onderwerp, tekst: body.tekst, zaakId: zaak.id }
        const row = await m.trx.insertInto('zaaknotitie').values(values).returning('uuid').executeTakeFirstOrThrow()
        const note = expected(await findOne(m.read, source, row.uuid))
        touch(m, 'create', note)
        return toZaaknotitie(note, m.actor.base)
      })
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/zaaknotities/:uuid',
    {
      config: access(LEZEN),
      schema: { params: Params, querystring: Type.Object(PageQuery), response: { 200: Zaaknotitie } },
    },
    async (request, reply) => sendOne(request, reply, source),
  )

  app.put(
    '/zaaknotities/:uuid',
    { config: access(ALLEEN_BIJWERKEN), schema: { params: Params, body: InputPut, response: { 200: Zaaknotitie } } },
    async (request) => app.mutate(request.actor, (m) => change(m, request.params.uuid, request.body, closed())),
  )

  app.patch(
    '/zaaknotities/:uuid',
    { config: access(ALLEEN_BIJWERKEN), schema: { params: Params, body: InputPatch, response: { 200: Zaaknotitie } } },
    async (request) => app.mutate(request.actor, (m) => change(m, request.params.uuid, request.body, closed())),
  )

  app.delete(
    '/zaaknotities/:uuid',
    { config: access(ALLEEN_BIJWERKEN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, async (m) => {
        m.unrecorded('the standard keeps no record of notes')
        await refuseBeforeSwitch(m)
        const row = await holdZaaknotitie(m, request.params.uuid, closed())
        touch(m, 'destroy', row)
        await m.trx.deleteFrom('zaaknotitie').where('id', '=', row.id).execute()
      })
      return reply.code(204).send()
    },
  )
}

function conditions(filter: Record<string, string>, base: string): RawBuilder<unknown>[] {
  const found = [
    ...byUrl('x.zaakId', filter.gerelateerdAan ?? filter.zaak, base, 'zaak'),
    ...by('x.notitie_type', filter.notitieType),
    ...by('x.status', filter.status),
  ]
  for (const [name, column] of Object.entries(TEXTS)) {
    found.push(...by(`x.${column}`, filter[name]))
    const part = filter[`${name}__icontains`]
    if (part !== undefined) found.push(contains(sql.ref(`x.${column}`), part))
  }
  for (const [name, column] of Object.entries(MOMENTS)) {
    for (const [suffix, operator] of Object.entries(OPERATORS)) {
      const value = filter[name + suffix]
      if (value !== undefined) found.push(sql`${sql.ref(`x.${column}`)} ${sql.raw(operator)} ${value}::timestamptz`)
      const day = filter[`${name}__date${suffix}`]
      if (day !== undefined)
        found.push(
          sql`(${sql.ref(`x.${column}`)} at time zone ${timeZone()}::text)::date ${sql.raw(operator)} ${day}::date`,
        )
    }
  }
  return found
}

async function change(m: Mutation, uuid: string, given: Static<typeof InputPatch>, closed: Closed) {
  m.unrecorded('the standard keeps no record of notes')
  await refuseBeforeSwitch(m)
  const row = await holdZaaknotitie(m, uuid, closed)
  if (row.status !== 'concept') throw invalid('status', 'invalid', 'Een definitieve notitie wijzigt niet meer.')
  const zaak = given.gerelateerdAan
    ? await zaakForChange(m, given.gerelateerdAan, ALLEEN_BIJWERKEN, 'gerelateerdAan')
    : undefined
  if (zaak) requireWritable(m, zaak, [], closed)
  const values = {
    ...toRow(given),
    ...(zaak && { zaakId: zaak.id }),
    wijzigingsdatum: sql<string>`moment_from(wijzigingsdatum)`,
  }
  await m.trx.updateTable('zaaknotitie').set(values).where('id', '=', row.id).execute()
  const after = expected(await findOne(m.read, source, uuid))
  touch(m, 'update', after)
  return toZaaknotitie(after, m.actor.base)
}

function touch(m: Mutation, actie: Actie, { uuid, zaakUuid }: Row): void {
  const hoofdobject = { url: link(m.actor.base, 'zaak', zaakUuid), uuid: zaakUuid }
  const url = link(m.actor.base, 'zaaknotitie', uuid)
  m.touches({ component: 'zrc', actie, resource: 'zaaknotitie', url, uuid, hoofdobject })
}

/** The note for a change, with its case held. */
async function holdZaaknotitie(m: Mutation, uuid: string, closed: Closed): Promise<Row> {
  const { zaak, before } = await holdOne(m, source, uuid, ALLEEN_BIJWERKEN)
  requireWritable(m, zaak, [], closed)
  return before
}

function toRow(given: Static<typeof InputPatch>) {
  return {
    ...(given.onderwerp !== undefined && { onderwerp: given.onderwerp }),
    ...(given.tekst !== undefined && { tekst: given.tekst }),
    ...(given.aangemaaktDoor !== undefined && { aangemaaktDoor: given.aangemaaktDoor }),
    ...(given.notitieType !== undefined && { notitieType: given.notitieType }),
    ...(given.status !== undefined && { status: given.status }),
  }
}

function toZaaknotitie(row: Row, base: string) {
  return {
    url: link(base, 'zaaknotitie', row.uuid),
    onderwerp: row.onderwerp,
    tekst: row.tekst,
    aangemaaktDoor: row.aangemaaktDoor,
    notitieType: row.notitieType,
    status: row.status,
    aanmaakdatum: row.aanmaakdatum,
    wijzigingsdatum: row.wijzigingsdatum,
    gerelateerdAan: link(base, 'zaak', row.zaakUuid),
  }
}
