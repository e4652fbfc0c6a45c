import { givenInformatieobjecttype, type TestApp, uuidOf } from '../app.ts'
import { base64, DRC, EIO, givenLock, newDocument } from '../documenten/documenten.ts'
import type { Line, Right } from './line.ts'

const types = new WeakMap<TestApp, Promise<string>>()

/** One type for all documents of these lines. */
function theType(test: TestApp): Promise<string> {
  const known = types.get(test) ?? givenInformatieobjecttype(test, { omschrijving: 'Conform' })
  types.set(test, known)
  return known
}

let type = ''

const rights = (): Right[] => [
  {
    component: 'drc',
    scopes: ['lezen', 'aanmaken', 'bijwerken', 'verwijderen'].map((name) => `documenten.${name}`),
    typeUuid: uuidOf(type),
    max: 'zeer_geheim',
  },
]

async function newBody(test: TestApp): Promise<Record<string, unknown>> {
  type = await theType(test)
  return newDocument(type, { inhoud: base64('inhoud') })
}

async function givenDocumentUrl(test: TestApp): Promise<string> {
  const { body } = await test.call('POST', EIO, await newBody(test))
  return body.url
}

/** A fresh lock, whether or not there is one already. */
async function locked(test: TestApp, url: unknown): Promise<string> {
  await test.call('POST', `${url}/unlock`, {})
  return givenLock(test, String(url))
}

export const documenten: Line[] = [
  {
    resource: 'enkelvoudiginformatieobject',
    path: EIO,
    given: newBody,
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'documenten',
    put: async (test, { url }, body) => ({ ...body, lock: await locked(test, url) }),
    patch: async (test, { url }) => ({ lock: await locked(test, url) }),
    beforeDelete: async (test, { url }) => {
      await test.call('POST', `${url}/unlock`, {})
    },
  },
  {
    resource: 'gebruiksrechten',
    path: `${DRC}/gebruiksrechten`,
    given: async (test) => ({
      informatieobject: await givenDocumentUrl(test),
      startdatum: '2025-01-01T00:00:00Z',
      omschrijvingVoorwaarden: 'Alleen binnen de organisatie',
    }),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'documenten',
    bare: true,
  },
]
