// Account pages: who may use the administration pages.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { forbidden, notFound } from '../../core/problem.ts'
import { endWait } from '../../core/sign-in-attempts.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import { expected } from '../../database/rows.ts'
import { OptionalText } from '../../http/input.ts'
import { VERTROUWELIJKHEID } from '../applicaties/applicatie-labels.ts'
import { type AuditEntry, mutateFromPage } from '../frame/change.ts'
import {
  type FormFaults,
  type FormValues,
  formFaultsOf,
  PasswordField,
  readForm,
  throwFormFaults,
} from '../frame/form.ts'
import { basePath } from '../frame/keyset-list.ts'
import { keysetByNumber, sortsOf } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { addNotice, endSessions, ROLLEN, seal, sessionOf, signedIn, unseal } from '../frame/session.ts'
import { t, words } from '../language/language.ts'
import {
  ACCOUNTS as ACCOUNT_ROWS,
  type Account,
  type AccountChange,
  changeAccount,
  createAccount,
  deleteAccount,
  deleteTotp,
  findAccount,
  GEBRUIKERSNAAM,
  generatePassword,
  INVITED_DAYS,
  invitationUrl,
  invite,
  isAccountLike,
  isLongEnough,
  setPassword,
  tooShort,
} from './accounts.ts'
import { forgetCodes } from './centre-account.ts'

const config = { access: 'beheer', rol: 'administrator' } as const
/** Decides who may sign in, and as what. */
const changing = { ...config, isSignIn: true } as const
type Params = { Params: { uuid: string } }

const AccountFields = Type.Object({
  naam: OptionalText(200),
  email: Type.Optional(Type.String({ format: 'email', maxLength: 254, default: '' })),
  rol: Type.Enum(ROLLEN),
  mayRepair: Type.Boolean(),
  maxVertrouwelijkheidaanduiding: Type.Enum(VERTROUWELIJKHEIDAANDUIDINGEN),
})
const WAYS = ['maken', 'typen', 'oidc'] as const
const NewAccount = Type.Object({
  gebruikersnaam: Type.String({ maxLength: 150 }),
  ...AccountFields.properties,
  wijze: Type.Enum(WAYS),
  wachtwoord: Type.Optional(PasswordField),
})
const ChangedAccount = Type.Object({ ...AccountFields.properties, actief: Type.Boolean() })
/** Of an account of the centre: all else is said there. */
const ChangedHere = Type.Object({ actief: Type.Boolean() })
const PasswordForm = Type.Object({
  wijze: Type.Enum(['maken', 'typen']),
  wachtwoord: Type.Optional(PasswordField),
})

const ROLE_WORDS: Record<(typeof ROLLEN)[number], string> = words({
  viewer: 'viewer: kijkt alleen',
  privacy: 'privacy: kijkt, en ziet wie naar zaken en personen keek',
  operator: 'operator: ook imports en opnieuw versturen',
  administrator: 'administrator: ook instellingen, rechten en accounts',
})

const SORTS = sortsOf('beheerAccount', 'a', {
  gebruikersnaam: sql`lower(a.gebruikersnaam)`,
  naam: sql`lower(a.naam)`,
  rol: sql`a.rol`,
  stand: sql`a.actief`,
  login: sql`coalesce(a.last_sign_in_at, '-infinity')`,
})

export function registerAccounts(app: FastifyInstance): void {
  app.get<{ Querystring: { zoek?: string } }>('/accounts', { config }, async (request, reply) => {
    const zoek = asText(request.query.zoek).slice(0, 200)
    const list = await keysetByNumber<Account>(request, app.read, {
      select: ACCOUNT_ROWS,
      id: sql`a.id`,
      sorts: SORTS,
      standard: 'gebruikersnaam',
      conditions: [isAccountLike(zoek)],
    })
    return reply.page('accounts', { title: t('Accounts'), defaultSort: 'gebruikersnaam', list, zoek })
  })

  app.get('/accounts/nieuw', { config: changing }, async (_request, reply) =>
    reply.page('account-new', {
      ...newPage(app),
      values: { rol: 'viewer', maxVertrouwelijkheidaanduiding: 'vertrouwelijk', wijze: 'maken' },
      faults: {},
    }),
  )

  app.post('/accounts', { config: changing }, async (request, reply) => {
    try {
      const { wijze, wachtwoord, ...form } = readForm(NewAccount, request.body, (given) => ({
        ...nameFaults(given),
        ...passwordFaults(given),
      }))
      const chosen = choosePassword(wijze, wachtwoord)
      let link: string | undefined
      const uuid = await mutateFromPage(request, async (m) => {
        const made = await createAccount(m.trx, {
          ...form,
          ...(chosen !== undefined && { wachtwoord: chosen, passwordGiven: true }),
        })
        m.audit({
          handeling: 'account-maken',
          soort: 'account',
          id: made.uuid,
          weergave: form.gebruikersnaam,
          nieuw: { ...form, wachtwoord: chosen !== undefined },
        })
        if (wijze === 'oidc') link = invitationUrl(request.base, await invite(m.trx, made.id))
        return made.uuid
      })
      const text = t`Het account ${form.gebruikersnaam} is gemaakt.`
      if (wijze === 'maken') return await showOnce(request, reply, `${uuid}/wachtwoord`, expected(chosen), text)
      if (wijze === 'oidc') return await showOnce(request, reply, `${uuid}/uitnodiging`, expected(link), text)
      return await redirectWith(request, reply, `/accounts/${uuid}`, text)
    } catch (error) {
      return reply.code(400).page('account-new', {
        ...newPage(app),
        values: (request.body ?? {}) as FormValues,
        faults: formFaultsOf(error),
      })
    }
  })

  app.get<Params>('/accounts/:uuid', { config: changing }, async (request, reply) => {
    const account = await requireAccount(app, request)
    return reply.page('account', { ...accountPage(request, account), values: account, faults: {} })
  })

  app.post<Params>('/accounts/:uuid', { config: changing }, async (request, reply) => {
    const account = await requireAccount(app, request)
    try {
      const form: AccountChange = readForm(account.centre ? ChangedHere : ChangedAccount, request.body)
      if (account.id === signedIn(request).id && !form.actief)
        throwFormFaults({
          actief: t('U kunt uw eigen account niet op niet-actief zetten. Vraag een andere administrator.'),
        })
      await mutateFromPage(request, async (m) => {
        await changeAccount(m.trx, account.id, form, app.members)
        const oud = Object.fromEntries(Object.keys(form).map((name) => [name, account[name as keyof AccountChange]]))
        m.audit({ ...recordOf(account, 'account-wijzigen'), oud, nieuw: form })
      })
      await forgetCodes(request, account)
      const self = account.id === signedIn(request).id && (form.rol ?? account.rol) !== 'administrator'
      return await redirectWith(
        request,
        reply,
        self ? '/' : `/accounts/${account.uuid}`,
        t('De wijziging is opgeslagen.'),
      )
    } catch (error) {
      return reply.code(400).page('account', {
        ...accountPage(request, account),
        values: request.body ?? {},
        faults: formFaultsOf(error),
      })
    }
  })

  app.get<Params>('/accounts/:uuid/wachtwoord', { config: changing }, async (request, reply) => {
    const account = await requireOwnAccount(app, request)
    return reply.page('account-password', {
      ...passwordPage(account),
      getoond: unseal(request),
      values: { wijze: 'maken' },
      faults: {},
    })
  })

  app.post<Params>('/accounts/:uuid/wachtwoord', { config: changing }, async (request, reply) => {
    const account = await requireOwnAccount(app, request)
    try {
      const { wijze, wachtwoord } = readForm(PasswordForm, request.body, passwordFaults)
      const chosen = expected(choosePassword(wijze, wachtwoord))
      const own = account.id === signedIn(request).id
      await mutateFromPage(request, async (m) => {
        await setPassword(m.trx, account.id, chosen, { keep: own ? sessionOf(request).id : null, given: !own })
        m.audit(recordOf(account, 'wachtwoord-wijzigen'))
      })
      const text = t`Het account ${account.gebruikersnaam} heeft een nieuw wachtwoord.`
      if (wijze === 'maken') return await showOnce(request, reply, `${account.uuid}/wachtwoord`, chosen, text)
      return await redirectWith(request, reply, `/accounts/${account.uuid}`, text)
    } catch (error) {
      return reply.code(400).page('account-password', {
        ...passwordPage(account),
        values: request.body ?? {},
        faults: formFaultsOf(error),
      })
    }
  })

  app.get<Params>('/accounts/:uuid/uitnodiging', { config: changing }, async (request, reply) => {
    const account = await requireInvitable(app, request)
    return reply.page('account-invitation', { ...invitationPage(account), getoond: unseal(request) })
  })

  app.post<Params>('/accounts/:uuid/uitnodiging', { config: changing }, async (request, reply) => {
    const account = await requireInvitable(app, request)
    const code = await mutateFromPage(request, async (m) => {
      m.audit(recordOf(account, 'uitnodiging-maken'))
      return invite(m.trx, account.id)
    })
    const link = invitationUrl(request.base, code)
    return showOnce(request, reply, `${account.uuid}/uitnodiging`, link, t('De uitnodiging is gemaakt.'))
  })

  for (const [naam, actie] of Object.entries(ACTIONS)) {
    const required = actie.isOfCentreToo ? requireAccount : requireOwnAccount
    app.get<Params>(`/accounts/:uuid/${naam}`, { config: changing }, async (request, reply) => {
      const account = await required(app, request)
      return reply.page('account-act', {
        title: actie.title,
        breadcrumbs: breadcrumbsOf(account),
        account,
        naam,
        help: actie.help,
        button: actie.button,
        faults: {},
      })
    })
    app.post<Params>(`/accounts/:uuid/${naam}`, { config: changing }, async (request, reply) => {
      const account = await required(app, request)
      try {
        if (naam === 'verwijderen' && account.id === signedIn(request).id)
          throwFormFaults({ '': t('U kunt uw eigen account niet verwijderen. Vraag een andere administrator.') })
        await mutateFromPage(request, async (m) => {
          await actie.act(m.trx, account, request)
          m.audit(recordOf(account, actie.handeling))
        })
        await forgetCodes(request, account)
      } catch (error) {
        return reply.code(400).page('account-act', {
          title: actie.title,
          breadcrumbs: breadcrumbsOf(account),
          account,
          naam,
          help: actie.help,
          button: actie.button,
          faults: formFaultsOf(error),
        })
      }
      const path = naam === 'verwijderen' ? '/accounts' : `/accounts/${account.uuid}`
      return redirectWith(request, reply, path, actie.done(account.gebruikersnaam))
    })
  }
}

type Act = {
  title: string
  help: string
  button: string
  handeling: string
  /** Also for an account of the centre. */
  isOfCentreToo?: boolean
  act(trx: Parameters<typeof deleteAccount>[0], account: Account, request: FastifyRequest): Promise<unknown>
  done(username: string): string
}

/** What is done after a page that asks whether it is meant. */
const ACTIONS: Record<string, Act> = words(
  {
    verwijderen: {
      title: 'Account verwijderen',
      help: 'De persoon kan niet meer inloggen. In de audit blijft staan wat met dit account is gedaan.',
      button: 'Account verwijderen',
      handeling: 'account-verwijderen',
      act: (trx, { id }, { server }) => deleteAccount(trx, id, server.members),
      done: (name) => t`Het account ${name} is verwijderd.`,
    },
    sessies: {
      title: 'Sessies beëindigen',
      help: 'De persoon is meteen overal uitgelogd, en kan daarna opnieuw inloggen.',
      button: 'Sessies beëindigen',
      handeling: 'sessies-beeindigen',
      isOfCentreToo: true,
      act: (trx, { id }, request) =>
        endSessions(trx, id, { behalve: id === signedIn(request).id ? sessionOf(request).id : null }),
      done: (name) => t`De sessies van ${name} zijn beëindigd.`,
    },
    codes: {
      title: 'Eenmalige codes verwijderen',
      help: 'Doe dit als iemand de app met codes kwijt is, en u zeker weet dat het deze persoon is. Bij het inloggen wordt dan alleen het wachtwoord gevraagd, tot de codes opnieuw zijn ingesteld.',
      button: 'Codes verwijderen',
      handeling: 'codes-verwijderen',
      act: (trx, { id }) => deleteTotp(trx, id),
      done: (name) => t`De eenmalige codes van ${name} zijn verwijderd.`,
    },
    passkeys: {
      title: 'Passkeys verwijderen',
      help: 'Doe dit als iemand een apparaat kwijt is. De persoon logt dan weer in met zijn wachtwoord, en kan nieuwe passkeys maken.',
      button: 'Passkeys verwijderen',
      handeling: 'passkeys-verwijderen',
      act: (trx, { id }) => trx.deleteFrom('beheerPasskey').where('accountId', '=', id).execute(),
      done: (name) => t`De passkeys van ${name} zijn verwijderd.`,
    },
    wachttijd: {
      title: 'Wachttijd opheffen',
      help: 'Na verkeerde wachtwoorden of codes moet overal waar ze zijn ingevuld worden gewacht. Die wachttijden vervallen, ook voor wie ze heeft veroorzaakt. De persoon hoort bij het inloggen nog wel hoe vaak het is geprobeerd.',
      button: 'Wachttijd opheffen',
      handeling: 'wachttijd-opheffen',
      act: (trx, { id }) => endWait(trx, id),
      done: (name) => t`Voor ${name} hoeft niet meer te worden gewacht.`,
    },
  },
  'title',
  'help',
  'button',
)

const ACCOUNTS = words([{ path: '/accounts', name: 'Accounts' }], 'name')
const breadcrumbsOf = ({ uuid, gebruikersnaam }: Account) => [
  ...ACCOUNTS,
  { path: `/accounts/${uuid}`, name: gebruikersnaam },
]
const CHOICES = words(
  {
    rollen: Object.entries(ROLE_WORDS),
    levels: VERTROUWELIJKHEIDAANDUIDINGEN.map((value) => [value, VERTROUWELIJKHEID[value]]),
  },
  '1',
)
const newPage = ({ parts }: FastifyInstance) => ({
  title: t('Nieuw account'),
  breadcrumbs: ACCOUNTS,
  ...CHOICES,
  oidc: parts.config.oidc?.label,
})
const accountPage = (request: FastifyRequest, account: Account) => ({
  title: account.gebruikersnaam,
  breadcrumbs: ACCOUNTS,
  account,
  zelf: account.id === signedIn(request).id,
  /** Of the centre, with a role here at this moment. */
  ofCentre: account.centre && request.server.members?.withUuid(account.uuid) !== undefined,
  ...CHOICES,
})
const passwordPage = (account: Account) => ({
  title: t('Nieuw wachtwoord'),
  breadcrumbs: breadcrumbsOf(account),
  account,
})

const invitationPage = (account: Account) => ({
  title: t('Uitnodiging'),
  breadcrumbs: breadcrumbsOf(account),
  account,
  days: INVITED_DAYS,
})

const recordOf = ({ uuid, gebruikersnaam }: Account, handeling: string): AuditEntry => ({
  handeling,
  soort: 'account',
  id: uuid,
  weergave: gebruikersnaam,
})

async function requireAccount(app: FastifyInstance, request: FastifyRequest): Promise<Account> {
  const account = await findAccount(app.read, asText((request.params as { uuid: string }).uuid))
  if (!account) throw notFound(t('Dit account bestaat niet (meer).'))
  return account
}

/** One of which the password and all else is kept here; of the centre only one that has no role here any more. */
async function requireOwnAccount(app: FastifyInstance, request: FastifyRequest): Promise<Account> {
  const account = await requireAccount(app, request)
  if (!account.centre || (request.routeOptions.url?.endsWith('/verwijderen') && !app.members?.withUuid(account.uuid)))
    return account
  throw forbidden(undefined, t('Dit is een account van het centrum: alleen dat kan dit wijzigen.'))
}

/** One that signs in with OpenID Connect alone. */
async function requireInvitable(app: FastifyInstance, request: FastifyRequest): Promise<Account> {
  const account = await requireOwnAccount(app, request)
  if (account.centre || account.wachtwoord) throw notFound(t('Dit account logt in met een wachtwoord.'))
  return account
}

/** Undefined: none. */
function choosePassword(wijze: (typeof WAYS)[number], typed: string | undefined): string | undefined {
  if (wijze === 'oidc') return undefined
  if (wijze === 'maken') return generatePassword()
  return typed
}

function nameFaults({ gebruikersnaam }: FormValues): FormFaults {
  const name = String(gebruikersnaam ?? '').trim()
  return name === '' || new RegExp(GEBRUIKERSNAAM).test(name)
    ? {}
    : { gebruikersnaam: t('Gebruik letters, cijfers en leestekens, zonder spaties of accenten.') }
}

function passwordFaults({ wijze, wachtwoord }: FormValues): FormFaults {
  if (wijze !== 'typen') return {}
  const text = String(wachtwoord ?? '')
  if (text === '') return { wachtwoord: t('Vul een wachtwoord in.') }
  return isLongEnough(text) ? {} : { wachtwoord: tooShort() }
}

/** To the page of an account that shows what was made once: a password or an invitation. */
async function showOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
  secret: string,
  text: string,
): Promise<FastifyReply> {
  const path = `/accounts/${page}`
  await addNotice(request, path, { soort: 'goed', tekst: text, verzegeld: seal(request, secret) })
  return reply.redirect(`${basePath(request)}/beheer${path}`, 303)
}

/** A parameter of the address, whatever was sent. */
const asText = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : '')
