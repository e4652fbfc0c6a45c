// Toxiproxy, which stands between a program and a server and does what networks do: https://github.com/Shopify/toxiproxy.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

type TestLike = { teardown(work: () => unknown): unknown }

/** The module of which Go builds the program; `.ci/run` builds the same. */
const MODULE = 'github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0'
const BUILD_MS = 300_000

/** @returns the path of the program: the one that TOXIPROXY names, the one of PATH, or one that Go builds; undefined: there is none */
export function findToxiproxy(t: TestLike): string | undefined {
  const program = process.env.TOXIPROXY ?? 'toxiproxy-server'
  if (spawnSync(program, ['-version']).status === 0) return program
  const go = ['go', '/usr/local/go/bin/go'].find((path) => spawnSync(path, ['version']).status === 0)
  if (!go) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-toxiproxy-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  try {
    execFileSync(go, ['install', MODULE], {
      env: { ...process.env, GOBIN: directory },
      stdio: 'ignore',
      timeout: BUILD_MS,
    })
  } catch {
    return undefined // no network, or a Go that is too old
  }
  const built = join(directory, 'server')
  return existsSync(built) ? built : undefined
}

type Toxiproxy = {
  /** @returns the address through a proxy of this name */
  proxy(name: string, url: string): Promise<string>
  /** Lets nothing through any more: of what the program sends (upstream), or of what the server does (downstream). */
  silence(name: string, direction: 'upstream' | 'downstream'): Promise<void>
  heal(name: string): Promise<void>
}

export async function startToxiproxy(t: TestLike, program: string): Promise<Toxiproxy> {
  const port = await freePort()
  const server = spawn(program, ['-host', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' })
  t.teardown(async () => {
    if (server.exitCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  })
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  await until('toxiproxy', () =>
    call('GET', '/version').then(
      () => true,
      () => false,
    ),
  )
  return {
    async proxy(name, url) {
      const { hostname, port: behind } = new URL(url)
      const listen = `127.0.0.1:${await freePort()}`
      await call('POST', '/proxies', { name, listen, upstream: `${hostname}:${behind || 5432}`, enabled: true })
      return Object.assign(new URL(url), { host: listen }).href
    },
    // With a timeout of 0 it never closes the connection.
    silence: (name, direction) =>
      call('POST', `/proxies/${name}/toxics`, {
        name: 'silent',
        type: 'timeout',
        stream: direction,
        attributes: { timeout: 0 },
      }),
    heal: (name) => call('DELETE', `/proxies/${name}/toxics/silent`),
  }
}
