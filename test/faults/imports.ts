// The client that imports documents: one import after the other, and the account of what became of them (I4).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { BASE, uuidOf } from '../app.ts'
import { API, csvText, goodRow, readReport } from '../documenten/importing.ts'
import type { JudgeLike } from '../stage.ts'
import type { Antwoord, openClient } from '../zaken/processes.ts'

const ROWS = 30
const FILES = 5
export const fileOf = (n: number) => `bestand-${n % FILES}.txt`

/** By uuid, whether its upload was answered 200. */
export type Imports = Map<string, boolean>
type Client = ReturnType<typeof openClient>
type OpenImport = { url: string; status: string }

/** A CSV of which every tenth row is refused. */
export function csvOf(type: string, n: number): string {
  const row = (index: number) =>
    goodRow(type, fileOf(index), { identificatie: `IMPORT-${n}-${index}`, ...(index % 10 === 9 && { taal: '' }) })
  return csvText(Array.from({ length: ROWS }, (_, index) => row(index)))
}

/** Brings one import to its end, or goes on with one that an unanswered request left open. */
export async function importOnce(
  client: Client,
  csv: string,
  imports: Imports,
  isOver: () => boolean,
): Promise<Antwoord> {
  let answer = await client.call('POST', `${API}/create`)
  let uuid = answer.status === 201 ? uuidOf(answer.body.url) : ''
  let pending = uuid !== ''
  if (!pending) {
    if (answer.status !== 400) return answer
    const list = await client.call('GET', `${API}/`)
    const open = (list.body.results as OpenImport[] | undefined)?.find(({ status }) => /pending|active/.test(status))
    if (!open) return list
    uuid = uuidOf(open.url)
    pending = open.status === 'pending'
  }
  if (pending) {
    answer = await client.call('POST', `${API}/${uuid}/upload`, csv)
    if (answer.status === 200) imports.set(uuid, true)
    else if (answer.status !== undefined) return answer
  }
  while (!isOver()) {
    const status = await client.call('GET', `${API}/${uuid}/status`)
    if (status.status === 200 && status.body.status !== 'active') return status
    await sleep(100)
  }
  return answer
}

/** Counters, results, report and documents of every import agree, and each that was taken in has come to its end. */
export async function verifyImports(
  t: JudgeLike,
  { sql }: Pick<Database, 'sql'>,
  imports: Imports,
  client: Client,
): Promise<void> {
  type Row = {
    uuid: string
    status: string
    total: number
    processed: number
    succeeded: number
    resultaten: number
    goed: number
    documenten: number
  }
  const rows = await sql<Row[]>`
    select i.uuid, i.status, i.total, i.processed, i.succeeded, count(r.*)::int as resultaten,
      count(*) filter (where r.succeeded)::int as goed, count(d.*)::int as documenten
    from import i left join import_outcome r on r.import_id = i.id
      left join enkelvoudiginformatieobject d on d.uuid = r.document_uuid
    where i.deleted_at is null group by i.id order by i.id`
  const ended = rows.filter(({ status }) => status !== 'pending')
  t.same(
    ended.filter(
      ({ status, total, processed, resultaten }) =>
        !(status === 'finished' && total === ROWS && processed === total && resultaten === total),
    ),
    [],
    'I4: every import that was taken in has handled all its rows',
  )
  t.same(
    ended.filter(({ succeeded, goed, documenten }) => goed !== succeeded || documenten !== succeeded),
    [],
    'I4: counters, results and documents agree',
  )
  const known = new Set(ended.map(({ uuid }) => uuid))
  t.same(
    [...imports.keys()].filter((uuid) => !known.has(uuid)),
    [],
    'I1: every import that was answered is there',
  )
  const [documents] = await sql<{ count: number; names: number }[]>`
    select count(*)::int, count(distinct identificatie)::int as names
    from enkelvoudiginformatieobject where identificatie like 'IMPORT-%'`
  const wanted = ended.reduce((sum, { succeeded }) => sum + succeeded, 0)
  t.same(documents, { count: wanted, names: wanted }, 'I4: no other documents, and none twice')
  const last = ended.at(-1)
  if (!last) return
  const { body } = await client.call('GET', `${API}/${last.uuid}/report`, undefined, (bytes) =>
    Buffer.from(bytes).toString(),
  )
  const report = await readReport(body.url)
  t.same(
    [report.length, report.filter(({ opmerking }) => opmerking === '').length],
    [last.total, last.succeeded],
    'I4: the report has all rows',
  )
}

export const withoutBase = (url: string): string => url.replace(BASE, '')
