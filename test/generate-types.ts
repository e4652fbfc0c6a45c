// Writes src/database/types.ts and sql/schema.sql from a freshly migrated database, or with --verify says whether they
// would differ.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const TYPES = {
  int8: 'number',
  date: 'string',
  timestamptz: 'string',
  timestamp: 'string',
  json: 'unknown',
  jsonb: 'unknown',
}

/** @throws with kysely-codegen's own words when it fails or, verifying, when the file differs */
export async function generateTypes(databaseUrl: string, verify = false): Promise<void> {
  const codegen = new URL('../node_modules/kysely-codegen/dist/cli/bin.js', import.meta.url).pathname
  await promisify(execFile)(process.execPath, [
    codegen,
    '--dialect=postgres',
    '--camel-case',
    '--default-schema=zaakstroom',
    '--include-pattern=zaakstroom.*',
    `--url=${databaseUrl}`,
    `--type-mapping=${JSON.stringify(TYPES)}`,
    `--out-file=${new URL('../src/database/types.ts', import.meta.url).pathname}`,
    ...(verify ? ['--verify'] : []),
  ])
}

if (import.meta.main) {
  const { verifySchema, writeSchema } = await import('./generate-schema.ts')
  const { prepareServer } = await import('./setup.ts')
  const server = await prepareServer()
  try {
    const url = Object.assign(new URL(server.url), { pathname: `/${server.template}` }).href
    const verify = process.argv.includes('--verify')
    await generateTypes(url, verify)
    await (verify ? verifySchema(url) : writeSchema(url))
  } finally {
    await server.stop()
  }
}
