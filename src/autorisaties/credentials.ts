import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Autorisatie, Component } from '../core/actor.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { WrongKey } from '../core/wrong-key.ts'
import type { Database, Db } from '../database/database.ts'
import { listen } from '../database/listen.ts'

/** What a client id stands for: its valid secrets and the rights of its application. */
export type Credential = {
  secrets: string[]
  applicatieUuid: string
  applicatieLabel: string
  alleAutorisaties: boolean
  alleenGereedVoorPublicatie: boolean
  autorisaties: Autorisatie[]
}
export type CredentialStore = {
  /** undefined: unknown. The answer of up to 30 s ago counts, unless something changed since. */
  find(clientId: string): Promise<Credential | undefined>
  /** What changes rights: applications themselves, and the types that a right for a catalogue reaches. */
  changed(components: ReadonlySet<Component> | undefined): void
  close(): Promise<void>
}

/**
 * Clients and their rights, kept in memory. Triggers in the database announce every change, also one made by hand in
 * SQL, and every process then forgets all; reconnecting forgets as well, since announcements may have been missed.
 * The short life of an entry bounds what a silently dead connection can hide.
 */
export async function openCredentialStore(database: Database, box: SecretBox, log: Logger): Promise<CredentialStore> {
  const entries = new Map<string, { until: number; credential: Promise<Credential | undefined> }>()
  const forget = () => entries.clear()
  const listener = await listen(database.url, 'zaakstroom_autorisaties', forget, log)
  return {
    find(clientId) {
      const entry = entries.get(clientId)
      if (entry && entry.until > performance.now()) return entry.credential
      const credential = loadCredential(database, box, log, clientId)
      // An unknown id is not kept: made-up ids would fill the memory.
      credential.then(
        (found) => found || entries.delete(clientId),
        () => entries.delete(clientId),
      )
      entries.set(clientId, { until: performance.now() + 30_000, credential })
      return credential
    },
    // The announcement comes too, but it may come after the answer, and the client's next request.
    changed(components) {
      if (!components || components.has('ac') || components.has('ztc')) forget()
    },
    close: listener.close,
  }
}

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
    .select(['a.id', 'a.uuid', 'a.label', 'a.heeftAlleAutorisaties', 'a.alleenIsGereedVoorPublicatie'])
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
      .select(['id', 'geheim'])
      .execute(),
    loadRights(database.db, [applicatie.id, ...others.map(({ id }) => id)]),
  ])
  const secrets = geheimen.flatMap(({ id, geheim }) => {
    try {
      return [box.open(geheim, clientId)]
    } catch {
      log.error({ client_id: clientId, geheim_id: id }, 'a stored client secret cannot be read with this SECRET_KEY')
      return []
    }
  })
  // Our fault, not the client's: it is not told that it is unknown.
  if (geheimen.length > 0 && secrets.length === 0) throw new WrongKey()
  return {
    secrets,
    applicatieUuid: applicatie.uuid,
    applicatieLabel: applicatie.label,
    alleAutorisaties: [applicatie, ...others].some(({ heeftAlleAutorisaties }) => heeftAlleAutorisaties),
    alleenGereedVoorPublicatie: applicatie.alleenIsGereedVoorPublicatie,
    autorisaties: rights,
  }
}

/**
 * All rights of applications in one query, with the key of every type that is ours. A right for a catalogue or a type
 * becomes one for each version that it reaches at this moment; triggers announce when that changes. One that reaches
 * nothing yet stays as a right for a type that cannot exist: its scopes open lists, but it is no right without a type.
 */
async function loadRights(db: Db, applicatieIds: number[]): Promise<Autorisatie[]> {
  const { rows } = await sql<Omit<Autorisatie, 'scopes'> & { scopes: string[] }>`
    select r.component, r.scopes, r.type_url, r.type_uuid, t.id as type_id, r.max_vertrouwelijkheidaanduiding as max
    from autorisatie r
    left join autorisatie_type t on t.component = r.component and t.uuid = r.type_uuid
    where r.applicatie_id = any(${applicatieIds}::bigint[])
    union all
    select k.component, k.scopes, case when t.id is null then 'urn:uuid:' || c.uuid else '' end, t.uuid, t.id, k.max_vertrouwelijkheidaanduiding
    from catalogus_autorisatie k
    join catalogus c on c.id = k.catalogus_id
    left join autorisatie_type t on t.component = k.component and t.catalogus_id = k.catalogus_id and k.type in ('', t.sleutel)
    where k.applicatie_id = any(${applicatieIds}::bigint[])`.execute(db)
  const sets = new Map<string, ReadonlySet<string>>()
  return rows.map(({ scopes, ...right }) => {
    const key = scopes.join(' ')
    const set = sets.get(key) ?? new Set(scopes)
    sets.set(key, set)
    return { ...right, scopes: set }
  })
}
