// Every sentence of the administration pages that has to have English, and where it is said.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type Node, parse } from 'acorn'
import { full } from 'acorn-walk'
import { Eta } from 'eta'
import { keyOf, wordsOfTables } from '../../src/beheer/language/language.ts'
import { templateLanguage } from '../../src/beheer/language/templates.ts'
import '../../src/beheer/index.ts'
import { CHANGEABLE } from '../../src/config/environment.ts'
import { SETTING_GROUPS } from '../../src/config/in-pages.ts'

const TEMPLATES = new URL('../../src/beheer/templates/', import.meta.url).pathname
const SOURCES = new URL('../../src/beheer/', import.meta.url).pathname

type Literal = Node & { type: 'Literal'; value: unknown }
type Template = Node & { quasis: { value: { cooked: string } }[] }
type Call = Node & { callee: { name?: string }; arguments: Node[] }
type Tagged = Node & { tag: { name?: string }; quasi: Template }

/** The Dutch sentences with the files that say them. */
export function collectMessages(): Map<string, Set<string>> {
  const messages = new Map<string, Set<string>>()
  const add = (dutch: string, place: string) => {
    if (!messages.has(dutch)) messages.set(dutch, new Set())
    messages.get(dutch)!.add(place)
  }
  for (const file of readdirSync(TEMPLATES)) {
    const eta = new Eta({
      plugins: [templateLanguage((dutch) => (NO_MESSAGE.test(dutch) ? undefined : void add(dutch, file)))],
    })
    eta.compile(readFileSync(TEMPLATES + file, 'utf8'))
  }
  for (const file of globSync('**/*.ts', { cwd: SOURCES })) {
    for (const dutch of sentencesIn(readFileSync(SOURCES + file, 'utf8'))) add(dutch, file)
  }
  for (const dutch of wordsOfTables) if (/\p{L}/u.test(dutch)) add(dutch, 'tables')
  for (const group of SETTING_GROUPS) add(group, 'settings')
  for (const { pages } of CHANGEABLE)
    for (const text of [pages.label, pages.help, pages.must, ...Object.values(pages.choices ?? {})])
      if (text) add(text, 'settings')
  return messages
}

/** Names of classes, which look like words. */
const NO_MESSAGE = /^[a-z]+( [a-z]+)*-[a-z-]+$|^\{1\}$/

/** What a source gives to `t`. */
function sentencesIn(source: string): string[] {
  const found: string[] = []
  full(parse(stripTypeScriptTypes(source), { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    const { callee, arguments: given } = node as Call
    if (node.type === 'CallExpression' && callee.name === 't' && given[0]?.type === 'Literal')
      found.push(String((given[0] as Literal).value))
    const { tag, quasi } = node as Tagged
    if (node.type === 'TaggedTemplateExpression' && tag.name === 't')
      found.push(keyOf(quasi.quasis.map(({ value }) => value.cooked)))
  })
  return found
}
