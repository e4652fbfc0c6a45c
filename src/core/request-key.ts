/** The key of a request. It belongs to its applicatie. */
export type RequestKey = {
  text: string
  /** The SHA-256 of what was asked; null while not all of the body is here. */
  fingerprint(): Buffer | null
  /** Whether the answer is that of the first time. */
  isReplayed: boolean
  /** Whether a change of this request has kept it: another one of the same request does not. */
  isKept: boolean
  hours: number
}
