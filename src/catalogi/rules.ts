import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import type { ReadDb } from '../database/database.ts'
import type { Actie, Mutation } from '../database/mutate.ts'
import { isAllowedSomewhere } from '../http/access.ts'
import type { Actor } from '../http/actor.ts'
import { link, localUuid, type Resource, resolveLink } from '../http/links.ts'
import {
  fault,
  type InvalidParam,
  invalid,
  invalidAll,
  notFound,
  onObject,
  Problem,
  throwFaults,
} from '../http/problem.ts'

// ---- rights ----

export const SCHRIJVEN = 'catalogi.schrijven'
export const GEFORCEERD_SCHRIJVEN = 'catalogi.geforceerd-schrijven'
export const GEFORCEERD_VERWIJDEREN = 'catalogi.geforceerd-verwijderen'
/** ztc-014: who may read cases or documents may read the types of them. */
export const readAccess = {
  access: {
    component: 'ztc',
    scopes: ['catalogi.lezen'],
    or: { component: 'zrc', scopes: ['zaken.lezen'], or: { component: 'drc', scopes: ['documenten.lezen'] } },
  },
} as const
export const writeAccess = { access: { component: 'ztc', scopes: [SCHRIJVEN] } } as const
/** Also for who only corrects what was published already. */
export const updateAccess = { access: { component: 'ztc', scopes: [SCHRIJVEN, GEFORCEERD_SCHRIJVEN] } } as const
export const deleteAccess = { access: { component: 'ztc', scopes: [SCHRIJVEN, GEFORCEERD_VERWIJDEREN] } } as const

/** Whether the rules that protect published types are waived for this actor. */
export const mayForce = (actor: Actor) => isAllowedSomewhere(actor, 'ztc', [GEFORCEERD_SCHRIJVEN])
export const mayForceDelete = (actor: Actor) => isAllowedSomewhere(actor, 'ztc', [GEFORCEERD_VERWIJDEREN])

// ---- filters ----

/** Filter `status` on lists of types: without it only published ones show. */
export const StatusFilter = Type.Optional(Type.Enum(['alles', 'concept', 'definitief']))

/** Versions that are valid on a day: both bounds count. */
export const DatumGeldigheid = Type.Optional(Type.String({ format: 'date' }))

/** Filters that the lists of everything below a zaaktype share. */
export const BelowZaaktypeFilter = {
  zaaktype: Type.Optional(Type.String({ format: 'uri' })),
  zaaktypeIdentificatie: Type.Optional(Type.String()),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
}

type BelowZaaktype = {
  zaaktype?: string
  zaaktypeIdentificatie?: string
  status?: 'alles' | 'concept' | 'definitief'
  datumGeldigheid?: string
}

/**
 * What the filters above keep, in a query on parts `t` of zaaktypen `z`. A part without dates of its own is valid when its
 * zaaktype is.
 */
export function belowZaaktype(filter: BelowZaaktype, base: string) {
  const { status = 'definitief', datumGeldigheid: datum } = filter
  const kept = [sql`true`]
  if (status !== 'alles') kept.push(sql`z.concept = ${status === 'concept'}`)
  if (filter.zaaktype !== undefined) kept.push(sql`z.uuid = ${filterUuid(filter.zaaktype, base, 'zaaktype')}`)
  if (filter.zaaktypeIdentificatie !== undefined) kept.push(sql`z.identificatie = ${filter.zaaktypeIdentificatie}`)
  if (datum !== undefined) {
    kept.push(sql`coalesce(t.begin_geldigheid, z.begin_geldigheid) <= ${datum}::date`)
    kept.push(sql`coalesce(coalesce(t.einde_geldigheid, z.einde_geldigheid) >= ${datum}::date, true)`)
  }
  return sql<boolean>`${sql.join(kept, sql` and `)}`
}

/** The uuid in a filter on a relation, or null: a URL of something else finds nothing. */
export const filterUuid = (url: string, base: string, resource: Resource) => localUuid(url, base, resource) ?? null

// ---- faults ----

export const NON_CONCEPT_OBJECT = onObject(
  'non-concept-object',
  'Dit type is gepubliceerd en kan niet worden gewijzigd.',
)
const NON_CONCEPT_ZAAKTYPE = onObject(
  'non-concept-zaaktype',
  'Het zaaktype is gepubliceerd: wat eronder hangt kan niet worden gewijzigd.',
)
export const NON_CONCEPT_RELATION = onObject('non-concept-relation', 'Een gerelateerd type is gepubliceerd.')
export const OTHER_CATALOGUS = onObject(
  'relations-incorrect-catalogus',
  'Gerelateerde typen horen in dezelfde catalogus.',
)
const OTHER_ZAAKTYPE = onObject('relations-incorrect-zaaktype', 'Het statustype hoort bij een ander zaaktype.')

/** Whether a PATCH only closes or reopens a version: that is allowed on what was published (ztc-009). */
export function changesOnlyEnd(actie: 'update' | 'partial_update', body: object): boolean {
  const names = Object.keys(body)
  return actie === 'partial_update' && names.length === 1 && names[0] === 'eindeGeldigheid'
}

// ---- relations that a body names ----

/**
 * The catalogue that a body names.
 * @throws Problem 400 on `catalogus`: `no_match`, `incorrect_match` or `does_not_exist`
 */
export async function requireCatalogus(db: ReadDb, url: string, base: string): Promise<{ id: number; uuid: string }> {
  const uuid = requireLocal('catalogus', url, base, 'catalogus')
  const catalogus = await db.selectFrom('catalogus').where('uuid', '=', uuid).select(['id', 'uuid']).executeTakeFirst()
  if (!catalogus) throw missing('catalogus')
  return catalogus
}

export type ZaaktypeOfPart = {
  id: number
  uuid: string
  identificatie: string
  concept: boolean
  catalogusId: number
  catalogusUuid: string
  selectielijstProcestype: string
}

/**
 * The zaaktype that the body of a part (statustype, roltype …) names, held so that it is not published meanwhile.
 * @throws Problem 400 on `zaaktype`: `no_match`, `incorrect_match` or `does_not_exist`
 */
export async function requireZaaktypeForChange(m: Mutation, url: string): Promise<ZaaktypeOfPart> {
  const uuid = requireLocal('zaaktype', url, m.actor.base, 'zaaktype')
  const zaaktype = await m.trx
    .selectFrom('zaaktype as z')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
    .where('z.uuid', '=', uuid)
    .select(['z.id', 'z.uuid', 'z.identificatie', 'z.concept', 'z.catalogusId', 'z.selectielijstProcestype'])
    .select('c.uuid as catalogusUuid')
    .forShare('z')
    .executeTakeFirst()
  if (!zaaktype) throw missing('zaaktype')
  return zaaktype
}

/** The catalogus of some parts can be written, but says nothing of its own (1.3.2): it is that of the zaaktype, or left out. */
export function catalogusFaults(
  m: Mutation,
  catalogus: string | null | undefined,
  { catalogusUuid }: Pick<ZaaktypeOfPart, 'catalogusUuid'>,
): InvalidParam[] {
  if (!catalogus || localUuid(catalogus, m.actor.base, 'catalogus') === catalogusUuid) return []
  return [{ name: 'catalogus', code: OTHER_CATALOGUS.code, reason: 'Dit is niet de catalogus van het zaaktype.' }]
}

/**
 * The statustype that the body of a part names.
 * @throws Problem 400: it does not exist, or belongs to another zaaktype
 */
export async function requireStatustype(m: Mutation, url: string | null, zaaktypeId: number): Promise<number | null> {
  if (!url) return null
  const uuid = requireLocal('statustype', url, m.actor.base, 'statustype')
  const statustype = await m.trx
    .selectFrom('statustype')
    .where('uuid', '=', uuid)
    .select(['id', 'zaaktypeId'])
    .executeTakeFirst()
  if (!statustype) throw missing('statustype')
  if (statustype.zaaktypeId !== zaaktypeId) throw invalidAll([OTHER_ZAAKTYPE])
  return statustype.id
}

function requireLocal(name: string, url: string, base: string, resource: Resource): string {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw invalid(name, 'no_match', `Deze URL is geen ${resource} van deze dienst.`)
  if (target.resource !== resource) throw invalid(name, 'incorrect_match', 'Deze URL is van een andere resource.')
  return target.uuid
}

const missing = (name: string) => invalid(name, 'does_not_exist', `Dit ${name} bestaat niet.`)

/** The types with versions, and what the versions of one type share within their catalogue. */
export const TYPE_KEY = {
  zaaktype: 'identificatie',
  besluittype: 'omschrijving',
  informatieobjecttype: 'omschrijving',
} as const
export type Hoofdtype = keyof typeof TYPE_KEY
export type RelatedType = { id: number; uuid: string; concept: boolean; catalogusId: number }
/** A type that a body names, and whether it names that version by its URL. */
export type NamedType = RelatedType & { byUrl: boolean }

/**
 * The types that a body names in a relation, each by URL or by its key (omschrijving, or identificatie of a zaaktype)
 * within the catalogue. Of the versions with that key it is the valid published one, or else the newest. What cannot be
 * found is added to `faults` under `name`.
 */
export async function findRelations(
  { read, actor: { base } }: Mutation,
  type: Hoofdtype,
  values: readonly string[],
  catalogusId: number,
  name: string | ((index: number) => string),
  faults: InvalidParam[],
): Promise<NamedType[]> {
  const wanted = values.map((value) => ({ value, target: isUrl(value) ? resolveLink(value, base) : undefined }))
  const uuids = wanted.flatMap(({ target }) => (target?.kind === 'ours' ? target.uuid : []))
  const keys = wanted.flatMap(({ value, target }) => (target ? [] : value))
  if (values.length === 0) return []
  const { rows } = await sql<RelatedType & { sleutel: string }>`
    select id, uuid, concept, catalogus_id as "catalogusId", ${sql.ref(TYPE_KEY[type])} as sleutel from ${sql.table(type)}
    where uuid = any(${uuids}::uuid[]) or (catalogus_id = ${catalogusId} and ${sql.ref(TYPE_KEY[type])} = any(${keys}::text[]))
    order by concept, ${validOn('', null)} desc, begin_geldigheid desc, id desc`.execute(read)
  const found: NamedType[] = []
  for (const [index, { value, target }] of wanted.entries()) {
    const at = typeof name === 'string' ? name : name(index)
    if (target && (target.kind !== 'ours' || target.resource !== type)) {
      const other = target.kind === 'ours'
      faults.push(
        fault(
          at,
          other ? 'incorrect_match' : 'no_match',
          other ? 'Deze URL is van een andere resource.' : `Deze URL is geen ${type} van deze dienst.`,
        ),
      )
      continue
    }
    const row = target
      ? rows.find(({ uuid }) => uuid === target.uuid)
      : rows.find(({ sleutel, catalogusId: own }) => sleutel === value && own === catalogusId)
    if (!row) faults.push(fault(at, 'does_not_exist', `Dit ${type} bestaat niet.`))
    else if (!found.some(({ id }) => id === row.id) || typeof name !== 'string')
      found.push({ ...row, byUrl: target !== undefined })
  }
  return found
}

export const isUrl = (text: string) => /^https?:\/\//i.test(text)

// ---- relations as answers show them ----

/** Whether a version (alias with its dot, or '') is valid on a day; null is today. */
export const validOn = (alias: string, datum: string | null) =>
  sql`(${sql.raw(alias)}begin_geldigheid <= coalesce(${datum}::date, current_date)
    and coalesce(${sql.raw(alias)}einde_geldigheid >= coalesce(${datum}::date, current_date), true))`

/**
 * For relations that an object has to types. Of each type (its versions share a key) the best version comes first: the
 * published one that is valid on the day, else the newest published one. Without a day the versions that were named follow
 * it; a concept only where its URL was named. A type that was never published shows the version that was named.
 * @param links a query of `id` and `by_url` of the versions that were named
 * @param wat the key instead of the uuid: once for each type
 */
export function shownVersions(type: Hoofdtype, links: RawBuilder<unknown>, datum: string | null, wat = 'uuid') {
  const sleutel = sql.raw(TYPE_KEY[type])
  const named = datum === null && wat === 'uuid' ? sql`or (s.id = k.id and (l.by_url or not s.concept))` : sql``
  return sql<string[]>`array(
    select x.${sql.raw(wat)} from (
      select distinct on (s.id) s.id, s.uuid, s.${sleutel}, s.best, k.id as place
      from (${links}) l join ${sql.table(type)} k on k.id = l.id
      cross join lateral (
        select v.id, v.uuid, v.${sleutel}, v.concept, row_number() over (
          order by v.concept, ${validOn('v.', datum)} desc, v.begin_geldigheid desc, v.id desc) = 1 as best
        from ${sql.table(type)} v
        where v.catalogus_id = k.catalogus_id and v.${sleutel} = k.${sleutel}
          and (v.id = k.id or (not v.concept and v.${sleutel} <> ''))) s
      where s.best ${named}
      order by s.id, s.best desc, k.id) x
    order by x.place, x.best desc, x.id)`
}

/**
 * The other way around: types that refer to an object. The relation belongs to their version, so of each type it is the
 * best of the versions that have it; without a day also those that refer to this very version.
 * @param links a query of ids of the versions that refer to any version of the object
 * @param direct a query of ids of the versions that refer to this version of it
 */
export function referringVersions(
  type: Hoofdtype,
  { links, direct }: { links: RawBuilder<unknown>; direct: RawBuilder<unknown> },
  datum: string | null,
  wat = 'uuid',
) {
  const sleutel = sql.raw(TYPE_KEY[type])
  const also = datum === null && wat === 'uuid' ? sql`or s.id in (${direct})` : sql``
  return sql<string[]>`array(
    select s.${sql.raw(wat)} from ${sql.table(type)} s where s.id in (
      select distinct on (v.catalogus_id, v.${sleutel}, case when v.${sleutel} = '' then v.id end) v.id
      from ${sql.table(type)} v where v.id in (${links})
      order by v.catalogus_id, v.${sleutel}, case when v.${sleutel} = '' then v.id end,
        v.concept, ${validOn('v.', datum)} desc, v.begin_geldigheid desc, v.id desc) ${also}
    order by s.id)`
}

/** Ids of all versions of the type that the row `alias` is a version of. */
export function allVersions(type: Hoofdtype, alias = 't'): RawBuilder<unknown> {
  const [row, sleutel] = [sql.raw(alias), sql.raw(TYPE_KEY[type])]
  return sql`select w.id from ${sql.table(type)} w where w.catalogus_id = ${row}.catalogus_id
    and w.${sleutel} = ${row}.${sleutel} and (w.id = ${row}.id or w.${sleutel} <> '')`
}

/** beginObject and eindeObject span all versions: the oldest begin, and the end of the newest. */
export function objectPeriod(type: Hoofdtype) {
  return [
    sql<string>`(select min(v.begin_geldigheid) from ${sql.table(type)} v where v.id in (${allVersions(type)}))`.as(
      'beginObject',
    ),
    sql<string | null>`(select v.einde_geldigheid from ${sql.table(type)} v where v.id in (${allVersions(type)})
      order by v.begin_geldigheid desc, v.id desc limit 1)`.as('eindeObject'),
  ] as const
}

// ---- validity ----

/**
 * ztc-016: published versions of one type do not overlap; an end on the day of the next begin is allowed. The catalogue is
 * held, so that of two versions published at the same moment one is refused.
 * @throws Problem 400 `overlap` on `name`
 */
export async function requireNoOverlap(
  m: Mutation,
  type: Hoofdtype,
  version: {
    id: number
    catalogusId: number
    sleutel: string
    beginGeldigheid: string
    eindeGeldigheid: string | null
  },
  name = 'beginGeldigheid',
): Promise<void> {
  if (version.sleutel === '') return // besluittypen may go without
  await m.trx
    .selectFrom('catalogus')
    .where('id', '=', version.catalogusId)
    .select('id')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const { rows } = await sql`
    select 1 from ${sql.table(type)}
    where catalogus_id = ${version.catalogusId} and ${sql.ref(TYPE_KEY[type])} = ${version.sleutel} and not concept
      and id <> ${version.id}
      and (einde_geldigheid is null or einde_geldigheid > ${version.beginGeldigheid}::date)
      and (${version.eindeGeldigheid}::date is null or begin_geldigheid < ${version.eindeGeldigheid}::date)
    limit 1`.execute(m.trx)
  if (rows.length > 0)
    throw invalid(name, 'overlap', 'Een andere gepubliceerde versie van dit type is in deze periode geldig.')
}

/** Parts of a zaaktype do not end before they begin. */
export function dateFaults(part: {
  beginGeldigheid?: string | null | undefined
  eindeGeldigheid?: string | null | undefined
}): InvalidParam[] {
  const { beginGeldigheid: begin, eindeGeldigheid: einde } = part
  if (!begin || !einde || begin <= einde) return []
  return [onObject('date-mismatch', 'De einddatum ligt voor de begindatum.')]
}

// ---- publishing, deleting, recording ----

/** Whether of each of these types some version is published. */
export async function allPublished(m: Mutation, type: Hoofdtype, links: RawBuilder<unknown>): Promise<boolean> {
  const sleutel = sql.raw(TYPE_KEY[type])
  const { rows } = await sql`
    select 1 from ${sql.table(type)} k where k.id in (${links}) and k.concept and not exists (
      select 1 from ${sql.table(type)} v where v.catalogus_id = k.catalogus_id and v.${sleutel} = k.${sleutel}
        and v.${sleutel} <> '' and not v.concept)
    limit 1`.execute(m.trx)
  return rows.length === 0
}

/** ztc-010: what is below a published zaaktype stays as it is, without the forced scope. */
export function zaaktypeFaults(m: Mutation, zaaktypen: { concept: boolean }[]): InvalidParam[] {
  return !mayForce(m.actor) && zaaktypen.some(({ concept }) => !concept) ? [NON_CONCEPT_ZAAKTYPE] : []
}

/** Holds a part of a zaaktype, and that zaaktype, until the change is made. @throws Problem 404 when there is no such part */
export async function holdTypePart(m: Mutation, table: PartTable, uuid: string): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select z.id from ${sql.table(table)} t join zaaktype z on z.id = t.zaaktype_id where t.uuid = ${uuid}
    for share of z`.execute(m.trx)
  if (rows.length === 0) throw notFound()
  const held = await sql`select 1 from ${sql.table(table)} t where t.uuid = ${uuid} for update`.execute(m.trx)
  if (held.rows.length === 0) throw notFound()
}

/** ztc-010 for a removal: what is below a published zaaktype stays, without the forced scope for that. */
export async function deleteTypePart(
  m: Mutation,
  table: Exclude<PartTable, 'zaaktype_informatieobjecttype'>,
  part: { id: number; concept: boolean },
): Promise<void> {
  if (!part.concept && !mayForceDelete(m.actor)) throwFaults([NON_CONCEPT_ZAAKTYPE])
  await deleteUnlessInUse(() => sql`delete from ${sql.table(table)} where id = ${part.id}`.execute(m.trx))
}

export type PartTable =
  | 'statustype'
  | 'resultaattype'
  | 'roltype'
  | 'eigenschap'
  | 'zaakobjecttype'
  | 'zaaktype_informatieobjecttype'

/** Runs a deletion; what is still referred to (a zaak, a document, a besluit) is a 409. */
export async function deleteUnlessInUse(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if ((error as { code?: string }).code !== '23503') throw error
    throw new Problem(409, { detail: 'Dit is nog in gebruik: er zijn objecten die ernaar verwijzen.' })
  }
}

/**
 * Before a version is removed: relations that were written with it go over to another version of the same type, since they
 * are relations with the type.
 */
export async function handOverRelations(
  m: Mutation,
  type: Hoofdtype,
  id: number,
  tables: readonly { table: string; owner: string; column: string }[],
): Promise<void> {
  const sleutel = sql.raw(TYPE_KEY[type])
  const { rows } = await sql<{ id: number }>`
    select v.id from ${sql.table(type)} v join ${sql.table(type)} k on k.catalogus_id = v.catalogus_id and k.${sleutel} = v.${sleutel}
    where k.id = ${id} and v.id <> k.id and v.${sleutel} <> ''
    order by v.concept, v.begin_geldigheid desc, v.id desc limit 1`.execute(m.trx)
  const heir = rows[0]?.id
  if (heir === undefined) return
  for (const { table, owner, column } of tables) {
    const [name, col, own] = [sql.table(table), sql.ref(column), sql.ref(owner)]
    await sql`update ${name} r set ${col} = ${heir} where ${col} = ${id}
      and not exists (select 1 from ${name} o where o.${own} = r.${own} and o.${col} = ${heir})`.execute(m.trx)
  }
}

/** Where changes of a type are announced. */
export function typeKanaal(naam: string, base: string, catalogusUuid: string) {
  return { naam, kenmerken: { catalogus: link(base, 'catalogus', catalogusUuid) } }
}

/** Records a change of something in a catalogue: its audit row and, for the types with a channel, its notification. */
export function recordChange(
  m: Mutation,
  actie: Actie,
  resource: Resource,
  row: { uuid: string; weergave: string; catalogusUuid?: string; zaaktypeUuid?: string },
  oud: unknown,
  nieuw: unknown,
): void {
  const kanaal = KANALEN[resource]
  const { base } = m.actor
  m.record({
    component: 'ztc',
    actie,
    resource,
    url: link(base, resource, row.uuid),
    uuid: row.uuid,
    weergave: row.weergave,
    ...(row.zaaktypeUuid && {
      hoofdobject: { url: link(base, 'zaaktype', row.zaaktypeUuid), uuid: row.zaaktypeUuid },
    }),
    kanaal: kanaal && row.catalogusUuid ? typeKanaal(kanaal, base, row.catalogusUuid) : null,
    oud,
    nieuw,
  })
}

const KANALEN: Partial<Record<Resource, string>> = {
  zaaktype: 'zaaktypen',
  besluittype: 'besluittypen',
  informatieobjecttype: 'informatieobjecttypen',
}

/** The version of a besluittype with this uuid; undefined when there is none. */
export async function findBesluittypeInfo(db: ReadDb, uuid: string) {
  return db
    .selectFrom('besluittype as t')
    .innerJoin('catalogus as c', 'c.id', 't.catalogusId')
    .where('t.uuid', '=', uuid)
    .select(['t.id', 't.uuid', 't.concept', 't.catalogusId', 't.omschrijving', 'c.uuid as catalogusUuid'])
    .executeTakeFirst()
}
