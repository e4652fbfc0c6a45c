// Services: the services elsewhere that this one may call, how we identify ourselves there, and whether that works.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { invalid, notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { isUuid } from '../../lib/uuid.ts'
import { followService } from '../../notificaties/settings.ts'
import { certificateFacts } from '../../services/credentials.ts'
import { type Probe, probeService } from '../../services/probe.ts'
import { deleteService, KINDS, saveService } from '../../services/register.ts'
import { mutateFromPage } from '../frame/change.ts'
import {
  type FormFaults,
  type FormValues,
  formFaultsOf,
  PasswordField,
  readForm,
  throwFormFaults,
} from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { beheerActor, openSealed, seal } from '../frame/session.ts'
import { t, words } from '../language/language.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
const administering = { access: 'beheer', rol: 'administrator' } as const
type Params = { Params: { uuid: string } }

const PATH = '/diensten'
const MAX = 500

const KIND_WORDS: Record<(typeof KINDS)[number], string> = words({
  zrc: 'Zaken API',
  drc: 'Documenten API',
  ztc: 'Catalogi API',
  brc: 'Besluiten API',
  ac: 'Autorisaties API',
  nrc: 'Notificaties API',
  orc: 'andere API',
})
const AUTHENTICATIES = words({
  geen: 'Geen',
  zgw: 'Token van de standaard (client-ID en secret)',
  api_key: 'Vaste sleutel in een header',
  oauth2: 'OAuth2 (client credentials)',
} as const)

const FormFields = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 100 }),
  slug: Type.Optional(Type.String({ maxLength: 100 })),
  soort: Type.Enum(KINDS),
  apiRoot: Type.String({ maxLength: 1000 }),
  authenticatie: Type.Enum(['geen', 'zgw', 'api_key', 'oauth2']),
  clientId: Type.Optional(Type.String({ maxLength: 255 })),
  header: Type.Optional(Type.String({ maxLength: 100 })),
  secret: Type.Optional(PasswordField),
  tokenUrl: Type.Optional(Type.String({ maxLength: 1000 })),
  tokenScope: Type.Optional(Type.String({ maxLength: 1000 })),
  clientCertificate: Type.Optional(Type.String({ maxLength: 65_536 })),
  clientKey: Type.Optional(Type.String({ maxLength: 65_536 })),
  ca: Type.Optional(Type.String({ maxLength: 1_000_000 })),
  gebruikersId: Type.Optional(Type.String({ maxLength: 255 })),
  gebruikersWeergave: Type.Optional(Type.String({ maxLength: 255 })),
  termijn: Type.Number({ minimum: 0.1, maximum: 300 }),
})
type FormFields = Static<typeof FormFields>

type ServiceRow = NonNullable<Awaited<ReturnType<typeof readService>>>

export function registerServicePages(app: FastifyInstance): void {
  const { box, services } = app.parts

  app.get(PATH, { config: viewing }, async (_request, reply) => {
    const { rows } = await sql<{
      uuid: string
      label: string
      kind: keyof typeof KIND_WORDS
      apiRoot: string
      authenticatie: keyof typeof AUTHENTICATIES
      certificaat: boolean
      ca: boolean
      notificaties: boolean
      laatste: { begunAt: string; status: number | null } | null
    }>`
      select d.uuid, d.label, d.kind, d.api_root, d.authenticatie, d.certificaat <> '' as certificaat, d.ca <> '' as ca,
        exists (select from notificatie_settings i where i.configured_service_id = d.id) as notificaties,
        (select jsonb_build_object('begunAt', u.begun_at, 'status', u.status)
          from outgoing_request u where u.service = d.api_root order by u.id desc limit 1) as laatste
      from service d order by lower(d.label), d.id limit ${MAX}`.execute(app.read)
    return reply.page('services', {
      title: t('Andere diensten'),
      selectielijst: app.parts.config.selectielijstApiRoot,
      services: rows.map((row) => ({
        ...row,
        soort: KIND_WORDS[row.kind],
        authenticatie: inWords(row),
        isGood: row.laatste !== null && row.laatste.status !== null && row.laatste.status < 400,
      })),
    })
  })

  app.get(`${PATH}/nieuw`, { config: administering }, async (_request, reply) =>
    reply.page('service-edit', page(undefined, { soort: 'zrc', authenticatie: 'zgw', termijn: '10' })),
  )

  app.post(`${PATH}/nieuw`, { config: administering }, async (request, reply) => {
    const given = withKept(request)
    try {
      const form = readForm(FormFields, given)
      const { slug = '' } = form
      if (!/^[-a-zA-Z0-9_]{1,100}$/.test(slug))
        throwFormFaults({ slug: t('Vul letters, cijfers, streepjes of lage streepjes in.') })
      if (given.proberen) return await tryOut(request, reply, undefined, given, toInput(form, slug))
      const uuid = await mutateFromPage(request, async (m) => {
        const known = await m.trx.selectFrom('service').where('slug', '=', slug).select('id').executeTakeFirst()
        if (known) throw invalid('slug', 'unique', t('Een andere dienst heeft deze naam al.'))
        await saveService(m, box, toInput(form, slug))
        const made = expected(await readService(m.read, { slug }))
        m.audit({
          handeling: 'dienst-maken',
          soort: 'dienst',
          id: made.uuid,
          weergave: made.label,
          nieuw: toAudit(made),
        })
        return made.uuid
      })
      return await redirectWith(
        request,
        reply,
        `${PATH}/${uuid}`,
        t('De dienst is opgeslagen. Test nu of zij ons kent.'),
      )
    } catch (error) {
      return reply.code(400).page('service-edit', page(undefined, given, formFaultsOf(error), kept(request, given)))
    }
  })

  app.get<Params>(`${PATH}/:uuid`, { config: viewing }, async (request, reply) => {
    const service = await requireService(request)
    return reply.page('service', {
      title: service.label,
      breadcrumbs: [{ path: PATH, name: t('Andere diensten') }],
      service,
      soort: KIND_WORDS[service.kind as keyof typeof KIND_WORDS],
      authenticatie: AUTHENTICATIES[service.authenticatie as keyof typeof AUTHENTICATIES],
      certificates: certificateFacts(service.certificaat),
      authorities: certificateFacts(service.ca),
      test: await lastProbe(service.uuid),
    })
  })

  app.post<Params>(`${PATH}/:uuid/testen`, { config: operating }, async (request, reply) => {
    const service = await requireService(request)
    const probe = await probeService(services, service)
    await mutateFromPage(request, async (m) =>
      m.audit({
        handeling: 'dienst-testen',
        soort: 'dienst',
        id: service.uuid,
        weergave: service.label,
        nieuw: { ...probe, apiRoot: service.apiRoot },
      }),
    )
    const tones = { goed: 'goed', 'let-op': 'info', fout: 'fout' } as const
    return redirectWith(request, reply, `${PATH}/${service.uuid}#test`, probe.tekst, tones[probe.tone])
  })

  app.get<Params>(`${PATH}/:uuid/wijzigen`, { config: administering }, async (request, reply) => {
    const service = await requireService(request)
    return reply.page('service-edit', page(service, toFields(service)))
  })

  app.post<Params>(`${PATH}/:uuid/wijzigen`, { config: administering }, async (request, reply) => {
    const service = await requireService(request)
    const given = withKept(request)
    try {
      const form = readForm(FormFields, given)
      throwFormFaults(secretFaults(form, service))
      if (given.proberen) return await tryOut(request, reply, service, given, toInput(form, service.slug))
      const isChanged = await mutateFromPage(request, async (m) => {
        const changed = await saveService(m, box, toInput(form, service.slug))
        if (changed) await followService(m, service.slug)
        m.audit({
          handeling: 'dienst-wijzigen',
          soort: 'dienst',
          id: service.uuid,
          weergave: form.label,
          oud: toAudit(service),
          nieuw: {
            ...toAudit(expected(await readService(m.read, { uuid: service.uuid }))),
            ...(form.secret !== undefined && { secret: 'gewijzigd' }),
            ...(form.clientKey !== undefined && { clientKey: 'gewijzigd' }),
          },
        })
        return changed
      })
      const text = isChanged ? t('De dienst is opgeslagen.') : t('Er was niets gewijzigd.')
      return await redirectWith(request, reply, `${PATH}/${service.uuid}`, text, isChanged ? 'goed' : 'info')
    } catch (error) {
      return reply.code(400).page('service-edit', page(service, given, formFaultsOf(error), kept(request, given)))
    }
  })

  app.get<Params>(`${PATH}/:uuid/verwijderen`, { config: administering }, async (request, reply) => {
    const service = await requireService(request)
    return reply.page('service-delete', { title: t('Dienst verwijderen'), breadcrumbs: crumbs(service), service })
  })

  app.post<Params>(`${PATH}/:uuid/verwijderen`, { config: administering }, async (request, reply) => {
    const service = await requireService(request)
    const gone = await mutateFromPage(request, async (m) => {
      const removed = await deleteService(m, service.uuid)
      m.audit({
        handeling: removed ? 'dienst-verwijderen' : 'dienst-verwijderen-geweigerd',
        soort: 'dienst',
        id: service.uuid,
        weergave: service.label,
        oud: toAudit(service),
      })
      return removed
    })
    if (gone) return redirectWith(request, reply, PATH, t`De dienst ‘${service.label}’ is verwijderd.`)
    const why = t('Notificaties gaan naar deze dienst. Kies eerst een andere bij Notificatiescomponentconfiguratie.')
    return redirectWith(request, reply, `${PATH}/${service.uuid}`, why, 'fout')
  })

  /** Asks the service with what is filled in, and saves nothing of it. */
  async function tryOut(
    request: FastifyRequest,
    reply: FastifyReply,
    service: ServiceRow | undefined,
    given: FormValues,
    input: ReturnType<typeof toInput>,
  ): Promise<FastifyReply> {
    const trial = await probeService(services, await draftOf(request, input))
    return reply.page('service-edit', { ...page(service, given, {}, kept(request, given)), trial })
  }

  /** The service as it would be saved: it is, in a transaction that is taken back. */
  async function draftOf(request: FastifyRequest, input: ReturnType<typeof toInput>): Promise<ServiceRow> {
    try {
      return await app.mutate(beheerActor(request), async (m) => {
        await saveService(m, box, input)
        throw new Draft(expected(await readService(m.read, { slug: input.slug })))
      })
    } catch (error) {
      if (error instanceof Draft) return error.service
      throw error
    }
  }

  async function requireService({ params }: FastifyRequest): Promise<ServiceRow> {
    const { uuid } = params as { uuid: string }
    const service = isUuid(uuid) ? await readService(app.read, { uuid }) : undefined
    if (!service) throw notFound(t('Deze dienst bestaat niet (meer).'))
    return service
  }

  /** What the last test came to: its audit record tells. */
  async function lastProbe(uuid: string) {
    const row = await app.read
      .selectFrom('beheerAudit')
      .where('handeling', '=', 'dienst-testen')
      .where('objectId', '=', uuid)
      .orderBy('id', 'desc')
      .select(['tijdstip', 'gebruiker', 'nieuw'])
      .executeTakeFirst()
    return row && { ...row, ...(row.nieuw as Probe & { apiRoot: string }) }
  }
}

class Draft extends Error {
  readonly service: ServiceRow
  constructor(service: ServiceRow) {
    super('not to be saved')
    this.service = service
  }
}

const SECRETS = ['secret', 'clientKey'] as const

/** What was filled in, with the secrets that the form before kept: fields of secrets come back empty. */
function withKept(request: FastifyRequest): FormValues {
  const given = (request.body ?? {}) as FormValues
  const opened = openSealed(request, String(given.bewaard ?? ''))
  const before = opened === undefined ? {} : (JSON.parse(opened) as FormValues)
  const secrets = SECRETS.flatMap((name) => {
    const value = String(given[name] ?? '').trim() === '' ? before[name] : given[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...given, ...Object.fromEntries(secrets) }
}

/** The secrets that were filled in, for the next form of this session alone; '' when there are none. */
function kept(request: FastifyRequest, given: FormValues): string {
  const secrets = SECRETS.filter((name) => String(given[name] ?? '').trim() !== '')
  return secrets.length === 0
    ? ''
    : seal(request, JSON.stringify(Object.fromEntries(secrets.map((name) => [name, given[name]]))))
}

function readService(db: ReadDb, { uuid, slug }: { uuid?: string; slug?: string }) {
  return db
    .selectFrom('service as d')
    .leftJoin('notificatieSettings as i', 'i.configuredServiceId', 'd.id')
    .where('d.uuid', uuid === undefined ? 'is not' : '=', uuid ?? null)
    .where('d.slug', slug === undefined ? 'is not' : '=', slug ?? null)
    .selectAll('d')
    .select((is) => is('i.singleton', 'is not', null).as('notificaties'))
    .executeTakeFirst()
}

const crumbs = ({ uuid, label }: ServiceRow) => [
  { path: PATH, name: t('Andere diensten') },
  { path: `${PATH}/${uuid}`, name: label.slice(0, 60) },
]

const page = (
  service: ServiceRow | undefined,
  { secret: _, clientKey: __, ...values }: Record<string, unknown>,
  faults: FormFaults = {},
  keptSecrets = '',
) => ({
  title: service ? t('Dienst wijzigen') : t('Nieuwe dienst'),
  breadcrumbs: service ? crumbs(service) : [{ path: PATH, name: t('Andere diensten') }],
  service,
  values,
  faults,
  soorten: Object.entries(KIND_WORDS),
  authenticaties: Object.entries(AUTHENTICATIES),
  hasSecret: service?.sealedSecret != null,
  hasKey: service?.certificateKey != null,
  kept: keptSecrets,
  trial: undefined as Probe | undefined,
})

function toFields(service: ServiceRow) {
  const { certificaat: clientCertificate, timeoutMs, ...others } = service
  return { ...others, clientCertificate, termijn: String(timeoutMs / 1000) }
}

function toInput(form: FormFields, slug: string) {
  const { termijn, slug: _, ...given } = form
  const { ca = '', clientCertificate = '', gebruikersId = '', gebruikersWeergave = '' } = given
  return {
    ...given,
    slug,
    ca,
    clientCertificate,
    gebruikersId,
    gebruikersWeergave,
    timeoutMs: Math.round(termijn * 1000),
  }
}

/** A secret that is known goes nowhere else than where it was given for, and means nothing for another way. */
function secretFaults(form: FormFields, service: ServiceRow): FormFaults {
  if (form.authenticatie === 'geen' || form.secret !== undefined) return {}
  const originOf = (url: string | undefined) => (url && URL.canParse(url) ? new URL(url).origin : '')
  const elsewhere =
    form.authenticatie === 'oauth2'
      ? originOf(form.tokenUrl) !== originOf(service.tokenUrl)
      : form.authenticatie === 'api_key' && originOf(form.apiRoot) !== originOf(service.apiRoot)
  if (form.authenticatie === service.authenticatie && !elsewhere) return {}
  return { secret: t('Vul het geheim opnieuw in: de manier van bekendmaken of de server is gewijzigd.') }
}

/** For the audit log: never a secret. */
const toAudit = (service: ServiceRow) => ({
  label: service.label,
  slug: service.slug,
  soort: service.kind,
  apiRoot: service.apiRoot,
  authenticatie: service.authenticatie,
  clientId: service.clientId,
  header: service.header,
  tokenUrl: service.tokenUrl,
  tokenScope: service.tokenScope,
  certificaat: service.certificaat !== '',
  ca: service.ca !== '',
  gebruikersId: service.gebruikersId,
  gebruikersWeergave: service.gebruikersWeergave,
  timeoutMs: service.timeoutMs,
})

function inWords(row: { authenticatie: keyof typeof AUTHENTICATIES; certificaat: boolean; ca: boolean }): string {
  return [
    AUTHENTICATIES[row.authenticatie].replace(/ \(.*/, ''),
    ...(row.certificaat ? ['client-certificaat'] : []),
    ...(row.ca ? [t('eigen CA')] : []),
  ].join(', ')
}
