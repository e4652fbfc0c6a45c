// organisation move: brings one to another server while it works, and ends a move that was killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { queueOf } from '../database/schema.ts'
import { makeOrganisation } from '../organisations/make.ts'
import { endMove, moveOrganisation } from '../organisations/move.ts'
import { configOf, directUrlOf, type Organisation } from '../organisations/organisation.ts'
import { OrganisationRefused } from '../organisations/refused.ts'
import { type Changed, changeOrganisations, serverOf, updateOrganisation } from '../organisations/registry.ts'
import { type Control, organisationOf, requireWhole } from './control.ts'
import { ACTOR, addressWithoutSchema, type Shown, tellUnless } from './organisation-options.ts'
import { readDatabaseUrl } from './other-database.ts'
import { print } from './terminal.ts'
import { UsageError } from './usage.ts'

/** Processes hear of a change at once; this is for those that are busy. */
const HEARD_MS = 500

export async function move(
  control: Control,
  rsin: string,
  options: Shown & { to: string; sourceUrl?: string },
): Promise<void> {
  const to = addressWithoutSchema('--to', await readDatabaseUrl('--to', options.to))
  const sourceUrl = options.sourceUrl && (await readDatabaseUrl('--source-url', options.sourceUrl))
  const found = await organisationOf(control, rsin)
  requireWhole(found)
  const tell = tellUnless(options)
  const hasMoved = await endKilledMove(control, found, tell)
  const before = found.move ? await organisationOf(control, rsin) : found
  if (before.server === serverOf(to)) {
    if (!hasMoved) throw new UsageError(`${before.name} is there already`)
    return print(options, { hasMoved }, 'It has moved: the move that was killed is ended.')
  }
  if (before.state !== 'active')
    throw new UsageError(`${before.name} is ${before.state}: only one that is active moves`)
  const hasFeed = configOf(process.env, before).feedDays > 0
  const moved = await moveOrganisation({
    ...stepsOf(control, before, to, tell),
    sourceUrl,
    make: (url) => makeOrganisation(url, { hasFeed, rsin }),
  })
  print(
    options,
    moved,
    `Moved ${moved.tables} tables; its requests waited ${moved.heldMs} ms. What it had there is in the schemas ${moved.left} and ${queueOf(moved.left)}: drop both when you need them no more.`,
  )
}

/** What the registry is told of a move. Who suspends it meanwhile is heard. */
function stepsOf({ database, box }: Control, before: Organisation, to: string, tell: (line: string) => void) {
  const { rsin, schema } = before
  const change = (fields: string[], changed: Changed | ((now: Organisation) => Changed)) =>
    changeOrganisations(database, { rsin, actor: ACTOR, action: 'move', fields }, (trx) =>
      updateOrganisation(trx, box, before, changed),
    )
  const served = ({ state }: Organisation): Changed => (state === 'moving' ? { state: 'active', reason: '' } : {})
  const from = before.move?.from ?? directUrlOf(before)
  return {
    ...{ rsin, schema, from, to, tell },
    begin: () => change(['move'], { move: { from, to } }),
    hold: async (isHeld: boolean) => {
      await change(['state'], (now) => {
        if (!isHeld) return served(now)
        if (now.state !== 'active') throw new OrganisationRefused(`it is ${now.state}: it stays where it is`)
        return { state: 'moving', reason: 'it goes to another server' }
      })
      if (isHeld) await sleep(HEARD_MS)
    },
    settle: () =>
      change(['databaseUrl', 'settings', 'state'], (now) => {
        // Those of the server that it leaves: a pooler or replica of the other one is set afterwards.
        const { DATABASE_DIRECT_URL: _, DATABASE_READ_URL: __, ...settings } = now.settings
        return { databaseUrl: to, settings, ...served(now) }
      }),
    end: () => change(['move'], { move: undefined }),
  }
}

/** Ends it where its tables are. @returns whether there was one, and it has moved */
export async function endKilledMove(
  control: Control,
  before: Organisation,
  tell: (line: string) => void,
): Promise<boolean> {
  const { move, databaseUrl } = before
  return move !== undefined && endMove(stepsOf(control, before, move.to, tell), databaseUrl === move.to)
}
