// How many files and connections this process may have open at once, and how they are shared out. One that cannot be opened fails
// whoever needs it, so what may be bounded is bounded before.
import { readFileSync } from 'node:fs'

const OTHERS = 512 // files that are kept from connections of clients, where there are so many
const ITSELF = 60 // of Node, its threads, the log and the queue

/** What the system allows this process (`ulimit -n`); Infinity where it does not say. Node raises the soft limit to the hard one. */
export function openFilesLimit(limits = processLimits()): number {
  const [, soft] = /^Max open files +(\d+) /m.exec(limits) ?? []
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

function processLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return '' // not Linux
  }
}

/**
 * How many of `wanted` an import may do at once: they have an eighth of all files.
 * @param each files that one of them keeps open
 */
export function copiesAtOnce(wanted: number, each: number, limit = openFilesLimit()): number {
  return Math.max(1, Math.min(wanted, Math.floor(limit / 8 / each)))
}

/** How many of `wanted` connections of clients may be open: all but what the rest needs, and an eighth at least. */
export function connectionsToTake(wanted: number, limit = openFilesLimit()): number {
  return Math.max(1, Math.min(wanted, Math.max(Math.floor(limit / 8), limit - OTHERS)))
}

/** How many of `wanted` connections may come on top of those, for a look at our health. */
export function sparesToTake(wanted: number, limit = openFilesLimit()): number {
  return Math.max(1, Math.min(wanted, Math.floor(limit / 32)))
}

/**
 * How many files a process needs at least: its own, its connections to the database, some to copy and some clients.
 * @param databasePoolSize of each of its sides, of which `start` has two
 */
export const filesNeeded = (databasePoolSize: number): number => ITSELF + 2 * databasePoolSize + 40
