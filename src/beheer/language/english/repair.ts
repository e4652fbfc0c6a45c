// Mending cases, documents and reserved numbers by hand.
export const repair: Record<string, string> = {
  'Ook de rol hersteller': 'The role repairer as well',
  'Mag zaken en documenten met de hand herstellen: een veld verbeteren, ontgrendelen, verplaatsen, verwijderen. Geen andere rol brengt dit mee.':
    'May repair cases and documents by hand: correct a field, unlock, move, delete. No other role brings this along.',
  ', hersteller': ', repairer',
  Herstellen: 'Repair',
  'Er is intussen iets gewijzigd.': 'Something changed meanwhile.',
  'Er is nog niets gedaan. Dit is wat er nu zou gebeuren.': 'Nothing was done yet. This is what would happen now.',
  'Er is nog niets gewijzigd. Klopt dit?': 'Nothing was changed yet. Is this right?',
  'Wat er verandert': 'What changes',
  'Wat u moet weten': 'What you should know',
  'Terug en aanpassen': 'Back to the form',
  'Typ {1}': 'Type {1}',
  'De zaak is afgesloten. Wat u hier wijzigt, geldt als geforceerd bijwerken.':
    'The case is closed. What you change here counts as a forced change.',
  'Het document krijgt hiervoor een nieuwe versie.': 'The document gets a new version for this.',
  'Dit document hoort niet bij een zaak die u mag zien.': 'This document belongs to no case that you may see.',
  'Het document wordt losgekoppeld van de ene zaak en gekoppeld aan de andere. De regels van beide gelden: het documenttype hoort bij het zaaktype (zrc-017), en een gearchiveerde zaak krijgt er niets bij.':
    'The document is unlinked from the one case and linked to the other. The rules of both hold: the document type belongs to the zaaktype (zrc-017), and nothing is added to an archived case.',
  'Van zaak': 'From case',
  'Naar zaak': 'To case',
  'Het nummer van de zaak, haar uuid of haar adres.': 'The number of the case, its uuid or its address.',
  'Bekijk wat er verandert': 'See what changes',
  'Waarom dit nodig is. Staat in het audit trail, ook voor applicaties: noem hier geen persoonsgegevens.':
    'Why this is needed. It is in the audit trail, also for applications: name no personal data here.',
  'Voor een zaak die voor een test of per ongeluk is gemaakt. De zaak verdwijnt met alles wat eraan hangt. Documenten blijven, tenzij u hieronder anders kiest; een zaak met besluiten wordt niet verwijderd (zrc-023), tenzij die mee verdwijnen.':
    'For a case that was made as a test or by mistake. The case goes with all that hangs on it. Documents stay, unless you choose otherwise below; a case with decisions is not deleted (zrc-023), unless these go along.',
  'Ook de besluiten van de zaak verwijderen': 'Delete the decisions of the case as well',
  'Ook de documenten verwijderen die daarna nergens meer bij horen':
    'Delete the documents as well that then belong to nothing',
  'Kies een veld om het te corrigeren. U geeft een reden, ziet wat er verandert en bevestigt dat. De regels van de API gelden ook hier; de wijziging staat in het audit trail en gaat als notificatie uit.':
    'Choose a field to correct it. You give a reason, see what changes and confirm that. The rules of the API hold here too; the change is in the audit trail and goes out as a notification.',
  'Het document is vergrendeld: een applicatie werkt eraan, of vergat het te ontgrendelen. Velden corrigeren kan pas na ontgrendelen (drc-009).':
    'The document is locked: an application works on it, or forgot to unlock it. Fields can be corrected once it is unlocked (drc-009).',
  Velden: 'Fields',
  Nu: 'Now',
  Corrigeren: 'Correct',
  'Nummers die een applicatie vooraf kreeg en waarmee nog niets is gemaakt. Ze verlopen niet vanzelf.':
    'Numbers that an application got beforehand and with which nothing was made yet. They do not expire.',
  'Er staan geen nummers open.': 'There are no such numbers.',
  Nummer: 'Number',
  Gereserveerd: 'Reserved',
  'Begint met': 'Begins with',
  'Schrijf waarom dit nodig is. Het komt in het audit trail.':
    'Write why this is needed. It goes into the audit trail.',
  'Typ precies {1}: dit kan niet ongedaan worden gemaakt.': 'Type exactly {1}: this cannot be undone.',
  'Reden: {1}': 'Reason: {1}',
  '(regel {1}, code {2})': '(rule {1}, code {2})',
  '(code {1})': '(code {1})',
  'Document {1} herstellen': 'Repair document {1}',
  Ontgrendelen: 'Unlock',
  'Naar een andere zaak': 'To another case',
  'Document verwijderen': 'Delete document',
  '{1} corrigeren': 'Correct {1:lower}',
  '{1} van {2} is gecorrigeerd.': '{1} of {2} was corrected.',
  'Document ontgrendelen': 'Unlock document',
  'De bestandsdelen veranderen nog. Probeer het opnieuw.': 'The parts are still changing. Try again.',
  Vergrendeld: 'Locked',
  'Wie het vergrendelde, kan zijn wijziging niet meer opslaan met die lock: de applicatie moet opnieuw vergrendelen.':
    'Whoever locked it can no longer save a change with that lock: the application has to lock it again.',
  'Ontvangen zijn {1} van de {2} bestandsdelen. De upload wordt opgegeven: wat er was, gaat weg.':
    '{1} of the {2} parts were received. The upload is given up: what was there goes.',
  'Alle bestandsdelen zijn er: zij worden de inhoud van het document.':
    'All parts are there: they become the content of the document.',
  'Het document is ontgrendeld.': 'The document was unlocked.',
  'Document {1} verplaatsen': 'Move document {1}',
  Verplaatsen: 'Move',
  'Kies de zaak waar het document nu bij hoort.': 'Choose the case that the document belongs to now.',
  'Titel, beschrijving en vernietigingsdatum van de koppeling gaan mee; de status van de oude zaak niet.':
    'Title, description and destruction date of the link go along; the status of the old case does not.',
  'Het document {1} is verplaatst.': 'Document {1} was moved.',
  'Document {1} verwijderen': 'Delete document {1}',
  'De ene versie gaat weg.': 'The one version goes.',
  'Alle {1} versies gaan weg.': 'All {1} versions go.',
  'Het audit trail van het document verdwijnt ermee. In de audit van deze pagina’s blijft staan wie het verwijderde, en waarom.':
    'The audit trail of the document goes with it. The audit of these pages keeps who deleted it, and why.',
  'Het document {1} is verwijderd.': 'Document {1} was deleted.',
  'Deze zaak is er niet, of u mag haar niet zien.': 'There is no such case, or you may not see it.',
  'Er zijn meer zaken met dit nummer. Vul de uuid van de zaak in.':
    'There are more cases with this number. Fill in the uuid of the case.',
  'Doe dit als een applicatie het document vergrendelde en niet meer ontgrendelt. Kijk eerst of er niet nog iemand aan werkt.':
    'Do this when an application locked the document and will not unlock it. Look first whether somebody is still working on it.',
  'Voor een document dat voor een test of per ongeluk is gemaakt. Zolang het bij een zaak of besluit hoort, wordt het niet verwijderd (drc-008).':
    'For a document that was made as a test or by mistake. It is not deleted while it belongs to a case or decision (drc-008).',
  'Dit veld wordt niet met de hand gecorrigeerd.': 'This field is not corrected by hand.',
  'Reservering van {1} beëindigen': 'End the reservation of {1}',
  'Reservering beëindigen': 'End reservation',
  'Het nummer is sinds {1} gereserveerd voor {2}.': 'The number has been reserved since {1} for {2}.',
  'Het wordt niet opnieuw uitgegeven. Een applicatie die het al kent, kan er nog steeds iets mee maken: zij geeft haar nummer zelf op.':
    'It is not handed out again. An application that knows it can still make something with it: it states its number itself.',
  'De reservering van {1} is beëindigd.': 'The reservation of {1} was ended.',
  'Dit nummer is niet (meer) gereserveerd.': 'This number is not reserved (any more).',
  'Voor een nummer dat een applicatie reserveerde en niet meer gaat gebruiken.':
    'For a number that an application reserved and will not use any more.',
  'Zaak {1} herstellen': 'Repair case {1}',
  'Zaak verwijderen': 'Delete case',
  'De zaak is afgesloten: dit wijzigt haar met geforceerd bijwerken.':
    'The case is closed: this changes it by a forced change.',
  '{1} is gecorrigeerd.': '{1} was corrected.',
  'Zaak {1} verwijderen': 'Delete case {1}',
  'De zaak {1} is verwijderd.': 'Case {1} was deleted.',
  'Het zijn er meer dan {1}: verwijder ze eerst met de API.': 'There are more than {1}: delete them by the API first.',
  'Het zijn er meer dan {1}: verwijder ze daarna met de API.':
    'There are more than {1}: delete them by the API afterwards.',
  'Deelzaak {1} gaat mee.': 'Sub-case {1} goes along.',
  '{1}: {2} gaat mee.': '{1}: {2} goes along.',
  'Besluit {1} wordt verwijderd.': 'Decision {1} is deleted.',
  'Document {1} hoort bij niets anders en wordt verwijderd, met al zijn versies.':
    'Document {1} belongs to nothing else and is deleted, with all its versions.',
  'Document {1} blijft, en hoort daarna nergens meer bij.': 'Document {1} stays, and then belongs to nothing.',
  'Document {1} is vergrendeld: ontgrendel het eerst (code destroy-locked).':
    'Document {1} is locked: unlock it first (code destroy-locked).',
  'Er zijn meer dan {1} documenten; zij blijven.': 'There are more than {1} documents; they stay.',
  'Aantal andere documenten dat blijft: {1}. Zij horen ook bij iets anders, of zijn vertrouwelijker dan u mag zien.':
    'Other documents that stay: {1}. They belong to something else as well, or are more confidential than you may see.',
  'Het audit trail van de zaak verdwijnt met haar (zrc-023). In de audit van deze pagina’s blijft staan wie haar verwijderde, en waarom.':
    'The audit trail of the case goes with it (zrc-023). The audit of these pages keeps who deleted it, and why.',
  'Deze zaak heeft een deelzaak die u niet mag zien.': 'This case has a sub-case that you may not see.',
  gecorrigeerd: 'corrected',
  ontgrendeld: 'unlocked',
  verplaatst: 'moved',
  'Gereserveerd nummer': 'Reserved number',
  Leeg: 'Empty',
  'Bronorganisatie (RSIN)': 'Source organisation (RSIN)',
  'Verantwoordelijke organisatie (RSIN)': 'Responsible organisation (RSIN)',
  'Opdrachtgevende organisatie (RSIN)': 'Commissioning organisation (RSIN)',
  'Uiterlijke einddatum van afdoening': 'Final date of settlement',
  'Datum en tijd, zoals 2026-11-07T12:00:00Z.': 'Date and time, as 2026-11-07T12:00:00Z.',
  'Communicatiekanaal (adres)': 'Communication channel (address)',
  'Naam van het communicatiekanaal': 'Name of the communication channel',
  'Eén adres per regel.': 'One address on a line.',
  Vertrouwelijkheidaanduiding: 'Vertrouwelijkheidaanduiding',
  Betalingsindicatie: 'Payment indication',
  'Laatste betaaldatum': 'Last payment date',
  'GeoJSON, in EPSG:4326: eerst de lengtegraad.': 'GeoJSON, in EPSG:4326: the longitude first.',
  'Vul een plaats in als GeoJSON, zoals {"type": "Point", "coordinates": [5.12, 52.09]}.':
    'Fill in a place as GeoJSON, as {"type": "Point", "coordinates": [5.12, 52.09]}.',
  'Reden van de verlenging': 'Reason of the extension',
  'Duur van de verlenging': 'Duration of the extension',
  Opgeschort: 'Suspended',
  'Reden van de opschorting': 'Reason of the suspension',
  'Hoofdzaak (adres)': 'Main case (address)',
  'Relevante andere zaken': 'Other relevant cases',
  'Per regel: adres; aard van de relatie (vervolg, onderwerp, bijdrage of overig); andere aard; toelichting.':
    'On a line: address; kind of relation (vervolg, onderwerp, bijdrage or overig); other kind; explanation.',
  'Schrijf per regel het adres en de aard van de relatie, met een puntkomma ertussen.':
    'Write the address and the kind of relation on a line, with a semicolon between them.',
  'Schrijf één adres per regel.': 'Write one address on a line.',
  'Per regel: bron; kenmerk.': 'On a line: source; attribute.',
  'Schrijf per regel de bron en het kenmerk, met een puntkomma ertussen.':
    'Write the source and the attribute on a line, with a semicolon between them.',
  'Selectielijstklasse (adres)': 'Selectielijst class (address)',
  Datumkenmerk: 'Date attribute',
  'Documenttype (adres)': 'Document type (address)',
  'Drie letters, zoals nld.': 'Three letters, as nld.',
  'Een mediatype, zoals application/pdf.': 'A media type, as application/pdf.',
  Bestandsnaam: 'File name',
  'Eén trefwoord per regel.': 'One keyword on a line.',
  'Soort ondertekening': 'Kind of signature',
  'Datum van de ondertekening': 'Date of the signature',
  'Datum van de integriteit': 'Date of the integrity',
}
