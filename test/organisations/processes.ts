// One `zaakstroom api` and one `zaakstroom worker` for many organisations, and clients of them over HTTP.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { type Answer, type Json, SECRET, type TestApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { ringOf } from './api-many.ts'
import { KEY, type Many, type Member } from './many.ts'

type TestLike = { teardown(work: () => unknown): unknown }

export type Running = {
  process: ChildProcess
  /** The last lines of its log. */
  lines: Json[]
  kill(): Promise<void>
}
export type Asked = Answer & { ms: number }
export type Api = Running & {
  port: number
  metricsPort: number
  /** A request at the host of an organisation. Connections are kept, those of each organisation apart. @throws when the connection breaks */
  ask(
    member: Pick<Member, 'rsin'>,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Asked>
  /** The same, as helpers of the tests ask. */
  as(member: Pick<Member, 'rsin'>): TestApp
}

const MAIN = join(import.meta.dirname, '../../src/main.ts')
const LINES = 5000

/** The environment of every process of this installation. */
export const envOf = ({ url, directory }: Pick<Many, 'url' | 'directory'>, env: Record<string, string> = {}) =>
  programEnv({ CONTROL_DATABASE_URL: url, SECRET_KEY: KEY, DATA_DIR: directory, ...env })

/** Starts a program that runs on. */
export function runOn(t: TestLike, command: string, env: Record<string, string>): Running {
  const process_ = spawn(process.execPath, [MAIN, command], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: Json[] = []
  let rest = ''
  process_.stdout.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) lines.push(JSON.parse(line))
    if (lines.length > LINES) lines.splice(0, lines.length - LINES)
  })
  const kill = async () => {
    if (process_.exitCode !== null || process_.signalCode !== null) return
    process_.kill('SIGKILL')
    await once(process_, 'exit')
  }
  t.teardown(kill)
  return { process: process_, lines, kill }
}

/** The client that every organisation here has. */
export async function giveClient(member: Member): Promise<void> {
  const box = ringOf(`k1:${Buffer.alloc(32, Number(member.rsin) % 251).toString('base64')}`)
  await createClient(member.database, box, { id: 'beheer', label: 'Beheer', alleAutorisaties: true, secret: SECRET })
}

export async function startApi(
  t: TestLike,
  many: Pick<Many, 'url' | 'directory'>,
  env: Record<string, string> = {},
): Promise<Api> {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const running = runOn(
    t,
    'api',
    envOf(many, {
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      LOG_LEVEL: 'info',
      PUBLIC_URL: `http://localhost:${port}`,
      ...env,
    }),
  )
  await until('the api listens', () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const agents = new Map<string, Agent>()
  t.teardown(() => {
    for (const agent of agents.values()) agent.destroy()
  })
  const ask: Api['ask'] = ({ rsin }, method, path, body, headers = {}) => {
    const agent = agents.get(rsin) ?? new Agent({ keepAlive: true, maxSockets: 300 })
    agents.set(rsin, agent)
    const began = performance.now()
    const payload = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const asked = request({
        host: '127.0.0.1',
        port,
        method,
        path: path.replace(/^https?:\/\/[^/]+/, ''),
        agent,
        headers: {
          host: `o${rsin}.example`,
          authorization: `Bearer ${signToken('beheer', SECRET, { id: 'ik', name: 'Ik' })}`,
          ...(payload !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
          ...headers,
        },
      })
      asked.on('response', (response) => {
        const parts: Buffer[] = []
        response.on('data', (part) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const isJson = String(response.headers['content-type']).includes('json')
          const body = isJson && text ? JSON.parse(text) : undefined
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text,
            body,
            ms: performance.now() - began,
          })
        })
      })
      asked.on('error', reject)
      asked.end(payload)
    })
  }
  return {
    ...running,
    port,
    metricsPort,
    ask,
    as: (member) =>
      ({
        call: (method: string, path: string, body?: unknown, options: { headers?: Record<string, string> } = {}) =>
          ask(member, method, path, body, options.headers),
      }) as unknown as TestApp,
  }
}

export async function startWorker(
  t: TestLike,
  many: Pick<Many, 'url' | 'directory'>,
  env: Record<string, string> = {},
) {
  const healthPort = await freePort()
  const running = runOn(t, 'worker', envOf(many, { WORKER_HEALTH_PORT: `${healthPort}`, LOG_LEVEL: 'info', ...env }))
  await until('the worker has started', () => running.lines.some(({ event }) => event === 'started'))
  return { ...running, healthPort }
}
