// Reads all cases that the client may read, with their status, roles and documents: a page of the list, and then one request for all
// that hangs on its cases. It needs Node.js 20 or later, and nothing else:
//
//   API=… CLIENT_ID=… CLIENT_SECRET=… node read.mjs
import { createHmac } from 'node:crypto'

const { API, CLIENT_ID, CLIENT_SECRET } = process.env

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function token(clientId, secret, user = { id: 'jan', name: 'Jan' }) {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: clientId, client_id: clientId, iat, user_id: user.id, user_representation: user.name }
  const signed = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function ask(method, url, body) {
  const answer = await fetch(new URL(url, API), {
    method,
    headers: {
      authorization: `Bearer ${token(CLIENT_ID, CLIENT_SECRET)}`,
      'accept-crs': 'EPSG:4326',
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.json()
}

const context = { expand: ['status.statustype', 'rollen', 'zaakinformatieobjecten.informatieobject'] }

for (let next = '/zaken/api/v1/zaken?limit=50'; next; ) {
  const page = await ask('GET', next)
  const requests = page.results.map(({ uuid }) => ({ key: uuid }))
  const { results } =
    requests.length > 0 ? await ask('POST', '/zaken/api/v1/zaken/_batch', { context, requests }) : { results: [] }
  for (const zaak of results) {
    if (zaak === null) continue // it went meanwhile
    const { status, rollen = [], zaakinformatieobjecten: documenten = [] } = zaak._expand
    const titels = documenten.map(({ _expand }) => _expand.informatieobject?.titel)
    console.log(
      [zaak.identificatie, status?._expand.statustype.omschrijving ?? '-', rollen.length, ...titels].join('\t'),
    )
  }
  next = page.next
}
