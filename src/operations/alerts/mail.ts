// Mail over SMTP, by nodemailer, which is loaded when something is sent. It is given a connection that we open, to an address that
// may be called (services/addresses.ts): the mail server is registered by an administrator, as a service is.
import { connect, isIP, type Socket } from 'node:net'
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport'
import { SecretElsewhere } from '../../core/secret-box.ts'
import { loadOptional, PackageMissing } from '../../lib/optional-package.ts'
import { allowedAddress, blocked, FOR_SERVICES } from '../../services/addresses.ts'
import type { MailSettings } from './settings.ts'

export type Mail = { id: string; to: string; subject: string; text: string }

/** For one mail, from connecting until it was accepted. */
const MS = 30_000

/** @throws an error whose `code` `mailFailure` puts into words; it never has the password in its message */
export async function sendMail(settings: MailSettings, mail: Mail): Promise<void> {
  const { createTransport } = await loadOptional('SMTP_HOST', () => import('nodemailer'))
  const { host, port, security, from, login, isElsewhere } = settings
  if (isElsewhere) throw new SecretElsewhere()
  const late = AbortSignal.timeout(MS)
  const getSocket: SMTPTransportGetSocket = (_options, callback) => {
    openSocket(host, port, late).then(
      (connection) => callback(null, { connection }),
      (error) => callback(error, false),
    )
  }
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(login && { auth: login }),
    connectionTimeout: MS,
    greetingTimeout: MS,
    socketTimeout: MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket,
  })
  const sending = transport.sendMail({
    from: { name: 'Zaakstroom', address: from },
    to: { name: '', address: mail.to },
    subject: `[Zaakstroom] ${mail.subject}`,
    text: mail.text,
    // The same at every attempt, so that a mail program shows it once.
    messageId: `<${mail.id}@${from.split('@')[1]}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  })
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(Object.assign(new Error('the mail server did not answer in time'), { code: 'ETIMEDOUT' }))
  late.addEventListener('abort', stop)
  try {
    await Promise.race([sending, promise])
  } finally {
    late.removeEventListener('abort', stop)
    transport.close()
  }
}

/** Opens the connection to what may be called; the time counts for all that follows on it. */
async function openSocket(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  if (FOR_SERVICES.refuses(new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}`))) throw blocked()
  const address = isIP(host) ? host : await allowedAddress(FOR_SERVICES, host)
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host: address, port })
  signal.addEventListener('abort', () => socket.destroy())
  socket.once('error', reject)
  socket.once('close', () => reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNECTION' })))
  socket.once('connect', () => {
    socket.off('error', reject)
    socket.on('error', () => {}) // nodemailer listens from here on; what comes after it has gone concerns nobody
    resolve(socket)
  })
  return promise
}

const FAILURES: Record<string, string> = {
  ECONNREFUSED: 'de mailserver weigert de verbinding',
  ECONNECTION: 'de mailserver verbrak de verbinding',
  ESOCKET: 'de verbinding met de mailserver werd verbroken',
  ETIMEDOUT: 'de mailserver antwoordde niet op tijd',
  EDNS: 'de mailserver is niet te vinden',
  ENOTFOUND: 'de mailserver is niet te vinden',
  EAI_AGAIN: 'de mailserver is niet te vinden',
  ETLS: 'de beveiligde verbinding kwam niet tot stand',
  EAUTH: 'de mailserver nam de gebruikersnaam of het wachtwoord niet aan',
  SECRET_ELSEWHERE: 'het wachtwoord is voor een andere mailserver gegeven: vul het bij Meldingen opnieuw in',
  ENOAUTH: 'de mailserver vraagt een gebruikersnaam en wachtwoord',
  EENVELOPE: 'de mailserver weigert de afzender of de ontvanger',
  EMESSAGE: 'de mailserver weigert het bericht',
  EPROTOCOL: 'dit is geen mailserver',
  BLOCKED_ADDRESS: 'dit adres mag niet worden aangeroepen',
}

/** Why a mail was not accepted, in Dutch; never what the server said, which may repeat what it was told. */
export function mailFailure(error: unknown): string {
  if (error instanceof PackageMissing) return 'het pakket nodemailer ontbreekt in deze installatie'
  const { code } = (error ?? {}) as { code?: unknown }
  return (typeof code === 'string' && FAILURES[code]) || 'het versturen mislukte'
}
