#!/usr/bin/env -S node --max-semi-space-size=8

import { readFile, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import type { Logger } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { listClients, revokeSecret, rotateSecret, UnknownClient } from './autorisaties/client-secrets.ts'
import { ClientExists, createClient, tokenFor } from './autorisaties/clients.ts'
import { generateSecret, isShort, type SecretBox } from './autorisaties/secret-box.ts'
import { requireKey } from './autorisaties/secret-key.ts'
import { WrongKey } from './autorisaties/wrong-key.ts'
import { addAccountCommands } from './cli/accounts.ts'
import {
  findSecretBox,
  openServer,
  type Running,
  runApi,
  runMetrics,
  runWorker,
  runWorkerHealth,
} from './cli/processes.ts'
import { applySetup, readSetup, SetupError } from './cli/setup.ts'
import { addStorageCommands } from './cli/storage.ts'
import { addTakeoverCommands } from './cli/takeover.ts'
import { type Config, ConfigError, describeConfig, readConfig, SECRETS } from './config.ts'
import { type Database, openDatabase, type ReadDb } from './database/database.ts'
import { DriverUnpatched, requirePatchedDriver } from './database/driver.ts'
import { DataDirHeld } from './database/embedded.ts'
import { migrate, SchemaError } from './database/migrate.ts'
import { mutator } from './database/mutate.ts'
import { StoreUnavailable } from './documenten/storage/index.ts'
import { systemActor } from './http/access.ts'
import { ownAddress } from './http/links.ts'
// The program: picks the subcommand, and ends orderly on a signal.
import { isUuid } from './http/uuid.ts'
import { isConnectionFault } from './jobs/worker.ts'
import { GeenDienst, KANALEN, registerKanalen, testNotificatie } from './notificaties/kanalen.ts'
import { resendFailed } from './notificaties/resend.ts'
import { openServices } from './services/services.ts'
import { openLog } from './telemetry/log.ts'

const EXIT_USAGE = 64 // sysexits: what the caller asked is not possible
const EXIT_UNAVAILABLE = 69
const EXIT_CONFIG = 78

const program = new Command('zaakstroom')
  .description('Case and document service for the Dutch ZGW APIs.')
  .version(packageJson.version)
  .showHelpAfterError('(zaakstroom --help shows what there is)')
  .addHelpText(
    'after',
    `
Examples:
  zaakstroom start                                  everything in one process, with its own database in ./data
  zaakstroom client create --id portaal --all-rights
  curl -H "Authorization: Bearer $(zaakstroom token --id portaal)" \\
    http://127.0.0.1:8000/catalogi/api/v1/catalogussen
  DATABASE_URL=postgres://… SECRET_KEY=… zaakstroom api

Settings, from the environment:
${describeConfig()}

  A secret may stand in a file: ${SECRETS.map((name) => `${name}_FILE`).join(',\n  ')}.

Exit codes: 0 done, 1 failed, 64 wrong usage, 69 database not available, 78 wrong configuration.`,
  )

program.hook('preAction', () => requirePatchedDriver())

program
  .command('start')
  .description('api and worker in one process; prepares the database first')
  .action(() =>
    runUntilSignal([], async (config, log) => {
      const box = await findSecretBox(config, true)
      const server = await openServer(config, log, true)
      return inOrder(server, async (add) => {
        await migrate(server.url)
        add(await runWorker(config, server.url, log))
        const api = add(await runApi(config, server.url, box, log, { alone: true }))
        add(await runMetrics(config, server.url, log))
        log.info({ address: api.address }, 'started')
      })
    }),
  )

program
  .command('api')
  .description('only the HTTP side (needs DATABASE_URL and SECRET_KEY)')
  .action(() =>
    runUntilSignal(['DATABASE_URL', 'SECRET_KEY'], async (config, log) => {
      const api = await runApi(config, config.databaseUrl!, await findSecretBox(config, false), log)
      return inOrder(api, async (add) => {
        add(await runMetrics(config, config.databaseUrl!, log))
        log.info({ address: api.address }, 'started')
      })
    }),
  )

program
  .command('worker')
  .description('only the jobs (needs DATABASE_URL and SECRET_KEY)')
  .action(() =>
    runUntilSignal(['DATABASE_URL', 'SECRET_KEY'], async (config, log) => {
      const worker = await runWorker(config, config.databaseUrl!, log)
      return inOrder(worker, async (add) => {
        add(await runMetrics(config, config.databaseUrl!, log))
        if (config.workerHealthPort !== undefined)
          add(await runWorkerHealth(config.workerHealthPort, config.host, worker))
        log.info('started')
      })
    }),
  )

program
  .command('migrate')
  .description('bring the database to the schema of this version')
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    const config = readConfig(process.env)
    const server = await openServer(config, openLog(config.logLevel))
    try {
      const applied = await migrate(server.url)
      print(options, { applied }, applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
    } finally {
      await server.stop()
    }
  })

program
  .command('demo')
  .description('import 2,000 files into a throw-away service and check the outcome')
  .option('--keep', 'leave the service running and print a token and curl lines', false)
  .action(async (options: { keep: boolean }) => {
    const { demo } = await import('./cli/demo.ts')
    const interrupted = new AbortController()
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => interrupted.abort())
    process.exitCode = (await demo({ keep: options.keep, signal: interrupted.signal })) ? 0 : 1
  })

const client = program.command('client').description('applications that may use the APIs')
client
  .command('create')
  .description('make a client; prints its secret once')
  .requiredOption('--id <id>', 'client id, at most 50 characters')
  .option('--label <label>', 'name for people (default: the id)')
  .option('--all-rights', 'heeftAlleAutorisaties', false)
  .option('--secret-stdin', 'read the secret from standard input instead of making one')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nExample:\n  openssl rand -hex 32 | zaakstroom client create --id portaal --label Portaal --all-rights --secret-stdin',
  )
  .action(
    async (options: { id: string; label?: string; allRights: boolean; secretStdin?: boolean; json?: boolean }) => {
      if (options.id.length > 50) throw new UsageError('--id has at most 50 characters')
      const secret = options.secretStdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : generateSecret()
      if (secret === '') throw new UsageError('the secret on standard input is empty')
      await withDatabase(async (database, config) => {
        const box = await databaseBox(database, config, true)
        const made = {
          id: options.id,
          label: options.label ?? options.id,
          alleAutorisaties: options.allRights,
          secret,
        }
        await createClient(database, box, made, config)
      })
      if (isShort(secret)) console.error(SHORT_SECRET)
      const shown = options.secretStdin ? {} : { secret }
      print(
        options,
        { clientId: options.id, ...shown },
        options.secretStdin
          ? `Client ${options.id} made.`
          : `Client ${options.id} made. Its secret, shown only now:\n${secret}`,
      )
    },
  )

client
  .command('rotate')
  .description('give a client a new secret, printed once; the old one is taken a while longer')
  .requiredOption('--id <id>', 'client id')
  .option('--grace-hours <hours>', 'how long the old secret is still taken', '24')
  .option('--secret-stdin', 'read the secret from standard input instead of making one')
  .option('--json', 'print JSON')
  .action(async (options: { id: string; graceHours: string; secretStdin?: boolean; json?: boolean }) => {
    const graceHours = Number(options.graceHours)
    if (!(graceHours >= 0 && graceHours <= 8760)) throw new UsageError('--grace-hours is a number from 0 to 8760')
    const given = options.secretStdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : undefined
    if (given === '') throw new UsageError('the secret on standard input is empty')
    const secret = await withDatabase(async (database, config) => {
      const box = await databaseBox(database, config, false)
      return mutator(database)(systemActor('client rotate', ownAddress(config)), (m) =>
        rotateSecret(m, box, options.id, { graceHours, ...(given !== undefined && { secret: given }) }),
      )
    })
    if (isShort(secret)) console.error(SHORT_SECRET)
    print(
      options,
      { clientId: options.id, ...(given === undefined && { secret }) },
      given === undefined
        ? `Client ${options.id} has a new secret, shown only now:\n${secret}`
        : `Client ${options.id} has a new secret.`,
    )
  })
client
  .command('revoke')
  .description('take the secrets of a client away: its tokens are refused at once')
  .requiredOption('--id <id>', 'client id')
  .option('--old', 'only the older ones, after a rotation', false)
  .option('--json', 'print JSON')
  .action(async (options: { id: string; old: boolean; json?: boolean }) => {
    const revoked = await withDatabase((database, config) =>
      mutator(database)(systemActor('client revoke', ownAddress(config)), (m) =>
        revokeSecret(m, options.id, options.old ? 'oud' : 'alle'),
      ),
    )
    print(options, { clientId: options.id, revoked }, `Client ${options.id} lost ${revoked} secret(s).`)
  })
client
  .command('list')
  .description('the clients, their rights and how many secrets they have')
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    const clients = await withDatabase((database) => listClients(database.db))
    const line = ({ clientId, label, heeftAlleAutorisaties, aantalAutorisaties, geheimen }: (typeof clients)[number]) =>
      `${clientId}\t${label}\t${heeftAlleAutorisaties ? 'all rights' : `${aantalAutorisaties} rights`}\t${geheimen.length} secrets`
    print(options, clients, clients.map(line).join('\n') || 'There are no clients.')
  })

const SHORT_SECRET = 'Note: a secret of fewer than 32 characters is easy to guess.'

program
  .command('token')
  .description('print a token of a client, for use with curl')
  .requiredOption('--id <id>', 'client id')
  .option('--user-id <id>', 'claim user_id', '')
  .option('--user-name <name>', 'claim user_representation', '')
  .option('--json', 'print JSON')
  .action(async (options: { id: string; userId: string; userName: string; json?: boolean }) => {
    const token = await withDatabase(async (database, config) =>
      tokenFor(database, await databaseBox(database, config), options.id, {
        id: options.userId,
        name: options.userName,
      }),
    )
    if (!token) throw new UsageError(`there is no client ${options.id} with a secret`)
    print(options, { token }, token)
  })

const notifications = program.command('notifications').description('the notifications service that changes are told to')
notifications
  .command('register-channels')
  .description('make or update our channels at the notifications service')
  .argument('[names...]', 'only these channels')
  .option('--json', 'print JSON')
  .action(async (names: string[], options: { json?: boolean }) => {
    const unknown = names.filter((name) => !KANALEN.some(({ naam }) => naam === name))
    if (unknown.length > 0) throw new UsageError(`there is no channel ${unknown.join(', ')}`)
    const results = await withDatabase(async (database, config) =>
      registerKanalen(
        { database, config, box: await databaseBox(database, config) },
        names.length > 0 ? names : undefined,
      ),
    )
    const lines = results.map(({ naam, gelukt, reden }) =>
      `${gelukt ? 'ok      ' : 'FAILED  '}${naam}  ${reden}`.trimEnd(),
    )
    print(options, results, lines.join('\n'))
    if (results.some(({ gelukt }) => !gelukt)) process.exitCode = 1
  })
notifications
  .command('test')
  .description('send a test message, and say at which stage it fails if it does')
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    const stages = await withDatabase(async (database, config) =>
      testNotificatie({ database, config, box: await databaseBox(database, config) }),
    )
    const lines = stages.map(({ stage, outcome, detail }) =>
      `${stage.padEnd(7)}${outcome.padEnd(8)}${detail}`.trimEnd(),
    )
    print(options, stages, lines.join('\n'))
    if (stages.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
  })
notifications
  .command('resend')
  .description('give failed messages all their attempts anew: those named, or all within a window of time')
  .argument('[ids...]', 'ids of messages')
  .option('--from <moment>', 'made at or after this moment (ISO 8601)')
  .option('--to <moment>', 'made before this moment (default: now)')
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  zaakstroom notifications resend --from 2026-03-02T08:00:00Z')
  .action(async (ids: string[], options: { from?: string; to?: string; json?: boolean }) => {
    if (ids.length > 0 === (options.from !== undefined)) throw new UsageError('give either ids or --from')
    const [van, tot] = [options.from, options.to ?? new Date().toISOString()].map((moment) => new Date(moment ?? 0))
    if (Number.isNaN(van!.getTime()) || Number.isNaN(tot!.getTime()))
      throw new UsageError('a moment is written as 2026-03-02T08:00:00Z')
    if (ids.some((id) => !isUuid(id))) throw new UsageError('an id is a uuid')
    const selectie = ids.length > 0 ? { uuids: ids } : { van: van!.toISOString(), tot: tot!.toISOString() }
    const resent = await withDatabase((database) =>
      mutator(database)(systemActor('notifications resend'), (m) => resendFailed(m, selectie)),
    )
    print(options, { resent }, `${resent} messages will be sent again.`)
  })

program
  .command('setup')
  .description('services, settings of notifications and applications from a file')
  .command('apply')
  .description('bring them to what the file says, all of it or nothing; again: changes nothing')
  .argument('<file>', 'YAML or JSON; what it writes as $NAME in braces comes from the environment')
  .option('--json', 'print JSON')
  .action(async (file: string, options: { json?: boolean }) => {
    const setup = await readSetup(file, process.env).catch((error) => {
      throw (error as { code?: string }).code === 'ENOENT' ? new UsageError(`there is no file ${file}`) : error
    })
    const applied = await withDatabase(async (database, config) =>
      applySetup(database, await databaseBox(database, config, true), config, setup),
    )
    const changed = [
      ...applied.services.map((slug) => `service ${slug}`),
      ...(applied.notifications ? ['notifications'] : []),
      ...applied.applicaties.map((label) => `applicatie ${label}`),
    ]
    print(options, applied, changed.length > 0 ? `Changed: ${changed.join(', ')}.` : 'Nothing to change.')
  })

addStorageCommands(program, withDatabase)
addAccountCommands(program, withDatabase, (message) => new UsageError(message))
addTakeoverCommands(program, withDatabase, (message) => new UsageError(message))

const catalogus = program.command('catalogus').description('catalogues and zaaktypen as ZIP files')
catalogus
  .command('export')
  .description('write a catalogue, or one version of a zaaktype with what belongs to it, to a ZIP file')
  .argument('<file>', 'ZIP file to write')
  .option('--catalogus <uuid>', 'uuid of the catalogue')
  .option('--zaaktype <uuid>', 'uuid of the zaaktype')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nExample:\n  zaakstroom catalogus export typen.zip --catalogus 7c0f3a52-4d6e-4c6f-9a39-0b6f5a4f5f0e',
  )
  .action(async (file: string, options: { catalogus?: string; zaaktype?: string; json?: boolean }) => {
    const uuid = options.catalogus ?? options.zaaktype ?? ''
    if ((options.catalogus === undefined) === (options.zaaktype === undefined))
      throw new UsageError('give either --catalogus or --zaaktype')
    if (!isUuid(uuid)) throw new UsageError('a uuid looks like 7c0f3a52-4d6e-4c6f-9a39-0b6f5a4f5f0e')
    const { exportCatalogus, exportZaaktype } = await import('./catalogi/zip.ts')
    const bytes = await withDatabase((database, config) =>
      (options.catalogus ? exportCatalogus : exportZaaktype)(
        database.db as unknown as ReadDb,
        ownAddress(config),
        uuid.toLowerCase(),
      ),
    )
    if (!bytes) throw new UsageError(`there is no ${options.catalogus ? 'catalogue' : 'zaaktype'} ${uuid}`)
    await writeFile(file, bytes)
    print(options, { file, bytes: bytes.length }, `Wrote ${bytes.length} bytes to ${file}.`)
  })
catalogus
  .command('import')
  .description('take the types in a ZIP file over, as concepts: all of it or nothing')
  .argument('<file>', 'ZIP file of this or another service')
  .option('--catalogus <uuid>', 'catalogue for the types of a zaaktype export')
  .option('--keep-uuids', 'keep the uuids of the file instead of making new ones', false)
  .option('--new-types', 'make informatieobjecttypen and besluittypen also where the catalogue has them', false)
  .option('--prefix <text>', 'put before the identificatie of every zaaktype, with an underscore')
  .option('--json', 'print JSON')
  .action(
    async (
      file: string,
      options: { catalogus?: string; keepUuids: boolean; newTypes: boolean; prefix?: string; json?: boolean },
    ) => {
      if (options.catalogus !== undefined && !isUuid(options.catalogus))
        throw new UsageError('a uuid looks like 7c0f3a52-4d6e-4c6f-9a39-0b6f5a4f5f0e')
      const { importPackage, readPackage } = await import('./catalogi/zip.ts')
      const { openSelectielijst } = await import('./catalogi/selectielijst.ts')
      const pakket = await readPackage(
        await readFile(file).catch((error) => {
          throw (error as { code?: string }).code === 'ENOENT' ? new UsageError(`there is no file ${file}`) : error
        }),
      )
      const imported = await withDatabase(async (database, config) => {
        const log = openLog('silent')
        const services = openServices(database, await databaseBox(database, config, true), config, log)
        try {
          const selectielijst = await openSelectielijst(config, services)
          const actor = systemActor('catalogus import', ownAddress(config))
          return await importPackage(mutator(database), actor, selectielijst, pakket, {
            keepUuids: options.keepUuids,
            newTypes: options.newTypes,
            ...(options.catalogus && { catalogusUuid: options.catalogus.toLowerCase() }),
            ...(options.prefix && { identificatiePrefix: options.prefix }),
          })
        } finally {
          await services.close()
        }
      })
      const lines = Object.entries(imported.made).map(([resource, count]) => `${String(count).padStart(6)} ${resource}`)
      const short = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
      if (imported.changes.length > 0) lines.push('Changed or left out:')
      for (const { resource, label, field, given, taken } of imported.changes)
        lines.push(`  ${resource} ${label}: ${field} ${short(given)} -> ${taken === null ? 'left out' : short(taken)}`)
      print(options, imported, ['Made, as concepts:', ...lines].join('\n'))
    },
  )

/** What the caller asked cannot be done. */
class UsageError extends Error {}

function print(options: { json?: boolean }, value: unknown, text: string): void {
  console.log(options.json ? JSON.stringify(value) : text)
}

/** Runs a command on the database of this configuration, also beside a running `start`. */
async function withDatabase<T>(work: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const server = await openServer(config, openLog('silent'))
  const database = openDatabase(server.url, { max: 2, name: 'command' })
  try {
    if (!config.databaseUrl) await migrate(server.url)
    return await work(database, config)
  } finally {
    await database.close()
    await server.stop()
  }
}

/** The key of a command. @throws WrongKey when the database was written with another */
async function databaseBox(database: Database, config: Config, make = false): Promise<SecretBox> {
  const box = await findSecretBox(config, make)
  await requireKey(database.sql, box)
  return box
}

/** Several things that run, stopped in the opposite order of their start, also when a later one does not start. */
async function inOrder(
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

const STOP_LIMIT_MS = 40_000

/** Runs a service until a signal, or until it cannot go on: the first gives 0, the second 1. A second signal ends at once. */
async function runUntilSignal(
  required: ('DATABASE_URL' | 'SECRET_KEY')[],
  run: (config: Config, log: Logger) => Promise<Running>,
): Promise<void> {
  const config = readConfig(process.env, required)
  const log = openLog(config.logLevel)
  process.on('unhandledRejection', (error) => {
    if (isConnectionFault(error)) return log.warn({ err: error }, 'a connection was lost')
    log.fatal({ err: error }, 'a programming error')
    log.flush(() => process.exit(1))
  })
  const signal = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.once(name, () => {
        resolve(name)
        process.once(name, () => process.exit(1))
      })
    }
  })
  const running = await run(config, log)
  const failure = await Promise.race([
    signal.then(() => undefined),
    running.failed.then((error) => error ?? new Error('stopped by itself')),
  ])
  log.info(failure ? { err: failure } : {}, failure ? 'cannot go on: stopping' : 'stopping')
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref()
  await running.stop()
  log.info('stopped')
  log.flush(() => process.exit(failure ? 1 : 0))
}

/** What a failure is to whoever started the program: one clear message, and an exit code to act on. */
function explain(error: unknown): { message: string; code: number } {
  if (error instanceof SetupError) return { message: error.message, code: EXIT_CONFIG }
  if (error instanceof GeenDienst) return { message: error.message, code: 1 }
  if (error instanceof ConfigError || error instanceof DriverUnpatched || error instanceof WrongKey)
    return { message: error.message, code: EXIT_CONFIG }
  if (error instanceof SchemaError || error instanceof DataDirHeld) return { message: error.message, code: 1 }
  if (error instanceof UsageError || error instanceof ClientExists || error instanceof UnknownClient)
    return { message: error.message, code: EXIT_USAGE }
  if (error instanceof StoreUnavailable) return { message: error.message, code: EXIT_UNAVAILABLE }
  if (isConnectionFault(error)) return { message: 'the database cannot be reached', code: EXIT_UNAVAILABLE }
  const { code, message } = error as { code?: string; message?: string }
  return {
    message: code === 'EADDRINUSE' ? 'the address is in use: choose another PORT' : (message ?? String(error)),
    code: 1,
  }
}

program.parseAsync().catch((error) => {
  const { message, code } = explain(error)
  console.error(`zaakstroom: ${message}`)
  process.exit(code)
})
