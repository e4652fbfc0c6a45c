// setup: brings services, settings of notifications and applications to what a file says. Applying it again changes nothing.
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { parseDocument } from 'yaml'
import { changeApplicatie, createApplicatie, deleteApplicatie } from '../autorisaties/applicatie/change.ts'
import { ApplicatieInput } from '../autorisaties/applicatie/read.ts'
import { setSecrets } from '../autorisaties/client-secrets.ts'
import { deleteIssuer, IssuerInput, saveIssuer, saveIssuerClients } from '../autorisaties/issuers/issuer.ts'
import type { Config } from '../config.ts'
import { systemActor } from '../core/access.ts'
import { type Mutation, mutator } from '../core/mutate.ts'
import { onObject, throwFaults, toProblem } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { ownAddress, uuidOf } from '../http/links.ts'
import { SETS } from '../notificaties/backoff.ts'
import { followService, NotificationSettings, SLUG, saveSettings } from '../notificaties/settings.ts'
import { deleteService, RemoteServiceInput, saveService } from '../services/register.ts'
import { planning } from './plan.ts'

const Applicatie = Type.Object({
  ...ApplicatieInput.properties,
  /** The secrets of its client ids: these and no others. Left out: they stay as they are. */
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

/**
 * What was changed, by the names in the file; what else there is of the kinds that it names, such as `service brp`, and whether that was
 * removed.
 */
export type Applied = {
  services: string[]
  notifications: boolean
  tokenIssuers: string[]
  applicaties: string[]
  kept: string[]
  removed: string[]
}

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
  if (check.Check(value)) faults.push(...clashesIn(value as Setup))
  else for (const error of check.Errors(value)[1]) faults.push(...describe(error))
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
/**
 * JSON Schema of a setup file.
 * @internal docs/setup.schema.json is made of it.
 */
export const SETUP_SCHEMA = closed(JSON.parse(JSON.stringify(Setup))) as TSchema
const check = Compile(SETUP_SCHEMA)

/** What no schema says: a thing stands in the file once, and a secret beside its own client id. */
function clashesIn({ services = [], tokenIssuers = [], applicaties = [] }: Setup): string[] {
  const faults: string[] = []
  const seen = new Map<string, string>()
  const once = (place: string, ...key: string[]) => {
    const name = JSON.stringify([place.replace(/\d+/g, ''), ...key])
    const first = seen.get(name)
    if (first === undefined) seen.set(name, place)
    else faults.push(`${place}: stands at ${first} already`)
  }
  for (const [i, { slug }] of services.entries()) once(`services.${i}.slug`, slug)
  for (const [i, { issuer }] of tokenIssuers.entries()) once(`tokenIssuers.${i}.issuer`, issuer)
  for (const [i, { clientIds, credentials = [], issuerClients = [] }] of applicaties.entries()) {
    for (const clientId of new Set(clientIds)) once(`applicaties.${i}.clientIds`, clientId)
    for (const [j, { issuer, clientId }] of issuerClients.entries())
      once(`applicaties.${i}.issuerClients.${j}`, issuer, clientId)
    for (const [j, { clientId }] of credentials.entries())
      if (!clientIds.includes(clientId))
        faults.push(`applicaties.${i}.credentials.${j}.clientId: is not one of the clientIds of this applicatie`)
  }
  return faults
}

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
 * @param options.prune also removes what else there is of the kinds that the file names
 * @throws SetupError
 */
export async function applySetup(
  database: Database,
  box: SecretBox,
  config: Config,
  setup: Setup,
  options: { dryRun?: boolean; prune?: boolean } = {},
): Promise<Applied> {
  const mutate = planning(options, mutator(database, { announces: () => !config.notificationsDisabled }))
  return mutate(systemActor('setup', ownAddress(config)), async (m) => {
    m.unrecorded('nothing may be different')
    const applied: Applied = {
      ...{ services: [], notifications: false, tokenIssuers: [], applicaties: [], kept: [], removed: [] },
    }
    const faults: string[] = []
    const part = async (place: string, work: () => Promise<void>) => {
      try {
        await m.sql.savepoint(work)
      } catch (error) {
        const { status, invalidParams, detail } = toProblem(error)
        if (status >= 500) throw error
        const params = invalidParams ?? [{ name: '', reason: detail }]
        faults.push(
          ...params.map(({ name, reason }) => `${[place, nameIn(name)].filter(Boolean).join('.')}: ${reason}`),
        )
      }
    }
    const others = await findOthers(m, config, setup)
    applied[options.prune ? 'removed' : 'kept'] = others.map(({ name }) => name)
    // Before the rest: what takes its place may have its address. Where notifications go until now is removed after it.
    const left: Other[] = []
    for (const other of options.prune ? others : [])
      await part('', async () => {
        if (!(await other.remove())) left.push(other)
      })
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
    for (const { name, remove } of left)
      await part(name, async () => {
        if (!(await remove()))
          throwFaults([onObject('invalid', 'Hierheen gaan de notificaties: noem een andere notifications.dienst.')])
      })
    if (faults.length > 0) throw new SetupError(faults)
    return applied
  })
}

/** A fault of the whole is at the place of the whole. */
const nameIn = (name: string): string => (name === 'nonFieldErrors' ? '' : name)

/** Something of a kind that the file names, and that it does not name. `remove` is false when it cannot be removed yet. */
type Other = { name: string; remove(): Promise<boolean> }

/** What the environment makes is never among them: the next start would make it again. */
async function findOthers(
  m: Mutation,
  config: Config,
  { services, tokenIssuers, applicaties }: Setup,
): Promise<Other[]> {
  const others: Other[] = []
  if (applicaties) {
    const named = new Set([...applicaties.flatMap(({ clientIds }) => clientIds), config.bootstrapClient?.id])
    const rows = await m.sql<{ uuid: string; label: string; clientIds: string[] }[]>`
      select a.uuid, a.label, array(select c.client_id from applicatie_client_all c where c.applicatie_id = a.id) as "clientIds"
      from applicatie a order by a.label, a.id`
    for (const { uuid, label, clientIds } of rows)
      if (!clientIds.some((clientId) => named.has(clientId)))
        others.push({ name: `applicatie ${label}`, remove: () => deleteApplicatie(m, uuid).then(() => true) })
  }
  if (tokenIssuers) {
    const named = new Set(tokenIssuers.map(({ issuer }) => issuer))
    const rows = await m.trx.selectFrom('tokenIssuer').select(['uuid', 'label', 'issuer']).orderBy('label').execute()
    for (const { uuid, label, issuer } of rows)
      if (!named.has(issuer)) others.push({ name: `issuer ${label}`, remove: () => deleteIssuer(m, uuid) })
  }
  if (services) {
    const named = new Set([...services.map(({ slug }) => slug), config.notifications && SLUG])
    const rows = await m.trx.selectFrom('service').select(['uuid', 'slug']).orderBy('slug').execute()
    for (const { uuid, slug } of rows)
      if (!named.has(slug)) others.push({ name: `service ${slug}`, remove: () => deleteService(m, uuid) })
  }
  return others
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
  if (!credentials) return changed
  for (const clientId of new Set(values.clientIds)) {
    const secrets = credentials.filter((one) => one.clientId === clientId).map(({ secret }) => secret)
    changed = (await setSecrets(m, box, clientId, secrets)) || changed
  }
  return changed
}
