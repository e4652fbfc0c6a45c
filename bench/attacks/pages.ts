// Attacks on the administration pages by somebody who may sign in: a viewer where that suffices.
import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import type { Attack } from './attack.ts'

const times = (many: number) => Array.from({ length: many }, (_, n) => n)
const cookieOf = (rol: string) => `zaakstroom=slecht-${rol}`

const signedIn = (rol: string): Pick<Attack, 'rights' | 'prepare'> => ({
  rights: [],
  prepare: async (_world, { sql }) => {
    const key = createHash('sha256').update(`slecht-${rol}`).digest()
    await sql`
      with account as (
        insert into beheer_account (gebruikersnaam, rol) select ${`slecht-${rol}`}, ${rol}
        where not exists (select from beheer_account where gebruikersnaam = ${`slecht-${rol}`}) returning id)
      insert into beheer_session (key, account_id, expires_at)
      select ${key}, id, now() + interval '12 hours' from account on conflict do nothing`
  },
})

export const pageAttacks: Attack[] = [
  {
    name: 'pages: search boxes',
    ...signedIn('viewer'),
    answers: [200, 303],
    send: async ({ send }) => {
      const texts = [
        '---',
        'een '.repeat(250),
        '%'.repeat(1000),
        'a b c d e f g h i j',
        'tussen woorden',
        "' or 1=1 --",
        'é'.repeat(1000),
      ]
      const headers = { cookie: cookieOf('viewer') }
      const ask = (path: string) =>
        texts.map((text) => send('GET', `${path}=${encodeURIComponent(text)}`, undefined, headers))
      const boxes = [
        'zoeken?zoek',
        'zaken?zoek',
        'documenten?titel',
        'notificaties?object',
        'audit?gebruiker',
        'taken?taak',
      ]
      await Promise.all(boxes.flatMap((box) => ask(`/beheer/${box}`)))
    },
  },
  {
    name: 'pages: files that nobody reads',
    ...signedIn('viewer'),
    answers: [0, 200, 503],
    prepare: async (world, means) => {
      await signedIn('viewer').prepare!(world, means)
      await means.sql`
        insert into beheer_audit (gebruiker, herkomst, handeling, resultaat, object_kind, object_id, object_weergave, nieuw)
        select 'x', '', 'proef', 'geslaagd', 'proef', n::text, '', jsonb_build_object('tekst', repeat('x', 2000))
        from generate_series(1, ${Math.round(20_000 * means.scale) + 100}::int) n`
    },
    send: async ({ open, signal }) => {
      const ask = `GET /beheer/audit/export.csv HTTP/1.1\r\nHost: x\r\nCookie: ${cookieOf('viewer')}\r\n\r\n`
      const sockets = await Promise.all(times(30).map(() => open(undefined)))
      for (const socket of sockets) {
        socket?.write(ask)
        socket?.once('data', () => socket.pause())
      }
      await new Promise((resolve) => setTimeout(resolve, signal.aborted ? 0 : 1000))
      for (const socket of sockets) socket?.destroy()
    },
  },
  {
    name: 'pages: rows of a million cells',
    ...signedIn('operator'),
    answers: [200, 400],
    reaches: 400,
    send: async (bad) => {
      const header = COLUMN_NAMES.join(',')
      const cells = ','.repeat(1_000_000 * bad.scale + 30_000)
      const files = [
        `${header}\n${cells}\n`,
        `${header}${cells}\n`,
        `${header}\n${'"",'.repeat(300_000 * bad.scale + 30_000)}\n`,
      ]
      for (const file of files) await upload(bad, 'operator', '/beheer/imports/nieuw', {}, file)
    },
  },
  {
    name: 'pages: a ZIP that is not what it says',
    ...signedIn('administrator'),
    answers: [200, 400, 503],
    reaches: 400,
    send: async (bad) => {
      const mb = 1024 * 1024
      const zeros = Buffer.alloc(Math.round(60 * mb * bad.scale) + mb, '[')
      const files = [
        zip([{ name: 'ZaakType.json', data: zeros }]), // far more than it may be, a thousand times smaller as a file
        zip([{ name: 'ZaakType.json', data: zeros, says: 10 }]),
        zip(times(Math.round(20_000 * bad.scale) + 100).map((n) => ({ name: `${n}.json`, data: Buffer.alloc(0) }))),
        zip(times(50).map(() => ({ name: 'ZaakType.json', data: Buffer.from('[]') }))),
        zip(
          ['../../x.json', '/etc/x.json', 'a/ZaakType.json', 'ZaakType.json\0.exe'].map((name) => ({
            name,
            data: zeros.subarray(0, 10),
          })),
        ),
      ]
      await Promise.all(
        files.map((file) => upload(bad, 'administrator', '/beheer/catalogi/importeren', { stap: 'bekijken' }, file)),
      )
    },
  },
]

/** Sends a form with a file as a browser does, with the token of its page. */
async function upload(
  { world, form, send }: Parameters<Attack['send']>[0],
  rol: string,
  path: string,
  fields: Record<string, string>,
  file: string | Buffer,
): Promise<void> {
  const page = await form(path, cookieOf(rol))
  if (!page) return
  const field = (name: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const before = Object.entries({ _csrf: page.token, ...fields }).map(([name, value]) => field(name, value))
  const body = Buffer.concat([
    Buffer.from(`${before.join('')}--x\r\nContent-Disposition: form-data; name="bestand"; filename="x"\r\n\r\n`),
    Buffer.from(file),
    Buffer.from('\r\n--x--\r\n'),
  ])
  const headers = { 'content-type': 'multipart/form-data; boundary=x', cookie: page.cookie, origin: world.address }
  await send('POST', path, body, headers)
}

/** @param entries `says`: what the directory calls its size */
function zip(entries: { name: string; data: Buffer; says?: number }[]): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data, says = data.length } of entries) {
    const packed = deflateRawSync(data)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(says, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, place, Buffer.from(name)]))
    files.push(local)
    offset += local.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, ...directory, end])
}
