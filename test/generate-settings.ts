// Writes docs/settings.md from the schema of the settings (npm run settings); test/docs.test.ts compares the two.
import { writeFile } from 'node:fs/promises'
import { SETTINGS } from '../src/config/environment.ts'

export const FILE = new URL('../docs/settings.md', import.meta.url)

type Bounds = {
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

/** What a value may be, in words. */
function describeValues(setting: (typeof SETTINGS)[number] & Bounds): string {
  const { must, type, minimum, maximum, minLength, maxLength } = setting
  if (must) return `must ${must}`
  if (setting.enum) return setting.enum.map((one) => `\`${one}\``).join(', ')
  if (type === 'boolean') return '`true` or `false`'
  if (type === 'number') return ['number', range(minimum, maximum)].filter(Boolean).join(', ')
  if (type === 'integer') return ['whole number', range(minimum, maximum)].filter(Boolean).join(', ')
  const length = range(minLength === 1 ? undefined : minLength, maxLength)
  return length && `${length} characters`
}

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  if (least !== undefined) return `at least ${least}`
  return most === undefined ? '' : `at most ${most}`
}

export function settingsPage(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const rows = SETTINGS.map((setting) => {
    const standard = setting.default === undefined || setting.default === '' ? '' : `\`${setting.default}\``
    const name = `\`${setting.env}\`${setting.secret ? ' ²' : ''}${setting.pages ? ' ³' : ''}${setting.alsoRead ? ` (also \`${setting.alsoRead}\`)` : ''}`
    return `| ${[name, setting.description, describeValues(setting), standard].map(cell).join(' | ')} |`
  })
  return `# Settings

Settings come from the environment and are checked once, at the start: a wrong one ends the program with exit code 78 and a line
for each fault. An empty value counts as unset. Those with ³ may also be changed in the administration pages (Configuratie), while
the service runs; they are kept in table \`setting\`. What the environment says wins, and the pages then show it as fixed. All
others are needed before the database is there, or belong to one process: they are in the environment only.

\`zaakstroom --help\` shows the same list. This page is made from \`src/config/settings/\` by \`npm run settings\`.

| Setting | Meaning | Values ¹ | Default |
| --- | --- | --- | --- |
${rows.join('\n')}

¹ No bounds where nothing stands. What is \`true\` or \`false\` may also be \`yes\`, \`on\` or \`1\`, and \`no\`, \`off\` or \`0\`.

² A secret: it may stand in a file instead. \`NAME_FILE\` then has its path.

³ May be changed in the pages. Every running process takes over a change at once, on a signal of PostgreSQL (NOTIFY), and reads
all again each minute. A stored value that is wrong is logged, and its default counts.
`
}

if (import.meta.main) await writeFile(FILE, settingsPage())
