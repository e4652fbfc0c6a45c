// What becomes of each column that can hold something about a person: every column of text, JSON and bytes. A column is replaced (by what
// `replacements.ts` calls so, `record`, `packed` and `bytes` by `copy.ts`), or kept for a reason; a table may be left out as a whole, for a reason. Other columns (keys, dates,
// numbers, flags, uuids) are kept, so that the copy has the shape of its source. A test holds this list against the schema.
import type { Replacements } from './replacements.ts'

type Kept = { kept: string }
type Columns = Record<string, Kept | Exclude<keyof Replacements, 'field'> | 'record' | 'packed' | 'bytes'>
type Table = Columns | { leftOut: string }

const kept = (reason: string): Kept => ({ kept: reason })
const leftOut = (reason: string) => ({ leftOut: reason })

const WORD = kept('one of a few words of the standard or of ours')
const TYPE = kept('part of a type: what all cases share')
const ORGANISATION = kept('an organisation of the government, or a public register')
const REFERENCE = kept('names another object, so that it is found')
const RIGHT = kept('what a client may do')

const RUNNING = leftOut('how the source runs at this moment')
const SECRETS = leftOut('proves who somebody is: the copy gets its own')
const RECEIVERS = leftOut('the copy would call the services and receivers of the source')
const PEOPLE = leftOut('accounts of people and what they did: the copy gets its own')
const IMPORTS = leftOut('rows as they were delivered; what became of them is in the copy')
const TAKEOVER = leftOut('objects as another installation delivered them; what became of them is in the copy')
const COUNTED = leftOut('counted anew in the copy')

const types = (names: string): Columns =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, TYPE]),
  )

export const TABLES: Record<string, Table> = {
  abonnement: RECEIVERS,
  abonnement_kanaal: RECEIVERS,
  active_sender: RUNNING,
  alert: RUNNING,
  alert_message: PEOPLE,
  applicatie: {
    label: RIGHT,
  },
  applicatie_client: {
    client_id: RIGHT,
  },
  applicatie_client_key: SECRETS,
  applicatie_client_more: {
    client_id: RIGHT,
  },
  applicatie_issuer_client: SECRETS,
  applicatie_secret: SECRETS,
  archive_by_hand: {
    field: WORD,
    set_by: 'person',
  },
  audit: {
    actie: WORD,
    applicatie_id: REFERENCE,
    applicatie_weergave: RIGHT,
    bron: WORD,
    gebruikers_id: 'code',
    gebruikers_weergave: 'person',
    logrecord_id: 'code',
    made: 'record',
    origin: 'nothing',
    packed: 'packed',
    request_id: 'code',
    resource: WORD,
    resource_weergave: 'label',
    toelichting: 'text',
  },
  autorisatie: {
    component: RIGHT,
    scopes: RIGHT,
    type_url: RIGHT,
  },
  beheer_account: PEOPLE,
  beheer_audit: PEOPLE,
  beheer_browser: SECRETS,
  beheer_browser_link: SECRETS,
  beheer_passkey: SECRETS,
  beheer_saved_filter: PEOPLE,
  beheer_session: SECRETS,
  beheer_sign_in_attempt: SECRETS,
  besluit: {
    besluittype_catalogus_url: TYPE,
    besluittype_url: TYPE,
    bestuursorgaan: ORGANISATION,
    identificatie: 'identificatie',
    toelichting: 'text',
    verantwoordelijke_organisatie: ORGANISATION,
    vervalreden: WORD,
    zaak_url: REFERENCE,
  },
  besluit_count: COUNTED,
  besluitinformatieobject: {
    informatieobject_url: REFERENCE,
  },
  besluittype: types(
    `besluitcategorie omschrijving omschrijving_generiek publicatietekst publicatietermijn reactietermijn toelichting`,
  ),
  besluittype_informatieobjecttype: {},
  bestandsdeel: {
    file_id: 'nothing',
  },
  catalogus: {
    contactpersoon_beheer_emailadres: 'email',
    contactpersoon_beheer_naam: 'person',
    contactpersoon_beheer_telefoonnummer: 'phone',
    domein: ORGANISATION,
    naam: ORGANISATION,
    rsin: ORGANISATION,
    versie: TYPE,
  },
  catalogus_autorisatie: {
    component: RIGHT,
    scopes: RIGHT,
    type: RIGHT,
  },
  change: RUNNING,
  clock_setback: RUNNING,
  data_key: SECRETS,
  delivery: RECEIVERS,
  delivery_attempt: RECEIVERS,
  delivery_figure: RECEIVERS,
  eigenschap:
    types(`definitie naam specificatie_formaat specificatie_groep specificatie_kardinaliteit specificatie_lengte
    specificatie_waardenverzameling toelichting`),
  enkelvoudiginformatieobject: {
    bronorganisatie: ORGANISATION,
    identificatie: 'identificatie',
    informatieobjecttype_url: TYPE,
    lock: 'code',
  },
  enkelvoudiginformatieobject_count: COUNTED,
  enkelvoudiginformatieobject_versie: {
    auteur: 'person',
    beschrijving: 'text',
    bestandsnaam: 'file',
    bestandsomvang: 'size',
    bronorganisatie: ORGANISATION,
    formaat: WORD,
    identificatie: 'identificatie',
    informatieobjecttype_url: TYPE,
    integriteit_algoritme: 'nothing',
    integriteit_datum: 'nothing',
    integriteit_waarde: 'nothing',
    link: 'url',
    ondertekening_soort: WORD,
    status: WORD,
    taal: WORD,
    titel: 'text',
    trefwoorden: 'texts',
    verschijningsvorm: 'text',
  },
  external_receiver: RUNNING,
  feed: RUNNING,
  feed_snapshot: leftOut('what readers of the feed were given; the copy makes its own'),
  file: {
    backend: 'bytes',
    missing_since: 'nothing',
    key: 'bytes',
    sha256: 'bytes',
    size: 'bytes',
  },
  file_count: COUNTED,
  gebruiksrecht: {
    omschrijving_voorwaarden: 'text',
  },
  growth_figure: RUNNING,
  history: RUNNING,
  idempotency_key: RUNNING,
  import: IMPORTS,
  import_ahead: IMPORTS,
  import_draft: IMPORTS,
  import_draft_fault: IMPORTS,
  import_draft_fault_kind: IMPORTS,
  import_draft_key: IMPORTS,
  import_draft_row: IMPORTS,
  import_draft_shift: IMPORTS,
  import_fault_kind: IMPORTS,

  import_figure: IMPORTS,
  import_outcome: IMPORTS,
  import_receipt: IMPORTS,
  import_row: IMPORTS,
  import_shift: IMPORTS,
  informatieobjecttype: types(`informatieobjectcategorie omschrijving omschrijving_generiek trefwoord`),
  kanaal: types(`documentatie_link filters naam`),
  key_holder: RUNNING,
  klantcontact: {
    identificatie: 'identificatie',
    kanaal: 'text',
    onderwerp: 'text',
    toelichting: 'text',
  },
  migration: RUNNING,
  mirror: RECEIVERS,
  notificatie: {
    aanmaakdatum_text: 'nothing',
    actie: WORD,
    bron: ORGANISATION,
    cloudevent: WORD,
    hoofd_object: 'url',
    kanaal: WORD,
    kenmerken: 'detail',
    request_id: 'code',
    resource: WORD,
    resource_url: 'url',
    traceparent: 'nothing',
  },
  notificatie_settings: RECEIVERS,
  oauth_assertion: SECRETS,
  oauth_signing_key: SECRETS,
  objectinformatieobject: {
    object_type: WORD,
    object_url: REFERENCE,
  },
  of_organisation: leftOut('a copy is an installation by itself'),
  oidc_provider: SECRETS,
  outgoing_request: RECEIVERS,
  pending_mirror: RECEIVERS,
  periodic_job: RUNNING,
  playback: TAKEOVER,
  playback_item: TAKEOVER,
  process_setting: RUNNING,
  queue_figure: RUNNING,
  received_event: RUNNING,
  reseal: RUNNING,
  resend: RECEIVERS,
  reserved_documentnummer: {
    bronorganisatie: ORGANISATION,
    identificatie: 'identificatie',
  },
  reserved_zaaknummer: {
    bronorganisatie: ORGANISATION,
    identificatie: 'identificatie',
  },
  resultaat: {
    resultaattype_elsewhere: TYPE,
    resultaattype_url: TYPE,
    toelichting: 'text',
  },
  resultaattype:
    types(`archiefactietermijn archiefnominatie brondatum_afleidingswijze brondatum_datumkenmerk brondatum_objecttype
    brondatum_procestermijn brondatum_registratie omschrijving omschrijving_generiek procesobjectaard procestermijn
    resultaattypeomschrijving selectielijstklasse toelichting`),
  resultaattype_besluittype: {},
  resultaattype_informatieobjecttype: {},
  retention_run: RUNNING,
  rol: {
    afwijkende_naam_betrokkene: 'person',
    anp_identificatie_lookup: 'nothing',
    authenticatie_context: 'detail',
    betrokkene: 'url',
    betrokkene_identificatie: 'detail',
    betrokkene_type: WORD,
    contactpersoon_rol: 'detail',
    indicatie_machtiging: WORD,
    inp_a_nummer_lookup: 'nothing',
    inp_bsn_lookup: 'nothing',
    omschrijving: TYPE,
    omschrijving_generiek: TYPE,
    roltoelichting: 'text',
    roltype_url: TYPE,
  },
  roltype: types(`omschrijving omschrijving_generiek`),
  sealed_setting: SECRETS,
  selectielijst_import: RUNNING,
  selectielijst_item: types(`content kind procestype url`),
  server_error: RUNNING,
  server_life: RUNNING,
  service: RECEIVERS,
  setting: leftOut('how the source is set up: the copy has its own settings'),
  status: {
    statustoelichting: 'text',
    statustype_omschrijving: TYPE,
    statustype_url: TYPE,
  },
  statustype: types(`checklistitem_statustype doorlooptijd omschrijving omschrijving_generiek statustekst toelichting`),
  store_writer: RUNNING,
  stray_file: RUNNING,
  substatus: {
    doelgroep: WORD,
    omschrijving: 'text',
  },
  takeover: TAKEOVER,
  takeover_content: TAKEOVER,
  takeover_file: TAKEOVER,
  takeover_object: TAKEOVER,
  takeover_postponed: TAKEOVER,
  takeover_remark: TAKEOVER,
  takeover_step: TAKEOVER,
  token_issuer: SECRETS,
  token_issuer_keys: SECRETS,
  verwerking: leftOut('who looked at persons of the source: the copy begins its own'),
  verwerking_aside: RUNNING,
  verwerking_block: leftOut('where those lines are found'),
  verwerking_lease: RUNNING,
  verwerking_spool: RUNNING,
  verwerking_unsettled: RUNNING,
  verwerkingsactiviteit: { url: ORGANISATION, zaaktype_identificatie: TYPE },
  verzending: {
    aard_relatie: WORD,
    betrokkene: 'url',
    binnenlands_correspondentieadres: 'detail',
    buitenlands_correspondentieadres: 'detail',
    contact_persoon: 'url',
    contactpersoonnaam: 'person',
    correspondentie_postadres: 'detail',
    emailadres: 'email',
    faxnummer: 'phone',
    telefoonnummer: 'phone',
    toelichting: 'text',
  },
  worker: RUNNING,
  worker_crash: RUNNING,
  zaak: {
    archiefnominatie: WORD,
    archiefstatus: WORD,
    betalingsindicatie: WORD,
    bronorganisatie: ORGANISATION,
    communicatiekanaal: TYPE,
    communicatiekanaal_naam: TYPE,
    identificatie: 'identificatie',
    kenmerken: 'marks',
    omschrijving: 'text',
    opdrachtgevende_organisatie: ORGANISATION,
    opschorting_reden: 'text',
    processobject_datumkenmerk: TYPE,
    processobject_identificatie: 'code',
    processobject_objecttype: TYPE,
    processobject_registratie: TYPE,
    processobjectaard: TYPE,
    producten_of_diensten: TYPE,
    selectielijstklasse: TYPE,
    toelichting: 'text',
    verantwoordelijke_organisatie: ORGANISATION,
    verlenging_duur: WORD,
    verlenging_reden: 'text',
    zaakgeometrie: 'geometry',
    zaakgeometrie_grenzen: 'box',
    zaaktype_catalogus_url: TYPE,
    zaaktype_identificatie: TYPE,
    zaaktype_omschrijving: TYPE,
    zaaktype_url: TYPE,
  },
  zaak_andere_zaak: {
    aard_relatie: WORD,
    andere_zaak_url: REFERENCE,
    overige_relatie: 'text',
    toelichting: 'text',
  },
  zaak_count: COUNTED,
  zaak_gerelateerde_zaak: {
    andere_zaak_url: REFERENCE,
  },
  zaak_number_year: {},
  zaak_part_count: COUNTED,
  zaakbesluit: {
    besluit_url: REFERENCE,
  },
  zaakcontactmoment: {
    contactmoment: 'url',
  },
  zaakeigenschap: {
    eigenschap_url: TYPE,
    naam: TYPE,
    waarde: 'property',
  },
  zaakinformatieobject: {
    beschrijving: 'text',
    informatieobject_url: REFERENCE,
    titel: 'text',
  },
  zaaknotitie: {
    aangemaakt_door: 'person',
    notitie_type: WORD,
    onderwerp: 'text',
    status: WORD,
    tekst: 'text',
  },
  zaakobject: {
    object: 'url',
    object_identificatie: 'detail',
    object_type: WORD,
    object_type_overige: 'text',
    object_type_overige_definitie: TYPE,
    relatieomschrijving: 'text',
    zaakobjecttype_url: TYPE,
  },
  zaakobjecttype: types(`objecttype relatie_omschrijving`),
  zaaktype:
    types(`aanleiding broncatalogus_domein broncatalogus_rsin broncatalogus_url bronzaaktype_identificatie bronzaaktype_omschrijving
    bronzaaktype_url doel doorlooptijd handeling_behandelaar handeling_initiator identificatie indicatie_intern_of_extern omschrijving
    omschrijving_generiek onderwerp producten_of_diensten publicatietekst referentieproces_link referentieproces_naam
    selectielijst_procestype servicenorm toelichting trefwoorden verantwoordelijke verantwoordingsrelatie verlengingstermijn`),
  zaaktype_besluittype: {},
  zaaktype_deelzaaktype: {},
  zaaktype_gerelateerd_zaaktype: types(`aard_relatie gerelateerd_zaaktype_url toelichting`),
  zaaktype_informatieobjecttype: types(`richting`),
  zaakverzoek: {
    verzoek: 'url',
  },
}

/** Rows of the copy; all of them where nothing stands here. */
export const ROWS: Record<string, string> = {
  // Of applicaties and abonnementen the trail tells addresses, and the copy has no use for it.
  audit: `bron not in ('ac', 'nrc')`,
  file: 'exists (select from enkelvoudiginformatieobject_versie v where v.file_id = file.id)',
}
