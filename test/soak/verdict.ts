// What a soak measures, and whether it stays level. The first third of a run is warming up; the last is held against the middle.

/** What was measured at one moment, by what it is: `memory of api 1`, `connections`, `dead rows of zaak`. */
export type Sample = Map<string, number>
export type Kind = 'memory' | 'files' | 'connections' | 'dead rows' | 'size' | 'bytes a case'
export type Verdict = { what: string; middle: number; last: number; isLevel: boolean }

/** By kind, what the last third may have more than the middle one: so many times as much, and so much on top of it. */
const MARGINS: Record<Kind, [times: number, more: number]> = {
  memory: [1.1, 20], // MB
  files: [1, 10],
  connections: [1, 10],
  'dead rows': [1.5, 10_000],
  size: [1.5, 16], // MB, of tables that are to be emptied as fast as they are filled
  'bytes a case': [1.15, 500],
}

/** Memory of a process grows for so long before it is level: caches fill, and code is compiled. */
const WARM_MINUTES = 30

/** Whether a run is long enough to say something of memory. */
export const judgesMemory = (minutes: number): boolean => minutes >= WARM_MINUTES

/**
 * @param minutes that the run took; a short one says nothing of memory
 * @throws when there are too few samples to judge by
 */
export function verdicts(samples: Sample[], minutes: number): Verdict[] {
  if (samples.length < 6) throw new Error(`${samples.length} samples are too few to judge by: let it run longer`)
  const third = Math.floor(samples.length / 3)
  const middle = samples.slice(third, 2 * third)
  const last = samples.slice(-third)
  const names = new Set(last.flatMap((sample) => [...sample.keys()]))
  return [...names].flatMap((what) => {
    const [before, after] = [median(middle, what), median(last, what)]
    if (before === undefined || after === undefined) return [] // a process that was started again
    if (what.startsWith('memory') && !judgesMemory(minutes)) return []
    const [times, more] = marginOf(what)
    return [{ what, middle: before, last: after, isLevel: after <= before * times + more }]
  })
}

function marginOf(what: string): [number, number] {
  const found = Object.entries(MARGINS).find(([kind]) => what.startsWith(kind))
  if (!found) throw new Error(`nothing says how ${what} is judged`)
  return found[1]
}

function median(samples: Sample[], what: string): number | undefined {
  const values = samples.flatMap((sample) => sample.get(what) ?? []).sort((a, b) => a - b)
  return values[values.length >> 1]
}
