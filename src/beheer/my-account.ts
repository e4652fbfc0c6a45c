// mijn-account: what everybody manages himself: the password, one-time codes, and where he is signed in.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countPogingen } from '../autorisaties/attempts.ts'
import { controleerWachtwoord, neemPoging, verwijderTotp, zetWachtwoord } from './accounts.ts'
import { wijzig } from './change.ts'
import { foutenVan, leesFormulier, Wachtwoordveld, weiger } from './form.ts'
import { verder } from './page.ts'
import { beeindigSessies, startSessie } from './session.ts'
import { begin, gebruikCode, lopend } from './totp.ts'

const config = { access: 'beheer', rol: 'viewer' } as const
/** Open also to those who still have to set up one-time codes. */
const instellen = { ...config, zonderTotp: true } as const

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whoever has to set up one-time codes (BEHEER_TOTP_REQUIRED) may see this page before he did. */
    zonderTotp?: boolean
  }
}

const Wachtwoord = Type.Object({ oud: Wachtwoordveld, nieuw: Wachtwoordveld, herhaald: Wachtwoordveld })
const Code = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) })

export function registerMijnAccount(app: FastifyInstance): void {
  const { database, box } = app.parts
  const pogingen = countPogingen({
    limit: 10,
    detail:
      'U hebt te vaak een verkeerd wachtwoord of een verkeerde code ingevuld. Probeer het over een minuut opnieuw.',
  })
  /** Runs a check of a password or a code, so many times a minute. @throws Problem 429 */
  const beproef = async (request: FastifyRequest, check: () => Promise<boolean>): Promise<boolean> => {
    const key = request.beheerder!.uuid
    const refusal = pogingen.refusal(key)
    if (refusal) throw refusal
    pogingen.failed(key)
    const right = await check()
    if (right) pogingen.succeeded(key)
    return right
  }

  app.get('/mijn-account', { config }, async (request, reply) => toon(app, request, reply))

  app.post('/mijn-account/wachtwoord', { config }, async (request, reply) => {
    const { id, gebruikersnaam, wachtwoord, uuid } = request.beheerder!
    try {
      if (!wachtwoord) weiger({ '': 'Dit account heeft geen wachtwoord.' })
      const form = leesFormulier(Wachtwoord, request.body)
      if (form.nieuw !== form.herhaald) weiger({ herhaald: 'Dit is niet hetzelfde als het nieuwe wachtwoord.' })
      const right = await beproef(
        request,
        async () => (await controleerWachtwoord(database, gebruikersnaam, form.oud))?.id === id,
      )
      if (!right) weiger({ oud: 'Dit is niet uw huidige wachtwoord.' })
      await wijzig(request, async (m) => {
        await zetWachtwoord(m.trx, id, form.nieuw, request.sessie!.id)
        m.vastleggen({ handeling: 'wachtwoord-wijzigen', soort: 'account', id: uuid, weergave: gebruikersnaam })
      })
    } catch (error) {
      const { wachtwoord: nieuw, ...rest } = foutenVan(error)
      return toon(app, request, reply.code(400), { ...rest, ...(nieuw && { nieuw }) })
    }
    await startSessie(request, reply, id)
    return verder(
      request,
      reply,
      '/mijn-account',
      'Uw wachtwoord is gewijzigd. Op andere plaatsen moet u opnieuw inloggen.',
    )
  })

  app.get('/mijn-account/codes', { config: instellen }, async (request, reply) => toonCodes(app, request, reply))

  app.post('/mijn-account/codes/nieuw', { config: instellen }, async (request, reply) => {
    await begin(database, box, request.beheerder!)
    return verder(request, reply, '/mijn-account/codes')
  })

  app.post('/mijn-account/codes/bevestigen', { config: instellen }, async (request, reply) => {
    const beheerder = request.beheerder!
    try {
      const { code } = leesFormulier(Code, request.body)
      if (!(await beproef(request, () => gebruikCode(database, box, beheerder, code, true))))
        weiger({
          code: 'Deze code klopt niet. Wacht op de volgende code in de app en controleer de tijd van uw telefoon.',
        })
      await wijzig(request, async (m) => {
        await beeindigSessies(m.trx, beheerder.id, { behalve: request.sessie!.id })
        m.vastleggen({
          handeling: 'codes-instellen',
          soort: 'account',
          id: beheerder.uuid,
          weergave: beheerder.gebruikersnaam,
        })
      })
    } catch (error) {
      return toonCodes(app, request, reply.code(400), foutenVan(error))
    }
    await startSessie(request, reply, beheerder.id)
    return verder(request, reply, '/mijn-account', 'Bij het inloggen wordt voortaan ook een code gevraagd.')
  })

  app.get('/mijn-account/codes/verwijderen', { config }, async (request, reply) => {
    if (!request.beheerder!.totp) return verder(request, reply, '/mijn-account')
    return reply.pagina('mijn-account-codes-weg', { ...CODES_WEG, vereist: app.parts.config.beheerTotpRequired })
  })

  app.post('/mijn-account/codes/verwijderen', { config }, async (request, reply) => {
    const beheerder = request.beheerder!
    try {
      const { code } = leesFormulier(Code, request.body)
      if (!(await beproef(request, () => gebruikCode(database, box, beheerder, code)))) {
        await neemPoging(database, beheerder.id)
        weiger({ code: 'Deze code klopt niet, of is al gebruikt. Wacht op de volgende code.' })
      }
      await wijzig(request, async (m) => {
        await verwijderTotp(m.trx, beheerder.id)
        m.vastleggen({
          handeling: 'codes-verwijderen',
          soort: 'account',
          id: beheerder.uuid,
          weergave: beheerder.gebruikersnaam,
        })
      })
    } catch (error) {
      return reply.code(400).pagina('mijn-account-codes-weg', {
        ...CODES_WEG,
        vereist: app.parts.config.beheerTotpRequired,
        fouten: foutenVan(error),
      })
    }
    await startSessie(request, reply, beheerder.id)
    return verder(request, reply, '/mijn-account', 'Er wordt geen code meer gevraagd bij het inloggen.')
  })

  app.post<{ Body: { sessie?: string } }>('/mijn-account/sessies', { config }, async (request, reply) => {
    const { id, uuid, gebruikersnaam } = request.beheerder!
    const sessie = String(request.body?.sessie ?? '')
    const which = UUID.test(sessie) ? { uuid: sessie } : { behalve: request.sessie!.id }
    const count = await wijzig(request, async (m) => {
      const ended = await beeindigSessies(m.trx, id, which)
      m.vastleggen({
        handeling: 'sessies-beeindigen',
        soort: 'account',
        id: uuid,
        weergave: gebruikersnaam,
        nieuw: { beeindigd: ended },
      })
      return ended
    })
    const tekst = count === 1 ? 'Eén sessie is beëindigd.' : `Er zijn ${count} sessies beëindigd.`
    return verder(request, reply, '/mijn-account', tekst)
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const CODES_WEG = {
  titel: 'Eenmalige codes verwijderen',
  kruimels: [{ pad: '/mijn-account', naam: 'Mijn account' }],
  fouten: {},
}

type Sessie = { uuid: string; adres: string; browser: string; gemaaktOp: string; gezienOp: string; deze: boolean }

async function toon(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  fouten: Record<string, string> = {},
): Promise<FastifyReply> {
  const { id } = request.beheerder!
  const { sql } = app.parts.database
  const [account] = await sql`
    select naam, gebruikersnaam, email, rol, max_vertrouwelijkheidaanduiding as max, laatste_login_op as login,
      totp_sinds, oidc_subject is not null as oidc
    from beheer_account where id = ${id}`
  const sessies = await sql<Sessie[]>`
    select uuid, adres, browser, gemaakt_op as "gemaaktOp", gezien_op as "gezienOp", id = ${request.sessie!.id} as deze
    from beheer_sessie
    where account_id = ${id} and stap = 'ingelogd' and vervalt_op > now() and gezien_op > now() - interval '30 minutes'
    order by deze desc, gezien_op desc limit 100`
  return reply.pagina('mijn-account', {
    titel: 'Mijn account',
    account,
    sessies: sessies.map((sessie) => ({ ...sessie, browser: browserNaam(sessie.browser) })),
    fouten,
  })
}

async function toonCodes(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  fouten: Record<string, string> = {},
): Promise<FastifyReply> {
  const { database, box, config: settings } = app.parts
  const { host } = new URL(request.base)
  return reply.pagina('mijn-account-codes', {
    titel: 'Eenmalige codes instellen',
    kruimels: [{ pad: '/mijn-account', naam: 'Mijn account' }],
    vereist: settings.beheerTotpRequired && !request.beheerder!.totp && request.beheerder!.wachtwoord,
    nieuw: await lopend(database, box, request.beheerder!, `Zaakstroom ${host}`.replaceAll(':', ' ')),
    fouten,
  })
}

/** What a browser calls itself, cut down to what people know it by. */
function browserNaam(text: string): string {
  const browser = /Edg\//.test(text)
    ? 'Edge'
    : /Firefox\//.test(text)
      ? 'Firefox'
      : /Chrome\//.test(text)
        ? 'Chrome'
        : /Safari\//.test(text)
          ? 'Safari'
          : text.slice(0, 60)
  const system = /Android/.test(text)
    ? 'Android'
    : /iPhone|iPad/.test(text)
      ? 'iOS'
      : /Windows/.test(text)
        ? 'Windows'
        : /Mac OS/.test(text)
          ? 'macOS'
          : /Linux/.test(text)
            ? 'Linux'
            : ''
  return system ? `${browser}, ${system}` : browser || 'onbekend'
}
