import type { Actor, Reach } from '../access.ts'
import { reach } from '../access.ts'
import type { InvalidParam } from '../problem.ts'
import type { Metagegevens } from './velden.ts'

export const SCOPES_LEZEN = ['documenten.lezen'] as const
export const lezen = { access: { component: 'drc', scopes: SCOPES_LEZEN } } as const

/** drc-005: what was received is not being drafted any more. */
export function statusFault(input: Pick<Metagegevens, 'ontvangstdatum' | 'status'>): InvalidParam[] {
  if (!input.ontvangstdatum || (input.status !== 'in_bewerking' && input.status !== 'ter_vaststelling')) return []
  return [
    {
      name: 'status',
      code: 'invalid_for_received',
      reason: 'Een ontvangen document is niet in_bewerking of ter_vaststelling.',
    },
  ]
}

/** drc-006: `true` arises only through a gebruiksrecht, which a new document cannot have. */
export function gebruiksrechtFault(input: Pick<Metagegevens, 'indicatieGebruiksrecht'>): InvalidParam[] {
  if (input.indicatieGebruiksrecht !== true) return []
  return [
    {
      name: 'indicatieGebruiksrecht',
      code: 'missing-gebruiksrechten',
      reason: 'Er zijn nog geen gebruiksrechten bij dit document: leg eerst een gebruiksrecht vast.',
    },
  ]
}

/** drc-001: documents are made of a published type. */
export function publishedFault(type: { concept: boolean }): InvalidParam[] {
  if (!type.concept) return []
  return [
    { name: 'informatieobjecttype', code: 'not-published', reason: 'Dit informatieobjecttype is nog een concept.' },
  ]
}

/** The documents that an actor may read, for `where`; the document is `e`, its latest version `v`. */
export function readable(actor: Actor): { reach: Reach; alleenGereed: boolean } {
  return { reach: reach(actor, 'drc', SCOPES_LEZEN), alleenGereed: actor.alleenGereedVoorPublicatie }
}
