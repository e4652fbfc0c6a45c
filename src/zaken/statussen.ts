// statussen: the stages that a case reaches. A case is closed exactly when its current status, the one with the latest moment, is
// the last of its zaaktype: one that is older than the current one is history, and neither closes nor opens.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { fetchTypes, type RemoteTypes } from '../catalogi/remote-types.ts'
import { isLastStatustype } from '../catalogi/type-relations.ts'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { fault, forbiddenNow, type InvalidParam, invalid, onObject, throwFaults } from '../core/problem.ts'
import { rowOf } from '../database/driver-values.ts'
import { expected, one } from '../database/rows.ts'
import { batchOf, filtersOf, sendBatch } from '../http/batch.ts'
import { ExpandQuery } from '../http/expand.ts'
import { isFuture } from '../http/formats.ts'
import { Moment, OptionalText, Reference, Url, Uuid } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { dayOf } from '../lib/day.ts'
import { requireWritable, type ZaakCore, zaakForChange } from './lock.ts'
import {
  batchSource,
  by,
  byType,
  byUrl,
  findOne,
  isOnlyType,
  type PartRow,
  paged,
  readable,
  sendOne,
  sendPage,
} from './part-queries.ts'
import { countUpTo, requireRoom } from './quota.ts'
import { recordBelow } from './records.ts'
import { hasAwaitedEnd, judgeRequirements, type Requirements } from './requirements.ts'
import { access, HEROPENEN, LEZEN, mayDo, STATUS_ZETTEN, STATUSSEN_TOEVOEGEN } from './rights.ts'
import { requireTypeOfZaak, type TypeOfZaak, typeLink } from './types.ts'
import { type Archivering, archiveParts, deriveArchivering, findFollowers, saveAtClosing } from './zaak/archive.ts'
import { forgetByHand } from './zaak/archive-by-hand.ts'
import { NullableReference, Params } from './zaak/columns.ts'
import { type ObjectDates, withObjectDates } from './zaak/object-dates.ts'
import { closingFaultsElsewhere } from './zaak/remote-documents.ts'

/** The fields apart from the case, which combined endpoints know already. */
export const StatusPart = Type.Object({
  statustype: Reference(),
  datumStatusGezet: Moment,
  statustoelichting: OptionalText(1000),
  gezetdoor: NullableReference,
})
const StatusInput = Type.Object({ zaak: Url(), ...StatusPart.properties })
export const Status = Type.Object({
  url: Url(),
  uuid: Uuid,
  ...StatusInput.properties,
  indicatieLaatstGezetteStatus: Type.Boolean(),
  zaakinformatieobjecten: Type.Array(Url()),
})
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  zaak: Type.Optional(Url()),
  statustype: Type.Optional(Url()),
  indicatieLaatstGezetteStatus: Type.Optional(Type.Boolean()),
})
const BatchFilters = filtersOf(Filter)
const DetailQuery = Type.Object({ ...ExpandQuery, ...PageQuery })

type StatusRow = PartRow & {
  typeUuid: string | null
  statustypeUrl: string | null
  datumStatusGezet: string
  statustoelichting: string
  gezetdoorUuid: string | null
  laatst: boolean
  documenten: string[]
}
export const source = paged<StatusRow, ReturnType<typeof toStatus>>(
  {
    kind: 'status',
    table: 'status',
    columns: sql`y.uuid as type_uuid, r.uuid as gezetdoor_uuid,
    array(select i.uuid from zaakinformatieobject i where i.status_id = x.id order by i.id) as documenten`,
    joins: sql`left join statustype y on y.id = x.statustype_id left join rol r on r.id = x.gezetdoor_id`,
    toResource: toStatus,
  },
  [
    { column: sql`x.datum_status_gezet`, descending: true },
    { column: sql`x.id`, descending: true },
  ],
)

export const statussen: FastifyPluginAsyncTypebox = async (app) => {
  readable(source)

  app.get(
    '/statussen',
    { config: access(LEZEN), schema: { querystring: Filter, response: { 200: Page(Status) } } },
    async (request, reply) => {
      const { statustype, indicatieLaatstGezetteStatus: last } = request.query
      const conditions = conditionsOf(request.query, request.base)
      const counted = [
        ...byType('z.typeId', 'z.typeUrl', statustype, request.base, 'statustype'),
        ...by('z.groep', last === undefined ? undefined : last ? 'laatst' : 'eerder'),
      ]
      return sendPage(request, reply, source, conditions, counted, isOnlyType(conditions, statustype, request.base))
    },
  )

  app.post(
    '/statussen',
    { config: access(STATUS_ZETTEN), schema: { body: StatusInput, response: { 201: Status } } },
    async (request, reply) => {
      const day = dayOf(request.body.datumStatusGezet)
      const wanted = [['statustype', request.body.statustype]] as const
      const typen = await fetchTypes(app.parts.services, request.base, wanted)
      const { zaak, statustype } = request.body
      const documenten = await closingFaultsElsewhere(app, zaak, statustype, request.base)
      const { jwtLeeway: leeway, typeRequirements: requirements } = app.parts.config
      const settings = { leeway, requirements, day, typen, documenten }
      const status = await withObjectDates(app, (objects) =>
        app.mutate(request.actor, async (m) =>
          createStatus(m, await zaakForChange(m, zaak, STATUS_ZETTEN), request.body, { ...settings, objects }),
        ),
      )
      return reply.code(201).header('location', status.url).send(status)
    },
  )

  app.post('/statussen/_batch', { config: access(LEZEN), ...batchOf('Status', Status) }, async (request, reply) =>
    sendBatch(request, reply, batchSource(request, source, BatchFilters, conditionsOf)),
  )

  app.get(
    '/statussen/:uuid',
    { config: access(LEZEN), schema: { params: Params, querystring: DetailQuery, response: { 200: Status } } },
    async (request, reply) => sendOne(request, reply, source),
  )
}

export type Closing = 'mag' | 'moet' | 'mag-niet'

type StatusFilter = { zaak?: string; statustype?: string; indicatieLaatstGezetteStatus?: boolean }

const conditionsOf = ({ zaak, statustype, indicatieLaatstGezetteStatus: last }: StatusFilter, base: string) => [
  ...byUrl('x.zaakId', zaak, base, 'zaak'),
  ...byType('x.statustypeId', 'x.statustypeUrl', statustype, base, 'statustype'),
  ...(last === undefined ? [] : [last ? sql`x.laatst` : sql`not x.laatst`]),
]

/**
 * Sets a status, with all that comes of it: where it becomes the current one, the case closes with the eindstatus and opens with
 * any other.
 * @param settings.einde what an endpoint allows
 * @param settings.typen what was asked of other servers
 * @param settings.documenten what `closingFaultsElsewhere` found
 * @param settings.objects what `withObjectDates` asked
 * @param settings.requirements `later`: the caller judges what the type asks, when all parts are there
 */
export async function createStatus(
  m: Mutation,
  zaak: ZaakCore,
  input: Static<typeof StatusPart>,
  {
    leeway,
    day,
    typen,
    documenten = [],
    objects,
    einde = 'mag',
    requirements,
  }: {
    leeway: number
    day: string
    typen: RemoteTypes
    documenten?: InvalidParam[]
    objects?: ObjectDates
    einde?: Closing
    requirements: Requirements | 'later'
  },
) {
  const { base } = m.actor
  const statustype = await requireTypeOfZaak(m, 'statustype', input.statustype, zaak, typen)
  const { eind, eerder, huidig, lacking } = await judgePosition(m, zaak, statustype, input.datumStatusGezet)
  requireRoom(eerder, 'statussen', LIMITS.statussen)
  const faults: InvalidParam[] = []
  if (einde === 'moet' && !eind)
    faults.push(onObject('eindstatus-required', 'Afsluiten vraagt de eindstatus van het zaaktype.'))
  if (einde === 'mag-niet' && eind) faults.push(onObject('eindstatus-not-allowed', 'De eindstatus mag hier niet.'))
  if (einde === 'moet' && eind && !huidig)
    faults.push(
      fault('datumStatusGezet', 'status-not-current', 'De zaak heeft een latere status; deze sluit haar niet af.'),
    )
  if (isFuture(input.datumStatusGezet, leeway))
    faults.push(fault('datumStatusGezet', 'date-in-future', 'Dit moment ligt in de toekomst.'))
  const gezetdoor = input.gezetdoor ? await findSetter(m, input.gezetdoor, zaak, faults) : null
  requireWritable(m, zaak, faults, 'judged') // below: opening again is a right of its own
  if (huidig) throwFaults(eind ? await closingFaults(m, zaak, documenten) : await openFaults(m, zaak))
  const closed = eind && huidig && { ...(await retentionStart(m, zaak)), einddatum: day }
  const closing = closed ? await deriveArchivering(m, closed, { objects }) : undefined
  requireMayAdd(m, zaak, eerder > 0)
  if (requirements !== 'later') judgeRequirements(m, zaak, lacking, { before: 'deze status', requirements })
  const isAwaited = closing?.archiefactiedatum === undefined && zaak.archiefactiedatum === null
  if (closed && isAwaited && requirements !== 'later' && (await hasAwaitedEnd(m, zaak.id)))
    judgeRequirements(m, zaak, ['de einddatum van het procesobject'], { before: 'het afsluiten', requirements })

  const made = one(
    await m.sql<{ uuid: string }[]>`
    insert into status ${rowOf(m.sql, 'status', {
      zaakId: zaak.id,
      statustypeId: statustype.id,
      ...(statustype.remote && {
        statustypeUrl: statustype.remote.url,
        statustypeOmschrijving: statustype.remote.omschrijving,
        isEindstatus: statustype.remote.isEindstatus,
      }),
      datumStatusGezet: input.datumStatusGezet,
      statustoelichting: input.statustoelichting ?? '',
      gezetdoorId: gezetdoor,
    })} returning uuid`,
  )
  if (!huidig) await m.sql`update zaak set laatst_gemuteerd = moment_from(laatst_gemuteerd) where id = ${zaak.id}`
  else if (eind) await close(m, zaak, day, closing)
  else await open(m, zaak)
  const row = expected(await findOne(m.read, source, made.uuid))
  const status = toStatus(row, base)
  recordBelow(m, zaak, {
    actie: 'create',
    resource: 'status',
    url: status.url,
    uuid: row.uuid,
    detail: `Status op ${row.datumStatusGezet}`,
    oud: null,
    nieuw: status,
  })
  return status
}

/**
 * Whether it is the last of its zaaktype, as its server says of one elsewhere; how many the case had before; and whether it becomes
 * the current one; and what the case lacks for it.
 */
async function judgePosition(m: Mutation, zaak: ZaakCore, { id, remote }: TypeOfZaak<'statustype'>, moment: string) {
  const laatste = remote
    ? m.sql`${remote.isEindstatus}::boolean`
    : m.sql`not exists (select from statustype y where y.id = ${id} and not ${m.sql.unsafe(isLastStatustype('y'))})`
  const found = one(
    await m.sql<{ eind: boolean; eerder: number; huidig: boolean; lacking: string[] }[]>`
    select ${laatste} as eind, lacking_for_status(${zaak.id}, ${id}) as lacking,
      not exists (select from status s where s.zaak_id = ${zaak.id} and s.datum_status_gezet > ${moment}) as huidig, ${countUpTo(m, 'status', 'zaak_id', zaak.id, LIMITS.statussen)} as eerder`,
  )
  return found
}

/** Who may make a case may give it its first status; more, and opening again, are rights of their own. */
function requireMayAdd(m: Mutation, zaak: ZaakCore, eerder: boolean): void {
  if (mayDo(m.actor, HEROPENEN, zaak)) return
  if (zaak.einddatum !== null) throw forbiddenNow('De zaak is afgesloten; heropenen vraagt een eigen recht.')
  if (eerder && !mayDo(m.actor, STATUSSEN_TOEVOEGEN, zaak))
    throw forbiddenNow('De zaak heeft al een status; een volgende vraagt een eigen recht.')
}

async function findSetter(m: Mutation, url: string, zaak: ZaakCore, faults: InvalidParam[]): Promise<number | null> {
  const uuid = localUuid(url, m.actor.base, 'rol') ?? null
  const rol = await m.trx.selectFrom('rol').where('uuid', '=', uuid).select(['id', 'zaakId']).executeTakeFirst()
  if (!rol) throw invalid('gezetdoor', 'bad-url', 'Deze rol bestaat niet.')
  if (rol.zaakId !== zaak.id) faults.push(onObject('zaak-mismatch', 'De rol hoort bij een andere zaak.'))
  return rol.id
}

/** zrc-007: what has to be in order before a case closes. */
async function closingFaults(m: Mutation, zaak: ZaakCore, documenten: InvalidParam[]): Promise<InvalidParam[]> {
  const found = one(
    await m.sql<
      { vergrendeld: boolean; gebruiksrecht: boolean; open: boolean; resultaat: boolean; deelresultaat: boolean }[]
    >`
    with documenten as (
      select e.lock, v.indicatie_gebruiksrecht from zaakinformatieobject i
      join enkelvoudiginformatieobject e on e.id = i.enkelvoudiginformatieobject_id
      join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
      where i.zaak_id = ${zaak.id}
    ), delen as (select d.id from zaak d where d.hoofdzaak_id = ${zaak.id})
    select exists (select from documenten where lock is not null) as vergrendeld,
      exists (select from documenten where indicatie_gebruiksrecht is null) as gebruiksrecht,
      exists (select from delen d where coalesce((
        select not s.is_eindstatus is true
          and (y.id is null or not ${m.sql.unsafe(isLastStatustype('y'))})
        from status s left join statustype y on y.id = s.statustype_id where s.zaak_id = d.id
        order by s.datum_status_gezet desc limit 1), true)) as open,
      not exists (select from resultaat r where r.zaak_id = ${zaak.id}) as resultaat,
      exists (select from delen d where not exists (select from resultaat r where r.zaak_id = d.id)) as deelresultaat`,
  )
  const faults: InvalidParam[] = []
  if (found.vergrendeld) faults.push(onObject('informatieobject-locked', 'Een document bij de zaak is vergrendeld.'))
  if (found.gebruiksrecht)
    faults.push(
      onObject(
        'indicatiegebruiksrecht-unset',
        'Niet van elk document bij de zaak is bekend of er gebruiksrechten zijn.',
      ),
    )
  faults.push(...documenten.filter((one) => !faults.some(({ code }) => code === one.code)))
  if (found.open) faults.push(onObject('deelzaken-not-closed', 'Niet alle deelzaken zijn afgesloten.'))
  if (found.resultaat) faults.push(onObject('resultaat-does-not-exist', 'De zaak heeft nog geen resultaat.'))
  if (found.deelresultaat)
    faults.push(onObject('deelzaak-resultaat-does-not-exist', 'Niet elke deelzaak heeft een resultaat.'))
  return faults
}

/** A part is not opened below a case that is closed. */
async function openFaults(m: Mutation, zaak: ZaakCore): Promise<InvalidParam[]> {
  if (zaak.hoofdzaakId === null) return []
  const [hoofdzaak] = await m.sql<
    { einddatum: string | null }[]
  >`select einddatum from zaak where id = ${zaak.hoofdzaakId} for share`
  if (!hoofdzaak?.einddatum) return []
  return [onObject('hoofdzaak-closed', 'De hoofdzaak is afgesloten.')]
}

async function retentionStart(m: Mutation, { id, hoofdzaakId }: Pick<ZaakCore, 'id' | 'hoofdzaakId'>) {
  const { startdatumBewaartermijn } = await m.trx
    .selectFrom('zaak')
    .where('id', '=', id)
    .select('startdatumBewaartermijn')
    .executeTakeFirstOrThrow()
  return { id, hoofdzaakId, startdatumBewaartermijn }
}

async function close(m: Mutation, zaak: ZaakCore, einddatum: string, archivering: Archivering | undefined) {
  await m.sql`update zaak set einddatum = ${einddatum}, laatst_gemuteerd = moment_from(laatst_gemuteerd) where id = ${zaak.id}`
  zaak.einddatum = einddatum
  if (archivering) await saveAtClosing(m, zaak.id, archivering)
  await archiveParts(m, zaak.id, einddatum)
}

/** zrc-008: nothing is left of the closing but the resultaat. */
async function open(m: Mutation, zaak: ZaakCore): Promise<void> {
  if (zaak.einddatum === null) {
    await m.sql`update zaak set laatst_gemuteerd = moment_from(laatst_gemuteerd) where id = ${zaak.id}`
    return
  }
  const ids = [zaak.id, ...(await findFollowers(m, zaak.id))]
  await m.sql`update zaak set einddatum = null, laatst_gemuteerd = moment_from(laatst_gemuteerd) where id = ${zaak.id}`
  await forgetByHand(m, ids)
  await m.sql`update zaak set archiefnominatie = null, archiefactiedatum = null, startdatum_bewaartermijn = null
    where id = any(${ids}::bigint[])`
  zaak.einddatum = null
}

function toStatus(row: StatusRow, base: string) {
  return {
    url: link(base, 'status', row.uuid),
    uuid: row.uuid,
    zaak: link(base, 'zaak', row.zaakUuid),
    statustype: typeLink(base, 'statustype', row.typeUuid, row.statustypeUrl),
    datumStatusGezet: row.datumStatusGezet,
    statustoelichting: row.statustoelichting,
    indicatieLaatstGezetteStatus: row.laatst,
    gezetdoor: row.gezetdoorUuid && link(base, 'rol', row.gezetdoorUuid),
    zaakinformatieobjecten: row.documenten.map((uuid) => link(base, 'zaakinformatieobject', uuid)),
  }
}
