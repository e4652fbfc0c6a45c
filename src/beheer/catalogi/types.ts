// Document types and types of decisions: making, looking at, and changing them.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BesluittypeInput, changeBesluittype, createBesluittype } from '../../catalogi/besluittypen.ts'
import {
  changeInformatieobjecttype,
  createInformatieobjecttype,
  InformatieobjecttypeInput,
} from '../../catalogi/informatieobjecttypen.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound } from '../../core/problem.ts'
import { readInput } from '../../http/input.ts'
import { link, uuidOf } from '../../http/links.ts'
import { today } from '../../lib/day.ts'
import { mutateFromPage } from '../frame/change.ts'
import { uuidParam } from '../frame/lookup.ts'
import { t, words } from '../language/language.ts'
import { checksFor } from './checks.ts'
import {
  administering,
  catalogusCrumbs,
  crumbsOf,
  holdVersion,
  pathOf,
  requireVersion,
  stateOf,
  TYPES,
  titleOf,
  typeChoices,
  type Version,
  viewing,
  withNames,
} from './context.ts'
import { correctionGroup, readCorrection, warningsFor } from './correction.ts'
import { type FormPage, fieldsOf, showForm, submitForm } from './edit.ts'
import { changedState, type Group, inWords } from './fields.ts'
import { besluittypeGroups, DOCUMENTTYPE_GROUPS } from './type-fields.ts'
import { referrersOf, usageInWords, usageOf } from './usage.ts'
import { versionsOf } from './versions.ts'

type Item = { url: string; omschrijving?: string }
type Kind = {
  path: 'informatieobjecttypen' | 'besluittypen'
  new: string
  intro: string
  initial: object
  create(m: Mutation, body: object): Promise<Item>
  change(m: Mutation, uuid: string, body: object): Promise<Item>
}

const KINDS: Kind[] = words(
  [
    {
      path: 'informatieobjecttypen',
      new: 'Nieuw documenttype',
      intro:
        'Een documenttype zegt wat voor document iets is, en hoe vertrouwelijk. De standaard noemt het een informatieobjecttype.',
      initial: { vertrouwelijkheidaanduiding: 'zaakvertrouwelijk' },
      create: (m, body) => createInformatieobjecttype(m, readInput(InformatieobjecttypeInput, body)),
      change: (m, uuid, body) => changeInformatieobjecttype(m, uuid, 'partial_update', body),
    },
    {
      path: 'besluittypen',
      new: 'Nieuw besluittype',
      intro: 'Een besluittype zegt wat voor besluiten er worden genomen, en hoe lang men bezwaar kan maken.',
      initial: { publicatieIndicatie: false },
      create: (m, body) => createBesluittype(m, readInput(BesluittypeInput, { informatieobjecttypen: [], ...body })),
      change: (m, uuid, body) => changeBesluittype(m, uuid, 'partial_update', body),
    },
  ],
  'new',
  'intro',
)

export function registerTypes(app: FastifyInstance): void {
  for (const kind of KINDS) {
    const info = TYPES[kind.path]

    app.get(`/catalogi/:uuid/${kind.path}/nieuw`, { config: administering }, async (request, reply) =>
      showForm(reply, await newPage(request, kind), { ...kind.initial, beginGeldigheid: today() }),
    )
    app.post(`/catalogi/:uuid/${kind.path}/nieuw`, { config: administering }, async (request, reply) => {
      const page = await newPage(request, kind)
      const catalogus = link(request.base, 'catalogus', uuidParam(request))
      return submitForm(request, reply, page, async ({ body }) => {
        const made = await mutateFromPage(request, async (m) => {
          const item = await kind.create(m, { ...body, catalogus })
          m.audit({
            handeling: `${info.type}-maken`,
            soort: info.type,
            id: uuidOf(item.url),
            weergave: item.omschrijving,
            nieuw: changedState(fieldsOf(page), {}, withNames(item)).nieuw,
          })
          return item
        })
        return {
          to: `/catalogi/${kind.path}/${uuidOf(made.url)}`,
          notice: t`“${made.omschrijving}” is gemaakt, als concept. Publiceer het als het klaar is.`,
        }
      })
    })

    app.get(`/catalogi/${kind.path}/:uuid`, { config: viewing }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      const groups = await groupsOf(version.catalogusId, request.base, kind)
      return reply.page('catalogi-type', {
        title: titleOf(version),
        breadcrumbs: catalogusCrumbs(version),
        version,
        path: pathOf(version),
        info,
        versions: await versionsOf(app.read, version),
        checks: version.concept ? await checksFor(app.read, version) : undefined,
        groups: groups
          .map(({ title, fields }) => ({
            title,
            rows: fields
              .map((field) => ({ label: field.label, value: inWords(field, version.resource) }))
              .filter(({ value }) => value !== ''),
          }))
          .filter(({ rows }) => rows.length > 0),
        referrers: (await referrersOf(app.read, version)).map((one) => ({ ...one, state: stateOf(one) })),
        usage: usageInWords(await usageOf(app.read, version), version.type),
      })
    })

    app.get(`/catalogi/${kind.path}/:uuid/wijzigen`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      return showForm(reply, await editPage(request, kind, version), version.resource)
    })
    app.post(`/catalogi/${kind.path}/:uuid/wijzigen`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      const page = await editPage(request, kind, version)
      return submitForm(request, reply, page, async ({ body, requireFresh }) => {
        const reason = readCorrection(version, body)
        await mutateFromPage(
          request,
          async (m) => {
            const { resource: before } = await holdVersion(m, info.type, version.uuid, version.concept)
            requireFresh(before)
            const after = await kind.change(m, version.uuid, body)
            const state = changedState(fieldsOf(page), before, withNames(after))
            m.audit({
              handeling: `${info.type}-wijzigen`,
              soort: info.type,
              id: version.uuid,
              weergave: after.omschrijving,
              oud: state.oud,
              nieuw: { ...state.nieuw, ...(reason && { Reden: reason }) },
            })
          },
          { toelichting: reason },
        )
        return { to: pathOf(version), notice: t('De wijziging is opgeslagen.') }
      })
    })
  }

  async function groupsOf(catalogusId: number, base: string, { path }: Kind): Promise<Group[]> {
    if (path === 'informatieobjecttypen') return DOCUMENTTYPE_GROUPS
    return besluittypeGroups(await typeChoices(app.read, base, 'informatieobjecttype', catalogusId))
  }

  async function newPage(request: FastifyRequest, kind: Kind): Promise<FormPage> {
    const row = await app.read
      .selectFrom('catalogus')
      .where('uuid', '=', uuidParam(request))
      .select(['id', 'uuid', 'naam', 'domein'])
      .executeTakeFirst()
    if (!row) throw notFound(t('Deze catalogus bestaat niet.'))
    return {
      title: kind.new,
      breadcrumbs: catalogusCrumbs({ catalogus: row.uuid, catalogusNaam: row.naam || t`Catalogus ${row.domein}` }),
      groups: await groupsOf(row.id, request.base, kind),
      back: `/catalogi/${row.uuid}?soort=${kind.path}`,
      button: t('Concept maken'),
      intro: kind.intro,
    }
  }

  async function editPage(request: FastifyRequest, kind: Kind, version: Version): Promise<FormPage> {
    const groups = await groupsOf(version.catalogusId, request.base, kind)
    const page: FormPage = {
      title: t`${TYPES[kind.path].one} wijzigen`,
      breadcrumbs: crumbsOf(version),
      groups,
      back: pathOf(version),
      button: t('Opslaan'),
    }
    if (version.concept) return page
    const open = groups
      .map((group) => ({ ...group, folded: false, fields: group.fields.filter(({ correctable }) => correctable) }))
      .filter(({ fields }) => fields.length > 0)
    return {
      ...page,
      groups: [...open, correctionGroup('wijziging')],
      warning: await warningsFor(app.read, version, 'wijziging'),
      fixed: groups
        .flatMap(({ fields }) => fields)
        .filter(({ correctable }) => !correctable)
        .map((field) => ({ label: field.label, value: inWords(field, version.resource) }))
        .filter(({ value }) => value !== ''),
    }
  }
}
