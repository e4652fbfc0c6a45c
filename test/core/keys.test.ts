// Keys that can be replaced: what is sealed says with which one, processes with different keys serve beside each other, and a key
// is only retired when nothing needs it any more.
// It starts the program.
import { execFile } from 'node:child_process'
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { runApi } from '../../src/cli/run-api.ts'
import { findSecretBox } from '../../src/cli/server.ts'
import { readConfig } from '../../src/config.ts'
import { secretBox, totpOwner } from '../../src/core/secret-box.ts'
import { openDatabase } from '../../src/database/database.ts'
import { keyIdOf, keyRing } from '../../src/lib/key-ring.ts'
import { subscriberOwner } from '../../src/notificaties/deliver.ts'
import { PLACES, resealPortion } from '../../src/operations/reseal.ts'
import { serviceOwner } from '../../src/services/services.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { programEnv } from '../program-env.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const SECRET_KEY = 'the key of this database, long enough'
const SECRET = 'the secret of a client, long enough'
const [ONE, TWO] = ['2026-11', '2027-01'].map((id) => ({ id, key: randomBytes(32) })) as [Key, Key]
type Key = { id: string; key: Buffer }
const lines = (...keys: Key[]) => keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join('\n')

/** As values were sealed when SECRET_KEY was the only key. */
function sealedBefore(text: string, owner: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', SECRET_KEY, 'zaakstroom', 'geheimen', 32))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

type TestLike = { teardown(work: () => unknown): unknown }

/** One for each database: processes of one installation have one store. */
const stores = await mkdtemp(join(tmpdir(), 'zaakstroom-keys-stores-'))
t.teardown(() => rm(stores, { recursive: true, force: true }))

async function givenConfig(t: TestLike, url: string, env: Record<string, string>) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-keys-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return readConfig({
    DATABASE_URL: url,
    DATA_DIR: directory,
    DOCUMENTEN_DIR: join(stores, new URL(url).pathname),
    IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import'),
    PORT: '0',
    DATABASE_POOL_SIZE: '3',
    LOG_LEVEL: 'silent',
    ...env,
  })
}

async function startApi(t: TestLike, url: string, env: Record<string, string>) {
  const config = await givenConfig(t, url, env)
  const box = await findSecretBox(config, false)
  const api = await runApi(config, url, box, openLog('silent'))
  const ask = (client: string, path = '/catalogi/api/v1/catalogussen') =>
    fetch(`${api.address}${path}`, { headers: { authorization: `Bearer ${signToken(client, SECRET)}` } })
  return { ...api, box, ask }
}

t.test('what is sealed says with which key, and what was sealed before there were more opens', async (t) => {
  const box = secretBox(keyRing([ONE, { id: 'secret-key', key: SECRET_KEY }]))
  const sealed = box.seal('geheim', 'rij 1')
  t.equal(keyIdOf(sealed), ONE.id)
  t.equal(box.open(sealed, 'rij 1'), 'geheim')
  t.throws(() => box.open(sealed, 'rij 2'), 'it cannot be moved')
  for (let turn = 0; turn < 50; turn++) t.equal(box.open(sealedBefore('oud', 'rij 1'), 'rij 1'), 'oud')
  t.equal(keyIdOf(secretBox(SECRET_KEY).seal('geheim', 'rij 1')), 'secret-key')
  t.equal(box.open(secretBox(SECRET_KEY).seal('geheim', 'rij 1'), 'rij 1'), 'geheim')
  t.throws(() => secretBox(keyRing([TWO])).open(sealed, 'rij 1'), /the key 2026-11 cannot be read/)
  t.throws(() => secretBox(keyRing([TWO])).open(sealedBefore('oud', 'x'), 'x'), /the key secret-key cannot be read/)
  t.throws(
    () => secretBox(keyRing([{ ...TWO, id: ONE.id }])).open(sealed, 'rij 1'),
    /./,
    'nor another key of that name',
  )
})

t.test('DATA_KEYS has lines of id:base64, each key of 32 bytes at least and each id once', async (t) => {
  const base = { DATABASE_URL: 'postgres://localhost/x' }
  t.same(
    readConfig({ ...base, DATA_KEYS: `${lines(ONE)}\n\n  ${lines(TWO)}\n` }, ['SECRET_KEY']).dataKeys.map(
      ({ id }) => id,
    ),
    [ONE.id, TWO.id],
  )
  for (const wrong of [
    'zonder-dubbele-punt',
    `kort:${Buffer.from('te kort').toString('base64')}`,
    `Hoofd:${ONE.key.toString('base64')}`,
    `secret-key:${ONE.key.toString('base64')}`,
    lines(ONE, ONE),
    `x:${'!'.repeat(50)}`,
  ])
    t.throws(() => readConfig({ ...base, DATA_KEYS: wrong }), /DATA_KEYS must be id:base64/, wrong)
  t.throws(() => readConfig(base, ['SECRET_KEY']), /SECRET_KEY is required/)
})

t.test('processes with different keys serve beside each other, and the new key seals when all have it', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 2, name: 'test' })
  t.teardown(() => database.close())
  const { sql } = database
  const make = (box: ReturnType<typeof secretBox>, id: string) =>
    createClient(database, box, { id, label: id, alleAutorisaties: true, secret: SECRET })
  const keyOf = async (id: string) => {
    const [row] = await sql<
      { sealed_secret: Buffer }[]
    >`select sealed_secret from applicatie_secret where client_id = ${id}`
    return keyIdOf(row!.sealed_secret)
  }
  const old = await startApi(t, url, { SECRET_KEY })
  await make(old.box, 'eerste')
  const young = await startApi(t, url, { SECRET_KEY, DATA_KEYS: lines(ONE) })
  await make(young.box, 'tweede')
  t.equal(await keyOf('tweede'), 'secret-key', 'the old process could not open another')
  for (const api of [old, young])
    for (const client of ['eerste', 'tweede']) t.equal((await api.ask(client)).status, 200, client)
  await old.stop()
  await until('the new key seals', () => young.box.ring.sealing === ONE.id)
  await make(young.box, 'derde')
  t.equal(await keyOf('derde'), ONE.id)
  for (const client of ['eerste', 'tweede', 'derde']) t.equal((await young.ask(client)).status, 200, client)

  // A process without the new key: what needs it is refused with the reason, and the rest goes on.
  const behind = await startApi(t, url, { SECRET_KEY })
  t.equal((await behind.ask('eerste')).status, 200)
  const refused = await behind.ask('derde')
  t.equal(refused.status, 503)
  t.match(await refused.json(), { detail: /2026-11/ })
  const ready = await behind.ask('eerste', '/readyz')
  t.equal(ready.status, 200)
  t.match(await ready.json(), { status: 'degraded', checks: { key: { detail: /2026-11/ } } })
  await behind.stop()

  const wrong = await startApi(t, url, { SECRET_KEY, DATA_KEYS: lines({ id: ONE.id, key: randomBytes(32) }) })
  t.equal((await wrong.ask('eerste', '/readyz')).status, 503, 'another key under a known name')
  t.equal((await wrong.ask('eerste')).status, 503)
  await wrong.stop()
  await young.stop()
})

t.test('keys list, add, reseal and retire replace a key, with SECRET_KEY as the oldest', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 2, name: 'test' })
  t.teardown(() => database.close())
  const { sql } = database
  const run = (keys: string, ...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const env = programEnv({ DATABASE_URL: url, SECRET_KEY, ...(keys && { DATA_KEYS: keys }) })
      execFile(process.execPath, [MAIN, 'keys', ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
      )
    })
  // One of everything that is sealed, as it was before there were more keys.
  await createClient(database, secretBox(SECRET_KEY), { id: 'c', label: 'c', alleAutorisaties: true, secret: SECRET })
  await sql`update applicatie_secret set sealed_secret = ${sealedBefore(SECRET, 'c')}`
  const [service, abonnement, account, takeover] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [
    string,
    string,
    string,
    string,
  ]
  await sql`insert into service (uuid, label, slug, kind, api_root, authenticatie, client_id, sealed_secret)
    values (${service}, 'x', 'x', 'zrc', 'https://x.example/', 'zgw', 'wij', ${sealedBefore('dienst', serviceOwner(service))})`
  await sql`insert into abonnement (uuid, callback_url, auth, ondertekening) values (${abonnement}, 'https://x.example/',
    ${sealedBefore('auth', subscriberOwner(abonnement))}, array[${sealedBefore('teken', subscriberOwner(abonnement))}]::bytea[])`
  await sql`insert into beheer_account (uuid, gebruikersnaam, naam, rol, totp_secret)
    values (${account}, 'x', 'x', 'viewer', ${sealedBefore('totp', totpOwner(account))})`
  await sql`insert into oauth_signing_key (kid, algorithm, public_key, private_key, signs_from)
    values ('k', 'EdDSA', '{}', ${sealedBefore('{}', 'signing key k')}, now())`
  await sql`insert into takeover (uuid, kind, source, secret)
    values (${takeover}, 'api', 'https://x.example', ${sealedBefore('bron', `overneming ${takeover}`)})`
  await sql`insert into feed_snapshot (component, rights, viewer, sealed_key)
    values ('zrc', 'x', '{}', ${sealedBefore('sleutel', 'momentopname 1')})`

  const made = await run('', 'add', ONE.id)
  t.equal(made.code, 0, made.stderr)
  const line = made.stdout.trim()
  t.match(line, /^2026-11:[A-Za-z0-9+/]{43}=$/)
  t.match(await run('', 'add', 'Nieuw'), { code: 64 })
  const listed = async (): Promise<Record<string, { seals: boolean; sealed: object }>> =>
    Object.fromEntries(
      JSON.parse((await run(line, 'list', '--json')).stdout).map((one: { id: string }) => [one.id, one]),
    )
  const all = {
    applicatie_secret: 1,
    oauth_signing_key: 1,
    service: 1,
    abonnement: 2,
    beheer_account: 1,
    takeover: 1,
    feed_snapshot: 1,
  }
  const before = await listed()
  t.match(before, { 'secret-key': { seals: false }, [ONE.id]: { seals: true } })
  t.strictSame([before['secret-key']!.sealed, before[ONE.id]!.sealed], [all, {}])
  t.match(await run(line, 'add', ONE.id), { code: 64, stderr: /already/ })
  t.match(await run(line, 'retire', ONE.id), { code: 64, stderr: /seals/ })
  t.match(await run(line, 'retire', 'secret-key'), { code: 64, stderr: /still sealed with the key secret-key/ })
  const asked = await run(line, 'reseal')
  t.equal(asked.code, 0, asked.stderr)
  const [job] = await sql`select from jobs where task_identifier = 'reseal'`
  t.ok(job)
  const box = await findSecretBox(await givenConfig(t, url, { SECRET_KEY, DATA_KEYS: line }), false)
  let portions = 0
  while (await resealPortion(database, box)) portions++
  t.equal(portions, PLACES.length, 'each place once, and a second run finds nothing')
  const after = await listed()
  t.strictSame([after['secret-key']!.sealed, after[ONE.id]!.sealed], [{}, all])
  const [row] = await sql<{ sealed_secret: Buffer }[]>`select sealed_secret from applicatie_secret`
  t.equal(box.open(row!.sealed_secret, 'c'), SECRET)
  const [one] = await sql<{ ondertekening: Buffer[] }[]>`select ondertekening from abonnement`
  t.equal(box.open(one!.ondertekening[0]!, subscriberOwner(abonnement)), 'teken')
  const [sent] = await sql<{ auth: Buffer; sealed_secret: Buffer }[]>`
    select a.auth, s.sealed_secret from abonnement a, service s`
  const openAt = (server: string) => [
    box.tryOpenFor(sent!.auth, subscriberOwner(abonnement), [server, '']),
    box.tryOpenFor(sent!.sealed_secret, serviceOwner(service), [server, '']),
  ]
  t.strictSame(openAt('https://x.example/elders'), ['auth', 'dienst'])
  t.strictSame(openAt('https://y.example/'), [undefined, undefined], 'what is sent is bound to its server from now on')

  await sql`insert into key_holder (id, keys, seals) values (gen_random_uuid(), ${['secret-key']}, 'secret-key')`
  t.match(await run(line, 'reseal'), { code: 64, stderr: /a process runs without it/ })
  t.match(await run(line, 'retire', 'secret-key'), { code: 64, stderr: /secret-key/ })
  await sql`delete from key_holder`
  const retired = await run(line, 'retire', 'secret-key')
  t.equal(retired.code, 0, retired.stderr)
  const alone = await startApi(t, url, { DATA_KEYS: line })
  t.equal((await alone.ask('c')).status, 200, 'SECRET_KEY is not needed any more')
  t.equal((await alone.ask('c', '/readyz')).status, 200)
  t.match(await (await alone.ask('c', '/readyz')).json(), { status: 'ok' })
  await alone.stop()
})
