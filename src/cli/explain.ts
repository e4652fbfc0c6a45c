// What a failure is to whoever started the program.

import { UnknownClient } from '../autorisaties/client-secrets.ts'
import { ClientExists } from '../autorisaties/clients.ts'
import { PackageFault } from '../catalogi/package/files.ts'
import { ConfigError } from '../config.ts'
import { Problem } from '../core/problem.ts'
import { AddressFault } from '../database/address.ts'
import { DriverUnpatched } from '../database/driver.ts'
import { SchemaBusy, SchemaError } from '../database/migrate.ts'
import { ConnectionRefused, DatabaseAway, refusalOf } from '../database/reach.ts'
import { RightsMissing } from '../database/rights.ts'
import { SessionFault } from '../database/session.ts'
import { StoreUnavailable } from '../documenten/storage/index.ts'
import { ForeignStore, SecondStore } from '../documenten/storage/owner.ts'
import { isConnectionFault } from '../jobs/pool.ts'
import { PackageMissing } from '../lib/optional-package.ts'
import { KeyMissing, WrongKey } from '../lib/wrong-key.ts'
import { OrganisationRefused } from '../organisations/refused.ts'
import { ReadOnly } from './database.ts'
import { ServiceAway, ServiceBusy, ServiceForbids, ServiceRefuses } from './service-answers.ts'
import { SetupError } from './setup.ts'
import { Interrupted, OutputLost } from './terminal.ts'
import { UsageError } from './usage.ts'

/** sysexits */
const EXIT = {
  failed: 1,
  usage: 64,
  refused: 65,
  unavailable: 69,
  output: 74,
  busy: 75,
  forbidden: 77,
  config: 78,
  interrupted: 130,
}

const CODES: [new (...given: never[]) => Error, number][] = [
  [UsageError, EXIT.usage],
  [OutputLost, EXIT.output],
  [PackageFault, EXIT.refused],
  [Interrupted, EXIT.interrupted],
  [ClientExists, EXIT.usage],
  [UnknownClient, EXIT.usage],
  [ForeignStore, EXIT.config],
  [SecondStore, EXIT.config],
  [StoreUnavailable, EXIT.unavailable],
  [ReadOnly, EXIT.unavailable],
  [ServiceAway, EXIT.unavailable],
  [ServiceForbids, EXIT.forbidden],
  [ServiceBusy, EXIT.busy],
  [ServiceRefuses, EXIT.refused],
  [ConfigError, EXIT.config],
  [OrganisationRefused, EXIT.usage],
  [SetupError, EXIT.config],
  [DriverUnpatched, EXIT.config],
  [PackageMissing, EXIT.config],
  [SchemaBusy, EXIT.failed],
  [SchemaError, EXIT.config],
  [WrongKey, EXIT.config],
  [KeyMissing, EXIT.config],
  [AddressFault, EXIT.config],
  [ConnectionRefused, EXIT.config],
  [SessionFault, EXIT.config],
  [RightsMissing, EXIT.config],
  [DatabaseAway, EXIT.unavailable],
]

/** One clear message, and an exit code to act on. */
export function explain(error: unknown): { message: string; code: number } {
  const { code, message = String(error) } = error as { code?: string; message?: string }
  for (const [kind, exit] of CODES) if (error instanceof kind) return { message, code: exit }
  if (error instanceof Problem && error.status < 500)
    return { message: error.invalidParams?.map(({ reason }) => reason).join(' ') || error.detail, code: EXIT.refused }
  if (code === '25006') return { message: new ReadOnly().message, code: EXIT.unavailable }
  const refusal = refusalOf(error)
  if (refusal) return { message: `the database: ${refusal}`, code: EXIT.config }
  if (isConnectionFault(error)) return { message: 'the database cannot be reached', code: EXIT.unavailable }
  if (code === 'EADDRINUSE') return { message: inUse(error as { port?: number }), code: EXIT.failed }
  return { message, code: EXIT.failed }
}

function inUse({ port }: { port?: number }): string {
  const names = ['METRICS_PORT', 'WORKER_HEALTH_PORT'].filter((name) => process.env[name]?.trim() === String(port))
  return `port ${port} is in use: choose another ${names.length > 0 ? names.join(' or ') : 'PORT'}`
}
