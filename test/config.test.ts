import t from 'tap'
import { ConfigError, readConfig } from '../src/config.ts'
import { openLog } from '../src/log.ts'

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
    ])
    t.notMatch(message, /wachtwoord|99999/)
  }
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
