// import-columns: what stands in each column of an import, in the words of who fills a spreadsheet.
import type { COLUMN_NAMES } from '../../documenten/import/csv.ts'
import { words } from '../language/language.ts'

type Column = { help: string; example: string; required?: true }

/** Without an example the cell of the example file stays empty. */
export const COLUMNS: Record<(typeof COLUMN_NAMES)[number], Column> = words(
  {
    uuid: { help: 'Eigen uuid voor het document. Leeg: wij maken er een.', example: '' },
    identificatie: {
      help: 'Eigen nummer, uniek binnen de bronorganisatie. Leeg: wij maken er een.',
      example: 'BRIEF-2024-0001',
    },
    bronorganisatie: { help: 'RSIN van de organisatie, negen cijfers.', example: '000000000', required: true },
    creatiedatum: {
      help: 'Dag waarop het document is gemaakt: jjjj-mm-dd, of d-m-jjjj.',
      example: '2024-05-01',
      required: true,
    },
    titel: {
      help: 'Waaronder het document wordt gevonden.',
      example: 'Brief over de kapvergunning',
      required: true,
    },
    vertrouwelijkheidaanduiding: {
      help: 'Zoals openbaar, intern of zaakvertrouwelijk. Leeg: die van het documenttype.',
      example: 'zaakvertrouwelijk',
    },
    auteur: { help: 'Persoon of afdeling die het schreef.', example: 'Team Groen', required: true },
    status: { help: 'in_bewerking, ter_vaststelling, definitief of gearchiveerd.', example: 'definitief' },
    formaat: { help: 'Mediatype. Hiermee toont de browser het document.', example: 'application/pdf' },
    taal: { help: 'Drie letters (ISO 639-2/B), zoals nld.', example: 'nld', required: true },
    bestandsnaam: { help: 'Naam waaronder het wordt gedownload.', example: 'brief-0001.pdf' },
    bestandsomvang: { help: 'Aantal bytes. Leeg: wij tellen zelf; ingevuld moet het kloppen.', example: '' },
    bestandspad: {
      help: 'Waar het bestand staat, gerekend vanaf de importmap op de server.',
      example: 'archief/brief-0001.pdf',
      required: true,
    },
    link: { help: 'URL waar het origineel staat.', example: '' },
    beschrijving: { help: 'Waar het over gaat.', example: 'Antwoord op de aanvraag van 12 april' },
    ontvangstdatum: { help: 'Dag van ontvangst: jjjj-mm-dd, of d-m-jjjj.', example: '' },
    verzenddatum: { help: 'Dag van verzending: jjjj-mm-dd, of d-m-jjjj.', example: '2024-05-02' },
    indicatieGebruiksrecht: { help: 'true of false, waar of onwaar, ja of nee. Leeg: onbekend.', example: '' },
    verschijningsvorm: { help: 'Vorm van het document, zoals brief.', example: '' },
    'ondertekening.soort': { help: 'analoog, digitaal of pki; samen met de datum.', example: '' },
    'ondertekening.datum': { help: 'Dag van ondertekening: jjjj-mm-dd, of d-m-jjjj.', example: '' },
    'integriteit.algoritme': { help: 'Van de controlesom, zoals sha_256; samen met waarde en datum.', example: '' },
    'integriteit.waarde': { help: 'De controlesom. Het bestand moet erbij passen.', example: '' },
    'integriteit.datum': { help: 'Dag waarop zij is berekend: jjjj-mm-dd, of d-m-jjjj.', example: '' },
    informatieobjecttype: {
      help: 'Omschrijving van het documenttype, zo nodig met het domein van zijn catalogus erachter: Brief (DEMO). Of zijn URL.',
      example: 'Brief',
      required: true,
    },
    zaakUuid: { help: 'uuid van de zaak waar het document bij hoort.', example: '' },
    trefwoorden: { help: 'Woorden met komma’s ertussen.', example: 'kap,groen' },
  },
  'help',
)
