// How types and parts of types are read by many: for `expand`, feeds, copies, packages and the pages. Written out, so that no kind
// is left out where its routes are not loaded: a worker has none.
import { sql } from 'kysely'
import type { Resource } from '../http/links.ts'
import { source as besluittypen } from './besluittypen.ts'
import { loadCatalogussen } from './catalogussen.ts'
import type { LoadTypes } from './expand.ts'
import { source as informatieobjecttypen } from './informatieobjecttypen.ts'
import type { TypeSource } from './type-source.ts'
import { source as eigenschappen } from './zaaktype/eigenschappen.ts'
import { loadZaaktypen } from './zaaktype/read.ts'
import { source as resultaattypen } from './zaaktype/resultaattypen.ts'
import { source as roltypen } from './zaaktype/roltypen.ts'
import { source as statustypen } from './zaaktype/statustypen.ts'
import { source as zaakobjecttypen } from './zaaktype/zaakobjecttypen.ts'
import { source as zaaktypeInformatieobjecttypen } from './zaaktype/zaaktype-informatieobjecttypen.ts'

type Loader = LoadTypes extends (resource: Resource, ...rest: infer Rest) => infer Found
  ? (...rest: Rest) => Found
  : never

const ofSource =
  <Row extends { uuid: string }, Shape extends { url: string }, Filter>(
    source: TypeSource<Row, Shape, Filter>,
  ): Loader =>
  async (read, base, uuids, datum) => {
    const rows = await source.rows(read, sql`t.uuid = any(${uuids}::uuid[])`, datum).execute()
    return rows.map((row) => source.toResource(row, base))
  }

const LOADERS: Partial<Record<Resource, Loader>> = {
  catalogus: loadCatalogussen,
  zaaktype: loadZaaktypen,
  informatieobjecttype: ofSource(informatieobjecttypen),
  besluittype: ofSource(besluittypen),
  statustype: ofSource(statustypen),
  resultaattype: ofSource(resultaattypen),
  roltype: ofSource(roltypen),
  eigenschap: ofSource(eigenschappen),
  zaaktypeinformatieobjecttype: ofSource(zaaktypeInformatieobjecttypen),
  zaakobjecttype: ofSource(zaakobjecttypen),
}

/**
 * Resources of one kind, as the API shows them; those that do not exist are left out.
 * @throws Error for a kind that is none of the Catalogi API
 */
export const loadResources: LoadTypes = async (resource, read, base, uuids, datum) => {
  const load = LOADERS[resource]
  if (!load) throw new Error(`${resource} is no kind of the Catalogi API`)
  return uuids.length > 0 ? load(read, base, uuids, datum) : []
}
