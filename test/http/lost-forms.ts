// Every form of the pages with the answer of its commit lost: the tests of the pages are run with a proxy before the database that loses it
// the first time that each form changes something (`TEST_LOSE_FORMS`, a file that gets a line for each). What these tests then find has to
// be as it is without. `npm run answers -- --forms` runs them so, and writes the table.
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { cuttingProxy } from '../database/cutting-proxy.ts'

const seen = new Set<string>()

/** @returns the address of the database through that proxy, and what an application has to be built within */
export async function losingForms(t: { teardown(work: () => unknown): unknown }, url: string, file: string) {
  const proxy = await cuttingProxy(url)
  t.teardown(proxy.close)
  let armed: FastifyRequest | undefined
  const begun = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      if ([method].flat().includes('POST') && url.startsWith('/beheer')) appendFileSync(file, `${url}\t\n`)
    })
    fastify.addHook('onRequest', async (request) => {
      const form = request.routeOptions.url ?? ''
      if (request.method !== 'POST' || !form.startsWith('/beheer') || seen.has(form) || armed) return
      armed = request
      proxy.cutAt('answer')
    })
    fastify.addHook('onResponse', async (request, reply) => {
      if (armed !== request) return
      armed = undefined
      const isUnused = proxy.isArmed()
      proxy.disarm()
      if (isUnused) return // it is refused, or changes nothing
      seen.add(request.routeOptions.url!)
      appendFileSync(file, `${request.routeOptions.url}\t${reply.statusCode}\n`)
    })
  }
  return {
    url: proxy.url,
    async within<T>(build: () => Promise<T>): Promise<T> {
      subscribe('fastify.initialization', begun)
      try {
        return await build()
      } finally {
        unsubscribe('fastify.initialization', begun)
      }
    },
  }
}

/** Runs the tests of the pages so. @returns the table, and whether they passed */
export async function playForms(): Promise<{ table: string; passed: boolean }> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-forms-'))
  const file = join(directory, 'lines')
  try {
    const env = { ...process.env, TEST_LOSE_FORMS: file }
    const files: string[] = []
    for await (const name of glob('test/beheer/*.test.ts'))
      if (!/^\/\/ Slow: /.test(await readFile(name, 'utf8'))) files.push(name)
    const tests = spawn(process.execPath, ['test/run.ts', ...files], { env, stdio: 'inherit' })
    const [code] = await once(tests, 'exit')
    return { table: tableOf(await readFile(file, 'utf8')), passed: code === 0 }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function tableOf(lines: string): string {
  const statuses = new Map<string, string>()
  for (const line of lines.split('\n')) {
    const [form = '', status = ''] = line.split('\t')
    if (form !== '' && (status !== '' || !statuses.has(form))) statuses.set(form, status)
  }
  const forms = [...statuses].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = forms.filter(([, status]) => status !== '').map(([form, status]) => `| \`${form}\` | ${status}; done |`)
  const unplayed = forms.filter(([, status]) => status === '').map(([form]) => `\`${form}\``)
  return `| Form | Its answer lost |
| --- | --- |
${rows.join('\n')}

Without a commit that could be lost (they only read, or ask another server), or not played: ${unplayed.join(', ')}.
`
}
