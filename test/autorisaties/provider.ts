// Starts identity providers as processes of their own, and asks them for tokens.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'

const PROGRAM = fileURLToPath(new URL('./provider-program.ts', import.meta.url))
export const AUDIENCE = 'https://zaken.example.nl'
const CLIENT_SECRET = 'the secret of a client at the provider'

/** A private key of a provider. */
export async function providerKey(kid: string, alg = 'RS256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }
}

type Settings = {
  keys: JWK[]
  algorithm: string
  audience: string
  seconds: number
  clockShiftSeconds: number
  claims: Record<string, unknown>
}
type TestLike = { teardown(work: () => unknown): unknown }

/** An identity provider with the clients `portaal` and `zaaksysteem`. */
export async function startProvider(t: TestLike, given: Partial<Settings> = {}) {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const requests: string[] = []
  let settings: Settings = {
    keys: given.keys ?? [await providerKey('eerste')],
    algorithm: 'RS256',
    audience: AUDIENCE,
    seconds: 300,
    clockShiftSeconds: 0,
    claims: {},
    ...given,
  }
  const clients = ['portaal', 'zaaksysteem'].map((id) => ({ client_id: id, client_secret: CLIENT_SECRET }))
  let stop = async () => {}
  const start = async (changed: Partial<Settings> = {}) => {
    settings = { ...settings, ...changed }
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ port, clients, ...settings })], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: programEnv({}),
    })
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text
    })
    const ended = once(child, 'close')
    stop = async () => {
      child.kill('SIGKILL')
      await ended
    }
    const listening = Promise.withResolvers<void>()
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'listening') listening.resolve()
      else requests.push(line)
    })
    child.once('exit', () => listening.reject(new Error(`the provider ended: ${complaints}`)))
    await listening.promise
  }
  await start()
  t.teardown(() => stop())
  return {
    issuer,
    /** The paths that were asked. */
    requests,
    stop: () => stop(),
    /** Again, with other settings: other keys, a clock that is ahead, … */
    restart: async (changed: Partial<Settings> = {}) => {
      await stop()
      await start(changed)
    },
    /** An access token, as a client asks one (client credentials). */
    async token(clientId: string, more: Record<string, string> = {}): Promise<string> {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(CLIENT_SECRET)}`).toString('base64')}`,
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', ...more }),
      })
      const body = (await response.json()) as { access_token?: string }
      if (!body.access_token) throw new Error(`no token: ${JSON.stringify(body)}`)
      return body.access_token
    },
  }
}
export type TestProvider = Awaited<ReturnType<typeof startProvider>>
