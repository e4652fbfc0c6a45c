// Import labels: what an import, and a dry run, look like on the pages.

import { canContinue, GEANNULEERD } from '../../documenten/import/control.ts'
import type { Concept } from '../../documenten/import/draft.ts'
import type { ImportRow } from '../../documenten/import/rows.ts'
import type { StreamState } from '../frame/event-stream.ts'
import { formatDuration, formatNear, formatNumber } from '../frame/format.ts'
import { t, words } from '../language/language.ts'

type State = { text: string; tone: 'goed' | 'fout' | 'let-op' | 'bezig' }

/** Kinds of failures that one page shows. */
export const MAX_KINDS = 100

/** The state of an import in words. An active one with a reason waits for something. */
export function importStatus({
  status,
  reason,
  failed,
  pausedAt,
  place,
}: Pick<ImportRow, 'status' | 'reason' | 'failed' | 'pausedAt' | 'place'>): State {
  if (status === 'queued') return { text: t`In de wachtrij (${place})`, tone: 'let-op' }
  if (pausedAt) return { text: t('Gepauzeerd'), tone: 'let-op' }
  if (status === 'pending') return { text: t('Wacht op een bestand'), tone: 'let-op' }
  if (status === 'active') return reason ? { text: t('Wacht'), tone: 'let-op' } : { text: t('Loopt'), tone: 'bezig' }
  if (status === 'error') return { text: reason === GEANNULEERD ? t('Geannuleerd') : t('Gestopt'), tone: 'fout' }
  return failed ? { text: t('Klaar, met fouten'), tone: 'let-op' } : { text: t('Klaar'), tone: 'goed' }
}

/** Rows per second, over the whole time that it ran. */
export function perSecond(processed: number, seconds: number): string {
  const rate = processed / seconds
  return formatNumber(rate >= 10 ? Math.round(rate) : rate)
}

/**
 * @param processed rows
 * @param seconds in which these were read; 0 when that is not known
 */
export function speedText(processed: number, seconds: number): string {
  if (processed === 0 || seconds <= 0) return t('nog niet bekend')
  return t`${perSecond(processed, seconds)} rijen per seconde`
}

function remainingText(processed: number, total: number, seconds: number): string {
  if (processed >= total) return t('klaar')
  if (processed === 0 || seconds <= 0) return t('nog niet bekend')
  return t`ongeveer ${formatDuration(Math.max(1, ((total - processed) * seconds) / processed))}`
}

/** The clock time at which it will be done, when it goes on as it goes now. */
function doneText({ status, gepauzeerd, total, processed, speed, now }: Progress): string {
  if (status !== 'active') return t('klaar')
  if (gepauzeerd) return t('na het pauzeren')
  if (!speed || now === undefined) return t('nog niet bekend')
  return t`ongeveer ${formatNear(new Date(now + ((total - processed) / speed) * 1000))}`
}

/** Why an import does not go on, and what to do about it; empty when nothing holds it up. */
function waitingText(row: { status: string; reason: string | null; stil: number; werkers: boolean }): string {
  if (row.status !== 'active') return ''
  if (row.reason) return WAITS_FOR[row.reason] ?? row.reason
  if (!row.werkers && row.stil > 5) return noWorker()
  if (row.stil > 120)
    return t('Er is al meer dan twee minuten geen voortgang. Kijk op de pagina Taken wat er aan de hand is.')
  return ''
}

const WAITS_FOR: Record<string, string> = words({
  'Wacht op de importmap.':
    'De import wacht op de importmap. Controleer of de map van de instelling IMPORT_DOCUMENTEN_BASE_DIR bestaat en leesbaar is op de machine van de worker. De import gaat daarna vanzelf verder, binnen tien seconden.',
  'Wacht op de opslag.':
    'De import wacht op de opslag van documenten. Controleer of de opslag bereikbaar en beschrijfbaar is; het Overzicht laat dat zien. De import gaat daarna vanzelf verder, binnen tien seconden.',
  'Wacht op open bestanden.':
    'De import wacht tot de worker weer bestanden kan openen: de grens van het systeem (ulimit -n, bij systemd LimitNOFILE) is bereikt. Maak die grens hoger en start de worker opnieuw. De import gaat daarna vanzelf verder, binnen tien seconden.',
  'Wacht op ruimte in de opslag.':
    'De import wacht op ruimte op de schijf van de documenten: er is minder dan 2% of 1 GB vrij. Maak de schijf groter of ruim op. De import gaat daarna vanzelf verder, binnen tien seconden.',
  'Wacht op de virusscanner.':
    'De import wacht op de virusscanner, die niet antwoordt. Start clamd opnieuw en bekijk zijn log. De import gaat daarna vanzelf verder, binnen tien seconden.',
  'Wacht op de database.':
    'De import wacht op de database: die is vol of alleen te lezen. Maak ruimte of maak de database beschrijfbaar. De import gaat daarna vanzelf verder, binnen tien seconden.',
})
const noWorker = () =>
  t(
    'Er draait geen worker, dus er gebeurt nu niets. Start een worker (opdracht: zaakstroom worker); daarna gaat het vanzelf verder.',
  )

/** What to do about an import that stopped. */
export function stoppedText(row: ImportRow): string {
  const { status, reason } = row
  if (status !== 'error') return ''
  const how = canContinue(row) ? t('Laat de import verder gaan, of probeer') : t('Probeer')
  const rest = t`Wat al was geïmporteerd, blijft staan. Wilt u de rest alsnog importeren? ${how} de rijen die niet zijn geïmporteerd opnieuw.`
  if (reason === GEANNULEERD) return t`Deze import is geannuleerd. ${rest}`
  return t`Deze import is voor het einde gestopt. ${reason ?? ''} De oorzaak staat in het logboek van de worker. ${rest}`
}

export type Progress = {
  status: string
  reason: string | null
  total: number
  processed: number
  failed: number
  /** How long it ran, and how long ago its last progress was. */
  seconden: number
  stil: number
  werkers: boolean
  gepauzeerd?: boolean
  /** Rows a second of the last minutes, where that is known. */
  speed?: number | undefined
  /** The moment of the database, in milliseconds. */
  now?: number
}

/** How an import stands, for the page and for the stream that keeps it up to date. */
export function importState(row: Progress): StreamState {
  const { total, processed, failed, speed } = row
  // The speed of the last minutes, as if it had always gone like that: what lies behind says little of what is to come.
  const seconden = speed ? processed / speed : row.seconden
  return {
    values: {
      ...countText(row),
      gelukt: formatNumber(processed - failed),
      mislukt: formatNumber(failed),
      snelheid: speedText(processed, seconden),
      resterend: remainingText(processed, total, seconden),
      klaarOm: doneText(row),
      wacht: waitingText(row),
    },
    spoken: t`${formatNumber(processed)} van ${formatNumber(total)} rijen verwerkt, ${formatNumber(failed)} niet geïmporteerd.`,
    done: row.status !== 'active' || row.gepauzeerd === true,
  }
}

/** How an import stands that waits for its turn. Its page is another one when that has come. */
export function queueState({ status, place }: Pick<ImportRow, 'status' | 'place'>): StreamState {
  const beurt =
    place === 1
      ? t('Deze import is als eerste aan de beurt. Hij begint vanzelf als de import die nu open staat, is gestopt.')
      : t`Deze import staat op plaats ${formatNumber(place ?? 0)} in de wachtrij. Hij begint vanzelf als de imports ervoor zijn gestopt.`
  return { values: { beurt }, spoken: beurt, done: status !== 'queued' }
}

/** How a dry run stands. */
export function dryRunState(row: Progress): StreamState {
  const { total, processed, failed, seconden, stil, werkers } = row
  return {
    values: {
      ...countText(row),
      mislukt: formatNumber(failed),
      resterend: remainingText(processed, total, seconden),
      wacht: !werkers && stil > 5 ? noWorker() : '',
    },
    spoken: t`${formatNumber(processed)} van ${formatNumber(total)} rijen bekeken, ${formatNumber(failed)} met een fout.`,
    done: row.status !== 'wacht' && row.status !== 'bezig',
  }
}

function countText({ processed, total }: Progress) {
  const percent = total === 0 ? 100 : Math.floor((100 * processed) / total)
  return { percent, procent: `${percent}%`, verwerkt: formatNumber(processed), totaal: formatNumber(total) }
}

/** Whether its rows are still looked at, or will be. */
export const isDryRunning = ({ trialStatus }: Concept) => trialStatus === 'wacht' || trialStatus === 'bezig'
