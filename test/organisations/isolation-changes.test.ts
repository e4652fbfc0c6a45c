// What changes at one of two organisations with the same uuids, numbers, clients, secrets, keys and accounts leaves the other as it was:
// every row of all its tables and of its queue, every sequence, every file. Every route that changes something is asked, those of the
// APIs with bodies that are taken.
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import type { TestApp } from '../app.ts'
import { makeBodies } from '../examples/bodies.ts'
import { givenTwins, HOSTS, headersOf, other, SCHEMAS, type Which } from './twins.ts'

const twins = await givenTwins(t)
const { call, made, routes, filled, printOf, url } = twins
const SAFE = ['GET', 'HEAD', 'OPTIONS']
const changing = [...routes].flatMap(([route, { access, isOfProcess }]) => {
  const [method = '', path = ''] = route.split(' ')
  return SAFE.includes(method) || isOfProcess ? [] : [{ method, path, isPage: access === 'beheer' }]
})

/** One of them as the helpers of tests know an application. */
function sideOf(n: Which): TestApp {
  const database = openDatabase(withSchema(url, SCHEMAS[n]), { max: 2, name: 'test' })
  t.teardown(database.close)
  return {
    app: twins.app,
    database,
    call: (method, at, body, options = {}) => call(HOSTS[n], method, at, { ...options, body }),
  } as Partial<TestApp> as TestApp
}

/** What a form of who is signed in there goes with: the token of a page, and its cookie. */
async function signedIn(n: Which) {
  const page = await call(HOSTS[n], 'GET', '/beheer/mijn-account', { as: '', headers: headersOf(true, n) })
  const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(page.text) ?? []
  const [secret = ''] = [page.headers['set-cookie']].flat().map((cookie) => String(cookie).split(';')[0])
  const cookie = [headersOf(true, n).cookie, secret].join('; ')
  const headers = { cookie, origin: `https://${HOSTS[n]}`, 'sec-fetch-site': 'same-origin' }
  return (path: string, form: Record<string, string>) =>
    call(HOSTS[n], 'POST', path, { as: '', form: { _csrf: token, ...form }, headers })
}

for (const n of [0, 1] as const)
  t.test(`all changes at ${HOSTS[n]} leave ${HOSTS[other(n)]} as it was`, async (t) => {
    // Opening writes settings of its own: both are open from here on.
    for (const host of HOSTS) await call(host, 'GET', '/beheer/inloggen', { as: '' })
    const [own, others] = [await printOf(n), await printOf(other(n))]
    const judge = async (what: string) => t.strictSame(await printOf(other(n)), others, what)

    const tried = await makeBodies(t, sideOf(n))
    t.ok(Object.keys(tried).length > 100, `${Object.keys(tried).length} operations with bodies that are taken`)
    await judge('operations')

    // What both have by the same uuid.
    const headers = headersOf(false, n)
    let changed = 0
    for (const path of made) {
      const found = await call(HOSTS[n], 'GET', path, { headers })
      if (found.status !== 200) continue
      const patched = await call(HOSTS[n], 'PATCH', path, { headers, body: {} })
      const put = await call(HOSTS[n], 'PUT', path, { headers, body: found.body })
      if (patched.status < 300 || put.status < 300) changed++
    }
    await judge('changes of what both have')

    // Every other route: what they answer does not matter here.
    const statuses = new Map<number, number>()
    const rest = changing.filter(({ method }) => method !== 'DELETE')
    const send = await signedIn(n)
    const signsOut = ({ path }: { path: string }) => path.endsWith('/uitloggen')
    for (const { method, path, isPage } of rest.toSorted((a, b) => Number(signsOut(a)) - Number(signsOut(b)))) {
      const answer = isPage
        ? await send(filled(path), { naam: 'x', omschrijving: 'x', bevestigd: 'ja' })
        : await call(HOSTS[n], method, filled(path), { headers, body: {} })
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status >= 500 && answer.status !== 503) t.fail(`${method} ${path}: ${answer.status} ${answer.text}`)
    }
    t.ok(rest.length > 150 && (statuses.get(303) ?? 0) > 10, `${rest.length}: ${JSON.stringify([...statuses])}`)
    await judge('every route')

    let removed = 0
    for (const path of made.toReversed()) {
      const { status } = await call(HOSTS[n], 'DELETE', path, { headers })
      if (status === 204) removed++
    }
    await judge('removals of what both have')
    t.ok(changed > 5 && removed > 5, `${changed} changed and ${removed} removed`)
    const now = await printOf(n)
    const touched = Object.keys(now).filter((name) => now[name] !== own[name])
    t.ok(touched.length > 60, `it changed itself: ${touched.length} of ${Object.keys(now).length}`)
    t.ok(Object.keys(now).length > 200)
  })
