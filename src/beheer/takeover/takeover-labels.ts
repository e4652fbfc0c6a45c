// What takeovers look like on the pages: states, kinds of objects, and how far a round is.

import { reasonOf } from '../../overnemen/patience.ts'
import { REMEDIES } from '../../overnemen/remedies.ts'
import type { Progress } from '../../overnemen/round.ts'
import type { Takeover } from '../../overnemen/takeover.ts'
import type { Way, WayState } from '../../overnemen/way-to-switch.ts'
import type { StreamState } from '../frame/event-stream.ts'
import { formatDuration, formatNumber, moment } from '../frame/format.ts'
import { language, reason, t, words } from '../language/language.ts'
import type { Tone } from '../notificaties/notificatie-labels.ts'

type Words = { tone: Tone; text: string }

export const OUTCOMES = words(
  {
    geweigerd: { tone: 'fout', text: 'Niet overgenomen' },
    gemarkeerd: { tone: 'let-op', text: 'Overgenomen, met opmerking' },
    verschil: { tone: 'fout', text: 'Verschil bij de controle' },
  } as const,
  'text',
) satisfies Record<string, Words>
export type Outcome = keyof typeof OUTCOMES

/** The state of a takeover in words; a dry run is told as such. */
export function takeoverStatus({ status, trial }: Pick<Takeover, 'status' | 'trial'>): Words {
  if (status === 'loopt') return { tone: 'bezig', text: trial ? t('Proef loopt') : t('Ronde loopt') }
  if (status === 'omgeschakeld') return { tone: 'goed', text: t('Omgeschakeld') }
  if (status === 'gestopt') return { tone: 'fout', text: t('Gestopt') }
  return { tone: 'goed', text: trial ? t('Proef klaar') : t('Ronde klaar') }
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
  adres: 'Adressen',
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
  telling: 'Tellen wat er aan beide kanten is',
  afronden: 'Afronden',
})

const CODES: Record<string, string> = words({
  'identificatie-dubbel': 'identificatie komt vaker voor',
  'adres-oud': 'oud adres, wordt het onze',
  'adres-onbevestigd': 'misschien een oud adres',
  'nummer-per-jaar': 'nummers van zaken per jaar',
  elfproef: 'haalt de elfproef niet',
  'gearchiveerd-open': 'gearchiveerd en niet afgesloten',
  'versies-overlappen': 'twee versies van een type gelden op dezelfde dag',
  'einddatum-status': 'einddatum en laatste status spreken elkaar tegen',
  'concept-in-gebruik': 'niet gepubliceerd en wel in gebruik',
  'type-elders': 'type staat bij een andere dienst',
  'zonder-inhoud': 'geen inhoud in de bron',
  'bestand-ontbreekt': 'bestand ontbreekt in de bron',
  'bestand-malware': 'virusscanner laat het bestand niet toe',
  'bestand-onleesbaar': 'bestand kan niet worden gelezen',
  'bestand-naam': 'bestand kan hier niet zo heten',
  'eigen-werk': 'hier staat al eigen werk',
  'botst-uuid': 'uuid staat hier al',
  'botst-nummer': 'identificatie staat hier al',
  'botst-domein': 'domein staat hier al',
  'botst-client': 'client-id is hier al in gebruik',
  'botst-host': 'objecten van hier verwijzen naar dit adres',
  'telling-anders': 'staat hier anders volgens de telling',
  'omvang-anders': 'bestand heeft een andere grootte',
  'lijst-ontbreekt': 'de bron heeft deze lijst niet',
  'lijst-onvolledig': 'de bron toont minder dan zij telt',
  'veld-onbekend': 'de standaard kent dit veld niet',
  geometrie: 'geometrie kan niet worden gelezen',
  'client-id': 'client-id kan hier niet',
  'client-id-dubbel': 'client-id bij meer dan een applicatie',
  'geheim-leeg': 'geen geheim in de bron',
  'geheim-kort': 'geheim is makkelijk te raden',
  'geheim-onbekend': 'de bron toont geen geheim',
  'geheim-zonder-applicatie': 'geheim zonder applicatie',
  'slot-onbekend': 'op slot, en het slot is onbekend',
  'verwijzing-ontbreekt': 'verwijst naar iets dat er niet is',
  'uuid-dubbel': 'uuid komt vaker voor',
  'zonder-versie': 'document zonder versies',
  'bron-fout': 'de bron kan het niet tonen',
  hoofdobject: 'regel zonder hoofdobject',
  'waarde-anders': 'waarde is anders geschreven',
  waarde: 'geen dag, getal of keuze die kan',
  verplicht: 'verplicht veld is leeg',
  regel: 'waarde is niet toegestaan',
  'bestaat-al': 'bestaat hier al',
  ontbreekt: 'ontbreekt hier',
  'te-veel': 'niet meer in de bron',
  verschilt: 'verschilt van de bron',
  antwoord: 'API antwoordt anders',
})
/** What a code of the report says, in words. */
export const codeLabel = (code: string): string => CODES[code] ?? code
const TO_DO: Record<string, string> = words(REMEDIES)
/** What to do about it, in words. */
export const remedyLabel = (code: string): string => TO_DO[code] ?? ''

/** Kinds as people call them; one that is new shows as it is. */
export const kindLabel = (kind: string): string => KINDS[kind] ?? kind
const stepLabel = (name: string): string => STEPS[name] ?? name

/** The steps until the switch as the page shows them, in the order of the manual, each with its state. */
export function waySteps(way: Way): { name: string; words: Words; more: string }[] {
  const at = (moment_: string | null) => (moment_ === null ? '' : moment(moment_))
  const step = (name: string, state: WayState, more = '') => ({ name, words: WAY_STATES[state], more })
  const { proef, rapport, ronde, bestanden, notificaties, controle, omschakelen, terug } = way
  return [
    step(t('Proef doen'), proef.state, at(proef.at)),
    step(t('Ronde 1, en elke nacht een volgende'), ronde.state, at(ronde.at)),
    step(
      t('Rapport nalopen'),
      rapport.state,
      rapport.count > 0 ? t`${formatNumber(rapport.count)} niet overgenomen` : '',
    ),
    step(
      t('Bestanden'),
      bestanden.state,
      bestanden.count > 0 ? t`${formatNumber(bestanden.count)} zonder inhoud in de bron` : '',
    ),
    step(t('Abonnementen op notificaties'), notificaties.state, notificaties.warnings.map(reason).join(' ')),
    step(t('Oude installatie alleen-lezen maken, en de laatste ronde'), 'hand'),
    step(
      t('Controleren'),
      controle.state,
      controle.count > 0
        ? t`${formatNumber(controle.count)} verschillen`
        : controle.state === 'open'
          ? t('na de laatste ronde')
          : at(controle.at),
    ),
    step(t('Omschakelen'), omschakelen.state, at(omschakelen.at)),
    step(t('Adres laten wijzen, en meekijken'), 'hand'),
    step(t('Weg terug'), terug.state, wayBackWords(terug.back)),
  ]
}

function wayBackWords(back: Way['terug']['back']): string {
  if (!back) return t('Wijs het adres terug: de oude installatie is niet gewijzigd.')
  const { kept, played } = back
  if (played)
    return t`Teruggespeeld: ${formatNumber(played.count - played.refused)} objecten. Niet terug: ${formatNumber(played.refused)}.`
  return kept
    ? t('Wat hier wijzigt is bewaard, en kan met overnemen terugspelen naar de oude installatie.')
    : t('Wat sinds de omschakeling is gewijzigd, is niet (meer) bewaard om terug te spelen.')
}
const WAY_STATES = words(
  {
    klaar: { tone: 'goed', text: 'Klaar' },
    open: { tone: '', text: 'Nog te doen' },
    'let-op': { tone: 'let-op', text: 'Kijk ernaar' },
    hand: { tone: '', text: 'Met de hand' },
  } as const,
  'text',
) satisfies Record<WayState, Words>

/** Why a step failed, in words. */
export const whyOf = (fault: string): string => reasonOf(fault, language() === 'en' ? 'en' : 'nl')

/** Silence after which the page asks whether anything runs. */
const SILENT_SECONDS = 120

/**
 * The steps for a table: those with something to tell, and the columns that hold anything. Most of some forty steps have nothing to
 * do in a round, or not yet.
 */
export function stepsToShow(steps: Progress[]) {
  const hasBegun = ({ seconden, fault }: Progress) => seconden !== null || fault !== null
  const told = steps.filter(
    (step) => hasBegun(step) && (step.seen > 0 || step.removed > 0 || step.fault !== null || !step.klaar),
  )
  const waiting = steps.filter((step) => !hasBegun(step) && !step.klaar)
  const any = (name: 'unchanged' | 'refused' | 'removed') => told.some((step) => step[name] > 0)
  return {
    steps: told.map((step) => ({
      ...step,
      name: stepLabel(step.name),
      why: step.fault === null ? '' : whyOf(step.fault),
    })),
    columns: { unchanged: any('unchanged'), refused: any('refused'), removed: any('removed') },
    waiting: waiting.map(({ name, expected }) => ({ name: stepLabel(name), expected })),
  }
}

/** How far the round is, for the page and for the stream that keeps it up to date. */
export function takeoverState(
  row: Takeover & { seconden: number; stil: number },
  steps: Progress[],
  now = Date.now(),
): StreamState {
  const read = steps.reduce((sum, { seen }) => sum + seen, 0)
  // What cannot be counted before it is read counts as it comes.
  const expected = steps.reduce((sum, step) => sum + (step.klaar ? step.seen : Math.max(step.expected, step.seen)), 0)
  const refused = steps.reduce((sum, step) => sum + step.refused, 0)
  const percent = expected === 0 ? 0 : Math.min(99, Math.floor((100 * read) / expected))
  const rate = row.seconden > 0 ? read / row.seconden : 0
  const left = rate > 0 ? Math.max(1, (expected - read) / rate) : undefined
  const busy = steps.filter(({ klaar, seconden }) => !klaar && seconden !== null).map(({ name }) => stepLabel(name))
  const fault = steps.find((step) => step.fault)
  return {
    values: {
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
      refused: formatNumber(refused),
      wacht: fault
        ? `${t`Bij “${stepLabel(fault.name)}”: ${whyOf(fault.fault ?? '')}.`} ${fault.retry_at ? t`Er volgt vanzelf een nieuwe poging (${moment(fault.retry_at)}).` : t('Er volgt vanzelf een nieuwe poging.')}`
        : row.stil > SILENT_SECONDS
          ? t(
              'Er is al meer dan twee minuten geen voortgang. Draait het commando “zaakstroom overnemen” nog, of een worker?',
            )
          : '',
    },
    spoken: t`${formatNumber(read)} van ongeveer ${formatNumber(expected)} rijen gelezen, ${formatNumber(refused)} niet overgenomen.`,
    done: row.status !== 'loopt',
  }
}
