/**
 * Lets so many at work at once, and so many more wait: for what costs much memory or a whole core.
 * @param refuse makes what is thrown when too many wait already
 */
export function inTurn(
  atOnce: number,
  mayWait: number,
  refuse: () => Error,
): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < atOnce) running++
    else if (waiting.length >= mayWait) throw refuse()
    else await new Promise<void>((resolve) => waiting.push(resolve)) // whoever ends hands its place on
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
