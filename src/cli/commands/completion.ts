// completion: what a shell completes after `zaakstroom`.
import type { Command } from 'commander'
import { completionFor, SHELLS } from '../completion.ts'
import { readChoice } from '../options.ts'

export function addTo(program: Command): void {
  program
    .command('completion')
    .description('print what a shell needs to complete commands and options')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText('after', '\nExample:\n  source <(zaakstroom completion bash)')
    .action((shell: string) => {
      process.stdout.write(completionFor(readChoice(shell, 'the shell', SHELLS), program))
    })
}
