// `--dry-run`: the change is made by the same code, with all its rules, and taken back at its end.
import type { MutateWhole } from '../core/mutate.ts'

class TakenBack extends Error {}

/** The same `mutate`, whose changes are taken back with `dryRun`. Nobody hears of them. */
export function planning({ dryRun }: { dryRun?: boolean | undefined }, mutate: MutateWhole): MutateWhole {
  if (!dryRun) return mutate
  return async <T>(...[actor, work]: Parameters<typeof mutate<T>>): Promise<T> => {
    let outcome: { value: T } | undefined
    try {
      return await mutate(actor, async (m) => {
        outcome = { value: await work(m) }
        throw new TakenBack()
      })
    } catch (error) {
      if (error instanceof TakenBack && outcome) return outcome.value
      throw error
    }
  }
}
