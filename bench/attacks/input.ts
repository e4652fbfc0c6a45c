// Attacks by what a request says: its size, its depth, its texts, its headers.
import type { Attack } from './attack.ts'

const ZAKEN = '/zaken/api/v1'
const PART = '00000000-0000-4000-8000-0000000d0001'
const WRITE = { component: 'zrc', scopes: ['zaken.lezen', 'zaken.aanmaken', 'zaken.bijwerken'] } as const
const write = { component: WRITE.component, scopes: [...WRITE.scopes] }
const DOCUMENTS = { component: 'drc', scopes: ['documenten.aanmaken', 'documenten.bijwerken', 'documenten.lezen'] }
const documents = { ...DOCUMENTS, component: 'drc' as const }
const times = (many: number) => Array.from({ length: many }, (_, n) => n)

export const inputAttacks: Attack[] = [
  {
    name: 'a body that is far too large',
    rights: [{ component: 'zrc', scopes: ['zaken.aanmaken'] }],
    answers: [400, 413],
    send: async ({ send, scale }) => {
      const body = `{"omschrijving":"${'x'.repeat(100_000_000 * scale)}"}`
      await Promise.all(times(3).map(() => send('POST', `${ZAKEN}/zaken`, body)))
    },
  },
  {
    name: 'texts that an expression tries in every way',
    rights: [write],
    answers: [400],
    send: async ({ send, world, scale }) => {
      const many = 100_000 * scale + 20_000 // several of them, escaped, are less than a body may be
      const texts = ['.', ' ', '/', '0', 'T00:00', '%2f', 'a@', '"', '\n'].map((part) =>
        part.repeat(many / part.length).concat('\n@x'),
      )
      for (const text of texts) {
        const rol = { zaak: world.zaak, betrokkeneType: 'medewerker', roltype: `http://a/${text}`, roltoelichting: 'x' }
        await send('POST', `${ZAKEN}/rollen`, { ...rol, contactpersoonRol: { naam: 'x', emailadres: `a@${text}` } })
        await send('POST', `${ZAKEN}/zaken`, {
          startdatum: text,
          zaaktype: text,
          verlenging: { reden: '', duur: `P${text}` },
        })
      }
    },
  },
  {
    name: 'JSON far too deep, wherever there is JSON',
    rights: [write, documents, { component: 'nrc', scopes: ['notificaties.consumeren', 'notificaties.publiceren'] }],
    answers: [400, 413],
    send: async ({ send, scale }) => {
      const levels = Math.round(100_000 * scale) + 1000
      const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`
      const objects = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
      const at = (path: string, name: string) =>
        [deep, objects].map((value) => send('POST', path, `{"${name}":${value}}`))
      await Promise.all([
        ...at(`${ZAKEN}/zaken`, 'kenmerken'),
        ...at(`${ZAKEN}/zaakobjecten`, 'objectTypeOverigeDefinitie'),
        ...at(`${ZAKEN}/rollen`, 'betrokkeneIdentificatie'),
        ...at(`${ZAKEN}/zaken/_zoek`, 'uuid__in'),
        ...at('/documenten/api/v1/enkelvoudiginformatieobjecten', 'integriteit'),
        ...at('/notificaties/api/v1/abonnement', 'kanalen'),
        ...at('/notificaties/api/v1/notificaties', 'kenmerken'),
      ])
    },
  },
  {
    name: 'cookies of 15 kB, and tokens of 8 kB with deep claims',
    rights: [write],
    answers: [200, 403, 429, 431],
    send: async ({ send, token }) => {
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const claims = `{"client_id":${'['.repeat(3000)}${']'.repeat(3000)}}`
      const deep = `Bearer ${part({ alg: 'HS256' })}.${Buffer.from(claims).toString('base64url')}.${'A'.repeat(43)}`
      const cookie = 'a=b; '.repeat(2900)
      await Promise.all([
        ...times(10).map(() => send('GET', `${ZAKEN}/zaken?pageSize=1`, undefined, { cookie })),
        ...times(10).map(() => send('GET', '/beheer/inloggen', undefined, { cookie })),
        ...times(10).map(() => send('GET', `${ZAKEN}/zaken`, undefined, { authorization: deep })),
        send('GET', '/livez', undefined, { cookie: cookie.repeat(2), authorization: `Bearer ${token}` }),
      ])
    },
  },
  {
    name: 'forms of a hundred thousand parts',
    rights: [documents],
    answers: [400, 413, 0],
    prepare: async ({ informatieobjecttype }, { sql, call }) => {
      await call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', {
        bronorganisatie: '517439943',
        creatiedatum: '2026-03-02',
        titel: 'In delen',
        auteur: 'x',
        taal: 'dut',
        informatieobjecttype,
        bestandsomvang: 1000,
        bestandsnaam: 'x.bin',
      })
      await sql`update bestandsdeel set uuid = ${PART}::uuid where not exists (select from bestandsdeel where uuid = ${PART}::uuid)
        and id = (select max(id) from bestandsdeel)`
    },
    send: async ({ send, scale, world }) => {
      const many = Math.round(100_000 * scale) + 1000
      const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
      const path = `/documenten/api/v1/bestandsdelen/${PART}`
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      await Promise.all([
        ...times(2).map(() =>
          send('PUT', path, `${part.repeat(many)}--x--\r\n`, { 'content-type': 'multipart/form-data; boundary=x' }),
        ),
        send('PUT', path, 'a&'.repeat(5 * many), form),
        send('POST', '/beheer/inloggen', 'a&'.repeat(10 * many), { ...form, origin: world.address }),
      ])
    },
  },
]
