// A subcommand that serves until a signal: its signals, its orderly end, and parts that stop in the opposite order of their start.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { tellIgnored } from '../config/ignored.ts'
import { type Config, ConfigError } from '../config.ts'
import { isConnectionFault } from '../jobs/pool.ts'
import { filesNeeded, openFilesLimit } from '../lib/open-files.ts'
import type { Role } from '../operations/metrics-server.ts'
import { openLog } from '../telemetry/log.ts'
import { openTracing } from '../telemetry/tracing.ts'
import { readServing } from './ports.ts'
import type { Running } from './server.ts'
import { onSignal } from './signals.ts'

const STOP_LIMIT_MS = 40_000
const STOP_EARLY_MS = 5_000

/**
 * Runs a service until a signal, or until it cannot go on: the first gives exit code 0, the second 1. A signal that comes
 * more than two seconds after the first ends it at once.
 * @param role what the process is started as, for traces
 * @param required settings that this subcommand cannot do without
 */
export async function runUntilSignal(
  role: Role,
  required: ('DATABASE_URL' | 'SECRET_KEY')[],
  run: (config: Config, log: Logger) => Promise<Running>,
): Promise<void> {
  const config = await readServing(process.env, role, required)
  requireOpenFiles(config)
  const log = openLog(config.logLevel)
  for (const told of tellIgnored(process.env, role)) log.warn(told)
  process.on('unhandledRejection', (error) => {
    if (isConnectionFault(error)) return log.warn({ err: error }, 'a connection was lost')
    log.fatal({ err: error }, 'a programming error')
    log.flush(() => process.exit(1))
  })
  const signal = new Promise<string>((resolve) => {
    // A terminal that is closed sends SIGHUP: what is under way is finished then too.
    onSignal(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'], resolve)
  })
  const tracing = await openTracing(config, log, role)
  const starting = run(config, log)
  const running = await Promise.race([starting, signal.then(() => undefined)])
  if (!running) {
    log.info('stopping before everything was started')
    // What was started by now is stopped, when that is soon; nobody waits for a database that is not there.
    const stopped = starting.then(
      (late) => late.stop(),
      () => {},
    )
    await Promise.race([stopped, sleep(STOP_EARLY_MS, undefined, { ref: false })])
    return log.flush(() => process.exit(0))
  }
  const failure = await Promise.race([
    signal.then(() => undefined),
    running.failed.then((error) => error ?? new Error('stopped by itself')),
  ])
  log.info(failure ? { err: failure } : {}, failure ? 'cannot go on: stopping' : 'stopping')
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref()
  await running.stop()
  await tracing.close()
  log.info('stopped')
  log.flush(() => process.exit(failure ? 1 : 0))
}

/** @throws ConfigError when the system allows fewer open files than the process needs */
function requireOpenFiles({ databasePoolSize }: Config): void {
  const [limit, needed] = [openFilesLimit(), filesNeeded(databasePoolSize)]
  if (limit >= needed) return
  throw new ConfigError([
    `the system allows ${limit} open files, and with DATABASE_POOL_SIZE ${databasePoolSize} the process needs ${needed}: raise it (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of Docker)`,
  ])
}

/** Several things that run, stopped in the opposite order of their start, also when a later one does not start. */
export async function inOrder(
  first: Running,
  work: (add: <R extends Running>(running: R) => R) => Promise<void>,
): Promise<Running> {
  const all: Running[] = [first]
  const stop = async () => {
    for (const running of all.toReversed()) await running.stop()
  }
  try {
    await work((running) => {
      all.push(running)
      return running
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { stop, failed: Promise.race(all.map(({ failed }) => failed)) }
}
