// Cases beside the one that changes: its hoofdzaak and its gerelateerde zaken, whose answers change with it. They pass the gate of
// every write, and get a record and a moment of their own.

import { LIMITS } from '../../core/limits.ts'
import type { Mutation } from '../../core/mutate.ts'
import { forbiddenNow, throwFaults } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { ARCHIVED, holdZaken, isFixed, requireForcedWhenClosed, touchZaak, type ZaakCore } from '../lock.ts'
import { zaakEvent, zaakLabel, zakenKanaal } from '../records.ts'
import { KOPPELEN, mayDo } from '../rights.ts'
import { toZaak } from './columns.ts'
import { recorded } from './long-lists.ts'
import { findZaak } from './read.ts'
import type { Settings } from './rules.ts'

/** A case of ours with the field that names it. */
export type Named = { field: 'hoofdzaak' | 'gerelateerdeZaken'; id: number }

/** As a list: empty for none, and for one elsewhere. */
export const named = (field: Named['field'], id: number | null | undefined): Named[] =>
  id === null || id === undefined ? [] : [{ field, id }]

/**
 * Holds the cases of ours that change along with another.
 * @param settings.relateWithoutRights leaves their rights out, as Open Zaak does; archived ones stay as they are all the same
 * @returns what records their change, once it is made
 * @throws Problem 400 when one is archived; 403 without a right on one, or without the forced scope on one that is closed
 */
export async function holdBeside(
  m: Mutation,
  named: readonly Named[],
  { relateWithoutRights }: Pick<Settings, 'relateWithoutRights'>,
): Promise<() => Promise<void>> {
  if (named.length === 0) return async () => {}
  const fields = new Map(named.map(({ field, id }) => [id, field]))
  const held = await holdZaken(m, [...fields.keys()], 'change')
  const fieldOf = ({ id }: ZaakCore) => expected(fields.get(id))
  if (!relateWithoutRights)
    for (const zaak of held)
      if (!mayDo(m.actor, KOPPELEN, zaak))
        throw forbiddenNow(`U mag de zaak die ${fieldOf(zaak)} noemt niet wijzigen, en die wijzigt mee.`)
  throwFaults(held.filter((zaak) => isFixed(m, zaak)).map((zaak) => ({ ...ARCHIVED, name: fieldOf(zaak) })))
  if (!relateWithoutRights) for (const zaak of held) requireForcedWhenClosed(m, zaak)
  const before = new Map<number, object>()
  for (const { id, uuid } of held) before.set(id, await shown(m, uuid))
  return async () => {
    for (const zaak of held) {
      await touchZaak(m, zaak.id)
      const row = expected(await findZaak(m.read, zaak.uuid, LIMITS.recorded))
      const nieuw = recorded(toZaak(row, m.actor.base))
      m.record({
        component: 'zrc',
        actie: 'partial_update',
        resource: 'zaak',
        url: nieuw.url,
        uuid: zaak.uuid,
        weergave: zaakLabel(row),
        kanaal: zakenKanaal(row, m.actor.base),
        oud: expected(before.get(zaak.id)),
        nieuw,
      })
      m.announce(zaakEvent(row, 'gemuteerd', m.actor.base))
    }
  }
}

const shown = async (m: Mutation, uuid: string) =>
  recorded(toZaak(expected(await findZaak(m.read, uuid, LIMITS.recorded)), m.actor.base))
