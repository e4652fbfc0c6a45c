// What the pool and its threads say to each other.
import type { Copied, FileToCopy } from './source-file.ts'

export type Threaddata = { baseDir: string; opslagRoot: string; stop: Int32Array }

export type Placement = { temp: string; key: string }

export type Order = { copyFiles: FileToCopy[] } | { place: Placement[] }

export type Reply =
  | { results: Copied[]; placements: Placement[] }
  | { unavailable: string; wat: string }
  | { stopped: true }
