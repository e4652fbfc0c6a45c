// The tables of a real Open Zaak and Open Notificaties, as `make-schemas` read them from databases that their own migrations made.
// PostGIS is not needed: a geometry is text here, in hexadecimal EWKB, which is what PostGIS shows for one.
import { readFileSync } from 'node:fs'

const WITHOUT_LATEST = 'alter table documenten_enkelvoudiginformatieobjectcanonical drop latest_version_id;'
/** By version, what its tables lack of those of 1.30. */
const OLDER = { '1.27': WITHOUT_LATEST, '1.28': WITHOUT_LATEST, '1.29': '', '1.30': '' }
export type Version = keyof typeof OLDER
export const VERSIONS = Object.keys(OLDER) as Version[]

const schema = (name: string) => readFileSync(new URL(`./schemas/${name}.sql`, import.meta.url), 'utf8')

/** What that program itself fills in for columns that cannot be null, so that rows of the tests need not name them all. */
const FILLED_IN = `
  do $$ declare c record; begin
    for c in select table_name, column_name, data_type from information_schema.columns
      where table_schema = current_schema() and is_nullable = 'NO' and column_default is null and is_identity = 'NO'
        and data_type in ('text', 'character varying', 'boolean', 'ARRAY')
    loop
      execute format('alter table %I alter %I set default %L', c.table_name, c.column_name,
        case c.data_type when 'boolean' then 'false' when 'ARRAY' then '{}' else '' end);
    end loop;
  end $$;`

/** Statements that make the tables of Open Zaak. */
export const createTables = (version: Version = '1.30'): string =>
  `create domain geometry as text; ${schema('open-zaak-1.30')} ${OLDER[version]} ${FILLED_IN}`

/** Statements that make the tables of Open Notificaties 1.16. */
export const createNotificationTables = (): string => `${schema('open-notificaties-1.16')} ${FILLED_IN}`
