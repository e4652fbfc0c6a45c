import t from 'tap'
import { readConfig } from '../../src/config.ts'
import { alsBeheerder, needsBrowser, opstelling, teBreed, toegankelijkheid } from './browser.ts'

t.test('the whole configuration is listed with where it comes from, and without secrets', async (t) => {
  const { listed } = readConfig({
    DATABASE_URL: 'postgres://zaak:wachtwoord@db/zaak',
    SECRET_KEY: 'een heel geheime sleutel',
    PUBLIC_URL: 'https://zaken.example.nl',
    OIDC_ISSUER: 'https://naam:wachtwoord@inloggen.example.nl',
    OIDC_CLIENT_ID: 'beheer',
  })
  const one = (name: string) => listed.find(({ env }) => env === name)
  t.match(one('PUBLIC_URL'), { value: 'https://zaken.example.nl', given: true })
  t.match(one('PORT'), { value: '8000', given: false })
  t.match(one('SECRET_KEY'), { value: undefined, given: true, secret: true })
  t.notMatch(JSON.stringify(listed), /wachtwoord|geheime sleutel/)
})

t.test('the page of the configuration', await needsBrowser(), async (t) => {
  const test = await opstelling(t, { API_CONTACT_NAME: 'Team Zaken' })
  const { pagina, klachten } = await alsBeheerder(test, 'administrator')
  await pagina.goto('/beheer/configuratie')
  const text = (await pagina.textContent('main'))!
  t.match(text, /API_CONTACT_NAME\s*Team Zaken\s*omgeving/)
  t.match(text, /SECRET_KEY\s*ingesteld, wordt niet getoond/)
  t.notMatch(text, 'key of the tests')
  t.same(await toegankelijkheid(pagina), [])
  await pagina.setViewportSize({ width: 320, height: 800 })
  t.equal(await teBreed(pagina), false)
  t.same(klachten, [])
})
