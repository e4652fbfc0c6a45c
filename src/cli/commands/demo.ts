// demo: runs ../demo.ts.
import type { Command } from 'commander'
import { stopSignal } from '../signals.ts'

export function addTo(program: Command): void {
  program
    .command('demo')
    .description('import 2,000 files into a throw-away service and check the outcome')
    .option('--keep', 'leave the service running and print a token and curl lines', false)
    .addHelpText('after', '\nExample:\n  zaakstroom demo --keep')
    .action(async (options: { keep: boolean }) => {
      const { demo } = await import('../demo.ts') // here: --help does without
      process.exitCode = (await demo({ keep: options.keep, signal: stopSignal() })) ? 0 : 1
    })
}
