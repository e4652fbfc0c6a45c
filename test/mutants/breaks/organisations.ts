// Breaks of what keeps organisations apart in one process.
import type { Mutant } from '../mutant.ts'

const API = 'test/organisations/api.test.ts'
const ISOLATION = 'test/organisations/isolation.test.ts'

export const ORGANISATIONS: Mutant[] = [
  {
    what: 'many: the host says whose request it is',
    file: 'src/organisations/serve.ts',
    search: 'find: (host) => registry.byHost(hostOf(host)),',
    replace: 'find: () => registry.all()[0],',
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
]
