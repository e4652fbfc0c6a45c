// npm run bench <name> [-- options]: each file here but this one and the receiver is a benchmark; `--help` tells its options.
import { readdir } from 'node:fs/promises'

const HELPERS = ['run.ts', 'receiver.ts', 'service.ts']
const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith('.ts') && !HELPERS.includes(file))
  .map((file) => file.slice(0, -3))
const [name, ...options] = process.argv.slice(2)
if (!name || !names.includes(name)) {
  console.error(`Usage: npm run bench <${names.sort().join('|')}> [-- options]`)
  process.exit(64)
}
const { bench } = (await import(`./${name}.ts`)) as { bench: (argv: string[]) => Promise<void> }
await bench(options)
