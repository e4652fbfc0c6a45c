// Switch: an account of the centre goes on at another organisation without signing in anew. A form here makes a code, of which the
// registry keeps the hash; a page with that code in a form goes to the other host, whose address is that of the registry. The code counts
// once, for half a minute, from the one organisation to the other. The other host only takes it from a page of the first one (Origin), so
// that nobody is signed in there as somebody else by a page of a stranger.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../../autorisaties/attempts.ts'
import { forbidden, notFound } from '../../core/problem.ts'
import { headerText } from '../../http/header.ts'
import { networkOf } from '../../http/network.ts'
import { readForm } from '../frame/form.ts'
import { CSP } from '../frame/page.ts'
import { sessionOf, signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { enterAs, fromRegistry } from './centre-account.ts'
import { everyone, logIn } from './sign-in-steps.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its form comes from a page of another organisation: the handler looks of which. */
    isFromElsewhere?: boolean
  }
}

const Chosen = Type.Object({ organisatie: Type.String({ maxLength: 20 }) })
const Code = Type.Object({ code: Type.String({ maxLength: 100 }) })

export function registerSwitch(app: FastifyInstance): void {
  const attempts = app.each(() => countAttempts({ limit: 20, detail: t('Probeer het over een minuut opnieuw.') }))

  app.post('/wissel', { config: { access: 'beheer', rol: 'viewer' } }, async (request, reply) => {
    const { centre: member, uuid, gebruikersnaam } = signedIn(request)
    const { centre, members } = app
    const { organisatie } = readForm(Chosen, request.body)
    const target = member && members?.organisationsOf(member).find(({ rsin }) => rsin === organisatie)
    const address = target && centre?.addressOf(target.rsin)
    if (!member || !centre || !target || !address) throw notFound(t('U hebt geen rol bij deze organisatie.'))
    const code = await fromRegistry(true, () => centre.makeCode(member, target.rsin, sessionOf(request).expiresAt))
    const act = { handeling: 'organisatie-wisselen', soort: 'account', id: uuid, weergave: gebruikersnaam }
    await app.own.audit(request, [{ ...act, nieuw: { organisatie: target.name } }])
    reply.headers({
      'content-security-policy': CSP.replace("form-action 'self'", `form-action 'self' ${new URL(address).origin}`),
      'referrer-policy': 'strict-origin', // under `same-origin` the form would come without its Origin
    })
    return reply.page('switch', { title: t`Verder bij ${target.name}`, name: target.name, address, code })
  })

  const config = { ...everyone, checksToken: true, isFromElsewhere: true } as const // the code is known to its page alone
  app.post('/wissel/verder', { config }, async (request, reply) => {
    const { centre, members } = app
    const network = networkOf(request.ip)
    const tooMany = attempts().refusal(network)
    if (tooMany) throw tooMany
    const from = centre?.organisationAt(headerText(request, 'origin'))
    if (!centre || !members || !from) throw refused()
    const { code } = readForm(Code, request.body)
    const came = await fromRegistry(true, () => centre.useCode(code, from.rsin))
    const uuid = came?.uuid
    if (uuid && !members.withUuid(uuid)) await members.refresh() // the role may be newer than what this process knows
    const member = uuid && members.withUuid(uuid)
    const here = member && (await enterAs(request, member))
    if (!here || !came) {
      attempts().failed(network)
      throw refused()
    }
    return logIn(request, reply, here, undefined, { member, from: { name: from.name, until: came.until } })
  })
}

const refused = () =>
  forbidden(
    undefined,
    t(
      'Overstappen lukte niet: dat kan één keer en binnen een halve minuut. Kies de organisatie opnieuw, of log hier in.',
    ),
  )
