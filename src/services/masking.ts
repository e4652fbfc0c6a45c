// masking: what another server answered, without the credentials that it was sent: an answer may give back what it got, and is kept
// or shown to people.

/** Names of parameters whose value opens a door or identifies a person. */
export const SECRET_NAME = /token|secret|geheim|sleutel|key|code|sig|auth|pass|wachtwoord|credential|bsn|burgerservice/i

/** Shorter than this, it may well stand within other words: then only the whole word is it. */
const LONG = 8
const MASK = '***'

/** What is secret in the value of a header that says who we are, such as `Bearer abc`: the whole, and the parts that a server may
 * show by themselves. */
export function secretsOf(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.+)$/s.exec(value.trim()) ?? []
  const parameters = [...rest.matchAll(/(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s",]+))/g)]
  return [
    value.trim(),
    rest,
    ...(scheme.toLowerCase() === 'basic' ? passwordOf(Buffer.from(rest, 'base64').toString('latin1')) : []),
    ...parameters.map(([, name, quoted, plain]) => (SECRET_NAME.test(name!) ? (quoted ?? plain ?? '') : '')),
  ].filter((secret) => secret !== '')
}

/** @param pair `name:password` */
function passwordOf(pair: string): string[] {
  const at = pair.indexOf(':')
  return at === -1 ? [] : [pair, pair.slice(at + 1)]
}

/**
 * An answer with `***` in place of each secret, also as JSON and addresses spell it.
 * @param truncated that the answer was cut off: its end may be the beginning of a secret
 */
export function withoutSecrets(body: Buffer, secrets: string[], truncated: boolean): Buffer {
  if (body.length === 0 || secrets.length === 0) return body
  const spelled = [...new Set(secrets.flatMap(spellings))].sort((a, b) => b.length - a.length)
  let text = body.toString('latin1') // a character for each byte, whatever the answer is
  for (const secret of spelled) {
    if (secret.length >= LONG) text = text.replaceAll(secret, MASK)
    else text = text.replace(wholeWord(secret), MASK)
  }
  if (truncated) text = withoutBegin(text, spelled)
  return Buffer.from(text, 'latin1')
}

/** How a secret may stand in an answer, in characters of one byte. */
function spellings(secret: string): string[] {
  const inUtf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
  return [
    secret,
    inUtf8(secret),
    inUtf8(JSON.stringify(secret).slice(1, -1)),
    encodeURIComponent(secret.toWellFormed()),
  ]
}

/** Letters beyond ASCII are bytes from 0x80 on, which belong to a word. */
const wholeWord = (secret: string) =>
  new RegExp(`(?<![\\w\\x80-\\xff])${RegExp.escape(secret)}(?![\\w\\x80-\\xff])`, 'g')

function withoutBegin(text: string, secrets: string[]): string {
  for (const secret of secrets)
    for (let length = secret.length - 1; length >= LONG; length--)
      if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK
  return text
}
