// What somebody sees: of a case, document, besluit or import, whether an account is shown it, how much of what belongs to it, and why. An
// administrator asks it, and is told of nothing that he does not see himself. The rules are those of the pages themselves.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb } from '../../database/database.ts'
import { levelPlaces } from '../../documenten/import/report-rows.ts'
import { type Account, findAccount } from '../accounts/accounts.ts'
import { VERTROUWELIJKHEID } from '../applicaties/applicatie-labels.ts'
import { queryText, uuidIn, visible, visibleTo } from '../frame/lookup.ts'
import { isAbove, levelFor } from '../imports/row-level.ts'
import { t } from '../language/language.ts'

/** Rows of an import that are counted. */
const MOST_ROWS = 10_000
const config = { access: 'beheer', rol: 'administrator' } as const

type Part = { name: string; all: number; seen: number; why: string }
type Seen = { what: string; path: string; isSeen: boolean; why: string; parts: Part[] }
type Found = { id: number; uuid: string; name: string; level: Vertrouwelijkheidaanduiding; isSeen: boolean }

export function registerWhatSomebodySees(app: FastifyInstance): void {
  app.get<{ Params: { uuid: string } }>('/accounts/:uuid/ziet', { config }, async (request, reply) => {
    const account = await findAccount(app.read, request.params.uuid)
    if (!account) throw notFound(t('Dit account bestaat niet (meer).'))
    const zoek = queryText(request, 'wat').slice(0, 1000)
    return reply.page('account-sees', {
      title: t('Wat ziet deze persoon?'),
      breadcrumbs: [
        { path: '/accounts', name: t('Accounts') },
        { path: `/accounts/${account.uuid}`, name: account.gebruikersnaam },
      ],
      account,
      max: VERTROUWELIJKHEID[account.maxVertrouwelijkheidaanduiding],
      zoek,
      found: zoek === '' ? undefined : await look(request, app.read, account, zoek),
    })
  })
}

/** Undefined: there is no such thing, or the one who asks does not see it himself. */
async function look(request: FastifyRequest, db: ReadDb, account: Account, zoek: string): Promise<Seen | undefined> {
  const uuid = uuidIn(zoek) ?? null
  const column = sql`x.vertrouwelijkheidaanduiding`
  const find = async (from: RawBuilder<unknown>, level: RawBuilder<unknown> = column) => {
    const { rows } = await sql<Found>`
      select x.id, x.uuid, x.identificatie as name, ${level} as level, ${visibleTo(account, level)} as "isSeen" from ${from}
      where (x.uuid = ${uuid}::uuid or x.identificatie = ${zoek}) and ${visible(request, level)} order by x.id limit 1`.execute(
      db,
    )
    return rows[0]
  }
  const zaak = await find(sql`zaak x`)
  if (zaak)
    return {
      ...judged(account, zaak, t`Zaak ${zaak.name}`, `/zaken/${zaak.uuid}`),
      parts: await partsOf(db, account, zaak),
    }
  const document = await find(sql`enkelvoudiginformatieobject x`)
  if (document) return judged(account, document, t`Document ${document.name}`, `/documenten/${document.uuid}`)
  const ofZaak = sql`coalesce(z.vertrouwelijkheidaanduiding, 'openbaar')`
  const besluit = await find(sql`besluit x left join zaak z on z.id = x.zaak_id`, ofZaak)
  if (besluit) return judged(account, besluit, t`Besluit ${besluit.name}`, `/besluiten/${besluit.uuid}`)
  return uuid === null ? undefined : lookAtImport(db, account, uuid)
}

function judged(account: Account, { level, isSeen }: Found, what: string, path: string): Seen {
  return { what, path, isSeen: isSeen && account.actief, why: whyOf(account, level, isSeen), parts: [] }
}

function whyOf(
  { actief, maxVertrouwelijkheidaanduiding: max }: Account,
  level: Vertrouwelijkheidaanduiding,
  isSeen: boolean,
) {
  if (!actief) return t('Het account is niet actief, en ziet niets.')
  const [is, to] = [VERTROUWELIJKHEID[level], VERTROUWELIJKHEID[max]]
  return isSeen
    ? t`Het niveau is ${is}, en dit account ziet tot en met ${to}.`
    : t`Het niveau is ${is}, en dit account ziet niet verder dan ${to}.`
}

/** Documents have levels of their own; the rest is shown as the case is. */
async function partsOf(db: ReadDb, account: Account, zaak: Found): Promise<Part[]> {
  const isShown = zaak.isSeen && account.actief
  const { rows } = await sql<{ documents: number; seen: number; besluiten: number; messages: number }>`
    select (select count(*)::int from zaakinformatieobject o where o.zaak_id = ${zaak.id}::bigint) as documents,
      (select count(*)::int from zaakinformatieobject o left join enkelvoudiginformatieobject d on d.id = o.enkelvoudiginformatieobject_id
        where o.zaak_id = ${zaak.id}::bigint and (d.id is null or ${visibleTo(account, sql`d.vertrouwelijkheidaanduiding`)})) as seen,
      (select count(*)::int from besluit b where b.zaak_id = ${zaak.id}::bigint) as besluiten,
      (select count(*)::int from notificatie n where n.hoofd_object_uuid = ${zaak.uuid}::uuid) as messages`.execute(db)
  const { documents = 0, seen = 0, besluiten = 0, messages = 0 } = rows[0] ?? {}
  const asCase = isShown ? t('Zoals de zaak.') : t('Zoals de zaak: niets.')
  const counted = (all: number) => ({ all, seen: isShown ? all : 0, why: asCase })
  return [
    {
      name: t('Documenten'),
      all: documents,
      seen: account.actief ? seen : 0,
      why: isShown
        ? t('Elk document naar zijn eigen niveau.')
        : t('Niet bij deze zaak; elk document wel waar het zelf te vinden is, naar zijn eigen niveau.'),
    },
    { name: t('Besluiten'), ...counted(besluiten) },
    { name: t('Berichten (notificaties)'), ...counted(messages) },
  ]
}

async function lookAtImport(db: ReadDb, account: Account, uuid: string): Promise<Seen | undefined> {
  const row = await db
    .selectFrom('import')
    .select(['id', 'rowsId', 'header', 'startedBy', 'bestandsnaam'])
    .where('uuid', '=', uuid)
    .executeTakeFirst()
  if (!row) return undefined
  const [own, his] = [levelFor(account, row.startedBy), account.actief]
  const above = isAbove(own, levelPlaces((row.header ?? []) as string[]), sql`u.document_uuid`)
  const { rows } = await sql<{ all: number; seen: number }>`
    select count(*)::int as all, count(*) filter (where not coalesce(${above}, false))::int as seen
    from (select * from import_outcome where import_id = ${row.id}::bigint order by number limit ${MOST_ROWS}) u
    left join import_row r on r.import_id = coalesce(${row.rowsId}::bigint, ${row.id}::bigint) and r.number = u.number`.execute(
    db,
  )
  const { all = 0, seen = 0 } = rows[0] ?? {}
  const why = !his
    ? t('Het account is niet actief, en ziet niets.')
    : own === undefined
      ? row.startedBy === account.gebruikersnaam
        ? t('Deze persoon bracht het bestand, en ziet al zijn rijen.')
        : t('Dit account ziet alle niveaus.')
      : t`De import zelf ziet iedereen. Van een rij ziet dit account de inhoud als het document niet vertrouwelijker is dan ${VERTROUWELIJKHEID[own]}.`
  return {
    what: t`Import ${row.bestandsnaam || uuid}`,
    path: `/imports/${uuid}`,
    isSeen: his,
    why,
    parts: [
      {
        name: all === MOST_ROWS ? t`Inhoud van de eerste ${MOST_ROWS} rijen` : t('Inhoud van rijen'),
        all,
        seen: his ? seen : 0,
        why: t('Van een rij die te vertrouwelijk is, ziet dit account het nummer en of zij lukte.'),
      },
    ],
  }
}
