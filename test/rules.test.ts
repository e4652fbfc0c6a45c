// The table of the standard's rules: all numbers of the text are in it, and each has a test.
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FILE, numbersOfText, rulesPage, testsOf } from './generate-rules.ts'
import { RULES } from './rules/table.ts'

t.test('each numbered rule of the text is in the table, and nothing else', async (t) => {
  t.same(Object.keys(RULES), numbersOfText())
})

t.test('each rule has a test', async (t) => {
  for (const [number, files] of await testsOf()) {
    t.ok(files.length > 0, number)
    for (const file of files) await access(join(import.meta.dirname, '..', file))
  }
})

t.test('docs/rules.md is made of it: npm run rules', async (t) => {
  t.equal(await readFile(FILE, 'utf8'), await rulesPage())
})
