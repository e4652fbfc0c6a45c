// The audit log as a file: all of it, and nothing is held by who does not read it.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { testApp } from '../app.ts'
import { pagesClient } from './browser-client.ts'

const ROWS = 3000

t.test('the audit log as a file', async (t) => {
  const test = await testApp(t, { DATABASE_POOL_SIZE: '3' })
  const { sql } = test.database
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  await sql`
    with account as (insert into beheer_account (gebruikersnaam, rol) values ('kijker', 'viewer') returning id)
    insert into beheer_session (key, account_id, expires_at)
    select ${createHash('sha256').update('sessie').digest()}, id, now() + interval '1 hour' from account`
  const viewer = pagesClient(test.app, { cookies: new Map([['zaakstroom', 'sessie']]) })
  await sql`
    insert into beheer_audit (gebruiker, herkomst, handeling, resultaat, object_kind, object_id, object_weergave, nieuw)
    select 'iemand', '', 'proef', 'geslaagd', 'proef', n::text, '=1+1', jsonb_build_object('tekst', repeat('x', 5000))
    from generate_series(1, ${ROWS}::int) n`

  await t.test('has every row, in order, and no cell that a spreadsheet would run', async (t) => {
    const { statusCode, body } = await viewer.get('/beheer/audit/export.csv?handeling=proef')
    t.equal(statusCode, 200)
    const [header, ...lines] = body.trim().split('\r\n')
    t.equal(header, 'tijdstip,gebruiker,herkomst,handeling,resultaat,soort,id,weergave,oud,nieuw')
    t.same(
      lines.map((line) => line.split(',')[6]),
      Array.from({ length: ROWS }, (_, n) => String(n + 1)),
    )
    t.match(lines[0]!, /,1,'=1\+1,,"\{""tekst"": ""x+""\}"$/)
  })

  await t.test('reads a few lines at a time where they are large', async (t) => {
    const many = 12 // of 200 kB each, which no compression makes smaller, behind as many small ones
    await sql`
      insert into beheer_audit (gebruiker, herkomst, handeling, resultaat, object_kind, object_id, object_weergave, nieuw)
      select 'iemand', '', 'groot', 'geslaagd', 'proef', n::text, '', jsonb_build_object('tekst', case when n > ${many} then (
        select string_agg(md5(random()::text || m || n), '') from generate_series(1, 6250) m) end)
      from generate_series(1, ${2 * many}::int) n`
    const { body } = await viewer.get('/beheer/audit/export.csv?handeling=groot')
    const lines = body.trim().split('\r\n').slice(1)
    t.same(
      lines.map((line) => line.split(',')[6]),
      Array.from({ length: 2 * many }, (_, n) => String(n + 1)),
    )
    t.ok(lines.slice(many).every(({ length }) => length > 200_000))
  })

  await t.test('that nobody reads holds no connection of the database, nor when they have gone', async (t) => {
    const cookie = [...viewer.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sockets = Array.from({ length: LIMITS.streamsOfAccount }, () =>
      connect(port, '127.0.0.1').on('error', () => {}),
    )
    for (const socket of sockets) {
      socket.write(`GET /beheer/audit/export.csv HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`)
      const [head] = await once(socket, 'data')
      t.match(String(head), /^HTTP\/1\.1 200 /)
      socket.pause()
    }
    const file = async () => (await viewer.get('/beheer/audit/export.csv?handeling=geen')).statusCode
    t.equal(await file(), 503, 'one account has so many at once')
    const asks = async () => (await viewer.get('/beheer/audit')).statusCode
    t.same(await Promise.all(Array.from({ length: 6 }, asks)), [200, 200, 200, 200, 200, 200])
    for (const socket of sockets) socket.destroy()
    while ((await file()) === 503); // until the server hears of it
    t.same(await Promise.all(Array.from({ length: 6 }, asks)), [200, 200, 200, 200, 200, 200])
  })
})
