// What the tests of the pages of applications have in common.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { teBreed, toegankelijkheid } from './browser.ts'

/** Runs the line as a shell would, and answers the status. */
export async function voerUit(regel: string): Promise<number> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `${regel} -s -o /dev/null -w '%{http_code}'`])
  return Number(stdout)
}

/** axe needs a page that runs script; whether it fits is judged without as well. */
export async function goed(t: Tap, pagina: Page, script = true): Promise<void> {
  if (script) t.same(await toegankelijkheid(pagina), [], pagina.url())
  t.equal(await teBreed(pagina), false, pagina.url())
}
export type Tap = { same(a: unknown, b: unknown, m: string): void; equal(a: unknown, b: unknown, m: string): void }

/** Sends a form of a page with its cookies and token, as somebody who made the form himself. */
export async function post(pagina: Page, pad: string, form: Record<string, string>): Promise<number> {
  const _csrf = await pagina.locator('input[name=_csrf]').first().inputValue()
  const origin = new URL(pagina.url()).origin
  const answer = await pagina.request.post(pad, { form: { _csrf, ...form }, headers: { origin }, maxRedirects: 0 })
  return answer.status()
}

/** Presses Tab until what is meant has the focus. */
export async function tabNaar(pagina: Page, selector: string): Promise<void> {
  for (let times = 0; times < 60; times++) {
    await pagina.keyboard.press('Tab')
    if (await pagina.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
  }
  throw new Error(`${selector} cannot be reached with the keyboard`)
}

export const uuidVan = (pagina: Page) => /applicaties\/([0-9a-f-]{36})/.exec(pagina.url())![1]!

export async function maakApplicatie(pagina: Page, label: string, clientId: string, alles = false): Promise<string> {
  await pagina.goto('/beheer/applicaties/nieuw')
  await pagina.fill('#veld-label', label)
  await pagina.fill('#veld-clientIds', clientId)
  if (alles) await pagina.check('#veld-heeftAlleAutorisaties')
  await pagina.click('main button[type=submit]')
  await pagina.waitForURL('**/geheim')
  return uuidVan(pagina)
}
