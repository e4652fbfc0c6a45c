// The other side of relations that point to another server: a zaakbesluit, an objectinformatieobject, … over there.
//
// That server looks here whether the relation is true, so our side is committed before it is asked. A change therefore goes
// in steps. (1) A transaction writes our rows, together with the intent (`pending_mirror`, with the audit records and messages
// as they will be) and a job for later. (2) The other server is called, once. (3) A second transaction records the change
// when it agreed, or takes our rows back when it did not: only then the caller gets his answer. When the process dies in
// between, the job of (1) looks at both sides and ends it: our row is there, so the other side must be too, or the reverse.
// What has to go after a change that cannot be undone (a besluit was deleted) is a job from the start.
//
// Rejected: calling within the transaction, which holds rows and a connection for as long as somebody else is slow, and
// which the other server, looking here, does not see.

import { systemActor } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'
import type { Change, Mutate, Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalidAll, Problem } from '../core/problem.ts'
import { jsonOf, sealedJsonOf } from '../database/driver-values.ts'
import { one } from '../database/rows.ts'
import { enqueueAll } from '../jobs/queue.ts'
import { type Outcome, otherSide } from './other-side.ts'
import { type ChangedRow, restore, SOURCES, type SourceName, takeBack } from './our-side.ts'
import type { Services } from './services.ts'

export type Kind = 'zaakbesluit' | 'objectinformatieobject' | 'objectcontactmoment' | 'objectverzoek'
export type RemoteRelation = {
  kind: Kind
  sourceTable: SourceName
  sourceUuid: string
  /** Where it is posted. */
  listUrl: string
  content: Record<string, string>
  /** Where faults are named, when that is not simply the field. */
  naam?: string
}

/** What a change asks of other servers, filled in while it is made. */
export type RemoteChange = { relations: RemoteRelation[]; changedRows: ChangedRow[] }
/** A new one each time: whoever makes a change adds to it. */
export const nothingRemote = (): RemoteChange => ({ relations: [], changedRows: [] })

/** Faults of the other sides from `from` on are named under their part of a combined request. */
export function nameFaultsBelow(remote: RemoteChange, from: number, part: string): void {
  for (const relation of remote.relations.slice(from))
    relation.naam = `${part}.${relation.naam ?? SOURCES[relation.sourceTable]}`
}

/** The list of a kind beside a resource elsewhere: `…/v1/zaken/x` has `…/v1/rollen`. */
export function siblingList(url: string, naam: string): string {
  const list = new URL(url)
  list.search = ''
  list.hash = ''
  list.pathname = `${list.pathname.split('/').slice(0, -2).join('/')}/${naam}`
  return list.href
}

export type RemoteRelations = {
  /** Makes what `work` makes, here and at the other servers that it names in `remote`. @throws Problem 400 `pending-relations` */
  create<T>(actor: Actor, work: (m: Mutation, remote: RemoteChange) => Promise<T>): Promise<T>
  /**
   * Takes one of our rows away, here and at the other side if it has one. `work` removes and records.
   * @throws Problem 400 `pending-relations`; then the row is back
   */
  delete(actor: Actor, row: { table: SourceName; uuid: string }, work: (m: Mutation) => Promise<void>): Promise<void>
  /** For the job: ends a change that nobody ends any more. */
  complete(id: number): Promise<void>
  /** For the job: removes what our side has not any more. */
  removeStale(id: number): Promise<void>
}

/** The change of which a job was left behind is not the one that is asked for now. */
const pendingFault = () =>
  new Problem(409, { detail: 'Deze relatie wordt net elders bijgewerkt.', headers: { 'retry-after': '1' } })

type Row = RemoteRelation & { id: number; url: string; released: boolean }
const columns = (m: Mutation) =>
  m.sql`id, kind, source_table as "sourceTable", source_uuid as "sourceUuid", list_url as "listUrl", content, url, released`

/** How relations with other servers are made and removed in steps, each of which survives the end of the process. */
export function openRemoteRelations(mutate: Mutate, services: Services): RemoteRelations {
  const { post, lookThenPost, deleteThere } = otherSide(services)

  /** The intent, with the job that ends it when we do not. */
  async function begin(m: Mutation, kind: 'create' | 'delete', given: Begin): Promise<number> {
    const actor = {
      ...{ clientId: m.actor.clientId, base: m.actor.base, toelichting: m.actor.toelichting },
      ...{ applicatieUuid: m.actor.applicatieUuid, applicatieLabel: m.actor.applicatieLabel },
      ...(m.actor.key && { key: { text: m.actor.key.text, isKept: true } }),
      ...{ userId: m.actor.userId, userRepresentation: m.actor.userRepresentation, logrecordId: m.actor.logrecordId },
      origin: m.actor.origin,
    }
    const made = one(
      await m.sql<{ id: number }[]>`
      insert into pending_mirror (kind, actor, changes, changed_rows)
      values (${kind}, ${m.sql.json(actor)}, ${sealedJsonOf(m.sql, m.numbers, given.changes)}, ${jsonOf(m.sql, given.changedRows)})
      returning id`,
    )
    const { id } = made
    // Not before whoever began it can have ended it himself: a call, and a look when it was refused, for each.
    const longest = one(await m.sql<{ ms: number }[]>`select coalesce(max(timeout_ms), 0) as ms from service`)
    const delaySeconds = 60 + (3 * longest.ms * given.relations.length) / 1000
    await m.enqueue('complete-relation', { id }, { delaySeconds, jobKey: `spiegeling-${id}` })
    return id
  }

  /** The other sides that are wanted, as rows. */
  async function write(m: Mutation, pendingMirrorId: number, relations: RemoteRelation[]): Promise<Row[]> {
    const rows: Row[] = []
    for (const relation of relations) {
      const { kind, sourceTable, sourceUuid, listUrl, content } = relation
      const made = one(
        await m.sql<{ id: number }[]>`
        insert into mirror (kind, source_table, source_uuid, list_url, content, pending_mirror_id)
        values (${kind}, ${sourceTable}, ${sourceUuid}, ${listUrl}, ${m.sql.json(content)}, ${pendingMirrorId}) returning id`,
      )
      rows.push({ ...relation, id: made.id, url: '', released: false })
    }
    return rows
  }

  /** The other side agreed: the change is recorded, as who made it. False when it was ended by another. */
  async function confirm(id: number, actor: Actor, urls: ReadonlyMap<number, string>): Promise<boolean> {
    return mutate(actor, async (m) => {
      const begun = await take(m, id)
      if (!begun) return false
      for (const change of begun.changes) m.record(change)
      await m.endKey(true)
      if (begun.kind === 'delete') await m.sql`delete from mirror where pending_mirror_id = ${id}`
      for (const row of begun.changedRows as ChangedRow[])
        if ('released' in row)
          await scheduleRelease(
            m,
            row.released.map((one) => ({ id: one })),
          )
      for (const [mirrorId, url] of urls)
        await m.sql`update mirror set url = ${url}, pending_mirror_id = null where id = ${mirrorId}`
      await m.sql`delete from pending_mirror where id = ${id}`
      return true
    })
  }

  /** It did not: our side is again what it was. What may stand at the other side is removed there by a job. */
  async function undo(id: number, actor: Actor, outcomes: ReadonlyMap<number, Outcome>): Promise<boolean> {
    return mutate(actor, async (m) => {
      const begun = await take(m, id)
      if (!begun) return false
      await m.endKey(false)
      if (begun.kind === 'delete') {
        const restored = await restore(m, begun.changedRows as { table: string; row: unknown }[])
        if (restored) await m.sql`update mirror set pending_mirror_id = null where pending_mirror_id = ${id}`
        else await scheduleRelease(m, await rowsOf(m, id)) // its case or besluit has gone meanwhile
      } else {
        for (const row of begun.changedRows as ChangedRow[]) await takeBack(m, row)
        const rows = await rowsOf(m, id)
        const never = rows.filter((row) => outcomes.get(row.id)?.kind === 'refused' || !outcomes.has(row.id))
        await m.sql`delete from mirror where id = any(${never.map((row) => row.id)}::bigint[])`
        for (const row of rows) {
          const outcome = outcomes.get(row.id)
          if (outcome?.kind === 'ok') await m.sql`update mirror set url = ${outcome.url} where id = ${row.id}`
        }
        await scheduleRelease(
          m,
          rows.filter((row) => !never.includes(row)),
        )
      }
      await m.sql`delete from pending_mirror where id = ${id}`
      return true
    })
  }

  /** The change with this number, locked; undefined when it was ended. */
  async function take(m: Mutation, id: number): Promise<Taken | undefined> {
    m.unrecorded('what is recorded was decided when the change began')
    const [row] = await m.sql<Taken[]>`
      select kind, changes, changed_rows as "changedRows" from pending_mirror where id = ${id} for update`
    return row
  }

  const rowsOf = (m: Mutation, id: number): Promise<Row[]> =>
    m.sql<Row[]>`select ${columns(m)} from mirror where pending_mirror_id = ${id} order by id`

  /** Calls for each other side in turn, until one refuses. */
  async function callAll(rows: Row[], call: (row: Row) => Promise<Outcome>) {
    const outcomes = new Map<number, Outcome>()
    for (const row of rows) {
      const outcome = await call(row)
      outcomes.set(row.id, outcome)
      if (outcome.kind !== 'ok') return { outcomes, failed: { row, outcome } }
    }
    return { outcomes, failed: undefined }
  }

  return {
    async create(actor, work) {
      const begun = await mutate(actor, async (m) => {
        const remote = nothingRemote()
        const { value, changes } = await collect(m, (held) => work(held, remote))
        if (remote.relations.length === 0) {
          for (const change of changes) m.record(change)
          return { value, rows: [], id: 0 }
        }
        m.unrecorded('recorded when the other side has it too')
        const { relations, changedRows } = remote
        const id = await begin(m, 'create', { changes, changedRows, relations })
        await m.claimKey({ value, rows: [], id: 0 })
        return { value, rows: await write(m, id, relations), id }
      })
      if (begun.id === 0) return begun.value
      const { outcomes, failed } = await callAll(begun.rows, post)
      if (failed) {
        await undo(begun.id, actor, outcomes)
        throw pending(failed.row, failed.outcome)
      }
      await confirm(begun.id, actor, urlsIn(outcomes))
      return begun.value
    },

    async delete(actor, { table, uuid }, work) {
      const begun = await mutate(actor, async (m) => {
        const rows = await m.sql<(Row & { spiegeling: number | null })[]>`
          select ${columns(m)}, pending_mirror_id as spiegeling from mirror
          where source_table = ${table} and source_uuid = ${uuid} and not released for update`
        if (rows.some(({ spiegeling }) => spiegeling !== null)) throw pendingFault()
        if (rows.length === 0) {
          await work(m)
          return { rows, id: 0 }
        }
        const [kept] = await m.sql<{ row: unknown }[]>`
          select to_jsonb(x) as row from ${m.sql(table)} x where x.uuid = ${uuid}`
        const { changes } = await collect(m, work)
        m.unrecorded('recorded when it has gone at the other side too')
        const id = await begin(m, 'delete', { changes, changedRows: [{ table, row: kept?.row }], relations: rows })
        await m.sql`update mirror set pending_mirror_id = ${id} where id = any(${rows.map((row) => row.id)}::bigint[])`
        return { rows, id }
      })
      if (begun.id === 0) return
      const { outcomes, failed } = await callAll(begun.rows, deleteThere)
      if (failed) {
        await undo(begun.id, actor, outcomes)
        throw pending(failed.row, failed.outcome)
      }
      await confirm(begun.id, actor, new Map())
    },

    async complete(id) {
      const found = await mutate(systemActor('spiegels'), async (m) => {
        const begun = await take(m, id)
        if (!begun) return undefined
        const row = one(await m.sql<{ actor: Partial<Actor> }[]>`select actor from pending_mirror where id = ${id}`)
        const rows = await rowsOf(m, id)
        const there = await Promise.all(rows.map((one) => isThere(m, one)))
        return { ...begun, rows, actor: { ...systemActor('spiegels'), ...row.actor }, there: there.every(Boolean) }
      })
      if (!found) return
      const { kind, rows, actor, there } = found
      const unknown = new Map<number, Outcome>(rows.map((row) => [row.id, { kind: 'unknown', reason: '' }]))
      if (kind === 'create' && !there) {
        await undo(id, actor, unknown)
        return
      }
      const call = kind === 'delete' ? deleteThere : lookThenPost
      const { outcomes, failed } = await callAll(rows, call)
      // Not knowing is a reason to try again later: the queue does.
      if (failed?.outcome.kind === 'unknown') throw new Error(`the other side did not answer: ${failed.outcome.reason}`)
      if (failed) await undo(id, actor, outcomes)
      else await confirm(id, actor, kind === 'create' ? urlsIn(outcomes) : new Map())
    },

    async removeStale(id) {
      const row = await mutate(systemActor('spiegels'), async (m) => {
        m.unrecorded('nothing changes')
        const [found] = await m.sql<Row[]>`select ${columns(m)} from mirror where id = ${id} and released`
        return found
      })
      if (!row) return
      const outcome = await deleteThere(row)
      if (outcome.kind !== 'ok') throw new Error(`the other side did not remove it: ${outcome.reason}`)
      await mutate(systemActor('spiegels'), async (m) => {
        m.unrecorded('our side recorded its change when it made it')
        await m.sql`delete from mirror where id = ${id} and released`
      })
    },
  }
}

/** Nobody changes this row of ours while another server is asked about it. @throws Problem 409 */
export async function requireSettled(m: Mutation, sourceTable: SourceName, uuid: string): Promise<void> {
  const [open] = await m.sql`
    select 1 from mirror where source_table = ${sourceTable} and source_uuid = ${uuid} and pending_mirror_id is not null limit 1`
  if (open) throw pendingFault()
}

/** As `releaseRemote`, but not before the other servers that `remote` names have agreed. */
export async function releaseAfterwards(
  m: Mutation,
  sourceTable: SourceName,
  uuid: string,
  remote: RemoteChange,
): Promise<void> {
  const rows = await m.sql<{ id: number }[]>`
    select id from mirror where source_table = ${sourceTable} and source_uuid = ${uuid} and not released for update`
  remote.changedRows.push({ released: rows.map(({ id }) => id) })
}

/** What a row was and has become, as far as that differs. */
export function difference(was: Record<string, unknown>, nu: Record<string, unknown>) {
  const names = Object.keys(was).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(nu[name]))
  const only = (row: Record<string, unknown>) => Object.fromEntries(names.map((name) => [name, row[name]]))
  return { was: only(was), nu: only(nu) }
}

/** Relations of these rows of ours are no more: at the other side a job removes them. @throws Problem 409 while one changes */
export async function releaseRemote(m: Mutation, sourceTable: SourceName, uuids: readonly string[]): Promise<void> {
  if (uuids.length === 0) return
  const rows = await m.sql<(Row & { spiegeling: number | null })[]>`
    select ${columns(m)}, pending_mirror_id as spiegeling from mirror
    where source_table = ${sourceTable} and source_uuid = any(${uuids as string[]}::uuid[]) and not released for update`
  if (rows.some(({ spiegeling }) => spiegeling !== null)) throw pendingFault()
  await scheduleRelease(m, rows)
}

async function scheduleRelease(m: Mutation, rows: { id: number }[]): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await m.sql`update mirror set released = true, pending_mirror_id = null where id = any(${ids}::bigint[])`
  const jobs = ids.map((id) => ({ payload: { id }, jobKey: `spiegel-${id}` }))
  await enqueueAll(m.trx, 'remove-relation', jobs)
}

type Begin = { changes: Change[]; changedRows: unknown[]; relations: RemoteRelation[] }
type Taken = Omit<Begin, 'relations'> & { kind: string }

/** Work of which the records are kept apart. */
async function collect<T>(m: Mutation, work: (held: Mutation) => Promise<T>) {
  const changes: Change[] = []
  const value = await work({ ...m, record: (change) => void changes.push(change) })
  return { value, changes }
}

/** Whether our side of a relation is there. */
async function isThere(m: Mutation, { sourceTable, sourceUuid }: Row): Promise<boolean> {
  const [row] = await m.sql`select 1 from ${m.sql(sourceTable)} where uuid = ${sourceUuid}`
  return row !== undefined
}

function urlsIn(outcomes: ReadonlyMap<number, Outcome>): Map<number, string> {
  return new Map([...outcomes].flatMap(([id, outcome]) => (outcome.kind === 'ok' ? [[id, outcome.url] as const] : [])))
}

function pending({ sourceTable, naam }: RemoteRelation, outcome: Outcome): Problem {
  const reason = 'reason' in outcome ? outcome.reason : ''
  const fault: InvalidParam = {
    name: naam ?? SOURCES[sourceTable],
    code: 'pending-relations',
    reason: `De relatie kon in het andere register niet worden bijgewerkt: ${reason}.`,
  }
  return invalidAll([fault])
}
