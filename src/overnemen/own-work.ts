// What stands here already and that no round of this takeover wrote: work of our own, or of a takeover that was switched. A source that
// has an object with the same uuid does not get to write over it, and a person decides what becomes of the two.
import type postgres from 'postgres'
import { expected } from '../database/rows.ts'
import { KINDS, kindOf } from './kinds.ts'
import type { Finding } from './source.ts'
import type { Takeover } from './takeover.ts'

type Sql = postgres.Sql | postgres.TransactionSql

const tableOf = (kind: string) => (kind === 'applicatie' ? 'applicatie' : kindOf(kind).table)

/** Which of these objects are ours. */
export async function ownUuids(sql: Sql, overneming: number, kind: string, uuids: string[]): Promise<Set<string>> {
  if (uuids.length === 0) return new Set()
  const rows = await sql<{ uuid: string }[]>`
    select x.uuid from ${sql(tableOf(kind))} x where x.uuid = any(${uuids}::uuid[]) and not exists (
      select from takeover_object o join takeover t on t.id = o.takeover_id
      where o.uuid = x.uuid and o.kind = ${kind} and (o.takeover_id = ${overneming} or t.status <> 'omgeschakeld'))`
  return new Set(rows.map(({ uuid }) => uuid))
}

const parts = (owner: string, ...kinds: string[]) => Object.fromEntries(kinds.map((kind) => [kind, owner]))
/** Of what a kind is a part, by the name of its reference: a part of something of ours would change that. */
export const PART_OF: Record<string, string> = {
  ...parts('zaaktype', 'statustype', 'roltype', 'resultaattype', 'eigenschap', 'zaaktype_informatieobjecttype'),
  ...parts('zaaktype', 'zaakobjecttype'),
  ...parts('zaak', 'rol', 'status', 'substatus', 'resultaat', 'zaakeigenschap', 'zaakobject', 'klantcontact'),
  ...parts('zaak', 'zaakcontactmoment', 'zaakverzoek', 'zaaknotitie', 'zaakinformatieobject', 'zaakbesluit'),
  ...parts('informatieobject', 'gebruiksrecht', 'verzending', 'objectinformatieobject'),
  ...parts('besluit', 'besluitinformatieobject'),
}

/** The kind whose object a kind is a part of, or writes to. */
export function ownerKindOf(name: string): { kind: string; ref?: string } | undefined {
  const { of, refs } = kindOf(name)
  if (of) return { kind: of }
  const ref = PART_OF[name]
  const target = ref && refs.find((one) => one.name === ref)?.kind
  return target ? { kind: target, ref: expected(ref) } : undefined
}

const CLASHES = {
  'botst-uuid': 'Hier staat een ander object met deze uuid: wat hier staat blijft, en dit wordt niet overgenomen.',
  'botst-nummer': 'Hier staat een ander object met deze identificatie: beide staan straks naast elkaar.',
  'botst-domein':
    'Hier staat een catalogus met dit domein en deze RSIN: deze catalogus, met haar typen, kan er niet bij.',
  'botst-client':
    'Hier is een client met dit client-id: zonder --clients samen komt hij er niet bij, en houdt de client de rechten van hier.',
  'botst-host':
    'Hier verwijzen objecten naar dit adres. Zij blijven dat doen: geef deze organisatie na de omschakeling ook die hostnaam.',
}

/** What a dry run found that stands in the way of what is here: for a person to decide on before a row is written. */
export async function clashes(
  sql: Sql,
  shadow: string,
  { id, source }: Pick<Takeover, 'id' | 'source'>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const add = (code: keyof typeof CLASHES, kind: string, rows: { uuid: string; value: string }[]) => {
    for (const { uuid, value } of rows)
      findings.push({ kind, key: uuid, outcome: 'gemarkeerd', code, field: '', value, text: CLASHES[code] })
  }
  const there = (table: string) => sql`${sql(shadow)}.${sql(table)}`
  const mine = sql`exists (select from takeover_object o join takeover t on t.id = o.takeover_id
    where o.uuid = x.uuid and t.status <> 'omgeschakeld' and t.source = (select source from takeover where id = ${id}))`
  const kinds = await sql<{ kind: string }[]>`select distinct kind from ${there('takeover_object')}`
  for (const { kind } of kinds) {
    if (kind !== 'applicatie' && kindOf(kind).of) continue
    const rows = await sql<{ uuid: string; value: string }[]>`
      select x.uuid, '' as value from ${there('takeover_object')} s join ${sql(tableOf(kind))} x on x.uuid = s.uuid
      where s.kind = ${kind} and not ${mine} limit 10000`
    add('botst-uuid', kind, rows)
    const [number, organisation] = kind === 'applicatie' ? [] : (kindOf(kind).number ?? [])
    if (!number || !organisation) continue
    const same = await sql<{ uuid: string; value: string }[]>`
      select s.uuid, s.${sql(number)} as value from ${there(tableOf(kind))} s
      join ${sql(tableOf(kind))} x on x.${sql(number)} = s.${sql(number)} and x.${sql(organisation)} = s.${sql(organisation)}
      where x.uuid <> s.uuid and not ${mine} limit 10000`
    add('botst-nummer', kind, same)
  }
  const domains = await sql<{ uuid: string; value: string }[]>`
    select s.uuid, s.domein as value from ${there('catalogus')} s
    join catalogus x on x.domein = s.domein and x.rsin = s.rsin where x.uuid <> s.uuid and not ${mine}`
  add('botst-domein', 'catalogus', domains)
  const clients = await sql<{ uuid: string; value: string }[]>`
    select a.uuid, s.client_id as value from ${there('applicatie_client')} s
    join ${there('applicatie')} a on a.id = s.applicatie_id
    join applicatie_client c on c.client_id = s.client_id join applicatie x on x.id = c.applicatie_id
    where not ${mine}`
  add('botst-client', 'applicatie', clients)
  const named = await referencesTo(sql, source)
  if (named > 0) add('botst-host', 'zaak', [{ uuid: new URL(source).host, value: String(named) }])
  return findings
}

/** How many references to objects elsewhere here begin with this address. */
async function referencesTo(sql: Sql, address: string): Promise<number> {
  let sum = 0
  for (const { table, refs, lists } of KINDS)
    for (const one of [{ table, refs }, ...lists])
      for (const { url } of one.refs) {
        if (!url) continue
        const rows = await sql.unsafe<{ count: number }[]>(
          `select count(*) as count from ${one.table} where starts_with(${url}, $1)`,
          [`${address}/`],
        )
        sum += Number(rows[0]?.count)
      }
  return sum
}
