// What the tests of documents share.
import { type Answer, givenInformatieobjecttype, type TestApp } from '../app.ts'

export const DRC = '/documenten/api/v1'
export const EIO = `${DRC}/enkelvoudiginformatieobjecten`
export const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64')

/** The body of a create that is accepted. */
export function newDocument(informatieobjecttype: string, values: object = {}): Record<string, unknown> {
  return {
    bronorganisatie: '000000000',
    creatiedatum: '2025-03-01',
    titel: 'Een brief',
    auteur: 'Een auteur',
    taal: 'nld',
    informatieobjecttype,
    ...values,
  }
}

let type: { test: TestApp; url: string } | undefined

/** A document with content, of a type that the documents of one test share; what the create answered. */
export async function givenDocument(test: TestApp, values: object = {}): Promise<Answer['body']> {
  if (type?.test !== test) type = { test, url: await givenInformatieobjecttype(test) }
  const { status, body, text } = await test.call(
    'POST',
    EIO,
    newDocument(type.url, { inhoud: base64('inhoud'), ...values }),
  )
  if (status !== 201) throw new Error(text)
  return body
}

/** The id of a lock on the document. */
export async function givenLock(test: TestApp, url: string): Promise<string> {
  const { body } = await test.call('POST', `${url}/lock`)
  return body.lock
}

/** `name: code` of each fault in a 400. */
export function faults({ body }: Answer): string[] {
  return (body?.invalidParams ?? []).map(({ name, code }: { name: string; code: string }) => `${name}: ${code}`)
}

/** A multipart body with a lock and, when given, the bytes of a part. */
export function form(
  fields: Record<string, string>,
  inhoud?: Buffer,
): { body: Buffer; headers: Record<string, string> } {
  const line = '----grens'
  const parts: Buffer[] = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${line}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  )
  if (inhoud) {
    const head = `--${line}\r\ncontent-disposition: form-data; name="inhoud"; filename="deel"\r\ncontent-type: application/octet-stream\r\n\r\n`
    parts.unshift(Buffer.from(head), inhoud, Buffer.from('\r\n'))
  }
  return {
    body: Buffer.concat([...parts, Buffer.from(`--${line}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${line}` },
  }
}
