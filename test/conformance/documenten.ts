import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

type Register = { root: string; related: boolean }
const registers = new WeakMap<TestApp, Promise<Register>>()

/** A register of verzoeken, which says of each that a document belongs to it until `related` is false. */
function theRegister(test: TestApp): Promise<Register> {
  const known = registers.get(test) ?? openRegister(test)
  registers.set(test, known)
  return known
}

async function openRegister({ database }: TestApp): Promise<Register> {
  const register = { root: '', related: true }
  const server = createServer((request, response) => {
    const isList = request.url!.startsWith('/api/v1/verzoekinformatieobjecten')
    response.end(JSON.stringify(isList ? (register.related ? [{ url: 'x' }] : []) : { url: 'x' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  register.root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`
  await database.sql`
    insert into service (label, slug, kind, api_root) values ('Verzoeken', 'conform-verzoeken', 'orc', ${register.root})
    on conflict (slug) do update set api_root = excluded.api_root`
  return register
}

let verzoeken = 0

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
  {
    resource: 'verzending',
    path: `${DRC}/verzendingen`,
    given: async (test) => ({
      informatieobject: await givenDocumentUrl(test),
      betrokkene: 'https://personen.example/1',
      contactPersoon: 'https://personen.example/2',
      aardRelatie: 'geadresseerde',
      emailadres: 'iemand@voorbeeld.example',
    }),
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'documenten',
    unrecorded: true,
  },
  {
    resource: 'objectinformatieobject',
    path: `${DRC}/objectinformatieobjecten`,
    given: async (test) => {
      const { root } = await theRegister(test)
      return {
        informatieobject: await givenDocumentUrl(test),
        object: `${root}verzoeken/${++verzoeken}`,
        objectType: 'verzoek',
      }
    },
    rights,
    list: ['GET', 'POST'],
    one: ['GET', 'DELETE'],
    kanaal: null,
    bare: true,
    unrecorded: true,
    beforeDelete: async (test) => {
      ;(await theRegister(test)).related = false
    },
  },
]
