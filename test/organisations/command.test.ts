// Slow: it runs some sixty commands, each a program of its own.
// The subcommand `organisation`, as an operator runs it, and what it leaves in databases and stores.
import { execFile, spawn } from 'node:child_process'
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { withSchema } from '../../src/database/schema.ts'
import { configOf, type Organisation } from '../../src/organisations/organisation.ts'
import { openControl, readOrganisations, updateOrganisation } from '../../src/organisations/registry.ts'
import { removeOrganisation } from '../../src/organisations/remove.ts'
import { givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { noPrograms, serverDirectory, startPrimary } from '../database/servers.ts'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { emptyDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { CRS, givenDocument, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'

const SECRET_KEY = 'key of the installation, long enough'
const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const [A, B, C] = ['000000012', '000000024', '000000036'] as const

const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-organisation-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))
const { url: controlUrl } = await emptyDatabase(t)
const env = { CONTROL_DATABASE_URL: controlUrl, SECRET_KEY, DATA_DIR: directory, LOG_LEVEL: 'silent' }

type Outcome = { code: number; stdout: string; stderr: string }
const run = (args: string[], { input = '', more = {} }: { input?: string; more?: Record<string, string> } = {}) =>
  new Promise<Outcome>((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { env: programEnv({ ...env, ...more }) },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
const organisation = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(['organisation', ...args])
  if (code !== 0) throw new Error(stderr)
  return stdout
}

async function found(rsin: string): Promise<Organisation> {
  const control = openControl(controlUrl)
  try {
    return (await readOrganisations(control, secretBox(SECRET_KEY))).find((one) => one.rsin === rsin)!
  } finally {
    await control.close()
  }
}

/** The application of an organisation, by itself. */
async function appOf(t: { teardown(work: () => unknown): unknown }, rsin: string) {
  const one = await found(rsin)
  return testApp(t, {
    DATABASE_URL: withSchema(one.databaseUrl, one.schema),
    DATA_KEYS: one.dataKeys,
    DOCUMENTEN_DIR: configOf(env, one).documentenDir,
  })
}

async function rowsOf(rsin: string): Promise<Record<string, number>> {
  const one = await found(rsin)
  const sql = postgres(one.databaseUrl, { max: 1 })
  try {
    const count = async (table: string) =>
      (await sql.unsafe(`select count(*)::int as count from ${one.schema}.${table}`))[0]!.count
    return {
      zaak: await count('zaak'),
      document: await count('enkelvoudiginformatieobject'),
      audit: await count('audit'),
    }
  } finally {
    await sql.end()
  }
}

t.test(
  'an organisation is added with a schema and a ring of its own, and a subcommand works for the one that is named',
  async (t) => {
    t.match(
      await organisation('add', '--rsin', A, '--name', 'Astad', '--host', 'Zaken.Astad.nl', 'oud.astad.nl'),
      /zaken\.astad\.nl/,
    )
    await organisation(
      'add',
      '--rsin',
      B,
      '--name',
      'Bdorp',
      '--host',
      'zaken.bdorp.nl',
      '--setting',
      'IMPORT_RETENTION_DAYS=9',
      '--limit',
      'connections=4',
    )
    t.not((await found(A)).dataKeys, (await found(B)).dataKeys)
    t.equal(configOf(env, await found(B)).importRetentionDays, 9)
    t.equal(configOf(env, await found(B)).databasePoolSize, 4)
    const listed = JSON.parse(await organisation('list', '--json'))
    t.match(listed, [
      { rsin: A, hosts: ['zaken.astad.nl', 'oud.astad.nl'], state: 'active', schema: `org_${A}` },
      { rsin: B, settings: ['IMPORT_RETENTION_DAYS'] },
    ])
    t.notOk(JSON.stringify(listed).includes('postgres'), 'no address of a database is told')

    const made = await run(['client', 'create', '--id', 'portaal', '--all-rights'], { more: { ORGANISATION: A } })
    t.equal(made.code, 0, made.stderr)
    const known = async (rsin: string) =>
      (await run(['client', 'list'], { more: { ORGANISATION: rsin } })).stdout.includes('portaal')
    t.ok(await known(A))
    t.notOk(await known(B))
    t.match(await run(['client', 'list']), { code: 64, stderr: /ORGANISATION is required/ })
    t.match(await run(['client', 'list'], { more: { ORGANISATION: C } }), {
      code: 64,
      stderr: /no organisation 000000036/,
    })
  },
)

t.test('what cannot be is refused, and changes nothing', async (t) => {
  const elsewhere = withSchema(controlUrl, 'elsewhere')
  const refusals: [string[], RegExp][] = [
    [['add', '--rsin', '12', '--name', 'x', '--host', 'x.nl'], /nine digits/],
    [['add', '--rsin', C, '--name', 'x', '--host', 'https://x.nl'], /no host name/],
    [
      ['add', '--rsin', C, '--name', 'x', '--host', 'x.nl', '--setting', 'PORT=1'],
      /PORT is no setting of an organisation/,
    ],
    [['add', '--rsin', C, '--name', 'x', '--host', 'x.nl', '--limit', 'cpu=1'], /--limit is written/],
    [['add', '--rsin', C, '--name', 'x', '--host', 'x.nl', '--schema', `org_${A}`], /is in use/],
    [['add', '--rsin', C, '--name', 'x', '--host', 'zaken.astad.nl'], /host is another/],
    [
      ['add', '--rsin', C, '--name', 'x', '--host', 'x.nl', '--database-url', elsewhere],
      /--database-url names a search_path/,
    ],
    [['move', A, '--to', elsewhere], /--to names a search_path/],
    [['set', A, '--setting', `DATABASE_DIRECT_URL=${elsewhere}`], /DATABASE_DIRECT_URL names a search_path/],
    [['remove', A, '--confirm', A], /suspend it first/],
    [['set', A], /give --name/],
    [['set', A, '--database-url', `${controlUrl}_other`], /names another database .*organisation move/],
    [
      ['set', B, '--setting', `DOCUMENTEN_DIR=${directory}/documenten/${A}`],
      /DOCUMENTEN_DIR is where organisation 000000012/,
    ],
    [['move', A, '--to', 'elsewhere'], /--to is an address of a database/],
    [['export', C, '--to', join(directory, 'x')], /no organisation/],
  ]
  for (const [args, message] of refusals) {
    const { code, stderr } = await run(['organisation', ...args])
    t.match(stderr, message)
    t.ok(code === 64 || code === 78, `${args.join(' ')}: ${code}`)
  }
  t.equal(JSON.parse(await organisation('list', '--json')).length, 2)
})

t.test('of two that set an organisation at once none is lost', async (t) => {
  const control = openControl(controlUrl)
  t.teardown(control.close)
  const box = secretBox(SECRET_KEY)
  const before = await found(B)
  let setting: Promise<string> | undefined
  await control.sql.begin(async (trx) => {
    await updateOrganisation(trx, box, before, {
      settings: { ...before.settings, FEED_DAYS: '7' },
      limits: { ...before.limits, imports: 0 },
    })
    setting = organisation('set', B, '--setting', 'SMTP_HOST=mail.bdorp.nl', '--limit', 'requests=9')
    await until('it waits for the row', async () => {
      const waiting = await control.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%organisation%'`
      return waiting.length > 0
    })
  })
  await setting
  const { settings, limits } = await found(B)
  t.same(settings, { IMPORT_RETENTION_DAYS: '9', FEED_DAYS: '7', SMTP_HOST: 'mail.bdorp.nl' })
  t.same(limits, { connections: 4, imports: 0, requests: 9 })
  await organisation('set', B, '--setting', 'FEED_DAYS=', 'SMTP_HOST=', '--limit', 'imports=', 'requests=')
})

t.test('the address of its database gets another password', async (t) => {
  const { databaseUrl } = await found(B)
  t.teardown(() => organisation('set', B, '--database-url', databaseUrl))
  const other = Object.assign(new URL(databaseUrl), { password: 'another' }).href
  await organisation('set', B, '--database-url', other)
  t.equal((await found(B)).databaseUrl, other)
})

t.test('an export has every row and every byte, and another installation begins with it', async (t) => {
  const app = await appOf(t, A)
  await givenZaak(app)
  const type = await givenInformatieobjecttype(app)
  const inhoud = Buffer.from('de bytes van Astad').toString('base64')
  await givenDocument(app, type, { inhoud, bestandsomvang: 18, bestandsnaam: 'a.txt', titel: 'Een\ttab \\ en\nregel' })
  const to = join(directory, 'export')
  const told = JSON.parse(await organisation('export', A, '--to', to, '--keys', '--json'))
  t.match(told, { documents: 1, bytes: 18, missing: 0 })
  const manifest = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8'))
  t.match(manifest, { rsin: A, documents: { count: 1 } })
  t.match(await run(['organisation', 'export', A, '--to', to]), { code: 64, stderr: /not empty/ })

  const load = () =>
    run(['organisation', 'add', '--rsin', C, '--name', 'Cstad', '--host', 'zaken.cstad.nl', '--from', to], {
      input: told.keys,
    })
  const { code, stderr } = await load()
  t.equal(code, 0, stderr)
  t.same(await rowsOf(C), await rowsOf(A))
  const loaded = await appOf(t, C)
  const { body } = await loaded.call('GET', '/documenten/api/v1/enkelvoudiginformatieobjecten')
  t.match(body.results, [{ titel: 'Een\ttab \\ en\nregel', bestandsomvang: 18 }])
  t.equal((await loaded.call('GET', body.results[0].inhoud)).text, 'de bytes van Astad')
  const next = await givenZaak(loaded)
  t.ok(next.identificatie, 'numbers go on after those that were loaded')

  await organisation('suspend', C, '--reason', 'for the test')
  await organisation('remove', C, '--confirm', C)
  for (const [name, wrong] of [
    ['tables', [{ ...manifest.tables[0], name: 'zaak; drop table zaak' }]],
    ['documents', { ...manifest.documents, file: '../../etc/passwd' }],
    ['sequences', [{ name: `org_${A}.zaak_id_seq`, value: '1' }]],
  ] as const) {
    await writeFile(join(to, 'manifest.json'), JSON.stringify({ ...manifest, [name]: wrong }))
    t.match(await load(), { code: 64, stderr: /manifest\.json is not what an export/ })
  }
  await writeFile(join(to, 'manifest.json'), JSON.stringify(manifest))
  await appendFile(join(to, 'tables', 'zaak.copy.gz'), 'x')
  const spoilt = await load()
  t.equal(spoilt.code, 64)
  t.match(spoilt.stderr, /zaak\.copy\.gz is not what was exported/)
  const states = JSON.parse(await organisation('list', '--json')).map(({ rsin, state }: Organisation) => [rsin, state])
  t.same(
    states.sort(),
    [
      [A, 'active'],
      [B, 'active'],
      [C, 'adding'],
    ],
    'it is not served',
  )
  const other = await run(['client', 'list'], { more: { ORGANISATION: C } })
  t.match(other, { code: 64, stderr: /Cstad is not whole: run its `organisation add` again/ })
  for (const args of [
    ['suspend', C, '--reason', 'x'],
    ['resume', C],
    ['set', C, '--name', 'x'],
    ['export', C, '--to', 'x'],
  ])
    t.match(await run(['organisation', ...args]), { code: 64, stderr: /is not whole/ }, args.join(' '))
  await organisation('remove', C, '--confirm', C)
})

t.test('two organisations become one by the takeover tool', async (t) => {
  const port = await freePort()
  const { databaseUrl, schema, dataKeys } = await found(A)
  const server = spawn(process.execPath, [MAIN, 'api'], {
    env: programEnv({
      DATABASE_URL: withSchema(databaseUrl, schema),
      DATA_KEYS: dataKeys,
      DATA_DIR: join(directory, A),
      DOCUMENTEN_DIR: configOf(env, await found(A)).documentenDir,
      PUBLIC_URL: `http://localhost:${port}`,
      PORT: String(port),
    }),
    stdio: 'ignore',
  })
  t.teardown(() => server.kill('SIGKILL'))
  await until(
    'it answers',
    () =>
      fetch(`http://localhost:${port}/livez`).then(
        ({ ok }) => ok,
        () => false,
      ),
    60_000,
  )
  await organisation('set', A, '--host', 'localhost')
  await organisation('add', '--rsin', C, '--name', 'Cstad', '--host', 'zaken.cstad.nl')
  const more = { ORGANISATION: C, PUBLIC_URL: `http://centrum:${port}` }
  const unseen = await run(['overnemen', 'zaakstroom', A], { more })
  t.match(unseen, { code: 64, stderr: /--dry-run/ }, 'first a person looks what clashes')
  t.equal((await run(['overnemen', 'zaakstroom', A, '--proef'], { more })).code, 0)
  const taken = await run(['overnemen', 'zaakstroom', A, '--via', `http://127.0.0.1:${port}`], { more })
  t.equal(taken.code, 0, taken.stderr + taken.stdout)
  const [a, c] = [await rowsOf(A), await rowsOf(C)]
  t.equal(c.zaak, a.zaak)
  t.equal(c.document, a.document)
  t.match(await run(['overnemen', 'zaakstroom', C], { more }), { code: 64, stderr: /the other one/ })
  await organisation('suspend', C, '--reason', 'for the test')
  await organisation('remove', C, '--confirm', C)
})

t.test('what is removed is gone, and what is of others stays', async (t) => {
  const before = await rowsOf(A)
  const app = await appOf(t, B)
  await givenZaak(app)
  const type = await givenInformatieobjecttype(app)
  await givenDocument(app, type, { inhoud: Buffer.from('b').toString('base64'), bestandsomvang: 1 })
  const { schema, databaseUrl } = await found(B)
  t.match(JSON.parse(await organisation('list', '--figures', '--json')), [
    { rsin: A },
    { rsin: B, figures: { zaken: 1, documenten: 1, workers: 0, bytes: Number } },
  ])
  await organisation('suspend', B, '--reason', 'it leaves')
  t.match(JSON.parse(await organisation('list', '--json')), [{}, { state: 'suspended', reason: 'it leaves' }])
  const leaving = join(directory, 'leaving')
  await organisation('export', B, '--to', leaving)
  const late = await appOf(t, B)
  await givenZaak(late)
  t.match(await run(['organisation', 'remove', B, '--confirm', B, '--export', leaving]), {
    code: 64,
    stderr: /zaak.* changed since the export: nothing was removed/,
  })
  await rm(leaving, { recursive: true })
  await organisation('export', B, '--to', leaving)
  const removal = JSON.parse(await organisation('remove', B, '--confirm', B, '--export', leaving, '--json'))
  t.match(removal, { rsin: B, documents: { count: 1, bytes: 1 }, left: { schemas: 0, documents: 0, directories: 0 } })
  t.match(
    removal.tables.find(({ name }: { name: string }) => name === 'zaak'),
    { rows: 2 },
  )
  const sql = postgres(databaseUrl, { max: 1 })
  t.teardown(() => sql.end())
  t.same(await sql`select nspname from pg_namespace where nspname like ${`${schema}%`}`, [])
  t.notOk((await readdir(directory, { recursive: true })).some((name) => name.includes(B)))
  t.same(await rowsOf(A), before)
})

t.test('the schema of the registry is never that of an organisation', async (t) => {
  const { url } = await emptyDatabase(t)
  const centre = withSchema(url, 'centrum')
  const more = { CONTROL_DATABASE_URL: centre }
  const added = await run(['organisation', 'add', '--rsin', C, '--name', 'Cstad', '--host', 'zaken.cstad.nl'], { more })
  t.equal(added.code, 0, added.stderr)
  const control = openControl(centre)
  t.teardown(control.close)
  const box = secretBox(SECRET_KEY)
  const [one] = await readOrganisations(control, box, C)
  t.same(one!.databaseUrl, url)
  const schemas = async () =>
    (await control.sql`select nspname as name from pg_namespace where nspname ~ '^(org|centrum)' order by 1`).map(
      ({ name }) => name,
    )
  t.same(await schemas(), ['centrum', `org_${C}`, `org_${C}_queue`])
  const astray = configOf(env, { ...one!, databaseUrl: centre })
  await t.rejects(
    removeOrganisation(one!, astray, () => {}),
    /leads to schema centrum/,
  )
  t.same(await schemas(), ['centrum', `org_${C}`, `org_${C}_queue`])
  await run(['organisation', 'suspend', C, '--reason', 'for the test'], { more })
  const removed = await run(['organisation', 'remove', C, '--confirm', C], { more })
  t.equal(removed.code, 0, removed.stderr)
  t.same(await schemas(), ['centrum'])
})

t.test(
  'an organisation moves to another server while it works, and keeps every change that was acknowledged',
  { skip: noPrograms },
  async (t) => {
    const at = await serverDirectory(t)
    const [from, to] = (await Promise.all(
      ['from', 'to'].map(async (name) => {
        const { port } = await startPrimary(t, join(at, name), '-c wal_level=logical')
        return `postgres://postgres@127.0.0.1:${port}/postgres`
      }),
    )) as [string, string]
    await organisation('add', '--rsin', B, '--name', 'Bdorp', '--host', 'zaken.bdorp.nl', '--database-url', from)
    const app = await appOf(t, B)
    const zaaktype = await givenZaaktype(app)
    const acknowledged: string[] = []
    let isMoving = true
    const load = (async () => {
      while (isMoving) {
        const { status, body } = await app.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, {}), CRS)
        if (status === 201) acknowledged.push(body.uuid)
        else await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    const moved = await organisation('move', B, '--to', to, '--json').finally(() => {
      isMoving = false
      return load
    })
    const { heldMs } = JSON.parse(moved)
    t.ok(heldMs < 5000, `its requests waited ${heldMs} ms`)
    t.ok(acknowledged.length > 20, `${acknowledged.length} cases were made meanwhile`)
    t.match(await found(B), { databaseUrl: to, state: 'active' })
    const target = postgres(withSchema(to, `org_${B}`), { max: 1, connection: { search_path: `org_${B}` } })
    t.teardown(() => target.end())
    const there = new Set((await target`select uuid from zaak`).map(({ uuid }) => uuid))
    t.same(
      acknowledged.filter((uuid) => !there.has(uuid)),
      [],
    )
    t.equal(there.size, acknowledged.length, 'and nothing else')
    t.same(await target`select * from pg_subscription`, [])
    const source = postgres(from, { max: 1 })
    t.teardown(() => source.end())
    t.same(await source`select slot_name from pg_replication_slots`, [])
    t.same(await source`select pubname from pg_publication`, [])
    const after = await appOf(t, B)
    const zaak = await givenZaak(after, { zaaktype: zaaktype })
    t.ok(zaak.uuid, 'it goes on there')
    const [counted] =
      await target`select (select sum(count)::int from zaak_count) as kept, (select count(*)::int from zaak) as real`
    t.equal(counted!.kept, counted!.real, 'its counts are right')
  },
)

t.test('what opens the organisations is sealed with another key, and the older one can go', async (t) => {
  const key = Buffer.alloc(32, 3).toString('base64')
  const both = await run(['organisation', 'reseal'], { more: { DATA_KEYS: `nieuw:${key}` } })
  t.equal(both.code, 0, both.stderr)
  const alone = { SECRET_KEY: '', DATA_KEYS: `nieuw:${key}` }
  t.match(await run(['organisation', 'list'], { more: alone }), { code: 0, stdout: /Astad/ })
  t.match(
    await run(['organisation', 'list']),
    { code: 78, stderr: /sealed with the key nieuw cannot be read/ },
    'which opens them no more',
  )
})
