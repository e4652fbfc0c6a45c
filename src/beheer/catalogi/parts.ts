// What a zaaktype is made of below itself: per kind its form, its table, and the functions of the API that make and change it.
import { changeEigenschap, createEigenschap, deleteEigenschap } from '../../catalogi/zaaktype/eigenschappen.ts'
import { changeRoltype, createRoltype, deleteRoltype } from '../../catalogi/zaaktype/roltypen.ts'
import { changeStatustype, createStatustype, deleteStatustype } from '../../catalogi/zaaktype/statustypen.ts'
import {
  changeZaakobjecttype,
  createZaakobjecttype,
  deleteZaakobjecttype,
} from '../../catalogi/zaaktype/zaakobjecttypen.ts'
import {
  changeZaaktypeInformatieobjecttype,
  createZaaktypeInformatieobjecttype,
  deleteZaaktypeInformatieobjecttype,
} from '../../catalogi/zaaktype/zaaktype-informatieobjecttypen.ts'
import { statusChoices, typeChoices } from './context.ts'
import { durationInWords } from './duration.ts'
import type { Choice, Field, Group } from './fields.ts'
import { FORMATEN, RICHTINGEN, ROLLEN } from './labels.ts'
import type { PartKind } from './part.ts'
import { RESULTAATTYPEN } from './resultaattype.ts'

const fields = (key: string, list: Field[]): Group[] => [{ key, title: '', fields: list }]
const first = (choices: readonly Choice[], value: unknown) =>
  choices.find(([one]) => one === value)?.[1] ?? String(value ?? '')

const STATUSTYPEN: PartKind = {
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
    item.informeren ? item.statustekst || 'ja, zonder eigen tekst' : 'nee',
  ],
  nameOf: (item) => item.omschrijving,
  groups: async ({ item, items }) =>
    fields('statustype', [
      { name: 'omschrijving', label: 'Omschrijving', help: 'Zoals “Ontvangen” of “Afgehandeld”.', max: 80 },
      ...(item || items.length === 0
        ? []
        : [
            {
              name: 'plaats',
              label: 'Plaats in de volgorde',
              kind: 'select',
              choices: [
                ['', 'Aan het eind: deze status sluit de zaak'],
                ...items.map((one): Choice => [one.url, `Vóór “${one.omschrijving}”`]),
              ],
              optional: true,
            } satisfies Field,
          ]),
      {
        name: 'informeren',
        label: 'De aanvrager krijgt bericht als de zaak deze status krijgt',
        kind: 'check',
        correctable: true,
      },
      {
        name: 'statustekst',
        label: 'Tekst van het bericht',
        kind: 'long',
        help: 'Wat een inwoner leest. Schrijf het zoals u het zou zeggen.',
        max: 1000,
        optional: true,
        correctable: true,
      },
      {
        name: 'doorlooptijd',
        label: 'Duur van deze stap',
        kind: 'duration',
        help: 'Van een dag tot 999 dagen.',
        optional: true,
      },
      {
        name: 'checklistitemStatustype',
        label: 'Controlelijst',
        kind: 'checklist',
        help: 'Wat de behandelaar nagaat. Op elke regel een naam, een dubbele punt en de vraag; een * aan het eind als die verplicht is. Bijvoorbeeld “Legitimatie: Is het paspoort geldig? *”.',
        optional: true,
        correctable: true,
      },
      { name: 'omschrijvingGeneriek', label: 'Landelijke naam', max: 80, optional: true },
      {
        name: 'toelichting',
        label: 'Toelichting',
        kind: 'long',
        max: 1000,
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
}

const ROLTYPEN: PartKind = {
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
    fields('roltype', [
      {
        name: 'omschrijving',
        label: 'Omschrijving',
        help: 'Zoals u de rol noemt, bijvoorbeeld “Aanvrager”.',
        max: 100,
      },
      {
        name: 'omschrijvingGeneriek',
        label: 'Betekenis',
        kind: 'radio',
        choices: ROLLEN,
        help: 'Hieraan herkennen andere systemen de rol.',
      },
    ]),
  create: (m, body) => createRoltype(m, body),
  change: (m, uuid, body) => changeRoltype(m, uuid, 'partial_update', body),
  remove: deleteRoltype,
  extendable: true,
}

const EIGENSCHAPPEN: PartKind = {
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
    first(FORMATEN, item.specificatie.formaat),
    item.specificatie.kardinaliteit === 'N' ? 'onbeperkt' : item.specificatie.kardinaliteit,
  ],
  nameOf: (item) => item.naam,
  groups: async ({ db, base, zaaktype }) =>
    fields('eigenschap', [
      { name: 'naam', label: 'Naam', help: 'Kort; formulieren en de archivering gebruiken deze naam.', max: 20 },
      { name: 'definitie', label: 'Wat het is', kind: 'long', max: 255, correctable: true },
      { name: 'specificatie.formaat', label: 'Soort', kind: 'radio', choices: FORMATEN },
      {
        name: 'specificatie.lengte',
        label: 'Lengte',
        help: 'Tekst: het hoogste aantal tekens, ten hoogste 255. Getal: het aantal cijfers, met een komma het aantal decimalen, zoals “8,2”.',
        max: 14,
        when: { name: 'specificatie.formaat', values: ['tekst', 'getal'] },
      },
      {
        name: 'specificatie.kardinaliteit',
        label: 'Hoe vaak ten hoogste',
        help: 'Een aantal, of N als er geen grens is.',
        max: 3,
        suggestions: ['1', 'N'],
      },
      {
        name: 'specificatie.waardenverzameling',
        label: 'Keuzelijst',
        kind: 'lines',
        help: 'Als alleen deze waarden mogen: elk op een eigen regel.',
        max: 100,
        optional: true,
      },
      {
        name: 'specificatie.groep',
        label: 'Groep',
        help: 'Om eigenschappen bij elkaar te zetten. Alleen letters, cijfers en spaties.',
        max: 32,
        optional: true,
      },
      {
        name: 'statustype',
        label: 'Ingevuld uiterlijk bij status',
        kind: 'select',
        choices: [['', 'Niet verplicht'], ...(await statusChoices(db, base, zaaktype.id))],
        optional: true,
        nullable: true,
      },
      { name: 'toelichting', label: 'Toelichting', kind: 'long', max: 1000, optional: true, correctable: true },
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
}

const DOCUMENTTYPEN: PartKind = {
  path: 'documenttypen',
  resource: 'zaaktypeinformatieobjecttype',
  table: 'zaaktype_informatieobjecttype',
  one: 'Documenttype bij het zaaktype',
  name: 'Documenttypen',
  help: 'Welke soorten documenten bij een zaak horen. Andere kunnen niet aan een zaak worden gekoppeld.',
  columns: ['Documenttype', 'Richting', 'Aanwezig bij status'],
  row: (item, { status, types }) => [
    first(types, item.informatieobjecttype),
    first(RICHTINGEN, item.richting),
    item.statustype ? first(status, item.statustype) : '',
  ],
  nameOf: (item) => item.informatieobjecttype,
  groups: async ({ db, base, zaaktype, item, items }) => {
    const used = new Set(items.map(({ informatieobjecttype }) => informatieobjecttype))
    const choices = await typeChoices(db, base, 'informatieobjecttype', zaaktype.catalogusId)
    return fields('documenttype', [
      ...(item
        ? []
        : [
            {
              name: 'informatieobjecttypen',
              label: 'Documenttypen',
              kind: 'checks',
              choices: choices.filter(([url]) => !used.has(url)),
              help: 'U kunt er meer tegelijk toevoegen.',
              none: {
                text:
                  choices.length > 0
                    ? 'Alle documenttypen van deze catalogus staan er al.'
                    : 'Er zijn nog geen documenttypen in deze catalogus.',
                path: `/catalogi/${zaaktype.catalogus}/informatieobjecttypen/nieuw`,
              },
            } satisfies Field,
          ]),
      { name: 'richting', label: 'Richting', kind: 'radio', choices: RICHTINGEN },
      {
        name: 'statustype',
        label: 'Aanwezig bij status',
        kind: 'select',
        choices: [['', 'Niet vastgelegd'], ...(await statusChoices(db, base, zaaktype.id))],
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
}

const ZAAKOBJECTTYPEN: PartKind = {
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
    item.anderObjecttype ? 'eigen objecttype' : 'landelijk objecttype',
  ],
  nameOf: (item) => item.relatieOmschrijving,
  groups: async ({ db, base, zaaktype }) =>
    fields('zaakobjecttype', [
      {
        name: 'relatieOmschrijving',
        label: 'Relatie',
        help: 'Wat het object voor de zaak is, bijvoorbeeld “Adres van de overlast”.',
        max: 80,
      },
      {
        name: 'anderObjecttype',
        label: 'Het is een objecttype van de eigen organisatie',
        kind: 'check',
        help: 'Niet aangekruist: het is er een uit de landelijke modellen RSGB of RGBZ.',
      },
      {
        name: 'objecttype',
        label: 'Objecttype',
        kind: 'url',
        help: 'Het adres (URL) waar het objecttype beschreven is.',
        max: 200,
      },
      {
        name: 'statustype',
        label: 'Vastgelegd uiterlijk bij status',
        kind: 'select',
        choices: [['', 'Niet vastgelegd'], ...(await statusChoices(db, base, zaaktype.id))],
        optional: true,
        nullable: true,
      },
    ]),
  create: (m, body) => createZaakobjecttype(m, body),
  change: (m, uuid, body) => changeZaakobjecttype(m, uuid, 'partial_update', body),
  remove: deleteZaakobjecttype,
  extendable: true,
}

/** In the order of the tabs. */
export const PARTS: readonly PartKind[] = [
  STATUSTYPEN,
  RESULTAATTYPEN,
  ROLTYPEN,
  EIGENSCHAPPEN,
  DOCUMENTTYPEN,
  ZAAKOBJECTTYPEN,
]
