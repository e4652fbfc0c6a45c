// A regular expression that goes over a text more than once lets a long text hold everybody up. Each of ours goes over it once, but
// for those listed here with what bounds their texts.
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'
import { type Node, parse } from 'acorn'
import { full } from 'acorn-walk'
import { analyse } from 'scslre'
import t from 'tap'

const ROOT = join(import.meta.dirname, '..')
const SETTING = 'a setting of the operator'
const OWN_HEADER = 'a header that we send, with a credential of at most 1,000 characters'
const OWN_PAGE = 'a page of ours, or a template'
const BOUNDED = new Map([
  [
    'src/beheer/notificaties/abonnementen/labels.ts /\\?.*$/s',
    'the callback of an abonnement, of 1,000 characters at most',
  ],
  ['src/beheer/frame/page.ts /<[^>]*>/g', OWN_PAGE],
  ['src/beheer/frame/page.ts /<span[\\s\\S]*?<\\/span>|<[^>]*>/g', OWN_PAGE],
  ['src/beheer/accounts/password.ts /=+$/', 'a hash of ours'],
  ['src/beheer/frame/stylesheets.ts /^\\s*(--[\\w-]+):\\s*(.*?);/gm', 'a stylesheet of a package'],
  ['src/cli/commands/abonnement.ts /\\?.*$/s', 'the callback of an abonnement, of 1,000 characters at most'],
  ['src/config/environment.ts /(\\w+:\\/\\/)[^/@\\s,]*@/g', SETTING],
  ['src/cli/play-back.ts /\\/+$/', SETTING],
  ['src/config.ts /\\/+$/', SETTING],
  ['src/operations/alerts/text.ts /\\/+$/', SETTING],
  ['src/config/stored.ts /\\/+$/', SETTING],
  ['src/services/masking.ts /^(\\S+)\\s+(.+)$/s', OWN_HEADER],
  ['src/documenten/storage/blob.ts /^\\/+|\\/+$/g', SETTING],
  ['src/organisations/organisation.ts /\\/+$/', SETTING],
  ['src/overnemen/addresses.ts /\\/+$/', SETTING],
  ['src/overnemen/api/client.ts /\\/+$/', SETTING],
  ['src/cli/commands/overnemen.ts /\\/+$/', SETTING],
  ['src/cli/rehearse.ts /\\/+$/', SETTING],
  ['src/overnemen/contents.ts /^(s3|azure):\\/\\/([^/]+)\\/?(.*)$/', SETTING],
  ['src/overnemen/playback/target.ts /\\/+$/', SETTING],
  ['src/overnemen/normalise.ts /0+$/', 'the digits of a moment of a source'],
])

type Pattern = { file: string; source: string; flags: string }
type RegexLiteral = Node & { regex?: { pattern: string; flags: string } }
type Property = Node & { key: { name?: string }; value: Node & { value?: unknown } }

/** The literals, and the patterns in schemas. */
function patternsOf(file: string): Pattern[] {
  const found: Pattern[] = []
  const add = (source: string, flags: string) => found.push({ file: relative(ROOT, file), source, flags })
  full(
    parse(stripTypeScriptTypes(readFileSync(file, 'utf8')), { ecmaVersion: 'latest', sourceType: 'module' }),
    (node: Node) => {
      const { regex } = node as RegexLiteral
      if (node.type === 'Literal' && regex) add(regex.pattern, regex.flags)
      const { key, value } = node as Property
      if (node.type === 'Property' && key.name === 'pattern' && typeof value.value === 'string') add(value.value, 'u')
    },
  )
  return found
}

t.test('a regular expression goes over a text once, or its text is bounded', async (t) => {
  const patterns = globSync(join(ROOT, '{src,tasks}/**/*.ts')).flatMap(patternsOf)
  t.ok(patterns.length > 200, `${patterns.length} were found`)
  const slow = new Map<string, boolean>()
  for (const { file, source, flags } of patterns) {
    const { reports } = analyse({ source, flags }, { reportTypes: { Move: true } })
    if (reports.length > 0)
      slow.set(
        `${file} /${source}/${flags}`,
        reports.some(({ exponential }) => exponential),
      )
  }
  t.strictSame(
    [...slow].filter(([, exponential]) => exponential),
    [],
    'none takes exponential time',
  )
  t.strictSame([...slow.keys()].sort(), [...BOUNDED.keys()].sort())
})

t.test('one that takes more than one pass is found', async (t) => {
  t.equal(analyse({ source: '^(a+)+$', flags: '' }).reports[0]?.exponential, true)
  t.equal(analyse({ source: 'a+$', flags: '' }, { reportTypes: { Move: true } }).reports.length, 1)
})
