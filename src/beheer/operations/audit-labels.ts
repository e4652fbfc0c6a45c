// audit-labels: what was done in the pages, in words. The codes are `<object>-<verb>`; those that are not have their own words.
import { t, words } from '../language/language.ts'

const SPECIAL: Record<string, string> = words({
  inloggen: 'Ingelogd',
  uitloggen: 'Uitgelogd',
  'uitloggen-door-aanbieder': 'Uitgelogd door de inlogaanbieder',
  bevestigen: 'Bevestigd wie het is',
  'passkeys-verwijderen': 'Passkeys verwijderd',
  'link-mailen': 'Link om in te loggen gemaild',
  'abonnement-filters': 'Filters van een abonnement gewijzigd',
  'abonnementen-grenzen': 'Grenzen van abonnementen gewijzigd',
  'bewaartermijnen-uitvoeren': 'Opruimen gestart',
  'bsn-zoeken': 'Gezocht op een BSN',
  'catalogus-voorbeeld': 'Voorbeeld in een catalogus gezet',
  'zaaktype-voorbeeld': 'Zaaktype van een voorbeeld gemaakt',
  'import-opnieuw': 'Mislukte rijen van een import klaargezet',
  'import-proefdraaien': 'Proefgedraaid met een bestand',
  'import-verder': 'Import verder laten gaan',
  'meldingen-kiezen': 'Meldingen gekozen',
  'abonnement-herzenden': 'Gemiste berichten van een abonnement opnieuw gestuurd',
  'notificaties-herzenden': 'Notificaties opnieuw verstuurd',
  'notificaties-nu-versturen': 'Notificaties meteen geprobeerd',
  'notificaties-instellen': 'Notificaties ingesteld',
  'organisatie-wisselen': 'Verdergegaan bij een andere organisatie',
  'overneming-omschakelen': 'Omgeschakeld na een overneming',
  'overneming-wijzigbaar': 'Alleen lezen bij een overneming gewijzigd',
  'persoonsgegevens-bekijken': 'Persoonsgegevens bekeken',
  'statustype-volgorde': 'Volgorde van statustypen gewijzigd',
  'taak-opnieuw': 'Taak opnieuw uitgevoerd',
  'taken-opnieuw': 'Taken opnieuw uitgevoerd',
  'wie-keek-bekijken': 'Bekeken wie naar een zaak keek',
  'wie-keek-zoeken': 'Gezocht wie naar een persoon keek',
  'token-maken': 'Token gemaakt om te proberen',
})
const VERBS: Record<string, string> = words({
  annuleren: 'geannuleerd',
  beeindigen: 'beëindigd',
  corrigeren: 'gecorrigeerd',
  ontgrendelen: 'ontgrendeld',
  verplaatsen: 'verplaatst',
  bekijken: 'bekeken',
  downloaden: 'gedownload',
  hervatten: 'hervat',
  importeren: 'geïmporteerd',
  instellen: 'ingesteld',
  koppelen: 'aan een persoon gekoppeld',
  intrekken: 'ingetrokken',
  klaarzetten: 'klaargezet',
  kopieren: 'gekopieerd',
  maken: 'gemaakt',
  nieuw: 'gemaakt',
  ophalen: 'opgehaald',
  opheffen: 'opgeheven',
  opzeggen: 'opgezegd',
  pauzeren: 'gepauzeerd',
  proberen: 'geprobeerd',
  publiceren: 'gepubliceerd',
  registreren: 'geregistreerd',
  starten: 'gestart',
  testen: 'getest',
  toevoegen: 'toegevoegd',
  versie: 'gemaakt',
  versturen: 'verstuurd',
  vervangen: 'vervangen',
  verwijderen: 'verwijderd',
  weggooien: 'weggegooid',
  weglaten: 'weggelaten',
  wijzigen: 'gewijzigd',
})
const OBJECTS: Record<string, string> = words({
  'abonnement-ondertekening': 'Ondertekening van een abonnement',
  applicatieclient: 'Client van een token-uitgever',
  applicatiesleutel: 'Openbare sleutel van een client',
  codes: 'Eenmalige codes',
  selectielijst: 'Jaar van de selectielijst',
  nummer: 'Gereserveerd nummer',
  'token-uitgever': 'Token-uitgever',
  'import-bestand': 'Bestand van een import',
  informatieobjecttype: 'Documenttype',
  'zaaktype-informatieobjecttype': 'Documenttype bij een zaaktype',
})

/** `Account gemaakt`, for `account-maken`. One that is not known is shown as it is. */
export function actLabel(handeling: string): string {
  const special = Object.hasOwn(SPECIAL, handeling) ? SPECIAL[handeling] : undefined
  if (special) return special
  const [object, verb] = partsOf(handeling)
  const name = (Object.hasOwn(OBJECTS, object) && OBJECTS[object]) || capital(object.replaceAll('-', ' '))
  return verb && Object.hasOwn(VERBS, verb) ? `${name} ${VERBS[verb]}` : capital(handeling.replaceAll('-', ' '))
}

/** `zaaktype-nieuwe-versie` is about a new version. */
function partsOf(handeling: string): [object: string, verb: string | undefined] {
  const words = handeling.split('-')
  if (handeling.endsWith('-nieuwe-versie')) return [t`nieuwe versie van ${words[0]}`, 'versie']
  return [words.slice(0, -1).join('-'), words.at(-1)]
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
