// betrokkenen: who is involved, over all cases. A person is found by his BSN, which goes in no address; an organisation, a vestiging or
// a part of an organisation by its number or a part of its name.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { notePerson } from '../../http/verwerkingen.ts'
import { rollenOf } from '../../zaken/persons.ts'
import type { FormValues } from '../frame/form.ts'
import { basePath, type KeysetPage } from '../frame/keyset-list.ts'
import { keysetByNumber, maskBsn, queryText, visible } from '../frame/lookup.ts'
import { hasRole } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { nameOf, WHO, type Who } from './betrokkene.ts'
import { bsnIn, isSearchable, MOST_ROLLEN, rollenBeside } from './search.ts'

/** As many rollen of one person are shown, the newest. */
const SHOWN = 100

type Line = {
  id: number
  at: string
  rol: string
  soort: string
  toelichting: string
  zaak: string
  identificatie: string
  omschrijving: string
  einddatum: string | null
} & Who

const LINE = sql`select r.id, r.registratiedatum as at, r.omschrijving as rol, replace(r.betrokkene_type, '_', ' ') as soort,
  r.roltoelichting as toelichting, z.uuid as zaak, z.identificatie, z.omschrijving, z.einddatum, ${WHO}
  from rol r join zaak z on z.id = r.zaak_id`

export function registerBetrokkenen(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  app.get('/betrokkenen', { config }, async (request, reply) => {
    const zoek = queryText(request, 'zoek')
    // Whoever puts a number of a person in the address finds nothing by it.
    const ids = bsnIn(zoek) ? [] : await rollenBeside(app.read, zoek)
    const list = await keysetByNumber<Line>(request, app.read, {
      select: LINE,
      id: sql`r.id`,
      conditions: [sql`r.id = any(${ids}::bigint[])`, visible(request, sql`z.vertrouwelijkheidaanduiding`)],
    })
    return sendFound(reply, { zoek, list, isMore: ids.length >= MOST_ROLLEN })
  })

  // A form that posts: a BSN then stands in no address, and so in no log and no history of a browser.
  app.post('/betrokkenen', { config }, async (request, reply) => {
    const text = String([(request.body as FormValues | null)?.zoek].flat().at(-1) ?? '').slice(0, 1000)
    const bsn = bsnIn(text)
    if (!bsn)
      return reply.redirect(
        `${basePath(request)}/beheer/betrokkenen?zoek=${encodeURIComponent(text.toWellFormed())}`,
        303,
      )
    return searchBsn(request, reply, bsn)
  })

  async function searchBsn(request: FastifyRequest, reply: FastifyReply, bsn: string): Promise<FastifyReply> {
    const may = hasRole(request.beheerder, 'operator')
    if (may) notePerson(request, 'inpBsn', bsn)
    // A number of nine digits may also be the RSIN of an organisation, which everybody may look for.
    const { rows } = await sql<Line>`${LINE}
      where (r.id = any(${await rollenBeside(app.read, bsn)}::bigint[])
          or (${may} and r.id = any(${rollenOf(app.parts.box.numbers, 'inpBsn', bsn)})))
        and ${visible(request, sql`z.vertrouwelijkheidaanduiding`)}
      order by r.id desc limit ${SHOWN + 1}`.execute(app.read)
    await app.own.audit(request, [
      {
        handeling: 'bsn-zoeken',
        soort: 'persoon',
        weergave: `BSN ${maskBsn(bsn)}`,
        resultaat: may ? 'geslaagd' : 'geweigerd',
        nieuw: { gevonden: rows.length },
      },
    ])
    const list = { rows: rows.slice(0, SHOWN), previous: null, next: null, first: null }
    return sendFound(reply, { zoek: '', list, isMore: rows.length > SHOWN, bsn: maskBsn(bsn), mayBsn: may })
  }
}

type Found = { zoek: string; list: KeysetPage<Line>; isMore: boolean; bsn?: string; mayBsn?: boolean }

function sendFound(reply: FastifyReply, { zoek, list, isMore, bsn = '', mayBsn = false }: Found) {
  return reply.page('betrokkenen', {
    title: t('Betrokkenen'),
    zoek,
    bsn,
    mayBsn,
    isMore,
    isShort: zoek !== '' && !isSearchable(zoek),
    list: { ...list, rows: list.rows.map((line) => ({ ...line, who: nameOf(line) })) },
  })
}
