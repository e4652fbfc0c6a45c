// Writes docs/rules.md from the table of rules and the tests that name them (npm run rules); test/rules.test.ts compares the two.
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Numbers } from './generate-rule-numbers.ts'
import { RULES } from './rules/table.ts'

export const FILE = new URL('../docs/rules.md', import.meta.url)
const ROOT = join(import.meta.dirname, '..')
export const numbers: Record<string, Numbers> = JSON.parse(
  await readFile(join(import.meta.dirname, 'contract/rule-numbers.json'), 'utf8'),
)

/** The numbers of the text of each API, withdrawn ones too, with a letter behind one that it printed more than once. */
export function numbersOfText(): string[] {
  return Object.values(numbers).flatMap(({ numbers, withdrawn }) => {
    const all = [...numbers, ...withdrawn].sort()
    return all.map((number, index) => {
      const place = index - all.indexOf(number)
      return all.lastIndexOf(number) > all.indexOf(number) ? `${number}${'abc'[place]}` : number
    })
  })
}

/** The tests of each rule: those that the table names, or else those that name its number. */
export async function testsOf(): Promise<Map<string, string[]>> {
  const files = (await Array.fromAsync(glob('test/**/*.test.ts', { cwd: ROOT }))).sort()
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(join(ROOT, file), 'utf8')] as const))
  return new Map(
    Object.entries(RULES).map(([number, { tests }]) => {
      const named = texts.flatMap(([file, text]) => (new RegExp(`\\b${number}\\b`).test(text) ? file : []))
      return [number, tests ?? named]
    }),
  )
}

export async function rulesPage(): Promise<string> {
  const tests = await testsOf()
  const tables = Object.entries(numbers).map(([prefix, { api, version, withdrawn }]) => {
    const rows = Object.entries(RULES).flatMap(([number, { about, differs }]) => {
      if (!number.startsWith(`${prefix}-`)) return []
      const holds = differs === undefined ? 'holds' : withdrawn.includes(number) ? 'withdrawn' : 'differs'
      const files = (tests.get(number) ?? []).map((file) => `[${file.split('/').slice(1).join('/')}](../${file})`)
      return [`| ${number} | ${about} | ${holds} | ${differs ?? ''} | ${files.slice(0, 3).join(', ')} |`]
    })
    return `## ${api} API ${version}\n\n| Rule | About | | What differs, and why | Tests |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`
  })
  return `# The numbered rules of the standard

Each rule of behaviour that the text of the standard numbers, and whether it holds here. What differs without a number stands in
[standard.md](standard.md). Some numbers are printed twice in the text: they have a letter here, in its order. This page is made from
\`test/rules/table.ts\` by \`npm run rules\`, and a test holds its numbers against those of the text.

${tables.join('\n')}`
}

if (import.meta.main) await writeFile(FILE, await rulesPage())
