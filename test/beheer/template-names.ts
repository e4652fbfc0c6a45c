// Which names the templates read that nobody gives them. No type check reads templates, so each is put as code behind the calls of
// `reply.page` that show it, in copies that only the compiler sees. There it knows what `it` is, also in what a template includes.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'acorn'
import { Eta } from 'eta'
import { API } from 'typescript/unstable/sync'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGES = `${ROOT}src/beheer/`
type Tag = { t: 'e' | 'i' | 'r'; val: string }
type Code = { type: string; [part: string]: unknown }
/** A tag of a template: how often it was put somewhere, and by name in which of these copies the compiler misses the name. */
type Place = { times: number; missed: Map<string, { copies: Set<string>; text: string }> }

/** At the end of each copy. The frame gives its names last. */
const HELPERS = `
type $Frame = import('${PAGES}frame/page.ts').Frame
declare function $page<T>(given: T, show: (it: Omit<$Frame, keyof T> & T) => void): T
declare function $include<T>(given: T, show: (it: T) => void): void
declare function $write(value: unknown): void
`
/** Of the compiler: a property or a name that is not there. */
const MISSING = [2304, 2339, 2551, 2552, 18004]

/**
 * The names that a template reads and that none of those who show it gives; those that only some of them give, as
 * `template name`; and how many calls of `reply.page` were found.
 */
export function missingNames(): { missing: string[]; optional: Set<string>; calls: number } {
  const places = new Map<string, Place>()
  const copies = new Map<string, string>()
  const included = new Set<string>()
  let calls = 0
  for (const file of readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const source = readFileSync(`${PAGES}${file}`, 'utf8')
    let copy = ''
    let end = 0
    for (const call of source.matchAll(/\.page\(\s*'([\w-]+)',/g)) {
      const start = call.index + call[0].length
      const close = closingParenthesis(source, start)
      const given = source.slice(start, close).replace(/,\s*$/, '')
      const shown = codeOf(call[1] ?? '', places, included).join('\n')
      copy += `${source.slice(end, start)} $page(${given}, (it) => {\n${shown}\n})`
      end = close
      calls++
    }
    if (calls > 0) copies.set(`${PAGES}${file}`, copy + source.slice(end) + HELPERS)
  }
  findMissing(copies, places)
  const missing: string[] = []
  const optional = new Set<string>()
  for (const [place, { times, missed }] of places)
    for (const [name, { copies, text }] of missed)
      if (copies.size === times) missing.push(`${place}: ${text}`)
      else optional.add(`${place.replace(/\.eta.*/, '')} ${name}`)
  return { missing, optional, calls }
}

const eta = new Eta()
const parsed = new Map<string, (string | Tag)[]>()
function tagsOf(template: string): (string | Tag)[] {
  const known = parsed.get(template)
  if (known) return known
  const tags = eta.parse(readFileSync(`${PAGES}templates/${template}.eta`, 'utf8')) as (string | Tag)[]
  parsed.set(template, tags)
  return tags
}

/**
 * The lines of a template as code, each with its place behind it.
 * @param included what was put somewhere with a literal of these names: one of each is enough
 */
function codeOf(template: string, places: Map<string, Place>, included: Set<string>): string[] {
  return tagsOf(template).flatMap((tag, index) => {
    if (typeof tag === 'string') return []
    const name = `${template}.eta, tag ${index}`
    const place = places.get(name) ?? { times: 0, missed: new Map() }
    places.set(name, place)
    place.times++
    const placed = (code: string) => code.split('\n').map((line) => `${line} //@${name}@${place.times}`)
    const [, does, file, data = '{}'] =
      /^\s*(include|layout)\(\s*'\.\/([\w-]+)'\s*(?:,\s*([\s\S]*))?\)\s*$/.exec(tag.val) ?? []
    if (!does || !file) return placed(tag.t === 'e' ? tag.val : `$write(${tag.val})`)
    const names = does === 'include' && literalNames(data)
    if (names && included.has(`${file} ${names}`)) return placed(`$write(${data})`)
    if (names) included.add(`${file} ${names}`)
    const given = does === 'layout' ? `{ body: '', ...it, ...(${data}) }` : data
    return [...placed(`$include(${given}, (it) => {`), ...codeOf(file, places, included), '})']
  })
}

/** The names in an object that is written out; undefined for anything else. */
function literalNames(data: string): string | undefined {
  const { expression } = parse(`(${data})`, { ecmaVersion: 'latest' }).body[0] as unknown as { expression: Code }
  const properties = expression.properties as { type: string; key: { name: string } }[] | undefined
  if (!properties?.every(({ type }) => type === 'Property')) return undefined
  return properties.map(({ key }) => key.name).join()
}

/** Where the parenthesis closes that was open before a place. */
function closingParenthesis(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === "'") at = source.indexOf("'", at + 1)
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && depth-- === 0) return at
  }
  throw new Error('a call of reply.page does not end')
}

function findMissing(copies: ReadonlyMap<string, string>, places: ReadonlyMap<string, Place>): void {
  const config = `${ROOT}tsconfig.json`
  const { compilerOptions } = JSON.parse(readFileSync(config, 'utf8'))
  const onlySources = JSON.stringify({ compilerOptions, include: ['src'] })
  const api = new API({ cwd: ROOT, fs: { readFile: (name) => (name === config ? onlySources : copies.get(name)) } })
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    if (!project) throw new Error('the compiler opened no project')
    for (const [name, copy] of copies)
      for (const { code, pos, text } of project.program.getSemanticDiagnostics(name)) {
        if (!MISSING.includes(code)) continue
        const [, placeName = '', times = ''] = /\/\/@(.*)@(\d+)$/.exec(copy.slice(pos, copy.indexOf('\n', pos))) ?? []
        const missed = places.get(placeName)?.missed
        const read = /'(\w+)'/.exec(text)?.[1] ?? text
        if (!missed) throw new Error(`${name} does not compile with the templates: ${text}`)
        const found = missed.get(read) ?? { copies: new Set(), text }
        found.copies.add(times)
        missed.set(read, found)
      }
  } finally {
    api.close()
  }
}
