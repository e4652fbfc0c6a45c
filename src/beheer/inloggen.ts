// inloggen: signing in and out. Nobody is told what was wrong: the name, the password, or that the account is locked.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { controleerWachtwoord, telGelukt } from './accounts.ts'
import { leesFormulier } from './formulier.ts'
import { basePath } from './lijst.ts'
import { endSessie, startSessie } from './sessie.ts'
import { schrijfAudit } from './wijzigen.ts'

const Inloggegevens = Type.Object({
  gebruikersnaam: Type.String({ maxLength: 150 }),
  wachtwoord: Type.String({ maxLength: 1000 }),
  verder: Type.Optional(Type.String({ maxLength: 2000 })),
})

export function registerInloggen(app: FastifyInstance): void {
  const config = { access: 'beheer', rol: 'iedereen' } as const

  app.get<{ Querystring: { verder?: string } }>('/inloggen', { config }, async (request, reply) => {
    if (request.sessie?.stap === 'ingelogd') return reply.redirect(`${basePath(request)}/beheer/`, 303)
    return reply.pagina('inloggen', { titel: 'Inloggen', verder: eigenPad(request.query.verder) })
  })

  app.post('/inloggen', { config }, async (request, reply) => {
    const form = leesFormulier(Inloggegevens, request.body)
    const account = await controleerWachtwoord(app.parts.database, form.gebruikersnaam, form.wachtwoord)
    if (!account) {
      await schrijfAudit(app.parts.database.db, request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: form.gebruikersnaam },
      ])
      return reply.code(401).pagina('inloggen', {
        titel: 'Inloggen',
        verder: eigenPad(form.verder),
        gebruikersnaam: form.gebruikersnaam,
        fout: 'Deze gegevens kloppen niet, of het account is tijdelijk geblokkeerd.',
      })
    }
    if (account.totp) {
      await startSessie(request, reply, account.id, 'totp')
      const verder = eigenPad(form.verder)
      return reply.redirect(
        `${basePath(request)}/beheer/inloggen/code${verder && `?verder=${encodeURIComponent(verder)}`}`,
        303,
      )
    }
    return logIn(request, reply, account, form.verder)
  })

  app.post('/uitloggen', { config }, async (request, reply) => {
    if (request.beheerder)
      await schrijfAudit(app.parts.database.db, request, [
        { handeling: 'uitloggen', soort: 'account', id: request.beheerder.uuid },
      ])
    await endSessie(request, reply)
    return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
  })
}

/** The last step of every way to sign in. */
export async function logIn(
  request: FastifyRequest,
  reply: FastifyReply,
  account: { id: number; uuid: string; gebruikersnaam: string },
  verder: string | undefined,
): Promise<FastifyReply> {
  const { database } = request.server.parts
  await telGelukt(database, account.id)
  await startSessie(request, reply, account.id)
  await schrijfAudit(database.db, request, [
    { handeling: 'inloggen', soort: 'account', id: account.uuid, gebruiker: account.gebruikersnaam },
  ])
  return reply.redirect(`${basePath(request)}${eigenPad(verder) || '/beheer/'}`, 303)
}

/** Where to go after signing in, when it is a page of ours. */
export function eigenPad(path: string | undefined): string {
  return path !== undefined && /^\/beheer\/[^\\]*$/.test(path) ? path : ''
}
