import { type Example, tekst, USUAL } from './definition.ts'

const bedrag = { formaat: 'getal', lengte: '10,2', kardinaliteit: '1' }

/** A subsidy: granted first, settled after what was done with it is accounted for. */
export const SUBSIDY: Example = {
  key: 'subsidie',
  title: 'Subsidie: verlenen en vaststellen',
  summary: 'Een subsidie met twee besluiten: eerst verlenen, en na de verantwoording vaststellen.',
  documenttypen: [
    {
      omschrijving: 'Aanvraag',
      informatieobjectcategorie: 'aanvraag',
      vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    },
    {
      omschrijving: 'Begroting',
      informatieobjectcategorie: 'bewijsstuk',
      vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    },
    {
      omschrijving: 'Verantwoording',
      informatieobjectcategorie: 'rapport',
      vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    },
    { omschrijving: 'Beschikking', informatieobjectcategorie: 'besluit', vertrouwelijkheidaanduiding: 'openbaar' },
  ],
  besluittypen: [
    {
      omschrijving: 'Besluit tot verlening subsidie',
      besluitcategorie: 'beschikking',
      reactietermijn: 'P6W',
      publicatieIndicatie: false,
      informatieobjecttypen: ['Beschikking'],
    },
    {
      omschrijving: 'Besluit tot vaststelling subsidie',
      besluitcategorie: 'beschikking',
      reactietermijn: 'P6W',
      publicatieIndicatie: false,
      informatieobjecttypen: ['Beschikking'],
    },
  ],
  zaaktypen: [
    {
      zaaktype: {
        ...USUAL,
        identificatie: 'SUBSIDIE',
        omschrijving: 'Aanvraag subsidie',
        doel: 'Activiteiten in de gemeente mogelijk maken.',
        aanleiding: 'Een organisatie vraagt subsidie aan voor een activiteit.',
        onderwerp: 'subsidie',
        handelingBehandelaar: 'beoordelen',
        doorlooptijd: 'P13W',
        verlengingMogelijk: true,
        verlengingstermijn: 'P13W',
        referentieproces: { naam: 'Verstrekken voorziening' },
        verantwoordelijke: 'Subsidies',
        trefwoorden: ['subsidie'],
      },
      procestype: 'f4603775-5a08-4829-85c8-28017dfeee1f',
      besluittypen: ['Besluit tot verlening subsidie', 'Besluit tot vaststelling subsidie'],
      vervolg: [],
      statustypen: [
        { omschrijving: 'Ontvangen', informeren: true, statustekst: 'We hebben uw aanvraag ontvangen.' },
        { omschrijving: 'Compleet', doorlooptijd: 'P2W' },
        { omschrijving: 'Verleend', informeren: true, statustekst: 'We hebben over uw subsidie besloten.' },
        { omschrijving: 'Verantwoord', informeren: true, statustekst: 'We hebben uw verantwoording ontvangen.' },
        { omschrijving: 'Vastgesteld', informeren: true, statustekst: 'Uw subsidie is vastgesteld.' },
      ],
      roltypen: [
        { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' },
        { omschrijving: 'Contactpersoon', omschrijvingGeneriek: 'belanghebbende' },
        { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' },
        { omschrijving: 'Beslisser', omschrijvingGeneriek: 'beslisser' },
      ],
      eigenschappen: [
        { naam: 'activiteit', definitie: 'Waarvoor de subsidie is.', specificatie: tekst(200), status: 'Compleet' },
        {
          naam: 'bedrag_gevraagd',
          definitie: 'Het aangevraagde bedrag in euro.',
          specificatie: bedrag,
          status: 'Compleet',
        },
        {
          naam: 'bedrag_verleend',
          definitie: 'Het verleende bedrag in euro.',
          specificatie: bedrag,
          status: 'Verleend',
        },
        {
          naam: 'bedrag_vastgesteld',
          definitie: 'Het vastgestelde bedrag in euro.',
          specificatie: bedrag,
          status: 'Vastgesteld',
        },
      ],
      documenten: [
        { naam: 'Aanvraag', richting: 'inkomend', status: 'Ontvangen' },
        { naam: 'Begroting', richting: 'inkomend', status: 'Compleet' },
        { naam: 'Verantwoording', richting: 'inkomend', status: 'Verantwoord' },
        { naam: 'Beschikking', richting: 'uitgaand', status: 'Verleend' },
      ],
      resultaattypen: [
        {
          omschrijving: 'Vastgesteld',
          generiek: 'Vastgesteld',
          archiefnominatie: 'vernietigen',
          archiefactietermijn: 'P10Y',
        },
        {
          omschrijving: 'Geweigerd',
          generiek: 'Geweigerd',
          archiefnominatie: 'vernietigen',
          archiefactietermijn: 'P5Y',
        },
        {
          omschrijving: 'Ingetrokken',
          generiek: 'Ingetrokken',
          archiefnominatie: 'vernietigen',
          archiefactietermijn: 'P5Y',
        },
      ],
    },
  ],
}
