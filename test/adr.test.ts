// The OpenAPI documents through a linter with the NL API Design Rules. What the ZGW standard forces to be otherwise stands
// with its reason in contract/adr-deviations.json.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { testApp } from './app.ts'
import { adr, openLinter } from './contract/adr-rules.ts'

const COMPONENTS = ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties']
type Deviation = { rule: string; at: string; reason: string }
type Fault = { rule: string; at: string; message: string; path: string }

const deviations: Deviation[] = JSON.parse(
  await readFile(new URL('contract/adr-deviations.json', import.meta.url), 'utf8'),
)
const linter = openLinter()
linter.setRuleset(adr)

/** What the linter finds; `at` is the name that is wrong. */
async function lint(document: object): Promise<Fault[]> {
  const found = await linter.run(document as Record<string, unknown>)
  return found.map(({ code, message, path }) => {
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
    return {
      rule: String(code),
      at: String(typeof value === 'string' ? value : path.at(-1)),
      message,
      path: path.join(' '),
    }
  })
}
const excuses = ({ rule, at }: Deviation, fault: Fault) => rule === fault.rule && new RegExp(at).test(fault.at)

t.test('the documents keep to the NL API Design Rules, but for what the ZGW standard forces', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: 'https://zaken.example.nl', API_CONTACT_EMAIL: 'zaken@example.nl' })
  const used = new Set<Deviation>()
  for (const component of COMPONENTS) {
    const answer = await test.app.inject({ method: 'GET', url: `/${component}/api/v1/openapi.json` })
    const left = (await lint(answer.json())).filter((fault) => {
      const excuse = deviations.find((one) => excuses(one, fault))
      if (excuse) used.add(excuse)
      return !excuse
    })
    t.strictSame(left, [], component)
  }
  t.strictSame(
    deviations.filter((one) => !used.has(one)),
    [],
    'every deviation on the list is there',
  )
})

t.test('every design rule can refuse a document', async (t) => {
  const operation = {
    operationId: 'a',
    parameters: [{ name: 'groot_klein', in: 'query', schema: { type: 'string', format: 'time' } }],
    responses: {
      200: {
        description: 'ok',
        content: {
          'application/json': {
            schema: { type: 'object', properties: { einddatum: { type: 'string', format: 'date-time' } } },
          },
        },
      },
      403: { description: 'no', content: { 'application/json': { schema: { type: 'object' } } } },
      404: { description: 'no', content: { 'application/problem+json': { schema: { type: 'object' } } } },
    },
  }
  const faults = await lint({
    openapi: '3.1',
    info: { title: 'An API', version: 'v1', contact: { name: 'somebody' } },
    servers: [{ url: 'http://example.nl/api' }],
    paths: { '/Een_Pad/': { get: operation, head: { ...operation, operationId: 'b' } } },
  })
  const refused = new Set(faults.map(({ rule }) => rule))
  const rules = Object.keys(adr.rules).filter((rule) => rule.startsWith('core/'))
  t.strictSame(
    rules.filter((rule) => !refused.has(rule)),
    [],
  )
})
