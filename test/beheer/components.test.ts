// A component that is switched off in the pages: its API answers 404, its pages go, its jobs rest, and all of it comes back.
import t from 'tap'
import { givenInformatieobjecttype } from '../app.ts'
import { csvText, givenFile, givenImport, goodRow } from '../documenten/importing.ts'
import { setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

const test = await setUpPages(t, {}, false)
const administrator = pagesClient(test.app)
await administrator.login('administrator', WACHTWOORD)

async function switchTo(env: string, value: 'true' | 'false') {
  const [now] = await test.database.sql<{ value: string }[]>`select value from setting where name = ${env}`
  const answer = await administrator.post('/beheer/configuratie', { [env]: value, [`was.${env}`]: now?.value ?? '' })
  t.equal(answer.statusCode, 303)
}

t.test(
  'each API answers 404 with a code of its own while it is off, also below a path and to who has no token',
  async (t) => {
    for (const [env, paths] of [
      ['ZAKEN_API_ENABLED', ['/zaken/api/v1/zaken', '/api/v1/zaken', '/zaken/api/v1/_deltas']],
      ['DOCUMENTEN_API_ENABLED', ['/documenten/api/v1/enkelvoudiginformatieobjecten', '/documenten/api/v1/import']],
      ['CATALOGI_API_ENABLED', ['/catalogi/api/v1/zaaktypen']],
      ['BESLUITEN_API_ENABLED', ['/besluiten/api/v1/besluiten']],
      ['AUTORISATIES_API_ENABLED', ['/autorisaties/api/v1/applicaties']],
    ] as const) {
      await switchTo(env, 'false')
      for (const path of paths) {
        const answer = await test.call('GET', path)
        t.match(answer, { status: 404, body: { code: 'api-disabled', status: 404 } }, path)
        t.match(answer.headers['content-type'], 'application/problem+json')
        t.equal(
          (await test.app.inject({ url: path, headers: { host: 'localhost' } })).statusCode,
          404,
          'without a token',
        )
      }
      for (const [other, url] of [
        ['BESLUITEN_API_ENABLED', '/besluiten/api/v1/besluiten'],
        ['CATALOGI_API_ENABLED', '/catalogi/api/v1/zaaktypen'],
      ] as const)
        if (other !== env) t.equal((await test.call('GET', url)).status, 200, `${url} while ${env} is off`)
      const [record] = await test.database.sql`
      select gebruiker, nieuw from beheer_audit where object_id = ${env} order by id desc limit 1`
      t.match(record, { gebruiker: 'administrator', nieuw: { waarde: 'nee' } })
      await switchTo(env, 'true')
      const path = paths[0]
      const { status } = await test.call('GET', path, undefined, { headers: { 'accept-crs': 'EPSG:4326' } })
      t.equal(status, 200, `${path} is back`)
    }
  },
)

t.test('pages of a component that is off are not in the menu and do not open; the others stay', async (t) => {
  await switchTo('DOCUMENTEN_API_ENABLED', 'false')
  const { body } = await administrator.get('/beheer/zaken')
  t.notMatch(body, 'href="/beheer/documenten"')
  t.notMatch(body, 'href="/beheer/imports"')
  t.match(body, 'href="/beheer/catalogi"')
  const closed = await administrator.get('/beheer/documenten')
  t.equal(closed.statusCode, 404)
  t.match(closed.body, 'Dit onderdeel staat uit.')
  t.equal((await administrator.get('/beheer/imports/nieuw')).statusCode, 404)
  await switchTo('DOCUMENTEN_API_ENABLED', 'true')
  t.equal((await administrator.get('/beheer/documenten')).statusCode, 200)
})

t.test('an import rests while the Documenten API is off, says why, and goes on when it is on again', async (t) => {
  const type = await givenInformatieobjecttype(test)
  await givenFile(test, 'brief.txt')
  const uuid = await givenImport(test)
  t.equal(
    (await test.call('POST', `/documenten/api/v1/import/${uuid}/upload`, csvText([goodRow(type, 'brief.txt')]))).status,
    200,
  )
  await switchTo('DOCUMENTEN_API_ENABLED', 'false')
  await test.runJobs()
  const [resting] = await test.database
    .sql`select status, processed::int as processed, reason from import where uuid = ${uuid}`
  t.match(resting, {
    status: 'active',
    processed: 0,
    reason: 'De Documenten API staat uit. De import gaat verder als zij weer aanstaat.',
  })
  await switchTo('DOCUMENTEN_API_ENABLED', 'true')
  await test.database.sql`select reschedule_jobs(array_agg(id), run_at => now()) from jobs
    where task_identifier = 'import-batch'`
  await test.runJobs()
  const [done] = await test.database
    .sql`select status, succeeded::int as succeeded, reason from import where uuid = ${uuid}`
  t.match(done, { status: 'finished', succeeded: 1, reason: null })
})
