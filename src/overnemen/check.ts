// The proof: both sides are read in the intermediate form and compared, object by object. A difference that the report of the
// takeover already explains does not count.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type postgres from 'postgres'
import { type Uuids, unpack } from '../core/audit-contents.ts'
import { lastOf } from '../database/rows.ts'
import type { Store } from '../documenten/storage/index.ts'
import { NIL } from '../lib/uuid.ts'
import { type Addresses, addresses, adopt } from './addresses.ts'
import { type Answers, compareAnswers } from './answers.ts'
import { judgeGeometry } from './judge.ts'
import { KINDS, type Kind, kindOf, type List, type Taken } from './kinds.ts'
import { fingerprint, normalise } from './normalise.ts'
import { patient, untilThere, type Waiting } from './patience.ts'
import { type AuditRow, type Contents, type Finding, type Source, UnreadableContents } from './source.ts'
import { oldAddresses, openSource, type Takeover, type TakeoverParts, takeSnapshot } from './takeover.ts'
import { mainUuidOf } from './trail.ts'

export type Difference = {
  kind: string
  key: string
  code: 'ontbreekt' | 'te-veel' | 'verschilt' | 'antwoord'
  field: string
  text: string
}
export type Compared = {
  kind: string
  daar: number
  hier: number
  gelijk: number
  verschillen: number
  bekend: number
}
/** How many objects there are of one type, and of how many that is the type here too. */
/** `bekend`: not here, as the report says of each. */
export type OfType = { kind: string; type: string; daar: number; hier: number; bekend: number }
export type Proof = {
  compared: Compared[]
  types: OfType[]
  /** Of how many answers of both APIs, by kind. */
  answers: { kind: string; gevraagd: number; gelijk: number }[]
  differences: number
}
const PAGE = 5000
/** Parts are read below every object, and not only below those that changed in one round. */
const EVERY_ROUND = 0

/** Codes of findings that explain a value that differs from the source. Other findings are about values that are equal. */
const EXPLAINING = ['geometrie', 'slot-onbekend', 'client-id', 'type-elders', 'omvang-anders', 'zonder-inhoud']

/** Kinds whose rows have an order below a case. That of versions and parts of a document is in their numbers. */
const IN_ORDER = ['status', 'substatus', 'rol', 'zaakobject', 'zaakeigenschap', 'klantcontact']

/** Kinds that are counted per type, too. */
const TYPED: Record<string, (object: Taken) => unknown> = {
  zaak: ({ zaaktype }) => zaaktype,
  document: ({ versies }) => (versies as Taken[]).at(-1)?.informatieobjecttype,
  besluit: ({ besluittype }) => besluittype,
}

export type CheckOptions = {
  /** How many files are read on both sides and compared; the sizes of all others are. */
  files: number
  /** Both APIs, and of how many objects of each kind their answers are compared. */
  answers?: { there: Answers; thereUrl: string; here: Answers; perKind: number }
  report?: (difference: Difference) => void
  progress?: (kind: string, read: number) => void
  /** Told when the source is away. It is asked again until `signal`. */
  waiting?: Waiting
  signal?: AbortSignal
}

/** Objects as they stand here, in the intermediate form. */
export async function readBack(
  sql: postgres.Sql | postgres.ReservedSql,
  kind: Kind,
  uuids: string[],
): Promise<Map<string, Taken>> {
  const rows = await sql.unsafe<Taken[]>(
    `select t.uuid, ${[...valuesOf(kind, 't'), ...kind.lists.map(listOf)].join(', ') || '1 as niets'}
     from ${kind.table} t where t.uuid = any($1::uuid[])`,
    [uuids],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.uuid, normalise(kind, row)]))
}

function valuesOf({ columns, refs }: Pick<Kind, 'columns' | 'refs'>, alias: string): string[] {
  return [
    ...columns.map(({ name }) => `${alias}.${name}`),
    ...refs.map(({ name, kind, id, url }) => {
      const own = kind
        ? `(select r.uuid::text from ${kindOf(kind).table} r where r.id = ${alias}.${id})`
        : `${alias}.${id}::text`
      return `${url ? `coalesce(${own}, ${alias}.${url})` : own} as ${name}`
    }),
  ]
}

function listOf(list: List): string {
  return `coalesce((select json_agg(l) from (
    select ${valuesOf(list, 'x').join(', ')} from ${list.table} x where x.${list.parent} = t.id
    ${list.order ? `order by x.${list.order}` : ''}) l), '[]') as ${list.name}`
}

/** What was found until then is in the report, whatever happens. @throws when the source cannot be read */
export async function checkTakeover(
  parts: TakeoverParts & { store: Store },
  takeover: Takeover,
  options: CheckOptions,
): Promise<Proof> {
  const ask = <T>(work: () => Promise<T>) => untilThere(work, options.waiting ?? (() => {}), options.signal)
  const snapshot = await ask(() => takeSnapshot(parts, takeover))
  const opened = await ask(() => openSource(parts, takeover)).catch(async (error) => {
    await snapshot.release()
    throw error
  })
  const source = patient(opened, ask)
  const connection = await parts.database.sql.reserve()
  const compared = new Map<string, Compared>()
  const of = (kind: string) => {
    const found = compared.get(kind) ?? { kind, daar: 0, hier: 0, gelijk: 0, verschillen: 0, bekend: 0 }
    compared.set(kind, found)
    return found
  }
  const types = new Map<string, OfType>()
  const ofType = (kind: string, type: unknown) => {
    const key = `${kind} ${String(type)}`
    const found = types.get(key) ?? { kind, type: String(type), daar: 0, hier: 0, bekend: 0 }
    types.set(key, found)
    return found
  }
  const answers: Proof['answers'] = []
  const found: Difference[] = []
  let differences = 0
  /** @returns whether the report says so already */
  const differ = async (difference: Difference): Promise<boolean> => {
    const [listed] = await connection`
      select from takeover_remark where takeover_id = ${takeover.id} and outcome <> 'verschil'
        and kind = ${difference.kind} and key = ${difference.key}
        and (outcome = 'geweigerd' or code = any(${EXPLAINING})) limit 1`
    if (listed) {
      of(difference.kind).bekend++
      return true
    }
    of(difference.kind).verschillen++
    differences++
    found.push(difference)
    options.report?.(difference)
    if (found.length >= 500) await keep()
    return false
  }
  const keep = async () => {
    await connection`
      insert into takeover_remark (takeover_id, kind, key, outcome, code, field, text, round)
      select ${takeover.id}, kind, key, 'verschil', code, field, text, ${takeover.round}
      from jsonb_to_recordset(${JSON.stringify(found)}::text::jsonb)
        as r(kind text, key text, code text, field text, text text)
      on conflict (takeover_id, kind, key, code, field) do nothing`
    found.length = 0
  }
  try {
    await connection`set statement_timeout = 0`
    await connection`delete from takeover_remark where takeover_id = ${takeover.id} and outcome = 'verschil'`
    await connection`create temporary table seen (kind text, uuid uuid, place bigint generated always as identity)`
    const old = addresses(oldAddresses(takeover), takeover.settings.eigenUrl, [], takeover.settings.roots)
    // Kinds that were read completely. They belong here as well when the source has none of them.
    const looked = new Set(source.swept)
    for (const step of await source.plan(EVERY_ROUND)) {
      for (let position: string | null = null; ; ) {
        const portion = await source.read({
          name: step.name,
          above: step.above ?? null,
          until: step.until ?? null,
          position,
          round: EVERY_ROUND,
        })
        for (const [name, objects] of Map.groupBy(portion.objects, (one) => one.kind)) {
          const kind = kindOf(name)
          const ignored: Finding[] = []
          const there = objects.map(({ object }) =>
            normalise(kind, judgeGeometry(name, adopt(kind, object, old), ignored, takeover.settings.rd)),
          )
          const uuids = there.map(({ uuid }) => uuid)
          const here = await readBack(connection, kind, uuids)
          await see(name, uuids)
          of(name).daar += there.length
          of(name).hier += here.size
          for (const object of there) {
            const mine = here.get(object.uuid)
            if (TYPED[name]) {
              ofType(name, TYPED[name](object)).daar++
              if (mine) ofType(name, TYPED[name](mine)).hier++
            }
            if (!mine) {
              const isKnown = await differ({
                kind: name,
                key: object.uuid,
                code: 'ontbreekt',
                field: '',
                text: 'Staat in de bron en niet hier.',
              })
              if (isKnown && TYPED[name]) ofType(name, TYPED[name](object)).bekend++
            } else if (fingerprint(kind, object).equals(fingerprint(kind, mine))) of(name).gelijk++
            else
              for (const field of fieldsThatDiffer(kind, object, mine))
                await differ({
                  kind: name,
                  key: object.uuid,
                  code: 'verschilt',
                  field,
                  text: 'De waarde is in de bron anders dan hier.',
                })
          }
          options.progress?.(name, of(name).daar)
        }
        for (const { kind } of portion.complete ?? []) looked.add(kind)
        if (portion.audit) await compareAudit(portion.audit, old)
        if (portion.applicaties) await compareApplicaties(portion.applicaties)
        if (portion.next === null) break
        position = portion.next
      }
    }
    // A list may show less than there is without saying so: it is asked for its count too.
    for (const [kind, count] of (await source.counts?.()) ?? [])
      if (of(kind).daar < count)
        await differ({
          ...{ kind, key: 'lijst', code: 'ontbreekt', field: 'aantal' },
          text: `De bron telt er ${count}, en toont er ${of(kind).daar}.`,
        })
    // Objects that are here and that the source did not show.
    for (const { name, table, of: owner } of KINDS) {
      if (owner || !looked.has(name)) continue
      for (let after = NIL; ; ) {
        const extra = await connection<{ uuid: string }[]>`
          select o.uuid from takeover_object o join ${connection(table)} x on x.uuid = o.uuid
          where o.takeover_id = ${takeover.id} and o.kind = ${name} and o.uuid > ${after}
            and not exists (select from seen g where g.kind = ${name} and g.uuid = o.uuid)
          order by o.uuid limit ${PAGE}`
        for (const { uuid } of extra)
          await differ({
            kind: name,
            key: uuid,
            code: 'te-veel',
            field: '',
            text: 'Staat hier en niet meer in de bron.',
          })
        if (extra.length < PAGE) break
        after = lastOf(extra).uuid
      }
    }
    for (const kind of IN_ORDER) await compareOrder(kind, connection(kind), connection`x.zaak_id`)
    await compareOrder('audit', connection`audit`, connection`x.hoofd_object_uuid, x.bron`)
    await compareFiles(source)
    if (options.answers) {
      const { there, thereUrl, here, perKind } = options.answers
      // The source names itself as it is asked; requests within this process name it localhost.
      const both = addresses(
        [...oldAddresses(takeover), thereUrl, 'http://localhost'],
        takeover.settings.eigenUrl,
        [],
        takeover.settings.roots,
      )
      const found = await compareAnswers(
        connection,
        takeover,
        { there: (path) => ask(() => there(path)), here, addresses: both },
        perKind,
        async (difference) => {
          await differ({ ...difference, code: 'antwoord' })
        },
      )
      for (const [kind, { asked, equal }] of found) answers.push({ kind, gevraagd: asked, gelijk: equal })
    }
    await connection`update takeover set checked_at = now(), differences = ${differences} where id = ${takeover.id}`
  } finally {
    await keep().catch(() => {})
    await connection`drop table if exists seen`.catch(() => {})
    await connection`reset statement_timeout`.catch(() => {})
    connection.release()
    await source.close()
    await snapshot.release()
  }
  return { compared: [...compared.values()], types: [...types.values()], answers, differences }

  /** Notes that the source has these, in this order. */
  async function see(kind: string, uuids: string[]): Promise<void> {
    await connection`
      insert into seen (kind, uuid) select ${kind}, uuid from unnest(${uuids}::uuid[]) with ordinality u(uuid, n) order by n`
  }

  /** Objects that come here before one that is before them there. What was refused at first came later than its neighbours. */
  async function compareOrder(
    kind: string,
    table: postgres.PendingQuery<postgres.Row[]> | postgres.Helper<string>,
    owner: postgres.PendingQuery<postgres.Row[]>,
  ): Promise<void> {
    const moved = connection<{ uuid: string }[]>`
      select uuid from (
        select x.uuid, g.place, lag(g.place) over (partition by ${owner}, t.changed_in order by x.id) as before
        from seen g join ${table} x on x.uuid = g.uuid
        left join takeover_object t on t.uuid = x.uuid and t.kind = g.kind where g.kind = ${kind}) o
      where before > place`
    for (const { uuid } of await moved)
      await differ({
        kind,
        key: uuid,
        code: 'verschilt',
        field: 'volgorde',
        text: 'Staat in de bron op een andere plaats in de volgorde dan hier.',
      })
  }

  async function compareAudit(rows: AuditRow[], { toUuid }: Addresses): Promise<void> {
    const usable = rows.flatMap((row) => {
      const main = mainUuidOf(row.hoofd_object, toUuid)
      return main === undefined ? [] : [{ ...row, main }]
    })
    await see(
      'audit',
      usable.map(({ uuid }) => uuid),
    )
    of('audit').daar += rows.length
    const lines = usable.map(({ uuid, main, actie, aanmaakdatum }) => ({ uuid, main, actie, aanmaakdatum }))
    const found = await connection<
      (Uuids & { uuid: string; hier: boolean; same: boolean; packed: Buffer | null; made: object | null })[]
    >`
      select r.uuid, r.main as "hoofdObjectUuid", a.resource_uuid as "resourceUuid", a.uuid is not null as hier, a.packed, a.made,
        coalesce(a.actie = r.actie and a.aanmaakdatum = r.aanmaakdatum, false) as same
      from json_to_recordset(${JSON.stringify(lines)}::text::json) as r(uuid uuid, main uuid, actie text, aanmaakdatum timestamptz)
      left join audit a on a.hoofd_object_uuid = r.main and a.uuid = r.uuid`
    const given = new Map(usable.map((row) => [row.uuid, row]))
    // What stands here is sealed: it is compared as it is read.
    const isSide = (text: string | null | undefined, here: unknown) =>
      isDeepStrictEqual(text ? JSON.parse(text) : null, here ?? null)
    const missing = found.filter(({ uuid, same, packed, ...line }) => {
      const row = given.get(uuid)
      const here = same && packed ? unpack(parts.box.numbers, { ...line, packed }) : undefined
      return !here || !isSide(row?.oud, here.oud) || !isSide(row?.nieuw, here.nieuw)
    })
    of('audit').hier += usable.length - missing.filter(({ hier }) => !hier).length
    of('audit').gelijk += usable.length - missing.length
    for (const { uuid, hier } of missing)
      await differ({
        kind: 'audit',
        key: uuid,
        code: hier ? 'verschilt' : 'ontbreekt',
        field: '',
        text: hier ? 'De regel is in de bron anders dan hier.' : 'Staat in de bron en niet hier.',
      })
  }

  async function compareApplicaties(
    rows: NonNullable<Awaited<ReturnType<Source['read']>>['applicaties']>,
  ): Promise<void> {
    for (const { uuid, label, client_ids, heeft_alle_autorisaties, uitgeschreven, ...rights } of rows) {
      const [mine] = await connection<{ gelijk: boolean }[]>`
        select a.label = ${label} and a.heeft_alle_autorisaties = ${heeft_alle_autorisaties}
          and (${uitgeschreven === true} or (select count(*) from autorisatie r where r.applicatie_id = a.id) = ${rights.autorisaties.length})
          and (select count(*) from catalogus_autorisatie r where r.applicatie_id = a.id) = ${rights.catalogus_autorisaties.length}
          and array(select c.client_id from applicatie_client_all c where c.applicatie_id = a.id order by 1) =
            array(select unnest(${client_ids}::text[]) order by 1) as gelijk
        from applicatie a where a.uuid = ${uuid}`
      of('applicatie').daar++
      if (mine) of('applicatie').hier++
      if (mine?.gelijk) of('applicatie').gelijk++
      else
        await differ({
          kind: 'applicatie',
          key: uuid,
          code: mine ? 'verschilt' : 'ontbreekt',
          field: '',
          text: mine ? 'Naam, client-ids of rechten zijn anders.' : 'Staat in de bron en niet hier.',
        })
    }
  }

  /** Bytes that are not here, and for a sample a second reading of both sides. */
  async function compareFiles(source: Source): Promise<void> {
    // Through a cursor on a connection of its own: they may be millions.
    const waiting = parts.database.sql<{ uuid: string; versie: number }[]>`
      select e.uuid, i.versie from takeover_file b
      join takeover_content i on i.takeover_file_id = b.id
      join enkelvoudiginformatieobject e on e.id = i.enkelvoudiginformatieobject_id
      where b.takeover_id = ${takeover.id} and b.state <> 'klaar'`.cursor(PAGE)
    for await (const rows of waiting)
      for (const { uuid, versie } of rows)
        await differ({
          kind: 'bestand',
          key: uuid,
          code: 'ontbreekt',
          field: `versie ${versie}`,
          text: 'De inhoud is niet hier.',
        })
    const [counted] = await connection<{ daar: number; hier: number }[]>`
      select count(*)::bigint as daar, count(file_id)::bigint as hier from takeover_file b
      where b.takeover_id = ${takeover.id} and exists (select from takeover_content i where i.takeover_file_id = b.id)`
    Object.assign(of('bestand'), counted)
    if (!source.contents) return
    let [after, left] = ['', options.files]
    for (; left > 0; ) {
      const sample = await connection<{ plaats: string; path: string; key: string; uuid: string; versie: number }[]>`
        select md5(b.id::text) as plaats, b.path, f.key, e.uuid, i.versie from (
          select * from takeover_file
          where takeover_id = ${takeover.id} and state = 'klaar' and md5(id::text) > ${after}
          order by md5(id::text) limit ${Math.min(left, PAGE)}) b
        join file f on f.id = b.file_id
        join lateral (select * from takeover_content i where i.takeover_file_id = b.id limit 1) i on true
        join enkelvoudiginformatieobject e on e.id = i.enkelvoudiginformatieobject_id
        order by plaats`
      for (const { path, key, uuid, versie } of sample) {
        const [a, b] = [
          await digest(source.contents(path)).catch((error) => {
            if (!(error instanceof UnreadableContents)) throw error
          }),
          await digest(parts.store.read(key)),
        ]
        if (a !== undefined && a === b) of('bestand').gelijk++
        else
          await differ({
            kind: 'bestand',
            key: uuid,
            code: 'verschilt',
            field: `versie ${versie}`,
            text: 'De inhoud is in de bron anders dan hier.',
          })
      }
      options.progress?.('bestand', of('bestand').gelijk)
      if (sample.length === 0) break
      after = lastOf(sample).plaats
      left -= sample.length
    }
  }
}

/** The SHA-256 of the bytes; undefined when there are none. */
async function digest(reading: ReturnType<Contents>): Promise<string | undefined> {
  const found = await reading
  if (!found) return undefined
  const hash = createHash('sha256')
  for await (const chunk of found.stream) hash.update(chunk)
  return hash.digest('hex')
}

function fieldsThatDiffer(kind: Kind, a: Taken, b: Taken): string[] {
  const names = [...kind.columns, ...kind.refs, ...kind.lists].map(({ name }) => name)
  const without = (value: unknown) =>
    JSON.stringify(value, (key, inner: unknown) => {
      if (key === 'path') return undefined
      return inner && typeof inner === 'object' && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)))
        : inner
    })
  return names.filter((name) => without(a[name]) !== without(b[name]))
}
