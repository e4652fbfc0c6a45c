// What subcommands read from standard input and write to standard output.
import { text } from 'node:stream/consumers'
import { UsageError } from './usage.ts'

/** Prints the value as JSON, or the text for people. */
export function print(options: { json?: boolean }, value: unknown, forPeople: string): void {
  console.log(options.json ? JSON.stringify(value) : forPeople)
}

/** The secret on standard input, without the newline that ends it. @throws UsageError when there is none */
export async function readSecret(): Promise<string> {
  const secret = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (secret === '') throw new UsageError('the secret on standard input is empty')
  return secret
}

/** @throws UsageError for a file that is not there */
export function fileMissing(file: string): (error: unknown) => never {
  return (error) => {
    throw (error as { code?: string }).code === 'ENOENT' ? new UsageError(`there is no file ${file}`) : error
  }
}
