// Changing a case.
import { sql, type Updateable } from 'kysely'
import { NO_REMOTE_TYPES, type RemoteTypes } from '../../catalogi/remote-types.ts'
import { LIMITS } from '../../core/limits.ts'
import { type Actie, json, type Mutation } from '../../core/mutate.ts'
import { type InvalidParam, immutable, notFound, throwFaults } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import type { Zaak as ZaakTable } from '../../database/types.ts'
import { localUuid } from '../../http/links.ts'
import { holdZaak, requireForcedWhenClosed } from '../lock.ts'
import { zaakEvent, zaakLabel, zakenKanaal } from '../records.ts'
import { BIJWERKEN, requireMay } from '../rights.ts'
import { rederiveArchivering } from './archive.ts'
import { noteByHand } from './archive-by-hand.ts'
import { holdBeside, named } from './beside.ts'
import { encoded, toColumns, toZaak, type ZaakInput, type ZaakPatch } from './columns.ts'
import { boundingBox, judgeKept } from './geometry.ts'
import { recorded } from './long-lists.ts'
import { requireZaakMatch } from './match.ts'
import { findZaak } from './read.ts'
import { judgeHoofdzaak, judgeRelations, otherRelated, writeRelations } from './relations.ts'
import {
  archivingFaults,
  openedFaults,
  paymentFaults,
  productenFaults,
  type Settings,
  type ZaakBody,
  zaaktypeFaults,
} from './rules.ts'

/** Changes what is given; the same for PUT and PATCH, since what is absent keeps its value. */
export async function changeZaak(
  m: Mutation,
  uuid: string,
  actie: Actie,
  given: ZaakPatch,
  settings: Settings,
  faults: InvalidParam[] = [],
  typen: RemoteTypes = NO_REMOTE_TYPES,
): Promise<ZaakBody> {
  const { base } = m.actor
  const isOpened = actie === 'partial_update' && Object.keys(given).join() === 'laatstGeopend'
  const kern = await holdZaak(m, uuid)
  if (!kern) throw notFound()
  requireMay(m.actor, BIJWERKEN, kern)
  const { vertrouwelijkheidaanduiding } = given // nobody raises a case above what he may touch
  if (vertrouwelijkheidaanduiding) requireMay(m.actor, BIJWERKEN, { ...kern, vertrouwelijkheidaanduiding })
  const before = expected(await findZaak(m.read, uuid, LIMITS.recorded))
  await requireZaakMatch(m, before)
  const oud = recorded(toZaak(before, base))
  const geometrie = judgeKept('zaakgeometrie', given.zaakgeometrie)
  const hoofdzaak = await judgeHoofdzaak(m, given.hoofdzaak, kern, typen, kern)
  const relaties = await judgeRelations(m, given, uuid)
  // zrc-014: who sets `nvt` and says nothing of the date, takes the date away
  if (given.betalingsindicatie === 'nvt' && given.laatsteBetaaldatum === undefined) given.laatsteBetaaldatum = null
  const merged = { ...oud, ...given } as ZaakInput
  throwFaults([
    ...(given.identificatie && given.identificatie !== oud.identificatie ? [immutable('identificatie')] : []),
    ...(await zaaktypeFaults(m, given.zaaktype, kern, typen, settings)),
    ...paymentFaults(merged, settings),
    ...(given.productenOfDiensten ? await productenFaults(m, given.productenOfDiensten, oud, kern, typen) : []),
    ...openedFaults(given, settings),
    ...geometrie.faults,
    ...hoofdzaak.faults,
    ...relaties.faults,
    ...faults,
    ...(await archivingFaults(m, kern, given, oud)),
  ])
  requireForcedWhenClosed(m, kern)
  const moves = given.hoofdzaak !== undefined && hoofdzaak.id !== kern.hoofdzaakId
  const recordBeside = await holdBeside(
    m,
    [
      ...(await otherRelated(m, kern.id, given, relaties)),
      ...(moves ? [kern.hoofdzaakId, hoofdzaak.id].flatMap((id) => named('hoofdzaak', id)) : []),
    ],
    settings,
  )
  const columns: Updateable<ZaakTable> = {
    ...toColumns(given),
    ...(given.zaakgeometrie !== undefined && {
      zaakgeometrie: json(geometrie.geometrie),
      zaakgeometrieGrenzen: geometrie.geometrie && boundingBox(geometrie.geometrie),
    }),
    ...(given.hoofdzaak !== undefined && { hoofdzaakId: hoofdzaak.id }),
  }
  const changed = Object.entries(given).some(
    ([name, value]) =>
      name !== 'laatstGeopend' && JSON.stringify(value) !== JSON.stringify(oud[name as keyof typeof oud]),
  )
  const values = {
    ...encoded(columns, json),
    ...(changed && { laatstGemuteerd: sql<string>`moment_from(laatst_gemuteerd)` }),
  }
  if (Object.keys(values).length > 0) await m.trx.updateTable('zaak').set(values).where('id', '=', kern.id).execute()
  if (given.relevanteAndereZaken || given.gerelateerdeZaken) await writeRelations(m, kern.id, relaties, given)
  await noteByHand(m, kern.id, given, oud)
  if (moves) await rederiveArchivering(m, kern.id, ['hoofdzaak'], undefined, 'went')
  const related = given.relevanteAndereZaken || given.gerelateerdeZaken
  const nowRelated = [...(given.relevanteAndereZaken ?? []), ...(given.gerelateerdeZaken ?? [])]
  if (related && nowRelated.every(({ url }) => localUuid(url, base, 'zaak')))
    await rederiveArchivering(m, kern.id, ['gerelateerde_zaak'], new Map(), 'went')
  await recordBeside()
  const after = expected(await findZaak(m.read, uuid, LIMITS.recorded))
  const zaak = toZaak(after, base)
  m.record({
    component: 'zrc',
    actie,
    resource: 'zaak',
    url: zaak.url,
    uuid,
    weergave: zaakLabel(after),
    kanaal: zakenKanaal(after, base),
    oud,
    nieuw: recorded(zaak),
  })
  m.announce(zaakEvent(after, isOpened ? 'geopend' : 'gemuteerd', base))
  return zaak
}
