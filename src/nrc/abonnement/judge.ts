// What is wrong with an abonnement before its callback is asked: the same for the API and for the pages.
import type { Config } from '../../config.ts'
import { LIMITS } from '../../core/limits.ts'
import { fault, type InvalidParam, invalid, throwFaults } from '../../core/problem.ts'
import { originOf } from '../../core/secret-box.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb } from '../../database/database.ts'
import { inOwnForm, ownAddress, resolveLink } from '../../http/links.ts'
import { sourcesIn } from '../../http/numbers.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import { OF_THE_MESSAGE, sameName, unknownFilters, withNamesOfTheMessage } from '../kenmerken.ts'
import { callbackFaults } from './callback.ts'

export const MAX_KANALEN = 100
const MAX_FILTERS = 50
const MAX_CHOICES = 20 // of resources and acties: all of them are kept beside each kanaal
export const MAX_AUTH = 8192

/**
 * A secret goes to no other server than it was given for, nor a token that is had with it.
 * @param row as it is stored; `given`: what becomes of it
 * @throws Problem 400 `required` at auth when a server is another one and the secret is not given again
 */
export function requireSecretFor(
  row: { callbackUrl: string; tokenUrl?: string },
  given: { callbackUrl?: string | undefined; tokenUrl?: string | undefined; auth?: string | undefined },
): void {
  const isOther = (before: string, after: string | undefined) =>
    after !== undefined && after !== '' && originOf(before) !== originOf(after)
  if (given.auth !== undefined) return
  if (isOther(row.callbackUrl, given.callbackUrl) || isOther(row.tokenUrl ?? '', given.tokenUrl))
    throw invalid(
      'auth',
      'required',
      'Geef het geheim opnieuw: de ontvanger of zijn tokendienst staat op een andere server.',
    )
}

/** A kanaal that was judged, with what is wanted of it. */
export type KnownGroup = { kanaalId: number; filters: Record<string, string> }

type Given = {
  callbackUrl?: string | undefined
  auth?: string | undefined
  kanalen?: { naam: string; filters?: Record<string, unknown> }[] | undefined
}

/**
 * What can be judged without asking the callback.
 * @param address of our answers
 * @returns the kanalen that were given, with their ids
 * @throws Problem 400 with all faults
 */
export async function judge(
  db: ReadDb,
  config: Config,
  given: Given,
  address: string = ownAddress(config),
): Promise<KnownGroup[]> {
  const names = [...new Set((given.kanalen ?? []).map(({ naam }) => naam))]
  const known = names.length
    ? await db.selectFrom('kanaal').select(['id', 'naam', 'filters', 'own']).where('naam', 'in', names).execute()
    : []
  const byName = new Map(known.map((kanaal) => [kanaal.naam, kanaal]))
  const faults: InvalidParam[] = [
    ...(!given.callbackUrl ? [] : callbackFaults(config, given.callbackUrl)),
    // A header takes what latin-1 has, and no line break: that would be a second header.
    ...(given.auth !== undefined && !/^[\t\x20-\x7e\xa0-\xff]*$/.test(given.auth)
      ? [fault('auth', 'invalid', 'Deze waarde kan niet in een header staan.')]
      : []),
  ]
  if (given.kanalen && Buffer.byteLength(JSON.stringify(given.kanalen)) > LIMITS.filtersBytes)
    faults.push({
      name: 'kanalen',
      code: 'max_length',
      reason: 'Kanalen en filters van een abonnement zijn samen ten hoogste 64 kB aan JSON.',
    })
  const groups: KnownGroup[] = []
  for (const [index, { naam, filters = {} }] of (given.kanalen ?? []).entries()) {
    const kanaal = byName.get(naam)
    // These two have the names that clients know from other services, without a place in the list; so the reason tells it.
    if (!kanaal) faults.push({ name: 'naam', code: 'kanaal_naam', reason: `Kanaal ${naam} bestaat niet.` })
    else {
      const texts = withNamesOfTheMessage(filterTexts(filters, kanaal.own), kanaal.filters)
      faults.push(...filterFaults(`kanalen.${index}.filters`, texts, { ...kanaal, address }))
      groups.push({ kanaalId: kanaal.id, filters: texts as Record<string, string> })
    }
  }
  throwFaults(faults)
  return groups
}

/**
 * The values as they are kept: numbers and booleans as text, as everywhere, and no blanks around a text or a member of a list.
 * Messages name what is ours by the address of answers, with uuids in small letters.
 */
function filterTexts(filters: Record<string, unknown>, own: boolean): Record<string, unknown> {
  const sources = sourcesIn(filters)
  return Object.fromEntries(
    Object.entries(filters).map(([naam, value]) => {
      if (typeof value === 'number' || typeof value === 'boolean') return [naam, sources?.get(naam) ?? String(value)]
      if (typeof value !== 'string') return [naam, value]
      return [
        naam,
        OF_THE_MESSAGE.includes(naam)
          ? value
              .split(',')
              .map((one) => one.trim())
              .join(',')
          : own
            ? inOwnForm(value.trim()).replace(UUID_AT_END, (uuid) => uuid.toLowerCase())
            : inOwnForm(value.trim()),
      ]
    }),
  )
}

function filterFaults(
  name: string,
  filters: Record<string, unknown>,
  kanaal: OfKanaal & { filters: readonly string[] },
): InvalidParam[] {
  const entries = Object.entries(filters)
  if (entries.length > MAX_FILTERS)
    return [{ name, code: 'max-items', reason: `Een groep heeft ten hoogste ${MAX_FILTERS} filters.` }]
  const wrong = entries.filter(([, value]) => typeof value !== 'string' || value.length === 0 || value.length > 1000)
  if (wrong.length > 0)
    return wrong.map(([naam]) => ({
      name: `${name}.${naam.slice(0, 100)}`,
      code: 'invalid',
      reason: 'Een filter is een tekst van 1 tot 1000 tekens; * laat alles door.',
    }))
  const long = OF_THE_MESSAGE.filter((naam) => String(filters[naam] ?? '').split(',').length > MAX_CHOICES)
  if (long.length > 0)
    return long.map((naam) => ({
      name: `${name}.${naam}`,
      code: 'max-items',
      reason: `Dit filter noemt ten hoogste ${MAX_CHOICES} waarden.`,
    }))
  const unknown = unknownFilters(filters as Record<string, string>, kanaal.filters)
  if (unknown.length === 0) return neverFitting(name, filters as Record<string, string>, kanaal)
  const wanted = unknown.map((naam) => naam.slice(0, 100)).join(', ')
  const reason = `Kanaal ${kanaal.naam} kent niet: ${wanted}. Het kent: ${kanaal.filters.join(', ')}.`
  return [{ name: 'filters', code: 'inconsistent-abonnement-filters', reason }]
}

/** What lets no message through, whatever comes: its subscriber would wait for nothing, and be told nothing. */
function neverFitting(name: string, filters: Record<string, string>, kanaal: OfKanaal): InvalidParam[] {
  const never = (naam: string, reason: string): InvalidParam => ({
    name: `${name}.${naam.slice(0, 100)}`,
    code: 'invalid',
    reason: `Op dit filter past geen enkel bericht: ${reason}.`,
  })
  const asked = new Map<string, string>()
  return Object.entries(filters).flatMap(([naam, value]) => {
    if (value === '*') return []
    if (OF_THE_MESSAGE.includes(naam)) {
      if (value.split(',').includes('')) return [never(naam, 'het noemt een lege waarde')]
      const known = kanaal.own ? (naam === '#actie' ? ACTIES : RESOURCES[kanaal.naam]) : undefined
      const unknown = value.split(',').filter((one) => one !== '*' && known && !known.includes(one))
      return unknown.length === 0
        ? []
        : [never(naam, `${unknown.join(', ').slice(0, 100)} is geen van ${known?.join(', ')}`)]
    }
    const other = asked.get(sameName(naam)) ?? value
    asked.set(sameName(naam), value)
    if (other !== value) return [never(naam, 'hetzelfde kenmerk staat er ook met een andere waarde')]
    const wanted = kanaal.own ? kenmerkKind(naam) : undefined
    if (wanted && !wanted.test(value)) return [never(naam, wanted.reason)]
    const isNothing = wanted === URL_OF_TYPE && resolveLink(value, kanaal.address).kind === 'nothing'
    return isNothing ? [never(naam, 'op dit adres van deze dienst staat niets')] : []
  })
}

type OfKanaal = { naam: string; own: boolean /** Our own. */; address: string }

/** What messages of our kanalen are about, and what happened: of the standard, and of cloud events. */
const RESOURCES: Record<string, readonly string[]> = {
  zaken: [
    ...['zaak', 'status', 'substatus', 'resultaat', 'rol', 'zaakeigenschap', 'zaakobject', 'zaakinformatieobject'],
    ...['zaakbesluit', 'klantcontact', 'zaakcontactmoment', 'zaakverzoek'],
  ],
  documenten: ['enkelvoudiginformatieobject', 'gebruiksrechten', 'verzending'],
  besluiten: ['besluit', 'besluitinformatieobject'],
  zaaktypen: ['zaaktype'],
  informatieobjecttypen: ['informatieobjecttype'],
  besluittypen: ['besluittype'],
  autorisaties: ['applicatie'],
}
const ACTIES = [
  ...[
    'create',
    'update',
    'partial_update',
    'destroy',
    'gemuteerd',
    'geopend',
    'verwijderd',
    'geregistreerd',
    'opgeschort',
  ],
  ...['bijgewerkt', 'verlengd', 'afgesloten', 'verwerkt'],
]
const UUID_AT_END = new RegExp(`${UUID_PATTERN}$`, 'i')

type Kind = { test: (value: string) => boolean; reason: string }
const ORGANISATIE: Kind = { test: (value) => /^\d{9}$/.test(value), reason: 'een organisatie heeft negen cijfers' }
const VERTROUWELIJKHEID: Kind = {
  test: (value) => (VERTROUWELIJKHEIDAANDUIDINGEN as readonly string[]).includes(value),
  reason: `de waarde is een van ${VERTROUWELIJKHEIDAANDUIDINGEN.join(', ')}`,
}
const URL_OF_TYPE: Kind = { test: (value) => URL.canParse(value), reason: 'de waarde is een URL' }

/** What the kenmerken of our own kanalen hold, by the names that the standard gives them; undefined for those that others added. */
function kenmerkKind(naam: string): Kind | undefined {
  switch (sameName(naam)) {
    case 'bronorganisatie':
    case 'verantwoordelijkeorganisatie':
      return ORGANISATIE
    case 'vertrouwelijkheidaanduiding':
      return VERTROUWELIJKHEID
    case 'zaaktype':
    case 'informatieobjecttype':
    case 'besluittype':
    case 'catalogus':
    case 'zaaktype.catalogus':
    case 'informatieobjecttype.catalogus':
    case 'besluittype.catalogus':
      return URL_OF_TYPE
    default:
      return undefined
  }
}
