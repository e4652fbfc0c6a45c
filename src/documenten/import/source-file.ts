// What both ways of copying have in common: the source file, its checksum and the outcome.
import { createHash, getHashes } from 'node:crypto'
import { fstatSync, type Stats } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type OpenedSource, type PathFault, pathFault } from './bestandspad.ts'

/** `algoritme` is that of `integriteit`; `key` is new for every attempt, so that no other attempt writes it too. */
export type FileToCopy = { number: number; bestandspad: string; key: string; algoritme?: string }

/** `key` is where the bytes are; `controle` is there when Node knows the algorithm that was asked for. */
export type Copied =
  | { number: number; key: string; size: number; sha256: string; controle?: string }
  | { number: number; fout: PathFault }

// ---- what both have in common ----

/** The source file is at fault. */
export class SourceFault extends Error {
  readonly fout: PathFault

  constructor(code: PathFault['code']) {
    super(code)
    this.fout = pathFault(code)
  }
}

/** To be asked after the last byte: exactly the file that was opened has been read. */
export function requireUnchanged({ fd, size, mtimeMs }: OpenedSource): void {
  let now: Stats
  try {
    now = fstatSync(fd)
  } catch {
    throw new SourceFault('file-unreadable') // a network file system can lose a file that is open
  }
  if (now.size !== size || now.mtimeMs !== mtimeMs) throw new SourceFault('file-changed')
}

type Checksum = { update(bytes: Uint8Array): void; digest(): string }

const HASHES = new Map([
  ['md5', 'md5'],
  ['sha_1', 'sha1'],
  ['sha_256', 'sha256'],
  ['sha_512', 'sha512'],
  ['sha_3', 'sha3-256'],
])

const AVAILABLE = new Set(getHashes())
// builds differ: one in FIPS mode has no md5

/** Computes a checksum by the algorithms of `integriteit`; undefined for one that Node does not have. */
export function checksumOf(algoritme = ''): Checksum | undefined {
  if (algoritme === 'crc_32') {
    let crc = 0
    return {
      update: (bytes) => {
        crc = crc32(bytes, crc)
      },
      digest: () => crc.toString(16).padStart(8, '0'),
    }
  }
  const name = HASHES.get(algoritme)
  if (!name || !AVAILABLE.has(name)) return undefined
  const hash = createHash(name)
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
}
