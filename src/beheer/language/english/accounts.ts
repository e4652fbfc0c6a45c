// Accounts, signing in and My account.
export const accounts: Record<string, string> = {
  'Van het centrum': 'Of the centre',
  'van het centrum': 'of the centre',
  'bij het centrum': 'at the centre',
  'met een rol bij deze organisatie': 'with a role at this organisation',
  'zonder rol bij deze organisatie: kan hier niet inloggen': 'without a role at this organisation: cannot sign in here',
  'Dit is een account van het centrum, dat over zijn wachtwoord, codes, naam en rol gaat. U bepaalt alleen of het hier kan inloggen.':
    'This is an account of the centre, which decides on its password, codes, name and role. You only decide whether it can sign in here.',
  'Dit is een account van het centrum: alleen dat kan dit wijzigen.':
    'This is an account of the centre: only the centre can change this.',
  'Accounts van het centrum kunnen nu niet inloggen: het register van organisaties antwoordt niet. Probeer het over een paar minuten opnieuw.':
    'Accounts of the centre cannot sign in now: the registry of organisations does not answer. Try again in a few minutes.',
  'Organisatie:': 'Organisation:',
  'Verder bij': 'Go on at',
  'Verder bij {1}': 'Go on at {1}',
  'U gaat verder bij {1}, zonder opnieuw in te loggen. Dit kan een halve minuut.':
    'You go on at {1} without signing in again. This is possible for half a minute.',
  'Probeer het over een minuut opnieuw.': 'Try again in a minute.',
  'U hebt geen rol bij deze organisatie.': 'You have no role at this organisation.',
  'Overstappen lukte niet: dat kan één keer en binnen een halve minuut. Kies de organisatie opnieuw, of log hier in.':
    'Going over did not work: it can be done once and within half a minute. Choose the organisation again, or sign in here.',
  'Verdergegaan bij een andere organisatie': 'Went on at another organisation',
  'Account:': 'Account:',
  'Zonder spaties of accenten, bijvoorbeeld j.jansen.': 'Without spaces or accents, for example j.jansen.',
  'Hoe logt deze persoon in?': 'How does this person sign in?',
  'Met een wachtwoord dat de dienst maakt': 'With a password that the service makes',
  'Met het wachtwoord hieronder': 'With the password below',
  'OpenID Connect (niet ingesteld)': 'OpenID Connect (not set up)',
  'Alleen via {1}': 'Only with {1}',
  Wachtwoord: 'Password',
  'Ten minste 12 tekens. Alleen als u het wachtwoord zelf kiest.':
    'At least 12 characters. Only if you choose the password yourself.',
  'Alleen ter informatie: de dienst stuurt geen e-mail.': 'For information only: the service sends no e-mail.',
  Rol: 'Role',
  'Zaken en documenten die vertrouwelijker zijn, ziet deze persoon niet.':
    'This person does not see cases and documents that are more confidential.',
  'Dit is het wachtwoord van': 'This is the password of',
  '. Geef het nu door: deze pagina toont het alleen deze keer.': '. Pass it on now: this page shows it only this time.',
  'Wachtwoord kopiëren': 'Copy password',
  'Naar het account': 'To the account',
  'Bij het inloggen kiest de persoon meteen een eigen wachtwoord.':
    'On signing in, the person first chooses a password of their own.',
  'U geeft': 'You are giving',
  'een nieuw wachtwoord. Het oude vervalt, en op alle plaatsen moet deze persoon opnieuw inloggen.':
    'a new password. The old one expires, and this person has to sign in again everywhere.',
  'Dit account heeft nu geen wachtwoord.': 'This account has no password now.',
  'Nieuw wachtwoord': 'New password',
  'De dienst maakt een wachtwoord': 'The service makes a password',
  'Ik vul het hieronder in': 'I fill it in below',
  'Ten minste 12 tekens. Alleen als u het zelf kiest.': 'At least 12 characters. Only if you choose it yourself.',
  Stand: 'State',
  'niet actief': 'not active',
  actief: 'active',
  'Logt in met': 'Signs in with',
  'eenmalige codes': 'one-time codes',
  'OpenID Connect': 'OpenID Connect',
  'OpenID Connect, nog niet eerder': 'OpenID Connect, never so far',
  'Laatst ingelogd': 'Last signed in',
  'nog nooit': 'never',
  'Mislukt daarna': 'Failed since',
  'één keer': 'once',
  '{1} keer': '{1} times',
  '{1}, het laatst': '{1}, last',
  'Waar dat was moet worden gewacht, het langst tot {1}.': 'Where that was, one has to wait, at the longest until {1}.',
  Sessies: 'Sessions',
  'Wachttijd opheffen': 'Lift waiting time',
  'Eenmalige codes verwijderen': 'Remove one-time codes',
  'Sessies beëindigen': 'End sessions',
  'Zonder vinkje kan deze persoon niet inloggen, en is hij meteen uitgelogd.':
    'Without this the person cannot sign in, and is signed out at once.',
  "Wie deze pagina's mag gebruiken. Programma's die de API's gebruiken staan bij":
    'Who may use these pages. Programs that use the APIs are listed at',
  'Nieuw account': 'New account',
  'Geen account voldoet hieraan. Verander of wis het filter.': 'No account matches. Change or clear the filter.',
  Accounts: 'Accounts',
  'Eenmalige codes': 'One-time codes',
  'bij de aanbieder': 'at the provider',
  'Naam of e-mailadres': 'Name or e-mail address',
  'Open de app met uw codes en vul de code van Zaakstroom in. Kunt u er niet bij? Vraag een administrator om de codes van uw account te verwijderen.':
    'Open the app with your codes and fill in the code of Zaakstroom. Cannot get at it? Ask an administrator to remove the codes of your account.',
  Verder: 'Continue',
  'Terug naar inloggen': 'Back to signing in',
  'Code van zes cijfers': 'Code of six digits',
  'Opnieuw met {1}': 'Again with {1}',
  'Inloggen met een wachtwoord': 'Sign in with a password',
  'Inloggen met {1}': 'Sign in with {1}',
  'Of met een wachtwoord': 'Or with a password',
  Inloggen: 'Sign in',
  'Lukt het niet? Vraag': 'Does it not work? Ask',
  'Lukt het niet? Vraag een administrator van deze dienst om een nieuw wachtwoord.':
    'Does it not work? Ask an administrator of this service for a new password.',
  'Bij het inloggen wordt dan alleen uw wachtwoord gevraagd.': 'On signing in, only your password is asked then.',
  'Deze dienst vraagt u daarna meteen om nieuwe codes in te stellen.':
    'This service then asks you at once to set up new codes.',
  'Codes verwijderen': 'Remove codes',
  'Code uit uw app': 'Code from your app',
  'Om zeker te weten dat u het bent.': 'To be sure that it is you.',
  'Deze dienst vraagt eenmalige codes van iedereen die met een wachtwoord inlogt. Stel ze in om verder te gaan.':
    'This service asks one-time codes of everybody who signs in with a password. Set them up to continue.',
  'De codes zijn ingesteld.': 'The codes have been set up.',
  'Naar mijn account': 'To my account',
  'U hebt een app nodig die codes maakt, zoals FreeOTP, Google Authenticator of Microsoft Authenticator. Bij het inloggen vult u dan, na uw wachtwoord, de code in die de app toont.':
    'You need an app that makes codes, such as FreeOTP, Google Authenticator or Microsoft Authenticator. On signing in you then fill in, after your password, the code that the app shows.',
  Beginnen: 'Begin',
  'Scan deze QR-code met de app.': 'Scan this QR code with the app.',
  'QR-code voor de app met codes': 'QR code for the app with codes',
  'Lukt scannen niet? Typ dan deze sleutel in de app:': 'Scanning does not work? Then type this key in the app:',
  'Vul de code in die de app nu toont.': 'Fill in the code that the app shows now.',
  Bevestigen: 'Confirm',
  'Opnieuw beginnen': 'Start over',
  'Dit wachtwoord hebt u van iemand anders gekregen. Kies nu een wachtwoord dat alleen u kent; daarna kunt u verder.':
    'You got this password from somebody else. Now choose a password that only you know; then you can continue.',
  'E-mailadres': 'E-mail address',
  'Ziet zaken en documenten': 'Sees cases and documents',
  ingesteld: 'set up',
  'Bij het inloggen wordt een code uit uw app gevraagd.': 'On signing in, a code from your app is asked.',
  'Met een code uit een app op uw telefoon is uw account beter beschermd.':
    'With a code from an app on your phone your account is better protected.',
  'Codes instellen': 'Set up codes',
  'U logt in via een andere aanbieder. Dit account heeft hier geen wachtwoord.':
    'You sign in with another provider. This account has no password here.',
  'Waar u bent ingelogd': 'Where you are signed in',
  Browser: 'Browser',
  Adres: 'Address',
  Ingelogd: 'Signed in',
  'Laatst gezien': 'Last seen',
  deze: 'this one',
  'van {1}, {2}': 'of {1}, {2}',
  'Alle andere beëindigen': 'End all others',
  'Wachtwoord wijzigen': 'Change password',
  'Huidig wachtwoord': 'Current password',
  'Ten minste 12 tekens. Een paar gewone woorden achter elkaar is prima.':
    'At least 12 characters. A few ordinary words in a row is fine.',
  'Nieuw wachtwoord, nog een keer': 'New password, once more',
  'Het account {1} is gemaakt.': 'The account {1} has been made.',
  'U kunt uw eigen account niet op niet-actief zetten. Vraag een andere administrator.':
    'You cannot make your own account inactive. Ask another administrator.',
  'Het account {1} heeft een nieuw wachtwoord.': 'The account {1} has a new password.',
  'U kunt uw eigen account niet verwijderen. Vraag een andere administrator.':
    'You cannot delete your own account. Ask another administrator.',
  'Het account {1} is verwijderd.': 'The account {1} has been deleted.',
  'De sessies van {1} zijn beëindigd.': 'The sessions of {1} have been ended.',
  'De eenmalige codes van {1} zijn verwijderd.': 'The one-time codes of {1} have been removed.',
  'Voor {1} hoeft niet meer te worden gewacht.': '{1} no longer has to wait.',
  'Dit account bestaat niet (meer).': 'This account does not exist (any more).',
  'Gebruik letters, cijfers en leestekens, zonder spaties of accenten.':
    'Use letters, digits and punctuation, without spaces or accents.',
  'Vul een wachtwoord in.': 'Fill in a password.',
  'Deze gebruikersnaam is al in gebruik. Kies een andere.': 'This user name is in use already. Choose another.',
  'Dit is de laatste actieve administrator. Geef eerst een ander account de rol administrator.':
    'This is the last active administrator. First give another account the role administrator.',
  'Uw account is hier op niet-actief gezet. Vraag een administrator.':
    'Your account has been made inactive here. Ask an administrator.',
  'aan een persoon gekoppeld': 'bound to a person',
  'Account in gebruik nemen': 'Take an account into use',
  Uitnodiging: 'Invitation',
  'Uitnodiging maken': 'Make an invitation',
  'De uitnodiging is gemaakt.': 'The invitation was made.',
  'Dit account logt in met een wachtwoord.': 'This account signs in with a password.',
  'is te gebruiken tot': 'can be used until',
  'Link kopiëren': 'Copy link',
  'Dit is de uitnodiging voor het account': 'This is the invitation for the account',
  '. Geef de link nu door, aan deze persoon alleen: deze pagina toont hem alleen deze keer.':
    '. Pass the link on now, to this person alone: this page shows it only this time.',
  'Wie de link opent en inlogt met OpenID Connect, heeft voortaan dit account. Dat kan één keer, en binnen {1} dagen.':
    'Whoever opens the link and signs in with OpenID Connect has this account from then on. This can be done once, and within {1} days.',
  'U maakt een link waarmee': 'You make a link by which',
  'het account met OpenID Connect in gebruik neemt. Een eerdere link vervalt.':
    'takes the account into use with OpenID Connect. An earlier link counts no more.',
  'Het account hoort nu bij iemand bij een aanbieder. Wie de link gebruikt komt daarvoor in de plaats.':
    'The account now belongs to somebody at a provider. Whoever uses the link takes their place.',
  'U bent uitgenodigd om het account': 'You are invited to take the account',
  'in gebruik te nemen. Wie nu inlogt, heeft dat account voortaan. De uitnodiging vervalt daarmee.':
    'into use. Whoever signs in now has that account from then on. The invitation then counts no more.',
  'Er is nog geen inlogaanbieder. Vraag een administrator.': 'There is no sign-in provider yet. Ask an administrator.',
  'Deze uitnodiging is al gebruikt of verlopen. Vraag een administrator om een nieuwe.':
    'This invitation was used already or has expired. Ask an administrator for a new one.',
  'U hebt hier al een account: {1}. Vraag een administrator om dat te verwijderen als u {2} wilt gebruiken.':
    'You have an account here already: {1}. Ask an administrator to delete it when you want to use {2}.',
  'Er is hier al een account {1}, dat de aanbieder eerder onder een ander kenmerk (sub) noemde. Bent u dezelfde persoon? Vraag een administrator dan om een uitnodiging voor dat account.':
    'There is an account {1} here already, which the provider named by another identifier (sub) before. Are you the same person? Then ask an administrator for an invitation for that account.',
  'Er is hier al een account {1}, van een andere aanbieder of een ander adres van deze aanbieder. Bent u dezelfde persoon? Vraag een administrator dan om een uitnodiging voor dat account.':
    'There is an account {1} here already, of another provider or of another address of this provider. Are you the same person? Then ask an administrator for an invitation for that account.',
  'Er is hier een account {1} klaargezet. Dat neemt u in gebruik met de link van uw uitnodiging. Hebt u die niet, vraag er dan een administrator om.':
    'An account {1} was prepared here. You take it into use by the link of your invitation. If you have none, ask an administrator for it.',
  '{1} zegt niet bruikbaar wie u bent: het kenmerk (sub) is leeg, langer dan 255 tekens, of heeft tekens die niet te bewaren zijn. Meld dit aan de beheerder van {2}.':
    '{1} does not say usably who you are: the identifier (sub) is empty, longer than 255 characters, or has characters that cannot be kept. Report this to the administrator of {2}.',
  'Er is hier al een account {1} met een wachtwoord. Log daarmee in, of vraag een administrator om dat account een andere naam te geven of te verwijderen.':
    'There is an account {1} with a password here already. Sign in with that, or ask an administrator to rename or delete that account.',
  'Een wachtwoord heeft ten minste {1} tekens.': 'A password has at least {1} characters.',
  'U hebt te vaak een verkeerd wachtwoord of een verkeerde code ingevuld. Probeer het over {1} opnieuw.':
    'You filled in a wrong password or code too often. Try again in {1}.',
  'Dit account heeft geen wachtwoord.': 'This account has no password.',
  'Dit is niet uw huidige wachtwoord.': 'This is not your current password.',
  'Uw wachtwoord is gewijzigd. Op andere plaatsen moet u opnieuw inloggen.':
    'Your password has been changed. Elsewhere you have to sign in again.',
  'Deze code klopt niet. Wacht op de volgende code in de app en controleer de tijd van uw telefoon.':
    'This code is not right. Wait for the next code in the app and check the time of your phone.',
  'Bij het inloggen wordt voortaan ook een code gevraagd.': 'From now on a code is also asked on signing in.',
  'Deze code klopt niet, of is al gebruikt. Wacht op de volgende code.':
    'This code is not right, or has been used. Wait for the next code.',
  'Er wordt geen code meer gevraagd bij het inloggen.': 'No code is asked any more on signing in.',
  'Eén sessie is beëindigd.': 'One session has been ended.',
  'Er zijn {1} sessies beëindigd.': '{1} sessions have been ended.',
  'Kies een ander wachtwoord dan het huidige.': 'Choose another password than the current one.',
  'Dit is niet hetzelfde als het nieuwe wachtwoord.': 'This is not the same as the new password.',
  'Mijn account': 'My account',
  'Eenmalige codes instellen': 'Set up one-time codes',
  'Vanaf dit adres is te vaak geprobeerd in te loggen. Probeer het over een minuut opnieuw.':
    'There were too many attempts to sign in from this address. Try again in a minute.',
  'Het inloggen duurde te lang, of begon in een andere browser.':
    'Signing in took too long, or began in another browser.',
  '{1} heeft u geen rol voor deze dienst gegeven. Vraag de beheerder van {2} om een rol.':
    '{1} has given you no role for this service. Ask the administrator of {2} for a role.',
  'Inloggen met {1} is niet gelukt': 'Signing in with {1} failed',
  'Het inloggen is bij de aanbieder afgebroken of geweigerd.': 'Signing in was stopped or refused at the provider.',
  'Het antwoord hoort niet bij deze poging. Begin opnieuw.': 'The answer does not belong to this attempt. Start over.',
  'De aanbieder gaf een antwoord dat niet klopt. Begin opnieuw; blijft het misgaan, meld het dan aan de beheerder.':
    'The provider gave an answer that is not right. Start over; if it keeps failing, tell the administrator.',
  'Er wordt nu te vaak tegelijk ingelogd. Probeer het over een paar seconden opnieuw.':
    'Too many people are signing in at the same time. Try again in a few seconds.',
  'Sinds de vorige keer dat u inlogde is één keer geprobeerd in te loggen met een verkeerd wachtwoord of een verkeerde code: op {1}.':
    'Since you last signed in there was one attempt to sign in with a wrong password or code: on {1}.',
  'Sinds de vorige keer dat u inlogde is {1} keer geprobeerd in te loggen met een verkeerd wachtwoord of een verkeerde code: het eerst op {2}, het laatst op {3}.':
    'Since you last signed in there were {1} attempts to sign in with a wrong password or code: the first on {2}, the last on {3}.',
  '{1} Was u dat niet zelf? Meld het aan een administrator.': '{1} Was that not you? Tell an administrator.',
  'Deze gegevens kloppen niet, of het account is niet actief.':
    'These details are not right, or the account is not active.',
  'Code invullen': 'Fill in the code',
  'Deze code klopt niet, of is al gebruikt.': 'This code is not right, or has been used.',
  'Er is te vaak een verkeerd wachtwoord of een verkeerde code ingevuld. Probeer het over {1} opnieuw. In een browser waarmee u eerder hebt ingelogd, telt alleen wat daar is ingevuld.':
    'A wrong password or code was filled in too often. Try again in {1}. In a browser that you signed in with before, only what was filled in there counts.',
  'viewer: kijkt alleen': 'viewer: only looks',
  'privacy: kijkt, en ziet wie naar zaken en personen keek': 'privacy: looks, and sees who looked at cases and persons',
  'operator: ook imports en opnieuw versturen': 'operator: also imports and sending again',
  'administrator: ook instellingen, rechten en accounts': 'administrator: also settings, rights and accounts',
  'Account verwijderen': 'Delete account',
  'De persoon kan niet meer inloggen. In de audit blijft staan wat met dit account is gedaan.':
    'The person can no longer sign in. What was done with this account stays in the audit.',
  'De persoon is meteen overal uitgelogd, en kan daarna opnieuw inloggen.':
    'The person is signed out everywhere at once, and can sign in again after that.',
  'Doe dit als iemand de app met codes kwijt is, en u zeker weet dat het deze persoon is. Bij het inloggen wordt dan alleen het wachtwoord gevraagd, tot de codes opnieuw zijn ingesteld.':
    'Do this if somebody has lost the app with codes, and you are sure that it is this person. On signing in only the password is asked then, until the codes have been set up anew.',
  'Na verkeerde wachtwoorden of codes moet overal waar ze zijn ingevuld worden gewacht. Die wachttijden vervallen, ook voor wie ze heeft veroorzaakt. De persoon hoort bij het inloggen nog wel hoe vaak het is geprobeerd.':
    'After wrong passwords or codes, one has to wait everywhere they were filled in. Those waits are lifted, also for whoever caused them. On signing in the person is still told how often it was tried.',
}
