// What clients in use ask of a service and read of its answers, as facts that were read in their public source (which version stands
// in docs/clients-known.md). Bodies are of our own making, with the members that the client sends.

/** How the parser of a client reads one member; `?` behind it: may be null or not there, `~`: may also be empty. */
export type Rule = `${Kind}${'' | '?' | '~'}` | `of:${string}`
type Kind = keyof typeof KINDS

const DAY = String.raw`\d{4}-\d\d-\d\d`
export const KINDS = {
  text: /^[\s\S]*$/,
  filled: /^[\s\S]+$/,
  uri: /^https?:\/\/\S+$/,
  uuid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  day: new RegExp(`^${DAY}$`),
  /** java.time by the pattern yyyy-MM-dd'T'HH:mm:ss.SSSSSSX: exactly six digits, and an offset of hours or Z. */
  moment6: new RegExp(`^${DAY}T\\d\\d:\\d\\d:\\d\\d\\.\\d{6}(Z|[+-]\\d\\d)$`),
  /** A LocalDateTime of Jackson: a Z is passed over, another offset is not. */
  localMoment: new RegExp(`^${DAY}T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?Z?$`),
  /** ISO 8601 with an offset, as OffsetDateTime, dateutil and DateTimeImmutable read it. */
  moment: new RegExp(`^${DAY}T\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$`),
  /** java.time.Period: years, months, weeks and days, no time. */
  period: /^P(?=\d)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?$/,
  integer: 'integer',
  /** A 32 bits Int of the JVM. */
  int32: 'int32',
  boolean: 'boolean',
  object: 'object',
  list: 'list',
  uris: 'uris',
} as const

export type Reads = Record<string, Rule>

/** One request. `{name}` is a value of the world or of an answer before; `reads` judges what is in the answer. */
export type Request = {
  does: string
  ask: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} ${string}`
  query?: Record<string, string>
  body?: unknown
  /** Bytes of a part, sent as multipart/form-data with the lock. */
  part?: { lock: string; bytes: string }
  headers?: Record<string, string>
  /** 200, 201 of a POST and 204 of a DELETE when it is not said. */
  status?: number
  reads?: Reads
  /** Names under which members of the answer (or of its first result) are kept: `{zaak: 'url'}`. */
  keep?: Record<string, string>
  /** How many results a list has at least. */
  finds?: number
}

export type Client = { name: string; requests: Request[] }

const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
const ACCEPT_CRS = { 'accept-crs': 'EPSG:4326' }
const BETROKKENETYPE = 'of:natuurlijk_persoon,niet_natuurlijk_persoon,vestiging,organisatorische_eenheid,medewerker'
const GENERIEK =
  'of:adviseur,behandelaar,belanghebbende,beslisser,initiator,klantcontacter,zaakcoordinator,mede_initiator'
const VERTROUWELIJK =
  'of:openbaar,beperkt_openbaar,intern,zaakvertrouwelijk,vertrouwelijk,confidentieel,geheim,zeer_geheim'
const DOCUMENTSTATUS = 'of:in_bewerking,ter_vaststelling,definitief,gearchiveerd,'
const ORGANISATION = '517439943'

const newZaak = (more: object = {}) => ({
  zaaktype: '{zaaktype}',
  bronorganisatie: ORGANISATION,
  verantwoordelijkeOrganisatie: ORGANISATION,
  startdatum: '2026-03-02',
  ...more,
})
const newDocument = (more: object = {}) => ({
  informatieobjecttype: '{informatieobjecttype}',
  bronorganisatie: ORGANISATION,
  creatiedatum: '2026-03-02',
  titel: 'Aanvraag',
  auteur: 'Jan',
  taal: 'dut',
  ...more,
})

// ---- ZAC ----

const ZAC_ZAAK: Reads = {
  url: 'uri',
  uuid: 'uuid',
  identificatie: 'filled',
  bronorganisatie: 'filled',
  zaaktype: 'uri',
  registratiedatum: 'day',
  verantwoordelijkeOrganisatie: 'filled',
  startdatum: 'day',
  einddatum: 'day?',
  einddatumGepland: 'day?',
  uiterlijkeEinddatumAfdoening: 'day?',
  publicatiedatum: 'day?',
  laatsteBetaaldatum: 'moment?',
  vertrouwelijkheidaanduiding: VERTROUWELIJK,
  archiefactiedatum: 'day?',
  archiefstatus: 'of:nog_te_archiveren,gearchiveerd,gearchiveerd_procestermijn_onbekend,overgedragen',
  opschorting: 'object',
  verlenging: 'object?',
  deelzaken: 'uris',
  status: 'uri?',
  resultaat: 'uri?',
  relevanteAndereZaken: 'list',
  kenmerken: 'list',
}
const ZAC_ROL: Reads = {
  url: 'uri',
  uuid: 'uuid',
  zaak: 'uri',
  roltype: 'uri',
  omschrijving: 'filled',
  omschrijvingGeneriek: GENERIEK,
  roltoelichting: 'text',
  registratiedatum: 'moment6',
  betrokkeneType: BETROKKENETYPE,
  betrokkeneIdentificatie: 'object?',
}
const ZAC_ZIO: Reads = {
  url: 'uri',
  uuid: 'uuid',
  informatieobject: 'uri',
  zaak: 'uri',
  titel: 'text',
  beschrijving: 'text',
  registratiedatum: 'moment6',
}
const ZAC_DOCUMENT: Reads = {
  url: 'uri',
  identificatie: 'filled',
  creatiedatum: 'day',
  titel: 'filled',
  versie: 'int32',
  beginRegistratie: 'moment',
  bestandsomvang: 'integer?',
  status: DOCUMENTSTATUS,
  vertrouwelijkheidaanduiding: VERTROUWELIJK,
  informatieobjecttype: 'uri',
  locked: 'boolean',
  ontvangstdatum: 'day?',
  verzenddatum: 'day?',
  trefwoorden: 'list',
}
const ZAC_AUDIT: Reads = {
  uuid: 'uuid?',
  actie: 'filled',
  resultaat: 'int32',
  hoofdObject: 'uri',
  resource: 'filled',
  resourceUrl: 'uri',
  resourceWeergave: 'text',
  aanmaakdatum: 'moment',
  wijzigingen: 'object?',
}
const zacRol = (does: string, betrokkeneType: string, betrokkeneIdentificatie: object): Request => ({
  does,
  ask: 'POST /zaken/api/v1/rollen',
  body: { zaak: '{zaak}', roltype: '{roltype}', roltoelichting: 'Toegekend', betrokkeneType, betrokkeneIdentificatie },
  reads: ZAC_ROL,
  keep: { [`rol_${betrokkeneType}`]: 'url' },
})

const zac: Client = {
  name: 'ZAC',
  requests: [
    {
      does: 'makes a case',
      ask: 'POST /zaken/api/v1/zaken',
      headers: CRS,
      body: newZaak({
        omschrijving: 'Kapvergunning',
        toelichting: 'Eik',
        communicatiekanaalNaam: 'E-mail',
        vertrouwelijkheidaanduiding: 'openbaar',
        zaakgeometrie: { type: 'Point', coordinates: [4.9, 52.37] },
        uiterlijkeEinddatumAfdoening: '2026-04-02',
      }),
      reads: ZAC_ZAAK,
      keep: { zaak: 'url', identificatie: 'identificatie' },
    },
    { does: 'reads it', ask: 'GET {zaak}', headers: CRS, reads: ZAC_ZAAK },
    {
      does: 'suspends it',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: {
        opschorting: { indicatie: true, reden: 'Wacht op stukken' },
        einddatumGepland: '2026-04-01',
        uiterlijkeEinddatumAfdoening: '2026-04-20',
      },
      reads: ZAC_ZAAK,
    },
    {
      does: 'resumes it',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: { opschorting: { indicatie: false, reden: 'Stukken zijn er' } },
      reads: ZAC_ZAAK,
    },
    {
      does: 'extends it',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: { verlenging: { duur: 'P7D', reden: 'Drukte' }, uiterlijkeEinddatumAfdoening: '2026-04-27' },
      reads: ZAC_ZAAK,
    },
    { does: 'takes its place away', ask: 'PATCH {zaak}', headers: CRS, body: { zaakgeometrie: null }, reads: ZAC_ZAAK },
    {
      does: 'relates it to another',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: { relevanteAndereZaken: [{ url: '{other}', aardRelatie: 'vervolg' }] },
      reads: ZAC_ZAAK,
    },
    { does: 'makes it part of another', ask: 'PATCH {zaak}', headers: CRS, body: { hoofdzaak: '{other}' } },
    { does: 'takes it out again', ask: 'PATCH {zaak}', headers: CRS, body: { hoofdzaak: null } },
    zacRol('names a person', 'natuurlijk_persoon', { inpBsn: '111222333' }),
    zacRol('names a company', 'niet_natuurlijk_persoon', { innNnpId: '002220647', statutaireNaam: 'Bakkerij' }),
    zacRol('names an establishment', 'vestiging', { vestigingsNummer: '000037178598', kvkNummer: '90001354' }),
    zacRol('names a group', 'organisatorische_eenheid', { identificatie: 'groep', naam: 'Groep' }),
    zacRol('names an employee', 'medewerker', { identificatie: 'jan', achternaam: 'Jansen', voorletters: 'J' }),
    {
      does: 'lists the roles',
      ask: 'GET /zaken/api/v1/rollen',
      query: { zaak: '{zaak}', page: '1' },
      reads: ZAC_ROL,
      finds: 5,
    },
    {
      does: 'lists the roles of an employee',
      ask: 'GET /zaken/api/v1/rollen',
      query: { zaak: '{zaak}', betrokkeneType: 'medewerker', omschrijvingGeneriek: 'behandelaar' },
      reads: ZAC_ROL,
    },
    { does: 'takes a role away', ask: 'DELETE {rol_medewerker}' },
    {
      does: 'makes a document in parts',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: newDocument({
        status: 'in_bewerking',
        formaat: 'text/plain',
        bestandsnaam: 'brief.txt',
        bestandsomvang: 5,
        vertrouwelijkheidaanduiding: 'openbaar',
      }),
      reads: { url: 'uri', lock: 'filled', bestandsdelen: 'list' },
      keep: { document: 'url', lock: 'lock', deel: 'bestandsdelen.0.url' },
    },
    {
      does: 'sends the part',
      ask: 'PUT {deel}',
      part: { lock: '{lock}', bytes: 'Beste' },
      reads: { url: 'uri', volgnummer: 'int32', omvang: 'integer', voltooid: 'boolean', lock: 'filled' },
    },
    { does: 'gives the lock back', ask: 'POST {document}/unlock', body: { lock: '{lock}' }, status: 204 },
    {
      does: 'puts it in the case',
      ask: 'POST /zaken/api/v1/zaakinformatieobjecten',
      body: { zaak: '{zaak}', informatieobject: '{document}', titel: 'Aanvraag', beschrijving: 'Bij de zaak' },
      reads: ZAC_ZIO,
      keep: { zio: 'url' },
    },
    {
      does: 'lists the documents of the case',
      ask: 'GET /zaken/api/v1/zaakinformatieobjecten',
      query: { zaak: '{zaak}' },
      reads: ZAC_ZIO,
      finds: 1,
    },
    { does: 'reads one', ask: 'GET {zio}', reads: ZAC_ZIO },
    { does: 'reads the document', ask: 'GET {document}', reads: ZAC_DOCUMENT },
    { does: 'reads a version', ask: 'GET {document}', query: { versie: '1' }, reads: ZAC_DOCUMENT },
    {
      does: 'locks the document',
      ask: 'POST {document}/lock',
      body: { lock: '' },
      status: 200,
      keep: { lock: 'lock' },
    },
    {
      does: 'changes the document',
      ask: 'PATCH {document}',
      body: { lock: '{lock}', titel: 'Aanvraag, gelezen', status: 'definitief' },
      reads: ZAC_DOCUMENT,
    },
    { does: 'unlocks it', ask: 'POST {document}/unlock', body: { lock: '{lock}' }, status: 204 },
    {
      does: 'reads the audit trail of the document',
      ask: 'GET {document}/audittrail',
      reads: { ...ZAC_AUDIT, bron: 'of:DRC' },
      finds: 1,
    },
    {
      does: 'gives terms of use',
      ask: 'POST /documenten/api/v1/gebruiksrechten',
      body: { informatieobject: '{document}', startdatum: '2026-03-02T00:00:00Z', omschrijvingVoorwaarden: 'geen' },
    },
    {
      does: 'notes a property',
      ask: 'POST {zaak}/zaakeigenschappen',
      body: { zaak: '{zaak}', eigenschap: '{eigenschap}', waarde: 'rood' },
      reads: { url: 'uri', eigenschap: 'uri', naam: 'filled', waarde: 'filled' },
      keep: { zaakeigenschap: 'url' },
    },
    {
      does: 'changes the property',
      ask: 'PUT {zaakeigenschap}',
      body: { zaak: '{zaak}', eigenschap: '{eigenschap}', waarde: 'blauw', naam: 'kleur' },
      reads: { waarde: 'of:blauw' },
    },
    { does: 'lists the properties', ask: 'GET {zaak}/zaakeigenschappen', reads: { waarde: 'filled' }, finds: 1 },
    {
      does: 'relates an address',
      ask: 'POST /zaken/api/v1/zaakobjecten',
      body: {
        zaak: '{zaak}',
        objectType: 'adres',
        objectIdentificatie: {
          identificatie: '0363200000000001',
          huisnummer: 1,
          gorOpenbareRuimteNaam: 'Dam',
          wplWoonplaatsNaam: 'Amsterdam',
        },
      },
      reads: { url: 'uri', uuid: 'uuid', zaak: 'uri', objectType: 'of:adres', objectIdentificatie: 'object' },
      keep: { zaakobject: 'url' },
    },
    {
      does: 'lists what it is about',
      ask: 'GET /zaken/api/v1/zaakobjecten',
      query: { zaak: '{zaak}' },
      reads: { objectType: 'filled', relatieomschrijving: 'text' },
      finds: 1,
    },
    { does: 'takes it away', ask: 'DELETE {zaakobject}' },
    {
      does: 'gives a status',
      ask: 'POST /zaken/api/v1/statussen',
      body: { zaak: '{zaak}', statustype: '{statustype}', datumStatusGezet: '2026-03-02T09:00:00+01:00' },
      reads: { url: 'uri', uuid: 'uuid', datumStatusGezet: 'moment', statustype: 'uri', statustoelichting: 'text' },
      keep: { status: 'url' },
    },
    { does: 'reads the status', ask: 'GET {status}', reads: { datumStatusGezet: 'moment' } },
    {
      does: 'gives a result',
      ask: 'POST /zaken/api/v1/resultaten',
      body: { zaak: '{zaak}', resultaattype: '{resultaattype}', toelichting: 'Akkoord' },
      reads: { url: 'uri', uuid: 'uuid', resultaattype: 'uri', toelichting: 'text' },
      keep: { resultaat: 'url' },
    },
    {
      does: 'changes the result',
      ask: 'PUT {resultaat}',
      body: { url: '{resultaat}', zaak: '{zaak}', resultaattype: '{resultaattype}', toelichting: 'Toch' },
      reads: { toelichting: 'of:Toch' },
    },
    {
      does: 'closes the case',
      ask: 'POST /zaken/api/v1/statussen',
      body: { zaak: '{zaak}', statustype: '{eindstatus}', datumStatusGezet: '2026-03-20T10:00:00.123456Z' },
    },
    { does: 'reads it when closed', ask: 'GET {zaak}', headers: CRS, reads: { ...ZAC_ZAAK, einddatum: 'day' } },
    {
      does: 'reads the audit trail of the case',
      ask: 'GET {zaak}/audittrail',
      reads: { ...ZAC_AUDIT, bron: 'of:ZRC' },
      finds: 10,
    },
    {
      does: 'searches by every filter that it has',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: {
        identificatie: '{identificatie}',
        bronorganisatie: ORGANISATION,
        zaaktype: '{zaaktype}',
        archiefnominatie__in: 'blijvend_bewaren,vernietigen',
        archiefstatus: 'nog_te_archiveren',
        archiefstatus__in: 'nog_te_archiveren,gearchiveerd',
        archiefactiedatum__gt: '2020-01-01',
        archiefactiedatum__lt: '2099-01-01',
        startdatum: '2026-03-02',
        startdatum__gt: '2026-03-01',
        startdatum__gte: '2026-03-02',
        startdatum__lt: '2026-03-03',
        startdatum__lte: '2026-03-02',
        rol__betrokkeneType: 'natuurlijk_persoon',
        rol__omschrijvingGeneriek: 'behandelaar',
        maximaleVertrouwelijkheidaanduiding: 'zeer_geheim',
        rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: '111222333',
        ordering: '-startdatum',
        page: '1',
      },
      reads: ZAC_ZAAK,
      finds: 1,
    },
    {
      does: 'reads zaaktypen',
      ask: 'GET /catalogi/api/v1/zaaktypen',
      query: { catalogus: '{catalogus}', page: '1' },
      reads: {
        url: 'uri',
        identificatie: 'filled',
        doorlooptijd: 'period',
        beginGeldigheid: 'day',
        concept: 'boolean',
      },
      finds: 1,
    },
  ],
}

// ---- GZAC ----

const GZAC_ZAAK: Reads = {
  url: 'uri',
  uuid: 'uuid',
  bronorganisatie: 'filled',
  zaaktype: 'uri',
  registratiedatum: 'day?',
  verantwoordelijkeOrganisatie: 'filled',
  startdatum: 'day',
  einddatum: 'day?',
  einddatumGepland: 'day?',
  uiterlijkeEinddatumAfdoening: 'day?',
  laatstGemuteerd: 'localMoment?',
  laatstGeopend: 'localMoment?',
  betalingsindicatie: 'text?',
  laatsteBetaaldatum: 'day?',
  opschorting: 'object?',
  deelzaken: 'uris?',
  eigenschappen: 'uris?',
  rollen: 'uris?',
  zaakinformatieobjecten: 'uris?',
  zaakobjecten: 'uris?',
  archiefactiedatum: 'day?',
}
const GZAC_ROL: Reads = {
  url: 'uri?',
  uuid: 'uuid?',
  zaak: 'uri',
  betrokkeneType: BETROKKENETYPE,
  roltype: 'uri',
  omschrijvingGeneriek: GENERIEK,
  roltoelichting: 'text',
  registratiedatum: 'localMoment',
  beginGeldigheid: 'day?',
  eindeGeldigheid: 'day?',
  statussen: 'uris?',
}
const GZAC_NOTE: Reads = {
  url: 'uri',
  onderwerp: 'text',
  tekst: 'text',
  notitieType: 'of:intern,extern',
  status: 'of:concept,definitief',
  aanmaakdatum: 'localMoment',
  wijzigingsdatum: 'localMoment',
  gerelateerdAan: 'uri',
}
const GZAC_DOCUMENT: Reads = {
  url: 'uri',
  bronorganisatie: 'filled',
  creatiedatum: 'day',
  titel: 'text',
  auteur: 'text',
  taal: 'text',
  beginRegistratie: 'moment',
  versie: 'int32?',
  bestandsomvang: 'integer?',
  status: DOCUMENTSTATUS,
  vertrouwelijkheidaanduiding: VERTROUWELIJK,
  ontvangstdatum: 'day?',
  verzenddatum: 'day?',
}

const gzac: Client = {
  name: 'GZAC (Valtimo)',
  requests: [
    {
      does: 'makes a case',
      ask: 'POST /zaken/api/v1/zaken',
      headers: CRS,
      body: newZaak({ omschrijving: 'Bezwaar' }),
      reads: { ...GZAC_ZAAK, url: 'uri' },
      keep: { zaak: 'url' },
    },
    { does: 'reads it', ask: 'GET {zaak}', headers: CRS, reads: GZAC_ZAAK },
    {
      does: 'suspends it',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: {
        verlenging: { reden: 'Wacht', duur: 'P14D' },
        opschorting: { indicatie: true, reden: 'Wacht' },
      },
      reads: { url: 'uri', uuid: 'uuid', opschorting: 'object', verlenging: 'object' },
    },
    {
      does: 'lists cases as a page of its own',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: { zaaktype: '{zaaktype}', page: '1', pageSize: '10', ordering: '-startdatum' },
      reads: GZAC_ZAAK,
      finds: 1,
    },
    {
      does: 'names a person',
      ask: 'POST /zaken/api/v1/rollen',
      body: {
        zaak: '{zaak}',
        betrokkeneType: 'natuurlijk_persoon',
        roltype: '{roltype}',
        roltoelichting: 'Aanvrager',
        betrokkeneIdentificatie: { inpBsn: '111222333' },
        contactpersoonRol: { naam: 'Jan', emailadres: 'jan@example.nl' },
      },
      reads: GZAC_ROL,
      keep: { rol: 'url', roluuid: 'uuid' },
    },
    {
      does: 'changes the role by PUT, with what it knows of it',
      ask: 'PUT {rol}',
      body: {
        url: '{rol}',
        uuid: '{roluuid}',
        zaak: '{zaak}',
        betrokkeneType: 'natuurlijk_persoon',
        roltype: '{roltype}',
        omschrijving: 'Behandelaar',
        omschrijvingGeneriek: 'behandelaar',
        roltoelichting: 'Aanvrager, gewijzigd',
        betrokkeneIdentificatie: { inpBsn: '111222333' },
      },
      reads: GZAC_ROL,
    },
    {
      does: 'lists roles by their kind',
      ask: 'GET /zaken/api/v1/rollen',
      query: { page: '1', zaak: '{zaak}', omschrijvingGeneriek: 'behandelaar' },
      reads: GZAC_ROL,
      finds: 1,
    },
    { does: 'takes a role away', ask: 'DELETE {rol}' },
    {
      does: 'makes a document with its content first',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: newDocument({
        status: 'definitief',
        bestandsnaam: 'brief.txt',
        bestandsomvang: 5,
        inhoud: 'QmVzdGU=',
        indicatieGebruiksrecht: false,
        formaat: 'text/plain',
      }),
      reads: {
        url: 'uri',
        auteur: 'text',
        bestandsnaam: 'text',
        bestandsomvang: 'integer',
        beginRegistratie: 'moment',
        bestandsdelen: 'list',
      },
      keep: { document: 'url' },
    },
    {
      does: 'links it to the case',
      ask: 'POST /zaken/api/v1/zaakinformatieobjecten',
      body: { zaak: '{zaak}', informatieobject: '{document}', titel: 'Brief', beschrijving: 'Van de aanvrager' },
      reads: {
        url: 'uri',
        uuid: 'uuid',
        informatieobject: 'uri',
        zaak: 'uri',
        aardRelatieWeergave: 'filled',
        registratiedatum: 'localMoment',
        vernietigingsdatum: 'localMoment?',
      },
    },
    {
      does: 'lists documents by their case',
      ask: 'GET /documenten/api/v1/enkelvoudiginformatieobjecten',
      query: { objectinformatieobjecten__object: '{zaak}', page: '1', ordering: '-creatiedatum' },
      reads: GZAC_DOCUMENT,
      finds: 1,
    },
    { does: 'locks it without a body', ask: 'POST {document}/lock', status: 200, keep: { lock: 'lock' } },
    {
      does: 'changes its metadata',
      ask: 'PATCH {document}',
      body: {
        creatiedatum: '2026-03-02',
        titel: 'Brief, 2',
        auteur: 'Jan',
        taal: 'dut',
        indicatieGebruiksrecht: false,
        trefwoorden: ['bezwaar'],
        lock: '{lock}',
      },
      reads: GZAC_DOCUMENT,
    },
    { does: 'unlocks it', ask: 'POST {document}/unlock', body: { lock: '{lock}' }, status: 204 },
    {
      does: 'writes a note',
      ask: 'POST /zaken/api/v1/zaaknotities',
      body: { onderwerp: 'Gebeld', tekst: 'Belt terug', gerelateerdAan: '{zaak}', aangemaaktDoor: 'Jan' },
      reads: GZAC_NOTE,
      keep: { note: 'url' },
    },
    {
      does: 'changes the note by PUT',
      ask: 'PUT {note}',
      body: { onderwerp: 'Gebeld', tekst: 'Teruggebeld', gerelateerdAan: '{zaak}' },
      reads: GZAC_NOTE,
    },
    {
      does: 'lists the notes by the name zaak',
      ask: 'GET /zaken/api/v1/zaaknotities',
      query: { page: '1', zaak: '{zaak}' },
      reads: GZAC_NOTE,
      finds: 1,
    },
    { does: 'removes the note', ask: 'DELETE {note}' },
    {
      does: 'notes a property',
      ask: 'POST {zaak}/zaakeigenschappen',
      body: { zaak: '{zaak}', eigenschap: '{eigenschap}', waarde: 'rood' },
      reads: { url: 'uri', zaak: 'uri', eigenschap: 'uri', waarde: 'text' },
      keep: { zaakeigenschap: 'url' },
    },
    { does: 'removes the property', ask: 'DELETE {zaakeigenschap}' },
    {
      does: 'relates an object of another register',
      ask: 'POST /zaken/api/v1/zaakobjecten',
      body: {
        zaak: '{zaak}',
        objectType: 'overige',
        objectTypeOverige: 'taak',
        objectIdentificatie: { overigeData: { naam: 'Taak' } },
      },
      reads: {
        url: 'uri',
        uuid: 'uuid',
        zaak: 'uri',
        object: 'text',
        objectType: 'filled',
        objectTypeOverige: 'text?',
      },
    },
    {
      does: 'gives a status',
      ask: 'POST /zaken/api/v1/statussen',
      body: {
        zaak: '{zaak}',
        statustype: '{statustype}',
        datumStatusGezet: '2026-03-02T09:00:00',
        statustoelichting: 'Ontvangen',
      },
      reads: { url: 'uri', uuid: 'uuid', zaak: 'uri', statustype: 'uri', datumStatusGezet: 'localMoment' },
    },
    {
      does: 'gives a result and lists it',
      ask: 'POST /zaken/api/v1/resultaten',
      body: { zaak: '{zaak}', resultaattype: '{resultaattype}' },
      reads: { url: 'uri', uuid: 'uuid', zaak: 'uri', resultaattype: 'uri' },
      keep: { resultaat: 'url' },
    },
    { does: 'lists results', ask: 'GET /zaken/api/v1/resultaten', query: { zaak: '{zaak}', page: '1' }, finds: 1 },
    { does: 'removes the result', ask: 'DELETE {resultaat}' },
    {
      does: 'reads the besluiten of the case',
      ask: 'GET {zaak}/besluiten',
      reads: { url: 'uri', uuid: 'uuid', besluit: 'uri' },
    },
    {
      does: 'takes a besluit',
      ask: 'POST /besluiten/api/v1/besluiten',
      body: {
        verantwoordelijkeOrganisatie: ORGANISATION,
        besluittype: '{besluittype}',
        zaak: '{zaak}',
        datum: '2026-03-02',
        ingangsdatum: '2026-03-03',
      },
      reads: { url: 'uri', datum: 'day', ingangsdatum: 'day', vervaldatum: 'day?', vervalreden: 'text' },
      keep: { besluit: 'url' },
    },
    { does: 'changes the besluit', ask: 'PATCH {besluit}', body: { toelichting: 'Gewijzigd' } },
    {
      does: 'reads zaaktypen that are published',
      ask: 'GET /catalogi/api/v1/zaaktypen',
      query: { catalogus: '{catalogus}', status: 'definitief', page: '1' },
      reads: {
        url: 'uri',
        identificatie: 'text',
        omschrijving: 'text',
        vertrouwelijkheidaanduiding: VERTROUWELIJK,
        doel: 'text',
        aanleiding: 'text',
        indicatieInternOfExtern: 'text',
        handelingInitiator: 'text',
        onderwerp: 'text',
        handelingBehandelaar: 'text',
        doorlooptijd: 'period?',
        verlengingstermijn: 'period?',
        opschortingEnAanhoudingMogelijk: 'boolean',
        verlengingMogelijk: 'boolean',
        publicatieIndicatie: 'boolean',
        productenOfDiensten: 'list',
        referentieproces: 'object',
        catalogus: 'uri',
        besluittypen: 'list',
        gerelateerdeZaaktypen: 'list',
        beginGeldigheid: 'day',
        eindeGeldigheid: 'day?',
        versiedatum: 'day',
      },
      finds: 1,
    },
    {
      does: 'reads roltypen',
      ask: 'GET /catalogi/api/v1/roltypen',
      query: { zaaktype: '{zaaktype}', omschrijvingGeneriek: 'behandelaar', status: 'alles', page: '1' },
      reads: { url: 'uri', zaaktype: 'uri', omschrijving: 'text', omschrijvingGeneriek: GENERIEK },
      finds: 1,
    },
    {
      does: 'reads statustypen',
      ask: 'GET /catalogi/api/v1/statustypen',
      query: { zaaktype: '{zaaktype}', page: '1' },
      reads: { url: 'uri', zaaktype: 'uri', omschrijving: 'text', volgnummer: 'int32', isEindstatus: 'boolean' },
      finds: 2,
    },
    {
      does: 'reads besluittypen',
      ask: 'GET /catalogi/api/v1/besluittypen',
      query: { zaaktypen: '{zaaktype}', page: '1' },
      reads: {
        catalogus: 'uri',
        zaaktypen: 'uris',
        publicatieIndicatie: 'boolean',
        informatieobjecttypen: 'uris',
        beginGeldigheid: 'day',
        eindeGeldigheid: 'day?',
      },
      finds: 1,
    },
    {
      does: 'reads document types of a zaaktype',
      ask: 'GET /catalogi/api/v1/zaaktype-informatieobjecttypen',
      query: { zaaktype: '{zaaktype}', status: 'definitief', page: '1' },
      reads: { informatieobjecttype: 'uri', richting: 'of:inkomend,intern,uitgaand', volgnummer: 'int32' },
      finds: 1,
    },
  ],
}

// ---- Open Formulieren ----

const openForms: Client = {
  name: 'Open Formulieren',
  requests: [
    {
      does: 'asks the version by a catalogus that is not there',
      ask: 'GET /catalogi/api/v1/catalogussen',
      query: { domein: 'VRSN' },
    },
    {
      does: 'finds the type of a day',
      ask: 'GET /catalogi/api/v1/zaaktypen',
      query: { catalogus: '{catalogus}', identificatie: '{zaaktypeIdentificatie}', datumGeldigheid: '2026-03-02' },
      reads: { url: 'uri', beginGeldigheid: 'day', eindeGeldigheid: 'day?', roltypen: 'uris', concept: 'boolean' },
      finds: 1,
    },
    {
      does: 'finds the document type of a day',
      ask: 'GET /catalogi/api/v1/informatieobjecttypen',
      query: { catalogus: '{catalogus}', omschrijving: '{documenttypeOmschrijving}', datumGeldigheid: '2026-03-02' },
      reads: { url: 'uri', omschrijving: 'filled', beginGeldigheid: 'day', eindeGeldigheid: 'day?' },
      finds: 1,
    },
    {
      does: 'makes the case',
      ask: 'POST /zaken/api/v1/zaken',
      headers: CRS,
      body: newZaak({
        registratiedatum: '2026-03-02',
        productenOfDiensten: [],
        omschrijving: 'Formulier',
        toelichting: 'Ingezonden',
        betalingsindicatie: 'nog_niet',
        identificatie: 'OF-{run}',
        kenmerken: [{ kenmerk: 'OF-1', bron: 'Open Formulieren' }],
      }),
      reads: { url: 'uri', identificatie: 'filled', zaaktype: 'uri' },
      keep: { zaak: 'url' },
    },
    {
      does: 'says that it was paid',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: { betalingsindicatie: 'geheel', laatsteBetaaldatum: '2026-03-02T09:12:13.123456+00:00' },
    },
    {
      does: 'lists the statustypen',
      ask: 'GET /catalogi/api/v1/statustypen',
      query: { zaaktype: '{zaaktype}' },
      reads: { url: 'uri', volgnummer: 'int32' },
      finds: 2,
    },
    {
      does: 'gives the first status',
      ask: 'POST /zaken/api/v1/statussen',
      body: {
        zaak: '{zaak}',
        statustype: '{statustype}',
        datumStatusGezet: '2026-03-02T09:12:13.123456+00:00',
        statustoelichting: '',
      },
    },
    {
      does: 'finds the role of the initiator',
      ask: 'GET /catalogi/api/v1/roltypen',
      query: { zaaktype: '{zaaktype}', omschrijvingGeneriek: 'initiator' },
      reads: { url: 'uri', omschrijving: 'filled' },
      finds: 1,
    },
    {
      does: 'names who sent it, with an address and without a number of it',
      ask: 'POST /zaken/api/v1/rollen',
      body: {
        zaak: '{zaak}',
        betrokkeneType: 'natuurlijk_persoon',
        roltype: '{initiator}',
        roltoelichting: 'inzender formulier',
        indicatieMachtiging: '',
        betrokkeneIdentificatie: {
          inpBsn: '111222333',
          voornamen: 'Jan',
          geslachtsnaam: 'Jansen',
          verblijfsadres: {
            aoaIdentificatie: 'OFWORKAROUND',
            wplWoonplaatsNaam: 'Utrecht',
            gorOpenbareRuimteNaam: 'Neude',
            aoaPostcode: '3512AD',
            aoaHuisnummer: 1,
            aoaHuisletter: '',
            aoaHuisnummertoevoeging: '',
          },
        },
      },
    },
    {
      does: 'sends the summary',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: newDocument({
        formaat: 'application/pdf',
        taal: 'nld',
        inhoud: 'JVBERg==',
        status: 'definitief',
        bestandsnaam: 'open-forms-1.pdf',
        ontvangstdatum: null,
        beschrijving: 'Ingezonden formulier',
        indicatieGebruiksrecht: false,
        bestandsomvang: 4,
      }),
      reads: { url: 'uri' },
      keep: { document: 'url' },
    },
    {
      does: 'puts it in the case',
      ask: 'POST /zaken/api/v1/zaakinformatieobjecten',
      body: { zaak: '{zaak}', informatieobject: '{document}' },
    },
    {
      does: 'notes a property',
      ask: 'POST {zaak}/zaakeigenschappen',
      body: { zaak: '{zaak}', eigenschap: '{eigenschap}', waarde: 'rood' },
    },
    {
      does: 'relates a place',
      ask: 'POST /zaken/api/v1/zaakobjecten',
      body: {
        zaak: '{zaak}',
        objectType: 'overige',
        objectTypeOverige: 'locatie',
        objectIdentificatie: { overigeData: { adres: 'Neude 1' } },
      },
    },
  ],
}

// ---- Open Archiefbeheer ----

const archiefbeheer: Client = {
  name: 'Open Archiefbeheer',
  requests: [
    {
      does: 'lists what may be destroyed, with what hangs on it',
      ask: 'GET /zaken/api/v1/zaken',
      headers: ACCEPT_CRS,
      query: {
        expand: 'resultaat,resultaat.resultaattype,zaaktype,rollen',
        archiefnominatie: 'vernietigen',
        einddatum__isnull: 'False',
        einddatum__lt: '2099-01-01',
        einddatum__gt: '2000-01-01',
      },
      reads: {
        url: 'uri',
        uuid: 'uuid',
        identificatie: 'filled',
        startdatum: 'day',
        einddatum: 'day',
        archiefnominatie: 'of:vernietigen',
        archiefactiedatum: 'day?',
        zaaktype: 'uri',
        resultaat: 'uri',
        '_expand.zaaktype': 'object',
        '_expand.resultaat._expand.resultaattype': 'object',
        '_expand.rollen': 'list',
      },
      finds: 1,
    },
    {
      does: 'changes the date of destruction',
      ask: 'PATCH {closed}',
      headers: { ...CRS, 'x-audit-toelichting': 'Uitgesteld' },
      body: { archiefactiedatum: '2040-01-01' },
      reads: { archiefactiedatum: 'of:2040-01-01' },
    },
    { does: 'lists the objects', ask: 'GET /zaken/api/v1/zaakobjecten', query: { zaak: '{closed}' } },
    { does: 'lists the besluiten', ask: 'GET /besluiten/api/v1/besluiten', query: { zaak: '{closed}' } },
    {
      does: 'lists the documents',
      ask: 'GET /zaken/api/v1/zaakinformatieobjecten',
      query: { zaak: '{closed}' },
      reads: { url: 'uri', informatieobject: 'uri' },
      finds: 1,
      keep: { zio: 'url', document: 'informatieobject' },
    },
    { does: 'takes a document from the case', ask: 'DELETE {zio}' },
    { does: 'destroys the document', ask: 'DELETE {document}' },
    { does: 'destroys the case', ask: 'DELETE {closed}', headers: ACCEPT_CRS },
    { does: 'finds it gone', ask: 'GET {closed}', headers: ACCEPT_CRS, status: 404 },
  ],
}

// ---- nl-portal ----

const nlPortal: Client = {
  name: 'nl-portal',
  requests: [
    {
      does: 'searches by a body of lists of one',
      ask: 'POST /zaken/api/v1/zaken/_zoek',
      headers: CRS,
      status: 200,
      body: {
        rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: ['111222333'],
        einddatum__isnull: [true],
        page: ['1'],
      },
      reads: {
        uuid: 'uuid',
        url: 'filled',
        identificatie: 'text',
        omschrijving: 'text',
        zaaktype: 'text',
        startdatum: 'day',
        einddatum: 'day?',
        status: 'uri?',
      },
      finds: 1,
    },
    {
      does: 'lists cases of a company',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: {
        rol__betrokkeneIdentificatie__nietNatuurlijkPersoon__annIdentificatie: '90001354',
        einddatum__isnull: 'true',
        page: '1',
      },
    },
    {
      does: 'lists roles of a person',
      ask: 'GET /zaken/api/v1/rollen',
      query: { betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: '111222333', page: '1' },
      reads: { uuid: 'uuid', zaak: 'filled' },
      finds: 1,
    },
    {
      does: 'lists statuses',
      ask: 'GET /zaken/api/v1/statussen',
      query: { zaak: '{full}', page: '1' },
      reads: { uuid: 'uuid', datumStatusGezet: 'filled', statustype: 'filled' },
      finds: 1,
    },
    {
      does: 'lists objects',
      ask: 'GET /zaken/api/v1/zaakobjecten',
      query: { zaak: '{full}', objectType: 'overige', page: '1' },
      reads: {
        url: 'filled',
        uuid: 'filled',
        zaak: 'filled',
        object: 'text',
        objectType: 'filled',
        objectTypeOverige: 'text',
      },
      finds: 1,
    },
    {
      does: 'lists documents',
      ask: 'GET /zaken/api/v1/zaakinformatieobjecten',
      query: { zaak: '{full}' },
      reads: { uuid: 'filled', informatieobject: 'filled', zaak: 'filled' },
      finds: 1,
      keep: { document: 'informatieobject' },
    },
    {
      does: 'reads a document, whose size it holds in 32 bits',
      ask: 'GET {document}',
      reads: {
        url: 'uri',
        bestandsomvang: 'int32?',
        status: DOCUMENTSTATUS,
        vertrouwelijkheidaanduiding: VERTROUWELIJK,
      },
    },
    { does: 'reads the zaaktype', ask: 'GET {zaaktype}', reads: { identificatie: 'text', omschrijving: 'text' } },
  ],
}

// ---- Open Inwoner ----

const openInwoner: Client = {
  name: 'Open Inwoner',
  requests: [
    {
      does: 'lists cases of a person',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: {
        rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: '111222333',
        maximaleVertrouwelijkheidaanduiding: 'openbaar',
      },
      reads: {
        url: 'uri',
        identificatie: 'text',
        bronorganisatie: 'text',
        omschrijving: 'text',
        zaaktype: 'uri',
        registratiedatum: 'day',
        startdatum: 'day',
        vertrouwelijkheidaanduiding: 'text',
        status: 'uri?',
        einddatumGepland: 'day?',
        uiterlijkeEinddatumAfdoening: 'day?',
        einddatum: 'day?',
        resultaat: 'uri?',
      },
      finds: 1,
    },
    {
      does: 'lists cases of an establishment',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: {
        rol__betrokkeneIdentificatie__vestiging__vestigingsNummer: '000037178598',
        maximaleVertrouwelijkheidaanduiding: 'openbaar',
      },
    },
    {
      does: 'lists cases of a company',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: {
        rol__betrokkeneIdentificatie__nietNatuurlijkPersoon__innNnpId: '002220647',
        maximaleVertrouwelijkheidaanduiding: 'openbaar',
      },
    },
    {
      does: 'lists statuses',
      ask: 'GET /zaken/api/v1/statussen',
      query: { zaak: '{full}' },
      reads: { url: 'uri', statustype: 'uri', datumStatusGezet: 'moment', statustoelichting: 'text' },
      finds: 1,
    },
    {
      does: 'lists roles',
      ask: 'GET /zaken/api/v1/rollen',
      query: { zaak: '{full}', omschrijvingGeneriek: 'behandelaar' },
      reads: {
        url: 'uri',
        zaak: 'uri',
        betrokkeneType: BETROKKENETYPE,
        roltype: 'uri',
        omschrijving: 'text',
        omschrijvingGeneriek: GENERIEK,
        roltoelichting: 'text',
        registratiedatum: 'moment?',
      },
      finds: 1,
    },
    {
      does: 'lists documents',
      ask: 'GET /zaken/api/v1/zaakinformatieobjecten',
      query: { zaak: '{full}' },
      reads: { url: 'uri', informatieobject: 'uri', zaak: 'uri', titel: 'text', registratiedatum: 'moment' },
      finds: 1,
      keep: { document: 'informatieobject' },
    },
    {
      does: 'reads a document, of which it needs nearly all',
      ask: 'GET {document}',
      reads: {
        url: 'uri',
        identificatie: 'text',
        bronorganisatie: 'text',
        creatiedatum: 'day',
        titel: 'text',
        vertrouwelijkheidaanduiding: 'text',
        auteur: 'text',
        status: 'text',
        formaat: 'text',
        taal: 'text',
        versie: 'integer',
        bestandsnaam: 'text',
        inhoud: 'uri',
        bestandsomvang: 'integer',
        informatieobjecttype: 'uri',
        locked: 'boolean',
      },
      keep: { inhoud: 'inhoud' },
    },
    { does: 'downloads it by the link', ask: 'GET {inhoud}' },
    {
      does: 'finds zaaktypen by their identification',
      ask: 'GET /catalogi/api/v1/zaaktypen',
      query: { identificatie: '{zaaktypeIdentificatie}', catalogus: '{catalogus}' },
      reads: {
        url: 'uri',
        identificatie: 'text',
        omschrijving: 'text',
        catalogus: 'uri',
        vertrouwelijkheidaanduiding: 'text',
        doel: 'text',
        aanleiding: 'text',
        indicatieInternOfExtern: 'text',
        handelingInitiator: 'text',
        onderwerp: 'text',
        handelingBehandelaar: 'text',
        versiedatum: 'day?',
      },
      finds: 1,
    },
    {
      does: 'sends a document of an inhabitant',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: newDocument({
        inhoud: 'QmVzdGU=',
        bestandsomvang: 5,
        bestandsnaam: 'bijlage.txt',
        status: 'definitief',
        indicatieGebruiksrecht: false,
      }),
      reads: { url: 'uri' },
      keep: { mine: 'url' },
    },
    {
      does: 'puts it in the case',
      ask: 'POST /zaken/api/v1/zaakinformatieobjecten',
      body: { zaak: '{full}', informatieobject: '{mine}' },
    },
  ],
}

// ---- GPP-publicatiebank ----

const gpp: Client = {
  name: 'GPP-publicatiebank',
  requests: [
    {
      does: 'makes a document whose content comes in parts',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: newDocument({
        identificatie: 'woo-{run}',
        status: 'definitief',
        formaat: 'application/pdf',
        bestandsnaam: 'woo.pdf',
        inhoud: null,
        bestandsomvang: 4,
        beschrijving: '',
        indicatieGebruiksrecht: false,
      }),
      reads: { url: 'uri', creatiedatum: 'day', lock: 'filled', bestandsdelen: 'list' },
      keep: { document: 'url', lock: 'lock', deel: 'bestandsdelen.0.url' },
    },
    { does: 'sends the part', ask: 'PUT {deel}', part: { lock: '{lock}', bytes: '%PDF' } },
    {
      does: 'sees whether all parts are there',
      ask: 'GET {document}',
      reads: { url: 'uri', creatiedatum: 'day', bestandsomvang: 'integer', bestandsdelen: 'list' },
    },
    { does: 'gives the lock back', ask: 'POST {document}/unlock', body: { lock: '{lock}' }, status: 204 },
    { does: 'locks it again without a body', ask: 'POST {document}/lock', status: 200, keep: { lock: 'lock' } },
    {
      does: 'changes the organisation',
      ask: 'PATCH {document}',
      body: { bronorganisatie: '002220647', lock: '{lock}' },
    },
    { does: 'unlocks it', ask: 'POST {document}/unlock', body: { lock: '{lock}' }, status: 204 },
    { does: 'downloads it', ask: 'GET {document}/download' },
    { does: 'destroys it', ask: 'DELETE {document}' },
  ],
}

// ---- ZGW Office Add-in ----

const AUDIT = { 'x-nlx-logrecord-id': '5f3e2d1c', 'x-audit-toelichting': 'Document toevoegen vanuit Office' }
const officeAddIn: Client = {
  name: 'ZGW Office Add-in',
  requests: [
    {
      does: 'finds the case by its number',
      ask: 'GET /zaken/api/v1/zaken',
      query: { identificatie: '{fullIdentificatie}' },
      headers: { ...AUDIT, ...CRS },
      reads: { url: 'uri', zaaktype: 'uri', bronorganisatie: 'filled', status: 'uri?' },
      finds: 1,
      keep: { status: 'status' },
    },
    { does: 'reads its status', ask: 'GET {status}', headers: AUDIT, reads: { statustoelichting: 'text' } },
    { does: 'reads its type', ask: 'GET {zaaktype}', headers: AUDIT, reads: { informatieobjecttypen: 'uris' } },
    {
      does: 'reads a document type',
      ask: 'GET {informatieobjecttype}',
      headers: AUDIT,
      reads: { omschrijving: 'filled', vertrouwelijkheidaanduiding: VERTROUWELIJK },
    },
    {
      does: 'sends a letter',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      headers: AUDIT,
      body: newDocument({
        formaat: 'application/msword',
        bestandsnaam: 'brief.docx',
        inhoud: 'QmVzdGU=',
        status: 'definitief',
        vertrouwelijkheidaanduiding: 'openbaar',
      }),
      reads: { url: 'uri' },
      keep: { document: 'url' },
    },
    {
      does: 'gives terms of use, with milliseconds',
      ask: 'POST /documenten/api/v1/gebruiksrechten',
      headers: AUDIT,
      body: {
        informatieobject: '{document}',
        startdatum: '2026-03-02T00:00:00.000Z',
        omschrijvingVoorwaarden: 'geen',
      },
    },
    {
      does: 'puts it in the case',
      ask: 'POST /zaken/api/v1/zaakinformatieobjecten',
      headers: AUDIT,
      body: { informatieobject: '{document}', zaak: '{full}' },
    },
  ],
}

// ---- PHP plug-ins ----

const php: Client = {
  name: 'PHP plug-ins (owc-zgw-api)',
  requests: [
    {
      does: 'lists cases with their type and status',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: {
        rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: '111222333',
        ordering: '-startdatum',
        expand: 'zaaktype,status,status.statustype,hoofdzaak.status.statustype',
      },
      reads: {
        url: 'uri',
        uuid: 'uuid',
        registratiedatum: 'day?',
        startdatum: 'day?',
        einddatum: 'day?',
        laatsteBetaaldatum: 'moment?',
        vertrouwelijkheidaanduiding: VERTROUWELIJK,
        '_expand.zaaktype': 'object',
      },
      finds: 1,
    },
    {
      does: 'searches by the day of the start',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: { startdatum__gte: '2026-01-01', zaaktype: '{zaaktype}' },
      finds: 1,
    },
    {
      does: 'makes a case with all that its model holds',
      ask: 'POST /zaken/api/v1/zaken',
      headers: CRS,
      body: newZaak({ omschrijving: 'Formulier', registratiedatum: '2026-03-02', informatieobject: '', steps: null }),
      reads: { url: 'uri', uuid: 'uuid' },
      keep: { zaak: 'url' },
    },
    {
      does: 'names the sender',
      ask: 'POST /zaken/api/v1/rollen',
      body: {
        betrokkeneIdentificatie: { inpBsn: '111222333' },
        roltoelichting: 'De indiener van de aanvraag',
        betrokkeneType: 'natuurlijk_persoon',
        roltype: '{initiator}',
        zaak: '{zaak}',
      },
    },
    {
      does: 'sends a document',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: newDocument({
        inhoud: 'QmVzdGU=',
        formaat: 'text/plain',
        bestandsnaam: 'bijlage.txt',
        bestandsomvang: 5,
        indicatieGebruiksrecht: false,
        vertrouwelijkheidaanduiding: 'vertrouwelijk',
      }),
      reads: { url: 'uri' },
      keep: { document: 'url' },
    },
    {
      does: 'puts it in the case',
      ask: 'POST /zaken/api/v1/zaakinformatieobjecten',
      body: { zaak: '{zaak}', informatieobject: '{document}' },
    },
  ],
}

// ---- ZaakBrug ----

const BRUG_ZAAK = newZaak({
  identificatie: 'ZDS-{run}',
  omschrijving: 'Melding',
  toelichting: 'Van zaakdocumentservices',
  registratiedatum: '2026-03-02',
  einddatumGepland: '2026-04-01',
  uiterlijkeEinddatumAfdoening: '2026-04-02',
  publicatiedatum: null,
  betalingsindicatie: 'nvt',
  laatsteBetaaldatum: null,
  verlenging: null,
  opschorting: { indicatie: false, reden: '' },
  relevanteAndereZaken: [],
  kenmerken: [],
  archiefnominatie: 'vernietigen',
  archiefactiedatum: null,
})
const BRUG_DOCUMENT = newDocument({
  identificatie: 'ZDSDOC-{run}',
  vertrouwelijkheidaanduiding: 'openbaar',
  formaat: 'text/plain',
  bestandsnaam: 'brief.txt',
  link: '',
  status: 'definitief',
  ontvangstdatum: null,
  verzenddatum: null,
  beschrijving: '',
  inhoud: 'QmVzdGU=',
})
const zaakbrug: Client = {
  name: 'ZaakBrug',
  requests: [
    {
      does: 'reserves a number',
      ask: 'POST /zaken/api/v1/zaaknummer_reserveren',
      headers: CRS,
      body: { bronorganisatie: ORGANISATION },
      reads: { zaaknummer: 'filled' },
    },
    {
      does: 'makes a case with all its members',
      ask: 'POST /zaken/api/v1/zaken',
      headers: CRS,
      body: BRUG_ZAAK,
      keep: { zaak: 'url' },
    },
    {
      does: 'finds it by its number',
      ask: 'GET /zaken/api/v1/zaken',
      headers: CRS,
      query: { identificatie: 'ZDS-{run}' },
      reads: { url: 'uri', startdatum: 'day', verlenging: 'object?', opschorting: 'object?' },
      finds: 1,
    },
    {
      does: 'changes it by PATCH with all its members',
      ask: 'PATCH {zaak}',
      headers: CRS,
      body: { ...BRUG_ZAAK, omschrijving: 'Melding, gewijzigd' },
    },
    {
      does: 'gives a status',
      ask: 'POST /zaken/api/v1/statussen',
      headers: CRS,
      body: {
        zaak: '{zaak}',
        statustype: '{statustype}',
        datumStatusGezet: '2026-03-02T09:00:00.000Z',
        statustoelichting: '',
      },
    },
    {
      does: 'makes a document',
      ask: 'POST /documenten/api/v1/enkelvoudiginformatieobjecten',
      body: BRUG_DOCUMENT,
      keep: { document: 'url' },
    },
    { does: 'locks it', ask: 'POST {document}/lock', body: {}, status: 200, keep: { lock: 'lock' } },
    {
      does: 'changes it by PUT',
      ask: 'PUT {document}',
      headers: ACCEPT_CRS,
      body: { ...BRUG_DOCUMENT, titel: 'Aanvraag, 2', lock: '{lock}' },
      reads: { url: 'uri', versie: 'integer' },
    },
    { does: 'unlocks it', ask: 'POST {document}/unlock', body: { lock: '{lock}' }, status: 204 },
    {
      does: 'relates a person as an object',
      ask: 'POST /zaken/api/v1/zaakobjecten',
      headers: CRS,
      body: {
        zaak: '{zaak}',
        objectType: 'natuurlijk_persoon',
        relatieomschrijving: 'Betreft',
        objectIdentificatie: { inpBsn: '111222333', geslachtsnaam: 'Jansen' },
      },
      keep: { zaakobject: 'url' },
    },
    {
      does: 'changes the relation by PUT',
      ask: 'PUT {zaakobject}',
      headers: CRS,
      body: {
        zaak: '{zaak}',
        objectType: 'natuurlijk_persoon',
        relatieomschrijving: 'Betreft nog',
        objectIdentificatie: { inpBsn: '111222333' },
      },
      reads: { relatieomschrijving: 'filled' },
    },
  ],
}

export const CLIENTS: Client[] = [
  zac,
  gzac,
  openForms,
  nlPortal,
  openInwoner,
  gpp,
  officeAddIn,
  php,
  zaakbrug,
  archiefbeheer, // last: it destroys
]
