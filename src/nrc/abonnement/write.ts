// Making, changing and ending abonnementen: for the API and for the pages.
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound, onObject, throwFaults } from '../../core/problem.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Database } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { requireMatch } from '../../http/etag.ts'
import type { Subscriber } from '../../notificaties/claims.ts'
import { subscriberOwner, subscriberServers } from '../../notificaties/deliver.ts'
import { receiverAnswers } from '../../notificaties/resend.ts'
import { UNRECORDED } from '../records.ts'
import { requireOwner } from '../rights.ts'
import type { KnownGroup } from './judge.ts'
import { MAX_ABONNEMENTEN, MAX_GROUPS, requireAbonnement, toAbonnement } from './read.ts'

/** What can be set of an abonnement beside its kanalen. Secrets are as they were given. */
export type Settings = Omit<Subscriber, 'uuid' | 'auth' | 'certificateKey' | 'ondertekening'> & {
  auth: string
  certificateKey: string | null
  concurrency: number
  inOrder: boolean
  applicatieUuid: string | null
}

/** @param parts.config of a bound on how many there may be; left out: there is none */
export async function createAbonnement(
  m: Mutation,
  { box, config }: { box: SecretBox; config?: Pick<Config, 'abonnementenMax'> },
  uuid: string,
  given: Partial<Settings> & Pick<Settings, 'callbackUrl' | 'auth' | 'applicatieUuid'>,
  groups: KnownGroup[],
): Promise<void> {
  m.unrecorded(UNRECORDED)
  await requireRoom(m, config?.abonnementenMax)
  const applicatie = await findApplicatie(m, given.applicatieUuid)
  if ((applicatie?.count ?? 0) >= MAX_ABONNEMENTEN) {
    const reason = `Een applicatie heeft ten hoogste ${MAX_ABONNEMENTEN} abonnementen.`
    throwFaults([{ name: 'nonFieldErrors', code: 'max-items', reason }])
  }
  const { id } = await m.trx
    .insertInto('abonnement')
    .values({
      uuid,
      applicatieId: applicatie?.id ?? null,
      clientId: m.actor.clientId,
      callbackUrl: given.callbackUrl,
      auth: box.sealFor(given.auth, subscriberOwner(uuid), subscriberServers({ tokenUrl: '', ...given })),
      ...columnsOf(box, { uuid, callbackUrl: '', tokenUrl: '' }, given),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await writeKanalen(m, id, groups)
}

/** One after the other: two at once do not pass the bound. @throws Problem 400 `max-items` */
async function requireRoom(m: Mutation, most: number | undefined): Promise<void> {
  if (most === undefined) return
  await m.sql`select pg_advisory_xact_lock(hashtext(current_schema() || ' abonnement'), 0)`
  const rows = await m.sql<{ count: number }[]>`select count(*)::int as count from abonnement where deleted_at is null`
  if (one(rows).count < most) return
  throwFaults([onObject('max-items', `Er zijn hier ten hoogste ${most} abonnementen.`)])
}

/** @param groups in place of those that there are; left out: those stay */
export async function changeAbonnement(
  m: Mutation,
  box: SecretBox,
  uuid: string,
  given: Partial<Settings>,
  groups?: KnownGroup[],
): Promise<void> {
  m.unrecorded(UNRECORDED)
  const row = await lockAbonnement(m, uuid)
  const applicatie =
    given.applicatieUuid === undefined
      ? {}
      : { applicatieId: (await findApplicatie(m, given.applicatieUuid))?.id ?? null }
  await m.trx
    .updateTable('abonnement')
    .set({ changedAt: sql`now()`, ...applicatie, ...columnsOf(box, row, given) })
    .where('id', '=', row.id)
    .execute()
  if (isCalledOtherwise(box, row, given)) await callAnew(m, row)
  if (groups) {
    await m.trx.deleteFrom('abonnementKanaal').where('abonnementId', '=', row.id).execute()
    await writeKanalen(m, row.id, groups)
  }
}

const PLAIN = ['callbackUrl', 'authenticatie', 'outgoingClientId', 'tokenUrl', 'tokenScope', 'certificaat'] as const

/** Whether messages go elsewhere, or with other credentials: what the receiver did before says nothing then. */
function isCalledOtherwise(box: SecretBox, row: Locked, given: Partial<Settings>): boolean {
  const { uuid, certificateKey } = row
  const storedKey = certificateKey && box.open(certificateKey, subscriberOwner(uuid))
  return (
    PLAIN.some((name) => given[name] !== undefined && given[name] !== row[name]) ||
    (given.auth !== undefined &&
      given.auth !== box.tryOpenFor(row.auth, subscriberOwner(uuid), subscriberServers(row))) ||
    (given.certificateKey !== undefined && given.certificateKey !== storedKey)
  )
}

/** What waited to be fetched has no moment; it gets one when there is a callback again. */
async function callAnew(m: Mutation, { id, callbackUrl }: Locked): Promise<void> {
  if (callbackUrl === '')
    await m.sql`
      update delivery set next_attempt_at = now(), place = null
      where abonnement_id = ${id} and status = 'gepland' and next_attempt_at is null`
  await receiverAnswers(m, id)
}

type Locked = Awaited<ReturnType<typeof lockAbonnement>>

function columnsOf(
  box: SecretBox,
  { uuid, callbackUrl, tokenUrl }: Pick<Subscriber, 'uuid' | 'callbackUrl' | 'tokenUrl'>,
  given: Partial<Settings>,
) {
  const { auth, certificateKey, applicatieUuid: _, ...plain } = given
  const owner = subscriberOwner(uuid)
  const servers = subscriberServers({ callbackUrl, tokenUrl, ...plain })
  return {
    ...plain,
    ...(auth !== undefined && { auth: box.sealFor(auth, owner, servers) }),
    ...(certificateKey !== undefined && {
      certificateKey: certificateKey === null ? null : box.seal(certificateKey, owner),
    }),
  }
}

async function findApplicatie(m: Mutation, uuid: string | null) {
  return uuid
    ? m.trx
        .selectFrom('applicatie as p')
        .where('p.uuid', '=', uuid)
        .select((e) => [
          'p.id',
          e
            .selectFrom('abonnement as a')
            .whereRef('a.applicatieId', '=', 'p.id')
            .where('a.deletedAt', 'is', null)
            .select((f) => f.fn.countAll<number>().as('count'))
            .as('count'),
        ])
        .executeTakeFirst()
    : undefined
}

/** At once nothing more is sent to it; a job removes what was still to be delivered, in portions. */
export async function deleteAbonnement(m: Mutation, uuid: string): Promise<void> {
  m.unrecorded(UNRECORDED)
  const row = await lockAbonnement(m, uuid)
  await m.trx.updateTable('abonnement').set({ deletedAt: sql`now()` }).where('id', '=', row.id).execute()
  await m.enqueue('remove-abonnementen', {}, { jobKey: 'remove-abonnementen' })
}

/**
 * Keeps others from changing it until the end of the transaction.
 * @throws Problem 404, or 403 for that of another applicatie
 */
export async function lockAbonnement(m: Mutation, uuid: string) {
  const row = await m.trx
    .selectFrom('abonnement as a')
    .leftJoin('applicatie as p', 'p.id', 'a.applicatieId')
    .select([
      'a.id',
      'a.uuid',
      'a.status',
      'a.reason',
      'a.statusSince',
      'a.missedAfter',
      'a.callbackUrl',
      'a.authenticatie',
      'a.auth',
      'a.outgoingClientId',
      'a.tokenUrl',
      'a.tokenScope',
      'a.certificaat',
      'a.certificateKey',
      'a.cloudevents',
      'a.place',
      'a.confirmed',
      'a.ondertekening',
      'p.uuid as applicatieUuid',
    ])
    .where('a.uuid', '=', uuid)
    .where('a.deletedAt', 'is', null)
    .forUpdate('a')
    .executeTakeFirst()
  if (!row) throw notFound()
  requireOwner(m.actor, row.applicatieUuid)
  if (m.actor.precondition) requireMatch(m, toAbonnement(await requireAbonnement(m.read, uuid), m.actor.base))
  return row
}

async function writeKanalen(m: Mutation, abonnementId: number, groups: KnownGroup[]): Promise<void> {
  if (groups.length === 0) return
  await m.sql`
    insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
    select ${abonnementId}, g.kanaal_id, g.filters
    from jsonb_to_recordset(${m.sql.json(groups.map(({ kanaalId, filters }) => ({ kanaal_id: kanaalId, filters })))})
      as g(kanaal_id bigint, filters jsonb)`
  const [room] = await m.sql<{ full: boolean }[]>`
    select count(*) > ${MAX_GROUPS} as full
    from abonnement made join abonnement a on a.applicatie_id = made.applicatie_id and a.deleted_at is null
    join abonnement_kanaal ak on ak.abonnement_id = a.id
    where made.id = ${abonnementId}`
  if (room?.full) {
    const reason = `De abonnementen van een applicatie hebben samen ten hoogste ${MAX_GROUPS} kanalen met filters.`
    throwFaults([{ name: 'kanalen', code: 'max-items', reason }])
  }
}

const PORTION = 5000

/**
 * Removes what deleted abonnementen left: their deliveries in portions, then themselves. What is in flight stays until it is recorded.
 * Running it again is harmless.
 * @returns how many abonnementen are gone, and how many stay for what is in flight
 */
export async function deleteEndedAbonnementen({ sql }: Database): Promise<{ gone: number; left: number }> {
  const deleted = await sql<{ id: number }[]>`select id from abonnement where deleted_at is not null`
  let gone = 0
  for (const { id } of deleted) {
    // Each state has an index of its own, used for its order: the table from its beginning would be dead rows, more at every portion.
    for (const waiting of [
      sql`status = 'gepland' and (claimed_by is null or not exists (select from worker w where w.id = claimed_by))
        order by hoofd_object_uuid, notificatie_id`,
      sql`status = 'mislukt' order by notificatie_id`,
    ]) {
      for (let removed = PORTION; removed === PORTION; ) {
        const { count } = await sql`
          delete from delivery where ctid = any(array(
            select ctid from delivery where abonnement_id = ${id} and ${waiting} limit ${PORTION}))`
        removed = count
      }
    }
    const { count } = await sql`
      delete from abonnement a where a.id = ${id} and not exists (
        select from delivery l where l.abonnement_id = a.id and l.status = 'gepland'
        union all select from delivery l where l.abonnement_id = a.id and l.status = 'mislukt')`
    gone += count
  }
  return { gone, left: deleted.length - gone }
}
