// Reads the database of Open Zaak with a role that only reads. All portions of a round see one snapshot, as long as the
// process that exported it holds its transaction.
import type postgres from 'postgres'
import { openDatabase } from '../../database/database.ts'
import { expected, lastOf, one } from '../../database/rows.ts'
import { isUuid } from '../../lib/uuid.ts'
import { censusPart, censusParts, censusRows } from '../census.ts'
import { boundsOf } from '../changes.ts'
import { kindOf, type Taken } from '../kinds.ts'
import { paced } from '../pace.ts'
import { askSource } from '../patience.ts'
import type {
  ApplicatieRow,
  AuditRow,
  CensusRow,
  Contents,
  Finding,
  Portion,
  Reservering,
  Since,
  Source,
  Step,
  StepPlan,
} from '../source.ts'
import { fromEwkb } from './geometry.ts'
import { camelize, identities } from './persons.ts'
import { AUDIT, OWNERS, type Owner, QUERIES, type Query, type Schema, UNTOLD } from './queries.ts'

/** Rows of one portion: more make the takeover hardly faster, and are held in memory for each step side by side. */
const PORTION = 500
/** What a row takes on a machine that does other work too, to foretell how long a round takes. */
const ROW_SECONDS = 0.0003
/** Lines of the audit trail that may be committed after one with a higher number. */
const LATE = 10_000
const MAIN: Record<string, string> = {
  zaak: 'zaken_zaak',
  document: 'documenten_enkelvoudiginformatieobject',
  besluit: 'besluiten_besluit',
}
const mainTable = (kind: string) => expected(MAIN[kind])
/** A table of fewer rows is not worth dividing. */
const DIVIDED_FROM = 20_000

/** Kinds that may be read side by side; each line needs those above it. */
export const PHASES: string[][] = [
  ['catalogus', 'reservering'],
  ['informatieobjecttype'],
  ['besluittype'],
  ['zaaktype'],
  ['zaaktyperelatie', 'statustype', 'roltype', 'resultaattype'],
  ['eigenschap', 'zaaktype_informatieobjecttype', 'zaakobjecttype', 'applicatie'],
  ['document', 'zaak'],
  [
    'rol',
    'zaakrelatie',
    'resultaat',
    'zaakobject',
    'zaakeigenschap',
    'klantcontact',
    'zaakcontactmoment',
    'zaakverzoek',
    'zaaknotitie',
    'besluit',
    'gebruiksrecht',
    'verzending',
  ],
  ['status'],
  ['substatus', 'zaakinformatieobject', 'besluitinformatieobject', 'objectinformatieobject', 'zaakbesluit', 'audit'],
]

type Options = {
  naast: number
  tempo?: number | undefined
  snapshot?: string | undefined
  contents?: Contents | undefined
}

/** Looks which columns this version has; every connection only reads. @throws NotOpenZaak when it is another database */
export async function openZaakSource(url: string, options: Options): Promise<Source> {
  const database = openDatabase(url, {
    max: options.naast + 1,
    name: 'overnemen',
    isForeign: true,
    settings: {
      default_transaction_read_only: 'on',
      IntervalStyle: 'iso_8601',
      statement_timeout: '600000',
      idle_in_transaction_session_timeout: '0',
    },
  })
  const wait = paced(options.tempo)
  let { snapshot } = options
  let schema: Schema | undefined
  let suggestedUrls: string[] = []
  try {
    const rows = await askSource(
      () => database.sql<{ name: string }[]>`
      select table_name || '.' || column_name as name from information_schema.columns where table_schema = current_schema()`,
    )
    schema = new Set(rows.map(({ name }) => name))
    if (!schema.has('zaken_zaak.identificatie_ptr_id')) throw new NotOpenZaak()
    if (schema.has('django_site.domain')) {
      const sites = await database.sql<{ domain: string }[]>`select domain from django_site`
      suggestedUrls = sites.map(({ domain }) => `http://${domain}`)
    }
  } catch (error) {
    await database.close()
    throw error
  }
  const known = schema

  /** Work in the snapshot of the round; without it, or when its process is gone, each portion sees its own moment. */
  async function inSnapshot<T>(work: (sql: postgres.TransactionSql) => Promise<T>): Promise<T> {
    const begin = (snapshot: string | undefined) =>
      database.sql.begin('isolation level repeatable read read only', async (sql) => {
        if (snapshot)
          await sql.unsafe(`set transaction snapshot '${snapshot.replaceAll("'", '')}'`).catch((error) => {
            throw error instanceof database.sql.PostgresError ? new LostSnapshot() : error
          })
        return work(sql)
      }) as Promise<T>
    return askSource(async () => {
      try {
        return await begin(snapshot)
      } catch (error) {
        if (!(error instanceof LostSnapshot)) throw error
        snapshot = undefined
        return begin(undefined)
      }
    })
  }

  async function readKind(query: Query, step: Step): Promise<Portion> {
    const after = Number(step.position ?? -1)
    const changed = step.above?.startsWith('{')
      ? (JSON.parse(step.above) as { column: string; keys: number[] })
      : undefined
    const [part, parts] = (changed ? '0/1' : (step.above ?? '0/1')).split('/').map(Number) as [number, number]
    const [owner = query.key] = Object.values(OWNERS[query.kind] ?? {})
    const divided = parts > 1 ? `and x.${owner} % ${parts} = ${part}` : ''
    const divide = changed ? `and x.${changed.column} = any($3::bigint[])` : divided
    return inSnapshot(async (sql) => {
      const rows = await sql.unsafe<(Taken & { key: number })[]>(
        `select x.${query.key} as key, ${query.select(known)} from ${query.table} x ${query.joins ?? ''}
         where x.${query.key} > $1::bigint and x.${query.key} <= $2::bigint ${divide} ${query.where ? `and ${query.where}` : ''}
         order by x.${query.key} limit ${PORTION}`,
        [after, Number(step.until ?? Number.MAX_SAFE_INTEGER), ...(changed ? [changed.keys] : [])],
        { prepare: true },
      )
      const faults: Finding[] = []
      await complete(sql, query.kind, rows, faults)
      const last = rows.length < PORTION ? (step.until ?? Number.MAX_SAFE_INTEGER) : lastOf(rows).key
      if (query.kind === 'document' && !changed)
        faults.push(...(await withoutVersion(sql, after, Number(last), part, parts)))
      return {
        objects: rows.map((object) => ({ kind: query.kind, object })),
        faults,
        next: rows.length < PORTION ? null : String(lastOf(rows).key),
      }
    })
  }

  /** Documents of which no version is left: there is nothing to take, and the report says so. */
  async function withoutVersion(
    sql: postgres.TransactionSql,
    ...[after, last, part, parts]: [number, number, number, number]
  ): Promise<Finding[]> {
    const rows = await sql<{ id: number }[]>`
      select x.id from documenten_enkelvoudiginformatieobjectcanonical x where x.id > ${after}::bigint and x.id <= ${last}::bigint
        and x.id % ${parts}::bigint = ${part}::bigint and not exists (select from documenten_enkelvoudiginformatieobject v where v.canonical_id = x.id) order by x.id`
    return rows.map(({ id }) => ({
      kind: 'document',
      key: `canonical ${id}`,
      outcome: 'geweigerd',
      code: 'zonder-versie',
      text: 'De bron heeft van dit document geen enkele versie: er is niets om over te nemen.',
    }))
  }

  /** Completes the rows of a query with what it cannot give in the intermediate form. */
  async function complete(
    sql: postgres.TransactionSql,
    kind: string,
    rows: (Taken & { key: number })[],
    faults: Finding[],
  ): Promise<void> {
    const read = identities(sql, known)
    if (kind === 'zaak')
      for (const row of rows) {
        const hex = row.zaakgeometrie as string | null
        try {
          row.zaakgeometrie = hex && fromEwkb(hex)
        } catch {
          row.zaakgeometrie = null
          faults.push({
            kind,
            key: row.uuid,
            identificatie: String(row.identificatie),
            outcome: 'gemarkeerd',
            code: 'geometrie',
            field: 'zaakgeometrie',
            text: 'De geometrie kan niet worden gelezen; de zaak is zonder overgenomen.',
          })
        }
      }
    if (kind === 'rol') {
      const found = await read(
        'rol_id',
        rows.map((row) => ({ id: row.key, kind: String(row.betrokkene_type) })),
      )
      for (const row of rows) {
        row.betrokkene_identificatie = found.get(row.key) ?? null
        row.authenticatie_context = camelize(row.authenticatie_context)
      }
    }
    if (kind === 'zaakobject') {
      const found = await read(
        'zaakobject_id',
        rows.map((row) => ({ id: row.key, kind: String(row.object_type) })),
      )
      for (const row of rows) {
        row.object_identificatie = found.get(row.key) ?? null
        row.object_type_overige_definitie = camelize(row.object_type_overige_definitie)
      }
    }
  }

  async function readApplicaties(): Promise<Portion> {
    return inSnapshot(async (sql) => {
      const perCatalogus = known.has('autorisaties_catalogusautorisatie.id')
      const rows = await sql<Omit<ApplicatieRow, 'geheimen'>[]>`
        select a.uuid, a.label, a.heeft_alle_autorisaties, a.client_ids,
          coalesce((select json_agg(json_build_object('component', r.component, 'scopes', r.scopes,
              'type', coalesce(nullif(r.zaaktype, ''), nullif(r.informatieobjecttype, ''), nullif(r.besluittype, ''), ''),
              'max', nullif(r.max_vertrouwelijkheidaanduiding, '')) order by r.id)
            from authorizations_autorisatie r where r.applicatie_id = a.id), '[]') as autorisaties,
          ${
            perCatalogus
              ? sql`coalesce((select json_agg(json_build_object('component', r.component, 'scopes', r.scopes,
                  'catalogus', c.uuid, 'max', nullif(r.max_vertrouwelijkheidaanduiding, '')) order by r.id)
                from autorisaties_catalogusautorisatie r join catalogi_catalogus c on c.id = r.catalogus_id
                where r.applicatie_id = a.id), '[]')`
              : sql`'[]'::json`
          } as catalogus_autorisaties
        from authorizations_applicatie a order by a.id`
      const secrets = await sql<{ client_id: string; geheim: string }[]>`
        select identifier as client_id, secret as geheim from vng_api_common_jwtsecret order by id`
      const faults: Finding[] = []
      const used = new Set(rows.flatMap(({ client_ids }) => client_ids))
      for (const { client_id } of secrets)
        if (!used.has(client_id))
          faults.push({
            kind: 'geheim',
            key: client_id,
            outcome: 'geweigerd',
            code: 'geheim-zonder-applicatie',
            text: 'Geen applicatie heeft dit client-id: het geheim is niet overgenomen.',
          })
      const applicaties = rows.map((row) => ({
        ...row,
        geheimen: secrets.filter(({ client_id }) => row.client_ids.includes(client_id)),
      }))
      return { objects: [], applicaties, faults, next: null }
    })
  }

  async function readAudit(step: Step): Promise<Portion> {
    const after = Number(step.position ?? step.above ?? -1)
    return inSnapshot(async (sql) => {
      const rows = await sql.unsafe<(AuditRow & { key: number })[]>(
        `${AUDIT} where x.id > $1::bigint and x.id <= $2::bigint order by x.id limit ${PORTION}`,
        [after, Number(step.until ?? Number.MAX_SAFE_INTEGER)],
        { prepare: true },
      )
      // Stored with underscores, and shown as all other JSON of that API.
      const shown = (json: string | null) => json && JSON.stringify(camelize(JSON.parse(json)))
      const audit = rows.map(({ key, ...row }) => ({
        ...row,
        place: key,
        oud: shown(row.oud),
        nieuw: shown(row.nieuw),
      }))
      return { objects: [], audit, next: rows.length < PORTION ? null : String(lastOf(rows).key) }
    })
  }

  /** Reads the reservations of cases first, then those of documents. */
  async function readReservations(step: Step): Promise<Portion> {
    const [kind, after] = (step.position ?? 'zaak:-1').split(':') as [Reservering['kind'], string]
    return inSnapshot(async (sql) => {
      const rows =
        kind === 'zaak'
          ? await sql<(Reservering & { key: number })[]>`
              select i.id as key, 'zaak' as kind, i.identificatie, i.bronorganisatie, null as moment
              from zaken_zaakidentificatie i
              where i.id > ${after}::bigint and not exists (select from zaken_zaak z where z.identificatie_ptr_id = i.id)
              order by i.id limit ${PORTION}::bigint`
          : known.has('documenten_reserveddocument.id')
            ? await sql<(Reservering & { key: number })[]>`
                select id as key, 'document' as kind, identificatie, bronorganisatie, date_created as moment
                from documenten_reserveddocument where id > ${after}::bigint order by id limit ${PORTION}::bigint`
            : []
      const last = rows.at(-1)?.key
      const next = rows.length === PORTION ? `${kind}:${last}` : kind === 'zaak' ? 'document:-1' : null
      return { objects: [], reserveringen: rows.map(({ key: _, ...row }) => row), next }
    })
  }

  /** The keys of cases, documents and decisions of which anything changed. */
  async function changedSince(
    sql: postgres.TransactionSql,
    { moment, audit, again }: Since,
  ): Promise<Record<Owner, number[]>> {
    const lines = await sql<{ name: string; uuid: string }[]>`
      select distinct split_part(reverse(hoofd_object), '/', 2) as name, right(hoofd_object, 36) as uuid
      from audittrails_audittrail where id > ${audit - LATE}::bigint and aanmaakdatum >= ${moment}::timestamptz
        and hoofd_object ~ '/(zaken|besluiten|enkelvoudiginformatieobjecten)/[0-9a-f-]{36}$'`
    const named = (path: string) =>
      lines.flatMap(({ name, uuid }) => ([...name].reverse().join('') === path && isUuid(uuid) ? [uuid] : []))
    const zaken = [...named('zaken'), ...again.zaak]
    const documents = [...named('enkelvoudiginformatieobjecten'), ...again.document]
    const besluiten = [...named('besluiten'), ...again.besluit]
    const keys = async (query: postgres.PendingQuery<{ id: number }[]>) => (await query).map(({ id }) => id)
    return {
      zaak: await keys(sql<{ id: number }[]>`
        select identificatie_ptr_id as id from zaken_zaak where uuid = any(${zaken}::uuid[])
        ${known.has('zaken_zaak.laatst_gemuteerd') ? sql`union select identificatie_ptr_id from zaken_zaak where laatst_gemuteerd >= ${moment}::timestamptz` : sql``}
        order by 1`),
      document: await keys(sql<{ id: number }[]>`
        select canonical_id as id from documenten_enkelvoudiginformatieobject where uuid = any(${documents}::uuid[])
        union select canonical_id from documenten_enkelvoudiginformatieobject where begin_registratie >= ${moment}::timestamptz
        union select id from documenten_enkelvoudiginformatieobjectcanonical where lock <> ''
        order by 1`),
      besluit: await keys(sql<{ id: number }[]>`
        select id from besluiten_besluit where uuid = any(${besluiten}::uuid[]) order by 1`),
    }
  }

  return {
    suggestedUrls,
    ...(options.contents && { contents: options.contents }),
    swept: QUERIES.map(({ kind }) => kind),

    async plan(_round, since) {
      return inSnapshot(async (sql) => {
        const steps: StepPlan[] = []
        const changed = since && (await changedSince(sql, since))
        for (const [phase, names] of PHASES.entries()) {
          for (const name of names) {
            const owners = UNTOLD.has(name) ? undefined : OWNERS[name]
            if (changed && owners) {
              for (const [owner, column] of Object.entries(owners) as [Owner, string][])
                for (let at = 0; at < changed[owner].length; at += PORTION) {
                  const keys = changed[owner].slice(at, at + PORTION)
                  steps.push({ phase, name, above: JSON.stringify({ column, keys }), expected: keys.length })
                }
              continue
            }
            const query = QUERIES.find(({ kind }) => kind === name)
            const table = name === 'audit' ? 'audittrails_audittrail' : query?.table
            if (!table) {
              steps.push({ phase, name, expected: 0 })
              continue
            }
            const key = query?.key ?? 'id'
            if (!known.has(`${table}.${key}`)) continue
            const bounds = await sql.unsafe<{ first: number | null; last: number; total: number }[]>(
              `select min(${key})::bigint as first, max(${key})::bigint as last, count(*)::bigint as total from ${table}`,
            )
            const { first, last, total } = one(bounds)
            if (name === 'audit' && since) {
              const above = Math.max(0, since.audit - LATE)
              const until = Math.max(last ?? 0, since.audit)
              steps.push({ phase, name, above: String(above), until: String(until), expected: until - above })
              continue
            }
            const parts = total < DIVIDED_FROM ? 1 : options.naast
            if (first === null) continue
            for (let part = 0; part < parts; part++) {
              const edge = (at: number) => Math.floor(first - 1 + ((last - first + 1) * at) / parts)
              // Lines of the audit trail keep their order whoever reads them; all others come about as they do there.
              const range =
                name === 'audit'
                  ? { above: String(edge(part)), until: String(edge(part + 1)) }
                  : { above: `${part}/${parts}`, until: String(last) }
              steps.push({
                phase,
                name,
                ...range,
                expected: Math.round(total / parts),
                seconds: (total / parts) * ROW_SECONDS,
              })
            }
          }
        }
        return steps
      })
    },

    numbersPerYear: true,

    async numbers() {
      return inSnapshot(async (sql) => {
        const zaken = await sql<{ year: string; highest: number }[]>`
          select substring(identificatie, 6, 4) as year, max(substring(identificatie, 11)::bigint) as highest
          from zaken_zaakidentificatie where identificatie ~ '^ZAAK-\\d{4}-\\d{10,15}$' group by 1`
        const highest = async (table: string, prefix: string) => {
          if (!known.has(`${table}.identificatie`)) return 0
          const rows = await sql<{ highest: number | null }[]>`
            select max(substring(identificatie from ${`^${prefix}-\\d{4}-(\\d{10,15})$`}::text)::bigint) as highest from ${sql(table)}`
          return one(rows).highest ?? 0
        }
        return {
          zaak: Object.fromEntries(zaken.map(({ year, highest }) => [year, highest])),
          document: Math.max(
            await highest('documenten_enkelvoudiginformatieobject', 'DOCUMENT'),
            await highest('documenten_reserveddocument', 'DOCUMENT'),
          ),
          besluit: await highest('besluiten_besluit', 'BESLUIT'),
        }
      })
    },

    async read(step) {
      const portion = await readStep(step)
      await wait(Math.max(1, portion.objects.length + (portion.audit?.length ?? 0)))
      return portion
    },

    async census(kind) {
      return inSnapshot(async (sql) => {
        const parts = await sql<{ part: string; count: number; sum: number }[]>`
          select left(uuid::text, 3) as part, count(*) as count, sum(uuid_hash(uuid)::bigint)::bigint as sum
          from (select distinct uuid from ${sql(mainTable(kind))}) t group by 1`
        return new Map(parts.map(({ part, count, sum }) => [part, { count, sum }]))
      })
    },

    async uuidsIn(kind, part) {
      return inSnapshot(async (sql) => {
        const [first, last] = boundsOf(part)
        const rows = await sql<{ uuid: string }[]>`
          select distinct uuid from ${sql(mainTable(kind))} where uuid >= ${first}::uuid and uuid <= ${last}::uuid`
        return rows.map(({ uuid }) => uuid)
      })
    },

    async relations(kind) {
      const rows = relationsOf(kind)
      if (rows === undefined) return new Map()
      return inSnapshot(async (sql) => {
        const parts = await sql.unsafe<{ part: string; count: number; sum: number }[]>(censusParts(rows))
        return new Map(parts.map(({ part, count, sum }) => [part, { count, sum }]))
      })
    },

    async relationsIn(kind, part) {
      const rows = relationsOf(kind)
      if (rows === undefined) return []
      return inSnapshot(async (sql) => [...(await sql.unsafe<CensusRow[]>(censusPart(rows, 1), boundsOf(part)))])
    },

    close: () => database.close(),
  }

  /** Undefined: this version has no table of them. */
  function relationsOf(name: string): string | undefined {
    const { select, table, key, joins = '', where } = queryOf(name)
    if (!known.has(`${table}.${key}`)) return undefined
    return censusRows(kindOf(name), `select ${select(known)} from ${table} x ${joins} ${where ? `where ${where}` : ''}`)
  }

  function readStep(step: Step): Promise<Portion> {
    if (step.name === 'applicatie') return readApplicaties()
    if (step.name === 'audit') return readAudit(step)
    if (step.name === 'reservering') return readReservations(step)
    return readKind(queryOf(step.name), step)
  }
}

function queryOf(name: string): Query {
  const query = QUERIES.find(({ kind }) => kind === name)
  if (!query) throw new Error(`there is no step ${name}`)
  return query
}

/** The process that held the snapshot of the round ended, and the snapshot with it. */
class LostSnapshot extends Error {
  override name = 'LostSnapshot'
}

/** The database that was named holds no Open Zaak. */
export class NotOpenZaak extends Error {
  override name = 'NotOpenZaak'
  constructor() {
    super('this database holds no tables of Open Zaak from version 1.2x on (zaken_zaak, zaken_zaakidentificatie)')
  }
}
