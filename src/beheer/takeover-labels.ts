// What takeovers look like on the pages: states, kinds of objects, and how far a round is.

import type { Progress } from '../overnemen/round.ts'
import type { Takeover } from '../overnemen/takeover.ts'
import type { StreamState } from './event-stream.ts'
import { formatDuration, formatNumber, moment } from './format.ts'
import { t, words } from './language/language.ts'
import type { Soort } from './notificatie-labels.ts'

type Words = { soort: Soort; tekst: string }

export const OUTCOMES = words(
  {
    geweigerd: { soort: 'fout', tekst: 'Niet overgenomen' },
    gemarkeerd: { soort: 'let-op', tekst: 'Overgenomen, met opmerking' },
    verschil: { soort: 'fout', tekst: 'Verschil bij de controle' },
  } as const,
  'tekst',
) satisfies Record<string, Words>
export type Outcome = keyof typeof OUTCOMES

export function takeoverStatus({ status, proef }: Pick<Takeover, 'status' | 'proef'>): Words {
  if (status === 'loopt') return { soort: 'bezig', tekst: proef ? t('Proef loopt') : t('Ronde loopt') }
  if (status === 'omgeschakeld') return { soort: 'goed', tekst: t('Omgeschakeld') }
  if (status === 'gestopt') return { soort: 'fout', tekst: t('Gestopt') }
  return { soort: 'goed', tekst: proef ? t('Proef klaar') : t('Ronde klaar') }
}

const KINDS: Record<string, string> = words({
  catalogus: 'Catalogussen',
  informatieobjecttype: 'Informatieobjecttypen',
  besluittype: 'Besluittypen',
  zaaktype: 'Zaaktypen',
  zaaktyperelatie: 'Relaties van zaaktypen',
  statustype: 'Statustypen',
  resultaattype: 'Resultaattypen',
  roltype: 'Roltypen',
  eigenschap: 'Eigenschappen',
  zaaktype_informatieobjecttype: 'Zaaktype-informatieobjecttypen',
  zaakobjecttype: 'Zaakobjecttypen',
  document: 'Documenten',
  gebruiksrecht: 'Gebruiksrechten',
  verzending: 'Verzendingen',
  zaak: 'Zaken',
  zaakrelatie: 'Relaties van zaken',
  rol: 'Rollen',
  status: 'Statussen',
  substatus: 'Substatussen',
  resultaat: 'Resultaten',
  zaakeigenschap: 'Zaakeigenschappen',
  zaakobject: 'Zaakobjecten',
  klantcontact: 'Klantcontacten',
  zaakcontactmoment: 'Zaakcontactmomenten',
  zaakverzoek: 'Zaakverzoeken',
  zaaknotitie: 'Zaaknotities',
  besluit: 'Besluiten',
  zaakinformatieobject: 'Zaakinformatieobjecten',
  besluitinformatieobject: 'Besluitinformatieobjecten',
  objectinformatieobject: 'Objectinformatieobjecten',
  zaakbesluit: 'Zaakbesluiten',
  applicatie: 'Applicaties',
  geheim: 'Geheimen van clients',
  audit: 'Audittrail',
  bestand: 'Bestanden',
  overneming: 'De hele installatie',
})
const STEPS: Record<string, string> = words({
  ...KINDS,
  reservering: 'Gereserveerde nummers',
  zaakdelen: 'Wat onder zaken hangt',
  besluitdelen: 'Wat onder besluiten hangt',
  documentdelen: 'Wat onder documenten hangt',
  uitstel: 'Verwijzingen naar wat later kwam',
  verdwenen: 'Wat in de bron is verwijderd',
  bestanden: 'Inhoud van documenten',
  afronden: 'Afronden',
})

/** Kinds as people call them; one that is new shows as it is. */
export const kindLabel = (soort: string): string => KINDS[soort] ?? soort
export const stepLabel = (naam: string): string => STEPS[naam] ?? naam

/** Silence after which the page asks whether anything runs. */
const SILENT_SECONDS = 120

/** How far the round is, for the page and for the stream that keeps it up to date. */
export function takeoverState(
  row: Takeover & { seconden: number; stil: number },
  steps: Progress[],
  now = Date.now(),
): StreamState {
  const read = steps.reduce((sum, { gelezen }) => sum + gelezen, 0)
  // What cannot be counted before it is read counts as it comes.
  const expected = steps.reduce(
    (sum, { verwacht, gelezen, klaar }) => sum + (klaar ? gelezen : Math.max(verwacht, gelezen)),
    0,
  )
  const refused = steps.reduce((sum, { geweigerd }) => sum + geweigerd, 0)
  const percent = expected === 0 ? 0 : Math.min(99, Math.floor((100 * read) / expected))
  const rate = row.seconden > 0 ? read / row.seconden : 0
  const left = rate > 0 ? Math.max(1, (expected - read) / rate) : undefined
  const busy = steps.filter(({ klaar, seconden }) => !klaar && seconden !== null).map(({ naam }) => stepLabel(naam))
  const fault = steps.find(({ fout }) => fout)
  return {
    waarden: {
      percent,
      procent: `${percent}%`,
      verwerkt: formatNumber(read),
      totaal: formatNumber(expected),
      bezig: busy.join(', ') || t('begint'),
      snelheid: rate > 0 ? t`${formatNumber(Math.round(rate))} rijen per seconde` : t('nog niet bekend'),
      einde:
        left === undefined
          ? t('nog niet bekend')
          : t`over ongeveer ${formatDuration(left)} (${moment(new Date(now + left * 1000).toISOString())})`,
      geweigerd: formatNumber(refused),
      wacht: fault
        ? t`De laatste poging bij “${stepLabel(fault.naam)}” mislukte (${fault.fout}). Er volgt vanzelf een nieuwe poging.`
        : row.stil > SILENT_SECONDS
          ? t(
              'Er is al meer dan twee minuten geen voortgang. Draait het commando “zaakstroom overnemen” nog, of een worker?',
            )
          : '',
    },
    gesproken: t`${formatNumber(read)} van ongeveer ${formatNumber(expected)} rijen gelezen, ${formatNumber(refused)} niet overgenomen.`,
    klaar: row.status !== 'loopt',
  }
}
