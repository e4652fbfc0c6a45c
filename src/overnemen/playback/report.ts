// What became of a playback, for who looks after it: a line per remark, in the columns of the report of a takeover, and a line for each
// kind of thing that never goes back.
import type { Readable } from 'node:stream'
import { csvStream, neutralizeCell } from '../../documenten/import/report.ts'
import type { Journal } from './journal.ts'

/** What to do about each code. */
const REMEDIES: Record<string, string> = {
  'adres-anders': 'Wie het adres van hier bewaarde, moet dit adres gebruiken.',
  'waarde-anders': 'Pas het veld daar zelf aan, als het belangrijk is.',
  'veld-onbekend': 'Bewaar de waarde elders, als ze belangrijk is.',
  'versie-anders': 'Niets.',
  veld: 'Herstel de waarde daar, of laat het veld zoals het is.',
  slot: 'Zet het document daar opnieuw op slot, als er nog aan wordt gewerkt.',
  inhoud: 'Zet het bestand daar met de hand.',
  'upload-onaf': 'Maak de upload af en speel opnieuw, of begin haar daar opnieuw.',
  'bestand-ontbreekt': 'Zet het bestand terug uit een back-up en speel opnieuw.',
  type: 'Maak of wijzig het type daar met de hand.',
  'type-ontbreekt': 'Maak het type daar met hetzelfde adres, of maak dit daar met de hand.',
  'type-nieuw': 'Maak het type daar, en daarna dit met de hand.',
  verwijzing: 'Herstel eerst waar het naar verwijst, en speel opnieuw.',
  ontbreekt: 'Ga na wie het daar verwijderde.',
  recht: 'Geef de client alle autorisaties en speel opnieuw.',
  regel: 'Herstel de oorzaak en speel opnieuw, of doe het daar met de hand.',
  fout: 'Laat de beheerder van de andere kant de rij herstellen (bij waarde staat de SQL voor Open Zaak), en speel opnieuw.',
  'rij-beschadigd':
    'Laat de beheerder van de andere kant de rij zoeken (bij waarde staat de SQL voor Open Zaak) en herstellen, en speel opnieuw.',
}

/** What no playback brings back, whatever is in it. */
export const NEVER: { wat: string; text: string }[] = [
  { wat: 'adressen', text: 'Wat hier is gemaakt heeft daar een andere uuid. Elke regel adres-anders zegt welke.' },
  {
    wat: 'momenten',
    text: 'Wanneer iets is geregistreerd of gewijzigd zet de andere kant zelf: beginRegistratie, registratiedatum van rollen en relaties, laatstGemuteerd.',
  },
  {
    wat: 'audittrail',
    text: 'Wie hier iets deed, en wanneer, blijft hier staan. Daar staat een regel van de client die terugspeelt.',
  },
  {
    wat: 'tussenstanden',
    text: 'Van een object dat vaker is gewijzigd komt de laatste stand. Van documenten komt elke versie.',
  },
  { wat: 'sloten', text: 'Een document dat hier op slot is, is het daar niet.' },
  { wat: 'typen', text: 'Zaaktypen en andere typen worden niet teruggespeeld.' },
  {
    wat: 'beheer',
    text: 'Applicaties, rechten, geheimen, abonnementen, instellingen en gereserveerde nummers gaan niet terug.',
  },
]

/** The report as CSV, made as it is read. Cells that a spreadsheet would run are neutralised. */
export function playbackCsv(journal: Pick<Journal, 'remarks'>): Readable {
  async function* records() {
    yield ['soort', 'identificatie', 'uuid', 'uitkomst', 'veld', 'waarde', 'regel', 'wat te doen', 'code']
    for (const { wat, text } of NEVER) yield [wat, '', '', 'gemarkeerd', '', '', text, '', 'altijd']
    for (let after = 0; ; ) {
      const items = await journal.remarks(after)
      if (items.length === 0) return
      for (const { resource, uuid, label, remarks } of items)
        for (const { outcome, field, value, text, code } of remarks)
          yield [resource, label, uuid, outcome, field, value, text, REMEDIES[code] ?? '', code]
      after = items.at(-1)?.place ?? after
    }
  }
  return csvStream(records(), neutralizeCell)
}
