// Makes test/contract/rule-numbers.json again from the text of the standard, which this project does not carry:
//
//   node test/generate-rule-numbers.ts ../gemma-zaken        a checkout of github.com/VNG-Realisatie/gemma-zaken, or its bare repository
//   node test/generate-rule-numbers.ts https://raw.githubusercontent.com/VNG-Realisatie/gemma-zaken/master
//
// To be run by hand when a version of the standard comes out. With --check nothing is written, and a difference ends with 1.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = join(import.meta.dirname, 'contract/rule-numbers.json')

export type Numbers = {
  api: string
  version: string
  /** Where the text stands, below the root of its repository. */
  text: string
  /** Each number as often as the text prints it, in the order of numbers. */
  numbers: string[]
  /** Numbers that newer texts left out. */
  withdrawn: string[]
}

/** The numbers that a text gives, and those between the first and the last that it leaves out. */
export function numbersIn(prefix: string, text: string): Pick<Numbers, 'numbers' | 'withdrawn'> {
  // The anchor of zrc-008 has the name of another rule; what it links to is right.
  const numbers = [...text.matchAll(new RegExp(`<a name="[^"]*">[^\\n]*\\(\\[(${prefix}-\\d{3})\\]`, 'g'))].map(
    ([, number]) => String(number),
  )
  const last = Math.max(0, ...numbers.map((number) => Number(number.slice(-3))))
  const all = Array.from({ length: last }, (_, index) => `${prefix}-${String(index + 1).padStart(3, '0')}`)
  return { numbers: numbers.sort(), withdrawn: all.filter((number) => !numbers.includes(number)) }
}

async function read(source: string, path: string): Promise<string> {
  if (!/^https?:/.test(source))
    return existsSync(join(source, path))
      ? readFile(join(source, path), 'utf8')
      : execFileSync('git', ['-C', source, 'show', `HEAD:${path}`], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
  const response = await fetch(`${source.replace(/\/$/, '')}/${path}`)
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.text()
}

if (import.meta.main) {
  const [source, check] = process.argv.slice(2)
  if (!source) throw new Error('Say where the text of the standard stands: a directory, or an address.')
  const known: Record<string, Numbers> = JSON.parse(await readFile(FILE, 'utf8'))
  const now: Record<string, Numbers> = {}
  for (const [prefix, one] of Object.entries(known))
    now[prefix] = { ...one, ...numbersIn(prefix, await read(source, one.text)) }
  if (check !== '--check') await writeFile(FILE, `${JSON.stringify(now, null, 2)}\n`)
  else if (JSON.stringify(now) !== JSON.stringify(known)) {
    console.error('The text has other numbers than test/contract/rule-numbers.json.')
    process.exitCode = 1
  }
}
