// copy: a copy of an installation, kept up to date over its APIs.
import type { Command } from 'commander'
import { signToken } from '../../autorisaties/clients.ts'
import {
  bringUpToDate,
  COLLECTIONS,
  CopyRefused,
  compare,
  type Difference,
  follow,
  NotReadable,
  openCopyDatabase,
  prepareDirectory,
  type Source,
} from '../copy.ts'
import { stopSignal } from '../signals.ts'
import { print } from '../terminal.ts'
import { UsageError } from '../usage.ts'

type Options = {
  to: string
  clientId?: string
  collections?: string
  follow?: boolean
  compare?: boolean
  newAddress?: boolean
  json?: boolean
}

/** Differences that are told one by one. */
const TOLD = 20
/** What changes while lists are read differs for a moment: so often is looked again. */
const LOOKS = 5

export function addTo(program: Command): void {
  program
    .command('copy')
    .description('keep a copy of an installation in SQLite, from its snapshots and changes')
    .argument('<url>', 'address of the installation, such as https://zaken.example.nl')
    .requiredOption('--to <directory>', 'where the copy is: copy.sqlite, a table per kind of resource')
    .option('--client-id <id>', 'client id; its secret is in COPY_SECRET, or a token of an issuer in COPY_TOKEN')
    .option('--collections <names>', `with commas; unset: ${Object.keys(COLLECTIONS).join(',')}`)
    .option('--follow', 'go on with changes as they come, until it is stopped')
    .option('--compare', 'hold the copy against the lists, row by row; ends with 1 when they differ')
    .option('--new-address', 'the copy is of the same installation, which has another address now')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  COPY_SECRET=… zaakstroom copy https://zaken.example.nl --to ./kopie --client-id dwh\n  sqlite3 kopie/copy.sqlite "select resource ->> \'identificatie\' from zaak"',
    )
    .action(async (url: string, options: Options) => {
      const source = sourceOf(url, options)
      const names = options.collections?.split(',') ?? Object.keys(COLLECTIONS)
      for (const name of names)
        if (!Object.hasOwn(COLLECTIONS, name)) throw new UsageError(`there is no collection ${name}`)
      process.umask(0o077) // what is copied is for nobody else
      await prepareDirectory(options.to)
      const copy = openCopyDatabase(options.to)
      try {
        if (!options.newAddress) copy.requireSource(source.url)
        await run(source, options, copy, names)
      } catch (error) {
        if (error instanceof CopyRefused) throw new UsageError(error.message)
        throw error
      } finally {
        copy.close()
      }
    })
}

function sourceOf(url: string, { clientId }: Options): Source {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new UsageError('the address begins with https:// or http://')
  const { COPY_TOKEN, COPY_SECRET } = process.env
  if (!COPY_TOKEN && !(clientId && COPY_SECRET))
    throw new UsageError('give --client-id with its secret in COPY_SECRET, or a token in COPY_TOKEN')
  return {
    url: parsed.href.replace(/\/$/, ''),
    token: () => COPY_TOKEN ?? signToken(clientId ?? '', COPY_SECRET ?? '', { id: 'copy', name: 'copy' }),
  }
}

async function run(
  source: Source,
  options: Options,
  copy: ReturnType<typeof openCopyDatabase>,
  names: string[],
): Promise<void> {
  const say = (line: string) => console.error(line)
  const applied: Record<string, number> = {}
  const readable: string[] = []
  let refused: NotReadable | undefined
  for (const name of names) {
    try {
      applied[name] = await bringUpToDate(source, options.to, copy, name, say)
      copy.noteSource(source.url)
      readable.push(name)
    } catch (error) {
      // Of those that are asked for by name none may lack.
      if (!(error instanceof NotReadable) || options.collections !== undefined) throw error
      refused = error
      say(`${name}: not kept, the rights of this client do not reach it`)
    }
  }
  if (refused && readable.length === 0) throw refused
  if (options.compare) {
    const found: Record<string, { rows: number; differences: Difference[] }> = {}
    for (const name of readable) found[name] = await compareWhole(source, options.to, copy, name)
    const told = Object.entries(found).flatMap(([name, { rows, differences }]) => [
      `${name}: ${rows} rows, ${differences.length === 0 ? 'equal' : `${differences.length} differ`}`,
      ...differences.slice(0, TOLD).map(({ kind, uuid, what }) => `  ${kind} ${uuid}: ${what}`),
    ])
    print(options, { applied, found }, told.join('\n'))
    if (Object.values(found).some(({ differences }) => differences.length > 0)) process.exitCode = 1
    return
  }
  print(
    options,
    { applied },
    Object.entries(applied)
      .map(([name, count]) => `${name}: ${count} deltas`)
      .join('\n'),
  )
  if (!options.follow) return
  const stop = stopSignal()
  await Promise.all(readable.map((name) => follow(source, options.to, copy, name, stop, say)))
}

/** Only what differs each time does: in between the copy is brought up to date. */
async function compareWhole(
  source: Source,
  directory: string,
  copy: ReturnType<typeof openCopyDatabase>,
  name: string,
) {
  let result = await compare(source, copy, name)
  for (let looked = 1; looked < LOOKS && result.differences.length > 0; looked++) {
    await bringUpToDate(source, directory, copy, name)
    const again = await compare(source, copy, name)
    const before = new Set(result.differences.map(({ uuid }) => uuid))
    result = { rows: again.rows, differences: again.differences.filter(({ uuid }) => before.has(uuid)) }
  }
  return result
}
