// Changing a besluit, which may move it to another case.
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../core/problem.ts'
import { expected, one } from '../database/rows.ts'
import { requireMatch } from '../http/etag.ts'
import {
  difference,
  type RemoteChange,
  releaseAfterwards,
  releaseRemote,
  requireSettled,
} from '../services/remote-relations.ts'
import { requireWritable, type ZaakCore } from '../zaken/lock.ts'
import { type Besluit, type BesluitPatch, type BesluitRow, toBesluit, toColumns } from './columns.ts'
import { zaakbesluitElsewhere } from './create.ts'
import { lockBesluit, zaakOf } from './lock.ts'
import { findBesluit } from './read.ts'
import { recordBesluit } from './record.ts'
import { BIJWERKEN, requireMay } from './rights.ts'
import {
  besluittypeChangeFaults,
  dateFaults,
  identificatieChangeFaults,
  judgeZaak,
  type Settings,
  type ZaakElsewhere,
  zaaktypeElsewhereFaults,
  zaaktypeFaults,
} from './rules.ts'
import { syncZaakbesluit } from './zaakbesluiten.ts'

export type ChangeKind = 'update' | 'partial_update'

/**
 * A PATCH keeps what it does not name; a PUT keeps the number. Type, number and organisation stay in any case.
 * @param context.zaakElsewhere what `fetchZaakElsewhere` found of a case that it moves to, with `remote` for the other side
 * @param context.zaaktypen those that a type elsewhere names
 */
export async function changeBesluit(
  m: Mutation,
  uuid: string,
  actie: ChangeKind,
  given: BesluitPatch,
  context: {
    config: Settings
    zaakElsewhere: ZaakElsewhere | InvalidParam | undefined
    zaaktypen: string[]
    remote: RemoteChange
  },
): Promise<Besluit> {
  const { base } = m.actor
  const before = await lockBesluit(m, uuid)
  requireMay(m.actor, BIJWERKEN, before)
  requireMatch(m, () => toBesluit(before, m.actor.base))
  await requireSettled(m, 'besluit', uuid)
  const { config, zaaktypen, remote } = context
  const oud = toBesluit(before, base)
  const current = await zaakOf(m, before)
  const stays = before.zaakUrl !== null && given.zaak === before.zaakUrl
  const asked = stays ? { zaak: null, naar: null, faults: [] } : await judgeNewZaak(m, before, given.zaak, context)
  const { naar } = asked
  const leaves = before.zaakUrl !== null && given.zaak !== undefined && !stays
  const known = before.besluittypeUrl !== null && asked.zaak?.id === current?.id // judged when it was given
  throwFaults([
    ...identificatieChangeFaults(given, before), // brc-002
    ...(await besluittypeChangeFaults(m.read, given, before, base, config)), // brc-001
    ...asked.faults,
    ...dateFaults(given, config),
    ...(await zaaktypeFaults(m.read, { id: before.besluittypeId, zaaktypen }, known ? null : asked.zaak)), // brc-007
  ])
  for (const zaak of [current, asked.zaak]) if (zaak) requireWritable(m, zaak)
  const { identificatie, verantwoordelijkeOrganisatie, ...columns } = toColumns(given)
  const zaak = given.zaak === undefined ? current : asked.zaak
  const was = naar ? await bothSides(m, uuid, current) : null
  await m.trx
    .updateTable('besluit')
    .set({
      ...columns,
      zaakId: zaak?.id ?? null,
      ...(given.zaak !== undefined && !stays && { zaakUrl: naar?.url ?? null }),
    })
    .where('id', '=', before.id)
    .execute()
  const row = expected(await findBesluit(m.read, uuid))
  const nieuw = toBesluit(row, base)
  recordBesluit(m, actie, row, oud, nieuw)
  await syncZaakbesluit(m, { row: before, zaak: current }, { row, zaak }) // brc-006
  if (leaves && naar) await releaseAfterwards(m, 'besluit', uuid, remote)
  else if (leaves) await releaseRemote(m, 'besluit', [uuid])
  if (naar && was) {
    remote.relations.push(zaakbesluitElsewhere(naar.url, uuid, base)) // brc-006
    remote.changedRows.push(...undone(uuid, current, was, await bothSides(m, uuid, current)))
  }
  return nieuw
}

/** brc-006, brc-007: the case that a besluit moves to; `naar` when that stands elsewhere. */
async function judgeNewZaak(
  m: Mutation,
  { besluittypeId }: BesluitRow,
  url: string | undefined,
  { zaakElsewhere, zaaktypen }: { zaakElsewhere: ZaakElsewhere | InvalidParam | undefined; zaaktypen: string[] },
): Promise<{ zaak: ZaakCore | null; naar: ZaakElsewhere | null; faults: InvalidParam[] }> {
  if (!zaakElsewhere) return { ...(await judgeZaak(m, url)), naar: null }
  if ('code' in zaakElsewhere) return { zaak: null, naar: null, faults: [zaakElsewhere] }
  const faults = await zaaktypeElsewhereFaults(m.read, { id: besluittypeId, zaaktypen }, zaakElsewhere, m.actor.base)
  return { zaak: null, naar: zaakElsewhere, faults }
}

type Json = Record<string, unknown>
type Sides = { besluit: Json; zaakbesluit: Json | null; zaak: Json | null }

/** A besluit and its place in a case of ours, as they stand in the database. */
async function bothSides(m: Mutation, uuid: string, zaak: ZaakCore | null): Promise<Sides> {
  const id = zaak?.id ?? null
  const row = one(
    await m.sql<Omit<Sides, 'zaak'>[]>`
    select to_jsonb(b) as besluit,
      (select to_jsonb(x) from zaakbesluit x where x.zaak_id = ${id} and x.besluit_uuid = b.uuid) as zaakbesluit
    from besluit b where b.uuid = ${uuid}`,
  )
  return { ...row, zaak: await archivering(m, zaak?.uuid ?? null) }
}

/** What archiving of a case of ours is: a besluit may change it. */
export async function archivering(m: Mutation, zaakUuid: string | null): Promise<Json | null> {
  if (zaakUuid === null) return null
  const [row] = await m.sql<{ zaak: Json }[]>`
    select jsonb_build_object('archiefnominatie', archiefnominatie, 'archiefactiedatum', archiefactiedatum,
      'startdatum_bewaartermijn', startdatum_bewaartermijn) as zaak from zaak where uuid = ${zaakUuid}`
  return row?.zaak ?? null
}

/** What has to be as it was when the server of the new case refuses. */
function undone(uuid: string, zaak: ZaakCore | null, was: Sides, nu: Sides): RemoteChange['changedRows'] {
  const rows: RemoteChange['changedRows'] = [{ table: 'besluit', uuid, ...difference(was.besluit, nu.besluit) }]
  if (was.zaakbesluit) rows.push({ table: 'zaakbesluit', row: was.zaakbesluit })
  if (zaak && was.zaak && nu.zaak) rows.push({ table: 'zaak', uuid: zaak.uuid, ...difference(was.zaak, nu.zaak) })
  return rows
}
