// What stands above every page of a zaaktype: its state, what can be done with it, and its tabs.

import type { FastifyInstance } from 'fastify'
import { t, words } from '../language/language.ts'
import { checksFor } from './checks.ts'
import { catalogusCrumbs, pathOf, titleOf, type Version } from './context.ts'
import { versionsOf } from './versions.ts'

const MEMBERS: Record<string, string> = {
  statustypen: 'statustypen',
  resultaattypen: 'resultaattypen',
  roltypen: 'roltypen',
  eigenschappen: 'eigenschappen',
  documenttypen: 'informatieobjecttypen',
  zaakobjecttypen: 'zaakobjecttypen',
}
const TABS: [path: string, name: string][] = words(
  [
    ['', 'Overzicht'],
    ['statustypen', 'Statustypen'],
    ['resultaattypen', 'Resultaattypen'],
    ['roltypen', 'Roltypen'],
    ['eigenschappen', 'Eigenschappen'],
    ['documenttypen', 'Documenttypen'],
    ['zaakobjecttypen', 'Zaakobjecttypen'],
  ],
  '1',
)

/** What every template of a zaaktype gets. @param here the tab that is open, '' for the overview */
export async function zaaktypeHead(app: FastifyInstance, version: Version, here: string) {
  const path = pathOf(version)
  const checks = version.concept ? await checksFor(app.read, version) : undefined
  const lacking = checks ? checks.must.length + checks.should.length + checks.along.length : 0
  return {
    title: titleOf(version),
    breadcrumbs: catalogusCrumbs(version),
    version,
    path,
    versions: await versionsOf(app.read, version),
    tabs: [
      ...TABS.map(([tab, name]) => ({
        path: tab ? `${path}/${tab}` : path,
        name,
        count: MEMBERS[tab] ? (version.resource[MEMBERS[tab]] as string[]).length : undefined,
        here: tab === here,
        open: false,
      })),
      ...(checks
        ? [
            {
              path: `${path}/controle`,
              name: t('Controle'),
              count: lacking,
              here: here === 'controle',
              open: lacking > 0,
            },
          ]
        : []),
    ],
    checks,
  }
}
