// Applicatie presets: the rights of a usual kind of application, over several APIs at once.

import type { Component } from '../../core/actor.ts'
import { words } from '../language/language.ts'

export type Preset = {
  key: string
  name: string
  help: string
  scopes: Partial<Record<Component, string[]>>
}

const READ: Partial<Record<Component, string[]>> = {
  zrc: ['zaken.lezen'],
  drc: ['documenten.lezen'],
  brc: ['besluiten.lezen'],
  ztc: ['catalogi.lezen'],
}

export const PRESETS: readonly Preset[] = words(
  [
    {
      key: 'zaaksysteem',
      name: 'Zaaksysteem',
      help: 'Maakt en behandelt zaken, met hun documenten en besluiten, en ontvangt notificaties.',
      scopes: {
        zrc: [
          'zaken.lezen',
          'zaken.aanmaken',
          'zaken.bijwerken',
          'zaken.statussen.toevoegen',
          'zaken.heropenen',
          'audittrails.lezen',
        ],
        drc: [
          'documenten.lezen',
          'documenten.aanmaken',
          'documenten.bijwerken',
          'documenten.lock',
          'audittrails.lezen',
        ],
        brc: ['besluiten.lezen', 'besluiten.aanmaken', 'besluiten.bijwerken', 'audittrails.lezen'],
        ztc: ['catalogi.lezen'],
        nrc: ['notificaties.consumeren'],
      },
    },
    {
      key: 'formulieren',
      name: 'Formulieren',
      help: 'Maakt van een ingezonden formulier een zaak met documenten.',
      scopes: {
        zrc: ['zaken.lezen', 'zaken.aanmaken', 'zaken.bijwerken', 'zaken.statussen.toevoegen'],
        drc: ['documenten.lezen', 'documenten.aanmaken'],
        ztc: ['catalogi.lezen'],
      },
    },
    {
      key: 'lezen',
      name: 'Alleen lezen',
      help: 'Leest zaken, documenten, besluiten en typen, en wijzigt niets.',
      scopes: READ,
    },
    {
      key: 'archief',
      name: 'Archief',
      help: 'Leest alles, wijzigt ook afgesloten zaken, en verwijdert wat vernietigd moet worden.',
      scopes: {
        zrc: ['zaken.lezen', 'zaken.geforceerd-bijwerken', 'zaken.verwijderen', 'audittrails.lezen'],
        drc: ['documenten.lezen', 'documenten.verwijderen', 'audittrails.lezen'],
        brc: ['besluiten.lezen', 'besluiten.verwijderen', 'audittrails.lezen'],
        ztc: ['catalogi.lezen'],
      },
    },
  ],
  'name',
  'help',
)
