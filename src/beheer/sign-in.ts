// inloggen: signing in and out. Nobody is told what was wrong: the name, the password, or that the account is locked.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../autorisaties/attempts.ts'
import { checkPassword, claimAttempt } from './accounts.ts'
import { writeAudit } from './change.ts'
import { readForm, Wachtwoordveld } from './form.ts'
import { basePath } from './keyset-list.ts'
import { endSession } from './session.ts'
import { afterFirstStep, everyone, logIn, ownPath } from './sign-in-steps.ts'
import { useCode } from './totp.ts'

const Inloggegevens = Type.Object({
  gebruikersnaam: Type.String({ maxLength: 150 }),
  wachtwoord: Wachtwoordveld,
  verder: Type.Optional(Type.String({ maxLength: 2000 })),
})
const Code = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 20 })),
  verder: Type.Optional(Type.String({ maxLength: 2000 })),
})
type Vraag = { Querystring: { verder?: string } }

export async function registerSignIn(app: FastifyInstance): Promise<void> {
  const { database, box, config } = app.parts
  // Counted before the password is looked at, so that many at once count as well.
  const pogingen = countAttempts({
    limit: 20,
    detail: 'Vanaf dit adres is te vaak geprobeerd in te loggen. Probeer het over een minuut opnieuw.',
  })
  const tel = (request: FastifyRequest) => {
    const refusal = pogingen.refusal(request.ip)
    if (refusal) throw refusal
    pogingen.failed(request.ip)
  }
  const oidc = config.oidc && { label: config.oidc.label }

  app.get<Vraag>('/inloggen', { config: everyone }, async (request, reply) => {
    if (request.sessie?.stap === 'ingelogd') return reply.redirect(`${basePath(request)}/beheer/`, 303)
    return reply.pagina('inloggen', { titel: 'Inloggen', verder: ownPath(request.query.verder), oidc })
  })

  app.post('/inloggen', { config: everyone }, async (request, reply) => {
    const form = readForm(Inloggegevens, request.body)
    tel(request)
    const account = await checkPassword(database, form.gebruikersnaam, form.wachtwoord)
    if (!account) {
      await writeAudit(database.db, request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: form.gebruikersnaam },
      ])
      return reply.code(401).pagina('inloggen', {
        titel: 'Inloggen',
        verder: ownPath(form.verder),
        gebruikersnaam: form.gebruikersnaam,
        weigering: 'Deze gegevens kloppen niet, of het account is tijdelijk geblokkeerd.',
        oidc,
      })
    }
    pogingen.succeeded(request.ip)
    return afterFirstStep(request, reply, account, form.verder)
  })

  app.get<Vraag>('/inloggen/code', { config: everyone }, async (request, reply) => {
    if (request.sessie?.stap !== 'totp') return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
    return reply.pagina('inloggen-code', { titel: 'Code invullen', verder: ownPath(request.query.verder) })
  })

  app.post('/inloggen/code', { config: everyone }, async (request, reply) => {
    const account = request.sessie?.stap === 'totp' ? request.sessie.beheerder : undefined
    if (!account) return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
    const form = readForm(Code, request.body)
    tel(request)
    const right = (await claimAttempt(database, account.id)) && (await useCode(database, box, account, form.code ?? ''))
    if (!right) {
      await writeAudit(database.db, request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: account.gebruikersnaam },
      ])
      return reply.code(401).pagina('inloggen-code', {
        titel: 'Code invullen',
        verder: ownPath(form.verder),
        weigering: 'Deze code klopt niet, is al gebruikt, of het account is tijdelijk geblokkeerd.',
      })
    }
    pogingen.succeeded(request.ip)
    return logIn(request, reply, account, form.verder)
  })

  app.post('/uitloggen', { config: everyone }, async (request, reply) => {
    if (request.beheerder)
      await writeAudit(database.db, request, [{ handeling: 'uitloggen', soort: 'account', id: request.beheerder.uuid }])
    await endSession(request, reply)
    return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
  })

  if (config.oidc) {
    const { registerOidc } = await import('./oidc.ts') // its library takes memory that most do not need
    registerOidc(app)
  }
}
