// Writes a portion of objects into our tables, below the APIs: no rule of creation is applied, and no audit record or message
// is made. What the database itself refuses is found row by row, and reported.
import type postgres from 'postgres'
import { expected, one } from '../database/rows.ts'
import type { Numbers } from '../lib/numbers.ts'
import { isUuid } from '../lib/uuid.ts'
import { lookupsOf } from '../zaken/persons.ts'
import { boundingBox, type Geometrie } from '../zaken/zaak/geometry.ts'
import { linkContents } from './bytes.ts'
import {
  changedValues,
  faultOfRow,
  faultOfValues,
  fieldOf,
  identificationOf,
  isFaultOfData,
  ownerOf,
  shownValue,
} from './data-faults.ts'
import { type Kind, kindOf, type List, placeOf, type Ref, type Taken } from './kinds.ts'
import { writeMirrors } from './mirrors.ts'
import { fingerprint, normalise } from './normalise.ts'
import { ownerKindOf, ownUuids } from './own-work.ts'
import { columnsOf, DERIVED } from './row-columns.ts'
import { type RowColumn, unnested } from './rows.ts'
import type { Finding } from './source.ts'

export type Sql = postgres.TransactionSql
export type Written = { seen: number; written: number; unchanged: number; refused: number }
type Row = Record<string, unknown>
export type WriteOptions = {
  overneming: number
  round: number
  /** Our address, in what is said to other installations. */
  base: string
  numbers: Numbers
  /** Objects whose references are not there are refused; otherwise they are put off to the end of the round. */
  last?: boolean
  /** Remarks on an object that do not keep it from being taken. */
  judge?: (kind: Kind, object: Taken) => Remark[]
}

/**
 * Writes what is new or differs from the last time. Objects of several kinds may come together: they are written in the order
 * in which they need each other.
 */
export async function writeObjects(
  sql: Sql,
  portion: { kind: string; object: Taken }[],
  options: WriteOptions,
  findings: Finding[],
): Promise<Written> {
  const counts: Written = { seen: 0, written: 0, unchanged: 0, refused: 0 }
  const groups = new Map<string, Taken[]>()
  for (const { kind, object } of portion) {
    const group = groups.get(kind)
    if (group) group.push(object)
    else groups.set(kind, [object])
  }
  for (const [kind, group] of [...groups].sort(([a], [b]) => placeOf(a) - placeOf(b))) {
    const written = await writeKind(sql, kindOf(kind), group, options, findings)
    for (const name of Object.keys(counts) as (keyof Written)[]) counts[name] += written[name]
  }
  return counts
}

async function writeKind(
  sql: Sql,
  kind: Kind,
  given: Taken[],
  options: WriteOptions,
  findings: Finding[],
): Promise<Written> {
  const about = (object: Taken) => ({
    ...{ kind: kind.name, key: object.uuid, identificatie: identificationOf(kind, object) },
    owner: ownerOf(kind, object),
  })
  const refused = (object: Taken, code: string, text: string, field = '', value = '') =>
    findings.push({ ...about(object), outcome: 'geweigerd', code, field, text, value })
  const objects = new Map<string, { taken: Taken; object: Taken; hash: Buffer }>()
  let refusals = 0
  for (const taken of given) {
    const object = normalise(kind, taken)
    const fault = faultOfValues(kind, object)
    if (fault) {
      refused(object, fault.code, fault.text, fault.field, fault.value)
      refusals++
      continue
    }
    const other = objects.get(object.uuid)
    if (other) {
      // The same object in two pages of a list that moved; two objects with one uuid differ.
      if (other.hash.equals(fingerprint(kind, object, options.numbers))) continue
      refused(object, 'uuid-dubbel', 'Een ander object heeft dezelfde uuid.')
      refusals++
      continue
    }
    objects.set(object.uuid, { taken, object, hash: fingerprint(kind, object, options.numbers) })
  }
  const own = await ownWork(sql, kind, [...objects.values()], options)
  for (const { object } of objects.values()) {
    if (!own.has(object.uuid)) continue
    objects.delete(object.uuid)
    refused(object, 'eigen-werk', OWN_WORK)
    refusals++
  }
  const known = await sql<{ uuid: string; hash: Buffer }[]>`
    select o.uuid, o.hash from takeover_object o join takeover t on t.id = o.takeover_id
    where o.kind = ${kind.name} and o.uuid = any(${[...objects.keys()]}::uuid[])
      and (o.takeover_id = ${options.overneming} or t.status <> 'omgeschakeld')`
  const same: string[] = []
  for (const { uuid, hash } of known) if (objects.get(uuid)?.hash.equals(hash)) same.push(uuid)
  if (same.length > 0) {
    await sql`
      update takeover_object set round = ${options.round}
      where kind = ${kind.name} and uuid = any(${same}::uuid[]) and round <> ${options.round}`
    // But for what the source could not show below it: that is asked again.
    await sql`
      update takeover_remark set round = ${options.round}
      where takeover_id = ${options.overneming} and kind = ${kind.name} and key = any(${same}::text[])
        and round <> ${options.round} and code <> 'bron-fout'`
    for (const uuid of same) objects.delete(uuid)
  }
  let count = 0
  if (objects.size > 0) {
    const before = findings.length
    const ready = await resolve(sql, kind, [...objects.values()], options, refused)
    refusals += findings.length - before
    const written = await insert(sql, kind, ready, options, async (one, error) => {
      const { code, text, field, value } = await faultOfRow(sql, kind, one.row, one.lists, error)
      refused(one.object, code, text, field, value)
      refusals++
    })
    for (const { object, remarks } of written) {
      const changed = changedValues(kind, expected(objects.get(object.uuid)).taken, object).map((one) => ({
        ...one,
        outcome: 'gemarkeerd' as const,
        code: 'waarde-anders',
      }))
      for (const one of [...(options.judge?.(kind, object) ?? []), ...remarks, ...changed])
        findings.push({ ...one, ...about(object) })
    }
    await sql`
      insert into takeover_object (kind, uuid, takeover_id, hash, round, changed_in)
      select ${kind.name}, uuid, ${options.overneming}, decode(hash, 'hex'), ${options.round}, ${options.round}
      from unnest(${written.map(({ object }) => object.uuid)}::uuid[], ${written.map(({ hash }) => hash.toString('hex'))}::text[])
        as r(uuid, hash)
      on conflict (uuid, kind) do update set takeover_id = excluded.takeover_id, hash = excluded.hash,
        round = excluded.round, changed_in = excluded.changed_in`
    count = written.length
  }
  return { seen: given.length, written: count, unchanged: same.length, refused: refusals }
}

const OWN_WORK =
  'Hier staat werk van hier met deze uuid, of dit hoort daarbij: wat hier staat blijft, en dit is niet overgenomen.'

/** Which of these would write over something of ours, or become a part of it. */
async function ownWork(
  sql: Sql,
  kind: Kind,
  objects: { object: Taken }[],
  { overneming }: WriteOptions,
): Promise<Set<string>> {
  const uuids = objects.map(({ object }) => object.uuid)
  const owner = ownerKindOf(kind.name)
  const own = kind.of ? new Set<string>() : await ownUuids(sql, overneming, kind.name, uuids)
  if (!owner) return own
  const ownerOf = (object: Taken) => (owner.ref === undefined ? object.uuid : object[owner.ref])
  const owners = objects.map(({ object }) => ownerOf(object)).filter((one) => typeof one === 'string' && isUuid(one))
  const ours = await ownUuids(sql, overneming, owner.kind, [...new Set(owners as string[])])
  for (const { object } of objects) if (ours.has(String(ownerOf(object)))) own.add(object.uuid)
  return own
}

// ---- references ----

type Remark = Omit<Finding, 'key' | 'kind'>
type Ready = { object: Taken; hash: Buffer; row: Row; lists: Map<string, Row[]>; remarks: Remark[] }

/** Finds our keys of what the objects refer to. What refers to something absent is put off, or refused. */
async function resolve(
  sql: Sql,
  kind: Kind,
  objects: { object: Taken; hash: Buffer }[],
  options: WriteOptions,
  refused: (object: Taken, code: string, text: string, field?: string, value?: string) => void,
): Promise<Ready[]> {
  const keys = new Map<string, Map<string, number>>()
  const wanted = (name: string) => {
    const found = keys.get(name) ?? new Map<string, number>()
    keys.set(name, found)
    return found
  }
  const collect = (refs: Ref[], from: Row) => {
    for (const { kind: target, name } of refs) {
      const value = from[name]
      if (target && typeof value === 'string' && isUuid(value)) wanted(target).set(value, 0)
    }
  }
  for (const { object } of objects) {
    collect(kind.refs, object)
    for (const list of kind.lists) for (const item of object[list.name] as Row[]) collect(list.refs, item)
    if (kind.of) wanted(kind.of).set(object.uuid, 0)
  }
  for (const [target, found] of keys) {
    const { table } = kindOf(target)
    const rows = await sql<{ uuid: string; id: number }[]>`
      select uuid, id from ${sql(table)} where uuid = any(${[...found.keys()]}::uuid[])`
    for (const { uuid, id } of rows) found.set(uuid, id)
  }

  const ready: Ready[] = []
  const putOff: { object: Taken; missing: string }[] = []
  for (const { object, hash } of objects) {
    const remarks: Ready['remarks'] = []
    let missing: string | undefined
    const place = (into: Row, refs: Ref[], from: Row, context: string) => {
      for (const one of refs) {
        const value = from[one.name] as string | null
        const local = value !== null && isUuid(value)
        let id = local ? (one.kind ? keys.get(one.kind)?.get(value) || null : value) : null
        const url = local ? null : value
        if (local && id === null) {
          missing ??= `${one.name} ${value}`
          id = null
        }
        if (url !== null && !one.url) {
          missing ??= `${one.name} ${url}`
        }
        if (value === null && !one.optional) missing ??= one.name
        into[one.id] = id
        if (one.url) into[one.url] = url
        for (const [name, empty] of Object.entries(one.elsewhere ?? {}))
          into[name] = url === null ? null : (from[name] ?? empty)
        if (url !== null && one.elsewhere)
          remarks.push({
            outcome: 'gemarkeerd',
            code: 'type-elders',
            field: fieldOf(kind, one.name),
            value: shownValue(one.name, url),
            text: `Het ${one.name} staat in een andere installatie: ${context}${url}. Wat Zaakstroom daarvan bewaart is nog leeg.`,
          })
      }
    }
    const row: Row = { uuid: object.uuid }
    for (const { name } of kind.columns) row[name] = object[name]
    place(row, kind.refs, object, '')
    const lists = new Map<string, Row[]>()
    for (const list of kind.lists) {
      const items = (object[list.name] as Row[]).map((item, index) => {
        const placed: Row = { uuid: object.uuid, ...(list.order && { [list.order]: index }) }
        for (const { name } of list.columns) placed[name === 'uuid' ? 'eigen_uuid' : name] = item[name]
        if (item.path) placed.path = item.path
        place(placed, list.refs, item, '')
        return placed
      })
      lists.set(list.name, items)
    }
    if (kind.of && !keys.get(kind.of)?.get(object.uuid)) missing ??= `${kind.of} ${object.uuid}`
    if (missing === undefined) ready.push({ object, hash, row, lists, remarks })
    else if (options.last) {
      const [name = '', value = ''] = missing.split(' ')
      const text = value
        ? `Verwijst naar iets dat er niet is, of dat is geweigerd: ${shownValue(name, value)}.`
        : 'Dit veld is verplicht: het verwijst naar niets.'
      refused(object, 'verwijzing-ontbreekt', text, fieldOf(kind, name), value)
    } else putOff.push({ object, missing })
  }
  if (putOff.length > 0)
    await sql`
      insert into takeover_postponed (takeover_id, kind, uuid, object, missing)
      select ${options.overneming}, ${kind.name}, uuid, object, missing
      from jsonb_to_recordset(${options.numbers.seal(JSON.stringify(putOff.map(({ object, missing }) => ({ uuid: object.uuid, object, missing }))))}::text::jsonb)
        as r(uuid uuid, object jsonb, missing text)
      on conflict (takeover_id, kind, uuid) do update set object = excluded.object, missing = excluded.missing`
  return ready
}

// ---- rows ----

/** Writes all at once; when the database refuses, halves, until it is known which one it is. */
async function insert(
  sql: Sql,
  kind: Kind,
  ready: Ready[],
  options: WriteOptions,
  refused: (one: Ready, error: unknown) => Promise<void>,
): Promise<Ready[]> {
  if (ready.length === 0) return []
  try {
    await sql.savepoint((inner) => insertRows(inner, kind, ready, options))
    return ready
  } catch (error) {
    if (!isFaultOfData(error)) throw error
    if (ready.length === 1) {
      await refused(one(ready), error)
      return []
    }
  }
  const half = ready.length >> 1
  return [
    ...(await insert(sql, kind, ready.slice(0, half), options, refused)),
    ...(await insert(sql, kind, ready.slice(half), options, refused)),
  ]
}

async function insertRows(
  sql: Sql,
  kind: Kind,
  ready: Ready[],
  { overneming, base, numbers }: WriteOptions,
): Promise<void> {
  const uuids = ready.map(({ object }) => object.uuid)
  if (kind.number) await findPlaces(sql, kind, ready)
  if (kind.name === 'rol')
    for (const { row } of ready) Object.assign(row, lookupsOf(numbers, row.betrokkene_identificatie))
  const columns = columnsOf(kind)
  const rows = ready.map(({ row }) => row)
  const uuid = { name: 'uuid', type: 'uuid' }
  if (kind.of) {
    if (columns.length > 0) {
      const { from, value, parameters } = unnested('r', [uuid, ...columns], rows, 1, numbers.seal)
      await sql.unsafe(
        `update ${kind.table} t set ${columns.map((one) => `${one.name} = ${value(one)}`).join(', ')} from ${from}
         where t.uuid = r.uuid
           and (${columns.map(({ name }) => `t.${name}`).join(', ')}) is distinct from (${columns.map(value).join(', ')})`,
        parameters,
        { prepare: true },
      )
    }
  } else {
    const all = [uuid, ...columns]
    const { from, value, parameters } = unnested('r', all, rows, 1, numbers.seal)
    await sql.unsafe(
      `insert into ${kind.table} (${all.map(({ name }) => name).join(', ')}) select ${all.map(value).join(', ')} from ${from}
       on conflict (uuid) do update set ${columns.map(({ name }) => `${name} = excluded.${name}`).join(', ') || 'uuid = excluded.uuid'}`,
      parameters,
      { prepare: true },
    )
  }
  for (const list of kind.lists)
    await insertList(
      sql,
      kind,
      list,
      uuids,
      ready.flatMap(({ lists }) => expected(lists.get(list.name))),
    )
  if (kind.name === 'document')
    await linkContents(
      sql,
      overneming,
      ready.flatMap(({ lists }) => expected(lists.get('versies')).filter(({ path }) => path)) as unknown as Parameters<
        typeof linkContents
      >[2],
    )
  await writeMirrors(
    sql,
    kind.name,
    ready.map(({ object }) => object),
    base,
  )
  if (kind.name === 'besluit' || kind.name === 'zaakbesluit')
    await sql`
      update zaakbesluit r set ingangsdatum = b.ingangsdatum, vervaldatum = b.vervaldatum
      from besluit b where b.uuid = r.besluit_uuid and (r.uuid = any(${uuids}::uuid[]) or b.uuid = any(${uuids}::uuid[]))
        and (r.ingangsdatum, r.vervaldatum) is distinct from (b.ingangsdatum, b.vervaldatum)`
}

async function insertList(sql: Sql, kind: Kind, list: List, uuids: string[], rows: Row[]): Promise<void> {
  const owner = kind.table
  await sql.unsafe(
    `delete from ${list.table} where ${list.parent} in (select id from ${owner} where uuid = any($1::uuid[]))`,
    [uuids],
    { prepare: true },
  )
  if (rows.length === 0) return
  const columns: RowColumn[] = [
    ...columnsOf(list).filter(({ name }) => name !== 'uuid'),
    ...(list.order ? [{ name: list.order, type: 'integer' }] : []),
  ]
  const own: RowColumn[] = list.columns.some(({ name }) => name === 'uuid')
    ? [{ name: 'eigen_uuid', type: 'uuid' }]
    : []
  const names = [list.parent, ...columns.map(({ name }) => name), ...own.map(() => 'uuid')]
  const { from, value, parameters } = unnested('r', [{ name: 'uuid', type: 'uuid' }, ...columns, ...own], rows)
  await sql.unsafe(
    `insert into ${list.table} (${names.join(', ')}) select o.id, ${[...columns, ...own].map(value).join(', ')}
     from ${from} join ${owner} o on o.uuid = r.uuid`,
    parameters,
    { prepare: true },
  )
}

/** Completes the rows, and finds those whose number another object has: they stand beside it, and are reported. */
async function findPlaces(sql: Sql, kind: Kind, ready: Ready[]): Promise<void> {
  for (const { row, lists } of ready) {
    if (kind.name === 'document') {
      const latest = lists.get('versies')?.at(-1) ?? {}
      for (const { name } of DERIVED.document) row[name] = latest[name] ?? null
    }
    if (kind.name === 'zaak')
      row.zaakgeometrie_grenzen = row.zaakgeometrie ? boundingBox(row.zaakgeometrie as Geometrie) : null
  }
  const [number, organisation] = expected(kind.number)
  const taken = await sql.unsafe<{ uuid: string; nummer: string; organisatie: string; duplicate: number }[]>(
    `select t.uuid, t.${number} as nummer, t.${organisation} as organisatie, t.duplicate
     from unnest($1::text[], $2::text[]) as r(nummer, organisatie)
     join ${kind.table} t on t.${number} = r.nummer and t.${organisation} = r.organisatie`,
    [ready.map(({ row }) => row[number]) as string[], ready.map(({ row }) => row[organisation]) as string[]],
    { prepare: true },
  )
  const places = new Map<string, Map<string, number>>()
  const at = (nummer: unknown, organisatie: unknown) => {
    const key = JSON.stringify([nummer, organisatie])
    const found = places.get(key) ?? new Map<string, number>()
    places.set(key, found)
    return found
  }
  for (const { uuid, nummer, organisatie, duplicate } of taken) at(nummer, organisatie).set(uuid, duplicate)
  for (const { object, row, remarks } of ready) {
    const holders = at(row[number], row[organisation])
    const place = holders.get(object.uuid) ?? (holders.size === 0 ? 0 : Math.max(...holders.values()) + 1)
    holders.set(object.uuid, place)
    row.duplicate = place
    if (place > 0 && !remarks.some(({ code }) => code === 'identificatie-dubbel'))
      remarks.push({
        outcome: 'gemarkeerd',
        code: 'identificatie-dubbel',
        field: number,
        value: shownValue(number, row[number]),
        text: `Nummer ${place + 1} met deze identificatie van organisatie ${String(row[organisation])}.`,
      })
  }
}
