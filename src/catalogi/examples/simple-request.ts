import { type Example, tekst, USUAL } from './definition.ts'

/** A request that needs no decision: asked, made, sent. */
export const SIMPLE_REQUEST: Example = {
  key: 'uittreksel',
  title: 'Eenvoudige aanvraag: uittreksel',
  summary: 'Iemand vraagt iets aan, u maakt het en verstuurt het. Drie statussen, geen besluit.',
  documenttypen: [
    {
      omschrijving: 'Aanvraag',
      informatieobjectcategorie: 'aanvraag',
      vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    },
    {
      omschrijving: 'Uittreksel',
      informatieobjectcategorie: 'bewijsstuk',
      vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    },
  ],
  besluittypen: [],
  zaaktypen: [
    {
      zaaktype: {
        ...USUAL,
        identificatie: 'UITTREKSEL',
        omschrijving: 'Aanvraag uittreksel',
        doel: 'Een inwoner een uittreksel van de eigen gegevens geven.',
        aanleiding: 'Een inwoner vraagt een uittreksel aan.',
        onderwerp: 'uittreksel uit de basisregistratie personen',
        handelingBehandelaar: 'verstrekken',
        doorlooptijd: 'P4W',
        servicenorm: 'P5D',
        opschortingEnAanhoudingMogelijk: false,
        referentieproces: { naam: 'Leveren product of dienst' },
        verantwoordelijke: 'Burgerzaken',
        trefwoorden: ['uittreksel', 'brp'],
      },
      procestype: '0f86ece3-f863-4c67-928e-cc71ad0e2318',
      besluittypen: [],
      vervolg: [],
      statustypen: [
        { omschrijving: 'Ontvangen', informeren: true, statustekst: 'We hebben uw aanvraag ontvangen.' },
        { omschrijving: 'In behandeling', doorlooptijd: 'P3D' },
        { omschrijving: 'Afgehandeld', informeren: true, statustekst: 'Uw aanvraag is klaar.' },
      ],
      roltypen: [
        { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' },
        { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' },
      ],
      eigenschappen: [
        {
          naam: 'soort_uittreksel',
          definitie: 'Welk uittreksel is gevraagd.',
          specificatie: tekst(50, { waardenverzameling: ['Persoonsgegevens', 'Adreshistorie', 'Internationaal'] }),
          status: 'In behandeling',
        },
      ],
      documenten: [
        { naam: 'Aanvraag', richting: 'inkomend', status: 'Ontvangen' },
        { naam: 'Uittreksel', richting: 'uitgaand', status: 'Afgehandeld' },
      ],
      resultaattypen: [
        {
          omschrijving: 'Verstrekt',
          generiek: 'Verleend',
          archiefnominatie: 'vernietigen',
          archiefactietermijn: 'P1Y',
        },
        {
          omschrijving: 'Ingetrokken',
          generiek: 'Ingetrokken',
          archiefnominatie: 'vernietigen',
          archiefactietermijn: 'P1Y',
        },
      ],
    },
  ],
}
