// Whether a process can listen where its settings say, before it begins anything.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Config, ConfigError } from '../config.ts'
import type { Role } from '../operations/metrics-server.ts'

type Port = readonly [setting: string, port: number | undefined]

/** The two ports that a process of a role may listen on, by their settings. */
const portsOf = (role: Role, { port, metricsPort, workerHealthPort }: Config): readonly [Port, Port] => [
  role === 'worker' ? ['WORKER_HEALTH_PORT', workerHealthPort] : ['PORT', port],
  ['METRICS_PORT', metricsPort],
]

/** @throws ConfigError when two settings name one port, or HOST is no address of this machine */
export async function requirePorts(config: Config, role: Role): Promise<void> {
  const [[first, one], [second, other]] = portsOf(role, config)
  const faults = one && one === other ? [`${first} and ${second} must be two ports`] : []
  const server = createServer().listen(0, config.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    faults.push(`HOST must be a name or address of this machine (${(error as { code?: string }).code})`)
  } finally {
    server.close()
  }
  if (faults.length > 0) throw new ConfigError(faults)
}
