// The life of a version after it was made: a next version, a copy, its end, and removing a concept.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { deleteBesluittype } from '../../catalogi/besluittypen.ts'
import { copyType, copyZaaktype } from '../../catalogi/copy.ts'
import { deleteInformatieobjecttype } from '../../catalogi/informatieobjecttypen.ts'
import type { Hoofdtype } from '../../catalogi/versions.ts'
import { deleteZaaktype } from '../../catalogi/zaaktype/delete.ts'
import type { Mutation } from '../../core/mutate.ts'
import { lastOf } from '../../database/rows.ts'
import { uuidOf } from '../../http/links.ts'
import { today } from '../../lib/day.ts'
import { mutateFromPage } from '../frame/change.ts'
import { formFaultsOf } from '../frame/form.ts'
import { formatDate } from '../frame/format.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import {
  addDays,
  administering,
  crumbsOf,
  holdVersion,
  infoOf,
  pathOf,
  requireVersion,
  TYPES,
  titleOf,
  type Version,
} from './context.ts'
import { type FormPage, refuse, showForm, submitForm } from './edit.ts'
import type { Choice } from './fields.ts'
import { setEnd } from './publish.ts'
import { usageInWords, usageOf } from './usage.ts'
import { versionsOf } from './versions.ts'

const REMOVE: Record<Hoofdtype, (m: Mutation, uuid: string) => Promise<void>> = {
  zaaktype: deleteZaaktype,
  informatieobjecttype: deleteInformatieobjecttype,
  besluittype: deleteBesluittype,
}

export function registerLifecycle(app: FastifyInstance): void {
  for (const info of Object.values(TYPES)) {
    const root = `/catalogi/${info.path}/:uuid`

    app.get(`${root}/nieuwe-versie`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      return showForm(reply, await newVersionPage(version), { beginGeldigheid: await nextBegin(version) })
    })
    app.post(`${root}/nieuwe-versie`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      return submitForm(request, reply, await newVersionPage(version), async ({ body }) => {
        const begin = String(body.beginGeldigheid)
        const later = (await versionsOf(app.read, version)).find((one) => !one.concept && one.begin >= begin)
        if (later)
          refuse({
            beginGeldigheid: t`Er is al een gepubliceerde versie vanaf ${formatDate(later.begin)}. Kies een dag daarna: twee versies gelden nooit op dezelfde dag.`,
          })
        const made = await mutateFromPage(request, async (m) => {
          const copy =
            info.type === 'zaaktype'
              ? await copyZaaktype(m, version.uuid, { beginGeldigheid: begin })
              : await copyType(m, info.type, version.uuid, begin)
          m.audit({
            handeling: `${info.type}-nieuwe-versie`,
            soort: info.type,
            id: uuidOf(copy.url),
            weergave: titleOf(version),
            nieuw: { 'Kopie van de versie vanaf': formatDate(version.begin), 'Geldig vanaf': formatDate(begin) },
          })
          return copy
        })
        return {
          to: `/catalogi/${info.path}/${uuidOf(made.url)}`,
          notice: t`De nieuwe versie is gemaakt, als concept vanaf ${formatDate(begin)}. De huidige blijft gelden tot u deze publiceert.`,
        }
      })
    })

    app.get(`${root}/beeindigen`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      return showForm(reply, await endPage(version), { eindeGeldigheid: version.einde ?? today() })
    })
    app.post(`${root}/beeindigen`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      return submitForm(request, reply, await endPage(version), async ({ body }) => {
        const einde = (body.eindeGeldigheid as string | null) ?? null
        if (einde && einde < version.begin)
          refuse({ eindeGeldigheid: t`De laatste dag kan niet voor de eerste liggen (${formatDate(version.begin)}).` })
        await mutateFromPage(request, async (m) => {
          const now = await holdVersion(m, info.type, version.uuid, version.concept)
          await setEnd(m, info.type, version.uuid, einde)
          m.audit({
            handeling: `${info.type}-beeindigen`,
            soort: info.type,
            id: version.uuid,
            weergave: titleOf(version),
            oud: { 'Geldig tot en met': now.einde ? formatDate(now.einde) : '' },
            nieuw: { 'Geldig tot en met': einde ? formatDate(einde) : '' },
          })
        })
        return {
          to: pathOf(version),
          notice: einde ? t`De laatste dag is ${formatDate(einde)}.` : t('Deze versie geldt weer zonder einde.'),
        }
      })
    })

    app.get(`${root}/verwijderen`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      if (!version.concept)
        return redirectWith(
          request,
          reply,
          pathOf(version),
          t('Wat gepubliceerd is verwijdert u niet: beëindig het. Wat er is blijft dan werken.'),
          'info',
        )
      return reply.page('catalogi-confirm', removalPage(version))
    })
    app.post(`${root}/verwijderen`, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      try {
        await mutateFromPage(request, async (m) => {
          await holdVersion(m, info.type, version.uuid, true)
          await REMOVE[info.type](m, version.uuid)
          m.audit({
            handeling: `${info.type}-verwijderen`,
            soort: info.type,
            id: version.uuid,
            weergave: titleOf(version),
          })
        })
      } catch (error) {
        return reply.code(409).page('catalogi-confirm', { ...removalPage(version), faults: formFaultsOf(error) })
      }
      return redirectWith(
        request,
        reply,
        `/catalogi/${version.catalogus}?soort=${info.path}`,
        t`Het concept “${titleOf(version)}” is verwijderd.`,
      )
    })
  }

  app.get('/catalogi/zaaktypen/:uuid/kopieren', { config: administering }, async (request, reply) => {
    const version = await requireVersion(app, request, 'zaaktype')
    return showForm(reply, await copyPage(version), {
      catalogus: version.catalogus,
      omschrijving: version.omschrijving,
      beginGeldigheid: today(),
    })
  })
  app.post('/catalogi/zaaktypen/:uuid/kopieren', { config: administering }, async (request, reply) => {
    const version = await requireVersion(app, request, 'zaaktype')
    return submitForm(request, reply, await copyPage(version), async ({ body }) => {
      const [identificatie, catalogusUuid] = [String(body.identificatie), String(body.catalogus)]
      await requireFree(request, catalogusUuid, identificatie)
      const made = await mutateFromPage(request, async (m) => {
        const copy = await copyZaaktype(m, version.uuid, {
          beginGeldigheid: String(body.beginGeldigheid),
          catalogusUuid,
          identificatie,
          omschrijving: String(body.omschrijving),
        })
        m.audit({
          handeling: 'zaaktype-kopieren',
          soort: 'zaaktype',
          id: uuidOf(copy.url),
          weergave: copy.omschrijving,
          nieuw: {
            'Kopie van': `${version.key} ${version.omschrijving}`,
            'Mee gekopieerd': copy.along.join(', '),
            Weggelaten: copy.dropped.join(', '),
          },
        })
        return copy
      })
      const along = made.along.length > 0 ? t` Mee gekopieerd: ${made.along.join(', ')}.` : ''
      const dropped =
        made.dropped.length > 0 ? t` Weggelaten, omdat het daar niet bestaat: ${made.dropped.join(', ')}.` : ''
      return {
        to: `/catalogi/zaaktypen/${uuidOf(made.url)}`,
        notice: t`De kopie is gemaakt, als concept.${along}${dropped}`,
      }
    })
  })

  /** Tomorrow, or the day after the last day that is known. */
  async function nextBegin(version: Version): Promise<string> {
    const tomorrow = addDays(today(), 1)
    const siblings = await versionsOf(app.read, version)
    const last = siblings
      .filter(({ concept }) => !concept)
      .map(({ begin, einde }) => addDays(einde && einde > begin ? einde : begin, 1))
    return lastOf([tomorrow, ...last].toSorted())
  }

  async function newVersionPage(version: Version): Promise<FormPage> {
    const drafts = (await versionsOf(app.read, version)).filter(({ concept }) => concept)
    const info = infoOf(version.type)
    return {
      title: t('Nieuwe versie'),
      breadcrumbs: crumbsOf(version),
      groups: [
        {
          key: 'versie',
          title: '',
          fields: [
            {
              name: 'beginGeldigheid',
              label: t('Geldig vanaf'),
              kind: 'date',
              help: t('Als u de nieuwe versie publiceert, eindigt de huidige de dag ervoor.'),
            },
          ],
        },
      ],
      back: pathOf(version),
      button: t('Nieuwe versie maken'),
      intro: t`U maakt een kopie van ${info.the} “${titleOf(version)}” met alles erin, als concept. Wijzig wat u wilt en publiceer haar wanneer zij klaar is. ${version.type === 'zaaktype' ? t('Zaken die er zijn houden de versie waarmee ze begonnen.') : t('Zaaktypen die hiernaar verwijzen gebruiken dan vanzelf de nieuwe versie.')}`,
      ...(drafts.length > 0 && {
        warning: [t('Er is al een concept van dit type. Misschien wilt u daaraan verder werken.')],
      }),
      extra: {
        ...(drafts[0] && {
          instead: { path: pathOf(version).replace(version.uuid, drafts[0].uuid), text: t('Naar dat concept') },
        }),
      },
    }
  }

  async function endPage(version: Version): Promise<FormPage> {
    const usage = usageInWords(await usageOf(app.read, version), version.type)
    return {
      title: t`${infoOf(version.type).one} beëindigen`,
      breadcrumbs: crumbsOf(version),
      groups: [
        {
          key: 'einde',
          title: '',
          fields: [
            {
              name: 'eindeGeldigheid',
              label: t('Laatste dag'),
              kind: 'date',
              help: t('Leeg: zonder einde.'),
              optional: true,
            },
          ],
        },
      ],
      back: pathOf(version),
      button: t('Opslaan'),
      intro: t`Andere systemen bieden het na de laatste dag niet meer aan. Wat er is blijft werken: deze versie heeft ${usage}. Het is een bericht aan die systemen, geen slot: wie deze versie kent kan haar blijven gebruiken.`,
    }
  }

  function removalPage(version: Version) {
    return {
      title: t('Concept verwijderen'),
      breadcrumbs: crumbsOf(version),
      lines: [t`U verwijdert het concept “${titleOf(version)}” met alles erin. Dit is niet terug te draaien.`],
      button: t('Verwijderen'),
      isDangerous: true,
      back: pathOf(version),
    }
  }

  async function copyPage(version: Version): Promise<FormPage> {
    const rows = await app.read
      .selectFrom('catalogus')
      .select(['uuid', 'naam', 'domein'])
      .orderBy('domein')
      .limit(500)
      .execute()
    return {
      title: t('Kopiëren'),
      breadcrumbs: crumbsOf(version),
      groups: [
        {
          key: 'kopie',
          title: '',
          fields: [
            {
              name: 'catalogus',
              label: t('Naar catalogus'),
              kind: 'select',
              choices: rows.map(({ uuid, naam, domein }): Choice => [uuid, naam ? `${naam} (${domein})` : domein]),
              help: t(
                'In een andere catalogus worden documenttypen en besluittypen gebruikt die er dezelfde naam hebben; de andere gaan mee, als concept.',
              ),
            },
            { name: 'omschrijving', label: t('Omschrijving'), max: 80 },
            {
              name: 'identificatie',
              label: t('Identificatie'),
              max: 50,
              help: t('Een nieuwe code: het wordt een ander zaaktype.'),
            },
            { name: 'beginGeldigheid', label: t('Geldig vanaf'), kind: 'date' },
          ],
        },
      ],
      back: pathOf(version),
      button: t('Kopie maken'),
      intro: t`U maakt een ander zaaktype dat begint als “${titleOf(version)}”, met alle statussen, resultaten, rollen, eigenschappen en documenten.`,
    }
  }

  async function requireFree(_request: FastifyRequest, catalogusUuid: string, identificatie: string): Promise<void> {
    const found = await app.read
      .selectFrom('zaaktype as z')
      .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
      .where('c.uuid', '=', catalogusUuid)
      .where('z.identificatie', '=', identificatie)
      .select('z.omschrijving')
      .executeTakeFirst()
    if (found) refuse({ identificatie: t`Deze identificatie is van “${found.omschrijving}”. Kies een andere.` })
  }
}
