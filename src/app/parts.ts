// What the application is made of, and what its handlers have of that: of one organisation, or of the one that a request is for.
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { CredentialStore } from '../autorisaties/credentials.ts'
import type { IssuerStore } from '../autorisaties/issuers/store.ts'
import type { TokenEndpoint } from '../autorisaties/token-endpoint/endpoint.ts'
import type { LiveSettings } from '../config/stored.ts'
import type { Config } from '../config.ts'
import { type Mutate, mutator } from '../core/mutate.ts'
import { sealPending } from '../core/outcome.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { logOptionsOf } from '../core/verwerkingen.ts'
import { type Database, type ReadDb, type Reader, readerOf } from '../database/database.ts'
import type { Replica } from '../database/replica.ts'
import { expected } from '../database/rows.ts'
import type { Store } from '../documenten/storage/index.ts'
import type { ProcessSettings } from '../operations/process-settings.ts'
import type { Organisation } from '../organisations/organisation.ts'
import type { Overview } from '../organisations/overview.ts'
import type { Registry } from '../organisations/registry.ts'
import type { Organisations } from '../organisations/serve.ts'
import type { Services } from '../services/services.ts'
import { currentOrganisation, late } from '../telemetry/current-organisation.ts'
import { publishedEvents } from '../zaken/published.ts'

/** What the application is made of; opened and closed by whoever builds it. */
export type Parts = {
  /** That of `settings`. */
  config: Config
  settings: Pick<LiveSettings, 'refresh'>
  database: Database
  /** Where lists and reports are read, when there is one. */
  replica?: Replica | undefined
  /** Where new documents go. */
  store: Store
  /** Where a document is, by the `backend` of its row. */
  storeFor(backend: string): Store
  credentials: CredentialStore
  /** Identity providers whose tokens are taken. */
  issuers: IssuerStore
  /** Gives tokens to clients; undefined while TOKEN_ENDPOINT is off. */
  tokenEndpoint?: TokenEndpoint | undefined
  box: SecretBox
  /** Where settings of other processes differ from ours. */
  shared?: ProcessSettings | undefined
  /** The way out to other services. */
  services: Services
  log: Logger
}

/** What the application is made of in an installation with many organisations: each has parts of its own. */
export type ManyParts = {
  /** What is alike for all: that of the process. */
  config: Config
  organisations: Organisations<Parts>
  /** Our address in links of one. */
  baseOf(organisation: Organisation): string
  /** The database of the registry. */
  control: Database
  registry: Pick<Registry, 'accounts' | 'byHost' | 'byRsin' | 'refresh'>
  /** Opens what is sealed in the registry. */
  box: SecretBox
  /** What the page of the centre asks. */
  overview: Overview
  log: Logger
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it is there for whom these settings are. */
    isOn?(config: Config): boolean
  }
  interface FastifyInstance {
    /** The settings of the process, which are alike for all organisations. */
    process: Config
    read: ReadDb
    reader: Reader
    /** For long lists and reports: as new as the primary, but read from the replica when there is one. */
    listing: Replica['listing']
    reportReader: Replica['reader']
    mutate: Mutate
    /** Without the database: who writes goes through `mutate`, or a function of the room that owns the table. */
    parts: Omit<Parts, 'database' | 'replica'>
    /** From now on `/readyz` answers 503, so that no new work is sent here. */
    announceStop(): void
  }
}

/** What handlers have of the parts. */
function served(parts: Parts) {
  const { database, replica, ...others } = parts
  const reader = readerOf(database)
  return {
    read: reader.db,
    reader,
    listing: replica ? replica.listing : (((make) => make(reader)) satisfies Replica['listing']),
    reportReader: replica ? replica.reader : async () => reader,
    mutate: mutator(database, {
      announces: () => !parts.config.notificationsDisabled,
      cloudEvents:
        parts.config.enableCloudEvents && (parts.config.cloudEventsProfile === 'open-zaak' || publishedEvents),
      committed: parts.credentials.changed,
      log: () => logOptionsOf(parts.config),
      sealed: (applicatieUuid, pending) => sealPending(parts.box, applicatieUuid, pending),
    }),
    parts: others,
  }
}

/** The parts of the organisation of each moment, for what is put together before there is a request. */
export function lateParts({ log }: ManyParts, now: () => Parts): Parts {
  return {
    config: late(() => now().config),
    settings: late(() => now().settings),
    database: late(() => now().database),
    store: late(() => now().store),
    storeFor: (backend) => now().storeFor(backend),
    credentials: late(() => now().credentials),
    issuers: late(() => now().issuers),
    tokenEndpoint: late(() => expected(now().tokenEndpoint)),
    box: late(() => now().box),
    services: late(() => now().services),
    log,
  }
}

/** Gives the application what handlers have: as it is, or with many that of the organisation of each moment. */
export function decorateParts(app: FastifyInstance, parts: () => Parts, many: ManyParts | undefined): void {
  if (!many) {
    for (const [name, value] of Object.entries(served(parts()))) app.decorate(name, value as never)
    return
  }
  const now = app.each(() => served(parts()))
  const { database: _, replica: __, ...others } = lateParts(many, parts)
  type Has = ReturnType<typeof served>
  const later: Has = {
    read: late(() => now().read),
    reader: late(() => now().reader),
    listing: (make) => now().listing(make),
    reportReader: () => now().reportReader(),
    mutate: (actor, work) => now().mutate(actor, work),
    parts: others,
  }
  for (const name of Object.keys(later) as (keyof Has)[])
    app.decorate(name, { getter: () => (currentOrganisation() ? now() : later)[name] } as never)
}
