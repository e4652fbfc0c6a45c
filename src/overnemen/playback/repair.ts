// What the other installation answers with a 500 is mostly a row of which one value cannot be read. Only its own database can be mended,
// so the report says by which SQL: for Open Zaak, whose tables are known.
import { QUERIES } from '../open-zaak/queries.ts'
import type { Item, PlayRemark } from './journal.ts'
import type { BackKind } from './kinds.ts'
import { type NotTaken, type Playback, refuse } from './send.ts'

const OTHER_NAMES: Record<string, string> = { gebruiksrechten: 'gebruiksrecht' }
const VERSIONS = 'documenten_enkelvoudiginformatieobject'
const OWNERS: Record<string, [column: string, table: string, key: string]> = {
  zaak: ['zaak_id', 'zaken_zaak', 'identificatie_ptr_id'],
  gerelateerdAan: ['gerelateerd_aan_id', 'zaken_zaak', 'identificatie_ptr_id'],
  besluit: ['besluit_id', 'besluiten_besluit', 'id'],
}

const tableOf = ({ name }: BackKind): string | undefined =>
  name === 'enkelvoudiginformatieobject'
    ? VERSIONS
    : QUERIES.find(({ kind }) => kind === (OTHER_NAMES[name] ?? name))?.table
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** One row of a list cannot be shown: it is none of those that were seen. */
export function unreadable(kind: BackKind, { main }: Item, seen: string[]): NotTaken {
  const owner = OWNERS[kind.owner ?? '']
  const table = tableOf(kind)
  const among = seen.map((uuid) => `'${uuid}'`).join(', ')
  const sql =
    owner && table && main
      ? `select * from ${table} where ${owner[0]} = (select ${owner[2]} from ${owner[1]} where uuid = '${main}')${among && ` and uuid not in (${among})`};`
      : ''
  return refuse(
    'rij-beschadigd',
    'Een rij in de lijst waar dit tussen staat kan de andere kant niet tonen: of dit er al is, is niet bekend.',
    '',
    sql,
  )
}

/** The remarks on an object that the other side cannot show, with the SQL that finds its row, and mends the value that we know of. */
export async function withRepair(
  { reader }: Playback,
  kind: BackKind,
  { uuid, there }: Item,
  remarks: PlayRemark[],
): Promise<PlayRemark[]> {
  const table = tableOf(kind)
  if (!table || remarks.every(({ code }) => code !== 'fout')) return remarks
  const name = there ?? uuid
  const known = await reader.sql<{ field: string; value: string }[]>`
    select distinct field, value from takeover_remark where key = ${name} and code in ('waarde', 'regel', 'geometrie') and field <> ''`
  const repairs = known.flatMap(({ field, value }) =>
    /^[a-zA-Z]+$/.test(field)
      ? [`update ${table} set ${snake(field)} = … where uuid = '${name}'; -- nu: ${value}`]
      : [],
  )
  const sql = repairs.length > 0 ? repairs.join(' ') : `select * from ${table} where uuid = '${name}';`
  return remarks.map((one) => (one.code === 'fout' ? { ...one, value: sql } : one))
}
