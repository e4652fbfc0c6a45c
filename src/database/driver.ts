// The driver as we need it: `patches/` mends what a lost connection and a failed COPY do in the release that we use, and that is done when the
// packages are installed. `npm ci --ignore-scripts` leaves it out, and a directory of packages that was installed before the
// patch changed has the older one. Nothing would notice either until a connection is lost.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The driver is not the one that our patch makes of the package. */
export class DriverUnpatched extends Error {}

/** SHA-256 of each file that the patch touches, after it. Renewed with the patch. */
const MENDED = {
  'connection.js': 'b647455393e424709086096c9def1281c97986c33d343900a9b8f674d777d381',
  'index.js': '31190f2d9601d4386a5e7f9b7fc375f842f8d01ad8648b2683941b62928a204c',
}

/**
 * @param sources directory of the driver; that of the program unless a test says otherwise
 * @throws DriverUnpatched
 */
export function requirePatchedDriver(sources = new URL('.', import.meta.resolve('postgres'))): void {
  const other = Object.entries(MENDED).filter(
    ([file, hash]) =>
      createHash('sha256')
        .update(readFileSync(new URL(file, sources)))
        .digest('hex') !== hash,
  )
  if (other.length === 0) return
  throw new DriverUnpatched(
    'the database driver misses our patch or has an older one, without which a lost connection may end the process: run `npm ci`, and after `npm ci --ignore-scripts` also `npx patch-package`',
  )
}
