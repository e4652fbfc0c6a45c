// What the tests of the pages of applications have in common.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { accessibilityFaults, isTooWide } from './browser.ts'

/** Runs the line as a shell would, and answers the status. */
export async function runCommand(line: string): Promise<number> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `${line} -s -o /dev/null -w '%{http_code}'`])
  return Number(stdout)
}

/** axe needs a page that runs script; whether it fits is judged without as well. */
export async function goed(t: Tap, tab: Page, script = true): Promise<void> {
  if (script) t.same(await accessibilityFaults(tab), [], tab.url())
  t.equal(await isTooWide(tab), false, tab.url())
}
export type Tap = { same(a: unknown, b: unknown, m: string): void; equal(a: unknown, b: unknown, m: string): void }

/** Sends a form of a page with its cookies and token, as somebody who made the form himself. */
export async function post(tab: Page, pad: string, form: Record<string, string>): Promise<number> {
  const _csrf = await tab.locator('input[name=_csrf]').first().inputValue()
  const origin = new URL(tab.url()).origin
  const answer = await tab.request.post(pad, { form: { _csrf, ...form }, headers: { origin }, maxRedirects: 0 })
  return answer.status()
}

/** Presses Tab until what is meant has the focus. */
export async function tabTo(tab: Page, selector: string): Promise<void> {
  for (let times = 0; times < 60; times++) {
    await tab.keyboard.press('Tab')
    if (await tab.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
  }
  throw new Error(`${selector} cannot be reached with the keyboard`)
}

export const uuidOnPage = (tab: Page) => /applicaties\/([0-9a-f-]{36})/.exec(tab.url())![1]!

export async function makeApplicatie(tab: Page, label: string, clientId: string, all = false): Promise<string> {
  await tab.goto('/beheer/applicaties/nieuw')
  await tab.fill('#veld-label', label)
  await tab.fill('#veld-clientIds', clientId)
  if (all) await tab.check('#veld-heeftAlleAutorisaties')
  await tab.click('main button[type=submit]')
  await tab.waitForURL('**/geheim')
  return uuidOnPage(tab)
}
