// The rights of an application: rows for one version of a type each, and rights for more than that.
//
// An addition of ours: `catalogusAutorisaties`, rights that name no version of a type but a catalogue (every type in it,
// later ones included) or a type in it (all its versions, later ones included). Consumers of the standard know one row per
// version of a type, so `autorisaties` shows such a right once more as rows: one for every version that it reaches now,
// after the ordinary rows. Those rows are made when read; nothing stores them.
//
// A client that knows nothing of the addition gets those rows, and sends them back in a PUT or PATCH. That must neither
// drop the right nor turn it into ordinary rows, and yet a row that such a client takes away must be gone. Hence:
// - `catalogusAutorisaties` is in the body: it replaces the set, and rows of `autorisaties` that it implies are not stored.
// - only `autorisaties` is: a right stays when all of its rows came back. When one is missing or changed, that is what the
//   client meant: the right goes, and the rows that did come back become ordinary ones.
// - neither is: all rights stay.
// So what an application may do after a write is what the body said, in whichever of the two ways it said it.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Component } from '../core/actor.ts'
import { json, type Mutation } from '../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../core/vertrouwelijkheidaanduiding.ts'
import { OptionalChoice, Text, Url } from '../http/input.ts'
import { link, localUuid, resolveLink } from '../http/links.ts'

const COMPONENTEN: Record<Component, string> = {
  ac: 'Autorisaties API',
  nrc: 'Notificaties API',
  zrc: 'Zaken API',
  ztc: 'Catalogi API',
  drc: 'Documenten API',
  brc: 'Besluiten API',
  kc: 'Klanten API',
  cmc: 'Contactmomenten API',
  vrc: 'Verzoeken API',
}
const TYPE_OF_COMPONENT = { zrc: 'zaaktype', drc: 'informatieobjecttype', brc: 'besluittype' } as const
export type TypedComponent = keyof typeof TYPE_OF_COMPONENT
const hasTypes = (component: string): component is TypedComponent => Object.hasOwn(TYPE_OF_COMPONENT, component)
const hasMax = (component: string) => component === 'zrc' || component === 'drc'

const Scopes = Type.Array(Text(100, { minLength: 1 }), { description: 'Scopes, zoals documenten.lezen.' })
const Max = OptionalChoice(VERTROUWELIJKHEIDAANDUIDINGEN)
const TypeUrl = (naam: string, component: string) =>
  Type.Optional(
    Type.String({ format: 'uri', maxLength: 1000, default: '', description: `${naam}, alleen bij ${component}.` }),
  )
export const AutorisatieInput = Type.Object({
  component: Type.Enum(Object.keys(COMPONENTEN) as Component[]),
  scopes: Scopes,
  zaaktype: TypeUrl('Zaaktype', 'zrc'),
  informatieobjecttype: TypeUrl('Informatieobjecttype', 'drc'),
  besluittype: TypeUrl('Besluittype', 'brc'),
  maxVertrouwelijkheidaanduiding: Max,
})
export const CatalogusAutorisatie = Type.Object(
  {
    component: Type.Enum(Object.keys(TYPE_OF_COMPONENT) as TypedComponent[]),
    catalogus: Url(),
    type: Type.Optional(
      Text(80, {
        description:
          'Identificatie van een zaaktype of omschrijving van een ander type: alle versies ervan. Leeg: alle typen in de catalogus.',
      }),
    ),
    scopes: Scopes,
    maxVertrouwelijkheidaanduiding: Max,
  },
  { description: 'Toevoeging van Zaakstroom: een recht dat ook geldt voor typen en versies die later worden gemaakt.' },
)
export const Autorisatie = Type.Object({
  ...AutorisatieInput.properties,
  componentWeergave: Type.String({ description: 'Naam van de component.' }),
})
type Rights = {
  autorisaties?: Static<typeof AutorisatieInput>[] | undefined
  catalogusAutorisaties?: Static<typeof CatalogusAutorisatie>[] | undefined
}

// ---- reading ----

type Max = (typeof VERTROUWELIJKHEIDAANDUIDINGEN)[number] | null
export type Right = { component: Component; scopes: string[]; typeUrl: string; typeUuid: string | null; max: Max }
export type CatalogusRight = {
  component: TypedComponent
  catalogusUuid: string
  type: string
  scopes: string[]
  max: Max
}
/** With the versions of types that it reaches at this moment. */
export type EffectiveRight = CatalogusRight & { inhoud: string[] }

/** The versions that right `k` reaches, newest first. */
export const typesOfRight = sql`coalesce((select jsonb_agg(t.uuid order by t.id desc) from autorisatie_type t
  where t.component = k.component and t.catalogus_id = k.catalogus_id and k.type in ('', t.key)), '[]')`

/** A right for each version of a type that this one reaches now. They are shown, never stored. */
export function implied({ component, scopes, max, inhoud }: EffectiveRight): Right[] {
  return inhoud.map((typeUuid) => ({ component, scopes, typeUrl: '', typeUuid, max }))
}

/** A right as clients see it; without the fields that its component has no types or levels for. */
export function toAutorisatie(
  { component, scopes, typeUrl, typeUuid, max }: Right,
  base: string,
): Static<typeof Autorisatie> {
  return {
    component,
    componentWeergave: COMPONENTEN[component],
    scopes,
    ...(hasTypes(component) && {
      [TYPE_OF_COMPONENT[component]]: typeUuid ? link(base, TYPE_OF_COMPONENT[component], typeUuid) : typeUrl,
    }),
    ...(hasMax(component) && { maxVertrouwelijkheidaanduiding: max ?? '' }),
  }
}

/** A right on a whole catalogue as clients see it. */
export function toCatalogusAutorisatie(
  { component, catalogusUuid, type, scopes, max }: CatalogusRight,
  base: string,
): Static<typeof CatalogusAutorisatie> {
  return {
    component,
    catalogus: link(base, 'catalogus', catalogusUuid),
    type,
    scopes,
    ...(hasMax(component) && { maxVertrouwelijkheidaanduiding: max ?? '' }),
  }
}

// ---- what was sent ----

/**
 * A type of ours becomes its uuid, and the URL of one elsewhere stays.
 * @throws Problem 400 for a type of ours that does not exist; what is stored already may stay
 */
export async function readRights(
  m: Mutation,
  rows: Static<typeof AutorisatieInput>[],
  stored: Right[] = [],
): Promise<Right[]> {
  const rechten = rows.map((row): Right => {
    const { component, scopes, maxVertrouwelijkheidaanduiding: max } = row
    const typeUrl = hasTypes(component) ? (row[TYPE_OF_COMPONENT[component]] ?? '') : ''
    return {
      component,
      scopes,
      typeUrl,
      typeUuid: (hasTypes(component) && localUuid(typeUrl, m.actor.base, TYPE_OF_COMPONENT[component])) || null,
      max: hasMax(component) ? max || null : null,
    }
  })
  throwFaults(await typeFaults(m, rechten, stored))
  return rechten
}

async function typeFaults(m: Mutation, rechten: Right[], stored: Right[]): Promise<InvalidParam[]> {
  const typeOf = ({ component, typeUuid, typeUrl }: Right) => `${component} ${typeUuid ?? typeUrl}`
  const kept = new Set(stored.map(typeOf))
  const isOurs = ({ typeUrl }: Right) => typeUrl !== '' && resolveLink(typeUrl, m.actor.base).kind !== 'elsewhere'
  const asked = new Set(rechten.filter((recht) => isOurs(recht) && !kept.has(typeOf(recht))))
  if (asked.size === 0) return []
  const uuids = [...new Set([...asked].flatMap(({ typeUuid }) => typeUuid ?? []))]
  const { rows } = await sql<{ type: string }>`
    select component || ' ' || uuid as type from autorisatie_type where uuid = any(${uuids}::uuid[])`.execute(m.read)
  const known = new Set(rows.map(({ type }) => type))
  return rechten.flatMap((recht, index) => {
    const { component } = recht
    if (!hasTypes(component) || !asked.has(recht) || known.has(typeOf(recht))) return []
    const type = TYPE_OF_COMPONENT[component]
    return { name: `autorisaties.${index}.${type}`, code: 'bad-url', reason: `Dit ${type} bestaat hier niet.` }
  })
}

/** @throws Problem 400 for a catalogue or a type that does not exist; what is stored already may stay */
export async function readCatalogusRights(
  m: Mutation,
  rows: Static<typeof CatalogusAutorisatie>[],
  stored: CatalogusRight[],
): Promise<CatalogusRight[]> {
  const placeOf = (one: { component: string; catalogusUuid: string | null; type: string }) =>
    JSON.stringify([one.component, one.catalogusUuid, one.type])
  const kept = new Set(stored.map(placeOf))
  const rechten = rows.map(({ component, catalogus, type = '', scopes, maxVertrouwelijkheidaanduiding }) => ({
    component,
    catalogusUuid: localUuid(catalogus, m.actor.base, 'catalogus') ?? null,
    type,
    scopes,
    max: hasMax(component) ? maxVertrouwelijkheidaanduiding || null : null,
  }))
  const asked = rechten.flatMap((one, index) => (kept.has(placeOf(one)) ? [] : { ...one, index }))
  if (asked.length > 0) throwFaults(await placeFaults(m, asked))
  return rechten.map(({ catalogusUuid, ...one }) => ({ ...one, catalogusUuid: catalogusUuid ?? '' }))
}

type Place = { index: number; component: TypedComponent; catalogusUuid: string | null; type: string }

/** A right names a catalogue of ours, and a type in it. */
async function placeFaults(m: Mutation, places: Place[]): Promise<InvalidParam[]> {
  const { rows } = await sql<{ index: number; isCatalogus: boolean; isType: boolean }>`
    select p.index, c.id is not null as "isCatalogus", p.type = '' or exists (select from autorisatie_type t
        where t.component = p.component and t.catalogus_id = c.id and t.key = p.type) as "isType"
    from jsonb_to_recordset(${json(places)}) as p(index integer, component text, "catalogusUuid" uuid, type text)
    left join catalogus c on c.uuid = p."catalogusUuid" order by p.index`.execute(m.read)
  return rows.flatMap(({ index, isCatalogus, isType }) => {
    const name = `catalogusAutorisaties.${index}`
    if (!isCatalogus) return { name: `${name}.catalogus`, code: 'bad-url', reason: 'Deze catalogus bestaat hier niet.' }
    return isType
      ? []
      : { name: `${name}.type`, code: 'does_not_exist', reason: 'Dit type bestaat niet in de catalogus.' }
  })
}

const keyOf = ({ component, scopes, typeUrl, typeUuid, max }: Right) =>
  JSON.stringify([component, [...scopes].sort(), typeUuid ?? typeUrl, max])

/** The rights of which all rows came back; one without rows at this moment cannot be left out, and stays. */
export function sentBack<R extends EffectiveRight>(stored: R[], sent: Right[]): R[] {
  const keys = new Set(sent.map(keyOf))
  return stored.filter((right) => implied(right).every((row) => keys.has(keyOf(row))))
}

/** `rows` less those that are implied, each as often as it is. */
export function without(rows: Right[], implications: Right[]): Right[] {
  const left = new Map<string, number>()
  for (const row of implications) left.set(keyOf(row), (left.get(keyOf(row)) ?? 0) + 1)
  return rows.filter((row) => {
    const times = left.get(keyOf(row)) ?? 0
    if (times > 0) left.set(keyOf(row), times - 1)
    return times === 0
  })
}

const SCOPE_PREFIX: Record<TypedComponent, string> = { zrc: 'zaken.', drc: 'documenten.', brc: 'besluiten.' }

/** ac-003: a scope on objects says for which type, and up to which confidentiality. */
export function incompleteRights(input: Rights): InvalidParam[] {
  const faults: InvalidParam[] = []
  const require = (name: string, value: string | undefined) => {
    if (!value) faults.push({ name, code: 'required', reason: 'Dit veld is verplicht bij deze scopes.' })
  }
  for (const [index, row] of (input.autorisaties ?? []).entries()) {
    const { component } = row
    if (!hasTypes(component) || !row.scopes.some((scope) => scope.startsWith(SCOPE_PREFIX[component]))) continue
    const field = TYPE_OF_COMPONENT[component]
    require(`autorisaties.${index}.${field}`, row[field])
    if (hasMax(component))
      require(`autorisaties.${index}.maxVertrouwelijkheidaanduiding`, row.maxVertrouwelijkheidaanduiding)
  }
  for (const [index, row] of (input.catalogusAutorisaties ?? []).entries()) {
    if (hasMax(row.component) && row.scopes.some((scope) => scope.startsWith(SCOPE_PREFIX[row.component])))
      require(`catalogusAutorisaties.${index}.maxVertrouwelijkheidaanduiding`, row.maxVertrouwelijkheidaanduiding)
  }
  return faults
}

// ---- rows ----

/** Replaces all rights for types of the applicatie, in this order. Judges nothing. */
export async function writeRights(m: Mutation, applicatieId: number, rechten: Right[]): Promise<void> {
  await m.trx.deleteFrom('autorisatie').where('applicatieId', '=', applicatieId).execute()
  if (rechten.length === 0) return
  await sql`insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
    select ${applicatieId}, r.component, array(select jsonb_array_elements_text(r.scopes)), r."typeUrl", r."typeUuid", r.max
    from rows from (jsonb_to_recordset(${json(rechten)}) as (component text, scopes jsonb, "typeUrl" text, "typeUuid" uuid,
      max vertrouwelijkheidaanduiding)) with ordinality as r(component, scopes, "typeUrl", "typeUuid", max, volgnummer)
    order by r.volgnummer`.execute(m.trx)
}

/** Replaces all rights for catalogues of the applicatie, in this order. Judges nothing. */
export async function writeCatalogusRights(
  m: Mutation,
  applicatieId: number,
  rechten: CatalogusRight[],
): Promise<void> {
  await m.trx.deleteFrom('catalogusAutorisatie').where('applicatieId', '=', applicatieId).execute()
  if (rechten.length === 0) return
  await sql`insert into catalogus_autorisatie (applicatie_id, component, catalogus_id, type, scopes, max_vertrouwelijkheidaanduiding)
    select ${applicatieId}, r.component, c.id, r.type, array(select jsonb_array_elements_text(r.scopes)), r.max
    from rows from (jsonb_to_recordset(${json(rechten)}) as (component text, "catalogusUuid" uuid, type text, scopes jsonb,
      max vertrouwelijkheidaanduiding)) with ordinality as r(component, "catalogusUuid", type, scopes, max, volgnummer)
    left join catalogus c on c.uuid = r."catalogusUuid" order by r.volgnummer`.execute(m.trx)
}
