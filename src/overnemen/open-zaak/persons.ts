// Who is involved, and what a case is about: one row in a table of its own for every kind, joined to the JSON of the API.
import type postgres from 'postgres'
import { expected } from '../../database/rows.ts'
import type { Schema } from './queries.ts'

type Row = Record<string, unknown>
type Json = Record<string, unknown>

/** Keys as the old API showed them: `inp_a_nummer` becomes `inpA_nummer`, and a digit keeps its underscore. */
export function camelize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelize)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [camel(key), camelize(inner)]))
}

const camel = (key: string) =>
  key.replace(/([a-z0-9])_([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())

/** Tables of objects that have no more than their own columns, by object_type. */
const PLAIN: Record<string, string> = {
  buurt: 'zaken_buurt',
  gemeente: 'zaken_gemeente',
  gemeentelijke_openbare_ruimte: 'zaken_gemeentelijkeopenbareruimte',
  inrichtingselement: 'zaken_inrichtingselement',
  kadastrale_onroerende_zaak: 'zaken_kadastraleonroerendezaak',
  kunstwerkdeel: 'zaken_kunstwerkdeel',
  maatschappelijke_activiteit: 'zaken_maatschappelijkeactiviteit',
  openbare_ruimte: 'zaken_openbareruimte',
  pand: 'zaken_pand',
  spoorbaandeel: 'zaken_spoorbaandeel',
  terreindeel: 'zaken_terreindeel',
  waterdeel: 'zaken_waterdeel',
  wegdeel: 'zaken_wegdeel',
  wijk: 'zaken_wijk',
  woonplaats: 'zaken_woonplaats',
  medewerker: 'zaken_medewerker',
  organisatorische_eenheid: 'zaken_organisatorischeeenheid',
}
const PERSONS: Record<string, string> = {
  natuurlijk_persoon: 'natuurlijkpersoon',
  niet_natuurlijk_persoon: 'nietnatuurlijkpersoon',
  vestiging: 'vestiging',
}
const GERECHTIGDE = 'zakelijk_rechtHeeft_als_gerechtigde_id'

/** Reads what stands beside a portion of rollen or zaakobjecten: a few queries for all of them. */
export function identities(sql: postgres.Sql | postgres.TransactionSql, schema: Schema) {
  /** Rows by what they hang on. */
  async function below(table: string, column: string, ids: unknown[]): Promise<Map<unknown, Row>> {
    if (ids.length === 0 || !schema.has(`${table}.${column}`)) return new Map()
    const rows = await sql<
      Row[]
    >`select * from ${sql(table)} where ${sql(column)} = any(${ids as number[]}::bigint[]) order by id desc`
    return new Map(rows.map((row) => [row[column], row]))
  }
  const idsOf = (rows: Map<unknown, Row>) => [...rows.values()].map(({ id }) => id)

  async function map(rows: Map<unknown, Row>, to: (row: Row) => Json): Promise<Map<unknown, Json>> {
    return new Map([...rows].map(([key, row]) => [key, to(row)]))
  }

  async function persons(kind: string, column: string, ids: unknown[]): Promise<Map<unknown, Json>> {
    const name = expected(PERSONS[kind])
    const rows = await below(`zaken_${name}`, column, ids)
    const [adressen, buitenland] = await Promise.all([
      below('zaken_adres', `${name}_id`, idsOf(rows)),
      below('zaken_subverblijfbuitenland', `${name}_id`, idsOf(rows)),
    ])
    return map(rows, (row) => {
      const adres = adressen.get(row.id)
      return {
        ...plain(row),
        verblijfsadres: adres
          ? {
              ...address(adres),
              aoaIdentificatie: adres.identificatie,
              inpLocatiebeschrijving: adres.locatie_omschrijving,
            }
          : null,
        subVerblijfBuitenland: plainOf(buitenland.get(row.id)),
      }
    })
  }

  async function areas(column: string, ids: unknown[]): Promise<Map<unknown, Json>> {
    const rows = await below('zaken_terreingebouwdobject', column, ids)
    const adressen = await below('zaken_adres', 'terreingebouwdobject_id', idsOf(rows))
    return map(rows, (row) => {
      const adres = adressen.get(row.id)
      return {
        identificatie: row.identificatie,
        adresAanduidingGrp: adres
          ? {
              ...address(adres),
              numIdentificatie: adres.num_identificatie,
              oaoIdentificatie: adres.identificatie,
              ogoLocatieAanduiding: adres.locatie_aanduiding,
            }
          : null,
      }
    })
  }

  async function wozObjecten(column: string, ids: unknown[]): Promise<Map<unknown, Json>> {
    const rows = await below('zaken_wozobject', column, ids)
    const adressen = await below('zaken_adres', 'wozobject_id', idsOf(rows))
    return map(rows, (row) => {
      const adres = adressen.get(row.id)
      return {
        wozObjectNummer: row.woz_object_nummer,
        aanduidingWozObject: adres
          ? {
              ...address(adres),
              aoaIdentificatie: adres.identificatie,
              locatieOmschrijving: adres.locatie_omschrijving,
            }
          : null,
      }
    })
  }

  /** The persons or objects of rows of one kind, by the id of the row. */
  async function ofKind(kind: string, column: string, ids: unknown[]): Promise<Map<unknown, Json>> {
    if (PERSONS[kind]) return persons(kind, column, ids)
    if (PLAIN[kind]) return map(await below(PLAIN[kind], column, ids), plain)
    if (kind === 'terrein_gebouwd_object') return areas(column, ids)
    if (kind === 'woz_object') return wozObjecten(column, ids)
    if (kind === 'adres')
      return map(await below('zaken_adres', column, ids), (row) => ({
        identificatie: row.identificatie,
        wplWoonplaatsNaam: row.wpl_woonplaats_naam,
        gorOpenbareRuimteNaam: row.gor_openbare_ruimte_naam,
        huisnummer: row.huisnummer,
        huisletter: row.huisletter,
        huisnummertoevoeging: row.huisnummertoevoeging,
        postcode: row.postcode,
      }))
    if (kind === 'overige')
      return map(await below('zaken_overige', column, ids), (row) => ({ overigeData: camelize(row.overige_data) }))
    if (kind === 'huishouden') {
      const rows = await below('zaken_huishouden', column, ids)
      const in_ = await areas('huishouden_id', idsOf(rows))
      return map(rows, (row) => ({ nummer: row.nummer, isGehuisvestIn: in_.get(row.id) ?? null }))
    }
    if (kind === 'woz_deelobject') {
      const rows = await below('zaken_wozdeelobject', column, ids)
      const of = await wozObjecten('woz_deelobject_id', idsOf(rows))
      return map(rows, (row) => ({
        nummerWozDeelObject: row.nummer_woz_deel_object,
        isOnderdeelVan: of.get(row.id) ?? null,
      }))
    }
    if (kind === 'woz_waarde') {
      const rows = await below('zaken_wozwaarde', column, ids)
      const of = await wozObjecten('woz_warde_id', idsOf(rows)) // spelled so there
      return map(rows, (row) => ({ waardepeildatum: row.waardepeildatum, isVoor: of.get(row.id) ?? null }))
    }
    if (kind === 'zakelijk_recht') {
      const rows = await below('zaken_zakelijkrecht', column, ids)
      const [over, wie] = await Promise.all([
        below('zaken_kadastraleonroerendezaak', 'zakelijk_recht_id', idsOf(rows)),
        below('zaken_zakelijkrechtheeftalsgerechtigde', 'zakelijk_recht_id', idsOf(rows)),
      ])
      const [people, others] = await Promise.all([
        persons('natuurlijk_persoon', GERECHTIGDE, idsOf(wie)),
        persons('niet_natuurlijk_persoon', GERECHTIGDE, idsOf(wie)),
      ])
      return map(rows, (row) => {
        const recht = wie.get(row.id)
        return {
          identificatie: row.identificatie,
          avgAard: row.avg_aard,
          heeftBetrekkingOp: plainOf(over.get(row.id)),
          heeftAlsGerechtigde: recht
            ? {
                natuurlijkPersoon: people.get(recht.id) ?? null,
                nietNatuurlijkPersoon: others.get(recht.id) ?? null,
              }
            : null,
        }
      })
    }
    return new Map()
  }

  /** For a portion: by id of the row, whatever its kind. */
  return async (column: 'rol_id' | 'zaakobject_id', rows: { id: unknown; kind: string }[]) => {
    const byKind = Map.groupBy(rows, ({ kind }) => kind)
    const parts = await Promise.all(
      [...byKind].map(([kind, members]) =>
        ofKind(
          kind,
          column,
          members.map(({ id }) => id),
        ),
      ),
    )
    const all = new Map<unknown, Json>()
    for (const part of parts) for (const [id, json] of part) all.set(id, json)
    return all
  }
}

/** The columns of a row under the names of the API, without its keys. */
function plain(row: Row): Json {
  const own = Object.entries(row).filter(([name]) => (name !== 'id' && !/_id$/.test(name)) || name === 'inn_nnp_id')
  return camelize(Object.fromEntries(own)) as Json
}

const plainOf = (row: Row | undefined): Json | null => (row ? plain(row) : null)

const address = (adres: Row): Json => ({
  wplWoonplaatsNaam: adres.wpl_woonplaats_naam,
  gorOpenbareRuimteNaam: adres.gor_openbare_ruimte_naam,
  aoaPostcode: adres.postcode,
  aoaHuisnummer: adres.huisnummer,
  aoaHuisletter: adres.huisletter,
  aoaHuisnummertoevoeging: adres.huisnummertoevoeging,
})
