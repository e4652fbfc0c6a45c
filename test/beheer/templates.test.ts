// What templates give each other: no type check reads them, so that a name that nobody reads would go unnoticed.
import { readdir, readFile } from 'node:fs/promises'
import { parse } from 'acorn'
import t from 'tap'
import { missingNames } from './template-names.ts'

const ROOT = new URL('../../src/beheer/templates/', import.meta.url)
type Code = { type: string; [part: string]: unknown }
type Included = { name: string; given: string[]; isWhole: boolean }

const templates = new Map<string, string>()
for (const file of await readdir(ROOT))
  templates.set(file.replace(/\.eta$/, ''), await readFile(new URL(file, ROOT), 'utf8'))

/** The templates that one includes, each with the names that it gives; `isWhole` when it gives all that it got. */
function includesOf(template: string): Included[] {
  return [...template.matchAll(/<%~([\s\S]*?)%>/g)].flatMap(([, code = '']) => {
    const { expression } = parse(`(${code.trim()})`, { ecmaVersion: 'latest' }).body[0] as unknown as {
      expression: Code
    }
    if ((expression.callee as Code | undefined)?.name !== 'include') return []
    const [file, data] = expression.arguments as [{ value: string }, Code & { properties?: Code[] }]
    const properties = data.properties ?? []
    return {
      name: file.value.replace('./', ''),
      given: properties.flatMap((one) => (one.type === 'Property' ? (one.key as { name: string }).name : [])),
      isWhole: !data.properties || properties.some(({ type }) => type === 'SpreadElement'),
    }
  })
}

/** The names that a template reads of what it is given, also for those that it gives all of it to. */
function namesReadBy(name: string): Set<string> {
  const template = templates.get(name) ?? ''
  const own = [...template.matchAll(/\bit\??\.(\w+)/g)].map(([, read = '']) => read)
  const taken = [...template.matchAll(/\{([^{}]*)\} = it\b/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? [])
  const passed = includesOf(template).flatMap((one) =>
    one.isWhole && one.name !== name ? [...namesReadBy(one.name)] : [],
  )
  return new Set([...own, ...taken, ...passed])
}

/** What a template also does without: names that only some of the pages that show it give. */
const OPTIONAL: Record<string, string> = {
  'abonnement-limits': 'blockAfterHours blockFromCount',
  'abonnement-replay': 'count inWords more seen vanaf',
  account: 'actief',
  'account-fields': 'email maxVertrouwelijkheidaanduiding mayRepair naam rol',
  'account-new': 'gebruikersnaam',
  'account-password': 'getoond wijze',
  'applicatie-edit': 'bevestigd',
  'applicatie-fields': 'alleenIsGereedVoorPublicatie clientIds heeftAlleAutorisaties label',
  'applicatie-secret-new': 'uren wijze',
  'catalogi-confirm': 'faults',
  'catalogi-field': 'aarden base choices data eenheden help none optional suggestions when',
  'catalogi-fixed': 'fixed',
  'catalogi-form': 'conflict',
  'catalogi-head': 'tabs',
  'catalogi-import': 'content faults nieuweTypen uuidsBehouden',
  'catalogi-publish': 'mee toch',
  choice: 'code',
  'column-head': 'defaultSort isNumber',
  events: 'short',
  field: 'attributes badge choices faults help kind optional value',
  frame: 'breadcrumbs refresh searched',
  manual: 'breadcrumbs',
  'passkey-form': 'faults isNew naam values verder',
  'sign-in': 'gebruikersnaam isTooSoon weigering',
  'sign-in-code': 'isTooSoon weigering',
  'sign-in-link': 'code isKnown isMailSetUp isSent weigering',
  'signed-out': 'address fields isElsewhere label',
  table: 'besluit defaultSort document zaak',
}

t.test('a template reads what another gives it', async (t) => {
  let count = 0
  for (const [name, template] of templates)
    for (const included of includesOf(template)) {
      t.ok(templates.has(included.name), `${included.name}, included by ${name}, exists`)
      const read = namesReadBy(included.name)
      const unread = included.given.filter((given) => !read.has(given))
      if (unread.length > 0) t.fail(`${name} gives ${included.name} ${unread}, which it does not read`)
      count += included.given.length
    }
  t.ok(count > 500, 'names were found')
})

t.test('what a template reads is given to it by a page that shows it', async (t) => {
  const { missing, optional, calls } = missingNames()
  t.same(missing, [])
  const known = Object.entries(OPTIONAL).flatMap(([name, read]) => read.split(' ').map((one) => `${name} ${one}`))
  t.same([...optional].sort(), known.sort(), 'what only some pages give is what OPTIONAL says')
  t.ok(calls > 100, 'calls of reply.page were found')
})

t.test('a field has a name and a label', async (t) => {
  for (const [name, template] of templates)
    for (const { given } of includesOf(template).filter((included) => included.name === 'field'))
      for (const needed of ['name', 'label']) t.ok(given.includes(needed), `a field of ${name} has a ${needed}`)
})
