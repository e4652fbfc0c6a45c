// brc-006: the other side of a besluit that was taken in a case of ours. It comes and goes in the transaction of the
// besluit, and archiving of a closed case follows its dates.
import type { Mutation } from '../core/mutate.ts'
import { touchZaak, type ZaakCore } from '../zaken/lock.ts'
import { announceChange } from '../zaken/records.ts'
import { changeLinkedBesluit, linkBesluit, unlinkBesluit } from '../zaken/zaakbesluiten.ts'
import type { BesluitRow } from './columns.ts'

/** A besluit with its case, which is locked by the caller. */
type Side = { row: BesluitRow; zaak: ZaakCore | null }

/** Brings the cases in line with what a besluit was and has become; null: not there. */
export async function syncZaakbesluit(m: Mutation, oud: Side | null, nieuw: Side | null): Promise<void> {
  if (oud?.zaak && oud.zaak.id !== nieuw?.zaak?.id) await unlinkBesluit(m, oud.zaak, oud.row.uuid)
  if (!nieuw?.zaak) return
  const { uuid: besluitUuid, ingangsdatum, vervaldatum } = nieuw.row
  const besluit = { besluitUuid, ingangsdatum, vervaldatum }
  if (oud?.zaak?.id !== nieuw.zaak.id) return linkBesluit(m, nieuw.zaak, besluit)
  announceChange(m, nieuw.zaak)
  const sameDates = oud.row.ingangsdatum === ingangsdatum && oud.row.vervaldatum === vervaldatum
  // Archiving is not derived again for nothing: someone may have set its dates by hand.
  await (sameDates ? touchZaak(m, nieuw.zaak.id) : changeLinkedBesluit(m, nieuw.zaak, besluit))
}
