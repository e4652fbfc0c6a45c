// zaakeigenschappen: values that a case has for the eigenschappen of its zaaktype. They stand below the URL of the case.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import {
  fetchTypes,
  NO_REMOTE_TYPES,
  type RemoteSpecificatie,
  type RemoteType,
  type RemoteTypes,
} from '../catalogi/remote-types.ts'
import { LIMITS } from '../core/limits.ts'
import type { Actie, Mutation } from '../core/mutate.ts'
import { fault, type InvalidParam, immutable, onObject, throwFaults } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { ExpandQuery } from '../http/expand.ts'
import { Patch, Reference, Text, Url, Uuid } from '../http/input.ts'
import { link } from '../http/links.ts'
import { warn } from '../telemetry/current-request.ts'
import { requireWritable, requireZaak, type ZaakCore, zaakForChange } from './lock.ts'
import { findOne, holdOne, type PartRow, type PartSource, readable, sendAll, sendOne } from './part-queries.ts'
import { countUpTo, requireRoom } from './quota.ts'
import { eigenschapLink, recordBelow } from './records.ts'
import { access, BIJWERKEN, LEZEN } from './rights.ts'
import { requireTypeOfZaak, typeLink } from './types.ts'
import { rederiveArchivering } from './zaak/archive.ts'

const Input = Type.Object({ zaak: Url(), eigenschap: Reference(), waarde: Text() })
const InputPatch = Patch(Input)
const Zaakeigenschap = Type.Object({ url: Url(), uuid: Uuid, ...Input.properties, naam: Type.String() })
const ZaakParams = Type.Object({ zaakUuid: Uuid })
const Params = Type.Object({ zaakUuid: Uuid, uuid: Uuid })
const Query = Type.Object(ExpandQuery)

type Row = PartRow & {
  naam: string
  waarde: string
  typeUuid: string | null
  eigenschapId: number | null
  eigenschapUrl: string | null
}
export const source: PartSource<Row, ReturnType<typeof toZaakeigenschap>> = {
  kind: 'zaakeigenschap',
  table: 'zaakeigenschap',
  columns: sql`y.uuid as type_uuid`,
  joins: sql`left join eigenschap y on y.id = x.eigenschap_id`,
  toResource: toZaakeigenschap,
}

export const zaakeigenschappen: FastifyPluginAsyncTypebox = async (app) => {
  const isStrict = () => app.parts.config.zaakEigenschapWaardeValidation
  readable(source)

  app.get(
    '/zaken/:zaakUuid/zaakeigenschappen',
    {
      config: access(LEZEN),
      schema: { params: ZaakParams, querystring: Query, response: { 200: Type.Array(Zaakeigenschap) } },
    },
    async (request, reply) => {
      const zaak = await requireZaak(app.read, request.actor, LEZEN, request.params.zaakUuid)
      return sendAll(request, reply, source, [sql`x.zaak_id = ${zaak.id}`])
    },
  )

  app.post(
    '/zaken/:zaakUuid/zaakeigenschappen',
    { config: access(BIJWERKEN), schema: { params: ZaakParams, body: Input, response: { 201: Zaakeigenschap } } },
    async (request, reply) => {
      const typen = await fetchTypes(app.parts.services, request.base, [['eigenschap', request.body.eigenschap]])
      const made = await app.mutate(request.actor, async (m) => {
        await requireZaak(m.read, m.actor, BIJWERKEN, request.params.zaakUuid)
        const zaak = await zaakForChange(m, request.body.zaak, BIJWERKEN)
        if (zaak.uuid !== request.params.zaakUuid)
          throwFaults([fault('zaak', 'zaak-mismatch', 'Dit is een andere zaak dan die van het adres.')])
        return createEigenschap(m, zaak, request.body, { streng: isStrict(), typen })
      })
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/zaken/:zaakUuid/zaakeigenschappen/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: Query, response: { 200: Zaakeigenschap } } },
    async (request, reply) => sendOne(request, reply, source, request.params.zaakUuid),
  )

  app.put(
    '/zaken/:zaakUuid/zaakeigenschappen/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: Input, response: { 200: Zaakeigenschap } } },
    async ({ actor, params, body, base }) => {
      const typen = await typenOf(params.uuid, body, base)
      return app.mutate(actor, (m) => change(m, params, 'update', body, { streng: isStrict(), typen }))
    },
  )

  app.patch(
    '/zaken/:zaakUuid/zaakeigenschappen/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params, body: InputPatch, response: { 200: Zaakeigenschap } } },
    async ({ actor, params, body, base }) => {
      const typen = await typenOf(params.uuid, body, base)
      return app.mutate(actor, (m) => change(m, params, 'partial_update', body, { streng: isStrict(), typen }))
    },
  )

  app.delete(
    '/zaken/:zaakUuid/zaakeigenschappen/:uuid',
    { config: access(BIJWERKEN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaakeigenschap(m, request.params))
      return reply.code(204).send()
    },
  )

  /** The eigenschap elsewhere that a new value has to fit. */
  async function typenOf(uuid: string, { waarde }: Static<typeof InputPatch>, base: string): Promise<RemoteTypes> {
    if (!isStrict() || waarde === undefined) return NO_REMOTE_TYPES
    const row = await findOne(app.read, source, uuid)
    return fetchTypes(app.parts.services, base, [['eigenschap', row?.eigenschapUrl]])
  }
}

type Context = { streng: boolean; typen: RemoteTypes }

/**
 * @param context.streng whether the value has to fit the specificatie; otherwise one that does not is a warning, as in
 *   Zaken 1.6
 */
async function createEigenschap(m: Mutation, zaak: ZaakCore, input: Static<typeof Input>, { streng, typen }: Context) {
  const type = await requireTypeOfZaak(m, 'eigenschap', input.eigenschap, zaak, typen) // zrc-018
  const { remote } = type
  requireWritable(m, zaak, await judgeValue(m, type, input.waarde, streng))
  const there = countUpTo(m, 'zaakeigenschap', 'zaak_id', zaak.id, LIMITS.related)
  const rows = remote
    ? await m.sql<{ uuid: string; there: number }[]>`
      insert into zaakeigenschap (zaak_id, eigenschap_url, naam, waarde)
      values (${zaak.id}, ${remote.url}, ${remote.naam}, ${input.waarde}) returning uuid, ${there} as there`
    : await m.sql<{ uuid: string; there: number }[]>`
      insert into zaakeigenschap (zaak_id, eigenschap_id, naam, waarde)
      select ${zaak.id}, y.id, y.naam, ${input.waarde} from eigenschap y where y.id = ${type.id}
      returning uuid, ${there} as there`
  const made = one(rows)
  requireRoom(made.there, 'eigenschappen')
  await rederiveArchivering(m, zaak.id, ['eigenschap'])
  return record(m, zaak, 'create', null, made.uuid)
}

type Place = Static<typeof Params>

async function change(
  m: Mutation,
  { uuid, zaakUuid }: Place,
  actie: 'update' | 'partial_update',
  given: Static<typeof InputPatch>,
  { streng, typen }: Context,
) {
  const { zaak, before } = await holdOne(m, source, uuid, BIJWERKEN, zaakUuid)
  const oud = toZaakeigenschap(before, m.actor.base)
  requireWritable(m, zaak, [
    ...(given.zaak !== undefined && given.zaak !== oud.zaak ? [immutable('zaak')] : []),
    ...(given.eigenschap !== undefined && given.eigenschap !== oud.eigenschap ? [immutable('eigenschap')] : []),
    ...(given.waarde !== undefined ? await judgeValue(m, typeOf(before, typen), given.waarde, streng) : []),
  ])
  if (given.waarde !== undefined) {
    await m.trx.updateTable('zaakeigenschap').set({ waarde: given.waarde }).where('id', '=', before.id).execute()
    await rederiveArchivering(m, zaak.id, ['eigenschap'])
  }
  return record(m, zaak, actie, oud, uuid)
}

type TypeOfEigenschap = { id: number | null; remote: RemoteType<'eigenschap'> | InvalidParam | null }
const typeOf = ({ eigenschapId, eigenschapUrl }: Row, typen: RemoteTypes): TypeOfEigenschap => ({
  id: eigenschapId,
  remote: (eigenschapUrl && typen.get('eigenschap', eigenschapUrl)) || null,
})

type Specificatie = { formaat: string; lengte: string; waarden: string[] }

/** What does not fit is a fault, or else a warning. A type that cannot be asked says nothing. */
async function judgeValue(m: Mutation, type: TypeOfEigenschap, waarde: string, streng: boolean) {
  const faults = await valueFaults(m, type, waarde)
  if (streng) return faults
  for (const { reason } of faults) warn(reason)
  return []
}

/** The value is one of those of the eigenschap, or as long and of the form that it says. */
async function valueFaults(m: Mutation, { id, remote }: TypeOfEigenschap, waarde: string): Promise<InvalidParam[]> {
  if (remote && 'code' in remote) return [remote]
  const [specificatie] = remote
    ? [remote.specificatie && specificatieOf(remote.specificatie)]
    : await m.sql<Specificatie[]>`
      select specificatie_formaat as formaat, specificatie_lengte as lengte, specificatie_waardenverzameling as waarden
      from eigenschap where id = ${id}`
  if (!specificatie || waarde === '' || past(waarde, specificatie)) return []
  return [onObject('waarde-incorrect-format', 'De waarde past niet bij de specificatie van de eigenschap.')]
}

/** Undefined when another server specifies in a way that says nothing here. */
function specificatieOf({ formaat, lengte, waardenverzameling }: RemoteSpecificatie): Specificatie | undefined {
  if (!formaat || !lengte || !/^\d{1,9}(,\d{1,9})?$/.test(lengte)) return undefined
  return { formaat, lengte, waarden: waardenverzameling ?? [] }
}

function past(waarde: string, { formaat, lengte, waarden }: Specificatie): boolean {
  if (waarden.length > 0) return waarden.includes(waarde)
  if (formaat === 'tekst') return [...waarde].length <= Number.parseInt(lengte, 10)
  if (formaat === 'getal') {
    const [whole = 0, decimals] = lengte.split(',').map((digits) => Number.parseInt(digits, 10) || 0)
    const [all, voor = '', achter] = /^(\d*)(?:,(\d*))?$/.exec(waarde) ?? []
    if (all === undefined) return false
    if (achter === undefined) return voor.length <= whole + (decimals ?? 0) // the comma may be left out
    return voor.length <= whole && decimals !== undefined && achter.length <= decimals
  }
  const [, year, month, day, hour = '00', minute = '00', second = '00'] =
    (formaat === 'datum' ? DATE : DATE_TIME).exec(waarde) ?? []
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
  const moment = new Date(iso)
  return !Number.isNaN(moment.getTime()) && moment.toISOString() === iso // 31 February is no day
}
const DATE = /^(\d{4})(\d\d)(\d\d)$/
const DATE_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/

async function deleteZaakeigenschap(m: Mutation, { uuid, zaakUuid }: Place): Promise<void> {
  const { zaak, before } = await holdOne(m, source, uuid, BIJWERKEN, zaakUuid)
  requireWritable(m, zaak)
  await m.trx.deleteFrom('zaakeigenschap').where('id', '=', before.id).execute()
  await rederiveArchivering(m, zaak.id, ['eigenschap'], undefined, 'went')
  const oud = toZaakeigenschap(before, m.actor.base)
  const detail = before.naam
  recordBelow(m, zaak, { actie: 'destroy', resource: 'zaakeigenschap', url: oud.url, uuid, detail, oud, nieuw: null })
}

async function record(m: Mutation, zaak: ZaakCore, actie: Actie, oud: object | null, uuid: string) {
  const row = expected(await findOne(m.read, source, uuid))
  const nieuw = toZaakeigenschap(row, m.actor.base)
  recordBelow(m, zaak, { actie, resource: 'zaakeigenschap', url: nieuw.url, uuid, detail: row.naam, oud, nieuw })
  return nieuw
}

function toZaakeigenschap(row: Row, base: string) {
  return {
    url: eigenschapLink(base, row.zaakUuid, row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    eigenschap: typeLink(base, 'eigenschap', row.typeUuid, row.eigenschapUrl),
    naam: row.naam,
    waarde: row.waarde,
  }
}
