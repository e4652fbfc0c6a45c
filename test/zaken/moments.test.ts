// Moments of what changes one thing do not go back: who polls by them would miss a change.
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { touchZaak } from '../../src/zaken/lock.ts'
import { givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { base64, EIO, givenLock, newDocument } from '../documenten/documenten.ts'
import { CRS, givenZaak } from './given.ts'

const test = await testApp(t)
const { sql } = test.database
const patch = (url: string, body: object) => test.call('PATCH', url, body, CRS)
const trail = async (url: string) =>
  (
    await sql<{ at: string }[]>`
    select aanmaakdatum::text as at from audit where hoofd_object_uuid = ${uuidOf(url)} order by id`
  ).map(({ at }) => at)
const messages = async (url: string) =>
  (
    await sql<{ at: string }[]>`
    select aanmaakdatum::text as at from notificatie where hoofd_object_uuid = ${uuidOf(url)} order by id`
  ).map(({ at }) => at)
const inOrder = (moments: string[]) => moments.every((moment, at) => at === 0 || moment >= moments[at - 1]!)

t.test('a change that began earlier and is made later tells the later moment', async (t) => {
  const { url } = await givenZaak(test)
  await test.app.mutate(systemActor('test'), async (m) => {
    await m.sql`select 1`
    t.equal((await patch(url, { toelichting: 'eerder gemaakt' })).status, 200)
    await touchZaak(m, (await sql<{ id: number }[]>`select id from zaak where uuid = ${uuidOf(url)}`)[0]!.id)
    m.record({
      component: 'zrc',
      actie: 'partial_update',
      resource: 'zaak',
      url,
      uuid: uuidOf(url),
      weergave: 'x',
      kanaal: { naam: 'zaken', kenmerken: {} },
      oud: null,
      nieuw: {},
    })
  })
  const last = (await test.call('GET', url, undefined, CRS)).body.laatstGemuteerd
  const moments = await trail(url)
  t.equal(moments.length, 3)
  t.ok(inOrder(moments), moments.join())
  t.ok(inOrder(await messages(url)), 'messages too')
  const [row] = await sql<{ later: boolean }[]>`
    select laatst_gemuteerd > (select aanmaakdatum from audit where hoofd_object_uuid = ${uuidOf(url)} order by id offset 1 limit 1)
      as later from zaak where uuid = ${uuidOf(url)}`
  t.equal(row!.later, true, last)
})

t.test('also when the clock of the server goes back', async (t) => {
  const { url } = await givenZaak(test)
  await sql`update audit set aanmaakdatum = now() + interval '1 hour' where hoofd_object_uuid = ${uuidOf(url)}`
  await sql`update zaak set laatst_gemuteerd = now() + interval '1 hour' where uuid = ${uuidOf(url)}`
  const { laatstGemuteerd } = (await test.call('GET', url, undefined, CRS)).body
  const changed = await patch(url, { toelichting: 'x' })
  t.ok(changed.body.laatstGemuteerd >= laatstGemuteerd, changed.body.laatstGemuteerd)
  t.ok(inOrder(await trail(url)))

  const type = await givenInformatieobjecttype(test)
  const document = (await test.call('POST', EIO, newDocument(type, { inhoud: base64('abc'), bestandsomvang: 3 }))).body
  await sql`update enkelvoudiginformatieobject_versie set begin_registratie = now() + interval '1 hour'`
  const { beginRegistratie } = (await test.call('GET', document.url)).body
  const lock = await givenLock(test, document.url)
  const next = await test.call('PATCH', document.url, { titel: 'anders', lock })
  t.ok(next.body.beginRegistratie >= beginRegistratie, next.text)
})
