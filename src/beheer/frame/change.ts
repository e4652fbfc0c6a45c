// Change: how the pages change things. One transaction with its row in the audit log; what the changed component records
// itself (audit trail, notification) goes along in it.
import type { FastifyRequest } from 'fastify'
import { json, type Mutation } from '../../core/mutate.ts'
import { inLanguage } from '../language/language.ts'
import { beheerActor } from './session.ts'

/** What was done to what, for the audit log. Never with a secret in it. */
export type AuditEntry = {
  /** Short code such as `account-maken`. */
  handeling: string
  soort: string
  id?: string
  weergave?: string
  oud?: unknown
  nieuw?: unknown
}

export type PageMutation = Mutation & {
  /** At least once, or all is rolled back. */
  audit(record: AuditEntry): void
}

/**
 * Changes something on behalf of whoever is signed in. What is stored is Dutch, in whichever language the pages are.
 * @param toelichting why, for the audit trail of the API
 */
export async function mutateFromPage<T>(
  request: FastifyRequest,
  work: (m: PageMutation) => Promise<T>,
  { toelichting = '' } = {},
): Promise<T> {
  return request.server.mutate({ ...beheerActor(request), toelichting }, async (m) => {
    const records: AuditEntry[] = []
    const value = await inLanguage('nl', () => work({ ...m, audit: (record) => void records.push(record) }))
    if (records.length === 0) throw new Error('a change in the pages left no record: rolled back')
    m.unrecorded('it is in beheer_audit; what the standard records has been recorded by the component')
    await writeAudit(m.trx, request, records)
    return value
  })
}

/** Rows of the audit log for what is no change through `mutateFromPage`: signing in and out, and what was refused. */
export async function writeAudit(
  db: Mutation['trx'],
  request: FastifyRequest,
  records: (AuditEntry & { resultaat?: 'geslaagd' | 'geweigerd'; gebruiker?: string })[],
): Promise<void> {
  await db
    .insertInto('beheerAudit')
    .values(
      records.map(({ handeling, soort, id, weergave, oud, nieuw, resultaat, gebruiker }) => ({
        accountUuid: request.beheerder?.uuid ?? null,
        gebruiker: gebruiker ?? request.beheerder?.gebruikersnaam ?? '',
        herkomst: request.ip,
        handeling,
        resultaat: resultaat ?? 'geslaagd',
        objectKind: soort,
        objectId: id ?? '',
        objectWeergave: (weergave ?? '').slice(0, 200).toWellFormed(),
        oud: json(oud),
        nieuw: json(nieuw),
      })),
    )
    .execute()
}
