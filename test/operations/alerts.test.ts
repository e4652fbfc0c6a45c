// What people are told of: once when it begins, once when it is over, to who asked for it, whatever dies in between.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { lookAtAll, prepareDigests } from '../../src/operations/alerts/look.ts'
import { sendDue } from '../../src/operations/alerts/send.ts'
import { watchWorkers } from '../../src/operations/alerts/watch-workers.ts'
import { type Json, type TestApp, testApp } from '../app.ts'
import { openMailbox } from './mailbox.ts'

const SECRET = `whsec_${Buffer.from('a secret of the webhook').toString('base64')}`
const BSN = '999990019'

async function openHook(t: { teardown(work: () => unknown): unknown }) {
  const received: { headers: IncomingHttpHeaders; body: string; json: Json }[] = []
  const state = { status: 204 }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (state.status === 204) received.push({ headers: request.headers, body, json: JSON.parse(body) })
    response.writeHead(state.status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { received, state, url: `http://127.0.0.1:${port}/hooks/pad-met-geheim` }
}

type Setup = TestApp & { mailbox: Awaited<ReturnType<typeof openMailbox>>; hook: Awaited<ReturnType<typeof openHook>> }

/** With two accounts: `een` wants to know of abonnementen and workers, `twee` of imports. */
async function setUp(t: Parameters<typeof testApp>[0]): Promise<Setup> {
  const mailbox = await openMailbox(t)
  const hook = await openHook(t)
  const test = await testApp(t, {
    PUBLIC_URL: 'https://zaken.example.nl',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mailbox.port),
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'zaakstroom@example.nl',
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: SECRET,
  })
  const { sql, db } = test.database
  for (const [gebruikersnaam, kinds] of [
    ['een', ['abonnement', 'worker', 'verloopt']],
    ['twee', ['import']],
  ] as const) {
    await createAccount(db, { gebruikersnaam, rol: 'viewer', email: `${gebruikersnaam}@example.nl` })
    await sql`update beheer_account set alert_kinds = ${[...kinds]} where gebruikersnaam = ${gebruikersnaam}`
  }
  return { ...test, mailbox, hook }
}

/** Looks, and sends what that told. */
async function look(test: Setup): Promise<number> {
  const lines = await lookAtAll(test.parts)
  await test.runJobs()
  return lines
}

/** What was not found for long enough is over at the next look. */
const passTime = ({ database: { sql } }: TestApp) =>
  sql`update alert set missing_since = missing_since - interval '1 hour' where ended_at is null`

async function givenAbonnement({ database: { sql } }: TestApp, label = 'Zaaksysteem'): Promise<string> {
  const [row] = await sql<[{ uuid: string }]>`
    with a as (insert into applicatie (label) values (${label}) returning id)
    insert into abonnement (applicatie_id, callback_url, auth)
    select id, 'https://ontvanger.example.nl/pad-met-geheim', ''::bytea from a returning uuid`
  return row.uuid
}

t.test('what people are told', async (t) => {
  const test = await setUp(t)
  const { database, mailbox, hook, parts } = test
  const { sql } = database
  t.equal(await look(test), 0, 'nothing is told while all is well')

  t.test('an abonnement that stops is told once, and once that it goes on', async (t) => {
    const uuid = await givenAbonnement(test, `Zaaksysteem van ${BSN}`)
    await sql`update abonnement set failures = 9, failing_since = now() - interval '14 minutes' where uuid = ${uuid}`
    t.equal(await look(test), 0, 'a receiver that fails for a while is not told')
    await sql`update abonnement set failing_since = now() - interval '16 minutes' where uuid = ${uuid}`
    t.equal(await look(test), 1)
    t.equal(await look(test), 0, 'not again while it lasts')
    t.match(mailbox.mails, [{ to: ['een@example.nl'], subject: /neemt al meer dan 15 minuten geen berichten aan/ }])
    t.equal(mailbox.mails.length, 1, 'only who asked for it')
    t.match(mailbox.mails[0]!.body, `https://zaken.example.nl/beheer/abonnementen/${uuid}`)

    await sql`update abonnement set status = 'geblokkeerd', reason = 'Er wachten 10 berichten of meer.' where uuid = ${uuid}`
    t.equal(await look(test), 1, 'that it got worse is told')
    t.match(mailbox.mails[1]!.body, /Erger geworden:\n\n- Het abonnement .* is geblokkeerd\. Er wachten 10 berichten/)

    await sql`update abonnement set status = 'actief', failures = 0, failing_since = null where uuid = ${uuid}`
    t.equal(await look(test), 0, 'one that is well for a moment may fail again')
    t.equal(await look(test), 0)
    await passTime(test)
    t.equal(await look(test), 1)
    t.equal(await look(test), 0, 'nor is the end told twice')
    t.match(mailbox.mails[2], { subject: /^Voorbij: Het abonnement/, body: /Voorbij:/ })
    t.equal(mailbox.mails.length, 3)
    const { headers, body, json } = hook.received[0]!
    t.equal(hook.received.length, 3, 'the webhook is told the same')
    t.match(json, {
      type: 'melding',
      text: /neemt al meer dan/,
      data: { alerts: [{ event: 'begin', kind: 'abonnement', url: /beheer\/abonnementen/ }] },
    })
    const key = Buffer.from(SECRET.slice(6), 'base64')
    const signed = createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
    t.equal(headers['webhook-signature'], `v1,${signed.digest('base64')}`)
    const all = JSON.stringify([mailbox.mails, hook.received])
    t.notMatch(all, BSN, 'no number of a person is told')
    t.notMatch(all, 'pad-met-geheim/', 'nor the path of an address')
    t.notMatch(JSON.stringify(mailbox.mails), 'pad-met-geheim')
  })

  t.test('what begins again during the wait is not told', async (t) => {
    const uuid = await givenAbonnement(test)
    const set = (status: string) => sql`update abonnement set status = ${status} where uuid = ${uuid}`
    await set('opgezegd')
    t.equal(await look(test), 1)
    await set('actief')
    t.equal(await look(test), 0)
    await set('opgezegd')
    t.equal(await look(test), 0)
    await passTime(test)
    t.equal(await look(test), 0, 'it goes on')
    await set('actief')
    t.equal(await look(test), 0)
    await passTime(test)
    t.equal(await look(test), 1)
  })

  t.test('two workers and a storm: one message, with all in it', async (t) => {
    const before = [mailbox.mails.length, hook.received.length]
    await Promise.all(Array.from({ length: 60 }, (_, place) => givenAbonnement(test, `Client ${place}`)))
    await sql`update abonnement set status = 'geblokkeerd', reason = 'Te veel.'`
    const told = await Promise.all(Array.from({ length: 4 }, () => lookAtAll(parts)))
    t.equal(Math.max(...told), 62)
    t.equal(told.filter((lines) => lines > 0).length, 1, 'one of them told it')
    await Promise.all([sendDue(parts), sendDue(parts), sendDue(parts)])
    t.same(
      [mailbox.mails.length, hook.received.length],
      before.map((count) => count + 1),
    )
    t.match(mailbox.mails.at(-1), { subject: /^62 meldingen: Het abonnement/, body: /- en nog 12\./ })
    await sql`update abonnement set deleted_at = now()`
    await look(test)
    await passTime(test)
    t.equal(await look(test), 62)
  })

  t.test('an import that stops is told, and has no end', async (t) => {
    const count = mailbox.mails.length
    const [{ uuid }] = await sql<[{ uuid: string }]>`
      insert into import (status, bestandsnaam, total, processed, ended_at) values ('error', 'oud.csv', 10, 4, now()) returning uuid`
    t.equal(await look(test), 1)
    t.match(mailbox.mails.at(-1), {
      to: ['twee@example.nl'],
      subject: 'De import oud.csv is gestopt voor het einde (4 van 10 rijen).',
    })
    await sql`update import set deleted_at = now() where uuid = ${uuid}`
    await look(test)
    await passTime(test)
    t.equal(await look(test), 0)
    t.equal(mailbox.mails.length, count + 1)
    await sql`update import set deleted_at = null, status = 'active', ended_at = null, updated_at = now() - interval '20 minutes' where uuid = ${uuid}`
    t.equal(await look(test), 1)
    t.match(mailbox.mails.at(-1)?.subject, /ligt al meer dan 15 minuten stil/)
    await sql`delete from import where uuid = ${uuid}`
    await look(test)
    await passTime(test)
    t.equal(await look(test), 1)
  })

  t.test('a secret that runs out is told at 30 days, at 7 and at its end', async (t) => {
    const expires = (days: number) => sql`
      update applicatie_secret set last_signed_at = now(), expires_at = now() + make_interval(days => ${days}) where client_id = 'beheer'`
    await expires(31)
    t.equal(await look(test), 0)
    for (const [days, pattern] of [
      [29, /verloopt op/],
      [8, undefined],
      [6, /verloopt op/],
      [-1, /is verlopen op/],
    ] as const) {
      await expires(days)
      t.equal(await look(test), pattern ? 1 : 0, `${days} days`)
      if (pattern) t.match(mailbox.mails.at(-1)?.subject, pattern)
    }
    await sql`update applicatie_secret set expires_at = null where client_id = 'beheer'`
    await look(test)
    await passTime(test)
    t.equal(await look(test), 1)
  })

  t.test(
    'what is not accepted is sent later, and what was being sent when a process died again, with the same id',
    async (t) => {
      const uuid = await givenAbonnement(test)
      await sql`update abonnement set status = 'opgezegd' where uuid = ${uuid}`
      await lookAtAll(parts)
      hook.state.status = 500
      const mails = mailbox.mails.length
      await test.runJobs()
      t.equal(mailbox.mails.length, mails + 1, 'the mail does not wait for the webhook')
      const [failed] = await sql<{ fault: string; wait: number; attempts: number }[]>`
      select fault, attempts, extract(epoch from next_at - now())::float8 as wait from alert_message where sent_at is null`
      t.match(failed, { fault: 'de webhook antwoordde met status 500', attempts: 1 })
      t.ok(failed!.wait > 50 && failed!.wait <= 60)
      await sql`update alert_message set next_at = now() where sent_at is null`
      await look(test)
      const [again] = await sql<{ wait: number }[]>`
      select extract(epoch from next_at - now())::float8 as wait from alert_message where sent_at is null`
      t.ok(again!.wait > 110, 'it waits longer each time')
      hook.state.status = 204
      const received = hook.received.length
      await look(test)
      t.equal(hook.received.length, received, 'it is not due')
      await sql`update alert_message set next_at = now() where sent_at is null`
      t.equal(await look(test), 0, 'a look has it sent')
      t.equal(hook.received.length, received + 1)

      // A process dies after the server took the mail, and before it said so.
      await sql`update alert_message set sent_at = null, next_at = now() + interval '90 seconds' where id = (
      select max(id) from alert_message where account_id is not null)`
      await look(test)
      t.equal(mailbox.mails.length, mails + 1)
      await sql`update alert_message set next_at = now() where sent_at is null`
      await look(test)
      t.equal(mailbox.mails.length, mails + 2)
      t.equal(mailbox.mails.at(-1)!.id, mailbox.mails.at(-2)!.id)
      await sql`update alert_message set sent_at = null, next_at = now(), created_at = now() - interval '25 hours' where id = (
      select max(id) from alert_message)`
      await look(test)
      t.equal(hook.received.length, received + 1, 'after a day it is given up')
      await sql`delete from alert_message`
    },
  )

  t.test('that no worker is there is told by an api, once, and sent without one', async (t) => {
    const apis = [1, 2].map(() => watchWorkers(parts, { everyMs: 3_600_000, goneMs: 0 }))
    t.teardown(() => Promise.all(apis.map(({ close }) => close())))
    const patient = watchWorkers(parts, { everyMs: 3_600_000 })
    t.teardown(patient.close)
    await patient.look()
    t.same(await sql`select from alert where ended_at is null and kind = 'worker'`, [], 'a restart is not told')
    const [mails, hooks] = [mailbox.mails.length, hook.received.length]
    await Promise.all(apis.map(({ look }) => look()))
    await apis[0]!.look()
    t.same([mailbox.mails.length, hook.received.length], [mails + 1, hooks + 1])
    t.match(mailbox.mails.at(-1)?.body, /Er draait geen worker voor imports en opruimen/)
    await passTime(test)
    t.equal(await look(test), 0, 'nor is it over while they are gone')
    await sql`
      insert into worker (name, version, host, pid, pool_id) values ('worker', '1', 'h', 1, 'a'), ('notificaties', '1', 'h', 1, 'b')`
    await apis[0]!.look()
    t.equal(await look(test), 0)
    await passTime(test)
    t.equal(await look(test), 2)
    t.match(mailbox.mails.at(-1)?.subject, /^2 meldingen: Voorbij: Er draait geen worker/)
    await sql`delete from worker`
  })

  t.test('a digest comes once a day, to who wants it', async (t) => {
    await sql`update beheer_account set alert_digest = 'nodig' where gebruikersnaam = 'een'`
    await sql`update beheer_account set alert_digest = 'altijd' where gebruikersnaam = 'twee'`
    const count = mailbox.mails.length
    t.equal(
      (await Promise.all([prepareDigests(parts), prepareDigests(parts)])).reduce((sum, one) => sum + one),
      2,
    )
    t.equal(await prepareDigests(parts), 0)
    await test.runJobs()
    t.equal(mailbox.mails.length, count + 2)
    t.match(mailbox.mails.at(-1)?.body, /Nog gaande:\n\n- Het abonnement Zaaksysteem .* is opgezegd/)
    await sql`delete from alert`
    await sql`delete from alert_message`
    t.equal(await prepareDigests(parts), 1, 'nothing to tell')
    await test.runJobs()
    t.match(mailbox.mails.at(-1), { to: ['twee@example.nl'], subject: 'Alles werkt' })
  })

  t.test('an account that is not active is told nothing, and one that goes takes its messages along', async (t) => {
    await sql`update beheer_account set actief = false where gebruikersnaam = 'een'`
    const count = mailbox.mails.length
    t.equal(await look(test), 1, 'what still goes on is found anew')
    t.equal(mailbox.mails.length, count)
    await sql`delete from beheer_account where gebruikersnaam = 'twee'`
    t.same(await sql`select from alert_message where account_id is not null`, [])
  })
})
