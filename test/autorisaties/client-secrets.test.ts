import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import {
  createSecret,
  listClients,
  revokeSecret,
  rotateSecret,
  UnknownClient,
} from '../../src/autorisaties/client-secrets.ts'
import { signToken } from '../../src/autorisaties/clients.ts'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { signal } from '../../src/database/listen.ts'
import { givenClient, SECRET, type TestApp, testApp } from '../app.ts'
import { auditRecords } from '../audit-records.ts'
import { programEnv } from '../program-env.ts'

const URL = '/catalogi/api/v1/catalogussen'

/** Waits until a token signed with this secret is taken, or refused: the change is announced between processes. */
async function becomes({ app }: TestApp, clientId: string, secret: string, status: number): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const authorization = `Bearer ${signToken(clientId, secret)}`
    const answer = await app.inject({ method: 'GET', url: URL, headers: { authorization, host: 'localhost' } })
    if (answer.statusCode === status) return true
    await new Promise((resolve) => setImmediate(resolve))
  }
  return false
}

t.test('secrets', async (t) => {
  const test = await testApp(t)
  const box = secretBox(test.config.secretKey!)
  const mutate = mutator(test.database)
  const actor = systemActor('test')
  const rights = [{ component: 'ztc', scopes: ['catalogi.lezen'] }]

  t.test('a rotation makes 256 bits, and the old secret is taken until it expires', async (t) => {
    const id = await givenClient(test, 'draait', rights)
    t.ok(await becomes(test, id, SECRET, 200))
    const second = await mutate(actor, (m) => rotateSecret(m, box, id))
    t.equal(Buffer.from(second, 'base64url').length, 32)
    t.ok(await becomes(test, id, second, 200))
    t.ok(await becomes(test, id, SECRET, 200), 'two are valid at once')
    const third = await mutate(actor, (m) => rotateSecret(m, box, id))
    t.ok(await becomes(test, id, SECRET, 200), 'and the first goes on until the end of its grace')
    t.ok(await becomes(test, id, second, 200))
    t.ok(await becomes(test, id, third, 200))
    await test.database
      .sql`update applicatie_secret set expires_at = now() where client_id = ${id} and expires_at is not null`
    await signal(test.database.sql, 'zaakstroom_autorisaties')
    t.ok(await becomes(test, id, second, 403))
    t.ok(await becomes(test, id, third, 200))
    const fourth = await mutate(actor, (m) => rotateSecret(m, box, id, { graceHours: 0 }))
    t.ok(await becomes(test, id, third, 403), 'without grace only the new one is taken')
    t.ok(await becomes(test, id, fourth, 200))
  })

  t.test('revoking takes one, the old ones or all, and no secret is ever written down', async (t) => {
    const id = await givenClient(test, 'verliest', rights)
    const second = await mutate(actor, (m) => createSecret(m, box, id))
    const third = await mutate(actor, (m) => createSecret(m, box, id))
    const [found] = (await listClients(test.database.db)).filter(({ clientId }) => clientId === id)
    t.match(found, { label: id, heeftAlleAutorisaties: false, aantalAutorisaties: 1 })
    t.equal(found!.geheimen.length, 3)
    t.equal(await mutate(actor, (m) => revokeSecret(m, id, found!.geheimen[1]!.id)), 1)
    t.ok(await becomes(test, id, second, 403))
    t.equal(await mutate(actor, (m) => revokeSecret(m, id, 'oud')), 1)
    t.ok(await becomes(test, id, SECRET, 403))
    t.ok(await becomes(test, id, third, 200))
    t.equal(await mutate(actor, (m) => revokeSecret(m, id, 'alle')), 1)
    t.ok(await becomes(test, id, third, 403))
    const trail = await auditRecords(test.database, test.database.sql`resource = 'applicatiegeheim'`)
    t.equal(trail.filter(({ nieuw }) => nieuw.clientId === id).length, 5, 'every change leaves its record')
    for (const secret of [SECRET, second, third]) t.notOk(JSON.stringify(trail).includes(secret))
    await t.rejects(
      mutate(actor, (m) => rotateSecret(m, box, 'niemand')),
      new UnknownClient('there is no client niemand'),
    )
  })

  t.test('the commands do the same, and warn of a short secret', async (t) => {
    const main = new globalThis.URL('../../src/main.ts', import.meta.url).pathname
    const env = programEnv({ DATABASE_URL: test.databaseUrl, SECRET_KEY: test.config.secretKey! })
    const run = (...args: string[]) => promisify(execFile)(process.execPath, [main, 'client', ...args], { env })
    const id = await givenClient(test, 'opdracht', rights)
    const { secret } = JSON.parse((await run('rotate', '--id', id, '--json')).stdout)
    t.ok(await becomes(test, id, secret, 200))
    const listed = JSON.parse((await run('list', '--json')).stdout)
    t.equal(listed.find((one: { clientId: string }) => one.clientId === id).geheimen.length, 2)
    t.notOk(JSON.stringify(listed).includes(secret))
    t.match((await run('revoke', '--id', id, '--old', '--yes')).stdout, 'lost 1 secret')
    t.ok(await becomes(test, id, SECRET, 403))
    await run('revoke', '--id', id, '--yes')
    t.ok(await becomes(test, id, secret, 403))
    await t.rejects(run('rotate', '--id', 'niemand'), { code: 64, stderr: /there is no client niemand/ })
    const short = promisify(execFile)(process.execPath, [main, 'client', 'rotate', '--id', id, '--secret-stdin'], {
      env,
    })
    short.child.stdin!.end('kort\n')
    const { stderr, stdout } = await short
    t.match(stderr, 'easy to guess')
    t.notMatch(stdout, 'kort')
    t.ok(await becomes(test, id, 'kort', 200))
  })
})
