// The pages of what is below a zaaktype: a tab with all of a kind, a form for one, removing one, and their order.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { loadResources } from '../../catalogi/expand.ts'
import { isUrl } from '../../catalogi/related-types.ts'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import { reorderStatustypen } from '../../catalogi/zaaktype/statustypen.ts'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { uuidOf } from '../../http/links.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { mutateFromPage, type PageMutation } from '../change.ts'
import { formFaultsOf } from '../form.ts'
import { lowerFirst, t, words } from '../language/language.ts'
import { redirectWith } from '../page.ts'
import {
  beheren,
  crumbsOf,
  holdVersion,
  kijken,
  pathOf,
  requireVersion,
  statusChoices,
  typeChoices,
  type Version,
  withNames,
} from './context.ts'
import { correctionGroup, readCorrection, warningsFor } from './correction.ts'
import { type FormPage, fieldsOf, refuse, showForm, submitForm } from './edit.ts'
import { changedState, inWords, memberOf } from './fields.ts'
import type { Item, PartContext, PartKind } from './part.ts'
import { PARTS } from './parts.ts'
import { zaaktypeHead } from './zaaktype-head.ts'

type Params = { Params: { uuid: string; deel: string } }
type ContextOfPart = PartContext & { item: Item }

export function registerParts(app: FastifyInstance, selectielijst: Selectielijst): void {
  for (const kind of PARTS) {
    const root = `/catalogi/zaaktypen/:uuid/${kind.path}`

    app.get(root, { config: kijken }, async (request, reply) => {
      const zaaktype = await requireVersion(app, request, 'zaaktype')
      return showList(reply, request, kind, zaaktype)
    })

    app.get(`${root}/nieuw`, { config: beheren }, async (request, reply) => {
      const context = await contextOf(request, kind)
      if (!context.zaaktype.concept && !kind.extendable) return showFixed(reply, kind, context)
      return showForm(reply, await formPage(kind, context), kind.initial?.(context) ?? {})
    })

    app.post(`${root}/nieuw`, { config: beheren }, async (request, reply) => {
      const context = await contextOf(request, kind)
      const { zaaktype } = context
      if (!zaaktype.concept && !kind.extendable) return showFixed(reply, kind, context)
      const page = await formPage(kind, context)
      return submitForm(request, reply, page, async ({ body, values }) => {
        const reason = readCorrection(zaaktype, body)
        const bodies = newBodies(kind, context, kind.toApi?.(body, undefined) ?? body)
        const prepared = await Promise.all(bodies.map((one) => kind.prepare?.(one, context)))
        const made = await mutateFromPage(
          request,
          async (m) => {
            await holdVersion(m, 'zaaktype', zaaktype.uuid, zaaktype.concept)
            const items: Item[] = []
            for (const [place, one] of bodies.entries()) {
              const item = await kind.create(
                m,
                { ...one, ...(await nextNumber(m, kind, zaaktype.id)) },
                prepared[place],
              )
              items.push(item)
              if (kind.ordered && values.plaats) await moveBefore(m, zaaktype, item.url, String(values.plaats))
              const after = changedState(fieldsOf(page), {}, kind.toForm?.(withNames(item)) ?? withNames(item))
              m.vastleggen({
                handeling: `${kind.resource}-maken`,
                soort: 'zaaktype',
                id: zaaktype.uuid,
                weergave: `${kind.one} “${await nameOf(m.read, kind, item)}” bij ${zaaktype.omschrijving}`,
                nieuw: { ...after.nieuw, ...(reason && { Reden: reason }) },
              })
            }
            return items
          },
          { toelichting: reason },
        )
        const [first, ...others] = made
        const what =
          first && others.length === 0
            ? t`“${await nameOf(app.read, kind, first)}” is toegevoegd.`
            : t`${made.length} ${lowerFirst(kind.name)} zijn toegevoegd.`
        const another = (request.body as Record<string, unknown>).nog === 'true'
        return { naar: `${pathOf(zaaktype)}/${kind.path}${another ? '/nieuw' : ''}`, melding: what }
      })
    })

    app.get<Params>(`${root}/:deel`, { config: beheren }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      const page = await formPage(kind, context)
      if (fieldsOf(page).length === 0) return showFixed(reply, kind, context)
      return showForm(reply, page, kind.toForm?.(context.item) ?? context.item)
    })

    app.post<Params>(`${root}/:deel`, { config: beheren }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      const { zaaktype } = context
      const page = await formPage(kind, context)
      if (fieldsOf(page).length === 0) return showFixed(reply, kind, context)
      return submitForm(request, reply, page, async ({ body, requireFresh }) => {
        const reason = readCorrection(zaaktype, body)
        const change = kind.toApi?.(body, context.item) ?? body
        const prepared = await kind.prepare?.(change, context)
        await mutateFromPage(
          request,
          async (m) => {
            await holdVersion(m, 'zaaktype', zaaktype.uuid, zaaktype.concept)
            const before = await requireItem(m.read, kind, m.actor.base, zaaktype, request.params.deel)
            requireFresh(kind.toForm?.(before) ?? before)
            const after = await kind.change(m, request.params.deel, change, prepared)
            const state = changedState(
              fieldsOf(page),
              kind.toForm?.(before) ?? before,
              kind.toForm?.(withNames(after)) ?? withNames(after),
            )
            m.vastleggen({
              handeling: `${kind.resource}-wijzigen`,
              soort: 'zaaktype',
              id: zaaktype.uuid,
              weergave: `${kind.one} “${await nameOf(m.read, kind, after)}” bij ${zaaktype.omschrijving}`,
              oud: state.oud,
              nieuw: { ...state.nieuw, ...(reason && { Reden: reason }) },
            })
          },
          { toelichting: reason },
        )
        return { naar: `${pathOf(zaaktype)}/${kind.path}`, melding: t('De wijziging is opgeslagen.') }
      })
    })

    app.get<Params>(`${root}/:deel/verwijderen`, { config: beheren }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      if (!context.zaaktype.concept) return showFixed(reply, kind, context)
      return showRemoval(reply, kind, context)
    })

    app.post<Params>(`${root}/:deel/verwijderen`, { config: beheren }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      const { zaaktype, item } = context
      if (!zaaktype.concept) return showFixed(reply, kind, context)
      const name = await nameOf(app.read, kind, item)
      try {
        await mutateFromPage(request, async (m) => {
          await holdVersion(m, 'zaaktype', zaaktype.uuid, true)
          await kind.remove(m, request.params.deel)
          m.vastleggen({
            handeling: `${kind.resource}-verwijderen`,
            soort: 'zaaktype',
            id: zaaktype.uuid,
            weergave: `${kind.one} “${name}” bij ${zaaktype.omschrijving}`,
          })
        })
      } catch (error) {
        return redirectWith(
          request,
          reply,
          `${pathOf(zaaktype)}/${kind.path}`,
          Object.values(formFaultsOf(error)).join(' '),
          'fout',
        )
      }
      return redirectWith(request, reply, `${pathOf(zaaktype)}/${kind.path}`, t`“${name}” is verwijderd.`)
    })
  }

  app.post('/catalogi/zaaktypen/:uuid/statustypen/volgorde', { config: beheren }, async (request, reply) => {
    const zaaktype = await requireVersion(app, request, 'zaaktype')
    const path = `${pathOf(zaaktype)}/statustypen`
    if (!zaaktype.concept) return redirectWith(request, reply, path, fixedOrder(), 'fout')
    const form = request.body as Record<string, string | string[] | undefined>
    const list = (value: string | string[] | undefined) =>
      [value ?? []]
        .flat()
        .flatMap((one) => one.split(','))
        .filter(Boolean)
    const expected = list(form._basis)
    const order = moved(list(form.volgorde), form)
    try {
      await mutateFromPage(request, async (m) => {
        await holdVersion(m, 'zaaktype', zaaktype.uuid, true)
        const now = await orderOf(m.read, zaaktype.id)
        if (now.map(({ uuid }) => uuid).join() !== expected.join())
          throw new Problem(409, {
            detail: t(
              'Iemand anders heeft de statustypen intussen gewijzigd. Uw volgorde is niet opgeslagen; hieronder staat de huidige.',
            ),
          })
        const names = (uuids: string[]) =>
          uuids.map((uuid) => now.find((one) => one.uuid === uuid)?.omschrijving).join(' → ')
        await reorderStatustypen(m, zaaktype.uuid, order)
        m.vastleggen({
          handeling: 'statustype-volgorde',
          soort: 'zaaktype',
          id: zaaktype.uuid,
          weergave: `Volgorde van de statustypen bij ${zaaktype.omschrijving}`,
          oud: { Volgorde: names(expected) },
          nieuw: { Volgorde: names(order) },
        })
      })
    } catch (error) {
      return redirectWith(request, reply, path, Object.values(formFaultsOf(error)).join(' '), 'fout')
    }
    const last = (await orderOf(app.read, zaaktype.id)).at(-1)
    return redirectWith(request, reply, path, t`De volgorde is opgeslagen. “${last?.omschrijving}” sluit de zaak.`)
  })

  async function contextOf(request: FastifyRequest, kind: PartKind): Promise<PartContext> {
    const zaaktype = await requireVersion(app, request, 'zaaktype')
    const items = await itemsOf(app.read, kind, request.base, zaaktype)
    return { db: app.read, base: request.base, selectielijst, zaaktype, item: undefined, items }
  }

  async function contextOfPart(request: FastifyRequest, kind: PartKind, deel: string): Promise<ContextOfPart> {
    const context = await contextOf(request, kind)
    const item = context.items.find(({ url }) => uuidOf(url) === deel)
    if (!item) throw notFound(t`${kind.one} niet gevonden.`)
    return { ...context, item }
  }

  async function formPage(kind: PartKind, context: PartContext): Promise<FormPage> {
    const { zaaktype, item } = context
    const groups = await kind.groups(context)
    const name = item && (await nameOf(app.read, kind, item))
    const path = `${pathOf(zaaktype)}/${kind.path}`
    const page: FormPage = {
      title: item ? `${kind.one} “${name}”` : t`${kind.one} toevoegen`,
      breadcrumbs: crumbsOf(zaaktype, [{ path: path, name: kind.name }]),
      groups,
      terug: path,
      knop: item ? t('Opslaan') : t('Toevoegen'),
      intro: item ? '' : kind.help,
      extra: { nog: !item, verwijderen: item && zaaktype.concept ? `${path}/${uuidOf(item.url)}/verwijderen` : '' },
    }
    if (zaaktype.concept) return page
    // What was published: only what nobody computes with, or something more.
    const all = fieldsOf(page)
    const open = item
      ? groups
          .map((group) => ({ ...group, fields: group.fields.filter(({ correctable }) => correctable) }))
          .filter((group) => group.fields.length > 0)
      : groups
    const shown = item ? (kind.toForm?.(item) ?? item) : {}
    return {
      ...page,
      groups: open.length > 0 ? [...open, correctionGroup(item ? 'wijziging' : 'uitbreiding')] : [],
      warning: await warningsFor(app.read, zaaktype, item ? 'wijziging' : 'uitbreiding'),
      fixed: item
        ? all
            .filter(({ correctable, name: member }) => !correctable && memberOf(shown, member) !== undefined)
            .map((field) => ({ label: field.label, value: inWords(field, shown) }))
            .filter(({ value }) => value !== '')
        : [],
    }
  }

  async function showList(reply: FastifyReply, request: FastifyRequest, kind: PartKind, zaaktype: Version) {
    const items = await itemsOf(app.read, kind, request.base, zaaktype)
    const status = await statusChoices(app.read, request.base, zaaktype.id)
    const types =
      kind.path === 'documenttypen'
        ? await typeChoices(app.read, request.base, 'informatieobjecttype', zaaktype.catalogusId)
        : []
    return reply.page('catalogi-parts', {
      ...(await zaaktypeHead(app, zaaktype, kind.path)),
      kind,
      rows: items.map((item) => ({
        uuid: uuidOf(item.url),
        cells: kind.row(item, { status, types }),
        name: kind.row(item, { status, types })[0],
      })),
      canAdd: zaaktype.concept || kind.extendable,
    })
  }

  async function showFixed(reply: FastifyReply, kind: PartKind, { zaaktype, item }: PartContext) {
    return reply.code(409).page('catalogi-fixed', {
      title: item ? `${kind.one} “${await nameOf(app.read, kind, item)}”` : t`${kind.one} toevoegen`,
      breadcrumbs: crumbsOf(zaaktype, [{ path: `${pathOf(zaaktype)}/${kind.path}`, name: kind.name }]),
      version: zaaktype,
      path: pathOf(zaaktype),
      why:
        WHY[kind.path] ??
        t`${kind.name} van een gepubliceerd zaaktype liggen vast: zaken die er zijn, zijn ermee gemaakt.`,
    })
  }

  async function showRemoval(reply: FastifyReply, kind: PartKind, { zaaktype, item, items }: ContextOfPart) {
    const name = await nameOf(app.read, kind, item)
    const last = kind.ordered && items.at(-1)?.url === item.url && items.length > 1 ? items.at(-2) : undefined
    return reply.page('catalogi-confirm', {
      title: t`${kind.one} verwijderen`,
      breadcrumbs: crumbsOf(zaaktype, [{ path: `${pathOf(zaaktype)}/${kind.path}`, name: kind.name }]),
      lines: [
        t`U verwijdert “${name}” uit dit concept.`,
        ...(last ? [t`Daarna sluit de status “${last.omschrijving}” de zaak.`] : []),
      ],
      knop: t('Verwijderen'),
      gevaar: true,
      terug: `${pathOf(zaaktype)}/${kind.path}`,
    })
  }
}

const WHY: Record<string, string> = words({
  statustypen:
    'De statustypen liggen vast. Zaken staan op een van deze statussen, en de laatste sluit een zaak: een andere volgorde of een stap meer zou lopende zaken van betekenis veranderen.',
  resultaattypen: 'De resultaattypen liggen vast. De bewaartermijn van gesloten zaken is ermee berekend.',
})
const fixedOrder = () =>
  t('De volgorde van de statustypen ligt vast sinds de publicatie. Maak een nieuwe versie om haar te wijzigen.')

/** All of a kind below a zaaktype, in their order. */
export async function itemsOf(db: ReadDb, kind: PartKind, base: string, zaaktype: { id: number }): Promise<Item[]> {
  const order = kind.ordered || kind.path === 'documenttypen' ? sql`t.volgnummer, t.id` : sql`t.id`
  const { rows } = await sql<{ uuid: string }>`
    select t.uuid from ${sql.table(kind.table)} t where t.zaaktype_id = ${zaaktype.id} order by ${order} limit 1000`.execute(
    db,
  )
  const uuids = rows.map(({ uuid }) => uuid)
  const found = ((await loadResources(kind.resource, db, base, uuids, null)) as Item[]).map(withNames)
  if (kind.path === 'documenttypen') await nameDocumenttypen(db, found)
  return found.toSorted((a, b) => uuids.indexOf(uuidOf(a.url)) - uuids.indexOf(uuidOf(b.url)))
}

/** Document types by their names. */
async function nameDocumenttypen(db: ReadDb, items: Item[]): Promise<void> {
  const uuids = items.map(({ informatieobjecttype }) => uuidOf(informatieobjecttype ?? ''))
  if (uuids.length === 0) return
  const rows = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', 'in', uuids)
    .select(['uuid', 'omschrijving'])
    .execute()
  for (const [place, item] of items.entries())
    item.informatieobjecttype = rows.find(({ uuid }) => uuid === uuids[place])?.omschrijving ?? ''
}

async function requireItem(db: ReadDb, kind: PartKind, base: string, zaaktype: Version, uuid: string): Promise<Item> {
  const item = (await itemsOf(db, kind, base, zaaktype)).find(({ url }) => uuidOf(url) === uuid)
  if (!item) throw notFound(t`${kind.one} is intussen verwijderd.`)
  return item
}

async function nameOf(db: ReadDb, kind: PartKind, item: Item): Promise<string> {
  const { informatieobjecttype = '' } = item
  if (kind.path !== 'documenttypen' || !isUrl(informatieobjecttype)) return kind.nameOf(item)
  const type = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', '=', uuidOf(informatieobjecttype))
    .select('omschrijving')
    .executeTakeFirst()
  return type?.omschrijving ?? ''
}

/** Bodies to make of what one form says: several document types are added at once. */
function newBodies(
  kind: PartKind,
  { zaaktype }: PartContext,
  body: Record<string, unknown>,
): Record<string, unknown>[] {
  const owned = { ...body, zaaktype: zaaktype.resource.url }
  if (kind.path !== 'documenttypen') return [owned]
  const { informatieobjecttypen, ...rest } = owned as typeof owned & { informatieobjecttypen?: string[] }
  if (!informatieobjecttypen?.length) refuse({ informatieobjecttypen: t('Kies ten minste één documenttype.') })
  return informatieobjecttypen.map((informatieobjecttype) => ({ ...rest, informatieobjecttype }))
}

async function nextNumber(m: PageMutation, kind: PartKind, zaaktypeId: number): Promise<{ volgnummer?: number }> {
  if (!kind.ordered && kind.path !== 'documenttypen') return {}
  const { rows } = await sql<{ next: number }>`
    select coalesce(max(volgnummer), 0) + 1 as next from ${sql.table(kind.table)} where zaaktype_id = ${zaaktypeId}`.execute(
    m.trx,
  )
  return { volgnummer: one(rows).next }
}

async function orderOf(db: ReadDb, zaaktypeId: number) {
  return db
    .selectFrom('statustype')
    .where('zaaktypeId', '=', zaaktypeId)
    .select(['uuid', 'omschrijving'])
    .orderBy('volgnummer')
    .execute()
}

async function moveBefore(m: PageMutation, zaaktype: Version, url: string, before: string): Promise<void> {
  const uuids = (await orderOf(m.read, zaaktype.id)).map(({ uuid }) => uuid).filter((uuid) => uuid !== uuidOf(url))
  const place = uuids.indexOf(uuidOf(before))
  if (place >= 0) await reorderStatustypen(m, zaaktype.uuid, uuids.toSpliced(place, 0, uuidOf(url)))
}

/** The order after a button for one row: a place up or down. */
function moved(order: string[], form: Record<string, unknown>): string[] {
  const [uuid, step] =
    typeof form.omhoog === 'string' ? [form.omhoog, -1] : typeof form.omlaag === 'string' ? [form.omlaag, 1] : ['', 0]
  const from = order.indexOf(uuid)
  const to = from + step
  if (from < 0 || to < 0 || to >= order.length) return order
  return order.toSpliced(from, 1).toSpliced(to, 0, uuid)
}
