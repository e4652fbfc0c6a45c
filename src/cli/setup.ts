// setup: brings services, settings of notifications and applications to what a file says. Applying it again changes nothing.
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { parseDocument } from 'yaml'
import { changeApplicatie, createApplicatie } from '../autorisaties/applicatie/change.ts'
import { ApplicatieInput } from '../autorisaties/applicatie/read.ts'
import { IssuerInput, saveIssuer, saveIssuerClients } from '../autorisaties/issuers/issuer.ts'
import type { Config } from '../config.ts'
import { systemActor } from '../core/access.ts'
import { type Mutation, mutator } from '../core/mutate.ts'
import { toProblem } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { ownAddress, uuidOf } from '../http/links.ts'
import { SETS } from '../notificaties/backoff.ts'
import { followService, NotificationSettings, saveSettings } from '../notificaties/settings.ts'
import { RemoteServiceInput, saveService } from '../services/register.ts'
import { planning } from './plan.ts'

const Applicatie = Type.Object({
  ...ApplicatieInput.properties,
  /** The secrets of its client ids: these and no others. */
  credentials: Type.Optional(
    Type.Array(
      Type.Object({
        clientId: Type.String({ minLength: 1, maxLength: 50 }),
        secret: Type.String({ minLength: 1, maxLength: 255 }),
      }),
    ),
  ),
  /** The clients of issuers that act as it: these and no others. */
  issuerClients: Type.Optional(
    Type.Array(
      Type.Object({
        issuer: Type.String({ minLength: 1, maxLength: 1000 }),
        clientId: Type.String({ minLength: 1, maxLength: 255 }),
      }),
    ),
  ),
})
/** What a setup file may hold. */
const Setup = Type.Object({
  services: Type.Optional(Type.Array(RemoteServiceInput)),
  notifications: Type.Optional(
    Type.Partial(
      Type.Object({
        ...NotificationSettings.properties,
        /** Name of a documented set of retry settings; settings beside it count before it. */
        set: Type.Enum(Object.keys(SETS) as (keyof typeof SETS)[]),
      }),
    ),
  ),
  tokenIssuers: Type.Optional(Type.Array(IssuerInput)),
  applicaties: Type.Optional(Type.Array(Applicatie)),
})
type Setup = Static<typeof Setup>

/** The file is wrong; `faults` names every place, with the reason and never with the value. */
export class SetupError extends Error {
  faults: string[]
  constructor(faults: string[]) {
    super(`the setup file is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/** What was changed, by the names in the file. */
export type Applied = { services: string[]; notifications: boolean; tokenIssuers: string[]; applicaties: string[] }

/**
 * Reads a setup file (YAML or JSON), in which `${NAME}` stands for a variable of the environment.
 * @throws SetupError that lists all faults at once
 */
export async function readSetup(file: string, env: NodeJS.ProcessEnv): Promise<Setup> {
  const document = parseDocument(await readFile(file, 'utf8'))
  if (document.errors.length > 0) {
    throw new SetupError(document.errors.map(({ linePos }) => `line ${linePos?.[0].line ?? '?'}: not valid YAML`))
  }
  const missing: string[] = []
  const value = fillIn(document.toJS() ?? {}, env, missing)
  const faults = missing.map((name) => `the environment has no ${name}`)
  if (!check.Check(value)) {
    for (const error of check.Errors(value)[1]) faults.push(...describe(error))
  }
  if (faults.length > 0) throw new SetupError([...new Set(faults)])
  return value as Setup
}

/** The same schema, in which a name that it does not know is a fault: here it is a slip of the pen. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (schema === null || typeof schema !== 'object') return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]))
  return 'properties' in copy ? { ...copy, additionalProperties: false } : copy
}
const check = Compile(closed(JSON.parse(JSON.stringify(Setup))) as TSchema)

type SchemaError = { instancePath: string; message: string; keyword: string; params: object }

function describe({ instancePath, message, keyword, params }: SchemaError): string[] {
  const place = instancePath.slice(1).replaceAll('/', '.') || 'the file'
  const { additionalProperties } = params as { additionalProperties?: string[] }
  if (keyword === 'additionalProperties' && additionalProperties)
    return additionalProperties.map((name) => `${place}: ${name} is not known here`)
  return keyword === 'boolean' ? [] : [`${place}: ${message}`] // `boolean` repeats what the line above says
}

function fillIn(value: unknown, env: NodeJS.ProcessEnv, missing: string[]): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      if (env[name] === undefined) missing.push(name)
      return env[name] ?? ''
    })
  }
  if (Array.isArray(value)) return value.map((item) => fillIn(item, env, missing))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fillIn(part, env, missing)]))
}

/**
 * Makes what the file says so, all of it or nothing.
 * @throws SetupError
 */
export async function applySetup(
  database: Database,
  box: SecretBox,
  config: Config,
  setup: Setup,
  options: { dryRun?: boolean } = {},
): Promise<Applied> {
  const mutate = planning(options, mutator(database, { announces: () => !config.notificationsDisabled }))
  return mutate(systemActor('setup', ownAddress(config)), async (m) => {
    m.unrecorded('nothing may be different')
    const applied: Applied = { services: [], notifications: false, tokenIssuers: [], applicaties: [] }
    const faults: string[] = []
    const part = async (place: string, work: () => Promise<void>) => {
      try {
        await m.sql.savepoint(work)
      } catch (error) {
        const { status, invalidParams, detail } = toProblem(error)
        if (status >= 500) throw error
        const params = invalidParams ?? [{ name: '', reason: detail }]
        faults.push(...params.map(({ name, reason }) => `${[place, name].filter(Boolean).join('.')}: ${reason}`))
      }
    }
    for (const [i, service] of (setup.services ?? []).entries()) {
      await part(`services.${i}`, async () => {
        if (!(await saveService(m, box, service))) return
        applied.services.push(service.slug)
        await followService(m, service.slug)
      })
    }
    if (setup.notifications) {
      const { set, ...settings } = setup.notifications
      await part('notifications', async () => {
        applied.notifications = await saveSettings(m, { ...(set && SETS[set]), ...settings })
      })
    }
    for (const [i, issuer] of (setup.tokenIssuers ?? []).entries()) {
      await part(`tokenIssuers.${i}`, async () => {
        if ((await saveIssuer(m, issuer)).isChanged) applied.tokenIssuers.push(issuer.label)
      })
    }
    for (const [i, applicatie] of (setup.applicaties ?? []).entries()) {
      await part(`applicaties.${i}`, async () => {
        if (await saveApplicatie(m, box, applicatie)) applied.applicaties.push(applicatie.label)
      })
    }
    if (faults.length > 0) throw new SetupError(faults)
    return applied
  })
}

const NO_RIGHTS = {
  heeftAlleAutorisaties: false,
  alleenIsGereedVoorPublicatie: false,
  autorisaties: [],
  catalogusAutorisaties: [],
}

/** Ends a savepoint in which nothing turned out different. */
class Unchanged extends Error {}

// An application is known by its client ids.
async function saveApplicatie(m: Mutation, box: SecretBox, input: Static<typeof Applicatie>): Promise<boolean> {
  const { credentials, issuerClients, ...values } = input
  const known = await m.trx
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', 'in', values.clientIds)
    .select('a.uuid')
    .executeTakeFirst()
  let changed = !known
  let uuid = known?.uuid
  if (!known) uuid = uuidOf((await createApplicatie(m, values)).url)
  else {
    const before = m.record
    try {
      await m.sql.savepoint(async () => {
        const quiet: Mutation = {
          ...m,
          record: (change) => {
            if (isDeepStrictEqual(change.oud, change.nieuw)) throw new Unchanged()
            before(change)
          },
        }
        await changeApplicatie(quiet, 'update', known.uuid, { ...NO_RIGHTS, ...values })
        changed = true
      })
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error
    }
  }
  if (issuerClients) changed = (await saveIssuerClients(m, expected(uuid), issuerClients)) || changed
  const secrets = Map.groupBy(credentials ?? [], ({ clientId }) => clientId)
  for (const [clientId, given] of secrets) {
    changed =
      (await saveSecrets(
        m,
        box,
        clientId,
        given.map(({ secret }) => secret),
      )) || changed
  }
  return changed
}

async function saveSecrets(m: Mutation, box: SecretBox, clientId: string, secrets: string[]): Promise<boolean> {
  const rows = await m.trx
    .selectFrom('applicatieSecret')
    .where('clientId', '=', clientId)
    .select('sealedSecret')
    .execute()
  const known = rows.map(({ sealedSecret }) => box.open(sealedSecret, clientId))
  if (isDeepStrictEqual(known.toSorted(), secrets.toSorted())) return false
  m.signal('zaakstroom_autorisaties')
  await m.trx.deleteFrom('applicatieSecret').where('clientId', '=', clientId).execute()
  await m.trx
    .insertInto('applicatieSecret')
    .values(secrets.map((secret) => ({ clientId, sealedSecret: box.seal(secret, clientId) })))
    .execute()
  return true
}
