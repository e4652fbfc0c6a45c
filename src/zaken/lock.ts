// The case of a change: found and locked, so that it does not change or close halfway.
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import type { Actor } from '../core/actor.ts'
import type { Mutation } from '../core/mutate.ts'
import { forbiddenNow, type InvalidParam, invalid, notFound, onObject, throwFaults } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { resolveLink } from '../http/links.ts'
import { GEFORCEERD, mayDo, requireMay, type Scopes } from './rights.ts'

function selectCore(db: ReadDb) {
  return db
    .selectFrom('zaak as z')
    .leftJoin('zaaktype as t', 't.id', 'z.zaaktypeId')
    .leftJoin('catalogus as c', 'c.id', 't.catalogusId')
    .select(['z.id', 'z.uuid', 'z.identificatie', 'z.bronorganisatie', 'z.zaaktypeId', 'z.vertrouwelijkheidaanduiding'])
    .select(['z.einddatum', 'z.archiefstatus', 'z.archiefnominatie', 'z.archiefactiedatum', 'z.hoofdzaakId'])
    .select(['t.uuid as zaaktypeUuid', 'c.uuid as catalogusUuid'])
    .select(['z.zaaktypeUrl', 'z.zaaktypeCatalogusUrl'])
}
/** What every change below a case has to know of it. */
export type ZaakCore = Awaited<ReturnType<ReturnType<typeof selectCore>['executeTakeFirstOrThrow']>>

/** A case without a lock, to judge a reader by. @throws Problem 404, or 403 without the right */
export async function requireZaak(db: ReadDb, actor: Actor, scopes: Scopes, uuid: string): Promise<ZaakCore> {
  const zaak = await selectCore(db).where('z.uuid', '=', uuid).executeTakeFirst()
  if (!zaak) throw notFound()
  requireMay(actor, scopes, zaak)
  return zaak
}

/** The case with this uuid, locked: it does not change until the transaction ends. */
export function holdZaak(m: Mutation, uuid: string): Promise<ZaakCore | undefined> {
  return selectCore(m.read).where('z.uuid', '=', uuid).forNoKeyUpdate('z').executeTakeFirst()
}

/** Cases with these ids, locked; to delete them so that nothing is hung on them either. */
export function holdZaken(m: Mutation, ids: readonly number[], to: 'change' | 'delete'): Promise<ZaakCore[]> {
  const any = sql<number>`any(${ids}::bigint[])`
  const query = selectCore(m.read).where('z.id', '=', any).orderBy('z.id')
  return (to === 'delete' ? query.forUpdate('z') : query.forNoKeyUpdate('z')).execute()
}

/** The case to which a row of this table belongs, locked. */
export function holdZaakOf(m: Mutation, table: string, uuid: string): Promise<ZaakCore | undefined> {
  const id = sql<number>`(select zaak_id from ${sql.table(table)} where uuid = ${uuid}::uuid)`
  return selectCore(m.read).where('z.id', '=', id).forNoKeyUpdate('z').executeTakeFirst()
}

/**
 * The case that the body of something below it names, locked.
 * @throws Problem 400 on `name` when it is no case of ours, 403 without the right
 */
export async function zaakForChange(m: Mutation, url: string, scopes: Scopes, name = 'zaak'): Promise<ZaakCore> {
  const target = resolveLink(url, m.actor.base)
  if (target.kind === 'ours' && target.resource !== 'zaak')
    throw invalid(name, 'incorrect_match', 'Deze URL is van een andere resource.')
  const zaak = target.kind === 'ours' ? await holdZaak(m, target.uuid) : undefined
  if (!zaak) throw invalid(name, 'object-does-not-exist', 'Deze zaak bestaat niet.')
  requireMay(m.actor, scopes, zaak)
  return zaak
}

/**
 * The one gate of whatever writes below a case: each create, change and delete of what hangs on it. The rights of the actor on the case
 * were judged where it was held (`zaakForChange`, `holdOne`), or are those of the component that asks.
 * @param faults what else is wrong, told together
 * @param closed `judged`: the caller judges by a rule of its own who may change a closed case
 * @throws Problem 400 when the case is archived: what hangs on it stays as it is, whoever asks (but by force with
 * `CHANGE_ARCHIVED_ZAKEN`); 403 when it is closed and the actor may
 * not force it (zrc-007)
 */
export function requireWritable(
  m: Pick<Mutation, 'actor'>,
  zaak: ZaakCore,
  faults: readonly InvalidParam[] = [],
  closed: 'forced' | 'judged' = 'forced',
): void {
  throwFaults([...faults, ...(isFixed(m, zaak) ? [ARCHIVED] : [])])
  if (closed === 'forced' || isArchived(zaak)) requireForcedWhenClosed(m, zaak)
}

/** How a closed case is judged by what tells of it afterwards: servers in use let that through (`NOTES_OF_CLOSED_ZAKEN`). */
export const closedForNotes = ({ notesOfClosedZaken }: Pick<Config, 'notesOfClosedZaken'>): 'forced' | 'judged' =>
  notesOfClosedZaken ? 'judged' : 'forced'

/** The same for the case itself, which is changed and removed by force also when it is archived. @throws Problem 403 */
export function requireForcedWhenClosed({ actor }: Pick<Mutation, 'actor'>, zaak: ZaakCore): void {
  if ((zaak.einddatum !== null || isArchived(zaak)) && !mayDo(actor, GEFORCEERD, zaak))
    throw forbiddenNow('De zaak is afgesloten; wijzigen vraagt het recht zaken.geforceerd-bijwerken.')
}

/** Whether nobody changes what hangs on it. */
export const isFixed = ({ actor }: Pick<Mutation, 'actor'>, zaak: ZaakCore): boolean =>
  isArchived(zaak) && !actor.lenient?.archived

export const isArchived = ({ archiefstatus }: Pick<ZaakCore, 'archiefstatus'>): boolean =>
  archiefstatus !== 'nog_te_archiveren'

export const ARCHIVED = onObject(
  'zaak-archiefstatus-invalid',
  'De zaak is gearchiveerd of overgedragen en kan niet meer wijzigen.',
)

/** A case below which something changed. */
export async function touchZaak(m: Mutation, zaakId: number): Promise<void> {
  await m.sql`update zaak set laatst_gemuteerd = moment_from(laatst_gemuteerd) where id = ${zaakId}`
}
