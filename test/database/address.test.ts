// Addresses as libpq reads them: sockets, several hosts and TLS mean the same to both drivers.
// It starts a server.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type ConfigError, readConfig } from '../../src/config.ts'
import { addressOf, hostUrls, withCertificates } from '../../src/database/address.ts'
import { openDatabase } from '../../src/database/database.ts'
import { clientClass } from '../../src/database/hosts.ts'
import { requireConnections } from '../../src/database/reach.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { freePort } from '../free-port.ts'
import { noPrograms, run, serverDirectory, startPrimary } from './servers.ts'

t.test('hosts, ports and sockets come from the authority or from parameters', async (t) => {
  t.match(addressOf('postgres://u:p%40@h:6000/db'), {
    host: 'h',
    port: 6000,
    user: 'u',
    password: 'p@',
    database: 'db',
  })
  for (const url of ['postgres://u@%2Frun%2Fpostgresql/db', 'postgres:///db?host=/run/postgresql&user=u'])
    t.match(addressOf(url), { path: '/run/postgresql/.s.PGSQL.5432', user: 'u', database: 'db', mode: 'disable' }, url)
  t.match(addressOf('postgres://[::1]:6000/db'), { host: '::1', port: 6000 })
  t.same(hostUrls('postgres://u@/db?host=a,b&port=1,2&sslmode=require'), [
    'postgres://u@a:1/db?sslmode=require',
    'postgres://u@b:2/db?sslmode=require',
  ])
  t.match(addressOf('postgres://h/db'), { mode: 'prefer' }, 'as libpq has it')
  t.match(addressOf(withCertificates('postgres://h/db?sslmode=require', { ca: '-----BEGIN X' })), {
    mode: 'verify-ca',
    tls: { ca: '-----BEGIN X', rejectUnauthorized: true },
  })
})

t.test('what an address asks and cannot have is told with the name of its setting', async (t) => {
  const faults = (url: string) => {
    try {
      readConfig({ DATABASE_URL: url, SECRET_KEY: 'the key of this database, long enough' })
      return []
    } catch (error) {
      return (error as ConfigError).faults
    }
  }
  t.match(faults('postgres://h/db?sslmode=sometimes')[0], /^DATABASE_URL has sslmode sometimes/)
  t.match(
    faults('postgres://h/db?sslmode=require&sslrootcert=/nowhere')[0],
    /^DATABASE_URL has sslrootcert, which names a file/,
  )
  t.match(
    faults('postgres://h/db?sslmode=require&sslcert=/etc/hostname')[0],
    /^DATABASE_URL has one of sslcert and sslkey/,
  )
  t.match(
    faults('postgres://h/db?sslrootcert=/etc/hostname')[0],
    /^DATABASE_URL has sslrootcert without sslmode=verify-full.*would not be used/,
  )
})

/** A server with TLS and one without; certificates for `localhost` and of one who signs in. */
async function tlsServers(t: Test) {
  const directory = await serverDirectory(t)
  const at = (name: string) => join(directory, name)
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const days = ['-days', '2']
  for (const name of ['ca', 'other'])
    await openssl(
      ...['req', '-x509', ...key, ...days, '-subj', `/CN=${name}`],
      ...['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)],
    )
  for (const [name, subject] of Object.entries({ server: 'localhost', client: 'zaakstroom' })) {
    const request = ['-keyout', at(`${name}.key`), '-out', at(`${name}.csr`)]
    await openssl('req', ...key, '-subj', `/CN=${subject}`, '-addext', `subjectAltName=DNS:${subject}`, ...request)
    const ca = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-copy_extensions', 'copy']
    await openssl('x509', '-req', '-in', at(`${name}.csr`), ...ca, ...days, '-out', at(`${name}.pem`))
  }
  if (process.getuid?.() === 0) await promisify(execFile)('chown', ['postgres', at('server.key')])
  const data = at('data')
  const files = { ssl_cert_file: 'server.pem', ssl_key_file: 'server.key', ssl_ca_file: 'ca.pem' }
  const settings = Object.entries(files).map(([name, file]) => `-c ${name}=${at(file)}`)
  const { port } = await startPrimary(t, data, `-c ssl=on ${settings.join(' ')}`)
  const { port: plain } = await startPrimary(t, at('plain'))
  for (const one of [port, plain]) {
    const where = ['-X', '-q', '-d', `host=127.0.0.1 port=${one} user=postgres dbname=postgres`]
    await run('psql', [...where, '-c', 'create role zaakstroom superuser login', '-c', 'create database zaakstroom'])
  }
  return { at, data, port, plain }
}

t.test(
  'sslmode means the same to both drivers, sockets too, and the manual has no other examples',
  { skip: noPrograms },
  async (t) => {
    const { at, data, port, plain } = await tlsServers(t)

    await t.test('each example of the manual', async (t) => {
      const manual = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
      const [, block = ''] = /### Addresses, TLS and sockets[\s\S]*?```sh\n([\s\S]*?)```/.exec(manual) ?? []
      const examples = block.split('\n').filter((line) => line.startsWith('DATABASE_URL='))
      t.equal(examples.length, 12)
      const nobody = String(await freePort())
      for (const example of examples) {
        const here = example
          .replaceAll('db.example', 'localhost')
          .replaceAll('standby.example', 'localhost')
          .replaceAll('5432', String(port))
          .replaceAll('5433', nobody)
          .replaceAll('%2Frun%2Fpostgresql', encodeURIComponent(data))
          .replaceAll('/run/postgresql', data)
          .replaceAll('/etc/ssl/db-ca', at('ca'))
          .replaceAll('/etc/ssl/zaakstroom', at('client'))
        const env = Object.fromEntries(
          [...here.matchAll(/(\w+)=(?:'([^']*)'|(\S+))/g)].map(([, name, a, b]) => [name, a ?? b]),
        )
        const { databaseUrl } = readConfig({ ...env, SECRET_KEY: 'the key of this database, long enough' })
        const isSocket = example.includes('postgresql')
        const wanted = {
          ssl: !isSocket && !example.includes('disable'),
          signed: /sslcert/i.test(example),
          socket: isSocket,
        }
        t.same(await seenBy(databaseUrl!), [wanted, wanted], example)
      }
    })

    const log = openLog('silent')
    const ask = (host: string, query: string) =>
      requireConnections([{ setting: 'DATABASE_URL', url: `postgres://postgres@${host}/postgres?${query}` }], log)
    for (const [host, query] of [
      [`localhost:${plain}`, ''],
      [`localhost:${plain}`, 'sslmode=prefer'],
      [`127.0.0.1:${port}`, `sslmode=require&sslrootcert=${at('ca.pem')}`],
      [
        `localhost:${port}`,
        `sslmode=verify-full&sslrootcert=${encodeURIComponent(await readFile(at('ca.pem'), 'utf8'))}`,
      ],
    ] as const)
      await t.resolves(ask(host, query), `${host} ${query.slice(0, 40)}`)
    for (const [host, query] of [
      [`localhost:${plain}`, 'sslmode=require'],
      [`localhost:${port}`, `sslmode=require&sslrootcert=${at('other.pem')}`],
      [`localhost:${port}`, `sslmode=verify-ca&sslrootcert=${at('other.pem')}`],
      [`localhost:${port}`, 'sslmode=verify-full'],
      [`127.0.0.1:${port}`, `sslmode=verify-full&sslrootcert=${at('ca.pem')}`],
    ] as const) {
      const url = `postgres://postgres@${host}/postgres?${query}`
      await t.rejects(
        ask(host, query),
        { message: /^DATABASE_URL (is|un|Host|The|Client|self)/ },
        `${host} ${query.slice(0, 40)}`,
      )
      await t.rejects(new (clientClass(url))().connect(), `${host} ${query.slice(0, 40)}: the other driver`)
    }
    const nowhere = { setting: 'DATABASE_DIRECT_URL', url: `postgres://postgres@127.0.0.1:${port}/nowhere` }
    await t.rejects(requireConnections([nowhere], log), { message: /^DATABASE_DIRECT_URL is refused .*nowhere.*3D000/ })
  },
)

/** What the server says of a session of either driver. */
async function seenBy(url: string) {
  const text = `select ssl, client_dn is not null as signed, inet_server_addr() is null as socket
    from pg_stat_ssl where pid = pg_backend_pid()`
  const database = openDatabase(url, { max: 1, name: 'test' })
  const Client = clientClass(url)
  if (url.includes(',') || url.includes('%2C')) await database.sql`select 1` // a client goes to the primary that is known
  const client = new Client()
  try {
    const [first] = await database.sql.unsafe(text)
    await client.connect()
    const { rows } = await client.query(text)
    return [{ ...first }, { ...rows[0] }]
  } finally {
    await client.end()
    await database.close()
  }
}
