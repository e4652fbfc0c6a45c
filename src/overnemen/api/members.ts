// Members of an answer that a source has beside the standard: there is no place for them here, and the report says so.
import { kindOf } from '../kinds.ts'
import type { Finding } from '../source.ts'
import type { Json } from './client.ts'
import type { ListOf } from './lists.ts'

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const words = (text: string) => text.split(' ')

/** What an answer shows and follows from other objects, or from the object itself. */
const OF_ALL = words('url uuid beginObject eindeObject _expand catalogus zaaktypeIdentificatie zaaktypeIdentificaties')
const FOLLOWS: Record<string, string[]> = {
  catalogus: words(
    'zaaktypen besluittypen besluittypeOmschrijving informatieobjecttypen informatieobjecttypeOmschrijving',
  ),
  informatieobjecttype: words('besluittypen besluittypeOmschrijving zaaktypen'),
  besluittype: words(
    'zaaktypen informatieobjecttypeOmschrijving informatieobjecttypeOmschrijvingen resultaattypen resultaattypenOmschrijving vastgelegdIn',
  ),
  zaaktype: words(
    'statustypen resultaattypen eigenschappen informatieobjecttypen informatieobjecttypeOmschrijving roltypen besluittypeOmschrijving deelzaaktypeIdentificaties zaakobjecttypen',
  ),
  statustype: words('isEindstatus eigenschappen zaakobjecttypen'),
  resultaattype: words('besluittypeOmschrijving informatieobjecttypeOmschrijving'),
  zaakobjecttype: words('resultaattypen resultaattypeOmschrijving statustypen'),
  document: words('inhoud locked'),
  zaak: words(
    'betalingsindicatieWeergave deelzaken eigenschappen rollen status zaakinformatieobjecten zaakobjecten resultaat',
  ),
  rol: words('statussen'),
  besluit: words('vervalredenWeergave'),
  status: words('indicatieLaatstGezetteStatus zaakinformatieobjecten'),
}

/** The members that are read of an object of this list, or that follow from what is read. */
export function knownMembers(one: ListOf): Set<string> {
  const known = new Set([...OF_ALL, ...(FOLLOWS[one.name] ?? [])])
  for (const { columns, refs, lists } of one.kinds.map(kindOf)) {
    for (const { path } of [...columns, ...refs]) if (path[0] !== undefined) known.add(path[0])
    for (const { name, ...list } of lists) {
      known.add(camel(name))
      // Each version of a document is an answer of its own.
      if (name === 'versies') for (const { path } of [...list.columns, ...list.refs]) known.add(path[0] ?? '')
    }
  }
  return known
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** One remark for each member that holds something and has no place here. */
export function unknownMembers(one: ListOf, rows: Json[]): Finding[] {
  if (one.kinds.length === 0) return [] // an applicatie: what it may is told by its rights
  const known = knownMembers(one)
  const found = new Set(
    rows.flatMap((row) => Object.keys(row).filter((name) => !known.has(name) && !isEmpty(row[name]))),
  )
  return [...found].map((field) => ({
    ...{ kind: one.kinds[0] ?? one.name, key: one.path, outcome: 'gemarkeerd' as const, code: 'veld-onbekend', field },
    text: 'De bron heeft hier een veld dat de standaard niet kent. Wat erin staat is niet overgenomen.',
  }))
}
