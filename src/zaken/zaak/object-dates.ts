// The days that objects of a case say by themselves (zrc-021, afleidingswijze `zaakobject`). Ours are read in the transaction
// that needs them. For those at other servers it is given up, they are asked without any transaction, and it is done again:
// only then is it known which are needed, and every other case goes without the question.
import type { FastifyInstance } from 'fastify'
import type { Mutation } from '../../core/mutate.ts'
import type { ReadSql } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { resolveLink } from '../../http/links.ts'
import { askEach } from '../../services/services.ts'

/** What stands where the resultaattype says that a day stands, or why that is not known. */
export type Said = { value: unknown } | { reason: string }
/** What other servers said, by URL; undefined when they were not asked yet. */
export type ObjectDates = ReadonlyMap<string, Said> | undefined

/** What deriving needs: it only reads. */
export type Deriving = { sql: ReadSql; actor: Pick<Mutation['actor'], 'base'> }

/** Thrown out of a transaction that needs to know what objects elsewhere say. */
export class ObjectsUnasked extends Error {
  urls: readonly string[]
  datumkenmerk: string
  constructor(urls: readonly string[], datumkenmerk: string) {
    super('objects at other servers have to be asked first')
    this.urls = urls
    this.datumkenmerk = datumkenmerk
  }
}

/** Does work that may derive archiving: once, or again after what it needs was asked. */
export async function withObjectDates<T>(app: FastifyInstance, work: (objects: ObjectDates) => Promise<T>): Promise<T> {
  try {
    return await work(undefined)
  } catch (error) {
    if (!(error instanceof ObjectsUnasked)) throw error
    return work(await askObjects(app, error))
  }
}

const MAX_OBJECTS = 100
const TERM_MS = 20_000

/** After one that does not answer nobody is asked any more, nor after twenty seconds. */
async function askObjects(app: FastifyInstance, { urls, datumkenmerk }: ObjectsUnasked): Promise<ObjectDates> {
  const said = new Map<string, Said>()
  const until = performance.now() + TERM_MS
  let silent =
    urls.length > MAX_OBJECTS ? `de zaak heeft meer dan ${MAX_OBJECTS} objecten bij andere servers` : undefined
  await askEach(urls, async (url) => {
    if (performance.now() > until) silent ??= 'de andere servers antwoorden te traag'
    const fetched = silent === undefined ? await app.parts.services.fetchJson(url, { fresh: true }) : undefined
    if (fetched?.kind === 'ok') return said.set(url, { value: valueAt(fetched.body, datumkenmerk) })
    if (fetched?.kind === 'failed') silent = fetched.reason
    if (fetched?.kind === 'unregistered') silent = 'dit adres hoort niet bij een geregistreerde dienst'
    return said.set(url, { reason: expected(silent) })
  })
  return said
}

/** The member at a path with slashes: names as they are served or in snake_case. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body
  for (const name of path.split('/')) value = member(value, name)
  // What is no day is only told of: no more is kept of it.
  if (typeof value === 'string') return value.slice(0, 200)
  return typeof value === 'number' || value === undefined || value === null ? value : '(geen tekst)'
}

// The members of overigeData stand within it, and their path may leave that out.
function member(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object') return undefined
  const object = value as Record<string, unknown>
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const own = (key: string) => (Object.hasOwn(object, key) ? object[key] : undefined)
  const found = own(name) ?? own(camel)
  return found === undefined && typeof object.overigeData === 'object' ? member(object.overigeData, name) : found
}

/** What objects of ours say: where they stand, and the columns that hold days. */
const OWN: Record<string, { rows: string; days: readonly string[] }> = {
  zaak: {
    rows: 'zaak',
    days: [
      'registratiedatum',
      'startdatum',
      'einddatum',
      'einddatum_gepland',
      'uiterlijke_einddatum_afdoening',
      'publicatiedatum',
      'laatste_betaaldatum',
      'archiefactiedatum',
      'startdatum_bewaartermijn',
    ],
  },
  status: { rows: 'status', days: ['datum_status_gezet'] },
  besluit: {
    rows: 'besluit',
    days: ['datum', 'ingangsdatum', 'vervaldatum', 'publicatiedatum', 'verzenddatum', 'uiterlijke_reactiedatum'],
  },
  enkelvoudiginformatieobject: {
    rows: `(select e.uuid, v.* from enkelvoudiginformatieobject e join enkelvoudiginformatieobject_versie v
      on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie)`,
    days: [
      'creatiedatum',
      'ontvangstdatum',
      'verzenddatum',
      'begin_registratie',
      'ondertekening_datum',
      'integriteit_datum',
    ],
  },
}

/**
 * What objects by URL say: those of ours as they are now, those elsewhere as they were asked.
 * @throws ObjectsUnasked when they were not asked yet
 */
export async function sayDates(
  m: Deriving,
  urls: readonly string[],
  datumkenmerk: string,
  asked: ObjectDates,
): Promise<Said[]> {
  const targets = urls.map((url) => ({ url, target: resolveLink(url, m.actor.base) }))
  const elsewhere = targets.filter(({ target }) => target.kind === 'elsewhere').map(({ url }) => url)
  if (!asked && elsewhere.length > 0) throw new ObjectsUnasked([...new Set(elsewhere)], datumkenmerk)
  const said: Said[] = []
  for (const { url, target } of targets) {
    if (target.kind === 'ours') said.push(await sayOwn(m, target.resource, target.uuid, datumkenmerk))
    else said.push(asked?.get(url) ?? { reason: 'dit object is op dit moment gekoppeld; probeer het opnieuw' })
  }
  return said
}

async function sayOwn(m: Deriving, resource: string, uuid: string, datumkenmerk: string): Promise<Said> {
  const own = OWN[resource]
  const column = datumkenmerk.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('/', '_')
  if (!own?.days.includes(column)) return { reason: `een ${resource} heeft geen datum ${datumkenmerk}` }
  const [row] = await m.sql<{ day: string | null }[]>`
    select to_jsonb(x) ->> ${column} as day from ${m.sql.unsafe(own.rows)} x where x.uuid = ${uuid}::uuid`
  return row ? { value: row.day } : { reason: 'dit object bestaat niet meer' }
}
