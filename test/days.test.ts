// A day begins at midnight of TIME_ZONE, in every rule, default and number.
import t from 'tap'
import { readConfig } from '../src/config.ts'
import { dayOf, today, useTimeZone } from '../src/lib/day.ts'
import { testApp } from './app.ts'
import { givenBesluit } from './besluiten/given.ts'
import { CRS, givenZaak } from './zaken/given.ts'

t.test(
  'the day of a moment is that of Amsterdam, in both seasons, at the turn of the year and in the nights of the change',
  (t) => {
    for (const [moment, day] of Object.entries({
      '2026-01-14T23:30:00Z': '2026-01-15', // 00:30 in winter
      '2026-01-14T22:59:59Z': '2026-01-14',
      '2026-07-14T22:30:00Z': '2026-07-15', // 00:30 in summer
      '2026-07-14T21:59:59Z': '2026-07-14',
      '2025-12-31T23:30:00Z': '2026-01-01',
      '2026-03-28T23:00:00Z': '2026-03-29', // the night of 23 hours
      '2026-03-29T21:59:59Z': '2026-03-29',
      '2026-03-29T22:00:00Z': '2026-03-30',
      '2026-10-24T22:00:00Z': '2026-10-25', // the night of 25 hours
      '2026-10-25T22:59:59Z': '2026-10-25',
      '2026-10-25T23:00:00Z': '2026-10-26',
      '2026-03-31T22:30:00Z': '2026-04-01',
      '2026-04-01T00:30:00+02:00': '2026-04-01',
    }))
      t.equal(dayOf(moment), day, moment)
    t.end()
  },
)

t.test('a time zone that does not exist is a fault of the setting', (t) => {
  t.throws(() => readConfig({ TIME_ZONE: 'Europe/Atlantis' }), /TIME_ZONE must/)
  useTimeZone('Europe/Amsterdam')
  t.end()
})

// At every moment these two have another day, so that one of them differs from the day of UTC.
for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
  t.test(`in ${zone} today is the day there`, async (t) => {
    const test = await testApp(t, { TIME_ZONE: zone })
    t.teardown(() => useTimeZone('Europe/Amsterdam'))
    const { call, database } = test
    const [row] = await database.sql<{ dag: string }[]>`select (now() at time zone ${zone}::text)::date as dag`
    const day = row!.dag
    t.equal(today(), day)
    const zaak = await givenZaak(test)
    t.equal((await call('GET', zaak.url, undefined, CRS)).body.registratiedatum, day)
    await givenBesluit(test, { datum: day })
    const number = await call('POST', '/zaken/api/v1/zaaknummer_reserveren', { bronorganisatie: '000000000' })
    t.match(number.body.zaaknummer, new RegExp(`^ZAAK-${day.slice(0, 4)}-`))
    const reserved = await call('POST', '/documenten/api/v1/documentnummer_reserveren', {
      bronorganisatie: '000000000',
    })
    t.match(reserved.body.identificatie, new RegExp(`^DOCUMENT-${day.slice(0, 4)}-`))
  })
}
