// Other services and the configuration.
export const settings: Record<string, string> = {
  'Logboek dataverwerkingen, in dagen': 'Log of processing, in days',
  'Zo lang blijft hier te zien wie naar een zaak of een persoon keek. Wat nog niet bij het logboek van de organisatie is, blijft langer.':
    'So long it stays visible here who looked at a case or a person. What the log of the organisation does not have yet stays longer.',
  omgeving: 'environment',
  standaard: 'default',
  Selectielijst: 'Selectielijst',
  Bewaren: 'Keeping',
  Onderdelen: 'Components',
  'geldig tot': 'valid until',
  'van {1}': 'by {1}',
  'Er is nog niets opgeslagen.': 'Nothing was saved yet.',
  'Het geheim of de sleutel die u hebt ingevuld is onthouden, versleuteld. U hoeft die niet opnieuw in te vullen.':
    'The secret or key that you filled in is remembered, encrypted. You need not fill it in again.',
  'Eerst proberen': 'Try first',
  'Dit onderdeel staat uit. Een administrator zet het aan bij Configuratie, onder Onderdelen.':
    'This component is off. An administrator switches it on at Configuration, under Components.',
  'Nee: de API antwoordt overal 404 met code api-disabled, en de pagina’s over zaken verdwijnen. Wat er is, blijft bewaard.':
    'No: the API answers 404 with code api-disabled everywhere, and the pages about cases go. What there is stays stored.',
  'Nee: de API antwoordt 404 met code api-disabled, de pagina’s over documenten en imports verdwijnen, en een lopende import wacht.':
    'No: the API answers 404 with code api-disabled, the pages about documents and imports go, and an import that runs waits.',
  'Nee: de API antwoordt 404 met code api-disabled en de pagina’s over typen verdwijnen. Zaken en documenten gebruiken de typen die er zijn nog wel.':
    'No: the API answers 404 with code api-disabled and the pages about types go. Cases and documents still use the types that are there.',
  'Nee: de API antwoordt 404 met code api-disabled. Wat er is, blijft bewaard.':
    'No: the API answers 404 with code api-disabled. What there is stays stored.',
  'Nee: de API antwoordt 404 met code api-disabled. Applicaties en hun rechten gelden nog steeds, en blijven hier te wijzigen.':
    'No: the API answers 404 with code api-disabled. Applications and their rights still hold, and can still be changed here.',
  'Toegang tot de API’s': 'Access to the APIs',
  'Wat hier wordt gewijzigd geldt meteen, voor alle processen. Wat in de omgeving (environment) van de service staat wint: dat ligt hier vast. Elke wijziging staat in de':
    'What is changed here counts at once, for all processes. What is in the environment of the service wins: that is fixed here. Every change is in the',
  audit: 'audit',
  'Ligt vast:': 'Fixed:',
  'staat in de omgeving van de service.': 'is in the environment of the service.',
  'Wijzigingen opslaan': 'Save changes',
  'Elders in deze pagina’s in te stellen': 'Set elsewhere in these pages',
  'Alleen in de omgeving': 'In the environment only',
  'Deze instellingen worden bij het starten gelezen. Ze zijn nodig voordat de database er is, of horen bij één proces: wijzig ze in de omgeving en start het programma opnieuw. Wat elke instelling doet staat in':
    'These settings are read at the start. They are needed before there is a database, or belong to one process: change them in the environment and start the program again. What each setting does is in',
  '. Geheimen worden nooit getoond.': '. Secrets are never shown.',
  'Instellingen die alleen in de omgeving staan': 'Settings that are in the environment only',
  '{1} van de {2} zijn gezet; de andere hebben hun standaardwaarde':
    '{1} of the {2} have been set; the others have their default',
  Waarde: 'Value',
  'Komt uit': 'Comes from',
  'ingesteld, wordt niet getoond': 'set, is not shown',
  'hier ingesteld': 'set here',
  'Standaard: {1}.': 'Default: {1}.',
  'U verwijdert de dienst': 'You are deleting the service',
  'Notificaties gaan naar deze dienst. Kies eerst een andere bij':
    'Notifications go to this service. First choose another at',
  'Terug naar de dienst': 'Back to the service',
  "Vanaf dat moment worden URL's van deze dienst niet meer opgevraagd. Wie ernaar verwijst in een nieuwe zaak of een nieuw document, krijgt de fout":
    'From then on URLs of this service are no longer fetched. Whoever refers to them in a new case or a new document gets the error',
  '. Wat er al is, blijft. Het bewaarde geheim gaat weg. Dit kan niet ongedaan worden gemaakt.':
    '. What there is stays. The stored secret goes. This cannot be undone.',
  'Dienst verwijderen': 'Delete service',
  'Er is niets opgeslagen. Verbeter de velden met een rode streep.':
    'Nothing has been saved. Correct the fields with a red line.',
  Certificaten: 'Certificates',
  'Hoe beheerders haar noemen.': 'What administrators call it.',
  'Naam in configuratiebestanden': 'Name in configuration files',
  'Letters, cijfers en streepjes. Zij verandert later niet meer.':
    'Letters, digits and hyphens. It does not change later.',
  'Waar de API begint, bijvoorbeeld https://zaken.example.nl/zaken/api/v1/. Alleen URL’s hieronder worden opgevraagd.':
    'Where the API begins, for example https://zaken.example.nl/zaken/api/v1/. Only URLs below it are fetched.',
  'Zo lang mag één verzoek duren, van verbinden tot en met het antwoord.':
    'How long one request may take, from connecting up to and including the answer.',
  'Zoals die dienst ons kent.': 'As that service knows us.',
  'Naam van de header': 'Name of the header',
  'Bijvoorbeeld Authorization of X-Api-Key.': 'For example Authorization or X-Api-Key.',
  'Secret of sleutel': 'Secret or key',
  'Bij een header de hele waarde, bijvoorbeeld Token abc. Zij wordt versleuteld bewaard en nooit getoond.':
    'For a header the whole value, for example Token abc. It is stored encrypted and never shown.',
  'Gebruiker in onze tokens (user_id)': 'User in our tokens (user_id)',
  'Weergave van die gebruiker': 'Display name of that user',
  'Client-certificaat (PEM)': 'Client certificate (PEM)',
  'Sleutel daarvan (PEM, zonder wachtwoord)': 'Its key (PEM, without a password)',
  'Eigen CA van de dienst (PEM)': 'The service’s own CA (PEM)',
  'De certificaten die voor deze dienst instaan, in plaats van de gebruikelijke. Leeg: de gebruikelijke.':
    'The certificates that vouch for this service, in place of the usual ones. Empty: the usual ones.',
  Header: 'Header',
  'bewaard, versleuteld': 'stored, encrypted',
  'Eigen CA': 'Own CA',
  'nee: de gebruikelijke': 'no: the usual ones',
  voor: 'for',
  'De test stelt één vraag aan de dienst, met onze gegevens. Er wordt niets gewijzigd.':
    'The test asks the service one question, with our credentials. Nothing is changed.',
  gelukt: 'succeeded',
  mislukt: 'failed',
  'let op': 'attention',
  'Wat te doen': 'What to do',
  ', door {1}, in {2} ms': ', by {1}, in {2} ms',
  'Adres toen': 'Address then',
  'Deze dienst is nog niet getest.': 'This service has not been tested yet.',
  'Alle verzoeken aan deze dienst': 'All requests to this service',
  'Dit zijn de diensten elders die deze dienst mag aanroepen: voor typen, zaken, documenten en besluiten op een andere server, voor objecten en voor notificaties. Een URL die niet onder een van deze adressen ligt, wordt nooit opgevraagd.':
    'These are the services elsewhere that this service may call: for types, cases, documents and decisions on another server, for objects and for notifications. A URL that is not below one of these addresses is never fetched.',
  'Daarnaast wordt de selectielijst opgevraagd:': 'Besides, the selectielijst is fetched:',
  'Nieuwe dienst': 'New service',
  'Er zijn geen andere diensten. Deze dienst roept niets aan.':
    'There are no other services. This service calls nothing.',
  'Andere diensten': 'Other services',
  'Laatste verzoek': 'Last request',
  '(notificaties)': '(notifications)',
  'geen antwoord': 'no answer',
  'Vul letters, cijfers, streepjes of lage streepjes in.': 'Fill in letters, digits, hyphens or underscores.',
  'Een andere dienst heeft deze naam al.': 'Another service has this name already.',
  'De dienst is opgeslagen. Test nu of zij ons kent.': 'The service has been saved. Now test whether it knows us.',
  'De dienst is opgeslagen.': 'The service has been saved.',
  'De dienst ‘{1}’ is verwijderd.': 'The service ‘{1}’ has been deleted.',
  'Notificaties gaan naar deze dienst. Kies eerst een andere bij Notificatiescomponentconfiguratie.':
    'Notifications go to this service. First choose another at Notificatiescomponentconfiguratie.',
  'Deze dienst bestaat niet (meer).': 'This service does not exist (any more).',
  'Dienst wijzigen': 'Change service',
  'Vul het geheim opnieuw in: de manier van bekendmaken of de server is gewijzigd.':
    'Fill in the secret again: the way of identifying ourselves or the server has changed.',
  'eigen CA': 'own CA',
  'Een instelling is': 'One setting was',
  '{1} instellingen zijn': '{1} settings were',
  '{1} gewijzigd. Dat geldt vanaf nu, zonder herstart.': '{1} changed. That counts from now on, without a restart.',
  'Iemand anders heeft dit intussen gewijzigd: het is nu “{1}”. Open de pagina opnieuw.':
    'Somebody else has changed this meanwhile: it is “{1}” now. Open the page again.',
  'Standaard ({1})': 'Default ({1})',
  'Vul {1} in.': 'Fill in {1}.',
  'van ten minste {1}': 'of at least {1}',
  'van {1} tot en met {2}': 'from {1} up to and including {2}',
  'Vul een geheel getal in {1}, of laat het leeg voor de standaard.':
    'Fill in a whole number {1}, or leave it empty for the default.',
  'Eenmalige codes verplicht': 'One-time codes required',
  'Wie met een wachtwoord inlogt moet eerst eenmalige codes instellen. Dat geldt meteen, ook voor wie nu is ingelogd.':
    'Whoever signs in with a password has to set up one-time codes first. That counts at once, also for who is signed in now.',
  'Geldigheid van een token, in seconden': 'Validity of a token, in seconds',
  'Zo lang na het maken (iat) wordt een token van een applicatie aangenomen. Te kort, en applicaties krijgen 403.':
    'How long after it was made (iat) a token of an application is accepted. Too short, and applications get 403.',
  'Verschil tussen klokken, in seconden': 'Difference between clocks, in seconds',
  'Zoveel mogen de klokken van een applicatie en van deze dienst verschillen.':
    'How much the clocks of an application and of this service may differ.',
  'Token uit de toekomst, in seconden': 'Token from the future, in seconds',
  'Zoveel mag het moment waarop een token is gemaakt (iat) in de toekomst liggen.':
    'How far in the future the moment may be at which a token was made (iat).',
  'Rijen per stap': 'Rows per step',
  'Zoveel rijen van een import worden samen verwerkt. Geldt voor imports die hierna beginnen.':
    'How many rows of an import are processed together. Counts for imports that begin after this.',
  'Imports, in dagen': 'Imports, in days',
  'Zo lang na het einde blijft een import met zijn rapport bewaard. De documenten zelf blijven.':
    'How long after its end an import is kept with its report. The documents themselves stay.',
  'Nummers van nieuwe zaken': 'Numbers of new cases',
  'Hoe een zaak zijn nummer krijgt als de aanvrager er geen meegeeft. Bestaande nummers blijven.':
    'How a case gets its number if the applicant gives none. Existing numbers stay.',
  'ZAAK-, het jaar van de startdatum en een volgnummer dat elk jaar bij 1 begint':
    'ZAAK-, the year of the start date and a sequence number that begins at 1 each year',
  'ZAAK-, het jaar van de startdatum en een volgnummer': 'ZAAK-, the year of the start date and a sequence number',
  'ZAAK-, het jaar van vandaag en een volgnummer': 'ZAAK-, the year of today and a sequence number',
  'zoals bij UWV': 'as at UWV',
  'Waarden van eigenschappen controleren': 'Check values of properties',
  'De waarde van een eigenschap moet passen bij de specificatie in het zaaktype, anders wordt hij geweigerd.':
    'The value of a property has to fit the specification in the zaaktype, or it is refused.',
  'KVK-nummer als innNnpId van een rol': 'KVK number as innNnpId of a role',
  'Formulieren sturen soms een KVK-nummer van acht cijfers waar het RSIN van een niet-natuurlijk persoon hoort. Aan: het wordt bewaard zoals het komt. Uit: het wordt geweigerd.':
    'Forms sometimes send a KVK number of eight digits where the RSIN of an organisation belongs. On: it is kept as it comes. Off: it is refused.',
  'Notities en contacten bij afgesloten zaken': 'Notes and contacts of closed cases',
  'Notities, substatussen, contactmomenten en verzoeken bij een zaak die is afgesloten. Uit: dat vraagt het recht geforceerd bijwerken. Aan: bijwerken is genoeg, zoals in Open Zaak. Bij een gearchiveerde zaak kan het nooit.':
    'Notes, substatussen, contactmomenten and verzoeken of a case that is closed. Off: that asks for the right geforceerd bijwerken. On: bijwerken is enough, as in Open Zaak. Of an archived case it is never possible.',
  'Zaken verbinden zonder rechten op de andere zaak': 'Relating cases without rights on the other case',
  'Een hoofdzaak of gerelateerde zaak wijzigt mee als een andere zaak haar noemt. Uit: dat vraagt rechten op beide zaken. Aan: alleen op de zaak die haar noemt, zoals in Open Zaak.':
    'A hoofdzaak or gerelateerde zaak changes along when another case names it. Off: that asks for rights on both cases. On: only on the case that names it, as in Open Zaak.',
  'Wat een zaaktype vraagt voor een status of resultaat': 'What a zaaktype asks before a status or resultaat',
  'Eigenschappen en documenten die een zaaktype noemt bij een statustype of resultaattype, en de einddatum die bij het afsluiten bekend moet zijn.':
    'Eigenschappen and documents that a zaaktype names at a statustype or resultaattype, and the end that has to be known when a case closes.',
  'wat ontbreekt staat als waarschuwing in het antwoord (X-Warning)':
    'what lacks is a warning in the answer (X-Warning)',
  'wat ontbreekt wordt geweigerd, behalve met geforceerd bijwerken':
    'what lacks is refused, but with geforceerd bijwerken',
  'Gearchiveerde zaken wijzigen': 'Changing archived cases',
  'Wat bij een gearchiveerde zaak hoort: documenten, besluiten, resultaat, notities. Uit: het blijft zoals het is, voor iedereen. Aan: het wijzigt met het recht geforceerd bijwerken.':
    'What belongs to an archived case: documents, besluiten, resultaat, notes. Off: it stays as it is, for everybody. On: it changes with the right geforceerd bijwerken.',
  'Versies van typen die een dag delen': 'Versions of types that share a day',
  'Een versie die begint op de dag waarop de vorige eindigt. Uit: de API weigert dat (ztc-016). Aan: het mag, zoals in Open Zaak, en op die dag geldt de nieuwe.':
    'A version that begins on the day on which the one before it ends. Off: the API refuses that (ztc-016). On: it is allowed, as in Open Zaak, and the new one counts on that day.',
  'Dit zijn {1} tekens; er passen er ten hoogste {2}.': 'These are {1} characters; at most {2} fit.',
  'Wat hier is opgeslagen telt niet, en de standaard geldt. {1}':
    'What is stored here does not count, and the default does. {1}',
  'Processen van deze installatie hebben verschillende instellingen.':
    'Processes of this installation have different settings.',
  'Geef ze alle dezelfde omgeving en start ze opnieuw.': 'Give all of them the same environment, and restart them.',
  'is anders bij {1} {2}': 'is different at {1} {2}',
  'Geldt niet overal:': 'Does not count everywhere:',
  'staat in de omgeving van de service': 'stands in the environment of the service',
  'staat in de omgeving van {1}.': 'stands in the environment of {1}.',
  'Concepttypen toestaan': 'Allow draft types',
  'Zaken, documenten en besluiten mogen worden gemaakt van typen die nog een concept zijn. Alleen voor een testomgeving.':
    'Cases, documents and decisions may be made of types that are still drafts. For a test environment only.',
  'Websites waarvan scripts de API’s mogen aanroepen (CORS)': 'Websites whose scripts may call the APIs (CORS)',
  'Adressen zoals https://formulieren.example.nl, met komma’s ertussen, of * voor alle. Leeg: geen.':
    'Addresses such as https://formulieren.example.nl, separated by commas, or * for all. Empty: none.',
  'adressen als https://example.nl, met komma’s ertussen, of *':
    'addresses such as https://example.nl, separated by commas, or *',
  'Notificaties uitzetten': 'Turn off notifications',
  'Wijzigingen worden niet meer gemeld. Ze worden ook later niet alsnog gemeld.':
    'Changes are no longer reported. They are not reported later either.',
  'Bron in elke notificatie': 'Source in every notification',
  'Wat in source van elke notificatie staat. Leeg: het adres van deze dienst.':
    'What the source of every notification says. Empty: the address of this service.',
  'ten hoogste 100 tekens': 'at most 100 characters',
  'Private hosts voor callbacks': 'Private hosts for callbacks',
  'Hosts (*.domein voor alles daaronder), adressen en reeksen (CIDR), met komma’s ertussen, in het eigen netwerk waar een callback mag staan. Alle andere private adressen worden geweigerd.':
    'Hosts (*.domain for all below one), addresses and ranges (CIDR), separated by commas, within our own network at which a callback may be. All other private addresses are refused.',
  'namen van hosts, adressen of reeksen': 'names of hosts, addresses or ranges',
  'Hosts zonder https': 'Hosts without https',
  'Hosts, met komma’s ertussen, waarvan een callback met http:// mag beginnen; * voor alle.':
    'Hosts, separated by commas, of which a callback may begin with http://; * for all.',
  'namen van hosts': 'names of hosts',
  'Callback moet Authorization eisen': 'Callback must require Authorization',
  'Een nieuw abonnement wordt geweigerd als zijn callback een bericht zonder Authorization aanneemt.':
    'A new subscription is refused if its callback accepts a message without Authorization.',
  'Notificaties, in dagen': 'Notifications, in days',
  'Zo lang blijven notificaties bewaard die bezorgd of mislukt zijn.':
    'How long notifications are kept that were delivered or failed.',
  'Logboek van uitgaande verzoeken, in dagen': 'Log of outgoing requests, in days',
  'Zo lang blijven regels over verzoeken aan andere diensten bewaard. 0: er komt geen logboek.':
    'How long lines about requests to other services are kept. 0: there is no log.',
  'Adres van de API van de selectielijst': 'Address of the API of the selectielijst',
  'Leeg, en geen selectielijst geïmporteerd: verwijzingen naar de selectielijst worden niet gecontroleerd.':
    'Empty, and no selectielijst imported: references to the selectielijst are not checked.',
  'een adres dat begint met https:// of http:// en eindigt op een schuine streep':
    'an address that begins with https:// or http:// and ends with a slash',
  'andere API': 'other API',
  'Token van de standaard (client-ID en secret)': 'Token of the standard (client ID and secret)',
  'Vaste sleutel in een header': 'Fixed key in a header',
  'OAuth2 (client credentials)': 'OAuth2 (client credentials)',
  'Inhoud van verwijderde documenten, in uren': 'Content of deleted documents, in hours',
  'Zo lang blijft de inhoud van een verwijderd document nog in de opslag staan. Niemand kan die dan nog opvragen. Neem meer uren dan een back-up duurt: dan heeft elk document na het terugzetten zijn inhoud.':
    'How long the content of a deleted document stays in the storage. Nobody can fetch it then. Take more hours than a backup takes: then every document has its content after restoring.',
}
