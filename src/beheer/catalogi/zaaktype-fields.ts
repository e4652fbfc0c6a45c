// What a zaaktype holds of its own, group by group, in the order in which people think of it.
import { ZaaktypeInput } from '../../catalogi/zaaktype/columns.ts'
import { words } from '../language/language.ts'
import { boundedBy, type Choice, type Field, type Group } from './fields.ts'
import { VERTROUWELIJKHEID } from './labels.ts'

const OMSCHRIJVING: Field = words(
  {
    name: 'omschrijving',
    label: 'Omschrijving',
    help: 'Zoals behandelaars het noemen, bijvoorbeeld “Aanvraag parkeervergunning”.',
  },
  'label',
  'help',
)
const IDENTIFICATIE: Field = words(
  {
    name: 'identificatie',
    label: 'Identificatie',
    help: 'De code waaronder andere systemen het type kennen. Alle versies hebben dezelfde. Leeg: de dienst maakt er een.',
    optional: true,
  },
  'label',
  'help',
)

const BASIS: Group = {
  key: 'basis',
  title: 'Basis',
  fields: [
    OMSCHRIJVING,
    IDENTIFICATIE,
    {
      name: 'omschrijvingGeneriek',
      label: 'Landelijke naam',
      help: 'De naam in landelijke lijsten, als die anders is.',
      optional: true,
      correctable: true,
    },
    {
      name: 'vertrouwelijkheidaanduiding',
      label: 'Vertrouwelijkheid',
      kind: 'select',
      choices: VERTROUWELIJKHEID,
      help: 'Wat nieuwe zaken krijgen als niemand iets anders kiest.',
    },
    {
      name: 'indicatieInternOfExtern',
      label: 'Wie begint de zaak',
      kind: 'radio',
      choices: words<Choice[]>(
        [
          ['extern', 'Iemand van buiten', 'een inwoner, een bedrijf; ook als beide kan'],
          ['intern', 'Iemand van de eigen organisatie'],
        ],
        '1',
        '2',
      ),
    },
    {
      name: 'trefwoorden',
      label: 'Trefwoorden',
      kind: 'lines',
      help: 'Woorden waarmee men het type vindt, elk op een eigen regel.',
      optional: true,
      correctable: true,
    },
    { name: 'toelichting', label: 'Toelichting', kind: 'long', optional: true, correctable: true },
  ],
}

const PURPOSE: Group = {
  key: 'doel',
  title: 'Doel en handelingen',
  fields: [
    {
      name: 'doel',
      label: 'Doel',
      kind: 'long',
      help: 'Wat met zulke zaken wordt bereikt, bijvoorbeeld “Bepalen of iemand mag parkeren”.',
    },
    {
      name: 'aanleiding',
      label: 'Aanleiding',
      kind: 'long',
      help: 'Waardoor zo’n zaak begint, bijvoorbeeld “Een bewoner vraagt een vergunning aan”.',
    },
    {
      name: 'handelingInitiator',
      label: 'Handeling van de aanvrager',
      help: 'Een werkwoord.',
      suggestions: ['aanvragen', 'indienen', 'melden', 'verzoeken', 'aangeven'],
    },
    { name: 'onderwerp', label: 'Onderwerp', help: 'Waarover het gaat, bijvoorbeeld “parkeervergunning”.' },
    {
      name: 'handelingBehandelaar',
      label: 'Handeling van de behandelaar',
      help: 'Een werkwoord.',
      suggestions: ['behandelen', 'uitvoeren', 'vaststellen', 'beoordelen', 'verstrekken'],
    },
    {
      name: 'verantwoordelijke',
      label: 'Verantwoordelijke',
      help: 'De organisatie of afdeling die erover gaat.',
    },
    {
      name: 'referentieproces.naam',
      label: 'Referentieproces',
      help: 'Het algemene proces waar dit er een van is, bijvoorbeeld “Behandelen aanvraag vergunning”.',
    },
    { name: 'referentieproces.link', label: 'Link naar het referentieproces', kind: 'url', optional: true },
    {
      name: 'productenOfDiensten',
      label: 'Producten of diensten',
      kind: 'lines',
      help: 'Adressen (URL’s) uit de productencatalogus, elk op een eigen regel. Zaken kunnen alleen deze noemen.',
      optional: true,
      correctable: true,
    },
    {
      name: 'verantwoordingsrelatie',
      label: 'Verantwoordingsrelatie',
      kind: 'lines',
      help: 'Waarover verantwoording wordt afgelegd, elk op een eigen regel. Zelden gebruikt.',
      optional: true,
      correctable: true,
    },
  ],
}

const TERMS: Group = {
  key: 'termijnen',
  title: 'Termijnen',
  fields: [
    {
      name: 'doorlooptijd',
      label: 'Doorlooptijd',
      kind: 'duration',
      help: 'De termijn waarbinnen een zaak klaar moet zijn, meestal die van de wet. De uiterste einddatum van zaken volgt eruit.',
    },
    {
      name: 'servicenorm',
      label: 'Servicenorm',
      kind: 'duration',
      help: 'Wat u belooft. De geplande einddatum van zaken volgt eruit.',
      optional: true,
    },
    {
      name: 'opschortingEnAanhoudingMogelijk',
      label: 'Kan een zaak worden opgeschort?',
      kind: 'yesno',
      help: 'De termijn staat dan stil, bijvoorbeeld zolang gegevens ontbreken.',
    },
    { name: 'verlengingMogelijk', label: 'Kan de termijn worden verlengd?', kind: 'yesno' },
    {
      name: 'verlengingstermijn',
      label: 'Verlengen met',
      kind: 'duration',
      help: 'Alleen als de termijn kan worden verlengd.',
      when: { name: 'verlengingMogelijk', values: ['ja'] },
    },
  ],
}

const PUBLICATION: Group = {
  key: 'publicatie',
  title: 'Publicatie van zaken',
  fields: [
    {
      name: 'publicatieIndicatie',
      label: 'Wordt het begin van een zaak gepubliceerd?',
      kind: 'yesno',
      help: 'Bijvoorbeeld in het gemeenteblad.',
    },
    {
      name: 'publicatietekst',
      label: 'Tekst van de publicatie',
      kind: 'long',
      optional: true,
      correctable: true,
      when: { name: 'publicatieIndicatie', values: ['ja'] },
    },
  ],
}

const GELDIGHEID: Group = {
  key: 'geldigheid',
  title: 'Geldigheid',
  fields: [
    { name: 'beginGeldigheid', label: 'Geldig vanaf', kind: 'date', help: 'De eerste dag waarop deze versie geldt.' },
    {
      name: 'eindeGeldigheid',
      label: 'Geldig tot en met',
      kind: 'date',
      help: 'Leeg: tot u het type beëindigt.',
      optional: true,
    },
  ],
}

const ORIGIN: Group = {
  key: 'herkomst',
  title: 'Herkomst',
  help: 'Waar het type vandaan komt, als het is overgenomen. Een catalogus en een zaaktype horen bij elkaar: vul beide in, of geen van beide.',
  fields: [
    { name: 'broncatalogus.url', label: 'Catalogus: adres', kind: 'url', optional: true },
    { name: 'broncatalogus.domein', label: 'Catalogus: domein', optional: true },
    { name: 'broncatalogus.rsin', label: 'Catalogus: RSIN', optional: true },
    { name: 'bronzaaktype.url', label: 'Zaaktype: adres', kind: 'url', optional: true },
    { name: 'bronzaaktype.identificatie', label: 'Zaaktype: identificatie', optional: true },
    { name: 'bronzaaktype.omschrijving', label: 'Zaaktype: omschrijving', optional: true },
  ],
}

/** The groups that need nothing from outside. */
export const ZAAKTYPE_GROUPS: Group[] = words(
  boundedBy(ZaaktypeInput, [BASIS, PURPOSE, TERMS, PUBLICATION, GELDIGHEID, ORIGIN]),
  'title',
  'label',
  'help',
)
/** What a new zaaktype asks: all that it cannot do without. */
export const NEW_ZAAKTYPE_GROUPS: Group[] = words(
  [BASIS, { ...PURPOSE, fields: PURPOSE.fields.filter(({ optional }) => !optional) }, TERMS, PUBLICATION, GELDIGHEID],
  'title',
  'label',
  'help',
)
export const ZAAKTYPE_FIELDS: Field[] = ZAAKTYPE_GROUPS.flatMap(({ fields }) => fields)

/** What an empty form of a new zaaktype begins with. */
export const NEW_ZAAKTYPE = {
  vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
  indicatieInternOfExtern: 'extern',
  handelingInitiator: 'aanvragen',
  handelingBehandelaar: 'behandelen',
  opschortingEnAanhoudingMogelijk: true,
  verlengingMogelijk: false,
  publicatieIndicatie: false,
}
