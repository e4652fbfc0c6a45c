// Writes the examples of the OpenAPI documents (npm run examples), tried at the service, and the collections that are made of both.
// test/examples/examples.test.ts compares them.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { TestApp } from './app.ts'
import { makeBodies } from './examples/bodies.ts'
import { brunoFiles, postmanCollection } from './examples/collections.ts'
import { builtIn } from './nrc/given.ts'

export const EXAMPLES = join(import.meta.dirname, '../src/http/openapi/examples.json')
export const COLLECTIONS = join(import.meta.dirname, '../docs/collections')

if (import.meta.main) {
  t.setTimeout(600_000)
  t.test('the examples are tried and written', { timeout: 600_000 }, async (t) => {
    const test = await builtIn(t)
    const bodies = await makeBodies(t, test)
    await writeFile(EXAMPLES, `${JSON.stringify(bodies, null, 2)}\n`)
    const documents = await documentsOf(test)
    await mkdir(COLLECTIONS, { recursive: true })
    await writeFile(join(COLLECTIONS, 'postman.json'), postmanCollection(documents, bodies))
    await rm(join(COLLECTIONS, 'bruno'), { recursive: true, force: true })
    for (const [name, text] of Object.entries(brunoFiles(documents, bodies))) {
      const file = join(COLLECTIONS, 'bruno', name)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    }
  })
}

/** The OpenAPI documents, by component. */
// biome-ignore lint/suspicious/noExplicitAny: a document can hold anything
export async function documentsOf(test: TestApp): Promise<Map<string, any>> {
  const documents = new Map()
  for (const component of ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties', 'notificaties'])
    documents.set(component, (await test.call('GET', `/${component}/api/v1/openapi.json`)).body)
  return documents
}
