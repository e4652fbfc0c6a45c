// history: what happened to a case or a document, as sentences, with the difference behind each.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Packed, unpack } from '../../core/audit-contents.ts'
import type { ReadDb } from '../../database/database.ts'
import { weigh } from '../../http/expand.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import type { Kind } from '../../zaken/expand.ts'
import { localeOf, t, words } from '../language/language.ts'
import { formatDate, moment } from './format.ts'
import type { KeysetPage } from './keyset-list.ts'
import { keysetByNumber, maskBsn, visible } from './lookup.ts'

export type Change = { field: string; before: string; after: string }
export type Event = {
  id: number
  /** `Status gezet op Ontvangen` */
  sentence: string
  actie: string
  resource: string
  weergave: string
  who: string
  at: string
  /** As who did it said, if he did. */
  why: string
  fields: Change[]
}
type State = Record<string, unknown>
type Row = Omit<Event, 'fields' | 'sentence'> & { oud: State | null; nieuw: State | null }
/** What the uuids in addresses stand for. */
type Names = ReadonlyMap<string, string>

/** A page of the audit trail of a main object, newest first. */
export async function historyOf(
  app: FastifyInstance,
  request: FastifyRequest,
  uuid: string,
  size = 20,
): Promise<KeysetPage<Event>> {
  const { rows: found, ...list } = await keysetByNumber<Omit<Row, 'oud' | 'nieuw'> & Packed>(request, app.read, {
    size,
    select: sql`select a.id, a.actie, a.resource, a.resource_weergave as weergave, a.aanmaakdatum as at, left(a.toelichting, 1000) as why, a.packed, a.made,
      a.hoofd_object_uuid as "hoofdObjectUuid", a.resource_uuid as "resourceUuid",
      concat_ws(', ', nullif(coalesce(nullif(a.gebruikers_weergave, ''), a.gebruikers_id), ''), nullif(a.applicatie_weergave, '')) as who
      from audit a`,
    id: sql`a.id`,
    conditions: [sql`a.hoofd_object_uuid = ${uuid}`],
  })
  const known = found.map(({ packed, made, hoofdObjectUuid, resourceUuid, ...row }): Row => {
    const { oud, nieuw } = unpack(app.parts.box.numbers, { packed, made, hoofdObjectUuid, resourceUuid })
    return { ...row, oud: oud as State | null, nieuw: nieuw as State | null }
  })
  const names = await namesIn(app.read, request, known)
  const rows = known.map(({ oud, nieuw, ...row }) => ({
    ...row,
    sentence: sentence({ ...row, oud, nieuw }, names),
    fields: changedFields(oud, nieuw, names),
  }))
  return { ...list, rows }
}

const UUIDS = new RegExp(`/(${UUID_PATTERN})(?:\\?|$)`)
const MOST_NAMES = 500

/** The names of what the rows point to, as far as the one who looks may see it. */
async function namesIn(
  db: ReadDb,
  request: FastifyRequest,
  rows: readonly { oud: unknown; nieuw: unknown }[],
): Promise<Names> {
  const uuids = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      const [, uuid] = UUIDS.exec(value) ?? []
      if (uuid && uuids.size < MOST_NAMES) uuids.add(uuid)
    } else if (value !== null && typeof value === 'object') Object.values(value).forEach(collect)
  }
  for (const { oud, nieuw } of rows) collect([oud, nieuw])
  if (uuids.size === 0) return new Map()
  const among = sql`any(${[...uuids]}::uuid[])`
  const { rows: found } = await sql<{ uuid: string; naam: string }>`
    select uuid, omschrijving as naam from zaaktype where uuid = ${among}
    union all select uuid, omschrijving from statustype where uuid = ${among}
    union all select uuid, omschrijving from resultaattype where uuid = ${among}
    union all select uuid, omschrijving from roltype where uuid = ${among}
    union all select uuid, naam from eigenschap where uuid = ${among}
    union all select uuid, omschrijving from informatieobjecttype where uuid = ${among}
    union all select uuid, omschrijving from besluittype where uuid = ${among}
    union all select uuid, identificatie from besluit where uuid = ${among}
    union all select s.uuid, coalesce(t.omschrijving, s.statustype_omschrijving) from status s
      left join statustype t on t.id = s.statustype_id where s.uuid = ${among}
    union all select r.uuid, coalesce(t.omschrijving, r.resultaattype_elsewhere ->> 'omschrijving') from resultaat r
      left join resultaattype t on t.id = r.resultaattype_id where r.uuid = ${among}
    union all select z.uuid, z.identificatie from zaak z
      where z.uuid = ${among} and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}
    union all select e.uuid, v.titel from enkelvoudiginformatieobject e
      join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
      where e.uuid = ${among} and ${visible(request, sql`e.vertrouwelijkheidaanduiding`)}`.execute(db)
  return new Map(found.map(({ uuid, naam }) => [uuid, naam]))
}

function nameAt(value: unknown, names: Names): string | undefined {
  const [, uuid] = (typeof value === 'string' && UUIDS.exec(value)) || []
  return uuid && names.get(uuid)
}

// ---- sentences ----

/** What the standard's resources are called in a sentence; all that hangs on a case is among them. */
export const NOUNS: Record<string, string> = words({
  applicatie: 'Applicatie',
  catalogus: 'Catalogus',
  zaaktype: 'Zaaktype',
  informatieobjecttype: 'Documenttype',
  besluittype: 'Besluittype',
  zaak: 'Zaak',
  status: 'Status',
  resultaat: 'Resultaat',
  rol: 'Betrokkene',
  zaakinformatieobject: 'Document',
  zaakeigenschap: 'Eigenschap',
  zaakobject: 'Object',
  zaakbesluit: 'Besluit',
  klantcontact: 'Klantcontact',
  zaakcontactmoment: 'Contactmoment',
  zaakverzoek: 'Verzoek',
  zaaknotitie: 'Notitie',
  substatus: 'Substatus',
  enkelvoudiginformatieobject: 'Document',
  gebruiksrechten: 'Gebruiksrechten',
  objectinformatieobject: 'Koppeling',
  verzending: 'Verzending',
  besluit: 'Besluit',
  besluitinformatieobject: 'Document bij besluit',
} satisfies Record<Kind, string> & Record<string, string>)
const DONE: Record<string, string> = words({
  create: 'toegevoegd',
  update: 'gewijzigd',
  partial_update: 'gewijzigd',
  destroy: 'verwijderd',
})

/** `Status gezet op Ontvangen` */
export function sentence(row: Pick<Row, 'actie' | 'resource' | 'weergave' | 'oud' | 'nieuw'>, names: Names): string {
  const { actie, resource, weergave, oud, nieuw } = row
  const state = nieuw ?? oud ?? {}
  const done = DONE[actie] ?? actie
  const noun = NOUNS[resource] ?? resource
  const label = weergave.replace(/^\(.*?\) - /, '')
  const made = actie === 'create'
  switch (resource) {
    case 'zaak':
    case 'enkelvoudiginformatieobject':
    case 'besluit':
      return made ? t`${noun} aangemaakt` : actie === 'destroy' ? t`${noun} verwijderd` : changeSentence(row)
    case 'status': {
      // Of a statustype elsewhere the status itself keeps the name.
      const name = nameAt(state.statustype, names) ?? nameAt(state.url, names) ?? atOther(state.statustype, 'status')
      return made ? t`Status gezet op ${name}` : t`Status ${name} ${done}`
    }
    case 'resultaat': {
      const name = nameAt(state.resultaattype, names) ?? nameAt(state.url, names) ?? label
      return made ? t`Resultaat vastgelegd: ${name}` : t`Resultaat ${name} ${done}`
    }
    case 'rol':
      return t`${personOf(state) ?? t('Betrokkene')} ${done} als ${String(state.omschrijving || label).toLowerCase()}`
    case 'zaakinformatieobject':
    case 'besluitinformatieobject':
      return `${noun} “${nameAt(state.informatieobject, names) ?? label}” ${actie === 'destroy' ? t('losgekoppeld') : done}`
    case 'zaakeigenschap':
      return t`Eigenschap ${state.naam ?? label} ${made ? t`ingevuld: ${state.waarde}` : done}`
    case 'objectinformatieobject':
      return `${made ? t('Gekoppeld aan') : t('Losgekoppeld van')} ${state.objectType ?? t('object')} ${nameAt(state.object, names) ?? ''}`.trim()
    default:
      return `${noun} ${done}`
  }
}

/** What has no name any more: which service would know it. */
function atOther(url: unknown, noun: string): string {
  const host = URL.parse(String(url ?? ''))?.host
  return host ? t`een ${noun} van ${host}` : t`een ${noun}`
}

/** Whether events tell of the people of a case, or of those that a document was sent to. */
export const isAboutPeople = (events: readonly { resource: string }[]): boolean =>
  events.some(({ resource }) => ['rol', 'klantcontact', 'verzending'].includes(resource))

function changeSentence({ resource, oud, nieuw }: Pick<Row, 'resource' | 'oud' | 'nieuw'>): string {
  const [before, after] = [oud ?? {}, nieuw ?? {}]
  if (resource === 'zaak' && !before.einddatum && after.einddatum) return t('Zaak afgesloten')
  if (resource === 'zaak' && before.einddatum && !after.einddatum) return t('Zaak heropend')
  if (after.versie !== undefined && before.versie !== after.versie) return t`Versie ${after.versie} vastgelegd`
  if (before.locked !== after.locked) return after.locked ? t('Document vergrendeld') : t('Document ontgrendeld')
  const changed = [...new Set(changedFields(before, after, new Map()).map(({ field }) => field.replace(/:.*/s, '')))]
  if (changed.length === 0) return t`${NOUNS[resource]} opgeslagen zonder wijziging`
  const [first, ...rest] = changed.slice(0, 3)
  const named = [first, ...rest.map((name) => name.toLowerCase())]
  const more = changed.length - named.length
  const list =
    more > 0 ? t`${named.join(', ')} en nog ${more}` : new Intl.ListFormat(localeOf()).format(named as string[])
  return t`${list} gewijzigd`
}

/** Who a rol is about: a name, or the last digits of a number. */
function personOf(rol: State): string | undefined {
  const who = (rol.betrokkeneIdentificatie ?? {}) as Record<string, string | undefined>
  const parts = [
    who.voornamen || who.voorletters,
    who.voorvoegselGeslachtsnaam || who.voorvoegselAchternaam,
    who.geslachtsnaam || who.achternaam || who.statutaireNaam || who.naam,
  ]
  const name = parts.filter(Boolean).join(' ')
  if (rol.afwijkendeNaamBetrokkene) return String(rol.afwijkendeNaamBetrokkene)
  if (name) return name
  if (who.inpBsn) return t`BSN ${maskBsn(who.inpBsn)}`
  return who.identificatie || who.innNnpId || undefined
}

// ---- differences ----

/** What says nothing to who reads the history: addresses, and what follows from other changes. */
const LEFT_OUT = new Set([
  'url',
  'uuid',
  'zaak',
  'laatstGemuteerd',
  'rollen',
  'zaakobjecten',
  'zaakinformatieobjecten',
  'eigenschappen',
  'deelzaken',
  'locked',
  'inhoud',
  'beginRegistratie',
  'indicatieLaatstGezetteStatus',
  'statussen',
])

/** What a change makes of a resource, in words. */
export async function changesBetween(
  db: ReadDb,
  request: FastifyRequest,
  oud: object,
  nieuw: object,
): Promise<Change[]> {
  return changedFields(oud, nieuw, await namesIn(db, request, [{ oud, nieuw }]))
}

/** Field by field what is not the same before and after, in words. */
export function changedFields(oud: unknown, nieuw: unknown, names: Names): Change[] {
  const [before, after] = [flatten(oud, names), flatten(nieuw, names)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const [from, to] = [before.get(field) ?? '', after.get(field) ?? '']
    return from === to ? [] : [{ field, before: shown(from), after: shown(to) }]
  })
}

/** What is larger is told by its size: as a map of a thousand points, or a list that a program left. */
const MOST_WEIGHT = 10_000
const MOST_SHOWN = 2000
/** Before the JSON of what is told by its size; no text of the database holds it. */
const LARGE = '\0'

function shown(text: string): string {
  if (text.startsWith(LARGE)) return t`${Math.ceil(text.length / 1024)} kB aan gegevens`
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}

function flatten(state: unknown, names: Names): Map<string, string> {
  const fields = new Map<string, string>()
  const add = (value: unknown, label: string, key: string): void => {
    if (value === null || value === undefined || value === '') return
    if (typeof value === 'object' && weigh(value) > MOST_WEIGHT) fields.set(label, LARGE + JSON.stringify(value))
    else if (Array.isArray(value)) {
      if (value.every((one) => typeof one !== 'object'))
        fields.set(label, value.map((one) => asText(one, key, names)).join(', '))
      else for (const [place, one] of value.entries()) add(one, `${label} ${place + 1}`, key)
    } else if (typeof value === 'object') {
      for (const [name, part] of Object.entries(value))
        add(part, label ? `${label}: ${spaced(name)}` : capital(spaced(name)), name)
    } else fields.set(label, asText(value, key, names))
  }
  if (state !== null && typeof state === 'object' && !Array.isArray(state))
    for (const [name, value] of Object.entries(state)) if (!LEFT_OUT.has(name)) add(value, capital(spaced(name)), name)
  return fields
}

const SPECIAL: Record<string, string> = words({
  inpBsn: 'BSN',
  innNnpId: 'RSIN',
  anpIdentificatie: 'nummer',
  kvkNummer: 'KVK-nummer',
})
// Names may be those of a client: `constructor` is none of ours.
const spaced = (name: string) =>
  (Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined) ??
  name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function asText(value: unknown, key: string, names: Names): string {
  if (typeof value === 'boolean') return value ? t('ja') : t('nee')
  const text = String(value)
  if (/bsn|anpIdentificatie|a_nummer/i.test(key)) return maskBsn(text)
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return formatDate(text)
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) return moment(text)
  return nameAt(text, names) ?? (/^[a-z]+(_[a-z]+)+$/.test(text) ? text.replaceAll('_', ' ') : text)
}
