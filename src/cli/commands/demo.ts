// demo: runs ../demo.ts.
import type { Command } from 'commander'

export function addTo(program: Command): void {
  program
    .command('demo')
    .description('import 2,000 files into a throw-away service and check the outcome')
    .option('--keep', 'leave the service running and print a token and curl lines', false)
    .addHelpText('after', '\nExample:\n  zaakstroom demo --keep')
    .action(async (options: { keep: boolean }) => {
      const { demo } = await import('../demo.ts') // here: --help does without
      const interrupted = new AbortController()
      for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => interrupted.abort())
      process.exitCode = (await demo({ keep: options.keep, signal: interrupted.signal })) ? 0 : 1
    })
}
