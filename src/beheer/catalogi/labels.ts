// Words for what the standard writes as codes.
import { OBJECTTYPEN as CODES } from '../../catalogi/archive.ts'
import { words } from '../language/language.ts'
import type { Choice } from './fields.ts'

export const VERTROUWELIJKHEID: readonly Choice[] = words(
  [
    ['openbaar', 'Openbaar', 'iedereen mag het weten'],
    ['beperkt_openbaar', 'Beperkt openbaar', 'openbaar op verzoek'],
    ['intern', 'Intern', 'alle medewerkers'],
    ['zaakvertrouwelijk', 'Zaakvertrouwelijk', 'wie bij de zaak betrokken is'],
    ['vertrouwelijk', 'Vertrouwelijk', 'een beperkte groep medewerkers'],
    ['confidentieel', 'Confidentieel', 'enkele genoemde medewerkers'],
    ['geheim', 'Geheim', 'staats- of bedrijfsgeheim'],
    ['zeer_geheim', 'Zeer geheim', 'het hoogste niveau'],
  ],
  '1',
  '2',
)

export const ROLLEN: readonly Choice[] = words(
  [
    ['initiator', 'Initiator', 'wie de zaak begint; ten hoogste één per zaak'],
    ['behandelaar', 'Behandelaar', 'wie eraan werkt'],
    ['belanghebbende', 'Belanghebbende', 'wie er gevolgen van heeft'],
    ['beslisser', 'Beslisser', 'wie het besluit neemt'],
    ['adviseur', 'Adviseur', 'wie advies geeft'],
    ['klantcontacter', 'Klantcontacter', 'wie het contact met de klant heeft'],
    ['zaakcoordinator', 'Zaakcoördinator', 'wie de zaak bewaakt; ten hoogste één per zaak'],
    ['mede_initiator', 'Mede-initiator', 'wie de zaak mede begint'],
  ],
  '1',
  '2',
)

export const NOMINATIES: readonly Choice[] = words(
  [
    ['vernietigen', 'Vernietigen', 'na de bewaartermijn'],
    ['blijvend_bewaren', 'Blijvend bewaren', 'overbrengen naar het archief'],
  ],
  '1',
  '2',
)

export const AFLEIDINGSWIJZEN: readonly Choice[] = words(
  [
    ['afgehandeld', 'De einddatum van de zaak'],
    ['termijn', 'Een vaste tijd na de einddatum van de zaak'],
    ['eigenschap', 'De datum in een eigenschap van de zaak'],
    ['ingangsdatum_besluit', 'De ingangsdatum van het laatste besluit'],
    ['vervaldatum_besluit', 'De vervaldatum van het laatste besluit'],
    ['hoofdzaak', 'De einddatum van de hoofdzaak'],
    ['zaakobject', 'Een datum van een object bij de zaak'],
    ['ander_datumkenmerk', 'Een datum in een andere registratie (wordt met de hand ingevuld)'],
    ['gerelateerde_zaak', 'De einddatum van een gerelateerde zaak (verouderd)'],
  ],
  '1',
)

export const OBJECTTYPEN: readonly Choice[] = CODES.map(
  (code) => [code, code.replaceAll('_', ' ').replace(/^woz/, 'WOZ')] as const,
)

export const DIRECTIONS: readonly Choice[] = words(
  [
    ['inkomend', 'Inkomend', 'wij ontvangen het'],
    ['intern', 'Intern', 'blijft binnen de organisatie'],
    ['uitgaand', 'Uitgaand', 'wij versturen het'],
  ],
  '1',
  '2',
)

export const FORMATS: readonly Choice[] = words(
  [
    ['tekst', 'Tekst'],
    ['getal', 'Getal'],
    ['datum', 'Datum'],
    ['datum_tijd', 'Datum en tijd'],
  ],
  '1',
)
