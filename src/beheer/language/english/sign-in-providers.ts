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
}
