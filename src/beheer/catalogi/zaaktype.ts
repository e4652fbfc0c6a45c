// A zaaktype: making one, its overview, and changing it group by group.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { activiteitOf } from '../../catalogi/activiteiten.ts'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import { changeZaaktype } from '../../catalogi/zaaktype/change.ts'
import { ZaaktypeInput } from '../../catalogi/zaaktype/columns.ts'
import { createZaaktype } from '../../catalogi/zaaktype/create.ts'
import { changedProcestypeFaults, procestypeFaults } from '../../catalogi/zaaktype/rules.ts'
import { notFound } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { readInput } from '../../http/input.ts'
import { link, uuidOf } from '../../http/links.ts'
import { today } from '../../lib/day.ts'
import { mutateFromPage } from '../frame/change.ts'
import { uuidParam } from '../frame/lookup.ts'
import { t } from '../language/language.ts'
import {
  administering,
  catalogusCrumbs,
  crumbsOf,
  fixedStatus,
  holdVersion,
  pathOf,
  requireVersion,
  typeChoices,
  type Version,
  viewing,
  withNames,
} from './context.ts'
import { correctionGroup, readCorrection, warningsFor } from './correction.ts'
import { durationInWords } from './duration.ts'
import { type FormPage, fieldsOf, showForm, submitForm } from './edit.ts'
import { type Choice, changedState, type Field, type Group, inWords } from './fields.ts'
import type { Item } from './part.ts'
import { itemsOf } from './part-items.ts'
import { PARTS } from './parts.ts'
import { procestypeChoices } from './resultaattype.ts'
import { usageInWords, usageOf } from './usage.ts'
import { NEW_ZAAKTYPE, NEW_ZAAKTYPE_GROUPS, ZAAKTYPE_GROUPS } from './zaaktype-fields.ts'
import { zaaktypeHead } from './zaaktype-head.ts'

type GroupParams = { Params: { uuid: string; groep: string } }

export function registerZaaktype(app: FastifyInstance, selectielijst: Selectielijst): void {
  app.get('/catalogi/:uuid/zaaktypen/nieuw', { config: administering }, async (request, reply) => {
    const page = await newPage(request)
    return showForm(reply, page, { ...NEW_ZAAKTYPE, beginGeldigheid: today() })
  })

  app.post('/catalogi/:uuid/zaaktypen/nieuw', { config: administering }, async (request, reply) => {
    const page = await newPage(request)
    return submitForm(request, reply, page, async ({ body }) => {
      const input = readInput(ZaaktypeInput, {
        ...body,
        versiedatum: body.beginGeldigheid,
        productenOfDiensten: [],
        besluittypen: [],
        gerelateerdeZaaktypen: [],
        catalogus: link(request.base, 'catalogus', uuidParam(request)),
      })
      const made = await mutateFromPage(request, async (m) => {
        const zaaktype = await createZaaktype(m, input)
        m.audit({
          handeling: 'zaaktype-maken',
          soort: 'zaaktype',
          id: uuidOf(zaaktype.url),
          weergave: zaaktype.omschrijving,
          nieuw: changedState(fieldsOf(page), {}, zaaktype).nieuw,
        })
        return zaaktype
      })
      return {
        to: `/catalogi/zaaktypen/${uuidOf(made.url)}`,
        notice: t`Het concept “${made.omschrijving}” is gemaakt. Controle zegt wat er nog bij hoort.`,
      }
    })
  })

  app.get('/catalogi/zaaktypen/:uuid', { config: viewing }, async (request, reply) => {
    const version = await requireVersion(app, request, 'zaaktype')
    const groups = await groupsOf(version, request.base)
    const parts = await Promise.all(
      PARTS.map(async (kind) => ({ kind, items: await itemsOf(app.read, kind, request.base, version) })),
    )
    const statuses = parts.find(({ kind }) => kind.path === 'statustypen')?.items ?? []
    return reply.page('catalogi-zaaktype', {
      ...(await zaaktypeHead(app, version, '')),
      groups: groups.map(({ key, title, fields }) => ({
        key,
        title,
        editable: version.concept || fields.some(({ correctable }) => correctable),
        rows: fields
          .map((field) => ({ label: field.label, value: inWords(field, version.resource) }))
          .filter(({ value }) => value !== ''),
      })),
      parts: parts.map(({ kind, items }) => ({ path: kind.path, name: kind.name, names: partNames(kind.path, items) })),
      line: statuses.map(({ omschrijving, doorlooptijd }, place) => ({
        name: omschrijving,
        term: durationInWords(doorlooptijd),
        closes: place > 0 && place === statuses.length - 1,
      })),
      whole: termsInWords(version.resource),
      usage: usageInWords(await usageOf(app.read, version), 'zaaktype'),
      rights: await rightsOf(version),
      activiteit: {
        own: await activiteitOf(app.reader, { catalogusId: version.catalogusId, identificatie: version.key }),
        ofCatalogus: await activiteitOf(app.reader, { catalogusId: version.catalogusId, identificatie: '' }),
      },
    })
  })

  app.get<GroupParams>(
    '/catalogi/zaaktypen/:uuid/gegevens/:groep',
    { config: administering },
    async (request, reply) => {
      const version = await requireVersion(app, request, 'zaaktype')
      const page = await groupPage(request, version)
      if (fieldsOf(page).length === 0) return showFixed(reply, version, page)
      return showForm(reply, page, version.resource)
    },
  )

  app.post<GroupParams>(
    '/catalogi/zaaktypen/:uuid/gegevens/:groep',
    { config: administering },
    async (request, reply) => {
      const version = await requireVersion(app, request, 'zaaktype')
      const page = await groupPage(request, version)
      if (fieldsOf(page).length === 0) return showFixed(reply, version, page)
      return submitForm(request, reply, page, async ({ body, requireFresh }) => {
        const reason = readCorrection(version, body)
        const procestype = body.selectielijstProcestype as string | undefined
        const faults = [
          ...(await procestypeFaults(selectielijst, procestype)),
          ...(await changedProcestypeFaults(app.read, selectielijst, version.uuid, procestype)),
        ]
        await mutateFromPage(
          request,
          async (m) => {
            const { resource: before } = await holdVersion(m, 'zaaktype', version.uuid, version.concept)
            requireFresh(before)
            const change = body.beginGeldigheid ? { ...body, versiedatum: body.beginGeldigheid } : body
            const after = await changeZaaktype(m, version.uuid, 'partial_update', change, faults)
            const state = changedState(fieldsOf(page), before, withNames(after))
            m.audit({
              handeling: 'zaaktype-wijzigen',
              soort: 'zaaktype',
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
    },
  )

  async function newPage(request: FastifyRequest): Promise<FormPage> {
    const catalogus = await requireCatalogusInfo(request)
    return {
      title: t('Nieuw zaaktype'),
      breadcrumbs: catalogusCrumbs(catalogus),
      groups: NEW_ZAAKTYPE_GROUPS,
      back: `/catalogi/${catalogus.catalogus}`,
      button: t('Concept maken'),
      intro: t(
        'U maakt een concept: niemand kan het nog gebruiken, en u kunt alles nog wijzigen. Statussen, resultaten, rollen en documenten voegt u hierna toe.',
      ),
      extra: { suggestions: await suggestions(catalogus.id) },
    }
  }

  async function requireCatalogusInfo(request: FastifyRequest) {
    const row = await app.read
      .selectFrom('catalogus')
      .where('uuid', '=', uuidParam(request))
      .select(['id', 'uuid as catalogus', 'naam', 'domein'])
      .executeTakeFirst()
    if (!row) throw notFound(t('Deze catalogus bestaat niet.'))
    return { ...row, catalogusNaam: row.naam || t`Catalogus ${row.domein}` }
  }

  /** Values in use, offered while somebody types. */
  async function suggestions(catalogusId: number): Promise<Record<string, string[]>> {
    const { rows } = await sql<{ verantwoordelijke: string[]; referentieproces: string[] }>`select
      array(select distinct verantwoordelijke from zaaktype where catalogus_id = ${catalogusId} order by 1 limit 50) as verantwoordelijke,
      array(select distinct referentieproces_naam from zaaktype where catalogus_id = ${catalogusId} order by 1 limit 50) as referentieproces`.execute(
      app.read,
    )
    return { verantwoordelijke: one(rows).verantwoordelijke, 'referentieproces.naam': one(rows).referentieproces }
  }

  async function groupPage(request: FastifyRequest, version: Version): Promise<FormPage> {
    const { groep } = request.params as { groep: string }
    const groups = await groupsOf(version, request.base)
    const place = groups.findIndex(({ key }) => key === groep)
    const group = groups[place]
    if (!group) throw notFound(t('Deze pagina bestaat niet.'))
    const page: FormPage = {
      title: group.title,
      breadcrumbs: crumbsOf(version),
      groups: [{ ...group, title: '' }],
      back: pathOf(version),
      button: t('Opslaan'),
      extra: { suggestions: await suggestions(version.catalogusId) },
    }
    if (version.concept) return page
    const open = group.fields.filter(({ correctable }) => correctable)
    return {
      ...page,
      groups: open.length > 0 ? [{ ...group, title: '', fields: open }, correctionGroup('wijziging')] : [],
      warning: await warningsFor(app.read, version, 'wijziging'),
      fixed: group.fields
        .filter(({ correctable }) => !correctable)
        .map((field) => ({ label: field.label, value: inWords(field, version.resource) }))
        .filter(({ value }) => value !== ''),
    }
  }

  function showFixed(reply: FastifyReply, version: Version, page: FormPage) {
    return reply.code(fixedStatus(reply.request)).page('catalogi-fixed', {
      title: page.title,
      breadcrumbs: page.breadcrumbs,
      version,
      path: pathOf(version),
      why: t('Deze gegevens liggen vast sinds de publicatie: zaken die er zijn, zijn ermee gemaakt en berekend.'),
      fixed: page.fixed,
    })
  }

  /** All groups, with what can be chosen now. */
  async function groupsOf(version: Version, base: string): Promise<Group[]> {
    const [besluittypen, zaaktypen, { listed, choices }] = await Promise.all([
      typeChoices(app.read, base, 'besluittype', version.catalogusId),
      typeChoices(app.read, base, 'zaaktype', version.catalogusId),
      procestypeChoices(selectielijst),
    ])
    const others = zaaktypen.filter(([, text]) => !text.includes(`(${version.key})`))
    const relaties: Group = {
      key: 'relaties',
      title: t('Besluiten en andere zaaktypen'),
      fields: [
        {
          name: 'besluittypen',
          label: t('Besluittypen'),
          kind: 'checks',
          choices: besluittypen,
          help: t('Besluiten die in zo’n zaak kunnen worden genomen.'),
          none: {
            text: t('Er zijn nog geen besluittypen in deze catalogus.'),
            path: `/catalogi/${version.catalogus}/besluittypen/nieuw`,
          },
          optional: true,
        },
        {
          name: 'deelzaaktypen',
          label: t('Deelzaken'),
          kind: 'checks',
          choices: others,
          help: t('Zaken die deel van zo’n zaak kunnen zijn.'),
          optional: true,
        },
        {
          name: 'gerelateerdeZaaktypen',
          label: t('Andere zaaktypen'),
          kind: 'related',
          choices: others,
          help: t(
            'Zaken die met zo’n zaak te maken hebben zonder er deel van te zijn. Een regel die leeg blijft telt niet.',
          ),
          optional: true,
        },
      ],
    }
    const [basis, doel, termijnen, publicatie, geldigheid, herkomst] = ZAAKTYPE_GROUPS as [
      Group,
      Group,
      Group,
      Group,
      Group,
      Group,
    ]
    // The key of a type with more versions cannot change: it would become another type.
    const fixedKey = {
      ...basis,
      fields: basis.fields.map(
        (field): Field =>
          field.name === 'identificatie'
            ? {
                ...field,
                help: t(
                  'De code waaronder andere systemen het type kennen. Wie haar wijzigt maakt er een ander type van.',
                ),
              }
            : field,
      ),
    }
    return [
      fixedKey,
      doel,
      termijnen,
      archiefGroup(listed, choices, version),
      publicatie,
      relaties,
      geldigheid,
      herkomst,
    ]
  }

  function partNames(path: string, items: Item[]): string[] {
    return items.map(
      (item) =>
        (path === 'documenttypen'
          ? item.informatieobjecttype
          : (item.omschrijving ?? item.naam ?? item.relatieOmschrijving)) ?? '',
    )
  }

  /** Applications that may do something with cases of this version. */
  async function rightsOf(version: Version) {
    const { rows } = await sql<{ uuid: string; label: string; how: string }>`
      select a.uuid, a.label, min(q.how) as how from (
        select r.applicatie_id, 'deze versie' as how from autorisatie r where r.component = 'zrc' and r.type_uuid = ${version.uuid}
        union all
        select k.applicatie_id, 'de hele catalogus' from catalogus_autorisatie k where k.component = 'zrc' and k.catalogus_id = ${version.catalogusId}
        union all
        select b.id, 'alles' from applicatie b where b.heeft_alle_autorisaties) q
      join applicatie a on a.id = q.applicatie_id group by a.uuid, a.label order by a.label limit 50`.execute(app.read)
    return rows
  }
}

/** How long a case may take, and is meant to. */
function termsInWords({ doorlooptijd, servicenorm }: Version['resource']): string {
  const [term, norm] = [durationInWords(doorlooptijd), durationInWords(servicenorm)]
  if (term === '') return ''
  return norm === ''
    ? t`De hele zaak duurt ten hoogste ${term}.`
    : t`De hele zaak duurt ten hoogste ${term}, met als streven ${norm}.`
}

function archiefGroup(listed: { kind: string; reason?: string }, choices: readonly Choice[], version: Version): Group {
  const own = version.resource.selectielijstProcestype ?? ''
  const help = t(
    'Het soort proces volgens de selectielijst. De resultaattypen kiezen hun klasse eruit: kies dit dus eerst.',
  )
  const field: Field =
    choices.length > 0
      ? {
          name: 'selectielijstProcestype',
          label: t('Procestype'),
          kind: 'select',
          choices: [
            ['', t('Nog niet gekozen')],
            ...choices,
            ...(own && !choices.some(([url]) => url === own) ? [[own, own] as const] : []),
          ],
          help,
          optional: true,
        }
      : {
          name: 'selectielijstProcestype',
          label: t('Procestype'),
          kind: 'url',
          optional: true,
          max: 200,
          help:
            listed.kind === 'none'
              ? t(
                  'Er is geen selectielijst ingesteld, daarom is hier niets te kiezen. Laat dit leeg, of vul het adres (URL) in als u dat hebt.',
                )
              : t`De selectielijst antwoordt nu niet${listed.reason ? `: ${listed.reason}` : ''}. Wat er staat blijft staan.`,
        }
  return { key: 'archief', title: t('Archief'), fields: [field] }
}
