// The life of a case with a document, from its making to its closing. It needs Node.js 20 or later, and nothing else:
//
//   API=… CLIENT_ID=… CLIENT_SECRET=… node case.mjs
//
// It takes the first published zaaktype that has what it needs. docs/clients.md tells the why of each step.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const { API, CLIENT_ID, CLIENT_SECRET } = process.env

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function token(clientId, secret, user = { id: 'jan', name: 'Jan' }) {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: clientId, client_id: clientId, iat, user_id: user.id, user_representation: user.name }
  const signed = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

/** What went wrong, by its code: act on that, and show `message` to people. */
class Fault extends Error {
  constructor(problem) {
    const fields = (problem.invalidParams ?? []).map(({ name, code, reason }) => `${name}: ${code} (${reason})`)
    super([`${problem.status} ${problem.code}: ${problem.detail}`, ...fields].join('\n'))
    this.status = problem.status
    this.code = problem.code
    this.fields = problem.invalidParams ?? []
  }
}

/** One request, tried again while the service says when to come back. @returns body and headers of the answer */
async function ask(method, url, { body, headers } = {}) {
  const key = randomUUID() // the same for every attempt: what was done is not done again
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(new URL(url, API), {
      method,
      headers: {
        authorization: `Bearer ${token(CLIENT_ID, CLIENT_SECRET)}`,
        'accept-crs': 'EPSG:4326',
        'content-crs': 'EPSG:4326',
        ...(body && { 'content-type': 'application/json', 'idempotency-key': key }),
        ...headers,
      },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    })
    if (answer.ok)
      return { body: answer.status === 204 ? undefined : await answer.json(), etag: answer.headers.get('etag') }
    const fault = new Fault(await answer.json()) // application/problem+json (RFC 9457)
    const wait = Number(answer.headers.get('retry-after'))
    if (attempt === 5 || !wait) throw fault
    await sleep(wait * 1000)
  }
}
const get = async (url) => (await ask('GET', url)).body
const post = async (url, body) => (await ask('POST', url, { body })).body

// The type says which statuses, results and documents its cases have.
const ZAKEN = '/zaken/api/v1'
const DOCUMENTEN = '/documenten/api/v1'
const { results } = await get('/catalogi/api/v1/zaaktypen?status=definitief')
const zaaktype = results.find(
  (one) => one.statustypen.length > 1 && one.resultaattypen.length > 0 && one.informatieobjecttypen.length > 0,
)
if (!zaaktype) throw new Error('no published zaaktype has statuses, results and documents')
const statustypen = await Promise.all(zaaktype.statustypen.map(get))
const first = statustypen.find((one) => one.volgnummer === Math.min(...statustypen.map(({ volgnummer }) => volgnummer)))
const last = statustypen.find((one) => one.isEindstatus)

// A case with a number of your own can be found again when an answer got lost.
const identificatie = `EXAMPLE-${randomUUID().slice(0, 13)}`
const zaak = await post(`${ZAKEN}/zaken`, {
  identificatie,
  zaaktype: zaaktype.url,
  bronorganisatie: '000000000',
  verantwoordelijkeOrganisatie: '000000000',
  startdatum: '2026-01-05',
  omschrijving: 'Kapvergunning eik',
})
await post(`${ZAKEN}/statussen`, {
  zaak: zaak.url,
  statustype: first.url,
  datumStatusGezet: new Date(Date.now() - 1000).toISOString(),
})

// A document. Say at once whether there are gebruiksrechten: a case does not close while that is not known.
const content = Buffer.from('Geachte heer, mevrouw, …')
const document = await post(`${DOCUMENTEN}/enkelvoudiginformatieobjecten`, {
  informatieobjecttype: zaaktype.informatieobjecttypen[0],
  bronorganisatie: '000000000',
  creatiedatum: '2026-01-05',
  titel: 'Ontvangstbevestiging',
  auteur: 'Jan',
  taal: 'nld',
  formaat: 'text/plain',
  bestandsnaam: 'ontvangst.txt',
  bestandsomvang: content.length,
  inhoud: content.toString('base64'),
  indicatieGebruiksrecht: false,
})
await post(`${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject: document.url })

// A document is changed by who holds its lock.
const { lock } = await post(`${document.url}/lock`, {})
try {
  await ask('PATCH', document.url, { body: { titel: 'Ontvangstbevestiging kapvergunning', lock } })
} finally {
  await post(`${document.url}/unlock`, { lock })
}

// A case is changed by anyone who may. If-Match sees to it that nobody's change is lost.
const { body: seen, etag } = await ask('GET', zaak.url)
try {
  const body = { toelichting: `${seen.toelichting} Boom is gekeurd.`.trim() }
  await ask('PATCH', zaak.url, { body, headers: { 'if-match': etag } })
} catch (error) {
  if (error.code !== 'precondition_failed') throw error
  console.log('somebody was first: read the case again, and show what changed')
}

// Closing: the result first, then the end status.
await post(`${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: zaaktype.resultaattypen[0] })
await post(`${ZAKEN}/statussen`, { zaak: zaak.url, statustype: last.url, datumStatusGezet: new Date().toISOString() })
const closed = await get(zaak.url)
console.log(closed.identificatie, closed.url, closed.einddatum, closed.archiefactiedatum)
