// The last proof: the APIs of both sides are asked for the same objects and must give the same answers. Fields that only our
// answer has belong to a newer version of the standard, and do not count. Values may be spelled differently, and lists of URLs may
// have another order.
import type postgres from 'postgres'
import { expected } from '../database/rows.ts'
import { inParallel } from '../documenten/storage/migrate.ts'
import { isDuration, isoDuration } from '../http/duration.ts'
import { PATHS } from '../http/links.ts'
import type { Addresses } from './addresses.ts'
import { KINDS, kindOf } from './kinds.ts'
import { moment } from './normalise.ts'

/** Answers a GET of a path: what it says as JSON. */
export type Answers = (path: string) => Promise<{ status: number; body: unknown }>
export type AnswerDifference = { kind: string; key: string; field: string; text: string }

const AT_ONCE = 4

/** Kinds that have an address of their own in the APIs. */
const RESOURCES: Record<string, string> = {
  ...Object.fromEntries(KINDS.filter(({ name }) => name in PATHS).map(({ name }) => [name, PATHS[name as 'zaak']])),
  zaaktype_informatieobjecttype: PATHS.zaaktypeinformatieobjecttype,
  document: PATHS.enkelvoudiginformatieobject,
  gebruiksrecht: PATHS.gebruiksrechten,
  applicatie: PATHS.applicatie,
}
/** Kinds whose objects stand below their case. */
const BELOW_CASE: Record<string, string> = { zaakeigenschap: 'zaakeigenschappen', zaakbesluit: 'besluiten' }
const WITH_TRAIL = new Set(['zaak', 'document', 'besluit'])
/** Related types: which of their versions are named is a rule of each service. What is linked is compared row by row. */
const VERSIONS = new Set(['zaaktypen', 'informatieobjecttypen', 'besluittypen'])
const TYPES = new Set(['zaaktype', 'informatieobjecttype', 'besluittype'])
/** In words, what another field says as a code. */
const IN_WORDS = new Set(['betalingsindicatieWeergave'])

/**
 * Asks both sides for a sample of every resource: the objects with their audit trails, and the versions of documents.
 * @param perKind of how many objects of each kind; the same ones every time
 * @returns by kind, how many answers were compared and how many of them were equal
 */
export async function compareAnswers(
  sql: postgres.Sql | postgres.ReservedSql,
  takeover: { id: number },
  sides: { there: Answers; here: Answers; addresses: Addresses },
  perKind: number,
  differ: (difference: AnswerDifference) => Promise<void>,
): Promise<Map<string, { asked: number; equal: number }>> {
  const found = new Map<string, { asked: number; equal: number }>()
  for (const kind of [...Object.keys(RESOURCES), ...Object.keys(BELOW_CASE)]) {
    const sample = await sql<{ uuid: string }[]>`
      select uuid from takeover_object where takeover_id = ${takeover.id} and kind = ${kind}
      order by md5(uuid::text) limit ${perKind}`
    if (sample.length === 0) continue
    const counts = { asked: 0, equal: 0 }
    found.set(kind, counts)
    const paths = await pathsOf(sql, kind, sample)
    const differences: AnswerDifference[] = []
    await inParallel(paths, AT_ONCE, async ({ uuid, path, remark }) => {
      const [there, here] = await Promise.all([sides.there(path), sides.here(path)])
      counts.asked++
      // An object without a line has no trail there, and an empty one here.
      const noTrail = (status: number, body: unknown) =>
        path.endsWith('/audittrail') && (status === 404 || (Array.isArray(body) && body.length === 0))
      if (noTrail(there.status, there.body) && noTrail(here.status, here.body)) {
        counts.equal++
        return
      }
      if (there.status !== 200 || here.status !== 200) {
        const text = `De API van de bron antwoordt met status ${there.status}, die van hier met ${here.status}.`
        differences.push({ kind, key: uuid, field: remark, text })
        return
      }
      const fields = fieldsThatDiffer(
        spelled(there.body, sides.addresses),
        spelled(here.body, sides.addresses),
        TYPES.has(kind),
      )
      if (fields.length === 0) counts.equal++
      for (const field of fields)
        differences.push({
          kind,
          key: uuid,
          field: [remark, field].filter(Boolean).join(' '),
          text: 'De API van de bron antwoordt iets anders dan die van hier.',
        })
    })
    for (const difference of differences) await differ(difference)
  }
  return found
}

async function pathsOf(
  sql: postgres.Sql | postgres.ReservedSql,
  kind: string,
  sample: { uuid: string }[],
): Promise<{ uuid: string; path: string; remark: string }[]> {
  const uuids = sample.map(({ uuid }) => uuid)
  if (BELOW_CASE[kind]) {
    const rows = await sql<{ uuid: string; zaak: string }[]>`
      select x.uuid, z.uuid as zaak from ${sql(kindOf(kind).table)} x join zaak z on z.id = x.zaak_id
      where x.uuid = any(${uuids}::uuid[])`
    return rows.map(({ uuid, zaak }) => ({
      uuid,
      path: `${PATHS.zaak}/${zaak}/${BELOW_CASE[kind]}/${uuid}`,
      remark: '',
    }))
  }
  const path = expected(RESOURCES[kind])
  const all = uuids.map((uuid) => ({ uuid, path: `${path}/${uuid}`, remark: '' }))
  if (WITH_TRAIL.has(kind))
    all.push(...uuids.map((uuid) => ({ uuid, path: `${path}/${uuid}/audittrail`, remark: 'audittrail' })))
  if (kind === 'document') {
    const older = await sql<{ uuid: string; versie: number }[]>`
      select e.uuid, v.versie from enkelvoudiginformatieobject e
      join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id
      where e.uuid = any(${uuids}::uuid[]) and v.versie < e.versie`
    for (const { uuid, versie } of older)
      all.push({ uuid, path: `${path}/${uuid}?versie=${versie}`, remark: `versie ${versie}` })
  }
  return all
}

/** The value in one spelling: our addresses, moments in UTC, terms as we write them, and one form of nothing. */
function spelled(value: unknown, { rewrite }: Addresses): unknown {
  if (typeof value === 'string') {
    if (isDuration(value)) return isoDuration(value)
    return rewrite(moment(value)) || null
  }
  if (Array.isArray(value)) {
    const items = value.map((one) => spelled(one, { rewrite } as Addresses))
    const plain = items.every((one) => typeof one === 'string')
    const rows = items.every((one) => typeof (one as { uuid?: unknown } | null)?.uuid === 'string') // of an audit trail
    if (plain) items.sort()
    else if (rows) items.sort((a, b) => ((a as { uuid: string }).uuid < (b as { uuid: string }).uuid ? -1 : 1))
    return items.length === 0 ? null : items
  }
  if (value === null || typeof value !== 'object') return value === undefined ? null : value
  const fields = Object.entries(value)
    .filter(([name]) => name !== '_expand')
    .map(([name, inner]) => [name, spelled(inner, { rewrite } as Addresses)] as const)
  return fields.every(([, inner]) => inner === null || inner === false) ? null : Object.fromEntries(fields)
}

/** Paths of fields that the first says otherwise than the second; of a type, the second may name more versions of others. */
function fieldsThatDiffer(there: unknown, here: unknown, ofType: boolean, at = ''): string[] {
  if (Array.isArray(there)) {
    if (ofType && VERSIONS.has(at)) return Array.isArray(here) && there.every((one) => here.includes(one)) ? [] : [at]
    if (!Array.isArray(here) || here.length !== there.length) return [at]
    return [...new Set(there.flatMap((one, place) => fieldsThatDiffer(one, here[place], ofType, at)))]
  }
  if (there !== null && typeof there === 'object') {
    if (here === null || typeof here !== 'object' || Array.isArray(here)) return [at]
    return Object.entries(there).flatMap(([name, inner]) => {
      const [mine, path] = [(here as Record<string, unknown>)[name] ?? null, at === '' ? name : `${at}.${name}`]
      return IN_WORDS.has(path) ? [] : fieldsThatDiffer(inner, mine, ofType, path)
    })
  }
  // Nothing there is an empty list: more versions may be named here.
  return there === here || (there === null && ofType && VERSIONS.has(at)) ? [] : [at]
}
