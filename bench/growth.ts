// How many bytes a case and a document take in the database, by table, and how much the log of PostgreSQL grows with them: what a
// disk has to be sized by.
import { parseArgs } from 'node:util'
import { openDatabase } from '../src/database/database.ts'
import { figure } from './figures.ts'
import { givenType, startService } from './service.ts'
import { zaaktypeBody } from './zaaktype.ts'

const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
const AT_ONCE = 8
const SHOWN = 14

/** `--cases 2000`: each with a status, a role, a document of 1 kB and its relation. */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({ args: argv, options: { cases: { type: 'string', default: '2000' } } })
  const cases = Number(values.cases)
  const service = await startService()
  const { sql, close } = openDatabase(service.databaseUrl, {
    max: 1,
    name: 'bench',
    settings: { statement_timeout: '0' },
  })
  const post = async (path: string, body: object) =>
    (await (await service.call('POST', path, body, CRS)).json()) as { url: string; catalogus: string }
  const size = async () => {
    await sql`vacuum analyze`
    const rows = await sql<{ name: string; bytes: number; rows: number }[]>`
      select relname as name, pg_total_relation_size(oid) as bytes, greatest(reltuples, 0)::float8 as rows
      from pg_class where relkind = 'r' and relnamespace::regnamespace::text = any(current_schemas(false))`
    const [log] = await sql<{ at: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as at`
    return { tables: new Map(rows.map((row) => [row.name, row])), log: log!.at }
  }
  try {
    const informatieobjecttype = await givenType(service)
    const { catalogus } = (await (await service.call('GET', informatieobjecttype)).json()) as { catalogus: string }
    const { url: zaaktype } = await post('/catalogi/api/v1/zaaktypen', zaaktypeBody(catalogus, 'GROEI'))
    const part = async (path: string, body: object) =>
      (await post(`/catalogi/api/v1/${path}`, { zaaktype, ...body })).url
    const statustype = await part('statustypen', { omschrijving: 'Begin', volgnummer: 1 })
    await part('statustypen', { omschrijving: 'Eind', volgnummer: 2 })
    const roltype = await part('roltypen', { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' })
    await part('zaaktype-informatieobjecttypen', { informatieobjecttype, volgnummer: 1, richting: 'inkomend' })
    await service.call('POST', `${zaaktype}/publish`)

    const one = async (n: number) => {
      const day = '2026-03-02'
      const { url: zaak } = await post('/zaken/api/v1/zaken', {
        ...{ bronorganisatie: '000000000', verantwoordelijkeOrganisatie: '000000000', zaaktype },
        ...{ startdatum: day, omschrijving: `Aanvraag van een vergunning, nummer ${n}` },
      })
      await post('/zaken/api/v1/statussen', { zaak, statustype, datumStatusGezet: `${day}T09:00:00Z` })
      const betrokkene = { geslachtsnaam: 'De Vries', voornamen: 'Jan' }
      await post('/zaken/api/v1/rollen', {
        ...{ zaak, roltype, betrokkeneType: 'natuurlijk_persoon', roltoelichting: 'aanvrager' },
        betrokkeneIdentificatie: betrokkene,
      })
      const { url: informatieobject } = await post('/documenten/api/v1/enkelvoudiginformatieobjecten', {
        ...{ bronorganisatie: '000000000', creatiedatum: day, titel: `Aanvraagformulier ${n}`, auteur: 'Burger' },
        ...{ taal: 'nld', formaat: 'text/plain', bestandsnaam: 'aanvraag.txt', informatieobjecttype },
        ...{ inhoud: Buffer.alloc(1024, 'x').toString('base64'), bestandsomvang: 1024 },
      })
      await post('/zaken/api/v1/zaakinformatieobjecten', { zaak, informatieobject })
    }
    await one(0)
    const before = await size()
    const began = performance.now()
    let next = 1
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next <= cases) await one(next++)
      }),
    )
    const seconds = (performance.now() - began) / 1000
    const written = await sql<{ at: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as at`
    const after = await size()

    const grown = [...after.tables.values()]
      .map(({ name, bytes, rows }) => {
        const was = before.tables.get(name)
        return { name, bytes: bytes - (was?.bytes ?? 0), rows: rows - (was?.rows ?? 0) }
      })
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => b.bytes - a.bytes)
    const total = grown.reduce((sum, { bytes }) => sum + bytes, 0)
    console.log('table                                    bytes a case  rows a case  bytes a row   part')
    for (const { name, bytes, rows } of grown.slice(0, SHOWN))
      console.log(
        [
          name.padEnd(40),
          (bytes / cases).toFixed(0).padStart(12),
          (rows / cases).toFixed(2).padStart(12),
          (rows > 0 ? (bytes / rows).toFixed(0) : '').padStart(12),
          `${((bytes / total) * 100).toFixed(0)} %`.padStart(6),
        ].join(' '),
      )
    figure('a case with status, role, document and relation, in the database', `${Math.round(total / cases)} bytes`)
    figure('the same in the log of PostgreSQL (WAL)', `${Math.round((written[0]!.at - before.log) / cases)} bytes`)
    figure('made, with their five changes', `${(cases / seconds).toFixed(0)} a second, ${AT_ONCE} clients`)
  } finally {
    await close()
    await service.stop()
  }
}
