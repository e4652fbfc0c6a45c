// A real Chromium against the application of the test, which listens on a port of its own.
import { createHash, randomBytes } from 'node:crypto'
import { access, readFile } from 'node:fs/promises'
import type axe from 'axe-core'
import type { LightMyRequestResponse } from 'fastify'
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from 'playwright-core'
import type { Rol } from '../../src/beheer/frame/session.ts'
import { type TestApp, testApp } from '../app.ts'
import { givenAccount } from './quick-hash.ts'

// The first has no windows to look after: a page costs it a third of what it costs the whole browser.
const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
export const WACHTWOORD = 'een heel lang wachtwoord'

type TestLike = Parameters<typeof testApp>[0] & {
  beforeEach?(work: () => unknown): unknown
  afterEach?(work: () => unknown): unknown
}

/** Where a browser is, or undefined: the tests that need one then say so and are skipped. */
export async function findChromium(): Promise<string | undefined> {
  for (const place of PLACES) {
    if (!place) continue
    const found = await access(place).then(
      () => true,
      () => false,
    )
    if (found) return place
  }
}

/**
 * For `t.test(name, await needsBrowser(), …)`.
 * @throws in CI, where the tests of the pages may not be left out
 */
export async function needsBrowser(): Promise<{ skip?: string }> {
  if (await findChromium()) return {}
  const skip = 'no Chromium found: install one, or name it in CHROMIUM'
  if (process.env.CI === 'true') throw new Error(skip)
  return { skip }
}

export type PagesSetup = TestApp & {
  adres: string
  browser: Browser
  /** Signs somebody in. @returns what his cookie holds */
  sessie(rol: Rol | 'hersteller'): Promise<string>
  /** Pages as somebody who is signed in gets them, without a browser. */
  signedIn(rol: Rol | 'hersteller'): Promise<(url: string) => Promise<LightMyRequestResponse>>
}

/**
 * The application with accounts `viewer`, `operator` and `administrator`, listening, and a browser. Those of `privacy` and `hersteller` (a
 * viewer beside that) are made when one of them first signs in: lists of accounts are short elsewhere.
 */
export async function setUpPages(
  t: TestLike,
  env: Record<string, string> = {},
  withBrowser = true,
): Promise<PagesSetup> {
  const test = await testApp(t, env)
  const accounts = new Map<Rol | 'hersteller', number>()
  const make = async (rol: Rol | 'hersteller') => {
    const { id } = await givenAccount(test, {
      gebruikersnaam: rol,
      naam: `De ${rol}`,
      ...(rol === 'hersteller' ? { rol: 'viewer', mayRepair: true } : { rol }),
      wachtwoord: WACHTWOORD,
    })
    accounts.set(rol, id)
  }
  for (const rol of ['viewer', 'operator', 'administrator'] as const) await make(rol)
  const adres = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const sessie = async (rol: Rol | 'hersteller') => {
    if (!accounts.has(rol)) await make(rol)
    const value = randomBytes(32).toString('base64url')
    const key = createHash('sha256').update(value).digest()
    await test.database.sql`
      insert into beheer_session (key, account_id, expires_at, confirmed_at)
      values (${key}, ${accounts.get(rol)!}, now() + interval '1 hour', 'infinity')`
    return value
  }
  const signedIn = async (rol: Rol | 'hersteller') => {
    const value = await sessie(rol)
    return (url: string) => test.app.inject({ url, headers: { host: 'localhost', cookie: `zaakstroom=${value}` } })
  }
  const browser = withBrowser ? await openBrowser(t) : (undefined as unknown as Browser)
  return { ...test, adres, browser, sessie, signedIn }
}

/** What test/lane.ts runs when its last file is done. */
type Lane = { leave: (() => unknown)[]; browser?: Promise<Browser> }

/**
 * One for all files that share a process, since starting it takes longer than most tests. Each test of `t` ends with its pages
 * closed, since a page that is left open goes on asking for news.
 */
export async function openBrowser(t: TestLike): Promise<Browser> {
  const lane = (globalThis as Record<symbol, unknown>)[Symbol.for('zaakstroom.test')] as Lane | undefined
  if (lane) {
    lane.browser ??= launchBrowser().then((browser) => {
      lane.leave.push(() => browser.close())
      return browser
    })
  }
  const browser = await (lane?.browser ?? launchBrowser())
  const before = new Set(browser.contexts())
  t.teardown(() => (lane ? closeAllBut(browser, before) : browser.close()))
  const kept: Set<BrowserContext>[] = []
  t.beforeEach?.(() => void kept.push(new Set(browser.contexts())))
  t.afterEach?.(() => closeAllBut(browser, kept.pop() ?? before))
  return browser
}

async function closeAllBut(browser: Browser, kept: Set<BrowserContext>): Promise<void> {
  for (const context of browser.contexts()) if (!kept.has(context)) await context.close()
}

const launchBrowser = async () =>
  chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })

/** A page of somebody who is signed in, who sees the overview. Whatever the browser complains about fails the test. */
export async function asBeheerder(
  { adres, browser, sessie }: Pick<PagesSetup, 'adres' | 'browser' | 'sessie'>,
  rol: Rol | 'hersteller',
  options: { javaScriptEnabled?: boolean; width?: number } = {},
): Promise<{ tab: Page; context: BrowserContext; klachten: string[] }> {
  const { javaScriptEnabled = true, width = 1280 } = options
  const context = await browser.newContext({ javaScriptEnabled, viewport: { width, height: 800 }, baseURL: adres })
  await context.addCookies([
    { name: 'zaakstroom', value: await sessie(rol), url: adres, httpOnly: true, sameSite: 'Lax' },
  ])
  const tab = await context.newPage()
  const klachten: string[] = []
  tab.on('pageerror', (error) => klachten.push(error.message))
  tab.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) klachten.push(message.text())
  })
  tab.on('request', (request) => {
    if (!request.url().startsWith(adres) && !request.url().startsWith('data:'))
      klachten.push(`request to ${request.url()}`)
  })
  await tab.goto('/beheer/')
  return { tab, context, klachten }
}

/** Clicks on something that may be in the menu behind “Meer”. */
export async function clickInMenu(tab: Page, selector: string): Promise<void> {
  const target = tab.locator(selector).first()
  await target.waitFor({ state: 'attached' })
  if (!(await target.isVisible())) await tab.click('.meer-menu > summary')
  await target.click()
}

/**
 * What axe finds against WCAG 2.1 AA on the page as it stands; empty when all is well. The page has to run scripts: without them
 * no timer goes off, and axe waits for one for ever. Frames that may run none are therefore left out.
 *
 * The options find the same with a third of the work: only violations are described, without a selector for each element that
 * was looked at, and no stylesheet is fetched again. A document gets axe once: the builder of `@axe-core/playwright` gives it the
 * source in full at every look, twice, which costs as much as looking.
 */
export async function accessibilityFaults(tab: Page): Promise<string[]> {
  await Promise.all(tab.frames().map(addAxe))
  return tab.evaluate<string[]>(`axe.run(${JSON.stringify(AXE_CONTEXT)}, ${JSON.stringify(AXE_OPTIONS)}).then(
    ({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map(({ html }) => html.slice(0, 150)).join(' | ')))`)
}

const AXE_CONTEXT: axe.ElementContext = { exclude: [['iframe[sandbox]']] }
const AXE_OPTIONS: axe.RunOptions = { runOnly: WCAG, resultTypes: ['violations'], preload: false, selectors: false }
let axeSource: Promise<string> | undefined

async function addAxe(frame: Frame): Promise<void> {
  if (frame.parentFrame() && (await (await frame.frameElement()).getAttribute('sandbox')) !== null) return
  if (await frame.evaluate('typeof axe === "object"')) return
  axeSource ??= readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  await frame.evaluate(await axeSource)
}

/** Whether the page is wider than its window: at 320 pixels nothing may need scrolling sideways but tables in their box. */
export async function isTooWide(tab: Page): Promise<boolean> {
  return tab.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
}
