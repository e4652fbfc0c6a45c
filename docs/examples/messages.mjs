// Fetches the messages about cases, for who cannot be called. It needs Node.js 20 or later, and nothing else:
//
//   API=… CLIENT_ID=… CLIENT_SECRET=… ABONNEMENT=… node messages.mjs
//
// ABONNEMENT is the address of the abonnement; without it one is made, and its address printed. It ends when there is nothing more.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const { API, CLIENT_ID, CLIENT_SECRET, ABONNEMENT } = process.env

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function token(clientId, secret, user = { id: 'jan', name: 'Jan' }) {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: clientId, client_id: clientId, iat, user_id: user.id, user_representation: user.name }
  const signed = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

/** One request, again while the service says when to come back, or when the answer was lost: the same address gives the same messages. */
async function ask(method, url, body) {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(new URL(url, API), {
      method,
      headers: {
        authorization: `Bearer ${token(CLIENT_ID, CLIENT_SECRET)}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    }).catch((error) => error)
    if (answer.ok) return answer.json()
    const wait = answer instanceof Error ? 1 : Number(answer.headers.get('retry-after'))
    if (attempt === 5 || !wait) throw answer instanceof Error ? answer : new Error(await answer.text())
    await sleep(wait * 1000)
  }
}

const abonnement =
  ABONNEMENT ??
  (await ask('POST', '/notificaties/api/v1/abonnement', { callbackUrl: '', kanalen: [{ naam: 'zaken' }] })).url
if (!ABONNEMENT) console.log(abonnement)

for (let next = `${abonnement}/berichten?limit=100`; ; ) {
  const page = await ask('GET', next)
  if (page.items.length === 0) break // ask again later
  for (const { id, bericht } of page.items) console.log(id, bericht.actie, bericht.resource, bericht.resourceUrl)
  // They are stored: now the next may be asked.
  next = page.next
}
