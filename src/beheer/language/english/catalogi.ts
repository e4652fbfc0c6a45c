// Catalogues: what the pages of types say when something is done.
export const catalogi: Record<string, string> = {
  'Er is geen andere versie om mee te vergelijken.': 'There is no other version to compare with.',
  'Versies vergelijken': 'Compare versions',
  Procestype: 'Procestype',
  Deelzaken: 'Sub-cases',
  'Andere zaaktypen': 'Other zaaktypen',
  Concept: 'Draft',
  'Gepubliceerd, geldig vanaf {1}': 'Published, valid from {1}',
  'Verlopen sinds {1}': 'Expired since {1}',
  Geldig: 'Valid',
  '{1} niet gevonden.': '{1} not found.',
  '{1} is intussen verwijderd.': '{1} has been deleted meanwhile.',
  'Iemand heeft {1} intussen gepubliceerd. Er is niets gewijzigd; ververs de pagina om te zien wat nog kan.':
    'Somebody has published {1} meanwhile. Nothing has been changed; refresh the page to see what is still possible.',
  'zonder omschrijving': 'no description',
  'Waarom u dit wijzigt': 'Why you change this',
  'Waarom u dit toevoegt': 'Why you add this',
  'Komt in de geschiedenis te staan.': 'Is kept in the history.',
  'Ik weet dat dit meteen geldt voor alle zaken van deze versie':
    'I know that this counts at once for all cases of this version',
  'Bevestig dat u de gevolgen kent.': 'Confirm that you know the consequences.',
  'Dit type is gepubliceerd. Wat u hier wijzigt geldt meteen, ook voor wat er al is: {1}.':
    'This type has been published. What you change here counts at once, also for what there is already: {1}.',
  'Dit type is gepubliceerd. Wat u toevoegt is er meteen, ook voor wat er al is: {1}. Het is daarna niet meer te verwijderen.':
    'This type has been published. What you add is there at once, also for what there is already: {1}. It cannot be removed afterwards.',
  'Andere systemen kunnen de oude gegevens nog even onthouden.': 'Other systems may remember the old data for a while.',
  'Dit voorbeeld bestaat niet.': 'This example does not exist.',
  'Deze zaaktypen staan al in de catalogus. Er is niets gemaakt.':
    'These zaaktypen are in the catalogue already. Nothing has been made.',
  is: 'has been',
  zijn: 'have been',
  '{1} {2} gemaakt, als concept. Pas aan wat u anders wilt en publiceer.':
    '{1} {2} made, as a draft. Adapt what you want different and publish.',
  Iemand: 'Somebody',
  '{1} heeft {2} {3}.': '{1} {3} {2}.',
  '{1}: “{2}” weggehaald': '{1}: “{2}” removed',
  '{1}: van “{2}” in “{3}”': '{1}: from “{2}” to “{3}”',
  'Er is al een gepubliceerde versie vanaf {1}. Kies een dag daarna: twee versies gelden nooit op dezelfde dag.':
    'There is a published version from {1} already. Choose a day after it: two versions never count on the same day.',
  'De nieuwe versie is gemaakt, als concept vanaf {1}. De huidige blijft gelden tot u deze publiceert.':
    'The new version has been made, as a draft from {1}. The current one stays valid until you publish this one.',
  'De laatste dag kan niet voor de eerste liggen ({1}).': 'The last day cannot be before the first ({1}).',
  'De laatste dag is {1}.': 'The last day is {1}.',
  'Deze versie geldt weer zonder einde.': 'This version is valid without end again.',
  'Wat gepubliceerd is verwijdert u niet: beëindig het. Wat er is blijft dan werken.':
    'You do not delete what has been published: end it. What there is keeps working then.',
  'Het concept “{1}” is verwijderd.': 'The draft “{1}” has been deleted.',
  ' Mee gekopieerd: {1}.': ' Copied along: {1}.',
  ' Weggelaten, omdat het daar niet bestaat: {1}.': ' Left out, because it does not exist there: {1}.',
  'De kopie is gemaakt, als concept.{1}{2}': 'The copy has been made, as a draft.{1}{2}',
  'Als u de nieuwe versie publiceert, eindigt de huidige de dag ervoor.':
    'When you publish the new version, the current one ends the day before.',
  'Nieuwe versie maken': 'Make new version',
  'Zaken die er zijn houden de versie waarmee ze begonnen.': 'Cases that there are keep the version they began with.',
  'Zaaktypen die hiernaar verwijzen gebruiken dan vanzelf de nieuwe versie.':
    'Zaaktypen that refer to this then use the new version by themselves.',
  'U maakt een kopie van {1} “{2}” met alles erin, als concept. Wijzig wat u wilt en publiceer haar wanneer zij klaar is. {3}':
    'You make a copy of {1} “{2}” with everything in it, as a draft. Change what you want and publish it when it is ready. {3}',
  'Er is al een concept van dit type. Misschien wilt u daaraan verder werken.':
    'There is a draft of this type already. Perhaps you want to continue with that.',
  'Naar dat concept': 'To that draft',
  '{1} beëindigen': 'End {1:lower}',
  'Laatste dag': 'Last day',
  'Leeg: zonder einde.': 'Empty: without end.',
  'Andere systemen bieden het na de laatste dag niet meer aan. Wat er is blijft werken: deze versie heeft {1}. Het is een bericht aan die systemen, geen slot: wie deze versie kent kan haar blijven gebruiken.':
    'Other systems no longer offer it after the last day. What there is keeps working: this version has {1}. It is a message to those systems, not a lock: whoever knows this version can go on using it.',
  'Concept verwijderen': 'Delete draft',
  'U verwijdert het concept “{1}” met alles erin. Dit is niet terug te draaien.':
    'You are deleting the draft “{1}” with everything in it. This cannot be undone.',
  'Naar catalogus': 'To catalogue',
  'In een andere catalogus worden documenttypen en besluittypen gebruikt die er dezelfde naam hebben; de andere gaan mee, als concept.':
    'In another catalogue, document types and besluittypen are used that have the same name there; the others go along, as drafts.',
  'Een nieuwe code: het wordt een ander zaaktype.': 'A new code: it becomes another zaaktype.',
  'Kopie maken': 'Make copy',
  'U maakt een ander zaaktype dat begint als “{1}”, met alle statussen, resultaten, rollen, eigenschappen en documenten.':
    'You make another zaaktype that begins as “{1}”, with all statuses, results, roles, properties and documents.',
  'Deze identificatie is van “{1}”. Kies een andere.': 'This identification belongs to “{1}”. Choose another.',
  '“{1}” is toegevoegd.': '“{1}” has been added.',
  '{1} {2} zijn toegevoegd.': '{1} {2} have been added.',
  '“{1}” is verwijderd.': '“{1}” has been deleted.',
  'Iemand anders heeft de statustypen intussen gewijzigd. Uw volgorde is niet opgeslagen; hieronder staat de huidige.':
    'Somebody else has changed the statustypen meanwhile. Your order has not been saved; below is the current one.',
  'De volgorde is opgeslagen. “{1}” sluit de zaak.': 'The order has been saved. “{1}” closes the case.',
  Toevoegen: 'Add',
  '{1} van een gepubliceerd zaaktype liggen vast: zaken die er zijn, zijn ermee gemaakt.':
    '{1} of a published zaaktype are fixed: the cases that there are have been made with them.',
  '{1} verwijderen': 'Delete {1:lower}',
  'U verwijdert “{1}” uit dit concept.': 'You are deleting “{1}” from this draft.',
  'Daarna sluit de status “{1}” de zaak.': 'After that the status “{1}” closes the case.',
  'De volgorde van de statustypen ligt vast sinds de publicatie. Maak een nieuwe versie om haar te wijzigen.':
    'The order of the statustypen is fixed since publication. Make a new version to change it.',
  'Kies ten minste één documenttype.': 'Choose at least one document type.',
  'Deze versie is al gepubliceerd.': 'This version has been published already.',
  '{1} publiceren': 'Publish {1:lower}',
  '{1} “{2}” is mee gepubliceerd.': '{1} “{2}” has been published along.',
  'De versie vanaf {1} eindigt op {2}.': 'The version from {1} ends on {2}.',
  '{1} “{2}” is gepubliceerd.': '{1} “{2}” has been published.',
  'Vul aan wat nog ontbreekt, of kruis aan dat u toch publiceert.':
    'Add what is still missing, or tick that you publish all the same.',
  'dit type': 'this type',
  'deze typen': 'these types',
  'Kruis aan dat {1} mee mogen, of publiceer ze eerst.': 'Tick that {1} may go along, or publish them first.',
  'Dit zaaktype bestaat niet.': 'This zaaktype does not exist.',
  'Kies een ZIP-bestand.': 'Choose a ZIP file.',
  'Deze catalogus is er al': 'This catalogue is here already',
  'Ook met dit domein en dit RSIN is er al een catalogus.':
    'With this domain and this RSIN there is a catalogue already as well.',
  '{1}, versie vanaf {2}': '{1}, version from {2}',
  'In het bestand: versie vanaf {1}. In deze catalogus: versie vanaf {2}.':
    'In the file: version from {1}. In this catalogue: version from {2}.',
  '{1} onderdelen overgenomen, als concept. Publiceer wat u wilt gebruiken.':
    '{1} parts taken in, as drafts. Publish what you want to use.',
  'Wat de import doet': 'What the import does',
  'De catalogus in het bestand': 'The catalogue in the file',
  'Niets geïmporteerd': 'Nothing imported',
  'Catalogus geïmporteerd': 'Catalogue imported',
  Onderdeel: 'Part',
  'In het bestand': 'In the file',
  'Overgenomen als': 'Taken in as',
  'bestaand type gebruikt': 'existing type used',
  weggelaten: 'left out',
  '“{1}” is gemaakt, als concept. Publiceer het als het klaar is.':
    '“{1}” has been made, as a draft. Publish it when it is ready.',
  'Concept maken': 'Make draft',
  '{1} wijzigen': 'Change {1:lower}',
  'geen {1}': 'no {1}',
  document: 'document',
  documenten: 'documents',
  besluit: 'decision',
  besluiten: 'decisions',
  'geen zaken': 'no cases',
  'open zaak': 'open case',
  'open zaken': 'open cases',
  'gesloten zaak': 'closed case',
  'gesloten zaken': 'closed cases',
  '{1} en {2}, met {3} en {4}': '{1} and {2}, with {3} and {4}',
  Controle: 'Check',
  'Het concept “{1}” is gemaakt. Controle zegt wat er nog bij hoort.':
    'The draft “{1}” has been made. Check tells what still belongs to it.',
  'Nieuw zaaktype': 'New zaaktype',
  'U maakt een concept: niemand kan het nog gebruiken, en u kunt alles nog wijzigen. Statussen, resultaten, rollen en documenten voegt u hierna toe.':
    'You make a draft: nobody can use it yet, and you can still change everything. You add statuses, results, roles and documents afterwards.',
  'Deze gegevens liggen vast sinds de publicatie: zaken die er zijn, zijn ermee gemaakt en berekend.':
    'These details are fixed since publication: the cases that there are have been made and calculated with them.',
  'Besluiten en andere zaaktypen': 'Decisions and other zaaktypen',
  'Besluiten die in zo’n zaak kunnen worden genomen.': 'Decisions that can be taken in such a case.',
  'Er zijn nog geen besluittypen in deze catalogus.': 'There are no besluittypen in this catalogue yet.',
  'Zaken die deel van zo’n zaak kunnen zijn.': 'Cases that can be part of such a case.',
  'Zaken die met zo’n zaak te maken hebben zonder er deel van te zijn. Een regel die leeg blijft telt niet.':
    'Cases that have to do with such a case without being part of it. A line that stays empty does not count.',
  'De code waaronder andere systemen het type kennen. Wie haar wijzigt maakt er een ander type van.':
    'The code by which other systems know the type. Whoever changes it makes another type of it.',
  'Het soort proces volgens de selectielijst. De resultaattypen kiezen hun klasse eruit: kies dit dus eerst.':
    'The kind of process by the selectielijst. The resultaattypen choose their class from it: so choose this first.',
  'Nog niet gekozen': 'Not chosen yet',
  'Er is geen selectielijst ingesteld, daarom is hier niets te kiezen. Laat dit leeg, of vul het adres (URL) in als u dat hebt.':
    'No selectielijst has been set, so there is nothing to choose here. Leave this empty, or fill in the address (URL) if you have it.',
  'De selectielijst antwoordt nu niet{1}. Wat er staat blijft staan.':
    'The selectielijst does not answer now{1}. What is here stays.',
}
