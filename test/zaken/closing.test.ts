import t from 'tap'
import { givenClient, givenInformatieobjecttype, type Json, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenEigenschap, givenType, givenZaak, made, ZAKEN } from './given.ts'

t.test('statuses', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  let second = 0
  const status = (zaak: { url: string }, statustype: string, values: object = {}, as = 'beheer') =>
    call(
      'POST',
      `${ZAKEN}/statussen`,
      {
        zaak: zaak.url,
        statustype,
        datumStatusGezet: `2026-03-05T10:00:${String(second++ % 60).padStart(2, '0')}Z`,
        ...values,
      },
      { as },
    )
  const resultaat = (zaak: { url: string }, resultaattype: string) =>
    call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype })
  const read = async (zaak: { url: string }) => (await call('GET', zaak.url, undefined, CRS)).body
  const type = await givenType(test)

  await t.test('zrc-007, zrc-021: the eindstatus closes a case and derives its archiving', async (t) => {
    const zaak = await givenZaak(test, type)
    t.equal((await status(zaak, type.begin)).status, 201)
    t.same(faultsOf(await status(zaak, type.eind)), ['nonFieldErrors: resultaat-does-not-exist'])
    made(await resultaat(zaak, type.resultaattype))
    const closed = await status(zaak, type.eind, { datumStatusGezet: '2026-03-06T00:30:00+01:00' })
    t.equal(closed.status, 201, closed.text)
    t.equal(closed.body.indicatieLaatstGezetteStatus, true)
    t.match(await read(zaak), {
      einddatum: '2026-03-06',
      status: closed.body.url,
      archiefnominatie: 'vernietigen',
      archiefactiedatum: '2036-03-06',
      startdatumBewaartermijn: '2026-03-06',
    })
    const rows =
      await database.sql`select resource, actie from notificatie where hoofd_object_uuid = ${zaak.uuid} order by id`
    t.same(
      rows.map(({ resource, actie }) => `${resource} ${actie}`),
      ['zaak create', 'status create', 'resultaat create', 'status create'],
    )
  })

  await t.test('a second resultaat is refused as such, before the closed case is', async (t) => {
    const zaak = await givenZaak(test, type)
    made(await resultaat(zaak, type.resultaattype))
    made(await status(zaak, type.eind))
    const right = { component: 'zrc', scopes: ['zaken.bijwerken'], typeUuid: uuidOf(type.zaaktype), max: 'openbaar' }
    const as = await givenClient(test, 'zonder', [{ ...right, typeUrl: type.zaaktype }])
    const body = { zaak: zaak.url, resultaattype: type.resultaattype }
    t.same(faultsOf(await call('POST', `${ZAKEN}/resultaten`, body, { as })), ['zaak: unique'])
  })

  await t.test('zrc-008: reopening clears what closing set, and keeps the resultaat', async (t) => {
    const zaak = await givenZaak(test, type)
    made(await resultaat(zaak, type.resultaattype))
    made(await status(zaak, type.eind))
    made(await status(zaak, type.begin))
    t.match(await read(zaak), {
      einddatum: null,
      archiefnominatie: null,
      archiefactiedatum: null,
      startdatumBewaartermijn: null,
      resultaat: String,
    })
  })

  await t.test(
    'einddatum is there exactly when the latest status is the eindstatus, in whatever order they are told',
    async (t) => {
      const dates = { einddatum: null, archiefnominatie: null, archiefactiedatum: null, startdatumBewaartermijn: null }
      const closedDates = {
        einddatum: '2026-03-01',
        archiefactiedatum: '2036-03-01',
        startdatumBewaartermijn: '2026-03-01',
      }
      const at = (day: string) => ({ datumStatusGezet: `2026-${day}T10:00:00Z` })
      const zaak = await givenZaak(test, type)
      made(await resultaat(zaak, type.resultaattype))
      const eind = made(await status(zaak, type.eind, at('03-01')))
      const history = await status(zaak, type.begin, at('01-05'))
      t.equal(history.status, 201, history.text)
      t.equal(history.body.indicatieLaatstGezetteStatus, false)
      t.match(
        await read(zaak),
        { ...closedDates, archiefnominatie: 'vernietigen', status: eind.url },
        'it stays closed',
      )
      made(await status(zaak, type.eind, at('02-01')))
      t.match(await read(zaak), { ...closedDates, status: eind.url }, 'as of the latest end')

      const open = await givenZaak(test, type)
      const begin = made(await status(open, type.begin, at('03-01')))
      t.equal(
        (await status(open, type.eind, at('02-01'))).status,
        201,
        'an end of the past needs nothing that closing needs',
      )
      t.match(await read(open), { ...dates, status: begin.url }, 'the other way round it stays open')
      const close = await call('POST', `${ZAKEN}/zaak_afsluiten/${open.uuid}`, {
        zaak: {},
        status: { statustype: type.eind, ...at('02-02') },
        resultaat: { resultaattype: type.resultaattype },
      })
      t.same(faultsOf(close), ['status.datumStatusGezet: status-not-current'], 'what has to close cannot lie before')
      t.match(await read(open), { ...dates, resultaat: null }, 'and changes nothing')
      const same = await status(open, type.begin, at('03-01'))
      t.same(faultsOf(same), ['nonFieldErrors: unique'], 'of two at one moment neither would be the later')
    },
  )

  await t.test('zrc-007: a closed case is changed only with the forced scope', async (t) => {
    const zaak = await givenZaak(test, type)
    made(await resultaat(zaak, type.resultaattype))
    const right = (scopes: string[]) => [
      { component: 'zrc', scopes, typeUuid: uuidOf(type.zaaktype), typeUrl: type.zaaktype, max: 'zeer_geheim' },
    ]
    const as = await givenClient(test, 'gewoon', right(['zaken.bijwerken', 'zaken.lezen', 'zaken.aanmaken']))
    const forced = await givenClient(test, 'dwinger', right(['zaken.geforceerd-bijwerken', 'zaken.lezen']))
    t.equal((await call('PATCH', zaak.url, { toelichting: 'open' }, { ...CRS, as })).status, 200)
    made(await status(zaak, type.eind))
    t.equal((await call('PATCH', zaak.url, { toelichting: 'x' }, { ...CRS, as })).status, 403)
    t.equal((await call('PATCH', zaak.url, { toelichting: 'x' }, { ...CRS, as: forced })).status, 200)
    const pand = { zaak: zaak.url, objectType: 'pand', objectIdentificatie: { identificatie: '1' } }
    t.equal((await call('POST', `${ZAKEN}/zaakobjecten`, pand, { as })).status, 403)
    t.equal((await call('POST', `${ZAKEN}/zaakobjecten`, pand, { as: forced })).status, 201)
    t.equal((await call('POST', `${ZAKEN}/zaakobjecten`, { ...pand, objectIdentificatie: {} }, { as })).status, 400)
  })

  await t.test('who may add a status', async (t) => {
    const right = (scope: string) => [
      { component: 'zrc', scopes: [scope], typeUuid: uuidOf(type.zaaktype), typeUrl: type.zaaktype, max: 'openbaar' },
    ]
    const maker = await givenClient(test, 'maker', right('zaken.aanmaken'))
    const adder = await givenClient(test, 'toevoeger', right('zaken.statussen.toevoegen'))
    const opener = await givenClient(test, 'heropener', right('zaken.heropenen'))
    const zaak = await givenZaak(test, type)
    made(await resultaat(zaak, type.resultaattype))
    t.equal((await status(zaak, type.begin, {}, maker)).status, 201)
    t.equal((await status(zaak, type.begin, {}, maker)).status, 403)
    t.equal((await status(zaak, type.eind, {}, adder)).status, 201)
    t.equal((await status(zaak, type.begin, {}, adder)).status, 403)
    t.equal((await status(zaak, type.begin, {}, opener)).status, 201)
  })

  await t.test('zrc-016, zrc-020: types belong to the zaaktype of the case', async (t) => {
    const zaak = await givenZaak(test, type)
    const other = await givenType(test)
    t.same(faultsOf(await status(zaak, other.begin)), ['nonFieldErrors: zaaktype-mismatch'])
    t.same(faultsOf(await resultaat(zaak, other.resultaattype)), ['nonFieldErrors: zaaktype-mismatch'])
    t.same(faultsOf(await status(zaak, zaak.url)), ['statustype: invalid-resource'])
    t.same(faultsOf(await status({ url: other.begin }, type.begin)), ['zaak: incorrect_match'])
    t.same(faultsOf(await status({ url: `${zaak.url.slice(0, -12)}000000000000` }, type.begin)), [
      'zaak: object-does-not-exist',
    ])
    t.same(faultsOf(await status(zaak, type.begin, { datumStatusGezet: '2999-01-01T00:00:00Z' })), [
      'datumStatusGezet: date-in-future',
    ])
    made(await status(zaak, type.begin, { datumStatusGezet: '2026-01-01' }))
    t.same(faultsOf(await status(zaak, type.begin, { datumStatusGezet: '2026-01-01T00:00:00Z' })), [
      'nonFieldErrors: unique',
    ])
    made(await resultaat(zaak, type.resultaattype))
    t.same(faultsOf(await resultaat(zaak, type.resultaattype)), ['zaak: unique'])
  })

  await t.test('a case with a locked document, or one without indicatieGebruiksrecht, does not close', async (t) => {
    const informatieobjecttype = await givenInformatieobjecttype(test)
    const { catalogus } = (await call('GET', informatieobjecttype)).body
    const own = await givenType(
      test,
      { afleidingswijze: 'afgehandeld' },
      {},
      { catalogus, informatieobjecttypen: [informatieobjecttype] },
    )
    const zaak = await givenZaak(test, own)
    made(await resultaat(zaak, own.resultaattype))
    const informatieobject = await givenDocument(test, informatieobjecttype)
    made(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject }))
    await call('POST', `${informatieobject}/lock`)
    t.same(faultsOf(await status(zaak, own.eind)), [
      'nonFieldErrors: informatieobject-locked',
      'nonFieldErrors: indicatiegebruiksrecht-unset',
    ])
  })

  await t.test('a hoofdzaak closes after its deelzaken, which then follow it in archiving', async (t) => {
    const deel = await givenType(test, { afleidingswijze: 'hoofdzaak' }, {}, { identificatie: 'DEELZAAK' })
    const { catalogus } = (await call('GET', deel.zaaktype)).body
    const short = await givenType(
      test,
      { afleidingswijze: 'hoofdzaak' },
      { archiefactietermijn: 'P5Y' },
      { catalogus, identificatie: 'KORT' },
    )
    const hoofd = await givenType(
      test,
      { afleidingswijze: 'afgehandeld' },
      {},
      { catalogus, deelzaaktypen: [deel.zaaktype, short.zaaktype], identificatie: 'H' },
    )
    const hoofdzaak = await givenZaak(test, hoofd)
    const deelzaak = await givenZaak(test, { ...deel, hoofdzaak: hoofdzaak.url })
    const others = [
      await givenZaak(test, { ...deel, hoofdzaak: hoofdzaak.url }),
      await givenZaak(test, { ...short, hoofdzaak: hoofdzaak.url }),
    ] as const
    for (const [index, type] of [deel, short].entries()) {
      made(await resultaat(others[index]!, type.resultaattype))
      made(await status(others[index]!, type.eind))
    }
    made(await resultaat(hoofdzaak, hoofd.resultaattype))
    t.same(faultsOf(await status(hoofdzaak, hoofd.eind)), [
      'nonFieldErrors: deelzaken-not-closed',
      'nonFieldErrors: deelzaak-resultaat-does-not-exist',
    ])
    made(await resultaat(deelzaak, deel.resultaattype))
    made(await status(deelzaak, deel.eind))
    t.match(await read(deelzaak), { archiefactiedatum: null, archiefnominatie: null })
    made(await status(hoofdzaak, hoofd.eind, { datumStatusGezet: '2026-04-01T00:00:00Z' }))
    const archived = { archiefnominatie: 'vernietigen', startdatumBewaartermijn: '2026-04-01' }
    t.match(await read(deelzaak), { ...archived, archiefactiedatum: '2036-04-01' })
    t.match(await read(others[0]), { ...archived, archiefactiedatum: '2036-04-01' })
    t.match(await read(others[1]), { ...archived, archiefactiedatum: '2031-04-01' })
    t.same(faultsOf(await status(deelzaak, deel.begin)), ['nonFieldErrors: hoofdzaak-closed'])
  })

  const wijzen: [string, object, (zaak: Json, type: Json) => Promise<unknown>, string | null][] = [
    ['termijn', { afleidingswijze: 'termijn', procestermijn: 'P1Y' }, async () => {}, '2037-03-05'],
    [
      'eigenschap',
      { afleidingswijze: 'eigenschap', datumkenmerk: 'einde' },
      async (zaak, { zaaktype }) =>
        call('POST', `${zaak.url}/zaakeigenschappen`, {
          zaak: zaak.url,
          eigenschap: await givenEigenschap(test, zaaktype, 'einde'),
          waarde: '20300131',
        }).then(made),
      '2040-01-31',
    ],
    ['eigenschap zonder waarde', { afleidingswijze: 'eigenschap', datumkenmerk: 'einde' }, async () => {}, null],
    [
      'zaakobject',
      { afleidingswijze: 'zaakobject', datumkenmerk: 'datum', objecttype: 'overige' },
      async (zaak) =>
        call('POST', `${ZAKEN}/zaakobjecten`, {
          zaak: zaak.url,
          objectType: 'overige',
          objectTypeOverige: 'ding',
          objectIdentificatie: { overigeData: { datum: '2031-02-03' } },
        }).then(made),
      '2041-02-03',
    ],
    [
      'ander_datumkenmerk',
      { afleidingswijze: 'ander_datumkenmerk', datumkenmerk: 'x', objecttype: 'pand', registratie: 'y' },
      async () => {},
      null,
    ],
    ['vervaldatum_besluit', { afleidingswijze: 'vervaldatum_besluit' }, async () => {}, null],
    [
      'gerelateerde_zaak: the case that ended last',
      { afleidingswijze: 'gerelateerde_zaak' },
      async (zaak) => {
        const others = await Promise.all([givenZaak(test, type), givenZaak(test, type), givenZaak(test, type)])
        for (const [index, einddatum] of ['2030-05-06', '2031-05-06'].entries())
          await database.sql`update zaak set einddatum = ${einddatum} where uuid = ${others[index]!.uuid}`
        const relevanteAndereZaken = others.map(({ url }) => ({ url, aardRelatie: 'vervolg' }))
        t.equal((await call('PATCH', zaak.url, { relevanteAndereZaken }, CRS)).status, 200)
      },
      '2041-05-06',
    ],
  ]
  await t.test('zrc-021: dates are read as people write them, and what cannot be read is named', async (t) => {
    const own = await givenType(test, { afleidingswijze: 'eigenschap', datumkenmerk: 'einde' })
    const eigenschap = await givenEigenschap(test, own.zaaktype, 'einde')
    const close = async (waarde: string) => {
      const zaak = await givenZaak(test, own)
      made(await resultaat(zaak, own.resultaattype))
      made(await call('POST', `${zaak.url}/zaakeigenschappen`, { zaak: zaak.url, eigenschap, waarde }))
      return { zaak, answer: await status(zaak, own.eind) }
    }
    for (const [waarde, day] of Object.entries({
      '31-12-2023': '2033-12-31',
      '2023-1-5': '2033-01-05',
      '2023/12/31': '2033-12-31',
      '3/2/2023': '2033-02-03',
      '05.01.2023': '2033-01-05',
      '20230105': '2033-01-05',
      '20230105123000': '2033-01-05',
      '2023-01-05T23:30:00+01:00': '2033-01-05',
      '5-1-2023 12:00': '2033-01-05',
    })) {
      const { zaak, answer } = await close(waarde)
      t.equal(answer.status, 201, answer.text)
      t.equal((await read(zaak)).archiefactiedatum, day, waarde)
    }
    for (const waarde of ['31-02-2023', '12/31/2023', 'binnenkort', '2023-1']) {
      const { answer } = await close(waarde)
      t.same(faultsOf(answer), ['nonFieldErrors: archiefactiedatum-error'])
      t.match(answer.body.invalidParams[0].reason, `"${waarde}" is geen datum`)
    }
  })

  for (const [name, afleiding, prepare, archiefactiedatum] of wijzen) {
    await t.test(`zrc-021: afleidingswijze ${name}`, async (t) => {
      const own = await givenType(test, afleiding)
      const zaak = await givenZaak(test, own)
      made(await resultaat(zaak, own.resultaattype))
      await prepare(zaak, own)
      made(await status(zaak, own.eind))
      t.match(await read(zaak), { archiefactiedatum, archiefnominatie: 'vernietigen' })
    })
  }

  for (const afleidingswijze of ['ingangsdatum_besluit', 'gerelateerde_zaak', 'hoofdzaak']) {
    await t.test(`zrc-021: ${afleidingswijze} without a source refuses the closing`, async (t) => {
      const own = await givenType(test, { afleidingswijze })
      const zaak = await givenZaak(test, own)
      made(await resultaat(zaak, own.resultaattype))
      t.same(faultsOf(await status(zaak, own.eind)), ['nonFieldErrors: archiefactiedatum-error'])
      t.equal((await read(zaak)).einddatum, null)
    })
  }

  await t.test('zrc-021: without a term a case that will be destroyed does not close', async (t) => {
    const own = await givenType(test)
    await database.sql`update resultaattype set archiefactietermijn = null where uuid = ${uuidOf(own.resultaattype)}`
    const zaak = await givenZaak(test, own)
    made(await resultaat(zaak, own.resultaattype))
    t.same(faultsOf(await status(zaak, own.eind)), ['nonFieldErrors: archiefactiedatum-error'])
  })

  await t.test('an archived case is locked for what hangs on it, whoever asks', async (t) => {
    const zaak = await givenZaak(test, { ...type, archiefnominatie: 'vernietigen', archiefactiedatum: '2030-01-01' })
    await call('PATCH', zaak.url, { archiefstatus: 'gearchiveerd' }, CRS)
    t.same(faultsOf(await status(zaak, type.begin)), ['nonFieldErrors: zaak-archiefstatus-invalid'])
    t.same(faultsOf(await resultaat(zaak, type.resultaattype)), ['nonFieldErrors: zaak-archiefstatus-invalid'])
  })

  await t.test('statuses and results are listed by their case, and expanded', async (t) => {
    const zaak = await givenZaak(test, type)
    const one = made(await status(zaak, type.begin))
    const two = made(await resultaat(zaak, type.resultaattype))
    t.same((await call('GET', `${ZAKEN}/statussen?zaak=${encodeURIComponent(zaak.url)}`)).body.results[0].url, one.url)
    t.equal(
      (await call('GET', `${ZAKEN}/statussen?zaak=${encodeURIComponent(zaak.url)}&indicatieLaatstGezetteStatus=False`))
        .body.count,
      0,
    )
    t.equal(
      (await call('GET', `${ZAKEN}/resultaten?zaak=${encodeURIComponent(zaak.url)}`)).body.results[0].url,
      two.url,
    )
    t.equal((await call('GET', `${ZAKEN}/statussen?onzin=1`)).status, 400)
    const paths = 'zaaktype,status.statustype,resultaat,resultaat.resultaattype,rollen'
    const list = await call(
      'GET',
      `${ZAKEN}/zaken?zaaktype=${encodeURIComponent(type.zaaktype)}&expand=${paths}`,
      undefined,
      CRS,
    )
    const { _expand } = list.body.results.find(({ url }: { url: string }) => url === zaak.url)
    t.equal(_expand.status._expand.statustype.url, type.begin)
    t.equal(_expand.resultaat._expand.resultaattype.url, type.resultaattype)
    t.equal(_expand.zaaktype.url, type.zaaktype)
    t.same(_expand.rollen, [])
    t.equal((await call('GET', `${ZAKEN}/zaken?expand=onzin`, undefined, CRS)).status, 400)
    t.equal((await call('DELETE', two.url)).status, 204)
    t.equal((await read(zaak)).resultaat, null)
    t.equal((await call('PUT', one.url, {})).status, 405)
  })
})
