// A catalogue, or one zaaktype, as a ZIP: one JSON file per kind of type at its root, as other services for these APIs write
// and read them. Names and members are those of the API in snake_case; URLs begin with the address of who wrote it.
import type { InvalidParam } from '../../core/problem.ts'
import type { PackageItem as Item } from './read-thread.ts'

/** Files in the order in which they are read back: what is referred to comes first. */
export const FILES = {
  Catalogus: 'catalogus',
  InformatieObjectType: 'informatieobjecttype',
  BesluitType: 'besluittype',
  ZaakType: 'zaaktype',
  StatusType: 'statustype',
  ZaakTypeInformatieObjectType: 'zaaktypeinformatieobjecttype',
  ResultaatType: 'resultaattype',
  RolType: 'roltype',
  Eigenschap: 'eigenschap',
  ZaakObjectType: 'zaakobjecttype',
} as const
export type Name = keyof typeof FILES
export const NAMES = Object.keys(FILES) as Name[]

/** What a ZIP holds: resources by kind, with camelCase or snake_case names. */
export type Package = Map<Name, Item[]>

/** The ZIP cannot be read, or what is in it cannot be taken. `faults` names what and why. */
export class PackageFault extends Error {
  faults: InvalidParam[]
  constructor(message: string, faults: InvalidParam[] = []) {
    super(
      [
        message,
        ...faults.map(({ name, reason }) => (name === 'nonFieldErrors' ? `  ${reason}` : `  ${name}: ${reason}`)),
      ].join('\n'),
    )
    this.faults = faults
  }
}
