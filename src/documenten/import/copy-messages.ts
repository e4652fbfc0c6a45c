// What the pool and its threads say to each other.
import type { Copied, FileToCopy } from './source-file.ts'

export type Threaddata = { baseDir: string; opslagRoot: string; stop: Int32Array }

export type Placement = { temp: string; key: string }

export type Order = { copyFiles: FileToCopy[] } | { place: Placement[] }

/** `bytes` is how much was copied; a `defect` is of ours, and its thread ends when it has answered its other orders. */
export type Reply =
  | { results: Copied[]; placements: Placement[]; bytes: number }
  | { unavailable: string; wat: string }
  | { stopped: true }
  | { defect: unknown }

/** A thread may have several orders, which it answers in any order: the answer has the number of its order. */
export type Numbered<Message> = { number: number; message: Message }
