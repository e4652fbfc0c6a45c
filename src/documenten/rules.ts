// The rules of documents and of what hangs on them, each once, by the number that the standard gives it.

import { type InvalidParam, invalid, type Problem } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { resolveLink } from '../http/links.ts'
import { warn } from '../telemetry/current-request.ts'
import type { Metagegevens } from './document/columns.ts'

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

/** What is signed is not being drafted, says the description of the field; servers in use take it, so that it is warned of. */
export function warnOfSignature({ ondertekening, status }: Pick<Metagegevens, 'ondertekening' | 'status'>): void {
  if (ondertekening && (status === 'in_bewerking' || status === 'ter_vaststelling'))
    warn(`Een document met een ondertekening is niet ${status}.`)
}

/** drc-006: `true` arises only through a gebruiksrecht, and holds as long as there is one. */
export function gebruiksrechtFault(
  input: Pick<Metagegevens, 'indicatieGebruiksrecht'>,
  gebruiksrechten = false,
): InvalidParam[] {
  const name = 'indicatieGebruiksrecht'
  if (input.indicatieGebruiksrecht === true && !gebruiksrechten) {
    const reason = 'Er zijn nog geen gebruiksrechten bij dit document: leg eerst een gebruiksrecht vast.'
    return [{ name, code: 'missing-gebruiksrechten', reason }]
  }
  if (input.indicatieGebruiksrecht !== true && gebruiksrechten) {
    return [{ name, code: 'existing-gebruiksrechten', reason: 'Er zijn gebruiksrechten bij dit document.' }]
  }
  return []
}

/** The stated size is that of the content. @throws Problem 400 `file-size` */
export function requireFileSize(content: { size: number } | null, stated: number | null | undefined): void {
  if (content && content.size !== stated)
    throw invalid(
      'nonFieldErrors',
      'file-size',
      `De inhoud is ${content.size} bytes groot, niet ${stated ?? 'onbekend'}.`,
    )
}

/** Exactly one way in which a verzending reached or left its betrokkene. */
export function contactChannelFault(input: {
  binnenlandsCorrespondentieadres?: unknown
  buitenlandsCorrespondentieadres?: unknown
  correspondentiePostadres?: unknown
  telefoonnummer?: string
  faxnummer?: string
  emailadres?: string
  mijnOverheid?: boolean
}): InvalidParam[] {
  const channels = [
    input.binnenlandsCorrespondentieadres,
    input.buitenlandsCorrespondentieadres,
    input.correspondentiePostadres,
    input.telefoonnummer,
    input.faxnummer,
    input.emailadres,
    input.mijnOverheid,
  ]
  if (channels.filter(Boolean).length === 1) return []
  const reason =
    'Geef precies een van binnenlandsCorrespondentieadres, buitenlandsCorrespondentieadres, correspondentiePostadres, telefoonnummer, faxnummer, emailadres en mijnOverheid.'
  return [{ name: 'nonFieldErrors', code: 'invalid-address', reason }]
}

/** drc-008: what still belongs to something is not deleted. @throws Problem 400 `pending-relations` */
export async function requireNoRelations(db: ReadDb, documentId: number): Promise<void> {
  const relation = await db
    .selectFrom('objectinformatieobject')
    .where('enkelvoudiginformatieobjectId', '=', documentId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  if (relation) throw pendingRelations()
}

/** The same rule as the database keeps it, for a relation that came in between. */
export function pendingRelations(): Problem {
  return invalid('nonFieldErrors', 'pending-relations', 'Er zijn nog objecten waaraan dit document gekoppeld is.')
}

/** Since 1.3 a locked document is not deleted. @throws Problem 400 `destroy-locked` */
export function requireUnlockedForDelete(lock: string | null): void {
  if (lock !== null)
    throw invalid('nonFieldErrors', 'destroy-locked', 'Een vergrendeld document kan niet worden verwijderd.')
}

/** Whether there is at least one, whatever the document says about it (drc-006). */
export async function hasGebruiksrechten(db: ReadDb, documentId: number): Promise<boolean> {
  const found = await db
    .selectFrom('gebruiksrecht')
    .where('enkelvoudiginformatieobjectId', '=', documentId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * The document that a sub-resource names.
 * @throws Problem 400 on `informatieobject`: `bad-url` when it does not exist, `incorrect_match` for another resource
 */
export function requireDocumentUrl(url: string, base: string): string {
  const target = resolveLink(url, base)
  if (target.kind !== 'ours') throw unknownDocument()
  if (target.resource !== 'enkelvoudiginformatieobject')
    throw invalid('informatieobject', 'incorrect_match', 'Deze URL is van een andere resource.')
  return target.uuid
}

/** 400 `bad-url` on `informatieobject`. */
export function unknownDocument(): Problem {
  return invalid('informatieobject', 'bad-url', 'Dit document bestaat niet.')
}

/** A gebruiksrecht stays with its document. @throws Problem 400 `wijzigen-niet-toegelaten` */
export function requireSameDocument(same: boolean): void {
  if (!same)
    throw invalid('informatieobject', 'wijzigen-niet-toegelaten', 'Het informatieobject kan niet worden gewijzigd.')
}
