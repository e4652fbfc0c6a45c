// Issuers: identity providers whose tokens are taken, how those are judged, and which clients still make tokens themselves.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import {
  ALGORITHMS,
  type Algorithm,
  deleteIssuer,
  ISSUER_COLUMNS,
  ISSUER_DEFAULTS,
  type IssuerInput,
  saveIssuer,
} from '../../autorisaties/issuers/issuer.ts'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { isUuid } from '../../lib/uuid.ts'
import { mutateFromPage } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, formProblem, readForm } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { administering, type Params, viewing } from './applicatie.ts'

const PATH = '/token-uitgevers'
const MAX = 500

const Lines = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const Fields = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 100 }),
  issuer: Type.String({ minLength: 1, maxLength: 1000 }),
  discoveryUrl: Lines(1000),
  jwksUrl: Lines(1000),
  jwks: Lines(100_000),
  audiences: Type.String({ minLength: 1, maxLength: 20_000 }),
  algorithms: Type.Array(Type.Enum(ALGORITHMS), { minItems: 1 }),
  clientClaims: Lines(5000),
  userClaims: Lines(5000),
  userNameClaims: Lines(5000),
  organisationClaim: Lines(255),
  maxLifetimeSeconds: Type.Integer({ minimum: 60, maximum: 86_400 }),
  leewaySeconds: Type.Integer({ minimum: 0, maximum: 300 }),
  requiredScopes: Lines(5000),
  requiresCertificate: Type.Boolean(),
})

type IssuerRow = NonNullable<Awaited<ReturnType<typeof readIssuer>>>

export function registerIssuers(app: FastifyInstance): void {
  app.get(PATH, { config: viewing }, async (_request, reply) =>
    reply.page('issuers', {
      title: t('Token-uitgevers'),
      issuers: await listIssuers(app.read),
      clients: await listOwnTokens(app.read),
    }),
  )

  app.get(`${PATH}/nieuw`, { config: administering }, async (_request, reply) =>
    reply.page('issuer-edit', page(undefined, toFields({ ...ISSUER_DEFAULTS, audiences: [] }))),
  )

  app.post(`${PATH}/nieuw`, { config: administering }, async (request, reply) => {
    try {
      const input = readIssuerForm(request)
      const uuid = await mutateFromPage(request, async (m) => {
        const known = await m.trx
          .selectFrom('tokenIssuer')
          .where('issuer', '=', input.issuer)
          .select('id')
          .executeTakeFirst()
        const { uuid } = known ? { uuid: undefined } : await saveIssuer(m, input)
        m.audit({
          handeling: 'token-uitgever-maken',
          soort: 'token-uitgever',
          id: uuid ?? '',
          weergave: input.label,
          nieuw: toAudit(input),
        })
        return uuid ?? refuseKnown()
      })
      return await redirectWith(request, reply, `${PATH}/${uuid}`, t('De token-uitgever is opgeslagen.'))
    } catch (error) {
      return reply.code(400).page('issuer-edit', page(undefined, given(request), formFaultsOf(error)))
    }
  })

  app.get<Params>(`${PATH}/:uuid`, { config: viewing }, async (request, reply) => {
    const issuer = await requireIssuer(request)
    return reply.page('issuer', {
      title: issuer.label,
      breadcrumbs: [{ path: PATH, name: t('Token-uitgevers') }],
      issuer,
      clients: await listClients(app.read, issuer.uuid),
    })
  })

  app.get<Params>(`${PATH}/:uuid/wijzigen`, { config: administering }, async (request, reply) => {
    const issuer = await requireIssuer(request)
    return reply.page('issuer-edit', page(issuer, toFields(issuer)))
  })

  app.post<Params>(`${PATH}/:uuid/wijzigen`, { config: administering }, async (request, reply) => {
    const issuer = await requireIssuer(request)
    try {
      const input = readIssuerForm(request)
      const isChanged = await mutateFromPage(request, async (m) => {
        const saved = await saveIssuer(m, input, issuer.uuid)
        m.audit({
          handeling: 'token-uitgever-wijzigen',
          soort: 'token-uitgever',
          id: issuer.uuid,
          weergave: input.label,
          oud: toAudit(issuer),
          nieuw: toAudit(expected(await readIssuer(m.read, issuer.uuid))),
        })
        return saved.isChanged
      })
      const text = isChanged ? t('De token-uitgever is opgeslagen.') : t('Er was niets gewijzigd.')
      return await redirectWith(request, reply, `${PATH}/${issuer.uuid}`, text, isChanged ? 'goed' : 'info')
    } catch (error) {
      return reply.code(400).page('issuer-edit', page(issuer, given(request), formFaultsOf(error)))
    }
  })

  app.get<Params>(`${PATH}/:uuid/verwijderen`, { config: administering }, async (request, reply) => {
    const issuer = await requireIssuer(request)
    return reply.page('issuer-delete', {
      title: t('Token-uitgever verwijderen'),
      breadcrumbs: crumbs(issuer),
      issuer,
      clients: await listClients(app.read, issuer.uuid),
    })
  })

  app.post<Params>(`${PATH}/:uuid/verwijderen`, { config: administering }, async (request, reply) => {
    const issuer = await requireIssuer(request)
    await mutateFromPage(request, async (m) => {
      await deleteIssuer(m, issuer.uuid)
      m.audit({
        handeling: 'token-uitgever-verwijderen',
        soort: 'token-uitgever',
        id: issuer.uuid,
        weergave: issuer.label,
        oud: toAudit(issuer),
      })
    })
    return redirectWith(request, reply, PATH, t`De token-uitgever ‘${issuer.label}’ is verwijderd.`)
  })

  async function requireIssuer({ params }: FastifyRequest): Promise<IssuerRow> {
    const { uuid } = params as { uuid: string }
    const issuer = isUuid(uuid) ? await readIssuer(app.read, uuid) : undefined
    if (!issuer) throw notFound(t('Deze token-uitgever bestaat niet (meer).'))
    return issuer
  }
}

function refuseKnown(): never {
  throw formProblem({ issuer: t('Er is al een token-uitgever met deze issuer.') })
}

const given = ({ body }: FastifyRequest): FormValues => (body ?? {}) as FormValues

const crumbs = ({ uuid, label }: IssuerRow) => [
  { path: PATH, name: t('Token-uitgevers') },
  { path: `${PATH}/${uuid}`, name: label.slice(0, 60) },
]

const page = (issuer: IssuerRow | undefined, values: Record<string, unknown>, faults: FormFaults = {}) => ({
  title: issuer ? t('Token-uitgever wijzigen') : t('Nieuwe token-uitgever'),
  breadcrumbs: issuer ? crumbs(issuer) : [{ path: PATH, name: t('Token-uitgevers') }],
  issuer,
  values,
  faults,
  algorithms: ALGORITHMS,
  chosen: [values.algorithms ?? []].flat().map(String),
})

/** One on each line. */
const linesOf = (text = ''): string[] => [
  ...new Set(
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

/** @throws Problem 400 with the faults of the fields */
function readIssuerForm(request: FastifyRequest): IssuerInput {
  const form: Static<typeof Fields> = readForm(Fields, request.body, ({ issuer, jwks }) => ({
    ...(typeof issuer === 'string' &&
      !/^https?:\/\/[^\s#]+$/.test(issuer.trim()) && {
        issuer: t('Vul een adres in dat met https:// of http:// begint.'),
      }),
    ...(typeof jwks === 'string' &&
      jwks.trim() !== '' &&
      readJson(jwks) === undefined && {
        jwks: t('Dit is geen JWKS: {"keys": [ … ]}.'),
      }),
  }))
  const { jwks, clientClaims, userClaims, userNameClaims, requiredScopes, ...rest } = form
  const claims = linesOf(clientClaims)
  return {
    ...rest,
    ...(jwks && { jwks: readJson(jwks) as NonNullable<IssuerInput['jwks']> }),
    discoveryUrl: form.discoveryUrl ?? '',
    jwksUrl: form.jwksUrl ?? '',
    organisationClaim: form.organisationClaim ?? '',
    audiences: linesOf(form.audiences),
    clientClaims: claims.length > 0 ? claims : ISSUER_DEFAULTS.clientClaims,
    userClaims: linesOf(userClaims),
    userNameClaims: linesOf(userNameClaims),
    requiredScopes: linesOf(requiredScopes),
  }
}

function readJson(text: string): object | undefined {
  try {
    const value = JSON.parse(text)
    return Array.isArray(value?.keys) ? value : undefined
  } catch {
    return undefined
  }
}

type Shown = Partial<Omit<IssuerRow, 'algorithms'>> & { algorithms: readonly string[]; audiences: string[] }

function toFields(row: Shown): Record<string, unknown> {
  const {
    fixedKeys,
    audiences,
    clientClaims = [],
    userClaims = [],
    userNameClaims = [],
    requiredScopes = [],
    ...others
  } = row
  return {
    ...others,
    jwks: fixedKeys ? JSON.stringify(fixedKeys, null, 2) : '',
    audiences: audiences.join('\n'),
    clientClaims: clientClaims.join('\n'),
    userClaims: userClaims.join('\n'),
    userNameClaims: userNameClaims.join('\n'),
    requiredScopes: requiredScopes.join('\n'),
  }
}

const SHOWN = ISSUER_COLUMNS.filter((name) => name !== 'fixedKeys')

/** For the audit log: all that it is, with the keys as whether there are any. */
const toAudit = (issuer: IssuerInput | IssuerRow): Record<string, unknown> => ({
  ...Object.fromEntries(SHOWN.map((name) => [name, issuer[name]])),
  sleutels: ('fixedKeys' in issuer ? issuer.fixedKeys : 'jwks' in issuer && issuer.jwks) ? 'ingevoerd' : 'opgehaald',
})

// ---- reading ----

async function readIssuer(db: ReadDb, uuid: string) {
  const row = await db
    .selectFrom('tokenIssuer as i')
    .leftJoin('tokenIssuerKeys as k', 'k.issuerId', 'i.id')
    .where('i.uuid', '=', uuid)
    .selectAll('i')
    .select(['k.keys', 'k.fetchedAt', 'k.refreshAt', 'k.failure'])
    .executeTakeFirst()
  if (!row) return undefined
  const keySet = (row.fixedKeys ?? row.keys) as { keys: { kid?: string; kty: string; alg?: string }[] } | null
  return { ...row, algorithms: row.algorithms as Algorithm[], keySet: keySet?.keys ?? [] }
}

async function listIssuers(db: ReadDb) {
  const { rows } = await sql<{
    uuid: string
    label: string
    issuer: string
    isFixed: boolean
    fetchedAt: string | null
    failure: string | null
    aantal: number
    lastUsedAt: string | null
  }>`
    select i.uuid, i.label, i.issuer, i.fixed_keys is not null as is_fixed, k.fetched_at, k.failure,
      (select count(*) from applicatie_issuer_client c where c.issuer_id = i.id) as aantal,
      (select max(c.last_used_at) from applicatie_issuer_client c where c.issuer_id = i.id) as last_used_at
    from token_issuer i left join token_issuer_keys k on k.issuer_id = i.id order by lower(i.label), i.id limit ${MAX}`.execute(
    db,
  )
  return rows
}

async function listClients(db: ReadDb, uuid: string) {
  const { rows } = await sql<{ clientId: string; applicatieUuid: string; label: string; lastUsedAt: string | null }>`
    select c.client_id, a.uuid as applicatie_uuid, a.label, c.last_used_at
    from applicatie_issuer_client c join token_issuer i on i.id = c.issuer_id join applicatie a on a.id = c.applicatie_id
    where i.uuid = ${uuid} order by lower(a.label), c.client_id limit ${MAX}`.execute(db)
  return rows
}

/** Client ids with a secret that counts: what was signed with it last, and whether an issuer gives their tokens already. */
async function listOwnTokens(db: ReadDb) {
  const { rows } = await sql<{
    clientId: string
    applicatieUuid: string
    label: string
    lastSignedAt: string | null
    lastIssuerAt: string | null
    hasIssuer: boolean
  }>`
    select s.client_id, a.uuid as applicatie_uuid, a.label, max(s.last_signed_at) as last_signed_at,
      (select max(i.last_used_at) from applicatie_issuer_client i where i.applicatie_id = a.id) as last_issuer_at,
      exists (select from applicatie_issuer_client i where i.applicatie_id = a.id) as has_issuer
    from applicatie_secret s join applicatie_client c on c.client_id = s.client_id join applicatie a on a.id = c.applicatie_id
    where s.expires_at is null or s.expires_at > now()
    group by s.client_id, a.id order by max(s.last_signed_at) desc nulls last, s.client_id limit ${MAX}`.execute(db)
  return rows
}
