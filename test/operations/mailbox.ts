// A mail server that keeps what it is sent.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type Mail = { to: string[]; subject: string; id: string; body: string; user: string | undefined }

/** @param options beside those of one that asks no name and offers no encryption */
export async function openMailbox(t: { teardown(work: () => unknown): unknown }, options: SMTPServerOptions = {}) {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onData: (stream, session, callback) => {
      text(stream).then((raw) => {
        const [head = '', ...rest] = raw.split('\r\n\r\n')
        const header = (name: string) =>
          new RegExp(`^${name}: ((?:.|\\r\\n\\s)*)`, 'im').exec(head)?.[1]?.replace(/\r\n\s+/g, ' ') ?? ''
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          subject: header('Subject').replace(/^.*?\[Zaakstroom\] ?/, ''),
          id: header('Message-ID'),
          body: unquoted(rest.join('\r\n\r\n')),
          user: session.user as string | undefined,
        })
        callback()
      }, callback)
    },
    ...options,
  })
  server.on('error', () => {}) // a client that goes away
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  t.teardown(stop)
  return { mails, port, stop }
}

/** Quoted-printable, as text. */
function unquoted(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}
