// The pages of alerts: what each account chooses, the mail server and the webhook, and their tests.
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { sendMail } from '../../src/operations/alerts/mail.ts'
import { readAlertSettings } from '../../src/operations/alerts/settings.ts'
import { startReseal } from '../../src/operations/reseal.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from '../beheer/browser.ts'
import { pagesClient } from '../beheer/browser-client.ts'
import { openMailbox } from './mailbox.ts'

const PASSWORD = 'wachtwoord van de mailserver'
const HOOK = 'http://127.0.0.1:1/hooks/kanarie-in-het-pad'

t.test('the pages of alerts', await needsBrowser(), async (t) => {
  const mailbox = await openMailbox(t, {
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, callback) =>
      password === PASSWORD ? callback(null, { user: username }) : callback(new Error('no')),
  })
  const test = await setUpPages(t)
  const { sql } = test.database
  await sql`update beheer_account set email = gebruikersnaam || '@example.nl'`

  t.test('an administrator sets up the mail server, tries it, and gets the mail', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator', { javaScriptEnabled: false })
    await tab.goto('/beheer/meldingen/instellingen')
    await tab.fill('[name=SMTP_HOST]', '127.0.0.1:25')
    await tab.fill('[name=SMTP_FROM]', 'niemand')
    await tab.fill('[name=ALERT_WEBHOOK_URL]', 'ftp://x')
    await tab.click('main button:text("Opslaan")')
    t.match(await tab.textContent('#veld-ALERT_WEBHOOK_URL-fout'), /begint/)
    await tab.fill('[name=ALERT_WEBHOOK_URL]', '')
    await tab.click('main button:text("Opslaan")')
    t.match(await tab.textContent('#veld-SMTP_HOST-fout'), 'een hostnaam of adres')
    t.match(await tab.textContent('#veld-SMTP_FROM-fout'), 'een e-mailadres')
    t.same(await sql`select from setting`, [])
    await tab.fill('[name=SMTP_HOST]', '127.0.0.1')
    await tab.fill('[name=SMTP_PORT]', String(mailbox.port))
    await tab.selectOption('[name=SMTP_SECURITY]', 'none')
    await tab.fill('[name=SMTP_USERNAME]', 'zaakstroom')
    await tab.fill('[name=SMTP_PASSWORD]', 'verkeerd')
    await tab.fill('[name=SMTP_FROM]', 'zaakstroom@example.nl')
    await tab.fill('[name=ALERT_WEBHOOK_URL]', HOOK)
    await tab.click('main button:text("Opslaan")')
    t.match(await tab.textContent('.bericht'), 'opgeslagen')
    await tab.click('text=Test naar mijn e-mailadres')
    t.match(await tab.textContent('.bericht'), 'nam de gebruikersnaam of het wachtwoord niet aan')
    await tab.fill('[name=SMTP_PASSWORD]', PASSWORD)
    await tab.click('main button:text("Opslaan")')
    await tab.click('text=Test naar mijn e-mailadres')
    t.match(await tab.textContent('.bericht'), 'De test is verstuurd naar administrator@example.nl')
    t.match(mailbox.mails, [{ to: ['administrator@example.nl'], subject: 'Test van de meldingen', user: 'zaakstroom' }])
    await tab.click('text=Test naar de webhook')
    t.match(await tab.textContent('.bericht'), 'de verbinding werd geweigerd')
    t.notMatch(await tab.content(), /kanarie|wachtwoord van de mailserver/)
    t.same(klachten, [])
  })

  t.test('secrets are sealed, in no log of changes, and resealed with the others', async (t) => {
    const rows = await sql<{ name: string; sealed: Buffer }[]>`select name, sealed from sealed_setting order by name`
    t.same(
      rows.map(({ name }) => name),
      ['ALERT_WEBHOOK_URL', 'SMTP_PASSWORD'],
    )
    const [{ text }] = await sql<[{ text: string }]>`
      select (select coalesce(string_agg(b::text, ' '), '') from beheer_audit b) || (select string_agg(s::text, ' ') from setting s) as text`
    t.notMatch(text, /kanarie|wachtwoord van de mailserver/)
    t.match(text, 'Adres van de webhook: ingesteld')
    await test.app.mutate(systemActor('test'), async (m) => {
      m.unrecorded('a test')
      await startReseal(m, test.parts.box.ring.sealing)
    })
    await test.runJobs()
    t.same(await sql`select seen from reseal where place = 'sealed_setting' and done_at is not null`, [{ seen: 2 }])
  })

  t.test('a password goes to no other server than the one that it was given for', async (t) => {
    const client = pagesClient(test.app, { cookies: new Map([['zaakstroom', await test.sessie('administrator')]]) })
    const page = '/beheer/meldingen/instellingen'
    const elsewhere = { SMTP_HOST: 'elders.example.nl', 'was.SMTP_HOST': '127.0.0.1' }
    const refused = await client.post(page, elsewhere)
    t.match(refused, { statusCode: 400, body: /wachtwoord van de mailserver opnieuw in/ })
    const settings = { ...elsewhere, SMTP_PORT: '2525', 'was.SMTP_PORT': '' }
    t.match(
      await client.post('/beheer/configuratie', settings),
      { statusCode: 400, body: /wachtwoord van de mailserver opnieuw in/ },
      'on no other page either',
    )
    t.equal(test.config.smtpHost, '127.0.0.1')
    t.equal((await client.post(page, { ...elsewhere, SMTP_PASSWORD: 'een ander' })).statusCode, 303)
    t.equal(test.config.smtpHost, 'elders.example.nl')
    await sql`update setting set value = 'nog-elders.example.nl' where name = 'SMTP_HOST'`
    await test.parts.settings.refresh()
    t.match(
      (await client.get(page)).body,
      'Dit wachtwoord is voor een andere mailserver gegeven',
      'as by the environment',
    )
    const { mail } = await readAlertSettings(test.app.read, test.config, test.parts.box)
    await t.rejects(sendMail(mail!, { id: 'x', to: 'a@example.nl', subject: '', text: '' }), {
      code: 'SECRET_ELSEWHERE',
    })
    await sql`update setting set value = 'elders.example.nl' where name = 'SMTP_HOST'`
    await test.parts.settings.refresh()
    t.notMatch((await client.get(page)).body, 'Dit wachtwoord is voor een andere')
    await client.post(page, { SMTP_HOST: '', 'was.SMTP_HOST': 'elders.example.nl', forget: 'ALERT_WEBHOOK_URL' })
    t.same(await sql`select from sealed_setting`, [], 'without a server there is no password')
    const set = { SMTP_HOST: '127.0.0.1', 'was.SMTP_HOST': '', SMTP_USERNAME: '', 'was.SMTP_USERNAME': 'zaakstroom' }
    t.equal((await client.post(page, set)).statusCode, 303)
    const operator = pagesClient(test.app, { cookies: new Map([['zaakstroom', await test.sessie('operator')]]) })
    t.equal((await operator.get(page)).statusCode, 403)
    t.equal((await operator.get('/beheer/meldingen')).statusCode, 200)
  })

  t.test('everybody chooses for himself what he is mailed, and tries it so many times', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'viewer', { width: 390 })
    await tab.goto('/beheer/mijn-account')
    await tab.click('text=Meldingen kiezen')
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    await tab.check('#kies-abonnement')
    await tab.check('#kies-schijf')
    await tab.check('#samenvatting-altijd')
    await tab.click('main button:text("Opslaan")')
    t.match(await tab.textContent('.bericht'), 'Uw keuze is opgeslagen')
    t.ok(await tab.isChecked('#kies-schijf'))
    t.same(
      await sql`select gebruikersnaam as n, alert_kinds as k, alert_digest as d from beheer_account where alert_digest <> 'nooit'`,
      [{ n: 'viewer', k: ['abonnement', 'schijf'], d: 'altijd' }],
    )
    for (let turn = 0; turn < 5; turn++) {
      await tab.click('text=Test naar mij sturen')
      t.match(await tab.textContent('.bericht'), 'De test is verstuurd naar viewer@example.nl')
    }
    await tab.click('text=Test naar mij sturen')
    t.match(await tab.textContent('main'), 'U hebt net al een paar tests verstuurd')
    t.same(klachten, [])
  })

  t.test('the list of alerts is readable in both widths', async (t) => {
    await sql`
      insert into alert (key, kind, level, text, path, ended_at) values
        ('a', 'abonnement', 2, 'Het abonnement Zaaksysteem (ontvanger.example.nl) is geblokkeerd.', '/abonnementen', null),
        ('b', 'schijf', 1, 'Op de schijf van de documenten is nog 8% vrij.', '/bewaartermijnen', now())`
    await sql`
      insert into alert_message (account_id, kind, lines, sent_at, attempts, fault)
      select id, 'melding', '[{}]'::jsonb, now(), 1, '' from beheer_account where gebruikersnaam = 'viewer'
      union all values (null::bigint, 'melding', '[{}, {}]'::jsonb, null::timestamptz, 2, 'de webhook antwoordde met status 500')`
    const { tab } = await asBeheerder(test, 'administrator')
    for (const page of ['/beheer/meldingen', '/beheer/meldingen/instellingen']) {
      await tab.goto(page)
      for (const width of [1280, 390]) {
        await tab.setViewportSize({ width, height: 800 })
        t.equal(await isTooWide(tab), false, `${page} ${width}`)
        if (process.env.SHOTS)
          await tab.screenshot({
            path: `${process.env.SHOTS}${page.replaceAll('/', '-')}-${width}.png`,
            fullPage: true,
          })
      }
      t.same(await accessibilityFaults(tab), [], page)
    }
    await tab.goto('/beheer/meldingen?taal=en')
    t.match(await tab.textContent('main'), /Is tried again.*the webhook answered with status 500/s)
  })
})

t.test('a mail server is called as safely as its setting says, and within its time', async (t) => {
  const mailbox = await openMailbox(t)
  const settings = { host: '127.0.0.1', port: mailbox.port, from: 'a@example.nl', login: undefined }
  const mail = { id: 'x', to: 'b@example.nl', subject: 'Regel\r\nBcc: c@example.nl', text: '.\r\nQUIT' }
  await t.rejects(
    sendMail({ ...settings, security: 'starttls' }, mail),
    { code: 'ETLS' },
    'one without TLS gets nothing',
  )
  t.same(mailbox.mails, [])
  await sendMail({ ...settings, security: 'none' }, mail)
  t.same(mailbox.mails[0]!.to, ['b@example.nl'], 'a subject adds no receiver')
  await t.rejects(sendMail({ ...settings, host: '169.254.169.254', security: 'none' }, mail), {
    code: 'BLOCKED_ADDRESS',
  })
  await mailbox.stop()
  await t.rejects(sendMail({ ...settings, security: 'none' }, mail))
})
