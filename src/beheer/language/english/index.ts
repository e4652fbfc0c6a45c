// The English of the administration pages, by the Dutch sentence; a file for each area of the pages.

import { abonnementen } from './abonnementen.ts'
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { applicaties } from './applicaties.ts'
import { catalogi } from './catalogi.ts'
import { catalogiFields } from './catalogi-fields.ts'
import { catalogiPages } from './catalogi-pages.ts'
import { catalogiTables } from './catalogi-tables.ts'
import { centre } from './centre.ts'
import { common } from './common.ts'
import { imports } from './imports.ts'
import { issuers } from './issuers.ts'
import { lookup } from './lookup.ts'
import { notificaties } from './notificaties.ts'
import { operations } from './operations.ts'
import { pictures } from './pictures.ts'
import { repair } from './repair.ts'
import { settings } from './settings.ts'
import { signInProviders } from './sign-in-providers.ts'
import { takeovers } from './takeovers.ts'
import { zaken } from './zaken.ts'

const AREAS = [
  alerts,
  abonnementen,
  accounts,
  applicaties,
  catalogi,
  catalogiFields,
  catalogiPages,
  catalogiTables,
  centre,
  common,
  imports,
  issuers,
  lookup,
  notificaties,
  operations,
  pictures,
  repair,
  settings,
  signInProviders,
  takeovers,
  zaken,
]

export const ENGLISH: ReadonlyMap<string, string> = new Map(AREAS.flatMap((area) => Object.entries(area)))
