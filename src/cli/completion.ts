// What a shell completes: the words and options of the program's own tree.
import type { Command } from 'commander'

type Node = { words: string; children: string[]; options: string[] }

/** Every command of the tree with what may follow it, the program itself first. */
export function nodesOf(command: Command, words = ''): Node[] {
  const children = command.commands.filter((one) => one.name() !== 'help')
  const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? [])
  return [
    { words, children: children.map((one) => one.name()), options: [...options, '--help'] },
    ...children.flatMap((one) => nodesOf(one, `${words} ${one.name()}`.trim())),
  ]
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The script for a shell, to be sourced there. */
export function completionFor(shell: (typeof SHELLS)[number], program: Command): string {
  const nodes = nodesOf(program)
  if (shell === 'fish') return fish(nodes)
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash(nodes)}` : bash(nodes)
}

/** Words before an option say which command it is; a file follows where nothing else fits. */
function bash(nodes: Node[]): string {
  const cases = nodes.map(
    ({ words, children, options }) => `    '${words}') words='${[...children, ...options].join(' ')}' ;;`,
  )
  return `_zaakstroom() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) break ;;
    esac
    case " ${nodes.map(({ words }) => words.replaceAll(' ', '/')).join(' ')} " in
      *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;;
      *) break ;;
    esac
  done
  case "\${path//\\// }" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _zaakstroom zaakstroom
`
}

function fish(nodes: Node[]): string {
  const lines = nodes.flatMap(({ words, children, options }) => {
    const here = words === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${words.split(' ').at(-1)}`
    const after = words
      .split(' ')
      .filter(Boolean)
      .map((word) => `__fish_seen_subcommand_from ${word}`)
    const condition = after.length > 0 ? after.join('; and ') : here
    const free =
      children.length > 0 && words !== '' ? `; and not __fish_seen_subcommand_from ${children.join(' ')}` : ''
    return [
      ...children.map((child) => `complete -c zaakstroom -n '${condition}${free}' -f -a ${child}`),
      ...options.map((option) => `complete -c zaakstroom -n '${condition}${free}' -l ${option.slice(2)}`),
    ]
  })
  return `${lines.join('\n')}\n`
}
