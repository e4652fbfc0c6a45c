// The pages in English: every sentence has its translation, and what users typed stays as it is.
import { glob, readFile } from 'node:fs/promises'
import { Eta } from 'eta'
import t from 'tap'
import { ENGLISH } from '../../src/beheer/language/english/index.ts'
import { REASONS } from '../../src/beheer/language/english/reasons.ts'
import { inLanguage, reason, t as say, words } from '../../src/beheer/language/language.ts'
import { templateLanguage } from '../../src/beheer/language/templates.ts'
import { givenZaaktype } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { type PagesClient, pagesClient } from './browser-client.ts'
import { givenZaak } from './given.ts'
import { collectMessages } from './messages.ts'

const textOf = (body: string) =>
  body
    .replace(/<(code|pre)\b[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
/** Pages that a fresh installation has. */
const PAGES = [
  '/beheer/',
  '/beheer/imports',
  '/beheer/imports/nieuw',
  '/beheer/notificaties',
  '/beheer/abonnementen',
  '/beheer/abonnementen/nieuw',
  '/beheer/taken',
  '/beheer/zaken',
  '/beheer/documenten',
  '/beheer/besluiten',
  '/beheer/betrokkenen',
  '/beheer/audittrail',
  '/beheer/catalogi',
  '/beheer/catalogi/nieuw',
  '/beheer/configuratie/notificaties',
  '/beheer/kanalen',
  '/beheer/diensten',
  '/beheer/diensten/nieuw',
  '/beheer/applicaties',
  '/beheer/token-uitgevers',
  '/beheer/token-uitgevers/nieuw',
  '/beheer/applicaties/nieuw',
  '/beheer/accounts',
  '/beheer/accounts/nieuw',
  '/beheer/configuratie',
  '/beheer/audit',
  '/beheer/overnemen',
  '/beheer/bewaartermijnen',
  '/beheer/sleutels',
  '/beheer/uitgaand',
  '/beheer/mijn-account',
]
const inEnglish = <T>(work: () => T) => inLanguage('en', work)
t.test('every sentence of the pages has English, and no English is left over', async (t) => {
  const messages = collectMessages()
  t.ok(messages.size > 2000)
  t.same(
    [...messages]
      .filter(([dutch]) => !ENGLISH.has(dutch))
      .map(([dutch, places]) => `${dutch} (${[...places].join(', ')})`),
    [],
    'sentences without English in src/beheer/language/english/',
  )
  t.same(
    [...ENGLISH.keys()].filter((dutch) => !messages.has(dutch)),
    [],
    'English of sentences that are not said',
  )
})

t.test('English names the values that the Dutch names', async (t) => {
  const values = (text: string) => [...new Set(text.match(/\{\d+/g) ?? [])].sort()
  for (const [dutch, english] of [...ENGLISH, ...Object.entries(REASONS)]) {
    if (values(dutch).join() !== values(english).join()) t.fail(`${dutch} → ${english}`)
  }
})

t.test('a sentence keeps its values, in the places where English has them', async (t) => {
  const name = 'Zaken'
  t.equal(say`Het account ${name} is gemaakt.`, 'Het account Zaken is gemaakt.')
  t.equal(
    inEnglish(() => say`Het account ${name} is gemaakt.`),
    'The account Zaken has been made.',
  )
  t.equal(
    inEnglish(() => say('wat niemand zegt')),
    'wat niemand zegt',
  )
  const table = words({ rows: [{ naam: 'Zaken', code: 'Zaken' }] }, 'naam')
  t.match(
    inEnglish(() => ({ ...table.rows[0] })),
    { naam: 'Cases', code: 'Zaken' },
  )
  t.match(table.rows[0], { naam: 'Zaken', code: 'Zaken' })
})

t.test('a template is read in English, with its values and statements in place', async (t) => {
  const english: Record<string, string> = {
    'Er zijn {1} rijen': 'There are {1} rows',
    'Van {1} naar {2}.': 'To {2} from {1}.',
    geen: 'none',
    'Nog “{1}”': 'Still “{1}”',
    Zoek: 'Find',
    status: 'state',
    'Nieuw {1}': 'New {1:lower}',
  }
  const eta = new Eta({ plugins: [templateLanguage((dutch) => english[dutch])] })
  const render = (template: string, values: object) =>
    eta.renderString(template, { lowerFirst: (text: string) => text.toLowerCase(), ...values })
  t.equal(
    render('<p>\n  Er zijn <%= it.n %>\n  rijen</p><% if (it.n) { %>geen<% } %>', { n: 3 }),
    '<p>\n  There are 3 rows</p>none',
  )
  t.equal(render('Van <%= it.a %> naar <%= it.b %>.', { a: '<1>', b: 2 }), 'To 2 from &lt;1&gt;.')
  t.equal(
    render('<b title="Zoek" class="geen"><%= it.a || "geen" %></b>', { a: '' }),
    '<b title="Find" class="geen">none</b>',
  )
  t.equal(render('<b><%= it.a || "geen" %></b>', { a: 'Zoek' }), '<b>Zoek</b>', 'a value is no sentence')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
  t.equal(render('<% const x = `Nog “${it.a}”` %><%= x %>', { a: 'Zoek' }), 'Still “Zoek”')
  t.equal(
    render('<% const x = { naam: "status" } %><i id="<%= x.naam %>"></i>', {}),
    '<i id="status"></i>',
    'names stay',
  )
  t.equal(render('<% const { naam } = { naam: "a" } %><%= [{ naam }].map(({ naam }) => naam) %>', {}), 'a')
  t.equal(render('<code>geen</code> Nieuw <%= it.a %>', { a: 'Zaaktype' }), '<code>geen</code> New zaaktype')
})

t.test('what the API refuses is said in English where it is known, and in Dutch where it is not', async (t) => {
  t.equal(reason('Dit veld is verplicht.'), 'Dit veld is verplicht.')
  inEnglish(() => {
    t.equal(reason('Dit veld is verplicht.'), 'This field is required.')
    t.equal(reason('Dit veld heeft ten hoogste 40 tekens.'), 'This field has at most 40 characters.')
    t.equal(reason('uuid: Dit is geen geldige UUID.'), 'uuid: This is not a valid UUID.')
    t.equal(reason('Hiervan is niets bekend.'), 'Hiervan is niets bekend.')
  })
})

t.test('every reason with English is one that the service gives', async (t) => {
  const sources = await Array.fromAsync(glob(['src/**/*.ts', 'tasks/**/*.ts', 'sql/*.sql']), async (file) =>
    file.includes('/language/') ? '' : readFile(file, 'utf8'),
  )
  const all = sources.join('\n')
  for (const dutch of Object.keys(REASONS))
    for (const part of dutch.split(/\{\d+\}/))
      t.ok(all.includes(part) || all.includes(part.replaceAll("'", "\\'")), dutch)
})

t.test('the choice of a language', async (t) => {
  const test = await setUpPages(t, {}, false)
  const choose = async (browser: PagesClient, url: string) => (await browser.get(url)).headers.location

  await t.test('is a link on every page, also before signing in and where nothing is', async (t) => {
    for (const [url, to] of [
      ['/beheer/inloggen?verder=%2Fbeheer%2Fzaken', '/beheer/inloggen?verder=%2Fbeheer%2Fzaken&amp;taal=en'],
      ['/beheer/nergens', '/beheer/?taal=en'],
    ] as const) {
      const { body } = await pagesClient(test.app).get(url)
      t.match(body, '<html lang="nl"')
      t.match(body, `<a href="${to}" lang="en" hreflang="en">English</a>`, url)
    }
  })

  await t.test('keeps the page with what it shows, and is kept', async (t) => {
    const browser = pagesClient(test.app)
    t.match((await browser.login('administrator', WACHTWOORD)).statusCode, 303)
    t.equal(await choose(browser, '/beheer/zaken?zoek=a%26b&na=12&taal=en'), '/beheer/zaken?zoek=a%26b&na=12')
    const { body } = await browser.get('/beheer/zaken?zoek=a%26b')
    t.match(body, '<html lang="en"')
    t.match(body, '<title>Cases | Zaakstroom</title>')
    t.match(body, 'hreflang="nl">Nederlands</a>')
    t.equal(await choose(browser, '/beheer/?taal=nl'), '/beheer/')
    t.match((await browser.get('/beheer/')).body, '<html lang="nl"')
  })

  await t.test('leads nowhere else, changes nothing with a form, and knows two languages', async (t) => {
    const browser = pagesClient(test.app)
    for (const url of [
      '/beheer//evil.example/?taal=en',
      '/beheer/%2F%2Fevil.example?taal=en',
      '/beheer/\\evil.example?taal=en',
    ])
      t.match(await choose(browser, url), /^\/beheer\//, url)
    t.equal((await pagesClient(test.app).get('/beheer/inloggen?taal=fr')).statusCode, 200)
    const form = await pagesClient(test.app).post('/beheer/inloggen?taal=en', { gebruikersnaam: 'a', wachtwoord: 'b' })
    t.notOk(form.cookies.some(({ name }) => name === 'zaakstroom-taal'))
  })
})

t.test('pages in both languages', async (t) => {
  const test = await setUpPages(t, {}, false)
  const zaaktype = await givenZaaktype(test, { statustypen: ['Ontvangen', 'Klaar'] })
  const zaak = await givenZaak(test, zaaktype, { omschrijving: 'Zaken', toelichting: 'Opslaan' })
  const browser = pagesClient(test.app)
  await browser.login('administrator', WACHTWOORD)
  await browser.confirm(WACHTWOORD)
  const pages = [...PAGES, `/beheer/zaken/${zaak.uuid}`]
  for (const url of pages) {
    await browser.get('/beheer/?taal=nl')
    const dutch = await browser.get(url)
    t.match(dutch, { statusCode: 200, body: '<html lang="nl"' }, url)
    await browser.get('/beheer/?taal=en')
    const english = await browser.get(url)
    t.match(english, { statusCode: 200, body: '<html lang="en"' }, url)
    const left = textOf(english.body).match(/[^.]*\b(het|een|niet|wordt|worden|wijzigen|verwijderen)\b[^.]*/)?.[0]
    t.equal(left, undefined, `${url} is in English`)
    const names = (html: string) => [...html.matchAll(/\s(?:name|id|class|action)="[^"]*"/g)].map(String)
    t.same(names(english.body), names(dutch.body), `${url} has the same forms`)
  }

  const { body } = await browser.get(`/beheer/zaken/${zaak.uuid}`)
  t.match(body, 'zaak-omschrijving">Zaken<', 'what somebody typed stays')
  t.match(body, '<dd class="regels">Opslaan</dd>')
  t.match(body, '1 November 2026')
})

t.test('pages in English are accessible and fit a narrow screen (WCAG 2.1 AA)', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { tab, context, klachten } = await asBeheerder(test, 'administrator', { width: 390 })
  await tab.goto('/beheer/?taal=en')
  for (const url of PAGES) {
    await tab.goto(url)
    t.equal(await tab.locator('html').getAttribute('lang'), 'en', url)
    t.same(await accessibilityFaults(tab), [], url)
    t.equal(await isTooWide(tab), false, url)
  }
  t.same(klachten, [])
  await context.close()
})

t.test('what is recorded is Dutch, in whichever language the pages are', async (t) => {
  const test = await setUpPages(t, {}, false)
  const browser = pagesClient(test.app)
  await browser.login('administrator', WACHTWOORD)
  await browser.get('/beheer/?taal=en')
  const values = { naam: 'Types', domein: 'ALG', rsin: '000000000', contactpersoonBeheerNaam: 'A. Beheerder' }
  const made = await browser.post('/beheer/catalogi/nieuw', values)
  t.match(made.statusCode, 303)
  t.match(
    (await browser.get(made.headers.location!.replace('http://localhost', ''))).body,
    'The catalogue has been made.',
  )
  const rows = await test.database.sql`select nieuw::text from beheer_audit where handeling = 'catalogus-maken'`
  t.match(rows[0]!.nieuw, 'Domein')
  const refused = await browser.post('/beheer/catalogi/nieuw', { ...values, domein: '' })
  t.match(refused, { statusCode: 400, body: 'Fill this in.' })
})
