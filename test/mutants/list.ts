// All deliberate breaks: one for each rule number, constraint, right and guard against a crash. They stand by component.
import { BESLUITEN } from './breaks/besluiten.ts'
import { BOUNDS } from './breaks/bounds.ts'
import { CATALOGI } from './breaks/catalogi.ts'
import { CLOSED } from './breaks/closed.ts'
import { CRASHES } from './breaks/crashes.ts'
import { DOCUMENTEN } from './breaks/documenten.ts'
import { FEED } from './breaks/feed.ts'
import { ORGANISATIONS } from './breaks/organisations.ts'
import { RIGHTS } from './breaks/rights.ts'
import { SHARED } from './breaks/shared.ts'
import { ZAKEN } from './breaks/zaken.ts'
import type { Mutant } from './mutant.ts'

export const MUTANTS: Mutant[] = [
  ...ZAKEN,
  ...CLOSED,
  ...DOCUMENTEN,
  ...CATALOGI,
  ...BESLUITEN,
  ...FEED,
  ...RIGHTS,
  ...SHARED,
  ...CRASHES,
  ...BOUNDS,
  ...ORGANISATIONS,
]
