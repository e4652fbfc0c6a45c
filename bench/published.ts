// The list of cases as the load test asks for it whose outcome Open Zaak publishes: GET /zaken/api/v1/zaken over HTTP, from 1 user and
// from 16, with all rights and with some, without pause. And what Open Zaak publishes of itself, for the table of `npm run bench`.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { figure } from './figures.ts'
import { givenMillion } from './million.ts'
import { startService } from './service.ts'
import { cpuTimes, pin, quantile } from './stack.ts'

const PAGES = 'https://github.com/open-zaak/open-zaak/blob/1.30.0/docs'
const NOTIFICATIONS = `[Notifications performance](${PAGES}/development/performance/notifications.rst): one Celery worker with 3 processes, a minute, no pause; hardware not told`
const LISTS = `[Performance](${PAGES}/development/performance/index.rst), 1.30.0: a million cases, 10 replicas of 1 CPU and 1 GB on Kubernetes; hardware of the database not told`
const HARDWARE = `[Hardware requirements](${PAGES}/installation/hardware.rst): what to plan with`

/**
 * What Open Zaak publishes, and the figures here that answer it, as `benchmark: what it is called there`. @see run.ts
 */
export const PUBLISHED: { what: string; theirs: string; source: string; ours: string[] }[] = [
  ...[
    { users: 10, rate: '24.2', median: '390', delay: '89' },
    { users: 20, rate: '25.0', median: '740', delay: '84' },
    { users: 40, rate: '24.2', median: '1,200', delay: '87' },
  ].flatMap(({ users, rate, median, delay }) => [
    {
      what: `POST of a case, ${users} users: a second, and median of the answer`,
      theirs: `${rate}/s, ${median} ms`,
      source: NOTIFICATIONS,
      ours: [`notifications: cases made at ${users} clients, and median of the answer`],
    },
    {
      what: `notification after it, ${users} users: median`,
      theirs: `${delay} ms`,
      source: NOTIFICATIONS,
      ours: [`notifications: notifications at ${users} clients, median and p99`],
    },
  ]),
  ...[
    { users: 1, rights: 'all rights', median: '150' },
    { users: 1, rights: 'some rights', median: '200' },
    { users: 16, rights: 'all rights', median: '430' },
    { users: 16, rights: 'some rights', median: '320' },
  ].map(({ users, rights, median }) => ({
    what: `list of cases, ${users} ${users === 1 ? 'user' : 'users'}, ${rights}: median`,
    theirs: `${median} ms, count fuzzy`,
    source: LISTS,
    ours: [`published: ${nameOf(users, rights)}`],
  })),
  {
    what: 'requests a second of what people do, on one machine',
    theirs: '25/s with 4 CPUs and 8 GB, 200/s with 16 CPUs and 32 GB',
    source: HARDWARE,
    ours: [
      `published: ${nameOf(16, 'some rights')}`,
      'notifications: cases made at 40 clients, and median of the answer',
    ],
  },
]

function nameOf(users: number, rights: string): string {
  return `median of a list of 100 cases, ${users} at once, ${rights}, and lists a second`
}

/** `--zaken 1000000 --seconds 20`; `--pin`: the program on one core, PostgreSQL on another */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      zaken: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '20' },
      pin: { type: 'boolean', default: false },
    },
  })
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  const server = await startEmbedded(join(directory, 'database'))
  try {
    await givenMillion(server.url, { zaken: Number(values.zaken), documenten: 1000 })
    const key = randomBytes(32).toString('hex')
    const service = await startService({ DATABASE_URL: server.url, SECRET_KEY: key })
    try {
      const secret = randomBytes(32).toString('hex')
      const file = join(directory, 'database', 'postgres', 'postmaster.pid')
      const pids = { start: service.pid, postgres: Number((await readFile(file, 'utf8')).split('\n', 1)[0]) }
      if (values.pin) await pin({ api: pids.start, postgres: pids.postgres })
      await givenClients(server.url, key, secret)
      for (const { users, rights } of [1, 16].flatMap((users) => RIGHTS.map((rights) => ({ users, rights })))) {
        const token = signToken(rights, secret)
        await listen(service.address, token, users, 2000) // until all is compiled, and read once
        const before = await cpuTimes({ pids })
        const { times, seconds } = await listen(service.address, token, users, Number(values.seconds) * 1000)
        const after = await cpuTimes({ pids })
        const median = quantile(times, 0.5).toFixed(1)
        const cpu = (part: keyof typeof pids) => ((after[part] - before[part]) / times.length).toFixed(2)
        figure(nameOf(users, rights), `${median} ms, ${(times.length / seconds).toFixed(0)}/s`)
        figure(
          `CPU of a list of 100 cases, ${users} at once, ${rights}`,
          `${cpu('start')} ms in the program, ${cpu('postgres')} ms in PostgreSQL`,
        )
      }
    } finally {
      await service.stop()
    }
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

const RIGHTS = ['all rights', 'some rights']

/** One that may see all, and one that may see all types up to a level, each by an autorisatie of its own. */
async function givenClients(url: string, key: string, secret: string): Promise<void> {
  const database = openDatabase(url, { max: 1, name: 'bench' })
  for (const id of RIGHTS)
    await createClient(database, secretBox(key), { id, label: id, alleAutorisaties: id === 'all rights', secret })
  await database.sql`
    insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
    select c.applicatie_id, 'zrc', array['zaken.lezen'], '', t.uuid, 'zaakvertrouwelijk' from applicatie_client c, zaaktype t
    where c.client_id = 'some rights'`
  await database.close()
}

/** Asks for the first page again and again, from so many at once. @returns how long each took in ms, from low to high */
async function listen(address: string, token: string, users: number, ms: number) {
  const pool = new Pool(address, { connections: users, pipelining: 1 })
  const headers = { authorization: `Bearer ${token}`, 'accept-crs': 'EPSG:4326' }
  const times: number[] = []
  const began = performance.now()
  const user = async () => {
    while (performance.now() - began < ms) {
      const asked = performance.now()
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/zaken/api/v1/zaken', headers })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`the list gave ${statusCode}: ${text.slice(0, 300)}`)
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: users }, user))
  const seconds = (performance.now() - began) / 1000
  await pool.close()
  return { times: times.sort((a, b) => a - b), seconds }
}
