// Passwords that stand in files (DATABASE_URL_FILE and its like). Whoever connects gets the one that the file holds then, so that a
// password is changed without a start. All else of an address is what it was at the start.
import { readFileSync } from 'node:fs'
import { addressOf, hostName, hostUrls } from './address.ts'

const files = new Map<string, { path: string; password: string }>()

/** Has the password of this address read anew for each connection. @param path of the file with the address @throws AddressFault */
export function followPassword(url: string, path: string): void {
  for (const host of hostUrls(url)) {
    const { password } = addressOf(host)
    if (password) files.set(keyOf(host), { path, password })
  }
}

/**
 * The password of an address as it is now. A file that cannot be read, or holds no address, leaves the one that was read last.
 * @param url of one host
 */
export function passwordOf(url: string): string | undefined {
  const file = files.get(keyOf(url))
  if (!file) return addressOf(url).password
  try {
    file.password = addressOf(readFileSync(file.path, 'utf8').trim()).password ?? file.password
  } catch {
    // It is being written.
  }
  return file.password
}

function keyOf(url: string): string {
  const { user, database } = addressOf(url)
  return `${user}@${hostName(url)}/${database ?? ''}`
}
