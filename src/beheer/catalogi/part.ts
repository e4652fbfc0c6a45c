// What the page of a part of a zaaktype is made of.
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import type { ReadDb } from '../../database/database.ts'
import type { Mutation } from '../../database/mutate.ts'
import type { Resource as ResourceName } from '../../http/links.ts'
import type { Version } from './context.ts'
import type { Choice, Group } from './fields.ts'

export type Item = Record<string, any> & { url: string }

/** What a form of a part depends on. */
export type PartContext = {
  db: ReadDb
  base: string
  selectielijst: Selectielijst
  zaaktype: Version
  /** The part itself when it is changed; all that there are of its kind. */
  item: Item | undefined
  items: Item[]
}

export type PartKind = {
  path: string
  resource: ResourceName
  table: string
  /** Members of the zaaktype that names them; left out where it names none. */
  one: string
  name: string
  help: string
  columns: readonly string[]
  row(item: Item, choices: { status: readonly Choice[]; types: readonly Choice[] }): string[]
  nameOf(item: Item): string
  groups(context: PartContext): Promise<Group[]>
  /** What an empty form begins with. */
  initial?(context: PartContext): object
  /** What the form shows of what is stored, where that is not the same. */
  toForm?(item: Item): object
  /** The body of the API for what the form says. */
  toApi?(body: Record<string, unknown>, item: Item | undefined): Record<string, unknown>
  /** What is asked elsewhere before the transaction. */
  prepare?(body: Record<string, unknown>, context: PartContext): Promise<unknown>
  create(m: Mutation, body: any, prepared: any): Promise<Item>
  change(m: Mutation, uuid: string, body: any, prepared: any): Promise<Item>
  remove(m: Mutation, uuid: string): Promise<void>
  /** May still be added when the zaaktype is published: cases that there are keep on being right. */
  extendable: boolean
  ordered?: boolean
}
