// keys: what data is sealed with (DATA_KEYS), and how an older key is replaced.
import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import { KEY_BYTES, KEY_ID, SECRET_KEY } from '../../lib/key-ring.ts'
import { countSealed, retireKey, startReseal } from '../../operations/reseal.ts'
import { changeDatabase, databaseBox, planned, withDatabase } from '../database.ts'
import { DRY_RUN } from '../options.ts'
import { deliver, OUT, print, tellFile } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export function addTo(program: Command): void {
  const keys = program.command('keys').description('what data is sealed with, and how a key is replaced')
  keys
    .command('list')
    .description('the keys, who has them, and how much is sealed with each')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom keys list')
    .action(async (options: { json?: boolean }) => {
      const shown = await withDatabase(async (database, config) => {
        const { ring } = await databaseBox(database, config)
        const rows = await database.sql<{ id: string; retired: boolean; processes: number; without: number }[]>`
          select id, retired_at is not null as retired,
            (select count(*)::int from key_holder h where h.seen_at > now() - interval '30 seconds' and h.seals = k.id) as processes,
            (select count(*)::int from key_holder h where h.seen_at > now() - interval '30 seconds' and not k.id = any(h.keys)) as without
          from data_key k order by created_at`
        const sealed = await countSealed(database)
        return rows.map(({ id, ...row }) => ({
          id,
          here: ring.ids.includes(id),
          seals: id === ring.sealing,
          ...row,
          sealed: Object.fromEntries(sealed.get(id) ?? []),
        }))
      })
      const lines = shown.map(({ id, here, seals, retired, processes, without, sealed }) =>
        [
          id,
          retired ? 'retired' : seals ? 'seals' : 'opens',
          here ? 'given' : 'not given here',
          `${processes} processes seal with it, ${without} lack it`,
          Object.entries(sealed)
            .map(([place, count]) => `${place} ${count}`)
            .join(', ') || 'nothing is sealed with it',
        ].join('\t'),
      )
      print(options, shown, lines.join('\n'))
    })
  keys
    .command('add')
    .description('make a key; prints the line for DATA_KEYS, once')
    .argument('<id>', 'its name: lower case letters, digits and -, such as 2027-01')
    .option(...OUT)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nPut the line first in DATA_KEYS of every process, keep the others, and run: zaakstroom keys reseal\n\nExample:\n  zaakstroom keys add 2027-01 --out 2027-01.key',
    )
    .action(async (id: string, options: { json?: boolean; out?: string }) => {
      if (!KEY_ID.test(id) || id === SECRET_KEY)
        throw new UsageError('an id has at most 20 lower case letters, digits and -')
      const isKnown = await withDatabase(
        async ({ sql }) => (await sql`select from data_key where id = ${id}`).length > 0,
      )
      if (isKnown) throw new UsageError(`there is a key ${id} already`)
      const key = randomBytes(KEY_BYTES).toString('base64')
      await deliver(options, { id, key }, `${id}:${key}`)
      tellFile(options, `The key ${id} was made.`)
    })
  keys
    .command('reseal')
    .description('seal all that is sealed with older keys with the first one, by a job')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom keys reseal --dry-run')
    .action(async (options: { dryRun?: boolean; json?: boolean }) => {
      const { key, left } = await planned(options)(async (database, config) => {
        const { ring } = await databaseBox(database, config)
        const [first] = ring.ids
        if (first !== ring.sealing)
          throw new UsageError(
            `the key ${first} does not seal yet: it is retired, or a process runs without it (zaakstroom keys list)`,
          )
        const sealed = options.dryRun ? await countSealed(database) : undefined
        if (!sealed)
          await mutator(database)(systemActor('keys reseal'), async (m) => {
            await startReseal(m, ring.sealing)
            m.unrecorded('keys are none of the APIs')
          })
        const left = [...(sealed ?? [])].flatMap(([id, places]) =>
          id === ring.sealing ? [] : [...places].map(([place, count]) => ({ key: id ?? null, place, count })),
        )
        return { key: ring.sealing, left }
      })
      const lines = left.map((one) => `  ${one.place} ${one.count}${one.key ? ` of the key ${one.key}` : ''}`)
      if (options.dryRun)
        return print(
          options,
          { dryRun: true, key, left },
          [`Would be sealed with the key ${key}:`, ...lines].join('\n'),
        )
      print(
        options,
        { dryRun: false, key, left },
        `All is being sealed with the key ${key}; zaakstroom keys list tells what is left.`,
      )
    })
  keys
    .command('retire')
    .description('take a key out of use; refused while something is sealed with it')
    .argument('<id>', 'its name, as in DATA_KEYS')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom keys retire 2026-01')
    .action(async (id: string, options: { json?: boolean }) => {
      await changeDatabase(async (database, config) => {
        const { ring } = await databaseBox(database, config)
        await mutator(database)(systemActor('keys retire'), async (m) => {
          const refusal = await retireKey(m, database, id, ring.sealing)
          if (refusal) throw new UsageError(refusal)
        })
      })
      print(
        options,
        { id, retired: true },
        `The key ${id} is retired: DATA_KEYS can go without it. Keep it for as long as a backup is kept in which something is sealed with it.`,
      )
    })
}
