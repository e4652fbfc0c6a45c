import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { SECRET, testApp } from '../app.ts'

const PEER = '00000000000000000001'
const GROUP = 'fsc.group.example.id'

function certificate(name: string) {
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-fsc-'))
  const [key, cert] = [join(directory, `${name}.key`), join(directory, `${name}.pem`)]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    ],
    { stdio: 'ignore' },
  )
  const thumbprint = Buffer.from(
    new X509Certificate(readFileSync(cert)).fingerprint256.replaceAll(':', ''),
    'hex',
  ).toString('base64url')
  return { path: cert, thumbprint, key: createPrivateKey(readFileSync(key)) }
}

type Signer = ReturnType<typeof certificate>

t.test('FSC', async (t) => {
  const [manager, other] = [certificate('manager'), certificate('other')]
  const lines: string[] = []
  const test = await testApp(
    t,
    {
      ...{ FSC_PEER_ID: PEER, FSC_GROUP_ID: GROUP, FSC_CERTIFICATES: manager.path, TRUST_PROXY: '10.0.0.0/8' },
      ...{ FSC_AUDIENCE: 'https://inway:443', FSC_SERVICES: 'besluiten, zaken' },
    },
    (line) => void lines.push(line),
  )
  const now = Math.floor(Date.now() / 1000)
  const token = (
    claims: object = {},
    { signer = manager, thumbprint }: { signer?: Signer; thumbprint?: string } = {},
  ) =>
    new SignJWT({
      ...{
        gth: '$1$4$abc',
        gid: GROUP,
        sub: '00000000000000000002',
        iss: PEER,
        svc: 'zaken',
        aud: 'https://inway:443',
      },
      ...{
        exp: now + 300,
        nbf: now,
        cnf: { 'x5t#S256': 'x' },
        act: { sub: '00000000000000000003' },
        pdi: '00000000000000000004',
      },
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', 'x5t#S256': thumbprint ?? signer.thumbprint })
      .sign(signer.key)
  let n = 0
  const recorded = async (fsc: string, remoteAddress = '10.1.1.1') => {
    const domein = `FS${String.fromCharCode(65 + n++)}AA`
    const made = await test.app.inject({
      method: 'POST',
      url: '/catalogi/api/v1/catalogussen',
      remoteAddress,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${signToken('beheer', SECRET)}`,
        'fsc-authorization': fsc,
        'fsc-transaction-id': 'transactie-1',
      },
      payload: { domein, rsin: '000000000', contactpersoonBeheerNaam: 'x' },
    })
    t.equal(made.statusCode, 201)
    const [row] = await test.database.sql`select origin from audit order by id desc limit 1`
    return row!.origin
  }

  t.test(
    'peer, delegation, grant and transaction of a trusted Inway are in the audit record and the log line',
    async (t) => {
      const fsc = {
        peer: '00000000000000000002',
        grantHash: '$1$4$abc',
        actor: '00000000000000000003',
        publisher: '00000000000000000004',
        transaction: 'transactie-1',
      }
      t.strictSame(await recorded(`Bearer ${await token()}`), { fsc })
      t.strictSame(await recorded(await token()), { fsc }, 'also without Bearer')
      t.match(
        lines.map((line) => JSON.parse(line)).find(({ event }) => event === 'request'),
        { fsc },
      )
    },
  )

  const refused: [string, () => Promise<string>, string?][] = [
    ['of whom is no proxy of ours', () => token(), '192.0.2.1'],
    ['with a key of somebody else', () => token({}, { signer: other })],
    [
      'with a key of somebody else under our thumbprint',
      () => token({}, { signer: other, thumbprint: manager.thumbprint }),
    ],
    ['of another group', () => token({ gid: 'elders' })],
    ['of another issuer', () => token({ iss: '00000000000000000009' })],
    ['of another service', () => token({ svc: 'elders' })],
    ['of no service', () => token({ svc: undefined })],
    ['for another Inway', () => token({ aud: 'https://elders:443' })],
    ['for no Inway', () => token({ aud: undefined })],
    ['of nobody', () => token({ sub: '' })],
    ['of somebody whose name is none', () => token({ sub: ['00000000000000000002'] })],
    ['that expired', () => token({ exp: now - 60 })],
    ['that is none', async () => 'onzin'],
  ]
  for (const [what, make, from] of refused)
    t.test(`a token ${what} is not recorded, and changes no rights`, async (t) => {
      t.equal(await recorded(await make(), from), null)
    })
})
