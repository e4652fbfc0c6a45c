// A source that is built otherwise: as OneGround, each API at an address of its own, tokens of an issuer, members beside the
// standard, and lines of the audit trail of what was looked at.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { LISTS } from '../../src/overnemen/api/lists.ts'
import { knownMembers, unknownMembers } from '../../src/overnemen/api/members.ts'
import { API_NAMES } from '../../src/overnemen/api/roots.ts'
import { checkTakeover, type Difference } from '../../src/overnemen/check.ts'
import { fromRd } from '../../src/overnemen/rd.ts'
import { beginRound } from '../../src/overnemen/round.ts'
import { SECRET, type TestApp, testApp } from '../app.ts'
import { emptyDatabase } from '../setup.ts'
import { fillOpenZaak, OLD } from './open-zaak-database.ts'

type Json = Record<string, unknown>

async function toTheEnd(test: TestApp, given: Parameters<typeof beginRound>[1]) {
  const begun = await beginRound(test.parts, given)
  try {
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  } finally {
    await begun.release()
  }
  return begun.state()
}

async function listening(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An installation of ours behind servers that show it as another product would. */
async function givenElsewhere(t: Test, source: TestApp) {
  const address = await source.app.listen({ host: '127.0.0.1', port: 0 })
  const roots: Record<string, string> = {}
  let tokens = 0
  const tokenUrl = await listening(t, (async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const form = new URLSearchParams(body)
    const isRight = form.get('client_secret') === SECRET && form.get('grant_type') === 'client_credentials'
    tokens++
    response.writeHead(isRight ? 200 : 401, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        isRight ? { access_token: signToken('beheer', SECRET, { id: 'x', name: 'x' }), expires_in: 300 } : {},
      ),
    )
  }) as RequestListener)
  const shown = (text: string) =>
    API_NAMES.reduce((all, name) => all.replaceAll(`${address}/${name}/api/v1`, roots[name] ?? ''), text)
  const asked = (text: string) => {
    let all = decodeURIComponent(text)
    for (const name of API_NAMES) all = all.replaceAll(roots[name] ?? '', `${address}/${name}/api/v1`)
    return all
  }
  for (const name of API_NAMES) {
    const root = await listening(t, (async (request, response) => {
      const [path = '', query = ''] = String(request.url).slice('/api/v1'.length).split('?')
      const { connection: _, host: __, ...headers } = request.headers
      const parameters = new URLSearchParams(
        [...new URLSearchParams(query)].map(([key, value]): [string, string] => [key, asked(value)]),
      )
      const answer = await fetch(`${address}/${name}/api/v1${path}?${parameters}`, {
        headers: headers as Record<string, string>,
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      const type = answer.headers.get('content-type') ?? ''
      response.writeHead(answer.status, { 'content-type': type })
      response.end(type.includes('json') ? shown(more(path, String(bytes))) : bytes)
    }) as RequestListener)
    roots[name] = `${root}/api/v1`
  }
  return { url: roots.zaken?.replace('/api/v1', '') ?? '', roots, tokenUrl, tokens: () => tokens }
}

const LOOKS = new Map<string, string>()
const looks = (path: string) => LOOKS.get(path) ?? LOOKS.set(path, crypto.randomUUID()).get(path)

/** What this product shows beside the standard. */
function more(path: string, text: string): string {
  const body = JSON.parse(text)
  if (path === '/zaken' && body.results)
    for (const zaak of body.results as Json[]) Object.assign(zaak, { eigenaar: '000000000', versieNummer: 3, leeg: '' })
  if (path.endsWith('/audittrail') && Array.isArray(body) && body[0])
    body.push({
      ...body[0],
      uuid: looks(path),
      actie: 'retrieve',
      aanmaakdatum: '2026-11-01T12:00:00Z',
      actieWeergave: 'Object gelezen',
      wijzigingen: { oud: null, nieuw: null },
    })
  return JSON.stringify(body)
}

t.test(
  'APIs at addresses of their own are taken over, with tokens of an issuer, and what has no place is told',
  async (t) => {
    const { url: database } = await emptyDatabase(t)
    await fillOpenZaak(database, { zaken: 5, documents: 3 })
    const source = await testApp(t)
    await toTheEnd(source, {
      ...{ kind: 'open-zaak', url: database, secret: database, trial: false, readOnly: false },
      settings: { oudeUrls: [OLD], bytes: 'laten', naast: 2 },
    })
    const { url, roots, tokenUrl, tokens } = await givenElsewhere(t, source)
    const target = await testApp(t)
    const given = {
      ...{ kind: 'api' as const, url, secret: SECRET, trial: false, readOnly: false },
      settings: { clientId: 'beheer', oudeUrls: [], bytes: 'kopieren' as const, naast: 2, roots, tokenUrl },
    }
    await t.rejects(beginRound(target.parts, { ...given, secret: 'another secret' }), { name: 'SourceUnavailable' })
    const before = tokens()
    const state = await toTheEnd(target, given)
    t.equal(state.status, 'klaar')
    t.ok(tokens() - before < 5, 'a token is used until it ends')
    const count = async ({ database: { sql } }: TestApp) =>
      sql`select (select count(*) from zaak) as zaken, (select count(*) from rol) as rollen,
      (select count(*) from zaakinformatieobject) as zios, (select count(*) from enkelvoudiginformatieobject) as documents`
    t.same([...(await count(target))], [...(await count(source))])
    const foreign = await target.database.sql`
    select url from (select zaaktype_url as url from zaak union all select informatieobject_url from zaakinformatieobject) u
    where url <> ''`
    t.same([...foreign], [], 'references to its addresses are references here')
    t.match(
      await target.database
        .sql`select key, field, outcome from takeover_remark where code = 'veld-onbekend' order by field`,
      [
        { key: '/zaken/api/v1/zaken', field: 'eigenaar', outcome: 'gemarkeerd' },
        { key: '/zaken/api/v1/zaken', field: 'versieNummer' },
      ],
    )
    const looked = await target.database.sql`select from audit where actie = 'retrieve'`
    t.ok(looked.length > 0, 'who looked at what is in the trail')
    const again = await toTheEnd(target, given)
    t.equal(again.status, 'klaar', 'a second round as well')
    const found: Difference[] = []
    await checkTakeover({ ...target.parts, store: target.parts.store }, again, {
      files: 10,
      report: (one) => found.push(one),
    })
    t.same(found, [], 'and both sides are equal')
  },
)

t.test('every member of our own answers is known to a takeover', async (t) => {
  const { call } = await testApp(t)
  const documents = new Map<string, Json>()
  for (const one of LISTS.flat().filter(({ kinds }) => kinds.length > 0)) {
    const [, api = ''] = one.path.split('/')
    const document = documents.get(api) ?? (await call('GET', `/${api}/api/v1/openapi.json`)).body
    documents.set(api, document)
    const found = (schema: unknown): Json => {
      const { $ref } = schema as { $ref?: string }
      if (!$ref) return schema as Json
      return found(
        $ref
          .split('/')
          .slice(1)
          .reduce((value: unknown, key) => (value as Json)[key], document),
      )
    }
    const members = (schema: unknown): string[] => {
      const { properties = {}, allOf = [], oneOf = [], anyOf = [] } = found(schema) as Record<string, never>
      return [...Object.keys(properties), ...[...allOf, ...oneOf, ...anyOf].flatMap(members)]
    }
    const { paths } = document as { paths: Record<string, { get: { responses: Record<string, { content: Json }> } }> }
    const answer = paths[one.path.slice(`/${api}/api/v1`.length)]?.get.responses['200']?.content['application/json']
    const page = found((answer as { schema: unknown }).schema) as { properties?: { results?: Json }; items?: Json }
    const known = knownMembers(one)
    const names = members(page.properties?.results?.items ?? page.items)
    t.ok(names.length > 2, one.name)
    t.same(
      names.filter((name) => !known.has(name)),
      [],
      one.name,
    )
  }
  const zaken = LISTS.flat().find(({ name }) => name === 'zaak')!
  t.same(
    unknownMembers(zaken, [{ url: 'x', leeg: null, extra: 1 }, { extra: 2 }]).map(({ field }) => field),
    ['extra'],
  )
})

t.test('coordinates of the Dutch grid become degrees, to the metre', async (t) => {
  // Towers of which both are published: Westertoren in Amsterdam, Martinitoren in Groningen.
  for (const [rd, degrees] of [
    [
      [120_700.723, 487_525.501],
      [4.88352559, 52.37453253],
    ],
    [
      [233_883.131, 582_065.167],
      [6.56820053, 53.21938317],
    ],
  ] as const) {
    const [longitude, latitude] = fromRd(rd)
    t.ok(Math.abs(longitude - degrees[0]) < 1e-5 && Math.abs(latitude - degrees[1]) < 1e-5, `${longitude} ${latitude}`)
  }
})
