// Which scopes the routes of the Catalogi API ask, and whose rights waive the rules of what was published.
import { isAllowedSomewhere } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'

const SCHRIJVEN = 'catalogi.schrijven'
const GEFORCEERD_SCHRIJVEN = 'catalogi.geforceerd-schrijven'
const GEFORCEERD_VERWIJDEREN = 'catalogi.geforceerd-verwijderen'
/** ztc-014: who may read cases or documents may read the types of them. */
export const readAccess = {
  access: {
    component: 'ztc',
    scopes: ['catalogi.lezen'],
    or: { component: 'zrc', scopes: ['zaken.lezen'], or: { component: 'drc', scopes: ['documenten.lezen'] } },
  },
} as const
export const writeAccess = { access: { component: 'ztc', scopes: [SCHRIJVEN] } } as const
/** Also for who only corrects what was published already. */
export const updateAccess = { access: { component: 'ztc', scopes: [SCHRIJVEN, GEFORCEERD_SCHRIJVEN] } } as const
export const deleteAccess = { access: { component: 'ztc', scopes: [SCHRIJVEN, GEFORCEERD_VERWIJDEREN] } } as const

/** Whether the rules that protect published types are waived for this actor. */
export const mayForce = (actor: Actor) => isAllowedSomewhere(actor, 'ztc', [GEFORCEERD_SCHRIJVEN])
/** Whether what was published may be removed all the same. */
export const mayForceDelete = (actor: Actor) => isAllowedSomewhere(actor, 'ztc', [GEFORCEERD_VERWIJDEREN])
