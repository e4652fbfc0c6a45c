// Secrets, tokens and citizen service numbers (BSN) go into the service at every place where they may stand, in requests that are
// served and in those that are refused. Afterwards they are looked for where they must not be: in the log of api and worker, in
// metrics, in the payloads of jobs, and in tables: in none in the clear, but for what was uploaded.
// It starts the program.
import { Buffer } from 'node:buffer'
import t from 'tap'
import { accept, startReceiver } from '../bench/receiver.ts'
import { signToken } from '../src/autorisaties/clients.ts'
import { createAccount } from '../src/beheer/accounts/accounts.ts'
import { BASE, givenInformatieobjecttype, givenZaaktype, SECRET, testApp } from './app.ts'
import { storedAuditTexts } from './audit-records.ts'
import { base64, EIO, newDocument } from './documenten/documenten.ts'
import { csvText, givenFile, goodRow, API as IMPORT } from './documenten/importing.ts'
import { freePort } from './free-port.ts'
import { configure, SECRET as SERVICE_SECRET } from './notificaties/given.ts'
import { until } from './until.ts'
import { givenPart, zaakBody } from './zaken/given.ts'
import { isReady, processSettings, START_MS, supervise } from './zaken/processes.ts'

const ZAKEN = '/zaken/api/v1'
const NRC = '/notificaties/api/v1'

// Each place has a canary of its own, so that one that is found tells where it went in.
const BSN = {
  role: '900000004',
  query: '900000016',
  search: '900000028',
  path: '900000041',
  refusedRole: '900000053',
  refusedBody: '900000065',
  requestId: '900000077',
  brokenJson: '900000089',
  importRow: '900000090',
  userId: '900000107',
}
const PLACES: Partial<Record<keyof typeof BSN, RegExp>> = {
  // The rows of a CSV and its report are what was uploaded, until their term is over.
  importRow: /^(import_row|import_outcome)$/,
  // Who a client says that it acts for is what the audit trail is for.
  userId: /^audit$/,
}
const SECRETS = {
  client: SECRET,
  service: SERVICE_SECRET,
  key: 'key of the tests, long enough',
  password: 'kanarie-wachtwoord-1f0a',
  wrongPassword: 'kanarie-wachtwoord-2b7c',
  auth: 'Bearer kanarie-auth-3d8e5f',
  refusedAuth: 'Bearer kanarie-auth-4c1b9a',
  basic: Buffer.from('gebruiker:kanarie-basic-5e6f').toString('base64'),
  query: 'kanarie-in-de-query-6a7b',
  cookie: 'kanarie-cookie-7c8d',
}

/** By itself, and not as the last digits of a sum of seconds in the metrics. */
const isNumberIn = (bsn: string, text: string) => new RegExp(`(?<![\\d.])${bsn}(?!\\d)`).test(text)

t.test('no secret, token or BSN is left where it does not belong', { timeout: 580_000 }, async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const receiver = await startReceiver()
  t.teardown(receiver.stop)
  // A receiver that gives back all that it was sent is the worst that an answer can hold.
  receiver.answer = (response, received, request) => {
    if (!received.headers.authorization) return void response.writeHead(401).end()
    if (received.body.kanaal === 'test' || received.path.includes('goed')) return accept(response, received, request)
    response.writeHead(400).end(JSON.stringify(received.headers))
  }
  await configure(test, receiver.root, { backoff: 1, baseFactor: 1, maxRetries: 1 })
  await sql`update notificatie_settings set mode = 'beide'`
  await createAccount(test.database.db, { gebruikersnaam: 'kijker', rol: 'viewer', wachtwoord: SECRETS.password })
  await sql`create table kanarie_taak (payload text)`
  await sql`create function kanarie_taak() returns trigger language plpgsql as
    $$ begin insert into kanarie_taak values (new.payload::text); return null; end $$`
  await sql`create trigger kanarie after insert or update on _private_jobs
    for each row execute function kanarie_taak()`
  const type = await givenInformatieobjecttype(test)
  const zaaktype = await givenZaaktype(test, { concept: true })
  const names = { zaaktype, omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' }
  const roltype = await givenPart(test, 'roltypen', names)
  for (const volgnummer of [1, 2])
    await givenPart(test, 'statustypen', { zaaktype, omschrijving: `Stap ${volgnummer}`, volgnummer })
  await test.call('POST', `${zaaktype}/publish`)
  await givenFile(test, 'een.txt')

  let log = ''
  const [port, apiMetrics, workerMetrics] = [await freePort(), await freePort(), await freePort()]
  const env = processSettings(test, {
    LOG_LEVEL: 'trace',
    NOTIFICATIES_HTTP_HOSTS: '127.0.0.1',
    NOTIFICATIES_MODE: 'beide',
  })
  const tell = (text: string) => {
    log += text
  }
  const api = supervise(t, 'api', { ...env, PORT: String(port), METRICS_PORT: String(apiMetrics) }, tell)
  const worker = supervise(t, 'worker', { ...env, METRICS_PORT: String(workerMetrics) }, tell)
  const address = `http://127.0.0.1:${port}`
  await until('the api', () => isReady(address), START_MS)
  await until('the worker', async () => (await sql`select from worker`).length === 2, START_MS)

  const tokens: string[] = []
  const tokenOf = (secret = SECRET, user = 'gebruiker-1') => {
    const token = signToken('beheer', secret, { id: user, name: `Naam ${user}` })
    tokens.push(token, token.split('.').at(-1)!)
    return token
  }
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(address + path.replace(BASE, ''), {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${tokenOf()}`,
        'content-type': 'application/json',
        'accept-crs': 'EPSG:4326',
        'content-crs': 'EPSG:4326',
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: /json/.test(response.headers.get('content-type') ?? '') && text ? JSON.parse(text) : undefined,
    }
  }
  const told = async (wanted: number | RegExp, ...asked: Parameters<typeof call>) => {
    const answer = await call(...asked)
    t.match(
      String(answer.status),
      wanted instanceof RegExp ? wanted : new RegExp(`^${wanted}$`),
      `${asked[0]} ${asked[1]}: ${answer.text.slice(0, 300)}`,
    )
    return answer
  }

  // ---- served ----
  const zaak = (await told(201, 'POST', `${ZAKEN}/zaken`, zaakBody(zaaktype))).body
  const roleOf = (inpBsn: string, more: object = {}) => ({
    zaak: zaak.url,
    betrokkeneType: 'natuurlijk_persoon',
    roltype,
    roltoelichting: 'x',
    betrokkeneIdentificatie: { inpBsn },
    ...more,
  })
  await told(201, 'POST', `${ZAKEN}/rollen`, roleOf(BSN.role))
  await told(200, 'GET', `${ZAKEN}/zaken?rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=${BSN.query}`)
  await told(200, 'GET', `${ZAKEN}/rollen?betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=${BSN.query}`)
  await told(/^(200|400)$/, 'POST', `${ZAKEN}/zaken/_zoek`, {
    rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: BSN.search,
  })
  await told(201, 'POST', EIO, newDocument(type, { inhoud: base64('inhoud') }), { 'x-request-id': BSN.requestId })
  await told(201, 'POST', EIO, newDocument(type), { authorization: `Bearer ${tokenOf(SECRET, BSN.userId)}` })
  const kanalen = [{ naam: 'zaken', filters: {} }]
  await told(201, 'POST', `${NRC}/abonnement`, { callbackUrl: `${receiver.root}goed`, auth: SECRETS.auth, kanalen })
  await told(201, 'POST', `${NRC}/abonnement`, { callbackUrl: `${receiver.root}terug`, auth: SECRETS.auth, kanalen })
  await told(201, 'POST', `${ZAKEN}/zaken`, zaakBody(zaaktype)) // a message to both
  const made = (await told(201, 'POST', `${IMPORT}/create`)).body
  const csv = csvText([
    goodRow(type, 'een.txt'),
    goodRow(type, 'een.txt', { titel: BSN.importRow, taal: BSN.importRow }),
  ])
  await told(200, 'POST', new URL(made.uploadUrl).pathname, csv, { 'content-type': 'text/csv' })

  // ---- refused ----
  await told(/^40[04]$/, 'GET', `${ZAKEN}/zaken/${BSN.path}`)
  await told(/^40[04]$/, 'GET', `${ZAKEN}/${BSN.path}/x`)
  await told(400, 'POST', `${ZAKEN}/rollen`, roleOf(BSN.refusedRole, { roltype: 'x' }))
  await told(
    400,
    'POST',
    `${ZAKEN}/zaken`,
    zaakBody(zaaktype, { startdatum: BSN.refusedBody, hoofdzaak: BSN.refusedBody }),
  )
  await told(400, 'POST', `${ZAKEN}/zaken`, `{"toelichting":"${BSN.brokenJson}",`)
  await told(400, 'GET', `${ZAKEN}/zaken?onbekend=${SECRETS.query}&token=${SECRETS.query}`)
  await told(403, 'GET', `${ZAKEN}/zaken`, undefined, {
    authorization: `Bearer ${tokenOf('another secret than that one, 32+')}`,
  })
  await told(403, 'GET', `${ZAKEN}/zaken`, undefined, { authorization: `Basic ${SECRETS.basic}` })
  await told(403, 'GET', `${ZAKEN}/zaken`, undefined, { authorization: `Bearer ${tokenOf()}x` })
  receiver.answer = (response, received) => response.writeHead(400).end(JSON.stringify(received.headers))
  await told(400, 'POST', `${NRC}/abonnement`, {
    callbackUrl: `${receiver.root}nee`,
    auth: SECRETS.refusedAuth,
    kanalen,
  })

  // ---- the pages ----
  const page = await call('GET', '/beheer/inloggen')
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(page.text) ?? []
  const cookie = page.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ')
  const signIn = (gebruikersnaam: string, wachtwoord: string) =>
    call('POST', '/beheer/inloggen', new URLSearchParams({ _csrf: csrf, gebruikersnaam, wachtwoord }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      origin: address,
      cookie,
    })
  const wrong = await signIn('kijker', SECRETS.wrongPassword)
  t.ok(wrong.status < 500, 'a wrong password')
  const right = await signIn('kijker', SECRETS.password)
  t.equal(right.status, 303, right.text.slice(0, 300))
  const session = right.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0]!.split('=')[1]!)
    .filter(Boolean)
  await call('GET', '/beheer/', undefined, { cookie: `zaakstroom=${SECRETS.cookie}` })

  await until('all that was queued', async () => {
    // What refuses everything is tried again for as long as it does: once is enough here.
    const [open] = await sql`select (select count(*) from delivery l where status = 'gepland'
        and not exists (select from abonnement a where a.id = l.abonnement_id and a.callback_url like '%terug'))
      + (select count(*) from import where status = 'active') as count`
    return (
      Number(open!.count) === 0 &&
      receiver.received.some(({ path, body }) => path.includes('terug') && body.kanaal === 'zaken')
    )
  })
  const metrics = await Promise.all(
    [apiMetrics, workerMetrics].map(async (one) => (await fetch(`http://127.0.0.1:${one}/metrics`)).text()),
  )
  t.equal(await api.stop(), 0)
  t.equal(await worker.stop(), 0)

  // ---- what is where ----
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`
  const places: [place: string, text: string][] = [
    ['the log', log],
    ['the metrics of the api', metrics[0]!],
    ['the metrics of the worker', metrics[1]!],
    ['audit', await storedAuditTexts(test.database)],
  ]
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`select to_jsonb(r)::text as row from ${sql(name)} r`
    places.push([name, rows.map(({ row }) => row).join('\n')])
  }
  t.ok(log.includes('"level":"trace"') || log.includes('"level":"debug"'), 'everything was logged')
  t.ok((await sql`select from kanarie_taak`).length > 0, 'jobs were looked at')
  t.ok(
    metrics.every((text) => text.includes('# HELP')),
    'metrics were looked at',
  )
  const where = (canary: string) =>
    places
      .filter(([, text]) =>
        [canary, base64(canary), Buffer.from(canary).toString('hex')].some((form) => text.includes(form)),
      )
      .map(([place]) => place)
  t.ok(
    receiver.received.some(({ path, body }) => path.includes('terug') && body.kanaal === 'zaken'),
    'a receiver gave back the secret that it was sent',
  )
  for (const [name, secret] of Object.entries(SECRETS)) t.same(where(secret), [], `secret: ${name}`)
  const people = (bsn: string) => places.filter(([, text]) => isNumberIn(bsn, text)).map(([place]) => place)
  for (const token of tokens) t.same(where(token), [], 'a token')
  for (const value of session) t.same(where(decodeURIComponent(value)), [], 'a cookie')
  for (const [name, bsn] of Object.entries(BSN) as [keyof typeof BSN, string][])
    t.same(
      people(bsn).filter((place) => !PLACES[name]?.test(place)),
      [],
      `BSN: ${name}`,
    )
  for (const name of Object.keys(PLACES) as (keyof typeof BSN)[])
    t.ok(people(BSN[name]).length > 0, `${name} is found where it belongs`)
})
