// What `npm run histories` plays: two installations beside each other, clients of both, and faults meanwhile. Judged by what clients were told.
//
// The first has two apis, a third behind PgBouncer, two workers and a PostgreSQL of its own. The second serves two organisations.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { signToken } from '../../src/autorisaties/clients.ts'
import { request, type Target } from '../../src/history/ask.ts'
import { type Anomaly, judge } from '../../src/history/judge.ts'
import type { Operation } from '../../src/history/operation.ts'
import { type Player, type PlayOptions, play } from '../../src/history/play.ts'
import { givenClient, givenInformatieobjecttype, givenZaaktype, SECRET, uuidOf } from '../app.ts'
import { hasPooler, startPooler } from '../database/pooler.ts'
import { API, csvText, goodRow } from '../documenten/importing.ts'
import { CELLS } from '../faults/cells.ts'
import { fileOf } from '../faults/imports.ts'
import { openScene, type Scene, whyNot } from '../faults/scene.ts'
import { freePort } from '../free-port.ts'
import { givenMany } from '../organisations/many.ts'
import { giveClient, startApi } from '../organisations/processes.ts'
import { programEnv } from '../program-env.ts'
import { collectViolations, type StageLike } from '../stage.ts'
import { until } from '../until.ts'
import { isReady, MAIN, type Proces, START_MS, supervise } from '../zaken/processes.ts'

export type Played = { history: Operation[]; anomalies: Anomaly[]; faults: string[] }

const STRIKES =
  /^an? (api|worker) is (killed|stopped|frozen)$|^PostgreSQL is (killed|restarted)|^all connections|table of cases is locked|^the receiver (is down|answers 500)$/
const FAULT_MS = 3_000
const BETWEEN_MS = 3_000
const ROWS = 5
const IMPORT_MS = 30_000
const ZAKEN = '/zaken/api/v1/zaken'
const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'

/** @param tell for what happens meanwhile */
export async function playHistories(
  stage: StageLike,
  { seed, seconds, clients = 12 }: { seed: number; seconds: number; clients?: number },
  tell: (line: string) => void,
): Promise<Played> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-histories-'))
  stage.teardown(() => rm(directory, { recursive: true, force: true }))
  const keysFile = join(directory, 'keys')
  await writeFile(keysFile, keyLine(0))
  const scene = await openScene(stage, seed, { pace: 1_000, mounts: false, env: { DATA_KEYS_FILE: keysFile } })
  await scene.load.pause() // its clients are for other judgements
  const { test, apis, zaaktype, load } = scene
  const organisations = await givenOrganisations(stage)
  const weak = await givenClient(test, 'weinig', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: crypto.randomUUID(), max: 'zeer_geheim' },
  ])
  const addresses = apis.map(({ address }) => address)
  const pooled = hasPooler ? await startPooled(stage, scene) : undefined
  if (!pooled) tell('no pgbouncer here: no api is behind one')
  const targets = [...addresses, ...(pooled ? [pooled.address] : [])].map((url) => targetOf(url)) as [
    Target,
    ...Target[],
  ]
  const of = { seconds, organisation: '517439943' } as const
  const own: PlayOptions = {
    ...of,
    seed,
    clients,
    zaaktype,
    informatieobjecttype: load.type,
    more: [
      { share: 0.08, run: readInBatch },
      { share: 0.04, run: (player) => peek(player, targetOf(player.target.url, weak)) },
      { share: 0.03, run: importer(load.type) },
    ],
  }
  const over = new AbortController()
  const faults: string[] = []
  const striking = strikeAll(scene, {
    keysFile,
    pooled,
    signal: over.signal,
    note: (name) => {
      faults.push(name)
      tell(name)
    },
  })
  const [first, ...others] = await Promise.all([
    play(targets, own),
    ...organisations.map(({ target, other, ...types }, index) =>
      play([target], {
        ...of,
        ...types,
        seed: seed + 1 + index,
        clients: 2,
        more: [{ share: 0.1, run: (player) => peek(player, other) }],
      }),
    ),
    sleep(seconds * 1000).then(() => {
      over.abort()
      return []
    }),
  ])
  await striking
  const history = [first, ...others].flat()
  return { history, anomalies: judge(history), faults }
}

const targetOf = (url: string, client = 'beheer'): Target => ({
  url,
  token: () => signToken(client, SECRET, { id: 'histories', name: 'Histories' }),
  usesKeys: true,
})

// ---- operations beside those of every server ----

async function readInBatch(player: Player): Promise<void> {
  const zaak = player.pick(player.zaken)
  if (!zaak) return
  await player.note(
    {
      kind: 'register',
      object: zaak.path,
      f: 'read',
      value: null,
      method: 'POST',
      path: `${ZAKEN}/_batch`,
      body: { requests: [{ key: uuidOf(zaak.path) }] },
    },
    ({ body }) => ({
      value: String((body as { results: ({ toelichting: string } | null)[] }).results[0]?.toelichting),
    }),
  )
}

/** Asks for what the client of this target has no right to see. */
async function peek(player: Player, target: Target): Promise<void> {
  const zaak = player.pick(player.zaken)
  if (zaak)
    await player.note(
      { kind: 'secret', object: zaak.path, f: 'read', value: null, method: 'GET', path: zaak.path },
      undefined,
      target,
    )
}

/** Imports a few documents, one import at a time, and looks for each of them. */
function importer(type: string): (player: Player) => Promise<void> {
  let busy = false
  const importOnce = async (player: Player) => {
    const { target } = player
    const ask = (method: string, path: string, body?: unknown) => request(target, method, path, body)
    type Import = { url: string; status: string; processedSuccessfully?: number }
    const created = await ask('POST', `${API}/create`)
    if (created.status !== 201) {
      const { body } = await ask('GET', `${API}/`)
      const open = (body as { results?: Import[] } | undefined)?.results?.find(({ status }) => status === 'pending')
      if (open) await ask('POST', `${API}/${uuidOf(open.url)}/cancel`)
      return
    }
    const path = `${API}/${uuidOf((created.body as Import).url)}`
    const names = Array.from({ length: ROWS }, () => player.fresh())
    const rows = names.map((identificatie, index) => goodRow(type, fileOf(index), { identificatie }))
    await ask('POST', `${path}/upload`, csvText(rows)) // without an answer its status tells
    const late = performance.now() + IMPORT_MS
    for (;;) {
      const { body } = await ask('GET', `${path}/status`)
      const { status, processedSuccessfully: succeeded } = (body ?? {}) as Import
      if (status === 'finished' && succeeded === ROWS) break
      if (status === 'pending' || (status === 'finished' && succeeded !== ROWS) || performance.now() > late) return
      await sleep(200)
    }
    for (const value of names) {
      await player.note({ kind: 'set', object: value, f: 'add', value, method: 'GET', path: `${path}/status` })
      await player.note(
        {
          kind: 'set',
          object: value,
          f: 'list',
          value: null,
          method: 'GET',
          path: `${DOCUMENTEN}?identificatie=${value}`,
        },
        ({ body }) => ({
          values: (body as { results: { identificatie: string }[] }).results.map((one) => one.identificatie),
        }),
      )
    }
  }
  return async (player) => {
    if (busy) return
    busy = true
    await importOnce(player).finally(() => {
      busy = false
    })
  }
}

// ---- faults ----

type Pooled = { api: Proces; address: string; restart(): Promise<void> }

async function strikeAll(
  scene: Scene,
  {
    keysFile,
    pooled,
    signal,
    note,
  }: { keysFile: string; pooled: Pooled | undefined; signal: AbortSignal; note(name: string): void },
): Promise<void> {
  const judge = collectViolations(() => {})
  const cells = CELLS.filter((cell) => STRIKES.test(cell.name) && !whyNot(cell, scene))
  const others = {
    'the ring changes': () => changeRing(scene, keysFile, pooled),
    ...(pooled && { 'the pooler is restarted': pooled.restart }),
  }
  const names = [...cells.map(({ name }) => name), ...Object.keys(others)]
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})
  while (!signal.aborted) {
    for (const name of names.toSorted(() => scene.random() - 0.5)) {
      await pause(BETWEEN_MS)
      if (signal.aborted) break
      note(name)
      const cell = cells.find((one) => one.name === name)
      if (!cell) await others[name as keyof typeof others]?.()
      else {
        const undo = await cell.strike(scene, judge)
        await pause(Math.min(FAULT_MS, cell.lasts))
        await undo()
      }
    }
  }
}

const keyLine = (n: number) => `ring-${n}:${Buffer.alloc(32, 60 + n).toString('base64')}\n`

/** A new key is put first, every process starts with it, and all is sealed with it. */
async function changeRing(scene: Scene, keysFile: string, pooled: Pooled | undefined): Promise<void> {
  const lines = await readFile(keysFile, 'utf8')
  await writeFile(keysFile, `${keyLine(lines.split('\n').length - 1)}${lines}`)
  for (const one of [...scene.apis, ...scene.workers, ...(pooled ? [pooled.api] : [])]) await one.restart()
  for (const { address } of scene.apis) await until('the api', () => isReady(address), START_MS)
  await promisify(execFile)(process.execPath, [MAIN, 'keys', 'reseal'], { env: programEnv(scene.settings) }).catch(
    () => {},
  )
}

async function startPooled(stage: StageLike, { server, settings }: Scene): Promise<Pooled> {
  let pooler = await startPooler(server.url)
  stage.teardown(() => pooler.stop())
  const port = await freePort()
  const api = supervise(stage, 'api', {
    ...settings,
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: server.url,
    PORT: String(port),
  })
  const address = `http://127.0.0.1:${port}`
  await until('the api behind the pooler', () => isReady(address), START_MS)
  const own = Number(new URL(pooler.url).port)
  return {
    api,
    address,
    async restart() {
      await pooler.stop()
      pooler = await startPooler(server.url, undefined, undefined, own)
    },
  }
}

// ---- the second installation ----

async function givenOrganisations(stage: StageLike) {
  const many = await givenMany(stage)
  const members = [await many.add('000000012'), await many.add('000000024')]
  for (const member of members) await giveClient(member)
  const api = await startApi(stage, many, { LOG_LEVEL: 'warn' })
  const targets = await Promise.all(
    members.map(async ({ rsin }) => targetOf(await asHost(stage, api.port, `o${rsin}.example`))),
  )
  return Promise.all(
    members.map(async (member, index) => ({
      target: targets[index]!,
      other: targets[1 - index]!,
      zaaktype: await givenZaaktype(api.as(member)),
      informatieobjecttype: await givenInformatieobjecttype(api.as(member)),
    })),
  )
}

/** The address of what asks this port as a client does that found it by this name. */
async function asHost(stage: StageLike, port: number, host: string): Promise<string> {
  const server = createServer((asked, answered) => {
    const { method, url, headers } = asked
    const passed = httpRequest(
      { host: '127.0.0.1', port, method, path: url, headers: { ...headers, host } },
      (answer) => {
        answered.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(answered)
      },
    )
    passed.on('error', () => answered.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
  stage.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
