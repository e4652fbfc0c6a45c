// The signature under messages (Standard Webhooks). A new secret is on one page, once; until the old one is removed, messages are
// signed with both, so that a receiver changes when it likes.

import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { subscriberOwner } from '../../../notificaties/deliver.ts'
import { lockAbonnement } from '../../../nrc/abonnement/write.ts'
import { mutateFromPage } from '../../frame/change.ts'
import { basePath } from '../../frame/keyset-list.ts'
import { redirectWith } from '../../frame/page.ts'
import { addNotice } from '../../frame/session.ts'
import { t } from '../../language/language.ts'
import { administering, breadcrumbsOf, nameOf, type Params, requireAbonnement } from './abonnement.ts'

const SECRET_BYTES = 32

export function registerSigning(app: FastifyInstance): void {
  const { box } = app.parts

  app.get<Params>('/abonnementen/:uuid/ondertekening', { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    const owner = subscriberOwner(abonnement.uuid)
    const isShown = request.session?.notice?.geheimen?.some(({ clientId }) => clientId === owner) ?? false
    const [newest] = abonnement.ondertekening
    return reply.page('abonnement-signing', {
      title: t('Ondertekening'),
      breadcrumbs: breadcrumbsOf(abonnement),
      abonnement,
      count: abonnement.ondertekening.length,
      secret: isShown && newest ? box.open(newest, owner) : null,
    })
  })

  const acts: Record<string, { text: string; change(secrets: Buffer[], uuid: string): Buffer[] }> = {
    nieuw: {
      text: t('Het nieuwe geheim geldt vanaf nu.'),
      change: ([current], uuid) => {
        const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
        return [box.seal(secret, subscriberOwner(uuid)), ...(current ? [current] : [])]
      },
    },
    'oud-weg': {
      text: t('Berichten worden alleen nog met het nieuwste geheim ondertekend.'),
      change: ([current]) => (current ? [current] : []),
    },
    uit: { text: t('Berichten worden niet meer ondertekend.'), change: () => [] },
  }
  for (const [act, { text, change }] of Object.entries(acts)) {
    app.post<Params>(`/abonnementen/:uuid/ondertekening/${act}`, { config: administering }, async (request, reply) => {
      const abonnement = await requireAbonnement(app, request)
      await mutateFromPage(request, async (m) => {
        const { id, ondertekening } = await lockAbonnement(m, abonnement.uuid)
        const changed = change(ondertekening, abonnement.uuid)
        await m.sql`
          update abonnement set changed_at = now(), ondertekening = array(
            select decode(t, 'base64') from unnest(${changed.map((secret) => secret.toString('base64'))}::text[]) with ordinality u(t, n) order by n)
          where id = ${id}`
        m.audit({
          handeling: `abonnement-ondertekening-${act}`,
          soort: 'abonnement',
          id: abonnement.uuid,
          weergave: nameOf(abonnement),
          oud: { geheimen: ondertekening.length },
          nieuw: { geheimen: changed.length },
        })
      })
      const path = `/abonnementen/${abonnement.uuid}/ondertekening`
      if (act !== 'nieuw') return redirectWith(request, reply, path, text)
      // The session names whose secret may be shown, never the secret.
      await addNotice(request, path, {
        soort: 'goed',
        tekst: text,
        geheimen: [{ clientId: subscriberOwner(abonnement.uuid), toon: true }],
      })
      return reply.redirect(`${basePath(request)}/beheer${path}`, 303)
    })
  }
}
