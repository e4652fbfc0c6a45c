// Saved filters: the filters of a list that somebody uses again, under a name, for himself.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Database } from '../../database/database.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import { t } from '../language/language.ts'
import { readForm } from './form.ts'
import { withQuery } from './keyset-list.ts'
import { redirectWith } from './page.ts'
import { signedIn } from './session.ts'

/** The lists that have them, by their path below /beheer. */
const LISTS = ['/zaken', '/documenten', '/besluiten', '/audittrail', '/notificaties', '/uitgaand', '/audit']
/** For one account; the oldest make way. */
const MOST = 100

const Form = Type.Object({
  pad: Type.Enum(LISTS),
  vraag: Type.Optional(Type.String({ maxLength: 2000 })),
  naam: Type.Optional(Type.String({ maxLength: 100 })),
  weg: Type.Optional(Type.String({ pattern: `^${UUID_PATTERN}$` })),
})

/** What `saved-filters.eta` shows: the filters of this list, and the one that is in the address, without its place in the list. */
export async function savedFilters(request: FastifyRequest) {
  const [address = '', search = ''] = withQuery(request, {}).split('?', 2)
  const path = LISTS.find((one) => address.endsWith(`/beheer${one}`)) ?? ''
  const rows = await request.server.read
    .selectFrom('beheerSavedFilter')
    .where('accountId', '=', signedIn(request).id)
    .where('path', '=', path)
    .orderBy('name')
    .select(['uuid', 'name', 'query'])
    .execute()
  const query = meant(search)
  return { path, query, list: rows.map((row) => ({ ...row, isHere: row.query === query })) }
}

export function registerSavedFilters(app: FastifyInstance): void {
  app.post('/filters', { config: { access: 'beheer', rol: 'viewer' } }, async (request, reply) => {
    const { pad: path, vraag = '', naam = '', weg } = readForm(Form, request.body)
    const query = meant(vraag)
    const back = query === '' ? path : `${path}?${query}`
    const accountId = signedIn(request).id
    if (weg !== undefined) {
      await app.own.filters.delete(accountId, weg)
      return redirectWith(request, reply, back, t('Het filter is verwijderd.'))
    }
    const name = naam.trim()
    if (name === '' || query === '')
      return redirectWith(request, reply, back, t('Kies eerst een filter, en geef het een naam.'), 'fout')
    await app.own.filters.save(accountId, { path, name, query })
    return redirectWith(request, reply, back, t`Het filter “${name}” is bewaard.`)
  })
}

/** A query as it is kept: what was filled in, in one order. */
function meant(search: string): string {
  const query = new URLSearchParams(search)
  for (const name of ['na', 'voor']) query.delete(name)
  return new URLSearchParams([...query].filter(([, value]) => value !== '').toSorted()).toString()
}

/** One with the same name of the same list makes way. */
export async function saveFilter(
  { sql }: Pick<Database, 'sql'>,
  accountId: number,
  { path, name, query }: { path: string; name: string; query: string },
): Promise<void> {
  await sql`
    insert into beheer_saved_filter (account_id, path, name, query) values (${accountId}, ${path}, ${name}, ${query})
    on conflict (account_id, path, name) do update set query = excluded.query`
  await sql`
    delete from beheer_saved_filter where id in (
      select id from beheer_saved_filter where account_id = ${accountId} order by id desc offset ${MOST})`
}

/** Only one of this account. */
export async function deleteFilter({ sql }: Pick<Database, 'sql'>, accountId: number, uuid: string): Promise<void> {
  await sql`delete from beheer_saved_filter where account_id = ${accountId} and uuid = ${uuid}`
}
