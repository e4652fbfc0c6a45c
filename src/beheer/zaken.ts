// zaken: looking up cases, with what belongs to them. What is above the level of the one who looks does not exist for him.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../http/problem.ts'
import { historyOf, keysetByNumber, queryDay, queryText, requireVisible, uuidIn, uuidParam, visible } from './lookup.ts'

type Regel = {
  id: number
  uuid: string
  identificatie: string
  omschrijving: string
  zaaktype: string
  startdatum: string
  einddatum: string | null
  vertrouwelijkheidaanduiding: string
}

const REGEL = sql`select z.id, z.uuid, z.identificatie, z.omschrijving, z.startdatum, z.einddatum,
  coalesce(t.omschrijving, nullif(z.zaaktype_omschrijving, ''), z.zaaktype_url) as zaaktype,
  z.vertrouwelijkheidaanduiding from zaak z left join zaaktype t on t.id = z.zaaktype_id`

/** The lists below a case: a name, what is shown of a row, and where the rows are. */
const ONDERDELEN: Record<
  string,
  {
    naam: string
    kolommen: [string, string][]
    select: RawBuilder<unknown>
    id: RawBuilder<unknown>
    zaak: RawBuilder<unknown>
  }
> = {
  documenten: {
    naam: 'Documenten',
    kolommen: [
      ['titel', 'Titel'],
      ['identificatie', 'Identificatie'],
      ['soort', 'Informatieobjecttype'],
      ['op', 'Gekoppeld op'],
    ],
    select: sql`select r.id, e.uuid as document, e.vertrouwelijkheidaanduiding, v.titel, e.identificatie, t.omschrijving as soort,
      r.registratiedatum as op
      from zaakinformatieobject r join enkelvoudiginformatieobject e on e.id = r.enkelvoudiginformatieobject_id
      join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
      left join informatieobjecttype t on t.id = e.informatieobjecttype_id`,
    id: sql`r.id`,
    zaak: sql`r.zaak_id`,
  },
  statussen: {
    naam: 'Statussen',
    kolommen: [
      ['naam', 'Status'],
      ['toelichting', 'Toelichting'],
      ['op', 'Gezet op'],
    ],
    select: sql`select r.id, coalesce(t.omschrijving, r.statustype_omschrijving) as naam, r.statustoelichting as toelichting, r.datum_status_gezet as op
      from status r left join statustype t on t.id = r.statustype_id`,
    id: sql`r.id`,
    zaak: sql`r.zaak_id`,
  },
  rollen: {
    naam: 'Rollen',
    kolommen: [
      ['rol', 'Rol'],
      ['betrokkene_type', 'Soort betrokkene'],
      ['wie', 'Betrokkene'],
      ['op', 'Geregistreerd op'],
    ],
    // Of a BSN the last three digits: enough to recognise somebody by.
    select: sql`select r.id, r.omschrijving as rol, replace(r.betrokkene_type, '_', ' ') as betrokkene_type, r.registratiedatum as op,
      coalesce(nullif(r.afwijkende_naam_betrokkene, ''), nullif(r.betrokkene, ''),
        nullif(btrim(concat_ws(' ', r.betrokkene_identificatie ->> 'voornamen', r.betrokkene_identificatie ->> 'voorvoegselGeslachtsnaam',
          r.betrokkene_identificatie ->> 'geslachtsnaam', r.betrokkene_identificatie ->> 'statutaireNaam',
          r.betrokkene_identificatie ->> 'achternaam', r.betrokkene_identificatie ->> 'naam')), ''),
        'BSN ••••••' || right(nullif(r.betrokkene_identificatie ->> 'inpBsn', ''), 3),
        nullif(r.betrokkene_identificatie ->> 'identificatie', ''), nullif(r.betrokkene_identificatie ->> 'innNnpId', ''), '') as wie
      from rol r`,
    id: sql`r.id`,
    zaak: sql`r.zaak_id`,
  },
  eigenschappen: {
    naam: 'Eigenschappen',
    kolommen: [
      ['naam', 'Eigenschap'],
      ['waarde', 'Waarde'],
    ],
    select: sql`select r.id, coalesce(e.naam, r.naam) as naam, r.waarde from zaakeigenschap r left join eigenschap e on e.id = r.eigenschap_id`,
    id: sql`r.id`,
    zaak: sql`r.zaak_id`,
  },
  objecten: {
    naam: 'Objecten',
    kolommen: [
      ['soort', 'Soort'],
      ['object', 'Object'],
      ['relatie', 'Relatie'],
    ],
    select: sql`select r.id, replace(coalesce(nullif(r.object_type_overige, ''), r.object_type), '_', ' ') as soort, r.object,
      r.relatieomschrijving as relatie from zaakobject r`,
    id: sql`r.id`,
    zaak: sql`r.zaak_id`,
  },
  besluiten: {
    naam: 'Besluiten',
    kolommen: [
      ['identificatie', 'Identificatie'],
      ['soort', 'Besluittype'],
      ['datum', 'Datum'],
      ['ingangsdatum', 'Ingangsdatum'],
    ],
    select: sql`select r.id, r.identificatie, t.omschrijving as soort, r.datum, r.ingangsdatum
      from besluit r left join besluittype t on t.id = r.besluittype_id`,
    id: sql`r.id`,
    zaak: sql`r.zaak_id`,
  },
  deelzaken: {
    naam: 'Deelzaken',
    kolommen: [
      ['identificatie', 'Identificatie'],
      ['omschrijving', 'Omschrijving'],
      ['startdatum', 'Startdatum'],
    ],
    select: sql`select r.id, r.uuid as zaak, r.vertrouwelijkheidaanduiding, r.identificatie, r.omschrijving, r.startdatum from zaak r`,
    id: sql`r.id`,
    zaak: sql`r.hoofdzaak_id`,
  },
}

export function registerZaken(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'viewer' } as const

  app.get('/zaken', { config }, async (request, reply) => {
    const lijst = await keysetByNumber<Regel>(request, app.read, {
      select: REGEL,
      id: sql`z.id`,
      conditions: [visible(request, sql`z.vertrouwelijkheidaanduiding`), ...(await filters(request))],
    })
    const zaaktypen = await app.read
      .selectFrom('zaaktype')
      .select(['identificatie'])
      .select(sql<string>`max(omschrijving)`.as('omschrijving'))
      .groupBy('identificatie')
      .orderBy('omschrijving')
      .limit(1000)
      .execute()
    return reply.pagina('zaken', {
      titel: 'Zaken',
      lijst,
      filter: Object.fromEntries(FILTERS.map((name) => [name, queryText(request, name)])),
      zaaktypen,
    })
  })

  app.get('/zaken/:uuid', { config }, async (request, reply) => {
    const zaak = await vindZaak(request)
    const aantallen = await telOnderdelen(zaak.id)
    const [status, documenten] = await Promise.all([
      keysetByNumber<{ id: number }>(request, app.read, lijst('statussen', zaak.id, request, 1)),
      keysetByNumber<{ id: number }>(request, app.read, lijst('documenten', zaak.id, request, 10)),
    ])
    return reply.pagina('zaak', {
      titel: `Zaak ${zaak.identificatie}`,
      kruimels: [{ pad: '/zaken', naam: 'Zaken' }],
      zaak,
      status: status.rijen[0],
      documenten: documenten.rijen,
      kolommen: ONDERDELEN.documenten!.kolommen,
      onderdelen: Object.entries(ONDERDELEN).map(([pad, { naam }]) => ({ pad, naam, aantal: aantallen[pad] })),
    })
  })

  app.get('/zaken/:uuid/geschiedenis', { config }, async (request, reply) => {
    const zaak = await vindZaak(request)
    return reply.pagina('geschiedenis', {
      titel: 'Geschiedenis',
      kruimels: [
        { pad: '/zaken', naam: 'Zaken' },
        { pad: `/zaken/${zaak.uuid}`, naam: zaak.identificatie },
      ],
      lijst: await historyOf(app, request, zaak.uuid),
    })
  })

  app.get<{ Params: { onderdeel: string } }>('/zaken/:uuid/:onderdeel', { config }, async (request, reply) => {
    const { onderdeel } = request.params
    const part = Object.hasOwn(ONDERDELEN, onderdeel) ? ONDERDELEN[onderdeel]! : undefined
    if (!part) throw notFound('Deze pagina bestaat niet.')
    const zaak = await vindZaak(request)
    return reply.pagina('zaak-onderdeel', {
      titel: part.naam,
      kruimels: [
        { pad: '/zaken', naam: 'Zaken' },
        { pad: `/zaken/${zaak.uuid}`, naam: zaak.identificatie },
      ],
      kolommen: part.kolommen,
      lijst: await keysetByNumber(request, app.read, lijst(onderdeel, zaak.id, request, 50)),
    })
  })

  async function vindZaak(request: FastifyRequest) {
    const zaak = await app.read
      .selectFrom('zaak as z')
      .leftJoin('zaaktype as t', 't.id', 'z.zaaktypeId')
      .leftJoin('resultaatRegeling as r', 'r.zaakId', 'z.id')
      .leftJoin('zaak as h', 'h.id', 'z.hoofdzaakId')
      .where('z.uuid', '=', uuidParam(request))
      .selectAll('z')
      .select(['t.omschrijving as zaaktype', 't.uuid as zaaktypeUuid', 'r.omschrijving as resultaat'])
      .select(['h.uuid as hoofdzaakUuid', 'h.identificatie as hoofdzaakIdentificatie'])
      .executeTakeFirst()
    if (!zaak) throw notFound('Deze zaak bestaat niet.')
    requireVisible(request, zaak.vertrouwelijkheidaanduiding)
    return zaak
  }

  function lijst(onderdeel: string, zaakId: number, request: FastifyRequest, size: number) {
    const { select, id, zaak } = ONDERDELEN[onderdeel]!
    const table = onderdeel === 'documenten' ? sql`e` : sql`r`
    const hidden = onderdeel === 'documenten' || onderdeel === 'deelzaken'
    const conditions = [
      sql`${zaak} = ${zaakId}`,
      ...(hidden ? [visible(request, sql`${table}.vertrouwelijkheidaanduiding`)] : []),
    ]
    return { select, id, conditions, size }
  }

  // Up to a thousand: more is said as such.
  async function telOnderdelen(zaakId: number): Promise<Record<string, number>> {
    const counts = Object.entries(ONDERDELEN).map(
      ([naam, { select, zaak }]) =>
        sql`select ${naam}::text as naam, (select count(*) from (${select} where ${zaak} = ${zaakId} limit 1000) x)::int as aantal`,
    )
    const { rows } = await sql<{ naam: string; aantal: number }>`${sql.join(counts, sql` union all `)}`.execute(
      app.read as never,
    )
    return Object.fromEntries(rows.map(({ naam, aantal }) => [naam, aantal]))
  }
}

const FILTERS = ['zoek', 'zaaktype', 'staat', 'van', 'tot']

// Types are looked up first: the planner then knows how rare they are.
async function filters(request: FastifyRequest): Promise<RawBuilder<unknown>[]> {
  const [zoek, zaaktype, staat] = FILTERS.map((name) => queryText(request, name))
  const [van, tot] = [queryDay(request, 'van'), queryDay(request, 'tot')]
  const uuid = zoek ? uuidIn(zoek) : undefined
  const zaaktypen = zaaktype
    ? await request.server.read.selectFrom('zaaktype').where('identificatie', '=', zaaktype).select('id').execute()
    : []
  return [
    ...(uuid ? [sql`z.uuid = ${uuid}`] : zoek ? [sql`z.identificatie = ${zoek}`] : []),
    ...(zaaktype ? [sql`z.zaaktype_id = any(${zaaktypen.map(({ id }) => id)}::bigint[])`] : []),
    ...(staat === 'open' ? [sql`z.einddatum is null`] : staat === 'gesloten' ? [sql`z.einddatum is not null`] : []),
    ...(van ? [sql`z.startdatum >= ${van}::date`] : []),
    ...(tot ? [sql`z.startdatum <= ${tot}::date`] : []),
  ]
}
