// Tells the report what is wrong with an object, in words of whoever repairs it: the field of the API, its value, and the rule.
// Values that a reader can judge are judged before they are written; the rules of the database are told by what they are about.
import type postgres from 'postgres'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../core/vertrouwelijkheidaanduiding.ts'
import { isUniqueViolation } from '../database/error-codes.ts'
import { isDuration, MAX_YEARS } from '../http/duration.ts'
import { passesElfproef } from '../http/formats.ts'
import { isUuid } from '../lib/uuid.ts'
import type { Column, Kind, List, Taken } from './kinds.ts'
import { columnsOf } from './row-columns.ts'

export type ValueFault = { code: string; field: string; value: string; text: string }
type Row = Record<string, unknown>
type Sql = postgres.TransactionSql

/** Faults of what was written, not of the database: classes 22 (data) and 23 (constraints). */
export function isFaultOfData(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^2[23]/.test(code)
}

// ---- names and values, as people know them ----

/** Fields that hold numbers of organisations: these may be shown. */
const OF_ORGANISATIONS = /rsin|organisatie/i

/** The value in a report: never one that may be the number of a person. */
export function shownValue(field: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? '' : String(value)
  const kept = OF_ORGANISATIONS.test(field) ? text : text.replace(/(?<!\d)\d{8,9}(?!\d)/g, masked)
  return kept.length > 200 ? `${kept.slice(0, 199).toWellFormed()}…` : kept
}
const masked = (number: string) => (passesElfproef(number.padStart(9, '0')) ? '•'.repeat(number.length) : number)

/** The field as the API names it: `verlenging.duur`. */
export function fieldOf({ columns, refs }: Pick<Kind, 'columns' | 'refs'>, column: string): string {
  const found =
    columns.find(({ name }) => name === column) ?? refs.find(({ name, id, url }) => [name, id, url].includes(column))
  return found && found.path.length > 0 ? found.path.join('.') : column
}

/** What people know the object by; empty when it has nothing of its own. */
export function identificationOf(kind: Kind, object: Taken): string {
  const of = kind.name === 'document' ? ((object.versies as Row[] | undefined)?.at(-1) ?? {}) : object
  const name =
    of.identificatie ||
    of.domein ||
    (kind.name.endsWith('type') ? of.omschrijving : '') ||
    (kind.name === 'eigenschap' ? of.naam : '')
  return shownValue('identificatie', name)
}

/** The uuid of the case, document or decision that it belongs to, or of the type. */
export function ownerOf(kind: Kind, object: Taken): string | undefined {
  if (kind.of) return object.uuid
  for (const name of ['zaak', 'informatieobject', 'besluit', 'zaaktype']) {
    const uuid = kind.refs.some((ref) => ref.name === name) ? object[name] : null
    if (typeof uuid === 'string' && isUuid(uuid)) return uuid
  }
  return undefined
}

// ---- values ----

/** The first value that is none of its kind, and so cannot be written; undefined when there is none. */
export function faultOfValues(kind: Kind, object: Taken): ValueFault | undefined {
  if (!isUuid(object.uuid))
    return { code: 'waarde', field: 'uuid', value: shownValue('uuid', object.uuid), text: 'Dit is geen uuid.' }
  const own = faultAmong(kind, object, '')
  if (own) return own
  for (const list of kind.lists)
    for (const [place, item] of (object[list.name] as Row[]).entries()) {
      const where = `${list.name === 'versies' ? `versie ${String(item.versie)}` : `${list.name} ${place + 1}`}: `
      const fault = faultAmong(list, item, where)
      if (fault) return fault
    }
  return undefined
}

function faultAmong(of: Kind | List, row: Row, where: string): ValueFault | undefined {
  for (const { name, type, path } of of.columns) {
    const value = row[name]
    if (value === null || value === undefined) continue
    const text = ruleBroken(type, value)
    if (text) {
      const field = path.join('.') || name
      return { code: 'waarde', field: where + field, value: shownValue(field, value), text }
    }
  }
  return undefined
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const MOMENT = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$/

/** The rule that a value of this type breaks. */
function ruleBroken(type: Column['type'], value: unknown): string | undefined {
  const text = String(value)
  switch (type) {
    case 'date':
      return isDay(text) ? undefined : 'Moet een dag zijn die bestaat, van het jaar 1 tot en met 9999.'
    case 'moment': {
      const [, day] = MOMENT.exec(text) ?? []
      return day && isDay(day) ? undefined : 'Moet een moment zijn dat bestaat, van het jaar 1 tot en met 9999.'
    }
    case 'duration':
      return isDuration(text)
        ? undefined
        : `Moet een termijn zijn (ISO 8601, zoals P30D), van ten hoogste ${MAX_YEARS.archiving} jaar.`
    case 'integer':
      return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31 ? undefined : 'Moet een geheel getal zijn.'
    case 'bigint':
      return Number.isSafeInteger(value) ? undefined : 'Moet een geheel getal zijn.'
    case 'vertrouwelijkheid':
      return (VERTROUWELIJKHEIDAANDUIDINGEN as readonly string[]).includes(text)
        ? undefined
        : oneOf(VERTROUWELIJKHEIDAANDUIDINGEN)
    case 'text':
    case 'text?':
      return text.includes('\0') ? 'Bevat een teken dat niet kan worden bewaard (NUL).' : undefined
    default:
      return undefined
  }
}

function isDay(text: string): boolean {
  const [, year, month, day] = DAY.exec(text)?.map(Number) ?? []
  if (!year || !month || !day) return false
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

const oneOf = (options: readonly string[]) => `Moet een van deze zijn: ${options.filter(Boolean).join(', ')}.`

/** Values that are written otherwise than the source does, and mean the same to us. */
export function changedValues(kind: Kind, given: Taken, object: Taken): Omit<ValueFault, 'code'>[] {
  return kind.columns.flatMap(({ name, type, path }) => {
    const [before, after] = [given[name], object[name]]
    if (type !== 'duration' || typeof before !== 'string' || typeof after !== 'string' || before === after) return []
    return [{ field: path.join('.'), value: before, text: `Wordt ${after}: dezelfde termijn, anders geschreven.` }]
  })
}

// ---- rules of the database ----

type Broken = { columns: string[]; rule: string | null }

/** What the database refuses of one object: asks it what the constraint is about. */
export async function faultOfRow(
  sql: Sql,
  kind: Kind,
  row: Row,
  lists: Map<string, Row[]>,
  error: unknown,
): Promise<ValueFault> {
  const {
    code = '',
    constraint_name,
    column_name,
    table_name,
    schema_name,
  } = error as Record<string, string | undefined>
  const list = kind.lists.find(({ table }) => table === table_name)
  const [of, rows] = list ? [list, lists.get(list.name) ?? []] : [kind, [row]]
  const named = (column: string) => (list ? `${list.name}: ` : '') + fieldOf(of, column)
  const shown = (columns: string[], fits: (one: Row) => boolean = () => true) => {
    const found = rows.find(fits) ?? rows[0]
    return columns
      .filter((column) => !column.endsWith('_id'))
      .map((column) => shownValue(column, found?.[column]))
      .filter(Boolean)
      .join(', ')
  }
  if (code === '23502' && column_name)
    return { code: 'verplicht', field: named(column_name), value: '', text: 'Dit veld is verplicht.' }
  if (!code.startsWith('23')) return faultOfColumn(sql, of, rows, named)
  const { columns, rule } = await aboutConstraint(sql, schema_name, table_name, constraint_name)
  const told = columns.filter((column) => column !== 'duplicate')
  const field = told.map(named).join(', ')
  if (isUniqueViolation(error))
    return {
      code: 'bestaat-al',
      field,
      value: shown(told),
      text: `Er is al een ander object van deze soort met dezelfde ${field || 'gegevens'}.`,
    }
  const options = [...(rule?.matchAll(/'([^']*)'::text/g) ?? [])].map(([, option]) => option ?? '')
  const value = options.length > 0 ? shown(told, (one) => !options.includes(String(one[told[0] ?? '']))) : shown(told)
  return { code: 'regel', field, value, text: options.length > 0 ? oneOf(options) : wordsOf(rule ?? '') }
}

/** Rules of the database that are no list of values. */
function wordsOf(rule: string): string {
  const [, least, most] = />= (\d+)\).*<= (\d+)\)/.exec(rule) ?? []
  if (least && most) return `Moet van ${least} tot en met ${most} zijn.`
  const [, years] = /is_term\(\w+(?:, (\d+))?\)/.exec(rule) ?? []
  if (rule.includes('is_term(')) return `Moet een termijn zijn van ten hoogste ${years ?? MAX_YEARS.archiving} jaar.`
  if (rule.includes('num_nonnulls(')) return 'Moet naar een ding verwijzen, hier of bij een andere dienst.'
  if (/> 0/.test(rule)) return 'Moet groter dan 0 zijn.'
  if (rule.includes('<> id')) return 'Een zaak is geen hoofdzaak van zichzelf.'
  return 'Verwijst naar iets dat er niet is.'
}

async function aboutConstraint(sql: Sql, schema = '', table = '', name = ''): Promise<Broken> {
  const [found] = await sql<Broken[]>`
    select array(select a.attname::text from pg_attribute a where a.attrelid = t.oid
        and a.attnum = any(coalesce(c.conkey, i.indkey::smallint[])) order by a.attnum) as columns,
      pg_get_constraintdef(c.oid) as rule
    from pg_class t join pg_namespace n on n.oid = t.relnamespace
    left join pg_constraint c on c.conrelid = t.oid and c.conname = ${name}
    left join pg_index i on i.indrelid = t.oid and i.indexrelid = (
      select x.oid from pg_class x where x.relname = ${name} and x.relnamespace = n.oid)
    where n.nspname = ${schema} and t.relname = ${table}`
  return found ?? { columns: [], rule: null }
}

/** The column whose value PostgreSQL does not read; the fault itself does not name it. */
async function faultOfColumn(
  sql: Sql,
  of: Kind | List,
  rows: Row[],
  named: (column: string) => string,
): Promise<ValueFault> {
  for (const { name, type } of columnsOf(of))
    for (const row of rows) {
      const value = row[name]
      if (value === null || value === undefined || Array.isArray(value)) continue
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      const isRead = await sql
        .savepoint((inner) => inner.unsafe(`select ($1::text)::${type}`, [text]))
        .then(
          () => true,
          () => false,
        )
      if (!isRead)
        return {
          code: 'waarde',
          field: named(name),
          value: shownValue(name, value),
          text: 'Deze waarde kan in dit veld niet worden bewaard.',
        }
    }
  return { code: 'waarde', field: '', value: '', text: 'Een waarde kan niet worden bewaard.' }
}
