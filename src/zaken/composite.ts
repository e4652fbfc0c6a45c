// Combined endpoints, beside the standard: several resources in one transaction, by the rules that each has by itself. And
// zaaknummer_reserveren: numbers that are handed out before their case exists.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { knownZaaktypen } from '../catalogi/known-types.ts'
import { fetchTypes, type RemoteKind, type RemoteTypes } from '../catalogi/remote-types.ts'
import { refuseBeforeSwitch } from '../core/before-switch.ts'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalid, invalidAll, notFound, Problem, throwFaults } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { fetchDocumentElsewhere } from '../documenten/remote-documents.ts'
import { documentedAs, OBJECT_OR_LIST } from '../http/documented.ts'
import { Patch, Rsin, readInput, Uuid } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { sendWritten, Written } from '../http/stream.ts'
import { dayOf, timeZone } from '../lib/day.ts'
import { nameFaultsBelow, openRemoteRelations } from '../services/remote-relations.ts'
import { askEach } from '../services/services.ts'
import { each, part, parts, prefixed, within } from './composite-faults.ts'
import { holdZaak, type ZaakCore } from './lock.ts'
import { zaakEvent } from './records.ts'
import { replaceRollen, urlsOf } from './replace-rollen.ts'
import { findLackingForStatus, judgeRequirements, type Requirements } from './requirements.ts'
import { createResultaat, Resultaat, ResultaatPart } from './resultaten.ts'
import { AANMAKEN, access, BIJWERKEN, requireMay, STATUS_ZETTEN } from './rights.ts'
import { openNewRollen, Rol, RolPart, rollenOf, writeRollen } from './rollen.ts'
import { type Closing, createStatus, Status, StatusPart } from './statussen.ts'
import { changeZaak } from './zaak/change.ts'
import { Params, toZaak, Zaak, ZaakInput, type ZaakPatch } from './zaak/columns.ts'
import { judgeNewZaak } from './zaak/create.ts'
import { longLists, written } from './zaak/long-lists.ts'
import { type ObjectDates, withObjectDates } from './zaak/object-dates.ts'
import { findZaak } from './zaak/read.ts'
import { openReferences } from './zaak/references.ts'
import { closingFaultsElsewhere } from './zaak/remote-documents.ts'
import { settingsOf } from './zaak/rules.ts'
import { createZio, Zio, ZioPart } from './zaakinformatieobjecten.ts'
import { createZaakobject, judgeObject, Zaakobject, ZaakobjectPart } from './zaakobjecten.ts'

const FreeZaakPatch = Patch(ZaakInput)
// Each part is read by the schema of its resource when its turn comes, so that its faults have its place in their names.
const partOf = (schema: TSchema) =>
  Type.Unsafe<Record<string, unknown>>(documentedAs({ type: 'object', 'x-later': true }, schema))
const partsOf = (schema: TSchema) => Type.Optional(Type.Array(partOf(schema), { default: [] }))
const Registration = Type.Object({
  zaak: partOf(ZaakInput),
  rollen: Type.Array(partOf(RolPart)),
  zaakinformatieobjecten: partsOf(ZioPart),
  zaakobjecten: partsOf(ZaakobjectPart),
  status: partOf(StatusPart),
})
const Registered = Type.Object({
  zaak: Zaak,
  status: Status,
  rollen: Type.Array(Rol),
  zaakinformatieobjecten: Type.Array(Zio),
  zaakobjecten: Type.Array(Zaakobject),
})
const withStatus = (group: 'opschorting' | 'verlenging') =>
  Type.Object({ zaak: partOf(Type.Required(Type.Pick(ZaakInput, [group]))), status: partOf(StatusPart) })
const Changed = Type.Object({ zaak: Zaak, status: Status })
const Bijwerken = Type.Object({
  zaak: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(documentedAs({ type: 'object', 'x-later': true, default: {} }, FreeZaakPatch)),
  ),
  rollen: Type.Optional(Type.Array(partOf(Type.Object({ uuid: Type.Optional(Uuid), ...RolPart.properties })))),
  status: partOf(StatusPart),
})
const Bijgewerkt = Type.Object({ zaak: Zaak, status: Status, rollen: Type.Array(Rol) })
const ClosingBody = Type.Object({
  zaak: partOf(FreeZaakPatch),
  resultaat: partOf(ResultaatPart),
  status: partOf(StatusPart),
})
const Closed = Type.Object({ zaak: Zaak, status: Status, resultaat: Resultaat })
const Reserveren = Type.Object({
  bronorganisatie: Rsin,
  aantal: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })),
})
const Zaaknummer = Type.Object({ zaaknummer: Type.String() })
const Gereserveerd = documentedAs(Type.Union([Zaaknummer, Type.Array(Zaaknummer)]), OBJECT_OR_LIST)

const registreren = {
  access: { component: 'zrc', scopes: AANMAKEN, and: { component: 'zrc', scopes: BIJWERKEN } },
} as const
const mayUpdate = {
  access: { component: 'zrc', scopes: BIJWERKEN, and: { component: 'zrc', scopes: STATUS_ZETTEN } },
} as const

export const composite: FastifyPluginAsyncTypebox = async (app) => {
  const known = app.each(knownZaaktypen)
  const references = await openReferences(app)
  const settings = () => settingsOf(app.parts.config)
  const remoteRelations = openRemoteRelations(app.mutate, app.parts.services)

  for (const path of ['/zaaknummer_reserveren', '/reserveer_zaaknummer']) {
    app.post(
      path,
      { config: access(AANMAKEN), schema: { body: Reserveren, response: { 201: Gereserveerd } } },
      async (request, reply) => {
        const { bronorganisatie, aantal = 1 } = request.body
        const numbers = await app.mutate(request.actor, async (m) => {
          m.unrecorded('a number is no resource')
          await refuseBeforeSwitch(m)
          return m.sql<{ zaaknummer: string }[]>`
          insert into reserved_zaaknummer (bronorganisatie, identificatie)
          select ${bronorganisatie}, zaak_identificatie(today(${timeZone()}), ${settings().nummering}, today(${timeZone()})) from generate_series(1, ${aantal}::integer)
          returning identificatie as zaaknummer`
        })
        if (path === '/reserveer_zaaknummer')
          reply.header('warning', `299 "${request.base}${path}" "Dit adres verdwijnt: gebruik zaaknummer_reserveren."`)
        return reply.code(201).send(aantal === 1 ? one(numbers) : [...numbers])
      },
    )
  }

  app.post(
    '/zaak_registreren',
    { config: registreren, schema: { body: Registration, response: { 201: Registered } } },
    async (request, reply) => {
      const { body, base } = request
      const input = part('zaak', () => readInput(ZaakInput, body.zaak))
      const elsewhere = prefixed('zaak', await references.judge(input, base))
      if (elsewhere.length > 0) throw invalidAll(elsewhere)
      const zaaktypen = await references.zaaktypen(input, base)
      const typen = await typenIn(body, base, [['zaaktype', input.zaaktype]])
      const objecten = parts('zaakobjecten', ZaakobjectPart, body.zaakobjecten)
      const objectFaults = await askEach(objecten, (one) => judgeObject(app, one, base))
      const zios = parts('zaakinformatieobjecten', ZioPart, body.zaakinformatieobjecten)
      const documenten = await askEach(zios, ({ informatieobject }) =>
        fetchDocumentElsewhere(app.parts.services, String(informatieobject), base),
      )
      const answer = await remoteRelations.create(request.actor, async (m, remote) => {
        const zaak = await within('zaak', async () =>
          m.make(await judgeNewZaak(m, input, settings(), known(), { typen: zaaktypen })),
        )
        const kern = expected(await holdZaak(m, zaak.uuid))
        requireMay(m.actor, BIJWERKEN, kern)
        const status = await setStatus(m, kern, body.status, 'mag', typen, { requirements: 'later' })
        const judge = await openNewRollen(m, kern, urlsOf(body.rollen), typen, app.parts.config)
        const judged = await each('rollen', body.rollen, async (rol) => judge(readInput(RolPart, rol)))
        const rollen = await writeRollen(m, kern, judged)
        const zaakinformatieobjecten = await each('zaakinformatieobjecten', zios, async (zio, index) => {
          const from = remote.relations.length
          const made = await createZio(m, kern, zio as ZioPart, { document: documenten[index], remote, typen })
          nameFaultsBelow(remote, from, `zaakinformatieobjecten.${index}`)
          return made
        })
        remote.changedRows.unshift({ table: 'zaak', uuid: kern.uuid }) // refused by one server, all of it did not happen
        const zaakobjecten = await each('zaakobjecten', objecten, (object, index) =>
          createZaakobject(m, kern, object as ZaakobjectPart, objectFaults[index], typen),
        )
        await judgeStatusLater(m, kern, status.statustype)
        const after = await zaakOf(m, kern)
        announce(m, kern, 'geregistreerd', after)
        return { ...after, status, rollen, zaakinformatieobjecten, zaakobjecten }
      })
      return reply.code(201).send(answer)
    },
  )

  app.post(
    '/zaak_opschorten/:uuid',
    { config: mayUpdate, schema: { params: Params, body: withStatus('opschorting'), response: { 200: Changed } } },
    async (request, reply) => {
      const { uuid } = request.params
      const given = readTogether(() => only('opschorting', request.body.zaak), request.body.status)
      const asked = await ask(uuid, given, request.body, request.base)
      const how = { einde: 'mag-niet', event: 'opgeschort', asked } as const
      const { status } = request.body
      const answer = await app.mutate(request.actor, (m) => changeWithStatus(m, uuid, given, status, how))
      return send(request, reply, answer)
    },
  )

  app.post(
    '/zaak_verlengen/:uuid',
    { config: mayUpdate, schema: { params: Params, body: withStatus('verlenging'), response: { 200: Changed } } },
    async (request, reply) => {
      const { uuid } = request.params
      const given = readTogether(() => only('verlenging', request.body.zaak), request.body.status)
      const asked = await ask(uuid, given, request.body, request.base)
      const how = { einde: 'mag-niet', event: 'verlengd', asked } as const
      const { status } = request.body
      const answer = await app.mutate(request.actor, (m) => changeWithStatus(m, uuid, given, status, how))
      return send(request, reply, answer)
    },
  )

  app.post(
    '/zaak_bijwerken/:uuid',
    { config: mayUpdate, schema: { params: Params, body: Bijwerken, response: { 200: Bijgewerkt } } },
    async (request, reply) => {
      const { uuid } = request.params
      const { zaak = {}, rollen, status } = request.body
      const given = part('zaak', () => readInput(FreeZaakPatch, zaak, { defaults: false }))
      const asked = await ask(uuid, given, request.body, request.base)
      const how = { einde: 'mag-niet', event: 'bijgewerkt', asked } as const
      const answer = await app.mutate(request.actor, (m) =>
        // In the order in which the standard has them told.
        changeWithStatus(m, uuid, given, status, how, {
          last: async (kern) => {
            if (rollen) await replaceRollen(m, kern, rollen, asked.typen, app.parts.config)
          },
        }),
      )
      return send(request, reply, { ...answer, rollen: [] }, { rollen: rollenOf(app.read, uuid, request.base) })
    },
  )

  app.post(
    '/zaak_afsluiten/:uuid',
    { config: mayUpdate, schema: { params: Params, body: ClosingBody, response: { 200: Closed } } },
    async (request, reply) => {
      const { uuid } = request.params
      const given = part('zaak', () => readInput(FreeZaakPatch, request.body.zaak, { defaults: false }))
      const zaak = link(request.base, 'zaak', uuid)
      const documenten = await closingFaultsElsewhere(app, zaak, request.body.status.statustype, request.base)
      const asked = { ...(await ask(uuid, given, request.body, request.base)), documenten }
      const answer = await withObjectDates(app, (objects) =>
        app.mutate(request.actor, async (m) => {
          let resultaat!: Static<typeof Resultaat>
          const how = { einde: 'moet', event: 'afgesloten', asked: { ...asked, objects } } as const
          const changed = await changeWithStatus(m, uuid, given, request.body.status, how, {
            between: async (kern) => {
              resultaat = await within('resultaat', () =>
                createResultaat(m, kern, readInput(ResultaatPart, request.body.resultaat), {
                  typen: asked.typen,
                  objects,
                  requirements: settings().requirements,
                }),
              )
            },
          })
          return { ...changed, resultaat }
        }),
      )
      return send(request, reply, answer)
    },
  )

  /** Sends an answer with a case, of which lists that are too long to be held are written from the database. */
  async function send<A extends { zaak: Static<typeof Zaak> }>(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: A,
    texts: Record<string, AsyncIterable<string>> = {},
  ): Promise<FastifyReply> {
    const { zaak } = answer
    const row = longLists(zaak).length > 0 ? await findZaak(app.read, zaak.uuid, 0) : undefined
    const pieces = row && { zaak: written(app.read, row, zaak, request.base).pieces }
    return sendWritten(request, reply, Written.object(answer, { ...texts, ...pieces }))
  }

  /** What the case and its new parts refer to at other servers. */
  async function ask(uuid: string, given: ZaakPatch, body: PartsOfBody, base: string): Promise<Asked> {
    const typen = await typenIn(body, base)
    const known = await findZaak(app.read, uuid, 0)
    if (!known) return { faults: [], zaaktypen: typen, typen }
    const zaak = toZaak(known, base)
    return {
      faults: await references.judge(given, base, zaak),
      zaaktypen: await references.zaaktypen(given, base, zaak),
      typen,
    }
  }

  /** The types elsewhere that the parts in a body name. What is in them was not checked yet. */
  function typenIn(body: PartsOfBody, base: string, more: Sought = []): Promise<RemoteTypes> {
    return fetchTypes(app.parts.services, base, [
      ...more,
      ['statustype', body.status?.statustype],
      ['resultaattype', body.resultaat?.resultaattype],
      ...(body.rollen ?? []).map((rol): Sought[number] => ['roltype', rol.roltype]),
      ...(body.zaakobjecten ?? []).map((object): Sought[number] => ['zaakobjecttype', object.zaakobjecttype]),
    ])
  }

  /**
   * The case first, then what lies between, then the status, then what comes last. Each asks for its own rights; `STATUS_ZETTEN` is for
   * the whole.
   */
  async function changeWithStatus(
    m: Mutation,
    uuid: string,
    given: ZaakPatch,
    status: object,
    { einde, event, asked }: { einde: Closing; event: string; asked: Asked },
    { between, last }: Partial<Record<'between' | 'last', (kern: ZaakCore) => Promise<void>>> = {},
  ) {
    const before = await holdZaak(m, uuid)
    if (!before) throw notFound()
    requireMay(m.actor, STATUS_ZETTEN, before)
    const { faults, zaaktypen, typen } = asked
    await within('zaak', () => changeZaak(m, uuid, 'partial_update', given, settings(), faults, zaaktypen))
    const kern = expected(await holdZaak(m, uuid))
    await between?.(kern)
    const set = await setStatus(m, kern, status, einde, typen, asked)
    await last?.(kern)
    const after = await zaakOf(m, kern)
    announce(m, kern, event, after)
    return { ...after, status: set }
  }

  /** What the type asks before a status, when all that came along is there. */
  async function judgeStatusLater(m: Mutation, kern: ZaakCore, statustype: string): Promise<void> {
    const uuid = localUuid(statustype, m.actor.base, 'statustype')
    if (!uuid) return
    const { id } = await m.trx.selectFrom('statustype').where('uuid', '=', uuid).select('id').executeTakeFirstOrThrow()
    const how = { before: 'deze status', requirements: settings().requirements }
    await within('status', async () => judgeRequirements(m, kern, await findLackingForStatus(m, kern.id, id), how))
  }

  async function setStatus(
    m: Mutation,
    kern: ZaakCore,
    given: object,
    einde: Closing,
    typen: RemoteTypes,
    { documenten = [], objects, requirements = settings().requirements }: StatusSettings = {},
  ) {
    return within('status', () => {
      const input = readInput(StatusPart, given)
      const day = dayOf(input.datumStatusGezet)
      return createStatus(m, kern, input, { ...settings(), einde, typen, documenten, objects, day, requirements })
    })
  }
}

type Free = Record<string, unknown>
type PartsOfBody = { status?: Free; resultaat?: Free; rollen?: Free[]; zaakobjecten?: Free[] }
type Sought = (readonly [kind: RemoteKind, url: unknown])[]
/** What was asked of other servers, before the transaction: faults of references, types, and days of objects. */
type Asked = {
  faults: InvalidParam[]
  zaaktypen: RemoteTypes
  typen: RemoteTypes
  documenten?: InvalidParam[]
  objects?: ObjectDates
}

type StatusSettings = Pick<Asked, 'documenten' | 'objects'> & { requirements?: Requirements | 'later' }

/** The case as it is at the end of it all. */
async function zaakOf(m: Mutation, { uuid }: ZaakCore) {
  return { zaak: toZaak(expected(await findZaak(m.read, uuid, LIMITS.recorded)), m.actor.base) }
}

/** The cloud event of a combined endpoint, beside those of what it changed. */
function announce(m: Mutation, kern: ZaakCore, actie: string, { zaak }: Awaited<ReturnType<typeof zaakOf>>): void {
  const { verantwoordelijkeOrganisatie } = zaak
  m.announce(zaakEvent(kern, actie, m.actor.base, { verantwoordelijkeOrganisatie }))
}

/** What an endpoint changes of the case, with the faults of the status that comes with it. */
function readTogether(read: () => ZaakPatch, status: Free): ZaakPatch {
  const faults: InvalidParam[] = []
  const collect = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof Problem) || !error.invalidParams) throw error
      faults.push(...error.invalidParams)
      return undefined
    }
  }
  const given = collect(read)
  collect(() => part('status', () => readInput(StatusPart, status)))
  throwFaults(faults)
  return expected(given)
}

/** The one group that an endpoint changes. */
function only(name: 'opschorting' | 'verlenging', given: Record<string, unknown>): ZaakPatch {
  if (!(name in given)) throw invalid(`zaak.${name}`, 'required', 'Dit veld is verplicht.')
  return part('zaak', () => readInput(FreeZaakPatch, { [name]: given[name] }, { defaults: false }))
}
