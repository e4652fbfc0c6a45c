// What the tests of the pages of imports share.
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import type { Rol } from '../../src/beheer/sessie.ts'
import { API } from '../documenten/importeren.ts'
import { alsBeheerder, type Opstelling } from './browser.ts'

/** Text that would run as script wherever it is put into a page unescaped. */
export const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

export const GRENS = 'grens-van-de-test'

export type Klant = {
  cookie: string
  /** Token of the forms of this session. */
  token: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, fields?: Record<string, string>): Promise<Response>
  /** The form of a new import, with this file. */
  upload(csv: BodyInit, filename?: string, token?: string): Promise<Response>
}

/** Somebody who is signed in, without a browser. */
export async function alsKlant(test: Opstelling, rol: Rol): Promise<Klant> {
  const { context, pagina } = await alsBeheerder(test, rol)
  await pagina.goto('/beheer/imports')
  const token = await pagina.getAttribute('input[name=_csrf]', 'value')
  const klant = klantVan(test, await cookieVan(context), token!)
  await context.close()
  return klant
}

export async function cookieVan(context: BrowserContext): Promise<string> {
  return (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
}

function klantVan({ adres }: Opstelling, cookie: string, token: string): Klant {
  const headers = { cookie, origin: adres }
  const send = (path: string, init: RequestInit) =>
    fetch(`${adres}${path}`, { redirect: 'manual', ...init, headers: { ...headers, ...init.headers } })
  return {
    cookie,
    token,
    get: (path, extra = {}) => send(path, { headers: extra }),
    post: (path, fields = {}) => send(path, { method: 'POST', body: new URLSearchParams({ _csrf: token, ...fields }) }),
    upload: async (csv, filename = 'rijen.csv', given = token) => {
      const form = new FormData()
      form.append('_csrf', given)
      form.append('bestand', await new Response(csv).blob(), filename)
      return send('/beheer/imports/nieuw', { method: 'POST', body: form })
    },
  }
}

/** Makes room for the next import. */
export async function endAll({ call, runJobs }: Opstelling): Promise<void> {
  const { body } = await call('GET', API)
  for (const { url, status } of body.results)
    if (status === 'pending' || status === 'active') await call('POST', `${url}/cancel`)
  await runJobs()
}

/** Waits until something is so; fails after half a minute. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    if (tries > 600) throw new Error(`did not happen: ${condition}`)
    await sleep(50)
  }
}

/** What ran as script although it was data. */
export function letOpScript(pagina: Page): string[] {
  const gedraaid: string[] = []
  pagina.on('dialog', async (dialog) => {
    gedraaid.push(dialog.message())
    await dialog.dismiss()
  })
  return gedraaid
}
