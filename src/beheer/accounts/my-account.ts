// My account: what everybody manages himself: the password, one-time codes, and where he is signed in.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { isUuid } from '../../lib/uuid.ts'
import { mutateFromPage } from '../frame/change.ts'
import {
  type FormFaults,
  type FormValues,
  formFaultsOf,
  PasswordField,
  readForm,
  throwFormFaults,
} from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { endSessions, sessionOf, signedIn, startSession } from '../frame/session.ts'
import { t, words } from '../language/language.ts'
import { deleteTotp, isLongEnough, tooShort, writePassword } from './accounts.ts'
import { changeOwn, forgetCodes, fromRegistry, keptAt } from './centre-account.ts'
import { countingFailures } from './confirm.ts'
import { listPasskeys, mayHavePasskeys } from './passkeys.ts'

const config = { access: 'beheer', rol: 'viewer' } as const
/** Open also to those who still have to set up one-time codes. */
const own = { ...config, withoutTotp: true, withGivenPassword: true } as const
const settingUp = { ...config, withoutTotp: true, isSignIn: true } as const

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whoever has to set up one-time codes (BEHEER_TOTP_REQUIRED) may see this page before he did. */
    withoutTotp?: boolean
    /** Whoever has a password that was given may see this page before he chose his own. */
    withGivenPassword?: boolean
  }
}

const PasswordForm = Type.Object({ oud: PasswordField, nieuw: PasswordField, herhaald: PasswordField })
const Code = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) })

export function registerMyAccount(app: FastifyInstance): void {
  app.get('/mijn-account', { config }, async (request, reply) => show(app, request, reply))

  app.get('/mijn-account/wachtwoord', { config: own }, async (request, reply) => {
    if (!signedIn(request).passwordGiven) return redirectWith(request, reply, '/mijn-account')
    return reply.page('my-account-password', { ...FIRST_PASSWORD, faults: {} })
  })

  app.post('/mijn-account/wachtwoord', { config: own }, async (request, reply) => {
    const { id, gebruikersnaam, wachtwoord, passwordGiven, uuid } = signedIn(request)
    try {
      if (!wachtwoord) throwFormFaults({ '': t('Dit account heeft geen wachtwoord.') })
      const form = readForm(PasswordForm, request.body, newPasswordFaults)
      const { accounts } = keptAt(app, signedIn(request)).tables
      const right = await countingFailures(app, request, async () =>
        accounts.checkPassword(await accounts.find(gebruikersnaam), form.oud, { known: true }),
      )
      if (!right) throwFormFaults({ oud: t('Dit is niet uw huidige wachtwoord.') })
      await mutateFromPage(request, async (m) => {
        await changeOwn(request, m, { action: 'account-password', endsSessions: true }, (db, id) =>
          writePassword(db, id, form.nieuw, { given: false }),
        )
        m.audit({ handeling: 'wachtwoord-wijzigen', soort: 'account', id: uuid, weergave: gebruikersnaam })
      })
    } catch (error) {
      const faults = formFaultsOf(error)
      if (!passwordGiven) return show(app, request, reply.code(400), faults)
      return reply.code(400).page('my-account-password', { ...FIRST_PASSWORD, faults })
    }
    await startSession(request, reply, id, { isConfirmed: true, oidc: sessionOf(request).oidc })
    return redirectWith(
      request,
      reply,
      passwordGiven ? '/' : '/mijn-account',
      t('Uw wachtwoord is gewijzigd. Op andere plaatsen moet u opnieuw inloggen.'),
    )
  })

  app.get('/mijn-account/codes', { config: settingUp }, async (request, reply) => showCodes(app, request, reply))

  app.post('/mijn-account/codes/nieuw', { config: settingUp }, async (request, reply) => {
    const { tables, who, box } = keptAt(app, signedIn(request))
    await fromRegistry(signedIn(request).centre !== undefined, () => tables.codes.begin(box, who))
    return redirectWith(request, reply, '/mijn-account/codes')
  })

  app.post('/mijn-account/codes/bevestigen', { config: settingUp }, async (request, reply) => {
    const administrator = signedIn(request)
    try {
      const { code } = readForm(Code, request.body)
      const { tables, who, box } = keptAt(app, administrator)
      if (!(await countingFailures(app, request, () => tables.codes.use(box, who, code, true))))
        throwFormFaults({
          code: t('Deze code klopt niet. Wacht op de volgende code in de app en controleer de tijd van uw telefoon.'),
        })
      await mutateFromPage(request, async (m) => {
        await changeOwn(request, m, { action: 'account-codes', endsSessions: true }, async () => {})
        m.audit({
          handeling: 'codes-instellen',
          soort: 'account',
          id: administrator.uuid,
          weergave: administrator.gebruikersnaam,
        })
      })
    } catch (error) {
      return showCodes(app, request, reply.code(400), formFaultsOf(error))
    }
    await startSession(request, reply, administrator.id, { isConfirmed: true, oidc: sessionOf(request).oidc })
    return redirectWith(request, reply, '/mijn-account', t('Bij het inloggen wordt voortaan ook een code gevraagd.'))
  })

  app.get('/mijn-account/codes/verwijderen', { config }, async (request, reply) => {
    if (!signedIn(request).totp) return redirectWith(request, reply, '/mijn-account')
    return reply.page('my-account-codes-delete', { ...CODES_WEG, isRequired: app.parts.config.beheerTotpRequired })
  })

  app.post('/mijn-account/codes/verwijderen', { config }, async (request, reply) => {
    const administrator = signedIn(request)
    try {
      const { code } = readForm(Code, request.body)
      const { tables, who, box } = keptAt(app, administrator)
      if (!(await countingFailures(app, request, () => tables.codes.use(box, who, code))))
        throwFormFaults({ code: t('Deze code klopt niet, of is al gebruikt. Wacht op de volgende code.') })
      await mutateFromPage(request, async (m) => {
        await changeOwn(request, m, { action: 'account-codes', endsSessions: false }, deleteTotp)
        m.audit({
          handeling: 'codes-verwijderen',
          soort: 'account',
          id: administrator.uuid,
          weergave: administrator.gebruikersnaam,
        })
      })
    } catch (error) {
      return reply.code(400).page('my-account-codes-delete', {
        ...CODES_WEG,
        isRequired: app.parts.config.beheerTotpRequired,
        faults: formFaultsOf(error),
      })
    }
    await startSession(request, reply, administrator.id, { isConfirmed: true, oidc: sessionOf(request).oidc })
    return redirectWith(request, reply, '/mijn-account', t('Er wordt geen code meer gevraagd bij het inloggen.'))
  })

  app.post<{ Body: { sessie?: string } }>('/mijn-account/sessies', { config }, async (request, reply) => {
    const { id, uuid, gebruikersnaam } = signedIn(request)
    const session = String(request.body?.sessie ?? '')
    const which = isUuid(session) ? { uuid: session } : { behalve: sessionOf(request).id }
    const count = await mutateFromPage(request, async (m) => {
      const ended = await endSessions(m.trx, id, which)
      m.audit({
        handeling: 'sessies-beeindigen',
        soort: 'account',
        id: uuid,
        weergave: gebruikersnaam,
        nieuw: { beeindigd: ended },
      })
      return ended
    })
    await forgetCodes(request, signedIn(request))
    const text = count === 1 ? t('Eén sessie is beëindigd.') : t`Er zijn ${count} sessies beëindigd.`
    return redirectWith(request, reply, '/mijn-account', text)
  })
}

const FIRST_PASSWORD = words({ title: 'Kies een eigen wachtwoord' }, 'title')

function newPasswordFaults({ oud, nieuw, herhaald }: FormValues): FormFaults {
  const text = String(nieuw ?? '')
  return {
    ...(text !== '' && !isLongEnough(text) && { nieuw: tooShort() }),
    ...(text !== '' && text === oud && { nieuw: t('Kies een ander wachtwoord dan het huidige.') }),
    ...(text !== String(herhaald ?? '') && { herhaald: t('Dit is niet hetzelfde als het nieuwe wachtwoord.') }),
  }
}

const CODES_WEG = words(
  {
    title: 'Eenmalige codes verwijderen',
    breadcrumbs: [{ path: '/mijn-account', name: 'Mijn account' }],
    faults: {},
  },
  'title',
  'name',
)

type SessionRow = { uuid: string; address: string; browser: string; createdAt: string; seenAt: string; deze: boolean }

async function show(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  faults: Record<string, string> = {},
): Promise<FastifyReply> {
  const { id, rol, maxVertrouwelijkheidaanduiding: max } = signedIn(request)
  const { sql } = app.reader
  const [account] = await sql<
    {
      naam: string
      gebruikersnaam: string
      email: string
      login: string | null
    }[]
  >`
    select naam, gebruikersnaam, email, last_sign_in_at as login from beheer_account where id = ${id}`
  const sessions = await sql<SessionRow[]>`
    select uuid, address, browser, created_at as "createdAt", seen_at as "seenAt", id = ${sessionOf(request).id} as deze
    from beheer_session
    where account_id = ${id} and step = 'signed-in' and expires_at > now() and seen_at > now() - interval '30 minutes'
    order by deze desc, seen_at desc limit 100`
  return reply.page('my-account', {
    title: t('Mijn account'),
    account: { ...account, rol, max },
    passkeys: mayHavePasskeys(request) ? await listPasskeys(app.read, id) : undefined,
    sessions: sessions.map((session) => ({ ...session, browser: browserName(session.browser) })),
    faults,
  })
}

async function showCodes(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  faults: Record<string, string> = {},
): Promise<FastifyReply> {
  const { config: settings } = app.parts
  const { tables, who, box } = keptAt(app, signedIn(request))
  const { host } = new URL(request.base)
  return reply.page('my-account-codes', {
    title: t('Eenmalige codes instellen'),
    breadcrumbs: [{ path: '/mijn-account', name: t('Mijn account') }],
    isRequired: settings.beheerTotpRequired && !signedIn(request).totp && signedIn(request).wachtwoord,
    fresh: await fromRegistry(signedIn(request).centre !== undefined, () =>
      tables.codes.running(box, who, `Zaakstroom ${host}`.replaceAll(':', ' ')),
    ),
    faults,
  })
}

/** What a browser calls itself, cut down to what people know it by. */
function browserName(text: string): string {
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
  return system ? `${browser}, ${system}` : browser || t('onbekend')
}
