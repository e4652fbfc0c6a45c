// woorden: what an import, and a dry run, look like on the pages.
import type { Concept } from '../documenten/import/draft.ts'
import { GEANNULEERD, type ImportRow } from '../documenten/import/index.ts'
import type { Stand } from './event-stream.ts'
import { duur, getal } from './format.ts'

type Staat = { tekst: string; soort: 'goed' | 'fout' | 'let-op' | 'bezig' }

export function importStaat({ status, reden, mislukt }: Pick<ImportRow, 'status' | 'reden' | 'mislukt'>): Staat {
  if (status === 'pending') return { tekst: 'Wacht op een bestand', soort: 'let-op' }
  if (status === 'active') return reden ? { tekst: 'Wacht', soort: 'let-op' } : { tekst: 'Loopt', soort: 'bezig' }
  if (status === 'error') return { tekst: reden === GEANNULEERD ? 'Geannuleerd' : 'Gestopt', soort: 'fout' }
  return mislukt ? { tekst: 'Klaar, met fouten', soort: 'let-op' } : { tekst: 'Klaar', soort: 'goed' }
}

/** Rows per second, over the whole time that it ran. */
export function perSeconde(verwerkt: number, seconden: number): string {
  const rate = verwerkt / seconden
  return getal(rate >= 10 ? Math.round(rate) : rate)
}

export function snelheid(verwerkt: number, seconden: number): string {
  if (verwerkt === 0 || seconden <= 0) return 'nog niet bekend'
  return `${perSeconde(verwerkt, seconden)} rijen per seconde`
}

function nogTeGaan(verwerkt: number, totaal: number, seconden: number): string {
  if (verwerkt >= totaal) return 'klaar'
  if (verwerkt === 0 || seconden <= 0) return 'nog niet bekend'
  return `ongeveer ${duur(Math.max(1, ((totaal - verwerkt) * seconden) / verwerkt))}`
}

/** Why an import does not go on, and what to do about it; empty when nothing holds it up. */
export function wachtTekst(row: { status: string; reden: string | null; stil: number; werkers: boolean }): string {
  if (row.status !== 'active') return ''
  if (row.reden) return WACHT[row.reden] ?? row.reden
  if (!row.werkers && row.stil > 5) return GEEN_WERKER
  if (row.stil > 120)
    return 'Er is al meer dan twee minuten geen voortgang. Kijk op de pagina Taken wat er aan de hand is.'
  return ''
}

const VANZELF = 'De import gaat daarna vanzelf verder, binnen tien seconden.'
const WACHT: Record<string, string> = {
  'Wacht op de importmap.': `De import wacht op de importmap. Controleer of de map van de instelling IMPORT_DOCUMENTEN_BASE_DIR bestaat en leesbaar is op de machine van de worker. ${VANZELF}`,
  'Wacht op de opslag.': `De import wacht op de opslag van documenten. Controleer of de opslag bereikbaar en beschrijfbaar is; het Overzicht laat dat zien. ${VANZELF}`,
  'Wacht op de database.': `De import wacht op de database: die is vol of alleen te lezen. Maak ruimte of maak de database beschrijfbaar. ${VANZELF}`,
}
const GEEN_WERKER =
  'Er draait geen worker, dus er gebeurt nu niets. Start een worker (opdracht: zaakstroom worker); daarna gaat het vanzelf verder.'

/** What to do about an import that stopped. */
export function gestoptTekst({ status, reden }: Pick<ImportRow, 'status' | 'reden'>): string {
  if (status !== 'error') return ''
  const rest =
    'Wat al was geïmporteerd, blijft staan. Wilt u de rest alsnog importeren? Download dan het bestand met de rijen die niet zijn geïmporteerd, en start daarmee een nieuwe import.'
  if (reden === GEANNULEERD) return `Deze import is geannuleerd. ${rest}`
  return `Deze import is voor het einde gestopt. ${reden ?? ''} De oorzaak staat in het logboek van de worker. ${rest}`
}

export type Voortgang = {
  status: string
  reden: string | null
  totaal: number
  verwerkt: number
  mislukt: number
  /** How long it ran, and how long ago its last progress was. */
  seconden: number
  stil: number
  werkers: boolean
}

/** How an import stands, for the page and for the stream that keeps it up to date. */
export function importStand(row: Voortgang): Stand {
  const { totaal, verwerkt, mislukt, seconden } = row
  return {
    waarden: {
      ...telling(row),
      gelukt: getal(verwerkt - mislukt),
      mislukt: getal(mislukt),
      snelheid: snelheid(verwerkt, seconden),
      resterend: nogTeGaan(verwerkt, totaal, seconden),
      wacht: wachtTekst(row),
    },
    gesproken: `${getal(verwerkt)} van ${getal(totaal)} rijen verwerkt, ${getal(mislukt)} niet geïmporteerd.`,
    klaar: row.status !== 'active',
  }
}

/** How a dry run stands. */
export function proefStand(row: Voortgang): Stand {
  const { totaal, verwerkt, mislukt, seconden, stil, werkers } = row
  return {
    waarden: {
      ...telling(row),
      mislukt: getal(mislukt),
      resterend: nogTeGaan(verwerkt, totaal, seconden),
      wacht: !werkers && stil > 5 ? GEEN_WERKER : '',
    },
    gesproken: `${getal(verwerkt)} van ${getal(totaal)} rijen bekeken, ${getal(mislukt)} met een fout.`,
    klaar: row.status !== 'wacht' && row.status !== 'bezig',
  }
}

function telling({ verwerkt, totaal }: Voortgang) {
  const percent = totaal === 0 ? 100 : Math.floor((100 * verwerkt) / totaal)
  return { percent, procent: `${percent}%`, verwerkt: getal(verwerkt), totaal: getal(totaal) }
}

export const isProefBezig = ({ proefStatus }: Concept) => proefStatus === 'wacht' || proefStatus === 'bezig'
