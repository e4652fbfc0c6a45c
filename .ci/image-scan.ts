// docker export $(docker create zaakstroom) | node .ci/image-scan.ts [--user 1000:1000]: reads the file system of an image, as a tar, and
// names what a process of the service could misuse: what its user may write but for the places for data, and programs that run with
// the rights of somebody else. Ends with 1 when there is any. podman does the same as docker.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

/** Data, and where a file system that cannot be written has a volume in memory or nothing at all. */
const WRITABLE = ['var/lib/zaakstroom', 'import-data', 'tmp', 'var/tmp', 'run/lock']

const { values } = parseArgs({ options: { user: { type: 'string', default: '1000:1000' } } })
const [, uid, gid] = /^(\d+):(\d+)$/.exec(values.user) ?? []
if (!uid || !gid || uid === '0') fail(`--user is a number and a group, not of root: ${values.user}`)

const tar = spawn('tar', ['--numeric-owner', '--quoting-style=escape', '-tvf', '-'], {
  stdio: ['inherit', 'pipe', 'inherit'],
})
const ended = new Promise((resolve) => tar.once('close', resolve))
let entries = 0
let faults = 0
for await (const line of createInterface({ input: tar.stdout })) {
  // drwxr-xr-x 0/0 0 2026-01-31 12:00 usr/bin/
  const [, kind, mode = '', owner, group, place = ''] =
    /^(.)(.{9})\S* (\d+)\/(\d+) +\S+ \S+ \S+ (?:\.?\/)?(.*)$/.exec(line) ?? []
  if (kind === undefined) fail(`not an entry of a tar: ${line}`)
  entries++
  if (kind === 'l') continue
  const path = place.replace(/\/$/, '').replace(/ link to .*$/, '')
  const mayWrite = mode[owner === uid ? 1 : group === gid ? 4 : 7] === 'w'
  if (mayWrite && !WRITABLE.some((place) => path === place || path.startsWith(`${place}/`))) found('writable', path)
  if (kind === '-' && /s/i.test(`${mode[2]}${mode[5]}`)) found('runs as somebody else', path)
}
if ((await ended) !== 0 || entries === 0) fail('no tar came, or not all of it')
console.log(`${entries} files and directories, ${faults} that user ${values.user} could misuse`)
process.exitCode = faults === 0 ? 0 : 1

function found(what: string, path: string): void {
  faults++
  console.log(`${what}: /${path}`)
}

function fail(why: string): never {
  console.error(`image-scan: ${why}`)
  process.exit(2)
}
