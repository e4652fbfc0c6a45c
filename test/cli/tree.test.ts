// The program's own tree of commands, held against what is promised of each, and what is made of it.
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import t from 'tap'
import { completionFor, nodesOf, SHELLS } from '../../src/cli/completion.ts'
import { commandsPage, FILE, leavesOf, moreOf, nameOf, programTree } from '../generate-commands.ts'

const leaves = leavesOf(await programTree())

/** Reads the words as the program does, and runs nothing. */
async function parse(words: string[]): Promise<Record<string, unknown>> {
  const program = await programTree()
  let options: Record<string, unknown> = {}
  const quiet = (command: Command) => {
    command.exitOverride().configureOutput({ writeErr: () => {} })
    for (const one of command.commands) quiet(one)
    if (command.commands.length === 0)
      command.action(() => {
        options = command.opts()
      })
  }
  quiet(program)
  await program.parseAsync(words, { from: 'user' })
  return options
}

t.test('the page of the commands, and completion, are what the tree says', async (t) => {
  t.equal(await readFile(FILE, 'utf8'), await commandsPage(), 'run npm run commands')
  const program = await programTree()
  for (const shell of SHELLS) {
    const script = completionFor(shell, program)
    for (const { children, options } of nodesOf(program))
      for (const word of [...children, ...options.map((option) => option.slice(2))])
        t.ok(script.includes(word), `${word} in ${shell}`)
    t.notMatch(script, /--proef|--controleer/)
  }
})

t.test('every command has an example that it takes, a description of each argument, and English options', async (t) => {
  t.ok(leaves.length > 60)
  const dutch =
    /--(proef|controleer|steekproef|antwoorden|oude-|naast|tempo|schrijfbaar|alles|rapport|bestanden|naar|vanaf|bron$|botsingen)/
  for (const leaf of leaves) {
    const [, example = ''] = /Example:\n([\s\S]+)$/.exec(moreOf(leaf)) ?? []
    const name = nameOf(leaf)
    t.ok(example.includes(name), `${name} has an example`)
    for (const [, line = ''] of example.matchAll(/\bzaakstroom ((?:[a-z"'].*?)?)(?=$|\s*[<>|]|\)" http)/gm)) {
      const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
      await t.resolves(parse(words), `${name}: ${line}`)
    }
    for (const argument of leaf.registeredArguments) t.ok(argument.description, `${name} ${argument.name()}`)
    for (const { long, hidden } of leaf.options) if (!hidden) t.notMatch(long, dutch, name)
  }
})

t.test('--dry-run has one name, and what options were called goes on to work', async (t) => {
  for (const name of [
    'setup apply',
    'catalogus import',
    'storage migrate',
    'keys reseal',
    'migrate',
    'selectielijst import',
  ]) {
    const leaf = leaves.find((one) => nameOf(one) === `zaakstroom ${name}`)
    t.ok(
      leaf?.options.some(({ long, hidden }) => long === '--dry-run' && !hidden),
      name,
    )
  }
  for (const name of ['client revoke', 'overnemen omschakelen', 'signing-key rotate'])
    t.ok(
      leaves.find((one) => nameOf(one) === `zaakstroom ${name}`)?.options.some(({ long }) => long === '--yes'),
      name,
    )
  const former =
    'overnemen open-zaak --database x --bestanden y --proef --oude-url a --oude-url b --naast 3 --alles --rapport r'
  const now =
    'overnemen open-zaak --database x --files y --dry-run --old-url a --old-url b --parallel 3 --everything --report r'
  t.strictSame(await parse(former.split(' ')), await parse(now.split(' ')))
  t.match(await parse(now.split(' ')), { dryRun: true, oldUrl: ['a', 'b'], parallel: '3', everything: true })
  t.match(await parse('overnemen terugspelen --naar x --client y --secret-stdin --vanaf 2026-01-31'.split(' ')), {
    to: 'x',
    since: '2026-01-31',
  })
})
