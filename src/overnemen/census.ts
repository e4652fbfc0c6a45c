// Which rows there are of each kind and what they refer to, counted on both sides in parts of their owners: what no audit line and no
// moment tells of is found by it. Open Zaak says nothing of the other side of a relation between two cases, nor of what goes with
// something that was removed: rows by a cascade, `gezetdoor`, `hoofdzaak`.
import type postgres from 'postgres'
import { expected } from '../database/rows.ts'
import { boundsOf, MAIN, READ_WITH } from './changes.ts'
import { type Kind, kindOf } from './kinds.ts'
import type { CensusRow, Finding, Source } from './source.ts'

type Sql = postgres.Sql | postgres.TransactionSql
type Of = { id: number; round: number }

/** Kinds of which a round of changes reads only what it was told of. */
export const COUNTED = [...MAIN, 'zaakrelatie', ...Object.keys(READ_WITH)]

/** What a row of this kind is read with, and the reference that names it; itself when there is none. */
export function ownerOf(name: string): { kind: 'zaak' | 'document' | 'besluit'; ref?: string } {
  if (MAIN.includes(name)) return { kind: name as 'zaak' }
  if (name === 'zaakrelatie') return { kind: 'zaak' }
  const kind = expected(READ_WITH[name]) as 'zaak'
  return { kind, ref: expected(kindOf(name).refs.find((ref) => ref.kind === kind)).name }
}

/**
 * Statement of the rows of a kind on one side: `owner`, `uuid`, and `hash` of the uuids that the row names.
 * @param from the rows, as `q` with a column for each reference: a uuid, a URL that ends with one, or nothing
 */
export function censusRows(kind: Kind, from: string): string {
  const { ref } = ownerOf(kind.name)
  const named = [
    ...kind.refs.map(({ name }) => `coalesce(${uuidIn(`q.${name}`)}, '')`),
    ...(kind.of ? kind.lists : []).map(
      ({ name }) =>
        `coalesce((select string_agg(${uuidIn(`e ->> 'zaak'`)}, ',' order by ${uuidIn(`e ->> 'zaak'`)} collate "C")
          from json_array_elements(q.${name}) e), '')`,
    ),
  ]
  const owner = ref ? uuidIn(`q.${ref}`) : 'q.uuid::text'
  return `select ${owner} as owner, q.uuid::text as uuid, hashtext(concat_ws('|', ${['q.uuid::text', ...named].join(', ')}))::bigint as hash
    from (${from}) q`
}

/** What stands elsewhere at one side may be known as its own at the other: both are known by the uuid. */
const uuidIn = (value: string) => `substring(${value}::text from '[0-9a-f]{8}-[0-9a-f-]{27}$')`

/** Our own rows, as far as this takeover brought them. */
function rowsHere(kind: Kind): string {
  const column = ({ kind: target, name, id, url }: Kind['refs'][number]) => {
    const own = target ? `(select r.uuid from ${kindOf(target).table} r where r.id = x.${id})` : `x.${id}`
    return `${url ? `coalesce(${own}::text, x.${url})` : own} as ${name}`
  }
  const lists = (kind.of ? kind.lists : []).map(({ name, table, parent, refs }) => {
    const { id, url } = expected(refs[0])
    return `(select coalesce(json_agg(json_build_object('zaak', coalesce(r.uuid::text, l.${expected(url)}))), '[]')
      from ${table} l left join zaak r on r.id = l.${id} where l.${parent} = x.id) as ${name}`
  })
  return `select ${['x.uuid', ...kind.refs.map(column), ...lists].join(', ')}
    from takeover_object o join ${kind.table} x on x.uuid = o.uuid where o.takeover_id = $1::bigint and o.kind = '${kind.name}'`
}

/** Counts by the first three digits of the owner. A row whose owner is not there was refused. */
export const censusParts = (rows: string): string =>
  `select left(owner, 3) as part, count(*)::bigint as count, sum(hash)::bigint as sum from (${rows}) r where owner is not null group by 1`

/** The rows of one part: its bounds are the last two parameters. */
export const censusPart = (rows: string, first: number): string =>
  `select owner, uuid, hash from (${rows}) r where owner >= $${first}::text and owner <= $${first + 1}::text`

/** Rows that only one side has, or that name something else there. What was refused is known, and left out. */
export async function rowsThatDiffer(
  sql: Sql,
  source: Source,
  { id }: Of,
  name: string,
  most: number,
): Promise<CensusRow[]> {
  if (!source.relations || !source.relationsIn) return []
  const kind = kindOf(name)
  const rows = censusRows(kind, rowsHere(kind))
  const [there, here] = [
    await source.relations(name),
    new Map(
      (await sql.unsafe<{ part: string; count: number; sum: number }[]>(censusParts(rows), [id])).map((one) => [
        one.part,
        one,
      ]),
    ),
  ]
  const refused = new Set(
    (
      await sql<{ key: string }[]>`
        select key from takeover_remark where takeover_id = ${id} and outcome = 'geweigerd' and kind in (${name}, ${ownerOf(name).kind})`
    ).map(({ key }) => key),
  )
  const found: CensusRow[] = []
  for (const part of new Set([...there.keys(), ...here.keys()])) {
    const [a, b] = [there.get(part), here.get(part)]
    if (a && b && a.count === b.count && a.sum === b.sum) continue
    const known = new Map((a ? await source.relationsIn(name, part) : []).map((row) => [row.uuid, row]))
    const ours = b ? await sql.unsafe<CensusRow[]>(censusPart(rows, 2), [id, ...boundsOf(part)]) : []
    for (const row of ours) {
      if (known.get(row.uuid)?.hash !== row.hash) found.push(row)
      known.delete(row.uuid)
    }
    found.push(...known.values())
    if (found.length > most) break
  }
  return found.filter(({ uuid, owner }) => !refused.has(uuid) && !refused.has(owner))
}

/** How many owners a round of changes reads because a count differs; more of them are for a round that reads all. */
const MOST = 10_000

/** Owners of which a part differs though nothing told of it: they are read again. */
export async function ownersThatDiffer(
  sql: Sql,
  source: Source,
  takeover: Of,
): Promise<Record<'zaak' | 'document' | 'besluit', string[]>> {
  const owners = { zaak: new Set<string>(), document: new Set<string>(), besluit: new Set<string>() }
  for (const name of COUNTED) {
    const of = owners[ownerOf(name).kind]
    for (const { owner } of await rowsThatDiffer(sql, source, takeover, name, MOST)) if (of.size < MOST) of.add(owner)
  }
  return { zaak: [...owners.zaak], document: [...owners.document], besluit: [...owners.besluit] }
}

/** Counts again at the end of a round: it proves that the round left nothing, or says what it could not mend. */
export async function countedFindings(sql: Sql, source: Source, takeover: Of): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const name of COUNTED) {
    const rows = await rowsThatDiffer(sql, source, takeover, name, MOST)
    for (const { uuid, owner } of rows.slice(0, 100))
      findings.push({
        ...{ kind: name, key: uuid, owner, outcome: 'gemarkeerd', code: 'telling-anders', field: '' },
        text: 'Staat hier anders, of niet, of staat hier te veel, volgens de telling aan het eind van de ronde.',
      })
  }
  return findings
}
