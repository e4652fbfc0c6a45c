// A round that reads only what changed since the round before: from where on it looks, and what is gone.
import type postgres from 'postgres'
import { one } from '../database/rows.ts'
import { type Kind, kindOf } from './kinds.ts'
import type { Since, Source } from './source.ts'

type Sql = postgres.Sql | postgres.TransactionSql
type Of = { id: number; round: number }

/** What was refused and is asked again, whether it changed or not; more of them are for a round that reads all. */
const MOST_AGAIN = 10_000
/** Nothing tells that one of these went: its audit trail goes with it. */
export const MAIN = ['zaak', 'document', 'besluit']
/** With which of them the others are read, so that what was not seen there is gone. */
export const READ_WITH: Record<string, string> = {
  ...{ rol: 'zaak', status: 'zaak', substatus: 'zaak', resultaat: 'zaak', zaakeigenschap: 'zaak', zaakobject: 'zaak' },
  ...{
    klantcontact: 'zaak',
    zaakcontactmoment: 'zaak',
    zaakverzoek: 'zaak',
    zaakinformatieobject: 'zaak',
    zaakbesluit: 'zaak',
  },
  ...{ gebruiksrecht: 'document', objectinformatieobject: 'document', besluitinformatieobject: 'besluit' },
}

/** The uuids that begin with these digits lie between these two. */
export function boundsOf(part: string): [string, string] {
  const filled = (digit: string) => {
    const all = part.padEnd(32, digit)
    return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join('-')
  }
  return [filled('0'), filled('f')]
}

/** By what the round before was planned from, with an hour for clocks that differ and transactions that were open. */
export async function sinceOf(sql: Sql, { id, round }: Of): Promise<Since> {
  const before = one(
    await sql<{ moment: string; audit: number }[]>`
      select (coalesce(min(begun_at), now()) - interval '1 hour')::text as moment,
        coalesce(max(until::bigint) filter (where name = 'audit'), 0)::bigint as audit
      from takeover_step where takeover_id = ${id} and round = ${round - 1}`,
  )
  const refused = async (kind: string) =>
    (
      await sql<{ uuid: string }[]>`
        select key as uuid from takeover_remark where takeover_id = ${id} and kind = ${kind} and outcome = 'geweigerd'
          and key ~ '^[0-9a-f-]{36}$' limit ${MOST_AGAIN}`
    ).map(({ uuid }) => uuid)
  const locked = await sql<{ uuid: string }[]>`
    select uuid from enkelvoudiginformatieobject where lock is not null limit ${MOST_AGAIN}`
  const again = {
    zaak: await refused('zaak'),
    document: [...(await refused('document')), ...locked.map(({ uuid }) => uuid)],
    besluit: await refused('besluit'),
  }
  return { ...before, again }
}

/** Main objects of which the source says, part by part, that they are not there any more. */
export async function goneMain(sql: Sql, source: Source, takeover: Of, kind: string): Promise<string[]> {
  if (!source.census || !source.uuidsIn) return []
  const there = await source.census(kind)
  const { table } = kindOf(kind)
  const here = await sql<{ part: string; count: number; sum: number }[]>`
    select left(uuid::text, 3) as part, count(*) as count, sum(uuid_hash(uuid)::bigint)::bigint as sum
    from ${sql(table)} group by 1`
  const gone: string[] = []
  for (const { part, count, sum } of here) {
    const theirs = there.get(part)
    if (theirs?.count === count && theirs.sum === sum) continue
    const known = new Set(theirs ? await source.uuidsIn(kind, part) : [])
    const [first, last] = boundsOf(part)
    const ours = await sql<{ uuid: string }[]>`
      select uuid from takeover_object
      where takeover_id = ${takeover.id} and kind = ${kind} and uuid >= ${first} and uuid <= ${last}`
    gone.push(...ours.flatMap(({ uuid }) => (known.has(uuid) ? [] : [uuid])))
  }
  return gone
}

/** What hung below an object that this round read whole, and that it did not see. */
export async function goneBelow(sql: Sql, takeover: Of, kind: Kind): Promise<string[]> {
  const owner = READ_WITH[kind.name]
  const ref = kind.refs.find((one) => one.kind === owner)
  if (!owner || !ref) return []
  const rows = await sql<{ uuid: string }[]>`
    select x.uuid from takeover_object po
    join ${sql(kindOf(owner).table)} p on p.uuid = po.uuid
    join ${sql(kind.table)} x on x.${sql(ref.id)} = p.id
    join takeover_object o on o.uuid = x.uuid and o.kind = ${kind.name}
    where po.takeover_id = ${takeover.id} and po.kind = ${owner} and po.round = ${takeover.round}
      and o.takeover_id = ${takeover.id} and o.round < ${takeover.round}`
  return rows.map(({ uuid }) => uuid)
}
