// Applicatie rights: the rights of an application: add, change, remove, and what they come to in words.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { changeApplicatie } from '../../autorisaties/applicatie/change.ts'
import type { ApplicatieInput } from '../../autorisaties/applicatie/read.ts'
import type { Component } from '../../core/actor.ts'
import { notFound, Problem } from '../../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected, one } from '../../database/rows.ts'
import { OptionalChoice } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { mutateFromPage } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, readForm, throwFormFaults } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { type Applicatie, administering, breadcrumbsOf, type Params, requireApplicatie, viewing } from './applicatie.ts'
import {
  COMPONENTEN,
  hasMax,
  isComponent,
  SCOPES,
  scopeInWords,
  TYPEN,
  VERTROUWELIJKHEID,
} from './applicatie-labels.ts'
import { PRESETS } from './applicatie-presets.ts'
import {
  type ShownRight,
  selectCatalogusRights,
  selectChoices,
  selectRights,
  selectSecrets,
  whatIsAllowed,
} from './applicatie-rights-queries.ts'

type RightParams = { Params: { uuid: string; soort: string; id: string } }
type Query = Params & { Querystring: { component?: string; zoek?: string } }

const RightForm = Type.Object({
  component: Type.Enum(Object.keys(COMPONENTEN) as Component[]),
  scopes: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
  // A catalogue with a type in it or without, a version of a type, or the URL of one elsewhere.
  voor: Type.Array(Type.String({ maxLength: 1100, pattern: '^(c:[0-9a-f-]{36}:.*|t:[0-9a-f-]{36}|u:https?://.+)$' }), {
    maxItems: 1000,
  }),
  max: OptionalChoice(VERTROUWELIJKHEIDAANDUIDINGEN),
})
type RightForm = Static<typeof RightForm>

export function registerApplicatieRights(app: FastifyInstance): void {
  app.get<Query>('/applicaties/:uuid/rechten/nieuw', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const { component } = request.query
    if (!isComponent(component))
      return reply.page('applicatie-right-component', {
        title: t('Recht toevoegen'),
        breadcrumbs: breadcrumbsOf(applicatie),
        applicatie,
        components: Object.entries(COMPONENTEN),
        scopes: SCOPES,
      })
    const values = { component, scopes: [], voor: [], max: '' as const }
    return reply.page('applicatie-right', await rightPage(app, request, applicatie, undefined, values))
  })

  app.post<Query>('/applicaties/:uuid/rechten/nieuw', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return saveRight(request, applicatie, undefined)
      .then(() => redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('Het recht is toegevoegd.')))
      .catch(async (error) => {
        const faults = formFaults(error)
        const values = rawForm(request.body)
        return reply
          .code(400)
          .page('applicatie-right', await rightPage(app, request, applicatie, undefined, values, faults))
      })
  })

  app.get<Params>('/applicaties/:uuid/rechten/sjabloon', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.page('applicatie-rights-preset', await presetPage(app, applicatie, {}, {}))
  })

  app.post<Params>('/applicaties/:uuid/rechten/sjabloon', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    try {
      const form = readForm(PresetForm, request.body)
      const preset = PRESETS.find(({ key }) => key === form.sjabloon)
      throwFormFaults({
        ...(!preset && { sjabloon: t('Kies een toepassing.') }),
        ...(form.catalogi.length === 0 && { catalogi: t('Kies ten minste een catalogus.') }),
        ...(!form.max && { max: t('Kies het hoogste niveau.') }),
      })
      const { name, scopes: given } = expected(preset)
      const rights = Object.entries(given).flatMap(([component, scopes]) =>
        rightsFromForm(
          { component: component as Component, scopes, voor: form.catalogi.map((uuid) => `c:${uuid}:`), max: form.max },
          request.base,
        ),
      )
      await replaceRights(request, applicatie, undefined, rights)
      const text = t`De rechten van een toepassing van de soort ${name} zijn toegevoegd.`
      return await redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, text)
    } catch (error) {
      const faults = formFaults(error)
      return reply
        .code(400)
        .page('applicatie-rights-preset', await presetPage(app, applicatie, (request.body ?? {}) as FormValues, faults))
    }
  })

  const path = '/applicaties/:uuid/rechten/:soort/:id'
  app.get<RightParams>(path, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const right = await requireRight(app.read, applicatie, request)
    const { component, scopes, max } = right
    const values = { component, scopes, voor: right.choice ? [right.choice] : [], max: max ?? ('' as const) }
    return reply.page('applicatie-right', await rightPage(app, request, applicatie, right, values))
  })

  app.post<RightParams>(path, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const right = await requireRight(app.read, applicatie, request)
    return saveRight(request, applicatie, right)
      .then(() => redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('Het recht is gewijzigd.')))
      .catch(async (error) => {
        const faults = formFaults(error)
        return reply
          .code(400)
          .page('applicatie-right', await rightPage(app, request, applicatie, right, rawForm(request.body), faults))
      })
  })

  app.get<RightParams>(`${path}/verwijderen`, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const right = await requireRight(app.read, applicatie, request)
    return reply.page('applicatie-right-delete', {
      title: t('Recht verwijderen'),
      breadcrumbs: breadcrumbsOf(applicatie),
      applicatie,
      right,
      components: COMPONENTEN,
      scopeInWords,
    })
  })

  app.post<RightParams>(`${path}/verwijderen`, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const right = await requireRight(app.read, applicatie, request)
    await replaceRights(request, applicatie, right, [])
    return redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('Het recht is verwijderd.'))
  })

  app.get<Params>('/applicaties/:uuid/wat-mag', { config: viewing }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.page('applicatie-rights', {
      title: t('Wat mag deze client?'),
      breadcrumbs: breadcrumbsOf(applicatie),
      applicatie,
      parts: await whatIsAllowed(app.read, applicatie),
      ...(await selectSecrets(app.read, applicatie.id)),
    })
  })
}

function rawForm(body: unknown): RightForm {
  const { component, scopes, voor, max } = (body ?? {}) as FormValues
  return {
    component: isComponent(component) ? component : 'zrc',
    scopes: [scopes ?? []].flat(),
    voor: [voor ?? []].flat(),
    max: (max ?? '') as RightForm['max'],
  }
}

const PresetForm = Type.Object({
  sjabloon: Type.Optional(Type.String({ maxLength: 50 })),
  catalogi: Type.Array(Type.String({ pattern: '^[0-9a-f-]{36}$' }), { maxItems: 100 }),
  max: OptionalChoice(VERTROUWELIJKHEIDAANDUIDINGEN),
})

async function presetPage(app: FastifyInstance, applicatie: Applicatie, body: FormValues, faults: FormFaults) {
  const { rows } = await sql<{ uuid: string; naam: string }>`
    select uuid, coalesce(nullif(naam, ''), domein) || ' (' || domein || ')' as naam from catalogus c order by 2 limit 100`.execute(
    app.read,
  )
  return {
    title: t('Rechten van een toepassing'),
    breadcrumbs: breadcrumbsOf(applicatie),
    applicatie,
    faults,
    values: { sjabloon: body.sjabloon, catalogi: [body.catalogi ?? []].flat(), max: body.max ?? '' },
    catalogi: rows,
    levels: levels(),
    presets: PRESETS.map((preset) => ({
      ...preset,
      parts: Object.entries(preset.scopes).map(([component, scopes]) => ({
        name: COMPONENTEN[component as Component],
        allowed: scopes.map((scope) => scopeInWords(component as Component, scope)),
      })),
    })),
  }
}

const levels = () => [
  ['', t('Kies het hoogste niveau')],
  ...VERTROUWELIJKHEIDAANDUIDINGEN.map((value) => [value, VERTROUWELIJKHEID[value]]),
]

async function rightPage(
  app: FastifyInstance,
  request: FastifyRequest,
  applicatie: Applicatie,
  right: ShownRight | undefined,
  values: RightForm,
  faults: FormFaults = {},
) {
  const { component } = values
  const zoek = String((request.query as { zoek?: string }).zoek ?? '').slice(0, 200)
  const known = SCOPES[component]
  const others = values.scopes.filter((scope) => !known.some(([name]) => name === scope))
  return {
    title: right ? t('Recht wijzigen') : t`Recht toevoegen: ${COMPONENTEN[component]}`,
    breadcrumbs: breadcrumbsOf(applicatie),
    applicatie,
    right,
    values,
    faults,
    zoek,
    componentName: COMPONENTEN[component],
    scopes: [...known, ...others.map((scope) => [scope, t('een scope die deze dienst niet kent')])],
    typen: TYPEN[component],
    hasMax: hasMax(component),
    levels: levels(),
    ...(TYPEN[component] && (await selectChoices(app.read, component, zoek, values.voor))),
  }
}

async function saveRight(
  request: FastifyRequest,
  applicatie: Applicatie,
  right: ShownRight | undefined,
): Promise<void> {
  const form = readForm(RightForm, request.body)
  if (right) form.component = right.component
  if (form.scopes.length === 0) throwFormFaults({ scopes: t('Kies ten minste een scope.') })
  await replaceRights(request, applicatie, right, rightsFromForm(form, request.base))
}

type NewRight =
  | { soort: 'type'; input: NonNullable<ApplicatieInput['autorisaties']>[number] }
  | { soort: 'catalogus'; input: NonNullable<ApplicatieInput['catalogusAutorisaties']>[number] }

/** One right for every type or catalogue that was ticked; one without a type when none was. */
function rightsFromForm({ component, scopes, voor, max }: RightForm, base: string): NewRight[] {
  const common = { component, scopes, ...(hasMax(component) && { maxVertrouwelijkheidaanduiding: max ?? '' }) }
  const typen = TYPEN[component]
  if (!typen || voor.length === 0) return [{ soort: 'type', input: common }]
  return voor.map((choice): NewRight => {
    const [, kind, rest = ''] = /^([ctu]):(.*)$/s.exec(choice) ?? []
    const field = { [typen.singular]: kind === 't' ? link(base, typen.singular as 'zaaktype', rest) : rest }
    if (kind === 't' || kind === 'u') return { soort: 'type', input: { ...common, ...field } }
    const catalogus = link(base, 'catalogus', rest.slice(0, 36))
    const input = { ...common, component: component as 'zrc', catalogus, type: rest.slice(37) }
    return { soort: 'catalogus', input }
  })
}

/** Replaces one right (none: adds) by others (none: removes). The component writes the whole set at once. */
async function replaceRights(
  request: FastifyRequest,
  applicatie: Applicatie,
  oud: ShownRight | undefined,
  nieuw: NewRight[],
): Promise<void> {
  await mutateFromPage(request, async (m) => {
    // Locked, so that what we read stays until all is replaced.
    await m.trx.selectFrom('applicatie').where('id', '=', applicatie.id).select('id').forUpdate().execute()
    const typen = await selectRights(m.read, applicatie.id)
    const catalogi = await selectCatalogusRights(m.read, applicatie.id)
    if (oud && !(oud.soort === 'type' ? typen : catalogi).some(({ id }) => id === oud.id)) throw changedMeanwhile()
    const keep = (right: ShownRight) => right.id !== oud?.id || right.soort !== oud.soort
    const toInput = (right: ShownRight) =>
      one(rightsFromForm({ ...right, voor: right.choice ? [right.choice] : [], max: right.max ?? '' }, request.base))
    const input = [...[...typen, ...catalogi].filter(keep).map(toInput), ...nieuw]
    await changeApplicatie(
      m,
      'partial_update',
      applicatie.uuid,
      {
        autorisaties: input.flatMap((right) => (right.soort === 'type' ? [right.input] : [])),
        catalogusAutorisaties: input.flatMap((right) => (right.soort === 'catalogus' ? [right.input] : [])),
      },
      { zonderRechten: true },
    )
    m.audit({
      handeling: oud ? (nieuw.length > 0 ? 'recht-wijzigen' : 'recht-verwijderen') : 'recht-toevoegen',
      soort: 'applicatie',
      id: applicatie.uuid,
      weergave: applicatie.label,
      ...(oud && { oud: toInput(oud).input }),
      ...(nieuw.length > 0 && { nieuw: nieuw.map((right) => right.input) }),
    })
  })
}

const changedMeanwhile = () =>
  new Problem(404, {
    detail: t('Dit recht is intussen gewijzigd. Ga terug naar de applicatie en probeer het opnieuw.'),
  })

/** Faults of the API's body beside the fields of the form. */
function formFaults(error: unknown): FormFaults {
  return Object.fromEntries(
    Object.entries(formFaultsOf(error)).map(([name, reason]) => {
      if (/maxVertrouwelijkheidaanduiding$/.test(name)) return ['max', t('Kies het hoogste niveau bij deze scopes.')]
      if (/type$/.test(name)) return ['voor', t('Kies bij deze scopes voor welke typen het recht geldt.')]
      if (/catalogus$/.test(name)) return ['voor', reason]
      return [name.replace(/^(scopes|voor)\..*/, '$1'), reason]
    }),
  )
}

async function requireRight(db: ReadDb, applicatie: Applicatie, request: FastifyRequest): Promise<ShownRight> {
  const { soort, id } = request.params as RightParams['Params']
  const rechten =
    soort === 'type'
      ? await selectRights(db, applicatie.id, { id: /^\d{1,15}$/.test(id) ? id : '0' })
      : soort === 'catalogus'
        ? await selectCatalogusRights(db, applicatie.id)
        : []
  const right = rechten.find((one) => String(one.id) === id)
  if (!right) throw soort === 'type' || soort === 'catalogus' ? changedMeanwhile() : notFound()
  return right
}
