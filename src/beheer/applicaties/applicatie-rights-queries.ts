// What an application may do, as the pages show it, and what a right can be for.
import { type RawBuilder, sql } from 'kysely'
import type { Component } from '../../core/actor.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import type { Cursor } from '../frame/keyset-list.ts'
import { t } from '../language/language.ts'
import type { Applicatie } from './applicatie.ts'
import { COMPONENTEN, SCOPES, scopeInWords, TYPEN, VERTROUWELIJKHEID } from './applicatie-labels.ts'

type RightKind = 'type' | 'catalogus'

export type ShownRight = {
  id: number
  soort: RightKind
  component: Component
  scopes: string[]
  max: Vertrouwelijkheidaanduiding | null
  /** For which type, as the form sends it; empty: for none. */
  choice: string
  /** For which type, for people. */
  voor: string
}

const CATALOGUS = sql`coalesce(nullif(c.naam, ''), c.domein)`
// Joined apart: over a union of the three the planner looks at every version for every right.
const TYPE_OF_RIGHT = sql`
  left join zaaktype z on r.component = 'zrc' and z.uuid = r.type_uuid
  left join informatieobjecttype i on r.component = 'drc' and i.uuid = r.type_uuid
  left join besluittype b on r.component = 'brc' and b.uuid = r.type_uuid`
const NAME_OF_RIGHT = sql`coalesce(
    z.omschrijving || case when z.identificatie <> z.omschrijving then ' (' || z.identificatie || ')' else '' end,
    i.omschrijving, b.omschrijving)
  || ', versie vanaf ' || to_char(coalesce(z.begin_geldigheid, i.begin_geldigheid, b.begin_geldigheid), 'DD-MM-YYYY')`

/** The rights for one version of a type each, or for none, in the order of the API. */
export async function selectRights(
  db: ReadDb,
  applicatieId: number,
  { limit, na, voor, id }: Cursor & { limit?: number; id?: string } = {},
): Promise<ShownRight[]> {
  const [edge] = /^\d{1,15}$/.exec(voor ?? na ?? id ?? '') ?? []
  const sign = id !== undefined ? sql`=` : voor !== undefined ? sql`<` : sql`>`
  const place = edge === undefined ? sql`true` : sql`r.id ${sign} ${edge}`
  const { rows } = await sql<Omit<ShownRight, 'voor' | 'soort' | 'choice'> & TypeReference>`
    select r.id, r.component, r.scopes, r.max_vertrouwelijkheidaanduiding as max, r.type_url, r.type_uuid,
      ${NAME_OF_RIGHT} || ', catalogus ' || ${CATALOGUS} as naam
    from autorisatie r ${TYPE_OF_RIGHT}
    left join catalogus c on c.id = coalesce(z.catalogus_id, i.catalogus_id, b.catalogus_id)
    where r.applicatie_id = ${applicatieId} and ${place}
    order by ${voor === undefined ? sql`r.id` : sql`r.id desc`} ${limit === undefined ? sql`` : sql`limit ${limit}`}`.execute(
    db,
  )
  return rows.map(({ typeUrl, typeUuid, naam, ...right }) => ({
    ...right,
    soort: 'type',
    choice: typeUuid ? `t:${typeUuid}` : typeUrl ? `u:${typeUrl}` : '',
    voor: naam ?? (typeUuid ? t`een type dat niet meer bestaat (${typeUrl || typeUuid})` : typeUrl),
  }))
}
type TypeReference = { typeUrl: string; typeUuid: string | null; naam: string | null }

/** The rights for all types in a catalogue, or for all versions of one. */
export async function selectCatalogusRights(db: ReadDb, applicatieId: number): Promise<ShownRight[]> {
  const { rows } = await sql<
    Omit<ShownRight, 'voor' | 'soort' | 'choice'> & { uuid: string; type: string; catalogus: string }
  >`
    select k.id, k.component, k.scopes, k.max_vertrouwelijkheidaanduiding as max, c.uuid, k.type, ${CATALOGUS} as catalogus
    from catalogus_autorisatie k join catalogus c on c.id = k.catalogus_id
    where k.applicatie_id = ${applicatieId} order by k.id`.execute(db)
  return rows.map(({ uuid, type, catalogus, ...right }) => ({
    ...right,
    soort: 'catalogus',
    choice: `c:${uuid}:${type}`,
    voor: type
      ? t`${type}, alle versies, ook latere, catalogus ${catalogus}`
      : t`alle ${expected(TYPEN[right.component]).plural} in catalogus ${catalogus}, ook latere`,
  }))
}

const MAX_CHOICES = 100
/** Where versions of types are, and what those of one type have in common. */
const VERSION_QUERIES = {
  zrc: {
    tabel: sql.table('zaaktype'),
    sleutel: sql.ref('identificatie'),
    naam: sql`v.omschrijving || case when v.identificatie <> v.omschrijving then ' (' || v.identificatie || ')' else '' end`,
  },
  drc: { tabel: sql.table('informatieobjecttype'), sleutel: sql.ref('omschrijving'), naam: sql`v.omschrijving` },
  brc: { tabel: sql.table('besluittype'), sleutel: sql.ref('omschrijving'), naam: sql`v.omschrijving` },
}
type Choice = { value: string; name: string }
type ChoiceGroup = { catalogus: string; all: Choice; typen: (Choice & { versies: Choice[] })[] }

/** What a right can be for: the catalogues with their types, those that were chosen first. */
export async function selectChoices(
  db: ReadDb,
  component: Component,
  search: string,
  chosen: string[],
): Promise<{ groups: ChoiceGroup[]; loose: Choice[]; hasMore: boolean }> {
  const pattern = `%${search.replaceAll('\0', '').replace(/[%_\\]/g, '\\$&')}%`
  const { tabel, sleutel, naam } = VERSION_QUERIES[component as 'zrc']
  const catalogi = await sql<{ id: number; uuid: string; naam: string }>`
    select c.id, c.uuid, ${CATALOGUS} as naam from catalogus c order by 3, 1 limit 1000`.execute(db)
  const typen = await sql<{ catalogusId: number; sleutel: string; naam: string; versies: Version[] }>`
    with gevonden as (
      select v.catalogus_id, v.${sleutel} as sleutel, max(${naam}) as naam, bool_or(g.keuze is not null) as gekozen
      from ${tabel} v
      left join lateral (select keuze from unnest(${chosen}::text[]) keuze
        where keuze = 't:' || v.uuid
          or keuze = 'c:' || (select c.uuid from catalogus c where c.id = v.catalogus_id) || ':' || v.${sleutel}) g on true
      where v.omschrijving ilike ${pattern} or v.${sleutel} ilike ${pattern} or g.keuze is not null
      group by 1, 2 order by 4 desc, 3, 2 limit ${MAX_CHOICES + 1}
    )
    select t.catalogus_id, t.sleutel, t.naam, (
      select jsonb_agg(jsonb_build_object('uuid', v.uuid, 'vanaf', to_char(v.begin_geldigheid, 'DD-MM-YYYY'), 'concept', v.concept)
        order by v.begin_geldigheid desc, v.id desc)
      from ${tabel} v where v.catalogus_id = t.catalogus_id and v.${sleutel} = t.sleutel) as versies
    from gevonden t order by t.gekozen desc, t.naam, t.sleutel`.execute(db)
  const shown = typen.rows.slice(0, MAX_CHOICES)
  const groups = catalogi.rows.map(
    ({ id, uuid, naam }): ChoiceGroup => ({
      catalogus: naam,
      all: { value: `c:${uuid}:`, name: t`Alle ${expected(TYPEN[component]).plural}, ook die er later bij komen` },
      typen: shown
        .filter(({ catalogusId }) => catalogusId === id)
        .map(({ sleutel, naam: typeName, versies }) => ({
          value: `c:${uuid}:${sleutel}`,
          name: typeName,
          versies: versies.map((version) => ({
            value: `t:${version.uuid}`,
            name: t`Alleen de versie vanaf ${version.vanaf}${version.concept ? ` (${t('concept')})` : ''}`,
          })),
        })),
    }),
  )
  const offered = new Set(
    groups
      .flatMap(({ all, typen }) => [all, ...typen, ...typen.flatMap(({ versies }) => versies)])
      .map(({ value }) => value),
  )
  const loose = chosen
    .filter((value) => !offered.has(value))
    .map((value) => ({ value, name: value.replace(/^(u|t|c):/, '') }))
  return { groups, loose, hasMore: typen.rows.length > MAX_CHOICES }
}
type Version = { uuid: string; vanaf: string; concept: boolean }

const MAX_NAMED = 100

type RightsOfComponent = {
  name: string
  rechten: { allowed: string[]; voor: string[]; more: number; max: string | null; types: string | undefined }[]
  notNamed: string[]
}

/** Per component what an application may do: rights that differ only in the type stand together. */
export async function whatIsAllowed(db: ReadDb, { id }: Applicatie): Promise<RightsOfComponent[]> {
  const { rows } = await sql<{
    component: Component
    scopes: string[]
    max: Vertrouwelijkheidaanduiding | null
    voor: string[]
    count: number
  }>`
    with recht as (${allRights(id)})
    select component, scopes, max, count(*) as count, (array_agg(voor order by voor))[1:${sql.lit(MAX_NAMED)}] as voor
    from recht group by component, scopes, max order by component, count(*) desc`.execute(db)
  return (Object.keys(COMPONENTEN) as Component[]).map((component) => {
    const own = rows.filter((row) => row.component === component)
    const given = new Set(own.flatMap(({ scopes }) => scopes))
    return {
      name: COMPONENTEN[component],
      rechten: own.map(({ scopes, max, voor, count }) => ({
        allowed: scopes.map((scope) => scopeInWords(component, scope)),
        voor: voor.filter((text) => text !== ''),
        more: Math.max(0, count - MAX_NAMED),
        max: max && VERTROUWELIJKHEID[max],
        types: TYPEN[component]?.plural,
      })),
      notNamed: SCOPES[component].filter(([scope]) => !given.has(scope)).map(([, words]) => words),
    }
  })
}

/** All rights with the order of their scopes made equal, and a text for what they are for. */
function allRights(id: number): RawBuilder<unknown> {
  const scopes = (column: RawBuilder<unknown>) => sql`array(select distinct s from unnest(${column}) s order by s)`
  return sql`
    select r.component, ${scopes(sql`r.scopes`)} as scopes, r.max_vertrouwelijkheidaanduiding as max,
      coalesce(${NAME_OF_RIGHT}, nullif(r.type_url, ''),
        case when r.type_uuid is not null then 'een type dat niet meer bestaat' end, '') as voor
    from autorisatie r ${TYPE_OF_RIGHT}
    where r.applicatie_id = ${id}
    union all
    select k.component, ${scopes(sql`k.scopes`)}, k.max_vertrouwelijkheidaanduiding,
      case k.type when '' then 'alle typen in catalogus ' || ${CATALOGUS} || ', ook latere'
        else k.type || ', alle versies, ook latere (catalogus ' || ${CATALOGUS} || ')' end
    from catalogus_autorisatie k join catalogus c on c.id = k.catalogus_id where k.applicatie_id = ${id}`
}

/** The client ids that have no secret which is valid now. */
export async function selectSecrets(db: ReadDb, applicatieId: number): Promise<{ withoutSecret: string[] }> {
  const { rows } = await sql<{ clientId: string }>`
    select c.client_id from applicatie_client c where c.applicatie_id = ${applicatieId} and not exists (
      select from applicatie_secret g where g.client_id = c.client_id and (g.expires_at is null or g.expires_at > now()))
    order by 1`.execute(db)
  return { withoutSecret: rows.map(({ clientId }) => clientId) }
}
