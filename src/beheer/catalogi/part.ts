// What the page of a part of a zaaktype is made of.
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import type { Mutation } from '../../core/mutate.ts'
import type { ReadDb } from '../../database/database.ts'
import type { Resource as ResourceName } from '../../http/links.ts'
import type { Version } from './context.ts'
import type { Choice, Group } from './fields.ts'

/** A part as the API shows it, with the members that pages of all kinds look at. */
export type Item = Record<string, unknown> & {
  url: string
  statustype?: string | null
  doorlooptijd?: string | null
} & {
  [member in 'omschrijving' | 'naam' | 'relatieOmschrijving' | 'informatieobjecttype' | 'richting']?: string
}

/** What a form of a part depends on. */
export type PartContext<Shape = Item> = {
  db: ReadDb
  base: string
  selectielijst: Selectielijst
  zaaktype: Version
  /** The part itself when it is changed; all that there are of its kind. */
  item: Shape | undefined
  items: Shape[]
}

/** A kind of parts: `Shape` is what the API shows of one, `Made` and `Change` are the bodies that make and change it. */
export type PartKind<Shape = Item, Made = object, Change = object, Prepared = unknown> = {
  path: string
  resource: ResourceName
  table: string
  /** Members of the zaaktype that names them; left out where it names none. */
  one: string
  name: string
  help: string
  columns: readonly string[]
  row(item: Shape, choices: { status: readonly Choice[]; types: readonly Choice[] }): string[]
  nameOf(item: Shape): string
  groups(context: PartContext<Shape>): Promise<Group[]>
  /** What an empty form begins with. */
  initial?(context: PartContext<Shape>): object
  /** What the form shows of what is stored, where that is not the same. */
  toForm?(item: Shape): object
  /** The body of the API for what the form says. */
  toApi?(body: Record<string, unknown>, item: Shape | undefined): Record<string, unknown>
  /** What is asked elsewhere before the transaction. */
  prepare?(body: Record<string, unknown>, context: PartContext<Shape>): Promise<Prepared>
  create(m: Mutation, body: Made, prepared: Prepared): Promise<Item>
  change(m: Mutation, uuid: string, body: Change, prepared: Prepared): Promise<Item>
  remove(m: Mutation, uuid: string): Promise<void>
  /** May still be added when the zaaktype is published: cases that there are keep on being right. */
  extendable: boolean
  ordered?: boolean
}

type Create = (m: Mutation, body: never, ...more: never[]) => Promise<object>
type Change = (m: Mutation, uuid: string, actie: never, body: never, ...more: never[]) => Promise<object>
/** The kind of parts that these functions of the API make and change. */
export type KindOf<C extends Create, U extends Change, Prepared = unknown> = PartKind<
  Awaited<ReturnType<C>>,
  Parameters<C>[1],
  Parameters<U>[3],
  Prepared
>
