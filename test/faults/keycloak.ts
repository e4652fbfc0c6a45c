// `npm run faults -- --cells keycloak`: signing in to the pages with a real provider, Keycloak, in place of one that we wrote. It comes from
// Maven (KEYCLOAK_HOME names one that is there) and needs Java 17. With it: groups that give roles, two clients with one session, signing out
// from either side, somebody who is put out, a group that is lost, and new keys.
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { testApp } from '../app.ts'
import { type PagesClient, pagesClient } from '../beheer/browser-client.ts'
import { freePort } from '../free-port.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { until } from '../until.ts'

export const KEYCLOAK = 'keycloak'

const VERSION = '26.5.0'
const ADMIN = { username: 'admin', password: 'the password of a test' }
const [USER, PASSWORD, SECRET] = ['jan', 'correct horse battery', 'the secret of a client at Keycloak']
const sh = promisify(execFile)

/** Where Keycloak is; a text: why it cannot be had. */
async function findKeycloak(stage: StageLike): Promise<{ home: string } | string> {
  if (process.env.KEYCLOAK_HOME) return { home: process.env.KEYCLOAK_HOME }
  const java = await sh('java', ['-version']).then(
    ({ stderr }) => Number(/version "(\d+)/.exec(stderr)?.[1]),
    () => 0,
  )
  if (java < 17) return 'there is no Java 17 here'
  const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`
  const got = await sh('mvn', ['-q', 'dependency:get', `-Dartifact=${artifact}`, '-Dtransitive=false'], {
    timeout: 600_000,
  }).then(
    () => true,
    () => false,
  )
  if (!got) return 'Maven does not give Keycloak here'
  const zip = join(
    homedir(),
    `.m2/repository/org/keycloak/keycloak-quarkus-dist/${VERSION}/keycloak-quarkus-dist-${VERSION}.zip`,
  )
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-keycloak-'))
  stage.teardown(() => rm(directory, { recursive: true, force: true }))
  const unzipped = await sh('unzip', ['-q', zip, '-d', directory]).then(
    () => true,
    () => false,
  )
  return unzipped ? { home: join(directory, `keycloak-${VERSION}`) } : 'unzip is not here'
}

const realmOf = (base: string) => ({
  realm: 'gemeente',
  enabled: true,
  sslRequired: 'none',
  groups: [{ name: 'beheerders' }, { name: 'kijkers' }],
  users: [
    {
      ...{ username: USER, enabled: true, email: 'jan@example.nl', emailVerified: true },
      ...{ firstName: 'Jan', lastName: 'Jansen', groups: ['/beheerders', '/kijkers'] },
      credentials: [{ type: 'password', value: PASSWORD, temporary: false }],
    },
  ],
  clients: [
    {
      ...{ clientId: 'zaakstroom', secret: SECRET, publicClient: false, standardFlowEnabled: true },
      redirectUris: [`${base}/beheer/inloggen/oidc/terug`],
      attributes: {
        'post.logout.redirect.uris': `${base}/beheer/inloggen`,
        'backchannel.logout.url': `${base}/beheer/inloggen/oidc/afmelden`,
        'backchannel.logout.session.required': 'true',
      },
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
        },
      ],
    },
    { clientId: 'portaal', publicClient: true, standardFlowEnabled: true, redirectUris: ['http://portaal.example/*'] },
  ],
})

/** Plays the cell. @returns why it was skipped, when it was */
export async function playKeycloak(stage: StageLike, judge: JudgeLike): Promise<string | undefined> {
  const found = await findKeycloak(stage)
  if (typeof found === 'string') return found
  const [port, ours] = [await freePort(), await freePort()]
  const [root, base] = [`http://127.0.0.1:${port}`, `http://localhost:${ours}`]
  const realm = `${root}/realms/gemeente`
  await start(stage, found.home, port, realmOf(base))
  const test = await testApp(stage as never, {
    OIDC_ISSUER: realm,
    OIDC_CLIENT_ID: 'zaakstroom',
    OIDC_CLIENT_SECRET: SECRET,
    OIDC_LABEL: 'Keycloak',
    OIDC_ROLE_CLAIM: 'groups',
    OIDC_ROLE_ADMINISTRATOR: 'beheerders',
    OIDC_ROLE_VIEWER: 'kijkers',
  })
  await test.app.listen({ port: ours, host: '127.0.0.1' })
  const admin = await openAdmin(root)
  const here = () => pagesClient(test.app, { origin: base })
  const isIn = async (browser: PagesClient) => (await browser.get('/beheer/')).statusCode === 200
  const isOut = (browser: PagesClient) => until('the session here has ended', async () => !(await isIn(browser)))

  /** From our page to Keycloak with a browser that has its cookies, and back. */
  const signIn = async (jar: Jar, browser = here(), query = '') => {
    const away = await browser.get(`/beheer/inloggen/oidc${query}`)
    const { at, asked } = await jar.go(away.headers.location!)
    const answer = await browser.get(at.replace(base, ''))
    // Other keys than those that were known: once more, without a word.
    if (!answer.headers.location?.includes('opnieuw=ja')) return { browser, asked, answer }
    const anew = await jar.go((await browser.get(answer.headers.location)).headers.location!)
    return { browser, asked: asked + anew.asked, answer: await browser.get(anew.at.replace(base, '')) }
  }

  const jar = openJar()
  const first = await signIn(jar)
  judge.equal(first.answer.statusCode, 303, 'signing in')
  judge.same(
    [...(await test.database.sql`select gebruikersnaam, naam, rol, email from beheer_account`)],
    [{ gebruikersnaam: USER, naam: 'Jan Jansen', rol: 'administrator', email: 'jan@example.nl' }],
    'the highest role of the groups',
  )
  stage.comment('signed in, with the role of a group')

  const second = await signIn(jar)
  judge.equal(second.asked, 0, 'Keycloak knows the browser, and asks nothing')
  const out = await second.browser.post('/beheer/uitloggen', {}, '/beheer/mijn-account')
  const fields = [...out.body.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value.replaceAll('&amp;', '&')],
  )
  const [, action = ''] = /<form method="get" action="([^"]+)"/.exec(out.body) ?? []
  const ended = await jar.go(`${action}?${new URLSearchParams(fields.filter(([name]) => name !== '_csrf'))}`)
  judge.equal(ended.at, `${base}/beheer/inloggen`, 'Keycloak ends its session without asking, and comes back')
  await isOut(first.browser)
  stage.comment('signing out here ends the session there, which ends the other one here')
  const again = await signIn(jar)
  judge.equal(again.asked, 1, 'the next one has to give a password')

  // The other client of the same session signs out.
  const portal = new URLSearchParams({
    client_id: 'portaal',
    redirect_uri: 'http://portaal.example/',
    response_type: 'code',
    scope: 'openid',
  })
  judge.equal((await jar.go(`${realm}/protocol/openid-connect/auth?${portal}`)).asked, 0, 'one session for two clients')
  judge.equal(await isIn(again.browser), true, 'still in')
  await jar.logOutAt(`${realm}/protocol/openid-connect/logout`)
  await isOut(again.browser)
  stage.comment('signing out at another client ends the session here')

  const leaver = await signIn(openJar())
  const [user] = await admin<{ id: string }[]>('GET', `users?username=${USER}`)
  const began = performance.now()
  await admin('POST', `users/${user!.id}/logout`)
  await isOut(leaver.browser)
  stage.comment(`somebody who is put out is out after ${((performance.now() - began) / 1000).toFixed(1)} s`)

  const groups = await admin<{ id: string; name: string }[]>('GET', `users/${user!.id}/groups`)
  for (const { id } of groups) await admin('DELETE', `users/${user!.id}/groups/${id}`)
  const lost = await signIn(openJar())
  judge.equal(lost.answer.statusCode, 403, 'without a group')
  judge.equal(lost.answer.body.includes('kiezen=ja'), true, 'another account may be chosen')
  await admin('PUT', `users/${user!.id}/groups/${groups[0]!.id}`)

  const [{ id: parent }] = [await admin<{ id: string }>('GET', '')]
  await admin('POST', 'components', {
    name: 'newer',
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    parentId: parent,
    config: { priority: ['1000'], enabled: ['true'], active: ['true'], algorithm: ['RS256'] },
  })
  const renewed = await signIn(openJar())
  judge.equal(renewed.answer.statusCode, 303, 'with a key that came after we asked for the keys')
  await admin('POST', `users/${user!.id}/logout`)
  await isOut(renewed.browser)
  stage.comment('a new key signs in and signs out')
  return undefined
}

async function start(stage: StageLike, home: string, port: number, realm: object): Promise<void> {
  const own = await mkdtemp(join(tmpdir(), 'zaakstroom-kc-'))
  await cp(home, own, { recursive: true })
  await mkdir(join(own, 'data/import'), { recursive: true })
  await writeFile(join(own, 'data/import/gemeente-realm.json'), JSON.stringify(realm))
  const args = ['start-dev', '--import-realm', `--http-port=${port}`, '--http-host=127.0.0.1', '--cache=local']
  const env = {
    ...process.env,
    KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
  }
  const server = spawn(join(own, 'bin/kc.sh'), args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => stage.log?.(String(text)))
  stage.teardown(async () => {
    if (server.exitCode === null && server.pid) process.kill(-server.pid, 'SIGKILL')
    await rm(own, { recursive: true, force: true })
  })
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/realms/gemeente`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('Keycloak answers', isUp, 300_000)
}

/** Calls of the API of the administrator of Keycloak, within the realm. */
async function openAdmin(root: string) {
  const form = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', ...ADMIN })
  const token = async () => {
    const answer = await fetch(`${root}/realms/master/protocol/openid-connect/token`, { method: 'POST', body: form })
    return ((await answer.json()) as { access_token: string }).access_token
  }
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${root}/admin/realms/gemeente${path && `/${path}`}`, {
      method,
      headers: { authorization: `Bearer ${await token()}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    const text = await answer.text()
    return (text ? JSON.parse(text) : undefined) as T
  }
}

type Jar = ReturnType<typeof openJar>

/** A browser at Keycloak: it keeps cookies, follows redirects of its own, and fills in its forms. */
function openJar() {
  const cookies = new Map<string, string>()
  const ask = async (url: string, form?: URLSearchParams) => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const formOf = (page: string, at: string) => {
    const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(page) ?? []
    return new URL(action.replaceAll('&amp;', '&'), at).href
  }
  /** @returns where it leaves Keycloak, and how often that asked for a password */
  const go = async (url: string): Promise<{ at: string; asked: number }> => {
    const { origin } = new URL(url)
    let asked = 0
    let answer = await ask(url)
    for (let steps = 0; steps < 10; steps++) {
      const to = answer.headers.get('location')
      if (to && new URL(to, url).origin !== origin) return { at: to, asked }
      if (to) answer = await ask(new URL(to, url).href)
      else {
        const page = await answer.text()
        if (!page.includes('name="password"'))
          throw new Error(`Keycloak shows ${answer.status}: ${page.slice(0, 2000)}`)
        asked++
        answer = await ask(formOf(page, url), new URLSearchParams({ username: USER, password: PASSWORD }))
      }
    }
    throw new Error('Keycloak sends the browser around')
  }
  /** Signs out at Keycloak as a client without a token does: that asks whether it is meant. */
  const logOutAt = async (url: string) => {
    const page = await (await ask(url)).text()
    const fields = [...page.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)]
    const form = new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, value]))
    await ask(formOf(page, url), form)
  }
  return { go, logOutAt }
}
