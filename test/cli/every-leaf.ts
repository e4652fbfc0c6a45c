// Every command of the program's own tree that does something, with what it requires.
import { OUT } from '../../src/cli/terminal.ts'
import { leavesOf, nameOf, programTree } from '../generate-commands.ts'

/** What an argument or option is given, by the name that its help has for it. */
const GIVEN: Record<string, string> = {
  uuid: '5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1',
  import: '5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1',
  rsin: '001234567',
  role: 'viewer',
  moment: '2026-03-02T08:00:00Z',
  backend: 'filesystem',
  'database url': 'postgres://u:p@127.0.0.1:1/x',
  url: 'http://127.0.0.1:1/',
  number: '1',
  hours: '1',
  shell: 'bash',
  file: import.meta.filename,
  files: import.meta.filename,
}
/** Beside what is required. */
const ALSO: Record<string, string[]> = {
  'client key': ['--remove'],
  'client revoke': ['--yes'],
  'abonnement replay': ['--failed'],
  'overnemen open-notificaties': ['--database', 'postgres://u:p@127.0.0.1:1/x'],
  'overnemen omschakelen': ['--yes'],
  'notifications resend': ['--from', '2026-03-02T08:00:00Z'],
  'organisation set': ['--name', 'x'],
  'organisation remove': ['--confirm', '001234567'],
  'catalogus export': ['--catalogus', '5e2f0c2c-4b50-4b7c-9b4e-7ab9c3d6b3a1'],
  'import run': [import.meta.filename],
}

export type Leaf = {
  /** Without the name of the program. */
  name: string
  args: string[]
  hasJson: boolean
  /** It prints a secret, once. */
  handsOver: boolean
}

export async function everyLeaf(): Promise<Leaf[]> {
  return leavesOf(await programTree()).map((command) => {
    const name = nameOf(command).replace('zaakstroom ', '')
    const given = (what: string) => GIVEN[what.replace(/^[<[]|(\.\.\.)?[>\]]$/g, '')] ?? 'x'
    const isNew = name === 'catalogus export' || name === 'overnemen rapport'
    const args = command.registeredArguments
      .filter(({ required }) => required)
      .map((one) => (isNew && one.name() === 'file' ? '/nergens/x' : given(one.name())))
    const options = command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap(({ long, flags }) => [
        long ?? '',
        ...(flags.match(/<.+>/) ?? []).map((what) => given(long === '--database' ? 'database url' : what)),
      ])
    return {
      name,
      args: [...name.split(' '), ...args, ...options, ...(ALSO[name] ?? [])],
      hasJson: command.options.some(({ long }) => long === '--json'),
      handsOver: name === 'account invite' || command.options.some(({ description }) => description === OUT[1]),
    }
  })
}
