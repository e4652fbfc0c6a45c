// What the conformance test has to know about a resource: one line each, in the file of its component.
import type { TestApp } from '../app.ts'

export type Right = { component: string; scopes: string[]; typeUuid?: string; typeUrl?: string; max?: string }

export type Line = {
  /** Its name in audit records and notifications. */
  resource: string
  path: string
  /** Where `path` has parameters: the path for this body. */
  at?(body: Record<string, unknown>): string
  /** A body that a POST takes, every time a new one. What it refers to is made here too. */
  given(test: TestApp): Promise<Record<string, unknown>>
  /** Rights that are just enough for everything below, for what `given` made. */
  rights(body: Record<string, unknown>): Right[]
  /** Methods of the list and of one resource. */
  list: ('GET' | 'POST')[]
  one: ('GET' | 'PUT' | 'PATCH' | 'DELETE')[]
  /** Where its changes are announced; null: nowhere. */
  kanaal: string | null
  /** Only its coming is announced there. */
  onlyCreateAnnounced?: true
  /** The list is a bare array. */
  bare?: boolean
  /** Query with which the list holds what was made. */
  query?(resource: Record<string, unknown>): string
  /** Headers that every request needs (Accept-Crs and so on). */
  headers?: Record<string, string>
  /** The standard keeps no record of its changes. */
  unrecorded?: true
  /** Audit rows and notifications of one POST, when not one each. */
  records?: number
  messages?: number
  /** The body of a PUT of what a POST answered, when it is not what the POST sent. */
  put?(test: TestApp, resource: Record<string, unknown>, body: Record<string, unknown>): Promise<object>
  /** The body of a PATCH, when an empty one is not taken. */
  patch?(test: TestApp, resource: Record<string, unknown>): Promise<object>
  /** What has to be done before it can be deleted. */
  beforeDelete?(test: TestApp, resource: Record<string, unknown>): Promise<void>
  /** Keys of the body that are left as they are when its keys are sent in snake_case. */
  camelOnly?: string[]
}
