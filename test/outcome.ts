// What became of a test file, from the TAP that it prints.
import { inspect } from 'node:util'
import type { FinalResults, Parser, Result } from 'tap-parser'

export type Outcome = { passed: number; skipped: number; failures: string[]; output: string }

export function emptyOutcome(): Outcome {
  return { passed: 0, skipped: 0, failures: [], output: '' }
}

export function listen(parser: Parser, outcome: () => Outcome): void {
  // Why something was left out is part of the outcome.
  const leftOut = ({ name, skip, todo }: Result) => {
    outcome().skipped++
    outcome().output += `left out: ${name} (${skip || todo})\n`
  }
  parser.on('pass', () => outcome().passed++)
  parser.on('skip', leftOut)
  parser.on('todo', leftOut)
  parser.on('fail', (result: Result) => outcome().failures.push(describe(result)))
  parser.on('extra', (text: string) => {
    outcome().output += text
  })
}

/** Tells what each test of a file took. */
export function timeTests(parser: Parser, file: string, tell: (test: { name: string; seconds: number }) => void): void {
  parser.on('child', (test: Parser) => {
    test.on('complete', () => tell({ name: `${file}: ${test.name}`, seconds: (test.time ?? 0) / 1000 }))
  })
}

/** A file may go wrong without a failing assertion: it stopped halfway, or had none. */
export function judge(file: string, outcome: Outcome, results: FinalResults | undefined, faults: string[]): void {
  if (outcome.failures.length > 0) return
  faults.push(...(results?.failures.map((failure) => failure.tapError).filter((error) => error != null) ?? []))
  if (results?.bailout) faults.push(`bailed out: ${results.bailout}`)
  if (outcome.passed + outcome.skipped === 0) faults.push('no test ran')
  else if (!results?.ok && faults.length === 0) faults.push('not ok')
  if (faults.length > 0) outcome.failures.push(`  ${file}\n    ${faults.join('\n    ')}`)
}

/** All that failed, and what else was printed. */
export function inFull({ failures, output }: Outcome): string {
  return [...failures, output && `printed:\n${output}`].filter(Boolean).join('\n\n')
}

/** A failing assertion in full: the tests that it stands in, and what tap has to say about it. */
function describe({ fullname, name, diag }: Result): string {
  const { at, diff, stack, source, ...other } = (diag ?? {}) as Record<string, unknown>
  const place = at as { fileName?: string; lineNumber?: number; columnNumber?: number } | undefined
  const lines = [
    ...(place?.fileName && !stack ? [`at ${place.fileName}:${place.lineNumber}:${place.columnNumber}`] : []),
    ...Object.entries(other).map(
      ([key, value]) => `${key}: ${typeof value === 'string' ? value : inspect(value, { depth: 8 })}`,
    ),
    ...[diff, stack].filter((text) => text !== undefined).map(String),
  ]
  const indented = lines.join('\n').trimEnd().replaceAll('\n', '\n    ')
  return `  ${(fullname || name).replace(/^lane > /, '')}\n    ${indented}`
}
