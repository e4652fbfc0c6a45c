// Gives every value of the intermediate form one spelling, and the whole a checksum. Two sides that say the same must not differ
// by a zero behind the seconds or by the order of keys.
import { createHash } from 'node:crypto'
import { isDuration, isoDuration } from '../http/duration.ts'
import type { Numbers } from '../lib/numbers.ts'
import { isUuid } from '../lib/uuid.ts'
import type { Column, ColumnType, Kind, List, Ref, Taken } from './kinds.ts'

/** The object with every column, reference and list of its kind, each in its one spelling. */
export function normalise(kind: Kind, taken: Taken): Taken {
  const object: Taken = { uuid: taken.uuid.toLowerCase() }
  fill(object, taken, kind.columns, kind.refs)
  for (const list of kind.lists) object[list.name] = items(list, taken[list.name])
  if (taken.spiegel) object.spiegel = taken.spiegel // its mirror elsewhere: no column, and in no checksum
  return object
}

function items(list: List, given: unknown): Record<string, unknown>[] {
  const rows = (Array.isArray(given) ? given : []).map((one) => {
    const item: Record<string, unknown> = {}
    fill(item, one as Record<string, unknown>, list.columns, list.refs)
    if (list.table === 'enkelvoudiginformatieobject_versie') item.path = (one as Record<string, unknown>).path || null // where the bytes are: no column, and in no checksum
    return item
  })
  if (list.order) return rows
  // The order of these means nothing.
  const key = (row: Record<string, unknown>) => String(row.versie ?? row.volgnummer ?? '').padStart(9, '0') + json(row)
  return rows.sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

function fill(into: Record<string, unknown>, from: Record<string, unknown>, columns: Column[], refs: Ref[]): void {
  for (const { name, type } of columns) into[name] = spell(type, from[name])
  for (const { name } of refs) {
    const value = from[name]
    into[name] = typeof value === 'string' && value !== '' ? (isUuid(value) ? value.toLowerCase() : value) : null
  }
}

function spell(type: ColumnType, value: unknown): unknown {
  if (type === 'texts') return Array.isArray(value) ? value.map(String) : []
  if (type === 'text') return value === null || value === undefined ? '' : String(value)
  if (type === 'items') return Array.isArray(value) ? value : []
  if (type === 'flag' || (type === 'boolean' && typeof value === 'boolean')) return value === true
  if (value === null || value === undefined || value === '') return null
  if (type === 'text?') return String(value)
  if (type === 'moment') return moment(String(value))
  if (type === 'duration') return duration(String(value))
  if (type === 'integer' || type === 'bigint') return Number(value)
  return value
}

/** UTC, with all its digits and no zeros behind them; what is no moment stays as it is, for the report. */
export function moment(text: string): string {
  const parts = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|[+-]\d{2}(?::?\d{2})?)$/.exec(text)
  if (!parts) return text
  const [, date, time, digits = '', zone = ''] = parts
  const fraction = digits.replace(/0+$/, '')
  const shifted = /^(Z|[+-]00(:?00)?)$/.test(zone)
    ? `${date}T${time}`
    : new Date(`${date}T${time}${zone.length === 3 ? `${zone}:00` : zone}`).toISOString().slice(0, 19)
  return `${shifted}${fraction && `.${fraction}`}Z`
}

function duration(text: string): string {
  return isDuration(text) ? isoDuration(text) : text // what is none is refused by the database
}

/** JSON with its keys in order. */
export function json(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/**
 * The values in the order of the kind: names would only make it longer.
 * @param numbers what is stored tells nothing of the numbers of persons, whoever tries all of them: they go in as HMACs
 */
export function fingerprint(kind: Kind, object: Taken, numbers?: Numbers): Buffer {
  const digested = (text: string) => numbers?.digests(text) ?? text
  const values = (from: Record<string, unknown>, columns: Column[], refs: Ref[]) => [
    ...columns.map(({ name, type }) =>
      (type === 'json' || type === 'items') && from[name] ? digested(json(from[name])) : from[name],
    ),
    ...refs.map(({ name }) => from[name]),
  ]
  const all: unknown[] = values(object, kind.columns, kind.refs)
  for (const list of kind.lists)
    all.push((object[list.name] as Record<string, unknown>[]).map((row) => values(row, list.columns, list.refs)))
  return createHash('sha256').update(JSON.stringify(all)).digest().subarray(0, 16)
}
