/** Kinds of what people are told of. Accounts choose among them by these names. */
export const KINDS = ['abonnement', 'import', 'schijf', 'worker', 'verloopt'] as const
export type Kind = (typeof KINDS)[number]

/** What is found at a look, and should be told. Texts are Dutch, and name no person and no secret. */
export type Condition = {
  /** What it is about, such as `abonnement:<uuid>`. */
  key: string
  kind: Kind
  /** How bad it is, from 1. It is told again when this rises. */
  level: number
  text: string
  /** The page about it, below /beheer. */
  path: string
}

/** What one line of a message says. */
export type Line = {
  event: 'begin' | 'erger' | 'einde' | 'test'
  kind: Kind | 'test'
  text: string
  path: string
  /** Since when, or when it ended. */
  moment: string
}

/** What happened, and has no end to be told. */
export const isOnce = (key: string): boolean => key.startsWith('import-gestopt:')
