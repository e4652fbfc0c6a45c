// Breaks of what keeps organisations apart in one process.
import type { Mutant } from '../mutant.ts'

const API = 'test/organisations/api.test.ts'
const ISOLATION = 'test/organisations/isolation.test.ts'
const BOUNDS = 'test/organisations/limits.test.ts'
const HOSTS = 'test/organisations/isolation-hosts.test.ts'

export const ORGANISATIONS: Mutant[] = [
  {
    what: 'many: the host says whose request it is',
    file: 'src/organisations/serve.ts',
    search: 'const found = registry.byHost(hostOf(host))',
    replace: 'const found = registry.all()[0]',
    tests: [API],
  },
  {
    what: 'many: a suspended organisation answers nothing',
    file: 'src/organisations/serve.ts',
    search: "if (state === 'suspended')",
    replace: "if (state === 'suspended' && isChange)",
    tests: [API],
  },
  {
    what: 'many: nothing changes at one that is read-only',
    file: 'src/organisations/serve.ts',
    search: "state === 'read-only' && isChange",
    replace: "state === 'read-only' && Math.random() > 2",
    tests: [API],
  },
  {
    what: 'many: what is quiet is closed',
    file: 'src/organisations/serve.ts',
    search: 'if (entry.users.size === 0 && entry.usedAt < quiet) retire(entry)',
    replace: 'if (entry.users.size === 0 && entry.usedAt < quiet) entry.usedAt = quiet',
    tests: [API],
  },
  {
    what: 'many: nobody waits for long for one that is away',
    file: 'src/organisations/serve.ts',
    search: 'const left = hasFailed ? 0 : entry.began + WAIT_MS - performance.now()',
    replace: 'const left = hasFailed ? 0 : WAIT_MS',
    tests: [API],
  },
  {
    what: 'many: an organisation has so many requests at once',
    file: 'src/organisations/serve.ts',
    search: 'entry.users.size >= (limits.requests ?? REQUESTS)',
    replace: 'entry.users.size >= REQUESTS',
    tests: [API],
  },
  {
    what: 'many: outside of a request there are no parts',
    file: 'src/telemetry/current-organisation.ts',
    search: "  if (!organisation) throw new Error('this belongs to an organisation, and nothing says to which')\n",
    replace: '',
    tests: [API],
  },
  {
    what: 'many: what is kept in memory is kept for each',
    file: 'src/telemetry/current-organisation.ts',
    search: '    const organisation = requireOrganisation()\n    let one = all.get(organisation)',
    replace:
      '    const organisation = (eachOfMany as unknown as { first: OpenOrganisation }).first ??= requireOrganisation()\n    let one = all.get(organisation)',
    tests: [ISOLATION],
  },
  {
    what: 'many: a repeated key is that of its own organisation',
    file: 'src/telemetry/current-organisation.ts',
    search: "`${current.getStore()?.rsin ?? ''} ${name}`",
    replace: 'name',
    tests: [ISOLATION],
  },
  {
    what: 'bounds: bytes beyond that of an organisation are refused',
    file: 'src/documenten/storage/room.ts',
    search: 'const fits = (bytes: number) => used + sum + bytes <= most',
    replace: 'const fits = (bytes: number) => bytes <= most',
    tests: [BOUNDS],
  },
  {
    what: 'bounds: bytes that were written and are no row yet count',
    file: 'src/documenten/storage/room.ts',
    search: 'const fits = (bytes: number) => used + sum + bytes <= most',
    replace: 'const fits = (bytes: number) => used + bytes <= most',
    tests: [BOUNDS],
  },
  {
    what: 'bounds: before bytes are refused it is looked what was removed',
    file: 'src/documenten/storage/room.ts',
    search: '    if (!fits(bytes)) await lookAnew()\n',
    replace: '',
    tests: [BOUNDS],
  },
  {
    what: 'bounds: rows of an import beyond the bytes are refused',
    file: 'src/documenten/import/prepare.ts',
    search: 'room && !(await room.hold(key, size))',
    replace: 'room && Math.random() > 2',
    tests: [BOUNDS],
  },
  {
    what: 'bounds: two abonnementen at once do not pass that of an organisation',
    file: 'src/nrc/abonnement/write.ts',
    search: "  await m.sql`select pg_advisory_xact_lock(hashtext(current_schema() || ' abonnement'), 0)`\n",
    replace: '',
    tests: [BOUNDS],
  },
  {
    what: 'bounds: abonnementen beyond that of an organisation are refused',
    file: 'src/nrc/abonnement/write.ts',
    search: 'if (one(rows).count < most) return',
    replace: 'if (one(rows).count < most + 1) return',
    tests: [BOUNDS],
  },
  {
    what: 'counts: bytes of documents go with their row',
    file: 'sql/0013-counts.sql',
    search: "select count_rows_of('file', 'r.size');",
    replace: "select count_rows_of('file', 'r.size'); drop trigger count_removed on file;",
    tests: [BOUNDS],
  },
  {
    what: 'many: a pool knows no types of other organisations',
    file: 'src/database/database.ts',
    search: '    fetch_types: false, // arrays.ts has them\n',
    replace: '',
    tests: ['test/database/driver.test.ts'],
  },
  {
    what: 'many: the address of a request names no other host than its header does',
    file: 'src/http/connections.ts',
    search: 'nameOf(named) !== nameOf(',
    replace: 'nameOf(named) === nameOf(`x${named}` + ',
    tests: [HOSTS],
  },
  {
    what: 'many: callbacks that are tried out count for each',
    file: 'src/nrc/abonnement/callback.ts',
    search: "const place = ownName('')",
    replace: 'const place = ownName.name',
    tests: ['test/nrc/api.test.ts'],
  },
  {
    what: 'many: no two organisations have their bytes in one place',
    file: 'src/organisations/apart.ts',
    search: 'a.at.startsWith(b.at) || b.at.startsWith(a.at)',
    replace: 'a.at === b.at',
    tests: ['test/organisations/registry.test.ts'],
  },
]
