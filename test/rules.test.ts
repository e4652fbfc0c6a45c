// The table of the standard's rules: all numbers of the text are in it, and each has a test.
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { testApp } from './app.ts'
import { numbersIn } from './generate-rule-numbers.ts'
import { FILE, numbers, numbersOfText, rulesPage, testsOf } from './generate-rules.ts'
import { RULES } from './rules/table.ts'

t.test('each numbered rule of the text is in the table, and nothing else', async (t) => {
  t.same(Object.keys(RULES), numbersOfText())
})

t.test('the numbers are read from a text of the standard: test/generate-rule-numbers.ts', async (t) => {
  const text = `
#### **<a name="zrc-001">One ([zrc-001](#zrc-001))</a>**, as [zrc-004](#zrc-004) says
#### **<a name="zrc-009">Under the name of another ([zrc-002](#zrc-002))</a>**
* <a name="zrc-004">\`a\` ([zrc-004](#zrc-004))</a>
**<a name="zrc-002">Printed twice ([zrc-002](#zrc-002))</a>**`
  t.same(numbersIn('zrc', text), { numbers: ['zrc-001', 'zrc-002', 'zrc-002', 'zrc-004'], withdrawn: ['zrc-003'] })
  t.same(numbersIn('ac', text), { numbers: [], withdrawn: [] })
})

t.test('the numbers are those of the versions that we announce', async (t) => {
  const { call } = await testApp(t)
  for (const [path, prefix] of Object.entries({
    zaken: 'zrc',
    catalogi: 'ztc',
    documenten: 'drc',
    besluiten: 'brc',
    autorisaties: 'ac',
  }))
    t.equal((await call('GET', `/${path}/api/v1/openapi.json`)).body.info.version, numbers[prefix]?.version, path)
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
