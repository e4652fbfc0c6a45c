// Documents at other servers, as cases and besluiten of ours name them.

import type { FieldCode } from '../core/codes.ts'
import type { InvalidParam } from '../core/problem.ts'
import { resolveLink } from '../http/links.ts'
import type { Services } from '../services/services.ts'

const fault = (code: FieldCode, reason: string): InvalidParam => ({ name: 'informatieobject', code, reason })

/** A document at another server, as far as the rules look at it. */
export type RemoteDocument = { url: string; identificatie: string; informatieobjecttype: string }

/** brc-003, zrc-003 for a document elsewhere: to be asked before a transaction begins. Undefined for a URL of ours. */
export async function fetchDocumentElsewhere(
  services: Services,
  url: string,
  base: string,
): Promise<RemoteDocument | InvalidParam | undefined> {
  if (resolveLink(url, base).kind !== 'elsewhere') return undefined
  const fetched = await services.fetchJson(url)
  if (fetched.kind !== 'ok') return fault('bad-url', 'Dit document is niet op te vragen.')
  const { identificatie, informatieobjecttype, bronorganisatie } = (fetched.body ?? {}) as Record<string, unknown>
  if (typeof informatieobjecttype !== 'string' || typeof bronorganisatie !== 'string')
    return fault('invalid-resource', 'Deze URL is niet van een document.')
  return { url, identificatie: typeof identificatie === 'string' ? identificatie : '', informatieobjecttype }
}
