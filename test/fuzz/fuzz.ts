// Sends requests that are drawn from a seed, judges what comes back, and keeps asking something good in between.
import * as fc from 'fast-check'
import { Pool } from 'undici'
import { signToken } from '../../src/autorisaties/clients.ts'
import { BASE, SECRET } from '../app.ts'
import { type Ask, drawAsk } from './ask.ts'
import { ANSWER_MS, type Answer, makeJudge } from './judge.ts'
import { forget, learn, makeOne, type World } from './world.ts'

export type Fault = { what: string; seed: number; ask: string; answer: string }
export type Report = {
  requests: number
  statuses: Map<number, number>
  /** By kind: the same fault of the same operation is told once. */
  faults: Map<string, Fault & { count: number }>
  /** Operations that were answered 2xx at least once, and those that never were. */
  reached: string[]
  missed: string[]
  /** Of the good request in between, in milliseconds. */
  good: { count: number; slowest: number; p99: number }
}

const BATCH = 32 // requests between two good ones
const RENEW = 100 // requests after which one more resource of some kind is made whole

/**
 * @param options.lanes requests at the same time; with 1 a seed repeats a run exactly
 * @param options.address of the service, which works on the database of the world
 * @param options.ended when the service is taken down: nothing is asked or judged any more
 */
export async function fuzz(
  world: World,
  options: {
    address: string
    seed: number
    requests: number
    lanes: number
    tell?: (line: string) => void
    ended?: AbortSignal
  },
): Promise<Report> {
  const { address, seed, requests, lanes, tell, ended } = options
  const pool = new Pool(address, { connections: lanes + 1, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS })
  const judge = makeJudge(world)
  // Deletes are asked less often than the rest, or little would be left to ask about.
  const operations = world.operations.flatMap((one) => (one.method === 'DELETE' ? [one] : [one, one, one, one]))
  const statuses = new Map<number, number>()
  const faults: Report['faults'] = new Map()
  const reached = new Set<string>()
  const good: number[] = []

  const note = (what: string, at: number, ask: Ask | undefined, answer: Answer) => {
    if (ended?.aborted) return
    const key = `${ask?.operation.name ?? 'the good request'}: ${what}`
    const known = faults.get(key)
    if (known) known.count++
    else {
      const request = ask ? tellAsk(ask) : GOOD
      faults.set(key, { what: key, seed: at, ask: request, answer: answer.text.slice(0, 1000), count: 1 })
      tell?.(`FAULT (seed ${at}) ${key}\n  ${request}\n  ${answer.text.slice(0, 300)}`)
    }
  }
  const one = async (at: number) => {
    const [g] = fc.sample(fc.gen(), { seed: at, numRuns: 1 })
    const ask = drawAsk(world, operations[(at >>> 0) % operations.length]!, g!)
    const answer = await send(pool, ask.method, ask.path, ask.headers, ask.body)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const fault = judge(ask, answer)
    if (fault) note(fault, at, ask, answer)
    if (ask.method !== ask.operation.method || answer.status >= 300 || answer.status === 0) return
    reached.add(ask.operation.name)
    if (ask.method === 'DELETE') forget(world, ask.path.split('?', 1)[0]!)
    else if (/json/.test(answer.type) && answer.text) {
      const body = JSON.parse(answer.text)
      learn(world, body, ask.method === 'POST' ? ask.json : undefined)
      // A list of an audit trail names its members by uuid only, a lock its document not at all.
      const path = ask.path.split('?', 1)[0]!
      if (path.endsWith('/audittrail') && body[0]?.uuid) learn(world, [`${BASE}${path}/${body[0].uuid}`])
      if (path.endsWith('/lock') && body.lock)
        learn(world, { url: BASE + path.slice(0, -'/lock'.length), lock: body.lock })
    }
  }

  let next = 0
  let renewed = 0
  const lane = async () => {
    for (let n = next++; n < requests && !ended?.aborted; n = next++) {
      await one(seed + n)
      if (n % BATCH === BATCH - 1) {
        const answer = await send(pool, 'GET', GOOD, {
          authorization: `Bearer ${signToken('beheer', SECRET)}`,
          'accept-crs': 'EPSG:4326',
        })
        good.push(answer.ms)
        if (answer.status !== 200) note(`${answer.status} after what came before`, seed + n, undefined, answer)
      }
      if (n % RENEW === RENEW - 1 && !ended?.aborted) await renew(world, world.lines[renewed++ % world.lines.length]!)
      if (tell && n % 5000 === 4999)
        tell(`${n + 1} requests, ${faults.size} faults, ${reached.size} operations reached`)
    }
  }
  try {
    await Promise.all(Array.from({ length: lanes }, lane))
  } catch (error) {
    if (!ended?.aborted) throw error // the database may be gone already
  }
  await pool.destroy()
  good.sort((a, b) => a - b)
  return {
    requests,
    statuses,
    faults,
    reached: [...reached].sort(),
    missed: world.operations.map(({ name }) => name).filter((name) => !reached.has(name)),
    good: { count: good.length, slowest: good.at(-1) ?? 0, p99: good[Math.floor(good.length * 0.99)] ?? 0 },
  }
}

/** One more resource of this kind. The types that it needs may have been changed or deleted by what was asked: then with new ones. */
async function renew(world: World, line: World['lines'][number]): Promise<void> {
  await makeOne(world, line).catch(() => {
    world.test = { ...world.test } // the lines keep their types by this object
    return makeOne(world, line)
  })
}

const GOOD = '/zaken/api/v1/zaken?pageSize=1'

async function send(
  pool: Pool,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Answer> {
  const began = performance.now()
  try {
    const response = await pool.request({ method: method as 'GET', path, headers, ...(body !== undefined && { body }) })
    const text = await response.body.text()
    const type = String(response.headers['content-type'] ?? '')
    return { status: response.statusCode, type, text, ms: performance.now() - began }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { status: 0, type: '', text: code ?? message, ms: performance.now() - began }
  }
}

/** The request as it can be repeated by hand; the token of the fuzzer is left out. */
function tellAsk({ method, path, headers, body }: Ask): string {
  const shown = Object.entries(headers).filter(([, value]) => !/^Bearer .{100}/.test(value))
  return `${method} ${path} ${JSON.stringify(Object.fromEntries(shown))} ${String(body ?? '').slice(0, 2000)}`
}
