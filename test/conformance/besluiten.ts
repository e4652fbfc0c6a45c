import { givenBesluittype, uuidOf } from '../app.ts'
import { BESLUITEN, BIO, besluitBody, givenTypen } from '../besluiten/given.ts'
import type { Line, Right } from './line.ts'

const SCOPES = ['lezen', 'aanmaken', 'bijwerken', 'verwijderen'].map((name) => `besluiten.${name}`)
const rights = (besluittype: unknown): Right[] => [
  { component: 'brc', scopes: SCOPES, typeUuid: uuidOf(String(besluittype)) },
]
const typeOfBesluit = new Map<unknown, string>()

export const besluiten: Line[] = [
  {
    resource: 'besluit',
    path: BESLUITEN,
    given: async (test) => besluitBody(await givenBesluittype(test), { vervalreden: 'tijdelijk' }),
    rights: ({ besluittype }) => rights(besluittype),
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'besluiten',
  },
  {
    resource: 'besluitinformatieobject',
    path: BIO,
    given: async (test) => {
      const typen = await givenTypen(test)
      const besluit = (await typen.besluit()).url
      typeOfBesluit.set(besluit, typen.besluittype)
      return { besluit, informatieobject: (await typen.document()).url }
    },
    rights: ({ besluit }) => rights(typeOfBesluit.get(besluit)),
    list: ['GET', 'POST'],
    one: ['GET', 'DELETE'],
    kanaal: 'besluiten',
    bare: true,
  },
]
