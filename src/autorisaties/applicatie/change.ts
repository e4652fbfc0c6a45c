// Creating, changing and deleting an applicatie. Its record holds all its rights, so that every write of them replaces the
// whole set.
import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, invalid, notFound, throwFaults } from '../../core/problem.ts'
import { when } from '../../database/when.ts'
import { requireMatch } from '../../http/etag.ts'
import {
  implied,
  incompleteRights,
  readCatalogusRights,
  readRights,
  sentBack,
  without,
  writeCatalogusRights,
  writeRights,
} from '../rights.ts'
import { type Applicatie, type ApplicatieInput, type ApplicatieRow, requireApplicatie, toApplicatie } from './read.ts'

/** `zonderRechten`: it may have no rights (yet), which the standard does not allow a client to write. */
type Allowed = { zonderRechten?: boolean }

/** @throws Problem 400 */
export async function createApplicatie(m: Mutation, input: ApplicatieInput, rules: Allowed = {}): Promise<Applicatie> {
  const clientIds = [...new Set(input.clientIds)]
  throwFaults([...(await takenClientIds(m, clientIds, null)), ...incompleteRights(input)])
  const catalogusRechten = await readCatalogusRights(m, input.catalogusAutorisaties ?? [], [])
  const rechten = await readRights(m, input.autorisaties ?? [])
  requireEither(input.heeftAlleAutorisaties ?? false, rechten.length + catalogusRechten.length, rules)
  const { id, uuid } = await m.trx
    .insertInto('applicatie')
    .values({
      label: input.label,
      heeftAlleAutorisaties: input.heeftAlleAutorisaties ?? false,
      alleenIsGereedVoorPublicatie: input.alleenIsGereedVoorPublicatie ?? false,
    })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeClientIds(m, id, clientIds)
  await writeCatalogusRights(m, id, catalogusRechten)
  const { catalogusRechten: written } = await requireApplicatie(m.read, uuid)
  await writeRights(m, id, without(rechten, written.flatMap(implied)))
  return recordApplicatie(m, 'create', null, await requireApplicatie(m.read, uuid))
}

/** @param input what is absent stays as it is */
export async function changeApplicatie(
  m: Mutation,
  actie: 'update' | 'partial_update',
  uuid: string,
  input: Partial<ApplicatieInput>,
  rules: Allowed = {},
): Promise<Applicatie> {
  const { id } = await lockApplicatie(m, uuid)
  const before = await requireApplicatie(m.read, uuid)
  requireMatch(m, () => toApplicatie(before, m.actor.base))
  const clientIds = input.clientIds && [...new Set(input.clientIds)]
  throwFaults([...(clientIds ? await takenClientIds(m, clientIds, id) : []), ...incompleteRights(input)])
  const all = input.heeftAlleAutorisaties ?? before.heeftAlleAutorisaties
  const rechten = input.autorisaties && (await readRights(m, input.autorisaties, before.rechten))
  const catalogusRechten =
    input.catalogusAutorisaties !== undefined
      ? await readCatalogusRights(m, input.catalogusAutorisaties, before.catalogusRechten)
      : rechten && (all ? [] : sentBack(before.catalogusRechten, rechten))
  requireEither(all, (rechten ?? before.rechten).length + (catalogusRechten ?? before.catalogusRechten).length, rules)
  await m.trx
    .updateTable('applicatie')
    .set({
      label: input.label ?? before.label,
      heeftAlleAutorisaties: all,
      alleenIsGereedVoorPublicatie: input.alleenIsGereedVoorPublicatie ?? before.alleenIsGereedVoorPublicatie,
    })
    .where('id', '=', id)
    .execute()
  if (clientIds) await writeClientIds(m, id, clientIds)
  if (catalogusRechten) await writeCatalogusRights(m, id, catalogusRechten)
  if (rechten) {
    const { catalogusRechten: written } = await requireApplicatie(m.read, uuid)
    await writeRights(m, id, without(rechten, written.flatMap(implied)))
  }
  return recordApplicatie(m, actie, toApplicatie(before, m.actor.base), await requireApplicatie(m.read, uuid))
}

/** Its credentials go with it: every process then refuses its tokens. */
export async function deleteApplicatie(m: Mutation, uuid: string): Promise<void> {
  await lockApplicatie(m, uuid)
  const row = await requireApplicatie(m.read, uuid)
  requireMatch(m, () => toApplicatie(row, m.actor.base))
  await m.trx.deleteFrom('applicatie').where('id', '=', row.id).execute()
  recordApplicatie(m, 'destroy', toApplicatie(row, m.actor.base), row)
}

async function lockApplicatie(m: Mutation, uuid: string): Promise<{ id: number }> {
  const found = await m.trx
    .selectFrom('applicatie')
    .where('uuid', '=', uuid)
    .select('id')
    .forUpdate()
    .executeTakeFirst()
  if (!found) throw notFound()
  return found
}

/**
 * Records a change, for the audit trail and for subscribers to the kanaal autorisaties.
 * @param row what it has become, or what was removed
 */
export function recordApplicatie(
  m: Mutation,
  actie: 'create' | 'update' | 'partial_update' | 'destroy',
  oud: Applicatie | null,
  row: ApplicatieRow,
): Applicatie {
  const applicatie = toApplicatie(row, m.actor.base)
  m.record({
    component: 'ac',
    actie,
    resource: 'applicatie',
    url: applicatie.url,
    uuid: row.uuid,
    weergave: row.label,
    kanaal: { naam: 'autorisaties', kenmerken: {} },
    oud,
    nieuw: actie === 'destroy' ? null : applicatie,
  })
  return applicatie
}

/** ac-001: a client id belongs to one application. */
async function takenClientIds(m: Mutation, clientIds: string[], ownId: number | null): Promise<InvalidParam[]> {
  const taken = await m.trx
    .selectFrom('applicatieClient as c')
    .innerJoin('applicatie as a', 'a.id', 'c.applicatieId')
    .where('c.clientId', 'in', clientIds)
    .$call(
      when(ownId, (query, ownId) =>
        query
          .where('a.id', '!=', ownId)
          // Taken over with both.
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('applicatieClientMore as o')
                  .whereRef('o.clientId', '=', 'c.clientId')
                  .where('o.applicatieId', '=', ownId)
                  .select('o.clientId'),
              ),
            ),
          ),
      ),
    )
    .select(['c.clientId', 'a.uuid'])
    .execute()
  if (taken.length === 0) return []
  const ids = taken.map(({ clientId }) => clientId).join(', ')
  const uuids = [...new Set(taken.map(({ uuid }) => uuid))].join(', ')
  return [
    {
      name: 'clientIds',
      code: 'clientId-exists',
      reason: `Deze client-ids horen al bij een andere applicatie: ${ids} (${uuids}).`,
    },
  ]
}

/** ac-002: all rights, or a list of them; not both and not neither. */
function requireEither(all: boolean, rights: number, { zonderRechten = false }: Allowed): void {
  if (all && rights > 0)
    throw invalid(
      'nonFieldErrors',
      'ambiguous-authorizations-specified',
      'Geef heeftAlleAutorisaties, of autorisaties; niet beide.',
    )
  if (!all && rights === 0 && !zonderRechten)
    throw invalid(
      'nonFieldErrors',
      'missing-authorizations',
      'Geef heeftAlleAutorisaties, of ten minste een autorisatie.',
    )
}

/** What is no longer named loses its credentials; what stays keeps them. */
async function writeClientIds(m: Mutation, applicatieId: number, clientIds: string[]): Promise<void> {
  await m.trx
    .deleteFrom('applicatieClient')
    .where('applicatieId', '=', applicatieId)
    .where('clientId', 'not in', clientIds)
    .execute()
  await m.trx
    .deleteFrom('applicatieClientMore')
    .where('applicatieId', '=', applicatieId)
    .where('clientId', 'not in', clientIds)
    .execute()
  await sql`insert into applicatie_client (client_id, applicatie_id, place)
    select n.client_id, ${applicatieId}, n.place - 1
    from unnest(${clientIds}::text[]) with ordinality as n(client_id, place)
    where not exists (select from applicatie_client_more o where o.client_id = n.client_id and o.applicatie_id = ${applicatieId})
    on conflict (client_id) do update set place = excluded.place where applicatie_client.applicatie_id = excluded.applicatie_id`.execute(
    m.trx,
  )
  const [{ n } = { n: 0 }] = await m.trx
    .selectFrom('applicatieClientAll')
    .where('applicatieId', '=', applicatieId)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .execute()
  if (n !== clientIds.length) throwFaults(await takenClientIds(m, clientIds, applicatieId)) // taken just now
}
