import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Autorisatie, Component } from '../core/actor.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database, Db } from '../database/database.ts'
import { listen } from '../database/listen.ts'
import { KeyMissing, WrongKey } from '../lib/wrong-key.ts'

/** What a client shows, and when that was noted last. */
export type Use = { of: 'secret' | 'issuer client'; id: number; notedAt: number }

/** What a client id stands for: its valid secrets and the rights of its application. */
export type Credential = {
  /** None for a client of an issuer. */
  secrets: string[]
  /** Of each secret; for a client of an issuer one. */
  uses: Use[]
  applicatieUuid: string
  applicatieLabel: string
  alleAutorisaties: boolean
  alleenGereedVoorPublicatie: boolean
  autorisaties: Autorisatie[]
}
export type CredentialStore = {
  /** undefined: unknown. The answer of up to 30 s ago counts, unless something changed since. */
  find(clientId: string): Promise<Credential | undefined>
  /** The same of a client as an issuer knows it: never one with a secret. */
  findOfIssuer(issuerId: number, clientId: string): Promise<Credential | undefined>
  /** Notes that this was used now, for the pages. */
  used(use: Use): void
  /** What changes rights: applications themselves, and the types that a right for a catalogue reaches. */
  changed(components: ReadonlySet<Component> | undefined): void
  close(): Promise<void>
}

/**
 * Clients and their rights, kept in memory. Every process hears of a change and then forgets all; reconnecting forgets as
 * well, since that may have been missed. The short life of an entry bounds what a silently dead connection can hide, and how
 * long a change made by hand in SQL goes unseen.
 */
export async function openCredentialStore(database: Database, box: SecretBox, log: Logger): Promise<CredentialStore> {
  const entries = new Map<string, { until: number; credential: Promise<Credential | undefined> }>()
  const forget = () => entries.clear()
  const listener = await listen(database.url, 'zaakstroom_autorisaties', forget, log)
  const noting = noteUses(database, log)
  function keep(key: string, load: () => Promise<Credential | undefined>): Promise<Credential | undefined> {
    const entry = entries.get(key)
    if (entry && entry.until > performance.now()) return entry.credential
    const credential = load()
    // An unknown id is not kept: made-up ids would fill the memory.
    credential.then(
      (found) => found || entries.delete(key),
      () => entries.delete(key),
    )
    entries.set(key, { until: performance.now() + 30_000, credential })
    return credential
  }
  return {
    find: (clientId) => keep(clientId, () => loadCredential(database, box, log, clientId)),
    // No client id has a line break in it.
    findOfIssuer: (issuerId, clientId) =>
      keep(`${issuerId}\n${clientId}`, () => loadIssuerCredential(database, issuerId, clientId)),
    used: noting.used,
    // The announcement comes too, but it may come after the answer, and the client's next request.
    changed(components) {
      if (!components || components.has('ac') || components.has('ztc')) forget()
    },
    close: async () => {
      await listener.close()
      await noting.close()
    },
  }
}

const NOTED_MS = 300_000 // a use is noted once in that time
const COLLECTED_MS = 1_000

const NOTED: Record<Use['of'], (sql: Database['sql'], ids: number[]) => Promise<unknown>> = {
  secret: (sql, ids) => sql`
    update applicatie_secret set last_signed_at = now() where id in (
      select id from applicatie_secret where id = any(${ids}::bigint[]) order by id for update skip locked)`,
  'issuer client': (sql, ids) => sql`
    update applicatie_issuer_client set last_used_at = now() where id in (
      select id from applicatie_issuer_client where id = any(${ids}::bigint[]) order by id for update skip locked)`,
}

/** Writes when credentials were used: those of a second together, and each once in some minutes. Lost at a crash. */
function noteUses({ sql }: Database, log: Logger) {
  let waiting = new Set<Use>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const groups = Map.groupBy(waiting, ({ of }) => of)
    waiting = new Set()
    const write = async () => {
      for (const [of, uses] of groups) await NOTED[of](sql, [...new Set(uses.map(({ id }) => id))])
    }
    writing = writing
      .then(write)
      .catch((error) => log.debug({ code: error.code }, 'the use of a credential was not noted'))
    return writing
  }
  return {
    used(use: Use): void {
      if (performance.now() - use.notedAt < NOTED_MS) return
      use.notedAt = performance.now()
      waiting.add(use)
      timer ??= setTimeout(flush, COLLECTED_MS).unref()
    },
    close: flush,
  }
}

const use = (of: Use['of'], id: number): Use => ({ of, id, notedAt: Number.NEGATIVE_INFINITY })

async function loadCredential(
  database: Database,
  box: SecretBox,
  log: Logger,
  clientId: string,
): Promise<Credential | undefined> {
  const applicatie = await database.db
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', '=', clientId)
    .select(APPLICATIE)
    .executeTakeFirst()
  if (!applicatie) return undefined
  // Applications that were taken over may share a client id: it has the rights of all.
  const others = await database.db
    .selectFrom('applicatieClientMore as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', '=', clientId)
    .select(['a.id', 'a.heeftAlleAutorisaties'])
    .execute()
  const [geheimen, rights] = await Promise.all([
    database.db
      .selectFrom('applicatieSecret')
      .where('clientId', '=', clientId)
      .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', sql<string>`now()`)]))
      .select(['id', 'sealedSecret'])
      .execute(),
    loadRights(database.db, [applicatie.id, ...others.map(({ id }) => id)]),
  ])
  let fault: unknown
  const secrets = geheimen.flatMap(({ id, sealedSecret }) => {
    try {
      return [{ id, secret: box.open(sealedSecret, clientId) }]
    } catch (error) {
      log.error(
        { client_id: clientId, geheim_id: id },
        'a stored client secret cannot be read with the keys of this process',
      )
      fault = error
      return []
    }
  })
  // Our fault, not the client's: it is not told that it is unknown.
  if (geheimen.length > 0 && secrets.length === 0) throw fault instanceof KeyMissing ? fault : new WrongKey()
  return {
    ...credentialOf(applicatie, rights),
    secrets: secrets.map(({ secret }) => secret),
    uses: secrets.map(({ id }) => use('secret', id)),
    alleAutorisaties: [applicatie, ...others].some(({ heeftAlleAutorisaties }) => heeftAlleAutorisaties),
  }
}

async function loadIssuerCredential(
  { db }: Database,
  issuerId: number,
  clientId: string,
): Promise<Credential | undefined> {
  const found = await db
    .selectFrom('applicatieIssuerClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.issuerId', '=', issuerId)
    .where('c.clientId', '=', clientId)
    .select([...APPLICATIE, 'c.id as issuerClientId'])
    .executeTakeFirst()
  if (!found) return undefined
  const { issuerClientId, ...applicatie } = found
  return {
    ...credentialOf(applicatie, await loadRights(db, [applicatie.id])),
    secrets: [],
    uses: [use('issuer client', issuerClientId)],
  }
}

const APPLICATIE = ['a.id', 'a.uuid', 'a.label', 'a.heeftAlleAutorisaties', 'a.alleenIsGereedVoorPublicatie'] as const

type Applicatie = {
  uuid: string
  label: string
  heeftAlleAutorisaties: boolean
  alleenIsGereedVoorPublicatie: boolean
}

const credentialOf = (applicatie: Applicatie, autorisaties: Autorisatie[]) => ({
  applicatieUuid: applicatie.uuid,
  applicatieLabel: applicatie.label,
  alleAutorisaties: applicatie.heeftAlleAutorisaties,
  alleenGereedVoorPublicatie: applicatie.alleenIsGereedVoorPublicatie,
  autorisaties,
})

/**
 * All rights of applications in one query, with the key of every type that is ours. A right for a catalogue or a type
 * becomes one for each version that it reaches at this moment; a change of types is signalled. One that reaches
 * nothing yet stays as a right for a type that cannot exist: its scopes open lists, but it is no right without a type.
 */
async function loadRights(db: Db, applicatieIds: number[]): Promise<Autorisatie[]> {
  const { rows } = await sql<Omit<Autorisatie, 'scopes'> & { scopes: string[] }>`
    select r.component, r.scopes, r.type_url, r.type_uuid, t.id as type_id, r.max_vertrouwelijkheidaanduiding as max, null::text as whole
    from autorisatie r
    left join autorisatie_type t on t.component = r.component and t.uuid = r.type_uuid
    where r.applicatie_id = any(${applicatieIds}::bigint[])
    union all
    select k.component, k.scopes, case when t.id is null then 'urn:uuid:' || c.uuid else '' end, t.uuid, t.id, k.max_vertrouwelijkheidaanduiding,
      c.uuid || ' ' || k.type
    from catalogus_autorisatie k
    join catalogus c on c.id = k.catalogus_id
    left join autorisatie_type t on t.component = k.component and t.catalogus_id = k.catalogus_id and k.type in ('', t.key)
    where k.applicatie_id = any(${applicatieIds}::bigint[])`.execute(db)
  const sets = new Map<string, ReadonlySet<string>>()
  return rows.map(({ scopes, ...right }) => {
    const key = scopes.join(' ')
    const set = sets.get(key) ?? new Set(scopes)
    sets.set(key, set)
    return { ...right, scopes: set }
  })
}
