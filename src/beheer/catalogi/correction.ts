// Changing what was published: only what nobody computes with, or something more, with a reason and with open eyes.

import type { ReadDb } from '../../database/database.ts'
import { t } from '../language/language.ts'
import type { Version } from './context.ts'
import { refuse } from './edit.ts'
import type { Group } from './fields.ts'
import { usageInWords, usageOf } from './usage.ts'

export type Correction = 'wijziging' | 'uitbreiding'

/** Asks for a reason, and for a yes. */
export function correctionGroup(kind: Correction): Group {
  return {
    key: 'correctie',
    title: kind === 'wijziging' ? t('Waarom u dit wijzigt') : t('Waarom u dit toevoegt'),
    fields: [
      { name: '_reden', label: t('Reden'), help: t('Komt in de geschiedenis te staan.'), max: 200 },
      { name: '_bevestigd', label: t('Ik weet dat dit meteen geldt voor alle zaken van deze versie'), kind: 'check' },
    ],
  }
}

/**
 * Takes the reason out of what the form says.
 * @throws Problem 400 when it was not confirmed
 * @returns the reason; '' for a concept
 */
export function readCorrection({ concept }: Pick<Version, 'concept'>, body: Record<string, unknown>): string {
  const { _reden: reason, _bevestigd: confirmed } = body
  delete body._reden
  delete body._bevestigd
  if (concept) return ''
  if (!confirmed) refuse({ _bevestigd: t('Bevestig dat u de gevolgen kent.') })
  return String(reason)
}

/** What follows from changing a published version, in sentences. */
export async function warningsFor(db: ReadDb, version: Version, kind: Correction): Promise<string[]> {
  const usage = usageInWords(await usageOf(db, version), version.type)
  return [
    kind === 'wijziging'
      ? t`Dit type is gepubliceerd. Wat u hier wijzigt geldt meteen, ook voor wat er al is: ${usage}.`
      : t`Dit type is gepubliceerd. Wat u toevoegt is er meteen, ook voor wat er al is: ${usage}. Het is daarna niet meer te verwijderen.`,
    t('Andere systemen kunnen de oude gegevens nog even onthouden.'),
  ]
}
