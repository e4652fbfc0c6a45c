// What every process keeps in memory (rights, settings, issuers) is signalled by who changes it, and by no trigger.
import { glob, readFile } from 'node:fs/promises'
import t from 'tap'
import { createSecret, revokeSecret } from '../../src/autorisaties/client-secrets.ts'
import { ensureBootstrapClient } from '../../src/autorisaties/clients.ts'
import { deleteIssuer, saveIssuer, saveIssuerClients } from '../../src/autorisaties/issuers/issuer.ts'
import { applySetup } from '../../src/cli/setup.ts'
import { systemActor } from '../../src/core/access.ts'
import { type Channel, listen } from '../../src/database/listen.ts'
import { numberPerYear } from '../../src/overnemen/numbers.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { BASE, givenCatalogus, givenClient, SECRET, testApp } from '../app.ts'
import { until } from '../until.ts'

t.test('who changes what every process keeps in memory tells them all', async (t) => {
  const test = await testApp(t)
  const { app, call, database, config, parts } = test
  const { box } = parts
  const heard: Channel[] = []
  for (const channel of ['zaakstroom_autorisaties', 'zaakstroom_settings', 'zaakstroom_token_issuers'] as const) {
    const listener = await listen(test.databaseUrl, channel, () => heard.push(channel), openLog('silent'))
    t.teardown(listener.close)
  }
  const tells = async <T>(channel: Channel, what: string, work: () => Promise<T>): Promise<T> => {
    // What comes before the end of what went before is of that. Each channel has a connection of its own: one may be late.
    await until('the others', async () => {
      await database.sql`select pg_notify('zaakstroom_settings', '')`
      return heard.at(-1) === 'zaakstroom_settings'
    })
    heard.length = 0
    const done = await work()
    await until(`a signal of ${what}`, () => heard.includes(channel), 5_000)
    return done
  }
  const rights = (what: string, work: () => Promise<unknown>) => tells('zaakstroom_autorisaties', what, work)
  const asked = async (method: string, url: string, body?: unknown) => {
    const answer = await call(method, url, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer
  }
  const act = <T>(work: Parameters<typeof app.mutate<T>>[1]) => app.mutate<T>(systemActor('test', BASE), work)

  const API = '/autorisaties/api/v1/applicaties'
  const body = {
    clientIds: ['portaal'],
    label: 'Portaal',
    autorisaties: [{ component: 'ztc', scopes: ['catalogi.lezen'] }],
  }
  const made = await tells('zaakstroom_autorisaties', 'a new applicatie', () => asked('POST', API, body))
  await rights('a changed one', () => asked('PATCH', made.body.url, { label: 'Loket' }))
  await rights('a secret', () => act((m) => createSecret(m, box, 'portaal')))
  await rights('a revoked secret', () => act((m) => revokeSecret(m, 'portaal', 'alle')))
  await rights('one that is gone', () => asked('DELETE', made.body.url))
  await rights('the first client', () => ensureBootstrapClient(database, box, { id: 'eerste', secret: SECRET }))
  await rights('its other secret', () => ensureBootstrapClient(database, box, { id: 'eerste', secret: `${SECRET}!` }))

  const catalogus = await givenCatalogus(test)
  const type = {
    catalogus,
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
  }
  const TYPES = '/catalogi/api/v1/informatieobjecttypen'
  const brief = await tells('zaakstroom_autorisaties', 'a new type', () =>
    asked('POST', TYPES, { ...type, informatieobjectcategorie: 'brieven' }),
  )
  await rights('a type with another name', () => asked('PATCH', brief.body.url, { omschrijving: 'Brieven' }))
  await rights('a type that is gone', () => asked('DELETE', brief.body.url))
  await rights('a catalogus that is gone', () => asked('DELETE', catalogus))

  await givenClient(test, 'lezer', [])
  const [{ uuid }] = (await database.sql`select uuid from applicatie where label = 'lezer'`) as unknown as [
    { uuid: string },
  ]
  const input = { label: 'Provider', issuer: 'https://login.example.nl', audiences: ['ons'] }
  const issuer = await tells('zaakstroom_token_issuers', 'an issuer', () => act((m) => saveIssuer(m, input)))
  await rights('its client', () =>
    act((m) => saveIssuerClients(m, uuid, [{ issuer: input.issuer, clientId: 'lezer' }])),
  )
  await tells('zaakstroom_token_issuers', 'an issuer that is gone', () => act((m) => deleteIssuer(m, issuer.uuid)))
  await until('a signal of the rights of its clients', () => heard.includes('zaakstroom_autorisaties'))

  const setup = (secret: string) => ({
    applicaties: [
      {
        label: 'Lezer',
        clientIds: ['lezer'],
        heeftAlleAutorisaties: true,
        credentials: [{ clientId: 'lezer', secret }],
      },
    ],
  })
  await applySetup(database, box, config, setup(SECRET))
  await rights('another secret of the setup', () => applySetup(database, box, config, setup(`${SECRET}!`)))
  await tells('zaakstroom_settings', 'numbers per year', () =>
    database.sql.begin((sql) => numberPerYear(sql, 'use-start-datum-year')),
  )
  t.pass('all were heard')
})

// An organisation that is a shard of Citus has its triggers on another server than who listens, and the clock of a statement only
// where it begins.
t.test('no trigger notifies or adds a job, and no upsert sets a column to the clock', async (t) => {
  const { database } = await testApp(t)
  const functions = await database.sql<{ name: string; text: string }[]>`
    select p.proname as name, prosrc as text from pg_proc p
    where pronamespace = current_schema()::regnamespace and prorettype = 'trigger'::regtype`
  t.ok(functions.length > 20, 'it reads them')
  t.same(
    functions.filter(({ text }) => /\b(pg_notify|notify|add_jobs?|wake_sender)\b/i.test(text)).map(({ name }) => name),
    [],
  )
  const root = new URL('../../', import.meta.url)
  const found: string[] = []
  let upserts = 0
  for (const file of await Array.fromAsync(glob(['src/**/*.ts', 'tasks/*.ts', 'sql/0*.sql'], { cwd: root })))
    for (const [upsert] of (await readFile(new URL(file, root), 'utf8')).matchAll(/\bdo update\s+set\b[^`;]*/gi)) {
      upserts++
      if (/\b(now|clock_timestamp)\(\)/.test(upsert)) found.push(file)
    }
  t.ok(upserts > 20, 'it reads them')
  // Who tries secrets waits by the clock of the moment at which the row was free; the registry is no shard.
  t.same(found.sort(), ['src/core/sign-in-attempts.ts', 'src/organisations/keep-figures.ts'])
})
