// Where the time of a run of tests goes: CPU of processes, as the system counts it, and what the tests note of themselves.
import { appendFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Seconds of CPU, by what spent them. What has ended counts for the process that waited for it. */
export type Cpu = { tests: number; programs: number; chromium: number; postgres: number }

/** What a file took, in seconds. `cpu` is that of its processes without the server that all share; nothing where no /proc tells it. */
export type Took = { name: string; wall: number; cpu: Cpu }
/** A line that a process of tests notes: seconds of making a database, or of importing a file with what it needs. */
type Note = { kind: 'database' | 'import'; seconds: number }
type Stat = { pid: number; parent: number; name: string; own: number; ended: number }

const TICKS = 100 // a second, of /proc/<pid>/stat
const MOST = 10

export const noCpu = (): Cpu => ({ tests: 0, programs: 0, chromium: 0, postgres: 0 })

/** What was spent between two looks. */
export function between(before: Cpu, after: Cpu): Cpu {
  const spent = noCpu()
  for (const kind of Object.keys(spent) as (keyof Cpu)[]) spent[kind] = Math.max(after[kind] - before[kind], 0)
  return spent
}

export const sumOf = ({ tests, programs, chromium, postgres }: Cpu): number => tests + programs + chromium + postgres

/** CPU until now of a process and of all below it; nothing where there is no /proc. */
export async function cpuOf(root: number): Promise<Cpu> {
  const cpu = noCpu()
  const names = await readdir('/proc').catch(() => [])
  const stats = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readStat))
  const byParent = Map.groupBy(
    stats.filter((stat) => stat !== undefined),
    ({ parent }) => parent,
  )
  const add = ({ pid, name, own, ended }: Stat, isRoot: boolean) => {
    const kind = kindOf(name, isRoot)
    cpu[kind] += own
    cpu[kind === 'tests' ? 'programs' : kind] += ended
    for (const child of byParent.get(pid) ?? []) add(child, false)
  }
  const stat = stats.find((stat) => stat?.pid === root)
  if (stat) add(stat, true)
  return cpu
}

function kindOf(name: string, isRoot: boolean): keyof Cpu {
  if (isRoot) return 'tests'
  if (name === 'postgres') return 'postgres'
  return /chrom|headless/i.test(name) ? 'chromium' : 'programs'
}

async function readStat(pid: string): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)/s.exec(text) ?? []
  const [, parent = '', , , , , , , , , , user, system, endedUser, endedSystem] = rest.split(' ')
  if (!parent) return undefined
  const seconds = (...ticks: (string | undefined)[]) => ticks.reduce((sum, one) => sum + Number(one), 0) / TICKS
  return {
    pid: Number(pid),
    parent: Number(parent),
    name,
    own: seconds(user, system),
    ended: seconds(endedUser, endedSystem),
  }
}

/** Notes what something took, where test/run.ts reads it. A test file that is run by itself notes nothing. */
export async function noted<T>(kind: Note['kind'], work: () => Promise<T>): Promise<T> {
  const file = process.env.TEST_PROFILE
  if (!file) return work()
  const start = performance.now()
  try {
    return await work()
  } finally {
    const note: Note = { kind, seconds: (performance.now() - start) / 1000 }
    appendFileSync(file, `${JSON.stringify(note)}\n`)
  }
}

/**
 * The profile of a run, in lines of text.
 * @param postgres seconds of CPU of the server that all share
 * @param tests with the seconds that each took
 * @param noteFile what `noted` wrote
 */
export async function profileOf(
  files: Took[],
  tests: { name: string; seconds: number }[],
  postgres: number,
  noteFile: string,
): Promise<string> {
  const lines = (await readFile(noteFile, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  const notes = lines.map((line): Note => JSON.parse(line))
  const of = (kind: Note['kind']) => notes.filter((note) => note.kind === kind)
  const total = (ones: { seconds: number }[]) => ones.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(0)
  const folders = Map.groupBy(files, ({ name }) => name.split('/').slice(0, -1).join('/'))
  const sums = [...folders].map(([name, ones]) => ({
    name: `${name} (${ones.length} files)`,
    wall: ones.reduce((sum, { wall }) => sum + wall, 0),
    cpu: together(ones),
  }))
  const cpu = together(files)
  cpu.postgres += postgres
  const slowest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, MOST)
  return [
    'seconds of files: wall, CPU of their processes, waiting (for the database and each other too)',
    ...rows(files),
    'seconds by folder',
    ...rows(sums),
    'slowest tests',
    ...slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)}  ${name}`),
    'sums',
    `  CPU ${sumOf(cpu).toFixed(0)} s: tests ${cpu.tests.toFixed(0)}, programs that they started ${cpu.programs.toFixed(0)}, Chromium ${cpu.chromium.toFixed(0)}, PostgreSQL ${cpu.postgres.toFixed(0)}`,
    `  ${of('database').length} databases made in ${total(of('database'))} s, files imported in ${total(of('import'))} s`,
  ].join('\n')
}

function together(files: Took[]): Cpu {
  const sum = noCpu()
  for (const { cpu } of files) for (const kind of Object.keys(sum) as (keyof Cpu)[]) sum[kind] += cpu[kind]
  return sum
}

const rows = (ones: Took[]) =>
  ones
    .toSorted((a, b) => b.wall - a.wall)
    .slice(0, MOST)
    .map(({ name, wall, cpu }) => {
      const figures = [wall, sumOf(cpu), Math.max(wall - sumOf(cpu), 0)]
        .map((seconds) => seconds.toFixed(0).padStart(8))
        .join('')
      return `${figures}  ${name}`
    })
