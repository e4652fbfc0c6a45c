// The pages of providers of OpenID Connect: which there are, and which values of their claim give which role. One is tried before it is
// saved. That of the environment is shown, and not changed.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { isUuid } from '../../lib/uuid.ts'
import { mutateFromPage } from '../frame/change.ts'
import {
  type FormFaults,
  type FormValues,
  formFaultsOf,
  formProblem,
  PasswordField,
  readForm,
  throwFormFaults,
} from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { moveIssuer } from './accounts.ts'
import { returnAddress } from './oidc.ts'
import {
  endSessionsBy,
  listProviders,
  type ProviderInput,
  type ProviderRow,
  readProvider,
  returnPathOf,
  saveProvider,
  secretOf,
  settingsOf,
} from './oidc-providers.ts'

const administering = { access: 'beheer', rol: 'administrator' } as const
const changing = { ...administering, isSignIn: true } as const
const PATH = '/inlogaanbieders'
type Params = { Params: { uuid: string } }

const Lines = Type.Optional(Type.String({ maxLength: 5000 }))
const Fields = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 60 }),
  issuer: Type.String({ minLength: 1, maxLength: 1000 }),
  clientId: Type.String({ minLength: 1, maxLength: 255 }),
  clientSecret: Type.Optional(PasswordField),
  scopes: Type.String({ minLength: 1, maxLength: 500 }),
  roleClaim: Type.String({ minLength: 1, maxLength: 255 }),
  viewer: Lines,
  privacy: Lines,
  operator: Lines,
  administrator: Lines,
  isActive: Type.Boolean(),
  untried: Type.Boolean(),
  hasOwnReturn: Type.Boolean(),
  /** Of one that is made: its address to return to was shown before. */
  nieuw: Type.Optional(Type.String({ maxLength: 36 })),
  /** The issuer is another, and the people are the same. */
  verhuisd: Type.Boolean(),
})

const DEFAULTS = { scopes: 'openid profile email', roleClaim: 'groups', isActive: 'true' }

export function registerOidcPages(app: FastifyInstance): void {
  const { box, config } = app.parts

  app.get(PATH, { config: administering }, async (request, reply) => {
    const [rows, counts] = await Promise.all([
      listProviders(app.read),
      app.reader.sql<{ issuer: string; count: number }[]>`
        select oidc_issuer as issuer, count(*)::int as count from beheer_account where oidc_issuer is not null group by 1 limit 1000`,
    ])
    const accounts = new Map(counts.map(({ issuer, count }) => [issuer, count]))
    const shown = (row: Omit<ProviderRow, 'sealedSecret'>) => ({ ...row, accounts: accounts.get(row.issuer) ?? 0 })
    const { oidc } = config
    return reply.page('oidc-providers', {
      title: t('Inlogaanbieders'),
      redirectUri: returnAddress(request, { returnPath: '' }),
      fixed: oidc && shown({ ...oidc, ...oidc.roles, uuid: '', isActive: true, hasOwnReturn: false }),
      providers: rows.map(shown),
    })
  })

  app.get(`${PATH}/nieuw`, { config: changing }, async (request, reply) =>
    reply.page('oidc-provider', page(request, undefined, { ...DEFAULTS, nieuw: randomUUID() })),
  )
  app.post(`${PATH}/nieuw`, { config: changing }, async (request, reply) => {
    try {
      const { input, uuid } = await readProviderForm(request)
      if (isOnlyTried(request))
        return reply.page('oidc-provider', { ...page(request, undefined, given(request)), isTried: true })
      await mutateFromPage(request, async (m) => {
        await requireOwnIssuer(await locked(m), input.issuer)
        if (await readProvider(m.read, uuid)) throw formProblem({ '': t('Deze aanbieder is al opgeslagen.') })
        await saveProvider(m, box, input, uuid)
        m.audit({ handeling: 'inlogaanbieder-maken', ...objectOf(uuid, input), nieuw: toAudit(input) })
      })
      return await redirectWith(request, reply, PATH, t`U kunt nu inloggen met ${input.label}.`)
    } catch (error) {
      return reply.code(400).page('oidc-provider', page(request, undefined, given(request), formFaultsOf(error)))
    }
  })

  app.get<Params>(`${PATH}/:uuid/wijzigen`, { config: changing }, async (request, reply) => {
    const provider = await requireProvider(request)
    return reply.page('oidc-provider', page(request, provider, toFields(provider)))
  })
  app.post<Params>(`${PATH}/:uuid/wijzigen`, { config: changing }, async (request, reply) => {
    const provider = await requireProvider(request)
    try {
      const { input, isMoved } = await readProviderForm(request, provider)
      if (isOnlyTried(request))
        return reply.page('oidc-provider', { ...page(request, provider, given(request)), isTried: true })
      await mutateFromPage(request, async (m) => {
        await requireOwnIssuer(await locked(m), input.issuer, provider.uuid)
        await saveProvider(m, box, input, provider.uuid)
        if (!input.isActive || input.issuer !== provider.issuer) await endSessionsBy(m, provider.issuer)
        const accounts = isMoved ? await moveIssuer(m.trx, provider.issuer, input.issuer) : 0
        m.audit({
          handeling: 'inlogaanbieder-wijzigen',
          ...objectOf(provider.uuid, input),
          oud: toAudit(provider),
          nieuw: {
            ...toAudit(input),
            geheim: input.clientSecret === undefined ? 'ongewijzigd' : 'vervangen',
            ...(isMoved && { accounts }),
          },
        })
      })
      return await redirectWith(request, reply, PATH, t`De aanbieder ${input.label} is opgeslagen.`)
    } catch (error) {
      return reply.code(400).page('oidc-provider', page(request, provider, given(request), formFaultsOf(error)))
    }
  })

  app.get<Params>(`${PATH}/:uuid/verwijderen`, { config: changing }, async (request, reply) => {
    const provider = await requireProvider(request)
    const crumbs = [{ path: PATH, name: t('Inlogaanbieders') }]
    return reply.page('oidc-provider-delete', { title: t('Inlogaanbieder verwijderen'), breadcrumbs: crumbs, provider })
  })
  app.post<Params>(`${PATH}/:uuid/verwijderen`, { config: changing }, async (request, reply) => {
    const provider = await requireProvider(request)
    await mutateFromPage(request, async (m) => {
      await m.trx.deleteFrom('oidcProvider').where('uuid', '=', provider.uuid).execute()
      const ended = await endSessionsBy(m, provider.issuer)
      const { uuid } = provider
      m.audit({
        handeling: 'inlogaanbieder-verwijderen',
        ...objectOf(uuid, provider),
        oud: toAudit(provider),
        nieuw: { sessies: ended },
      })
    })
    return redirectWith(request, reply, PATH, t`De aanbieder ${provider.label} is verwijderd.`)
  })

  async function requireProvider({ params }: FastifyRequest): Promise<ProviderRow> {
    const provider = await readProvider(app.read, (params as { uuid: string }).uuid)
    if (!provider) throw notFound(t('Deze aanbieder bestaat niet (meer).'))
    return provider
  }

  /** Accounts are known by issuer and subject, so that two providers may not share one. */
  async function requireOwnIssuer(db: ReadDb, issuer: string, uuid = ''): Promise<void> {
    const others = (await listProviders(db)).filter((one) => one.uuid !== uuid)
    if (config.oidc?.issuer === issuer || others.some((one) => one.issuer === issuer))
      throw formProblem({ issuer: t('Er is al een aanbieder met deze issuer.') })
  }

  /** @throws Problem 400 with what is wrong, also with the provider itself */
  async function readProviderForm(
    request: FastifyRequest,
    provider?: ProviderRow,
  ): Promise<{ input: ProviderInput; uuid: string; isMoved: boolean }> {
    const { untried, nieuw, verhuisd, ...form } = readForm(Fields, request.body, formFaults)
    const uuid = provider?.uuid ?? (nieuw !== undefined && isUuid(nieuw) ? nieuw : randomUUID())
    const isMoved = verhuisd && provider !== undefined && provider.issuer !== form.issuer
    const isElsewhere =
      provider !== undefined && (provider.issuer !== form.issuer || provider.clientId !== form.clientId)
    // A secret goes nowhere else than where it was given for.
    if (isElsewhere && provider.sealedSecret !== null && form.clientSecret === undefined)
      throwFormFaults({ clientSecret: t('Vul het geheim opnieuw in: de issuer of het client-ID is gewijzigd.') })
    const input = {
      ...form,
      viewer: linesOf(form.viewer),
      privacy: linesOf(form.privacy),
      operator: linesOf(form.operator),
      administrator: linesOf(form.administrator),
      hasOwnReturn: form.hasOwnReturn || (provider?.hasOwnReturn ?? true),
    }
    await requireOwnIssuer(app.read, input.issuer, provider?.uuid)
    if (untried && !isOnlyTried(request)) return { input, uuid, isMoved }
    const secret = input.clientSecret ?? (provider && secretOf(provider, box))
    const { tryProvider } = await import('./oidc-client.ts')
    const faults = await tryProvider(
      settingsOf(input, secret),
      returnAddress(request, { returnPath: returnPathOf({ ...input, uuid }) }),
      config.proxies,
    )
    if (Object.keys(faults).length > 0)
      throwFormFaults({ ...faults, untried: t('De aanbieder is geprobeerd, en dat lukte niet.') })
    return { input, uuid, isMoved }
  }
}

/** So that two do not add the same at once. */
async function locked(m: Mutation): Promise<ReadDb> {
  await m.sql`lock table oidc_provider in share row exclusive mode`
  return m.read
}

const given = ({ body }: FastifyRequest): FormValues => (body ?? {}) as FormValues
const isOnlyTried = (request: FastifyRequest) => given(request).actie === 'proberen'

function formFaults({ issuer, scopes, roleClaim, viewer, privacy, operator, administrator }: FormValues): FormFaults {
  const text = (value: string | string[] | undefined) => String([value].flat().at(-1) ?? '').trim()
  const isGiven = [viewer, privacy, operator, administrator].some((one) => text(one) !== '')
  return {
    ...(text(issuer) !== '' &&
      !/^https?:\/\/[^?#\s@]+$/.test(text(issuer)) && {
        issuer: t('Vul een adres in dat met https:// begint, zonder ? en #.'),
      }),
    ...(text(scopes) !== '' &&
      !/(^| )openid( |$)/.test(text(scopes)) && { scopes: t('Het woord openid hoort erbij.') }),
    ...(text(roleClaim) !== '' &&
      !/^[^.]+(\.[^.]+)*$/.test(text(roleClaim)) && { roleClaim: t('Vul namen in met één punt ertussen.') }),
    ...(!isGiven && { administrator: t('Vul bij ten minste één rol een groep in: anders mag niemand naar binnen.') }),
  }
}

const linesOf = (text = ''): string[] => [...new Set(text.split(/\r?\n/).map((line) => line.trim()))].filter(Boolean)

const page = (
  request: FastifyRequest,
  provider: ProviderRow | undefined,
  values: Record<string, unknown>,
  faults: FormFaults = {},
) => ({
  title: provider ? t('Inlogaanbieder wijzigen') : t('Nieuwe inlogaanbieder'),
  breadcrumbs: [{ path: PATH, name: t('Inlogaanbieders') }],
  provider,
  values,
  faults,
  redirectUri: returnAddress(request, {
    returnPath: returnPathOf(provider ?? { uuid: String(values.nieuw ?? ''), hasOwnReturn: true }),
  }),
  signedOutUri: `${request.base}/beheer/inloggen`,
  toldUri: `${request.base}/beheer/inloggen/oidc/afmelden/${provider?.uuid ?? String(values.nieuw ?? '')}`,
  ownRedirectUri: provider && returnAddress(request, { returnPath: `/${provider.uuid}` }),
  hasSecret: provider?.sealedSecret != null,
  isTried: false,
})

const toFields = ({ sealedSecret: _, viewer, privacy, operator, administrator, isActive, ...row }: ProviderRow) => ({
  ...row,
  viewer: viewer.join('\n'),
  privacy: privacy.join('\n'),
  operator: operator.join('\n'),
  administrator: administrator.join('\n'),
  isActive: isActive ? 'true' : '',
  hasOwnReturn: row.hasOwnReturn ? 'true' : '',
})

const objectOf = (uuid: string, { label }: { label: string }) => ({
  soort: 'inlogaanbieder',
  id: uuid,
  weergave: label,
})

/** For the audit log: never the secret. */
const toAudit = ({
  label,
  issuer,
  clientId,
  scopes,
  roleClaim,
  viewer,
  privacy,
  operator,
  administrator,
  isActive,
}: ProviderInput | ProviderRow) => ({
  label,
  issuer,
  clientId,
  scopes,
  roleClaim,
  viewer,
  privacy,
  operator,
  administrator,
  actief: isActive,
})
