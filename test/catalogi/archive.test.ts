import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { openSelectielijst } from '../../src/catalogi/selectielijst.ts'
import { readItems, saveSelectielijst } from '../../src/catalogi/selectielijst-import.ts'
import { systemActor } from '../../src/core/access.ts'
import { givenCatalogus, type TestApp, testApp } from '../app.ts'
import { faults, post, resultaattypeBody, ZTC, zaaktypeBody } from './catalogi.ts'

// A selectielijst: real HTTP, with the shapes of the public one.
const asked: string[] = []
const resultaat = (root: string, procestermijn: string, more: object = {}) => ({
  procesType: `${root}procestypen/1`,
  nummer: 1,
  volledigNummer: '1.1',
  naam: 'Ingericht',
  herkomst: 'Risicoanalyse',
  waardering: 'vernietigen',
  procestermijn,
  bewaartermijn: 'P7Y',
  ...more,
})
function answers(root: string): Record<string, object> {
  const procestype = { nummer: 1, jaar: 2020, naam: 'P', omschrijving: 'o', toelichting: '', procesobject: 'p' }
  return {
    'procestypen/1': procestype,
    'procestypen/2': procestype,
    'resultaattypeomschrijvingen/1': { omschrijving: 'Afgebroken', definitie: 'd', opmerking: '' },
    'resultaten/nihil': resultaat(root, 'nihil'),
    'resultaten/leeg': resultaat(root, ''),
    'resultaten/vast': resultaat(root, 'vast_te_leggen_datum'),
    'resultaten/geschat': resultaat(root, 'ingeschatte_bestaansduur_procesobject'),
    'resultaten/bewaren': resultaat(root, '', { waardering: 'blijvend_bewaren', bewaartermijn: null }),
  }
}
const server = createServer((request, response) => {
  asked.push(request.url!)
  const name = request.url!.slice('/api/v1/'.length)
  if (name === 'tekst') return void response.end('geen JSON')
  if (name === 'stil') return
  if (name === 'doorgestuurd') return void response.writeHead(302, { location: '/api/v1/procestypen/1' }).end()
  const found = answers(ROOT)[name]
  response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(found ?? { status: 404 }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})
const ROOT = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`
const PROCESTYPE = `${ROOT}procestypen/1`

const test = await testApp(t, { SELECTIELIJST_API_ROOT: ROOT })
const { call } = test

const givenConcept = async (on: TestApp, selectielijstProcestype = PROCESTYPE) =>
  post(on, 'zaaktypen', { ...zaaktypeBody(await givenCatalogus(on)), selectielijstProcestype })

const body = (zaaktype: string, klasse: string, more: object = {}) => ({
  ...resultaattypeBody(zaaktype),
  resultaattypeomschrijving: `${ROOT}resultaattypeomschrijvingen/1`,
  selectielijstklasse: `${ROOT}resultaten/${klasse}`,
  ...more,
})

t.test('ztc-001: selectielijstProcestype is a procestype of the selectielijst', async (t) => {
  const catalogus = await givenCatalogus(test)
  const answer = (selectielijstProcestype: string, more: object = {}) =>
    call('POST', `${ZTC}/zaaktypen`, { ...zaaktypeBody(catalogus), selectielijstProcestype, ...more })
  t.equal((await answer(PROCESTYPE)).status, 201)
  for (const [url, code] of [
    [`${ROOT}procestypen/404`, 'bad-url'],
    [`${ROOT}resultaattypeomschrijvingen/1`, 'invalid-resource'],
    [`${ROOT}tekst`, 'invalid-resource'],
    [`${ROOT}doorgestuurd`, 'bad-url'],
    ['http://127.0.0.1:1/api/v1/procestypen/1', 'bad-url'],
    ['https://elders.example/api/v1/procestypen/1', 'bad-url'],
  ] as const) {
    const refused = await answer(url)
    t.equal(refused.status, 400)
    t.same(faults(refused), [`selectielijstProcestype ${code}`], url.replace(ROOT, ''))
  }
  t.same(
    faults(await answer(`${ROOT}procestypen/404`, { besluittypen: ['bestaat niet'] })),
    ['selectielijstProcestype bad-url', 'besluittypen does_not_exist'],
    'faults of other fields are reported beside it',
  )
  const zaaktype = await givenConcept(test, '')
  t.same(faults(await call('PATCH', zaaktype, { selectielijstProcestype: `${ROOT}procestypen/404` })), [
    'selectielijstProcestype bad-url',
  ])
  t.equal((await call('PATCH', zaaktype, { selectielijstProcestype: PROCESTYPE })).status, 200)
})

t.test('ztc-002: resultaattypeomschrijving and selectielijstklasse lead to the selectielijst', async (t) => {
  const zaaktype = await givenConcept(test)
  const answer = await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, 'nihil'))
  t.equal(answer.status, 201)
  t.equal(answer.body.omschrijvingGeneriek, 'Afgebroken', 'the generic description is copied')
  const more = { omschrijving: 'x', resultaattypeomschrijving: `${ROOT}resultaattypeomschrijvingen/404` }
  t.same(faults(await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, '404', more))), [
    'resultaattypeomschrijving bad-url',
    'selectielijstklasse bad-url',
  ])
  const swapped = {
    resultaattypeomschrijving: `${ROOT}resultaten/nihil`,
    selectielijstklasse: `${ROOT}resultaattypeomschrijvingen/1`,
  }
  t.same(faults(await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, '', swapped))), [
    'resultaattypeomschrijving invalid-resource',
    'selectielijstklasse invalid-resource',
  ])
})

t.test('ztc-002: the klasse belongs to the procestype of the zaaktype', async (t) => {
  for (const procestype of [`${ROOT}procestypen/2`, '']) {
    const zaaktype = await givenConcept(test, procestype)
    t.same(faults(await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, 'nihil'))), [
      'nonFieldErrors procestype-mismatch',
    ])
  }
  const zaaktype = await givenConcept(test)
  const url = await post(test, 'resultaattypen', body(zaaktype, 'leeg'))
  const klasse = { selectielijstklasse: `${ROOT}resultaten/nihil` }
  t.equal((await call('PATCH', url, klasse)).status, 200, 'a PATCH of the klasse alone looks at the stored zaaktype')
  const other = await givenConcept(test, `${ROOT}procestypen/2`)
  t.same(faults(await call('PATCH', url, { zaaktype: other })), ['nonFieldErrors procestype-mismatch'])
  for (const selectielijstProcestype of [`${ROOT}procestypen/2`, ''])
    t.same(faults(await call('PATCH', zaaktype, { selectielijstProcestype })), [
      'selectielijstProcestype procestype-mismatch',
    ])
  const { body: kept } = await call('GET', zaaktype)
  t.equal((await call('PUT', zaaktype, kept)).status, 200, 'the one that it has stays')
  t.same(faults(await call('PUT', zaaktype, { ...kept, selectielijstProcestype: undefined })), [
    'selectielijstProcestype procestype-mismatch',
  ])
})

t.test('ztc-003: the afleidingswijze fits the procestermijn of the klasse', async (t) => {
  const zaaktype = await givenConcept(test)
  const wijzen = {
    afgehandeld: { afleidingswijze: 'afgehandeld' },
    termijn: { afleidingswijze: 'termijn', procestermijn: 'P5Y' },
    hoofdzaak: { afleidingswijze: 'hoofdzaak' },
  }
  const allowed: Record<string, string[]> = {
    leeg: ['afgehandeld', 'termijn', 'hoofdzaak'],
    nihil: ['afgehandeld'],
    geschat: ['termijn'],
    vast: ['termijn', 'hoofdzaak'],
  }
  for (const [klasse, good] of Object.entries(allowed)) {
    for (const [wijze, brondatumArchiefprocedure] of Object.entries(wijzen)) {
      const omschrijving = `${klasse} ${wijze}`
      const more = { omschrijving, brondatumArchiefprocedure }
      const answer = await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, klasse, more))
      const expected = good.includes(wijze) ? [] : ['nonFieldErrors invalid-afleidingswijze-for-procestermijn']
      t.same(faults(answer), expected, `${klasse}, ${wijze}`)
    }
  }
  const wrongBoth = { brondatumArchiefprocedure: wijzen.termijn }
  const other = await givenConcept(test, `${ROOT}procestypen/2`)
  t.same(
    faults(await call('POST', `${ZTC}/resultaattypen`, body(other, 'nihil', wrongBoth))),
    ['nonFieldErrors procestype-mismatch', 'nonFieldErrors invalid-afleidingswijze-for-procestermijn'],
    'both are reported',
  )
})

let counter = 0
const MEMBERS = {
  datumkenmerk: 'kenmerk',
  einddatumBekend: true,
  objecttype: 'pand',
  registratie: 'BAG',
  procestermijn: 'P1Y',
}
type Member = keyof typeof MEMBERS
const NEEDS: Record<string, { filled: Member[]; free: Member[] }> = {
  afgehandeld: { filled: [], free: [] },
  ander_datumkenmerk: { filled: ['datumkenmerk', 'objecttype', 'registratie'], free: ['einddatumBekend'] },
  eigenschap: { filled: ['datumkenmerk'], free: ['einddatumBekend'] },
  gerelateerde_zaak: { filled: [], free: ['einddatumBekend'] },
  hoofdzaak: { filled: [], free: ['einddatumBekend'] },
  ingangsdatum_besluit: { filled: [], free: ['einddatumBekend'] },
  termijn: { filled: ['procestermijn'], free: [] },
  vervaldatum_besluit: { filled: [], free: ['einddatumBekend'] },
  zaakobject: { filled: ['datumkenmerk', 'objecttype'], free: ['einddatumBekend'] },
}

t.test('ztc-004 to ztc-008: every afleidingswijze has the members it needs, and no others', async (t) => {
  const zaaktype = await givenConcept(test)
  const names = Object.keys(MEMBERS) as Member[]
  for (const [afleidingswijze, { filled, free }] of Object.entries(NEEDS)) {
    const answer = (members: object) =>
      call(
        'POST',
        `${ZTC}/resultaattypen`,
        body(zaaktype, 'leeg', {
          omschrijving: `Resultaat ${++counter}`,
          brondatumArchiefprocedure: { afleidingswijze, ...members },
        }),
      )
    const name = (member: Member) => `brondatumArchiefprocedure.${member}`
    t.same(
      faults(await answer({})),
      filled.map((member) => `${name(member)} required`),
      `${afleidingswijze}: what is missing`,
    )
    const forbidden = names.filter((member) => !filled.includes(member) && !free.includes(member))
    t.same(
      faults(await answer(MEMBERS)),
      forbidden.map((member) => `${name(member)} must-be-empty`),
      `${afleidingswijze}: what is too much`,
    )
    const right = [...filled, ...free].map((member) => [member, MEMBERS[member]])
    const taken = await answer(Object.fromEntries(right))
    t.equal(taken.status, 201, `${afleidingswijze}: what is right`)
    const empty = { datumkenmerk: '', einddatumBekend: false, objecttype: '', registratie: '', procestermijn: null }
    t.same(taken.body.brondatumArchiefprocedure, { afleidingswijze, ...empty, ...Object.fromEntries(right) })
  }
})

t.test('faults of the members of brondatumArchiefprocedure come before those of the whole', async (t) => {
  const zaaktype = await givenConcept(test, `${ROOT}procestypen/2`)
  const answer = (procestermijn: string | null) =>
    call(
      'POST',
      `${ZTC}/resultaattypen`,
      body(zaaktype, 'nihil', { brondatumArchiefprocedure: { afleidingswijze: 'termijn', procestermijn } }),
    )
  for (const none of [null, 'P0D'])
    t.same(faults(await answer(none)), ['brondatumArchiefprocedure.procestermijn required'])
  t.same(faults(await answer('P1Y')), [
    'nonFieldErrors procestype-mismatch',
    'nonFieldErrors invalid-afleidingswijze-for-procestermijn',
  ])
})

t.test('without a selectielijst the term is said by whoever makes the resultaattype', async (t) => {
  const zonder = await testApp(t)
  const catalogus = await givenCatalogus(zonder)
  const zaaktype = await post(zonder, 'zaaktypen', zaaktypeBody(catalogus))
  const answer = (more: object) =>
    zonder.call('POST', `${ZTC}/resultaattypen`, { ...resultaattypeBody(zaaktype), ...more })
  for (const archiefactietermijn of [null, 'P0D'])
    t.same(faults(await answer({ archiefactietermijn })), ['archiefactietermijn required'])
  t.equal((await answer({ archiefactietermijn: 'P7Y' })).status, 201)
  const bewaren = { omschrijving: 'Bewaren', archiefnominatie: 'blijvend_bewaren', archiefactietermijn: null }
  t.equal((await answer(bewaren)).status, 201, 'what is kept for ever has none')
})

t.test('what is left empty comes from the selectielijst', async (t) => {
  const zaaktype = await givenConcept(test)
  const empty = { archiefnominatie: '', archiefactietermijn: null }
  const made = await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, 'leeg', empty))
  t.match(made.body, { archiefnominatie: 'vernietigen', archiefactietermijn: 'P7Y' })
  const kept = { omschrijving: 'k', archiefnominatie: 'blijvend_bewaren', brondatumArchiefprocedure: null }
  const bewaren = await call(
    'POST',
    `${ZTC}/resultaattypen`,
    body(zaaktype, 'bewaren', { ...kept, archiefactietermijn: null }),
  )
  t.equal(bewaren.status, 201)
  t.match(bewaren.body, {
    archiefnominatie: 'blijvend_bewaren',
    archiefactietermijn: null,
    brondatumArchiefprocedure: { afleidingswijze: 'afgehandeld' },
  })
  for (const archiefnominatie of ['', 'vernietigen', null]) {
    const more = { omschrijving: 'x', archiefnominatie, brondatumArchiefprocedure: null }
    t.same(
      faults(await call('POST', `${ZTC}/resultaattypen`, body(zaaktype, 'bewaren', more))),
      ['brondatumArchiefprocedure required'],
      'only what is kept for ever goes without procedure',
    )
  }
})

t.test('a group in a PATCH is complete, and replaces the stored one', async (t) => {
  const zaaktype = await givenConcept(test)
  const termijn = { afleidingswijze: 'termijn', procestermijn: 'P18M' }
  const url = await post(test, 'resultaattypen', body(zaaktype, 'leeg', { brondatumArchiefprocedure: termijn }))
  t.equal((await call('GET', url)).body.brondatumArchiefprocedure.procestermijn, 'P1Y6M', 'durations are normalised')
  t.same(faults(await call('PATCH', url, { brondatumArchiefprocedure: { procestermijn: 'P1Y' } })), [
    'brondatumArchiefprocedure.afleidingswijze required',
  ])
  const changed = await call('PATCH', url, { brondatumArchiefprocedure: { afleidingswijze: 'hoofdzaak' } })
  t.equal(changed.status, 200)
  t.equal(changed.body.brondatumArchiefprocedure.procestermijn, null)
  t.equal((await call('PATCH', url, { toelichting: 'x' })).body.brondatumArchiefprocedure.afleidingswijze, 'hoofdzaak')
})

t.test('answers of the selectielijst are kept a while', async (t) => {
  const zaaktype = await givenConcept(test)
  await post(test, 'resultaattypen', body(zaaktype, 'leeg'))
  const before = asked.length
  await post(test, 'resultaattypen', body(zaaktype, 'leeg', { omschrijving: 'Tweede' }))
  t.equal(asked.length, before)
})

t.test('without a selectielijst its URLs are stored as they are, and archiefnominatie is given', async (t) => {
  const plain = await testApp(t)
  const zaaktype = await givenConcept(plain, 'https://selectielijst.example/api/v1/procestypen/1')
  const made = await plain.call('POST', `${ZTC}/resultaattypen`, resultaattypeBody(zaaktype))
  t.equal(made.status, 201)
  t.equal(made.body.selectielijstklasse, 'https://selectielijst.example/api/v1/resultaten/1')
  const without = { ...resultaattypeBody(zaaktype), omschrijving: 'x', archiefnominatie: '' }
  t.same(faults(await plain.call('POST', `${ZTC}/resultaattypen`, without)), ['archiefnominatie required'])
})

t.test('a copy of its answers stands in for the selectielijst', async (t) => {
  const root = 'https://selectielijst.example/api/v1/'
  const file = join(t.testdir({}), 'selectielijst.json')
  const resources = Object.entries(answers(root)).map(([name, value]) => ({ url: root + name, ...value }))
  await writeFile(
    file,
    JSON.stringify({ procestypen: resources.slice(0, 2), resultaten: { results: resources.slice(2) } }),
  )
  const offline = await testApp(t, { SELECTIELIJST_BESTAND: file })
  const zaaktype = await givenConcept(offline, `${root}procestypen/1`)
  const given = {
    ...resultaattypeBody(zaaktype),
    selectielijstklasse: `${root}resultaten/nihil`,
    archiefnominatie: '',
    archiefactietermijn: null,
  }
  const made = await offline.call('POST', `${ZTC}/resultaattypen`, given)
  t.equal(made.status, 201)
  t.match(made.body, {
    archiefnominatie: 'vernietigen',
    archiefactietermijn: 'P7Y',
    omschrijvingGeneriek: 'Afgebroken',
  })
  const unknown = { ...given, omschrijving: 'x', selectielijstklasse: `${root}resultaten/404` }
  t.same(faults(await offline.call('POST', `${ZTC}/resultaattypen`, unknown)), ['selectielijstklasse bad-url'])
  const config = { ...offline.config, selectielijstBestand: `${file}.weg` }
  await t.rejects(openSelectielijst(config, offline.parts.services, offline.app.read), /SELECTIELIJST_BESTAND/)
})

t.test('an imported selectielijst is used by every process, and its long terms are taken', async (t) => {
  const root = 'https://selectielijst.example/api/v1/'
  const page = (path: string, more: object = {}) => {
    const found = Object.entries(answers(root)).filter(([name]) => name.startsWith(path))
    return found.map(([name, value]) => ({ url: root + name, ...value, ...more }))
  }
  const imported = await testApp(t)
  const files = [
    { name: 'procestypen.json', text: JSON.stringify(page('procestypen')) },
    { name: 'resultaten.json', text: JSON.stringify({ results: page('resultaten', { bewaartermijn: 'P110Y' }) }) },
  ]
  await imported.app.mutate(systemActor('selectielijst import', 'http://localhost'), (m) =>
    saveSelectielijst(m, readItems(files), { day: '2026-03-02', files: files.map(({ name }) => name) }),
  )
  const zaaktype = await givenConcept(imported, `${root}procestypen/1`)
  const given = {
    ...resultaattypeBody(zaaktype),
    selectielijstklasse: `${root}resultaten/nihil`,
    archiefnominatie: '',
    archiefactietermijn: null,
  }
  const made = await imported.call('POST', `${ZTC}/resultaattypen`, given)
  t.equal(made.status, 201, made.text)
  t.match(made.body, { archiefnominatie: 'vernietigen', archiefactietermijn: 'P110Y' })
  const refused = async (values: object) =>
    faults(await imported.call('POST', `${ZTC}/resultaattypen`, { ...given, omschrijving: 'x', ...values }))
  t.same(await refused({ selectielijstklasse: `${root}resultaten/404` }), ['selectielijstklasse bad-url'])
  t.same(await refused({ selectielijstklasse: `${root}procestypen/1` }), ['selectielijstklasse invalid-resource'])
  t.same(await refused({ brondatumArchiefprocedure: { afleidingswijze: 'hoofdzaak' } }), [
    'nonFieldErrors invalid-afleidingswijze-for-procestermijn',
  ])
  const other = await givenConcept(imported, `${root}procestypen/2`)
  t.same(await refused({ zaaktype: other }), ['nonFieldErrors procestype-mismatch'])
  const wrong = {
    ...zaaktypeBody((await imported.call('GET', zaaktype)).body.catalogus),
    selectielijstProcestype: `${root}x`,
  }
  t.same(faults(await imported.call('POST', `${ZTC}/zaaktypen`, wrong)), ['selectielijstProcestype bad-url'])
})
