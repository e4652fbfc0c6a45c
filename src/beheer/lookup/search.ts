// Search: one box for everything, in the header of every page. What was typed is a number, words, a uuid, an address or a BSN.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { passesElfproef } from '../../http/formats.ts'
import { contains, isFindable } from '../../http/page.ts'
import { rollenOf } from '../../zaken/persons.ts'
import type { FormValues } from '../frame/form.ts'
import { basePath } from '../frame/keyset-list.ts'
import { maskBsn, queryText, uuidIn, visible } from '../frame/lookup.ts'
import { hasRole } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { besluitVisible } from './besluiten.ts'

/** As many of a kind are shown; the lists of cases and documents show all. */
const SHOWN = 10

type Zaak = {
  uuid: string
  identificatie: string
  omschrijving: string
  zaaktype: string
  startdatum: string
  einddatum: string | null
}
type Document = { uuid: string; identificatie: string; titel: string; soort: string; creatiedatum: string }
type Besluit = { uuid: string; identificatie: string; soort: string; datum: string }
type Found = { zaken: Zaak[]; documenten: Document[]; besluiten: Besluit[] }

export function registerSearch(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  // A form that posts: a BSN then stands in no address, and so in no log and no history of a browser.
  app.post('/zoeken', { config }, async (request, reply) => {
    const text = cleaned((request.body as FormValues | null)?.zoek)
    const bsn = bsnIn(text)
    if (bsn) return searchBsn(request, reply, bsn)
    return reply.redirect(`${basePath(request)}/beheer/zoeken?zoek=${encodeURIComponent(text)}`, 303)
  })

  app.get('/zoeken', { config }, async (request, reply) => {
    const zoek = queryText(request, 'zoek')
    const page = await pageOfUuid(request, zoek)
    if (page) return reply.redirect(`${basePath(request)}/beheer${page}`, 303)
    const found = await search(request, zoek)
    const only = onlyPage(found, zoek)
    if (only) return reply.redirect(`${basePath(request)}/beheer${only}`, 303)
    return sendFound(reply, { zoek, ...found, isShort: zoek.length > 0 && !isSearchable(zoek) })
  })

  /** Where a uuid, or an address of our API, is shown. */
  async function pageOfUuid(request: FastifyRequest, text: string): Promise<string | undefined> {
    const uuid = uuidIn(text)
    if (!uuid) return undefined
    const zaak = (table: string) =>
      sql`select '/zaken/' || z.uuid as path, z.vertrouwelijkheidaanduiding as niveau from ${sql.table(table)} r
        join zaak z on z.id = r.zaak_id where r.uuid = ${uuid}`
    const ofZaak = [
      'status',
      'resultaat',
      'rol',
      'zaakeigenschap',
      'zaakobject',
      'zaakinformatieobject',
      'klantcontact',
    ]
    const none = sql`null::vertrouwelijkheidaanduiding`
    const { rows } = await sql<{ path: string }>`
      select path from (
        select '/zaken/' || uuid as path, vertrouwelijkheidaanduiding as niveau from zaak where uuid = ${uuid}
        union all select '/documenten/' || uuid, vertrouwelijkheidaanduiding from enkelvoudiginformatieobject where uuid = ${uuid}
        union all select '/besluiten/' || b.uuid, z.vertrouwelijkheidaanduiding from besluit b left join zaak z on z.id = b.zaak_id
          where b.uuid = ${uuid}
        union all select '/catalogi/' || uuid, ${none} from catalogus where uuid = ${uuid}
        union all select '/catalogi/zaaktypen/' || uuid, ${none} from zaaktype where uuid = ${uuid}
        union all select '/catalogi/informatieobjecttypen/' || uuid, ${none} from informatieobjecttype where uuid = ${uuid}
        union all select '/catalogi/besluittypen/' || uuid, ${none} from besluittype where uuid = ${uuid}
        union all ${sql.join(ofZaak.map(zaak), sql` union all `)}
      ) gevonden where niveau is null or ${visible(request, sql`niveau`)} limit 1`.execute(app.read)
    return rows[0]?.path
  }

  async function search(request: FastifyRequest, text: string): Promise<Found> {
    if (!isSearchable(text)) return { zaken: [], documenten: [], besluiten: [] }
    const [zaken, documenten, besluiten] = await Promise.all([
      sql<Zaak>`select z.uuid, z.identificatie, z.omschrijving, z.startdatum, z.einddatum,
          coalesce(t.omschrijving, nullif(z.zaaktype_omschrijving, ''), z.zaaktype_url) as zaaktype
        from zaak z left join zaaktype t on t.id = z.zaaktype_id
        where ${await zaakMatches(app.read, text)} and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}
        order by z.id desc limit ${SHOWN + 1}`.execute(app.read),
      sql<Document>`select e.uuid, e.identificatie, v.titel, v.creatiedatum, coalesce(t.omschrijving, e.informatieobjecttype_url) as soort
        from enkelvoudiginformatieobject e
        join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
        left join informatieobjecttype t on t.id = e.informatieobjecttype_id
        where e.id in (select id from enkelvoudiginformatieobject where identificatie = any(${spellings(text)}::text[])
            union all (select enkelvoudiginformatieobject_id from enkelvoudiginformatieobject_versie w
              where ${containsWords(sql`w.titel`, text)} limit 1000))
          and ${visible(request, sql`e.vertrouwelijkheidaanduiding`)}
        order by e.id desc limit ${SHOWN + 1}`.execute(app.read),
      sql<Besluit>`select b.uuid, b.identificatie, b.datum, coalesce(t.omschrijving, b.besluittype_url) as soort
        from besluit b left join besluittype t on t.id = b.besluittype_id left join zaak z on z.id = b.zaak_id
        where b.identificatie = any(${spellings(text)}::text[])
          and ${besluitVisible(request)} limit ${SHOWN}`.execute(app.read),
    ])
    const { zakenApi, documentenApi, besluitenApi } = app.parts.config
    return {
      zaken: zakenApi ? zaken.rows : [],
      documenten: documentenApi ? documenten.rows : [],
      besluiten: besluitenApi ? besluiten.rows : [],
    }
  }

  async function searchBsn(request: FastifyRequest, reply: FastifyReply, bsn: string): Promise<FastifyReply> {
    const may = hasRole(request.beheerder, 'operator')
    // A number of nine digits may also be that of a case, which everybody may look for.
    const zaken = await sql<Zaak>`select z.uuid, z.identificatie, z.omschrijving, z.startdatum, z.einddatum,
            coalesce(t.omschrijving, nullif(z.zaaktype_omschrijving, ''), z.zaaktype_url) as zaaktype
          from zaak z left join zaaktype t on t.id = z.zaaktype_id
      where (z.identificatie = ${bsn} or z.id = any(${await casesBeside(app.read, bsn)}::bigint[])
          or (${may} and z.id in (select zaak_id from rol where id = any(${rollenOf(app.parts.box.numbers, 'inpBsn', bsn)}))))
        and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}
      order by z.id desc limit 100`.execute(app.read)
    await app.own.audit(request, [
      {
        handeling: 'bsn-zoeken',
        soort: 'persoon',
        weergave: `BSN ${maskBsn(bsn)}`,
        resultaat: may ? 'geslaagd' : 'geweigerd',
        nieuw: { gevonden: zaken.rows.length },
      },
    ])
    return sendFound(reply, {
      zoek: '',
      bsn: maskBsn(bsn),
      mag_bsn: may,
      zaken: zaken.rows,
      documenten: [],
      besluiten: [],
    })
  }
}

/**
 * A condition on `zaak z`: a part of its number or description, which the index `zaak_search` serves, a kenmerk, or a number or a part
 * of a name of who is involved and is no natural person. A BSN is only looked for where that is asked and recorded.
 */
export async function zaakMatches(db: ReadDb, text: string): Promise<RawBuilder<unknown>> {
  const contained = containsWords(sql`z.identificatie || ' ' || z.omschrijving`, text)
  const beside = isSearchable(text) && !bsnIn(text) ? await casesBeside(db, text) : []
  return beside.length === 0 ? contained : sql`(${contained} or z.id = any(${beside}::bigint[]))`
}

/** So many cases at most are found by a kenmerk, and so many rollen by each number and by name. */
const BESIDE = 500
export const MOST_ROLLEN = 500

/** Cases that have this kenmerk, or somebody involved, no natural person, with this number or a part of this name. */
async function casesBeside(db: ReadDb, text: string): Promise<number[]> {
  const [bron, mark] = text.split(':')
  const marks = [...spellings(text).map((kenmerk) => ({ kenmerk })), ...(mark ? [{ bron, kenmerk: mark }] : [])]
  const isMarked = sql.join(
    marks.map((one) => sql`kenmerken @> ${JSON.stringify([one])}::text::jsonb`),
    sql` or `,
  )
  const { rows } = await sql<{ id: number }>`
    (select id from zaak where kenmerken <> '[]' and (${isMarked}) limit ${BESIDE})
    union select zaak_id from rol where id = any(${await rollenBeside(db, text)}::bigint[])`.execute(db)
  return rows.map(({ id }) => id)
}

/** The ids of rollen of an organisation, a vestiging or a part of an organisation with this number, or this in its name. */
export async function rollenBeside(db: ReadDb, text: string): Promise<number[]> {
  if (!isSearchable(text)) return []
  // Each index of a number is on what is not empty.
  const { rows } = await sql<{ id: number }>`
    (select id from rol where betrokkene_identificatie ->> 'innNnpId' = ${text}
      and betrokkene_identificatie ->> 'innNnpId' <> '' limit ${MOST_ROLLEN})
    union (select id from rol where betrokkene_identificatie ->> 'kvkNummer' = ${text}
      and betrokkene_identificatie ->> 'kvkNummer' <> '' limit ${MOST_ROLLEN})
    union (select id from rol where betrokkene_identificatie ->> 'vestigingsNummer' = ${text}
      and betrokkene_identificatie ->> 'vestigingsNummer' <> '' limit ${MOST_ROLLEN})
    union (select id from rol
      where betrokkene_type in ('niet_natuurlijk_persoon', 'vestiging', 'organisatorische_eenheid')
        and ${containsWords(sql`concat_names(betrokkene_identificatie) || afwijkende_naam_betrokkene`, text)} limit ${MOST_ROLLEN})`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/** Whether an index finds a word of this. Of what has none all rows would be read, so that the pages ask for more. */
export const isSearchable = (text: string): boolean => wordsOf(text).some(isFindable)

/** A condition: the words stand in a column, in any order, and parts of words count. Nothing when it is not searchable. */
export const containsWords = (column: RawBuilder<unknown>, text: string): RawBuilder<unknown> =>
  isSearchable(text)
    ? sql.join(
        wordsOf(text).map((word) => contains(column, word)),
        sql` and `,
      )
    : sql`false`

function sendFound(
  reply: FastifyReply,
  found: Found & { zoek: string; bsn?: string; mag_bsn?: boolean; isShort?: boolean },
) {
  return reply.page('search', { title: t('Zoeken'), isShort: false, ...found, max: SHOWN })
}

/** Where to go at once: to what has exactly this number, when nothing else was found. */
function onlyPage({ zaken, documenten, besluiten }: Found, search: string): string | undefined {
  if (zaken.length + documenten.length + besluiten.length !== 1) return undefined
  const same = (identificatie: string) => identificatie.toLowerCase() === search.toLowerCase()
  if (zaken[0] && same(zaken[0].identificatie)) return `/zaken/${zaken[0].uuid}`
  if (documenten[0] && same(documenten[0].identificatie)) return `/documenten/${documenten[0].uuid}`
  if (besluiten[0]) return `/besluiten/${besluiten[0].uuid}`
  return undefined
}

const cleaned = (value: FormValues[string]) =>
  String([value].flat().at(-1) ?? '')
    .replaceAll('\0', '')
    .toWellFormed()
    .trim()
    .slice(0, 1000)

/** A BSN, also as people write it: with spaces or dots. */
export function bsnIn(text: string): string | undefined {
  const digits = text.replace(/[\s.]/g, '')
  return /^\d{8,9}$/.test(digits) && passesElfproef(digits.padStart(9, '0')) ? digits.padStart(9, '0') : undefined
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean).slice(0, 10)
/** A number as it may have been written; equality then finds it by its unique index. */
const spellings = (text: string): string[] => [...new Set([text, text.toUpperCase(), text.toLowerCase()])]
