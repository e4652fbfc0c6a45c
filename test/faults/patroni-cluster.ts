// Three PostgreSQL servers that Patroni watches over, with etcd beside them: one leads, one standby has each commit before it is
// acknowledged, and one follows.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { BIN, give, noPrograms, run, serverDirectory, userOf } from '../database/servers.ts'
import { freePort } from '../free-port.ts'
import type { StageLike } from '../stage.ts'
import { until } from '../until.ts'
import { pidsOf } from './server-pids.ts'

/** What Patroni is told in seconds. `docs/operations.md` has the same. */
const TIMES = { ttl: 20, loop_wait: 2, retry_timeout: 9 }
const WHOLE_MS = 120_000

const find = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path))
const PATRONI = process.env.PATRONI ?? find('patroni')
const ETCD = process.env.ETCD ?? find('etcd')

/** Why the cell is skipped here; false: it is not. */
export const noPatroni: string | false =
  noPrograms ||
  (!PATRONI && 'no Patroni here: pip install patroni[etcd3,psycopg3], or set PATRONI to its path') ||
  (!ETCD && 'no etcd here: install etcd-server, or set ETCD to its path')

type Member = { name: string; role: string; state: string }
type Role = 'leader' | 'sync_standby'
type Node = { name: string; data: string; api: string; kill(): Promise<void>; start(): Promise<void> }

export type Cluster = {
  /** The address with all three hosts. */
  url: string
  /** Ends Patroni and PostgreSQL of the server with that role with -9, or PostgreSQL alone. */
  kill(role: Role, what: 'both' | 'PostgreSQL'): Promise<void>
  /** Hands over to the synchronous standby. */
  switchover(): Promise<void>
  /** Starts what was killed, and waits until one leads and both others follow, one of them synchronously. */
  mend(): Promise<void>
  /** The processes of the leader's PostgreSQL. */
  pids(): Promise<number[]>
}

export async function startPatroni(stage: StageLike): Promise<Cluster> {
  const directory = await serverDirectory(stage)
  const etcd = await startEtcd(stage, join(directory, 'etcd'))
  const nodes: Node[] = []
  const ports: number[] = []
  for (const name of ['a', 'b', 'c']) {
    const port = await freePort()
    ports.push(port)
    nodes.push(await describeNode(stage, directory, name, port, etcd))
  }
  const members = async (): Promise<Member[]> => {
    for (const { api } of nodes) {
      const answer = await fetch(`${api}/cluster`).catch(() => undefined)
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members
    }
    return []
  }
  const whole = () =>
    until(
      'a leader with two standbys, one of them synchronous',
      async () => {
        const all = await members()
        const are = (role: string, state: string) =>
          all.filter((one) => one.role === role && one.state === state).length
        const isWhole =
          are('leader', 'running') === 1 && are('sync_standby', 'streaming') === 1 && are('replica', 'streaming') === 1
        return isWhole
      },
      WHOLE_MS,
    )
  const nodeOf = async (asked: Role) =>
    until(asked, async () => {
      const name = (await members()).find(({ role }) => role === asked)?.name
      return nodes.find((node) => node.name === name)
    })
  await Promise.all(nodes.map((node) => node.start()))
  await whole()
  const url = `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres?target_session_attrs=read-write`
  await migrate(url)
  return {
    url,
    async kill(role, what) {
      const node = await nodeOf(role)
      if (what === 'both') await node.kill()
      else killAll(await pidsOf(node.data))
    },
    async switchover() {
      const leader = await nodeOf('leader')
      const answer = await fetch(`${leader.api}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: leader.name, candidate: (await nodeOf('sync_standby')).name }),
      })
      if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`)
    },
    async mend() {
      await Promise.all(nodes.map((node) => node.start()))
      await whole()
    },
    pids: async () => pidsOf((await nodeOf('leader')).data),
  }
}

async function startEtcd(stage: StageLike, data: string): Promise<string> {
  const [client, peer] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  await mkdir(data, { mode: 0o700 })
  const child = spawn(
    ETCD!,
    [
      ['--data-dir', data],
      ['--listen-client-urls', `http://${client}`],
      ['--advertise-client-urls', `http://${client}`],
      ['--listen-peer-urls', peer],
      ['--initial-advertise-peer-urls', peer],
      ['--initial-cluster', `default=${peer}`],
    ].flat(),
    { stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  stage.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await until('etcd', async () => (await fetch(`http://${client}/health`).catch(() => undefined))?.ok)
  return client
}

async function describeNode(
  stage: StageLike,
  directory: string,
  name: string,
  port: number,
  etcd: string,
): Promise<Node> {
  const home = join(directory, name)
  const data = join(home, 'data')
  const rest = `127.0.0.1:${await freePort()}`
  await give(home)
  const file = join(directory, `${name}.json`)
  await writeFile(file, JSON.stringify(configuration({ name, home, data, port, rest, etcd })), { mode: 0o644 })
  const lines: string[] = []
  let child: ChildProcess | undefined
  let ended: Promise<unknown> = Promise.resolve()
  const node: Node = {
    name,
    data,
    api: `http://${rest}`,
    async start() {
      if (child && child.exitCode === null && child.signalCode === null) return
      child = spawn(PATRONI!, [file], {
        ...(await userOf()),
        cwd: '/',
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: home },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      ended = once(child, 'exit')
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (data) => {
          stage.log?.(String(data))
          lines.push(String(data))
          if (lines.length > 200) lines.shift()
        })
    },
    async kill() {
      const pids = await pidsOf(data)
      child?.kill('SIGKILL')
      killAll(pids)
      await ended
    },
  }
  stage.teardown(async () => {
    child?.kill('SIGKILL')
    await ended
    await run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']).catch(() => {})
    if (stage.passing() || stage.log) return
    for (const line of lines.join('').trim().split('\n').slice(-40)) stage.comment(`Patroni ${name}: ${line}`)
  })
  return node
}

type Asked = { name: string; home: string; data: string; port: number; rest: string; etcd: string }

/** JSON is YAML. */
const configuration = ({ name, home, data, port, rest, etcd }: Asked) => ({
  scope: 'zaakstroom',
  name,
  restapi: { listen: rest, connect_address: rest },
  etcd3: { host: etcd },
  bootstrap: {
    dcs: {
      ...TIMES,
      synchronous_mode: 'on',
      primary_start_timeout: 0, // a leader whose PostgreSQL ended is replaced, and not started again
      postgresql: {
        use_pg_rewind: true,
        parameters: { max_connections: 160, shared_buffers: '64MB', max_wal_size: '256MB', fsync: 'off' },
      },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums', 'no-sync'],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    data_dir: data,
    bin_dir: BIN,
    pgpass: join(home, 'pgpass'),
    authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
    pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    parameters: { unix_socket_directories: home },
    basebackup: [{ checkpoint: 'fast' }],
  },
})

function killAll(pids: number[]): void {
  spawnSync('kill', ['-9', ...pids.map(String)]) // some end by themselves meanwhile
}
