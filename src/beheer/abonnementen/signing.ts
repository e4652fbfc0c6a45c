// The signature under messages (Standard Webhooks). A new secret is on one page, once; until the old one is removed, messages are
// signed with both, so that a receiver changes when it likes.

import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { subscriberOwner } from '../../notificaties/deliver.ts'
import { lockAbonnement } from '../../nrc/abonnement/write.ts'
import { mutateFromPage } from '../change.ts'
import { basePath } from '../keyset-list.ts'
import { t } from '../language/language.ts'
import { redirectWith } from '../page.ts'
import { addNotice } from '../session.ts'
import { administering, breadcrumbsOf, nameOf, type Params, requireAbonnement } from './abonnement.ts'

const SECRET_BYTES = 32

export function registerSigning(app: FastifyInstance): void {
  const { box } = app.parts

  app.get<Params>('/abonnementen/:uuid/ondertekening', { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const owner = subscriberOwner(abonnement.uuid)
    const toon = request.session?.melding?.geheimen?.some(({ clientId }) => clientId === owner) ?? false
    const [nieuwste] = abonnement.ondertekening
    return reply.page('abonnement-signing', {
      title: t('Ondertekening'),
      breadcrumbs: breadcrumbsOf(abonnement),
      abonnement,
      aantal: abonnement.ondertekening.length,
      geheim: toon && nieuwste ? box.open(nieuwste, owner) : null,
    })
  })

  const acties: Record<string, { tekst: string; change(secrets: Buffer[], uuid: string): Buffer[] }> = {
    nieuw: {
      tekst: t('Het nieuwe geheim geldt vanaf nu.'),
      change: ([current], uuid) => {
        const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
        return [box.seal(secret, subscriberOwner(uuid)), ...(current ? [current] : [])]
      },
    },
    'oud-weg': {
      tekst: t('Berichten worden alleen nog met het nieuwste geheim ondertekend.'),
      change: ([current]) => (current ? [current] : []),
    },
    uit: { tekst: t('Berichten worden niet meer ondertekend.'), change: () => [] },
  }
  for (const [actie, { tekst, change }] of Object.entries(acties)) {
    app.post<Params>(
      `/abonnementen/:uuid/ondertekening/${actie}`,
      { config: administering },
      async (request, reply) => {
        const abonnement = await requireAbonnement(app, request)
        await mutateFromPage(request, async (m) => {
          const { id, ondertekening } = await lockAbonnement(m, abonnement.uuid)
          const changed = change(ondertekening, abonnement.uuid)
          await m.sql`
          update abonnement set gewijzigd_op = now(), ondertekening = array(
            select decode(t, 'base64') from unnest(${changed.map((secret) => secret.toString('base64'))}::text[]) with ordinality u(t, n) order by n)
          where id = ${id}`
          m.audit({
            handeling: `abonnement-ondertekening-${actie}`,
            soort: 'abonnement',
            id: abonnement.uuid,
            weergave: nameOf(abonnement),
            oud: { geheimen: ondertekening.length },
            nieuw: { geheimen: changed.length },
          })
        })
        const path = `/abonnementen/${abonnement.uuid}/ondertekening`
        if (actie !== 'nieuw') return redirectWith(request, reply, path, tekst)
        // The session names whose secret may be shown, never the secret.
        await addNotice(request, path, {
          soort: 'goed',
          tekst,
          geheimen: [{ clientId: subscriberOwner(abonnement.uuid), toon: true }],
        })
        return reply.redirect(`${basePath(request)}/beheer${path}`, 303)
      },
    )
  }
}
