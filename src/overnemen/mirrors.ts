// The other side of relations that were taken over: it stands at another installation.
import type postgres from 'postgres'
import { link } from '../http/links.ts'
import type { Taken } from './kinds.ts'

/** Relations that another installation holds too, by the kind of ours: what it holds, and what was posted there. */
const MIRRORS: Record<string, { kind: string; inhoud(object: Taken, base: string): Record<string, unknown> }> = {
  zaakcontactmoment: {
    kind: 'objectcontactmoment',
    inhoud: ({ contactmoment, zaak }, base) => ({
      contactmoment,
      object: link(base, 'zaak', String(zaak)),
      objectType: 'zaak',
    }),
  },
  zaakverzoek: {
    kind: 'objectverzoek',
    inhoud: ({ verzoek, zaak }, base) => ({ verzoek, object: link(base, 'zaak', String(zaak)), objectType: 'zaak' }),
  },
  zaakinformatieobject: {
    kind: 'objectinformatieobject',
    inhoud: ({ informatieobject, zaak }, base) => ({
      informatieobject,
      object: link(base, 'zaak', String(zaak)),
      objectType: 'zaak',
    }),
  },
  besluitinformatieobject: {
    kind: 'objectinformatieobject',
    inhoud: ({ informatieobject, besluit }, base) => ({
      informatieobject,
      object: link(base, 'besluit', String(besluit)),
      objectType: 'besluit',
    }),
  },
  besluit: { kind: 'zaakbesluit', inhoud: ({ uuid }, base) => ({ besluit: link(base, 'besluit', uuid) }) },
}

/** Keeps where the other side of relations of this kind stands, so that removing ours removes that too. Other kinds have none. */
export async function writeMirrors(
  sql: postgres.TransactionSql,
  name: string,
  objects: Taken[],
  base: string,
): Promise<void> {
  const mirror = MIRRORS[name]
  if (!mirror) return
  const { kind, inhoud } = mirror
  const rows = objects.flatMap((object) => {
    const url = object.spiegel
    if (typeof url !== 'string' || !URL.canParse(url) || url.startsWith(`${base}/`)) return []
    return [{ uuid: object.uuid, list_url: url.replace(/\/[^/]*\/?$/, ''), content: inhoud(object, base), url }]
  })
  const uuids = objects.map(({ uuid }) => uuid)
  await sql`delete from mirror where source_table = ${kind} and source_uuid = any(${uuids}::uuid[]) and pending_mirror_id is null`
  if (rows.length === 0) return
  await sql`
    insert into mirror (kind, source_table, source_uuid, list_url, content, url)
    select ${kind}, ${name}, uuid, list_url, content, url
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(uuid uuid, list_url text, content jsonb, url text)`
}
