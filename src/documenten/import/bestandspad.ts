// `bestandspad`: which files a row may name, and how one is opened so that nothing outside the base directory is read.
//
// Resolving a path, comparing it with the base and then opening it loses against whoever swaps a directory for a link in
// between. Here every component is opened relative to the handle of the directory before it, never following a link,
// and everything after that works on the handle. A hard link cannot be told from any other file: the base directory
// belongs on a volume of its own.
import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import path from 'node:path'
import { StoreUnavailable } from '../storage/index.ts'

// ---- the base directory ----

/**
 * Whether documents may be imported from `baseDir`. Refused is a directory that is or contains one of the service's
 * own, with `below` also one inside it. Compared are real paths and, for bind mounts and file systems that do not tell
 * upper from lower case, the directories themselves.
 */
export function checkBaseDir(
  baseDir: string,
  forbidden: { name: string; dir: string; below?: boolean }[],
): undefined | 'import-dir-not-found' | 'import-dir-not-dir' | 'import-dir-forbidden' {
  let base: string
  try {
    base = realpathSync(baseDir)
    if (!statSync(base).isDirectory()) return 'import-dir-not-dir'
  } catch {
    return 'import-dir-not-found'
  }
  if (base === path.dirname(base)) return 'import-dir-forbidden'
  for (const { dir, below } of forbidden) {
    const own = nearestReal(dir)
    if (contains(base, own.existing)) return 'import-dir-forbidden'
    if (below && own.exists && contains(own.existing, base)) return 'import-dir-forbidden'
  }
  return undefined
}

/** The real path of a directory, or of the nearest one above it when it has not been made yet. */
function nearestReal(dir: string): { existing: string; exists: boolean } {
  const absolute = path.resolve(dir)
  for (let at = absolute; ; at = path.dirname(at)) {
    try {
      return { existing: realpathSync(at), exists: at === absolute }
    } catch (error) {
      if (at === path.dirname(at)) throw error
    }
  }
}

/** Both are real paths. */
function contains(outer: string, inner: string): boolean {
  const wanted = statSync(outer, { bigint: true })
  for (let at = inner; ; at = path.dirname(at)) {
    if (at === outer) return true
    const stats = statSync(at, { bigint: true, throwIfNoEntry: false })
    if (stats && stats.ino !== 0n && stats.ino === wanted.ino && stats.dev === wanted.dev) return true
    if (at === path.dirname(at)) return false
  }
}

// ---- the path as text ----

const TEXTS = {
  'path-empty': 'Er is geen pad opgegeven.',
  'path-absolute': 'Het pad moet relatief zijn ten opzichte van de importmap.',
  'path-parent': "Het pad mag geen '..' bevatten.",
  'path-backslash': "Het pad mag geen backslash bevatten; scheid mappen met '/'.",
  'path-character': 'Het pad bevat een teken dat niet is toegestaan.',
  'path-empty-segment': "Het pad bevat een leeg onderdeel (een dubbele '/' of een '/' aan het eind).",
  'path-too-long': 'Het pad is te lang (ten hoogste 255 bytes per onderdeel en 4096 bytes in totaal).',
  'file-not-found': 'Het bestand bestaat niet.',
  'file-symlink': 'Het pad loopt via een symbolische koppeling; dat is niet toegestaan.',
  'file-not-regular': 'Het pad wijst niet naar een gewoon bestand.',
  'file-unreadable': 'Het bestand kan niet worden gelezen.',
  'file-changed': 'Het bestand is gewijzigd terwijl het werd gekopieerd.',
  malware: 'In het bestand is schadelijke software gevonden.',
  'too-large-to-scan': 'Het bestand is te groot om op schadelijke software te onderzoeken.',
}

/** Why a path or file was refused. The text never holds a path: the row shows the one that was supplied. */
export type PathFault = { code: keyof typeof TEXTS; text: string }

/** A refusal with its words, as a row of the report has it. */
export function pathFault(code: PathFault['code']): PathFault {
  return { code, text: TEXTS[code] }
}

/** What can be refused without looking at any file. `..` is refused also where the result would stay inside. */
export function checkPath(pad: string): PathFault | undefined {
  const segments = pad.split('/')
  if (pad === '') return pathFault('path-empty')
  if (/^[/\\]|^[a-z]:([/\\]|$)/i.test(pad)) return pathFault('path-absolute')
  if (pad.split(/[/\\]/).includes('..')) return pathFault('path-parent')
  if (pad.includes('\\')) return pathFault('path-backslash')
  // Half a surrogate pair would be looked up under another name than the one that was supplied.
  if (/\p{Cc}/u.test(pad) || !pad.isWellFormed()) return pathFault('path-character')
  if (process.platform === 'win32' && pad.includes(':')) return pathFault('path-character') // a stream or a drive
  if (segments.includes('')) return pathFault('path-empty-segment')
  if (Buffer.byteLength(pad) > 4096 || segments.some((segment) => Buffer.byteLength(segment) > 255)) {
    return pathFault('path-too-long')
  }
  return undefined
}

// ---- opening ----

/** An open regular file beneath the base, at its start. Whoever asked for it closes `fd`. */
export type OpenedSource = { fd: number; size: number; mtimeMs: number }
export type Refused = { fout: PathFault }

/**
 * The files beneath a base directory. Handles of directories are kept until `close`, so that many files in one directory
 * cost one walk: a handle stays that of the directory that was walked to, whatever becomes of its name.
 *
 * @throws StoreUnavailable (here and in `open`) when the base itself is away or handles have run out: no row is to
 * blame for that
 */
export function beneath(baseDir: string): { open(pad: string): OpenedSource | Refused; close(): void } {
  return HANDLES_HAVE_PATHS ? beneathByHandle(baseDir) : beneathByRealPath(baseDir)
}

const HANDLES_HAVE_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants
const DIR = O_RDONLY | O_DIRECTORY | O_NONBLOCK
const FILE = O_RDONLY | O_NONBLOCK | O_NOCTTY // a FIFO without a writer does not block
const MAX_DIRS = 128

/** Opens one component of a path below a directory, by the first of its spellings that is there. */
function openAs<T>(dir: number, name: string, open: (child: string | Buffer) => T): T | Refused {
  const prefix = `/proc/self/fd/${dir}/`
  let refused: Refused | undefined
  for (const spelling of spellingsOf(name)) {
    const child = typeof spelling === 'string' ? prefix + spelling : Buffer.concat([Buffer.from(prefix), spelling])
    try {
      return open(child)
    } catch (error) {
      refused ??= refusal(error, child)
      if (code(error) !== 'ENOENT') return refusal(error, child)
    }
  }
  return refused ?? { fout: pathFault('file-not-found') }
}

/**
 * How a name may stand on the disk: as it was written; composed or decomposed, since systems differ in how they write an é; and one
 * that is no UTF-8 by its bytes, of which those that are no text are written as `%E9`. Bytes that are UTF-8 are no such name: there
 * is one way to write `..`, and that was refused.
 */
function* spellingsOf(name: string): Generator<string | Buffer> {
  yield name
  for (const form of ['NFC', 'NFD']) {
    const spelling = name.normalize(form)
    if (spelling !== name) yield spelling
  }
  if (!/%[89a-f][0-9a-f]/i.test(name)) return
  const bytes = Buffer.from(
    Buffer.from(name)
      .toString('latin1')
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  if (!isUtf8(bytes) && !bytes.includes(0) && !bytes.includes('/')) yield bytes
}

function beneathByHandle(baseDir: string) {
  const base = openBase(baseDir)
  const dirs = new Map<string, number>()

  function closeDirs() {
    for (const fd of dirs.values()) closeSync(fd)
    dirs.clear()
  }

  /** The handle of a directory, or the refusal of the component that is none. */
  function openDir(segments: string[]): number | Refused {
    let fd = base
    let at = ''
    for (const segment of segments) {
      at += `${segment}/`
      const known = dirs.get(at)
      if (known === undefined) {
        const opened = openAs(fd, segment, (child) => openSync(child, DIR | O_NOFOLLOW))
        if (typeof opened !== 'number') return opened
        fd = opened
        dirs.set(at, fd)
      } else fd = known
    }
    return fd
  }

  return {
    open(pad: string): OpenedSource | Refused {
      const fout = checkPath(pad)
      if (fout) return { fout }
      if (dirs.size >= MAX_DIRS) closeDirs()
      const segments = pad.split('/').filter((segment) => segment !== '.')
      const name = segments.pop()
      if (name === undefined) return { fout: pathFault('file-not-regular') } // the base itself
      const dir = openDir(segments)
      if (typeof dir !== 'number') return dir
      // Looking first keeps devices closed: to open one can be to use it. What counts is the look at the handle.
      return openAs(dir, name, (file) => notRegular(lstatSync(file)) ?? regular(openSync(file, FILE | O_NOFOLLOW)))
    },

    close() {
      closeDirs()
      closeSync(base)
    },
  }
}

/**
 * For platforms where a handle has no path to open something relative to it (macOS, Windows; Node has no openat).
 * Links are refused wherever they are seen, before and after opening, but a link that is there only in between is not:
 * on those platforms nobody else may write in the base directory.
 */
export function beneathByRealPath(baseDir: string) {
  const base = realBase(baseDir)

  function linked(file: string): boolean {
    return realpathSync(file) !== file
  }

  return {
    open(pad: string): OpenedSource | Refused {
      const fout = checkPath(pad)
      if (fout) return { fout }
      const file = path.join(base, pad)
      if (file === base) return { fout: pathFault('file-not-regular') }
      try {
        if (linked(file)) return { fout: pathFault('file-symlink') }
        const seen = lstatSync(file)
        const opened = notRegular(seen) ?? regular(openSync(file, FILE | (O_NOFOLLOW ?? 0)))
        if ('fout' in opened) return opened
        const { ino, dev } = fstatSync(opened.fd)
        if (ino === seen.ino && dev === seen.dev && !linked(file)) return opened
        closeSync(opened.fd)
        return { fout: pathFault('file-changed') }
      } catch (error) {
        return refusal(error, file)
      }
    },

    close() {},
  }
}

function openBase(baseDir: string): number {
  try {
    return openSync(baseDir, DIR)
  } catch (error) {
    throw new StoreUnavailable(code(error), 'import directory')
  }
}

function realBase(baseDir: string): string {
  try {
    return realpathSync(baseDir)
  } catch (error) {
    throw new StoreUnavailable(code(error), 'import directory')
  }
}

function notRegular(stats: Stats): Refused | undefined {
  if (stats.isSymbolicLink()) return { fout: pathFault('file-symlink') }
  return stats.isFile() ? undefined : { fout: pathFault('file-not-regular') }
}

function regular(fd: number): OpenedSource | Refused {
  try {
    const stats = fstatSync(fd)
    const refused = notRegular(stats)
    if (refused) closeSync(fd)
    return refused ?? { fd, size: stats.size, mtimeMs: stats.mtimeMs }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Tells a fault of the supplied path from one of this machine, which is thrown. */
function refusal(error: unknown, component: string | Buffer): Refused {
  switch (code(error)) {
    case 'ENOENT':
      return { fout: pathFault('file-not-found') }
    case 'ELOOP':
      return { fout: pathFault('file-symlink') }
    case 'ENOTDIR': // a link in the place of a directory gives this too
      return { fout: pathFault(isLink(component) ? 'file-symlink' : 'file-not-found') }
    case 'ENXIO':
    case 'EISDIR':
      return { fout: pathFault('file-not-regular') }
    case 'ENAMETOOLONG':
      return { fout: pathFault('path-too-long') }
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      throw new StoreUnavailable(code(error), 'import directory')
    default:
      return { fout: pathFault('file-unreadable') }
  }
}

/** For the wording of a refusal only. */
function isLink(component: string | Buffer): boolean {
  try {
    return lstatSync(component).isSymbolicLink()
  } catch {
    return false
  }
}

function code(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
