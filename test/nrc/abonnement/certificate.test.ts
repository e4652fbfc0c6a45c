// In a process of its own: which authorities are trusted holds for the process.
// A receiver that asks for a client certificate gets ours.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import t from 'tap'
import { subscriberOwner } from '../../../src/notificaties/deliver.ts'
import { givenChange } from '../../notificaties/given.ts'
import { builtIn } from '../given.ts'

t.test('a receiver that asks for a client certificate gets ours', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-tls-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const made = async (name: string, subject: string) => {
    const [key, cert] = [join(directory, `${name}.key`), join(directory, `${name}.crt`)]
    const args = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ${key} -out ${cert}`
    execFileSync('openssl', [...args.split(' '), '-subj', subject, '-addext', 'subjectAltName=DNS:localhost'], {
      stdio: 'ignore',
    })
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  }
  const server = await made('server', '/CN=localhost')
  const client = await made('client', '/CN=zaakstroom')
  setDefaultCACertificates([...getCACertificates('default'), server.cert])

  const names: unknown[] = []
  const receiver = createServer({ ...server, ca: client.cert, requestCert: true }, (request, response) => {
    const socket = request.socket as TLSSocket
    names.push(socket.authorized && socket.getPeerCertificate().subject.CN)
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.teardown(() => receiver.close())
  const test = await builtIn(t)
  const { sql } = test.database
  const uuid = crypto.randomUUID()
  const seal = (text: string) => test.parts.box.seal(text, subscriberOwner(uuid))
  await sql`
    insert into abonnement (uuid, callback_url, auth, certificaat, certificate_key)
    values (${uuid}, ${`https://localhost:${(receiver.address() as AddressInfo).port}/`}, ${seal('x')}, ${client.cert}, ${seal(client.key)})`
  await sql`
    insert into abonnement_kanaal (abonnement_id, kanaal_id)
    select a.id, k.id from abonnement a, kanaal k where k.naam = 'documenten'`
  await givenChange(test)
  await test.runJobs()
  t.strictSame(names, ['zaakstroom'], JSON.stringify(await sql`select outcome, answer from delivery_attempt`))
})
