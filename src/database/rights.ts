// What the role of a process may do, asked at its start: a right that lacks would else be found by the first request that needs it.
import type postgres from 'postgres'

/** The role lacks rights that the program needs. */
export class RightsMissing extends Error {}

// Tables that somebody else made in these schemas are none of ours. By what depends on a schema its relations are found with an index: all
// that a database has are a few hundred thousand where hundreds of organisations share it. What is only added to is not required to be changed.
const MISSING = `
  with own as (
    select c.oid, c.relkind, n.nspname, format('%I.%I', n.nspname, c.relname) as name,
      case when c.relkind = 'S' then '{usage}' when c.relkind = 'v' or c.relname in ('migration', 'migrations') then '{select}'
        when c.relname in ('audit', 'beheer_audit') then '{select,insert}'
        else '{select,insert,update,delete}' end::text[] as needed
    from pg_namespace n
    join pg_depend d on d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid and d.classid = 'pg_class'::regclass
    join pg_class c on c.oid = d.objid
    where n.nspname in (current_schema(), current_schema() || '_queue') and c.relkind in ('r', 'p', 'v', 'S')
      and c.relowner = (select relowner from pg_class where oid = 'migration'::regclass)
  )
  select name, right_name as "right" from own cross join unnest(needed) right_name
  where case when relkind = 'S' then not has_sequence_privilege(oid, right_name) else not has_table_privilege(oid, right_name) end
  union all
  select name, 'bypassrls' from own where nspname <> current_schema() and relkind in ('r', 'p') and row_security_active(oid)
  union all
  select nspname, 'usage' from pg_namespace where nspname = current_schema() || '_queue' and not has_schema_privilege(oid, 'usage')
  order by 2, 1`

/**
 * @param sql the sessions whose role is meant
 * @throws RightsMissing with the rights, some of the tables, and what grants them
 */
export async function requireRights(sql: postgres.Sql): Promise<void> {
  const missing = await sql.unsafe<{ name: string; right: string }[]>(MISSING)
  if (missing.length === 0) return
  const [row] = await sql<{ role: string }[]>`select quote_ident(current_user) as role`
  const role = row?.role ?? ''
  const rights = [...new Set(missing.map(({ right }) => right))]
  const said = rights.map((right) => {
    const names = missing.filter((one) => one.right === right).map(({ name }) => name)
    if (right === 'bypassrls')
      return `it may not see the rows of the queue (alter role ${role} bypassrls; or let it own the tables)`
    return `it lacks ${right} on ${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} others` : ''}`
  })
  throw new RightsMissing(
    `the role ${role} may not do what the program needs: ${said.join('; ')}. docs/operations.md has the grants`,
  )
}
