// Notificatie labels: what the states and outcomes of notifications mean, and what to do about them.

import { STAGES, type Stage } from '../notificaties/kanalen.ts'
import { t, words } from './language/language.ts'

export type Tone = 'goed' | 'fout' | 'let-op' | 'bezig' | ''
export type Explanation = { soort: Tone; tekst: string; advies: string }

/** What an attempt came to. `uitkomst` is null while it runs. */
export function outcomeOf(kind: string | null, httpStatus: number | null): Explanation {
  if (kind === 'http') return httpOutcome(httpStatus ?? 0)
  const outcomes: Record<string, Explanation> = OUTCOMES
  return outcomes[kind ?? 'bezig'] ?? OUTCOMES.unknown
}

const OUTCOMES = words(
  {
    bezig: { soort: 'bezig', tekst: 'Bezig met versturen', advies: '' },
    delivered: { soort: 'goed', tekst: 'Bezorgd', advies: '' },
    refused: {
      soort: 'fout',
      tekst: 'De verbinding werd geweigerd',
      advies:
        'Op dit adres luistert niets. Controleer of de notificatiedienst draait, en of poort en API-root kloppen.',
    },
    dns: {
      soort: 'fout',
      tekst: 'De hostnaam is niet gevonden',
      advies: 'Controleer de hostnaam in de API-root, en of deze server namen kan opzoeken (DNS).',
    },
    tls: {
      soort: 'fout',
      tekst: 'De beveiligde verbinding (TLS) kwam niet tot stand',
      advies:
        'Controleer of het certificaat van de dienst geldig is, bij de hostnaam hoort en door deze server wordt vertrouwd.',
    },
    timeout: {
      soort: 'fout',
      tekst: 'Het antwoord kwam niet op tijd',
      advies: 'De dienst is traag of onbereikbaar. Controleer de dienst en de firewall, of geef haar meer tijd.',
    },
    connection: {
      soort: 'fout',
      tekst: 'De verbinding werd verbroken',
      advies: 'Controleer het netwerk en de logboeken van de dienst. Vaak helpt een nieuwe poging.',
    },
    protocol: {
      soort: 'fout',
      tekst: 'Het antwoord was geen geldige HTTP',
      advies: 'Op dit adres antwoordt iets anders dan een webdienst. Controleer de API-root.',
    },
    blocked: {
      soort: 'fout',
      tekst: 'Dit adres mag niet worden aangeroepen',
      advies: 'De hostnaam wijst naar een adres dat altijd geblokkeerd is. Gebruik het gewone adres van de dienst.',
    },
    unknown: {
      soort: 'fout',
      tekst: 'De aanroep mislukte',
      advies: 'De oorzaak is onbekend. Kijk in het logboek van de worker rond dit moment.',
    },
    lost: {
      soort: 'let-op',
      tekst: 'Uitkomst onbekend',
      advies: 'De worker stopte tijdens deze poging. De poging is daarna opnieuw gedaan, met hetzelfde kenmerk.',
    },
  } satisfies Record<string, Explanation>,
  'tekst',
  'advies',
)

function httpOutcome(status: number): Explanation {
  const tekst = t`De dienst antwoordde met status ${status}`
  return { soort: 'fout', tekst, advies: httpAdvice(status) }
}

function httpAdvice(status: number): string {
  if (status === 401 || status === 403)
    return t(
      'De dienst herkent ons niet of geeft ons geen rechten. Controleer client-ID en secret, en of wij daar de scope notificaties.publiceren hebben.',
    )
  if (status === 400)
    return t('De dienst keurt het bericht af. Lees hieronder waarom. Vaak ontbreekt het kanaal: registreer de kanalen.')
  if (status === 404) return t('Op dit adres is geen notificatiedienst. Controleer de API-root.')
  if (status === 413) return t('De dienst vindt het bericht te groot. Vraag de beheerder van de dienst om de grens.')
  if (status === 429) return t('De dienst krijgt te veel berichten. Wacht, of pauzeer het versturen een tijdje.')
  if (status >= 300 && status < 400)
    return t(
      'De dienst verwijst door naar een ander adres. Dat volgen wij niet: stel het juiste adres in als API-root.',
    )
  if (status >= 500) return t('Er is een storing bij de dienst. Neem contact op met haar beheerder.')
  return t('Lees hieronder het antwoord van de dienst.')
}

/** A message as a row of the log. */
export type Bericht = {
  status: string
  volgendePogingOp: string | null
  /** An attempt is being made. */
  bezig: boolean
  /** Outcome of the last attempt that ended; `pogingen` 0: there was none. */
  pogingen: number
  uitkomst: string | null
  httpStatus: number | null
  /** An earlier message of the same object is still to go. */
  wachtOpEerder: boolean
}

/** The state of a message in a word or two. */
export function stateOf(bericht: Bericht): { soort: Tone; tekst: string } {
  if (bericht.status === 'afgeleverd') return { soort: 'goed', tekst: t('Bezorgd') }
  if (bericht.status === 'mislukt') return { soort: 'fout', tekst: t('Mislukt') }
  if (bericht.bezig) return { soort: 'bezig', tekst: t('Bezig') }
  if (bericht.volgendePogingOp === null) return { soort: 'let-op', tekst: t('Wacht') }
  return { soort: bericht.pogingen > 0 ? 'let-op' : 'bezig', tekst: t('Gepland') }
}

/** What a message that is still to go waits for. */
export function waitsFor(
  bericht: Bericht,
  {
    pauze,
    dienst,
    opVolgorde,
    modus,
  }: { pauze: string | null; dienst: string | null; opVolgorde: boolean; modus: string },
): string {
  if (bericht.status !== 'gepland') return ''
  if (modus !== 'ingebouwd' && pauze !== null) return t('Het versturen is gepauzeerd.')
  if (modus !== 'ingebouwd' && dienst === null) return t('Er is geen notificatiedienst ingesteld.')
  if (opVolgorde && bericht.wachtOpEerder) return t('Een eerder bericht over hetzelfde object gaat voor.')
  return ''
}

export const STAGE_WORDS: Record<Stage['stage'], { naam: string; advies: string }> = words(
  {
    DNS: { naam: 'Hostnaam opzoeken (DNS)', advies: OUTCOMES.dns.advies },
    TCP: { naam: 'Verbinding maken (TCP)', advies: OUTCOMES.refused.advies },
    TLS: { naam: 'Verbinding beveiligen (TLS)', advies: OUTCOMES.tls.advies },
    HTTP: {
      naam: 'Antwoord krijgen (HTTP)',
      advies: 'Controleer of de API-root naar de Notificaties API wijst, en of de dienst geen storing heeft.',
    },
    rights: { naam: 'Rechten', advies: httpAdvice(403) },
  },
  'naam',
  'advies',
)

const DETAILS: Record<string, string> = words({
  http: 'niet nodig: het adres begint met http',
  accepted: 'het testbericht is aangenomen',
  'recognised; there is no channel test': 'wij zijn herkend (de dienst kent het kanaal test niet, dat is geen fout)',
})

/** The steps of a test message, as the page shows them. */
export function stepsOf(
  found: Stage[],
): { naam: string; soort: Tone; tekst: string; detail: string; advies: string }[] {
  const words = { ok: ['goed', t('Gelukt')], failed: ['fout', t('Mislukt')], skipped: ['', t('Overgeslagen')] } as const
  return found
    .filter(({ stage }) => STAGES.includes(stage))
    .map(({ stage, outcome, detail }) => ({
      naam: STAGE_WORDS[stage].naam,
      soort: words[outcome][0],
      tekst: words[outcome][1],
      detail: stage === 'HTTP' && /^\d+$/.test(detail) ? t`status ${detail}` : (DETAILS[detail] ?? detail),
      advies: outcome === 'failed' ? STAGE_WORDS[stage].advies : '',
    }))
}

/** Why deliveries failed, and what to do. @param oorzaak `http-<status>`, or an outcome of an attempt */
export function causeInWords(oorzaak: string) {
  const [, status] = /^http-(\d{3})$/.exec(oorzaak) ?? []
  return status ? outcomeOf('http', Number(status)) : outcomeOf(oorzaak, null)
}
