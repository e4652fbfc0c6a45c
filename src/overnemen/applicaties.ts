// Applicaties with their client ids, rights and secrets. An applicatie without secrets at the source keeps those it has here.
import { createHash } from 'node:crypto'
import { isShort, type SecretBox } from '../core/secret-box.ts'
import { one } from '../database/rows.ts'
import { isUuid } from '../lib/uuid.ts'
import type { Addresses } from './addresses.ts'
import { ownUuids } from './own-work.ts'
import type { ApplicatieRow, Finding } from './source.ts'
import type { Sql, Written } from './write.ts'

type Options = {
  overneming: number
  round: number
  addresses: Addresses
  /** A client id that a client of ours has is left out. */
  apart?: boolean
}

/**
 * Writes each that changed since it was last taken over, by a checksum, and its secrets.
 * @param findings gets what has to be looked at
 * @returns how many were read, written and left as they were
 */
export async function writeApplicaties(
  sql: Sql,
  box: SecretBox,
  given: ApplicatieRow[],
  { overneming, round, addresses, apart = false }: Options,
  findings: Finding[],
): Promise<Written> {
  const counts: Written = { seen: given.length, written: 0, unchanged: 0, refused: 0 }
  for (const applicatie of given) {
    const { uuid } = applicatie
    const remark = (code: string, text: string, field = '') =>
      findings.push({
        ...{ kind: 'applicatie', key: uuid, identificatie: applicatie.label },
        ...{ outcome: 'gemarkeerd', code, field, text },
      })
    if ((await ownUuids(sql, overneming, 'applicatie', [uuid])).size > 0) {
      findings.push({
        ...{ kind: 'applicatie', key: uuid, identificatie: applicatie.label, outcome: 'geweigerd', code: 'eigen-werk' },
        text: 'Hier staat een applicatie van hier met deze uuid: zij blijft zoals zij is.',
      })
      counts.refused++
      continue
    }
    const others = apart ? await clientsOfOurs(sql, overneming, applicatie.client_ids) : new Set<string>()
    for (const clientId of others)
      remark(
        'botst-client',
        `Client-id ${clientId} is hier van een eigen applicatie: hij houdt de rechten van hier, en krijgt deze er niet bij.`,
        'clientIds',
      )
    applicatie.client_ids = applicatie.client_ids.filter((clientId) => !others.has(clientId))
    const rights = applicatie.autorisaties.map(({ type, ...right }) => {
      const place = addresses.toUuid(type, 'applicatie', 'autorisaties')
      return {
        ...right,
        type_uuid: isUuid(place) ? place : null,
        type_url: isUuid(place) ? addresses.rewrite(type) : place,
      }
    })
    const { geheimen, ...shown } = applicatie
    // Secrets are in no checksum: who could read it might find a weak one by trying.
    const hash = createHash('sha256')
      .update(JSON.stringify({ ...shown, rights }))
      .digest()
      .subarray(0, 16)
    const [known] = await sql<{ hash: Buffer }[]>`
      select hash from takeover_object where kind = 'applicatie' and uuid = ${uuid}`
    const same = known?.hash.equals(hash) === true
    if (!same) {
      const rows = await sql<{ id: number }[]>`
        insert into applicatie (uuid, label, heeft_alle_autorisaties)
        values (${uuid}, ${applicatie.label}, ${applicatie.heeft_alle_autorisaties})
        on conflict (uuid) do update set label = excluded.label, heeft_alle_autorisaties = excluded.heeft_alle_autorisaties
        returning id`
      const { id } = one(rows)
      await writeClients(sql, id, applicatie, remark)
      await writeRights(sql, id, rights, applicatie)
      counts.written++
    } else {
      counts.unchanged++
      await sql`
        update takeover_remark set round = ${round}
        where takeover_id = ${overneming} and kind = 'applicatie' and key = ${uuid} and code in ('client-id', 'client-id-dubbel')`
    }
    await sql`
      insert into takeover_object (kind, uuid, takeover_id, hash, round, changed_in)
      values ('applicatie', ${uuid}, ${overneming}, ${hash}, ${round}, ${round})
      on conflict (uuid, kind) do update set hash = excluded.hash, round = excluded.round,
        changed_in = case when takeover_object.hash = excluded.hash then takeover_object.changed_in else excluded.changed_in end`
    if (geheimen) await writeSecrets(sql, box, applicatie.client_ids, geheimen, remark)
    else remark('geheim-onbekend', 'De bron toont geen geheimen: geef de clients nieuwe, of neem over uit de database.')
  }
  return counts
}

/** Which of these client ids an applicatie of ours has. */
async function clientsOfOurs(sql: Sql, overneming: number, clientIds: string[]): Promise<Set<string>> {
  const rows = await sql<{ client_id: string; uuid: string }[]>`
    select c.client_id, a.uuid from applicatie_client c join applicatie a on a.id = c.applicatie_id
    where c.client_id = any(${clientIds}::text[])`
  const ours = await ownUuids(
    sql,
    overneming,
    'applicatie',
    rows.map(({ uuid }) => uuid),
  )
  return new Set(rows.flatMap(({ client_id, uuid }) => (ours.has(uuid) ? [client_id] : [])))
}

async function writeClients(
  sql: Sql,
  applicatieId: number,
  { client_ids }: ApplicatieRow,
  remark: (code: string, text: string, field?: string) => void,
): Promise<void> {
  await sql`delete from applicatie_client where applicatie_id = ${applicatieId} and client_id <> all(${client_ids}::text[])`
  await sql`delete from applicatie_client_more where applicatie_id = ${applicatieId}`
  for (const [order, clientId] of client_ids.entries()) {
    if (clientId === '' || clientId.length > 50) {
      remark('client-id', 'Een client-id is leeg of langer dan 50 tekens, en is weggelaten.', 'clientIds')
      continue
    }
    const [own] = await sql<{ client_id: string }[]>`
      insert into applicatie_client (client_id, applicatie_id, place) values (${clientId}, ${applicatieId}, ${order})
      on conflict (client_id) do update set place = excluded.place
        where applicatie_client.applicatie_id = excluded.applicatie_id
      returning client_id`
    if (own) continue
    await sql`
      insert into applicatie_client_more (client_id, applicatie_id, place) values (${clientId}, ${applicatieId}, ${order})
      on conflict do nothing`
    remark(
      'client-id-dubbel',
      `Client-id ${clientId} hoort ook bij een andere applicatie: hij heeft de rechten van beide.`,
      'clientIds',
    )
  }
}

type Right = { component: string; scopes: string[]; type_uuid: string | null; type_url: string; max: string | null }

async function writeRights(sql: Sql, applicatieId: number, rights: Right[], applicatie: ApplicatieRow): Promise<void> {
  await sql`delete from autorisatie where applicatie_id = ${applicatieId}`
  await sql`
    insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
    select ${applicatieId}, r.component, r.scopes, r.type_url, r.type_uuid, r.max
    from rows from (jsonb_to_recordset(${JSON.stringify(rights)}::text::jsonb) as (component text, scopes text[],
      type_url text, type_uuid uuid, max vertrouwelijkheidaanduiding))
      with ordinality as r(component, scopes, type_url, type_uuid, max, volgnummer)
    order by r.volgnummer`
  await sql`delete from catalogus_autorisatie where applicatie_id = ${applicatieId}`
  await sql`
    insert into catalogus_autorisatie (applicatie_id, component, catalogus_id, scopes, max_vertrouwelijkheidaanduiding)
    select ${applicatieId}, r.component, c.id, r.scopes, r.max
    from rows from (jsonb_to_recordset(${JSON.stringify(applicatie.catalogus_autorisaties)}::text::jsonb) as (component text,
      scopes text[], catalogus uuid, max vertrouwelijkheidaanduiding))
      with ordinality as r(component, scopes, catalogus, max, volgnummer)
    join catalogus c on c.uuid = r.catalogus
    order by r.volgnummer`
  if (applicatie.uitgeschreven)
    await sql`
      delete from autorisatie a using catalogus_autorisatie c
      where a.applicatie_id = ${applicatieId} and c.applicatie_id = a.applicatie_id and c.component = a.component
        and c.scopes @> a.scopes and c.scopes <@ a.scopes
        and c.max_vertrouwelijkheidaanduiding is not distinct from a.max_vertrouwelijkheidaanduiding
        and a.type_uuid in (
          select uuid from zaaktype where catalogus_id = c.catalogus_id
          union all select uuid from informatieobjecttype where catalogus_id = c.catalogus_id
          union all select uuid from besluittype where catalogus_id = c.catalogus_id)`
}

async function writeSecrets(
  sql: Sql,
  box: SecretBox,
  clientIds: string[],
  secrets: { client_id: string; geheim: string }[],
  remark: (code: string, text: string) => void,
): Promise<void> {
  for (const clientId of clientIds) {
    const secret = secrets.find(({ client_id }) => client_id === clientId)?.geheim
    if (secret === undefined || secret === '') {
      remark('geheim-leeg', `Client-id ${clientId} heeft in de bron geen geheim.`)
      continue
    }
    if (isShort(secret))
      remark('geheim-kort', `Het geheim van client-id ${clientId} is makkelijk te raden: vervang het.`)
    const stored = await sql<{ sealed_secret: Buffer }[]>`
      select sealed_secret from applicatie_secret where client_id = ${clientId} and (expires_at is null or expires_at > now())`
    const known = stored.some(({ sealed_secret }) => {
      try {
        return box.open(sealed_secret, clientId) === secret
      } catch {
        return false // of another SECRET_KEY
      }
    })
    if (known) continue
    await sql`delete from applicatie_secret where client_id = ${clientId}`
    await sql`
      insert into applicatie_secret (client_id, sealed_secret)
      select client_id, ${box.seal(secret, clientId)} from applicatie_client where client_id = ${clientId}`
  }
}
