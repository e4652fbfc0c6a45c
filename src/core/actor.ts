import type { Precondition } from './precondition.ts'
import type { RequestKey } from './request-key.ts'
import type { Vertrouwelijkheidaanduiding } from './vertrouwelijkheidaanduiding.ts'

/** The last three are of other services: rights in them are kept for whoever asks, and mean nothing here. */
export type Component = 'ac' | 'nrc' | 'zrc' | 'ztc' | 'drc' | 'brc' | 'kc' | 'cmc' | 'vrc'

/** A right: scopes within a component, for one type (`typeId` when it is ours) and up to one confidentiality. */
export type Autorisatie = {
  component: Component
  scopes: ReadonlySet<string>
  typeUrl: string
  typeUuid: string | null
  typeId: number | null
  max: Vertrouwelijkheidaanduiding | null
  /** Of a right on a catalogue, or on a type in it, what it names: it reaches versions that are made later. */
  whole?: string | null
}

/** Where a request came from through FSC: which organisation asks, by which grant, and who did so for whom. */
export type FscOrigin = { peer: string; grantHash: string; actor?: string; publisher?: string; transaction?: string }

/** What a token of an issuer says beside client and user, and that of an Inway. */
export type Origin = { issuer?: string; organisation?: string; fsc?: FscOrigin }

/** `archived`: what hangs on an archived case changes by force. `sharedDay`: versions of a type may share the day of their change. */
export type Lenient = { archived: boolean; sharedDay: boolean }

/** Who acts, as audit records name him, and with which rights. */
export type Actor = {
  clientId: string
  userId: string
  userRepresentation: string
  applicatieUuid: string
  applicatieLabel: string
  alleAutorisaties: boolean
  /** With all rights, but only up to this level: an account of the pages. */
  upTo?: Vertrouwelijkheidaanduiding
  alleenGereedVoorPublicatie: boolean
  autorisaties: readonly Autorisatie[]
  /** Our address as the caller knows it: links in answers, audit records and notifications begin with it. */
  base: string
  toelichting: string
  logrecordId: string
  /** null: a token that the client made itself, or none. */
  origin: Origin | null
  /** What the request asks of the state of what it changes. */
  precondition?: Precondition
  /** Rules that the installation does not hold, for clients that count on it. */
  lenient?: Lenient
  /** Under which the request may be repeated. */
  key?: RequestKey
}
