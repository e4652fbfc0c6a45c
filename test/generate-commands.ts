// `npm run commands` writes docs/commands.md from the program's own tree of commands.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { addCommands, EXIT_CODES } from '../src/cli/program.ts'

export const FILE = join(import.meta.dirname, '../docs/commands.md')

/** Every command that does something, in the order of the help. */
export function leavesOf(command: Command): Command[] {
  const children = command.commands.filter((one) => one.name() !== 'help')
  return children.length === 0 ? [command] : children.flatMap(leavesOf)
}

export const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()

/** The whole tree, as the program builds it. */
export async function programTree(): Promise<Command> {
  const program = new Command('zaakstroom')
  await addCommands(program)
  return program
}

/** What stands behind the options in the help of a command. */
export function moreOf(command: Command): string {
  let said = ''
  command.configureOutput({ writeOut: (text) => (said += text) })
  command.outputHelp()
  return said.slice(command.helpInformation().length).trim()
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

function sectionOf(command: Command): string {
  const options = command.options.filter(({ hidden }) => !hidden)
  const args = command.registeredArguments
  const rows = [
    ...args.map((one) => {
      const name = `${one.name()}${one.variadic ? '...' : ''}`
      return `| \`${one.required ? `<${name}>` : `[${name}]`}\` | ${cell(one.description)} |`
    }),
    ...options.map(({ flags, description, mandatory, defaultValue }) => {
      const value =
        defaultValue === undefined || defaultValue === false || Array.isArray(defaultValue) ? '' : defaultValue
      const more = [mandatory && 'required', value !== '' && `default: ${value}`].filter(Boolean).join(', ')
      return `| \`${cell(flags).replaceAll('&lt;', '<')}\` | ${cell(description)}${more ? ` (${more})` : ''} |`
    }),
  ]
  const more = moreOf(command)
  return [
    `### ${nameOf(command)}`,
    `${command.description().replace(/^./, (first) => first.toUpperCase())}.`,
    ...(rows.length > 0 ? [['| | |', '| --- | --- |', ...rows].join('\n')] : []),
    ...(more ? [`\`\`\`text\n${more}\n\`\`\``] : []),
  ].join('\n\n')
}

/** The page. */
export async function commandsPage(): Promise<string> {
  const program = await programTree()
  const parts = program.commands.flatMap((top) => {
    const more = top.commands.length > 0 ? moreOf(top) : ''
    return [
      `## ${top.name()}`,
      ...(top.commands.length > 0 ? [`${top.description().replace(/^./, (first) => first.toUpperCase())}.`] : []),
      ...(more ? [`\`\`\`text\n${more}\n\`\`\``] : []),
      ...leavesOf(top).map(sectionOf),
    ]
  })
  return `# Commands

Written by \`npm run commands\` from the program's own tree. \`zaakstroom <command> --help\` says the same.

Commands that change something say on standard error where: which database, at which server, of which organisation. \`zaakstroom where\`
says it without doing anything. Before what cannot be undone a person is asked, and a script gives \`--yes\`.
Completion for a shell: \`source <(zaakstroom completion bash)\`, or \`zsh\`, or for fish \`zaakstroom completion fish | source\`.

${EXIT_CODES}

${parts.join('\n\n')}
`
}

if (import.meta.main) await writeFile(FILE, await commandsPage())
