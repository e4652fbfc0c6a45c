import t from 'tap'
import { takeoverState } from '../../src/beheer/takeover/takeover-labels.ts'
import type { Progress } from '../../src/overnemen/round.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

const step = (given: Partial<Progress>): Progress => ({
  name: 'zaak',
  expected: 0,
  seen: 0,
  written: 0,
  unchanged: 0,
  refused: 0,
  removed: 0,
  klaar: false,
  fault: null,
  retry_at: null,
  seconden: null,
  ...given,
})

t.test('progress is what was read of what is expected, and its end follows from the speed', async (t) => {
  const row = { status: 'loopt', trial: false, seconden: 100, stil: 1 } as never
  const steps = [
    step({ name: 'document', expected: 900, seen: 1000, klaar: true, seconden: 60 }), // more than were expected
    step({ name: 'zaak', expected: 3000, seen: 1000, refused: 2, seconden: 40 }),
    step({ name: 'bestanden' }),
  ]
  const { values, done } = takeoverState(row, steps, Date.parse('2026-01-01T00:00:00Z'))
  t.match(values, {
    percent: 50,
    verwerkt: '2.000',
    totaal: '4.000',
    bezig: 'Zaken',
    snelheid: '20 rijen per seconde',
    einde: /^over ongeveer .*\(/,
    refused: '2',
    wacht: '',
  })
  t.equal(done, false)
  const silent = takeoverState({ ...(row as object), stil: 300 } as never, steps)
  t.match(silent.values.wacht, 'geen voortgang')
  const failing = takeoverState(row, [step({ fault: 'SourceUnavailable 503' })])
  t.equal(
    failing.values.wacht,
    'Bij “Zaken”: de bron is niet bereikbaar (SourceUnavailable 503). Er volgt vanzelf een nieuwe poging.',
  )
  const waiting = takeoverState(row, [step({ fault: 'SourceUnavailable 28000', retry_at: '2026-11-28T10:15:00Z' })])
  t.match(waiting.values.wacht, /weigert het account of zijn wachtwoord .*nieuwe poging \(.*11:15/)
})

t.test('the pages of a takeover', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  const uuid = '11111111-2222-4333-8444-555555555555'
  const path = `/beheer/overnemen/${uuid}`
  const { tab, klachten } = await asBeheerder(test, 'administrator')
  const main = () => tab.textContent('main')

  await tab.goto('/beheer/overnemen')
  t.match(await main(), 'Er is nog niets overgenomen')
  t.same(await accessibilityFaults(tab), [])

  const [takeover] = await sql<{ id: number }[]>`
    insert into takeover (uuid, kind, source, settings, secret, status) values (${uuid}, 'open-zaak',
      'postgres://oud.example/openzaak', ${sql.json({ oudeUrls: ['https://oud.example'], eigenUrl: 'https://nieuw.example', bytes: 'kopieren', naast: 2, tempo: 500 })},
      ${Buffer.from('nooit te zien')}, 'loopt') returning id`
  const { id } = takeover!
  await sql`
    insert into takeover_step (takeover_id, round, phase, place, name, expected, seen, written, refused, begun_at, updated_at, done_at) values
      (${id}, 1, 0, 0, 'document', 100000, 100000, 99999, 1, now() - interval '1 minute', now(), now()),
      (${id}, 1, 1, 1, 'zaak', 200000, 50000, 49990, 10, now() - interval '20 seconds', now(), null),
      (${id}, 1, 2, 2, 'bestanden', 100000, 0, 0, 0, null, null, null)`
  await sql`
    insert into takeover_remark (takeover_id, kind, key, outcome, code, field, value, text, identificatie, round)
    select ${id}::bigint, 'zaak', gen_random_uuid()::text, 'geweigerd', 'waarde', 'einddatum', '2024-02-30', 'Moet een dag zijn die bestaat.',
      'ZAAK-2024-' || n, 1 from generate_series(1, 60) n
    union all select ${id}::bigint, 'rol', '99999999-2222-4333-8444-555555555555', 'gemarkeerd', 'elfproef', 'inpBsn', '',
      '=Het nummer voldoet niet aan de elfproef.', '', 1`

  await t.test('progress, faults by kind and the state of each step are on one page, kept up to date', async (t) => {
    await tab.goto('/beheer/overnemen')
    t.match(await main(), /postgres:\/\/oud.example\/openzaak.*de database.*Ronde loopt.*alleen lezen/s)
    await tab.click('text=postgres://oud.example/openzaak')
    t.match(await main(), /Gelezen: 37%.*150.000.*van 400.000.*rijen per seconde.*Verwacht einde.*over ongeveer/s)
    t.match(await main(), /Zaken: geen dag.*Niet overgenomen.*60.*herstel de waarde in de bron/s)
    t.match(await main(), 'Nog niet begonnen: Inhoud van documenten (100.000).')
    t.match(await main(), 'de API’s antwoorden met 409')
    t.notMatch(await main(), 'nooit te zien')
    t.equal(await tab.$('text="Omschakelen"'), null, 'not while a round runs')
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    await sql`update takeover_step set seen = 130000, updated_at = now() where takeover_id = ${id} and name = 'zaak'`
    await tab.waitForSelector('[data-waarde=verwerkt]:has-text("230.000")')
  })

  await t.test('the report is filtered, paged and downloaded', async (t) => {
    await tab.click('text=Zaken: geen dag')
    t.match(await main(), /ZAAK-2024-1.*einddatum.*2024-02-30.*Moet een dag zijn die bestaat.*herstel de waarde/s)
    t.equal((await tab.$$('tbody tr')).length, 50)
    t.same(await accessibilityFaults(tab), [])
    await tab.selectOption('select[name=code]', 'elfproef')
    await tab.selectOption('select[name=soort]', '')
    await tab.selectOption('select[name=uitkomst]', '')
    await tab.click('button:text("Filteren")')
    t.equal((await tab.$$('tbody tr')).length, 1)
    const get = await test.signedIn('viewer')
    const csv = await get(`${path}/rapport?code=elfproef&soort=&uitkomst=`)
    t.match(csv.headers['content-type'], 'text/csv')
    const lines = csv.body.trim().split('\r\n')
    t.equal(lines.length, 2)
    t.match(lines[1], "'=Het nummer", 'a spreadsheet runs no formula of another system')
    t.equal((await get(`${path}/rapport`)).body.trim().split('\r\n').length, 62)
  })

  await t.test('an administrator allows changes and makes the switch, once; others only look', async (t) => {
    await sql`update takeover set status = 'gestopt' where id = ${id}`
    await sql`update takeover_step set fault = 'PostgresError 42P01' where takeover_id = ${id} and name = 'zaak'`
    await tab.goto(path)
    t.match(
      await main(),
      /De ronde is gestopt.*Mislukt de database van de bron mist een tabel of kolom \(PostgresError 42P01\)/s,
    )
    t.notMatch(await main(), 'probeert opnieuw')
    await sql`update takeover set status = 'klaar', round_done_at = now(), checked_at = now() - interval '1 day', differences = 0 where id = ${id}`
    await tab.goto(path)
    t.match(await main(), /3\. Rapport nalopen\s+Kijk ernaar\s+60 niet overgenomen/)
    t.match(await main(), /7\. Controleren\s+Nog te doen\s+na de laatste ronde/, 'the round came after it')
    await sql`update takeover set checked_at = now() + interval '1 second', differences = 2 where id = ${id}`
    await tab.goto(path)
    t.match(await main(), /7\. Controleren\s+Kijk ernaar\s+2 verschillen.*8\. Omschakelen\s+Nog te doen/s)
    for (const rol of ['viewer', 'operator'] as const) {
      const { tab, context } = await asBeheerder(test, rol, { width: 390 })
      await tab.goto(path)
      t.equal(await tab.$('text="Omschakelen"'), null)
      t.equal(await isTooWide(tab), false)
      await tab.goto(`${path}/regels`)
      t.equal(await isTooWide(tab), false)
      const _csrf = await tab.inputValue('input[name=_csrf]')
      for (const what of ['omschakelen', 'wijzigbaar']) {
        const answer = await context.request.post(`${path}/${what}`, {
          form: { _csrf },
          headers: { origin: test.adres },
        })
        t.equal(answer.status(), 403)
      }
    }
    await tab.goto(path)
    await tab.click('text=Wijzigen toestaan')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('button:text("Wijzigen toestaan")')
    t.match(await main(), 'mag hier al worden gewijzigd')
    await tab.click('text="Omschakelen"')
    t.same(await accessibilityFaults(tab), [])
    await tab.fill('#veld-bevestiging', 'ja')
    await tab.click('button:text("Nu omschakelen")')
    t.match(await main(), 'Er is niet omgeschakeld: typ het woord omschakelen')
    await tab.fill('#veld-bevestiging', 'Omschakelen ')
    await tab.click('button:text("Nu omschakelen")')
    t.match(await tab.textContent('body'), 'Omgeschakeld. Er zijn 0 meldingen vervallen.')
    t.equal(await tab.$('text="Omschakelen"'), null)
    const [row] = await sql`select status, read_only from takeover where id = ${id}`
    t.match(row, { status: 'omgeschakeld', read_only: false })
    const trail = await sql`select handeling, gebruiker from beheer_audit where object_kind = 'overneming' order by id`
    t.same(
      trail.map(({ handeling }) => handeling),
      ['overneming-wijzigbaar', 'overneming-omschakelen'],
    )
    await tab.goto(`${path}/omschakelen`) // as from an old tab
    await tab.fill('#veld-bevestiging', 'omschakelen')
    await tab.click('button:text("Nu omschakelen")')
    t.match(await tab.textContent('body'), 'Er is niet omgeschakeld')
  })

  t.same(klachten, [])
})
