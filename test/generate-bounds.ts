// Writes the table of bounds in docs/security.md from src/core/limits.ts (npm run bounds); test/docs.test.ts compares the two. What a
// group of bounds is for is the comment above it.
import { readFileSync, writeFileSync } from 'node:fs'
import { LIMITS } from '../src/core/limits.ts'

const FILE = new URL('../docs/security.md', import.meta.url)
const SOURCE = new URL('../src/core/limits.ts', import.meta.url)
const [BEGIN, END] = ['<!-- bounds: made by npm run bounds -->\n', '<!-- end of bounds -->']

function rows(): string[] {
  const source = readFileSync(SOURCE, 'utf8')
  const members = source.slice(source.indexOf('LIMITS = {')).matchAll(/^ {2}(?:\/\*\* (.+) \*\/|(\w+): .+,)$/gm)
  const groups: { purpose: string; names: string[] }[] = []
  for (const [, purpose, name] of members) {
    if (purpose !== undefined) groups.push({ purpose, names: [] })
    else groups.at(-1)?.names.push(name!)
  }
  return groups.map(({ purpose, names }) => {
    const bounds = names.map((name) => `\`${name}\` ${LIMITS[name as keyof typeof LIMITS].toLocaleString('en')}`)
    return `| ${bounds.join('<br>')} | ${purpose.replaceAll('|', '\\|')} |`
  })
}

/** docs/security.md with the table of now. */
export function withBounds(): { text: string; now: string } {
  const text = readFileSync(FILE, 'utf8')
  const [before = '', rest = ''] = text.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  const table = ['| Bound | For |', '| --- | --- |', ...rows()].join('\n')
  return { text, now: `${before}${BEGIN}\n${table}\n\n${after}` }
}

if (import.meta.main) writeFileSync(FILE, withBounds().now)
