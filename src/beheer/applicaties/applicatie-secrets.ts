// Applicatie secrets: the secrets of client ids. A new one is on one page, once; with it a token that tries it at once.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { createSecret, revokeSecret, rotateSecret } from '../../autorisaties/client-secrets.ts'
import { signToken } from '../../autorisaties/clients.ts'
import { notFound } from '../../core/problem.ts'
import { isShort } from '../../core/secret-box.ts'
import { Text } from '../../http/input.ts'
import { TRY_PATH } from '../../http/openapi/pages.ts'
import { mutateFromPage } from '../frame/change.ts'
import { formFaultsOf, readForm } from '../frame/form.ts'
import { basePath } from '../frame/keyset-list.ts'
import { redirectWith } from '../frame/page.ts'
import { addNotice, signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { type Applicatie, administering, breadcrumbsOf, type Params, requireApplicatie } from './applicatie.ts'

const SecretForm = Type.Object({
  client: Text(50, { minLength: 1 }),
  wijze: Type.Enum(['vervangen', 'erbij']),
  uren: Type.Integer({ minimum: 0, maximum: 8760, default: 24 }),
  geheim: Type.Optional(Text(255)),
})
const Intrekken = Type.Object({ client: Text(50, { minLength: 1 }), id: Type.Integer({ minimum: 1 }) })
const TryOutQuery = Type.Object({ client: Text(50, { minLength: 1 }) })
type Query = Params & { Querystring: { client?: string; id?: string } }

export function registerApplicatieSecrets(app: FastifyInstance): void {
  app.get<Query>('/applicaties/:uuid/geheim/nieuw', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const client = requireClient(applicatie, request.query.client)
    return reply.page('applicatie-secret-new', {
      ...newPage(applicatie, client),
      secrets: await countSecrets(app, client),
      values: { wijze: 'vervangen', uren: 24 },
      faults: {},
    })
  })

  app.post<Params>('/applicaties/:uuid/geheim/nieuw', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const client = requireClient(applicatie, (request.body as { client?: string }).client)
    try {
      const form = readForm(SecretForm, request.body)
      await mutateFromPage(request, async (m) => {
        const options = { graceHours: form.uren, ...(form.geheim && { secret: form.geheim }) }
        if (form.wijze === 'erbij') await createSecret(m, app.parts.box, client, form.geheim)
        else await rotateSecret(m, app.parts.box, client, options)
        m.audit({
          handeling: form.wijze === 'erbij' ? 'geheim-maken' : 'geheim-vervangen',
          soort: 'applicatie',
          id: applicatie.uuid,
          weergave: `${applicatie.label} - ${client}`,
          nieuw: { clientId: client, ...(form.wijze === 'vervangen' && { oudGeldigNogUren: form.uren }) },
        })
      })
      return await showSecrets(request, reply, applicatie.uuid, [client], t('Het nieuwe geheim geldt vanaf nu.'))
    } catch (error) {
      return reply.code(400).page('applicatie-secret-new', {
        ...newPage(applicatie, client),
        secrets: await countSecrets(app, client),
        values: request.body ?? {},
        faults: formFaultsOf(error),
      })
    }
  })

  app.get<Params>('/applicaties/:uuid/geheim', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const scopes = await scopesOf(app, applicatie)
    const shown = (request.session?.notice?.geheimen ?? []).filter(({ clientId }) =>
      applicatie.clientIds.includes(clientId),
    )
    const clients = []
    for (const { clientId, toon } of shown) {
      const secret = await newestSecret(app, clientId)
      if (secret === undefined) continue
      clients.push({
        clientId,
        secret: toon ? secret : null,
        isShort: isShort(secret),
        ...exampleCommand(request, clientId, secret, scopes),
      })
    }
    return reply.page('applicatie-secret', {
      title: clients.some(({ secret }) => secret !== null) ? t('Nieuw geheim') : t('Uitproberen'),
      breadcrumbs: breadcrumbsOf(applicatie),
      applicatie,
      clients,
      seconds: app.parts.config.jwtExpiry,
      withoutRights: scopes !== 'alle' && scopes.length === 0,
      tryAt: `${basePath(request)}${TRY_PATH}/`,
    })
  })

  app.post<Params>('/applicaties/:uuid/geheim/proef', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const client = requireClient(applicatie, readForm(TryOutQuery, request.body).client)
    if ((await newestSecret(app, client)) === undefined)
      return redirectWith(
        request,
        reply,
        `/applicaties/${applicatie.uuid}`,
        t`Client-id ${client} heeft geen geheim dat nu bruikbaar is. Maak eerst een nieuw geheim.`,
        'fout',
      )
    await mutateFromPage(request, async (m) => {
      m.audit({
        handeling: 'token-maken',
        soort: 'applicatie',
        id: applicatie.uuid,
        weergave: `${applicatie.label} - ${client}`,
        nieuw: { clientId: client },
      })
    })
    return showSecrets(request, reply, applicatie.uuid, [client], t`Er is een token voor ${client} gemaakt.`, false)
  })

  app.get<Query>('/applicaties/:uuid/geheim/intrekken', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const client = requireClient(applicatie, request.query.client)
    const found = await secretsOf(app, client)
    const secret = found.find(({ id }) => String(id) === request.query.id)
    if (!secret) throw notFound(t('Dit geheim bestaat niet (meer).'))
    return reply.page('applicatie-secret-revoke', {
      title: t('Geheim intrekken'),
      breadcrumbs: breadcrumbsOf(applicatie),
      applicatie,
      client,
      secret,
      isLast: found.length === 1,
    })
  })

  app.post<Params>('/applicaties/:uuid/geheim/intrekken', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const form = readForm(Intrekken, request.body)
    const client = requireClient(applicatie, form.client)
    const count = await mutateFromPage(request, async (m) => {
      m.audit({
        handeling: 'geheim-intrekken',
        soort: 'applicatie',
        id: applicatie.uuid,
        weergave: `${applicatie.label} - ${client}`,
        oud: { clientId: client, geheim: form.id },
      })
      return revokeSecret(m, client, form.id)
    })
    const text = count > 0 ? t('Het geheim is ingetrokken.') : t('Dit geheim was al ingetrokken.')
    return redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, text)
  })
}

/** To the page that shows the newest secret of these client ids once. It reads them itself: the session never holds one. */
export async function showSecrets(
  request: FastifyRequest,
  reply: FastifyReply,
  uuid: string,
  clientIds: string[],
  text: string,
  toon = true,
): Promise<FastifyReply> {
  const path = `/applicaties/${uuid}/geheim`
  await addNotice(request, path, {
    soort: 'goed',
    tekst: text,
    geheimen: clientIds.map((clientId) => ({ clientId, toon })),
  })
  return reply.redirect(`${basePath(request)}/beheer${path}`, 303)
}

function requireClient({ clientIds }: Applicatie, client: unknown): string {
  const found = clientIds.find((clientId) => clientId === client)
  if (found === undefined) throw notFound(t('Deze client-id hoort niet (meer) bij de applicatie.'))
  return found
}

const newPage = (applicatie: Applicatie, client: string) => ({
  title: t`Nieuw geheim voor ${client}`,
  breadcrumbs: breadcrumbsOf(applicatie),
  applicatie,
  client,
})

type KeptSecret = { id: number; sealedSecret: Buffer; createdAt: string; expiresAt: string | null }

/** The valid secrets of a client id, oldest first. */
async function secretsOf(app: FastifyInstance, clientId: string): Promise<KeptSecret[]> {
  return app.reader.sql<KeptSecret[]>`
    select id, sealed_secret as "sealedSecret", created_at as "createdAt", expires_at as "expiresAt" from applicatie_secret
    where client_id = ${clientId} and (expires_at is null or expires_at > now()) order by id`
}

const countSecrets = async (app: FastifyInstance, clientId: string) => (await secretsOf(app, clientId)).length

async function newestSecret(app: FastifyInstance, clientId: string): Promise<string | undefined> {
  const newest = (await secretsOf(app, clientId)).at(-1)
  if (!newest) return undefined
  try {
    return app.parts.box.open(newest.sealedSecret, clientId)
  } catch {
    return undefined // sealed under another SECRET_KEY
  }
}

/** The scopes of an application, whatever the types that they are for. */
async function scopesOf(app: FastifyInstance, { id, heeftAlleAutorisaties }: Applicatie): Promise<'alle' | string[]> {
  if (heeftAlleAutorisaties) return 'alle'
  const { rows } = await sql<{ scope: string }>`
    select distinct scope from (select scopes from autorisatie where applicatie_id = ${id}
      union all select scopes from catalogus_autorisatie where applicatie_id = ${id}) r, unnest(r.scopes) scope`.execute(
    app.read,
  )
  return rows.map(({ scope }) => scope)
}

// Lists: with the scope they answer 200, whatever there is to see.
type Request = [scope: string, path: string, header?: string]
const TRY_OUTS: [Request, ...Request[]] = [
  ['catalogi.lezen', '/catalogi/api/v1/catalogussen'],
  ['zaken.lezen', '/zaken/api/v1/zaken', 'Accept-Crs: EPSG:4326'],
  ['documenten.lezen', '/documenten/api/v1/enkelvoudiginformatieobjecten'],
  ['besluiten.lezen', '/besluiten/api/v1/besluiten'],
  ['autorisaties.lezen', '/autorisaties/api/v1/applicaties'],
]

/** A token of this client, and a request that it may make as lines for a shell: with that token, and with a new one at every use. */
function exampleCommand(
  request: FastifyRequest,
  clientId: string,
  secret: string,
  scopes: 'alle' | string[],
): { token: string; curl: string; later: string } {
  const [, path, header] = TRY_OUTS.find(([scope]) => scopes === 'alle' || scopes.includes(scope)) ?? TRY_OUTS[0]
  const { gebruikersnaam, naam } = signedIn(request)
  const token = signToken(clientId, secret, { id: gebruikersnaam, name: naam })
  const rest = `${header ? ` -H ${quote(header)}` : ''} ${quote(`${request.base}${path}`)}`
  return {
    token,
    curl: `curl -H ${quote(`Authorization: Bearer ${token}`)}${rest}`,
    later: `curl -H "Authorization: Bearer $(zaakstroom token --id ${quote(clientId)})"${rest}`,
  }
}

/** Text as one word for a shell. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
