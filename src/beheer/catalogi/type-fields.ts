// What document types and types of decisions hold.
import { BesluittypeInput } from '../../catalogi/besluittypen.ts'
import { InformatieobjecttypeInput } from '../../catalogi/informatieobjecttypen.ts'
import { t, words } from '../language/language.ts'
import { boundedBy, type Choice, type Group } from './fields.ts'
import { VERTROUWELIJKHEID } from './labels.ts'

const GELDIGHEID: Group = words(
  {
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
  },
  'title',
  'label',
  'help',
)

const genericField = (name: string) => `omschrijvingGeneriek.${name}InformatieobjecttypeOmschrijvingGeneriek`

export const DOCUMENTTYPE_GROUPS: Group[] = words(
  boundedBy(InformatieobjecttypeInput, [
    {
      key: 'documenttype',
      title: '',
      fields: [
        {
          name: 'omschrijving',
          label: 'Omschrijving',
          help: 'Zoals “Aanvraag” of “Verleende vergunning”. Versies herkennen elkaar aan deze naam.',
        },
        {
          name: 'informatieobjectcategorie',
          label: 'Categorie',
          help: 'Het algemene soort, zodat men documenten terugvindt.',
          suggestions: ['brief', 'aanvraag', 'besluit', 'bewijsstuk', 'rapport', 'tekening', 'verslag'],
        },
        {
          name: 'vertrouwelijkheidaanduiding',
          label: 'Vertrouwelijkheid',
          kind: 'select',
          choices: VERTROUWELIJKHEID,
          help: 'Wat nieuwe documenten krijgen als niemand iets anders kiest.',
        },
        {
          name: 'trefwoord',
          label: 'Trefwoorden',
          kind: 'lines',
          help: 'Elk op een eigen regel.',
          optional: true,
          correctable: true,
        },
      ],
    },
    GELDIGHEID,
    {
      key: 'generiek',
      title: 'Landelijke omschrijving',
      help: 'Alleen als het type in een landelijke lijst staat.',
      folded: true,
      fields: [
        {
          name: 'omschrijvingGeneriek.informatieobjecttypeOmschrijvingGeneriek',
          label: 'Landelijke naam',
          optional: true,
          correctable: true,
        },
        {
          name: genericField('definitie'),
          label: 'Definitie',
          kind: 'long',
          optional: true,
          correctable: true,
        },
        { name: genericField('herkomst'), label: 'Herkomst', optional: true, correctable: true },
        {
          name: genericField('hierarchie'),
          label: 'Plaats in de hiërarchie',
          optional: true,
          correctable: true,
        },
        {
          name: genericField('opmerking'),
          label: 'Opmerking',
          kind: 'long',
          optional: true,
          correctable: true,
        },
      ],
    },
  ]),
  'title',
  'label',
  'help',
)

/** The form of a besluittype. @param documenttypen those of its catalogue, to choose from */
export const besluittypeGroups = (documenttypen: readonly Choice[]): Group[] =>
  boundedBy(BesluittypeInput, [
    {
      key: 'besluittype',
      title: '',
      fields: [
        {
          name: 'omschrijving',
          label: t('Omschrijving'),
          help: t('Zoals “Besluit op aanvraag”. Versies herkennen elkaar aan deze naam.'),
        },
        {
          name: 'besluitcategorie',
          label: t('Categorie'),
          optional: true,
          correctable: true,
          suggestions: ['beschikking', 'aanwijzing', t('besluit van algemene strekking')],
        },
        { name: 'omschrijvingGeneriek', label: t('Landelijke naam'), optional: true, correctable: true },
        {
          name: 'reactietermijn',
          label: t('Termijn voor bezwaar'),
          kind: 'duration',
          help: t('Hoe lang iemand bezwaar kan maken, meestal 6 weken.'),
          optional: true,
        },
        { name: 'toelichting', label: t('Toelichting'), kind: 'long', optional: true, correctable: true },
      ],
    },
    {
      key: 'publicatie',
      title: t('Publicatie'),
      fields: [
        { name: 'publicatieIndicatie', label: t('Worden deze besluiten gepubliceerd?'), kind: 'yesno' },
        {
          name: 'publicatietekst',
          label: t('Tekst van de publicatie'),
          kind: 'long',
          optional: true,
          correctable: true,
          when: { name: 'publicatieIndicatie', values: ['ja'] },
        },
        {
          name: 'publicatietermijn',
          label: t('Binnen'),
          kind: 'duration',
          optional: true,
          when: { name: 'publicatieIndicatie', values: ['ja'] },
        },
      ],
    },
    {
      key: 'documenten',
      title: t('Documenttypen'),
      fields: [
        {
          name: 'informatieobjecttypen',
          label: t('Waarin het besluit staat'),
          kind: 'checks',
          choices: documenttypen,
          help: t('Alleen documenten van deze typen kunnen aan het besluit worden gekoppeld.'),
          optional: true,
        },
      ],
    },
    GELDIGHEID,
  ])
