// Whether a process can listen where its settings say, before it begins anything.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { readEnvironment, type SettingValues } from '../config/environment.ts'
import { type Config, ConfigError, readConfig } from '../config.ts'
import type { Role } from '../operations/metrics-server.ts'

type Port = readonly [setting: string, port: number | undefined]
type Listens = Pick<SettingValues, 'host' | 'port' | 'metricsPort' | 'workerHealthPort'>

/**
 * The settings of a process that listens.
 * @throws ConfigError that lists all faults at once, also of where it is to listen
 */
export async function readServing(
  env: NodeJS.ProcessEnv,
  role: Role,
  required: Parameters<typeof readConfig>[1] = [],
): Promise<Config> {
  const faults = await portFaults(readEnvironment(env).values, role)
  let config: Config | undefined
  try {
    config = readConfig(env, required)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    faults.unshift(...error.faults)
  }
  if (!config || faults.length > 0) throw new ConfigError(faults)
  return config
}

/** The two ports that a process of a role may listen on, by their settings. */
const portsOf = (role: Role, { port, metricsPort, workerHealthPort }: Listens): readonly [Port, Port] => [
  role === 'worker' ? ['WORKER_HEALTH_PORT', workerHealthPort] : ['PORT', port],
  ['METRICS_PORT', metricsPort],
]

/** Two settings that name one port, and a HOST that is no address of this machine. */
async function portFaults(values: Listens, role: Role): Promise<string[]> {
  const [[first, one], [second, other]] = portsOf(role, values)
  const faults = one && one === other ? [`${first} and ${second} must be two ports`] : []
  const server = createServer().listen(0, values.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    faults.push(`HOST must be a name or address of this machine (${(error as { code?: string }).code})`)
  } finally {
    server.close()
  }
  return faults
}
