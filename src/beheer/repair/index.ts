// repair: what is mended by hand, by who has the role hersteller: the functions and rules of the API, a reason, a preview and a
// record. Never a table.
import type { FastifyInstance } from 'fastify'
import { registerDocumentRepairs } from './documenten.ts'
import { registerReservedNumbers } from './numbers.ts'
import { registerZaakRepairs } from './zaken.ts'

export async function registerRepairs(app: FastifyInstance): Promise<void> {
  await registerZaakRepairs(app)
  registerDocumentRepairs(app)
  registerReservedNumbers(app)
}
