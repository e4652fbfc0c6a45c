// What a request may say, and how much of it.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { ownPath } from '../../src/beheer/accounts/sign-in-steps.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { givenZaaktype, SECRET, testApp } from '../app.ts'
import { CRS, faultsOf, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'

const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'
const test = await testApp(t)
const { call } = test
const zaaktype = await givenZaaktype(test)
const zaak = await givenZaak(test, { zaaktype })
const post = (values: object) => call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, values), CRS)
const search = (body: object) => call('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)

t.test('a body of more than 1 MB is 413', async (t) => {
  t.equal((await post({ toelichting: 'x'.repeat(LIMITS.bodyBytes) })).status, 413)
  t.equal((await post({ onbekend: 'x'.repeat(LIMITS.bodyBytes / 2) })).status, 201, 'unknown names are ignored')
})

t.test('a list has a greatest length, and a long one is one fault', async (t) => {
  const many = (n: number) => Array.from({ length: n }, (_, index) => `https://example.com/${index}`)
  t.same(faultsOf(await post({ productenOfDiensten: many(LIMITS.items + 1) })), ['productenOfDiensten: max_length'])
  const numbers = await post({ productenOfDiensten: Array.from({ length: 400_000 }, () => 1) })
  t.equal(numbers.status, 400)
  const ids = Array.from({ length: LIMITS.uuids + 1 }, () => zaak.uuid)
  t.same(faultsOf(await search({ uuid__in: ids })), ['uuid__in: max_length'])
  t.equal((await search({ uuid__in: ids.slice(1) })).body.count, 1)
  t.same(faultsOf(await call('POST', `${DOCUMENTEN}/_zoek`, { uuid__in: ids })), ['uuid__in: max_length'])
  t.same(faultsOf(await search({ ordering: Array.from({ length: 50_000 }, () => 'startdatum') })), [
    'ordering: max_length',
  ])
})

t.test('a text has a greatest length, also where the standard says none', async (t) => {
  const notitie = { zaak: zaak.url, onderwerp: 'x', tekst: 'x'.repeat(LIMITS.text + 1) }
  t.match(faultsOf(await call('POST', `${ZAKEN}/zaaknotities`, notitie)), ['tekst: max_length'])
})

t.test('a text that an expression would try in every way is judged as quickly as any other', async (t) => {
  const faultsOfAddress = async (emailadres: string) => {
    const rol = { zaak: zaak.url, betrokkeneType: 'medewerker', roltype: zaaktype, roltoelichting: 'x' }
    const answer = await call('POST', `${ZAKEN}/rollen`, { ...rol, contactpersoonRol: { naam: 'x', emailadres } })
    return faultsOf(answer).filter((fault) => fault.startsWith('contactpersoonRol.emailadres'))
  }
  // As an expression it took minutes of the event loop.
  const dots = '.'.repeat(LIMITS.bodyBytes - 1000)
  t.same(await faultsOfAddress(`a@${dots}@`), ['contactpersoonRol.emailadres: max_length'])
  const invalid = 'contactpersoonRol.emailadres: invalid'
  for (const bad of ['a@b', '@b.nl', 'a@.nl', 'a@b.', 'a b@c.nl', 'a@b@c.nl', 'a'])
    t.same(await faultsOfAddress(bad), [invalid], bad)
  for (const good of ['a@b.nl', 'a@b.nl ', 'a.b@c.d.nl', 'é@ü.nl', '']) t.same(await faultsOfAddress(good), [], good)
})

t.test('an answer names at most 100 faults, and says that there are more', async (t) => {
  const answer = await post({ productenOfDiensten: Array.from({ length: 900 }, () => 'geen url') })
  t.equal(answer.status, 400)
  t.equal(answer.body.invalidParams.length, LIMITS.faults)
  t.match(answer.body.detail, /meer dan deze 100 fouten/)
})

t.test('what identifies an object or who is involved is at most 64 kB of JSON', async (t) => {
  const edge = (size: number, make: (text: string) => object) => {
    const text = 'x'.repeat(size - JSON.stringify(make('')).length)
    return make(text.slice(1))
  }
  const overige = (values: object) =>
    call('POST', `${ZAKEN}/zaakobjecten`, {
      zaak: zaak.url,
      objectType: 'overige',
      objectTypeOverige: 'lijst',
      ...values,
    })
  // Texts have a bound of their own, so it takes more than one of them.
  const data = (text: string) => ({ overigeData: { delen: text.match(/.{1,10000}/g) ?? [] } })
  const fits = edge(LIMITS.identificatieBytes - 100, data)
  t.equal((await overige({ objectIdentificatie: fits })).status, 201)
  for (const tooLarge of [edge(LIMITS.identificatieBytes + 100, data), data('é'.repeat(LIMITS.identificatieBytes / 2))])
    t.same(faultsOf(await overige({ objectIdentificatie: tooLarge })), ['objectIdentificatie: max_length'])

  const rol = (values: object) =>
    call('POST', `${ZAKEN}/rollen`, {
      zaak: zaak.url,
      roltype: 'https://elders.example/1',
      roltoelichting: 'x',
      ...values,
    })
  const vestiging = { handelsnaam: Array.from({ length: 120 }, () => 'x'.repeat(600)) }
  t.match(faultsOf(await rol({ betrokkeneType: 'vestiging', betrokkeneIdentificatie: vestiging })), [
    'betrokkeneIdentificatie: max_length',
  ])
  const authenticatieContext = {
    source: 'digid',
    levelOfAssurance: 'urn:oasis:names:tc:SAML:2.0:ac:classes:Smartcard',
    mandate: { services: Array.from({ length: 10 }, () => ({ id: 'x'.repeat(10_000) })) },
  }
  t.match(faultsOf(await rol({ betrokkeneType: 'natuurlijk_persoon', authenticatieContext })), [
    'authenticatieContext: max_length',
  ])
})

t.test('values that stand very deep within each other are refused', async (t) => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  for (const [text, status] of [
    [deep(100_000), 400],
    [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, 400],
  ] as const) {
    const body = JSON.stringify(zaakBody(zaaktype)).replace('{', `{"zaakgeometrie":${text},`)
    const headers = { 'content-type': 'application/json', ...CRS.headers }
    const answer = await call('POST', `${ZAKEN}/zaken`, body, { headers })
    t.equal(answer.status, status, text.slice(0, 10))
  }
})

t.test('a name that every object has is no name of ours', async (t) => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    for (const list of [`${ZAKEN}/zaken`, DOCUMENTEN])
      t.same(
        faultsOf(await call('GET', `${list}?ordering=${name}`, undefined, CRS)),
        ['ordering: invalid_choice'],
        name,
      )
    t.equal((await call('GET', `${ZAKEN}/zaken?expand=${name}`, undefined, CRS)).status, 400, name)
    t.equal((await call('GET', `${ZAKEN}/zaken?${name}=x`, undefined, CRS)).status, 400, name)
    t.equal((await call('GET', `/${name}/api/v1/zaken`)).status, 404, name)
    t.equal((await call('GET', `/ref/fouten/${name}/`)).status, 404, name)
    t.same(faultsOf(await post({ zaakgeometrie: { type: name, coordinates: [1, 2] } })), ['zaakgeometrie: invalid'])
    t.same(faultsOf(await search({ zaakgeometrie: { within: { type: name, coordinates: [[1, 2]] } } })), [
      'zaakgeometrie.within: invalid',
    ])
    t.equal((await search({ fields: [name, { [name === '__proto__' ? 'x' : name]: ['url'] }] })).status, 200, name)
    const rol = { zaak: zaak.url, betrokkeneType: name, roltype: 'https://x.example/1', roltoelichting: 'x' }
    t.match(faultsOf(await call('POST', `${ZAKEN}/rollen`, rol)), ['betrokkeneType: invalid_choice'], name)
    const object = { zaak: zaak.url, objectType: name, objectIdentificatie: {} }
    t.match(faultsOf(await call('POST', `${ZAKEN}/zaakobjecten`, object)), ['objectType: invalid_choice'], name)
  }
})

t.test('JSON that is no UTF-8 is refused', async (t) => {
  const body = Buffer.from(JSON.stringify(zaakBody(zaaktype, { omschrijving: 'caf#' })))
  body[body.indexOf('#')] = 0xe9 // é in Latin-1
  const answer = await call('POST', `${ZAKEN}/zaken`, body, {
    headers: { 'content-type': 'application/json', ...CRS.headers },
  })
  t.match([answer.status, answer.body.code], [400, 'parse_error'])
})

t.test('a request line may name the whole address (RFC 9112)', async (t) => {
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const ask = async (target: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept-crs: EPSG:4326\r\nauthorization: Bearer ${signToken('beheer', SECRET, { id: 'g', name: 'G' })}\r\n\r\n`,
    )
    let text = ''
    socket.setEncoding('utf8').on('data', (piece) => {
      text += piece
    })
    await once(socket, 'close')
    return Number(text.split(' ', 2)[1])
  }
  t.equal(await ask(`http://localhost:${port}${ZAKEN}/zaken?pageSize=1`), 200)
  t.equal(await ask(`HTTP://elders.example${ZAKEN}/zaken/${zaak.uuid}`), 200)
  for (const target of ['http://localhost', 'http:///', 'http://[', '*', '/%', '//', '/..', '/%2e%2e/zaken'])
    t.ok((await ask(target)) < 500, target)
})

t.test('after signing in nobody is sent outside the pages', async (t) => {
  for (const path of ['/beheer/', '/beheer/zaken?zaak=1', '/beheer/taken#3']) t.equal(ownPath(path), path)
  for (const path of [
    '//evil.example/',
    '/beheer/../zaken',
    '/beheer/%2e%2e/zaken',
    '/beheer/x/..%2f..',
    '/beheer/\r\nset-cookie: x=1',
    '/beheer/\n',
    '/beheer/\\evil',
    '/beheer/é',
    'https://evil.example/beheer/',
    undefined,
  ])
    t.match(ownPath(path), /^(?!.*\.\.\/)(\/beheer\/[\x21-\x7e]*)?$/, path ?? 'none')
  t.equal(ownPath('/beheer/../zaken'), '')
})

t.test('a number that is larger than the database holds is 400', async (t) => {
  const answer = await call('POST', '/catalogi/api/v1/statustypen', {
    zaaktype,
    omschrijving: 'x',
    volgnummer: 99_999_999_999,
  })
  t.equal(answer.status, 400)
})
