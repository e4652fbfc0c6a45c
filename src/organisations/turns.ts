// Work of many organisations at once in one process: who had least of it goes next.

export type Turns = {
  /** Does the work when it is its turn. @param of whose it is */
  take<T>(of: string, work: () => Promise<T>): Promise<T>
}

type Share = { waiting: (() => void)[]; running: number; usedMs: number }

/**
 * Gives so many places. One that is free goes to who has the fewest at that moment, and among those to who used least time. Who
 * comes after a rest begins with as much as the one who had least: a rest saves nothing up.
 */
export function openTurns(places: number): Turns {
  const shares = new Map<string, Share>()
  let free = places
  let least = 0
  return {
    async take(of, work) {
      const share = shares.get(of) ?? { waiting: [], running: 0, usedMs: least }
      shares.set(of, share)
      await new Promise<void>((resolve) => {
        share.waiting.push(resolve)
        next()
      })
      const began = performance.now()
      try {
        return await work()
      } finally {
        share.usedMs += performance.now() - began
        share.running--
        free++
        if (share.running === 0 && share.waiting.length === 0) shares.delete(of)
        next()
      }
    },
  }

  function next(): void {
    if (free === 0) return
    const [first] = [...shares.values()]
      .filter(({ waiting }) => waiting.length > 0)
      .sort((a, b) => a.running - b.running || a.usedMs - b.usedMs)
    if (!first) return
    least = Math.max(least, first.usedMs)
    free--
    first.running++
    first.waiting.shift()?.()
  }
}
