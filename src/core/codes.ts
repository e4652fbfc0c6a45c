// Every code that an answer may hold, with what it means: the one table of them. What is not in it does not compile. The pages below
// /ref/fouten/, docs/errors.md and the enums in the OpenAPI documents are made of it. Codes do not change once they are out: clients
// act on them. Texts are pairs: Dutch, English.

type Text = readonly [nl: string, en: string]

export type Meaning = {
  cause: Text
  remedy: Text
  /** What was sent, or what was the case, when this is the answer. */
  example: string
  /** Rules of the standard that ask for it; without one it is a code of the common part, or an addition. */
  rule?: string
}

const TOKEN: Pick<Meaning, 'remedy'> = {
  remedy: [
    'Maak voor elke aanvraag een nieuw token, zoals docs/clients.md voordoet.',
    'Make a new token for each request, as docs/clients.md shows.',
  ],
}

/** Codes of an answer as a whole (`code`), with the status that they come with. */
export const PROBLEM_CODES = {
  invalid: {
    status: 400,
    cause: [
      'Een of meer velden of parameters voldoen niet; invalidParams noemt ze allemaal.',
      'One or more fields or parameters are wrong; invalidParams names all of them.',
    ],
    remedy: [
      'Herstel wat in invalidParams staat. Dezelfde aanvraag mislukt opnieuw.',
      'Mend what invalidParams names. The same request fails again.',
    ],
    example: 'POST /zaken {}',
  },
  parse_error: {
    status: 400,
    cause: [
      'De inhoud is geen geldige JSON of CSV, of de aanvraag is niet goed samengesteld.',
      'The body is no valid JSON or CSV, or the request itself is malformed.',
    ],
    remedy: [
      'Stuur geldige JSON in UTF-8, met Content-Type: application/json.',
      'Send valid JSON in UTF-8, with Content-Type: application/json.',
    ],
    example: 'POST /zaken {"omschrijving": ',
  },
  'request-limit-exceeded': {
    status: 400,
    cause: ['De _batch heeft meer dan 100 vragen.', 'The _batch has more than 100 requests.'],
    remedy: ['Verdeel ze over meer aanvragen.', 'Divide them into more requests.'],
    example: 'POST /zaken/_batch {"requests": [… 101 …]}',
  },
  'response-limit-exceeded': {
    status: 400,
    cause: [
      'Het antwoord op de _batch zou meer dan 1000 resources bevatten.',
      'The answer to the _batch would hold more than 1000 resources.',
    ],
    remedy: [
      'Vraag met minder filters tegelijk, of met filters waar minder aan voldoet.',
      'Ask with fewer filters at once, or with filters that fewer resources meet.',
    ],
    example: 'POST /statussen/_batch {"requests": [… 20 filters van 100 statussen …]}',
  },
  permission_denied: {
    status: 403,
    cause: [
      'Er is geen bruikbaar token, of de applicatie heeft geen recht op deze actie, dit type of dit vertrouwelijkheidsniveau. Ook wie een gesloten zaak wijzigt zonder zaken.geforceerd-bijwerken krijgt dit.',
      'There is no usable token, or the application has no right to this action, this type or this confidentiality. A change of a closed case without zaken.geforceerd-bijwerken gets it too.',
    ],
    remedy: [
      'Vraag de beheerder om de scope die het OpenAPI-document bij de operatie noemt, voor dit type.',
      'Ask the administrator for the scope that the OpenAPI document names at the operation, for this type.',
    ],
    example: 'POST /rollen {"zaak": "…"} (zaaktype zonder zaken.bijwerken)',
    rule: 'zrc-006, zrc-007',
  },
  'missing-client-identifier': {
    status: 403,
    cause: ['Het token noemt geen client_id.', 'The token names no client_id.'],
    ...TOKEN,
    example: '{"iss": "app", "iat": 1767600000}',
  },
  'invalid-client-identifier': {
    status: 403,
    cause: ['De client_id van het token is hier niet bekend.', 'The client_id of the token is not known here.'],
    remedy: [
      'Kijk of de client_id klopt, en of de applicatie in deze installatie is gemaakt.',
      'See that the client_id is right, and that the application was made in this installation.',
    ],
    example: '{"client_id": "onbekend", "iat": 1767600000}',
  },
  'invalid-jwt-signature': {
    status: 403,
    cause: [
      'De ondertekening van het token klopt niet: het geheim is een ander.',
      'The signature of the token is wrong: the secret is another one.',
    ],
    remedy: [
      'Onderteken met het geheim van deze client_id, byte voor byte, zonder regeleinde erachter.',
      'Sign with the secret of this client_id, byte for byte, without a line break behind it.',
    ],
    example: 'HS256(…, "ander-geheim")',
  },
  'jwt-decode-error': {
    status: 403,
    cause: ['Het token is niet te lezen.', 'The token cannot be read.'],
    remedy: [
      'Stuur drie delen in base64url met punten ertussen, na "Bearer " en helemaal overgenomen.',
      'Send three parts in base64url with dots between, after "Bearer " and copied as a whole.',
    ],
    example: 'Authorization: Bearer abc',
  },
  'jwt-decodeerror': {
    status: 403,
    cause: ['exp of nbf van het token is geen getal.', 'exp or nbf of the token is no number.'],
    remedy: [
      'Geef exp en nbf in hele seconden, of laat ze weg.',
      'Give exp and nbf in whole seconds, or leave them out.',
    ],
    example: '{"client_id": "app", "iat": 1767600000, "exp": "morgen"}',
  },
  'jwt-expired': {
    status: 403,
    cause: [
      'Het token is te oud: iat ligt langer dan een uur (JWT_EXPIRY) terug.',
      'The token is too old: iat is longer than an hour (JWT_EXPIRY) ago.',
    ],
    ...TOKEN,
    example: '{"client_id": "app", "iat": 1577836800}',
  },
  'jwt-expiredsignatureerror': {
    status: 403,
    cause: ['Het token is verlopen: exp is voorbij.', 'The token has expired: exp is past.'],
    ...TOKEN,
    example: '{"client_id": "app", "iat": 1767600000, "exp": 1767600001}',
  },
  'jwt-immaturesignatureerror': {
    status: 403,
    cause: [
      'Het token is nog niet geldig: nbf of iat ligt in de toekomst.',
      'The token is not valid yet: nbf or iat is in the future.',
    ],
    remedy: ['Zet de klok van de client gelijk.', 'Set the clock of the client right.'],
    example: '{"client_id": "app", "iat": 4102444800}',
  },
  'jwt-invalidalgorithmerror': {
    status: 403,
    cause: ['Het token is niet met HS256 ondertekend.', 'The token is not signed by HS256.'],
    remedy: ['Onderteken met HS256.', 'Sign by HS256.'],
    example: '{"alg": "none"}',
  },
  'jwt-invalidaudienceerror': {
    status: 403,
    cause: ['Het token is voor een andere ontvanger (aud).', 'The token is for another audience (aud).'],
    remedy: ['Laat aud weg.', 'Leave aud out.'],
    example: '{"client_id": "app", "iat": 1767600000, "aud": "elders"}',
  },
  'jwt-invalidsubjecterror': {
    status: 403,
    cause: ['sub van het token is geen tekst.', 'sub of the token is no text.'],
    remedy: ['Geef sub als tekst, of laat het weg.', 'Give sub as a text, or leave it out.'],
    example: '{"client_id": "app", "iat": 1767600000, "sub": 7}',
  },
  'jwt-invalidjtierror': {
    status: 403,
    cause: ['jti van het token is geen tekst.', 'jti of the token is no text.'],
    remedy: ['Geef jti als tekst, of laat het weg.', 'Give jti as a text, or leave it out.'],
    example: '{"client_id": "app", "iat": 1767600000, "jti": 7}',
  },
  'jwt-missing-iat-claim': {
    status: 403,
    cause: ['In het token ontbreekt iat.', 'The token has no iat.'],
    ...TOKEN,
    example: '{"client_id": "app"}',
  },
  'unknown-issuer': {
    status: 403,
    cause: [
      'De token-uitgever (iss) van het token is hier niet bekend.',
      'The issuer (iss) of the token is not known here.',
    ],
    remedy: [
      'Vraag de beheerder om de token-uitgever op te nemen, of vraag een token bij een die bekend is.',
      'Ask the administrator to add the issuer, or ask a token of one that is known.',
    ],
    example: '{"iss": "https://elders.example.nl/realms/x", "azp": "app"}',
  },
  'unknown-key': {
    status: 503,
    cause: [
      'De sleutel (kid) van het token is niet, of nog niet, bekend bij de token-uitgever. De rest van het token klopt.',
      'The key (kid) of the token is not known to its issuer, or not yet. The rest of the token is good.',
    ],
    remedy: [
      'Vraag een nieuw token. Wisselt de uitgever net van sleutel, dan is de nieuwe binnen een halve minuut bekend.',
      'Ask a new token. When the issuer is changing its key, the new one is known within half a minute.',
    ],
    example: '{"alg": "RS256", "kid": "ouder"}',
  },
  'invalid-audience': {
    status: 403,
    cause: ['Het token is voor een andere ontvanger (aud).', 'The token is for another audience (aud).'],
    remedy: [
      'Laat de uitgever de audience in het token zetten die bij de token-uitgever is ingesteld.',
      'Have the issuer put the audience into the token that is set for it here.',
    ],
    example: '{"iss": "https://login.example.nl", "aud": "account"}',
  },
  'expired-token': {
    status: 403,
    cause: [
      'Het token van een token-uitgever is verlopen, of heeft geen exp.',
      'The token of an issuer has expired, or has no exp.',
    ],
    remedy: ['Vraag een nieuw token bij de token-uitgever.', 'Ask the issuer for a new token.'],
    example: '{"iss": "https://login.example.nl", "exp": 1767600000}',
  },
  'token-lifetime': {
    status: 403,
    cause: [
      'Het token is langer geldig dan bij de token-uitgever is ingesteld.',
      'The token lives longer than is set for its issuer.',
    ],
    remedy: ['Laat de uitgever kortere tokens geven.', 'Have the issuer give tokens that live shorter.'],
    example: '{"iss": "https://login.example.nl", "exp": 4102444800}',
  },
  'invalid-token-type': {
    status: 403,
    cause: [
      'Dit is geen access token, maar een ID-token of refresh token.',
      'This is no access token, but an ID token or a refresh token.',
    ],
    remedy: ['Stuur het access_token dat de uitgever gaf.', 'Send the access_token that the issuer gave.'],
    example: '{"iss": "https://login.example.nl", "typ": "ID"}',
  },
  'insufficient-scope': {
    status: 403,
    cause: [
      'Het token mist de scope of rol die bij de token-uitgever is ingesteld.',
      'The token lacks the scope or role that is set for its issuer.',
    ],
    remedy: ['Geef de client die scope of rol bij de uitgever.', 'Give the client that scope or role at the issuer.'],
    example: '{"iss": "https://login.example.nl", "scope": "openid"}',
  },
  'invalid-certificate': {
    status: 403,
    cause: [
      'Het token is aan een client-certificaat gebonden (cnf) dat niet werd getoond, of had dat moeten zijn.',
      'The token is bound to a client certificate (cnf) that was not shown, or should have been.',
    ],
    remedy: [
      'Gebruik het certificaat waarmee het token is gevraagd; de proxy geeft het door als Client-Cert.',
      'Use the certificate that the token was asked with; the proxy passes it on as Client-Cert.',
    ],
    example: '{"cnf": {"x5t#S256": "…"}}',
  },
  not_found: {
    status: 404,
    cause: [
      'Hier bestaat niets, of niets dat deze applicatie mag zien.',
      'Nothing is here, or nothing that this application may see.',
    ],
    remedy: [
      'Neem de URL over uit een antwoord; kijk anders naar de rechten van de applicatie.',
      'Take the URL from an answer; else look at the rights of the application.',
    ],
    example: 'GET /zaken/00000000-0000-4000-8000-000000000000',
  },
  'api-disabled': {
    status: 404,
    cause: ['Een beheerder heeft deze API uitgezet.', 'An administrator switched this API off.'],
    remedy: [
      'Gebruik de API van de installatie die dit onderdeel wel heeft, of vraag de beheerder om het aan te zetten.',
      'Use the API of the installation that has this component, or ask the administrator to switch it on.',
    ],
    example: 'GET /besluiten (BESLUITEN_API_ENABLED=false)',
  },
  'inhoud-vermist': {
    status: 503,
    cause: [
      'De inhoud van dit document is niet meer in de opslag te vinden.',
      'The content of this document is no longer in the store.',
    ],
    remedy: [
      'Vraag het de beheerder: de metrics en het log noemen het document.',
      'Ask the administrator: metrics and log name the document.',
    ],
    example: 'GET /enkelvoudiginformatieobjecten/…/download',
  },
  method_not_allowed: {
    status: 405,
    cause: ['Dit adres kent deze methode niet.', 'This address does not know the method.'],
    remedy: [
      'De header Allow noemt de methoden die het wel kent.',
      'The header Allow names the methods that it knows.',
    ],
    example: 'PUT /statussen/…',
  },
  not_acceptable: {
    status: 406,
    cause: [
      'Aan Accept, Accept-Crs of Content-Crs kan niet worden voldaan.',
      'Accept, Accept-Crs or Content-Crs cannot be met.',
    ],
    remedy: [
      'Vraag om application/json, en voor geometrie om EPSG:4326.',
      'Ask for application/json, and for geometry in EPSG:4326.',
    ],
    example: 'Accept-Crs: EPSG:28992',
  },
  request_timeout: {
    status: 408,
    cause: ['De aanvraag kwam niet op tijd binnen.', 'The request did not arrive in time.'],
    remedy: [
      'Stuur headers en inhoud zonder te wachten; inhoud van documenten heeft geen tijd, maar een laagste snelheid.',
      'Send headers and body without waiting; content of documents has no time, but a lowest speed.',
    ],
    example: 'Content-Length: 500, en daarna niets',
  },
  gone: {
    status: 410,
    cause: [
      'De positie of de momentopname geldt niet meer: ze is verlopen, de database is hersteld of overgenomen, of de rechten van de applicatie zijn gewijzigd.',
      'The position or the snapshot does not count any more: it expired, the database was restored or failed over, or the rights of the application changed.',
    ],
    remedy: [
      'Begin opnieuw: haal de nieuwste momentopname op, en ga verder vanaf haar positie.',
      'Begin anew: fetch the newest snapshot, and go on from its position.',
    ],
    example: 'GET /zaken/_deltas?after=0badcafe.12.a',
  },
  conflict: {
    status: 409,
    cause: [
      'De wijziging botst met een andere van hetzelfde moment, of wat weg moet is in gebruik.',
      'The change collides with another of the same moment, or what is to go is in use.',
    ],
    remedy: [
      'Met Retry-After: stuur dezelfde aanvraag opnieuw. Anders: haal op wat er nu is.',
      'With Retry-After: send the same request again. Else: fetch what is there now.',
    ],
    example: 'DELETE /statustypen/… (er zijn statussen van)',
  },
  CATALOG_NOT_EMPTY: {
    status: 409,
    cause: ['In de catalogus staan nog typen.', 'There are still types in the catalogue.'],
    remedy: ['Verwijder eerst de typen.', 'Delete the types first.'],
    example: 'DELETE /catalogussen/…',
    rule: 'ztc-017',
  },
  'overneming-alleen-lezen': {
    status: 409,
    cause: [
      'Er wordt overgenomen uit een andere installatie, die tot de omschakeling de baas is.',
      'Another installation is being taken over, and is the master until the switch.',
    ],
    remedy: ['Doe het daar, of na de omschakeling hier.', 'Do it there, or here after the switch.'],
    example: 'PATCH /zaken/… {"omschrijving": "Dakkapel"}',
  },
  precondition_failed: {
    status: 412,
    cause: [
      'Aan een voorwaarde in de headers is niet voldaan, of een verplichte header ontbreekt.',
      'A condition of the headers does not hold, or a required header is missing.',
    ],
    remedy: [
      'Stuur Accept-Crs: EPSG:4326, en met een zaak Content-Crs: EPSG:4326. Haal bij een voorwaarde eerst op wat er nu is.',
      'Send Accept-Crs: EPSG:4326, and with a case Content-Crs: EPSG:4326. With a condition, fetch first what is there now.',
    ],
    example: 'GET /zaken (zonder Accept-Crs)',
  },
  request_entity_too_large: {
    status: 413,
    cause: ['De aanvraag is te groot.', 'The request is too large.'],
    remedy: ['Stuur grote bestanden in bestandsdelen.', 'Send large files in bestandsdelen.'],
    example: 'POST /zaken (meer dan de grootste inhoud)',
  },
  'storage-limit': {
    status: 413,
    cause: [
      'De inhoud van alle documenten samen zou meer worden dan hier mag; detail noemt hoeveel dat is.',
      'The contents of all documents together would become more than may be here; detail says how much that is.',
    ],
    remedy: [
      'Verwijder documenten, of vraag de beheerder om meer ruimte. Ruimte van verwijderde documenten komt vrij als hun inhoud is opgeruimd.',
      'Remove documents, or ask the administrator for more room. Room of removed documents comes back when their contents were cleaned up.',
    ],
    example: 'POST /enkelvoudiginformatieobjecten {"inhoud": "SGFsbG8=", …} (STORAGE_MAX_BYTES is bereikt)',
  },
  uri_too_long: {
    status: 414,
    cause: ['Het adres met zijn parameters is te lang.', 'The address with its parameters is too long.'],
    remedy: ['Zoek met POST …/_zoek.', 'Search by POST …/_zoek.'],
    example: 'GET /zaken?uuid__in=…',
  },
  unsupported_media_type: {
    status: 415,
    cause: ['Dit mediatype wordt hier niet aangenomen.', 'This media type is not taken here.'],
    remedy: [
      'Stuur application/json, ongecomprimeerd; een bestandsdeel als multipart/form-data.',
      'Send application/json, uncompressed; a part of a file as multipart/form-data.',
    ],
    example: 'Content-Type: text/xml',
  },
  range_not_satisfiable: {
    status: 416,
    cause: ['Het gevraagde bereik ligt buiten het bestand.', 'The range that was asked lies outside the file.'],
    remedy: ['Content-Range noemt hoe groot het bestand is.', 'Content-Range says how large the file is.'],
    example: 'Range: bytes=999999-',
  },
  expectation_failed: {
    status: 417,
    cause: ['De header Expect vraagt iets anders dan 100-continue.', 'The header Expect asks other than 100-continue.'],
    remedy: ['Laat Expect weg.', 'Leave Expect out.'],
    example: 'Expect: 200-ok',
  },
  throttled: {
    status: 429,
    cause: [
      'Er kwamen te veel aanvragen, of te veel tokens die niet kloppen.',
      'There were too many requests, or too many tokens that are wrong.',
    ],
    remedy: ['Wacht zo lang als Retry-After zegt.', 'Wait as long as Retry-After says.'],
    example: '20 × een verkeerd geheim',
  },
  request_header_fields_too_large: {
    status: 431,
    cause: ['De headers zijn samen te groot.', 'The headers together are too large.'],
    remedy: ['Stuur kleinere headers.', 'Send smaller headers.'],
    example: 'Cookie: … (16 kB)',
  },
  error: {
    status: 500,
    cause: ['Er ging bij ons iets mis.', 'Something went wrong on our side.'],
    remedy: [
      'Geef de waarde van instance aan de beheerder: daarmee is de fout in het log te vinden.',
      'Give the value of instance to the administrator: it finds the fault in the log.',
    ],
    example: '"instance": "urn:uuid:…"',
  },
  service_unavailable: {
    status: 503,
    cause: [
      'De database, de opslag of iets anders dat de aanvraag nodig heeft is even weg.',
      'The database, the store or something else that the request needs is away for a moment.',
    ],
    remedy: [
      'Er is niets gedaan: stuur dezelfde aanvraag opnieuw na Retry-After.',
      'Nothing was done: send the same request again after Retry-After.',
    ],
    example: 'Retry-After: 5',
  },
  'organisation-suspended': {
    status: 503,
    cause: [
      'Een beheerder heeft deze organisatie stilgezet: er wordt niets gelezen en niets gewijzigd.',
      'An administrator has suspended this organisation: nothing is read and nothing is changed.',
    ],
    remedy: [
      'Vraag de beheerder van de installatie wanneer zij weer open is.',
      'Ask the administrator of the installation when it is open again.',
    ],
    example: 'GET /zaken (zaakstroom organisation suspend)',
  },
  'organisation-read-only': {
    status: 503,
    cause: [
      'Van deze organisatie wordt nu alleen gelezen, zoals tijdens een migratie of na een die mislukte.',
      'This organisation is only read now, as during a migration or after one that failed.',
    ],
    remedy: [
      'Er is niets gedaan: stuur dezelfde aanvraag opnieuw na Retry-After.',
      'Nothing was done: send the same request again after Retry-After.',
    ],
    example: 'POST /zaken; Retry-After: 60',
  },
  'idempotency-key-reused': {
    status: 422,
    cause: [
      'De Idempotency-Key hoort al bij een andere aanvraag van deze applicatie.',
      'The Idempotency-Key belongs to another request of this applicatie already.',
    ],
    remedy: ['Neem voor elke aanvraag een nieuwe sleutel.', 'Take a new key for each request.'],
    example: 'POST /zaken (Idempotency-Key van een eerdere zaak)',
  },
  outcome_unknown: {
    status: 503,
    cause: [
      'De verbinding met de database brak bij het vastleggen: het kan gelukt zijn.',
      'The connection to the database broke at the commit: it may have been done.',
    ],
    remedy: [
      'Stuur het opnieuw met dezelfde Idempotency-Key. Zonder die zegt de header Link (rel="status") een dag lang of het is gelukt.',
      'Send it again with the same Idempotency-Key. Without one, the header Link (rel="status") tells for a day whether it was done.',
    ],
    example: 'POST /zaken {"identificatie": "ZAAK-2026-0001"}',
  },
} as const satisfies Record<string, Meaning & { status: number }>

/** Codes of one field (`invalidParams[].code`). */
export const FIELD_CODES = {
  invalid: {
    cause: [
      'Deze waarde kan hier niet: van het verkeerde soort, onmogelijk, of niet te bewaren; reason zegt welke.',
      'This value cannot be here: of the wrong kind, impossible, or not to be kept; reason says which.',
    ],
    remedy: [
      'Herstel de waarde naar wat het OpenAPI-document bij het veld zegt.',
      'Mend the value to what the OpenAPI document says of the field.',
    ],
    example: 'POST /zaken {"startdatum": "5 januari"}',
  },
  required: {
    cause: ['Een verplicht veld ontbreekt.', 'A required field is missing.'],
    remedy: ['Geef het veld.', 'Give the field.'],
    example: 'POST /zaken {"bronorganisatie": "000000000"}',
  },
  null: {
    cause: ['Dit veld mag niet null zijn.', 'This field may not be null.'],
    remedy: [
      'Geef een waarde, of laat het veld weg waar dat mag.',
      'Give a value, or leave the field out where that is allowed.',
    ],
    example: 'PATCH /zaken/… {"zaaktype": null}',
  },
  blank: {
    cause: ['Dit veld mag niet leeg zijn.', 'This field may not be empty.'],
    remedy: ['Geef een tekst van ten minste een teken.', 'Give a text of at least one character.'],
    example: 'POST /klantcontacten {"kanaal": ""}',
  },
  empty: {
    cause: ['Deze lijst mag niet leeg zijn.', 'This list may not be empty.'],
    remedy: ['Geef ten minste een onderdeel.', 'Give at least one member.'],
    example: 'POST /zaak_registreren {"rollen": []}',
  },
  not_a_list: {
    cause: ['Hier hoort een lijst.', 'A list belongs here.'],
    remedy: ['Zet de waarde tussen vierkante haken.', 'Put the value between square brackets.'],
    example: 'PATCH /zaken/… {"kenmerken": "x"}',
  },
  invalid_choice: {
    cause: [
      'Deze keuze bestaat niet; reason noemt de mogelijke.',
      'This choice does not exist; reason names those that do.',
    ],
    remedy: ['Kies een van de waarden in de enum.', 'Choose one of the values in the enum.'],
    example: 'POST /zaken {"vertrouwelijkheidaanduiding": "beetje_geheim"}',
  },
  max_length: {
    cause: ['De tekst of lijst is te lang.', 'The text or list is too long.'],
    remedy: ['Kort in tot wat reason noemt.', 'Shorten to what reason says.'],
    example: 'POST /zaken {"omschrijving": "(meer dan 80 tekens)"}',
  },
  min_length: {
    cause: ['De tekst is te kort.', 'The text is too short.'],
    remedy: ['Vul aan tot wat reason noemt.', 'Lengthen to what reason says.'],
    example: 'POST /zaken {"bronorganisatie": "123"}',
  },
  max_value: {
    cause: ['Het getal is te groot.', 'The number is too large.'],
    remedy: ['Blijf onder wat reason noemt.', 'Stay below what reason says.'],
    example: 'POST /statustypen {"volgnummer": 10000}',
  },
  min_value: {
    cause: ['Het getal is te klein.', 'The number is too small.'],
    remedy: ['Blijf boven wat reason noemt.', 'Stay above what reason says.'],
    example: 'POST /statustypen {"volgnummer": 0}',
  },
  max_items: {
    cause: [
      'Hier staan er al zo veel als er mogen, of er wordt te veel tegelijk gevraagd.',
      'There are as many as there may be, or too much is asked at once.',
    ],
    remedy: ['Verwijder er eerst, of vraag in gedeelten.', 'Remove some first, or ask in portions.'],
    example: 'GET /zaken?expand=…&pageSize=500',
  },
  'only-digits': {
    cause: ['Hier horen alleen cijfers.', 'Only digits belong here.'],
    remedy: ['Laat punten, spaties en letters weg.', 'Leave out dots, blanks and letters.'],
    example: 'POST /zaken {"bronorganisatie": "0000.00000"}',
  },
  unique: {
    cause: ['Dit bestaat al, en mag er maar een keer zijn.', 'This exists already, and may be there only once.'],
    remedy: ['Zoek wat er is, en wijzig dat.', 'Look for what is there, and change that.'],
    example: 'POST /resultaten {"zaak": "…"} (tweede keer)',
    rule: 'zrc-002, drc-003',
  },
  'unknown-parameters': {
    cause: [
      'Een parameter in het adres is hier niet bekend; reason noemt hem.',
      'A parameter in the address is not known here; reason names it.',
    ],
    remedy: [
      'Kijk in het OpenAPI-document welke parameters er zijn, op hoofdletters.',
      'See in the OpenAPI document which parameters there are, with capitals.',
    ],
    example: 'GET /zaken?zaakType=…',
  },
  'bad-url': {
    cause: [
      'Deze URL is geen URL, bestaat niet, of is niet op te vragen.',
      'This URL is none, does not exist, or cannot be fetched.',
    ],
    remedy: [
      'Neem de URL over uit een antwoord van deze dienst. Een andere server moet de beheerder eerst als dienst registreren.',
      'Take the URL from an answer of this service. Another server has to be registered as a service by the administrator first.',
    ],
    example: 'POST /zaken {"zaaktype": "https://elders.example/zaaktypen/1"}',
    rule: 'zrc-001, zrc-003, zrc-010, zrc-011, drc-001, drc-002, brc-001, brc-003',
  },
  'invalid-resource': {
    cause: ['Op deze URL staat iets van een andere soort.', 'At this URL is something of another kind.'],
    remedy: ['Geef de URL van de gevraagde soort.', 'Give the URL of the kind that is asked.'],
    example: 'POST /zaken {"zaaktype": "…/statustypen/…"}',
    rule: 'zrc-001, zrc-003, drc-001, drc-002, brc-001, brc-003',
  },
  does_not_exist: {
    cause: ['Wat deze URL noemt bestaat hier niet.', 'What this URL names does not exist here.'],
    remedy: ['Neem de URL over uit een antwoord van deze dienst.', 'Take the URL from an answer of this service.'],
    example: 'POST /zaken {"hoofdzaak": "…/zaken/00000000-0000-4000-8000-000000000000"}',
  },
  'does-not-exist': {
    cause: ['Deze rol bestaat niet (meer).', 'This rol does not exist (any more).'],
    remedy: [
      'Haal de rollen van de zaak op, en stuur die terug.',
      'Fetch the rollen of the case, and send those back.',
    ],
    example: 'PUT /zaak_bijwerken/… {"rollen": [{"uuid": "…"}]}',
  },
  'object-does-not-exist': {
    cause: [
      'De zaak of het besluit waar het om gaat bestaat niet.',
      'The case or besluit that it is about does not exist.',
    ],
    remedy: ['Neem de URL over uit een antwoord van deze dienst.', 'Take the URL from an answer of this service.'],
    example: 'POST /statussen {"zaak": "…/zaken/00000000-0000-4000-8000-000000000000"}',
  },
  no_match: {
    cause: ['Deze URL is er geen van deze dienst.', 'This URL is none of this service.'],
    remedy: ['Geef een URL van deze dienst.', 'Give a URL of this service.'],
    example: 'POST /zaken {"hoofdzaak": "https://elders.example/zaken/1"}',
  },
  incorrect_match: {
    cause: [
      'Deze URL is van deze dienst, maar van een andere resource.',
      'This URL is of this service, but of another resource.',
    ],
    remedy: ['Geef de URL van de gevraagde resource.', 'Give the URL of the resource that is asked.'],
    example: 'POST /zaken {"hoofdzaak": "…/zaaktypen/…"}',
  },
  'wijzigen-niet-toegelaten': {
    cause: ['Dit veld houdt de waarde waarmee het gemaakt is.', 'This field keeps the value that it was made with.'],
    remedy: ['Laat het veld weg, of stuur de oude waarde.', 'Leave the field out, or send the old value.'],
    example: 'PATCH /zaken/… {"zaaktype": "…"}',
    rule: 'zrc-004, brc-001, brc-002',
  },
  'date-in-future': {
    cause: ['Dit moment ligt in de toekomst.', 'This moment is in the future.'],
    remedy: ['Geef een moment dat voorbij is; kijk naar de klok.', 'Give a moment that is past; look at the clock.'],
    example: 'POST /statussen {"datumStatusGezet": "2999-01-01T00:00:00Z"}',
  },
  future_not_allowed: {
    cause: ['Deze datum ligt in de toekomst.', 'This date is in the future.'],
    remedy: ['Geef een datum die voorbij is.', 'Give a date that is past.'],
    example: 'POST /besluiten {"datum": "2999-01-01"}',
  },
  'identificatie-niet-uniek': {
    cause: [
      'Deze identificatie bestaat al binnen de organisatie.',
      'This identificatie exists already within the organisation.',
    ],
    remedy: [
      'Zoek de zaak, het document of het besluit met dit nummer, of geef een ander nummer.',
      'Look for the case, document or besluit with this number, or give another number.',
    ],
    example: 'POST /zaken {"identificatie": "ZAAK-2026-0001"} (tweede keer)',
    rule: 'zrc-002, brc-002',
  },
  'not-published': {
    cause: ['Dit type is nog een concept.', 'This type is still a draft.'],
    remedy: [
      'Publiceer het type, of neem een versie die gepubliceerd is.',
      'Publish the type, or take a version that is.',
    ],
    example: 'POST /zaken {"zaaktype": "…"}',
    rule: 'zrc-001, drc-001, brc-001',
  },
  'zaaktype-mismatch': {
    cause: [
      'Dit type hoort niet bij het zaaktype van de zaak.',
      'This type does not belong to the zaaktype of the case.',
    ],
    remedy: [
      'Neem een statustype, resultaattype, roltype, eigenschap of besluittype van hetzelfde zaaktype, in dezelfde versie.',
      'Take a statustype, resultaattype, roltype, eigenschap or besluittype of the same zaaktype, in the same version.',
    ],
    example: 'POST /statussen {"zaak": "…", "statustype": "(van een ander zaaktype)"}',
    rule: 'zrc-016, zrc-018, zrc-019, zrc-020, brc-007',
  },
  'empty-duration': {
    cause: ['Een servicenorm van geen lengte.', 'A servicenorm of no length.'],
    remedy: ['Laat de servicenorm weg, of geef null.', 'Leave the servicenorm out, or give null.'],
    example: 'POST /zaaktypen {"servicenorm": "P0D"}',
  },
  'self-forbidden': {
    cause: [
      'Een zaak is geen hoofdzaak, relevante of gerelateerde zaak van zichzelf.',
      'A case is no part of itself, and not related to itself.',
    ],
    remedy: ['Geef een andere zaak.', 'Give another case.'],
    example: 'PATCH /zaken/1 {"hoofdzaak": "…/zaken/1"}',
    rule: 'zrc-013',
  },
  'deelzaak-als-hoofdzaak': {
    cause: ['Wat als hoofdzaak is genoemd is zelf een deelzaak.', 'What is named as hoofdzaak is a part itself.'],
    remedy: ['Neem de hoofdzaak daarvan.', 'Take the hoofdzaak of that one.'],
    example: 'POST /zaken {"hoofdzaak": "(een deelzaak)"}',
    rule: 'zrc-013',
  },
  'invalid-deelzaaktype': {
    cause: [
      'Het zaaktype is geen deelzaaktype van dat van de hoofdzaak.',
      'The zaaktype is none of the deelzaaktypen of that of the hoofdzaak.',
    ],
    remedy: [
      'Zet het zaaktype in deelzaaktypen van het andere, of kies een ander zaaktype.',
      'Add the zaaktype to deelzaaktypen of the other, or choose another zaaktype.',
    ],
    example: 'POST /zaken {"zaaktype": "…", "hoofdzaak": "…"}',
    rule: 'zrc-013',
  },
  'overigerelatie-required': {
    cause: [
      'De aard van de relatie is overig, en overigeRelatie zegt niet welke.',
      'The kind of relation is overig, and overigeRelatie does not say which.',
    ],
    remedy: ['Omschrijf de relatie in overigeRelatie.', 'Describe the relation in overigeRelatie.'],
    example: 'POST /zaken {"relevanteAndereZaken": [{"url": "…", "aardRelatie": "overig"}]}',
  },
  'betaling-nvt': {
    cause: [
      'Er zijn geen kosten (nvt), en toch een laatste betaaldatum.',
      'There are no costs (nvt), and a date of payment all the same.',
    ],
    remedy: [
      'Laat laatsteBetaaldatum weg, of geef een andere betalingsindicatie.',
      'Leave laatsteBetaaldatum out, or give another betalingsindicatie.',
    ],
    example: 'POST /zaken {"betalingsindicatie": "nvt", "laatsteBetaaldatum": "2026-01-05T12:00:00Z"}',
    rule: 'zrc-014',
  },
  'invalid-products-services': {
    cause: ['Een product of dienst staat niet bij het zaaktype.', 'A product or service is none of the zaaktype.'],
    remedy: ['Kies uit productenOfDiensten van het zaaktype.', 'Choose of productenOfDiensten of the zaaktype.'],
    example: 'POST /zaken {"productenOfDiensten": ["https://elders.example/product/1"]}',
    rule: 'zrc-015',
  },
  'documents-not-archived': {
    cause: [
      'De zaak gaat naar het archief, maar een document ervan is nog niet gearchiveerd.',
      'The case goes to the archive, but a document of it is not archived yet.',
    ],
    remedy: [
      'Geef elk document van de zaak status gearchiveerd.',
      'Give each document of the case status gearchiveerd.',
    ],
    example: 'PATCH /zaken/… {"archiefstatus": "gearchiveerd"}',
    rule: 'zrc-022',
  },
  'archiefnominatie-not-set': {
    cause: [
      'De zaak gaat naar het archief, maar archiefnominatie is leeg.',
      'The case goes to the archive, but archiefnominatie is empty.',
    ],
    remedy: ['Vul archiefnominatie in.', 'Fill in archiefnominatie.'],
    example: 'PATCH /zaken/… {"archiefstatus": "overgedragen"}',
    rule: 'zrc-022',
  },
  'archiefactiedatum-not-set': {
    cause: [
      'De zaak gaat naar het archief, maar archiefactiedatum is leeg.',
      'The case goes to the archive, but archiefactiedatum is empty.',
    ],
    remedy: ['Vul archiefactiedatum in.', 'Fill in archiefactiedatum.'],
    example: 'PATCH /zaken/… {"archiefstatus": "overgedragen"}',
    rule: 'zrc-022',
  },
  'archiefactiedatum-error': {
    cause: [
      'Bij het afsluiten is niet te bepalen wanneer de bewaartermijn begint.',
      'At the closing it cannot be told when the term of keeping begins.',
    ],
    remedy: [
      'Zorg voor wat de afleidingswijze van het resultaattype vraagt: een zaakeigenschap, een zaakobject met datum, de hoofdzaak, een besluit; reason zegt wat.',
      'Provide what the afleidingswijze of the resultaattype asks: a zaakeigenschap, a zaakobject with a date, the hoofdzaak, a besluit; reason says which.',
    ],
    example: 'POST /statussen {"zaak": "…", "statustype": "(eindstatus)"}',
    rule: 'zrc-021',
  },
  'resultaat-does-not-exist': {
    cause: ['De zaak wordt afgesloten en heeft nog geen resultaat.', 'The case is closed and has no resultaat yet.'],
    remedy: ['Maak eerst een resultaat: POST /resultaten.', 'Make a resultaat first: POST /resultaten.'],
    example: 'POST /statussen {"zaak": "…", "statustype": "(eindstatus)"}',
    rule: 'zrc-007',
  },
  'indicatiegebruiksrecht-unset': {
    cause: [
      'De zaak wordt afgesloten en van een document is niet gezegd of er gebruiksrechten zijn.',
      'The case is closed and of a document it is not said whether there are gebruiksrechten.',
    ],
    remedy: [
      'Geef elk document van de zaak indicatieGebruiksrecht false, of maak een gebruiksrecht (dat maakt er true van).',
      'Give each document of the case indicatieGebruiksrecht false, or make a gebruiksrecht (which makes it true).',
    ],
    example: 'POST /statussen {"zaak": "…", "statustype": "(eindstatus)"}',
    rule: 'zrc-007',
  },
  'informatieobject-locked': {
    cause: [
      'De zaak wordt afgesloten en een document ervan is vergrendeld.',
      'The case is closed and a document of it is locked.',
    ],
    remedy: [
      'Ontgrendel het document: POST /enkelvoudiginformatieobjecten/…/unlock.',
      'Unlock the document: POST /enkelvoudiginformatieobjecten/…/unlock.',
    ],
    example: 'POST /statussen {"zaak": "…", "statustype": "(eindstatus)"}',
    rule: 'zrc-007',
  },
  'hoofdzaak-closed': {
    cause: [
      'De hoofdzaak is afgesloten: een deelzaak gaat dan niet meer open.',
      'The hoofdzaak is closed: a part of it is not reopened then.',
    ],
    remedy: ['Heropen eerst de hoofdzaak.', 'Reopen the hoofdzaak first.'],
    example: 'POST /statussen {"zaak": "(deelzaak)", "statustype": "…"}',
  },
  'deelzaken-not-closed': {
    cause: [
      'De zaak wordt afgesloten en heeft nog deelzaken die open zijn.',
      'The case is closed and still has parts that are open.',
    ],
    remedy: ['Sluit eerst de deelzaken af.', 'Close the parts first.'],
    example: 'POST /statussen {"zaak": "(hoofdzaak)", "statustype": "(eindstatus)"}',
  },
  'deelzaak-resultaat-does-not-exist': {
    cause: [
      'De zaak wordt afgesloten en een deelzaak heeft geen resultaat.',
      'The case is closed and a part of it has no resultaat.',
    ],
    remedy: ['Geef elke deelzaak een resultaat.', 'Give each part a resultaat.'],
    example: 'POST /statussen {"zaak": "(hoofdzaak)", "statustype": "(eindstatus)"}',
  },
  'eindstatus-required': {
    cause: ['Afsluiten vraagt de eindstatus van het zaaktype.', 'Closing asks for the end status of the zaaktype.'],
    remedy: ['Geef het statustype met het hoogste volgnummer.', 'Give the statustype with the highest volgnummer.'],
    example: 'POST /zaak_afsluiten/… {"status": {"statustype": "…"}}',
  },
  'eindstatus-not-allowed': {
    cause: ['De eindstatus mag hier niet.', 'The end status is not allowed here.'],
    remedy: ['Geef een ander statustype, of sluit de zaak af.', 'Give another statustype, or close the case.'],
    example: 'POST /zaak_bijwerken/… {"status": {"statustype": "(eindstatus)"}}',
  },
  'status-not-current': {
    cause: [
      'De zaak heeft een latere status, dus deze sluit haar niet af.',
      'The case has a later status, so this one does not close it.',
    ],
    remedy: [
      'Geef een datumStatusGezet na die van de laatste status.',
      'Give a datumStatusGezet after that of the last status.',
    ],
    example: 'POST /zaak_afsluiten/… {"status": {"datumStatusGezet": "2020-01-01T00:00:00Z"}}',
  },
  'zaak-archiefstatus-invalid': {
    cause: [
      'De zaak is gearchiveerd of overgedragen en wijzigt niet meer.',
      'The case was archived or handed over and does not change any more.',
    ],
    remedy: [
      'Alleen wie zaken.geforceerd-bijwerken heeft zet archiefstatus terug.',
      'Only who has zaken.geforceerd-bijwerken sets archiefstatus back.',
    ],
    example: 'PATCH /zaken/… {"omschrijving": "Dakkapel"}',
  },
  'zaak-mismatch': {
    cause: ['De rol hoort bij een andere zaak.', 'The rol belongs to another case.'],
    remedy: ['Neem een rol van dezelfde zaak.', 'Take a rol of the same case.'],
    example: 'POST /statussen {"zaak": "…", "gezetdoor": "(rol van een andere zaak)"}',
  },
  'zaak-status-mismatch': {
    cause: ['De status hoort bij een andere zaak.', 'The status belongs to another case.'],
    remedy: ['Neem een status van dezelfde zaak.', 'Take a status of the same case.'],
    example: 'POST /substatussen {"zaak": "…", "status": "(van een andere zaak)"}',
  },
  'related-besluiten': {
    cause: ['Aan de zaak zijn nog besluiten gekoppeld.', 'There are still besluiten of the case.'],
    remedy: ['Verwijder of verplaats eerst de besluiten.', 'Delete or move the besluiten first.'],
    example: 'DELETE /zaken/…',
    rule: 'zrc-023',
  },
  'a-nummer-incorrect-format': {
    cause: [
      'Een A-nummer heeft tien cijfers en begint niet met een nul.',
      'An A-nummer has ten digits and does not begin with a zero.',
    ],
    remedy: ['Controleer het nummer.', 'Check the number.'],
    example: 'POST /rollen {"betrokkeneIdentificatie": {"anpIdentificatie": "", "inpA_nummer": "123"}}',
  },
  'invalid-betrokkene': {
    cause: ['De rol zegt niet wie de betrokkene is.', 'The rol does not say who it is.'],
    remedy: [
      'Geef betrokkene (een URL) of betrokkeneIdentificatie.',
      'Give betrokkene (a URL) or betrokkeneIdentificatie.',
    ],
    example: 'POST /rollen {"betrokkeneType": "natuurlijk_persoon"}',
  },
  'max-occurences': {
    cause: [
      'Een initiator en een zaakcoördinator heeft een zaak ten hoogste een keer.',
      'A case has an initiator and a zaakcoordinator at most once.',
    ],
    remedy: ['Wijzig de rol die er is.', 'Change the rol that is there.'],
    example: 'POST /rollen {"roltype": "(initiator)"} (tweede keer)',
  },
  'einde-geldigheid-before-begin-geldigheid': {
    cause: ['Het einde van de rol ligt voor het begin.', 'The end of the rol is before its begin.'],
    remedy: ['Geef een einde na het begin.', 'Give an end after the begin.'],
    example: 'POST /rollen {"beginGeldigheid": "2026-02-01", "eindeGeldigheid": "2026-01-01"}',
  },
  'indicatie-machtiging-invalid': {
    cause: ['Wie een ander vertegenwoordigt is gemachtigde.', 'Who stands for another is gemachtigde.'],
    remedy: ['Geef indicatieMachtiging gemachtigde.', 'Give indicatieMachtiging gemachtigde.'],
    example: 'POST /rollen {"authenticatieContext": {"representee": {}, "mandate": {}}}',
  },
  duplicate: {
    cause: ['Deze rol staat er twee keer in.', 'This rol is in it twice.'],
    remedy: ['Noem elke rol een keer.', 'Name each rol once.'],
    example: 'PUT /zaak_bijwerken/… {"rollen": [{"uuid": "1"}, {"uuid": "1"}]}',
  },
  'missing-relation': {
    cause: ['Deze rol hoort bij een andere zaak.', 'This rol belongs to another case.'],
    remedy: ['Noem alleen rollen van deze zaak.', 'Name only rollen of this case.'],
    example: 'PUT /zaak_bijwerken/… {"rollen": [{"uuid": "(van een andere zaak)"}]}',
  },
  'invalid-zaakobject': {
    cause: ['Het zaakobject zegt niet om welk object het gaat.', 'The zaakobject does not say which object it is.'],
    remedy: ['Geef object (een URL) of objectIdentificatie.', 'Give object (a URL) or objectIdentificatie.'],
    example: 'POST /zaakobjecten {"objectType": "adres"}',
  },
  'missing-object-type-overige': {
    cause: [
      'Bij objectType overige ontbreekt objectTypeOverige.',
      'With objectType overige objectTypeOverige is missing.',
    ],
    remedy: ['Noem de soort in objectTypeOverige.', 'Name the kind in objectTypeOverige.'],
    example: 'POST /zaakobjecten {"objectType": "overige"}',
  },
  'invalid-object-type-overige-usage': {
    cause: [
      'objectTypeOverige hoort alleen bij objectType overige.',
      'objectTypeOverige goes with objectType overige only.',
    ],
    remedy: ['Laat objectTypeOverige weg.', 'Leave objectTypeOverige out.'],
    example: 'POST /zaakobjecten {"objectType": "adres", "objectTypeOverige": "boom"}',
  },
  'invalid-schema': {
    cause: [
      'De gegevens van het object voldoen niet aan hun schema.',
      'The data of the object do not fit their schema.',
    ],
    remedy: [
      'Vergelijk met het schema van het objecttype dat objectTypeOverigeDefinitie noemt.',
      'Compare with the schema of the objecttype that objectTypeOverigeDefinitie names.',
    ],
    example:
      'POST /zaakobjecten {"objectTypeOverigeDefinitie": {"url": "…", "schema": ".jsonSchema", "objectData": ".record.data"}}',
  },
  'waarde-incorrect-format': {
    cause: [
      'De waarde past niet bij de specificatie van de eigenschap.',
      'The value does not fit the specification of the eigenschap.',
    ],
    remedy: [
      'Kijk naar formaat, lengte en waardenverzameling van de eigenschap.',
      'See formaat, lengte and waardenverzameling of the eigenschap.',
    ],
    example: 'POST /zaken/…/zaakeigenschappen {"waarde": "veel"} (formaat getal)',
  },
  'missing-zaaktype-informatieobjecttype-relation': {
    cause: [
      'Documenten van dit type horen niet bij het zaaktype.',
      'Documents of this type do not belong to the zaaktype.',
    ],
    remedy: [
      'Neem een informatieobjecttype van het zaaktype, of koppel het in de catalogus.',
      'Take an informatieobjecttype of the zaaktype, or link it in the catalogue.',
    ],
    example: 'POST /zaakinformatieobjecten {"zaak": "…", "informatieobject": "…"}',
    rule: 'zrc-017',
  },
  empty_search_body: {
    cause: ['Er is niets om op te zoeken.', 'There is nothing to search for.'],
    remedy: ['Geef ten minste een zoekvoorwaarde.', 'Give at least one condition.'],
    example: 'POST /zaken/_zoek {}',
  },
  'malformed-cloudevent': {
    cause: [
      'De inhoud is geen geldig CloudEvent; reason noemt het veld.',
      'The body is no valid CloudEvent; reason names the field.',
    ],
    remedy: ['Stuur een CloudEvent 1.0 in structured mode.', 'Send a CloudEvent 1.0 in structured mode.'],
    example: 'POST /events {"specversion": "0.1"}',
  },
  unlocked: {
    cause: ['Het document is niet vergrendeld.', 'The document is not locked.'],
    remedy: [
      'Vergrendel het eerst: POST …/lock, en stuur de lock mee.',
      'Lock it first: POST …/lock, and send the lock along.',
    ],
    example: 'PATCH /enkelvoudiginformatieobjecten/… {"titel": "Brief"}',
    rule: 'drc-009',
  },
  'missing-lock-id': {
    cause: ['De lock ontbreekt.', 'The lock is missing.'],
    remedy: ['Stuur de lock mee die POST …/lock gaf.', 'Send the lock that POST …/lock gave.'],
    example: 'PATCH /enkelvoudiginformatieobjecten/… {"titel": "Brief"}',
    rule: 'drc-009',
  },
  'incorrect-lock-id': {
    cause: [
      'Dit is niet de lock waarmee het document is vergrendeld.',
      'This is not the lock that the document is locked with.',
    ],
    remedy: [
      'Stuur de lock die POST …/lock gaf; een ander kan het document hebben vergrendeld.',
      'Send the lock that POST …/lock gave; somebody else may have locked the document.',
    ],
    example: 'POST /enkelvoudiginformatieobjecten/…/unlock {"lock": "…"}',
    rule: 'drc-009',
  },
  'existing-lock': {
    cause: ['Het document is al vergrendeld.', 'The document is locked already.'],
    remedy: [
      'Wacht tot wie het vergrendelde klaar is; wie de geforceerde scope heeft ontgrendelt zonder lock.',
      'Wait until whoever locked it is done; who has the forced scope unlocks without a lock.',
    ],
    example: 'POST /enkelvoudiginformatieobjecten/…/lock',
    rule: 'drc-009',
  },
  'destroy-locked': {
    cause: ['Een vergrendeld document kan niet worden verwijderd.', 'A locked document cannot be deleted.'],
    remedy: ['Ontgrendel het eerst.', 'Unlock it first.'],
    example: 'DELETE /enkelvoudiginformatieobjecten/…',
  },
  'pending-relations': {
    cause: [
      'Het document hoort nog bij een zaak of besluit, of de relatie kon in het andere register niet worden bijgewerkt.',
      'The document still belongs to a case or besluit, or the relation could not be kept in the other register.',
    ],
    remedy: [
      'Verwijder eerst de relaties; reason noemt wat het andere register antwoordde.',
      'Remove the relations first; reason says what the other register answered.',
    ],
    example: 'DELETE /enkelvoudiginformatieobjecten/…',
    rule: 'drc-008, zrc-005, brc-005, brc-006',
  },
  'file-size': {
    cause: ['De inhoud heeft een andere omvang dan opgegeven.', 'The content has another size than stated.'],
    remedy: [
      'Geef bestandsomvang in bytes van de inhoud zelf, niet van de base64.',
      'Give bestandsomvang in bytes of the content itself, not of the base64.',
    ],
    example: 'POST /enkelvoudiginformatieobjecten {"inhoud": "SGFsbG8=", "bestandsomvang": 8}',
  },
  'incomplete-upload': {
    cause: ['Nog niet alle bestandsdelen zijn er.', 'Not all bestandsdelen are there yet.'],
    remedy: [
      'Stuur de delen waarvan voltooid false is, en ontgrendel dan.',
      'Send the parts whose voltooid is false, and unlock then.',
    ],
    example: 'POST /enkelvoudiginformatieobjecten/…/unlock {"lock": "…"}',
  },
  'incorrect-base64-padding': {
    cause: ['De base64 van de inhoud is niet goed aangevuld.', 'The base64 of the content is not padded well.'],
    remedy: ['Vul aan met = tot een veelvoud van vier tekens.', 'Pad with = to a multiple of four characters.'],
    example: 'POST /enkelvoudiginformatieobjecten {"inhoud": "SGFsbG8"}',
  },
  'invalid-base64': {
    cause: ['De inhoud is geen geldige base64.', 'The content is no valid base64.'],
    remedy: ['Stuur base64 met + en /, zonder "data:" ervoor.', 'Send base64 with + and /, without "data:" before it.'],
    example: 'POST /enkelvoudiginformatieobjecten {"inhoud": "data:text/plain;base64,…"}',
  },
  malware: {
    cause: ['In de inhoud is schadelijke software gevonden.', 'Malware was found in the content.'],
    remedy: ['Stuur dit bestand niet.', 'Do not send this file.'],
    example: 'POST /enkelvoudiginformatieobjecten {"inhoud": "(EICAR)"}',
  },
  'too-large-to-scan': {
    cause: [
      'De inhoud is te groot om op schadelijke software te onderzoeken.',
      'The content is too large to be scanned for malware.',
    ],
    remedy: [
      'Vraag de beheerder om een hogere grens (CLAMD_MAX_BYTES).',
      'Ask the administrator for a higher limit (CLAMD_MAX_BYTES).',
    ],
    example: 'PUT /bestandsdelen/…',
  },
  invalid_for_received: {
    cause: [
      'Een ontvangen document is niet in bewerking of ter vaststelling.',
      'A document that was received is not being drafted.',
    ],
    remedy: ['Laat status leeg, of ontvangstdatum.', 'Leave status empty, or ontvangstdatum.'],
    example: 'POST /enkelvoudiginformatieobjecten {"ontvangstdatum": "2026-01-05", "status": "in_bewerking"}',
    rule: 'drc-005',
  },
  'requirements-not-met': {
    cause: [
      'Het zaaktype vraagt een eigenschap, een document of een einddatum die de zaak nog niet heeft.',
      'The zaaktype asks an eigenschap, a document or an end that the case does not have yet.',
    ],
    remedy: [
      'Leg eerst vast wat de melding noemt. Met TYPE_REQUIREMENTS=warn is het een waarschuwing.',
      'Bring first what the reason names. With TYPE_REQUIREMENTS=warn it is a warning.',
    ],
    example: 'POST /statussen {"statustype": "…"}',
  },
  'missing-gebruiksrechten': {
    cause: [
      'indicatieGebruiksrecht is true, maar er is geen gebruiksrecht.',
      'indicatieGebruiksrecht is true, but there is no gebruiksrecht.',
    ],
    remedy: [
      'Laat het veld null en maak een gebruiksrecht: dat zet het op true.',
      'Leave the field null and make a gebruiksrecht: that sets it to true.',
    ],
    example: 'POST /enkelvoudiginformatieobjecten {"indicatieGebruiksrecht": true}',
    rule: 'drc-006',
  },
  'existing-gebruiksrechten': {
    cause: [
      'indicatieGebruiksrecht is niet true, maar er zijn gebruiksrechten.',
      'indicatieGebruiksrecht is not true, but there are gebruiksrechten.',
    ],
    remedy: [
      'Laat het op true, of verwijder eerst de gebruiksrechten.',
      'Leave it true, or delete the gebruiksrechten first.',
    ],
    example: 'PATCH /enkelvoudiginformatieobjecten/… {"indicatieGebruiksrecht": false}',
    rule: 'drc-006',
  },
  'invalid-address': {
    cause: ['Een verzending heeft niet precies een adres.', 'A verzending has not exactly one address.'],
    remedy: [
      'Geef een van de adressen: binnenland, buitenland, postbus, e-mail, fax, telefoon of MijnOverheid.',
      'Give one of the addresses: inland, abroad, PO box, e-mail, fax, telephone or MijnOverheid.',
    ],
    example: 'POST /verzendingen {"emailadres": "jan@example.nl", "mijnOverheid": true}',
  },
  'inconsistent-relation': {
    cause: [
      'De relatie bestaat niet (of juist nog wel) aan de andere kant.',
      'The relation does not exist (or still does) at the other side.',
    ],
    remedy: [
      'Maak of verwijder eerst de relatie bij de zaak of het besluit.',
      'Make or remove the relation at the case or besluit first.',
    ],
    example: 'POST /objectinformatieobjecten {"object": "…", "informatieobject": "…"}',
    rule: 'drc-004, brc-006',
  },
  'remote-relation-exists': {
    cause: [
      'De relatie bestaat nog in het register van het object.',
      'The relation still exists in the register of the object.',
    ],
    remedy: ['Verwijder haar daar eerst.', 'Remove it there first.'],
    example: 'DELETE /objectinformatieobjecten/…',
    rule: 'drc-004',
  },
  'relation-lookup-error': {
    cause: [
      'Het register van het object geeft geen bruikbaar antwoord.',
      'The register of the object gives no usable answer.',
    ],
    remedy: [
      'Probeer het later; kijk of de beheerder de dienst goed heeft geregistreerd.',
      'Try later; see that the administrator has registered the service well.',
    ],
    example: 'POST /objectinformatieobjecten {"object": "https://elders.example/zaken/1"}',
    rule: 'drc-004',
  },
  'invalid-status': {
    cause: [
      'De import is niet in de toestand die dit vraagt; reason noemt die.',
      'The import is not in the state that this asks; reason names it.',
    ],
    remedy: ['Vraag de status van de import op.', 'Ask for the status of the import.'],
    example: 'POST /import/…/upload (er is al een bestand)',
  },
  'import-invalid-status': {
    cause: ['Een lopende import kan niet worden verwijderd.', 'An import that runs cannot be deleted.'],
    remedy: ['Stop de import, of wacht tot zij klaar is.', 'Stop the import, or wait until it is done.'],
    example: 'DELETE /import/…/delete',
  },
  'existing-import-started': {
    cause: ['Er is al een import open.', 'There is an open import already.'],
    remedy: [
      'Ga met die verder, of stop haar; reason geeft het adres.',
      'Go on with that one, or stop it; reason has its address.',
    ],
    example: 'POST /import/create',
  },
  'imports-off': {
    cause: [
      'Imports staan in deze installatie of voor deze organisatie uit.',
      'Imports are off in this installation or for this organisation.',
    ],
    remedy: [
      'Maak documenten een voor een, of vraag de beheerder om imports aan te zetten.',
      'Make documents one by one, or ask the administrator to switch imports on.',
    ],
    example: 'POST /import/create',
  },
  'too-many-rows': {
    cause: [
      'Het bestand heeft meer rijen dan een import hier mag hebben.',
      'The file has more rows than an import may have here.',
    ],
    remedy: ['Verdeel het bestand over meer imports.', 'Divide the file over more imports.'],
    example: 'POST /import/…/upload (meer rijen dan IMPORT_MAX_ROWS)',
  },
  'empty-file': {
    cause: ['Het bestand is leeg.', 'The file is empty.'],
    remedy: ['Stuur een kopregel en ten minste een rij.', 'Send a header and at least one row.'],
    example: 'POST /import/…/upload',
  },
  'missing-import-headers': {
    cause: [
      'In de kopregel ontbreken kolommen; reason noemt ze.',
      'Columns are missing from the header; reason names them.',
    ],
    remedy: ['Vul de kopregel aan.', 'Complete the header.'],
    example: 'POST /import/…/upload',
  },
  'duplicate-import-headers': {
    cause: ['Een kolom staat meer dan eens in de kopregel.', 'A column is in the header more than once.'],
    remedy: ['Laat elke kolom een keer voorkomen.', 'Name each column once.'],
    example: 'POST /import/…/upload',
  },
  'import-dir-not-found': {
    cause: ['De importmap van de dienst bestaat niet.', 'The import directory of the service does not exist.'],
    remedy: [
      'Vraag de beheerder: zie IMPORT_DOCUMENTEN_BASE_DIR.',
      'Ask the administrator: see IMPORT_DOCUMENTEN_BASE_DIR.',
    ],
    example: 'POST /import/…/upload',
  },
  'import-dir-not-dir': {
    cause: ['De importmap van de dienst is geen map.', 'The import directory of the service is no directory.'],
    remedy: [
      'Vraag de beheerder: zie IMPORT_DOCUMENTEN_BASE_DIR.',
      'Ask the administrator: see IMPORT_DOCUMENTEN_BASE_DIR.',
    ],
    example: 'POST /import/…/upload',
  },
  'import-dir-forbidden': {
    cause: [
      'De importmap valt samen met een map van de dienst zelf.',
      'The import directory is one of the service itself.',
    ],
    remedy: [
      'Vraag de beheerder: zie IMPORT_DOCUMENTEN_BASE_DIR.',
      'Ask the administrator: see IMPORT_DOCUMENTEN_BASE_DIR.',
    ],
    example: 'POST /import/…/upload',
  },
  'missing-besluittype-informatieobjecttype-relation': {
    cause: [
      'Documenten van dit type horen niet bij het besluittype.',
      'Documents of this type do not belong to the besluittype.',
    ],
    remedy: [
      'Neem een informatieobjecttype van het besluittype, of koppel het in de catalogus.',
      'Take an informatieobjecttype of the besluittype, or link it in the catalogue.',
    ],
    example: 'POST /besluitinformatieobjecten {"besluit": "…", "informatieobject": "…"}',
    rule: 'brc-008',
  },
  'non-concept-object': {
    cause: [
      'Dit type is gepubliceerd en wijzigt niet meer, behalve het einde van de geldigheid.',
      'This type was published and does not change any more, but for the end of its validity.',
    ],
    remedy: [
      'Maak een nieuwe versie, of gebruik catalogi.geforceerd-schrijven.',
      'Make a new version, or use catalogi.geforceerd-schrijven.',
    ],
    example: 'PATCH /zaaktypen/… {"omschrijving": "Dakkapel"}',
    rule: 'ztc-009',
  },
  'non-concept-relation': {
    cause: ['Een gerelateerd type is gepubliceerd.', 'A related type was published.'],
    remedy: [
      'Koppel typen zolang ze concept zijn, of gebruik catalogi.geforceerd-schrijven.',
      'Link types while they are drafts, or use catalogi.geforceerd-schrijven.',
    ],
    example: 'POST /zaaktype-informatieobjecttypen {"zaaktype": "…", "informatieobjecttype": "…"}',
    rule: 'ztc-011, ztc-012',
  },
  'non-concept-zaaktype': {
    cause: [
      'Het zaaktype is gepubliceerd: wat eronder hangt wijzigt niet meer.',
      'The zaaktype was published: what hangs below it does not change any more.',
    ],
    remedy: [
      'Maak een nieuwe versie van het zaaktype, of gebruik catalogi.geforceerd-schrijven.',
      'Make a new version of the zaaktype, or use catalogi.geforceerd-schrijven.',
    ],
    example: 'POST /statustypen {"zaaktype": "…"}',
    rule: 'ztc-010',
  },
  'concept-relation': {
    cause: [
      'Een gerelateerd besluittype of informatieobjecttype is nog niet gepubliceerd.',
      'A related besluittype or informatieobjecttype is not published yet.',
    ],
    remedy: ['Publiceer eerst de gerelateerde typen.', 'Publish the related types first.'],
    example: 'POST /zaaktypen/…/publish',
  },
  overlap: {
    cause: [
      'Een andere gepubliceerde versie van dit type is in deze periode geldig.',
      'Another published version of this type is valid in this period.',
    ],
    remedy: [
      'Geef de vorige versie een eindeGeldigheid op de dag voordat deze begint: de eerste en de laatste dag tellen mee.',
      'Give the version before an eindeGeldigheid on the day before this one begins: the first and the last day count.',
    ],
    example: 'POST /zaaktypen/…/publish',
    rule: 'ztc-016',
  },
  'digest-mismatch': {
    cause: [
      'De inhoud die aankwam is niet die van Content-Digest of Repr-Digest; er is niets bewaard.',
      'What arrived is not what Content-Digest or Repr-Digest says; nothing was kept.',
    ],
    remedy: [
      'Stuur het opnieuw; blijft het, dan berekent de client de digest over iets anders dan hij stuurt.',
      'Send it again; when it stays, the client computes the digest of something else than it sends.',
    ],
    example: 'PUT /bestandsdelen/… (Content-Digest: sha-256=:…:)',
  },
  'date-mismatch': {
    cause: ['De einddatum ligt voor de begindatum.', 'The end is before the begin.'],
    remedy: ['Geef een einde na het begin.', 'Give an end after the begin.'],
    example: 'POST /zaaktypen {"beginGeldigheid": "2026-02-01", "eindeGeldigheid": "2026-01-01"}',
  },
  'relations-incorrect-catalogus': {
    cause: ['Gerelateerde typen staan in dezelfde catalogus.', 'Related types are in one catalogue.'],
    remedy: ['Neem typen van een catalogus.', 'Take types of one catalogue.'],
    example: 'POST /zaaktype-informatieobjecttypen {"zaaktype": "…", "informatieobjecttype": "(andere catalogus)"}',
    rule: 'ztc-013',
  },
  'relations-incorrect-zaaktype': {
    cause: [
      'Het statustype of de eigenschap hoort bij een ander zaaktype.',
      'The statustype or eigenschap belongs to another zaaktype.',
    ],
    remedy: ['Neem een van hetzelfde zaaktype.', 'Take one of the same zaaktype.'],
    example: 'POST /eigenschappen {"zaaktype": "…", "statustype": "(van een ander zaaktype)"}',
  },
  'procestype-mismatch': {
    cause: [
      'De selectielijstklasse hoort niet bij het procestype van het zaaktype.',
      'The selectielijstklasse does not belong to the procestype of the zaaktype.',
    ],
    remedy: ['Kies een klasse van dat procestype.', 'Choose a klasse of that procestype.'],
    example: 'POST /resultaattypen {"selectielijstklasse": "…"}',
    rule: 'ztc-002',
  },
  'invalid-afleidingswijze-for-procestermijn': {
    cause: [
      'De afleidingswijze past niet bij de procestermijn van de selectielijstklasse.',
      'The afleidingswijze does not fit the procestermijn of the selectielijstklasse.',
    ],
    remedy: [
      'Neem afgehandeld bij nihil, en termijn bij ingeschatte_bestaansduur_procesobject.',
      'Take afgehandeld with nihil, and termijn with ingeschatte_bestaansduur_procesobject.',
    ],
    example: 'POST /resultaattypen {"brondatumArchiefprocedure": {"afleidingswijze": "eigenschap"}}',
    rule: 'ztc-003',
  },
  'must-be-empty': {
    cause: [
      'Dit veld heeft geen betekenis bij deze afleidingswijze.',
      'This field has no meaning with this afleidingswijze.',
    ],
    remedy: ['Laat het veld leeg.', 'Leave the field empty.'],
    example:
      'POST /resultaattypen {"brondatumArchiefprocedure": {"afleidingswijze": "afgehandeld", "datumkenmerk": "x"}}',
    rule: 'ztc-004, ztc-005, ztc-006, ztc-007, ztc-008',
  },
  'verlenging-mismatch': {
    cause: [
      'Verlenging is mogelijk, maar verlengingstermijn ontbreekt.',
      'Prolonging is possible, but verlengingstermijn is missing.',
    ],
    remedy: ['Geef verlengingstermijn.', 'Give verlengingstermijn.'],
    example: 'POST /zaaktypen {"verlengingMogelijk": true}',
  },
  'invalid-bronzaaktype-for-broncatalogus': {
    cause: ['broncatalogus en bronzaaktype gaan samen.', 'broncatalogus and bronzaaktype go together.'],
    remedy: ['Geef beide, of geen van beide.', 'Give both, or neither.'],
    example: 'POST /zaaktypen {"broncatalogus": {}}',
  },
  'clientId-exists': {
    cause: ['Een client-id hoort al bij een andere applicatie.', 'A client id belongs to another application already.'],
    remedy: ['Neem een andere client-id, of haal haar daar weg.', 'Take another client id, or take it away there.'],
    example: 'POST /applicaties {"clientIds": ["app"]}',
    rule: 'ac-001',
  },
  'missing-authorizations': {
    cause: ['De applicatie heeft geen rechten.', 'The application has no rights.'],
    remedy: [
      'Geef heeftAlleAutorisaties true, of ten minste een autorisatie.',
      'Give heeftAlleAutorisaties true, or at least one autorisatie.',
    ],
    example: 'POST /applicaties {"clientIds": ["app"], "autorisaties": []}',
    rule: 'ac-002',
  },
  'ambiguous-authorizations-specified': {
    cause: [
      'heeftAlleAutorisaties en autorisaties staan er allebei.',
      'heeftAlleAutorisaties and autorisaties are both there.',
    ],
    remedy: ['Geef een van de twee.', 'Give one of the two.'],
    example: 'POST /applicaties {"heeftAlleAutorisaties": true, "autorisaties": [{}]}',
    rule: 'ac-002',
  },
  kanaal_naam: {
    cause: ['Dit kanaal bestaat niet; reason noemt het.', 'This kanaal does not exist; reason names it.'],
    remedy: ['Vraag de kanalen op: GET /kanaal.', 'Ask for the kanalen: GET /kanaal.'],
    example: 'POST /abonnement {"kanalen": [{"naam": "zaak"}]}',
  },
  message_kanaal: {
    cause: ['Het bericht noemt een kanaal dat niet bestaat.', 'The message names a kanaal that does not exist.'],
    remedy: ['Maak het kanaal eerst: POST /kanaal.', 'Make the kanaal first: POST /kanaal.'],
    example: 'POST /notificaties {"kanaal": "onbekend"}',
  },
  kenmerken_inconsistent: {
    cause: [
      'De kenmerken van het bericht zijn niet die van het kanaal.',
      'The kenmerken of the message are not those of the kanaal.',
    ],
    remedy: [
      'Geef de kenmerken die het kanaal als filters noemt.',
      'Give the kenmerken that the kanaal names as filters.',
    ],
    example: 'POST /notificaties {"kanaal": "zaken", "kenmerken": {"kleur": "rood"}}',
  },
  'inconsistent-abonnement-filters': {
    cause: [
      'Een filter noemt een kenmerk dat het kanaal niet heeft.',
      'A filter names a kenmerk that the kanaal has not.',
    ],
    remedy: [
      'Kies uit de filters van het kanaal; reason noemt ze.',
      'Choose of the filters of the kanaal; reason names them.',
    ],
    example: 'POST /abonnement {"kanalen": [{"naam": "zaken", "filters": {"kleur": "rood"}}]}',
  },
  'max-items': {
    cause: [
      'Er zijn al zo veel kanalen, abonnementen, groepen of filters als er mogen.',
      'There are as many kanalen, abonnementen, groups or filters as there may be.',
    ],
    remedy: ['Verwijder wat niet meer nodig is.', 'Remove what is not needed any more.'],
    example: 'POST /kanaal {"naam": "…"}',
  },
  'in-gebruik': {
    cause: [
      'Dit wordt nog gebruikt: een abonnement filtert erop, of er loopt al een herzending.',
      'This is still in use: an abonnement filters by it, or messages are being sent again already.',
    ],
    remedy: [
      'Wacht, of stop eerst wat loopt; pas anders de abonnementen aan.',
      'Wait, or stop first what runs; else change the abonnementen.',
    ],
    example: 'PUT /kanaal/… {"filters": []}',
  },
  'no-auth-on-callback-url': {
    cause: [
      'De callback neemt berichten zonder Authorization aan.',
      'The callback takes messages without Authorization.',
    ],
    remedy: [
      'Laat de callback zonder of met een verkeerde Authorization 401 of 403 antwoorden.',
      'Have the callback answer 401 or 403 without Authorization, or with a wrong one.',
    ],
    example: 'POST /abonnement {"callbackUrl": "https://app.example/callback"}',
  },
  'invalid-callback-url': {
    cause: [
      'De callback neemt het testbericht (kanaal test) niet aan.',
      'The callback does not take the test message (kanaal test).',
    ],
    remedy: [
      'Laat de callback een POST met de opgegeven auth met 2xx beantwoorden, binnen tien seconden.',
      'Have the callback answer a POST with the given auth by 2xx, within ten seconds.',
    ],
    example: 'POST /abonnement {"callbackUrl": "https://app.example/404"}',
  },
  'last-administrator': {
    cause: ['Dit is de laatste actieve administrator.', 'This is the last active administrator.'],
    remedy: [
      'Geef eerst een ander account de rol administrator.',
      'Give another account the role of administrator first.',
    ],
    example: "(beheerpagina's)",
  },
} as const satisfies Record<string, Meaning>

/** The code of an answer as a whole. */
export type ProblemCode = keyof typeof PROBLEM_CODES
/** The code of one field. */
export type FieldCode = keyof typeof FIELD_CODES
