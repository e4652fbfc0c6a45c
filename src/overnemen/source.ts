// What a reader of another installation offers: the steps of a round, and each step in portions from a position.
import type { Taken } from './kinds.ts'

/** Why an object was not taken, or was taken with a remark. */
export type Finding = {
  kind: string
  key: string
  outcome: 'geweigerd' | 'gemarkeerd'
  code: string
  field?: string
  text: string
  /** What the field holds, when it may be shown. */
  value?: string
  /** What people know the object by. */
  identificatie?: string
  /** Whose it is, when it has nothing of its own: the uuid of a case, document, decision or type. */
  owner?: string | undefined
}

/** A line of the audit trail as it was. Its urls still name the old host. */
export type AuditRow = {
  uuid: string
  bron: string
  applicatie_id: string
  applicatie_weergave: string
  gebruikers_id: string
  gebruikers_weergave: string
  actie: string
  resultaat: number
  hoofd_object: string
  resource: string
  resource_url: string
  resource_weergave: string
  toelichting: string
  logrecord_id: string
  aanmaakdatum: string
  /** Its number in the order of the source; undefined: lines of one object come in that order. */
  place?: number
  /** JSON as text. */
  oud: string | null
  nieuw: string | null
}
export type ApplicatieRow = {
  uuid: string
  label: string
  heeft_alle_autorisaties: boolean
  client_ids: string[]
  autorisaties: { component: string; scopes: string[]; type: string; max: string | null }[]
  catalogus_autorisaties: { component: string; scopes: string[]; catalogus: string; max: string | null }[]
  /** `autorisaties` also lists, type by type, what `catalogus_autorisaties` imply. */
  uitgeschreven?: true
  /** Undefined: the source does not show them. */
  geheimen?: { client_id: string; geheim: string }[]
}
export type Reservering = {
  kind: 'zaak' | 'document'
  identificatie: string
  bronorganisatie: string
  moment: string | null
}

/** The highest numbers that were given out: of cases by year (`ZAAK-2026-…`), of documents and decisions in all years together. */
export type Numbers = { zaak: Record<string, number>; document: number; besluit: number }

export type Portion = {
  objects: { kind: string; object: Taken }[]
  applicaties?: ApplicatieRow[]
  audit?: AuditRow[]
  reserveringen?: Reservering[]
  /** Objects of which all parts were read. A part that we have and that was not read is gone at the source. */
  complete?: { kind: string; parent: string; column: string }[]
  /** Objects, or parts of them, that the source could not give. */
  faults?: Finding[]
  /** The next portion looks at what was written of this one: it cannot be read ahead. */
  writtenFirst?: boolean
  /** Position of the next portion; null: this was the last. */
  next: string | null
}
/** From where on a round that reads only what changed looks. */
export type Since = {
  /** A moment before the round before began. */
  moment: string
  /** The last line of the audit trail that it planned. */
  audit: number
  /** Objects that are read whatever the source says of them: they were refused, or are locked here. */
  again: Record<'zaak' | 'document' | 'besluit', string[]>
}
export type StepPlan = {
  phase: number
  name: string
  above?: string
  until?: string
  expected: number
  /** How long it takes by itself, as far as that can be told beforehand. */
  seconds?: number
}
/** By the first three hexadecimal digits. */
export type Census = Map<string, { count: number; sum: number }>
/** A row, what it is read with, and a checksum of what it refers to. */
export type CensusRow = { owner: string; uuid: string; hash: number }
export type Step = {
  name: string
  above: string | null
  until: string | null
  position: string | null
  /** 0: what hangs below objects is read of all, and not only of those that this round changed. */
  round: number
}

/** The source does not answer, or not as it should: who asked asks again later. */
export class SourceUnavailable extends Error {
  override name = 'SourceUnavailable'
  readonly code: string
  constructor(code: string) {
    super(`the source is unavailable: ${code}`)
    this.code = code
  }
}

/** The source cannot give the bytes of this one document. The report names it, and the takeover goes on. */
export class UnreadableContents extends Error {
  override name = 'UnreadableContents'
  readonly code: string
  constructor(code: string) {
    super(`bytes cannot be read: ${code}`)
    this.code = code
  }
}

/** Bytes by the path that versions of documents name. Undefined: there are none. */
export type Contents = (path: string) => Promise<{ size?: number; stream: AsyncIterable<Uint8Array> } | undefined>

export type Source = {
  /** The steps of a round, of all there is, or of what changed since. A source that cannot tell that plans all. */
  plan(round: number, since?: Since): Promise<StepPlan[]>
  read(step: Step): Promise<Portion>
  /** As far as the source shows them before its rows are read. */
  numbers(): Promise<Numbers>
  /** Whether it numbers cases per year, as far as that is known without looking. */
  numbersPerYear?: true
  contents?: Contents
  /** Kinds of which a round sees every object, so that those it did not see are gone. */
  swept: string[]
  /** Which of its main objects there are: how many in each of 4096 parts by the first digits of their uuid, with a checksum. */
  census?(kind: string): Promise<Census>
  /** The uuids in one of these parts. */
  uuidsIn?(kind: string, part: string): Promise<string[]>
  /** How many rows of a kind there are and what they refer to, in parts by what they are read with. */
  relations?(kind: string): Promise<Census>
  relationsIn?(kind: string, part: string): Promise<CensusRow[]>
  /** How many of each kind it says that there are, without showing them. */
  counts?(): Promise<Map<string, number>>
  /** Whether an object that a round did not see is gone; absent: it is. */
  isGone?(kind: string, uuid: string): Promise<boolean>
  /** Beginnings of URLs by which the installation may name itself. Only what the operator confirms is taken for one. */
  suggestedUrls: string[]
  close(): Promise<void>
}
