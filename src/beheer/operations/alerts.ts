// Alerts: what people were told of and whether it reached them, and where it goes: the mail server and the webhook.

import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { readAlertSettings, type SecretSetting, saveSecret, secretOrigins } from '../../operations/alerts/settings.ts'
import { ALERT_KINDS, isMailSetUp, testMail, testsOf } from '../accounts/my-alerts.ts'
import { type FormFaults, type FormValues, formFaultsOf, PasswordField, readForm } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { signedIn } from '../frame/session.ts'
import { t, words } from '../language/language.ts'
import { saveSettings, settingFields, storedFaults } from './settings.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const administering = { access: 'beheer', rol: 'administrator' } as const
const PATH = '/meldingen'
const SETTINGS = `${PATH}/instellingen`
const SHOWN = 100

const Secrets = Type.Object({
  SMTP_PASSWORD: Type.Optional(PasswordField),
  ALERT_WEBHOOK_URL: Type.Optional(Type.String({ maxLength: 2000 })),
  ALERT_WEBHOOK_SECRET: Type.Optional(Type.String({ maxLength: 500 })),
  forget: Type.Array(Type.Enum(['SMTP_PASSWORD', 'ALERT_WEBHOOK_URL', 'ALERT_WEBHOOK_SECRET'])),
})
/** What is kept of each, for the audit log. */
const NAMES: Record<SecretSetting, string> = words({
  SMTP_PASSWORD: 'Wachtwoord bij de mailserver',
  ALERT_WEBHOOK_URL: 'Adres van de webhook',
  ALERT_WEBHOOK_SECRET: 'Geheim van de webhook',
})

export function registerAlerts(app: FastifyInstance): void {
  const { parts } = app
  const tests = app.each(testsOf)

  app.get(PATH, { config: viewing }, async (_request, reply) => {
    const origins = await secretOrigins(app.read, parts.config)
    return reply.page('alerts', {
      title: t('Meldingen'),
      ...(await readAlerts(app)),
      kinds: ALERT_KINDS,
      isMailSetUp: isMailSetUp(app),
      isWebhookSetUp: origins.ALERT_WEBHOOK_URL !== undefined,
    })
  })

  app.get(SETTINGS, { config: administering }, async (_request, reply) => reply.page('alert-settings', await page()))

  app.post(SETTINGS, { config: administering }, async (request, reply) => {
    const form = (request.body ?? {}) as FormValues
    try {
      const { forget, ...given } = readForm(Secrets, form, badSecrets)
      const origins = await secretOrigins(app.read, parts.config)
      const isFree = (name: SecretSetting) => origins[name] !== 'environment'
      const kept = (Object.keys(NAMES) as SecretSetting[]).filter(isFree)
      const host = [form.SMTP_HOST].flat().at(-1)?.trim()
      const hasPassword = origins.SMTP_PASSWORD === 'database' && !forget.includes('SMTP_PASSWORD')
      const changes = kept.flatMap((name): [SecretSetting, string][] => {
        const isForgotten = forget.includes(name) || (name === 'SMTP_PASSWORD' && host === '' && hasPassword)
        return isForgotten ? [[name, '']] : given[name] === undefined ? [] : [[name, given[name]]]
      })
      const changed = await saveSettings(
        request,
        form,
        changes.length === 0
          ? undefined
          : async (m, config) => {
              for (const [name, value] of changes) {
                await saveSecret(m, { box: parts.box, config }, name, value)
                const what = value === '' ? 'verwijderd' : 'ingesteld'
                m.audit({
                  handeling: 'instelling-wijzigen',
                  soort: 'instelling',
                  id: name,
                  weergave: `${NAMES[name]}: ${what}`,
                })
              }
              return changes.length
            },
        new Set(changes.map(([name]) => name)),
      )
      const text =
        changed === 0 ? t('Er was niets gewijzigd.') : t('De instellingen zijn opgeslagen. Probeer ze nu met een test.')
      return await redirectWith(request, reply, SETTINGS, text, changed === 0 ? 'info' : 'goed')
    } catch (error) {
      const faults = formFaultsOf(error)
      return reply.code(400).page('alert-settings', await page(form, faults))
    }
  })

  app.post<{ Body: { naar?: string } }>(`${SETTINGS}/testen`, { config: administering }, async (request, reply) => {
    const isWebhook = request.body?.naar === 'webhook'
    const account = await app.read
      .selectFrom('beheerAccount')
      .select('email')
      .where('id', '=', signedIn(request).id)
      .executeTakeFirst()
    const email = account?.email ?? ''
    if (!isWebhook && email === '')
      return redirectWith(request, reply, SETTINGS, t('Dit account heeft geen e-mailadres.'), 'fout')
    const fault = await testMail(request, tests(), isWebhook ? undefined : email)
    if (fault !== undefined) return redirectWith(request, reply, SETTINGS, fault, 'fout')
    const text = isWebhook ? t('De webhook heeft de test aangenomen.') : t`De test is verstuurd naar ${email}.`
    return redirectWith(request, reply, SETTINGS, text)
  })

  async function page(form: FormValues = {}, faults: FormFaults = {}) {
    const { mail } = await readAlertSettings(app.read, parts.config, parts.box)
    return {
      title: t('Meldingen instellen'),
      breadcrumbs: [{ path: PATH, name: t('Meldingen') }],
      faults: {
        ...(await storedFaults(app, ['Meldingen'])),
        ...(mail?.isElsewhere && {
          SMTP_PASSWORD: t(
            'Dit wachtwoord is voor een andere mailserver gegeven. Vul het opnieuw in, of verwijder het.',
          ),
        }),
        ...faults,
      },
      fields: await settingFields(app, 'Meldingen', form),
      origins: await secretOrigins(app.read, parts.config),
      isMailSetUp: isMailSetUp(app),
    }
  }
}

function badSecrets({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret }: FormValues): FormFaults {
  const is = (value: string | string[] | undefined, pattern: RegExp) => {
    const text = [value].flat().at(-1)?.trim()
    return !text || pattern.test(text)
  }
  return {
    ...(!is(url, /^https?:\/\/[^#@\s]+$/) && {
      ALERT_WEBHOOK_URL: t('Vul een adres in dat met https:// of http:// begint, zonder # en @.'),
    }),
    ...(!is(secret, /^(whsec_)?[A-Za-z0-9+/]{16,}={0,2}$/) && {
      ALERT_WEBHOOK_SECRET: t('Vul base64 in, met of zonder whsec_ ervoor.'),
    }),
  }
}

async function readAlerts({ reader: { sql } }: FastifyInstance) {
  const [open, ended, messages, counts] = await Promise.all([
    sql<{ kind: keyof typeof ALERT_KINDS; level: number; text: string; path: string; since: string }[]>`
      select kind, level, text, path, since from alert where ended_at is null order by level desc, id desc limit ${SHOWN}`,
    sql<{ kind: keyof typeof ALERT_KINDS; text: string; since: string; endedAt: string }[]>`
      select kind, text, since, ended_at as "endedAt" from alert where ended_at is not null
      order by ended_at desc limit ${SHOWN}`,
    sql<
      {
        to: string | null
        kind: string
        lines: number
        createdAt: string
        attempts: number
        sentAt: string | null
        fault: string
        isGivenUp: boolean
      }[]
    >`
      select a.gebruikersnaam as to, m.kind, jsonb_array_length(m.lines) as lines, m.created_at as "createdAt", m.attempts,
        m.sent_at as "sentAt", m.fault, m.created_at < now() - interval '1 day' as "isGivenUp"
      from alert_message m left join beheer_account a on a.id = m.account_id order by m.id desc limit ${SHOWN}`,
    sql<{ accounts: number; digests: number }[]>`
      select count(*) filter (where cardinality(alert_kinds) > 0)::int as accounts,
        count(*) filter (where alert_digest <> 'nooit')::int as digests from beheer_account where actief and email <> ''`,
  ])
  return { open, ended, messages, counts: counts[0] }
}
