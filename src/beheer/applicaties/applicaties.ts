// applicaties: who may use the APIs: list, detail, new, change, delete.

import type { FastifyInstance } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { changeApplicatie, createApplicatie, deleteApplicatie } from '../../autorisaties/applicatie/change.ts'
import { createSecret } from '../../autorisaties/client-secrets.ts'
import { issuerClientsOf } from '../../autorisaties/issuers/issuer.ts'
import { isShort } from '../../core/secret-box.ts'
import { OptionalText, Text } from '../../http/input.ts'
import { uuidOf } from '../../http/links.ts'
import { mutateFromPage } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, readForm, throwFormFaults } from '../frame/form.ts'
import { type Cursor, keysetPage } from '../frame/keyset-list.ts'
import { queryText } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { t, words } from '../language/language.ts'
import { type Applicatie, administering, breadcrumbsOf, type Params, requireApplicatie, viewing } from './applicatie.ts'
import { registerApplicatieIssuerClients } from './applicatie-issuer-clients.ts'
import { COMPONENTEN, scopeInWords } from './applicatie-labels.ts'
import { registerApplicatieRights } from './applicatie-rights.ts'
import { type ShownRight, selectCatalogusRights, selectRights } from './applicatie-rights-queries.ts'
import { registerApplicatieSecrets, showSecrets } from './applicatie-secrets.ts'

const Fields = Type.Object({
  label: Text(100, { minLength: 1 }),
  clientIds: OptionalText(5000),
  heeftAlleAutorisaties: Type.Boolean(),
  alleenIsGereedVoorPublicatie: Type.Boolean(),
})
const NewApplicatie = Type.Object({ ...Fields.properties, geheim: Type.Optional(Text(255)) })
const ChangedApplicatie = Type.Object({ ...Fields.properties, bevestigd: Type.Boolean() })

const RIGHTS: Record<string, { naam: string; kept: RawBuilder<boolean> }> = words(
  {
    alle: { naam: 'Alle rechten', kept: sql<boolean>`a.heeft_alle_autorisaties` },
    enkele: {
      naam: 'Bepaalde rechten',
      kept: sql<boolean>`not a.heeft_alle_autorisaties and (exists (select from autorisatie r where r.applicatie_id = a.id)
      or exists (select from catalogus_autorisatie k where k.applicatie_id = a.id))`,
    },
    geen: {
      naam: 'Geen rechten',
      kept: sql<boolean>`not a.heeft_alle_autorisaties and not exists (select from autorisatie r where r.applicatie_id = a.id)
      and not exists (select from catalogus_autorisatie k where k.applicatie_id = a.id)`,
    },
  },
  'naam',
)

export function registerApplicaties(app: FastifyInstance): void {
  app.get<{ Querystring: { zoek?: string; rechten?: string } }>(
    '/applicaties',
    { config: viewing },
    async (request, reply) => {
      const { zoek, rechten } = request.query
      const filters = { zoek: String(zoek ?? '').slice(0, 200), rechten: String(rechten ?? '') }
      const list = await keysetPage(request, {
        key: ({ id, sleutel }: ListRow) => `${id}:${sleutel}`,
        rows: (limit, cursor) => selectList(app, filters, limit, cursor, queryText(request, 'sorteer') === '-label'),
      })
      return reply.page('applicaties', {
        title: t('Applicaties'),
        defaultSort: 'label',
        list,
        filters,
        choices: [['', t('Alle')], ...Object.entries(RIGHTS).map(([waarde, { naam }]) => [waarde, naam])],
      })
    },
  )

  app.get('/applicaties/nieuw', { config: administering }, async (_request, reply) =>
    reply.page('applicatie-new', { ...NEW_PAGE, values: {}, faults: {} }),
  )

  app.post('/applicaties', { config: administering }, async (request, reply) => {
    try {
      const form = readForm(NewApplicatie, request.body, (given) => ({
        ...clientIdFaults(given),
        ...(given.geheim &&
          readClientIds(given).length > 1 && {
            geheim: t('Met meer dan een client-id maakt de dienst voor elk een eigen geheim. Laat dit veld leeg.'),
          }),
      }))
      const clientIds = readClientIds(form)
      const uuid = await mutateFromPage(request, async (m) => {
        const { heeftAlleAutorisaties, alleenIsGereedVoorPublicatie, label } = form
        const input = { label, clientIds, heeftAlleAutorisaties, alleenIsGereedVoorPublicatie }
        const applicatie = await createApplicatie(m, input, { zonderRechten: true })
        for (const clientId of clientIds) await createSecret(m, app.parts.box, clientId, form.geheim)
        const uuid = uuidOf(applicatie.url)
        m.audit({
          handeling: 'applicatie-maken',
          soort: 'applicatie',
          id: uuid,
          weergave: label,
          nieuw: summary(applicatie),
        })
        return uuid
      })
      return await showSecrets(request, reply, uuid, clientIds, t`De applicatie ‘${form.label}’ is gemaakt.`)
    } catch (error) {
      return reply
        .code(400)
        .page('applicatie-new', { ...NEW_PAGE, values: request.body ?? {}, faults: formFaults(error) })
    }
  })

  app.get<Params>('/applicaties/:uuid', { config: viewing }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    const rechten = await keysetPage(request, {
      key: ({ id }: ShownRight) => String(id),
      rows: (limit, cursor) => selectRights(app.read, applicatie.id, { ...cursor, limit }),
    })
    return reply.page('applicatie', {
      title: applicatie.label || t('(zonder label)'),
      breadcrumbs: [{ path: '/applicaties', name: t('Applicaties') }],
      applicatie,
      clients: await selectClients(app, applicatie.id),
      issuerClients: await issuerClientsOf(app.read, applicatie.id),
      rechten,
      catalogusRechten: await selectCatalogusRights(app.read, applicatie.id),
      components: COMPONENTEN,
      scopeInWords,
    })
  })

  app.get<Params>('/applicaties/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.page('applicatie-edit', {
      ...changePage(applicatie),
      values: { ...applicatie, clientIds: applicatie.clientIds.join('\n') },
      faults: {},
    })
  })

  app.post<Params>('/applicaties/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    try {
      const form = readForm(ChangedApplicatie, request.body, clientIdFaults)
      const clientIds = readClientIds(form)
      const verlies = whatLapses(applicatie, clientIds, form.heeftAlleAutorisaties)
      if (verlies.length > 0 && !form.bevestigd)
        throwFormFaults({ bevestigd: [...verlies, t('Bevestig dit hieronder.')].join(' ') })
      await mutateFromPage(request, async (m) => {
        const { label, heeftAlleAutorisaties, alleenIsGereedVoorPublicatie } = form
        const input = {
          label,
          clientIds,
          heeftAlleAutorisaties,
          alleenIsGereedVoorPublicatie,
          // All rights come in place of those that there were.
          ...(heeftAlleAutorisaties && { autorisaties: [], catalogusAutorisaties: [] }),
        }
        const nieuw = await changeApplicatie(m, 'update', applicatie.uuid, input, { zonderRechten: true })
        m.audit({
          handeling: 'applicatie-wijzigen',
          soort: 'applicatie',
          id: applicatie.uuid,
          weergave: label,
          oud: summary(applicatie),
          nieuw: summary(nieuw),
        })
      })
      return await redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, t('De wijziging is opgeslagen.'))
    } catch (error) {
      return reply.code(400).page('applicatie-edit', {
        ...changePage(applicatie),
        values: request.body ?? {},
        faults: formFaults(error),
      })
    }
  })

  app.get<Params>('/applicaties/:uuid/verwijderen', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.page('applicatie-delete', {
      title: t('Applicatie verwijderen'),
      breadcrumbs: breadcrumbsOf(applicatie),
      applicatie,
    })
  })

  app.post<Params>('/applicaties/:uuid/verwijderen', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    await mutateFromPage(request, async (m) => {
      await deleteApplicatie(m, applicatie.uuid)
      m.audit({
        handeling: 'applicatie-verwijderen',
        soort: 'applicatie',
        id: applicatie.uuid,
        weergave: applicatie.label,
        oud: summary(applicatie),
      })
    })
    return redirectWith(request, reply, '/applicaties', t`De applicatie ‘${applicatie.label}’ is verwijderd.`)
  })

  registerApplicatieSecrets(app)
  registerApplicatieIssuerClients(app)
  registerApplicatieRights(app)
}

const NEW_PAGE = { title: 'Nieuwe applicatie', breadcrumbs: [{ path: '/applicaties', name: 'Applicaties' }] }

const changePage = (applicatie: Applicatie) => ({
  title: t('Applicatie wijzigen'),
  breadcrumbs: breadcrumbsOf(applicatie),
  applicatie,
})

/** What would be lost with a change, in sentences. */
function whatLapses(applicatie: Applicatie, clientIds: string[], all: boolean): string[] {
  const gone = applicatie.clientIds.filter((clientId) => !clientIds.includes(clientId))
  return [
    ...(gone.length > 0 ? [t`Zonder client-id ${gone.join(', ')} vervallen ook de geheimen ervan.`] : []),
    ...(all && applicatie.aantalRechten > 0
      ? [t`De applicatie mag dan alles; de autorisaties die er nu zijn (${applicatie.aantalRechten}) vervallen.`]
      : []),
  ]
}

/** One client id on a line. */
function readClientIds({ clientIds }: { clientIds?: unknown }): string[] {
  const lines = String(clientIds ?? '').split(/\r?\n/)
  return [...new Set(lines.map((line) => line.trim()).filter((line) => line !== ''))]
}

function clientIdFaults(form: FormValues): FormFaults {
  const clientIds = readClientIds(form)
  if (clientIds.length === 0) return { clientIds: t('Vul ten minste een client-id in.') }
  if (clientIds.length > 100) return { clientIds: t('Een applicatie heeft hier ten hoogste 100 client-ids.') }
  return clientIds.some((clientId) => clientId.length > 50 || /\p{Cc}/u.test(clientId))
    ? {
        clientIds: t('Een client-id heeft ten hoogste 50 tekens, zonder besturingstekens. Zet elk op een eigen regel.'),
      }
    : {}
}

/** Faults of the API's body beside the fields of the form. */
function formFaults(error: unknown): FormFaults {
  return Object.fromEntries(
    Object.entries(formFaultsOf(error)).map(([name, reason]) => [name.replace(/^clientIds\..*/, 'clientIds'), reason]),
  )
}

/** For the audit log: an application without the long list of its rights. */
const summary = ({ label, clientIds, heeftAlleAutorisaties, alleenIsGereedVoorPublicatie }: Summarised) => ({
  label,
  clientIds,
  heeftAlleAutorisaties,
  alleenIsGereedVoorPublicatie,
})
type Summarised = Partial<Static<typeof Fields>> | Partial<Applicatie>

// ---- reading ----

type ListRow = {
  id: number
  sleutel: string
  uuid: string
  label: string
  heeftAlleAutorisaties: boolean
  clientIds: string[]
  rechten: number
  geheimen: number
  clients: number
}

async function selectList(
  app: FastifyInstance,
  { zoek, rechten }: { zoek: string; rechten: string },
  limit: number,
  { na, voor }: Cursor,
  downwards: boolean,
): Promise<ListRow[]> {
  const ascending = downwards === (voor !== undefined)
  const [, id, key] = /^(\d{1,15}):([^\0]*)$/s.exec(na ?? voor ?? '') ?? []
  const place =
    id === undefined
      ? sql`true`
      : ascending
        ? sql`(lower(a.label), a.id) > (${key}, ${Number(id)})`
        : sql`(lower(a.label), a.id) < (${key}, ${Number(id)})`
  const order = ascending ? sql`lower(a.label), a.id` : sql`lower(a.label) desc, a.id desc`
  const pattern = `%${zoek.replaceAll('\0', '').replace(/[%_\\]/g, '\\$&')}%`
  const { rows } = await sql<ListRow>`
    select a.id, lower(a.label) as sleutel, a.uuid, a.label, a.heeft_alle_autorisaties,
      array(select c.client_id from applicatie_client_all c where c.applicatie_id = a.id order by c.place, c.client_id) as client_ids,
      (select count(*) from autorisatie r where r.applicatie_id = a.id)
        + (select count(*) from catalogus_autorisatie k where k.applicatie_id = a.id) as rechten,
      (select count(*) from applicatie_client c join applicatie_secret g on g.client_id = c.client_id
        where c.applicatie_id = a.id and (g.expires_at is null or g.expires_at > now())) as geheimen,
      (select count(*) from applicatie_issuer_client i where i.applicatie_id = a.id) as clients
    from applicatie a
    where ${place} and ${RIGHTS[rechten]?.kept ?? sql<boolean>`true`}
      and (${zoek} = '' or a.label ilike ${pattern}
        or exists (select from applicatie_client_all c where c.applicatie_id = a.id and c.client_id ilike ${pattern}))
    order by ${order} limit ${limit}`.execute(app.read)
  return rows
}

type Client = {
  clientId: string
  /** Public keys, for the token endpoint. */
  hasKeys: boolean
  secrets: {
    id: number
    createdAt: string
    expiresAt: string | null
    lastSignedAt: string | null
    staat: 'geldig' | 'kort' | 'onleesbaar'
  }[]
}

/** The client ids with what may be shown of their secrets. */
async function selectClients(app: FastifyInstance, applicatieId: number): Promise<Client[]> {
  const rows = await app.reader.sql<
    {
      client_id: string
      has_keys: boolean
      id: number | null
      sealed_secret: Buffer
      created_at: string
      expires_at: string | null
      last_signed_at: string | null
    }[]
  >`
    select c.client_id, exists (select from applicatie_client_key k where k.client_id = c.client_id) as has_keys, g.id, g.sealed_secret, g.created_at, g.expires_at, g.last_signed_at
    from applicatie_client c
    left join applicatie_secret g on g.client_id = c.client_id and (g.expires_at is null or g.expires_at > now())
    where c.applicatie_id = ${applicatieId} order by c.place, c.client_id, g.id`
  const clients = new Map<string, Client>()
  for (const {
    client_id: clientId,
    has_keys: hasKeys,
    id,
    sealed_secret: sealedSecret,
    created_at: createdAt,
    expires_at: expiresAt,
    last_signed_at: lastSignedAt,
  } of rows) {
    const client = clients.get(clientId) ?? { clientId, hasKeys, secrets: [] }
    clients.set(clientId, client)
    if (id !== null)
      client.secrets.push({ id, createdAt, expiresAt, lastSignedAt, staat: stateOf(app, sealedSecret, clientId) })
  }
  return [...clients.values()]
}

function stateOf(app: FastifyInstance, sealed: Buffer, clientId: string): Client['secrets'][number]['staat'] {
  try {
    return isShort(app.parts.box.open(sealed, clientId)) ? 'kort' : 'geldig'
  } catch {
    return 'onleesbaar' // sealed under another SECRET_KEY
  }
}
