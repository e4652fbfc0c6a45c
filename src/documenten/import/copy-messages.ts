// What the pool and its threads say to each other.
import type { Copied, TeKopieren } from './source-file.ts'

export type Threaddata = { baseDir: string; opslagRoot: string; stop: Int32Array }

export type Plaatsing = { temp: string; sleutel: string }

export type Opdracht = { kopieer: TeKopieren[] } | { plaats: Plaatsing[] }

export type Antwoord =
  | { resultaten: Copied[]; plaatsingen: Plaatsing[] }
  | { onbeschikbaar: string; wat: string }
  | { gestopt: true }
