import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { applySetup, readSetup, SetupError } from '../../src/cli/setup.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { readSettings } from '../../src/notificaties/settings.ts'
import { type TestApp, testApp } from '../app.ts'
import { PAGE, SCHEMA, setupPage, setupSchema } from '../generate-setup.ts'
import { until } from '../until.ts'

const FILE = `
services:
  - label: Notificaties
    slug: notificaties
    soort: nrc
    apiRoot: https://nrc.example.nl/api/v1
    authenticatie: zgw
    clientId: zaakstroom
    secret: \${NRC_SECRET}
  - { label: Selectielijst, slug: selectielijst, soort: orc, apiRoot: https://lijst.example.nl/, authenticatie: geen }
notifications:
  dienst: notificaties
  set: kort
  maxRetries: 9
tokenIssuers:
  - label: Keycloak
    issuer: https://login.example.nl/realms/gemeente
    audiences: [zaakstroom]
    jwks: { keys: [{ kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo }] }
applicaties:
  - label: Portaal
    clientIds: [portaal, portaal-test]
    issuerClients:
      - { issuer: "https://login.example.nl/realms/gemeente", clientId: portaal-keycloak }
    heeftAlleAutorisaties: true
    credentials:
      - { clientId: portaal, secret: "\${PORTAAL_SECRET}" }
  - label: Lezer
    clientIds: [lezer]
    autorisaties:
      - { component: ztc, scopes: [catalogi.lezen] }
    credentials:
      - { clientId: lezer, secret: lezers geheim van tekst, }
`
const ALONE = { kept: ['applicatie Beheer'], removed: [] } // of the tests
const ENV = { NRC_SECRET: 'het geheim van de dienst', PORTAAL_SECRET: 'het geheim van het portaal' }

t.test('a file sets services, notifications and applications, and then changes nothing any more', async (t) => {
  const test = await testApp(t)
  t.same(await apply(t, test, FILE), {
    services: ['notificaties', 'selectielijst'],
    notifications: true,
    tokenIssuers: ['Keycloak'],
    applicaties: ['Portaal', 'Lezer'],
    ...ALONE,
  })
  t.match(await readSettings(test.parts.database.db as never), {
    dienst: 'notificaties',
    maxRetries: 9,
    backoff: 3,
    backoffMax: 48,
    baseFactor: 2,
  })
  const asClient = (id: string, secret: string) =>
    test.call('GET', '/catalogi/api/v1/catalogussen', undefined, {
      headers: { authorization: `Bearer ${signToken(id, secret)}` },
    })
  t.equal((await asClient('portaal', ENV.PORTAAL_SECRET)).status, 200)
  t.equal((await asClient('lezer', 'lezers geheim van tekst')).status, 200)

  const before = await everything(test)
  t.same(await apply(t, test, FILE), {
    ...{ services: [], notifications: false, tokenIssuers: [], applicaties: [] },
    ...ALONE,
  })
  t.same(await everything(test), before)
})

t.test('what the file says differently is changed, and only that', async (t) => {
  const test = await testApp(t)
  await apply(t, test, FILE)
  t.same(
    await apply(t, test, FILE.replace('label: Lezer', 'label: Lezer 2').replace('lezers geheim', 'nieuw geheim')),
    {
      services: [],
      notifications: false,
      tokenIssuers: [],
      applicaties: ['Lezer 2'],
      ...ALONE,
    },
  )
  t.same(
    await apply(
      t,
      test,
      FILE.replace('label: Lezer', 'label: Lezer 2')
        .replace('lezers geheim', 'nieuw geheim')
        .replace('catalogi.lezen', 'catalogi.schrijven'),
    ),
    {
      services: [],
      notifications: false,
      tokenIssuers: [],
      applicaties: ['Lezer 2'],
      ...ALONE,
    },
  )
  const moved = FILE.replace('nrc.example.nl', 'nrc2.example.nl').replace('maxRetries: 9', 'maxRetries: 8')
  t.match(await apply(t, test, moved), { services: ['notificaties'], notifications: true })
})

t.test('JSON is taken as well', async (t) => {
  const test = await testApp(t)
  t.match(await apply(t, test, JSON.stringify({ notifications: { backoff: true } })), { notifications: true })
  t.equal((await readSettings(test.parts.database.db as never)).backoff, true)
})

t.test('all faults are told at once, without the values', async (t) => {
  const test = await testApp(t)
  const wrong = `
services:
  - { label: A, slug: "met spatie", soort: xyz, apiRoot: "nergens", authenticatie: geen, sekret: "GEHEIM-1" }
notifications: { maxRetries: -1, backof: 3 }
applicaties:
  - { label: X, clientIds: [] , credentials: [{ clientId: x, secret: "\${ONBEKEND}" }] }
extra: 1
`
  const error = await apply(t, test, wrong).catch((error) => error)
  t.ok(error instanceof SetupError)
  for (const place of [
    'services.0.slug',
    'services.0.soort',
    'services.0.apiRoot',
    'sekret',
    'notifications.maxRetries',
    'backof is',
    'applicaties.0.clientIds',
    'extra',
    'ONBEKEND',
  ]) {
    t.match(error.message, place)
  }
  t.notMatch(error.message, 'GEHEIM')
})

t.test('a file that goes against a rule changes nothing at all', async (t) => {
  const test = await testApp(t)
  const before = await everything(test)
  const wrong = `
services:
  - { label: A, slug: a, soort: orc, apiRoot: "https://a.example.nl/", authenticatie: geen }
  - { label: B, slug: b, soort: orc, apiRoot: "https://a.example.nl", authenticatie: geen }
  - { label: C, slug: c, soort: orc, apiRoot: "https://c.example.nl", authenticatie: zgw }
notifications: { dienst: a }
`
  t.match(await apply(t, test, wrong).catch((error) => error), {
    faults: [/^services.1.apiRoot: /, /^services.2.clientId: /, /^services.2.secret: /, /^notifications.dienst: /],
  })
  t.same(await everything(test), before)
})

t.test(
  'secrets that the file does not name are revoked: of a client id that is left out, and by an empty list',
  async (t) => {
    const test = await testApp(t)
    const both = FILE.replace(
      'credentials:\n',
      'credentials:\n      - { clientId: portaal-test, secret: geheim van de test }\n',
    )
    await apply(t, test, both)
    const status = async (id: string, secret: string) => {
      const headers = { authorization: `Bearer ${signToken(id, secret)}` }
      return (await test.call('GET', '/catalogi/api/v1/catalogussen', undefined, { headers })).status
    }
    t.equal(await status('portaal-test', 'geheim van de test'), 200)
    t.match(await apply(t, test, FILE), { applicaties: ['Portaal'] })
    await until('it is refused', async () => (await status('portaal-test', 'geheim van de test')) === 403)
    t.equal(await status('portaal', ENV.PORTAAL_SECRET), 200)

    const none = FILE.replace(/ {4}credentials:\n {6}- \{ clientId: lezer.*\n/, '    credentials: []\n')
    t.match(await apply(t, test, none), { applicaties: ['Lezer'] })
    await until('it is refused', async () => (await status('lezer', 'lezers geheim van tekst')) === 403)
    t.match(
      await test.database
        .sql`select resource_weergave from audit where resource = 'applicatiegeheim' order by id desc limit 1`,
      [{ resource_weergave: 'Lezer - lezer' }],
    )
    t.match(await apply(t, test, none.replace('    credentials: []\n', '')), { applicaties: [] }, 'left out: as it is')
  },
)

t.test('what stands in the file twice, or a secret beside another client id, is a fault with its place', async (t) => {
  const test = await testApp(t)
  const service = (slug: string, host: string) =>
    `  - { label: A, slug: ${slug}, soort: orc, apiRoot: "https://${host}.example.nl/", authenticatie: geen }\n`
  const wrong = `
services:
${service('a', 'a')}${service('a', 'b')}applicaties:
  - label: X
    clientIds: [x]
    heeftAlleAutorisaties: true
    credentials: [{ clientId: y, secret: GEHEIM }]
  - { label: Y, clientIds: [y, x], heeftAlleAutorisaties: true }
`
  const error = await apply(t, test, wrong).catch((error) => error)
  t.strictSame(error.faults, [
    'services.1.slug: stands at services.0.slug already',
    'applicaties.0.credentials.0.clientId: is not one of the clientIds of this applicatie',
    'applicaties.1.clientIds: stands at applicaties.0.clientIds already',
  ])
})

t.test('all faults of one service are told at once', async (t) => {
  const test = await testApp(t)
  const wrong =
    'services:\n  - { label: A, slug: a, soort: orc, apiRoot: "https://a.example.nl/../b", authenticatie: oauth2 }\n'
  t.match(await apply(t, test, wrong).catch((error) => error), {
    faults: [/^services.0.apiRoot: /, /^services.0.clientId: /, /^services.0.tokenUrl: /, /^services.0.secret: /],
  })
})

t.test('what else there is of a kind that the file names is told, and removed with --prune', async (t) => {
  const test = await testApp(t)
  await apply(t, test, FILE)
  const less = `
services:
  - { label: Lijst, slug: lijst, soort: orc, apiRoot: "https://lijst.example.nl/", authenticatie: geen }
tokenIssuers: []
applicaties:
  - { label: Lezer, clientIds: [lezer], autorisaties: [{ component: ztc, scopes: [catalogi.lezen] }] }
`
  const before = await everything(test)
  t.match(await apply(t, test, less.replace('lijst.', 'andere.')), {
    kept: [
      'applicatie Beheer',
      'applicatie Portaal',
      'issuer Keycloak',
      'service notificaties',
      'service selectielijst',
    ],
    removed: [],
  })
  t.match(await apply(t, test, less, { prune: true }).catch((error) => error), {
    faults: [/^service notificaties: /],
  })
  const moved = `${less}notifications: { dienst: null }\n`
  const all = [
    'applicatie Beheer',
    'applicatie Portaal',
    'issuer Keycloak',
    'service notificaties',
    'service selectielijst',
  ]
  const planned = await everything(test)
  t.not(planned[0], before[0])
  t.match(await apply(t, test, moved, { prune: true, dryRun: true }), { removed: all })
  t.same(await everything(test), planned)
  t.match(await apply(t, test, moved, { prune: true }), { removed: all, kept: [] })
  t.match(await apply(t, test, moved, { prune: true }), { removed: [], services: [] })
  t.same(await test.database.sql`select slug from service`, [{ slug: 'lijst' }])
  t.match(await apply(t, test, 'notifications: { maxRetries: 1 }', { prune: true }), { removed: [] }, 'names no kind')
  t.same(await test.database.sql`select slug from service`, [{ slug: 'lijst' }])
})

t.test('what the environment makes is not removed', async (t) => {
  const test = await testApp(t)
  await apply(t, test, FILE)
  const config = {
    ...test.config,
    bootstrapClient: { id: 'portaal', secret: '-' },
    notifications: { apiRoot: '-', clientId: '-', secret: '-' },
  }
  const nothing = 'services: []\napplicaties: []\n'
  t.match(await apply(t, { ...test, config }, nothing, { prune: true, dryRun: true }), {
    removed: ['applicatie Beheer', 'applicatie Lezer', 'service selectielijst'],
  })
})

t.test('the page of the keys and the schema for editors are what the schema says', async (t) => {
  t.equal(await readFile(PAGE, 'utf8'), setupPage(), 'run npm run setup')
  t.equal(await readFile(SCHEMA, 'utf8'), setupSchema(), 'run npm run setup')
})

t.test('no YAML is said with its line', async (t) => {
  const test = await testApp(t)
  t.match(await apply(t, test, 'services: [\n  "x').catch((error) => error), { faults: [/^line \d+: not valid YAML$/] })
})

async function apply(
  t: Test,
  { database, config }: Pick<TestApp, 'database' | 'config'>,
  text: string,
  options: { prune?: boolean; dryRun?: boolean } = {},
) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-setup-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'setup.yaml')
  await writeFile(file, text)
  return applySetup(database, secretBox(config.secretKey!), config, await readSetup(file, ENV), options)
}

async function everything({ database: { sql } }: TestApp) {
  return [
    await sql`select * from service order by id`,
    await sql`select * from notificatie_settings`,
    await sql`select * from applicatie order by id`,
    await sql`select * from autorisatie order by id`,
    await sql`select id, client_id, sealed_secret, created_at, expires_at from applicatie_secret order by id`,
    await sql`select * from token_issuer order by id`,
    await sql`select * from applicatie_issuer_client order by id`,
    await sql`select count(*) from audit`,
    await sql`select count(*) from notificatie`,
  ].map((rows) => JSON.stringify(rows))
}
