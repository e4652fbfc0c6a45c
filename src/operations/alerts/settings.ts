// Where alerts go: the settings of mail and webhook. Secrets are from the environment, or sealed in `sealed_setting`.
import type { Config } from '../../config.ts'
import type { Mutation } from '../../core/mutate.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { ReadDb } from '../../database/database.ts'

export type MailSettings = {
  host: string
  port: number
  security: Config['smtpSecurity']
  from: string
  login: { user: string; pass: string } | undefined
  /** The password that is kept was given for another server: nothing is sent until it is given anew. */
  isElsewhere?: boolean
}
export type WebhookSettings = { url: string; secret: string | undefined }
export type AlertSettings = { mail: MailSettings | undefined; webhook: WebhookSettings | undefined }

/** Secret settings that the pages may give, by their names in the environment. */
export const SECRET_SETTINGS = {
  SMTP_PASSWORD: 'smtpPassword',
  ALERT_WEBHOOK_URL: 'alertWebhookUrl',
  ALERT_WEBHOOK_SECRET: 'alertWebhookSecret',
} as const
export type SecretSetting = keyof typeof SECRET_SETTINGS

/** What a secret setting is sealed for. */
export const settingOwner = (name: string): string => `setting:${name}`

/** Which of them there are, without what they are: from where. */
export async function secretOrigins(
  db: ReadDb,
  config: Config,
): Promise<Record<SecretSetting, 'environment' | 'database' | undefined>> {
  const stored = new Set((await db.selectFrom('sealedSetting').select('name').execute()).map(({ name }) => name))
  const origin = (name: SecretSetting) =>
    config[SECRET_SETTINGS[name]] !== undefined ? 'environment' : stored.has(name) ? 'database' : undefined
  return {
    SMTP_PASSWORD: origin('SMTP_PASSWORD'),
    ALERT_WEBHOOK_URL: origin('ALERT_WEBHOOK_URL'),
    ALERT_WEBHOOK_SECRET: origin('ALERT_WEBHOOK_SECRET'),
  }
}

/** The settings of this moment, with the secrets. Undefined: it is not set up. */
export async function readAlertSettings(db: ReadDb, config: Config, box: SecretBox): Promise<AlertSettings> {
  const rows = await db.selectFrom('sealedSetting').selectAll().execute()
  const secret = (name: SecretSetting): string | undefined => {
    const row = rows.find((one) => one.name === name)
    return (
      config[SECRET_SETTINGS[name]] ?? (row && box.tryOpenFor(row.sealed, settingOwner(name), serversOf(name, config)))
    )
  }
  const { smtpHost: host, smtpFrom: from, smtpPort: port, smtpSecurity: security, smtpUsername: user } = config
  const url = secret('ALERT_WEBHOOK_URL')
  const password = secret('SMTP_PASSWORD')
  const login = user ? { user, pass: password ?? '' } : undefined
  const isElsewhere = password === undefined && rows.some(({ name }) => name === 'SMTP_PASSWORD')
  return {
    mail: host && from ? { host, port, security, from, login, isElsewhere } : undefined,
    webhook: url ? { url, secret: secret('ALERT_WEBHOOK_SECRET') } : undefined,
  }
}

/** Where the password is sent, and whether anybody can read it on its way. */
const serversOf = (name: string, { smtpHost, smtpPort, smtpSecurity }: MailServer): string[] =>
  name === 'SMTP_PASSWORD' ? [`smtp+${smtpSecurity}://${smtpHost}:${smtpPort}`] : []
type MailServer = Pick<Config, 'smtpHost' | 'smtpPort' | 'smtpSecurity'>

/** Keeps a secret, or forgets it (empty). @param config as it is from now on */
export async function saveSecret(
  m: Mutation,
  { box, config }: { box: SecretBox; config: MailServer },
  name: SecretSetting,
  value: string,
): Promise<void> {
  if (value === '') await m.trx.deleteFrom('sealedSetting').where('name', '=', name).execute()
  else {
    const servers = serversOf(name, config)
    const sealed = box.sealFor(value, settingOwner(name), servers)
    await m.sql`
      insert into sealed_setting (name, sealed, servers) values (${name}, ${sealed}, ${servers})
      on conflict (name) do update set sealed = excluded.sealed, servers = excluded.servers`
  }
}
