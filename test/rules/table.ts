// Each numbered rule of the standard: whether it holds here, and what differs. docs/rules.md is made of it. `test/rules.test.ts` holds
// the numbers against those of the text, and asks a test of each.

export type Rule = {
  /** What it is about, in our words. */
  about: string
  /** What differs, and why; without it the rule holds as it stands. */
  differs?: string
  /** Tests that hold it without naming its number. */
  tests?: string[]
}

const EXPAND = ['test/http/expand.test.ts', 'test/http/expand-remote.test.ts']

/** A number that the text printed twice has a letter behind it, in the order of the text. */
export const RULES: Record<string, Rule> = {
  'zrc-001': {
    about: 'the zaaktype of a case exists, is one, and is published',
    differs:
      'the zaaktype of a case does not change, since statuses, roles and results belong to the old one. `ALLOW_UNPUBLISHED_TYPES` is for test environments',
  },
  'zrc-002': { about: 'identificatie and bronorganisatie are unique together; a number is made when none is given' },
  'zrc-003': { about: 'the document of a zaakinformatieobject exists' },
  'zrc-004': { about: 'aardRelatieWeergave is filled in by the service', tests: ['test/zaken/parts.test.ts'] },
  'zrc-005': { about: 'a zaakinformatieobject has its other side in the Documenten API' },
  'zrc-006': {
    about: 'a client sees the cases that its rights reach, by zaaktype and level, and 403 for others',
    differs:
      'also for writes: a hoofdzaak or gerelateerde zaak that changes along asks for rights on it, but with `RELATE_WITHOUT_RIGHTS`. A besluit is judged by the rights of the Besluiten API, also where its case gets a zaakbesluit',
  },
  'zrc-007': {
    about: 'closing a case, and who may change a closed one',
    differs:
      'a status is judged by `zaken.heropenen` alone; deleting a case by `zaken.verwijderen`. What hangs on an archived case stays, also by force, but with `CHANGE_ARCHIVED_ZAKEN`; an archived case that is to be kept is deleted by force only. Closing also asks that deelzaken are closed and have a resultaat, and that no document is locked, as servers in use do',
  },
  'zrc-008': { about: 'opening a case again empties its end and its archiving' },
  'zrc-009': {
    about: 'the level of a case is the one that is given, or else that of its zaaktype',
    differs: 'a change that gives none, also a PUT, keeps the level that the case has, for the same reason as drc-007',
  },
  'zrc-010': { about: 'communicatiekanaal is a channel' },
  'zrc-011': {
    about: 'relevanteAndereZaken exist',
    differs: 'they are others: a case is not related to itself, and not twice in the same way',
  },
  'zrc-012': {
    about: 'a group is whole, or null, and the answer has its members',
    differs:
      'a `verlenging` that is not there is null in the answer, as in servers in use: clients tell by it whether a case was prolonged. `opschorting` and `processobject` always have their members',
  },
  'zrc-013': {
    about: 'a hoofdzaak is no deelzaak',
    differs: 'nor is a case with deelzaken given a hoofdzaak, which comes to the same in another order',
  },
  'zrc-014': { about: 'without costs there is no date of payment' },
  'zrc-015': { about: 'products are those of the zaaktype' },
  'zrc-016': { about: 'a statustype is of the zaaktype of the case' },
  'zrc-017': { about: 'the type of a document is one of the zaaktype' },
  'zrc-018': { about: 'an eigenschap is of the zaaktype' },
  'zrc-019': { about: 'a roltype is of the zaaktype' },
  'zrc-020': { about: 'a resultaattype is of the zaaktype' },
  'zrc-021': {
    about: 'what archiving becomes when a case closes',
    differs:
      'closing without a source of the date is refused where it could be known (`archiefactiedatum-error`): a case that nobody gets a date for is destroyed by nobody, and all servers in use refuse. It is not for eigenschap, vervaldatum_besluit and ander_datumkenmerk, which come later, nor for what is kept for ever. What somebody set is kept when a source changes (`archive_by_hand`). gerelateerde_zaak counts gerelateerdeZaken, which the standard does not have, beside relevanteAndereZaken',
  },
  'zrc-022': {
    about: 'a case is archived with its documents, archiefnominatie and archiefactiedatum',
    differs:
      'with `zaken.geforceerd-bijwerken` a case is made archived without them: takeovers keep what the source has',
  },
  'zrc-023': {
    about: 'a case is deleted with all that hangs on it',
    differs: 'all of a family may be deleted by the client, or none is; a case with besluiten is not deleted',
  },
  'zrc-024': { about: 'a zaakverzoek has its other side', tests: ['test/zaken/customer-relations.test.ts'] },
  'zrc-025a': { about: 'a zaakcontactmoment has its other side', tests: ['test/zaken/customer-relations.test.ts'] },
  'zrc-025b': {
    about: 'expand reaches the Zaken and the Catalogi API',
    differs:
      'also documents and besluiten, by the rights that the client has there, as the newer documents of the API have it',
    tests: EXPAND,
  },
  'zrc-026a': {
    about: 'startdatumBewaartermijn',
    differs:
      'it is also filled for cases that are kept for ever, with the day from which archiefactiedatum counts: it is then the day on which the case is handed over, and clients read both',
    tests: ['test/zaken/archive-by-hand.test.ts'],
  },
  'zrc-026b': {
    about: 'how deep expand goes',
    differs: 'three levels: an answer has a bound. Deeper is 400',
    tests: EXPAND,
  },
  'zrc-027': {
    about: 'expand names what the resource has',
    differs: '400 on `expand`, not 404: the parameter is wrong, the resource is there',
    tests: EXPAND,
  },
  'zrc-028': {
    about: 'what cannot be expanded',
    differs:
      'what another server does not give in time, or the client may not read, is left out: an answer does not wait for others',
    tests: EXPAND,
  },
  'zrc-029': { about: '`fields` in a search' },
  'ztc-001': { about: 'the procestype is one of the selectielijst' },
  'ztc-002': {
    about:
      'omschrijving and klasse of a resultaattype are those of the selectielijst, of the procestype of its zaaktype',
    differs: 'nor does the procestype change below its resultaattypen',
  },
  'ztc-003': { about: 'the afleidingswijze fits the procestermijn of the klasse' },
  'ztc-004': { about: 'when there is a datumkenmerk' },
  'ztc-005': {
    about: 'when einddatumBekend may be true',
    tests: ['test/catalogi/archive.test.ts', 'test/zaken/requirements.test.ts'],
  },
  'ztc-006': { about: 'when there is an objecttype', tests: ['test/catalogi/archive.test.ts'] },
  'ztc-007': { about: 'when there is a registratie', tests: ['test/catalogi/archive.test.ts'] },
  'ztc-008': { about: 'when there is a procestermijn' },
  'ztc-009': { about: 'a published type changes by force only, but for its end' },
  'ztc-010': { about: 'what is below a published zaaktype changes by force only' },
  'ztc-011': {
    about: 'a type is linked to published ones by force only',
    differs: 'withdrawn in 1.3.2, and still held: cases depend on what was published, and Open Zaak holds it',
  },
  'ztc-012': {
    about: 'a zaaktype is published with published relations',
    differs: 'withdrawn in 1.3.2, and still held, for the same reason',
  },
  'ztc-013': {
    about: 'related types stand in one catalogue',
    differs:
      'withdrawn in 1.3.2, and still held, also when the catalogue of a type changes: a right on a catalogue would not reach what it needs',
  },
  'ztc-014': { about: 'who may read cases or documents reads types' },
  'ztc-015': { about: 'the length of an eigenschap that is a date' },
  'ztc-016': {
    about: 'published versions of a zaaktype share no day',
    differs:
      'the same of besluittypen and informatieobjecttypen. Open Zaak lets them share the last day (`VERSIONS_SHARE_DAY`); a takeover keeps such versions and says so',
  },
  'ztc-017': { about: 'a catalogus is deleted when it is empty' },
  'drc-001': { about: 'the type of a document exists, is one, and is published' },
  'drc-002': { about: 'the object of an objectinformatieobject exists' },
  'drc-003': { about: 'a document is related to an object once', tests: ['test/documenten/subresources.test.ts'] },
  'drc-004': { about: 'the relation is known at the source' },
  'drc-005': { about: 'the status of what was received' },
  'drc-006': { about: 'indicatieGebruiksrecht follows the gebruiksrechten' },
  'drc-007': {
    about: 'the level of a document is the one that is given, or else that of its type',
    differs:
      'a change that gives none keeps the level that it has: a document does not become readable by a change of its title',
  },
  'drc-008': { about: 'a document is deleted when nothing is related to it' },
  'drc-009': { about: 'locking' },
  'drc-010': { about: 'a change needs the lock', tests: ['test/documenten/documenten.test.ts'] },
  'drc-011': { about: 'expand reaches the Documenten and the Catalogi API', differs: 'as zrc-025b', tests: EXPAND },
  'drc-012': { about: 'how deep expand goes', differs: 'as zrc-026b', tests: EXPAND },
  'drc-013': { about: 'expand names what the resource has', differs: 'as zrc-027', tests: EXPAND },
  'drc-014': { about: 'what cannot be expanded', differs: 'as zrc-028', tests: EXPAND },
  'brc-001': { about: 'the besluittype exists, is one, is published, and stays' },
  'brc-002': { about: 'identificatie and verantwoordelijkeOrganisatie are unique together, and stay' },
  'brc-003': { about: 'the document of a besluit exists' },
  'brc-004': { about: 'a document lays a besluit down' },
  'brc-005': { about: 'a besluitinformatieobject has its other side in the Documenten API' },
  'brc-006': {
    about: 'a besluit of a case has its other side in the Zaken API',
    differs:
      'the text has the case of a besluit stay; here it may move to another, as in Open Zaak: both cases are judged, and both sides follow',
  },
  'brc-007': { about: 'the besluittype is one of the zaaktype' },
  'brc-008': { about: 'the type of a document is one of the besluittype' },
  'brc-009': { about: 'a besluit is deleted with all that hangs on it' },
  'ac-001': { about: 'a client id belongs to one applicatie' },
  'ac-002': { about: 'an applicatie has all rights, or those that are listed' },
  'ac-003': { about: 'what a right of each component needs' },
}
