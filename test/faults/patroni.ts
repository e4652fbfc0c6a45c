// The leader of three PostgreSQL servers with Patroni is lost again and again, while clients create, read and get notifications.
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidOf } from '../app.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { until } from '../zaken/processes.ts'
import { type Cluster, startPatroni } from './patroni-cluster.ts'
import { type Answered, openScene, recover, verifyAnswers, verifyScene } from './scene.ts'

const STRIKES = {
  'the leader is lost': (cluster: Cluster) => cluster.kill('leader', 'both'),
  'PostgreSQL of the leader is killed': (cluster: Cluster) => cluster.kill('leader', 'PostgreSQL'),
  'the synchronous standby is lost': (cluster: Cluster) => cluster.kill('sync_standby', 'both'),
  'the leader hands over': (cluster: Cluster) => cluster.switchover(),
}
export type Strike = keyof typeof STRIKES
export const ALL_STRIKES: Strike[] = [
  'the leader is lost',
  'PostgreSQL of the leader is killed',
  'the leader is lost',
  'the synchronous standby is lost',
  'the leader hands over',
  'the leader is lost',
]

const RECOVERED_MS = 90_000

/** Strikes one after the other, each on a cluster that is whole again, and tells for how long nobody could write. */
export async function playPatroni(
  stage: StageLike,
  judge: JudgeLike,
  { strikes, random }: { strikes: Strike[]; random: () => number },
): Promise<void> {
  const cluster = await startPatroni(stage)
  const scene = await openScene(stage, Math.floor(random() * 2 ** 31), {
    mounts: false,
    serve: async () => ({
      url: cluster.url,
      stop: () => cluster.kill('leader', 'both'),
      start: cluster.mend,
      pids: cluster.pids,
    }),
  })
  const { load, test } = scene
  for (const strike of strikes) {
    const start = performance.now()
    await until('a good start', () => load.goodSince(start))
    await sleep(random() * 1_000) // in the middle of something
    const struck = performance.now()
    await STRIKES[strike](cluster)
    await recover(scene, performance.now(), RECOVERED_MS)
    const [gap, back] = [gapAfter(load.answers, struck), performance.now() - struck].map(inSeconds)
    stage.comment(`${strike}: nobody could write for ${gap}, all was back after ${back}`)
    await cluster.mend()
  }
  await load.pause()
  verifyAnswers(judge, load.answers, { refused: 'all', within: 15_000 })
  const isTold = load.answers.some(({ kind, status }) => kind === 'ready' && status === 503)
  judge.equal(isTold, true, 'readyz says so')
  await verifyScene(judge, scene)
  for (const one of [...scene.apis, ...scene.workers]) judge.same(one.faults, [], 'no process ended by itself')
  const acknowledged = [...load.creates, ...load.documents.map(({ answer }) => answer)].flatMap(({ status, body }) =>
    status === 201 ? [uuidOf(body.url)] : [],
  )
  const there = await test.database.sql`
    select from (select uuid from zaak union all select uuid from enkelvoudiginformatieobject) made
    where uuid = any(${acknowledged})`
  judge.equal(there.length, acknowledged.length, 'all that was acknowledged is there')
  const refused = load.answers.filter(({ status }) => status === 503).length
  stage.comment(
    `${strikes.length} strikes: ${acknowledged.length} writes acknowledged, ${acknowledged.length - there.length} of them lost; ${refused} of ${load.answers.length} requests told 503`,
  )
}

/** Milliseconds between the last write that succeeded before a strike, or just after it, and the next one. */
function gapAfter(answers: Answered[], struck: number): number {
  const moments = answers
    .filter(({ kind, status }) => (kind === 'zaak' || kind === 'document') && status === 201)
    .map(({ ended }) => ended)
    .sort((a, b) => a - b)
  return Math.max(0, ...moments.map((moment, index) => (moment > struck ? moment - (moments[index - 1] ?? struck) : 0)))
}

const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
