// What a zaaktype is made of below itself: per kind its form, its table, and the functions of the API that make and change it.

import type { TSchema } from 'typebox'
import {
  changeEigenschap,
  createEigenschap,
  deleteEigenschap,
  EigenschapInput,
} from '../../catalogi/zaaktype/eigenschappen.ts'
import { changeRoltype, createRoltype, deleteRoltype, RoltypeInput } from '../../catalogi/zaaktype/roltypen.ts'
import {
  changeStatustype,
  createStatustype,
  deleteStatustype,
  StatustypeInput,
} from '../../catalogi/zaaktype/statustypen.ts'
import {
  changeZaakobjecttype,
  createZaakobjecttype,
  deleteZaakobjecttype,
  ZaakobjecttypeInput,
} from '../../catalogi/zaaktype/zaakobjecttypen.ts'
import {
  changeZaaktypeInformatieobjecttype,
  createZaaktypeInformatieobjecttype,
  deleteZaaktypeInformatieobjecttype,
  ZaaktypeInformatieobjecttypeInput,
} from '../../catalogi/zaaktype/zaaktype-informatieobjecttypen.ts'
import { t, words } from '../language/language.ts'
import { statusChoices, typeChoices } from './context.ts'
import { durationInWords } from './duration.ts'
import { boundedBy, type Choice, type Field, type Group } from './fields.ts'
import { DIRECTIONS, FORMATS, ROLLEN } from './labels.ts'
import type { KindOf, PartKind } from './part.ts'
import { RESULTAATTYPEN } from './resultaattype.ts'

const fields = (schema: TSchema, key: string, list: Field[]): Group[] =>
  boundedBy(schema, [{ key, title: '', fields: list }])
const first = (choices: readonly Choice[], value: unknown) =>
  choices.find(([one]) => one === value)?.[1] ?? String(value ?? '')

const STATUSTYPEN: KindOf<typeof createStatustype, typeof changeStatustype> = words(
  {
    path: 'statustypen',
    resource: 'statustype',
    table: 'statustype',
    one: 'Statustype',
    name: 'Statustypen',
    help: 'De stappen die een zaak doorloopt, in volgorde. De laatste sluit de zaak. Er zijn er ten minste twee nodig.',
    columns: ['Omschrijving', 'Doorlooptijd', 'Bericht aan de aanvrager'],
    row: (item) => [
      item.omschrijving,
      durationInWords(item.doorlooptijd),
      item.informeren ? item.statustekst || t('ja, zonder eigen tekst') : t('nee'),
    ],
    nameOf: (item) => item.omschrijving,
    groups: async ({ item, items }) =>
      fields(StatustypeInput, 'statustype', [
        { name: 'omschrijving', label: t('Omschrijving'), help: t('Zoals “Ontvangen” of “Afgehandeld”.') },
        ...(item || items.length === 0
          ? []
          : [
              {
                name: 'plaats',
                label: t('Plaats in de volgorde'),
                kind: 'select',
                choices: [
                  ['', t('Aan het eind: deze status sluit de zaak')],
                  ...items.map((one): Choice => [one.url, t`Vóór “${one.omschrijving}”`]),
                ],
                optional: true,
              } satisfies Field,
            ]),
        {
          name: 'informeren',
          label: t('De aanvrager krijgt bericht als de zaak deze status krijgt'),
          kind: 'check',
          correctable: true,
        },
        {
          name: 'statustekst',
          label: t('Tekst van het bericht'),
          kind: 'long',
          help: t('Wat een inwoner leest. Schrijf het zoals u het zou zeggen.'),
          optional: true,
          correctable: true,
        },
        {
          name: 'doorlooptijd',
          label: t('Duur van deze stap'),
          kind: 'duration',
          help: t('Van een dag tot 999 dagen.'),
          optional: true,
        },
        {
          name: 'checklistitemStatustype',
          label: t('Controlelijst'),
          kind: 'checklist',
          help: t(
            'Wat de behandelaar nagaat. Op elke regel een naam, een dubbele punt en de vraag; een * aan het eind als die verplicht is. Bijvoorbeeld “Legitimatie: Is het paspoort geldig? *”.',
          ),
          optional: true,
          correctable: true,
        },
        { name: 'omschrijvingGeneriek', label: t('Landelijke naam'), optional: true },
        {
          name: 'toelichting',
          label: t('Toelichting'),
          kind: 'long',
          optional: true,
          nullable: true,
          correctable: true,
        },
      ]),
    toApi: ({ plaats: _place, ...body }, item) => {
      type Check = { itemnaam: string; toelichting?: string }
      const kept = new Map(
        ((item?.checklistitemStatustype ?? []) as Check[]).map((one) => [one.itemnaam, one.toelichting]),
      )
      const list = body.checklistitemStatustype as Check[] | undefined
      return {
        ...body,
        ...(list && {
          checklistitemStatustype: list.map((one) => ({ ...one, toelichting: kept.get(one.itemnaam) ?? '' })),
        }),
      }
    },
    create: (m, body) => createStatustype(m, body),
    change: (m, uuid, body) => changeStatustype(m, uuid, 'partial_update', body),
    remove: deleteStatustype,
    extendable: false,
    ordered: true,
  },
  'one',
  'name',
  'help',
  'columns',
)

const ROLTYPEN: KindOf<typeof createRoltype, typeof changeRoltype> = words(
  {
    path: 'roltypen',
    resource: 'roltype',
    table: 'roltype',
    one: 'Roltype',
    name: 'Roltypen',
    help: 'Wie er bij een zaak betrokken kunnen zijn, en als wat.',
    columns: ['Omschrijving', 'Betekenis'],
    row: (item) => [item.omschrijving, first(ROLLEN, item.omschrijvingGeneriek)],
    nameOf: (item) => item.omschrijving,
    groups: async () =>
      fields(RoltypeInput, 'roltype', [
        {
          name: 'omschrijving',
          label: t('Omschrijving'),
          help: t('Zoals u de rol noemt, bijvoorbeeld “Aanvrager”.'),
        },
        {
          name: 'omschrijvingGeneriek',
          label: t('Betekenis'),
          kind: 'radio',
          choices: ROLLEN,
          help: t('Hieraan herkennen andere systemen de rol.'),
        },
      ]),
    create: (m, body) => createRoltype(m, body),
    change: (m, uuid, body) => changeRoltype(m, uuid, 'partial_update', body),
    remove: deleteRoltype,
    extendable: true,
  },
  'one',
  'name',
  'help',
  'columns',
)

const EIGENSCHAPPEN: KindOf<typeof createEigenschap, typeof changeEigenschap> = words(
  {
    path: 'eigenschappen',
    resource: 'eigenschap',
    table: 'eigenschap',
    one: 'Eigenschap',
    name: 'Eigenschappen',
    help: 'Gegevens die alleen zaken van dit type hebben, zoals een kenteken of een bedrag.',
    columns: ['Naam', 'Wat het is', 'Soort', 'Hoe vaak'],
    row: (item) => [
      item.naam,
      item.definitie,
      first(FORMATS, item.specificatie.formaat),
      item.specificatie.kardinaliteit === 'N' ? t('onbeperkt') : item.specificatie.kardinaliteit,
    ],
    nameOf: (item) => item.naam,
    groups: async ({ db, base, zaaktype }) =>
      fields(EigenschapInput, 'eigenschap', [
        {
          name: 'naam',
          label: t('Naam'),
          help: t('Kort; formulieren en de archivering gebruiken deze naam.'),
        },
        { name: 'definitie', label: t('Wat het is'), kind: 'long', correctable: true },
        { name: 'specificatie.formaat', label: t('Soort'), kind: 'radio', choices: FORMATS },
        {
          name: 'specificatie.lengte',
          label: t('Lengte'),
          help: t(
            'Tekst: het hoogste aantal tekens, ten hoogste 255. Getal: het aantal cijfers, met een komma het aantal decimalen, zoals “8,2”.',
          ),
          when: { name: 'specificatie.formaat', values: ['tekst', 'getal'] },
        },
        {
          name: 'specificatie.kardinaliteit',
          label: t('Hoe vaak ten hoogste'),
          help: t('Een aantal, of N als er geen grens is.'),
          suggestions: ['1', 'N'],
        },
        {
          name: 'specificatie.waardenverzameling',
          label: t('Keuzelijst'),
          kind: 'lines',
          help: t('Als alleen deze waarden mogen: elk op een eigen regel.'),
          optional: true,
        },
        {
          name: 'specificatie.groep',
          label: t('Groep'),
          help: t('Om eigenschappen bij elkaar te zetten. Alleen letters, cijfers en spaties.'),
          optional: true,
        },
        {
          name: 'statustype',
          label: t('Ingevuld uiterlijk bij status'),
          kind: 'select',
          choices: [['', t('Niet verplicht')], ...(await statusChoices(db, base, zaaktype.id))],
          optional: true,
          nullable: true,
        },
        { name: 'toelichting', label: t('Toelichting'), kind: 'long', optional: true, correctable: true },
      ]),
    initial: () => ({ specificatie: { formaat: 'tekst', lengte: '100', kardinaliteit: '1' } }),
    toApi: (body) => {
      const specificatie = body.specificatie as Record<string, unknown> | undefined
      const fixed = { datum: '8', datum_tijd: '14' }[String(specificatie?.formaat)]
      return fixed ? { ...body, specificatie: { ...specificatie, lengte: fixed } } : body
    },
    create: (m, body) => createEigenschap(m, body),
    change: (m, uuid, body) => changeEigenschap(m, uuid, 'partial_update', body),
    remove: deleteEigenschap,
    extendable: true,
  },
  'one',
  'name',
  'help',
  'columns',
)

const DOCUMENTTYPEN: KindOf<typeof createZaaktypeInformatieobjecttype, typeof changeZaaktypeInformatieobjecttype> =
  words(
    {
      path: 'documenttypen',
      resource: 'zaaktypeinformatieobjecttype',
      table: 'zaaktype_informatieobjecttype',
      one: 'Documenttype bij het zaaktype',
      name: 'Documenttypen',
      help: 'Welke soorten documenten bij een zaak horen. Andere kunnen niet aan een zaak worden gekoppeld.',
      columns: ['Documenttype', 'Richting', 'Aanwezig bij status'],
      row: (item, { status, types }) => [
        first(types, item.informatieobjecttype),
        first(DIRECTIONS, item.richting),
        item.statustype ? first(status, item.statustype) : '',
      ],
      nameOf: (item) => item.informatieobjecttype,
      groups: async ({ db, base, zaaktype, item, items }) => {
        const used = new Set(items.map(({ informatieobjecttype }) => informatieobjecttype))
        const choices = await typeChoices(db, base, 'informatieobjecttype', zaaktype.catalogusId)
        return fields(ZaaktypeInformatieobjecttypeInput, 'documenttype', [
          ...(item
            ? []
            : [
                {
                  name: 'informatieobjecttypen',
                  label: t('Documenttypen'),
                  kind: 'checks',
                  choices: choices.filter(([url]) => !used.has(url)),
                  help: t('U kunt er meer tegelijk toevoegen.'),
                  none: {
                    text:
                      choices.length > 0
                        ? t('Alle documenttypen van deze catalogus staan er al.')
                        : t('Er zijn nog geen documenttypen in deze catalogus.'),
                    path: `/catalogi/${zaaktype.catalogus}/informatieobjecttypen/nieuw`,
                  },
                } satisfies Field,
              ]),
          { name: 'richting', label: t('Richting'), kind: 'radio', choices: DIRECTIONS },
          {
            name: 'statustype',
            label: t('Aanwezig bij status'),
            kind: 'select',
            choices: [['', t('Niet vastgelegd')], ...(await statusChoices(db, base, zaaktype.id))],
            optional: true,
            nullable: true,
          },
        ])
      },
      initial: () => ({ richting: 'inkomend' }),
      create: (m, body) => createZaaktypeInformatieobjecttype(m, body),
      change: (m, uuid, body) => changeZaaktypeInformatieobjecttype(m, uuid, 'partial_update', body),
      remove: deleteZaaktypeInformatieobjecttype,
      extendable: true,
    },
    'one',
    'name',
    'help',
    'columns',
  )

const ZAAKOBJECTTYPEN: KindOf<typeof createZaakobjecttype, typeof changeZaakobjecttype> = words(
  {
    path: 'zaakobjecttypen',
    resource: 'zaakobjecttype',
    table: 'zaakobjecttype',
    one: 'Zaakobjecttype',
    name: 'Zaakobjecttypen',
    help: 'Waarover een zaak kan gaan, zoals een adres of een voertuig. Alleen nodig als uw organisatie objecten registreert.',
    columns: ['Relatie', 'Objecttype', 'Soort'],
    row: (item) => [
      item.relatieOmschrijving,
      item.objecttype,
      item.anderObjecttype ? t('eigen objecttype') : t('landelijk objecttype'),
    ],
    nameOf: (item) => item.relatieOmschrijving,
    groups: async ({ db, base, zaaktype }) =>
      fields(ZaakobjecttypeInput, 'zaakobjecttype', [
        {
          name: 'relatieOmschrijving',
          label: t('Relatie'),
          help: t('Wat het object voor de zaak is, bijvoorbeeld “Adres van de overlast”.'),
        },
        {
          name: 'anderObjecttype',
          label: t('Het is een objecttype van de eigen organisatie'),
          kind: 'check',
          help: t('Niet aangekruist: het is er een uit de landelijke modellen RSGB of RGBZ.'),
        },
        {
          name: 'objecttype',
          label: t('Objecttype'),
          kind: 'url',
          help: t('Het adres (URL) waar het objecttype beschreven is.'),
        },
        {
          name: 'statustype',
          label: t('Vastgelegd uiterlijk bij status'),
          kind: 'select',
          choices: [['', t('Niet vastgelegd')], ...(await statusChoices(db, base, zaaktype.id))],
          optional: true,
          nullable: true,
        },
      ]),
    create: (m, body) => createZaakobjecttype(m, body),
    change: (m, uuid, body) => changeZaakobjecttype(m, uuid, 'partial_update', body),
    remove: deleteZaakobjecttype,
    extendable: true,
  },
  'one',
  'name',
  'help',
  'columns',
)

/** In the order of the tabs. */
export const PARTS: readonly PartKind[] = [
  STATUSTYPEN,
  RESULTAATTYPEN,
  ROLTYPEN,
  EIGENSCHAPPEN,
  DOCUMENTTYPEN,
  ZAAKOBJECTTYPEN,
]
