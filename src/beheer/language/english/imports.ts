// Imports.
export const imports: Record<string, string> = {
  'Vertrouwelijker dan u mag zien.': 'More confidential than you may see.',
  'Rijen die vertrouwelijker zijn dan u mag zien, zijn in het rapport leeg, en ontbreken bij de rijen die niet zijn geïmporteerd.':
    'Rows that are more confidential than you may see are empty in the report, and are left out of the rows that were not imported.',
  'Onder de rijen die niet zijn geïmporteerd, zijn er die vertrouwelijker zijn dan u mag zien. Vraag iemand die ze mag zien.':
    'Among the rows that were not imported are some that are more confidential than you may see. Ask somebody who may see them.',
  'Van een import krijgt niemand bericht, ook abonnementen niet. Het rapport noemt de documenten, voor wie het moet weten.':
    'Nobody is told of an import, subscriptions neither. The report names the documents, for whoever has to know.',
  'Van deze import kreeg niemand bericht, ook abonnementen niet. Met het rapport vertelt u het wie het moet weten.':
    'Nobody was told of this import, subscriptions neither. With the report you tell whoever has to know.',
  'onbekend (via de API)': 'unknown (with the API)',
  Rijen: 'Rows',
  '{1} van {2} verwerkt, {3} geïmporteerd': '{1} of {2} processed, {3} imported',
  rij: 'row',
  rijen: 'rows',
  'Alle rijen met een fout': 'All rows with an error',
  'Er zijn geen rijen met een fout gevonden.': 'No rows with an error were found.',
  'Rijen met een fout': 'Rows with an error',
  'Rijen, zoals genummerd in het bestand (de kopregel is rij 1)':
    'Rows, as numbered in the file (the header line is row 1)',
  Rij: 'Row',
  Fout: 'Error',
  Bestandspad: 'File path',
  Stappen: 'Steps',
  'Bestand kiezen': 'Choose file',
  Controleren: 'Check',
  Starten: 'Start',
  'De kopregel klopt. Het bestand heeft': 'The header line is right. The file has',
  '({1}). Er is nog niets geïmporteerd.': '({1}). Nothing has been imported yet.',
  'Deze kolommen worden niet gebruikt: {1}{2}.': 'These columns are not used: {1}{2}.',
  Proefdraaien: 'Dry run',
  'Het proefdraaien is bezig: elke rij wordt bekeken zoals bij de import zelf. Er wordt niets geïmporteerd.':
    'The dry run is going on: each row is looked at as in the import itself. Nothing is imported.',
  'Proefdraaien is klaar: in {1} {2} zijn geen fouten gevonden.':
    'The dry run is done: in {1} {2} no errors were found.',
  'Proefdraaien is klaar:': 'The dry run is done:',
  'de ene rij heeft een fout': 'the one row has an error',
  'alle {1} rijen hebben een fout': 'all {1} rows have an error',
  '{1}, er valt niets te importeren.': '{1}, there is nothing to import.',
  heeft: 'has',
  hebben: 'have',
  wordt: 'is',
  worden: 'are',
  '{1} van de {2} rijen {3} een fout en {4} niet geïmporteerd. De andere rijen wel.':
    '{1} of the {2} rows {3} an error and {4} not imported. The other rows are.',
  'Het proefdraaien is gestopt. {1}': 'The dry run stopped. {1}',
  'Bij proefdraaien wordt elke rij bekeken zoals bij de import zelf: de velden, de bestanden in de importmap, en of een uuid of identificatie al bestaat. Er wordt niets geïmporteerd.':
    'In a dry run each row is looked at as in the import itself: the fields, the files in the import directory, and whether a uuid or identification exists already. Nothing is imported.',
  'Gevonden fouten per reden': 'Errors found, by reason',
  'Gevonden fouten, de meeste eerst': 'Errors found, the most frequent first',
  'Aantal rijen': 'Number of rows',
  'Er zijn nog meer redenen; dit zijn de {1} die het vaakst voorkomen.':
    'There are more reasons; these are the {1} that occur most often.',
  'Opnieuw proefdraaien': 'Dry run again',
  'Import starten': 'Start import',
  'Import starten zonder de foute rijen': 'Start import without the wrong rows',
  'Voor starten en proefdraaien is de rol operator nodig.': 'Starting and dry runs need the role operator.',
  'De eerste rijen': 'The first rows',
  'De eerste rij': 'The first row',
  'De eerste {1} rijen': 'The first {1} rows',
  '{1}; lange cellen zijn afgekort': '{1}; long cells are shortened',
  'Rijen met een fout, en de eerste andere': 'Rows with a fault, and the first others',
  fout: 'fault',
  '(leeg)': '(empty)',
  'Leeg in deze rijen, en daarom weggelaten: {1}.': 'Empty in these rows, and therefore left out: {1}.',
  'Alleen de eerste kolommen worden getoond.': 'Only the first columns are shown.',
  '(zonder naam)': '(no name)',
  Bekeken: 'Looked at',
  'Nog te gaan': 'Still to go',
  'Uploaden en controleren': 'Upload and check',
  'Er wordt nog niets geïmporteerd. In de volgende stap ziet u de eerste rijen, en welke rijen een fout hebben (proefdraaien).':
    'Nothing is imported yet. In the next step you see the first rows, and which rows have an error (dry run).',
  'Welke kolommen': 'Which columns',
  'De kopregel heeft deze {1} kolommen, in willekeurige volgorde; wat niet verplicht is mag leeg blijven. Download een':
    'The header line has these {1} columns, in any order; what is not required may stay empty. Download an',
  'voorbeeld voor Excel': 'example for Excel',
  'of een': 'or an',
  'leeg bestand met deze kolommen': 'empty file with these columns',
  Kolommen: 'Columns',
  'De kolommen van een import': 'The columns of an import',
  Kolom: 'Column',
  'Wat erin staat': 'What it holds',
  Voorbeeld: 'Example',
  verplicht: 'required',
  '{1} Zolang dit niet is opgelost, kan er geen import starten. Vraag het aan wie de server beheert.':
    '{1} As long as this has not been solved, no import can start. Ask whoever runs the server.',
  'Er staat al een import open:': 'An import is open already:',
  'import van {1}': 'import of {1}',
  '. Er kan er één tegelijk lopen. U kunt een bestand wel alvast klaarzetten, proefdraaien en in de wachtrij zetten: dan begint het vanzelf als het aan de beurt is.':
    '. Only one can run at a time. In the meantime you can prepare a file, do a dry run and put it in the queue: it then begins by itself when it is its turn.',
  Tekenset: 'Charset',
  Excel: 'Excel',
  CSV: 'CSV',
  NDJSON: 'NDJSON',
  'Alleen voor een CSV die niet in UTF-8 is opgeslagen. Staan er in de volgende stap vreemde tekens? Kies dan een andere.':
    'Only for a CSV that was not saved in UTF-8. Are there strange characters in the next step? Then choose another one.',
  'UTF-8, of wat het bestand zelf zegt': 'UTF-8, or what the file itself says',
  'windows-1252 (“CSV” van Excel in Windows)': 'windows-1252 (“CSV” of Excel in Windows)',
  'macintosh (“CSV” van Excel op een oudere Mac)': 'macintosh (“CSV” of Excel on an older Mac)',
  'iso-8859-15': 'iso-8859-15',
  'UTF-16 zonder byte order mark': 'UTF-16 without a byte order mark',
  'CSV met puntkomma’s, komma’s of tabs, een Excel-werkmap (.xlsx), of NDJSON. Met een kopregel.':
    'CSV with semicolons, commas or tabs, an Excel workbook (.xlsx), or NDJSON. With a header line.',
  'Welk bestand': 'Which file',
  '(.xlsx): het eerste zichtbare blad met de kopregel, tot 32 MB; datums, getallen en waar of onwaar mogen gewone cellen van Excel zijn. Het rapport is een CSV die Excel opent.':
    '(.xlsx): the first visible sheet with the header, up to 32 MB; dates, numbers and true or false may be ordinary cells of Excel. The report is a CSV that Excel opens.',
  ': uit Excel liefst als “CSV UTF-8”. Datums mogen ook met de dag voorop: 1-5-2024. Lege rijen worden overgeslagen.':
    ': from Excel preferably as “CSV UTF-8”. Dates may also have the day first: 1-5-2024. Empty rows are passed over.',
  '(.ndjson of .jsonl): op elke regel een document als JSON, met de velden van de API en':
    '(.ndjson or .jsonl): on each line a document as JSON, with the fields of the API and',
  'Eén lege rij is overgeslagen.': 'One empty row was passed over.',
  '{1} lege rijen zijn overgeslagen.': '{1} empty rows were passed over.',
  'Lege rijen': 'Empty rows',
  'Eén rij is volgens de kolom resultaat al geïmporteerd en wordt overgeslagen.':
    'One row was imported before, by its column resultaat, and is passed over.',
  '{1} rijen zijn volgens de kolom resultaat al geïmporteerd en worden overgeslagen.':
    '{1} rows were imported before, by their column resultaat, and are passed over.',
  'De bestanden zijn samen {1}. Het grootste is {2} (rij {3}).':
    'The files are {1} together. The largest is {2} (row {3}).',
  'In de opslag is {1} vrij.': '{1} is free in the storage.',
  'Dat is te weinig: de import wacht zodra het vol is.': 'That is too little: the import waits when it is full.',
  'Al eerder geïmporteerd': 'Imported before',
  '{1}, overgeslagen': '{1}, passed over',
  'In de wachtrij zetten': 'Put in the queue',
  'In de wachtrij zetten zonder de foute rijen': 'Put in the queue without the wrong rows',
  'In de wachtrij ({1})': 'In the queue ({1})',
  'Deze import is als eerste aan de beurt. Hij begint vanzelf als de import die nu open staat, is gestopt.':
    'It is the turn of this import first. It begins by itself when the import that is open now has stopped.',
  'Deze import staat op plaats {1} in de wachtrij. Hij begint vanzelf als de imports ervoor zijn gestopt.':
    'This import is at place {1} in the queue. It begins by itself when the imports before it have stopped.',
  'Het CSV-bestand is er nog niet: de client die hem maakte, mag het al uploaden.':
    'The CSV file is not there yet: the client that made it may upload it already.',
  'De import begint vanzelf zodra hij aan de beurt is. U kunt deze pagina gerust verlaten.':
    'The import begins by itself as soon as it is its turn. You can leave this page.',
  'Rijen kiezen': 'Choose rows',
  Tonen: 'Show',
  'Er zijn geen rijen om te tonen.': 'There are no rows to show.',
  Geïmporteerd: 'Imported',
  'Niet geïmporteerd': 'Not imported',
  'Document van rij {1}': 'Document of row {1}',
  'Alle verwerkte rijen': 'All processed rows',
  'Alleen niet geïmporteerd': 'Only not imported',
  'van {1} rijen)': 'of {1} rows)',
  'Deze import is door een client gemaakt en wacht op het CSV-bestand. Zolang hij open staat, kan er geen andere import starten. Komt er geen bestand meer? Verwijder of annuleer hem dan.':
    'This import was made by a client and waits for the CSV file. As long as it is open, no other import can start. Is no file coming any more? Then delete or cancel it.',
  'Deze import is gepauzeerd na {1} van de {2} rijen. Zolang hij open staat, kan er geen andere import starten.':
    'This import was paused after {1} of the {2} rows. As long as it is open, no other import can start.',
  'rijen in het bestand': 'rows in the file',
  geïmporteerd: 'imported',
  'niet geïmporteerd door een fout': 'not imported because of an error',
  'niet geprobeerd': 'not tried',
  'Waarom rijen niet zijn geïmporteerd': 'Why rows were not imported',
  'Kies een reden om de rijen te zien.': 'Choose a reason to see the rows.',
  'Fouten per reden': 'Errors by reason',
  'Fouten per reden, de meeste eerst': 'Errors by reason, the most frequent first',
  'rij {1}': 'row {1}',
  'Er zijn nog meer redenen. Het rapport noemt ze allemaal.': 'There are more reasons. The report lists them all.',
  'Alle rijen zijn geïmporteerd.': 'All rows have been imported.',
  'Alleen de rijen die niet zijn geïmporteerd': 'Only the rows that were not imported',
  '(CSV, {1} {2}). Verbeter ze en start er een nieuwe import mee; ligt het niet aan de rijen zelf, probeer ze dan hieronder opnieuw.':
    '(CSV, {1} {2}). Correct them and start a new import with it; if the rows themselves are not the cause, try them again below.',
  'Rapport voor een spreadsheet': 'Report for a spreadsheet',
  '(CSV). Cellen die op een formule lijken, beginnen met een apostrof: openen is veilig.':
    '(CSV). Cells that look like a formula begin with an apostrophe: opening it is safe.',
  'Rapport met de cellen zoals ze waren': 'Report with the cells as they were',
  '(CSV). Voor verwerking door een programma.': '(CSV). To be processed by a program.',
  'Alle verwerkte rijen bekijken': 'View all processed rows',
  UUID: 'UUID',
  'Verder gaan': 'Continue',
  'De rij die niet is geïmporteerd opnieuw proberen': 'Try the row that was not imported again',
  'De {1} rijen die niet zijn geïmporteerd opnieuw proberen': 'Try the {1} rows that were not imported again',
  'Import annuleren': 'Cancel import',
  'Import verwijderen': 'Delete import',
  Verwerkt: 'Processed',
  'Een import maakt van elke rij van een bestand (CSV, Excel of NDJSON) een document. De inhoud komt uit bestanden die al op de server staan, in de importmap.':
    'An import makes a document of each row of a CSV file. The content comes from files that are on the server already, in the import directory.',
  'Klaargezet, nog niet gestart': 'Prepared, not started yet',
  'Klaargezette bestanden': 'Prepared files',
  'Klaargezette bestanden; na een dag worden ze weggegooid': 'Prepared files; they are thrown away after a day',
  Door: 'By',
  'Een bestand dat u niet start, wordt na een dag weggegooid.':
    'A file that you do not start is thrown away after a day.',
  'Er zijn nog geen imports.': 'There are no imports yet.',
  'Start de eerste import': 'Start the first import',
  'Imports{1}': 'Imports{1}',
  'Rijen/s': 'Rows/s',
  'Import {1}': 'Import {1}',
  '{1} van': '{1} of',
  'Wacht op een bestand': 'Waiting for a file',
  Loopt: 'Running',
  Geannuleerd: 'Cancelled',
  'Klaar, met fouten': 'Done, with errors',
  klaar: 'done',
  'ongeveer {1}': 'about {1}',
  'Er is al meer dan twee minuten geen voortgang. Kijk op de pagina Taken wat er aan de hand is.':
    'There has been no progress for more than two minutes. See on the page Jobs what is going on.',
  'Er draait geen worker, dus er gebeurt nu niets. Start een worker (opdracht: zaakstroom worker); daarna gaat het vanzelf verder.':
    'No worker is running, so nothing happens now. Start a worker (command: zaakstroom worker); after that it continues by itself.',
  'Laat de import verder gaan, of probeer': 'Let the import continue, or try',
  Probeer: 'Try',
  'Wat al was geïmporteerd, blijft staan. Wilt u de rest alsnog importeren? {1} de rijen die niet zijn geïmporteerd opnieuw.':
    'What had been imported stays. Do you want to import the rest? {1} the rows that were not imported again.',
  'Deze import is geannuleerd. {1}': 'This import was cancelled. {1}',
  'Deze import is voor het einde gestopt. {1} De oorzaak staat in het logboek van de worker. {2}':
    'This import stopped before the end. {1} The cause is in the log of the worker. {2}',
  '{1} van {2} rijen verwerkt, {3} niet geïmporteerd.': '{1} of {2} rows processed, {3} not imported.',
  '{1} van {2} rijen bekeken, {3} met een fout.': '{1} of {2} rows looked at, {3} with an error.',
  'Dit formulier kwam niet compleet aan. Probeer het opnieuw.': 'This form did not arrive complete. Try again.',
  'De verbinding is verbroken. Er is niets bewaard.': 'The connection was broken. Nothing has been kept.',
  'bestand zonder naam': 'file without a name',
  'Controleren: {1}': 'Check: {1}',
  'concept {1}': 'draft {1}',
  'De import is gestart. U kunt deze pagina gerust verlaten.':
    'The import has started. You can leave this page safely.',
  'Het bestand is weggegooid. Er is niets geïmporteerd.': 'The file has been thrown away. Nothing has been imported.',
  'Er is geen bestand gekozen.': 'No file has been chosen.',
  'Het bestand is groter dan {1}.': 'The file is larger than {1}.',
  'Er is al een import bezig, daarom is deze niet gestart. Uw bestand staat nog klaar: zet het in de wachtrij, of start het als de andere import klaar is.':
    'An import is running already, so this one has not been started. Your file is still prepared: put it in the queue, or start it when the other import is done.',
  'import {1}': 'import {1}',
  'Rijen met dezelfde fout': 'Rows with the same error',
  'Dit bestand is er pas als de import is gestopt.': 'This file is there only when the import has stopped.',
  'De import is gepauzeerd. De rijen waar hij mee bezig was, worden nog afgemaakt.':
    'The import has been paused. The rows it was busy with are still finished.',
  'De import gaat verder.': 'The import continues.',
  'Dit kan pas als de import is gestopt.': 'This is possible only when the import has stopped.',
  'De rijen die niet zijn geïmporteerd, staan klaar en worden nu gecontroleerd.':
    'The rows that were not imported have been prepared and are now being checked.',
  'De import stopt na de rijen waar hij nu mee bezig is. Wat al is geïmporteerd, blijft staan.':
    'The import stops after the rows it is busy with now. What has been imported stays.',
  'Een geannuleerde import kan niet verder gaan. De rijen die overblijven kunt u daarna downloaden.':
    'A cancelled import cannot continue. You can download the rows that are left afterwards.',
  'Niet annuleren': 'Do not cancel',
  'De import is geannuleerd.': 'The import has been cancelled.',
  'U verwijdert deze import met het rapport en de rijen van het bestand. Dit is niet terug te draaien.':
    'You are deleting this import with the report and the rows of the file. This cannot be undone.',
  'De documenten die zijn geïmporteerd, blijven bestaan.': 'The documents that have been imported stay.',
  'Niet verwijderen': 'Do not delete',
  'De import is verwijderd. De documenten zijn er nog.': 'The import has been deleted. The documents are still there.',
  'Dat kan nu niet: de import staat op “{1}”, of er wordt net aan gewerkt. Probeer het zo nodig opnieuw.':
    'That is not possible now: the import stands at “{1}”, or is being worked on. Try again if need be.',
  'via deze pagina’s': 'with these pages',
  'via de API': 'with the API',
  'Import van {1}': 'Import of {1}',
  'De import wacht op de importmap. Controleer of de map van de instelling IMPORT_DOCUMENTEN_BASE_DIR bestaat en leesbaar is op de machine van de worker. De import gaat daarna vanzelf verder, binnen tien seconden.':
    'The import waits for the import directory. Check whether the directory of the setting IMPORT_DOCUMENTEN_BASE_DIR exists and can be read on the machine of the worker. The import then continues by itself, within ten seconds.',
  'De import wacht op ruimte op de schijf van de documenten: er is minder dan 2% of 1 GB vrij. Maak de schijf groter of ruim op. De import gaat daarna vanzelf verder, binnen tien seconden.':
    'The import waits for space on the disk of the documents: less than 2% or 1 GB is free. Make the disk larger, or clean up. The import then goes on by itself, within ten seconds.',
  'De import wacht op de virusscanner, die niet antwoordt. Start clamd opnieuw en bekijk zijn log. De import gaat daarna vanzelf verder, binnen tien seconden.':
    'The import waits for the malware scanner, which does not answer. Restart clamd and look at its log. The import then goes on by itself, within ten seconds.',
  'De import wacht op de opslag van documenten. Controleer of de opslag bereikbaar en beschrijfbaar is; het Overzicht laat dat zien. De import gaat daarna vanzelf verder, binnen tien seconden.':
    'The import waits for the storage of documents. Check whether the storage can be reached and written to; the Overview shows that. The import then continues by itself, within ten seconds.',
  'De import wacht tot de worker weer bestanden kan openen: de grens van het systeem (ulimit -n, bij systemd LimitNOFILE) is bereikt. Maak die grens hoger en start de worker opnieuw. De import gaat daarna vanzelf verder, binnen tien seconden.':
    'The import waits until the worker can open files again: the bound of the system (ulimit -n, LimitNOFILE of systemd) is reached. Raise it and start the worker again. The import then goes on by itself, within ten seconds.',
  'De import wacht op de database: die is vol of alleen te lezen. Maak ruimte of maak de database beschrijfbaar. De import gaat daarna vanzelf verder, binnen tien seconden.':
    'The import waits for the database: it is full or read-only. Make room or make the database writable. The import then continues by itself, within ten seconds.',
  'Eigen uuid voor het document. Leeg: wij maken er een.': 'Uuid of your own for the document. Empty: we make one.',
  'Eigen nummer, uniek binnen de bronorganisatie. Leeg: wij maken er een.':
    'Number of your own, unique within the source organisation. Empty: we make one.',
  'RSIN van de organisatie, negen cijfers.': 'RSIN of the organisation, nine digits.',
  'Dag waarop het document is gemaakt: jjjj-mm-dd, of d-m-jjjj.':
    'Day on which the document was made: yyyy-mm-dd, or d-m-yyyy.',
  'Waaronder het document wordt gevonden.': 'What the document is found by.',
  'Zoals openbaar, intern of zaakvertrouwelijk. Leeg: die van het documenttype.':
    'Such as openbaar, intern or zaakvertrouwelijk. Empty: that of the document type.',
  'Persoon of afdeling die het schreef.': 'Person or department that wrote it.',
  'in_bewerking, ter_vaststelling, definitief of gearchiveerd.':
    'in_bewerking, ter_vaststelling, definitief or gearchiveerd.',
  'Mediatype. Hiermee toont de browser het document.': 'Media type. With it the browser shows the document.',
  'Drie letters (ISO 639-2/B), zoals nld.': 'Three letters (ISO 639-2/B), such as nld.',
  'Naam waaronder het wordt gedownload.': 'Name under which it is downloaded.',
  'Aantal bytes. Leeg: wij tellen zelf; ingevuld moet het kloppen.':
    'Number of bytes. Empty: we count ourselves; if filled in it must be right.',
  'Waar het bestand staat, gerekend vanaf de importmap op de server.':
    'Where the file is, counted from the import directory on the server.',
  'URL waar het origineel staat.': 'URL of where the original is.',
  'Waar het over gaat.': 'What it is about.',
  'Dag van ontvangst: jjjj-mm-dd, of d-m-jjjj.': 'Day of receipt: yyyy-mm-dd, or d-m-yyyy.',
  'Dag van verzending: jjjj-mm-dd, of d-m-jjjj.': 'Day of dispatch: yyyy-mm-dd, or d-m-yyyy.',
  'true of false, waar of onwaar, ja of nee. Leeg: onbekend.':
    'true or false, waar or onwaar, ja or nee. Empty: unknown.',
  'Vorm van het document, zoals brief.': 'Form of the document, such as brief.',
  'analoog, digitaal of pki; samen met de datum.': 'analoog, digitaal or pki; together with the date.',
  'Dag van ondertekening: jjjj-mm-dd, of d-m-jjjj.': 'Day of signing: yyyy-mm-dd, or d-m-yyyy.',
  'Van de controlesom, zoals sha_256; samen met waarde en datum.':
    'Of the checksum, such as sha_256; together with value and date.',
  'De controlesom. Het bestand moet erbij passen.': 'The checksum. The file has to match it.',
  'Dag waarop zij is berekend: jjjj-mm-dd, of d-m-jjjj.': 'Day on which it was calculated: yyyy-mm-dd, or d-m-yyyy.',
  'Omschrijving van het documenttype, zo nodig met het domein van zijn catalogus erachter: Brief (DEMO). Of zijn URL.':
    'Description of the document type, if need be with the domain of its catalogue behind it: Brief (DEMO). Or its URL.',
  'uuid van de zaak waar het document bij hoort.': 'uuid of the case that the document belongs to.',
  'Woorden met komma’s ertussen.': 'Words separated by commas.',
  'Kies hieronder in welke tekenset het staat, of sla het op als CSV in UTF-8 (in Excel: “CSV UTF-8”), en kies het opnieuw. Er is niets bewaard.':
    'Choose below in which charset it is, or save the file as CSV in UTF-8 (in Excel: “CSV UTF-8”), and choose it again. Nothing has been kept.',
  'Verdeel het over meer bestanden, en kies er een. Er is niets bewaard.':
    'Divide it over more files, and choose one of them. Nothing was kept.',
  'Kies een CSV-bestand met een kopregel en ten minste één rij.':
    'Choose a CSV file with a header line and at least one row.',
  'Voeg deze kolommen toe, ook als ze leeg blijven, en kies het bestand opnieuw. Er is niets bewaard.':
    'Add these columns, even if they stay empty, and choose the file again. Nothing has been kept.',
  'Laat elke kolom één keer voorkomen, en kies het bestand opnieuw. Er is niets bewaard.':
    'Have each column occur once, and choose the file again. Nothing has been kept.',
  Bewijs: 'Receipt',
  'Elke opgeslagen kopie wordt nog eens gelezen en vergeleken met haar bron. Tot rij {1} is dat gedaan.':
    'Each stored copy is read once more and compared with its source. That is done up to row {1}.',
  'kopie is': 'copy is',
  'kopieën zijn': 'copies are',
  '{1} {2} beschadigd of weg: rij {3}.': '{1} {2} damaged or missing: row {3}.',
  'Gelijk aan hun bron': 'Equal to their source',
  '{1} documenten, {2} bytes': '{1} documents, {2} bytes',
  'Sindsdien verwijderd': 'Deleted since',
  Nagekeken: 'Checked',
  'Hash van alle hashes': 'Hash of all hashes',
  'Het ondertekende bewijs staat onder aan het rapport voor een spreadsheet, en in de API als':
    'The signed receipt stands at the foot of the report for a spreadsheet, and in the API as',
  Blad: 'Sheet',
  'Alleen voor een werkmap: de naam van het blad. Leeg is het eerste zichtbare blad met de kopregel.':
    'Only for a workbook: the name of the sheet. Empty is the first visible sheet with the header.',
  'Gelezen is het blad': 'Read was the sheet',
  'De kopregel staat op rij {1}: wat erboven staat, is overgeslagen.':
    'The header is on row {1}: what stands above it was passed over.',
  'Verborgen rijen en kolommen doen mee.': 'Hidden rows and columns take part.',
  'Van samengevoegde cellen heeft alleen de eerste een waarde.': 'Of merged cells only the first one has a value.',
  'De andere bladen zijn {1}.': 'The other sheets are {1}.',
  'Kies het bestand opnieuw en noem een ander blad': 'Choose the file again and name another sheet',
  'Dit bestand is al eens geïmporteerd: dat maakte {1} {2}.': 'This file was imported before: that made {1} {2}.',
  'Bekijk die import': 'Look at that import',
  '. Start u dit bestand ook, dan komen zij er dubbel.': '. If you start this file as well, they are made twice.',
  'Verbeterd bestand kiezen': 'Choose a mended file',
  'Die rijen als werkmap': 'Those rows as a workbook',
  '(Excel). Wat fout is, is rood, met de reden als opmerking bij de cel.':
    '(Excel). What is wrong is red, with the reason as a comment of its cell.',
  'Dit bestand is er pas als de import is gestopt, en niet van zoveel rijen.':
    'This file is there when the import has stopped, and not of so many rows.',
}
