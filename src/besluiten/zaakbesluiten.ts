// brc-006: the other side of a besluit that was taken in a case of ours. It stands in the tables of the Zaken API, and comes
// and goes in the transaction of the besluit.
import type { Mutation } from '../mutate.ts'
import { touchZaak } from '../zaken/rules.ts'

type Kant = { uuid: string; zaakId: number | null; ingangsdatum: string; vervaldatum: string | null }

/** Brings the case in line with what a besluit was and has become; null: not there. Both cases are locked by the caller. */
export async function syncZaakbesluit(m: Mutation, oud: Kant | null, nieuw: Kant | null): Promise<void> {
  const [was, is] = [oud?.zaakId ?? null, nieuw?.zaakId ?? null]
  if (was !== null && was !== is) {
    await m.sql`delete from zaakbesluit where zaak_id = ${was} and besluit_uuid = ${oud!.uuid}`
    await touchZaak(m, was)
  }
  if (is === null) return
  const { uuid, ingangsdatum, vervaldatum } = nieuw!
  await m.sql`insert into zaakbesluit (zaak_id, besluit_uuid, ingangsdatum, vervaldatum)
    values (${is}, ${uuid}, ${ingangsdatum}, ${vervaldatum})
    on conflict on constraint zaakbesluit_uniek do update set ingangsdatum = excluded.ingangsdatum, vervaldatum = excluded.vervaldatum`
  await touchZaak(m, is)
}
