// Writes docs/errors.md from the table of codes (npm run errors); test/docs.test.ts compares the two.
import { writeFile } from 'node:fs/promises'
import { FIELD_CODES, type Meaning, PROBLEM_CODES } from '../src/core/codes.ts'

export const FILE = new URL('../docs/errors.md', import.meta.url)

const cell = (text: string) => text.replaceAll('|', '\\|')

function rowsOf(codes: Record<string, Meaning & { status?: number }>): string {
  return Object.entries(codes)
    .map(([code, { status, cause, remedy, example, rule = '' }]) =>
      [`\`${code}\``, ...(status ? [String(status)] : []), cause[1], remedy[1], `\`${example}\``, rule].map(cell),
    )
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

export function errorsPage(): string {
  return `# Codes of faults

Every answer from 400 on is \`application/problem+json\` (RFC 9457). Programs act on its \`code\`, and on the \`code\` of each field in
\`invalidParams\`. Codes do not change once they are released. There may be more of them later: take an unknown one as its status
says. \`detail\` and \`reason\` are Dutch sentences for people.

A running service has a page for each code, in Dutch and English: \`/ref/fouten/<code>/\`, with an index at \`/ref/fouten/\`. The
OpenAPI documents have them as enums (schemas \`Fout\` and \`VeldFout\`). This page is made from \`src/core/codes.ts\` by
\`npm run errors\`.

## Of a request

| \`code\` | Status | Cause | Remedy | Example | Rules |
| --- | --- | --- | --- | --- | --- |
${rowsOf(PROBLEM_CODES)}

## Of a field

In \`invalidParams[].code\`, with status 400. \`name\` is the field, with dots for what stands within another; \`nonFieldErrors\` is the
object as a whole.

| \`code\` | Cause | Remedy | Example | Rules |
| --- | --- | --- | --- | --- |
${rowsOf(FIELD_CODES)}
`
}

if (import.meta.main) await writeFile(FILE, errorsPage())
