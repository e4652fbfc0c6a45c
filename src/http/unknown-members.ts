// Names in a body that the service does not know are left out (`input.ts`), as the standard says. Who sent them thinks that they were
// kept: the line of the request in the log names them.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { withoutNumbers } from '../telemetry/log.ts'
import { snakeCase } from './input.ts'
import type { Plain } from './input-faults.ts'

/** How many are named, and how much of each: a name is what the client makes of it. */
const MOST = 20
const LONGEST = 60

/** The names that an object may have, with those within them; null: whatever is within is not looked at. */
type Names = Map<string, Names | null>

const dropped = new WeakMap<FastifyRequest, string[]>()

/** The names in the body of a request that were left out, such as `opschorting.einde`; a list has those of all its items. */
export const droppedMembers = (request: FastifyRequest): string[] | undefined => dropped.get(request)

/** Notes what bodies hold that their route does not know. What an answer of it holds is known: clients send back what they read. */
export function noteUnknownMembers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const body = route.schema?.body as Plain | undefined
    if (!body?.properties) return
    const answers = Object.values((route.schema?.response ?? {}) as Record<string, Plain>)
    const names = namesOf([body, ...answers])
    const own = [route.preValidation ?? []].flat() // these may know other names of old
    route.preValidation = [
      ...own,
      async (request) => {
        const found = new Set<string>()
        collect(request.body, names, '', found)
        if (found.size > 0) dropped.set(request, [...found])
      },
    ]
  })
}

/** The names of schemas of which one describes a value; within them those that are described as objects with members. */
function namesOf(schemas: Plain[]): Names {
  const names: Names = new Map()
  for (const name of new Set(schemas.flatMap(({ properties }) => Object.keys(properties ?? {})))) {
    const within = schemas.flatMap(({ properties }) => properties?.[name] ?? []).map((one) => one.items ?? one)
    const known = within.every(({ properties }) => properties) ? namesOf(within) : null
    names.set(name, known).set(snakeCase(name), known)
  }
  return names
}

function collect(value: unknown, names: Names, path: string, found: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collect(item, names, path, found)
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      if (found.size >= MOST) return
      const within = names.get(name)
      if (within) collect(member, within, `${path}${name}.`, found)
      else if (within === undefined) found.add(path + withoutNumbers(name.slice(0, LONGEST)))
    }
}
