// What becomes of rights when types come, go and change their name. Consumers keep the rights of applications, and look
// again only when told to: so who changes a type says here what it was and is, in the same transaction.
import { sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { link } from '../http/links.ts'
import { recordApplicatie } from './applicatie/change.ts'
import { requireApplicatie, toApplicatie } from './applicatie/read.ts'
import type { TypedComponent } from './rights.ts'

/** Where rights for a catalogue or for a type find a version: `key` is its identificatie or omschrijving. */
export type TypePlace = { catalogusId: number; key: string }

/** Announces every application of which a right for a catalogue or a type reaches a version in one place but not in the other. */
export async function announceType(
  m: Mutation,
  component: TypedComponent,
  was: TypePlace | null,
  is: TypePlace | null,
): Promise<void> {
  if (was?.catalogusId === is?.catalogusId && was?.key === is?.key) return
  const reaches = (place: TypePlace | null) =>
    place ? sql`(k.catalogus_id = ${place.catalogusId} and k.type in ('', ${place.key}::text))` : sql`false`
  const { rows } = await sql<{ uuid: string; label: string }>`
    select distinct a.uuid, a.label from catalogus_autorisatie k join applicatie a on a.id = k.applicatie_id
    where k.component = ${component} and ${reaches(was)} <> ${reaches(is)}`.execute(m.trx)
  for (const { uuid, label } of rows) {
    m.record({
      component: 'ac',
      actie: 'update',
      resource: 'applicatie',
      url: link(m.actor.base, 'applicatie', uuid),
      uuid,
      weergave: label,
      kanaal: { naam: 'autorisaties', kenmerken: {} },
      oud: null,
      nieuw: null,
      spoor: 'geen', // the application did not change
    })
  }
}

/** Ends the rights that were given for one version, which is removed. An application that has no other rights stays. */
export async function revokeType(
  m: Mutation,
  component: TypedComponent,
  typeUuid: string,
  was: TypePlace,
): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    select a.uuid from applicatie a
    where a.id in (select r.applicatie_id from autorisatie r where r.type_uuid = ${typeUuid})
    order by a.id for no key update`.execute(m.trx)
  for (const { uuid } of rows) {
    const before = await requireApplicatie(m.read, uuid)
    await m.trx
      .deleteFrom('autorisatie')
      .where('applicatieId', '=', before.id)
      .where('typeUuid', '=', typeUuid)
      .execute()
    recordApplicatie(m, 'update', toApplicatie(before, m.actor.base), await requireApplicatie(m.read, uuid))
  }
  await announceType(m, component, was, null)
}
