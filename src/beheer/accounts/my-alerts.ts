// My alerts: which kinds of alerts somebody is mailed, and whether he gets a digest.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../../autorisaties/attempts.ts'
import { expected } from '../../database/rows.ts'
import { KINDS, type Kind } from '../../operations/alerts/kinds.ts'
import { sendTest } from '../../operations/alerts/send.ts'
import { mutateFromPage } from '../frame/change.ts'
import { readForm } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { signedIn } from '../frame/session.ts'
import { reason, t, words } from '../language/language.ts'

const config = { access: 'beheer', rol: 'viewer' } as const
const PATH = '/mijn-account/meldingen'

/** What each kind is about. */
export const ALERT_KINDS: Record<Kind, { name: string; help: string }> = words(
  {
    abonnement: { name: 'Abonnementen', help: 'Een abonnement stopt, of neemt geen berichten meer aan.' },
    import: { name: 'Imports', help: 'Een import stopt voor het einde, of ligt stil.' },
    schijf: {
      name: 'Schijf en opslag',
      help: 'De schijf raakt vol, of de documentopslag of virusscanner antwoordt niet.',
    },
    worker: { name: 'Workers en taken', help: 'Er draait geen worker, of een taak is mislukt.' },
    verloopt: {
      name: 'Sleutels en certificaten',
      help: 'Een geheim of certificaat verloopt over 30 dagen, over 7 dagen of is verlopen, of een sleutel ontbreekt.',
    },
  },
  'name',
  'help',
)
const DIGESTS = words({
  nooit: 'Geen samenvatting',
  nodig: 'Elke ochtend, als er iets is',
  altijd: 'Elke ochtend, ook als alles werkt',
})

const Form = Type.Object({
  kinds: Type.Array(Type.Enum(KINDS)),
  digest: Type.Enum(['nooit', 'nodig', 'altijd']),
})

/** Tests that somebody may send within a minute. */
export const testsOf = () =>
  countAttempts({ limit: 5, detail: t('U hebt net al een paar tests verstuurd. Probeer het over een minuut opnieuw.') })

export function registerMyAlerts(app: FastifyInstance): void {
  const tests = app.each(testsOf)

  app.get(PATH, { config }, async (request, reply) =>
    reply.page('my-alerts', {
      title: t('Mijn meldingen'),
      breadcrumbs: [{ path: '/mijn-account', name: t('Mijn account') }],
      account: await readAccount(request),
      kinds: Object.entries(ALERT_KINDS),
      digests: Object.entries(DIGESTS),
      isMailSetUp: isMailSetUp(app),
    }),
  )

  app.post(PATH, { config }, async (request, reply) => {
    const { kinds, digest } = readForm(Form, request.body)
    const before = await readAccount(request)
    await mutateFromPage(request, async (m) => {
      const { id, uuid, gebruikersnaam } = signedIn(request)
      const set = { alertKinds: [...new Set(kinds)], alertDigest: digest }
      await m.trx.updateTable('beheerAccount').set(set).where('id', '=', id).execute()
      const oud = { soorten: before.alertKinds, samenvatting: before.alertDigest }
      const nieuw = { soorten: set.alertKinds, samenvatting: digest }
      m.audit({ handeling: 'meldingen-kiezen', soort: 'account', id: uuid, weergave: gebruikersnaam, oud, nieuw })
    })
    return redirectWith(request, reply, PATH, t('Uw keuze is opgeslagen.'))
  })

  app.post(`${PATH}/testen`, { config }, async (request, reply) => {
    const { email } = await readAccount(request)
    const text = email === '' ? t('Dit account heeft geen e-mailadres.') : await testMail(request, tests(), email)
    return text === undefined
      ? redirectWith(request, reply, PATH, t`De test is verstuurd naar ${email}.`)
      : redirectWith(request, reply, PATH, text, 'fout')
  })
}

/** Whether there is a mail server and a sender. */
export const isMailSetUp = ({ parts }: FastifyInstance): boolean =>
  Boolean(parts.config.smtpHost && parts.config.smtpFrom)

/**
 * Sends a test, and records that.
 * @param to a mail address; left out: the webhook
 * @returns what went wrong
 */
export async function testMail(
  request: FastifyRequest,
  tests: ReturnType<typeof countAttempts>,
  to?: string,
): Promise<string | undefined> {
  const { uuid, gebruikersnaam } = signedIn(request)
  const refusal = tests.refusal(uuid)
  if (refusal) throw refusal
  tests.failed(uuid)
  const { parts, reader } = request.server
  const fault = await sendTest({ ...parts, reader }, to)
  await mutateFromPage(request, async (m) =>
    m.audit({
      handeling: 'melding-testen',
      soort: 'account',
      id: uuid,
      weergave: gebruikersnaam,
      nieuw: { naar: to === undefined ? 'webhook' : 'mail', gelukt: fault === undefined },
    }),
  )
  return fault === undefined ? undefined : t`De test is niet verstuurd: ${reason(fault)}.`
}

const readAccount = async (request: FastifyRequest) =>
  expected(
    await request.server.read
      .selectFrom('beheerAccount')
      .select(['email', 'alertKinds', 'alertDigest'])
      .where('id', '=', signedIn(request).id)
      .executeTakeFirst(),
  )
