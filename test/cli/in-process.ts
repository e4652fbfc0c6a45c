// Runs a command of the program in this process, as its own tree has it: a start costs a second, and there are some seventy of them.
// Only for a file in a process of its own: environment, directory and output are those of the process.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { explain } from '../../src/cli/explain.ts'
import { programTree } from '../generate-commands.ts'
import { programEnv } from '../program-env.ts'

export type Outcome = {
  code: number
  stdout: string
  stderr: string
  /** Names of what it made in the directory where it ran. */
  made: string[]
}

/** @param input what is on standard input */
export async function runHere(args: string[], env: Record<string, string>, input = ''): Promise<Outcome> {
  const before = { env: process.env, directory: process.cwd(), stdin: process.stdin }
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-command-'))
  const said = { stdout: '', stderr: '' }
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name]
    process[name].write = ((text: string | Uint8Array, ...rest: unknown[]) => {
      said[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined
      done?.()
      return true
    }) as typeof write
    return () => {
      process[name].write = write
    }
  })
  const { log, error } = console
  console.log = (text: string) => {
    said.stdout += `${text}\n`
  }
  console.error = (text: string) => {
    said.stderr += `${text}\n`
  }
  process.env = programEnv(env)
  process.chdir(directory)
  process.exitCode = 0
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true })
  let code = 0
  try {
    const program = await programTree()
    exitless(program)
    await program.parseAsync(args, { from: 'user' })
    code = Number(process.exitCode ?? 0)
  } catch (fault) {
    if (fault instanceof CommanderError) code = fault.exitCode === 0 ? 0 : 64
    else {
      const told = explain(fault)
      said.stderr += `zaakstroom: ${told.message}\n`
      code = told.code
    }
  } finally {
    for (const undo of restore) undo()
    Object.assign(console, { log, error })
    Object.defineProperty(process, 'stdin', { value: before.stdin, configurable: true })
    process.env = before.env
    process.chdir(before.directory)
    process.exitCode = 0
  }
  const made = readdirSync(directory)
  rmSync(directory, { recursive: true })
  return { code, ...said, made }
}

function exitless(command: Command): void {
  command.exitOverride()
  for (const one of command.commands) exitless(one)
}
