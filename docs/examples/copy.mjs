// Keeps a copy of all cases with what hangs on them, in a file: a snapshot first, and then what changed since, with what was deleted.
// Run it again and it goes on where it was. It needs Node.js 20 or later, and nothing else:
//
//   API=… CLIENT_ID=… CLIENT_SECRET=… node copy.mjs copy.json
import { createHmac } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'

const { API, CLIENT_ID, CLIENT_SECRET } = process.env
const COLLECTION = '/zaken/api/v1/zaken'
const FILE = process.argv[2] ?? 'copy.json'

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

function token(clientId, secret) {
  const claims = { iss: clientId, client_id: clientId, iat: Math.floor(Date.now() / 1000) }
  const signed = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

class Gone extends Error {}

async function get(url) {
  const answer = await fetch(new URL(url, API), {
    headers: { authorization: `Bearer ${token(CLIENT_ID, CLIENT_SECRET)}` },
  })
  if (answer.status === 410) throw new Gone()
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer
}

/** All that a client may read at one moment; it is made when nobody has asked for one today. */
async function fromSnapshot() {
  for (;;) {
    const { items } = await (await get(`${COLLECTION}/_snapshots`)).json()
    if (items.length === 0) {
      await sleep(1000)
      continue
    }
    const { id: position, href } = items.at(-1)
    const resources = {}
    const lines = createInterface({ input: Readable.fromWeb((await get(href)).body).pipe(createGunzip()) })
    for await (const line of lines) put(resources, JSON.parse(line))
    return { position, resources }
  }
}

function put(resources, { resource_type, resource_id, resource }) {
  resources[resource_id] = { type: resource_type, resource }
}

async function applyDeltas(copy) {
  for (;;) {
    const page = await (await get(`${COLLECTION}/_deltas?after=${copy.position}&limit=1000`)).json()
    for (const one of page.items.flatMap(({ operations }) => operations)) {
      if (one.type === 'delete') delete copy.resources[one.resource_id]
      else put(copy.resources, one)
    }
    copy.position = page.position
    if (page.at_end) return
  }
}

let copy = await readFile(FILE, 'utf8').then(JSON.parse, () => undefined)
try {
  copy ??= await fromSnapshot()
  await applyDeltas(copy)
} catch (error) {
  if (!(error instanceof Gone)) throw error
  copy = await fromSnapshot() // the position does not count any more
  await applyDeltas(copy)
}
await writeFile(`${FILE}.new`, JSON.stringify(copy))
await rename(`${FILE}.new`, FILE) // the resources and the position, or neither
const counts = Object.entries(Object.groupBy(Object.values(copy.resources), ({ type }) => type))
console.log(
  counts
    .map(([type, some]) => `${type} ${some.length}`)
    .sort()
    .join('\n'),
)
