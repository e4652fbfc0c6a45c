// In a process of its own: it measures memory.
// Objects of a kind that the client defines himself: with jq and a JSON schema, neither of which may take what it wants.
import t, { type Test } from 'tap'
import { givenZaaktype, testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, faultsOf, givenZaak, made, ZAKEN, zaakBody } from './given.ts'

const ZAAKOBJECTEN = `${ZAKEN}/zaakobjecten`

async function givenObjecten(t: Test) {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const zaak = (await givenZaak(test, { zaaktype })).url
  const jsonSchema = { type: 'object', properties: { hoogte: { type: 'integer' } }, required: ['hoogte'] }
  const slow = '^(a+)+$'
  const elders = await givenOtherServer(t, test, {
    '/typen/boom': {
      jsonSchema,
      nieuw: { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] },
      fout: { type: 'geen soort' },
      verwijst: { $ref: 'https://elders.example/schema.json' },
      traag: { properties: { naam: { pattern: slow } } },
      datum: { properties: { dag: { format: 'date', type: 'string' } } },
    },
    '/objecten/1': { record: { data: { hoogte: 12 }, lijst: ['x', 1], leeg: null } },
    '/objecten/2': { record: { data: { hoogte: 'hoog' }, lijst: [1] } },
    '/objecten/3': { record: { data: { naam: `${'a'.repeat(60)}!` } } },
  })
  const definitie = (schema: string, objectData = '.record.data', type = '/typen/boom') => ({
    url: `${elders.root}${type}`,
    schema,
    objectData,
  })
  const body = (objectTypeOverigeDefinitie: unknown, object = '/objecten/1', more: object = {}) => ({
    zaak,
    object: object && `${elders.root}${object}`,
    objectType: 'overige',
    objectTypeOverigeDefinitie,
    ...more,
  })
  const post = (given: object) => test.call('POST', ZAAKOBJECTEN, given)
  return { test, zaaktype, zaak, elders, definitie, body, post }
}

t.test('an object of a kind that the client defines keeps to the schema that is found there', async (t) => {
  const { definitie, body, post, test } = await givenObjecten(t)
  const goed = definitie('.jsonSchema')
  const boom = made(await post(body(goed, '/objecten/1', { objectIdentificatie: { overigeData: { a: 1 } } })))
  t.match(boom, { objectTypeOverigeDefinitie: goed, objectIdentificatie: null, objectTypeOverige: '' })
  t.same((await test.call('GET', boom.url)).body, boom)
  t.same(faultsOf(await post(body(goed, '/objecten/2'))), ['object: invalid-schema'])
  made(await post(body(definitie('.nieuw', '.record.lijst'))))
  t.same(faultsOf(await post(body(definitie('.nieuw', '.record.lijst'), '/objecten/2'))), ['object: invalid-schema'])
  made(await post(body(definitie('.datum', '{dag: "geen dag"}'))))
})

t.test('what is wrong with a definitie is said where it is wrong', async (t) => {
  const { definitie, body, post, zaak } = await givenObjecten(t)
  const at = 'objectTypeOverigeDefinitie'
  const cases: [object, string[]][] = [
    [body({ url: definitie('.').url }), [`${at}.schema: required`, `${at}.objectData: required`]],
    [body(definitie('.jsonSchema', '.', '/typen/weg')), [`${at}.url: invalid`]],
    [body({ ...definitie('.'), url: 'https://niet-bekend.example/1' }), [`${at}.url: invalid`]],
    [body(definitie('.jsonSchema | (')), [`${at}.schema: invalid`]],
    [body(definitie('.niets')), [`${at}.schema: invalid`]],
    [body(definitie('.fout')), [`${at}.schema: invalid`]],
    [body(definitie('.verwijst')), [`${at}.schema: invalid`]],
    [body(definitie('"tekst"')), [`${at}.schema: invalid`]],
    [body(definitie('.jsonSchema', '.record.leeg')), [`${at}.objectData: invalid`]],
    [body(definitie('.jsonSchema', '$ENV.SECRET_KEY')), [`${at}.objectData: invalid`]],
    [body(definitie('.jsonSchema', 'import "/etc/passwd" as $x; $x')), [`${at}.objectData: invalid`]],
    [body(definitie('.jsonSchema'), '/objecten/weg'), ['object: bad-url']],
    [body(definitie('.jsonSchema'), '', { objectIdentificatie: { overigeData: {} } }), ['object: required']],
    [{ ...body(definitie('.jsonSchema')), object: zaak }, ['object: invalid']],
  ]
  for (const [given, expected] of cases) t.same(faultsOf(await post(given)), expected, JSON.stringify(given))
})

t.test('jq and patterns that take too much time or memory end, and the rest goes on', async (t) => {
  const { definitie, body, post, test } = await givenObjecten(t)
  const at = 'objectTypeOverigeDefinitie'
  const answers = await Promise.all([
    post(body(definitie('.jsonSchema', 'def f: f; f'))),
    post(body(definitie('[range(1e9)] | length'))),
    post(body(definitie('"x" * 1e9 | length'))),
    post(body(definitie('.jsonSchema', 'range(1e12)'))),
    post(body(definitie('.traag'), '/objecten/3')),
    test.call('GET', ZAAKOBJECTEN),
    post(body(definitie('.jsonSchema'))),
  ])
  t.same(answers.slice(0, 5).map(faultsOf), [
    [`${at}.objectData: invalid`],
    [`${at}.schema: invalid`],
    [`${at}.schema: invalid`],
    [`${at}.objectData: invalid`],
    ['object: invalid-schema'],
  ])
  t.same(
    answers.slice(5).map(({ status }) => status),
    [200, 201],
  )
  const most = process.resourceUsage().maxRSS / 1024
  t.ok(most < 700, `${Math.round(most)} MB at most: two at once, of 128 MB and a heap each`)
})

t.test('a definitie that is changed is judged too, and zaak_registreren judges as a POST does', async (t) => {
  const { definitie, body, post, test, zaaktype } = await givenObjecten(t)
  const boom = made(await post(body(definitie('.jsonSchema'))))
  const otherwise = definitie('.jsonSchema', '.record | .data')
  for (const method of ['PATCH', 'PUT']) {
    const given = (objectTypeOverigeDefinitie: unknown) => ({
      ...(method === 'PUT' && boom),
      objectTypeOverigeDefinitie,
    })
    t.same(faultsOf(await test.call(method, boom.url, given(definitie('.niets')))), [
      'objectTypeOverigeDefinitie.schema: invalid',
    ])
    t.match((await test.call(method, boom.url, given(otherwise))).body, { objectTypeOverigeDefinitie: otherwise })
    t.same(faultsOf(await test.call(method, boom.url, given(null))), ['nonFieldErrors: missing-object-type-overige'])
  }
  const pand = made(await post({ zaak: boom.zaak, objectType: 'pand', objectIdentificatie: { identificatie: '1' } }))
  t.same(faultsOf(await test.call('PATCH', pand.url, { objectTypeOverigeDefinitie: otherwise })), ['object: required'])
  const { statustypen } = (await test.call('GET', zaaktype)).body
  const { zaak: _, ...object } = body(definitie('.niets'))
  const registerZaak = (zaakobject: object) =>
    test.call(
      'POST',
      `${ZAKEN}/zaak_registreren`,
      {
        zaak: zaakBody(zaaktype),
        rollen: [],
        status: { statustype: statustypen[0], datumStatusGezet: '2026-03-02T10:00:00Z' },
        zaakobjecten: [zaakobject],
      },
      CRS,
    )
  t.same(faultsOf(await registerZaak(object)), ['zaakobjecten.0.objectTypeOverigeDefinitie.schema: invalid'])
})
