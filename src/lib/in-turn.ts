/**
 * Lets so many at work at once, and so many more wait: for what costs much memory or a whole core.
 * @param refuse makes what is thrown when too many wait already
 * @param ownerOf whose the work is that is being asked for, where there are owners: so many of each may wait, they take turns, and one place
 *   of several is left to the others
 * @param longestMs what waited for so long is refused, where its client would give up
 * @returns runs work in its turn; `owner` when it is known only there
 */
export function inTurn(
  atOnce: number,
  mayWait: number,
  refuse: () => Error,
  ownerOf: () => string = () => '',
  longestMs?: number,
): <T>(work: () => Promise<T>, owner?: string) => Promise<T> {
  let running = 0
  const ofOwners = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>() // whose turn it is first
  const mayBegin = (owner: string) =>
    running < atOnce && (owner === '' || (ofOwners.get(owner) ?? 0) < Math.max(1, atOnce - 1))
  const count = (owner: string, change: 1 | -1) => {
    running += change
    const left = (ofOwners.get(owner) ?? 0) + change
    if (left > 0) ofOwners.set(owner, left)
    else ofOwners.delete(owner)
  }
  const beginNext = () => {
    for (const [owner, queue] of waiting) {
      if (!mayBegin(owner)) continue
      waiting.delete(owner)
      const next = queue.shift()
      if (queue.length > 0) waiting.set(owner, queue) // behind the others
      count(owner, 1)
      next?.()
      return
    }
  }
  return async (work, owner = ownerOf()) => {
    const queue = waiting.get(owner) ?? []
    if (queue.length === 0 && mayBegin(owner)) count(owner, 1)
    else if (queue.length >= mayWait) throw refuse()
    else {
      waiting.set(owner, queue)
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          clearTimeout(timer)
          resolve()
        }
        const giveUp = () => {
          queue.splice(queue.indexOf(begin), 1)
          if (queue.length === 0) waiting.delete(owner)
          reject(refuse())
        }
        const timer = longestMs === undefined ? undefined : setTimeout(giveUp, longestMs).unref()
        queue.push(begin)
      })
    }
    try {
      return await work()
    } finally {
      count(owner, -1)
      beginNext()
    }
  }
}
