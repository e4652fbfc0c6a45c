import t from 'tap'
import { alsBeheerder, needsBrowser, opstelling, teBreed, toegankelijkheid, WACHTWOORD } from './browser.ts'

t.test('signing in', await needsBrowser(), async (t) => {
  const test = await opstelling(t)

  t.test('a page asks to sign in first, and comes back to where one wanted to be', async (t) => {
    const context = await test.browser.newContext({ baseURL: test.adres })
    const pagina = await context.newPage()
    await pagina.goto('/beheer/?van=elders')
    t.match(pagina.url(), /\/beheer\/inloggen\?verder=/)
    t.same(await toegankelijkheid(pagina), [])
    await pagina.fill('#veld-gebruikersnaam', 'VIEWER')
    await pagina.fill('#veld-wachtwoord', WACHTWOORD)
    await pagina.keyboard.press('Enter')
    await pagina.waitForURL('**/beheer/?van=elders')
    t.match(await pagina.textContent('.kop-account'), 'De viewer')
    await pagina.click('text=Uitloggen')
    await pagina.waitForURL('**/beheer/inloggen')
    await pagina.goto('/beheer/')
    t.match(pagina.url(), /inloggen/, 'the session has ended')
  })

  t.test('the overview has no violations of WCAG 2.1 AA and fits in 320 pixels', async (t) => {
    const { pagina, klachten } = await alsBeheerder(test, 'viewer', { width: 320 })
    t.same(await toegankelijkheid(pagina), [])
    t.equal(await teBreed(pagina), false)
    t.same(klachten, [])
  })

  t.test('five wrong passwords lock an account, and nobody is told why', async (t) => {
    const context = await test.browser.newContext({ baseURL: test.adres, javaScriptEnabled: false })
    const pagina = await context.newPage()
    const probeer = async (naam: string, wachtwoord: string) => {
      await pagina.goto('/beheer/inloggen')
      await pagina.fill('#veld-gebruikersnaam', naam)
      await pagina.fill('#veld-wachtwoord', wachtwoord)
      await pagina.click('main button[type=submit]')
      return pagina.textContent('main')
    }
    const unknown = await probeer('niemand', 'x')
    for (let count = 0; count < 5; count++)
      t.equal((await probeer('operator', 'verkeerd'))?.replace('operator', 'niemand'), unknown)
    t.match(await probeer('operator', WACHTWOORD), 'tijdelijk geblokkeerd')
  })
})

t.test('forms from elsewhere are refused', async (t) => {
  const test = await opstelling(t)
  const post = (headers: Record<string, string>, body: Record<string, string>) =>
    test.app.inject({
      method: 'POST',
      url: '/beheer/inloggen',
      headers: { 'content-type': 'application/x-www-form-urlencoded', host: 'localhost', ...headers },
      payload: new URLSearchParams(body).toString(),
    })
  const form = { gebruikersnaam: 'administrator', wachtwoord: WACHTWOORD }

  t.test('without an Origin of ours', async (t) => {
    t.equal((await post({}, form)).statusCode, 403)
    t.equal((await post({ origin: 'http://evil.example' }, form)).statusCode, 403)
    t.equal((await post({ origin: 'null' }, form)).statusCode, 403)
  })
  t.test('without the token of the form', async (t) => {
    const answer = await post({ origin: 'http://localhost' }, form)
    t.equal(answer.statusCode, 403)
    t.match(answer.body, 'Dit formulier is verlopen')
    t.same(
      answer.cookies.filter(({ name }) => name === 'zaakstroom'),
      [],
    )
  })
})
