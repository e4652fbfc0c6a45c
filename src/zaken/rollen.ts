// rollen: who is involved in a case, and as what.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { fetchTypes, type RemoteTypes } from '../catalogi/remote-types.ts'
import type { ReadDb } from '../database/database.ts'
import { changesOf, jsonOf, rowOf } from '../database/driver-values.ts'
import type { Actie, Mutation } from '../database/mutate.ts'
import { expected, one } from '../database/rows.ts'
import { merged } from '../http/documented.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalChoice, OptionalDate, OptionalText, Reference, Text, Url, Uuid } from '../http/input.ts'
import { LIMITS } from '../http/limits.ts'
import { link } from '../http/links.ts'
import { Page, PageQuery } from '../http/page.ts'
import type { InvalidParam } from '../http/problem.ts'
import { fault, immutable, onObject, throwFaults } from '../http/problem.ts'
import { aNummerFault, BETROKKENEN, CONTEXTEN, Part, readPart, representeeFaults } from './betrokkenen.ts'
import { archivedFaults, requireOpenZaak, type ZaakCore, zaakForChange } from './lock.ts'
import {
  by,
  byType,
  byUrl,
  findOne,
  holdOne,
  type PartRow,
  paged,
  partsOf,
  readable,
  sendOne,
  sendPage,
} from './part-queries.ts'
import { recordBelow } from './records.ts'
import { access, BIJWERKEN, LEZEN } from './rights.ts'
import { countUpTo, requireRoom } from './room.ts'
import { requireTypeOfZaak, typeLink } from './types.ts'
import { anyObject, OptionalReference, Params } from './zaak/columns.ts'
import { BETROKKENE_TYPES, RolParameters, rolConditions } from './zaak/filters.ts'

const CONTEXT = merged('AuthenticatieContext', CONTEXTEN)
const Contactpersoon = Type.Object({
  emailadres: Type.Optional(Type.String({ format: 'email', maxLength: 254, default: '' })),
  functie: OptionalText(50),
  telefoonnummer: OptionalText(20),
  naam: Text(200),
})
const CONTACTPERSOON_EMPTY = { emailadres: '', functie: '', telefoonnummer: '', naam: '' }

export const RolPart = Type.Object({
  betrokkene: OptionalReference,
  betrokkeneType: Type.Enum(BETROKKENE_TYPES),
  afwijkendeNaamBetrokkene: OptionalText(625),
  roltype: Reference(),
  roltoelichting: OptionalText(1000),
  indicatieMachtiging: OptionalChoice(['gemachtigde', 'machtiginggever']),
  contactpersoonRol: Part(Contactpersoon),
  beginGeldigheid: OptionalDate,
  eindeGeldigheid: OptionalDate,
  betrokkeneIdentificatie: anyObject(merged('BetrokkeneIdentificatie', BETROKKENEN)),
  authenticatieContext: anyObject(CONTEXT),
})
export type RolPart = Static<typeof RolPart>
const RolInput = Type.Object({ zaak: Url(), ...RolPart.properties })
export const Rol = Type.Object({
  url: Url(),
  uuid: Uuid,
  ...RolInput.properties,
  omschrijving: Type.String(),
  omschrijvingGeneriek: Type.String(),
  registratiedatum: Type.String({ format: 'date-time' }),
  statussen: Type.Array(Url()),
  authenticatieContext: anyObject(CONTEXT),
})
const { betrokkene, ...RolFilters } = RolParameters
const Filter = Type.Object({
  ...PageQuery,
  ...ExpandQuery,
  zaak: Type.Optional(Url()),
  betrokkene,
  roltype: Type.Optional(Url()),
  omschrijving: Type.Optional(Type.String()),
  ...RolFilters,
})
const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })

type RolRow = PartRow & {
  betrokkene: string
  betrokkeneType: (typeof BETROKKENE_TYPES)[number]
  betrokkeneIdentificatie: Record<string, unknown> | null
  afwijkendeNaamBetrokkene: string
  omschrijving: string
  omschrijvingGeneriek: string
  roltoelichting: string
  registratiedatum: string
  indicatieMachtiging: 'gemachtigde' | 'machtiginggever' | ''
  contactpersoonRol: Static<typeof Contactpersoon> | null
  beginGeldigheid: string | null
  eindeGeldigheid: string | null
  authenticatieContext: Record<string, unknown> | null
  typeUuid: string | null
  roltypeUrl: string | null
  statussen: string[]
}
const source = paged<RolRow, ReturnType<typeof toRol>>({
  soort: 'rol',
  table: 'rol',
  columns: sql`y.uuid as type_uuid,
    array(select s.uuid from status s where s.gezetdoor_id = x.id order by s.datum_status_gezet desc) as statussen`,
  joins: sql`left join roltype y on y.id = x.roltype_id`,
  toResource: toRol,
})

export const rollen: FastifyPluginAsyncTypebox = async (app) => {
  readable(source)

  app.get(
    '/rollen',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Rol) } } },
    async (request, reply) => {
      const filter = request.query as Record<string, string | undefined>
      const conditions = [
        ...byUrl('x.zaakId', filter.zaak, request.base, 'zaak'),
        ...byType('x.roltypeId', 'x.roltypeUrl', filter.roltype, request.base, 'roltype'),
        ...by('x.omschrijving', filter.omschrijving),
        ...rolConditions(filter, ''),
      ]
      const isOne = conditions.length === 1
      if (isOne && filter.omschrijvingGeneriek !== undefined)
        return sendPage(request, reply, source, conditions, { groep: filter.omschrijvingGeneriek })
      // Nearly all speak for themselves: counting the others is quick.
      if (isOne && filter.machtiging === 'eigen')
        return sendPage(request, reply, source, conditions, { without: sql`x.indicatie_machtiging <> ''` })
      return sendPage(request, reply, source, conditions)
    },
  )

  app.post(
    '/rollen',
    { config: access(BIJWERKEN), schema: { body: RolInput, response: { 201: Rol } } },
    async (request, reply) => {
      const typen = await fetchTypes(app.parts.services, request.base, [['roltype', request.body.roltype]])
      const rol = await app.mutate(request.actor, async (m) =>
        createRol(m, await zaakForChange(m, request.body.zaak, BIJWERKEN), request.body, typen),
      )
      return reply.code(201).header('location', rol.url).send(rol)
    },
  )

  app.get(
    '/rollen/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Rol } } },
    async (request, reply) => sendOne(request, reply, source),
  )

  app.put(
    '/rollen/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: RolInput, response: { 200: Rol } } },
    async (request) =>
      app.mutate(request.actor, async (m) => {
        const { zaak, before } = await holdOne(m, source, request.params.uuid, BIJWERKEN)
        const sameZaak = request.body.zaak === link(m.actor.base, 'zaak', zaak.uuid)
        return changeRol(m, zaak, before, request.body, sameZaak ? [] : [immutable('zaak')])
      }),
  )

  app.delete('/rollen/:uuid', { config: access(BIJWERKEN), schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, async (m) => {
      const { zaak, before } = await holdOne(m, source, request.params.uuid, BIJWERKEN)
      await deleteRol(m, zaak, before)
    })
    return reply.code(204).send()
  })
}

/** @param typen what was asked of other servers */
export async function createRol(m: Mutation, zaak: ZaakCore, input: RolPart, typen: RemoteTypes) {
  const parts = readParts(input)
  throwFaults(parts.faults)
  const roltype = await roltypeOf(m, input.roltype, zaak, typen)
  throwFaults([...(await onceFaults(m, zaak, roltype)), ...betrokkeneFaults(input), ...archivedFaults(zaak)])
  requireOpenZaak(zaak, m.actor)
  const values = { ...toRow(m, input, parts), zaakId: zaak.id, ...roltype }
  const made = one(
    await m.sql<{ uuid: string; there: number }[]>`insert into rol ${rowOf(m.sql, 'rol', values)}
    returning uuid, ${countUpTo(m, 'rol', 'zaak_id', zaak.id, LIMITS.related)} as there`,
  )
  requireRoom(made.there, 'rollen')
  return record(m, zaak, 'create', null, made.uuid)
}

/** A PUT replaces the whole rol; who is involved is written anew. */
export async function changeRol(
  m: Mutation,
  zaak: ZaakCore,
  before: RolRow,
  input: RolPart,
  faults: InvalidParam[] = [],
) {
  const oud = toRol(before, m.actor.base)
  const parts = readParts(input)
  throwFaults([...faults, ...(input.roltype === oud.roltype ? [] : [immutable('roltype')]), ...parts.faults])
  throwFaults([...betrokkeneFaults(input), ...archivedFaults(zaak)])
  requireOpenZaak(zaak, m.actor)
  await m.sql`update rol set ${changesOf(m.sql, 'rol', toRow(m, input, parts))} where id = ${before.id}`
  return record(m, zaak, 'update', oud, before.uuid)
}

export async function deleteRol(m: Mutation, zaak: ZaakCore, before: RolRow): Promise<void> {
  requireOpenZaak(zaak, m.actor)
  await m.trx.deleteFrom('rol').where('id', '=', before.id).execute()
  const oud = toRol(before, m.actor.base)
  const detail = before.omschrijving
  recordBelow(m, zaak, { actie: 'destroy', resource: 'rol', url: oud.url, uuid: before.uuid, detail, oud, nieuw: null })
}

export const findRol = (m: Mutation, uuid: string) => findOne(m.read, source, uuid)
/** Those of a case, as a list in JSON. */
export const rollenOf = (db: ReadDb, zaakUuid: string, base: string) => partsOf(db, source, zaakUuid, base)

type Parts = { identificatie: object | null; context: object | null; faults: InvalidParam[] }

/** What depends on the kind of who is involved, and what the fields say together. */
function readParts(input: RolPart): Parts {
  const name = 'betrokkeneIdentificatie'
  const identificatie = readPart(BETROKKENEN[input.betrokkeneType]!, input.betrokkeneIdentificatie, name)
  const shape = CONTEXTEN[input.betrokkeneType]
  const context = shape
    ? readPart(shape, input.authenticatieContext, 'authenticatieContext')
    : { value: null, faults: [] }
  const faults = [
    ...identificatie.faults,
    ...aNummerFault(identificatie.value, name),
    ...context.faults,
    ...representeeFaults(context.value, 'authenticatieContext'),
  ]
  const { beginGeldigheid: begin, eindeGeldigheid: einde } = input
  if (begin && einde && einde < begin)
    faults.push(fault('eindeGeldigheid', 'einde-geldigheid-before-begin-geldigheid', 'Het einde ligt voor het begin.'))
  const { representee, mandate } = (context.value ?? {}) as { representee?: unknown; mandate?: unknown }
  if (representee && !mandate)
    faults.push(fault('authenticatieContext.mandate', 'required', 'Wie een ander vertegenwoordigt heeft een mandaat.'))
  if (representee && input.indicatieMachtiging !== 'gemachtigde')
    faults.push(onObject('indicatie-machtiging-invalid', 'Wie een ander vertegenwoordigt is gemachtigde.'))
  return { identificatie: identificatie.value, context: context.value, faults }
}

/** Who is involved is somebody. Clients expect to hear of a roltype of another zaaktype first. */
const betrokkeneFaults = ({ betrokkene, betrokkeneIdentificatie }: RolPart): InvalidParam[] =>
  betrokkene || betrokkeneIdentificatie
    ? []
    : [onObject('invalid-betrokkene', 'Geef betrokkene of betrokkeneIdentificatie.')]

type Roltype = { omschrijving: string; omschrijvingGeneriek: string } & ({ roltypeId: number } | { roltypeUrl: string })

/** zrc-019: the columns of a rol of this type. */
async function roltypeOf(m: Mutation, url: string, zaak: ZaakCore, typen: RemoteTypes): Promise<Roltype> {
  const { id, remote } = await requireTypeOfZaak(m, 'roltype', url, zaak, typen)
  if (remote)
    return {
      roltypeUrl: remote.url,
      omschrijving: remote.omschrijving,
      omschrijvingGeneriek: remote.omschrijvingGeneriek,
    }
  return m.trx
    .selectFrom('roltype')
    .where('id', '=', id)
    .select(['id as roltypeId', 'omschrijving', 'omschrijvingGeneriek'])
    .executeTakeFirstOrThrow()
}

/** A case has one initiator and one zaakcoordinator. The lock on the case keeps it so. */
async function onceFaults(m: Mutation, zaak: ZaakCore, { omschrijvingGeneriek: soort }: Roltype) {
  if (soort !== 'initiator' && soort !== 'zaakcoordinator') return []
  const there = await m.trx
    .selectFrom('rol')
    .where('zaakId', '=', zaak.id)
    .where('omschrijvingGeneriek', '=', soort)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return there ? [fault('roltype', 'max-occurences', `De zaak heeft al een ${soort}.`)] : []
}

function toRow(m: Mutation, input: RolPart, { identificatie, context }: Parts) {
  return {
    betrokkene: input.betrokkene ?? '',
    betrokkeneType: input.betrokkeneType,
    betrokkeneIdentificatie: jsonOf(m.sql, identificatie),
    afwijkendeNaamBetrokkene: input.afwijkendeNaamBetrokkene ?? '',
    roltoelichting: input.roltoelichting ?? '',
    indicatieMachtiging: input.indicatieMachtiging ?? '',
    contactpersoonRol: jsonOf(m.sql, input.contactpersoonRol),
    beginGeldigheid: input.beginGeldigheid ?? null,
    eindeGeldigheid: input.eindeGeldigheid ?? null,
    authenticatieContext: jsonOf(m.sql, context),
  }
}

async function record(m: Mutation, zaak: ZaakCore, actie: Actie, oud: object | null, uuid: string) {
  const row = expected(await findOne(m.read, source, uuid))
  const nieuw = toRol(row, m.actor.base)
  recordBelow(m, zaak, { actie, resource: 'rol', url: nieuw.url, uuid, detail: row.omschrijving, oud, nieuw })
  return nieuw
}

function toRol(row: RolRow, base: string) {
  return {
    url: link(base, 'rol', row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    betrokkene: row.betrokkene,
    betrokkeneType: row.betrokkeneType,
    afwijkendeNaamBetrokkene: row.afwijkendeNaamBetrokkene,
    roltype: typeLink(base, 'roltype', row.typeUuid, row.roltypeUrl),
    omschrijving: row.omschrijving,
    omschrijvingGeneriek: row.omschrijvingGeneriek,
    roltoelichting: row.roltoelichting,
    registratiedatum: row.registratiedatum,
    indicatieMachtiging: row.indicatieMachtiging,
    contactpersoonRol: row.contactpersoonRol ?? CONTACTPERSOON_EMPTY,
    statussen: row.statussen.map((uuid) => link(base, 'status', uuid)),
    beginGeldigheid: row.beginGeldigheid,
    eindeGeldigheid: row.eindeGeldigheid,
    betrokkeneIdentificatie: row.betrokkeneIdentificatie,
    ...(CONTEXTEN[row.betrokkeneType] && { authenticatieContext: row.authenticatieContext }),
  }
}
