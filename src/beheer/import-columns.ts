// import-columns: what stands in each column of an import, in the words of who fills a spreadsheet.
import type { KOLOMMEN } from '../documenten/import/csv.ts'
import { words } from './language/language.ts'

type Column = { uitleg: string; voorbeeld: string; verplicht?: true }

/** Without an example the cell of the example file stays empty. */
export const COLUMNS: Record<(typeof KOLOMMEN)[number], Column> = words(
  {
    uuid: { uitleg: 'Eigen uuid voor het document. Leeg: wij maken er een.', voorbeeld: '' },
    identificatie: {
      uitleg: 'Eigen nummer, uniek binnen de bronorganisatie. Leeg: wij maken er een.',
      voorbeeld: 'BRIEF-2024-0001',
    },
    bronorganisatie: { uitleg: 'RSIN van de organisatie, negen cijfers.', voorbeeld: '000000000', verplicht: true },
    creatiedatum: {
      uitleg: 'Dag waarop het document is gemaakt, jjjj-mm-dd.',
      voorbeeld: '2024-05-01',
      verplicht: true,
    },
    titel: {
      uitleg: 'Waaronder het document wordt gevonden.',
      voorbeeld: 'Brief over de kapvergunning',
      verplicht: true,
    },
    vertrouwelijkheidaanduiding: {
      uitleg: 'Zoals openbaar, intern of zaakvertrouwelijk. Leeg: die van het documenttype.',
      voorbeeld: 'zaakvertrouwelijk',
    },
    auteur: { uitleg: 'Persoon of afdeling die het schreef.', voorbeeld: 'Team Groen', verplicht: true },
    status: { uitleg: 'in_bewerking, ter_vaststelling, definitief of gearchiveerd.', voorbeeld: 'definitief' },
    formaat: { uitleg: 'Mediatype. Hiermee toont de browser het document.', voorbeeld: 'application/pdf' },
    taal: { uitleg: 'Drie letters (ISO 639-2/B), zoals nld.', voorbeeld: 'nld', verplicht: true },
    bestandsnaam: { uitleg: 'Naam waaronder het wordt gedownload.', voorbeeld: 'brief-0001.pdf' },
    bestandsomvang: { uitleg: 'Aantal bytes. Leeg: wij tellen zelf; ingevuld moet het kloppen.', voorbeeld: '' },
    bestandspad: {
      uitleg: 'Waar het bestand staat, gerekend vanaf de importmap op de server.',
      voorbeeld: 'archief/brief-0001.pdf',
      verplicht: true,
    },
    link: { uitleg: 'URL waar het origineel staat.', voorbeeld: '' },
    beschrijving: { uitleg: 'Waar het over gaat.', voorbeeld: 'Antwoord op de aanvraag van 12 april' },
    ontvangstdatum: { uitleg: 'Dag van ontvangst, jjjj-mm-dd.', voorbeeld: '' },
    verzenddatum: { uitleg: 'Dag van verzending, jjjj-mm-dd.', voorbeeld: '2024-05-02' },
    indicatieGebruiksrecht: { uitleg: 'true of false. Leeg: onbekend.', voorbeeld: '' },
    verschijningsvorm: { uitleg: 'Vorm van het document, zoals brief.', voorbeeld: '' },
    'ondertekening.soort': { uitleg: 'analoog, digitaal of pki; samen met de datum.', voorbeeld: '' },
    'ondertekening.datum': { uitleg: 'Dag van ondertekening, jjjj-mm-dd.', voorbeeld: '' },
    'integriteit.algoritme': { uitleg: 'Van de controlesom, zoals sha_256; samen met waarde en datum.', voorbeeld: '' },
    'integriteit.waarde': { uitleg: 'De controlesom. Het bestand moet erbij passen.', voorbeeld: '' },
    'integriteit.datum': { uitleg: 'Dag waarop zij is berekend, jjjj-mm-dd.', voorbeeld: '' },
    informatieobjecttype: {
      uitleg:
        'Omschrijving van het documenttype, zo nodig met het domein van zijn catalogus erachter: Brief (DEMO). Of zijn URL.',
      voorbeeld: 'Brief',
      verplicht: true,
    },
    zaakUuid: { uitleg: 'uuid van de zaak waar het document bij hoort.', voorbeeld: '' },
    trefwoorden: { uitleg: 'Woorden met komma’s ertussen.', voorbeeld: 'kap,groen' },
  },
  'uitleg',
)
