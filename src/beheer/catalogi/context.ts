// What the pages of the catalogue read before they show or change something: a version, its state in words, and choices.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { loadResources } from '../../catalogi/loaders.ts'
import { type Hoofdtype, TYPE_KEY, validOn } from '../../catalogi/versions.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { link } from '../../http/links.ts'
import { today } from '../../lib/day.ts'
import { formatDate } from '../frame/format.ts'
import { uuidParam } from '../frame/lookup.ts'
import type { Crumb } from '../frame/page.ts'
import { t, words } from '../language/language.ts'
import type { Choice } from './fields.ts'

export const viewing = { access: 'beheer', rol: 'viewer' } as const
export const administering = { access: 'beheer', rol: 'administrator' } as const

/** The types that are published on their own, as the pages name them. */
export const TYPES = words(
  {
    zaaktypen: { type: 'zaaktype', path: 'zaaktypen', name: 'Zaaktypen', one: 'Zaaktype', the: 'het zaaktype' },
    informatieobjecttypen: {
      type: 'informatieobjecttype',
      path: 'informatieobjecttypen',
      name: 'Documenttypen',
      one: 'Documenttype',
      the: 'het documenttype',
    },
    besluittypen: {
      type: 'besluittype',
      path: 'besluittypen',
      name: 'Besluittypen',
      one: 'Besluittype',
      the: 'het besluittype',
    },
  } as const,
  'name',
  'one',
  'the',
)
export type TypePath = keyof typeof TYPES
export type TypeInfo = (typeof TYPES)[TypePath]
/** How the pages name and address a kind of type. @throws Error for a kind that they do not show */
export const infoOf = (type: Hoofdtype): TypeInfo => expected(Object.values(TYPES).find((info) => info.type === type))

/** One version of a type, and the catalogue that it is in. */
export type Version = {
  id: number
  uuid: string
  type: Hoofdtype
  key: string
  omschrijving: string
  concept: boolean
  begin: string
  einde: string | null
  catalogusId: number
  catalogus: string
  catalogusNaam: string
  state: State
  /** As the API shows it, with members of a zaaktype that pages look at. */
  resource: Record<string, unknown> & { url: string } & {
    selectielijstProcestype?: string
    servicenorm?: string | null
    doorlooptijd?: string
  }
}
export type State = { kind: 'concept' | 'toekomst' | 'geldig' | 'verlopen'; text: string; look: string }

/** A day so many days later, or earlier. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** What a version is today, in words. */
export function stateOf(version: { concept: boolean; begin: string; einde: string | null }, day = today()): State {
  const { concept, begin, einde } = version
  if (concept) return { kind: 'concept', text: t('Concept'), look: 'let-op' }
  if (begin > day) return { kind: 'toekomst', text: t`Gepubliceerd, geldig vanaf ${formatDate(begin)}`, look: 'bezig' }
  if (einde && einde < day)
    return { kind: 'verlopen', text: t`Verlopen sinds ${formatDate(addDays(einde, 1))}`, look: 'oud' }
  return { kind: 'geldig', text: t('Geldig'), look: 'goed' }
}

/** The version in the address of a page. @throws Problem 404 */
export async function requireVersion(
  app: FastifyInstance,
  request: FastifyRequest,
  type: Hoofdtype,
  uuid = uuidParam(request),
): Promise<Version> {
  const version = await findVersion(app.read, request.base, type, uuid)
  if (!version) throw notFound(t`${infoOf(type).one} niet gevonden.`)
  return version
}

/** A resource with its relations by the names of the types, as the forms have them, and not by the URLs of versions. */
export function withNames<R extends object>(resource: R): R {
  const named = { ...resource } as Record<string, unknown>
  for (const [names, member] of RELATIONS) if (named[names]) named[member] = [...new Set(named[names] as string[])]
  return named as R
}
const RELATIONS = [
  ['besluittypeOmschrijving', 'besluittypen'],
  ['informatieobjecttypeOmschrijving', 'informatieobjecttypen'],
  ['informatieobjecttypeOmschrijvingen', 'informatieobjecttypen'],
  ['deelzaaktypeIdentificaties', 'deelzaaktypen'],
] as const

/** With its fields as the API shows them; undefined when there is none. */
export async function findVersion(
  db: ReadDb,
  base: string,
  type: Hoofdtype,
  uuid: string,
): Promise<Version | undefined> {
  const { rows } = await sql<Omit<Version, 'type' | 'state' | 'resource'>>`
    select t.id, t.uuid, t.${sql.raw(TYPE_KEY[type])} as key, t.omschrijving, t.concept, t.begin_geldigheid as begin,
      t.einde_geldigheid as einde, c.id as "catalogusId", c.uuid as catalogus,
      coalesce(nullif(c.naam, ''), 'Catalogus ' || c.domein) as "catalogusNaam"
    from ${sql.table(type)} t join catalogus c on c.id = t.catalogus_id where t.uuid = ${uuid}`.execute(db)
  const row = rows[0]
  const [resource] = row ? await loadResources(type, db, base, [uuid], null) : []
  return row && resource ? { ...row, type, state: stateOf(row), resource: withNames(resource) } : undefined
}

/**
 * Holds a version until the change is made, so that it is not published meanwhile.
 * @param concept whether the page took it for a concept
 * @throws Problem 404, or 409 when it was published since the page was made
 */
export async function holdVersion(m: Mutation, type: Hoofdtype, uuid: string, concept: boolean): Promise<Version> {
  await sql`select 1 from ${sql.table(type)} where uuid = ${uuid} for update`.execute(m.trx)
  const version = await findVersion(m.read, m.actor.base, type, uuid)
  if (!version) throw notFound(t`${infoOf(type).one} is intussen verwijderd.`)
  if (version.concept !== concept)
    throw new Problem(409, {
      detail: t`Iemand heeft ${infoOf(type).the} intussen gepubliceerd. Er is niets gewijzigd; ververs de pagina om te zien wat nog kan.`,
    })
  return version
}

/** Of a page that says what is fixed: asking for it is no fault, and sending a change is. */
export const fixedStatus = ({ method }: FastifyRequest) => (method === 'GET' || method === 'HEAD' ? 200 : 409)

/** Its page, below `/beheer`. */
export const pathOf = ({ type, uuid }: { type: Hoofdtype; uuid: string }) => `/catalogi/${infoOf(type).path}/${uuid}`
/** A besluittype may do without an omschrijving, and is then called by its kind. */
export const titleOf = ({ omschrijving, type }: Version) => omschrijving || infoOf(type).one

export function crumbsOf(version: Version, more: Crumb[] = []): Crumb[] {
  return [...catalogusCrumbs(version), { path: pathOf(version), name: titleOf(version) }, ...more]
}
export const catalogusCrumbs = ({
  catalogus,
  catalogusNaam,
}: {
  catalogus: string
  catalogusNaam: string
}): Crumb[] => [
  { path: '/catalogi', name: t('Catalogi') },
  { path: `/catalogi/${catalogus}`, name: catalogusNaam },
]

/**
 * The types in a catalogue as choices by name, which a relation then follows from version to version; concepts say so.
 */
export async function typeChoices(db: ReadDb, base: string, type: Hoofdtype, catalogusId: number): Promise<Choice[]> {
  const key = sql.raw(TYPE_KEY[type])
  const { rows } = await sql<{ uuid: string; omschrijving: string; key: string; concept: boolean }>`
    select s.uuid, s.omschrijving, s.key, s.concept from (
      select distinct on (case when t.${key} = '' then t.uuid::text else t.${key} end)
        t.uuid, t.omschrijving, t.${key} as key, t.concept
      from ${sql.table(type)} t where t.catalogus_id = ${catalogusId}
      order by case when t.${key} = '' then t.uuid::text else t.${key} end, t.concept, ${validOn('t.', null)} desc,
        t.begin_geldigheid desc, t.id desc) s
    order by lower(s.omschrijving), s.key limit 2000`.execute(db)
  return rows.map(({ uuid, omschrijving, key: own, concept }) => [
    own || link(base, type, uuid),
    (type === 'zaaktype' ? `${omschrijving} (${own})` : omschrijving || t('zonder omschrijving')) +
      (concept ? ` – ${t('concept')}` : ''),
  ])
}

/** The statustypen of a zaaktype in order, as choices with their URL. */
export async function statusChoices(db: ReadDb, base: string, zaaktypeId: number): Promise<Choice[]> {
  const rows = await db
    .selectFrom('statustype')
    .where('zaaktypeId', '=', zaaktypeId)
    .select(['uuid', 'omschrijving'])
    .orderBy('volgnummer')
    .execute()
  return rows.map(({ uuid, omschrijving }, place) => [link(base, 'statustype', uuid), `${place + 1}. ${omschrijving}`])
}
