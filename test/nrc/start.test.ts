// What a new installation does with messages that were made before anybody could take them.
import t from 'tap'
import { preferBuiltIn, prepareNrc } from '../../src/nrc/start.ts'
import { testApp } from '../app.ts'
import { configure, forgetMessages, givenChange, givenReceiver } from '../notificaties/given.ts'

t.test('messages of before the first start wait for no notifications service that was never named', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const waiting = async () => (await sql`select from delivery where abonnement_id = 0`).length
  const mode = async () => (await sql`select mode from notificatie_settings`)[0]!.mode
  await forgetMessages(test)
  await sql`update notificatie_settings set mode = 'extern', configured_service_id = null`
  await givenChange(test)
  t.equal(await waiting(), 1, 'so far it may still be named')
  await preferBuiltIn(test.database, test.config)
  t.equal(await mode(), 'ingebouwd')
  t.equal(await waiting(), 0)
  await sql`update notificatie_settings set mode = 'extern'`
  await givenChange(test)
  await prepareNrc(test.database, { ...test.config, notificatiesMode: 'ingebouwd' })
  t.equal(await waiting(), 0, 'also when the setting says so')

  await configure(test, (await givenReceiver(t)).root)
  await sql`update notificatie_settings set mode = 'extern'`
  await givenChange(test)
  await preferBuiltIn(test.database, test.config)
  t.equal(await mode(), 'extern')
  await prepareNrc(test.database, { ...test.config, notificatiesMode: 'ingebouwd' })
  t.equal(await waiting(), 1, 'one that was named still gets what waits for it')
})
