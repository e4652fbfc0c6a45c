// Clients of issuers that act as an applicatie: added to it and taken away.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { issuerClientsOf, saveIssuerClients } from '../../autorisaties/issuers/issuer.ts'
import { mutateFromPage } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, readForm } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { type Applicatie, administering, breadcrumbsOf, type Params, requireApplicatie } from './applicatie.ts'

const Added = Type.Object({
  issuer: Type.String({ minLength: 1, maxLength: 1000 }),
  clientId: Type.String({ minLength: 1, maxLength: 255 }),
})

export function registerApplicatieIssuerClients(app: FastifyInstance): void {
  app.get<Params>('/applicaties/:uuid/uitgever-client', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    return reply.page('applicatie-issuer-client', {
      ...(await page(applicatie)),
      values: {} as FormValues,
      faults: {} as FormFaults,
    })
  })

  app.post<Params>('/applicaties/:uuid/uitgever-client', { config: administering }, async (request, reply) => {
    const applicatie = await requireApplicatie(app, request)
    try {
      const added = readForm(Added, request.body)
      await change(request, applicatie, 'applicatieclient-toevoegen', (all) => [...all, added])
      const text = t`Tokens van client ${added.clientId} worden nu aangenomen.`
      return await redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, text)
    } catch (error) {
      const faults = Object.fromEntries(
        Object.entries(formFaultsOf(error)).map(([name, why]) => [name === 'issuerClients' ? 'clientId' : name, why]),
      )
      return reply.code(400).page('applicatie-issuer-client', {
        ...(await page(applicatie)),
        values: (request.body ?? {}) as FormValues,
        faults,
      })
    }
  })

  app.post<Params>(
    '/applicaties/:uuid/uitgever-client/verwijderen',
    { config: administering },
    async (request, reply) => {
      const applicatie = await requireApplicatie(app, request)
      const gone = readForm(Added, request.body)
      await change(request, applicatie, 'applicatieclient-verwijderen', (all) =>
        all.filter(({ issuer, clientId }) => issuer !== gone.issuer || clientId !== gone.clientId),
      )
      const text = t`Tokens van client ${gone.clientId} worden niet meer aangenomen.`
      return redirectWith(request, reply, `/applicaties/${applicatie.uuid}`, text)
    },
  )

  type Client = { issuer: string; clientId: string }

  function change(
    request: FastifyRequest,
    { id, uuid, label }: Applicatie,
    handeling: string,
    changed: (all: Client[]) => Client[],
  ): Promise<void> {
    return mutateFromPage(request, async (m) => {
      const before = (await issuerClientsOf(m.read, id)).map(({ issuer, clientId }) => ({ issuer, clientId }))
      const after = changed(before)
      await saveIssuerClients(m, uuid, after)
      m.audit({
        handeling,
        soort: 'applicatie',
        id: uuid,
        weergave: label,
        oud: { clients: before },
        nieuw: { clients: after },
      })
    })
  }

  async function page(applicatie: Applicatie) {
    const issuers = await app.read
      .selectFrom('tokenIssuer')
      .select(['issuer', 'label'])
      .orderBy('label')
      .limit(500)
      .execute()
    return {
      title: t('Client van een token-uitgever'),
      breadcrumbs: breadcrumbsOf(applicatie),
      applicatie,
      issuers: issuers.map(({ issuer, label }) => [issuer, `${label} (${issuer})`]),
    }
  }
}
