// Attacks by connections: slow ones, many of them, and requests that cost the server more than they cost the client.
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, drip, head, type Right } from './attack.ts'

const JSON_BODY = {
  host: 'x',
  'accept-crs': 'EPSG:4326',
  'content-crs': 'EPSG:4326',
  'content-type': 'application/json',
  'content-length': 1000,
}

const WRITE: Right[] = [{ component: 'zrc', scopes: ['zaken.aanmaken'] }]
const DOCUMENTS: Right[] = [{ component: 'drc', scopes: ['documenten.aanmaken', 'documenten.lezen'] }]
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7']

export const connectionAttacks: Attack[] = [
  {
    name: 'bodies that drip, without a token',
    rights: [],
    answers: [0, 403, 408, 503],
    send: async ({ open, signal, scale }) => {
      const sockets = await openMany(1500 * scale, () => open(head('POST', '/zaken/api/v1/zaken', JSON_BODY)))
      await Promise.all(sockets.map((socket) => drip(socket, 2000, signal)))
    },
  },
  {
    name: 'bodies that drip, with a token, one address',
    rights: WRITE,
    answers: [0, 408, 503],
    send: async ({ open, token, signal, scale }) => {
      const headers = { ...JSON_BODY, authorization: `Bearer ${token}` }
      const sockets = await openMany(1500 * scale, () =>
        open(head('POST', '/zaken/api/v1/zaken', headers), '127.0.0.2'),
      )
      await Promise.all(sockets.map((socket) => drip(socket, 2000, signal)))
    },
  },
  {
    name: 'headers that drip, from many addresses',
    rights: [],
    answers: [0, 408],
    send: async ({ open, signal, scale }) => {
      let n = 0
      const text = 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: '
      const sockets = await openMany(3000 * scale, () => open(text, ADDRESSES[n++ % ADDRESSES.length]))
      await Promise.all(sockets.map((socket) => drip(socket, 2000, signal, 'x')))
    },
  },
  {
    name: 'connections that say nothing, again and again',
    rights: [],
    answers: [0, 408],
    send: async ({ open, scale }) => {
      let n = 0
      await openMany(1000 * scale, () => open(undefined, ADDRESSES[n++ % ADDRESSES.length]))
    },
  },
  {
    name: 'refused, with a body without end',
    rights: [],
    answers: [0, 403],
    send: async ({ open, signal, scale }) => {
      const headers = { host: 'x', 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
      const sockets = await openMany(100 * scale, () => open(head('POST', '/zaken/api/v1/zaken', headers)))
      await Promise.all(sockets.map((socket) => drip(socket, 20, signal, `1000\r\n${' '.repeat(0x1000)}\r\n`)))
    },
  },
  {
    name: 'uploads that drip',
    rights: DOCUMENTS,
    answers: [0, 408, 503],
    send: async ({ open, token, signal, scale }) => {
      const headers = { ...JSON_BODY, 'content-length': 4_000_000_000, authorization: `Bearer ${token}` }
      const path = '/documenten/api/v1/enkelvoudiginformatieobjecten'
      const sockets = await openMany(400 * scale, () => open(`${head('POST', path, headers)}{"inhoud":"`, '127.0.0.2'))
      await Promise.all(sockets.map((socket) => drip(socket, 500, signal, 'AAAA')))
    },
  },
  {
    name: 'answers that nobody reads',
    rights: [],
    answers: [0, 200],
    send: async ({ open, signal, scale }) => {
      const ask = head('GET', '/zaken/api/v1/schema/openapi.json', { host: 'x' })
      const sockets = await openMany(400 * scale, () => open(undefined, '127.0.0.2'))
      for (const socket of sockets) {
        socket.pause()
        socket.write(ask.repeat(50))
      }
      while (!signal.aborted) await sleep(200)
    },
  },
  {
    name: 'ten thousand requests in one piece',
    rights: [],
    answers: [0, 200],
    send: async ({ open, signal, scale }) => {
      const ask = head('GET', '/livez', { host: 'x' }).repeat(10_000 * scale)
      const sockets = await openMany(10, () => open(ask))
      await Promise.all(sockets.map((socket) => socket.destroyed || once(socket, 'close', { signal }).catch(() => {})))
    },
  },
  slowDownloads('a thousand downloads that are read slowly', '00000000-0000-4000-8000-0000000d0002', 5_000_000),
  slowDownloads('a thousand downloads that are checked first', '00000000-0000-4000-8000-0000000d0003', 1_000_000),
  {
    name: '/readyz, 20 at once',
    rights: [],
    answers: [200, 503],
    send: async ({ send }) => {
      await Promise.all(Array.from({ length: 20 }, () => send('GET', '/readyz')))
    },
  },
  {
    name: 'tokens that are wrong, 50 at once',
    rights: [],
    answers: [403, 429],
    send: async ({ send }) => {
      const claims = Buffer.from(JSON.stringify({ client_id: 'bench', iat: Math.floor(Date.now() / 1000) })).toString(
        'base64url',
      )
      const authorization = `Bearer eyJhbGciOiJIUzI1NiJ9.${claims}.${'A'.repeat(43)}`
      await Promise.all(
        Array.from({ length: 50 }, () => send('GET', '/zaken/api/v1/zaken', undefined, { authorization })),
      )
    },
  },
  {
    name: 'passwords that are wrong, 20 at once',
    rights: [],
    answers: [200, 401, 429],
    reaches: 401,
    send: async ({ world, open, form, signal }) => {
      const page = await form('/beheer/inloggen')
      if (!page) return
      // Another name and address each time, so that no count stops it: what is left are the hashes at once.
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const gebruikersnaam = `admin-${randomUUID()}`
          const body = new URLSearchParams({ _csrf: page.token, gebruikersnaam, wachtwoord: 'verkeerd' }).toString()
          const headers = {
            host: new URL(world.address).host,
            origin: world.address,
            cookie: page.cookie,
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': body.length,
            connection: 'close',
          }
          const from = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
          const socket = await open(head('POST', '/beheer/inloggen', headers) + body, from)
          if (socket && !socket.destroyed) await once(socket, 'close', { signal }).catch(() => {})
        }),
      )
    },
  },
]

function slowDownloads(name: string, uuid: string, bytes: number): Attack {
  return {
    name,
    rights: DOCUMENTS,
    answers: [0, 200, 503],
    prepare: async ({ informatieobjecttype }, { call, sql }) => {
      const made = await call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', {
        bronorganisatie: '517439943',
        creatiedatum: '2026-03-02',
        titel: 'Groot',
        auteur: 'x',
        taal: 'dut',
        informatieobjecttype,
        inhoud: Buffer.alloc(bytes).toString('base64'),
        bestandsomvang: bytes,
        bestandsnaam: 'groot.bin',
      })
      await sql`update enkelvoudiginformatieobject set uuid = ${uuid}::uuid
        where uuid = ${String(made.url).split('/').at(-1)!}::uuid and not exists (
          select from enkelvoudiginformatieobject where uuid = ${uuid}::uuid)`
    },
    send: async ({ open, token, signal, scale }) => {
      let n = 0
      const path = `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuid}/download`
      const ask = head('GET', path, { host: 'x', authorization: `Bearer ${token}` })
      const sockets = await openMany(1000 * scale, () => open(undefined, ADDRESSES[n++ % ADDRESSES.length]))
      for (const socket of sockets) {
        socket.write(ask)
        socket.once('data', () => socket.pause())
      }
      while (!signal.aborted) {
        await sleep(500)
        for (const socket of sockets) socket.read(1000)
      }
    },
  }
}

/** As many connections as that, opened 50 at a time; those that were refused are left out. */
async function openMany<T>(count: number, open: () => Promise<T | undefined>): Promise<T[]> {
  const opened: T[] = []
  for (let left = Math.max(1, Math.round(count)); left > 0; left -= 50) {
    const some = await Promise.all(Array.from({ length: Math.min(50, left) }, open))
    opened.push(...some.filter((one) => one !== undefined))
    await sleep(5)
  }
  return opened
}
