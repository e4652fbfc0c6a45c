// What the tests of the pages of imports share.
import { createHash, randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Rol } from '../../src/beheer/frame/session.ts'
import { API } from '../documenten/importing.ts'
import { accessibilityFaults, asBeheerder, isTooWide, type PagesSetup } from './browser.ts'

/** Text that would run as script wherever it is put into a page unescaped. */
export const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

export type Inhoud = ConstructorParameters<typeof Response>[0]

export type PagesClient = {
  cookie: string
  /** Token of the forms of this session. */
  token: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, fields?: Record<string, string>): Promise<Response>
  /** The form of a new import, with this file. */
  upload(csv: Inhoud, filename?: string, fields?: Record<string, string>): Promise<Response>
}

/** Somebody who is signed in, without a browser. */
export async function asClient(test: PagesSetup, rol: Rol): Promise<PagesClient> {
  const value = randomBytes(32).toString('base64url')
  const key = createHash('sha256').update(value).digest()
  await test.database.sql`
    insert into beheer_session (key, account_id, expires_at)
    select ${key}, id, now() + interval '1 hour' from beheer_account where gebruikersnaam = ${rol}`
  const session = `zaakstroom=${value}`
  const page = await fetch(`${test.adres}/beheer/imports`, { headers: { cookie: session } })
  const [, token] = /name="_csrf" value="([^"]+)"/.exec(await page.text()) ?? []
  if (!token) throw new Error(`no token in a page of ${rol}: ${page.status}`)
  const cookies = [session, ...page.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]!)]
  return clientOf(test, cookies.join('; '), token)
}

/**
 * Shows pages in both widths, with and without script, to somebody who stays signed in: without violations, with nothing
 * that sticks out, and nothing that runs.
 */
export async function allShapes(
  test: PagesSetup,
  rol: Rol,
): Promise<(t: Test, path: string, check: (text: string) => void) => Promise<void>> {
  const vormen: (Awaited<ReturnType<typeof asBeheerder>> & { script: boolean; gedraaid: string[] })[] = []
  for (const script of [true, false]) {
    const made = await asBeheerder(test, rol, { javaScriptEnabled: script })
    vormen.push({ ...made, script, gedraaid: watchScript(made.tab) })
  }
  return async (t, path, check) => {
    for (const { tab, klachten, gedraaid, script } of vormen) {
      await tab.goto(path)
      for (const width of [1280, 320]) {
        const form = `${width}, ${script ? 'with' : 'without'} script`
        await tab.setViewportSize({ width, height: 800 })
        check((await tab.textContent('main'))!)
        if (script) t.same(await accessibilityFaults(tab), [], `${path}: ${form}`)
        t.equal(await isTooWide(tab), false, `${path}: ${form}`)
        t.same([...klachten.splice(0), ...gedraaid.splice(0)], [], `${path}: ${form}`)
      }
      await tab.goto('about:blank')
    }
  }
}

function clientOf({ adres }: PagesSetup, cookie: string, token: string): PagesClient {
  const headers = { cookie, origin: adres }
  const send = (path: string, init: RequestInit) =>
    fetch(`${adres}${path}`, { redirect: 'manual', ...init, headers: { ...headers, ...init.headers } })
  return {
    cookie,
    token,
    get: (path, extra = {}) => send(path, { headers: extra }),
    post: (path, fields = {}) => send(path, { method: 'POST', body: new URLSearchParams({ _csrf: token, ...fields }) }),
    upload: async (csv, filename = 'rijen.csv', fields = {}) => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ _csrf: token, ...fields })) form.append(name, value)
      form.append('bestand', await new Response(csv).blob(), filename)
      return send('/beheer/imports/nieuw', { method: 'POST', body: form })
    },
  }
}

/** Makes room for the next import. */
export async function endAll({ call, runJobs }: PagesSetup): Promise<void> {
  const { body } = await call('GET', API)
  for (const { url, status } of body.results)
    if (status === 'pending' || status === 'active') await call('POST', `${url}/cancel`)
  await runJobs()
}

/** What ran as script although it was data. */
export function watchScript(tab: Page): string[] {
  const gedraaid: string[] = []
  tab.on('dialog', async (dialog) => {
    gedraaid.push(dialog.message())
    await dialog.dismiss()
  })
  return gedraaid
}
