// The pages of the faults, and the table of codes that they are made of.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FIELD_CODES, PROBLEM_CODES } from '../../src/core/codes.ts'
import { KINDS } from '../../src/core/problem.ts'
import { testApp } from '../app.ts'
import { accessibilityFaults, isTooWide, needsBrowser, openBrowser } from '../beheer/browser.ts'

const CODES = [...Object.keys(PROBLEM_CODES), ...Object.keys(FIELD_CODES)]
const test = await testApp(t)
const get = (url: string) => test.app.inject({ method: 'GET', url, headers: { host: 'localhost' } })

t.test('every kind and every code has a page, in Dutch with English beside it, that the index leads to', async (t) => {
  const index = await get('/ref/fouten/')
  t.equal(index.statusCode, 200)
  for (const name of new Set([...Object.values(KINDS).map((kind) => kind.name), ...CODES])) {
    t.ok(index.body.includes(`href="${name}/"`), `the index has ${name}`)
    const page = await get(`/ref/fouten/${name}/`)
    t.equal(page.statusCode, 200, name)
    t.match(page.body, '<html lang="nl">')
    t.match(page.body, 'lang="en"')
    t.notMatch(page.body, /undefined|\[object|<script/)
  }
  const page = await get('/ref/fouten/bad-url/')
  for (const part of [...FIELD_CODES['bad-url'].cause, ...FIELD_CODES['bad-url'].remedy, FIELD_CODES['bad-url'].rule])
    t.ok(page.body.includes(part), part)
  t.match((await get('/ref/fouten/invalid/')).body, /met status 400<[\s\S]*invalidParams/, 'a code of both has both')
  t.equal((await get('/ref/fouten')).headers.location, 'http://localhost/ref/fouten/')
  t.equal((await get('/ref/fouten/nothing/')).statusCode, 404)
})

t.test('`type` of an answer leads to the page of its kind, which names its codes', async (t) => {
  for (const url of ['/zaken/api/v1/zaken', '/nothing']) {
    const { type, code, title } = (await get(url)).json()
    const page = await get(new URL(type).pathname)
    t.equal(page.statusCode, 200)
    t.ok(page.body.includes(title))
    t.ok(page.body.includes(`<code>${code}</code>`), code)
  }
})

t.test('the documents name the codes, and nothing else may be a code', async (t) => {
  for (const component of ['zaken', 'notificaties']) {
    const { schemas } = (await get(`/${component}/api/v1/openapi.json`)).json().components
    t.strictSame(schemas.Fout.properties.code.enum, Object.keys(PROBLEM_CODES))
    t.strictSame(schemas.VeldFout.properties.code.enum, Object.keys(FIELD_CODES))
  }
})

t.test('every code of the table is one that the program gives', async (t) => {
  const root = join(import.meta.dirname, '../..')
  const files = await Array.fromAsync(glob('{src,tasks}/**/*.ts', { cwd: root }))
  const sources = await Promise.all(
    files.filter((file) => !file.endsWith('core/codes.ts')).map((file) => readFile(join(root, file), 'utf8')),
  )
  const text = sources.join('\n')
  t.strictSame(
    CODES.filter((code) => !text.includes(`'${code}'`) && !text.includes(`${code}:`)),
    [],
  )
})

t.test('the pages are accessible, and fit a telephone', await needsBrowser(), async (t) => {
  const address = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await openBrowser(t)
  const page = await (await browser.newContext({ viewport: { width: 390, height: 800 } })).newPage()
  for (const path of ['/ref/fouten/', '/ref/fouten/ValidationError/', '/ref/fouten/bad-url/']) {
    await page.goto(`${address}${path}`)
    t.same(await accessibilityFaults(page), [], path)
    t.equal(await isTooWide(page), false, path)
  }
})
