// Who gets messages comes over too, and notices nothing.
import postgres from 'postgres'
import t from 'tap'
import { readNotificationsApi, readNotificationsDatabase } from '../../src/overnemen/open-zaak/notifications.ts'
import { takeSubscribers } from '../../src/overnemen/subscribers.ts'
import { switchWarnings } from '../../src/overnemen/takeover.ts'
import { API, builtIn } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { emptyDatabase } from '../setup.ts'
import { createNotificationTables } from './open-zaak-schema.ts'

const UUID = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
const TYPE = '/catalogi/api/v1/zaaktypen/6b1d1ec5-7d3e-4ac1-a2c5-7a36cba36a5e'

t.test(
  'kanalen and abonnementen come from the database with filters and authorisation, and callbacks are tried',
  async (t) => {
    const { url } = await emptyDatabase(t)
    const good = await subscriber(t, { auth: 'Bearer goed' })
    const open = await subscriber(t, { auth: 'x', open: 204, status: 500 })
    const old = postgres(url, { max: 1, onnotice: () => {} })
    await old.unsafe(createNotificationTables())
    await old`insert into datamodel_kanaal values (1, ${UUID(1)}, 'zaken', '', '{zaaktype}'), (2, ${UUID(2)}, 'eigen', 'https://x.nl', '{kleur}')`
    await old`insert into datamodel_abonnement (id, uuid, callback_url, auth, client_id, auth_type, secret, send_cloudevents) values
    (1, ${UUID(3)}, ${good.url}, 'Bearer goed', 'beheer', '', '', false),
    (2, ${UUID(4)}, ${open.url}, '', 'wie', 'zgw', 'geheim-van-32-tekens-of-iets-meer', true),
    (3, ${UUID(5)}, 'ftp://nergens.example', 'x', '', '', '', false)`
    await old`insert into datamodel_filtergroup values (1, 1, 1), (2, 1, 2), (3, 2, 2)`
    await old`insert into datamodel_filter values (1, 'zaaktype', ${`https://oud.example${TYPE}`}, 1), (2, 'kleur', 'rood', 2)`
    await old.end()
    const test = await builtIn(t)
    const parts = { ...test.parts, database: test.database }
    const found = await readNotificationsDatabase(url)
    const take = (trial: boolean) => takeSubscribers(parts, found, { old: ['https://oud.example'], trial })
    const trial = await take(true)
    t.same(
      trial.map(({ outcome }) => outcome),
      ['proef', 'proef', 'refused'],
    )
    t.equal((await test.database.sql`select from abonnement`).length, 0)
    const taken = await take(false)
    t.same(
      taken.map(({ outcome, remarks }) => [outcome, remarks.length]),
      [
        ['made', 0],
        ['made', 1],
        ['refused', 1],
      ],
    )
    t.match(taken[1]!.remarks, [/wie zich niet bekendmaakt \(status 204\)/])
    t.equal(good.received.at(-1)?.authorization, 'Bearer goed')
    const shown = await test.call('GET', `${API}/abonnement/${UUID(3)}`)
    t.match(shown.body, {
      callbackUrl: good.url,
      kanalen: [
        { naam: 'zaken', filters: { zaaktype: RegExp(`${TYPE}$`) } },
        { naam: 'eigen', filters: { kleur: 'rood' } },
      ],
    })
    t.notMatch(shown.text, 'oud.example')
    const [row] = await test.database.sql<
      { authenticatie: string; outgoing_client_id: string; auth: Buffer; applicatie: boolean }[]
    >`
    select authenticatie, outgoing_client_id, auth, applicatie_id is not null as applicatie from abonnement where uuid = ${UUID(4)}`
    t.match(row, { authenticatie: 'jwt', outgoing_client_id: 'wie', applicatie: false })
    t.notMatch(row!.auth.toString('latin1'), 'geheim-van-32')
    t.same(
      (await take(false)).map(({ outcome }) => outcome),
      ['changed', 'changed', 'refused'],
      'once more changes nothing',
    )
    t.equal((await test.database.sql`select from abonnement_kanaal`).length, 3)
    t.same(await switchWarnings(test.database.sql), [])
  },
)

t.test('over the API they come without authorisation: they wait until somebody fills it in', async (t) => {
  const test = await builtIn(t)
  await test.database.sql`delete from abonnement`
  t.match(await switchWarnings(test.database.sql), [/geen abonnementen/])
  await test.database.sql`update notificatie_settings set mode = 'extern', configured_service_id = null`
  t.match(await switchWarnings(test.database.sql), [/geen notificatiedienst/])
  const found = await readNotificationsApi(async (path) => ({
    status: 200,
    body:
      path === '/kanaal'
        ? [{ url: `http://on.example/api/v1/kanaal/${UUID(1)}`, naam: 'eigen', documentatieLink: '', filters: [] }]
        : [
            {
              url: `http://on.example/api/v1/abonnement/${UUID(2)}`,
              callbackUrl: 'https://afnemer.example/callback',
              kanalen: [{ naam: 'eigen', filters: {} }],
            },
          ],
  }))
  const taken = await takeSubscribers({ ...test.parts, database: test.database }, found, { old: [], trial: false })
  t.match(taken, [{ outcome: 'made', remarks: [/vul de autorisatie in/] }])
  const [row] = await test.database.sql<{ status: string }[]>`select status from abonnement`
  t.equal(row?.status, 'gepauzeerd')
  await t.rejects(
    readNotificationsApi(async () => ({ status: 403, body: {} })),
    { name: 'SourceUnavailable' },
  )
})
