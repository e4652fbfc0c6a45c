import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readServing } from '../src/cli/ports.ts'
import { SETTINGS, type Setting } from '../src/config/environment.ts'
import { tellIgnored } from '../src/config/ignored.ts'
import type { Kind } from '../src/config/kinds.ts'
import { ConfigError, readConfig } from '../src/config.ts'
import { openLog } from '../src/telemetry/log.ts'

function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    return (error as ConfigError).faults
  }
}

t.test('without settings there are the documented defaults', (t) => {
  const config = readConfig({})
  t.match(config, {
    host: '127.0.0.1',
    port: 8000,
    databaseUrl: undefined,
    jwtExpiry: 3600,
    jwtLeeway: 0,
    importBatchSize: 500,
    importRetentionDays: 7,
    zaakIdentificatieGenerator: 'use-start-datum-year',
    zaakEigenschapWaardeValidation: false,
    logLevel: 'info',
  })
  t.match(config.dataDir, /\/data$/)
  t.match(config.importBaseDir, /\/import-data$/)
  t.end()
})

t.test('the documented misspelling IMPORT_RENTENTION_DAYS is read too; the right name wins', (t) => {
  t.equal(readConfig({ IMPORT_RENTENTION_DAYS: '3' }).importRetentionDays, 3)
  t.equal(readConfig({ IMPORT_RENTENTION_DAYS: '3', IMPORT_RETENTION_DAYS: '5' }).importRetentionDays, 5)
  t.equal(readConfig({ TIME_LEEWAY: '9' }).jwtLeeway, 9)
  t.end()
})

t.test('a setting that is on or off is also said so', (t) => {
  for (const [text, is] of Object.entries({ on: true, ON: true, yes: true, 1: true, off: false, no: false, 0: false }))
    t.equal(readConfig({ NOTIFICATIONS_DISABLED: text }).notificationsDisabled, is, text)
  t.end()
})

t.test('an empty value counts as unset', (t) => {
  t.equal(readConfig({ PORT: '', DATABASE_URL: ' ' }).port, 8000)
  t.end()
})

t.test('all faults are named at once, without their values', (t) => {
  try {
    readConfig(
      {
        PORT: '99999',
        IMPORT_DOCUMENTEN_BATCH_SIZE: '0',
        JWT_EXPIRY: '1.5',
        ZAAK_IDENTIFICATIE_GENERATOR: 'anders',
        DATABASE_URL: 'mysql://root:wachtwoord@x',
      },
      ['SECRET_KEY'],
    )
    t.fail('it was accepted')
  } catch (error) {
    t.ok(error instanceof ConfigError)
    const { faults, message } = error as ConfigError
    t.same(faults.map((fault) => fault.split(' ')[0]).sort(), [
      'DATABASE_URL',
      'IMPORT_DOCUMENTEN_BATCH_SIZE',
      'JWT_EXPIRY',
      'PORT',
      'SECRET_KEY',
      'ZAAK_IDENTIFICATIE_GENERATOR',
    ])
    t.notMatch(message, /wachtwoord|99999/)
  }
  t.end()
})

t.test('a fault is told in words: no pattern, no keyword of a schema', (t) => {
  t.same(
    faultsOf({
      PORT: 'tachtig',
      DATABASE_POOL_SIZE: '1',
      WORKER_CONCURRENCY: '201',
      PUBLIC_URL: 'zaken.example.nl/',
      SECRET_KEY: 'kort',
      OIDC_LABEL: 'x'.repeat(61),
      LOG_LEVEL: 'luid',
      NOTIFICATIONS_DISABLED: 'misschien',
      DATABASE_URL: 'mysql://x',
    }),
    [
      'PORT must be a whole number',
      'DATABASE_URL must begin with postgres:// or postgresql://',
      'DATABASE_POOL_SIZE must be at least 2',
      'PUBLIC_URL must begin with https:// or http://, and have no slash at the end, no ? and no #',
      'SECRET_KEY must have at least 16 characters',
      'OIDC_LABEL must have at most 60 characters',
      'WORKER_CONCURRENCY must be at most 200',
      'NOTIFICATIONS_DISABLED must be true or false',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    ],
  )
  t.end()
})

t.test('whatever has a pattern says in words what it must be, and no two settings share a name', (t) => {
  for (const setting of SETTINGS) t.equal('pattern' in setting, 'must' in setting, setting.env)
  t.equal(new Set(SETTINGS.map(({ env }) => env)).size, SETTINGS.length)
  t.end()
})

t.test('a default passes its own bounds, and settings that go together become one value', (t) => {
  t.match(readConfig({ BOOTSTRAP_CLIENT_ID: 'a', BOOTSTRAP_CLIENT_SECRET: 'b' }).bootstrapClient, {
    id: 'a',
    secret: 'b',
  })
  t.same(faultsOf({ BOOTSTRAP_CLIENT_ID: 'a' }), ['BOOTSTRAP_CLIENT_ID and BOOTSTRAP_CLIENT_SECRET go together'])
  t.same(faultsOf({ NOTIFICATIONS_SECRET: 'a' }), [
    'NOTIFICATIONS_API_ROOT, NOTIFICATIONS_CLIENT_ID and NOTIFICATIONS_SECRET go together',
  ])
  t.match(readConfig({ OIDC_ISSUER: 'https://idp.example.nl', OIDC_CLIENT_ID: 'zs', OIDC_ROLE_VIEWER: 'a, b' }).oidc, {
    issuer: 'https://idp.example.nl',
    clientId: 'zs',
    label: 'OpenID Connect',
    roles: { viewer: ['a', 'b'], privacy: ['privacy'], operator: ['operator'], administrator: ['administrator'] },
  })
  t.equal(readConfig({}).oidc, undefined)
  t.equal(readConfig({}).s3, undefined)
  t.match(readConfig({ S3_REGION_NAME: 'eu-west-1' }).s3, {
    bucket: 'openzaak',
    location: 'documenten/',
    region: 'eu-west-1',
  })
  t.match(readConfig({ AZURE_ACCOUNT_NAME: 'gemeente' }).azure, {
    account: { name: 'gemeente' },
    connectionTimeoutMs: 5000,
  })
  t.equal(readConfig({ MIN_UPLOAD_SIZE: '2048' }).uploadChunkSize, 2048)
  t.end()
})

t.test('a secret may stand in a file, as containers get theirs; its path and content stand in no fault', async (t) => {
  const file = join(t.testdir(), 'geheim')
  await writeFile(file, 'a key of at least sixteen\n')
  t.equal(readConfig({ SECRET_KEY_FILE: file }, ['SECRET_KEY']).secretKey, 'a key of at least sixteen')
  t.same(faultsOf({ SECRET_KEY_FILE: file, SECRET_KEY: 'another of at least sixteen' }), [
    'SECRET_KEY and SECRET_KEY_FILE exclude each other',
  ])
  t.same(faultsOf({ SECRET_KEY_FILE: `${file}-that-is-not-there` }), ['SECRET_KEY_FILE cannot be read'])
  await writeFile(file, '\n')
  t.same(faultsOf({ SECRET_KEY_FILE: file }), ['SECRET_KEY_FILE is empty'])
})

t.test('the proxies that are believed are named one by one, and anything but an address or a range is refused', (t) => {
  t.same(readConfig({}).trustProxy, [], 'none, as long as none is named')
  t.same(readConfig({ TRUST_PROXY: '10.0.0.1, 10.1.0.0/16,2001:db8::/32' }).trustProxy, [
    '10.0.0.1',
    '10.1.0.0/16',
    '2001:db8::/32',
  ])
  for (const wrong of ['true', '*', '10.0.0.1/33', 'proxy.example', '10.0.0.1/8/8', '::1/129'])
    t.match(faultsOf({ TRUST_PROXY: wrong }), [/^TRUST_PROXY must be/], wrong)
  t.end()
})

t.test(
  'a log line holds no secret, no password of an address, no BSN, and nothing that a driver hung on an error',
  (t) => {
    let lines = ''
    const log = openLog('info', {
      write: (line) => {
        lines += line
      },
    })
    const error = Object.assign(new Error('cannot reach postgres://zaak:hunter2@db/x for 123456782'), {
      parameters: ['hunter3'],
      query: 'select hunter4',
      client: { password: 'hunter5' },
    })
    log.error({ err: error, secret: 'hunter6', body: { token: 'hunter7' }, authorization: 'Bearer hunter8' }, 'failed')
    t.notMatch(lines, /hunter|123456782/)
    t.match(JSON.parse(lines), { level: 'error', event: 'failed', err: { message: /cannot reach/ }, timestamp: /Z$/ })
    t.end()
  },
)

t.test('CORS_ALLOWED_ORIGINS is origins, as browsers write them, or all', (t) => {
  t.same(readConfig({}).corsOrigins, [])
  t.equal(readConfig({ CORS_ALLOWED_ORIGINS: '*' }).corsOrigins, '*')
  const given = 'https://Portaal.example.nl:443, http://localhost:3000'
  t.same(readConfig({ CORS_ALLOWED_ORIGINS: given }).corsOrigins, [
    'https://portaal.example.nl',
    'http://localhost:3000',
  ])
  for (const wrong of ['portaal.example.nl', 'https://a.nl/pad', 'https://a.nl,*', 'https://a.nl,', 'https://a:x'])
    t.match(faultsOf({ CORS_ALLOWED_ORIGINS: wrong }), [/^CORS_ALLOWED_ORIGINS /], wrong)
  t.end()
})

const WRONG: Record<Kind, string[]> = {
  address: ['https://a b', 'https://a:99999', 'https://', 'https://[::1', 'ftp://a', 'nergens'],
  socket: ['tcp://a:99999', 'tcp://a b:1', 'tcp://a:0', 'a:3310'],
  headers: ['geen', 'naam=%', 'na am=1', 'a=%0d%0ab: 1'],
  hosts: ['https://a.nl', 'a b', 'a/8/8', '10.0'],
  ranges: ['0.0.0.0/0', '::/0', '10.0.0.0/33', 'proxy.example'],
  schema: ['user', 'information_schema', 'pg_catalog', 'Zaken'],
  directory: ['/proc/x', '/sys/a/b', '/etc/hostname/x'],
  stylesheet: ['/er/is/niets.css', '/etc'],
  json: ['/er/is/niets.json', '/etc/hostname'],
  certificates: ['/er/is/niets.pem', '/etc/hostname'],
}

/** Wrong values of a setting, by what its schema says of it. */
function wrongValues(setting: Setting): string[] {
  const { kind, type, minimum, maximum, must, secret, minLength, maxLength } = setting as Setting & {
    minLength?: number
    maxLength?: number
  }
  return [
    ...(kind ? WRONG[kind] : []),
    ...(setting.enum ? ['iets anders'] : []),
    ...(type === 'boolean' ? ['misschien'] : []),
    ...(type === 'integer' || type === 'number' ? ['veel', '1e9', `1${'0'.repeat(30)}`] : []),
    ...(minimum !== undefined && minimum > 0 ? [String(minimum - 1)] : []),
    ...(maximum !== undefined ? [String(maximum + 1)] : []),
    ...(minLength !== undefined && minLength > 1 ? ['x'] : []),
    ...(maxLength !== undefined ? ['x'.repeat(maxLength + 1)] : []),
    ...(must && !kind && !secret && 'pattern' in setting ? ['.. ? # !\u0001'] : []),
  ]
}

t.test('whatever is wrong with a setting is told at the start, with its name', async (t) => {
  for (const setting of SETTINGS)
    for (const value of wrongValues(setting)) {
      const faults = faultsOf({ [setting.env]: value })
      t.ok(
        faults.some((fault) => fault.startsWith(`${setting.env} `)),
        `${setting.env}=${value.slice(0, 50)}: ${faults.join('; ')}`,
      )
    }
  const together = SETTINGS.flatMap((setting) => {
    const [value] = wrongValues(setting)
    return value === undefined ? [] : [[setting.env, value] as const]
  })
  const faults = faultsOf(Object.fromEntries(together))
  for (const [name] of together)
    t.ok(
      faults.some((fault) => fault.startsWith(`${name} `)),
      `${name} among all`,
    )
})

t.test('every number has an upper bound', (t) => {
  for (const { env, type, maximum } of SETTINGS)
    if (type === 'integer' || type === 'number') t.ok(maximum !== undefined, env)
  t.end()
})

t.test('two ports of one process are two, and HOST is of this machine', async (t) => {
  const ports = (env: Record<string, string>, role: 'api' | 'worker' = 'api') => readServing(env, role)
  await ports({ METRICS_PORT: '9090' })
  await ports({ METRICS_PORT: '8000' }, 'worker')
  await t.rejects(ports({ METRICS_PORT: '8000' }), /PORT and METRICS_PORT must be two ports/)
  await t.rejects(
    ports({ METRICS_PORT: '9090', WORKER_HEALTH_PORT: '9090' }, 'worker'),
    /WORKER_HEALTH_PORT and METRICS_PORT must be two/,
  )
  for (const HOST of ['198.51.100.1', 'er-is-niets.invalid']) await t.rejects(ports({ HOST }), /HOST must be/, HOST)
  const all = { HOST: '198.51.100.1', PORT: '9090', METRICS_PORT: '9090', JWT_EXPIRY: 'x', TOKEN_ENDPOINT: 'EdDSA' }
  const error = await ports(all).catch((error) => error)
  t.match(error.faults, [/^JWT_EXPIRY /, /^TOKEN_ENDPOINT /, /^PORT and METRICS_PORT /, /^HOST /])
})

t.test('every fault that settings can have together is reached', async (t) => {
  const text = await readFile(new URL('../src/config.ts', import.meta.url), 'utf8')
  const known = [...text.matchAll(/faults\.push\(\s*(?:'([^']+)'|`([^`]+)`|(KEYS_FAULT))/g)].map(
    ([, plain, template, name]) => plain ?? template ?? (name as string),
  )
  t.ok(known.length >= 15)
  const CASES: Record<string, string>[] = [
    { DATA_KEYS: 'geen sleutel' },
    { TIME_ZONE: 'Europe/Nergens' },
    { OWN_URLS: 'zaken.example.nl' },
    { TOKEN_ENDPOINT: 'EdDSA' },
    { DATABASE_URL: 'postgres://a:b@c/d?sslmode=vreemd' },
    { CORS_ALLOWED_ORIGINS: 'https://fo/x' },
    { ALLOWED_PRIVATE_HOSTS: 'a b' },
    { BOOTSTRAP_CLIENT_ID: 'a' },
    { SMTP_PASSWORD: 'a' },
    { CONTROL_DATABASE_URL: 'postgres://a/b', DATABASE_URL: 'postgres://a/b' },
    { DATABASE_DIRECT_URL: 'postgres://a/b' },
    { DATABASE_READ_URL: 'postgres://a/b' },
    { ENABLE_CLOUD_EVENTS: 'true' },
    { AZURE_CLIENT_SECRET: 'a' },
    { LOGBOEK_DATAVERWERKINGEN: 'true' },
    { DOCUMENTEN_API_BACKEND: 'azure_blob_storage' },
  ]
  const seen = CASES.flatMap(faultsOf)
  try {
    readConfig({}, ['SECRET_KEY'])
  } catch (error) {
    seen.push(...(error as ConfigError).faults)
  }
  for (const one of known) {
    const parts = one === 'KEYS_FAULT' ? ['DATA_KEYS must be'] : one.split(/\$\{[^`]*?\}(?=[^}]*(?:\$|$))/)
    t.ok(
      seen.some((fault) => parts.every((part) => fault.includes(part))),
      one,
    )
  }
})

t.test('what is ignored is told, without values', (t) => {
  t.same(
    tellIgnored({ PUBLIC_URL: 'https://a.nl', PATH: '/bin', no_proxy: 'a', LANG: 'nl', SECRET_KEY_FILE: '/x' }),
    [],
  )
  t.same(
    tellIgnored({
      PUBLC_URL: 'https://geheim.nl',
      public_url: 'https://a.nl',
      DATABSAE_URL: 'postgres://a/b',
      SECRET_KEY_FIEL: '/x',
      PORT_FILE: '/x',
      PUBLIC_URL: '"https://a.nl"',
    }),
    [
      'DATABSAE_URL is ignored: DATABASE_URL is meant, perhaps',
      'PORT_FILE is ignored: PORT is no secret, and is not read from a file',
      'PUBLC_URL is ignored: PUBLIC_URL is meant, perhaps',
      'PUBLIC_URL has its value in quotes: they are part of it',
      'SECRET_KEY_FIEL is ignored: SECRET_KEY_FILE is meant, perhaps',
      'public_url is ignored: PUBLIC_URL is meant, perhaps',
    ],
  )
  // From the list of the settings itself.
  for (const { env, secret } of SETTINGS) {
    if (!secret) t.match(tellIgnored({ [`${env}_FILE`]: '/x' }), [`${env}_FILE is ignored: ${env} is no secret`])
    if (env.length >= 6) t.match(tellIgnored({ [`${env}X`]: 'x' }), [/is ignored/], `${env}X`)
  }
  t.end()
})

t.test('a setting that a process does nothing with is told by that process', (t) => {
  const all = ['api', 'worker', 'start'] as const
  for (const { env, roles } of SETTINGS)
    for (const role of all)
      t.equal(
        tellIgnored({ [env]: '1' }, role).includes(`${env} does nothing with ${role}`),
        roles !== undefined && !roles.includes(role),
        `${env} ${role}`,
      )
  t.same(tellIgnored({ WORKER_HEALTH_PORT: '9090' }, 'start'), ['WORKER_HEALTH_PORT does nothing with start'])
  t.same(tellIgnored({ WORKER_HEALTH_PORT: '9090' }), [], 'a command says nothing of it')
  t.end()
})

t.test('a setting that does nothing without another is told', (t) => {
  const byName = new Map(SETTINGS.map((setting) => [setting.env, setting]))
  let told = 0
  for (const { env, needs } of SETTINGS) {
    if (!needs) continue
    told++
    const off = Object.fromEntries(needs.map((name) => [name, byName.get(name)?.default ? '0' : '']))
    t.same(tellIgnored({ ...off, [env]: 'x' }), [`${env} does nothing without ${needs.join(' or ')}`])
    for (const name of needs) {
      t.notOk(byName.get(name)?.pages, `${name} is known at the start`)
      t.same(
        tellIgnored({ ...off, [env]: 'x', [name]: 'x' }).filter((one) => one.startsWith(env)),
        [],
        `${env} ${name}`,
      )
    }
  }
  t.ok(told > 20)
  t.end()
})
