// Attacks by what is stored and asked for: long lists, large geometries, areas, lists of everything.
import type { Attack } from './attack.ts'

const LEZEN = { component: 'zrc', scopes: ['zaken.lezen'] } as const
const right = { component: LEZEN.component, scopes: [...LEZEN.scopes] }
const ZAKEN = '/zaken/api/v1'
const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
const HANGING = '00000000-0000-4000-8000-00000000000'
const times = (many: number) => Array.from({ length: many }, (_, n) => n)

export const dataAttacks: Attack[] = [
  {
    name: 'a list of a million rows that is not paged',
    rights: [right],
    answers: [200, 0],
    maxBytes: 2 ** 31,
    prepare: async ({ zaak }, { sql, scale }) => {
      // A thousand to a case: one case of all would be large itself.
      await sql`
        with gemaakt as (
          insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
            vertrouwelijkheidaanduiding)
          select 'VEEL-' || n, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id, z.startdatum,
            z.vertrouwelijkheidaanduiding
          from zaak z, generate_series(1, ${Math.round(1000 * scale)}::int) n where z.uuid = ${zaak.split('/').at(-1)!}
          on conflict do nothing returning id)
        insert into zaakinformatieobject (zaak_id, informatieobject_url, beschrijving)
        select g.id, 'https://elders.example/documenten/' || n, repeat('b', 100) from gemaakt g, generate_series(1, 1000) n`
      await sql`analyze zaakinformatieobject`
    },
    send: async ({ send }) => {
      await Promise.all(times(2).map(() => send('GET', `${ZAKEN}/zaakinformatieobjecten`)))
    },
  },
  {
    name: 'pages of cases with large geometries',
    rights: [right],
    answers: [200],
    maxBytes: 64 * 1024 * 1024,
    prepare: async ({ zaak }, { sql, scale }) => {
      const coordinates = JSON.stringify(times(5000).map((n) => [n / 1000, 1]))
      await sql`
        insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
          vertrouwelijkheidaanduiding, zaakgeometrie, zaakgeometrie_grenzen)
        select 'GROOT-' || n, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id, z.startdatum,
          z.vertrouwelijkheidaanduiding,
          jsonb_build_object('type', 'LineString', 'coordinates', ${coordinates}::text::jsonb), box(point(0, 1), point(5, 1))
        from zaak z, generate_series(1, ${Math.round(500 * scale)}::int) n where z.uuid = ${zaak.split('/').at(-1)!}
        on conflict do nothing`
    },
    send: async ({ send }) => {
      await Promise.all(times(4).map(() => send('GET', `${ZAKEN}/zaken?pageSize=500`, undefined, CRS)))
    },
  },
  {
    name: 'pages of objects with large data',
    rights: [right],
    answers: [200, 400],
    maxBytes: 64 * 1024 * 1024,
    prepare: async ({ zaak }, { sql, scale }) => {
      // As large as one may be; those of an import may be larger.
      const data = JSON.stringify({ overigeData: { lijst: times(10_000).map((n) => [n]) } })
      await sql`insert into zaakobject (zaak_id, object, object_type, object_type_overige, object_identificatie)
        select z.id, '', 'overige', 'lijst', ${data}::text::jsonb
        from zaak z, generate_series(1, ${Math.round(500 * scale)}::int) where z.uuid = ${zaak.split('/').at(-1)!}`
    },
    send: async ({ send, world }) => {
      await Promise.all([
        ...times(4).map(() => send('GET', `${ZAKEN}/zaakobjecten?objectType=overige&pageSize=500`)),
        ...times(4).map(() => send('GET', `${world.zaak}?expand=zaakobjecten`, undefined, CRS)),
      ])
    },
  },
  {
    name: 'deltas of large objects, and events that nobody reads',
    rights: [right],
    answers: [200, 503, 0],
    maxBytes: 2 ** 31,
    prepare: async ({ zaak }, { sql, scale }) => {
      const data = JSON.stringify({ overigeData: { lijst: times(10_000).map((n) => [n]) } })
      for (let n = 0; n < 500 * scale; n++)
        await sql`insert into zaakobject (zaak_id, object, object_type, object_type_overige, object_identificatie)
          select z.id, '', 'overige', 'lijst', ${data}::text::jsonb from zaak z where z.uuid = ${zaak.split('/').at(-1)!}`
    },
    send: async ({ send, open, token, world }) => {
      const head = `Host: ${new URL(world.address).host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`
      const sockets = await Promise.all(times(20).map(() => open()))
      for (const socket of sockets) {
        socket?.pause()
        socket?.write(`GET ${ZAKEN}/zaken/_deltas HTTP/1.1\r\n${head}`)
      }
      await Promise.all(times(4).map(() => send('GET', `${ZAKEN}/zaken/_deltas?limit=1000`)))
      for (const socket of sockets) socket?.destroy()
    },
  },
  {
    name: 'batches of a hundred filters that fit everything',
    rights: [right],
    answers: [200, 400, 503],
    maxBytes: 64 * 1024 * 1024,
    send: async ({ send, world, scale }) => {
      const { uuid, zaak } = { uuid: world.zaak.split('/').at(-1), zaak: world.zaak }
      const filters = ['tegel', 'Losliggende', 'e'].map((omschrijving) => ({
        filter: { omschrijving, ordering: '-einddatum' },
      }))
      const of = (many: number, one: (n: number) => object) => times(Math.max(3, many * scale)).map(one)
      await Promise.all([
        ...times(4).map(() =>
          send('POST', `${ZAKEN}/zaken/_batch`, { requests: of(100, (n) => filters[n % 3]!) }, CRS),
        ),
        ...times(4).map(() =>
          send('POST', `${ZAKEN}/rollen/_batch`, { requests: of(100, () => ({ filter: { zaak } })) }),
        ),
        ...times(4).map(() => {
          const context = { expand: ['rollen', 'zaakobjecten'] }
          return send('POST', `${ZAKEN}/zaken/_batch`, { context, requests: of(100, () => ({ key: uuid })) }, CRS)
        }),
      ])
    },
  },
  {
    name: 'far more requests at once than there are connections',
    rights: [right],
    answers: [200, 503],
    send: async ({ send, scale }) => {
      const asked = `${ZAKEN}/zaken?pageSize=20&omschrijving=tegel&ordering=-startdatum`
      await Promise.all(times(200 * scale + 2).map(() => send('GET', asked, undefined, CRS)))
    },
  },
  {
    name: 'cases on which far too much hangs',
    rights: [{ component: 'zrc', scopes: ['zaken.lezen', 'zaken.bijwerken'] }],
    answers: [200],
    maxBytes: 512 * 1024 * 1024,
    prepare: async ({ zaak }, { sql, scale }) => {
      // As many as a case may have of everything; and one with a million documents, as an import may leave it.
      const many = Math.round(10_000 * scale)
      const zaken = await sql<{ id: number }[]>`
        insert into zaak (uuid, identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
          vertrouwelijkheidaanduiding)
        select (${HANGING} || n)::uuid, 'HANGT-' || n, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id,
          z.startdatum, z.vertrouwelijkheidaanduiding
        from zaak z, generate_series(0, 9) n where z.uuid = ${zaak.split('/').at(-1)!}
        on conflict do nothing returning id`
      const below = sql`unnest(${zaken.slice(1).map(({ id }) => id)}::bigint[]) z, generate_series(1, ${many / 2}::int) n`
      const type = { url: 'https://elders.example/types/1' }
      await sql`insert into rol (zaak_id, betrokkene_type, betrokkene, roltype_url, omschrijving, omschrijving_generiek)
        select z, 'medewerker', 'https://elders.example/' || n, ${type.url}, 'Behandelaar', 'behandelaar' from ${below}`
      await sql`insert into zaakobject (zaak_id, object, object_type)
        select z, 'https://elders.example/objecten/' || n, 'adres' from ${below}`
      await sql`insert into zaakeigenschap (zaak_id, eigenschap_url, naam, waarde)
        select z, ${type.url}, 'kleur', 'rood' from ${below}`
      await sql`insert into zaakinformatieobject (zaak_id, informatieobject_url)
        select z, 'https://elders.example/documenten/' || n
        from unnest(${zaken.slice(1).map(({ id }) => id)}::bigint[]) z, generate_series(1, ${many}::int) n`
      await sql`insert into zaakinformatieobject (zaak_id, informatieobject_url)
        select ${zaken[0]?.id ?? null}::bigint, 'https://elders.example/documenten/' || n
        from generate_series(1, ${many * 100}::int) n where ${zaken.length > 0}`
      await sql`analyze rol, zaakobject, zaakeigenschap, zaakinformatieobject`
    },
    send: async ({ send }) => {
      const zaak = (n: number) => `${ZAKEN}/zaken/${HANGING}${n}`
      const change = { toelichting: String(Math.random()) }
      await Promise.all([
        ...times(4).map((n) => send('GET', zaak(n), undefined, CRS)),
        ...times(2).map((n) => send('PATCH', zaak(n), change, CRS)),
        send('GET', `${ZAKEN}/zaken?pageSize=500`, undefined, CRS),
      ])
    },
  },
  {
    name: 'an area near which all segments are',
    rights: [right],
    answers: [200, 400, 503],
    prepare: async ({ zaak }, { sql, scale }) => {
      const coordinates = JSON.stringify(times(4000).map((n) => [-0.5, (100 + n) / 1000]))
      await sql`
        insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
          vertrouwelijkheidaanduiding, zaakgeometrie, zaakgeometrie_grenzen)
        select 'LANG-' || n, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id, z.startdatum,
          z.vertrouwelijkheidaanduiding,
          jsonb_build_object('type', 'MultiPoint', 'coordinates', ${coordinates}::text::jsonb), box(point(-0.5, 0), point(-0.5, 5))
        from zaak z, generate_series(1, ${Math.round(20 * scale) + 1}::int) n where z.uuid = ${zaak.split('/').at(-1)!}
        on conflict do nothing`
    },
    send: async ({ send, scale }) => {
      const teeth = times(Math.round(30_000 * scale) + 100).map((n) => [n / 1000, n % 2 ? 10 : 0])
      const ring = [...teeth, [30, -1], [-1, -1], [-1, 10], teeth[0]]
      const body = { zaakgeometrie: { within: { type: 'Polygon', coordinates: [ring] } } }
      await Promise.all(times(4).map(() => send('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)))
    },
  },
  {
    name: 'areas of twenty thousand points',
    rights: [right],
    answers: [200, 400, 503],
    prepare: async ({ zaak }, { sql, scale }) => {
      await sql`
        insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
          vertrouwelijkheidaanduiding, zaakgeometrie, zaakgeometrie_grenzen)
        select 'PUNT-' || n, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id, z.startdatum,
          z.vertrouwelijkheidaanduiding, jsonb_build_object('type', 'Point', 'coordinates', jsonb_build_array(20 + n / 1e6, 40)),
          box(point(20 + n / 1e6, 40), point(20 + n / 1e6, 40))
        from zaak z, generate_series(1, ${Math.round(1000 * scale)}::int) n where z.uuid = ${zaak.split('/').at(-1)!}
        on conflict do nothing`
    },
    send: async ({ send, scale }) => {
      const many = Math.round(20_000 * scale) + 4
      const circle = times(many).map((n) => [
        20 + Math.cos((2 * Math.PI * n) / many),
        40 + Math.sin((2 * Math.PI * n) / many),
      ])
      const body = JSON.stringify({
        zaakgeometrie: { within: { type: 'Polygon', coordinates: [[...circle, circle[0]]] } },
      })
      await Promise.all(times(4).map(() => send('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)))
    },
  },
  {
    name: 'ten thousand uuids to look for',
    rights: [right, { component: 'drc', scopes: ['documenten.lezen'] }],
    answers: [200],
    send: async ({ send, scale }) => {
      const uuids = times(Math.round(10_000 * scale)).map(
        (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      )
      const body = JSON.stringify({ uuid__in: uuids })
      await Promise.all([
        ...times(4).map(() => send('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)),
        ...times(4).map(() => send('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten/_zoek', body)),
      ])
    },
  },
  {
    name: 'abonnementen with very many filters',
    rights: [{ component: 'nrc', scopes: ['notificaties.consumeren'] }],
    answers: [200],
    maxBytes: 2 ** 31,
    prepare: async (_world, { sql, scale, client }) => {
      // As many as an applicatie may have, each as large as it may be.
      const filters = Object.fromEntries(times(7).map((n) => [`kenmerk${n}`, 'x'.repeat(1000)]))
      await sql`
        with made as (
          insert into abonnement (applicatie_id, client_id, callback_url, auth)
          select c.applicatie_id, c.client_id, 'https://elders.example/' || n, ''
          from applicatie_client c, generate_series(1, ${Math.round(1000 * scale)}::int) n where c.client_id = ${client}
          returning id),
        kanaal_x as (insert into kanaal (naam) values (${client}) returning id)
        insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
        select m.id, k.id, ${JSON.stringify(filters)}::text::jsonb from made m, kanaal_x k, generate_series(1, 9)`
      await sql`analyze abonnement, abonnement_kanaal`
    },
    send: async ({ send }) => {
      await Promise.all(times(4).map(() => send('GET', '/notificaties/api/v1/abonnement')))
    },
  },
  {
    name: 'filters that every new case is held against',
    rights: [{ component: 'nrc', scopes: ['notificaties.consumeren'] }],
    answers: [200],
    maxBytes: 2 ** 31,
    prepare: async (_world, { sql, scale, client }) => {
      // As many as an applicatie may have, each of which fits until its last filter, and one kenmerk written in fifty ways.
      const filters = Object.fromEntries([
        ...times(48).map((n) => [`bron${'_'.repeat(n)}organisatie`, '517439943']),
        ['#resource', 'zaak,status'],
        ['zaaktype', `https://${'x'.repeat(900)}.example/zaaktypen/00000000-0000-4000-8000-000000000000`],
      ])
      await sql`
        with made as (
          insert into abonnement (applicatie_id, client_id, callback_url, auth)
          select c.applicatie_id, c.client_id, 'https://elders.example/' || n, ''
          from applicatie_client c, generate_series(1, ${Math.round(1000 * scale)}::int) n where c.client_id = ${client}
          returning id)
        insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
        select m.id, k.id, ${JSON.stringify(filters)}::text::jsonb from made m, kanaal k, generate_series(1, 2)
        where k.naam = 'zaken'`
      await sql`analyze abonnement, abonnement_kanaal`
    },
    send: async ({ send }) => {
      await send('GET', '/notificaties/api/v1/kanaal') // what hurts are the changes of others
    },
  },
  {
    name: 'searches for what no index finds',
    rights: [right],
    answers: [200, 400, 503],
    prepare: async ({ zaak }, { sql, scale }) => {
      await sql`
        insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
          vertrouwelijkheidaanduiding, omschrijving)
        select 'STREEP-' || n, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id, z.startdatum,
          z.vertrouwelijkheidaanduiding, 'Een - tussen ' || n || ' woorden -- van allerlei lengte'
        from zaak z, generate_series(1, ${Math.round(50_000 * scale)}::int) n where z.uuid = ${zaak.split('/').at(-1)!}
        on conflict do nothing`
    },
    send: async ({ send }) => {
      const texts = ['---', ' - ', '%%%', '___', '. . .', 'een -', 'een', 'tussen', 'woorden -- van']
      await Promise.all(
        texts.map((text) => send('GET', `${ZAKEN}/zaken?omschrijving=${encodeURIComponent(text)}`, undefined, CRS)),
      )
    },
  },
  {
    name: 'all filters of a search at once',
    rights: [right],
    answers: [200, 400, 503],
    send: async ({ send, world }) => {
      const days = ['startdatum', 'registratiedatum', 'einddatum', 'archiefactiedatum', 'einddatumGepland']
      const many = times(1000).map((n) => `https://elders.example/${n}`)
      const body = {
        identificatie__icontains: 'streep',
        omschrijving: 'een woord',
        zaaktype__omschrijving: 'e',
        zaaktype__in: [world.zaaktype, ...many.slice(1)],
        zaaktype__not_in: many,
        bronorganisatie__in: times(1000).map(() => '517439943'),
        ...Object.fromEntries(
          days.flatMap((day) => [
            [`${day}__gt`, '1900-01-01'],
            [`${day}__lt`, '2100-01-01'],
          ]),
        ),
        rol__betrokkene: 'https://elders.example/1',
        rol__omschrijvingGeneriek: 'behandelaar',
        rol__betrokkeneIdentificatie__medewerker__identificatie: '1',
        kenmerk: 'bron:x',
        maximaleVertrouwelijkheidaanduiding: 'zeer_geheim',
        ordering: ['-startdatum', 'identificatie', '-einddatum'],
        uuid__in: times(10_000).map((n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`),
        expand: ['rollen', 'status', 'zaakobjecten'],
      }
      await Promise.all(times(8).map(() => send('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)))
    },
  },
  {
    name: 'content that is given again and again',
    rights: [{ component: 'drc', scopes: ['documenten.aanmaken', 'documenten.lezen'] }],
    answers: [400, 0],
    send: async ({ send, scale }) => {
      const body = `{${'"inhoud":"AAAA",'.repeat(20_000 * scale + 10)}"titel":"x"}`
      const path = '/documenten/api/v1/enkelvoudiginformatieobjecten'
      await Promise.all(times(4).map(() => send('POST', path, body)))
    },
  },
  {
    name: 'lists, names and levels without end',
    rights: [right],
    answers: [400, 413],
    send: async ({ send, scale }) => {
      const search = (body: unknown) => send('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)
      const many = Math.round(200_000 * scale) + 2000
      await search({ uuid__in: times(many / 8 + 10_001).map(() => '00000000-0000-4000-8000-000000000000') })
      await search({ ordering: times(many / 4).map(() => 'startdatum') })
      await search({ zaaktype__in: times(many).map((n) => n) })
      await search({ zaaktype__in: times(many).map(() => []) })
      await search(`{"zaakgeometrie":${'['.repeat(many)}${']'.repeat(many)}}`)
      await search({ ordering: ['__proto__', 'constructor'] })
    },
  },
]
