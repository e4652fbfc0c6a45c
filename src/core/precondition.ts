// What a change asks of the state that it finds: If-Match and If-None-Match (RFC 9110, 13.1).
import { Problem } from './problem.ts'

export type Precondition = {
  /** ETags with commas between, or `*`; empty when nothing was asked. */
  ifMatch: string
  ifNoneMatch: string
  /** Whether the resource that changes was held against it. */
  isJudged: boolean
}

/** Whether an ETag is among those of a header, by the strong comparison of RFC 9110: a weak one is none of ours. */
const isNamed = (tags: string, etag: string): boolean =>
  tags === '*' || tags.split(',').some((tag) => tag.trim() === etag)

/** Whether a state is among those of a header, by the weak comparison. */
export const isNamedWeakly = (tags: string, etag: string): boolean =>
  tags.trim() === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

/** @throws Problem 412 when this is not the state that the change asked for */
export function judgePrecondition(precondition: Precondition, etag: string): void {
  const { ifMatch, ifNoneMatch } = precondition
  if (ifMatch !== '' && !isNamed(ifMatch, etag) && isNamedWeakly(ifMatch, etag))
    throw failed(
      'Deze ETag is zwak (W/"…"): een proxy onderweg heeft haar gewijzigd, vaak door samen te persen. Vraag met Accept-Encoding: identity, of laat de proxy haar heel.',
    )
  if (ifMatch !== '' && !isNamed(ifMatch, etag))
    throw failed('De resource is intussen gewijzigd. Haal haar opnieuw op, en stuur de wijziging met de nieuwe ETag.')
  if (ifNoneMatch !== '' && isNamedWeakly(ifNoneMatch, etag)) throw failed('De resource bestaat al in deze toestand.')
  precondition.isJudged = true
}

/**
 * What has no ETag is never the state that a client has seen; but it is there.
 * @throws Problem 412 when a change asked for a state, and nobody held the resource against it
 */
export function requireJudged({ ifMatch, ifNoneMatch, isJudged }: Precondition): void {
  if (isJudged) return
  if (ifMatch !== '' && ifMatch !== '*') throw failed('Deze resource heeft geen ETag.')
  if (ifNoneMatch === '*') throw failed('De resource bestaat al.')
}

const failed = (detail: string) => new Problem(412, { detail })
