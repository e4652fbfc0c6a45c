// applicatie-geheimen: the secrets of client ids. A new one is on one page, once; with it a line that tries it at once.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { createGeheim, revokeGeheim, rotateGeheim } from '../autorisaties/client-secrets.ts'
import { signToken } from '../autorisaties/clients.ts'
import { isShort } from '../autorisaties/secret-box.ts'
import { Text } from '../http/input.ts'
import { notFound } from '../http/problem.ts'
import { type Applicatie, beheren, eisApplicatie, kruimelsVan, type Params } from './applicaties.ts'
import { wijzig } from './change.ts'
import { foutenVan, leesFormulier } from './form.ts'
import { basePath } from './keyset-list.ts'
import { verder } from './page.ts'
import { meld } from './session.ts'

const Geheim = Type.Object({
  client: Text(50, { minLength: 1 }),
  wijze: Type.Enum(['vervangen', 'erbij']),
  uren: Type.Integer({ minimum: 0, maximum: 8760, default: 24 }),
  geheim: Type.Optional(Text(255)),
})
const Intrekken = Type.Object({ client: Text(50, { minLength: 1 }), id: Type.Integer({ minimum: 1 }) })
const Proef = Type.Object({ client: Text(50, { minLength: 1 }) })
type Vraag = Params & { Querystring: { client?: string; id?: string } }

export function registerApplicatieGeheimen(app: FastifyInstance): void {
  app.get<Vraag>('/applicaties/:uuid/geheim/nieuw', { config: beheren }, async (request, reply) => {
    const applicatie = await eisApplicatie(app, request)
    const client = eisClient(applicatie, request.query.client)
    return reply.pagina('applicatie-geheim-nieuw', {
      ...nieuwPagina(applicatie, client),
      geheimen: await telGeheimen(app, client),
      waarden: { wijze: 'vervangen', uren: 24 },
      fouten: {},
    })
  })

  app.post<Params>('/applicaties/:uuid/geheim/nieuw', { config: beheren }, async (request, reply) => {
    const applicatie = await eisApplicatie(app, request)
    const client = eisClient(applicatie, (request.body as { client?: string }).client)
    try {
      const form = leesFormulier(Geheim, request.body)
      await wijzig(request, async (m) => {
        const options = { graceHours: form.uren, ...(form.geheim && { secret: form.geheim }) }
        if (form.wijze === 'erbij') await createGeheim(m, app.parts.box, client, form.geheim)
        else await rotateGeheim(m, app.parts.box, client, options)
        m.vastleggen({
          handeling: form.wijze === 'erbij' ? 'geheim-maken' : 'geheim-vervangen',
          soort: 'applicatie',
          id: applicatie.uuid,
          weergave: `${applicatie.label} - ${client}`,
          nieuw: { clientId: client, ...(form.wijze === 'vervangen' && { oudGeldigNogUren: form.uren }) },
        })
      })
      return await toonGeheimen(request, reply, applicatie.uuid, [client], 'Het nieuwe geheim geldt vanaf nu.')
    } catch (error) {
      return reply.code(400).pagina('applicatie-geheim-nieuw', {
        ...nieuwPagina(applicatie, client),
        geheimen: await telGeheimen(app, client),
        waarden: request.body ?? {},
        fouten: foutenVan(error),
      })
    }
  })

  app.get<Params>('/applicaties/:uuid/geheim', { config: beheren }, async (request, reply) => {
    const applicatie = await eisApplicatie(app, request)
    const scopes = await scopesVan(app, applicatie)
    const getoond = (request.sessie?.melding?.geheimen ?? []).filter(({ clientId }) =>
      applicatie.clientIds.includes(clientId),
    )
    const clients = []
    for (const { clientId, toon } of getoond) {
      const geheim = await nieuwsteGeheim(app, clientId)
      if (geheim === undefined) continue
      clients.push({
        clientId,
        geheim: toon ? geheim : null,
        kort: isShort(geheim),
        ...proefregel(request, clientId, geheim, scopes),
      })
    }
    return reply.pagina('applicatie-geheim', {
      titel: clients.some(({ geheim }) => geheim !== null) ? 'Nieuw geheim' : 'Uitproberen',
      kruimels: kruimelsVan(applicatie),
      applicatie,
      clients,
      seconden: app.parts.config.jwtExpiry,
      zonderRechten: scopes !== 'alle' && scopes.length === 0,
    })
  })

  app.post<Params>('/applicaties/:uuid/geheim/proef', { config: beheren }, async (request, reply) => {
    const applicatie = await eisApplicatie(app, request)
    const client = eisClient(applicatie, leesFormulier(Proef, request.body).client)
    if ((await nieuwsteGeheim(app, client)) === undefined)
      return verder(
        request,
        reply,
        `/applicaties/${applicatie.uuid}`,
        `Client-id ${client} heeft geen geheim dat nu bruikbaar is. Maak eerst een nieuw geheim.`,
        'fout',
      )
    await wijzig(request, async (m) => {
      m.vastleggen({
        handeling: 'token-maken',
        soort: 'applicatie',
        id: applicatie.uuid,
        weergave: `${applicatie.label} - ${client}`,
        nieuw: { clientId: client },
      })
    })
    return toonGeheimen(request, reply, applicatie.uuid, [client], `Er is een token voor ${client} gemaakt.`, false)
  })

  app.get<Vraag>('/applicaties/:uuid/geheim/intrekken', { config: beheren }, async (request, reply) => {
    const applicatie = await eisApplicatie(app, request)
    const client = eisClient(applicatie, request.query.client)
    const gevonden = await geheimenVan(app, client)
    const geheim = gevonden.find(({ id }) => String(id) === request.query.id)
    if (!geheim) throw notFound('Dit geheim bestaat niet (meer).')
    return reply.pagina('applicatie-geheim-intrekken', {
      titel: 'Geheim intrekken',
      kruimels: kruimelsVan(applicatie),
      applicatie,
      client,
      geheim,
      laatste: gevonden.length === 1,
    })
  })

  app.post<Params>('/applicaties/:uuid/geheim/intrekken', { config: beheren }, async (request, reply) => {
    const applicatie = await eisApplicatie(app, request)
    const form = leesFormulier(Intrekken, request.body)
    const client = eisClient(applicatie, form.client)
    const count = await wijzig(request, async (m) => {
      m.vastleggen({
        handeling: 'geheim-intrekken',
        soort: 'applicatie',
        id: applicatie.uuid,
        weergave: `${applicatie.label} - ${client}`,
        oud: { clientId: client, geheim: form.id },
      })
      return revokeGeheim(m, client, form.id)
    })
    const tekst = count > 0 ? 'Het geheim is ingetrokken.' : 'Dit geheim was al ingetrokken.'
    return verder(request, reply, `/applicaties/${applicatie.uuid}`, tekst)
  })
}

/** To the page that shows the newest secret of these client ids once. It reads them itself: the session never holds one. */
export async function toonGeheimen(
  request: FastifyRequest,
  reply: FastifyReply,
  uuid: string,
  clientIds: string[],
  tekst: string,
  toon = true,
): Promise<FastifyReply> {
  await meld(request, { soort: 'goed', tekst, geheimen: clientIds.map((clientId) => ({ clientId, toon })) })
  return reply.redirect(`${basePath(request)}/beheer/applicaties/${uuid}/geheim`, 303)
}

function eisClient({ clientIds }: Applicatie, client: unknown): string {
  const found = clientIds.find((clientId) => clientId === client)
  if (found === undefined) throw notFound('Deze client-id hoort niet (meer) bij de applicatie.')
  return found
}

const nieuwPagina = (applicatie: Applicatie, client: string) => ({
  titel: `Nieuw geheim voor ${client}`,
  kruimels: kruimelsVan(applicatie),
  applicatie,
  client,
})

type Bewaard = { id: number; geheim: Buffer; gemaaktOp: string; verlooptOp: string | null }

/** The valid secrets of a client id, oldest first. */
async function geheimenVan(app: FastifyInstance, clientId: string): Promise<Bewaard[]> {
  return app.parts.database.sql<Bewaard[]>`
    select id, geheim, gemaakt_op as "gemaaktOp", verloopt_op as "verlooptOp" from applicatie_geheim
    where client_id = ${clientId} and (verloopt_op is null or verloopt_op > now()) order by id`
}

const telGeheimen = async (app: FastifyInstance, clientId: string) => (await geheimenVan(app, clientId)).length

async function nieuwsteGeheim(app: FastifyInstance, clientId: string): Promise<string | undefined> {
  const newest = (await geheimenVan(app, clientId)).at(-1)
  if (!newest) return undefined
  try {
    return app.parts.box.open(newest.geheim, clientId)
  } catch {
    return undefined // sealed under another SECRET_KEY
  }
}

/** The scopes of an application, whatever the types that they are for. */
async function scopesVan(app: FastifyInstance, { id, heeftAlleAutorisaties }: Applicatie): Promise<'alle' | string[]> {
  if (heeftAlleAutorisaties) return 'alle'
  const { rows } = await sql<{ scope: string }>`
    select distinct scope from (select scopes from autorisatie where applicatie_id = ${id}
      union all select scopes from catalogus_autorisatie where applicatie_id = ${id}) r, unnest(r.scopes) scope`.execute(
    app.read as never,
  )
  return rows.map(({ scope }) => scope)
}

// Lists: with the scope they answer 200, whatever there is to see.
const PROEVEN: [scope: string, path: string, header?: string][] = [
  ['catalogi.lezen', '/catalogi/api/v1/catalogussen'],
  ['zaken.lezen', '/zaken/api/v1/zaken', 'Accept-Crs: EPSG:4326'],
  ['documenten.lezen', '/documenten/api/v1/enkelvoudiginformatieobjecten'],
  ['besluiten.lezen', '/besluiten/api/v1/besluiten'],
  ['autorisaties.lezen', '/autorisaties/api/v1/applicaties'],
]

/** A request that this client may make, as lines for a shell: signed now, and signed anew at every use. */
function proefregel(
  request: FastifyRequest,
  clientId: string,
  geheim: string,
  scopes: 'alle' | string[],
): { curl: string; later: string } {
  const [, path, header] = PROEVEN.find(([scope]) => scopes === 'alle' || scopes.includes(scope)) ?? PROEVEN[0]!
  const { gebruikersnaam, naam } = request.beheerder!
  const token = signToken(clientId, geheim, { id: gebruikersnaam, name: naam })
  const rest = `${header ? ` -H ${quote(header)}` : ''} ${quote(`${request.base}${path}`)}`
  return {
    curl: `curl -H ${quote(`Authorization: Bearer ${token}`)}${rest}`,
    later: `curl -H "Authorization: Bearer $(zaakstroom token --id ${quote(clientId)})"${rest}`,
  }
}

/** Text as one word for a shell. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
