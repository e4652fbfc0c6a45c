// Signals that ask a process to end in order.

/** What a terminal sends to all processes of a group, and what their parent then passes on, is one request. */
const SAME_MS = 2_000

/**
 * Calls `work` at the first of these signals. What comes within two seconds of it is the same request; one that comes later ends the
 * process at once, with 1.
 * @returns what takes that back
 */
export function onSignal(names: readonly NodeJS.Signals[], work: (name: NodeJS.Signals) => void): () => void {
  let first: number | undefined
  const heard = (name: NodeJS.Signals) => {
    if (first === undefined) {
      first = performance.now()
      work(name)
    } else if (performance.now() - first > SAME_MS) process.exit(1)
  }
  for (const name of names) process.on(name, heard)
  return () => {
    for (const name of names) process.off(name, heard)
  }
}

/** Aborted when this process is asked to stop. */
export function stopSignal(reason?: Error): AbortSignal {
  const stopped = new AbortController()
  onSignal(['SIGTERM', 'SIGINT'], () => stopped.abort(reason))
  return stopped.signal
}
