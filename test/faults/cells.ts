// The faults, one function each: it strikes, and returns what ends the fault (`recover` counts from there).
import { execFile } from 'node:child_process'
import { open, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { type Answer, accept } from '../../bench/receiver.ts'
import { ODD, setForDatabase } from '../database/odd.ts'
import { noPrograms } from '../database/servers.ts'
import { playRestore } from '../documenten/backups.ts'
import { withPath } from '../with-path.ts'
import { playKeys } from '../zaken/keys.ts'
import { playAlone } from './alone.ts'
import { noClocks, playAhead, playSetBack } from './clocks.ts'
import { strikeCounts } from './counts.ts'
import { ALL_STRIKES, playPatroni } from './patroni.ts'
import { noPatroni } from './patroni-cluster.ts'
import { RACES } from './races.ts'
import { RECEIVERS } from './receivers.ts'
import { REFUSALS } from './refusals.ts'
import type { Cell, Scene } from './scene.ts'
import { startTogether } from './together.ts'
import { playTwoPrimaries } from './two-primaries.ts'

const sh = promisify(execFile)

const NOTHING = async () => {}
const DOCUMENTS = { refused: ['document', 'download', 'ready'] } as const
const pick = <T>(scene: Scene, items: T[]): T => items[Math.floor(scene.random() * items.length)]!

export const CELLS: Cell[] = [
  // ---- processes ----
  {
    name: 'an api is killed',
    lasts: 0,
    allowed: { cut: true },
    strike: async (s) => {
      pick(s, s.apis).kill('SIGKILL')
      return NOTHING
    },
  },
  {
    name: 'a worker is killed',
    lasts: 0,
    allowed: {},
    strike: async (s) => {
      pick(s, s.workers).kill('SIGKILL')
      return NOTHING
    },
  },
  {
    name: 'everything is killed at once',
    lasts: 0,
    allowed: { cut: true },
    strike: async (s) => {
      for (const one of [...s.apis, ...s.workers]) one.kill('SIGKILL')
      return NOTHING
    },
  },
  {
    name: 'an api is stopped',
    lasts: 0,
    allowed: { cut: true, refused: ['ready'] },
    strike: async (s) => {
      await pick(s, s.apis).restart()
      return NOTHING
    },
  },
  {
    name: 'a worker is stopped',
    lasts: 0,
    allowed: {},
    strike: async (s) => {
      await pick(s, s.workers).restart()
      return NOTHING
    },
  },
  {
    name: 'an api is frozen',
    lasts: 6_000,
    allowed: { refused: 'all', within: 15_000 },
    strike: async (s) => freeze([pick(s, s.apis).pid()!]),
  },
  {
    name: 'a worker is frozen until others take over',
    lasts: 28_000,
    allowed: {},
    strike: async (s) => freeze([pick(s, s.workers).pid()!]),
  },
  {
    name: 'two of everything start at once on an empty database',
    lasts: 0,
    allowed: {},
    strike: async (scene, judge) => {
      await startTogether(scene, judge)
      return NOTHING
    },
  },
  {
    name: 'ten thousand keys are used while processes and connections end',
    lasts: 0,
    allowed: {},
    strike: async ({ stage, random }, judge) => {
      const creates = Number(process.env.KILL_CREATES ?? 10_000)
      await playAlone(stage, (own) => playKeys(own, judge, { creates, random }))
      return NOTHING
    },
  },
  // ---- the database ----
  {
    name: 'transactions fail, much is loaded at once, and all is restored elsewhere',
    lasts: 0,
    allowed: { refused: 'all' },
    strike: async (scene, judge) => {
      await strikeCounts(scene, judge)
      return NOTHING
    },
  },
  ...(['immediate', 'fast'] as const).map(
    (how): Cell => ({
      name: how === 'immediate' ? 'PostgreSQL is killed' : 'PostgreSQL is stopped',
      lasts: 5_000,
      allowed: { refused: 'all' },
      shows: true,
      strike: async ({ server }) => {
        await server.stop(how)
        return () => server.start()
      },
    }),
  ),
  {
    name: 'PostgreSQL is restarted',
    lasts: 0,
    allowed: { refused: 'all' },
    strike: async ({ server }) => {
      await server.stop('fast')
      await server.start()
      return NOTHING
    },
  },
  ...REFUSALS,
  {
    name: 'PostgreSQL is frozen',
    lasts: 6_000,
    allowed: { refused: 'all', cut: true, within: 15_000 },
    strike: async ({ server }) => freeze(await server.pids()),
  },
  // Connections stay open and nothing comes on them: nobody waits longer than ten seconds over the bound of a statement.
  {
    name: 'half-open: PostgreSQL is frozen for longer than anybody waits',
    lasts: 30_000,
    allowed: { refused: 'all', cut: true, within: 25_000 },
    shows: true,
    strike: async ({ server }) => freeze(await server.pids()),
  },
  {
    name: 'half-open: each second connection to PostgreSQL is frozen',
    lasts: 20_000,
    allowed: { refused: 'all', cut: true, within: 40_000 },
    strike: async ({ server }) => {
      const sql = postgres(server.url, { max: 1, onnotice: () => {} })
      const backends = await sql<{ pid: number }[]>`select pid from pg_stat_activity
        where backend_type = 'client backend' and application_name like 'zaakstroom %' order by pid`
      await sql.end()
      return freeze(backends.flatMap(({ pid }, index) => (index % 2 === 0 ? [pid] : [])))
    },
  },
  {
    name: 'PostgreSQL has no connections left',
    lasts: 5_000,
    allowed: { refused: 'all' },
    strike: async ({ server }) => {
      const taken: postgres.Sql[] = []
      let left = true
      while (left) {
        const sql = postgres(server.url, { max: 1, onnotice: () => {} })
        left = await sql`select 1`.then(
          () => true,
          () => false,
        )
        if (left) taken.push(sql)
        else await sql.end({ timeout: 0 })
      }
      return () => Promise.all(taken.map((sql) => sql.end({ timeout: 0 })))
    },
  },
  {
    name: 'all connections to PostgreSQL are ended every second',
    lasts: 8_000,
    allowed: { refused: 'all' },
    strike: async ({ server }) => {
      const sql = postgres(server.url, { max: 1, onnotice: () => {} })
      let over = false
      const ending = (async () => {
        while (!over) {
          await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
          await sleep(1000)
        }
        await sql.end()
      })()
      return () => {
        over = true
        return ending
      }
    },
  },
  {
    name: 'the table of cases is locked',
    lasts: 30_000,
    // Who waits for a lock is refused after ten seconds.
    allowed: { refused: 'all', within: 15_000 },
    strike: async ({ server }) => {
      const sql = postgres(withPath(server.url), { max: 1, onnotice: () => {} })
      const held = await sql.reserve()
      await held`begin`
      await held`lock table zaak in access exclusive mode`
      return async () => {
        await held`rollback`
        held.release()
        await sql.end()
      }
    },
  },
  {
    name: 'PostgreSQL is read-only',
    lasts: 5_000,
    allowed: { refused: 'all' },
    shows: true,
    strike: async ({ server }) => {
      const sql = postgres(server.url, {
        max: 1,
        onnotice: () => {},
        connection: { default_transaction_read_only: 'off' as never },
      })
      const set = async (value: string) => {
        await sql.unsafe(`alter database zaakstroom set default_transaction_read_only = ${value}`)
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
      }
      await set('on')
      return async () => {
        await set('off')
        await sql.end()
      }
    },
  },
  {
    name: 'postgres-settings: the database has odd settings for new sessions',
    lasts: 8_000,
    allowed: { refused: 'all', cut: true },
    strike: async ({ server }) => {
      const end = async () => {
        const sql = postgres(server.url, { max: 1, onnotice: () => {}, fetch_types: false })
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like 'zaakstroom %' and pid <> pg_backend_pid()`
        await sql.end()
      }
      await setForDatabase(server.url, ODD)
      await end()
      return async () => {
        await setForDatabase(server.url, Object.fromEntries(Object.keys(ODD).map((name) => [name, null])))
        await end()
      }
    },
  },
  {
    name: 'the disk of PostgreSQL is full',
    lasts: 6_000,
    allowed: { refused: 'all' },
    mounted: true,
    strike: async (scene) => {
      const free = await fill(join(scene.store, '../data'))
      return async () => {
        await free()
        // What could not write its journal has ended, as PostgreSQL does; a supervisor starts it again.
        const lives = await scene.test.database.sql`select 1`.then(
          () => true,
          () => false,
        )
        if (!lives) await scene.server.start()
      }
    },
  },
  {
    name: 'the old primary comes back after a failover',
    lasts: 0,
    allowed: {},
    without: noPrograms,
    strike: async ({ stage }, judge) => {
      await playTwoPrimaries(stage, judge)
      return NOTHING
    },
  },
  {
    name: 'patroni: the leader of three servers is lost',
    lasts: 0,
    allowed: {},
    without: noPatroni,
    strike: async ({ stage, load, random }, judge) => {
      await load.pause() // what is measured has the machine for itself
      await playAlone(stage, (own) => playPatroni(own, judge, { strikes: ALL_STRIKES, random })).finally(load.resume)
      return NOTHING
    },
  },
  // ---- clocks ----
  {
    name: 'the clocks are set back by two hours',
    lasts: 0,
    allowed: {},
    without: noClocks,
    strike: async ({ stage }, judge) => {
      await playSetBack(stage, judge)
      return NOTHING
    },
  },
  {
    name: 'the clocks are ten days ahead for a while',
    lasts: 0,
    allowed: {},
    without: noClocks,
    strike: async ({ stage }, judge) => {
      await playAhead(stage, judge)
      return NOTHING
    },
  },
  // ---- the documents ----
  {
    name: 'the storage is gone',
    lasts: 4_000,
    allowed: DOCUMENTS,
    shows: true,
    mounted: true,
    strike: async ({ store }) => {
      // What is mounted cannot be renamed; another empty file system on top of it is what an operator sees too.
      await sh('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', store])
      return () => sh('umount', ['--lazy', store])
    },
  },
  {
    name: 'the storage is read-only',
    lasts: 4_000,
    allowed: { refused: ['document'] },
    shows: 'degraded',
    mounted: true,
    strike: async ({ store }) => {
      const remount = async (mode: string) => {
        for (let tries = 0; ; tries++) {
          const done = await sh('mount', ['-o', `remount,${mode}`, store]).then(
            () => true,
            () => false,
          )
          if (done) return
          if (tries > 500) throw new Error(`the store cannot be made ${mode}`)
          await sleep(2) // busy as long as a file is being written
        }
      }
      await remount('ro')
      return () => remount('rw')
    },
  },
  {
    name: 'the storage is full',
    lasts: 4_000,
    allowed: { refused: ['document'] },
    shows: 'degraded',
    mounted: true,
    strike: async ({ store }) => fill(store),
  },
  {
    name: 'the marker of the storage is missing',
    lasts: 4_000,
    allowed: DOCUMENTS,
    shows: true,
    strike: async ({ store }) => {
      await rename(join(store, '.zaakstroom'), join(store, '.away'))
      return () => rename(join(store, '.away'), join(store, '.zaakstroom'))
    },
  },
  {
    name: 'a backup that was made under load is restored elsewhere',
    lasts: 0,
    allowed: {},
    without: noPrograms,
    strike: async ({ stage }, judge) => {
      await playRestore(stage, judge)
      return NOTHING
    },
  },
  // ---- the receiver ----
  {
    name: 'the receiver is down',
    lasts: 6_000,
    allowed: {},
    strike: async ({ receiver }) => {
      await receiver.stop()
      return receiver.start
    },
  },
  receiverCell('answers 500', (response) => response.writeHead(500).end()),
  receiverCell('redirects', (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' }).end()),
  receiverCell('never answers', () => {}),
  receiverCell('is slow', (response, received, request) => {
    setTimeout(() => accept(response, received, request), 1_000)
  }),
  receiverCell('drips', (response) => {
    response.writeHead(201, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 200)
    response.once('close', () => clearInterval(timer))
  }),
  receiverCell('answers without end', (response) => {
    response.writeHead(500, { 'content-type': 'application/json' })
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    }
    response.on('drain', more)
    more()
  }),
  receiverCell('ends connections', (response) => response.socket?.destroy()),
  ...RECEIVERS,
  ...RACES,
]

/** What it received meanwhile it did not take: only what it takes afterwards counts. */
function receiverCell(name: string, answer: Answer): Cell {
  return {
    name: `the receiver ${name}`,
    lasts: 5_000,
    allowed: {},
    strike: async ({ receiver }) => {
      receiver.answer = answer
      return async () => {
        receiver.answer = accept
      }
    },
  }
}

/** Stops processes, also when some end meanwhile: of these there is nothing left to stop. */
export async function freeze(pids: number[]): Promise<() => Promise<void>> {
  const frozen: number[] = []
  const thaw = async () => {
    for (const pid of frozen.splice(0).toReversed()) signal(pid, 'SIGCONT')
  }
  try {
    for (const pid of pids) if (signal(pid, 'SIGSTOP')) frozen.push(pid)
  } catch (error) {
    await thaw()
    throw error
  }
  return thaw
}

/** Whether the process was there to get it. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

/** Leaves no room in a file system. */
async function fill(directory: string): Promise<() => Promise<void>> {
  const file = join(directory, 'filler')
  const handle = await open(file, 'w')
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize > 4 * 2 ** 30) throw new Error(`${directory} is no file system of its own`)
  try {
    for (;;) await handle.write(Buffer.alloc(65_536))
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  } finally {
    await handle.close()
  }
  return () => rm(file)
}
