/** What a POST of a minimal zaaktype sends. */
export const zaaktypeBody = (catalogus: string, identificatie: string) => ({
  catalogus,
  identificatie,
  omschrijving: 'Melding',
  vertrouwelijkheidaanduiding: 'openbaar',
  doel: 'meten',
  aanleiding: 'een meting',
  indicatieInternOfExtern: 'extern',
  handelingInitiator: 'melden',
  onderwerp: 'melding',
  handelingBehandelaar: 'behandelen',
  doorlooptijd: 'P30D',
  opschortingEnAanhoudingMogelijk: false,
  verlengingMogelijk: false,
  publicatieIndicatie: false,
  productenOfDiensten: [],
  referentieproces: { naam: 'melding' },
  verantwoordelijke: 'beheer',
  besluittypen: [],
  gerelateerdeZaaktypen: [],
  beginGeldigheid: '2024-01-01',
  versiedatum: '2024-01-01',
})

/** The body of a new case of that type. */
export const zaakBody = (zaaktype: string) => ({
  bronorganisatie: '517439943',
  verantwoordelijkeOrganisatie: '517439943',
  zaaktype,
  startdatum: '2026-03-02',
  omschrijving: 'Losliggende stoeptegel',
  toelichting: 'Voor het gemeentehuis ligt een stoeptegel los.',
})
