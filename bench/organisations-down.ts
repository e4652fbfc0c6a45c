// npm run bench organisations-down: what three organisations notice of a fourth whose database is down, frozen, silent, slow, full or
// without a free connection. One api and one worker serve all four. Each round is a pair: so long with all well, and so long with the
// fault, at the same pace; the figure is the middle of what the rounds give, beside the least and the most.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { FAULTS, type Fault, givenPlace, list, MEANING, type Place, post, sizeOf } from '../test/organisations/down.ts'
import { whileStanding } from '../test/stage.ts'
import { figure } from './figures.ts'

type Sample = { posts: number[]; gets: number[]; delays: number[]; faults: number; lost: number; late: number }

/** What the round before left behind has ended by then, such as connections that are made again. */
const REST_MS = 3_000

/** `--faults stopped,slow`: which; `--rounds 5 --seconds 6`: of each; `--rate 20`: requests a second of each organisation. */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      faults: { type: 'string', default: FAULTS.join(',') },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '6' },
      rate: { type: 'string', default: '20' },
    },
  })
  const [rounds, seconds, rate] = [Number(values.rounds), Number(values.seconds), Number(values.rate)]
  await whileStanding(async (stage) => {
    const place = await givenPlace(stage)
    await load(place, 4, rate) // compiles what is used
    for (const fault of values.faults.split(',') as Fault[]) {
      const pairs: { before: Sample; during: Sample; bad: Bad }[] = []
      for (let round = 0; round < rounds; round++) {
        await sleep(REST_MS)
        const before = await load(place, seconds, rate)
        const end = await place.strike(fault)
        const during = await load(place, seconds, rate)
        await end()
        pairs.push({ before: before.others, during: during.others, bad: during.bad })
      }
      tell(fault, pairs)
    }
    const { memory, files } = await sizeOf(place.api.process.pid!)
    figure('memory and open files of the api afterwards', `${memory} MB, ${files}`)
  })
}

type Bad = { answers: Record<string, number>; longest: number; connections: number; memory: number; files: number }

/** Cases made and listed at one pace, in all organisations, whether the answers come or not. */
async function load(place: Place, seconds: number, rate: number): Promise<{ others: Sample; bad: Bad }> {
  const { api, bad, others } = place
  const found: Sample = { posts: [], gets: [], delays: [], faults: 0, lost: 0, late: 0 }
  const ofBad: Bad = { answers: {}, longest: 0, connections: 0, memory: 0, files: 0 }
  const made: { member: Place['bad']; url: string; at: number }[] = []
  const under = new Set<Promise<unknown>>()
  const track = (work: Promise<unknown>) => {
    under.add(work)
    void work.finally(() => under.delete(work))
  }
  const until = performance.now() + seconds * 1000
  for (let nth = 0; performance.now() < until; nth++) {
    const isPost = nth % 2 === 0
    for (const member of others)
      track(
        (isPost ? post(api, member) : list(api, member)).then(
          ({ status, ms, body }) => {
            if (status !== (isPost ? 201 : 200)) found.faults++
            else if (isPost) {
              found.posts.push(ms)
              made.push({ member, url: body.url, at: performance.timeOrigin + performance.now() })
            } else found.gets.push(ms)
          },
          () => {
            found.faults++
          },
        ),
      )
    track(
      (isPost ? post(api, bad) : list(api, bad)).then(
        ({ status, ms, headers }) => {
          const answer = status === 503 && !headers['retry-after'] ? '503 without Retry-After' : `${status}`
          ofBad.answers[answer] = (ofBad.answers[answer] ?? 0) + 1
          ofBad.longest = Math.max(ofBad.longest, ms)
        },
        ({ code }) => {
          ofBad.answers[code] = (ofBad.answers[code] ?? 0) + 1
        },
      ),
    )
    await sleep(1000 / rate)
    ofBad.connections = Math.max(ofBad.connections, place.connections())
  }
  Object.assign(ofBad, await sizeOf(api.process.pid!))
  await Promise.all(under)
  const late = performance.now() + 15_000
  for (const { member, url, at } of made) {
    const find = () => member.receiver.received.find(({ body }) => body.resourceUrl === url)
    while (!find() && performance.now() < late) await sleep(5)
    const message = find()
    if (message) found.delays.push(message.at - at)
    else found.lost++
  }
  for (const { receiver } of others) receiver.received.length = 0
  return { others: found, bad: ofBad }
}

const part = (all: number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN

function tell(fault: Fault, pairs: { before: Sample; during: Sample; bad: Bad }[]): void {
  const ratio = (of: 'posts' | 'gets' | 'delays', share: number) => {
    const all = pairs
      .map(({ before, during }) => part(during[of], share) / part(before[of], share))
      .sort((a, b) => a - b)
    const before = part(
      pairs.flatMap((pair) => pair.before[of]),
      share,
    )
    return `${part(all, 0.5).toFixed(2)} (${all[0]!.toFixed(2)}–${all.at(-1)!.toFixed(2)}) of ${before.toFixed(0)} ms`
  }
  const names = { posts: 'POST', gets: 'GET', delays: 'until its notification' } as const
  for (const [of, name] of Object.entries(names) as [keyof typeof names, string][])
    figure(`others, ${name}, p50 while ${MEANING[fault]}`, ratio(of, 0.5), '1.2')
  for (const [of, name] of Object.entries(names) as [keyof typeof names, string][])
    figure(`others, ${name}, p99 while ${MEANING[fault]}`, ratio(of, 0.99), '1.2')
  const sum = (of: 'faults' | 'lost') => pairs.reduce((all, { during }) => all + during[of], 0)
  figure(
    `others, errors and messages not sent, while ${MEANING[fault]}`,
    `${sum('faults')} and ${sum('lost')}`,
    '0 and 0',
  )
  const answers: Record<string, number> = {}
  for (const { bad } of pairs)
    for (const [name, count] of Object.entries(bad.answers)) answers[name] = (answers[name] ?? 0) + count
  const most = (of: 'longest' | 'connections' | 'memory' | 'files') => Math.max(...pairs.map(({ bad }) => bad[of]))
  figure(
    `its own answers while ${MEANING[fault]}`,
    `${Object.entries(answers)
      .map(([name, count]) => `${count} × ${name}`)
      .join(
        ', ',
      )}; the longest after ${(most('longest') / 1000).toFixed(1)} s; at most ${most('connections')} connections; api ${most('memory')} MB, ${most('files')} files`,
  )
}
