// npm run screenshots: the pictures of the administration pages in docs/screenshots, taken of a running demo.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
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
  for (const [file, path, link] of PAGES) {
    await page.goto(`${address}/beheer${path}`)
    if (link) await page.click(link)
    await page.waitForLoadState('load')
    await page.screenshot({ path: join(ROOT, 'docs/screenshots', `${file}.png`) })
    console.log(`docs/screenshots/${file}.png`)
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
