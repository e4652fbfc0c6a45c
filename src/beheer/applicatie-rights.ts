// applicatie-rechten: the rights of an application: add, change, remove, and what they come to in words.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { type ApplicatieInput, changeApplicatie } from '../autorisaties/applicaties.ts'
import type { ReadDb } from '../database/database.ts'
import type { Component } from '../http/actor.ts'
import { OptionalChoice, VERTROUWELIJKHEIDAANDUIDINGEN, type Vertrouwelijkheidaanduiding } from '../http/input.ts'
import { link } from '../http/links.ts'
import { notFound, Problem } from '../http/problem.ts'
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
import { mutateFromPage } from './change.ts'
import { type FormFaults, type FormValues, formFaultsOf, readForm, throwFormFaults } from './form.ts'
import type { Cursor } from './keyset-list.ts'
import { t } from './language/language.ts'
import { redirectWith } from './page.ts'

type RightKind = 'type' | 'catalogus'
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
      return reply.pagina('applicatie-recht-component', {
        titel: t('Recht toevoegen'),
        kruimels: breadcrumbsOf(applicatie),
        applicatie,
        componenten: Object.entries(COMPONENTEN),
        scopes: SCOPES,
      })
    const waarden = { component, scopes: [], voor: [], max: '' as const }
    return reply.pagina('applicatie-recht', await rightPage(app, request, applicatie, undefined, waarden))
  })

  app.post<Query>('/applicaties/:uuid/rechten/nieuw', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return saveRight(request, applicatie, undefined)
      .then(() => redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('Het recht is toegevoegd.')))
      .catch(async (error) => {
        const fouten = formFaults(error)
        const waarden = rawForm(request.body)
        return reply
          .code(400)
          .pagina('applicatie-recht', await rightPage(app, request, applicatie, undefined, waarden, fouten))
      })
  })

  app.get<Params>('/applicaties/:uuid/rechten/sjabloon', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.pagina('applicatie-rechten-sjabloon', await presetPage(app, applicatie, {}, {}))
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
      const rights = Object.entries(preset!.scopes).flatMap(([component, scopes]) =>
        rightsFromForm(
          { component: component as Component, scopes, voor: form.catalogi.map((uuid) => `c:${uuid}:`), max: form.max },
          request.base,
        ),
      )
      await replaceRights(request, applicatie, undefined, rights)
      const text = t`De rechten van een toepassing van de soort ${preset!.naam} zijn toegevoegd.`
      return await redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, text)
    } catch (error) {
      const fouten = formFaults(error)
      return reply
        .code(400)
        .pagina(
          'applicatie-rechten-sjabloon',
          await presetPage(app, applicatie, (request.body ?? {}) as FormValues, fouten),
        )
    }
  })

  const pad = '/applicaties/:uuid/rechten/:soort/:id'
  app.get<RightParams>(pad, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const recht = await requireRight(app.read, applicatie, request)
    const { component, scopes, max } = recht
    const waarden = { component, scopes, voor: recht.keuze ? [recht.keuze] : [], max: max ?? ('' as const) }
    return reply.pagina('applicatie-recht', await rightPage(app, request, applicatie, recht, waarden))
  })

  app.post<RightParams>(pad, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const recht = await requireRight(app.read, applicatie, request)
    return saveRight(request, applicatie, recht)
      .then(() => redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('Het recht is gewijzigd.')))
      .catch(async (error) => {
        const fouten = formFaults(error)
        return reply
          .code(400)
          .pagina('applicatie-recht', await rightPage(app, request, applicatie, recht, rawForm(request.body), fouten))
      })
  })

  app.get<RightParams>(`${pad}/verwijderen`, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const recht = await requireRight(app.read, applicatie, request)
    return reply.pagina('applicatie-recht-verwijderen', {
      titel: t('Recht verwijderen'),
      kruimels: breadcrumbsOf(applicatie),
      applicatie,
      recht,
      componenten: COMPONENTEN,
      scopeInWords,
    })
  })

  app.post<RightParams>(`${pad}/verwijderen`, { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const recht = await requireRight(app.read, applicatie, request)
    await replaceRights(request, applicatie, recht, [])
    return redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('Het recht is verwijderd.'))
  })

  app.get<Params>('/applicaties/:uuid/wat-mag', { config: viewing }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.pagina('applicatie-wat-mag', {
      titel: t('Wat mag deze client?'),
      kruimels: breadcrumbsOf(applicatie),
      applicatie,
      delen: await whatIsAllowed(app.read, applicatie),
      ...(await selectSecrets(app.read, applicatie.id)),
    })
  })
}

// ---- the form ----

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

async function presetPage(app: FastifyInstance, applicatie: Applicatie, body: FormValues, fouten: FormFaults) {
  const { rows } = await sql<{ uuid: string; naam: string }>`
    select uuid, coalesce(nullif(naam, ''), domein) || ' (' || domein || ')' as naam from catalogus c order by 2 limit 100`.execute(
    app.read,
  )
  return {
    titel: t('Rechten van een toepassing'),
    kruimels: breadcrumbsOf(applicatie),
    applicatie,
    fouten,
    waarden: { sjabloon: body.sjabloon, catalogi: [body.catalogi ?? []].flat(), max: body.max ?? '' },
    catalogi: rows,
    niveaus: levels(),
    presets: PRESETS.map((preset) => ({
      ...preset,
      delen: Object.entries(preset.scopes).map(([component, scopes]) => ({
        naam: COMPONENTEN[component as Component],
        woorden: scopes.map((scope) => scopeInWords(component as Component, scope)),
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
  recht: ShownRight | undefined,
  waarden: RightForm,
  fouten: FormFaults = {},
) {
  const { component } = waarden
  const zoek = String((request.query as { zoek?: string }).zoek ?? '').slice(0, 200)
  const known = SCOPES[component]
  const others = waarden.scopes.filter((scope) => !known.some(([name]) => name === scope))
  return {
    titel: recht ? t('Recht wijzigen') : t`Recht toevoegen: ${COMPONENTEN[component]}`,
    kruimels: breadcrumbsOf(applicatie),
    applicatie,
    recht,
    waarden,
    fouten,
    zoek,
    componentNaam: COMPONENTEN[component],
    scopes: [...known, ...others.map((scope) => [scope, t('een scope die deze dienst niet kent')])],
    typen: TYPEN[component],
    metMax: hasMax(component),
    niveaus: levels(),
    ...(TYPEN[component] && (await selectChoices(app.read, component, zoek, waarden.voor))),
  }
}

async function saveRight(
  request: FastifyRequest,
  applicatie: Applicatie,
  recht: ShownRight | undefined,
): Promise<void> {
  const form = readForm(RightForm, request.body)
  if (recht) form.component = recht.component
  if (form.scopes.length === 0) throwFormFaults({ scopes: t('Kies ten minste een scope.') })
  await replaceRights(request, applicatie, recht, rightsFromForm(form, request.base))
}

type NewRight =
  | { soort: 'type'; invoer: NonNullable<ApplicatieInput['autorisaties']>[number] }
  | { soort: 'catalogus'; invoer: NonNullable<ApplicatieInput['catalogusAutorisaties']>[number] }

/** One right for every type or catalogue that was ticked; one without a type when none was. */
function rightsFromForm({ component, scopes, voor, max }: RightForm, base: string): NewRight[] {
  const gemeen = { component, scopes, ...(hasMax(component) && { maxVertrouwelijkheidaanduiding: max ?? '' }) }
  const typen = TYPEN[component]
  if (!typen || voor.length === 0) return [{ soort: 'type', invoer: gemeen }]
  return voor.map((keuze): NewRight => {
    const [, soort, rest = ''] = /^([ctu]):(.*)$/s.exec(keuze) ?? []
    const veld = { [typen.een]: soort === 't' ? link(base, typen.een as 'zaaktype', rest) : rest }
    if (soort === 't' || soort === 'u') return { soort: 'type', invoer: { ...gemeen, ...veld } }
    const catalogus = link(base, 'catalogus', rest.slice(0, 36))
    const invoer = { ...gemeen, component: component as 'zrc', catalogus, type: rest.slice(37) }
    return { soort: 'catalogus', invoer }
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
    const keep = (recht: ShownRight) => recht.id !== oud?.id || recht.soort !== oud.soort
    const naar = (recht: ShownRight) =>
      rightsFromForm({ ...recht, voor: recht.keuze ? [recht.keuze] : [], max: recht.max ?? '' }, request.base)[0]!
    const invoer = [...[...typen, ...catalogi].filter(keep).map(naar), ...nieuw]
    await changeApplicatie(
      m,
      'partial_update',
      applicatie.uuid,
      {
        autorisaties: invoer.flatMap((recht) => (recht.soort === 'type' ? [recht.invoer] : [])),
        catalogusAutorisaties: invoer.flatMap((recht) => (recht.soort === 'catalogus' ? [recht.invoer] : [])),
      },
      [],
      { zonderRechten: true },
    )
    m.vastleggen({
      handeling: oud ? (nieuw.length > 0 ? 'recht-wijzigen' : 'recht-verwijderen') : 'recht-toevoegen',
      soort: 'applicatie',
      id: applicatie.uuid,
      weergave: applicatie.label,
      ...(oud && { oud: naar(oud).invoer }),
      ...(nieuw.length > 0 && { nieuw: nieuw.map((recht) => recht.invoer) }),
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

// ---- reading ----

export type ShownRight = {
  id: number
  soort: RightKind
  component: Component
  scopes: string[]
  max: Vertrouwelijkheidaanduiding | null
  /** For which type, as the form sends it; empty: for none. */
  keuze: string
  /** For which type, for people. */
  voor: string
}

const CATALOGUS = sql`coalesce(nullif(c.naam, ''), c.domein)`
// Joined apart: over a union of the three the planner looks at every version for every right.
const TYPE_OF_RIGHT = sql`
  left join zaaktype z on r.component = 'zrc' and z.uuid = r.type_uuid
  left join informatieobjecttype i on r.component = 'drc' and i.uuid = r.type_uuid
  left join besluittype b on r.component = 'brc' and b.uuid = r.type_uuid`
const NAME_OF_RIGHT = sql`coalesce(
    z.omschrijving || case when z.identificatie <> z.omschrijving then ' (' || z.identificatie || ')' else '' end,
    i.omschrijving, b.omschrijving)
  || ', versie vanaf ' || to_char(coalesce(z.begin_geldigheid, i.begin_geldigheid, b.begin_geldigheid), 'DD-MM-YYYY')`

/** The rights for one version of a type each, or for none, in the order of the API. */
export async function selectRights(
  db: ReadDb,
  applicatieId: number,
  { limit, na, voor, id }: Cursor & { limit?: number; id?: string } = {},
): Promise<ShownRight[]> {
  const [edge] = /^\d{1,15}$/.exec(voor ?? na ?? id ?? '') ?? []
  const sign = id !== undefined ? sql`=` : voor !== undefined ? sql`<` : sql`>`
  const place = edge === undefined ? sql`true` : sql`r.id ${sign} ${edge}`
  const { rows } = await sql<Omit<ShownRight, 'voor' | 'soort' | 'keuze'> & TypeReference>`
    select r.id, r.component, r.scopes, r.max_vertrouwelijkheidaanduiding as max, r.type_url, r.type_uuid,
      ${NAME_OF_RIGHT} || ', catalogus ' || ${CATALOGUS} as naam
    from autorisatie r ${TYPE_OF_RIGHT}
    left join catalogus c on c.id = coalesce(z.catalogus_id, i.catalogus_id, b.catalogus_id)
    where r.applicatie_id = ${applicatieId} and ${place}
    order by ${voor === undefined ? sql`r.id` : sql`r.id desc`} ${limit === undefined ? sql`` : sql`limit ${limit}`}`.execute(
    db,
  )
  return rows.map(({ typeUrl, typeUuid, naam, ...recht }) => ({
    ...recht,
    soort: 'type',
    keuze: typeUuid ? `t:${typeUuid}` : typeUrl ? `u:${typeUrl}` : '',
    voor: naam ?? (typeUuid ? t`een type dat niet meer bestaat (${typeUrl || typeUuid})` : typeUrl),
  }))
}
type TypeReference = { typeUrl: string; typeUuid: string | null; naam: string | null }

/** The rights for all types in a catalogue, or for all versions of one. */
export async function selectCatalogusRights(db: ReadDb, applicatieId: number): Promise<ShownRight[]> {
  const { rows } = await sql<
    Omit<ShownRight, 'voor' | 'soort' | 'keuze'> & { uuid: string; type: string; catalogus: string }
  >`
    select k.id, k.component, k.scopes, k.max_vertrouwelijkheidaanduiding as max, c.uuid, k.type, ${CATALOGUS} as catalogus
    from catalogus_autorisatie k join catalogus c on c.id = k.catalogus_id
    where k.applicatie_id = ${applicatieId} order by k.id`.execute(db)
  return rows.map(({ uuid, type, catalogus, ...recht }) => ({
    ...recht,
    soort: 'catalogus',
    keuze: `c:${uuid}:${type}`,
    voor: type
      ? t`${type}, alle versies, ook latere, catalogus ${catalogus}`
      : t`alle ${TYPEN[recht.component]!.meer} in catalogus ${catalogus}, ook latere`,
  }))
}

async function requireRight(db: ReadDb, applicatie: Applicatie, request: FastifyRequest): Promise<ShownRight> {
  const { soort, id } = request.params as RightParams['Params']
  const rechten =
    soort === 'type'
      ? await selectRights(db, applicatie.id, { id: /^\d{1,15}$/.test(id) ? id : '0' })
      : soort === 'catalogus'
        ? await selectCatalogusRights(db, applicatie.id)
        : []
  const recht = rechten.find((one) => String(one.id) === id)
  if (!recht) throw soort === 'type' || soort === 'catalogus' ? changedMeanwhile() : notFound()
  return recht
}

const MAX_CHOICES = 100
/** Where versions of types are, and what those of one type have in common. */
const VERSION_QUERIES = {
  zrc: {
    tabel: sql.table('zaaktype'),
    sleutel: sql.ref('identificatie'),
    naam: sql`v.omschrijving || case when v.identificatie <> v.omschrijving then ' (' || v.identificatie || ')' else '' end`,
  },
  drc: { tabel: sql.table('informatieobjecttype'), sleutel: sql.ref('omschrijving'), naam: sql`v.omschrijving` },
  brc: { tabel: sql.table('besluittype'), sleutel: sql.ref('omschrijving'), naam: sql`v.omschrijving` },
}
type Choice = { waarde: string; naam: string }
type ChoiceGroup = { catalogus: string; alle: Choice; typen: (Choice & { versies: Choice[] })[] }

/** What a right can be for: the catalogues with their types, those that were chosen first. */
async function selectChoices(
  db: ReadDb,
  component: Component,
  zoek: string,
  gekozen: string[],
): Promise<{ groepen: ChoiceGroup[]; losse: Choice[]; meer: boolean }> {
  const pattern = `%${zoek.replaceAll('\0', '').replace(/[%_\\]/g, '\\$&')}%`
  const { tabel, sleutel, naam } = VERSION_QUERIES[component as 'zrc']
  const catalogi = await sql<{ id: number; uuid: string; naam: string }>`
    select c.id, c.uuid, ${CATALOGUS} as naam from catalogus c order by 3, 1 limit 1000`.execute(db)
  const typen = await sql<{ catalogusId: number; sleutel: string; naam: string; versies: Versie[] }>`
    with gevonden as (
      select v.catalogus_id, v.${sleutel} as sleutel, max(${naam}) as naam, bool_or(g.keuze is not null) as gekozen
      from ${tabel} v
      left join lateral (select keuze from unnest(${gekozen}::text[]) keuze
        where keuze = 't:' || v.uuid
          or keuze = 'c:' || (select c.uuid from catalogus c where c.id = v.catalogus_id) || ':' || v.${sleutel}) g on true
      where v.omschrijving ilike ${pattern} or v.${sleutel} ilike ${pattern} or g.keuze is not null
      group by 1, 2 order by 4 desc, 3, 2 limit ${MAX_CHOICES + 1}
    )
    select t.catalogus_id, t.sleutel, t.naam, (
      select jsonb_agg(jsonb_build_object('uuid', v.uuid, 'vanaf', to_char(v.begin_geldigheid, 'DD-MM-YYYY'), 'concept', v.concept)
        order by v.begin_geldigheid desc, v.id desc)
      from ${tabel} v where v.catalogus_id = t.catalogus_id and v.${sleutel} = t.sleutel) as versies
    from gevonden t order by t.gekozen desc, t.naam, t.sleutel`.execute(db)
  const shown = typen.rows.slice(0, MAX_CHOICES)
  const groepen = catalogi.rows.map(
    ({ id, uuid, naam }): ChoiceGroup => ({
      catalogus: naam,
      alle: { waarde: `c:${uuid}:`, naam: t`Alle ${TYPEN[component]!.meer}, ook die er later bij komen` },
      typen: shown
        .filter(({ catalogusId }) => catalogusId === id)
        .map(({ sleutel, naam: typeNaam, versies }) => ({
          waarde: `c:${uuid}:${sleutel}`,
          naam: typeNaam,
          versies: versies.map((versie) => ({
            waarde: `t:${versie.uuid}`,
            naam: t`Alleen de versie vanaf ${versie.vanaf}${versie.concept ? ` (${t('concept')})` : ''}`,
          })),
        })),
    }),
  )
  const offered = new Set(
    groepen
      .flatMap(({ alle, typen }) => [alle, ...typen, ...typen.flatMap(({ versies }) => versies)])
      .map(({ waarde }) => waarde),
  )
  const losse = gekozen
    .filter((waarde) => !offered.has(waarde))
    .map((waarde) => ({ waarde, naam: waarde.replace(/^(u|t|c):/, '') }))
  return { groepen, losse, meer: typen.rows.length > MAX_CHOICES }
}
type Versie = { uuid: string; vanaf: string; concept: boolean }

// ---- in words ----

const MAX_NAMED = 100

type RightsOfComponent = {
  naam: string
  rechten: { mag: string[]; voor: string[]; meer: number; max: string | null; meerTypen: string | undefined }[]
  nietGenoemd: string[]
}

/** Per component what an application may do: rights that differ only in the type stand together. */
async function whatIsAllowed(db: ReadDb, { id }: Applicatie): Promise<RightsOfComponent[]> {
  const { rows } = await sql<{
    component: Component
    scopes: string[]
    max: Vertrouwelijkheidaanduiding | null
    voor: string[]
    aantal: number
  }>`
    with recht as (${allRights(id)})
    select component, scopes, max, count(*) as aantal, (array_agg(voor order by voor))[1:${sql.lit(MAX_NAMED)}] as voor
    from recht group by component, scopes, max order by component, count(*) desc`.execute(db)
  return (Object.keys(COMPONENTEN) as Component[]).map((component) => {
    const own = rows.filter((row) => row.component === component)
    const given = new Set(own.flatMap(({ scopes }) => scopes))
    return {
      naam: COMPONENTEN[component],
      rechten: own.map(({ scopes, max, voor, aantal }) => ({
        mag: scopes.map((scope) => scopeInWords(component, scope)),
        voor: voor.filter((text) => text !== ''),
        meer: Math.max(0, aantal - MAX_NAMED),
        max: max && VERTROUWELIJKHEID[max],
        meerTypen: TYPEN[component]?.meer,
      })),
      nietGenoemd: SCOPES[component].filter(([scope]) => !given.has(scope)).map(([, woorden]) => woorden),
    }
  })
}

/** All rights with the order of their scopes made equal, and a text for what they are for. */
function allRights(id: number): RawBuilder<unknown> {
  const scopes = (column: RawBuilder<unknown>) => sql`array(select distinct s from unnest(${column}) s order by s)`
  return sql`
    select r.component, ${scopes(sql`r.scopes`)} as scopes, r.max_vertrouwelijkheidaanduiding as max,
      coalesce(${NAME_OF_RIGHT}, nullif(r.type_url, ''),
        case when r.type_uuid is not null then 'een type dat niet meer bestaat' end, '') as voor
    from autorisatie r ${TYPE_OF_RIGHT}
    where r.applicatie_id = ${id}
    union all
    select k.component, ${scopes(sql`k.scopes`)}, k.max_vertrouwelijkheidaanduiding,
      case k.type when '' then 'alle typen in catalogus ' || ${CATALOGUS} || ', ook latere'
        else k.type || ', alle versies, ook latere (catalogus ' || ${CATALOGUS} || ')' end
    from catalogus_autorisatie k join catalogus c on c.id = k.catalogus_id where k.applicatie_id = ${id}`
}

async function selectSecrets(db: ReadDb, applicatieId: number): Promise<{ zonderGeheim: string[] }> {
  const { rows } = await sql<{ clientId: string }>`
    select c.client_id from applicatie_client c where c.applicatie_id = ${applicatieId} and not exists (
      select from applicatie_geheim g where g.client_id = c.client_id and (g.verloopt_op is null or g.verloopt_op > now()))
    order by 1`.execute(db)
  return { zonderGeheim: rows.map(({ clientId }) => clientId) }
}
