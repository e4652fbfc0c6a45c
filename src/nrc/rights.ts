// Rights in the Notificaties API. They are not limited to types.
import type { Actor } from '../core/actor.ts'
import { forbidden } from '../core/problem.ts'

const CONSUMEREN = 'notificaties.consumeren'
const PUBLICEREN = 'notificaties.publiceren'

export const readAccess = { access: { component: 'nrc', scopes: [CONSUMEREN, PUBLICEREN] } } as const
export const subscribeAccess = { access: { component: 'nrc', scopes: [CONSUMEREN] } } as const
export const publishAccess = { access: { component: 'nrc', scopes: [PUBLICEREN] } } as const

/** An abonnement is that of the applicatie that made it; who has all rights reaches all. */
export const owns = (actor: Actor, applicatieUuid: string | null): boolean =>
  actor.alleAutorisaties || actor.applicatieUuid === applicatieUuid

/** @throws Problem 403 for an abonnement of another applicatie */
export function requireOwner(actor: Actor, applicatieUuid: string | null): void {
  if (!owns(actor, applicatieUuid)) throw forbidden(undefined, 'Dit abonnement is van een andere applicatie.')
}
