// probe: one call to a registered service, to see whether it is there, knows us, and is the API that was said. It changes
// nothing over there.

import { parseForeignJson } from '../lib/foreign-json.ts'
import type { RemoteService, Services } from './services.ts'
import { FAILURES, type FailureKind, failureKind } from './transport.ts'

const MAX_ANSWER = 256 * 1024
const MAX_MS = 15_000

/** A list of each kind of API that is small, and what is in it; of other APIs only the root is known. */
const LISTS: Record<string, { path: string; naam: string }> = {
  zrc: { path: 'zaken?pageSize=1', naam: 'Zaken API' },
  drc: { path: 'enkelvoudiginformatieobjecten?pageSize=1', naam: 'Documenten API' },
  ztc: { path: 'catalogussen', naam: 'Catalogi API' },
  brc: { path: 'besluiten', naam: 'Besluiten API' },
  ac: { path: 'applicaties', naam: 'Autorisaties API' },
  nrc: { path: 'kanaal', naam: 'Notificaties API' },
}

export type Probe = {
  tone: 'goed' | 'let-op' | 'fout'
  /** What came of it, and what to look at; in Dutch. */
  tekst: string
  advies: string
  status: number | null
  ms: number
}

/** Makes the call, with the credentials of the service. It takes at most its term, and never more than 15 seconds. */
export async function probeService(services: Services, dienst: RemoteService & { kind: string }): Promise<Probe> {
  const list = LISTS[dienst.kind]
  const began = performance.now()
  const since = () => Math.round(performance.now() - began)
  try {
    const answer = await services.send(
      { ...dienst, timeoutMs: Math.min(dienst.timeoutMs, MAX_MS) },
      {
        url: new URL(list?.path ?? '', dienst.apiRoot),
        method: 'GET',
        limit: MAX_ANSWER,
        headers: dienst.kind === 'zrc' ? { 'accept-crs': 'EPSG:4326' } : {},
      },
    )
    const { status } = answer
    return { ...judge(status, answer.truncated || isList(answer.body), list?.naam), status, ms: since() }
  } catch (error) {
    const kind = failureKind(error)
    return { tone: 'fout', tekst: sentence(FAILURES[kind]), advies: ADVICE[kind], status: null, ms: since() }
  }
}

type Judgement = Pick<Probe, 'tone' | 'tekst' | 'advies'>

function judge(status: number, isThere: boolean, naam: string | undefined): Judgement {
  const fault = (tekst: string, advies: string): Judgement => ({ tone: 'fout', tekst, advies })
  if (status === 401)
    return fault('De dienst herkent ons niet (401).', 'Controleer de authenticatie: client-ID, secret of sleutel.')
  if (status === 403)
    return fault(
      'De dienst weigert de toegang (403).',
      'Zij kent ons niet, het secret klopt niet, of wij hebben daar geen rechten. Vraag de beheerder van die dienst.',
    )
  if (status >= 500)
    return fault(`De dienst is er, maar heeft zelf een storing (${status}).`, 'Probeer het later nog eens.')
  if (status >= 300 && status < 400)
    return fault(
      `De dienst stuurt door naar een ander adres (${status}). Dat wordt niet gevolgd.`,
      'Vul het adres in waarheen wordt doorgestuurd; vaak is dat https:// in plaats van http://.',
    )
  if (naam === undefined)
    return status < 300
      ? { tone: 'goed', tekst: `De dienst antwoordt (${status}).`, advies: '' }
      : {
          tone: 'let-op',
          tekst: `De dienst antwoordt, maar niet met een pagina op de API-root (${status}).`,
          advies: 'Dat kan zo horen. Controleer het pad als verzoeken mislukken.',
        }
  if (status === 200 && isThere) return { tone: 'goed', tekst: `Dit is een ${naam}, en zij kent ons.`, advies: '' }
  return fault(
    `Op dit adres is geen ${naam} (${status === 200 ? 'het antwoord is geen lijst' : status}).`,
    'Controleer de API-root en het soort. De root eindigt meestal op /api/v1/.',
  )
}

/** Whether the answer is a list, or a page of one. */
function isList(body: Buffer): boolean {
  try {
    const value = parseForeignJson(body) as { results?: unknown } | null
    return Array.isArray(value) || Array.isArray(value?.results)
  } catch {
    return false
  }
}

const sentence = (reason: string) => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`

const ADVICE: Record<FailureKind, string> = {
  refused: 'Er luistert niets op dit adres en deze poort. Controleer het adres, de poort en de firewall.',
  dns: 'Controleer de hostnaam, of laat de netwerkbeheerder kijken of deze server haar kan opzoeken.',
  tls: 'Er antwoordt geen TLS, of zonder versleuteling die wij kennen; of de dienst vraagt een client-certificaat.',
  'tls-expired': 'Vraag de beheerder van de dienst om een nieuw certificaat, en controleer de klok van deze server.',
  'tls-name': 'Gebruik de naam die in het certificaat staat, of laat de beheerder van de dienst deze naam erin zetten.',
  'tls-ca':
    'Een eigen CA vult u bij de dienst in. Bij een openbare CA stuurt de dienst waarschijnlijk haar tussencertificaat niet mee.',
  'tls-client': 'Vul bij de dienst een client-certificaat met sleutel in, van een CA die zij vertrouwt.',
  'tls-version': 'Vraag de beheerder van de dienst om TLS 1.2 of nieuwer.',
  timeout: 'De dienst is traag of niet bereikbaar. Controleer de firewall, of maak de termijn langer.',
  connection:
    'De dienst of iets ertussen verbrak de verbinding. Vraagt zij een client-certificaat, of hoort het https:// te zijn?',
  protocol: 'Controleer of het adres met http:// of https:// hoort te beginnen.',
  blocked: 'Dit is een adres van de machine zelf, van het netwerk eromheen of van een cloudomgeving.',
  token: 'Controleer het adres van het token, het client-ID, het secret en de scope.',
  elsewhere: 'Vul het geheim opnieuw in: het adres is gewijzigd nadat het werd gegeven.',
  unknown: 'De oorzaak staat in het logboek van het programma.',
}
