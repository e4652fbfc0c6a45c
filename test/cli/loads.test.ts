// It starts processes.
//
// What a part of the program loads at its start. Each module costs about a third of a millisecond of CPU, also when it was compiled
// before, and a process that was killed is back so much later.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { programEnv } from '../program-env.ts'

const ROOT = new URL('../../', import.meta.url)
const SCRIPT = `
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load(url, context, next) {
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
    loaded.add(name ?? url.replace(process.argv[1], ''))
    return next(url, context)
  } })
  await import(process.argv[1] + process.argv[2])
  console.log(JSON.stringify([...loaded]))
  process.exit()`

/** Packages, and files of ours, that a module brings along. */
async function loadedBy(file: string): Promise<string[]> {
  const options = { env: programEnv({}), maxBuffer: 2 ** 22 }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, ROOT.href, file],
    options,
  )
  return JSON.parse(stdout)
}

const HEAVY = [
  'undici',
  'ajv',
  'openid-client',
  '@opentelemetry/sdk-trace',
  '@aws-sdk/client-s3',
  '@azure/storage-blob',
]
const OF_API = ['fastify', '@fastify/swagger-ui', 'eta', 'src/app.ts']
const OF_WORKER = ['graphile-worker', 'tasks/index.ts', 'src/jobs/worker.ts']

for (const [part, file, has, without] of [
  [
    'a command',
    'src/cli/commands/migrate.ts',
    'postgres',
    [...OF_API, ...OF_WORKER, ...HEAVY, 'prom-client', 'fast-jwt'],
  ],
  ['the help of api', 'src/cli/commands/api.ts', 'pino', [...OF_API, ...OF_WORKER, ...HEAVY]],
  ['api', 'src/cli/run-api.ts', 'fastify', [...OF_WORKER, ...HEAVY]],
  ['worker', 'src/cli/run-worker.ts', 'graphile-worker', [...OF_API, ...HEAVY]],
] as const) {
  t.test(`${part} starts without what it does not need`, async (t) => {
    const loaded = new Set(await loadedBy(file))
    t.ok(loaded.has(has), 'it was loaded')
    t.strictSame(
      without.filter((name) => loaded.has(name)),
      [],
    )
  })
}
