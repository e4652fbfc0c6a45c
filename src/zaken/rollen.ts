// rollen: who is involved in a case, and as what.
import { randomUUIDv7 } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Insertable, sql, type Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { fetchTypes, type RemoteTypes } from '../catalogi/remote-types.ts'
import type { Config } from '../config.ts'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import type { InvalidParam } from '../core/problem.ts'
import { fault, immutable, onObject, throwFaults } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { columnsOf, recordsOf } from '../database/driver-values.ts'
import { expected, one } from '../database/rows.ts'
import type { DB } from '../database/types.ts'
import { batchOf, filtersOf, sendBatch } from '../http/batch.ts'
import { merged } from '../http/documented.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalChoice, OptionalDate, OptionalText, Reference, Text, Url, Uuid } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import type { Numbers } from '../lib/numbers.ts'
import {
  aNummerFault,
  BETROKKENEN,
  CONTEXTEN,
  NietNatuurlijkPersoonOfKvk,
  Part,
  readPart,
  representeeFaults,
} from './betrokkenen.ts'
import { requireWritable, type ZaakCore, zaakForChange } from './lock.ts'
import {
  batchSource,
  by,
  byType,
  byUrl,
  findAll,
  holdOne,
  isOnlyType,
  type PartRow,
  paged,
  partsOf,
  readable,
  sendOne,
  sendPage,
} from './part-queries.ts'
import { lookupsOf } from './persons.ts'
import { countUpTo, requireRoom } from './quota.ts'
import { recordBelow } from './records.ts'
import { access, BIJWERKEN, LEZEN } from './rights.ts'
import { judgeTypeOfZaak, typeLink } from './types.ts'
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
  ...CursorQuery,
  ...ExpandQuery,
  zaak: Type.Optional(Url()),
  betrokkene,
  roltype: Type.Optional(Url()),
  omschrijving: Type.Optional(Type.String()),
  ...RolFilters,
})
const BatchFilters = filtersOf(Filter)
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
export const source = paged<RolRow, ReturnType<typeof toRol>>({
  kind: 'rol',
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
      const conditions = conditionsOf(app.parts.box.numbers)(filter, request.base)
      const counted = [
        ...byType('z.typeId', 'z.typeUrl', filter.roltype, request.base, 'roltype'),
        ...by('z.omschrijving', filter.omschrijving),
        ...by('z.groep', filter.omschrijvingGeneriek),
        ...by('z.betrokkeneType', filter.betrokkeneType),
        ...by('z.indicatieMachtiging', filter.machtiging === 'eigen' ? '' : filter.machtiging),
      ]
      return sendPage(request, reply, source, conditions, counted, isOnlyType(conditions, filter.roltype, request.base))
    },
  )

  app.post(
    '/rollen',
    { config: access(BIJWERKEN), schema: { body: RolInput, response: { 201: Rol } } },
    async (request, reply) => {
      const typen = await fetchTypes(app.parts.services, request.base, [['roltype', request.body.roltype]])
      const rol = await app.mutate(request.actor, async (m) =>
        createRol(m, await zaakForChange(m, request.body.zaak, BIJWERKEN), request.body, typen, app.parts.config),
      )
      return reply.code(201).header('location', rol.url).send(rol)
    },
  )

  app.post('/rollen/_batch', { config: access(LEZEN), ...batchOf('Rol', Rol) }, async (request, reply) =>
    sendBatch(request, reply, batchSource(request, source, BatchFilters, conditionsOf(app.parts.box.numbers))),
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
        const faults = sameZaak ? [] : [immutable('zaak')]
        return one(
          await writeRollen(m, zaak, [judgeChangedRol(m, zaak, before, request.body, app.parts.config, faults)]),
        )
      }),
  )

  app.delete('/rollen/:uuid', { config: access(BIJWERKEN), schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, async (m) => {
      const { zaak, before } = await holdOne(m, source, request.params.uuid, BIJWERKEN)
      await deleteRollen(m, zaak, [before])
    })
    return reply.code(204).send()
  })
}

const conditionsOf = (numbers: Numbers) => (filter: Record<string, string | undefined>, base: string) => [
  ...byUrl('x.zaakId', filter.zaak, base, 'zaak'),
  ...byType('x.roltypeId', 'x.roltypeUrl', filter.roltype, base, 'roltype'),
  ...by('x.omschrijving', filter.omschrijving),
  ...rolConditions(filter, '', numbers),
]

/** @param typen what was asked of other servers */
async function createRol(m: Mutation, zaak: ZaakCore, input: RolPart, typen: RemoteTypes, config: RolSettings) {
  const judge = await openNewRollen(m, zaak, [input.roltype], typen, config)
  return one(await writeRollen(m, zaak, [judge(input)]))
}

/** Of this moment: the pages may change it while the program runs. */
export type RolSettings = Pick<Config, 'rolNnpIdTakesKvk'>

/** A rol that may be written: a new one, or what becomes of one that is there. */
type JudgedRol =
  | { uuid: string; row: Insertable<DB['rol']>; before?: undefined }
  | { uuid: string; row: Updateable<DB['rol']>; before: RolRow }

/**
 * Asks what new rollen of these types are judged by, once for all of them.
 * @param typen what was asked of other servers
 * @returns judges one new rol, as one that comes after those that were judged before
 */
export async function openNewRollen(
  m: Mutation,
  zaak: ZaakCore,
  urls: readonly string[],
  typen: RemoteTypes,
  config: RolSettings,
) {
  const { base } = m.actor
  const [roltypen, there] = await Promise.all([findRoltypen(m, urls), countRollen(m, zaak)])
  return (input: RolPart): JudgedRol => {
    const parts = readParts(input, config)
    throwFaults(parts.faults)
    const own = roltypen.get(localUuid(input.roltype, base, 'roltype'))
    const { remote } = judgeTypeOfZaak('roltype', input.roltype, zaak, { typen, own, base }) // zrc-019
    const { omschrijving, omschrijvingGeneriek } = remote ?? expected(own)
    requireWritable(m, zaak, [...onceFaults(there.once, omschrijvingGeneriek), ...betrokkeneFaults(input)])
    requireRoom(there.aantal, 'rollen')
    there.aantal += 1
    there.once.push(omschrijvingGeneriek)
    const type = { roltypeId: own?.id ?? null, roltypeUrl: remote?.url ?? null, omschrijving, omschrijvingGeneriek }
    const uuid = randomUUIDv7()
    return { uuid, row: { uuid, zaakId: zaak.id, ...type, ...toRow(input, parts) } }
  }
}

/** Judges what becomes of a rol. A PUT replaces the whole rol; who is involved is written anew. */
export function judgeChangedRol(
  m: Mutation,
  zaak: ZaakCore,
  before: RolRow,
  input: RolPart,
  config: RolSettings,
  faults: InvalidParam[] = [],
): JudgedRol {
  const oud = toRol(before, m.actor.base)
  const parts = readParts(input, config)
  throwFaults([...faults, ...(input.roltype === oud.roltype ? [] : [immutable('roltype')]), ...parts.faults])
  requireWritable(m, zaak, betrokkeneFaults(input))
  return { uuid: before.uuid, before, row: toRow(input, parts) }
}

/** Writes rollen of one case, all new ones in one statement and all changed ones, and records them in this order. */
export async function writeRollen(m: Mutation, zaak: ZaakCore, judged: readonly JudgedRol[]) {
  const { sql } = m
  const { base } = m.actor
  const { numbers } = m
  const made = judged.flatMap(({ before, row }) => (before ? [] : withLookups(numbers, row)))
  const [first] = made
  if (first)
    await sql`insert into rol (${columnsOf(sql, 'rol', first)}) select ${columnsOf(sql, 'rol', first, 'r')}
      from jsonb_populate_recordset(null::rol, ${numbers.seal(recordsOf('rol', made))}::text::jsonb) with ordinality r order by r.ordinality`
  const changed = judged.filter(({ before }) => before)
  const [one] = changed
  if (one) {
    await m.settleActs()
    const rows = changed.map(({ uuid, row }) => ({ uuid, ...withLookups(numbers, row) }))
    const set = withLookups(numbers, one.row)
    await sql`update rol x set (${columnsOf(sql, 'rol', set)}) = row (${columnsOf(sql, 'rol', set, 'r')})
      from jsonb_populate_recordset(null::rol, ${numbers.seal(recordsOf('rol', rows))}::text::jsonb) r where x.uuid = r.uuid`
  }
  const uuids = judged.map(({ uuid }) => uuid)
  const found = new Map((await findAll(m.read, source, uuids)).map((row) => [row.uuid, row]))
  return judged.map(({ uuid, before }) => {
    const row = expected(found.get(uuid))
    const [oud, nieuw] = [before ? toRol(before, base) : null, toRol(row, base)]
    const actie = before ? 'update' : 'create'
    recordBelow(m, zaak, { actie, resource: 'rol', url: nieuw.url, uuid, detail: row.omschrijving, oud, nieuw })
    return nieuw
  })
}

/** Removes rollen of one case. */
export async function deleteRollen(m: Mutation, zaak: ZaakCore, rows: readonly RolRow[]): Promise<void> {
  if (rows.length === 0) return
  requireWritable(m, zaak)
  await m.settleActs()
  await m.sql`delete from rol where id = any(${rows.map(({ id }) => id)}::bigint[])`
  for (const row of rows) {
    const { uuid, omschrijving: detail } = row
    const oud = toRol(row, m.actor.base)
    recordBelow(m, zaak, { actie: 'destroy', resource: 'rol', url: oud.url, uuid, detail, oud, nieuw: null })
  }
}

/** Those of them that are there, whatever the rights of the actor. */
export const findRollen = (m: Mutation, uuids: readonly string[]) => findAll(m.read, source, uuids)
/** Those of a case, as a list in JSON. */
export const rollenOf = (db: ReadDb, zaakUuid: string, base: string) => partsOf(db, source, zaakUuid, base)

type Parts = { identificatie: object | null; context: object | null; faults: InvalidParam[] }

/** What depends on the kind of who is involved, and what the fields say together. */
function readParts(input: RolPart, { rolNnpIdTakesKvk }: RolSettings): Parts {
  const name = 'betrokkeneIdentificatie'
  const kind = input.betrokkeneType
  const whom = kind === 'niet_natuurlijk_persoon' && rolNnpIdTakesKvk ? NietNatuurlijkPersoonOfKvk : BETROKKENEN[kind]
  const identificatie = readPart(whom, input.betrokkeneIdentificatie, name)
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

type Roltype = { id: number; uuid: string; zaaktypeId: number; omschrijving: string; omschrijvingGeneriek: string }

/** Those of ours among these URLs, by their uuid. */
async function findRoltypen(m: Mutation, urls: readonly string[]): Promise<Map<string | undefined, Roltype>> {
  const uuids = new Set(urls.flatMap((url) => localUuid(url, m.actor.base, 'roltype') ?? []))
  const found = await m.sql<Roltype[]>`
    select id, uuid, zaaktype_id as "zaaktypeId", omschrijving, omschrijving_generiek as "omschrijvingGeneriek"
    from roltype where uuid = any(${[...uuids]}::uuid[])`
  return new Map(found.map((one) => [one.uuid, one]))
}

/** Of which a case has one. The lock on the case keeps it so. */
const ONCE = ['initiator', 'zaakcoordinator']

async function countRollen(m: Mutation, zaak: ZaakCore): Promise<{ aantal: number; once: string[] }> {
  return one(
    await m.sql<{ aantal: number; once: string[] }[]>`
      select ${countUpTo(m, 'rol', 'zaak_id', zaak.id, LIMITS.related)} as aantal, array(select omschrijving_generiek
        from rol where zaak_id = ${zaak.id} and omschrijving_generiek = any(${ONCE})) as once`,
  )
}

const onceFaults = (there: readonly string[], kind: string): InvalidParam[] =>
  ONCE.includes(kind) && there.includes(kind)
    ? [fault('roltype', 'max-occurences', `De zaak heeft al een ${kind}.`)]
    : []

/** The columns that hold what a body says. */
const toRow = (input: RolPart, { identificatie, context }: Parts) => ({
  betrokkene: input.betrokkene ?? '',
  betrokkeneType: input.betrokkeneType,
  betrokkeneIdentificatie: identificatie,
  afwijkendeNaamBetrokkene: input.afwijkendeNaamBetrokkene ?? '',
  roltoelichting: input.roltoelichting ?? '',
  indicatieMachtiging: input.indicatieMachtiging ?? '',
  contactpersoonRol: input.contactpersoonRol ?? null,
  beginGeldigheid: input.beginGeldigheid ?? null,
  eindeGeldigheid: input.eindeGeldigheid ?? null,
  authenticatieContext: context,
})

/** With what finds it by the numbers of a person. */
const withLookups = <Row extends Updateable<DB['rol']>>(numbers: Numbers, row: Row) => {
  const { inp_bsn_lookup, anp_identificatie_lookup, inp_a_nummer_lookup } = lookupsOf(
    numbers,
    row.betrokkeneIdentificatie,
  )
  const lookups = {
    inpBsnLookup: inp_bsn_lookup,
    anpIdentificatieLookup: anp_identificatie_lookup,
    inpANummerLookup: inp_a_nummer_lookup,
  }
  return {
    ...row,
    ...(lookups as Record<keyof typeof lookups, unknown> as Record<keyof typeof lookups, Buffer | null>),
  } // they go within JSON
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
