// Notificatie labels: what the states and outcomes of notifications mean, and what to do about them.

import { STAGES, type Stage } from '../../notificaties/kanalen.ts'
import type { Pressed } from '../../notificaties/resend.ts'
import { formatNumber } from '../frame/format.ts'
import { NOUNS } from '../frame/history.ts'
import { t, words } from '../language/language.ts'

export type Tone = 'goed' | 'fout' | 'let-op' | 'bezig' | ''
export type Explanation = { tone: Tone; text: string; advice: string }

/** What an attempt came to. `outcome` is null while it runs. */
export function outcomeOf(kind: string | null, httpStatus: number | null): Explanation {
  if (kind === 'http') return httpOutcome(httpStatus ?? 0)
  const outcomes: Record<string, Explanation> = OUTCOMES
  return outcomes[kind ?? 'bezig'] ?? OUTCOMES.unknown
}

const OUTCOMES = words(
  {
    bezig: { tone: 'bezig', text: 'Bezig met versturen', advice: '' },
    delivered: { tone: 'goed', text: 'Bezorgd', advice: '' },
    refused: {
      tone: 'fout',
      text: 'De verbinding werd geweigerd',
      advice:
        'Op dit adres luistert niets. Controleer of de notificatiedienst draait, en of poort en API-root kloppen.',
    },
    dns: {
      tone: 'fout',
      text: 'De hostnaam is niet gevonden',
      advice: 'Controleer de hostnaam in de API-root, en of deze server namen kan opzoeken (DNS).',
    },
    tls: {
      tone: 'fout',
      text: 'De beveiligde verbinding (TLS) kwam niet tot stand',
      advice:
        'Er antwoordt geen TLS, of zonder versleuteling die wij kennen; of er wordt een client-certificaat gevraagd.',
    },
    'tls-expired': {
      tone: 'fout',
      text: 'Het certificaat is verlopen of nog niet geldig',
      advice: 'Vraag de beheerder van de dienst om een nieuw certificaat, en controleer de klok van deze server.',
    },
    'tls-name': {
      tone: 'fout',
      text: 'Het certificaat hoort bij een andere naam',
      advice: 'Gebruik de naam die in het certificaat staat, of laat deze naam erin zetten.',
    },
    'tls-ca': {
      tone: 'fout',
      text: 'Het certificaat is van een CA die hier niet wordt vertrouwd',
      advice: 'Vul de eigen CA bij de dienst in, of laat de dienst haar tussencertificaat meesturen.',
    },
    'tls-client': {
      tone: 'fout',
      text: 'Er wordt een client-certificaat gevraagd, of het onze wordt niet aangenomen',
      advice: 'Vul een client-certificaat met sleutel in, van een CA die daar wordt vertrouwd.',
    },
    'tls-version': {
      tone: 'fout',
      text: 'De TLS-versie is te oud',
      advice: 'Vraag de beheerder van de dienst om TLS 1.2 of nieuwer.',
    },
    timeout: {
      tone: 'fout',
      text: 'Het antwoord kwam niet op tijd',
      advice: 'De dienst is traag of onbereikbaar. Controleer de dienst en de firewall, of geef haar meer tijd.',
    },
    connection: {
      tone: 'fout',
      text: 'De verbinding werd verbroken',
      advice: 'Controleer het netwerk en de logboeken van de dienst. Vaak helpt een nieuwe poging.',
    },
    protocol: {
      tone: 'fout',
      text: 'Het antwoord was geen geldige HTTP',
      advice: 'Op dit adres antwoordt iets anders dan een webdienst. Controleer de API-root.',
    },
    blocked: {
      tone: 'fout',
      text: 'Dit adres mag niet worden aangeroepen',
      advice: 'De hostnaam wijst naar een adres dat altijd geblokkeerd is. Gebruik het gewone adres van de dienst.',
    },
    unknown: {
      tone: 'fout',
      text: 'De aanroep mislukte',
      advice: 'De oorzaak is onbekend. Kijk in het logboek van de worker rond dit moment.',
    },
    lost: {
      tone: 'let-op',
      text: 'Uitkomst onbekend',
      advice: 'De worker stopte tijdens deze poging. De poging is daarna opnieuw gedaan, met hetzelfde kenmerk.',
    },
  } satisfies Record<string, Explanation>,
  'text',
  'advice',
)

function httpOutcome(status: number): Explanation {
  const text = t`De dienst antwoordde met status ${status}`
  return { tone: 'fout', text, advice: httpAdvice(status) }
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
export type Message = {
  status: string
  nextAttemptAt: string | null
  /** An attempt is being made. */
  bezig: boolean
  /** Outcome of the last attempt that ended; `pogingen` 0: there was none. */
  pogingen: number
  outcome: string | null
  httpStatus: number | null
  /** An earlier message of the same object is still to go. */
  wachtOpEerder: boolean
}

/** The state of a message in a word or two. */
export function stateOf(message: Message): { tone: Tone; text: string } {
  if (message.status === 'afgeleverd') return { tone: 'goed', text: t('Bezorgd') }
  if (message.status === 'geen') return { tone: '', text: t('Geen ontvanger') }
  if (message.status === 'mislukt') return { tone: 'fout', text: t('Mislukt') }
  if (message.bezig) return { tone: 'bezig', text: t('Bezig') }
  if (message.nextAttemptAt === null) return { tone: 'let-op', text: t('Wacht') }
  return { tone: message.pogingen > 0 ? 'let-op' : 'bezig', text: t('Gepland') }
}

/** What a message that is still to go waits for. */
export function waitsFor(
  message: Message,
  state: {
    pause: string | null
    externalPause: string | null
    service: string | null
    inOrder: boolean
    mode: string
  },
): string {
  const { pause, externalPause, service, inOrder, mode } = state
  if (message.status !== 'gepland') return ''
  if (pause !== null) return t('Het versturen is gepauzeerd.')
  if (mode !== 'ingebouwd' && service === null) return t('Er is geen notificatiedienst ingesteld.')
  if (mode === 'extern' && externalPause !== null) return t('Het versturen naar de notificatiedienst is gepauzeerd.')
  if (inOrder && message.wachtOpEerder) return t('Een eerder bericht over hetzelfde object gaat voor.')
  return ''
}

const WAITING: Record<Exclude<Pressed['outcome'], 'now'>, string> = words({
  busy: 'Al onderweg',
  held: 'Wacht op een eerder bericht over hetzelfde object',
  fetched: 'Wacht tot de ontvanger het ophaalt',
  stopped: 'Wacht tot het abonnement is hervat',
  paused: 'Wacht tot het versturen is hervat',
})

/** What became of waiting deliveries that somebody wants sent now. */
export function pressedText(pressed: Pressed[]): string {
  const counts = Map.groupBy(pressed, ({ outcome }) => outcome)
  const now = counts.get('now')?.length ?? 0
  const going =
    now === 0
      ? ''
      : now === 1
        ? t('Het bericht wordt nu geprobeerd. De uitkomst staat op de pagina van het bericht zodra zij er is.')
        : t`Er worden nu ${formatNumber(now)} bezorgingen geprobeerd.`
  const others = Object.entries(WAITING).flatMap(([outcome, text]) => {
    const count = counts.get(outcome as Pressed['outcome'])?.length
    return count === undefined ? [] : pressed.length === 1 ? [`${text}.`] : [`${text}: ${formatNumber(count)}.`]
  })
  return (
    [going, ...others].filter((part) => part !== '').join(' ') ||
    t('Er was geen bericht dat op een latere poging wachtte.')
  )
}

export const STAGE_WORDS: Record<Stage['stage'], { name: string; advice: string }> = words(
  {
    DNS: { name: 'Hostnaam opzoeken (DNS)', advice: OUTCOMES.dns.advice },
    TCP: { name: 'Verbinding maken (TCP)', advice: OUTCOMES.refused.advice },
    TLS: { name: 'Verbinding beveiligen (TLS)', advice: OUTCOMES.tls.advice },
    HTTP: {
      name: 'Antwoord krijgen (HTTP)',
      advice: 'Controleer of de API-root naar de Notificaties API wijst, en of de dienst geen storing heeft.',
    },
    rights: { name: 'Rechten', advice: httpAdvice(403) },
  },
  'name',
  'advice',
)

const DETAILS: Record<string, string> = words({
  http: 'niet nodig: het adres begint met http',
  accepted: 'het testbericht is aangenomen',
  'recognised; there is no channel test': 'wij zijn herkend (de dienst kent het kanaal test niet, dat is geen fout)',
})

/** The steps of a test message, as the page shows them. */
export function stepsOf(found: Stage[]): { name: string; tone: Tone; text: string; detail: string; advice: string }[] {
  const words = { ok: ['goed', t('Gelukt')], failed: ['fout', t('Mislukt')], skipped: ['', t('Overgeslagen')] } as const
  return found
    .filter(({ stage }) => STAGES.includes(stage))
    .map(({ stage, outcome, detail }) => ({
      name: STAGE_WORDS[stage].name,
      tone: words[outcome][0],
      text: words[outcome][1],
      detail: stage === 'HTTP' && /^\d+$/.test(detail) ? t`status ${detail}` : (DETAILS[detail] ?? detail),
      advice: outcome === 'failed' ? STAGE_WORDS[stage].advice : '',
    }))
}

/** The kind and the status of a cause of failure. @param cause `http-<status>`, or an outcome of an attempt */
export function partsOfCause(cause: string): [kind: string, httpStatus: number | null] {
  const [, status] = /^http-(\d{3})$/.exec(cause) ?? []
  return status ? ['http', Number(status)] : [cause, null]
}

const ACTIONS: Record<string, string> = words({
  create: 'aangemaakt',
  update: 'gewijzigd',
  partial_update: 'deels gewijzigd',
  destroy: 'verwijderd',
})

/** What we call something that another publisher may have named. */
const ofOurs = (words: Record<string, string>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? name

/** What a message tells of: the kind of object and what became of it. */
export const messageInWords = ({ resource, actie }: { resource: string; actie: string }) => ({
  what: resource === 'zaakinformatieobject' ? t('Document bij zaak') : ofOurs(NOUNS, resource),
  actionText: ofOurs(ACTIONS, actie),
})
