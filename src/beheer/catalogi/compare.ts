// Two versions beside each other, in words: what changed in the type itself, and which parts came, went or changed.

import type { FastifyInstance } from 'fastify'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { uuidOf } from '../../http/links.ts'
import { queryText, uuidIn } from '../frame/lookup.ts'
import { t } from '../language/language.ts'
import {
  crumbsOf,
  findVersion,
  pathOf,
  requireVersion,
  TYPES,
  titleOf,
  typeChoices,
  type Version,
  viewing,
} from './context.ts'
import { differences, type Field } from './fields.ts'
import type { Item, PartKind } from './part.ts'
import { itemsOf } from './part-items.ts'
import { PARTS } from './parts.ts'
import { besluittypeGroups, DOCUMENTTYPE_GROUPS } from './type-fields.ts'
import { versionsOf } from './versions.ts'
import { ZAAKTYPE_FIELDS } from './zaaktype-fields.ts'

type Change = { label: string; before: string; after: string }
export type PartChanges = {
  name: string
  added: string[]
  removed: string[]
  changed: { name: string; fields: Change[] }[]
  order: { before: string; after: string } | undefined
}

export function registerCompare(app: FastifyInstance, selectielijst: Selectielijst): void {
  for (const info of Object.values(TYPES)) {
    app.get(`/catalogi/${info.path}/:uuid/verschillen`, { config: viewing }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      const siblings = await versionsOf(app.read, version)
      const uuid =
        uuidIn(queryText(request, 'met')) ??
        siblings.find(({ here, concept }) => !here && !concept)?.uuid ??
        siblings.find(({ here }) => !here)?.uuid
      const other = uuid && (await findVersion(app.read, request.base, info.type, uuid))
      if (!other) throw notFound(t('Er is geen andere versie om mee te vergelijken.'))
      const [older, newer] = [version, other].toSorted((a, b) => a.begin.localeCompare(b.begin) || a.id - b.id) as [
        Version,
        Version,
      ]
      const fields = await fieldsFor(app.read, request.base, version)
      return reply.page('catalogi-differences', {
        title: t('Versies vergelijken'),
        breadcrumbs: crumbsOf(version),
        name: titleOf(version),
        path: pathOf(version),
        siblings,
        version,
        older,
        newer,
        head: differences(fields, older.resource, newer.resource),
        parts:
          info.type === 'zaaktype' ? await comparePartsOf(app.read, request.base, selectielijst, older, newer) : [],
      })
    })
  }
}

/** The fields of a head type, with its relations by name. */
async function fieldsFor(db: ReadDb, base: string, version: Version): Promise<Field[]> {
  if (version.type === 'informatieobjecttype') return DOCUMENTTYPE_GROUPS.flatMap(({ fields }) => fields)
  const names = (type: 'informatieobjecttype' | 'besluittype' | 'zaaktype') =>
    typeChoices(db, base, type, version.catalogusId)
  if (version.type === 'besluittype')
    return besluittypeGroups(await names('informatieobjecttype')).flatMap(({ fields }) => fields)
  return [
    ...ZAAKTYPE_FIELDS,
    { name: 'selectielijstProcestype', label: t('Procestype'), optional: true },
    { name: 'besluittypen', label: t('Besluittypen'), kind: 'checks', choices: await names('besluittype') },
    { name: 'deelzaaktypen', label: t('Deelzaken'), kind: 'checks', choices: await names('zaaktype') },
    { name: 'gerelateerdeZaaktypen', label: t('Andere zaaktypen'), kind: 'related', choices: await names('zaaktype') },
  ]
}

async function comparePartsOf(db: ReadDb, base: string, selectielijst: Selectielijst, older: Version, newer: Version) {
  const changes: PartChanges[] = []
  for (const kind of PARTS) {
    const [before = [], after = []] = await Promise.all(
      [older, newer].map((version) => namedItems(db, kind, base, version)),
    )
    const context = { db, base, selectielijst, zaaktype: newer, item: after[0]?.item, items: [] }
    const fields = before.length + after.length > 0 ? (await kind.groups(context)).flatMap((group) => group.fields) : []
    const found = compareParts(kind, fields, before, after)
    if (found.added.length + found.removed.length + found.changed.length > 0 || found.order) changes.push(found)
  }
  return changes
}

type Named = { name: string; item: Item }

async function namedItems(db: ReadDb, kind: PartKind, base: string, version: Version): Promise<Named[]> {
  const items = await itemsOf(db, kind, base, version)
  const status = await statusNames(db, version.id)
  const taken = new Map<string, number>()
  return items.map((item) => {
    const own = kind.path === 'documenttypen' ? `${item.informatieobjecttype} (${item.richting})` : kind.nameOf(item)
    const times = (taken.get(own) ?? 0) + 1
    taken.set(own, times)
    // Statuses by name: every version has its own.
    return {
      name: times > 1 ? `${own} (${times})` : own,
      item: {
        ...item,
        ...kind.toForm?.(item),
        statustype: item.statustype ? (status.get(uuidOf(item.statustype)) ?? '') : null,
      } as Item,
    }
  })
}

async function statusNames(db: ReadDb, zaaktypeId: number): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('statustype')
    .where('zaaktypeId', '=', zaaktypeId)
    .select(['uuid', 'omschrijving'])
    .execute()
  return new Map(rows.map(({ uuid, omschrijving }) => [uuid, omschrijving]))
}

/** Parts of two versions by their names: which came, which went, and what changed in those that stayed. */
function compareParts(
  kind: Pick<PartKind, 'name' | 'ordered'>,
  fields: readonly Field[],
  before: Named[],
  after: Named[],
): PartChanges {
  const names = (list: Named[]) => list.map(({ name }) => name)
  const kept = after.filter(({ name }) => names(before).includes(name))
  const order = {
    before: names(before)
      .filter((name) => names(kept).includes(name))
      .join(' → '),
    after: names(kept).join(' → '),
  }
  return {
    name: kind.name,
    added: names(after).filter((name) => !names(before).includes(name)),
    removed: names(before).filter((name) => !names(after).includes(name)),
    changed: kept.flatMap(({ name, item }) => {
      const found = differences(fields, expected(before.find((one) => one.name === name)).item, item)
      return found.length > 0 ? [{ name, fields: found }] : []
    }),
    order: kind.ordered && order.before !== order.after ? order : undefined,
  }
}
