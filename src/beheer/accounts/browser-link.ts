// Browser link: a way in for who is kept out of every new browser by the wrong passwords of others. A link that is mailed to the address
// of the account makes the browser that opens it one that is known, whose attempts count apart. It opens nothing else: the password and
// the code are asked as ever.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../../autorisaties/attempts.ts'
import { networkOf } from '../../http/network.ts'
import { sendMail } from '../../operations/alerts/mail.ts'
import { readAlertSettings } from '../../operations/alerts/settings.ts'
import { failureCode } from '../../services/transport.ts'
import { readForm } from '../frame/form.ts'
import { t } from '../language/language.ts'
import { LINK_MINUTES, rememberBrowser } from './known-browsers.ts'
import { isMailSetUp } from './my-alerts.ts'
import { everyone } from './sign-in-steps.ts'

const Asked = Type.Object({ gebruikersnaam: Type.String({ maxLength: 150 }) })
const Code = Type.Object({ code: Type.String({ maxLength: 100 }) })
const PATH = '/inloggen/link'

export function registerBrowserLink(app: FastifyInstance): void {
  const attempts = app.each(() =>
    countAttempts({
      limit: 10,
      detail: t('Vanaf dit adres is te vaak om een link gevraagd. Probeer het over een minuut opnieuw.'),
    }),
  )

  app.get<{ Querystring: { code?: string } }>(PATH, { config: everyone }, async (request, reply) => {
    const { code } = request.query
    const shown = { title: t('Link om in te loggen'), isMailSetUp: isMailSetUp(app), minutes: LINK_MINUTES }
    return reply.page('sign-in-link', { ...shown, code: typeof code === 'string' ? code : undefined })
  })

  app.post(PATH, { config: everyone }, async (request, reply) => {
    const refusal = attempts().refusal(networkOf(request.ip))
    if (refusal) throw refusal
    attempts().failed(networkOf(request.ip))
    const { gebruikersnaam } = readForm(Asked, request.body)
    // Whether there is such an account shows neither in the answer nor in its time.
    void mailLink(app, request, gebruikersnaam).catch((error) =>
      request.log.warn({ code: failureCode(error) }, 'a link to sign in was not mailed'),
    )
    return reply.page('sign-in-link', { title: t('Link om in te loggen'), isSent: true, minutes: LINK_MINUTES })
  })

  // The button, so that what looks at links in mails does not use it up.
  app.post(`${PATH}/gebruiken`, { config: everyone }, async (request, reply) => {
    const refusal = attempts().refusal(networkOf(request.ip))
    if (refusal) throw refusal
    const { code } = readForm(Code, request.body)
    const accountId = await app.own.browsers.useLink(code)
    if (accountId === undefined) {
      attempts().failed(networkOf(request.ip))
      return reply.code(400).page('sign-in-link', {
        title: t('Link om in te loggen'),
        isMailSetUp: isMailSetUp(app),
        minutes: LINK_MINUTES,
        weigering: t('Deze link is al gebruikt of verlopen. Vraag een nieuwe.'),
      })
    }
    await rememberBrowser(request, reply, accountId)
    return reply.page('sign-in-link', { title: t('Link om in te loggen'), isKnown: true, minutes: LINK_MINUTES })
  })
}

async function mailLink(app: FastifyInstance, request: FastifyRequest, gebruikersnaam: string): Promise<void> {
  const { config, box } = app.parts
  const account = await app.own.browsers.ownerOfLink(gebruikersnaam)
  const { mail } = await readAlertSettings(app.read, config, box)
  if (!account || !mail) return
  const code = await app.own.browsers.makeLink(account.id)
  if (code === undefined) return // one is on its way
  await app.own.audit(request, [
    {
      handeling: 'link-mailen',
      soort: 'account',
      id: account.uuid,
      weergave: gebruikersnaam,
      gebruiker: gebruikersnaam,
    },
  ])
  const link = `${request.base}/beheer${PATH}?code=${code}`
  const text = `Iemand vroeg bij Zaakstroom om een link om in te loggen als ${gebruikersnaam}.

Werd u tegengehouden omdat anderen te vaak een verkeerd wachtwoord invulden? Open dan binnen ${LINK_MINUTES} minuten deze link in de browser waarmee u wilt inloggen:

${link}

Daarna vult u als altijd uw wachtwoord in. De link werkt één keer en geeft zonder wachtwoord geen toegang. Hebt u er niet om gevraagd, dan kunt u deze mail weggooien.`
  await sendMail(mail, { id: randomUUID(), to: account.email, subject: 'Link om in te loggen', text })
}
