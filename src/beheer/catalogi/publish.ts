// Publishing a version: what it still lacks, what is published along with it, and which version ends because of it.

import type { FastifyInstance } from 'fastify'
import { changeBesluittype, publishBesluittype } from '../../catalogi/besluittypen.ts'
import { changeInformatieobjecttype, publishInformatieobjecttype } from '../../catalogi/informatieobjecttypen.ts'
import type { Hoofdtype } from '../../catalogi/versions.ts'
import { changeZaaktype } from '../../catalogi/zaaktype/change.ts'
import { publishZaaktype } from '../../catalogi/zaaktype/publish.ts'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, Problem } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { mutateFromPage, type PageMutation } from '../frame/change.ts'
import { type FormValues, formFaultsOf } from '../frame/form.ts'
import { formatDate } from '../frame/format.ts'
import { redirectWith } from '../frame/page.ts'
import { lowerFirst, t } from '../language/language.ts'
import { type Checks, checksFor } from './checks.ts'
import {
  administering,
  crumbsOf,
  findVersion,
  holdVersion,
  infoOf,
  pathOf,
  requireVersion,
  TYPES,
  titleOf,
  type Version,
} from './context.ts'
import { zaaktypeHead } from './zaaktype-head.ts'

const PUBLISH: Record<Hoofdtype, (m: Mutation, uuid: string) => Promise<unknown>> = {
  zaaktype: publishZaaktype,
  informatieobjecttype: publishInformatieobjecttype,
  besluittype: publishBesluittype,
}

/** Sets the last day of a version, published or not. */
export async function setEnd(
  m: Mutation,
  type: Hoofdtype,
  uuid: string,
  eindeGeldigheid: string | null,
): Promise<void> {
  if (type === 'zaaktype') await changeZaaktype(m, uuid, 'partial_update', { eindeGeldigheid }, [])
  else if (type === 'besluittype') await changeBesluittype(m, uuid, 'partial_update', { eindeGeldigheid })
  else await changeInformatieobjecttype(m, uuid, 'partial_update', { eindeGeldigheid })
}

export function registerPublish(app: FastifyInstance): void {
  app.get(
    '/catalogi/zaaktypen/:uuid/controle',
    { config: { access: 'beheer', rol: 'viewer' } },
    async (request, reply) => {
      const version = await requireVersion(app, request, 'zaaktype')
      return reply.page('catalogi-check', await zaaktypeHead(app, version, 'controle'))
    },
  )

  for (const info of Object.values(TYPES)) {
    const path = `/catalogi/${info.path}/:uuid/publiceren`

    app.get(path, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      if (!version.concept)
        return redirectWith(request, reply, pathOf(version), t('Deze versie is al gepubliceerd.'), 'info')
      return reply.page('catalogi-publish', await publishPage(version))
    })

    app.post(path, { config: administering }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      if (!version.concept)
        return redirectWith(request, reply, pathOf(version), t('Deze versie is al gepubliceerd.'), 'info')
      const form = (request.body ?? {}) as FormValues
      try {
        const done = await mutateFromPage(request, (m) => publish(m, version, form))
        return await redirectWith(request, reply, pathOf(version), done)
      } catch (error) {
        return reply
          .code(400)
          .page('catalogi-publish', { ...(await publishPage(version)), faults: formFaultsOf(error), form })
      }
    })
  }

  async function publishPage(version: Version) {
    return {
      title: t`${infoOf(version.type).one} publiceren`,
      breadcrumbs: crumbsOf(version),
      version,
      path: pathOf(version),
      name: titleOf(version),
      info: infoOf(version.type),
      checks: await checksFor(app.read, version),
      faults: {},
      form: {},
    }
  }
}

/** Publishes a version with what goes along, all or nothing. @returns what was done, as a sentence */
async function publish(m: PageMutation, { type, uuid }: Version, form: FormValues): Promise<string> {
  const version = await holdVersion(m, type, uuid, true)
  const checks = await checksFor(m.read, version)
  requirePublishable(checks, form)
  const said: string[] = []
  for (const along of checks.along) {
    const other = await findVersion(m.read, m.actor.base, along.type, along.uuid)
    const overlap = other && (await checksFor(m.read, other)).along
    for (const deeper of overlap ?? [])
      if (!checks.along.some((one) => one.uuid === deeper.uuid)) checks.along.push(deeper)
    await PUBLISH[along.type](m, along.uuid)
    m.audit({
      handeling: `${along.type}-publiceren`,
      soort: along.type,
      id: along.uuid,
      weergave: along.name,
      oud: { Staat: 'concept' },
      nieuw: { Staat: 'gepubliceerd', 'Samen met': titleOf(version) },
    })
    said.push(t`${infoOf(along.type).one} “${along.name}” is mee gepubliceerd.`)
  }
  for (const { uuid: older, begin, einde, endsOn } of checks.overlap) {
    const lastDay = expected(endsOn) // without one it may not be published
    await setEnd(m, type, older, lastDay)
    m.audit({
      handeling: `${type}-beeindigen`,
      soort: type,
      id: older,
      weergave: titleOf(version),
      oud: { 'Geldig tot en met': einde ? formatDate(einde) : '' },
      nieuw: { 'Geldig tot en met': formatDate(lastDay) },
    })
    said.push(t`De versie vanaf ${formatDate(begin)} eindigt op ${formatDate(lastDay)}.`)
  }
  await PUBLISH[type](m, uuid)
  m.audit({
    handeling: `${type}-publiceren`,
    soort: type,
    id: uuid,
    weergave: titleOf(version),
    oud: { Staat: 'concept' },
    nieuw: {
      Staat: 'gepubliceerd',
      ...(checks.should.length > 0 && { 'Toch gepubliceerd': checks.should.map(({ text }) => text).join(' ') }),
    },
  })
  return [t`${infoOf(type).one} “${titleOf(version)}” is gepubliceerd.`, ...said].join(' ')
}

/** @throws Problem 400 with what was not agreed to; what must be there cannot be waved away */
function requirePublishable(checks: Checks, form: FormValues): void {
  const fault = (name: string, reason: string): InvalidParam => ({ name, code: 'invalid', reason })
  const faults = [
    ...checks.must.map(({ text }) => fault('', text)),
    ...(checks.should.length > 0 && !form.toch
      ? [fault('toch', t('Vul aan wat nog ontbreekt, of kruis aan dat u toch publiceert.'))]
      : []),
    ...(checks.along.length > 0 && !form.mee
      ? [
          fault(
            'mee',
            t`Kruis aan dat ${lowerFirst(checks.along.length === 1 ? t('dit type') : t('deze typen'))} mee mogen, of publiceer ze eerst.`,
          ),
        ]
      : []),
  ]
  if (faults.length > 0) throw new Problem(400, { invalidParams: faults })
}
