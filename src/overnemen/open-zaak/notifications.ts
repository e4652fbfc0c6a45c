// Reads kanalen and abonnementen of Open Notificaties: from its database with all that is needed to go on sending, or over its API,
// which shows everything but how it identifies itself.
import { openDatabase } from '../../database/database.ts'
import type { Json } from '../api/client.ts'
import { uuidIn } from '../api/shape.ts'
import { askSource } from '../patience.ts'
import { SourceUnavailable } from '../source.ts'

export type Kanaal = { uuid: string; naam: string; documentatieLink: string; filters: string[] }
export type Abonnement = {
  uuid: string
  callbackUrl: string
  authenticatie: 'header' | 'jwt' | 'oauth2'
  /** Value of the header, or the secret; undefined: the source does not show it. */
  auth: string | undefined
  outgoingClientId: string
  tokenUrl: string
  tokenScope: string
  cloudevents: boolean
  /** Whose it is, as the source knows it. */
  clientId: string
  kanalen: { naam: string; filters: Record<string, string> }[]
  /** What it has there and nobody can take over. */
  lacks: ('certificate' | 'cloudevent-filter')[]
}
export type Notifications = { kanalen: Kanaal[]; abonnementen: Abonnement[] }

/** The database that was named holds no Open Notificaties. */
export class NotOpenNotificaties extends Error {
  override name = 'NotOpenNotificaties'
  constructor() {
    super('this database holds no tables of Open Notificaties (datamodel_kanaal, datamodel_abonnement)')
  }
}

const METHODS: Record<string, Abonnement['authenticatie']> = { zgw: 'jwt', oauth2_client_credentials: 'oauth2' }

/** With a role that may only read. @throws NotOpenNotificaties, SourceUnavailable */
export async function readNotificationsDatabase(url: string): Promise<Notifications> {
  const database = openDatabase(url, {
    max: 1,
    name: 'overnemen',
    isForeign: true,
    settings: { default_transaction_read_only: 'on' },
  })
  const { sql } = database
  try {
    return await askSource(async () => {
      const columns = await sql<{ name: string }[]>`
        select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = 'datamodel_abonnement'`
      if (columns.length === 0) throw new NotOpenNotificaties()
      const has = (name: string) => columns.some((column) => column.name === name)
      const kanalen = await sql<Kanaal[]>`
        select uuid, naam, documentatie_link as "documentatieLink", filters from datamodel_kanaal order by id`
      // Versions differ in columns: what one does not have is read as null.
      const rows = await sql<{ row: Record<string, unknown>; kanalen: Abonnement['kanalen']; groups: number }[]>`
        select to_jsonb(a) as row, (
          select coalesce(json_agg(json_build_object('naam', k.naam, 'filters', (
            select coalesce(json_object_agg(f.key, f.value), '{}') from datamodel_filter f where f.filter_group_id = g.id
          )) order by g.id), '[]')
          from datamodel_filtergroup g join datamodel_kanaal k on k.id = g.kanaal_id where g.abonnement_id = a.id) as kanalen,
          ${has('send_cloudevents') ? sql`(select count(*) from datamodel_cloudeventfiltergroup c where c.abonnement_id = a.id)` : sql`0::bigint`} as groups
        from datamodel_abonnement a order by a.id`
      const abonnementen = rows.map(({ row, kanalen, groups }): Abonnement => {
        const text = (name: string) => String(row[name] ?? '')
        const authenticatie = METHODS[text('auth_type')] ?? 'header'
        return {
          ...{ uuid: text('uuid'), callbackUrl: text('callback_url'), authenticatie, kanalen },
          auth: authenticatie === 'header' ? text('auth') : text('secret'),
          outgoingClientId: authenticatie === 'header' ? '' : text('client_id'),
          ...{ tokenUrl: text('oauth2_token_url'), tokenScope: text('oauth2_scope') },
          ...{ cloudevents: row.send_cloudevents === true, clientId: text('client_id') },
          lacks: [
            ...(row.client_certificate_id ? (['certificate'] as const) : []),
            ...(groups > 0 ? (['cloudevent-filter'] as const) : []),
          ],
        }
      })
      return { kanalen: [...kanalen], abonnementen }
    })
  } finally {
    await database.close()
  }
}

/** @param get answers a path below its `/api/v1` @throws SourceUnavailable when it does not show its lists */
export async function readNotificationsApi(
  get: (path: string) => Promise<{ status: number; body: unknown }>,
): Promise<Notifications> {
  const list = async (path: string) => {
    const { status, body } = await get(path)
    const rows = Array.isArray(body) ? body : (body as { results?: Json[] } | undefined)?.results
    if (status !== 200 || !rows) throw new SourceUnavailable(`${status} for ${path}`)
    return rows as Json[]
  }
  return {
    kanalen: (await list('/kanaal')).map((json) => ({
      ...{ uuid: uuidIn(json.url), naam: String(json.naam) },
      ...{ documentatieLink: String(json.documentatieLink ?? ''), filters: (json.filters ?? []) as string[] },
    })),
    abonnementen: (await list('/abonnement')).map((json) => ({
      ...{ uuid: uuidIn(json.url), callbackUrl: String(json.callbackUrl), authenticatie: 'header' as const },
      auth: typeof json.auth === 'string' && json.auth !== '' ? json.auth : undefined,
      ...{ outgoingClientId: '', tokenUrl: '', tokenScope: '', clientId: '' },
      cloudevents: json.sendCloudevents === true,
      kanalen: ((json.kanalen ?? []) as Json[]).map(({ naam, filters }) => ({
        ...{ naam: String(naam), filters: (filters ?? {}) as Record<string, string> },
      })),
      lacks: Array.isArray(json.cloudeventFilters) && json.cloudeventFilters.length > 0 ? ['cloudevent-filter'] : [],
    })),
  }
}
