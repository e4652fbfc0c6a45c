// Providers of OpenID Connect that people sign in with.
export const signInProviders: Record<string, string> = {
  'Deze aanbieder is al opgeslagen.': 'This provider was saved already.',
  'De aanbieder is verhuisd': 'The provider has moved',
  'Alleen als de issuer wijzigt en de aanbieder dezelfde personen onder hetzelfde kenmerk (sub) noemt: hun accounts gaan mee. Anders is iedereen een nieuwe persoon.':
    'Only when the issuer changes and the provider names the same people by the same identifier (sub): their accounts go along. Otherwise everybody is a new person.',
  'Eigen terugkeeradres': 'Return address of its own',
  'Zo wordt een antwoord van een andere aanbieder nooit voor een antwoord van deze aangezien. Geef bij de aanbieder eerst dit adres op: {1}':
    'An answer of another provider is then never taken for one of this provider. First give this address to the provider: {1}',
  Inlogaanbieders: 'Sign-in providers',
  'Inlogaanbieder verwijderen': 'Delete sign-in provider',
  'Inlogaanbieder wijzigen': 'Change sign-in provider',
  'Nieuwe inlogaanbieder': 'New sign-in provider',
  'Inloggen is niet gelukt': 'Signing in failed',
  'Met deze aanbieder kunt u hier niet inloggen.': 'You cannot sign in here with this provider.',
  'Deze aanbieder is niet te bereiken. Klopt het adres, en mag deze dienst het aanroepen?':
    'This provider cannot be reached. Is the address right, and may this service call it?',
  'Onder dit adres staat geen geldig discovery-document van deze issuer.':
    'At this address is no valid discovery document of this issuer.',
  'Deze aanbieder noemt geen adressen om in te loggen, voor tokens en voor sleutels.':
    'This provider names no addresses to sign in, for tokens and for keys.',
  'Deze aanbieder kent geen PKCE met S256.': 'This provider does not know PKCE with S256.',
  'De sleutels van deze aanbieder zijn niet op te halen.': 'The keys of this provider cannot be fetched.',
  'Deze aanbieder kent niet: {1}.': 'This provider does not know: {1}.',
  'Het adres voor tokens van deze aanbieder is niet te bereiken.':
    'The address for tokens of this provider cannot be reached.',
  'De aanbieder neemt dit client-ID met dit geheim niet aan.':
    'The provider does not accept this client ID with this secret.',
  'U kunt nu inloggen met {1}.': 'You can now sign in with {1}.',
  'De aanbieder {1} is opgeslagen.': 'The provider {1} was saved.',
  'De aanbieder {1} is verwijderd.': 'The provider {1} was deleted.',
  'Deze aanbieder bestaat niet (meer).': 'This provider does not exist (any more).',
  'Er is al een aanbieder met deze issuer.': 'There is a provider with this issuer already.',
  'Vul het geheim opnieuw in: de issuer of het client-ID is gewijzigd.':
    'Enter the secret again: the issuer or the client ID was changed.',
  'De aanbieder is geprobeerd, en dat lukte niet.': 'The provider was tried, and that failed.',
  'Vul een adres in dat met https:// begint, zonder ? en #.':
    'Enter an address that begins with https://, without ? and #.',
  'Het woord openid hoort erbij.': 'The word openid belongs to it.',
  'Vul namen in met één punt ertussen.': 'Enter names with one dot in between.',
  'Vul bij ten minste één rol een groep in: anders mag niemand naar binnen.':
    'Enter a group for at least one role: else nobody gets in.',
  'Met een inlogaanbieder (OpenID Connect: Entra ID, Keycloak, ADFS) logt iemand in met het account van de organisatie. De groepen die de aanbieder meegeeft bepalen bij elke keer inloggen de rol.':
    'With a sign-in provider (OpenID Connect: Entra ID, Keycloak, ADFS) people sign in with the account of the organisation. The groups that the provider names decide the role each time somebody signs in.',
  'Geef bij de aanbieder dit adres op om naar terug te keren:': 'Give this address to the provider, to return to:',
  'Er zijn geen inlogaanbieders: iedereen logt in met een wachtwoord.':
    'There are no sign-in providers: everybody signs in with a password.',
  Aanbieder: 'Provider',
  Groepen: 'Groups',
  actief: 'active',
  uitgezet: 'switched off',
  'Ligt vast in OIDC_ISSUER en verder.': 'Fixed by OIDC_ISSUER and so on.',
  'De aanbieder antwoordt, heeft sleutels en neemt ons client-ID aan. Er is nog niets opgeslagen.':
    'The provider answers, has keys and accepts our client ID. Nothing has been saved yet.',
  'Vul het geheim opnieuw in voordat u opslaat.': 'Enter the secret again before you save.',
  'Staat op de knop van de inlogpagina.': 'Stands on the button of the sign-in page.',
  'Het adres van de aanbieder, zonder /.well-known/openid-configuration. Een adres met http:// is alleen om te proberen.':
    'The address of the provider, without /.well-known/openid-configuration. An address with http:// is for trying only.',
  'Waaronder deze dienst daar bekend is.': 'What this service is known by there.',
  'Er is een geheim bewaard. Dat wordt nooit getoond. Laat dit veld leeg om het te houden.':
    'A secret is kept. It is never shown. Leave this field empty to keep it.',
  'Leeg: een openbare client, met alleen PKCE. Het wordt versleuteld bewaard en nooit meer getoond.':
    'Empty: a public client, with PKCE alone. It is kept encrypted and never shown again.',
  Scopes: 'Scopes',
  'Waar wij om vragen, met spaties.': 'What we ask for, with spaces.',
  'Op de inlogpagina aanbieden': 'Offer on the sign-in page',
  'Zet u dit uit, dan worden ook de sessies van deze aanbieder beëindigd.':
    'When you switch this off, the sessions of this provider end as well.',
  'Groepen en rollen': 'Groups and roles',
  'Claim met de groepen': 'Claim with the groups',
  'Bijvoorbeeld groups of roles; met punten voor een claim in een claim, zoals realm_access.roles.':
    'Such as groups or roles; with dots for a claim within a claim, such as realm_access.roles.',
  'Groepen voor viewer': 'Groups for viewer',
  'Elk op een eigen regel, precies zoals de aanbieder ze noemt. Entra ID geeft vaak de object-id van een groep.':
    'Each on a line of its own, exactly as the provider names them. Entra ID often gives the object id of a group.',
  'Groepen voor privacy': 'Groups for privacy',
  'Groepen voor operator': 'Groups for operator',
  'Groepen voor administrator': 'Groups for administrator',
  'Wie in meer groepen zit krijgt de hoogste rol. Wie in geen ervan zit komt niet binnen.':
    'Who is in several groups gets the highest role. Who is in none of them does not get in.',
  'Opslaan zonder te proberen': 'Save without trying',
  'Alleen als de aanbieder er nog niet is, of vanaf hier niet te bereiken.':
    'Only when the provider is not there yet, or cannot be reached from here.',
  'Proberen en opslaan': 'Try and save',
  'Alleen proberen': 'Only try',
  'U verwijdert de inlogaanbieder': 'You are deleting the sign-in provider',
  'Wie ermee is ingelogd moet meteen opnieuw inloggen, en kan dat niet meer op deze manier. De accounts blijven bestaan.':
    'Who signed in with it has to sign in again at once, and can no longer do so in this way. The accounts stay.',
  'U gaat iets wijzigen aan hoe iemand inlogt. Laat daarom eerst opnieuw zien dat u het bent. Dat geldt tien minuten.':
    'You are about to change how somebody signs in. So first show again that it is you. That counts for ten minutes.',
  'Bevestigen met {1}': 'Confirm with {1}',
  'U logde in via een aanbieder die hier niet meer is ingesteld. Log uit, en log in op een manier die nog geldt.':
    'You signed in with a provider that is no longer set up here. Sign out, and sign in in a way that still counts.',
  'Niet wachten: mail mij een link': 'Do not wait: mail me a link',
  'Deze browser is nu bekend. Log in met uw wachtwoord: wat anderen verkeerd invullen, houdt u hier niet meer tegen.':
    'This browser is known now. Sign in with your password: what others enter wrongly no longer keeps you out here.',
  'Met deze link wordt deze browser bekend voor uw account. Daarna logt u in met uw wachtwoord, zonder te wachten omdat anderen het verkeerd invulden.':
    'This link makes this browser known for your account. Then you sign in with your password, without waiting because others entered it wrongly.',
  'Deze browser gebruiken': 'Use this browser',
  'Bestaat dit account en heeft het een e-mailadres, dan staat er zo een mail met een link in de postbus. De link geldt {1} minuten, en één keer. Kwam er net al een mail, gebruik dan die.':
    'If this account exists and has an e-mail address, a mail with a link will be in its mailbox soon. The link counts for {1} minutes, and once. If a mail came just now, use that one.',
  'Terug naar inloggen': 'Back to signing in',
  'Moet u wachten omdat anderen te vaak een verkeerd wachtwoord invulden? Dan mailen wij een link waarmee u meteen kunt inloggen, met uw wachtwoord.':
    'Do you have to wait because others entered a wrong password too often? Then we mail a link with which you can sign in at once, with your password.',
  'Mail mij een link': 'Mail me a link',
  'Deze dienst verstuurt geen mail. Vraag een administrator om de wachttijd van uw account op te heffen.':
    'This service sends no mail. Ask an administrator to end the wait of your account.',
  'Met een ander account bij {1}': 'With another account at {1}',
  'U bent hier uitgelogd, en nog niet bij {1}. Log daar ook uit als anderen dit apparaat gebruiken: anders komt de volgende met één klik binnen als u.':
    'You are signed out here, and not yet at {1}. Sign out there too when others use this device: otherwise the next one is in with one click as you.',
  'Ook uitloggen bij {1}': 'Sign out at {1} too',
  'U bent hier uitgelogd, en nog niet bij {1}. Log daar zelf uit of sluit alle vensters van uw browser als anderen dit apparaat gebruiken: anders komt de volgende met één klik binnen als u.':
    'You are signed out here, and not yet at {1}. Sign out there yourself or close all windows of your browser when others use this device: otherwise the next one is in with one click as you.',
  'U bent hier uitgelogd. Bij andere organisaties bent u misschien nog ingelogd: het register van organisaties antwoordt niet. Log daar ook uit, of sluit alle vensters van uw browser.':
    'You are signed out here. At other organisations you may still be signed in: the registry of organisations does not answer. Sign out there too, or close all windows of your browser.',
  'U bent uitgelogd.': 'You are signed out.',
  'U bent uitgelogd': 'You are signed out',
  'Opnieuw inloggen': 'Sign in again',
  'Vanaf dit adres is te vaak om een link gevraagd. Probeer het over een minuut opnieuw.':
    'A link was asked for too often from this address. Try again in a minute.',
  'Link om in te loggen': 'Link to sign in',
  'Deze link is al gebruikt of verlopen. Vraag een nieuwe.':
    'This link was used already or has expired. Ask for a new one.',
  'Er is nog niets gewijzigd. Na het bevestigen komt u terug op de pagina; vul daar opnieuw in wat u wilde wijzigen.':
    'Nothing was changed yet. After confirming you come back to the page; enter there again what you wanted to change.',
  'Bevestig wie u bent': 'Confirm who you are',
  'Dit bevestigt niet dat u het bent: er is bij de aanbieder als iemand anders ingelogd, of niet opnieuw.':
    'This does not confirm that it is you: somebody else signed in at the provider, or nobody did anew.',
  '{1} antwoordt nu niet, of heeft een storing. Probeer het over een halve minuut opnieuw, of log in met een wachtwoord als u dat hebt.':
    '{1} does not answer now, or has a fault. Try again in half a minute, or sign in with a password if you have one.',
  'Uitgelogd door de inlogaanbieder': 'Signed out by the sign-in provider',
  'Bevestigd wie het is': 'Confirmed who it is',
  'Link om in te loggen gemaild': 'Link to sign in mailed',
  'Om ook daar uit te loggen:': 'To sign out there too:',
  'Waar de aanbieder meldt dat een sessie eindigde (back-channel logout):':
    'Where the provider tells that a session ended (back-channel logout):',
  Passkeys: 'Passkeys',
  'Passkey toevoegen': 'Add a passkey',
  'Met een passkey logt u in met uw vinger, gezicht of pincode, zonder wachtwoord en code.':
    'With a passkey you sign in with your finger, face or PIN, without password and code.',
  'Met een passkey logt u in met uw vinger, gezicht of pincode, zonder wachtwoord en code. De sleutel blijft op uw apparaat of in uw wachtwoordkluis, en werkt alleen op dit adres.':
    'With a passkey you sign in with your finger, face or PIN, without password and code. The key stays on your device or in your password manager, and works at this address only.',
  'Deze browser kan hier geen passkeys maken. Gebruik een nieuwere browser, met scripts aan en een adres dat met https begint.':
    'This browser cannot make passkeys here. Use a newer browser, with scripts on and an address that begins with https.',
  'Passkey maken': 'Make a passkey',
  'Waaraan u deze passkey herkent, zoals Laptop van het werk.':
    'What you know this passkey by, such as Laptop of work.',
  'Uw apparaat gaf geen passkey. Probeer het opnieuw, of kies een andere manier.':
    'Your device gave no passkey. Try again, or choose another way.',
  'Inloggen met een passkey': 'Sign in with a passkey',
  'Bevestigen met een passkey': 'Confirm with a passkey',
  'Deze passkey is hier niet bekend, is van iemand anders, of het duurde te lang.':
    'This passkey is not known here, is of somebody else, or it took too long.',
  'Opnieuw bevestigen': 'Confirm again',
  'Bevestigen is niet gelukt': 'Confirming failed',
  'De passkey is niet gemaakt: het antwoord van uw apparaat klopt niet of kwam te laat.':
    'The passkey was not made: the answer of your device does not hold or came too late.',
  'Een account heeft ten hoogste {1} passkeys.': 'An account has at most {1} passkeys.',
  'Deze passkey is al in gebruik.': 'This passkey is in use already.',
  'De passkey {1} is toegevoegd.': 'The passkey {1} was added.',
  'De passkey {1} is verwijderd.': 'The passkey {1} was deleted.',
  'Deze passkey bestaat niet (meer).': 'This passkey does not exist (any more).',
  'Passkeys verwijderen': 'Delete passkeys',
  'Passkeys verwijderd': 'Passkeys deleted',
  'Doe dit als iemand een apparaat kwijt is. De persoon logt dan weer in met zijn wachtwoord, en kan nieuwe passkeys maken.':
    'Do this when somebody lost a device. The person then signs in with the password again, and can make new passkeys.',
  'De passkeys van {1} zijn verwijderd.': 'The passkeys of {1} were deleted.',
  'Wat ziet deze persoon?': 'What does this person see?',
  '{1} heeft de rol {2}': '{1} has the role {2}',
  'en hersteller': 'and hersteller',
  ', en ziet zaken en documenten tot en met {1}.': ', and sees cases and documents up to {1}.',
  'Zaak, document, besluit of import': 'Case, document, besluit or import',
  'Een nummer, een uuid of een adres.': 'A number, a uuid or an address.',
  Kijken: 'Look',
  'ziet deze persoon': 'this person sees it',
  'ziet deze persoon niet': 'this person does not see it',
  'Wat erbij hoort': 'What belongs to it',
  Ziet: 'Sees',
  Waarom: 'Why',
  'Zoals u het zelf ziet': 'As you see it yourself',
  'Dit is er niet, of het is vertrouwelijker dan u zelf mag zien.':
    'This does not exist, or is more confidential than you may see yourself.',
  'Document {1}': 'Document {1}',
  'Het account is niet actief, en ziet niets.': 'The account is not active, and sees nothing.',
  'Het niveau is {1}, en dit account ziet tot en met {2}.': 'The level is {1}, and this account sees up to {2}.',
  'Het niveau is {1}, en dit account ziet niet verder dan {2}.':
    'The level is {1}, and this account sees no further than {2}.',
  'Zoals de zaak.': 'As the case.',
  'Zoals de zaak: niets.': 'As the case: nothing.',
  'Berichten (notificaties)': 'Messages (notifications)',
  'Elk document naar zijn eigen niveau.': 'Each document by its own level.',
  'Niet bij deze zaak; elk document wel waar het zelf te vinden is, naar zijn eigen niveau.':
    'Not with this case; each document where it is found by itself, by its own level.',
  'Deze persoon bracht het bestand, en ziet al zijn rijen.': 'This person brought the file, and sees all of its rows.',
  'Dit account ziet alle niveaus.': 'This account sees all levels.',
  'De import zelf ziet iedereen. Van een rij ziet dit account de inhoud als het document niet vertrouwelijker is dan {1}.':
    'Everybody sees the import itself. Of a row this account sees the content when the document is no more confidential than {1}.',
  'Inhoud van de eerste {1} rijen': 'Content of the first {1} rows',
  'Inhoud van rijen': 'Content of rows',
  'Van een rij die te vertrouwelijk is, ziet dit account het nummer en of zij lukte.':
    'Of a row that is too confidential this account sees the number and whether it succeeded.',
}
