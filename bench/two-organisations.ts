// One api for two organisations in one database. The first is reached at 127.0.0.1, and by who writes `x` as the host; the second at localhost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signToken } from '../src/autorisaties/clients.ts'
import type { SecretBox } from '../src/core/secret-box.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrateControl } from '../src/database/migrate.ts'
import { withSchema } from '../src/database/schema.ts'
import { changeOrganisations, controlUrlOf, insertOrganisation, openControl } from '../src/organisations/registry.ts'
import { SECRET } from '../test/app.ts'
import { keysOf, prepareOrganisation, ringOf } from '../test/organisations/api-many.ts'
import { callerOf, freePort, ready, type Service } from './service.ts'

const HOSTS = [['127.0.0.1', 'x'], ['localhost']]

/** What is asked of an organisation, or of a service that is for one. */
export type Served = Pick<Service, 'address' | 'call' | 'token' | 'databaseUrl'> & { box: SecretBox }
export type Two = Pick<Service, 'pid' | 'alive' | 'stop'> & { attacked: Served; measured: Served }

/** @param env on top of the settings made here; SECRET_KEY is that of the installation */
export async function startTwo(env: Record<string, string>, nodeArgs: string[]): Promise<Two> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  const embedded = await startEmbedded(join(directory, 'data'))
  const port = await freePort()
  const control = openControl(embedded.url)
  await migrateControl(controlUrlOf(embedded.url))
  const served: Served[] = []
  for (const [n, hosts] of HOSTS.entries()) {
    const [rsin, schema, dataKeys] = [String(n + 1).padStart(9, '0'), `organisation_${n + 1}`, keysOf(n)]
    const databaseUrl = withSchema(embedded.url, schema)
    await prepareOrganisation(databaseUrl, ringOf(dataKeys))
    await changeOrganisations(control, { rsin, actor: 'bench', action: 'add' }, (trx) =>
      insertOrganisation(trx, secretBox(env.SECRET_KEY ?? ''), {
        ...{ rsin, name: rsin, hosts, schema, limits: {}, databaseUrl: embedded.url, dataKeys, settings: {} },
      }),
    )
    const address = `http://${hosts[0]}:${port}`
    const token = () => signToken('beheer', SECRET)
    served.push({ address, databaseUrl, token, call: callerOf(address, token), box: ringOf(dataKeys) })
  }
  await control.close()
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=8', ...nodeArgs, join(import.meta.dirname, '../src/main.ts'), 'api'],
    {
      env: {
        ...process.env,
        ...{ DATABASE_URL: '', CONTROL_DATABASE_URL: embedded.url, DATA_DIR: join(directory, 'organisations') },
        ...{ PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` },
        ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1',
        ...env,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  await ready(child, `http://127.0.0.1:${port}`)
  const [attacked, measured] = served as [Served, Served]
  return {
    attacked,
    measured,
    pid: child.pid ?? 0,
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await embedded.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
