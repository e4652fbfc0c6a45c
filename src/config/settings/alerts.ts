// How people are told that something needs them: by mail, and by a webhook.
import Type from 'typebox'
import { pages } from '../in-pages.ts'

export const ALERTS = {
  smtpHost: Type.Optional(
    Type.String({
      env: 'SMTP_HOST',
      must: 'be a host name or an address, without a port',
      pattern: '^([A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:]{2,39})$',
      description: 'mail server that alerts are sent through; unset: nothing is mailed',
      ...pages({
        group: 'Meldingen',
        label: 'Mailserver',
        help: 'Leeg: er wordt niets gemaild.',
        must: 'een hostnaam of adres, zonder poort',
      }),
    }),
  ),
  smtpPort: Type.Integer({
    env: 'SMTP_PORT',
    default: 587,
    minimum: 1,
    maximum: 65_535,
    description: 'its port',
    ...pages({ group: 'Meldingen', label: 'Poort', help: 'Meestal 587 met STARTTLS, 465 met TLS, 25 zonder.' }),
  }),
  smtpSecurity: Type.Enum(['starttls', 'tls', 'none'], {
    env: 'SMTP_SECURITY',
    default: 'starttls',
    description: 'how the connection is protected: starttls (required), tls (from the start) or none',
    ...pages({
      group: 'Meldingen',
      label: 'Beveiliging van de verbinding',
      help: 'Zonder beveiliging is de mail onderweg te lezen, ook het wachtwoord.',
      choices: { starttls: 'STARTTLS (verplicht)', tls: 'TLS vanaf het begin', none: 'Geen' },
    }),
  }),
  smtpUsername: Type.Optional(
    Type.String({
      env: 'SMTP_USERNAME',
      minLength: 1,
      maxLength: 255,
      description: 'our name there; unset: the server asks for none',
      ...pages({
        group: 'Meldingen',
        label: 'Gebruikersnaam bij de mailserver',
        help: 'Leeg: de mailserver vraagt er niet om.',
        must: 'een gebruikersnaam',
      }),
    }),
  ),
  smtpPassword: Type.Optional(
    Type.String({
      env: 'SMTP_PASSWORD',
      secret: true,
      minLength: 1,
      maxLength: 1000,
      description: 'its password, with SMTP_HOST; it may be given in the pages too',
    }),
  ),
  smtpFrom: Type.Optional(
    Type.String({
      env: 'SMTP_FROM',
      must: 'be an e-mail address',
      pattern: '^[^@\\s<>,;]+@[^@\\s<>,;]+$',
      maxLength: 254,
      description: 'sender of the mail; unset: nothing is mailed',
      ...pages({
        group: 'Meldingen',
        label: 'Afzender',
        help: 'Het e-mailadres waar de mail vandaan komt. Leeg: er wordt niets gemaild.',
        must: 'een e-mailadres',
      }),
    }),
  ),
  alertWebhookUrl: Type.Optional(
    Type.String({
      env: 'ALERT_WEBHOOK_URL',
      kind: 'address',
      secret: true,
      must: 'begin with https:// or http://, and have no # and no @',
      pattern: '^https?://[^#@\\s]+$',
      maxLength: 2000,
      description: 'address that alerts are posted to as JSON; unset: nowhere; it may be given in the pages too',
    }),
  ),
  alertWebhookSecret: Type.Optional(
    Type.String({
      env: 'ALERT_WEBHOOK_SECRET',
      secret: true,
      must: 'be base64, with or without whsec_ before it',
      pattern: '^(whsec_)?[A-Za-z0-9+/]{16,}={0,2}$',
      maxLength: 500,
      description: 'what they are signed with (Standard Webhooks); it may be given in the pages too',
    }),
  ),
}
