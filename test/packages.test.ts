// What a production installation brings along: licences that a municipality may use and pass on, beside our EUPL-1.2.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

type Package = {
  license?: string
  integrity?: string
  resolved?: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
}

const ROOT = join(import.meta.dirname, '..')
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'EUPL-1.2',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Public Domain',
  'Python-2.0',
  'Unlicense',
])

t.test('every package of production has a licence that we may distribute', async (t) => {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Package>
  }
  const packages = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link,
  )
  t.ok(packages.length > 50)
  t.strictSame(
    packages.filter(([, { license }]) => !isAllowed(license)).map(([path, { license }]) => `${path}: ${license}`),
    [],
  )
})

t.test('every package is named by the hash of its content, and none by an address', async (t) => {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Package>
  }
  const foreign = Object.entries(packages).filter(
    ([path, { link, integrity, resolved }]) =>
      path.includes('node_modules/') && !link && (!integrity?.startsWith('sha512-') || resolved !== undefined),
  )
  t.strictSame(
    foreign.map(([path]) => path),
    [],
  )
})

/** One of the alternatives will do, all of a combination have to. */
function isAllowed(license = ''): boolean {
  const text = license.replace(/[()]/g, '')
  return text.split(' OR ').some((one) => one.split(' AND ').every((part) => ALLOWED.has(part)))
}
