// What each feed tells of: a kind of main object with all that hangs on it, in one component. Each kind says how rows of it are read as
// the lists show them, as far as an actor may read them.
import { type RawBuilder, sql } from 'kysely'
import { toBesluit } from '../besluiten/columns.ts'
import { readableById as readableBesluiten, readableBesluitinformatieobjecten } from '../besluiten/read.ts'
import { LEZEN as BESLUITEN_LEZEN, reached as reachedBesluiten } from '../besluiten/rights.ts'
import { readAccess as catalogiAccess } from '../catalogi/access.ts'
import type { Access } from '../core/access.ts'
import type { Actor, Component } from '../core/actor.ts'
import type { ReadDb, Reader } from '../database/database.ts'
import { toDocument } from '../documenten/document/columns.ts'
import { readableById as readableDocuments } from '../documenten/document/read.ts'
import { readableGebruiksrechten } from '../documenten/gebruiksrechten.ts'
import { readableRelations } from '../documenten/objectinformatieobjecten.ts'
import {
  LEZEN as DOCUMENTEN_LEZEN,
  readAccess as documentenAccess,
  reached as reachedDocuments,
} from '../documenten/rights.ts'
import { readableVerzendingen } from '../documenten/verzendingen.ts'
import { detail } from '../http/expand.ts'
import type { Resource } from '../http/links.ts'
import { sources as customerSources } from '../zaken/customer-relations.ts'
import { source as klantcontacten } from '../zaken/klantcontacten.ts'
import { type PartRow, type PartSource, readableParts } from '../zaken/part-queries.ts'
import { source as resultaten } from '../zaken/resultaten.ts'
import { reached as reachedZaken, LEZEN as ZAKEN_LEZEN, access as zakenAccess } from '../zaken/rights.ts'
import { source as rollen } from '../zaken/rollen.ts'
import { source as statussen } from '../zaken/statussen.ts'
import { source as substatussen } from '../zaken/substatussen.ts'
import { readableById as readableZaken } from '../zaken/zaak/read.ts'
import { source as zaakbesluiten } from '../zaken/zaakbesluiten.ts'
import { source as zaakeigenschappen } from '../zaken/zaakeigenschappen.ts'
import { source as zaakinformatieobjecten } from '../zaken/zaakinformatieobjecten.ts'
import { source as zaaknotities } from '../zaken/zaaknotities.ts'
import { source as zaakobjecten } from '../zaken/zaakobjecten.ts'

/** Who reads, and with which address in links. */
export type Viewer = {
  reader: Reader
  actor: Actor
  base: string
  /** Lets others go first, between parts of what is large. */
  pause?(): Promise<unknown>
}
/** A resource as JSON, with the key of its row. */
export type Loaded = { id: number; uuid: string; json: string }
export type Kind = {
  table: string
  /** The column with the key of the main object that its rows belong to; empty for the main object itself. */
  main: string
  /** How many are read at first, where single ones may be large. */
  first?: number
  load(viewer: Viewer, ids: number[]): Promise<Loaded[]>
}
export type Feed = {
  component: Component
  /** Its collection, below the root of the component. */
  path: string
  /** The kind of the main objects. */
  main: string
  kinds: Record<string, Kind>
  access: { access: Access }
  scopes: readonly string[]
  /** Whether rights of the actor reached what a row `c` of table change says that rights looked at. */
  reached(actor: Actor): RawBuilder<boolean>
}

const textOf = ({ id, uuid, resource }: Found): Loaded => ({
  id,
  uuid,
  json: JSON.stringify(resource),
})

const ofZaak = (source: PartSource<PartRow>): Kind => ({
  table: source.table,
  main: 'zaak_id',
  ...(source.first !== undefined && { first: source.first }),
  load: async ({ reader, actor, base }, ids) =>
    (await readableParts(reader, actor, source, ids)).map((row) =>
      textOf({ id: row.id, uuid: row.uuid, resource: source.toResource(row, base) }),
    ),
})

const zaken: Feed = {
  component: 'zrc',
  path: '/zaken',
  main: 'zaak',
  kinds: {
    zaak: {
      table: 'zaak',
      main: '',
      load: ({ reader, actor, base }, ids) => Array.fromAsync(readableZaken(reader, actor, base, ids)),
    },
    ...Object.fromEntries(
      [
        statussen,
        substatussen,
        resultaten,
        rollen,
        zaakinformatieobjecten,
        zaakobjecten,
        zaakeigenschappen,
        zaakbesluiten,
        klantcontacten,
        ...customerSources(),
        zaaknotities,
      ].map((source) => [source.kind, ofZaak(source as PartSource<PartRow>)]),
    ),
  },
  access: zakenAccess(ZAKEN_LEZEN),
  scopes: ZAKEN_LEZEN,
  reached: (actor) => sql<boolean>`(select coalesce(${reachedZaken(actor)}, false) from (
    select c.type_id as zaaktype_id, c.type_url as zaaktype_url, c.level as vertrouwelijkheidaanduiding) z)`,
}

type Found = { id: number; uuid: string; resource: object }
const ofDocument = (
  table: string,
  load: (db: ReadDb, actor: Actor, base: string, ids: number[]) => Promise<Found[]>,
): Kind => ({
  table,
  main: 'enkelvoudiginformatieobject_id',
  load: async ({ reader, actor, base }, ids) =>
    (await load(reader.db, actor, base, ids)).map((found) => textOf({ ...found, resource: detail(found.resource) })),
})

const documenten: Feed = {
  component: 'drc',
  path: '/enkelvoudiginformatieobjecten',
  main: 'enkelvoudiginformatieobject',
  kinds: {
    enkelvoudiginformatieobject: {
      table: 'enkelvoudiginformatieobject',
      main: '',
      load: async ({ reader, actor, base }, ids) =>
        (await readableDocuments(reader, actor, ids)).map((row) =>
          textOf({ id: row.id, uuid: row.uuid, resource: detail(toDocument(row, base)) }),
        ),
    },
    gebruiksrechten: ofDocument('gebruiksrecht', readableGebruiksrechten),
    objectinformatieobject: ofDocument('objectinformatieobject', readableRelations),
    verzending: ofDocument('verzending', readableVerzendingen),
  },
  access: documentenAccess,
  scopes: DOCUMENTEN_LEZEN,
  reached: (actor) => sql<boolean>`(select coalesce(${reachedDocuments(actor, DOCUMENTEN_LEZEN)}, false) from (
    select c.type_id as informatieobjecttype_id, c.type_url as informatieobjecttype_url, c.level as vertrouwelijkheidaanduiding,
      c.ready as is_gereed_voor_publicatie) e)`,
}

const besluiten: Feed = {
  component: 'brc',
  path: '/besluiten',
  main: 'besluit',
  kinds: {
    besluit: {
      table: 'besluit',
      main: '',
      load: async ({ reader, actor, base }, ids) =>
        (await readableBesluiten(reader, actor, ids)).map((row) =>
          textOf({ id: row.id, uuid: row.uuid, resource: toBesluit(row, base) }),
        ),
    },
    besluitinformatieobject: {
      table: 'besluitinformatieobject',
      main: 'besluit_id',
      load: async ({ reader, actor, base }, ids) =>
        (await readableBesluitinformatieobjecten(reader.db, actor, base, ids)).map(textOf),
    },
  },
  access: { access: { component: 'brc', scopes: BESLUITEN_LEZEN } },
  scopes: BESLUITEN_LEZEN,
  reached: (actor) => sql<boolean>`(select coalesce(${reachedBesluiten(actor)}, false) from (
    select c.type_id as besluittype_id, c.type_url as besluittype_url) b)`,
}

/** Types are for whoever may read any of them (ztc-014), so that rights leave nothing out. */
const ofType = (resource: Resource, table: string, main: string): [string, Kind] => [
  resource,
  {
    table,
    main,
    load: async ({ reader, base }, ids) => {
      const { rows } = await sql<{ id: number; uuid: string }>`
        select id, uuid from ${sql.table(table)} where id = any(${ids}::bigint[])`.execute(reader.db)
      const idOf = new Map(rows.map(({ id, uuid }) => [uuid, id]))
      // With it come the routes of types: a worker that tells of none does without.
      const { loadResources } = await import('../catalogi/loaders.ts')
      const found = await loadResources(resource, reader.db, base, [...idOf.keys()], null)
      return found.map((one) => {
        const uuid = one.url.slice(-36)
        return textOf({ id: idOf.get(uuid) ?? 0, uuid, resource: one })
      })
    },
  },
]

const OF_CATALOGUS = 'catalogus_id'
const OF_ZAAKTYPE = '(select t.catalogus_id from zaaktype t where t.id = x.zaaktype_id)'
const catalogi: Feed = {
  component: 'ztc',
  path: '/catalogussen',
  main: 'catalogus',
  kinds: Object.fromEntries([
    ofType('catalogus', 'catalogus', ''),
    ofType('zaaktype', 'zaaktype', OF_CATALOGUS),
    ofType('informatieobjecttype', 'informatieobjecttype', OF_CATALOGUS),
    ofType('besluittype', 'besluittype', OF_CATALOGUS),
    ofType('statustype', 'statustype', OF_ZAAKTYPE),
    ofType('resultaattype', 'resultaattype', OF_ZAAKTYPE),
    ofType('roltype', 'roltype', OF_ZAAKTYPE),
    ofType('eigenschap', 'eigenschap', OF_ZAAKTYPE),
    ofType('zaaktypeinformatieobjecttype', 'zaaktype_informatieobjecttype', OF_ZAAKTYPE),
    ofType('zaakobjecttype', 'zaakobjecttype', OF_ZAAKTYPE),
  ]),
  access: catalogiAccess,
  scopes: ['catalogi.lezen'],
  reached: () => sql<boolean>`true`,
}

/** The feeds, by the API that has them. */
export const FEEDS = { zaken, documenten, besluiten, catalogi } as const
