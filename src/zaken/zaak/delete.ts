// Deleting a case, with all that hangs on it.

import { LIMITS } from '../../core/limits.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound, onObject, throwFaults } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { unlinkAllOf } from '../../documenten/object-links.ts'
import { link } from '../../http/links.ts'
import { today } from '../../lib/day.ts'
import { releaseRemote } from '../../services/remote-relations.ts'
import { holdZaak, holdZaken, isArchived, requireForcedWhenClosed, type ZaakCore } from '../lock.ts'
import { publishedZaken } from '../published.ts'
import { zaakEvent, zaakLabel, zakenKanaal } from '../records.ts'
import { requireMay, VERWIJDEREN } from '../rights.ts'
import { toZaak } from './columns.ts'
import { recorded } from './long-lists.ts'
import { requireZaakMatch } from './match.ts'
import { findZaak } from './read.ts'

/** zrc-023: a case goes with all that hangs on it, its parts and its audit trail; documents stay. */
export async function deleteZaak(m: Mutation, uuid: string): Promise<void> {
  const { base } = m.actor
  const kern = await holdZaak(m, uuid)
  if (!kern) throw notFound()
  requireMay(m.actor, VERWIJDEREN, kern)
  const before = expected(await findZaak(m.read, uuid, LIMITS.recorded))
  await requireZaakMatch(m, before)
  const found = await m.sql<{ id: number }[]>`
    with recursive familie as (
      select id from zaak where id = ${kern.id} union select z.id from zaak z join familie f on z.hoofdzaak_id = f.id
    ) select id from familie`
  const ids = found.map(({ id }) => id)
  const held = new Map((await holdZaken(m, ids, 'delete')).map((zaak) => [zaak.id, zaak]))
  const family = ids.flatMap((id) => held.get(id) ?? [])
  for (const one of family) requireMayDelete(m, one)
  const [besluit] = await m.sql`select 1 from zaakbesluit where zaak_id = any(${ids}::bigint[]) limit 1`
  if (besluit) throwFaults([onObject('related-besluiten', 'Aan de zaak zijn nog besluiten gekoppeld.')])
  const oud = recorded(toZaak(before, base))
  const published = await publishedZaken(
    m.sql,
    family.map((one) => one.uuid),
  )
  for (const one of family) m.announce({ ...zaakEvent(one, 'verwijderd', base), published: published.has(one.uuid) })
  await unlinkAllOf(
    m,
    family.map((one) => one.uuid),
  )
  await releaseRemoteBelow(m, ids)
  await m.noteInvolved(family.map((one) => one.uuid))
  await m.sql`delete from zaak where id = any(${ids}::bigint[])`
  for (const one of family) {
    m.record({
      component: 'zrc',
      actie: 'destroy',
      resource: 'zaak',
      url: link(base, 'zaak', one.uuid),
      uuid: one.uuid,
      weergave: zaakLabel(one),
      kanaal: zakenKanaal(one, base),
      oud: one.id === kern.id ? oud : null,
      nieuw: null,
      spoor: 'wis',
    })
  }
}

/**
 * All of a family goes, or nothing. What is archived and is to be kept today goes only by force.
 * @throws Problem 403
 */
function requireMayDelete(m: Mutation, zaak: ZaakCore): void {
  requireMay(m.actor, VERWIJDEREN, zaak)
  const isKept = zaak.archiefnominatie !== 'vernietigen' || !zaak.archiefactiedatum || zaak.archiefactiedatum > today()
  if (isArchived(zaak) && zaak.archiefstatus !== 'overgedragen' && isKept) requireForcedWhenClosed(m, zaak)
}

/** Registers elsewhere are told afterwards that the case has gone. */
async function releaseRemoteBelow(m: Mutation, ids: number[]): Promise<void> {
  for (const bron of ['zaakinformatieobject', 'zaakcontactmoment', 'zaakverzoek'] as const) {
    const rows = await m.sql<{ uuid: string }[]>`
      select x.uuid from ${m.sql(bron)} x join mirror s on s.source_uuid = x.uuid where x.zaak_id = any(${ids}::bigint[])`
    await releaseRemote(
      m,
      bron,
      rows.map(({ uuid }) => uuid),
    )
  }
}
