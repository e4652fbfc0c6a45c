// Slow: a server is made, and the whole story of every resource is told once more.
// The whole story of every resource on a server that is odd in all that a program might rely on.
// In a process of its own: where its languages are is said in its environment.
// It starts a server.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import t from 'tap'
import { ODD } from './odd.ts'
import { noPrograms, serverDirectory, startPrimary } from './servers.ts'

const exec = promisify(execFile)

t.test(
  'every resource goes through its story on a server with odd settings that sorts as Dutch and speaks no English',
  { skip: noPrograms, timeout: 300_000 },
  async (t) => {
    const directory = await serverDirectory(t)
    const language = await otherLanguage(directory)
    const icu = ['--locale-provider=icu', '--icu-locale=nl-NL']
    const { port } = await startPrimary(t, join(directory, 'data'), '-c max_connections=100', icu)
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    for (const [name, value] of Object.entries({ ...ODD, ...(language && { lc_messages: language }) }))
      await sql.unsafe(`alter system set ${name} = '${value}'`)
    await sql`select pg_reload_conf()`
    await sql.end()

    const odd = postgres(url, { max: 1, onnotice: () => {}, connection: { exit_on_error: 'off' as never } })
    t.teardown(() => odd.end())
    if (language)
      await t.rejects(odd`select * from pg_catalog.nergens`, { message: /nergens.*(bestaat niet|existiert nicht)/ })
    else t.comment('this server has no other language')

    const env = { ...process.env, TEST_TEMPLATE: '', TEST_DATABASE_URL: url }
    const file = join(import.meta.dirname, '../conformance.test.ts')
    const { stdout } = await exec(process.execPath, [file], { maxBuffer: 2 ** 28, env })
    const [, passed] = /^1\.\.(\d+)/m.exec(stdout) ?? []
    t.ok(Number(passed) > 20, `${passed} stories`)
    t.notMatch(stdout, /^not ok/m)
  },
)

/** Dutch, or German where PostgreSQL has no Dutch: made for the servers that are started here. */
async function otherLanguage(directory: string): Promise<string | undefined> {
  const [, language] = ['nl_NL', 'de_DE'].flatMap((name) =>
    existsSync(`/usr/share/locale/${name.slice(0, 2)}/LC_MESSAGES/postgres-15.mo`) ? [name, `${name}.UTF-8`] : [],
  )
  if (!language) return undefined
  const locales = join(directory, 'locales')
  await mkdir(locales, { mode: 0o755 })
  try {
    await exec('localedef', ['-i', language.slice(0, 5), '-f', 'UTF-8', join(locales, language)])
  } catch {
    return undefined // it is not installed everywhere
  }
  process.env.LOCPATH = locales
  return language
}
