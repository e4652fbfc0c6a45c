// Cells in which clients want the same at the same time, from both apis: one of them gets it, and what is left is whole.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { uuidOf } from '../app.ts'
import { base64, EIO, form, newDocument } from '../documenten/documenten.ts'
import { API } from '../documenten/importing.ts'
import type { JudgeLike } from '../stage.ts'
import { type Antwoord, CREATE, createBody, openClient, until } from '../zaken/processes.ts'
import { csvOf, withoutBase } from './imports.ts'
import type { Cell, Scene } from './scene.ts'

const ROUNDS = 6
const EACH = 4
type Client = ReturnType<typeof openClient>
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const NOTHING = async () => {}

/** Plays a race some rounds long, with connections to both apis. */
function race(name: string, round: (scene: Scene, clients: Client[], judge: JudgeLike) => Promise<void>): Cell {
  return {
    name: `race: ${name}`,
    lasts: 0,
    allowed: {},
    strike: async (scene, judge) => {
      const clients = Array.from({ length: 2 * EACH }, (_, n) => openClient(scene.apis[n % 2]!.address))
      try {
        for (let n = 0; n < ROUNDS; n++) await round(scene, clients, judge)
      } finally {
        await Promise.all(clients.map((client) => client.close()))
      }
      return NOTHING
    },
  }
}

export const RACES: Cell[] = [
  race('the same case is created', async ({ load, ...service }, clients, judge) => {
    const n = load.nextCreate()
    const answers = await Promise.all(clients.map((client) => client.call('POST', CREATE, createBody(service, n))))
    load.creates[n] = answers.find(({ status }) => status === 201) ?? answers[0]!
    judge.same(statuses(answers), ['201', ...many(clients.length - 1, '400 identificatie-niet-uniek')], 'one create')
  }),
  race('numbers are given', async ({ load, test }, clients, judge) => {
    const answers = await Promise.all(clients.map((client) => client.call('POST', EIO, newDocument(load.type))))
    judge.same(statuses(answers), many(clients.length, '201'), 'all creates')
    judge.equal(new Set(answers.map(({ body }) => body.identificatie)).size, clients.length, 'numbers')
    await remove(clients[0]!, answers)
    judge.equal(
      (
        await test.database
          .sql`select from enkelvoudiginformatieobject where uuid = any(${answers.map(({ body }) => uuidOf(body.url))}::uuid[])`
      ).length,
      0,
      'removed',
    )
  }),
  race('a document is locked and changed', async ({ load }, clients, judge) => {
    const [one] = clients as [Client]
    const path = await givenDocument(one, load.type, 'inhoud')
    const locks = await Promise.all(clients.map((client) => client.call('POST', `${path}/lock`)))
    judge.same(statuses(locks), ['200', ...many(clients.length - 1, '400 existing-lock')], 'one lock')
    const { lock } = locks.find(({ status }) => status === 200)!.body
    const patches = await Promise.all(
      clients.map((client, n) =>
        client.call('PATCH', path, { titel: `titel ${n}`, lock: n === 3 ? lock : '0'.repeat(32) }),
      ),
    )
    judge.same(statuses(patches), ['200', ...many(clients.length - 1, '400 incorrect-lock-id')], 'one change')
    judge.equal((await one.call('GET', path)).body.titel, 'titel 3', 'that of who has the lock')
    const unlocks = await Promise.all(clients.map((client) => client.call('POST', `${path}/unlock`, { lock })))
    judge.equal(
      unlocks.some(({ status }) => status === 204),
      true,
      'it is unlocked',
    )
    judge.same(
      statuses(unlocks).filter((status) => !/^(204|400)/.test(status)),
      [],
      'the others are refused',
    )
    judge.equal((await one.call('GET', path)).body.locked, false, 'unlocked')
    await one.call('DELETE', path)
  }),
  race('a part of a document is uploaded', async ({ load }, clients, judge) => {
    const [one] = clients as [Client]
    const size = 20_000
    const made = await one.call('POST', EIO, newDocument(load.type, { bestandsomvang: size, inhoud: null }))
    const [path, { lock }] = [withoutBase(made.body.url), made.body as { lock?: string }]
    const [part] = made.body.bestandsdelen as { url: string }[]
    const contents = clients.map((_, n) => Buffer.alloc(size, n + 1))
    const answers = await Promise.all(
      clients.map((client, n) => {
        const { body, headers } = form({ lock: lock! }, contents[n])
        return client.call('PUT', withoutBase(part!.url), body, undefined, headers)
      }),
    )
    judge.same(
      statuses(answers).filter((status) => !/^(200|400|409)/.test(status)),
      [],
      'each is told',
    )
    judge.equal(
      answers.some(({ status }) => status === 200),
      true,
      'one at least is taken',
    )
    const ends = await Promise.all(clients.map((client) => client.call('POST', `${path}/unlock`, { lock })))
    judge.equal(
      ends.some(({ status }) => status === 204),
      true,
      'it is unlocked',
    )
    const { body } = await one.call('GET', `${path}/download`, undefined, sha256)
    // One that was not answered may have been taken.
    const taken = contents.filter((_, n) => (answers[n]?.status ?? 200) === 200).map(sha256)
    judge.equal(taken.includes(body.url), true, 'its bytes are those of one upload')
    await one.call('DELETE', path)
  }),
  race('a document is deleted, read and locked', async ({ load }, clients, judge) => {
    const [one] = clients as [Client]
    const path = await givenDocument(one, load.type, 'inhoud om te wissen')
    const answers = await Promise.all(
      clients.map((client, n) =>
        n % 4 < 2
          ? client.call('DELETE', path)
          : n % 4 === 2
            ? client.call('GET', `${path}/download`, undefined, sha256)
            : client.call('POST', `${path}/lock`),
      ),
    )
    const deletes = answers.filter((_, n) => n % 4 < 2)
    const isLocked = answers.some(({ status }, n) => n % 4 === 3 && status === 200)
    const isGone = deletes.some(({ status }) => status === 204)
    judge.equal(deletes.filter(({ status }) => status === 204).length <= 1, true, 'deleted once')
    judge.equal(isLocked || isGone, true, 'one of them was first')
    judge.same(
      statuses(answers).filter((status) => !/^(20[04]|400|404)/.test(status)),
      [],
      'each is told',
    )
    const downloads = answers.filter(({ status }, n) => n % 4 === 2 && status === 200)
    judge.same(
      downloads.filter(({ body }) => body.url !== sha256(Buffer.from('inhoud om te wissen'))),
      [],
      'whole bytes',
    )
    judge.equal((await one.call('GET', path)).status, isGone ? 404 : 200, 'as was told')
  }),
  race('an import is made, uploaded, cancelled and deleted', async ({ load }, clients, judge) => {
    await load.pause() // the client of imports has none open then
    try {
      const [one] = clients as [Client]
      const made = await Promise.all(clients.map((client) => client.call('POST', `${API}/create`)))
      judge.same(statuses(made), ['201', ...many(clients.length - 1, '400 existing-import-started')], 'one import')
      const path = `${API}/${uuidOf(made.find(({ status }) => status === 201)!.body.url)}`
      const csv = csvOf(load.type, load.nextImport())
      const uploads = await Promise.all(clients.map((client) => client.call('POST', `${path}/upload`, csv)))
      judge.same(statuses(uploads), ['200', ...many(clients.length - 1, '400 invalid-status')], 'one upload')
      const ends = await Promise.all(
        clients.map((client, n) => client.call(n % 2 ? 'DELETE' : 'POST', `${path}/${n % 2 ? 'delete' : 'cancel'}`)),
      )
      judge.same(
        statuses(ends).filter((status) => !/^(20[04]|400|404)/.test(status)),
        [],
        'each is told',
      )
      await until('the import deleted', async () => {
        const { status } = await one.call('DELETE', `${path}/delete`) // refused as long as a batch runs
        return status === 204 || status === 404
      })
      judge.equal((await one.call('GET', `${path}/status`)).status, 404, 'deleted')
      // What a batch had imported stays; the account of imports is not to look for it.
      await load.forgetImported()
    } finally {
      load.resume()
    }
  }),
  {
    name: 'race: retention while documents come and go',
    lasts: 0,
    allowed: {},
    strike: async ({ store, test, load }, judge) => {
      const { sql } = test.database
      await load.pause() // while an import is open, nothing is swept
      // Beside the documents that come and go lies what no document knows, and what the clean-up met a day ago.
      const key = `2020/01/01/${randomUUID()}`
      const stray = join(store, key)
      await mkdir(dirname(stray), { recursive: true })
      await writeFile(stray, 'nobody knows this')
      await sql`
        insert into stray_file (backend, name, unfinished, seen_at)
        values ('filesystem', ${key}, false, now() - interval '26 hours')`
      const [last] = await sql`select coalesce(max(id), 0) as id from retention_run`
      const done = () => sql<{ fault: string | null }[]>`
        select fault from retention_run where id > ${last!.id} and ended_at is not null`
      await sql`select add_job('retention', '{}', job_key => 'retention')`
      await until('retention', async () => (await done()).length > 0)
      judge.same(
        (await done()).filter(({ fault }) => fault),
        [],
        'retention ended well',
      )
      judge.equal((await readdir(dirname(stray)).catch(() => [])).length, 0, 'what no document knows is gone')
      load.resume()
      return NOTHING
    },
  },
]

/** Status and code of each, sorted. */
function statuses(answers: Antwoord[]): string[] {
  const codeOf = ({ body }: Antwoord) => (body.invalidParams as { code: string }[] | undefined)?.[0]?.code ?? body.code
  return answers
    .map((answer) => [answer.status ?? answer.fault, codeOf(answer)].filter((part) => part !== undefined).join(' '))
    .sort()
}

const many = (count: number, what: string): string[] => Array<string>(count).fill(what)

async function givenDocument(client: Client, type: string, inhoud: string): Promise<string> {
  const made = await client.call(
    'POST',
    EIO,
    newDocument(type, { inhoud: base64(inhoud), bestandsomvang: inhoud.length }),
  )
  if (made.status !== 201) throw new Error(`no document: ${made.status ?? made.fault}`)
  return withoutBase(made.body.url)
}

async function remove(client: Client, made: Antwoord[]): Promise<void> {
  for (const { body } of made) await client.call('DELETE', withoutBase(body.url))
}
