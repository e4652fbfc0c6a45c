// What many ask at about the same time, done in one go.

/**
 * Does in one go what is asked within so many milliseconds, or as soon as it is a portion. When that fails, each is tried by
 * itself, so that none fails because of another.
 */
export function together<In, Out>(
  { ms, portion }: { ms: number; portion: number },
  work: (asked: In[]) => Promise<Out[]>,
): (one: In) => Promise<Out> {
  let waiting: { one: In; resolve(out: Out | PromiseLike<Out>): void }[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = async () => {
    clearTimeout(timer)
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      const out = await work(batch.map(({ one }) => one))
      for (const [index, { resolve }] of batch.entries()) resolve(out[index]!)
    } catch (error) {
      const alone = async (one: In) => {
        if (batch.length === 1) throw error
        return (await work([one]))[0]!
      }
      for (const { one, resolve } of batch) resolve(alone(one))
    }
  }
  return (one) =>
    new Promise((resolve) => {
      waiting.push({ one, resolve })
      if (waiting.length === portion) flush()
      else if (waiting.length === 1) timer = setTimeout(flush, ms)
    })
}
