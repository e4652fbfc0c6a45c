// Ends a round: deletes what is gone at the source, moves sequences of numbers past the highest that was taken, removes from the
// report what was mended, and tells which addresses stand in the data.

import type postgres from 'postgres'
import { isLastStatustype } from '../catalogi/type-relations.ts'
import { type Hoofdtype, shareDay, TYPE_KEY } from '../catalogi/versions.ts'
import { kyselyOn } from '../database/database.ts'
import { expected, one } from '../database/rows.ts'
import { isOwnKey } from '../documenten/storage/index.ts'
import { enqueue } from '../jobs/queue.ts'
import { NIL } from '../lib/uuid.ts'
import { type AddressCounts, addCounts } from './addresses.ts'
import { goneBelow, goneMain, MAIN, READ_WITH } from './changes.ts'
import { KINDS, kindOf, placeOf, type Taken } from './kinds.ts'
import { countsPerYear, moveNumbers, numberPerYear, numbersHere } from './numbers.ts'
import { clashes } from './own-work.ts'
import type { Finding, Portion, Source } from './source.ts'
import type { Takeover, TakeoverParts } from './takeover.ts'
import type { Sql } from './write.ts'

const PORTION = 2000
/** Kinds that a round reads only as far as they changed. */
const NOT_WHOLE = [...MAIN, ...Object.keys(READ_WITH), 'zaakrelatie', 'bestand', 'audit', 'adres']
type Ended = { findings: Finding[]; next: string | null; removed?: number }

/** Tables whose rows keep a document, a case or a type from being removed; they are removed before it. */
const order = () => [...KINDS].sort((a, b) => placeOf(b.name) - placeOf(a.name)).map(({ name }) => name)

/**
 * Finds a portion of what this round did not see, the last kinds first.
 * @returns what removes it
 */
export async function deleteGone(
  read: postgres.Sql,
  takeover: Takeover,
  source: Source,
  position: string | null,
): Promise<(sql: Sql) => Promise<Ended>> {
  // In a dry run every round is the first.
  if (takeover.trial) return async () => ({ findings: [], next: null })
  const names = ['applicatie', ...order().filter((name) => source.swept.includes(name))]
  const [at, after] = (position ?? `0:${NIL}`).split(':') as [string, string]
  const kind = names[Number(at)]
  if (!kind) return async () => ({ findings: [], next: null })
  const next = `${Number(at) + 1}:${NIL}`
  // A round that reads only what changed sees no more than that.
  if (takeover.changes_only && (MAIN.includes(kind) || READ_WITH[kind])) {
    const uuids = MAIN.includes(kind)
      ? await goneMain(read, source, takeover, kind)
      : await goneBelow(read, takeover, kindOf(kind))
    return async (sql) => {
      if (uuids.length > 0) await deleteObjects(sql, kind, uuids)
      if (kind === 'zaak' && uuids.length > 0) await deleteObjects(sql, 'zaakrelatie', uuids)
      return { findings: [], next, removed: uuids.length }
    }
  }
  if (takeover.changes_only && kind === 'zaakrelatie') return async () => ({ findings: [], next })
  const unseen = await read<{ uuid: string }[]>`
    select uuid from takeover_object
    where takeover_id = ${takeover.id} and kind = ${kind} and round < ${takeover.round} and uuid > ${after}
    order by uuid limit ${PORTION}`
  const gone: string[] = []
  for (const { uuid } of unseen) if (!source.isGone || (await source.isGone(kind, uuid))) gone.push(uuid)
  const last = unseen.at(-1)?.uuid
  return async (sql) => {
    if (gone.length > 0) await deleteObjects(sql, kind, gone)
    return { findings: [], next: last ? `${at}:${last}` : next, removed: gone.length }
  }
}

/** Removes what hung below these objects and does so no more: all that hangs there now is in the portion. */
export async function deleteBelow(
  sql: Sql,
  complete: NonNullable<Portion['complete']>,
  objects: { kind: string; object: Taken }[],
): Promise<void> {
  for (const [kind, parents] of Map.groupBy(complete, (one) => one.kind)) {
    const { table, refs } = kindOf(kind)
    const { column } = expected(parents[0])
    const parentTable = kindOf(expected(refs.find(({ id }) => id === column)?.kind)).table
    const kept = objects.filter((one) => one.kind === kind).map(({ object }) => object.uuid)
    const gone = await sql<{ uuid: string }[]>`
      select x.uuid from ${sql(table)} x join ${sql(parentTable)} p on p.id = x.${sql(column)}
      join takeover_object o on o.uuid = x.uuid and o.kind = ${kind}
      where p.uuid = any(${parents.map(({ parent }) => parent)}::uuid[]) and x.uuid <> all(${kept}::uuid[])`
    if (gone.length > 0)
      await deleteObjects(
        sql,
        kind,
        gone.map(({ uuid }) => uuid),
      )
  }
}

/** Removes objects and their places in the register. A row that something of ours hangs on stays, and is ours from then on. */
export async function deleteObjects(sql: Sql, name: string, uuids: string[]): Promise<void> {
  await sql`delete from takeover_object where kind = ${name} and uuid = any(${uuids}::uuid[])`
  await sql`delete from takeover_remark where kind = ${name} and key = any(${uuids}::text[])`
  await sql`delete from mirror where source_table = ${name} and source_uuid = any(${uuids}::uuid[])`
  const kind = name === 'applicatie' ? { table: 'applicatie', of: undefined } : kindOf(name)
  if (kind.of) return // its row is that of another kind, and goes with it
  if (name === 'document') await forgetBytes(sql, uuids)
  if (name === 'zaakinformatieobject' || name === 'besluitinformatieobject') await deleteOtherSide(sql, name, uuids)
  // Rows that refer to it are deleted first: a source without a list of these does not tell that they are gone.
  for (const below of order()
    .map(kindOf)
    .filter(({ of }) => !of))
    for (const { id, kind: target, optional } of below.refs) {
      if (target !== name || optional) continue
      const rows = await sql<{ uuid: string }[]>`
        select x.uuid from ${sql(below.table)} x join ${sql(kind.table)} p on p.id = x.${sql(id)}
        join takeover_object o on o.uuid = x.uuid and o.kind = ${below.name}
        where p.uuid = any(${uuids}::uuid[])`
      if (rows.length > 0)
        await deleteObjects(
          sql,
          below.name,
          rows.map(({ uuid }) => uuid),
        )
    }
  for (const uuid of await removable(sql, kind.table, uuids)) {
    try {
      await sql.savepoint((inner) => inner`delete from ${inner(kind.table)} where uuid = ${uuid}`)
    } catch (error) {
      if ((error as { code?: string }).code !== '23503') throw error
    }
  }
  if (['zaak', 'document', 'besluit'].includes(name))
    await sql`delete from audit where hoofd_object_uuid = any(${uuids}::uuid[])`
}

/** All at once when nothing stands in the way, which is nearly always. @returns those that have to be tried one by one */
async function removable(sql: Sql, table: string, uuids: string[]): Promise<string[]> {
  try {
    await sql.savepoint((inner) => inner`delete from ${inner(table)} where uuid = any(${uuids}::uuid[])`)
    return []
  } catch (error) {
    if ((error as { code?: string }).code !== '23503') throw error
    return uuids
  }
}

/** That a document belongs to a case or a decision stands on both sides, and goes from both. */
async function deleteOtherSide(sql: Sql, kind: string, uuids: string[]): Promise<void> {
  const owner = kind === 'zaakinformatieobject' ? 'zaak' : 'besluit'
  const rows = await sql<{ uuid: string }[]>`
    select o.uuid from ${sql(kind)} x join ${sql(owner)} p on p.id = x.${sql(`${owner}_id`)}
    join objectinformatieobject o
      on o.enkelvoudiginformatieobject_id = x.enkelvoudiginformatieobject_id and o.object_uuid = p.uuid
    where x.uuid = any(${uuids}::uuid[])`
  if (rows.length > 0)
    await deleteObjects(
      sql,
      'objectinformatieobject',
      rows.map(({ uuid }) => uuid),
    )
}

/** Copies of bytes that no version names any more are removed by the job that also does so after a delete through the API. */
async function forgetBytes(sql: Sql, uuids: string[]): Promise<void> {
  const rows = await sql<{ id: number; key: string }[]>`
    select distinct b.id, b.key from enkelvoudiginformatieobject e
    join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id
    join file b on b.id = v.file_id where e.uuid = any(${uuids}::uuid[])`
  const copies = rows.filter(({ key }) => isOwnKey(key)).map(({ id }) => id)
  if (copies.length > 0) await enqueue(kyselyOn(sql), 'remove-file', { bestanden: copies })
}

/** The last step of a round. */
export async function finish(sql: Sql, { config }: Pick<TakeoverParts, 'config'>, takeover: Takeover): Promise<Ended> {
  const findings: Finding[] = []
  // Unpublished types that are in use: allowed there by a setting.
  const concepts = await sql<{ uuid: string; kind: string; identificatie: string }[]>`
    select t.uuid, 'zaaktype' as kind, t.identificatie from zaaktype t where t.concept and exists (select from zaak z where z.zaaktype_id = t.id)
    union all
    select t.uuid, 'informatieobjecttype', t.omschrijving from informatieobjecttype t
      where t.concept and exists (select from enkelvoudiginformatieobject e where e.informatieobjecttype_id = t.id)
    union all
    select t.uuid, 'besluittype', t.omschrijving from besluittype t where t.concept and exists (select from besluit b where b.besluittype_id = t.id)`
  for (const { uuid, kind, identificatie } of concepts)
    findings.push({
      ...{ kind, key: uuid, identificatie },
      outcome: 'gemarkeerd',
      code: 'concept-in-gebruik',
      field: 'concept',
      text: 'Dit type is niet gepubliceerd en wel in gebruik.',
    })
  // Versions that are valid on the same day, which its API lets through. What is asked of that day gets both.
  for (const type of Object.keys(TYPE_KEY) as Hoofdtype[]) {
    const key = TYPE_KEY[type]
    const both = await sql<{ uuid: string; name: string; begin: string }[]>`
      select t.uuid, t.${sql(key)} as name, other.begin_geldigheid as begin from ${sql(type)} t
      join ${sql(type)} other on other.catalogus_id = t.catalogus_id and other.${sql(key)} = t.${sql(key)} and other.id <> t.id
        and (other.begin_geldigheid, other.id) > (t.begin_geldigheid, t.id) and ${sql.unsafe(shareDay('t', 'other'))}
      where t.${sql(key)} <> '' and not t.concept and not other.concept`
    for (const { uuid, name, begin } of both)
      findings.push({
        ...{ kind: type, key: uuid, identificatie: name },
        outcome: 'gemarkeerd',
        code: 'versies-overlappen',
        field: 'eindeGeldigheid',
        text: `De versie die op ${begin} begint, geldt op een dag waarop deze versie ook geldt.`,
      })
  }
  // We keep what the source says. Its dates are evidence, and we cannot tell which of the two is wrong.
  const disagreeing = await sql<{ uuid: string; dicht: boolean }[]>`
    select z.uuid, z.einddatum is not null as dicht from zaak z
    left join lateral (
      select s.is_eindstatus, s.statustype_id from status s where s.zaak_id = z.id order by s.datum_status_gezet desc limit 1
    ) s on true
    left join statustype y on y.id = s.statustype_id
    where exists (select from takeover_object o where o.takeover_id = ${takeover.id} and o.kind = 'zaak' and o.uuid = z.uuid
        and (not ${takeover.changes_only} or o.round = ${takeover.round}))
      and (z.einddatum is not null) <> coalesce(s.is_eindstatus, y.id is not null and ${sql.unsafe(isLastStatustype('y'))}, false)`
  for (const { uuid, dicht } of disagreeing)
    findings.push({
      ...{ kind: 'zaak', key: uuid, owner: uuid },
      outcome: 'gemarkeerd',
      code: 'einddatum-status',
      field: 'einddatum',
      text: dicht
        ? 'De zaak heeft een einddatum, maar haar laatste status is niet de eindstatus. Zet de eindstatus of heropen haar.'
        : 'De laatste status is de eindstatus, maar de zaak heeft geen einddatum. Zet de eindstatus opnieuw.',
    })
  await sql`select keep_decided_archiving(${takeover.id}, 'overgenomen')`
  // Of all that there is: what changed since says little.
  if (!takeover.changes_only) findings.push(...(await addressFindings(sql, takeover)))
  // Bytes that are here are not read again.
  await sql`
    update takeover_remark set round = ${takeover.round}
    where takeover_id = ${takeover.id} and kind = 'bestand' and code = 'omvang-anders'
      and exists (select from enkelvoudiginformatieobject e where e.uuid::text = key)`
  // What this round did not look at keeps its remarks.
  await sql`
    delete from takeover_remark r where r.takeover_id = ${takeover.id} and r.round < ${takeover.round}
      and (not ${takeover.changes_only} or r.kind <> all(${NOT_WHOLE}::text[])
        or exists (select from takeover_object o
          where o.uuid::text = r.key and o.kind = r.kind and o.round = ${takeover.round})
        or r.kind = 'bestand' and not exists (
          select from enkelvoudiginformatieobject e join takeover_content i on i.enkelvoudiginformatieobject_id = e.id
          join takeover_file b on b.id = i.takeover_file_id where e.uuid::text = r.key and b.state <> 'klaar'))`
  if (takeover.trial) {
    const { schema } = one(await sql<{ schema: string }[]>`select current_schema() as schema`)
    // The tables of the dry run are found first by their name: here both sides are needed.
    await sql`select set_config('search_path', replace(current_setting('search_path'), ${`${schema}, `}, ''), true)`
    findings.push(...(await clashes(sql, schema, takeover)))
    await sql`select set_config('search_path', ${`${schema}, `} || current_setting('search_path'), true)`
    return { findings, next: null }
  }
  // Reservations whose number a case or document has by now.
  await sql`
    delete from reserved_zaaknummer r using zaak z
    where z.identificatie = r.identificatie and z.bronorganisatie = r.bronorganisatie`
  await sql`
    delete from reserved_documentnummer r using enkelvoudiginformatieobject e
    where e.identificatie = r.identificatie and e.bronorganisatie = r.bronorganisatie`
  // A database told its numbers at the begin of the round.
  if (takeover.kind === 'api') {
    const numbers = await numbersHere(sql)
    await moveNumbers(sql, numbers)
    if (countsPerYear(numbers) && !takeover.settings.samenvoegen)
      await numberPerYear(sql, config.zaakIdentificatieGenerator)
  }
  const [perYear] = await sql`
    select from setting where name = 'ZAAK_IDENTIFICATIE_GENERATOR' and value = 'use-number-per-year'`
  if (perYear)
    findings.push({
      kind: 'overneming',
      key: 'zaak',
      outcome: 'gemarkeerd',
      code: 'nummer-per-jaar',
      text: 'Nieuwe zaken krijgen een nummer dat elk jaar bij 1 begint, zoals in de bron. Bij Instellingen is dat te wijzigen.',
    })
  await sql`select fold_counts()`
  return { findings, next: null }
}

/** Which addresses of installations stand in what was read, how often and where: the operator confirms those of the source. */
async function addressFindings(sql: Sql, { id, round }: Takeover): Promise<Finding[]> {
  const steps = await sql<{ addresses: AddressCounts }[]>`
    select addresses from takeover_step where takeover_id = ${id} and round = ${round} and addresses <> '{}'`
  const all = steps.reduce((sum, { addresses }) => addCounts(sum, addresses), {} as AddressCounts)
  return Object.entries(all).flatMap(([address, { confirmed, places }]) =>
    Object.entries(places).map(([place, count]) => ({
      kind: 'adres',
      key: address,
      outcome: 'gemarkeerd' as const,
      code: confirmed ? 'adres-oud' : 'adres-onbevestigd',
      field: place,
      text: confirmed
        ? `Komt ${count} keer voor, en wordt het adres van hier.`
        : `Komt ${count} keer voor, en blijft staan. Is het een oud adres van de bron, geef het dan mee: --old-url https://${address}`,
    })),
  )
}
