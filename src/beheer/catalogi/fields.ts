// Fields of the forms of the catalogue: what is asked, how it is read into a body of the API, and how a value reads back.

import type { TSchema } from 'typebox'
import { isUrl } from '../../catalogi/related-types.ts'
import type { InvalidParam } from '../../core/problem.ts'
import { lastOf } from '../../database/rows.ts'
import type { FormValues } from '../frame/form.ts'
import { formatDate } from '../frame/format.ts'
import { t, words } from '../language/language.ts'
import { durationFields, durationInWords, readDuration } from './duration.ts'

export type Choice = readonly [value: string, text: string, help?: string]
export type Field = {
  /** Member of the API, with dots where it is in a group: `referentieproces.naam`. */
  name: string
  label: string
  help?: string
  /**
   * Left out: one line of text. `lines` is a list of texts, one on a line; `checks` a list of choices; `related` rows that each
   * name another zaaktype, of `choices` or elsewhere.
   */
  kind?:
    | 'long'
    | 'select'
    | 'radio'
    | 'yesno'
    | 'check'
    | 'checks'
    | 'lines'
    | 'duration'
    | 'date'
    | 'number'
    | 'url'
    | 'email'
    | 'checklist'
    | 'related'
  choices?: readonly Choice[]
  optional?: boolean
  max?: number
  suggestions?: readonly string[]
  /** Only of use while another field has one of these values. */
  when?: { name: string; values: readonly string[] }
  /** Empty is null in the API, not `''`. */
  nullable?: boolean
  /** May still be changed when the type is published: nothing is computed with it. */
  correctable?: boolean
  /** What to say, and where to go, while there is nothing to choose from. */
  none?: { text: string; path: string }
  /** Attributes of its own for the options, for the script: by value of the choice. */
  data?: Record<string, Record<string, string>>
}
export type Group = { key: string; title: string; help?: string; fields: Field[]; folded?: boolean }
type Member = { maxLength?: number; enum?: unknown[]; items?: Member; properties?: Record<string, Member> }

/**
 * Gives each field the length that the schema of the API has for it, so that a form asks no more and no less.
 * @throws Error at the start when a form offers a choice that the schema does not have
 */
export function boundedBy(schema: TSchema, groups: Group[]): Group[] {
  for (const field of groups.flatMap(({ fields }) => fields)) {
    let member: Member | undefined = schema as Member
    for (const part of field.name.split('.')) member = member?.properties?.[part]
    const { maxLength, enum: allowed } = member?.items ?? member ?? {}
    if (maxLength !== undefined) field.max = maxLength
    const unknown = allowed && field.choices?.find(([value]) => value !== '' && !allowed.includes(value))
    if (unknown) throw new Error(`${field.name} cannot be ${unknown[0]}`)
  }
  return groups
}

/** What the inputs of a form hold, by their names. */
export type Values = Record<string, string | string[]>

type Resource = Record<string, unknown>

// ---- from the API to the form ----

/** What the inputs hold for a resource of the API. */
export function valuesOf(fields: readonly Field[], resource: object): Values {
  const values: Values = {}
  for (const field of fields) {
    const value = memberOf(resource, field.name)
    switch (field.kind) {
      case 'duration': {
        const { amount, unit } = durationFields(value as string | null)
        values[`${field.name}.aantal`] = amount
        values[`${field.name}.eenheid`] = unit
        break
      }
      case 'checks':
        values[field.name] = ((value as string[] | undefined) ?? []).map(String)
        break
      case 'lines':
        values[field.name] = ((value as string[] | undefined) ?? []).join('\n')
        break
      case 'checklist':
        values[field.name] = ((value as ChecklistItem[] | undefined) ?? []).map(checklistLine).join('\n')
        break
      case 'related': {
        const rows = (value as Related[] | undefined) ?? []
        const known = (one: Related) => field.choices?.some(([key]) => key === one.zaaktypeIdentificatie)
        values[`${field.name}.type`] = rows.map((one) => (known(one) ? (one.zaaktypeIdentificatie ?? '') : ''))
        values[`${field.name}.adres`] = rows.map((one) => (known(one) ? '' : one.zaaktype))
        values[`${field.name}.aard`] = rows.map(({ aardRelatie }) => aardRelatie)
        values[`${field.name}.uitleg`] = rows.map(({ toelichting }) => toelichting ?? '')
        break
      }
      case 'yesno':
        values[field.name] = value === true ? 'ja' : value === false ? 'nee' : ''
        break
      case 'check':
        values[field.name] = value === true ? 'true' : ''
        break
      default:
        values[field.name] = value === null || value === undefined ? '' : String(value)
    }
  }
  return values
}

/** What somebody sent, by the same names. */
export function submitted(fields: readonly Field[], body: unknown): Values {
  const form = (body ?? {}) as FormValues
  const one = (name: string) =>
    String([form[name]].flat().at(-1) ?? '')
      .replaceAll('\0', '')
      .toWellFormed()
  const list = (name: string) =>
    [form[name] ?? []].flat().map((value) => String(value).replaceAll('\0', '').toWellFormed().trim())
  const values: Values = {}
  for (const field of fields) {
    const { name, kind } = field
    if (kind === 'duration') for (const part of namesOf(field)) values[part] = one(part).trim()
    else if (kind === 'related') {
      const columns = namesOf(field).map(list)
      const [types = [], addresses = [], , notes = []] = columns
      const filled = types.flatMap((type, row) => (type || addresses[row] || notes[row] ? row : []))
      for (const [place, part] of namesOf(field).entries())
        values[part] = filled.map((row) => columns[place]?.[row] ?? '')
    } else if (kind === 'checks') values[name] = [form[name] ?? []].flat().filter((value) => value !== '')
    else values[name] = one(name).replaceAll('\r\n', '\n').trim()
  }
  return values
}

// ---- from the form to the API ----

/**
 * The members of a body of the API that the inputs stand for.
 * @returns with what cannot be read or lacks, per field; the API checks the rest
 */
export function toBody(fields: readonly Field[], values: Values): { body: Resource; faults: InvalidParam[] } {
  const body: Resource = {}
  const faults: InvalidParam[] = []
  for (const field of fields) {
    const applies = isAsked(field, values)
    const { value, fault } = applies ? readField(field, values) : { value: emptyValue(field), fault: undefined }
    if (fault) faults.push({ name: field.name, code: 'invalid', reason: fault })
    setMember(body, field.name, value)
  }
  return { body, faults }
}

/** The names of the inputs of a field. */
export function namesOf({ name, kind }: Field): string[] {
  if (kind === 'duration') return [`${name}.aantal`, `${name}.eenheid`]
  if (kind === 'related') return [`${name}.type`, `${name}.adres`, `${name}.aard`, `${name}.uitleg`]
  return [name]
}

/** Some fields are asked only when another has a certain value. */
export const isAsked = ({ when }: Field, values: Values) =>
  !when || when.values.includes(String(values[when.name] ?? ''))

function readField(field: Field, values: Values): { value: unknown; fault?: string } {
  if (field.kind === 'related') return readRelated(field, values)
  const text = field.kind === 'duration' ? String(values[`${field.name}.aantal`] ?? '') : values[field.name]
  const empty = text === undefined || text.length === 0
  if (empty && !field.optional && !['check', 'checks', 'lines', 'checklist'].includes(field.kind ?? '')) {
    const choose = ['select', 'radio', 'yesno'].includes(field.kind ?? '')
    return { value: emptyValue(field), fault: choose ? t('Kies een van de mogelijkheden.') : t('Vul dit in.') }
  }
  if (field.max !== undefined && typeof text === 'string' && [...text].length > field.max && field.kind !== 'lines')
    return { value: text, fault: t`Gebruik ten hoogste ${field.max} tekens; het zijn er nu ${[...text].length}.` }
  switch (field.kind) {
    case 'duration': {
      const value = readDuration(String(text), String(values[`${field.name}.eenheid`] ?? 'D'))
      if (value !== undefined) return { value }
      return { value: null, fault: t('Vul een heel getal in en kies een eenheid, of schrijf “1 jaar en 6 maanden”.') }
    }
    case 'checks':
      return { value: text }
    case 'lines': {
      const lines = linesOf(String(text))
      const { max = Number.POSITIVE_INFINITY } = field
      const long = lines.find((line) => [...line].length > max)
      return long === undefined
        ? { value: lines }
        : { value: lines, fault: t`Gebruik per regel ten hoogste ${field.max} tekens: “${long}” is langer.` }
    }
    case 'checklist':
      return readChecklist(String(text))
    case 'yesno':
      return { value: empty ? null : text === 'ja' }
    case 'check':
      return { value: text === 'true' }
    case 'number': {
      if (empty) return { value: null }
      return /^\d{1,9}$/.test(String(text))
        ? { value: Number(text) }
        : { value: null, fault: t('Vul een heel getal in.') }
    }
    default:
      return { value: empty ? emptyValue(field) : text }
  }
}

function emptyValue({ kind, nullable }: Field): unknown {
  if (kind === 'lines' || kind === 'checks' || kind === 'checklist' || kind === 'related') return []
  if (kind === 'check') return false
  return nullable || kind === 'duration' || kind === 'date' || kind === 'number' || kind === 'yesno' ? null : ''
}

const linesOf = (text: string) => [
  ...new Set(
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

type ChecklistItem = { itemnaam: string; vraagstelling: string; verplicht?: boolean; toelichting?: string }

const checklistLine = ({ itemnaam, vraagstelling, verplicht }: ChecklistItem) =>
  `${itemnaam}: ${vraagstelling}${verplicht ? ' *' : ''}`

// One on a line: "Naam: de vraag", with a star behind it when it must be answered.
function readChecklist(text: string): { value: ChecklistItem[]; fault?: string } {
  const items = linesOf(text).map((line) => {
    const at = line.indexOf(':')
    const [itemnaam, question] = at < 0 ? ['', ''] : [line.slice(0, at), line.slice(at + 1).trim()]
    const verplicht = question.endsWith('*')
    return {
      itemnaam: itemnaam.trim(),
      vraagstelling: verplicht ? question.slice(0, -1).trimEnd() : question,
      verplicht,
      toelichting: '',
    }
  })
  if (items.some(({ itemnaam, vraagstelling }) => !itemnaam || !vraagstelling))
    return { value: items, fault: t('Schrijf op elke regel een naam, een dubbele punt en de vraag.') }
  if (items.some(({ itemnaam }) => [...itemnaam].length > 30))
    return { value: items, fault: t('De naam van een controlepunt heeft ten hoogste 30 tekens.') }
  return { value: items }
}

type Related = { zaaktype: string; zaaktypeIdentificatie?: string; aardRelatie: string; toelichting?: string }

function readRelated(field: Field, values: Values): { value: Related[]; fault?: string } {
  const [types = [], addresses = [], kinds = [], notes = []] = namesOf(field).map((name) => [values[name] ?? []].flat())
  const value = types.map((type, place) => ({
    zaaktype: type || (addresses[place] ?? ''),
    aardRelatie: kinds[place] ?? '',
    toelichting: notes[place] ?? '',
  }))
  const faults = value.flatMap(({ zaaktype, aardRelatie, toelichting }, place) => {
    const row = t`Regel ${place + 1}`
    if (types[place] && addresses[place]) return [t`${row}: kies een zaaktype of vul een adres in, niet beide.`]
    if (!zaaktype) return [t`${row}: kies het zaaktype.`]
    if (addresses[place] && !isUrl(zaaktype)) return [t`${row}: het adres begint met https:// of http://.`]
    if (!aardRelatie) return [t`${row}: kies wat zo’n zaak voor deze is.`]
    return [...toelichting].length > 255 ? [t`${row}: gebruik ten hoogste 255 tekens voor de toelichting.`] : []
  })
  return faults.length > 0 ? { value, fault: faults.join(' ') } : { value }
}

/** What another zaaktype can be to this one. */
export const AARD_RELATIE: readonly Choice[] = words(
  [
    ['vervolg', 'Vervolg', 'zo’n zaak komt na deze'],
    ['bijdrage', 'Bijdrage', 'zo’n zaak draagt bij aan de uitkomst van deze'],
    ['onderwerp', 'Onderwerp', 'zo’n zaak is het onderwerp van deze'],
  ],
  '1',
  '2',
)

// ---- in words ----

/** What a member of a resource says, for people. Nothing is said of what is empty. */
export function inWords(field: Field, resource: object): string {
  const value = memberOf(resource, field.name)
  if (value === null || value === undefined || value === '') return ''
  switch (field.kind) {
    case 'duration':
      return durationInWords(String(value))
    case 'date':
      return formatDate(String(value))
    case 'yesno':
    case 'check':
      return value ? t('ja') : t('nee')
    case 'checklist':
      return (value as ChecklistItem[]).map(checklistLine).join('; ')
    case 'related':
      return (value as Related[])
        .map(({ zaaktype, zaaktypeIdentificatie, aardRelatie, toelichting }): string => {
          const kind = AARD_RELATIE.find(([code]) => code === aardRelatie)?.[1].toLowerCase() ?? aardRelatie
          return `${choiceText(field, zaaktypeIdentificatie || zaaktype)}: ${kind}${toelichting ? ` (${toelichting})` : ''}`
        })
        .join('; ')
    case 'lines':
      return (value as string[]).join(', ')
    case 'checks':
      return (value as string[]).map((one) => choiceText(field, one)).join(', ')
    case 'select':
    case 'radio':
      return choiceText(field, String(value))
    default:
      return String(value)
  }
}

const choiceText = ({ choices = [] }: Field, value: string) => choices.find(([one]) => one === value)?.[1] ?? value

/** Field by field what two resources differ in, in words. */
export function differences(
  fields: readonly Field[],
  before: object,
  after: object,
): { label: string; before: string; after: string }[] {
  return fields.flatMap((field) => {
    const [from, to] = [inWords(field, before), inWords(field, after)]
    return from === to ? [] : [{ label: field.label, before: from, after: to }]
  })
}

/** For the audit log: what changed, by the labels of the form. */
export function changedState(fields: readonly Field[], before: object, after: object) {
  const found = differences(fields, before, after)
  return {
    oud: Object.fromEntries(found.map(({ label, before: text }) => [label, text])),
    nieuw: Object.fromEntries(found.map(({ label, after: text }) => [label, text])),
  }
}

// ---- members with dots ----

/** By its name with dots; undefined where one of these is not there. */
export function memberOf(resource: object, name: string): unknown {
  let value: unknown = resource
  for (const part of name.split('.')) value = (value as Resource | null | undefined)?.[part]
  return value
}

function setMember(body: Resource, name: string, value: unknown): void {
  const parts = name.split('.')
  let at = body
  for (const part of parts.slice(0, -1)) {
    at[part] ??= {}
    at = at[part] as Resource
  }
  at[lastOf(parts)] = value
}
