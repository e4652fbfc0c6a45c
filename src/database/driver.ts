// The driver as we need it: `patches/` mends what a lost connection does in the release that we use, and that is done when the
// packages are installed. `npm ci --ignore-scripts` leaves it out, and nothing would notice until a connection is lost.
import { readFileSync } from 'node:fs'

/** The driver is the one of the package, without our patch. */
export class DriverUnpatched extends Error {}

/** A line of the patch in each file that it touches. */
const MENDED = { 'connection.js': 'chunk = nextWriteTimer = null', 'index.js': 'c.onclose = e => lost = e' }

/**
 * @param sources directory of the driver; that of the program unless a test says otherwise
 * @throws DriverUnpatched
 */
export function requirePatchedDriver(sources = new URL('.', import.meta.resolve('postgres'))): void {
  const missing = Object.entries(MENDED).filter(
    ([file, line]) => !readFileSync(new URL(file, sources), 'utf8').includes(line),
  )
  if (missing.length === 0) return
  throw new DriverUnpatched(
    'the database driver misses our patch, without which a lost connection may end the process: run `npx patch-package` (npm ci --ignore-scripts leaves it out)',
  )
}
