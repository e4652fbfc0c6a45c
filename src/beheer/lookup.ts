// opzoeken: what the pages to look things up share: what somebody may see, searching by name, and lists below an object.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { ReadDb } from '../database/database.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../http/input.ts'
import { notFound } from '../http/problem.ts'
import { UUID_PATTERN } from '../http/uuid.ts'
import { type Bladzij, type Cursor, keysetPage } from './keyset-list.ts'

const UUID = new RegExp(UUID_PATTERN, 'i')

/** The uuid in what somebody typed or pasted: a uuid, or an address that ends in one. */
export function uuidIn(text: string): string | undefined {
  return text.match(UUID)?.[0].toLowerCase()
}

/** The uuid in the address of a page. @throws Problem 404 when it is none */
export function uuidParam(request: FastifyRequest): string {
  const { uuid } = request.params as { uuid: string }
  if (!/^[0-9a-f-]{36}$/i.test(uuid) || !UUID.test(uuid)) throw notFound('Deze pagina bestaat niet.')
  return uuid.toLowerCase()
}

/** A text in the query of a page; whatever the database cannot hold is left out. */
export function queryText(request: FastifyRequest, name: string): string {
  const value = (request.query as Record<string, unknown>)[name]
  const text = String(Array.isArray(value) ? value.at(-1) : (value ?? ''))
  return text.replaceAll('\0', '').toWellFormed().trim().slice(0, 1000)
}

/** A date in the query of a page, when it is one. */
export function queryDay(request: FastifyRequest, name: string): string | undefined {
  const text = queryText(request, name)
  const valid = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && !text.startsWith('0000')
  return valid && new Date(text).toISOString().startsWith(text) ? text : undefined
}

/** Whether what somebody looks at is not above what he may see. */
export function visible(request: FastifyRequest, column: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${column} <= ${request.beheerder!.maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding`
}

/** @throws Problem 404 when it is above what he may see: for him it does not exist */
export function requireVisible(request: FastifyRequest, vertrouwelijkheidaanduiding: string): void {
  const levels: readonly string[] = VERTROUWELIJKHEIDAANDUIDINGEN
  const max = request.beheerder!.maxVertrouwelijkheidaanduiding
  if (levels.indexOf(vertrouwelijkheidaanduiding) > levels.indexOf(max)) throw notFound('Deze pagina bestaat niet.')
}

/** A list by number, newest first; `conditions` begin with a column, `from` ends where they come. */
export async function keysetByNumber<Row extends { id: number }>(
  request: FastifyRequest,
  db: ReadDb,
  query: { select: RawBuilder<unknown>; id: RawBuilder<unknown>; conditions: RawBuilder<unknown>[]; size?: number },
): Promise<Bladzij<Row>> {
  return keysetPage<Row>(request, {
    ...(query.size !== undefined && { size: query.size }),
    key: ({ id }) => String(id),
    rows: async (limit, cursor) => {
      const conditions = [...query.conditions, ...fromNumber(query.id, cursor)]
      const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
      const order = cursor.voor === undefined ? sql`desc` : sql`asc`
      const { rows } = await sql<Row>`${query.select} ${where} order by ${query.id} ${order} limit ${limit}`.execute(
        db as never,
      )
      return rows
    },
  })
}

function fromNumber(id: RawBuilder<unknown>, { na, voor }: Cursor): RawBuilder<unknown>[] {
  const valid = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)
  if (valid(voor)) return [sql`${id} > ${voor}::bigint`]
  return valid(na) ? [sql`${id} < ${na}::bigint`] : []
}

/** The changes of a main object, as the audit trail of the API keeps them. */
export type Spoor = {
  id: number
  actie: string
  resource: string
  weergave: string
  wie: string
  op: string
  velden: { veld: string; oud: string; nieuw: string }[]
}

const ACTIES: Record<string, string> = {
  create: 'Gemaakt',
  update: 'Gewijzigd',
  partial_update: 'Gewijzigd',
  destroy: 'Verwijderd',
}

/** A page of the audit trail of a main object, newest first. */
export async function historyOf(app: FastifyInstance, request: FastifyRequest, uuid: string): Promise<Bladzij<Spoor>> {
  type Row = Omit<Spoor, 'velden'> & { oud: unknown; nieuw: unknown }
  const list = await keysetByNumber<Row>(request, app.read, {
    size: 20,
    select: sql`select a.id, a.actie, a.resource, a.resource_weergave as weergave, a.aanmaakdatum as op, a.oud, a.nieuw,
      concat_ws(', ', nullif(coalesce(nullif(a.gebruikers_weergave, ''), a.gebruikers_id), ''), nullif(a.applicatie_weergave, '')) as wie
      from audit a`,
    id: sql`a.id`,
    conditions: [sql`a.hoofd_object_uuid = ${uuid}`],
  })
  const rijen = list.rijen.map(({ oud, nieuw, ...row }) => ({
    ...row,
    actie: ACTIES[row.actie] ?? row.actie,
    velden: differences(oud, nieuw),
  }))
  return { ...list, rijen }
}

/** Field by field what is not the same before and after. */
export function differences(oud: unknown, nieuw: unknown): { veld: string; oud: string; nieuw: string }[] {
  const [before, after] = [asFields(oud), asFields(nieuw)]
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((veld) => {
    const [from, to] = [asText(before[veld]), asText(after[veld])]
    return from === to ? [] : [{ veld, oud: from, nieuw: to }]
  })
}

const asFields = (state: unknown): Record<string, unknown> =>
  state !== null && typeof state === 'object' && !Array.isArray(state)
    ? (state as Record<string, unknown>)
    : state === null || state === undefined
      ? {}
      : { waarde: state }

function asText(value: unknown): string {
  if (value === null || value === undefined || value === '') return ''
  if (typeof value === 'boolean') return value ? 'ja' : 'nee'
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  // Of a BSN the last three digits: enough to recognise somebody by.
  return text.replace(/("(?:inpBsn|anpIdentificatie)": ")\d+(\d{3}")/g, '$1••••••$2')
}
