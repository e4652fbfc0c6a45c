// What states, outcomes and filters of abonnementen are called on the pages.

import { EXTERNAL } from '../../../core/outbox.ts'
import type { FilterGroup } from '../../../nrc/abonnement/read.ts'
import type { Step } from '../../../nrc/abonnement/try-out.ts'
import { t, words } from '../../language/language.ts'
import { type Explanation, outcomeOf, partsOfCause, type Tone } from '../notificatie-labels.ts'

/** How we identify ourselves at a callback. */
export const AUTHENTICATION_WORDS: Record<string, string> = words({
  header: 'vaste waarde van de header Authorization',
  jwt: 'JWT, voor elk bericht ondertekend',
  oauth2: 'OAuth2 client credentials',
})

type State = { status: string; failures: number; lastOutcome: string | null; lastHttpStatus: number | null }

/** The state of an abonnement in words. An active one that fails says why; after five failures in a row that is a fault. */
export function stateOf({ status, failures, lastOutcome, lastHttpStatus }: State): {
  tone: Tone
  text: string
} {
  if (status === 'geblokkeerd') return { tone: 'fout', text: t('Geblokkeerd') }
  if (status === 'opgezegd') return { tone: 'fout', text: t('Opgezegd door ontvanger') }
  if (status === 'gepauzeerd') return { tone: 'let-op', text: t('Gepauzeerd') }
  if (failures === 0) return { tone: 'goed', text: t('Actief') }
  const { text } = subscriberOutcome(lastOutcome, lastHttpStatus)
  return { tone: failures >= 5 ? 'fout' : 'let-op', text: t`Storing: ${text.toLowerCase()}` }
}

const ADVICE: Record<string, string> = words({
  refused: 'Op dit adres luistert niets. Controleer of de ontvanger draait, en of host en poort kloppen.',
  dns: 'Controleer de hostnaam van de callback, en of deze server namen kan opzoeken (DNS).',
  tls: 'Er antwoordt geen TLS, of zonder versleuteling die wij kennen; of de ontvanger vraagt een client-certificaat.',
  'tls-expired': 'De ontvanger heeft een nieuw certificaat nodig. Controleer ook de klok van deze server.',
  'tls-name': 'Gebruik de naam die in het certificaat staat, of laat de ontvanger deze naam erin zetten.',
  'tls-ca':
    'De ontvanger stuurt waarschijnlijk zijn tussencertificaat niet mee, of zijn CA is er een van een organisatie zelf.',
  'tls-client': 'Vul bij dit abonnement een client-certificaat met sleutel in, van een CA die de ontvanger vertrouwt.',
  'tls-version': 'Vraag de beheerder van de ontvanger om TLS 1.2 of nieuwer.',
  timeout: 'De ontvanger is traag of onbereikbaar. Controleer de ontvanger en de firewall, of geef meer tijd.',
  connection: 'Controleer het netwerk en de logboeken van de ontvanger. Vaak helpt een nieuwe poging.',
  protocol: 'Op dit adres antwoordt iets anders dan een webdienst. Controleer het adres.',
  blocked:
    'Het adres ligt in een eigen of privaat netwerk, of is van deze dienst zelf. Noem de host in ALLOWED_PRIVATE_HOSTS als dat de bedoeling is.',
  unknown: 'Kijk in het logboek van de worker rond dit moment. Bij OAuth2: controleer adres en geheim van het token.',
})

/** What an attempt at a callback came to, and what to do about it. */
export function subscriberOutcome(kind: string | null, httpStatus: number | null): Explanation {
  const outcome = outcomeOf(kind, httpStatus)
  if (kind === 'http') {
    const text = t`Antwoord ${httpStatus ?? 0}`
    return { tone: 'fout', text, advice: httpAdvice(httpStatus ?? 0) }
  }
  return { ...outcome, advice: ADVICE[kind ?? ''] ?? outcome.advice }
}

/** The same at any receiver. @param abonnementId `EXTERNAL` for the external notifications service */
export function outcomeAt(abonnementId: number, kind: string | null, httpStatus: number | null): Explanation {
  return abonnementId === EXTERNAL ? outcomeOf(kind, httpStatus) : subscriberOutcome(kind, httpStatus)
}

/** Why deliveries failed, and what to do. @param cause `http-<status>`, or an outcome of an attempt */
export function causeAt(isExternal: boolean, cause: string): Explanation {
  const [kind, httpStatus] = partsOfCause(cause)
  return isExternal ? outcomeOf(kind, httpStatus) : subscriberOutcome(kind, httpStatus)
}

function httpAdvice(status: number): string {
  if (status === 401 || status === 403)
    return t(
      'De ontvanger herkent ons niet. Vaak is het token verlopen of het geheim veranderd: stel de authenticatie opnieuw in.',
    )
  if (status === 404 || status === 405) return t('Op dit adres is geen callback. Controleer het pad van de callback.')
  if (status === 410) return t('De ontvanger zegt op. Hervat alleen als dat een vergissing was.')
  if (status === 400 || status === 422) return t('De ontvanger keurt het bericht af. Kijk in het antwoord waarom.')
  if (status === 429) return t('De ontvanger krijgt te veel berichten tegelijk. Verlaag het aantal dat tegelijk gaat.')
  if (status >= 300 && status < 400)
    return t('De ontvanger verwijst door. Dat volgen wij niet: stel het juiste adres in.')
  if (status >= 500) return t('Er is een storing bij de ontvanger. Neem contact op met de beheerder ervan.')
  return t('Lees het antwoord van de ontvanger.')
}

/** The steps of a test, as the page shows them. */
export function stepsOf(steps: Step[]) {
  return steps.map(({ step, ok, outcome, httpStatus, answer, ms }) => {
    const { text, advice } = subscriberOutcome(outcome, httpStatus)
    const refuses = step === 'refuses'
    return {
      name: refuses
        ? t('Zonder Authorization wordt geweigerd (401 of 403)')
        : t('Een testbericht (kanaal test) wordt aangenomen'),
      ok,
      text: ok ? t('Gelukt') : t('Mislukt'),
      detail: httpStatus ? t`Antwoord ${httpStatus} na ${ms} ms${answer ? `: ${answer}` : ''}.` : `${text}.`,
      advice: ok
        ? ''
        : refuses && outcome === 'http'
          ? t('De callback neemt berichten van iedereen aan. Beveilig haar, of zet TEST_CALLBACK_AUTH uit.')
          : advice,
    }
  })
}

/** An address without what may be secret in it. */
export const masked = (callbackUrl: string): string => callbackUrl.replace(/\?.*$/s, '?…')

/** One group of filters as a sentence. */
export function groupInWords({ naam, filters }: FilterGroup): string {
  const terms = Object.entries(filters)
    .filter(([, value]) => value !== '*')
    .map(([name, value]) => {
      const either = value.split(',').join(t(' of '))
      if (name === '#actie') return t`de actie ${either} is`
      if (name === '#resource') return t`de resource ${either} is`
      return t`${name} gelijk is aan ${value}`
    })
  return terms.length === 0 ? t`Alles op kanaal ${naam}` : t`Op kanaal ${naam} alleen als ${terms.join(t(' en '))}`
}

export const REPLAYS: Record<string, string> = words({
  failed: 'de berichten die zijn mislukt',
  since: 'alle berichten vanaf een moment',
  missed: 'de berichten die zijn gemist toen er niets werd klaargezet',
})
