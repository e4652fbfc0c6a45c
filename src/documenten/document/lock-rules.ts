// What may be done with the lock of a document.
import { invalid, type Problem } from '../../core/problem.ts'

/** A lock as clients know it: 32 hexadecimal digits. */
export const newLock = (): string => crypto.randomUUID().replaceAll('-', '')

/**
 * drc-009: a document is changed only by who holds its lock. That is all that counts: its status does not (drc-010).
 * @throws Problem 400 `unlocked`, `missing-lock-id` or `incorrect-lock-id`
 */
export function requireLock(lock: string | null, given: string | undefined): void {
  if (lock === null) throw invalid('nonFieldErrors', 'unlocked', 'Vergrendel het document voordat u het wijzigt.')
  if (!given) throw invalid('nonFieldErrors', 'missing-lock-id', 'Geef de lock waarmee het document is vergrendeld.')
  if (given !== lock) throw incorrectLock()
}

/** drc-009, of an upload: a part is taken only with the lock. @throws Problem 400 `incorrect-lock-id` */
export function requireSameLock(lock: string | null, given: string): void {
  if (lock === null || given !== lock) throw incorrectLock()
}

function incorrectLock(): Problem {
  return invalid('nonFieldErrors', 'incorrect-lock-id', 'Dit is niet de lock waarmee het document is vergrendeld.')
}

/** drc-009: a document has one lock. @throws Problem 400 `existing-lock` */
export function requireUnlockedForLock(lock: string | null): void {
  if (lock !== null) throw invalid('nonFieldErrors', 'existing-lock', 'Het document is al vergrendeld.')
}

/** @throws Problem 400 `unlocked` when there is no lock to take away */
export function requireLocked(lock: string | null): void {
  const isLocked = lock !== null
  if (!isLocked) throw invalid('nonFieldErrors', 'unlocked', 'Het document is niet vergrendeld.')
}

/** How an unlock ends: normally, by force, or there is nothing to unlock. @throws Problem 400 `incorrect-lock-id` */
export function unlockKind(lock: string | null, given: string, mayForce: boolean): 'gewoon' | 'geforceerd' | 'niets' {
  if (lock === null && given === '') return 'niets'
  if (lock !== null && given === lock) return 'gewoon'
  if (mayForce) return 'geforceerd'
  throw incorrectLock()
}

/** An upload in parts is complete before its lock is given back. @throws Problem 400 `incomplete-upload` or `file-size` */
export function requireCompleteUpload(parts: readonly { fileId: number | null }[]): void {
  const there = parts.filter(({ fileId }) => fileId !== null).length
  if (there === parts.length) return
  if (there > 0)
    throw invalid('nonFieldErrors', 'incomplete-upload', `Er zijn ${there} van de ${parts.length} bestandsdelen.`)
  throw invalid('nonFieldErrors', 'file-size', 'Er is een omvang opgegeven, maar er is nog geen inhoud.')
}
