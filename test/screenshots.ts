// npm run screenshots: the pictures of the administration pages in docs/screenshots and in the manual, taken of a running demo.
// With --handleiding only those of the manual.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright-core'
import { findChromium } from './beheer/browser.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES: [file: string, path: string, prepare?: string][] = [
  ['overzicht', '/'],
  ['import', '/imports', 'tbody a'],
  ['notificaties', '/notificaties'],
  ['notificatiescomponentconfiguratie', '/configuratie/notificaties'],
  ['applicatie', '/applicaties', 'tbody a'],
  ['zaak', '/zaken', 'tbody a'],
]

type Prepare = (page: Page) => Promise<void>
const first = async (page: Page) => page.click('main tbody a')
async function openPermit(page: Page): Promise<void> {
  await first(page)
  await page.locator('main tbody a', { hasText: 'evenementenvergunning' }).first().click()
  await page.waitForLoadState('load')
}
/** The concept of its next version, once the picture of the comparison has made it. */
let concept = ''
/** Pictures of the manual: what is in the page below the heading, on white. */
const MANUAL: [file: string, path: string, prepare?: Prepare][] = [
  ['overzicht', '/'],
  ['catalogus', '/catalogi', first],
  ['zaaktype', '/catalogi', openPermit],
  [
    'verschillen',
    '/catalogi',
    async (page) => {
      await openPermit(page)
      await page.click('main >> text=Nieuwe versie')
      await page.click('main button.knop')
      await page.waitForSelector('.bericht-goed')
      concept = page.url()
      await page.goto(`${concept}/gegevens/termijnen`)
      await page.fill('#veld-doorlooptijd', '6')
      await page.selectOption('[name="doorlooptijd.eenheid"]', 'W')
      await page.click('main button.knop')
      await page.waitForSelector('.bericht-goed')
      await page.goto(`${concept}/verschillen`)
    },
  ],
  ['statustypen', '/', async (page) => void (await page.goto(`${concept}/statustypen`))],
  [
    'resultaattype',
    '/',
    async (page) => {
      await page.goto(`${concept}/resultaattypen`)
      await first(page)
    },
  ],
  [
    'publiceren',
    '/catalogi',
    async (page) => {
      // The permit lacks nothing, so a type that was only just begun is shown.
      await first(page)
      await page.click('main >> text=Nieuw zaaktype')
      for (const [name, value] of Object.entries(BEGUN)) await page.fill(`[id="veld-${name}"]`, value)
      await page.click('main button.knop')
      await page.waitForSelector('.bericht-goed')
      await page.click('main >> text=Publiceren')
    },
  ],
  ['applicatie', '/applicaties', first],
  ['account', '/accounts/nieuw'],
  ['zaak', '/zaken', first],
  ['notificaties-instellen', '/configuratie/notificaties'],
  ['notificaties', '/notificaties'],
  ['import', '/imports', first],
  ['bewaartermijnen', '/bewaartermijnen'],
  ['configuratie', '/configuratie'],
]
const BEGUN = {
  omschrijving: 'Aanvraag parkeervergunning',
  doel: 'Bepalen of iemand mag parkeren',
  aanleiding: 'Een bewoner vraagt een vergunning aan',
  handelingInitiator: 'aanvragen',
  onderwerp: 'parkeervergunning',
  handelingBehandelaar: 'behandelen',
  verantwoordelijke: 'Burgerzaken',
  'referentieproces.naam': 'Behandelen aanvraag vergunning',
  doorlooptijd: '56',
}

const executablePath = await findChromium()
if (!executablePath) {
  console.error('no Chromium found: install one, or name it in CHROMIUM')
  process.exit(69)
}
const demo = spawn(process.execPath, [join(ROOT, 'src/main.ts'), 'demo', '--keep'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const lines = createInterface({ input: demo.stdout })
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const { address, name, password } = await running()
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, locale: 'nl-NL' })
  await page.goto(`${address}/beheer/inloggen`)
  await page.fill('#veld-gebruikersnaam', name)
  await page.fill('#veld-wachtwoord', password)
  await page.click('main button[type=submit]')
  await page.waitForURL('**/beheer/')
  if (!process.argv.includes('--handleiding'))
    for (const [file, path, link] of PAGES) {
      await page.goto(`${address}/beheer${path}`)
      if (link) await page.click(link)
      await page.waitForLoadState('load')
      await page.screenshot({ path: join(ROOT, 'docs/screenshots', `${file}.png`) })
      console.log(`docs/screenshots/${file}.png`)
    }
  await page.setViewportSize({ width: 1000, height: 620 })
  for (const [file, path, prepare] of MANUAL) {
    await page.goto(`${address}/beheer${path}`)
    await prepare?.(page)
    await page.waitForLoadState('load')
    const { x, y, width } = (await page.locator('main').boundingBox())!
    const target = join(ROOT, 'docs/handleiding/beelden', `${file}.png`)
    await page.screenshot({ path: target, clip: { x, y, width, height: 620 - y } })
    console.log(`docs/handleiding/beelden/${file}.png`)
  }
} finally {
  await browser.close()
  demo.kill('SIGINT')
  if (demo.exitCode === null) await once(demo, 'exit')
}

/** Waits for the line with which the demo says where its pages are. */
async function running(): Promise<{ address: string; name: string; password: string }> {
  for await (const line of lines) {
    const match = /(http\S+)\/beheer\/ as (\S+), with the password (\S+)/.exec(line)
    if (match) return { address: match[1]!, name: match[2]!, password: match[3]! }
  }
  throw new Error('the demo ended before its pages were there')
}
