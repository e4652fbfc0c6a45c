// The pages of what is below a zaaktype: a tab with all of a kind, a form for one, and removing one.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import { notFound } from '../../core/problem.ts'
import { uuidOf } from '../../http/links.ts'
import { mutateFromPage } from '../frame/change.ts'
import { formFaultsOf } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { lowerFirst, t, words } from '../language/language.ts'
import {
  administering,
  crumbsOf,
  fixedStatus,
  holdVersion,
  pathOf,
  requireVersion,
  statusChoices,
  typeChoices,
  type Version,
  viewing,
  withNames,
} from './context.ts'
import { correctionGroup, readCorrection, warningsFor } from './correction.ts'
import { type FormPage, fieldsOf, refuse, showForm, submitForm } from './edit.ts'
import { changedState, inWords, memberOf } from './fields.ts'
import type { Item, PartContext, PartKind } from './part.ts'
import { itemsOf, nameOf, nextNumber, requireItem } from './part-items.ts'
import { PARTS } from './parts.ts'
import { moveBefore } from './status-order.ts'
import { zaaktypeHead } from './zaaktype-head.ts'

type Params = { Params: { uuid: string; deel: string } }
type ContextOfPart = PartContext & { item: Item }

export function registerParts(app: FastifyInstance, selectielijst: Selectielijst): void {
  for (const kind of PARTS) {
    const root = `/catalogi/zaaktypen/:uuid/${kind.path}`

    app.get(root, { config: viewing }, async (request, reply) => {
      const zaaktype = await requireVersion(app, request, 'zaaktype')
      return showList(reply, request, kind, zaaktype)
    })

    app.get(`${root}/nieuw`, { config: administering }, async (request, reply) => {
      const context = await contextOf(request, kind)
      if (!context.zaaktype.concept && !kind.extendable) return showFixed(reply, kind, context)
      return showForm(reply, await formPage(kind, context), kind.initial?.(context) ?? {})
    })

    app.post(`${root}/nieuw`, { config: administering }, async (request, reply) => {
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
              m.audit({
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
        return { to: `${pathOf(zaaktype)}/${kind.path}${another ? '/nieuw' : ''}`, notice: what }
      })
    })

    app.get<Params>(`${root}/:deel`, { config: administering }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      const page = await formPage(kind, context)
      if (fieldsOf(page).length === 0) return showFixed(reply, kind, context)
      return showForm(reply, page, kind.toForm?.(context.item) ?? context.item)
    })

    app.post<Params>(`${root}/:deel`, { config: administering }, async (request, reply) => {
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
            m.audit({
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
        return { to: `${pathOf(zaaktype)}/${kind.path}`, notice: t('De wijziging is opgeslagen.') }
      })
    })

    app.get<Params>(`${root}/:deel/verwijderen`, { config: administering }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      if (!context.zaaktype.concept) return showFixed(reply, kind, context)
      return showRemoval(reply, kind, context)
    })

    app.post<Params>(`${root}/:deel/verwijderen`, { config: administering }, async (request, reply) => {
      const context = await contextOfPart(request, kind, request.params.deel)
      const { zaaktype, item } = context
      if (!zaaktype.concept) return showFixed(reply, kind, context)
      const name = await nameOf(app.read, kind, item)
      try {
        await mutateFromPage(request, async (m) => {
          await holdVersion(m, 'zaaktype', zaaktype.uuid, true)
          await kind.remove(m, request.params.deel)
          m.audit({
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
      back: path,
      button: item ? t('Opslaan') : t('Toevoegen'),
      intro: item ? '' : kind.help,
      extra: { another: !item, deletePath: item && zaaktype.concept ? `${path}/${uuidOf(item.url)}/verwijderen` : '' },
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
    return reply.code(fixedStatus(reply.request)).page('catalogi-fixed', {
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
      button: t('Verwijderen'),
      isDangerous: true,
      back: `${pathOf(zaaktype)}/${kind.path}`,
    })
  }
}

const WHY: Record<string, string> = words({
  statustypen:
    'De statustypen liggen vast. Zaken staan op een van deze statussen, en de laatste sluit een zaak: een andere volgorde of een stap meer zou lopende zaken van betekenis veranderen.',
  resultaattypen: 'De resultaattypen liggen vast. De bewaartermijn van gesloten zaken is ermee berekend.',
})

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
