/** Why the API refuses a value or an import a row, where the pages show it. What is not here stays Dutch. */
export const REASONS: Record<string, string> = {
  'Dit is geen geldige datum (JJJJ-MM-DD).': 'This is not a valid date (YYYY-MM-DD).',
  'Dit is geen geldig moment (ISO 8601).': 'This is not a valid moment (ISO 8601).',
  'Dit is geen geldige UUID.': 'This is not a valid UUID.',
  'Dit is geen geldige URL.': 'This is not a valid URL.',
  'Dit is geen geldig e-mailadres.': 'This is not a valid e-mail address.',
  'Dit nummer heeft negen cijfers.': 'This number has nine digits.',
  'Dit is geen geldig nummer: alleen cijfers, en het voldoet aan de elfproef.':
    'This is not a valid number: digits only, and it passes the eleven check.',
  'Dit veld is verplicht.': 'This field is required.',
  'Dit veld mag niet null zijn.': 'This field may not be null.',
  'Dit veld mag niet leeg zijn.': 'This field may not be empty.',
  'Dit veld heeft ten minste {1} tekens.': 'This field has at least {1} characters.',
  'Dit veld heeft ten hoogste {1} tekens.': 'This field has at most {1} characters.',
  'Deze waarde is ten minste {1}.': 'This value is at least {1}.',
  'Deze waarde is ten hoogste {1}.': 'This value is at most {1}.',
  'Deze lijst heeft ten hoogste {1} onderdelen.': 'This list has at most {1} items.',
  'Deze lijst mag niet leeg zijn.': 'This list may not be empty.',
  'Deze keuze bestaat niet. Mogelijk: {1}.': 'There is no such choice. Possible: {1}.',
  'Hier hoort een lijst.': 'This has to be a list.',
  'Deze waarde is niet van het juiste soort.': 'This value is not of the right kind.',
  'Deze waarde is ongeldig.': 'This value is not valid.',
  'Deze tekst bevat een teken dat niet is toegestaan.': 'This text contains a character that is not allowed.',
  'Dit veld kan niet worden gewijzigd.': 'This field cannot be changed.',
  'Je hebt geen toestemming om deze actie uit te voeren.': 'You have no permission to do this.',
  'Niet gevonden.': 'Not found.',
  'Ongeldige invoer.': 'The input is not valid.',
  'Er is een conflict.': 'There is a conflict.',
  'De aanvraag is te groot.': 'The request is too large.',
  'Te veel aanvragen.': 'Too many requests.',
  'Er is een serverfout opgetreden.': 'There was a fault in the server.',
  'De dienst is even niet beschikbaar.': 'The service is not available for a moment.',
  'Er is al een kanaal met deze naam.': 'There is a channel with this name already.',
  'Deze identificatie bestaat al.': 'This identification exists already.',
  'Deze identificatie bestaat al binnen de bronorganisatie.':
    'This identification exists already within the source organisation.',
  'Een andere dienst heeft deze API-root al.': 'Another service has this API root already.',
  'De combinatie van domein en rsin bestaat al.': 'The combination of domain and RSIN exists already.',
  'De combinatie van zaaktype en volgnummer bestaat al.':
    'The combination of zaaktype and sequence number exists already.',
  'De combinatie van zaaktype en omschrijving bestaat al.':
    'The combination of zaaktype and description exists already.',
  'De combinatie van zaaktype en naam bestaat al.': 'The combination of zaaktype and name exists already.',
  'Wat hier wordt genoemd is net verwijderd.': 'What is named here has just been deleted.',
  'De tekst bevat een teken dat niet kan worden bewaard.': 'The text contains a character that cannot be stored.',
  'Kanalen en filters van een abonnement zijn samen ten hoogste 64 kB aan JSON.':
    'Kanalen and filters of an abonnement are at most 64 kB of JSON together.',
  'Een getal of datum is groter dan kan worden bewaard.': 'A number or date is larger than can be stored.',
  'Er is geen notificatiedienst ingesteld: meldingen blijven wachten tot u er een instelt.':
    'No notifications service is set: messages wait until you set one.',
  'Er zijn geen abonnementen: niemand krijgt meldingen. Neem ze over met overnemen open-notificaties.':
    'There are no subscriptions: nobody gets messages. Take them over with overnemen open-notificaties.',
  'Wijzigingen worden niet bijgehouden (FEED_DAYS is 0): na de omschakeling kunnen ze niet worden teruggespeeld.':
    'Changes are not kept (FEED_DAYS is 0): after the switch-over they cannot be played back.',
  'Er wordt overgenomen uit een andere installatie: tot de omschakeling wordt hier niets gemaakt of gewijzigd.':
    'Another installation is being taken over: nothing is made or changed here until the switch-over.',
  'Gepauzeerd door {1}.': 'Paused by {1}.',
  'Er zijn al {1} kanalen.': 'There are {1} channels already.',
  'Kanaal {1} bestaat niet.': 'Channel {1} does not exist.',
  'Het bestand is groter of kleiner dan hier staat.': 'The file is larger or smaller than is stated here.',
  "Het pad mag geen '..' bevatten.": "The path may not contain '..'.",
  'Er bestaat al een document met deze uuid; dat blijft ongewijzigd.':
    'There is a document with this uuid already; it stays unchanged.',
  'Het bestand bestaat niet.': 'The file does not exist.',
  '{1} bestaat hier al met deze uuid: geef alles een nieuwe.':
    '{1} exists here already with this uuid: give everything a new one.',
  'in dit bestand staat geen catalogus: noem er een om het in op te nemen':
    'in this file is no catalogue: name one to take it into',
  'in dit bestand staan meer catalogussen: noem er een om de typen in op te nemen':
    'in this file are several catalogues: name one to take the types into',
  'Het bestand is geen Excel-werkmap die wij kunnen lezen.': 'The file is no Excel workbook that we can read.',
  'Het Excel-bestand is uitgepakt te groot.': 'The Excel file is too large when it is unpacked.',
  'Een Excel-bestand mag {1} MB groot zijn.': 'An Excel file may have {1} MB.',
  'Rij {1} is groter dan {2} tekens.': 'Row {1} is larger than {2} characters.',
  'Dit is een Excel-bestand van voor 2007 (.xls). Sla het op als Excel-werkmap (.xlsx).':
    'This is a file of Excel from before 2007 (.xls). Save it as a workbook of Excel (.xlsx).',
  'Dit Excel-bestand heeft een wachtwoord. Sla het op zonder wachtwoord.':
    'This workbook has a password. Save it without one.',
  'Dit is een werkmap van LibreOffice (.ods). Sla haar op als Excel-werkmap (.xlsx).':
    'This is a workbook of LibreOffice (.ods). Save it as one of Excel (.xlsx).',
  'Het Excel-bestand is afgekapt: het eind ontbreekt. Kopieer of download het opnieuw.':
    'The workbook was cut off: its end is not there. Copy or download it again.',
  'Alle rijen van dit bestand zijn volgens hun kolom resultaat al geïmporteerd.':
    'All rows of this file were imported before, by their column resultaat.',
  'Hier staat een foutwaarde van een spreadsheet ({1}). Herstel de cel.':
    'This is an error of a spreadsheet ({1}). Mend the cell.',
  'Een spreadsheet heeft dit nummer ingekort ({1}): de cijfers zijn weg. Maak de kolom op als tekst.':
    'A spreadsheet shortened this number ({1}): its digits are gone. Format the column as text.',
  'Een RSIN heeft negen cijfers, hier staan er acht. Is een nul vooraan weggevallen? Maak de kolom op als tekst.':
    'An RSIN has nine digits, these are eight. Was a nought in front lost? Format the column as text.',
  'Wacht op zijn beurt: een andere import gaat voor.': 'Waits for its turn: another import goes first.',
  'Er wachten al {1} imports.': '{1} imports wait already.',
  // of alerts that were not accepted
  'de mailserver weigert de verbinding': 'the mail server refuses the connection',
  'de mailserver verbrak de verbinding': 'the mail server broke off the connection',
  'de verbinding met de mailserver werd verbroken': 'the connection to the mail server was lost',
  'de mailserver antwoordde niet op tijd': 'the mail server did not answer in time',
  'de mailserver is niet te vinden': 'the mail server cannot be found',
  'de beveiligde verbinding kwam niet tot stand': 'the secure connection could not be made',
  'de mailserver nam de gebruikersnaam of het wachtwoord niet aan':
    'the mail server did not accept the user name or the password',
  'de mailserver vraagt een gebruikersnaam en wachtwoord': 'the mail server asks for a user name and password',
  'de mailserver weigert de afzender of de ontvanger': 'the mail server refuses the sender or the receiver',
  'de mailserver weigert het bericht': 'the mail server refuses the message',
  'dit is geen mailserver': 'this is no mail server',
  'het versturen mislukte': 'sending it failed',
  'het pakket nodemailer ontbreekt in deze installatie': 'the package nodemailer is missing in this installation',
  'mail of webhook is niet (meer) ingesteld': 'mail or webhook is not set up (any more)',
  'de webhook antwoordde met status {1}': 'the webhook answered with status {1}',
}
