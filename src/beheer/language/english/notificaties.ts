// Notifications, channels and their settings.
export const notificaties: Record<string, string> = {
  Pauzeren: 'Pause',
  'Alleen het versturen naar deze dienst stopt. Abonnementen gaan door, en berichten blijven bewaard.':
    'Only sending to this service stops. Subscriptions go on, and messages are kept.',
  'Versturen naar deze dienst pauzeren': 'Pause sending to this service',
  'Het versturen naar de notificatiedienst is gepauzeerd': 'Sending to the notification service has been paused',
  'Het versturen naar de notificatiedienst is gepauzeerd.': 'Sending to the notification service has been paused.',
  'Eén abonnement is gepauzeerd': 'One subscription is paused',
  '{1} abonnementen zijn gepauzeerd': '{1} subscriptions are paused',
  'Nu wachten {1} bezorgingen.': 'Now {1} deliveries wait.',
  'Alles blijft bewaard en gaat weg na hervatten.': 'Everything is kept, and goes after resuming.',
  'Proef: een ontvanger is een tijd weg': 'Dry run: a receiver is away for a while',
  'Uren weg': 'Hours away',
  'Berichten per uur': 'Messages per hour',
  'Een weekend, van vrijdag 17.00 tot maandag 8.00 uur, is 63 uur. De uitkomst staat onder het schema; hiervan wordt niets bewaard.':
    'A weekend, from Friday 17:00 to Monday 8:00, is 63 hours. The outcome stands below the schedule; nothing of this is saved.',
  'Voor de proef onder het schema. Een weekend, van vrijdag 17.00 tot maandag 8.00 uur, is 63 uur.':
    'For the dry run below the schedule. A weekend, from Friday 17:00 to Monday 8:00, is 63 hours.',
  'Leeg: zo veel als elke ontvanger de laatste 7 dagen gemiddeld kreeg.':
    'Empty: as many as each receiver got on average in the last 7 days.',
  'Schema en proef bekijken': 'View schedule and dry run',
  'Proef bekijken': 'View dry run',
  'Wat als een ontvanger {1} uur weg is?': 'What if a receiver is away for {1} hours?',
  'Deze proef kan niet worden getoond.': 'This dry run cannot be shown.',
  'Er zijn nog geen ontvangers.': 'There are no receivers yet.',
  'Als de ontvanger {1} uur niets aanneemt, met deze instellingen':
    'When the receiver accepts nothing for {1} hours, with these settings',
  'Intussen gemaakt': 'Made meanwhile',
  Mislukken: 'Fail',
  'Weer bij': 'Caught up',
  'Een schatting, van de ontvangers die het meest krijgen. Geteld vanaf zijn terugkomst, met de duur van zijn laatste leveringen. Wanneer een abonnement wordt geblokkeerd staat bij':
    'An estimate, of the receivers that get most. Counted from its return, with the duration of its last deliveries. When a subscription is blocked is set at',
  Notificatiedienst: 'Notification service',
  '{1}: u verstuurt ze opnieuw': '{1}: you send them again',
  '{1}: gaan vanzelf opnieuw': '{1}: sent again by themselves',
  'na {1}; dan Hervatten': 'after {1}; then Resume',
  '. Niet meer bewaard: {1}': '. No longer kept: {1}',
  'als hij heeft opgehaald': 'when it has fetched',
  meteen: 'at once',
  'nog niet bekend': 'not known yet',
  'nooit: er komt meer dan hij aanneemt': 'never: more comes than it accepts',
  'binnen {1}': 'within {1}',
  'Geen ontvanger': 'No receiver',
  'Pogingen tellen tijdens een storing': 'Attempts count during an outage',
  'alleen bij de notificatiedienst': 'at the notifications service only',
  'bij alle ontvangers': 'at all receivers',
  'bij geen ontvanger': 'at no receiver',
  'Telt een poging niet, dan mislukt een bericht pas als het wordt geweigerd terwijl de ontvanger andere berichten aanneemt.':
    'Where an attempt does not count, a message fails only when it is refused while the receiver accepts others.',
  'Zoals programma’s het noemen, bijvoorbeeld objecten. De naam kan later niet meer wijzigen.':
    'As programs call it, for example objecten. The name cannot be changed later.',
  Kenmerken: 'Attributes',
  'Namen van kenmerken in de berichten, elk op een eigen regel.':
    'Names of attributes in the messages, each on a line of its own.',
  'Adres van de documentatie': 'Address of the documentation',
  'Wie erop schrijft': 'Who writes to it',
  'deze dienst': 'this service',
  'nog onbekend': 'still unknown',
  Documentatie: 'Documentation',
  'Laatste bericht': 'Last message',
  'Alle berichten': 'All messages',
  'Niemand is op dit kanaal geabonneerd.': 'Nobody is subscribed to this channel.',
  'Abonnementen op dit kanaal': 'Subscriptions to this channel',
  "Een kanaal is een onderwerp van berichten. Op zijn kenmerken kunnen abonnementen filteren. Kanalen van deze dienst ontstaan vanzelf; andere programma's maken hun kanaal met de Notificaties API, of u maakt het hier.":
    'A channel is a subject of messages. Subscriptions can filter on its attributes. Channels of this service come by themselves; other programs make their channel with the Notificaties API, or you make it here.',
  'Nieuw kanaal': 'New channel',
  'Er zijn nog geen kanalen. Die van deze dienst ontstaan bij de start van het programma.':
    'There are no channels yet. Those of this service are made when the program starts.',
  Kanalen: 'Channels',
  'Berichten gaan naar de': 'Messages go to the',
  abonnementen: 'subscriptions',
  'van deze dienst zelf. Een dienst hieronder krijgt ze pas met':
    'of this service itself. A service below receives them only with',
  '; het schema geldt ook voor abonnementen.': '; the schedule also counts for subscriptions.',
  'Er is geen notificatiedienst ingesteld. Berichten blijven bewaard tot er een is.':
    'No notification service has been set. Messages are kept until there is one.',
  'Service voor notificaties-API': 'Service for the Notificaties API',
  'Herhalen van mislukte pogingen': 'Repeating failed attempts',
  'Notification delivery retry backoff': 'Notification delivery retry backoff',
  'Hoe lang er tussen de pogingen zit. Met een getal is de wachttijd: getal × base factor tot de macht van het aantal herhalingen dat al is gedaan.':
    'How much time there is between the attempts. With a number the wait is: number × base factor to the power of the number of repeats done so far.',
  'Standaard invullen (7, 25, 52000, 4)': 'Fill in the default (7, 25, 52000, 4)',
  'Korte set invullen (5, 3, 48, 2)': 'Fill in the short set (5, 3, 48, 2)',
  'Opslaan geldt ook voor berichten die al wachten, vanaf hun volgende poging. Alleen de knop Opslaan bewaart iets.':
    'Saving also counts for messages that are waiting already, from their next attempt. Only the button Save keeps anything.',
  Secret: 'Secret',
  'bewaard, wordt niet getoond': 'stored, is not shown',
  'Notification delivery max retries': 'Notification delivery max retries',
  'aan (binair exponentieel)': 'on (binary exponential)',
  'uit (steeds 180 seconden)': 'off (always 180 seconds)',
  'Notification delivery retry backoff max': 'Notification delivery retry backoff max',
  'Notification delivery base factor': 'Notification delivery base factor',
  'Voor wijzigen is de rol administrator nodig.': 'Changing needs the role administrator.',
  'Schema van de pogingen': 'Schedule of attempts',
  Testbericht: 'Test message',
  'Een testbericht gaat stap voor stap de weg van een echt bericht, met de instellingen die zijn opgeslagen. Zo ziet u welke stap mislukt.':
    'A test message goes the way of a real message step by step, with the settings that have been saved. So you see which step fails.',
  'Testbericht versturen': 'Send test message',
  'Uitslag van het testbericht': 'Result of the test message',
  'Er is nog geen testbericht verstuurd.': 'No test message has been sent yet.',
  'De notificatiedienst moet onze kanalen kennen voordat zij berichten aanneemt. Nog een keer registreren kan geen kwaad.':
    'The notification service has to know our channels before it accepts messages. Registering once more does no harm.',
  'Hier stelt u in waar notificaties heen gaan, en hoe vaak en met welke wachttijd een mislukt bericht opnieuw wordt geprobeerd.':
    'Here you set where notifications go, how often a failed message is tried again, and how long that waits.',
  'PUBLIC_URL is niet ingesteld. De notificatiedienst haalt onze pagina /ref/kanalen/ op, en kan die dan waarschijnlijk niet vinden.':
    'PUBLIC_URL has not been set. The notification service fetches our page /ref/kanalen/, and probably cannot find it then.',
  'Kanalen registreren': 'Register channels',
  'Uitslag van het registreren': 'Result of registering',
  'Laatste keer: {1}, door {2}': 'Last time: {1}, by {2}',
  Geregistreerd: 'Registered',
  'De kanalen zijn vanuit deze pagina nog niet geregistreerd.':
    'The channels have not been registered from this page yet.',
  'Adres van de Notificaties API waar berichten heen gaan. Leeg: er is geen dienst en berichten wachten.':
    'Address of the Notificaties API that messages go to. Empty: there is no service and messages wait.',
  'Waarmee wij ons bij die dienst bekendmaken.': 'How we identify ourselves to that service.',
  'Er is een secret bewaard. Dat wordt nooit getoond. Laat dit veld leeg om het te houden.':
    'A secret is stored. It is never shown. Leave this field empty to keep it.',
  'Het secret dat bij het client-ID hoort. Het wordt versleuteld bewaard en nooit meer getoond.':
    'The secret that belongs to the client ID. It is stored encrypted and never shown again.',
  'Hoe vaak een bericht na de eerste poging opnieuw wordt geprobeerd.':
    'How often a message is tried again after the first attempt.',
  'Getal: seconden die hieronder staan': 'Number: seconds given below',
  'Aan: 1, 2, 4, 8 … seconden (binair exponentieel)': 'On: 1, 2, 4, 8 … seconds (binary exponential)',
  'Uit: steeds 180 seconden': 'Off: always 180 seconds',
  'Getal bij retry backoff, in seconden': 'Number for retry backoff, in seconds',
  'Telt alleen mee als hierboven Getal is gekozen.': 'Only counts if Number is chosen above.',
  'De langste wachttijd in seconden. Telt niet mee als retry backoff uit staat.':
    'The longest wait in seconds. Does not count if retry backoff is off.',
  'Hiermee groeit de wachttijd bij elke herhaling. Telt alleen mee bij een getal.':
    'The wait grows by this with each repeat. Only counts with a number.',
  'Berichten over hetzelfde hoofdobject wachten op elkaar, zodat ze aankomen in de volgorde van de wijzigingen.':
    'Messages about the same main object wait for each other, so that they arrive in the order of the changes.',
  'Het versturen van notificaties is gepauzeerd': 'Sending notifications has been paused',
  'sinds {1}.': 'since {1}.',
  'Versturen hervatten': 'Resume sending',
  'Vraag een beheerder met de rol operator om het versturen te hervatten.':
    'Ask somebody with the role operator to resume sending.',
  'Dit schema kan niet worden getoond.': 'This schedule cannot be shown.',
  'Schema: als het eerste bericht nu gaat en elke poging mislukt':
    'Schedule: if the first message goes now and every attempt fails',
  'Wacht na de vorige': 'Wait after the previous',
  'Tijd na de eerste': 'Time after the first',
  Moment: 'Moment',
  direct: 'at once',
  'Na de laatste poging krijgt een bericht de staat Mislukt. U kunt het dan zelf opnieuw versturen.':
    'After the last attempt a message gets the state Failed. You can then send it again yourself.',
  'Waarom is dit mislukt?': 'Why did this fail?',
  'Dit bericht wacht. {1}': 'This message is waiting. {1}',
  'Volgende poging: {1}. Daarna nog ten hoogste {2} herhalingen.': 'Next attempt: {1}. After that at most {2} repeats.',
  'De laatste poging: {1}. {2}': 'The last attempt: {1}. {2}',
  'Nu proberen': 'Try now',
  'Er is nog geen poging gedaan.': 'No attempt has been made yet.',
  Kenmerk: 'Reference',
  'Wat er gebeurde': 'What happened',
  'Gaat over': 'Is about',
  Hoofdobject: 'Main object',
  'Andere berichten': 'Other messages',
  'Alle berichten over dit hoofdobject': 'All messages about this main object',
  'Inhoud van het bericht': 'Content of the message',
  'Er zijn geen mislukte berichten met deze keuze: {1}.': 'There are no failed messages with this choice: {1}.',
  'Terug naar de notificaties': 'Back to the notifications',
  'U gaat': 'You are going to send',
  'mislukt bericht': 'failed message',
  'mislukte berichten': 'failed messages',
  'opnieuw versturen: {1}.': 'again: {1}.',
  'Elk bericht krijgt al zijn pogingen opnieuw. Het houdt zijn kenmerk, zodat een ontvanger het kan herkennen.':
    'Each message gets all its attempts anew. It keeps its reference, so that a receiver can recognise it.',
  'Zolang het versturen is gepauzeerd blijven ze wachten.': 'As long as sending is paused they keep waiting.',
  'Ja, {1} {2} opnieuw versturen': 'Yes, send {1} {2} again',
  'Er is geen notificatiedienst ingesteld, dus berichten wachten.':
    'No notification service has been set, so messages wait.',
  'Stel een notificatiedienst in': 'Set a notification service',
  Vandaag: 'Today',
  ', het laatst {1}': ', last {1}',
  'wat mislukte door: {1}': 'what failed by: {1}',
  'die aan het filter voldoen': 'that match the filter',
  'uit dit filter': 'from this filter',
  'Alle mislukte{1} opnieuw versturen': 'Send all failed{1} again',
  'Versturen pauzeren': 'Pause sending',
  'Er zijn geen berichten die aan het filter voldoen. Maak het filter ruimer.':
    'No messages match the filter. Make the filter wider.',
  'Er zijn nog geen berichten. Ze ontstaan bij elke wijziging van zaken, documenten, besluiten, typen en applicaties.':
    'There are no messages yet. They come with every change of cases, documents, decisions, types and applications.',
  'Alles op deze pagina': 'Everything on this page',
  'Kies niets': 'Choose nothing',
  'Kies alles op deze pagina': 'Choose everything on this page',
  'Gekozen opnieuw versturen': 'Send chosen again',
  'Gekozen nu proberen': 'Try chosen now',
  ', nieuwste eerst': ', newest first',
  'Notificaties{1}': 'Notifications{1}',
  Kiezen: 'Choose',
  'Laatste poging': 'Last attempt',
  'Volgende poging': 'Next attempt',
  'Kies {1}, {2}': 'Choose {1}, {2}',
  'Poging {1}: {2}': 'Attempt {1}: {2}',
  Bezorgd: 'Delivered',
  'Nog eens geprobeerd': 'Tried again',
  'Pogingen, laatste 24 uur': 'Attempts, last 24 hours',
  'Pogingen, laatste 14 dagen': 'Attempts, last 14 days',
  'hoogste balk: {1}': 'highest bar: {1}',
  'Als tabel': 'As a table',
  Uur: 'Hour',
  Dag: 'Day',
  'De laatste {1} pogingen, de nieuwste rechts: {2} gelukt, {3} niet':
    'The last {1} attempts, the newest on the right: {2} succeeded, {3} did not',
  'Laatste {1} pogingen, de nieuwste rechts: {2} gelukt, {3} niet (half).':
    'Last {1} attempts, the newest on the right: {2} succeeded, {3} did not (half).',
  'Object (URL of uuid)': 'Object (URL or uuid)',
  'Het kanaal ‘{1}’ is gemaakt.': 'The channel ‘{1}’ has been made.',
  'Kanaal {1}': 'Channel {1}',
  'Het kanaal is opgeslagen.': 'The channel has been saved.',
  'Dit kanaal bestaat niet (meer).': 'This channel does not exist (any more).',
  'Kanaal {1} wijzigen': 'Change channel {1}',
  'De dienst antwoordde met status {1}': 'The service answered with status {1}',
  'De dienst herkent ons niet of geeft ons geen rechten. Controleer client-ID en secret, en of wij daar de scope notificaties.publiceren hebben.':
    'The service does not recognise us or gives us no rights. Check client ID and secret, and whether we have the scope notificaties.publiceren there.',
  'De dienst keurt het bericht af. Lees hieronder waarom. Vaak ontbreekt het kanaal: registreer de kanalen.':
    'The service rejects the message. Read below why. Often the channel is missing: register the channels.',
  'Op dit adres is geen notificatiedienst. Controleer de API-root.':
    'There is no notification service at this address. Check the API root.',
  'De dienst vindt het bericht te groot. Vraag de beheerder van de dienst om de grens.':
    'The service finds the message too large. Ask the administrator of the service for the limit.',
  'De dienst krijgt te veel berichten. Wacht, of pauzeer het versturen een tijdje.':
    'The service gets too many messages. Wait, or pause sending for a while.',
  'De dienst verwijst door naar een ander adres. Dat volgen wij niet: stel het juiste adres in als API-root.':
    'The service redirects to another address. We do not follow that: set the right address as API root.',
  'Er is een storing bij de dienst. Neem contact op met haar beheerder.':
    'There is a fault at the service. Contact its administrator.',
  'Lees hieronder het antwoord van de dienst.': 'Read the answer of the service below.',
  'Het versturen is gepauzeerd.': 'Sending has been paused.',
  'Een eerder bericht over hetzelfde object gaat voor.': 'An earlier message about the same object goes first.',
  Overgeslagen: 'Skipped',
  'status {1}': 'status {1}',
  'De instellingen zijn opgeslagen. Ze gelden vanaf de volgende poging.':
    'The settings have been saved. They count from the next attempt.',
  'Het testbericht is aangekomen. Wat wacht gaat nu weg.':
    'The test message has arrived. What is waiting is going out.',
  'Het testbericht is niet aangekomen. Mislukte stap: {1}.': 'The test message has not arrived. Failed step: {1}.',
  '{1} van de {2} kanalen zijn niet geregistreerd.': '{1} of the {2} channels have not been registered.',
  'Alle kanalen zijn geregistreerd.': 'All channels have been registered.',
  'Vul ten hoogste 255 tekens in, zonder regeleinden.': 'Fill in at most 255 characters, without line breaks.',
  'Vul ten hoogste 1000 tekens in.': 'Fill in at most 1000 characters.',
  'Vul het client-ID in dat de notificatiedienst voor ons kent.':
    'Fill in the client ID that the notification service has for us.',
  'Vul het secret in dat bij het client-ID hoort.': 'Fill in the secret that belongs to the client ID.',
  'Er is nog geen notificatiedienst. Vul eerst de API-root in en sla op.':
    'There is no notification service yet. First fill in the API root and save.',
  'Kies een van de drie mogelijkheden.': 'Choose one of the three options.',
  getal: 'number',
  'geheel getal': 'whole number',
  '{1}: vul een {2} in van {3} tot en met {4}.': '{1}: fill in a {2} from {3} up to and including {4}.',
  'Vul een volledig adres in dat begint met https:// of http://, zonder gebruikersnaam, wachtwoord, vraagteken of hekje. Bijvoorbeeld https://notificaties.example.nl/api/v1/.':
    'Fill in a complete address that begins with https:// or http://, without user name, password, question mark or hash. For example https://notificaties.example.nl/api/v1/.',
  'Het versturen is gepauzeerd. Wat op dit moment wordt verstuurd, wordt nog afgemaakt.':
    'Sending has been paused. What is being sent at this moment is still finished.',
  'Het versturen is hervat. Wat wachtte gaat nu weg.': 'Sending has been resumed. What was waiting is going out.',
  'Kies eerst een of meer berichten.': 'First choose one or more messages.',
  ' {1} gekozen: niet gepland.': ' {1} chosen: not planned.',
  ' {1} gekozen: niet mislukt.': ' {1} chosen: not failed.',
  'Er was geen mislukt bericht om opnieuw te versturen.': 'There was no failed message to send again.',
  'Het bericht wordt opnieuw verstuurd.': 'The message is sent again.',
  '{1} berichten worden opnieuw verstuurd.': '{1} messages are sent again.',
  'Er was geen bericht dat op een latere poging wachtte.': 'There was no message waiting for a later attempt.',
  'Dit bericht bestaat niet (meer). Na de bewaartermijn worden berichten opgeruimd.':
    'This message does not exist (any more). After the retention period messages are removed.',
  'Document bij zaak': 'Document with case',
  'Vul een datum in als jjjj-mm-dd.': 'Fill in a date as yyyy-mm-dd.',
  'Vul de URL of de UUID van een object in.': 'Fill in the URL or the UUID of an object.',
  'Alleen mislukte berichten gaan opnieuw.': 'Only failed messages go again.',
  'kanaal {1}': 'channel {1}',
  'alle kanalen': 'all channels',
  'alle dagen': 'all days',
  'object {1}': 'object {1}',
  'oorzaak: {1}': 'cause: {1}',
  'Bezig met versturen': 'Being sent',
  'De verbinding werd geweigerd': 'The connection was refused',
  'Op dit adres luistert niets. Controleer of de notificatiedienst draait, en of poort en API-root kloppen.':
    'Nothing listens at this address. Check whether the notification service runs, and whether port and API root are right.',
  'De hostnaam is niet gevonden': 'The host name was not found',
  'Controleer de hostnaam in de API-root, en of deze server namen kan opzoeken (DNS).':
    'Check the host name in the API root, and whether this server can look up names (DNS).',
  'De beveiligde verbinding (TLS) kwam niet tot stand': 'The secure connection (TLS) could not be made',
  'Er antwoordt geen TLS, of zonder versleuteling die wij kennen; of er wordt een client-certificaat gevraagd.':
    'What answers is no TLS, or has no encryption that we know; or a client certificate is asked for.',
  'Het certificaat is verlopen of nog niet geldig': 'The certificate has expired or is not valid yet',
  'Vraag de beheerder van de dienst om een nieuw certificaat, en controleer de klok van deze server.':
    'Ask the administrator of the service for a new certificate, and see that the clock of this server is right.',
  'Het certificaat hoort bij een andere naam': 'The certificate is of another name',
  'Gebruik de naam die in het certificaat staat, of laat deze naam erin zetten.':
    'Use the name in the certificate, or have this name put into it.',
  'Het certificaat is van een CA die hier niet wordt vertrouwd': 'The certificate is of a CA that is not trusted here',
  'Vul de eigen CA bij de dienst in, of laat de dienst haar tussencertificaat meesturen.':
    'Give your own CA with the service, or have the service send its intermediate certificate.',
  'Er wordt een client-certificaat gevraagd, of het onze wordt niet aangenomen':
    'A client certificate is asked for, or ours is not accepted',
  'Vul een client-certificaat met sleutel in, van een CA die daar wordt vertrouwd.':
    'Give a client certificate with its key, of a CA that is trusted there.',
  'De TLS-versie is te oud': 'The version of TLS is too old',
  'Vraag de beheerder van de dienst om TLS 1.2 of nieuwer.':
    'Ask the administrator of the service for TLS 1.2 or newer.',
  'Er antwoordt geen TLS, of zonder versleuteling die wij kennen; of de ontvanger vraagt een client-certificaat.':
    'What answers is no TLS, or has no encryption that we know; or the receiver asks for a client certificate.',
  'De ontvanger heeft een nieuw certificaat nodig. Controleer ook de klok van deze server.':
    'The receiver needs a new certificate. See also that the clock of this server is right.',
  'Gebruik de naam die in het certificaat staat, of laat de ontvanger deze naam erin zetten.':
    'Use the name in the certificate, or have the receiver put this name into it.',
  'De ontvanger stuurt waarschijnlijk zijn tussencertificaat niet mee, of zijn CA is er een van een organisatie zelf.':
    'The receiver probably does not send its intermediate certificate, or its CA is an organisation’s own.',
  'Vul bij dit abonnement een client-certificaat met sleutel in, van een CA die de ontvanger vertrouwt.':
    'Give a client certificate with its key with this subscription, of a CA that the receiver trusts.',
  'Vraag de beheerder van de ontvanger om TLS 1.2 of nieuwer.':
    'Ask the administrator of the receiver for TLS 1.2 or newer.',
  'Het antwoord kwam niet op tijd': 'The answer did not come in time',
  'De dienst is traag of onbereikbaar. Controleer de dienst en de firewall, of geef haar meer tijd.':
    'The service is slow or out of reach. Check the service and the firewall, or give it more time.',
  'De verbinding werd verbroken': 'The connection was broken',
  'Controleer het netwerk en de logboeken van de dienst. Vaak helpt een nieuwe poging.':
    'Check the network and the logs of the service. Often another attempt helps.',
  'Het antwoord was geen geldige HTTP': 'The answer was not valid HTTP',
  'Op dit adres antwoordt iets anders dan een webdienst. Controleer de API-root.':
    'Something other than a web service answers at this address. Check the API root.',
  'Dit adres mag niet worden aangeroepen': 'This address may not be called',
  'De hostnaam wijst naar een adres dat altijd geblokkeerd is. Gebruik het gewone adres van de dienst.':
    'The host name points to an address that is always blocked. Use the ordinary address of the service.',
  'De aanroep mislukte': 'The call failed',
  'De oorzaak is onbekend. Kijk in het logboek van de worker rond dit moment.':
    'The cause is unknown. Look in the log of the worker around this moment.',
  'Uitkomst onbekend': 'Outcome unknown',
  'De worker stopte tijdens deze poging. De poging is daarna opnieuw gedaan, met hetzelfde kenmerk.':
    'The worker stopped during this attempt. The attempt was made again, with the same reference.',
  'Hostnaam opzoeken (DNS)': 'Look up host name (DNS)',
  'Verbinding maken (TCP)': 'Connect (TCP)',
  'Verbinding beveiligen (TLS)': 'Secure connection (TLS)',
  'Antwoord krijgen (HTTP)': 'Get an answer (HTTP)',
  'Controleer of de API-root naar de Notificaties API wijst, en of de dienst geen storing heeft.':
    'Check whether the API root points to the Notificaties API, and whether the service has a fault.',
  'niet nodig: het adres begint met http': 'not needed: the address begins with http',
  'het testbericht is aangenomen': 'the test message was accepted',
  'wij zijn herkend (de dienst kent het kanaal test niet, dat is geen fout)':
    'we were recognised (the service does not know the channel test, that is no error)',
  'vaste waarde van de header Authorization': 'fixed value of the header Authorization',
  'JWT, voor elk bericht ondertekend': 'JWT, signed for every message',
  'OAuth2 client credentials': 'OAuth2 client credentials',
  'Op dit adres luistert niets. Controleer of de ontvanger draait, en of host en poort kloppen.':
    'Nothing listens at this address. Check whether the receiver runs, and whether host and port are right.',
  'Controleer de hostnaam van de callback, en of deze server namen kan opzoeken (DNS).':
    'Check the host name of the callback, and whether this server can look up names (DNS).',
  'De ontvanger is traag of onbereikbaar. Controleer de ontvanger en de firewall, of geef meer tijd.':
    'The receiver is slow or out of reach. Check the receiver and the firewall, or give it more time.',
  'Controleer het netwerk en de logboeken van de ontvanger. Vaak helpt een nieuwe poging.':
    'Check the network and the logs of the receiver. Often another attempt helps.',
  'Op dit adres antwoordt iets anders dan een webdienst. Controleer het adres.':
    'Something other than a web service answers at this address. Check the address.',
  'Het adres ligt in een eigen of privaat netwerk, of is van deze dienst zelf. Noem de host in ALLOWED_PRIVATE_HOSTS als dat de bedoeling is.':
    'The address is in a private network, or is that of this service itself. Name the host in ALLOWED_PRIVATE_HOSTS if that is intended.',
  'Kijk in het logboek van de worker rond dit moment. Bij OAuth2: controleer adres en geheim van het token.':
    'Look in the log of the worker around this moment. With OAuth2: check address and secret of the token.',
  'de berichten die zijn mislukt': 'the messages that failed',
  'alle berichten vanaf een moment': 'all messages from a moment on',
  'de berichten die zijn gemist toen er niets werd klaargezet':
    'the messages that were missed when nothing was prepared',
  'Grenzen van abonnementen': 'Limits of subscriptions',
  'Dit is geen certificaat in PEM-vorm (BEGIN CERTIFICATE).': 'This is no certificate in PEM form (BEGIN CERTIFICATE).',
  'Dit is geen sleutel in PEM-vorm zonder wachtwoord.': 'This is no key in PEM form without a password.',
  'Deze sleutel hoort niet bij het certificaat.': 'This key does not belong to the certificate.',
  'Pogingen bij {1}': 'Attempts at {1}',
  'Pogingen bij {1}, de laatste eerst': 'Attempts at {1}, the last first',
  'Begin van het antwoord': 'Begin of the answer',
  '({1} bezorgingen)': '({1} deliveries)',
  weg: 'remove',
  'met {1}: {2}': '{1}: {2}',
  'Waarom bezorgingen mislukten': 'Why deliveries failed',
  'bij de notificatiedienst': 'at the notifications service',
  'bij abonnementen': 'at subscriptions',
  ', {1} bezorgingen': ', {1} deliveries',
  Oorzaak: 'Cause',
  ' Het gaat om {1} bezorgingen.': ' That is {1} deliveries.',
  'Het bericht wordt nu geprobeerd. De uitkomst staat op de pagina van het bericht zodra zij er is.':
    'The message is tried now. The outcome is on the page of the message as soon as it is there.',
  'bij {1} van {2} ontvangers': 'at {1} of {2} receivers',
  'bij {1} ontvangers': 'at {1} receivers',
  'Een abonnement dat is beëindigd': 'A subscription that has ended',
  'externe notificatiedienst': 'external notifications service',
  'abonnement van {1}': 'subscription of {1}',
  abonnement: 'subscription',
  Vervallen: 'Dropped',
  'Het abonnement is gepauzeerd, geblokkeerd of opgezegd: hervat het.':
    'The subscription is paused, blocked or ended by the receiver: resume it.',
  'De ontvanger wordt na storing of op verzoek met rust gelaten. Volgende poging: {1}.':
    'The receiver is left alone, after a failure or because it asked for it. Next attempt: {1}.',
  'De ontvanger haalt zijn berichten op.': 'The receiver fetches its messages.',
  'Naar dat bericht': 'To that message',
  'Nu toch proberen': 'Try now all the same',
  'Er worden nu {1} bezorgingen geprobeerd.': '{1} deliveries are tried now.',
  'Al onderweg': 'Already being sent',
  'Wacht op een eerder bericht over hetzelfde object': 'Waits for an earlier message about the same object',
  'Wacht tot de ontvanger het ophaalt': 'Waits until the receiver fetches it',
  'Wacht tot het abonnement is hervat': 'Waits until the subscription is resumed',
  'Wacht tot het versturen is hervat': 'Waits until sending is resumed',
  'de notificatiedienst': 'the notifications service',
  'Bezorgd bij {1} van {2} ontvangers.': 'Delivered to {1} of {2} receivers.',
  'waar het mislukte': 'where it failed',
  Bezorging: 'Delivery',
  'Er is geen ontvanger voor dit bericht, of er is nog geen poging gedaan.':
    'There is no receiver for this message, or no attempt was made yet.',
  'Van de {1} ontvangers staan er hier {2}, die met een storing eerst.':
    'Of the {1} receivers {2} are here, those with a fault first.',
  'Alle pogingen zijn gebruikt. De laatste: {1}. {2}': 'All attempts are used. The last: {1}. {2}',
  'Er wordt nu een poging gedaan.': 'An attempt is being made.',
}
