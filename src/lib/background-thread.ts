// Threads for heavy work beside the one that answers: on a machine where all cores are busy they have to wait for it.
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Gives the thread that calls it a low priority, where the system has priorities of threads (Linux). */
export function standBack(): void {
  try {
    const [, thread] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    if (thread) setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // another system, or not allowed: then it has the same priority
  }
}
