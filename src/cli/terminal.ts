// What subcommands read from standard input and write to standard output.
import { fstatSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from './usage.ts'

/** Prints the value as JSON, or the text for people. */
export function print(options: { json?: boolean }, value: unknown, forPeople: string): void {
  console.log(options.json ? JSON.stringify(value) : forPeople)
}

/**
 * One JSON object with a list that may be too long to keep: each item is written as it comes, and the rest of the object behind it.
 * Standard output stays empty until the first of both.
 */
export function openListing(name: string): { add(item: object): void; end(rest: object): void } {
  let count = 0
  const begin = () => (count++ === 0 ? `{${JSON.stringify(name)}:[` : ',')
  return {
    add: (item) => void process.stdout.write(`${begin()}\n${JSON.stringify(item)}`),
    end: (rest) => {
      const opening = count === 0 ? begin() : ''
      process.stdout.write(`${opening}],${JSON.stringify(rest).slice(1)}\n`)
    },
  }
}

/** What was made could not be handed over, so that nothing was changed: the program ends with exit code 74. */
export class OutputLost extends Error {}

/** Where a secret goes: standard output, or a file that is not there yet. */
export type Delivered = { json?: boolean; out?: string }
export const OUT = [
  '--out <file>',
  'write the secret to this new file, for its user alone, instead of printing it',
] as const

/**
 * Hands over what is shown only once, and waits until it has arrived: before what it is for is committed.
 * @throws OutputLost when standard output is full, closed or nowhere
 * @throws UsageError for a file that is there already
 */
export async function deliver({ json, out }: Delivered, value: unknown, forPeople: string): Promise<void> {
  const line = `${json ? JSON.stringify(value) : forPeople}\n`
  if (out !== undefined) {
    await writeFile(out, line, { flag: 'wx', mode: 0o600, flush: true }).catch((error) => {
      if (error.code === 'EEXIST') throw new UsageError(`${out} is there already: it is not written over`)
      throw new OutputLost(`${out} cannot be written (${error.code}): nothing was changed`)
    })
    return
  }
  if (goesNowhere())
    throw new OutputLost(
      'standard output goes nowhere, and the secret is shown only once: nothing was changed; see --out',
    )
  await new Promise<void>((resolve, reject) => {
    const lost = (error: Error & { code?: string }) =>
      reject(new OutputLost(`standard output cannot be written (${error.code}): nothing was changed; see --out`))
    process.stdout.once('error', lost)
    process.stdout.write(line, (error) => {
      if (error) return lost(error)
      process.stdout.off('error', lost)
      resolve()
    })
  })
}

/** The same once, for work that a transaction may run again with the same secret. */
export function deliverOnce(options: Delivered, value: unknown, forPeople: string): () => Promise<void> {
  let delivered: Promise<void> | undefined
  return () => {
    delivered ??= deliver(options, value, forPeople)
    return delivered
  }
}

/** What people are told when the secret itself went to a file. */
export function tellFile({ out, json }: Delivered, line: string): void {
  if (out !== undefined && !json) console.error(`${line} What is shown only once is in ${out}.`)
}

/** Node puts the null device in the place of an output that is closed. */
function goesNowhere(): boolean {
  const out = fstatSync(1)
  return out.isCharacterDevice() && out.rdev === statSync('/dev/null').rdev
}

/**
 * Asks before what cannot be undone; `--yes` has answered already.
 * @throws UsageError when the answer is another than yes, or nobody is there to be asked
 */
export async function confirm({ yes }: { yes?: boolean }, what: string): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new UsageError(`${what} This cannot be undone: give --yes. Nothing was changed`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await lines.question(`${what} This cannot be undone. Type yes to go on: `)
    if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('nothing was changed')
  } finally {
    lines.close()
  }
}

/**
 * The secret on standard input, without the newline that ends it. At a terminal it is asked for, and not shown.
 * @throws UsageError when there is none
 */
export async function readSecret(question = 'The secret: '): Promise<string> {
  const secret = (await readHidden(question)).replace(/\r?\n$/, '')
  if (secret === '') throw new UsageError('the secret on standard input is empty')
  return secret
}

const read = new WeakSet<object>()

/**
 * What is on standard input; at a terminal what is typed there until the end of its line, or the first empty one of several, which is
 * not shown.
 * @throws UsageError when it was read for something else already
 */
export async function readHidden(question: string, { lines = false }: { lines?: boolean } = {}): Promise<string> {
  const { stdin, stderr } = process
  if (read.has(stdin)) throw new UsageError('standard input is asked for two things: give one of them another way')
  read.add(stdin)
  if (!stdin.isTTY) return text(stdin)
  stderr.write(question)
  stdin.setRawMode(true)
  try {
    let typed = ''
    for await (const chunk of stdin.setEncoding('utf8'))
      for (const key of String(chunk)) {
        if (key === '\u0003') throw new Interrupted()
        if (key === '\u007f' || key === '\b') typed = typed.slice(0, -1)
        else if (key !== '\r' && key !== '\n' && key !== '\u0004') typed += key
        else if (!lines || key === '\u0004' || typed === '' || typed.endsWith('\n')) return typed
        else typed += '\n'
      }
    return typed
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

/** A person ended it: by ctrl-C, also where a terminal does not make a signal of it. */
export class Interrupted extends Error {
  override message = 'interrupted'
}

/** Writes a file that is not there yet. @throws UsageError for one that is */
export async function writeNew(file: string, bytes: Uint8Array): Promise<void> {
  await writeFile(file, bytes, { flag: 'wx', flush: true }).catch(refuseExisting(file))
}

/** @throws UsageError for a file that is there already */
export function refuseExisting(file: string): (error: unknown) => never {
  return (error) => {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    throw new UsageError(`${file} is there already: it is not written over`)
  }
}

/** @throws UsageError for a file that is not there */
export function fileMissing(file: string): (error: unknown) => never {
  return (error) => {
    throw (error as { code?: string }).code === 'ENOENT' ? new UsageError(`there is no file ${file}`) : error
  }
}
