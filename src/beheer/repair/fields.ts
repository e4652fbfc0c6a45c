// The fields of a case and a document that may be corrected by hand, one at a time: what is asked, and how it stands in the body of a
// PATCH. What the rules of the API keep as it was made (the number, the type of a case) is not among them.
import type { FastifyReply } from 'fastify'
import type { TSchema } from 'typebox'
import { notFound } from '../../core/problem.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import { ALGORITMEN, DocumentUpdate } from '../../documenten/document/columns.ts'
import { ARCHIEFNOMINATIES, ARCHIEFSTATUSSEN, ZaakInput } from '../../zaken/zaak/columns.ts'
import { VERTROUWELIJKHEID } from '../applicaties/applicatie-labels.ts'
import { DURATION_UNITS } from '../catalogi/duration.ts'
import {
  boundedBy,
  type Choice,
  type Field,
  inWords,
  submitted,
  toBody,
  type Values,
  valuesOf,
} from '../catalogi/fields.ts'
import { type FormFaults, type FormValues, formProblem } from '../frame/form.ts'
import type { Crumb } from '../frame/page.ts'
import { t, words } from '../language/language.ts'

export type Correction = {
  /** Member of the API. */
  name: string
  label: string
  /** One, or those of a group, named `verlenging.reden`. */
  fields: Field[]
  /** What is written in a way of its own. */
  text?: Written
}
/** A value that is no text, as somebody types it. `read` answers undefined for what it cannot read. */
type Written = { write(value: unknown): string; read(text: string): unknown; must: string }

const choices = (values: readonly string[]): Choice[] => values.map((value) => [value, value.replaceAll('_', ' ')])
const LEVELS: Choice[] = VERTROUWELIJKHEIDAANDUIDINGEN.map((value) => [value, VERTROUWELIJKHEID[value]])
const EMPTY: Choice = words(['', 'Leeg'] as [string, string], '1')
const linesOf = (text: string) =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Members of objects, one object on a line. */
function perLine(members: readonly string[], separator: string, must: string): Written {
  return {
    must,
    write: (value) =>
      ((value ?? []) as Record<string, string>[])
        .map((one) => {
          const parts = members.map((name) => one[name] ?? '')
          while (parts.length > 1 && parts.at(-1) === '') parts.pop()
          return parts.join(`${separator} `)
        })
        .join('\n'),
    read: (text) => {
      const rows = linesOf(text).map((line) => (separator ? line.split(separator).map((part) => part.trim()) : [line]))
      if (rows.some((parts) => parts.length > members.length)) return undefined
      return rows.map((parts) => Object.fromEntries(parts.map((part, place) => [members[place], part])))
    },
  }
}
const JSON_TEXT: Written = {
  must: 'Vul een plaats in als GeoJSON, zoals {"type": "Point", "coordinates": [5.12, 52.09]}.',
  write: (value) => (value === null || value === undefined ? '' : JSON.stringify(value)),
  read: (text) => {
    if (text === '') return null
    try {
      return JSON.parse(text) as unknown
    } catch {
      return undefined
    }
  },
}
const BOOLEAN: Written = {
  must: 'Kies een van de mogelijkheden.',
  write: (value) => (typeof value === 'boolean' ? String(value) : ''),
  read: (text) => (text === '' ? null : text === 'true'),
}
const YES_OR_NO: Choice[] = [
  EMPTY,
  ...words(
    [
      ['true', 'Ja'],
      ['false', 'Nee'],
    ] as [string, string][],
    '1',
  ),
]

type Kind = Partial<Omit<Field, 'name' | 'label'>>
const one = (name: string, label: string, field: Kind = {}, text?: Written): Correction => ({
  name,
  label,
  fields: [{ name, label, optional: true, ...field }],
  ...(text && { text }),
})
const group = (name: string, label: string, members: [name: string, label: string, field?: Kind][]): Correction => ({
  name,
  label,
  fields: members.map(([member, text, field = {}]) => ({
    name: `${name}.${member}`,
    label: text,
    optional: true,
    ...field,
  })),
})
const REQUIRED = { optional: false } as const
const DATE = { kind: 'date', nullable: true } as const
const MOMENT = { nullable: true, help: 'Datum en tijd, zoals 2026-11-07T12:00:00Z.' } as const
const LONG = { kind: 'long' } as const

const OF_ZAAK: Correction[] = words(
  [
    one('omschrijving', 'Omschrijving'),
    one('toelichting', 'Toelichting', LONG),
    one('bronorganisatie', 'Bronorganisatie (RSIN)', REQUIRED),
    one('verantwoordelijkeOrganisatie', 'Verantwoordelijke organisatie (RSIN)', REQUIRED),
    one('opdrachtgevendeOrganisatie', 'Opdrachtgevende organisatie (RSIN)'),
    one('registratiedatum', 'Registratiedatum', { ...DATE, ...REQUIRED }),
    one('startdatum', 'Startdatum', { ...DATE, ...REQUIRED }),
    one('einddatumGepland', 'Geplande einddatum', DATE),
    one('uiterlijkeEinddatumAfdoening', 'Uiterlijke einddatum van afdoening', DATE),
    one('publicatiedatum', 'Publicatiedatum', DATE),
    one('laatstGeopend', 'Laatst geopend', MOMENT),
    one('communicatiekanaal', 'Communicatiekanaal (adres)'),
    one('communicatiekanaalNaam', 'Naam van het communicatiekanaal'),
    one('productenOfDiensten', 'Producten of diensten', { kind: 'lines', help: 'Eén adres per regel.' }),
    one('vertrouwelijkheidaanduiding', 'Vertrouwelijkheidaanduiding', { kind: 'select', choices: LEVELS, ...REQUIRED }),
    one('betalingsindicatie', 'Betalingsindicatie', {
      kind: 'select',
      choices: [
        EMPTY,
        ...choices(['nvt', 'nog_niet', 'gedeeltelijk', 'geheel', 'gefactureerd', 'gecrediteerd', 'betaald']),
      ],
    }),
    one('laatsteBetaaldatum', 'Laatste betaaldatum', MOMENT),
    one('zaakgeometrie', 'Plaats', { ...LONG, help: 'GeoJSON, in EPSG:4326: eerst de lengtegraad.' }, JSON_TEXT),
    group('verlenging', 'Verlenging', [
      ['reden', 'Reden van de verlenging'],
      ['duur', 'Duur van de verlenging', { kind: 'duration' }],
    ]),
    group('opschorting', 'Opschorting', [
      ['indicatie', 'Opgeschort', { kind: 'check' }],
      ['reden', 'Reden van de opschorting'],
    ]),
    one('hoofdzaak', 'Hoofdzaak (adres)', { nullable: true }),
    one(
      'relevanteAndereZaken',
      'Relevante andere zaken',
      {
        ...LONG,
        help: 'Per regel: adres; aard van de relatie (vervolg, onderwerp, bijdrage of overig); andere aard; toelichting.',
      },
      perLine(
        ['url', 'aardRelatie', 'overigeRelatie', 'toelichting'],
        ';',
        'Schrijf per regel het adres en de aard van de relatie, met een puntkomma ertussen.',
      ),
    ),
    one(
      'gerelateerdeZaken',
      'Gerelateerde zaken',
      { ...LONG, help: 'Eén adres per regel.' },
      perLine(['url'], '', 'Schrijf één adres per regel.'),
    ),
    one(
      'kenmerken',
      'Kenmerken',
      { ...LONG, help: 'Per regel: bron; kenmerk.' },
      perLine(['bron', 'kenmerk'], ';', 'Schrijf per regel de bron en het kenmerk, met een puntkomma ertussen.'),
    ),
    one('selectielijstklasse', 'Selectielijstklasse (adres)'),
    one('archiefnominatie', 'Archiefnominatie', {
      kind: 'select',
      choices: [EMPTY, ...choices(ARCHIEFNOMINATIES)],
      nullable: true,
    }),
    one('archiefstatus', 'Archiefstatus', { kind: 'select', choices: choices(ARCHIEFSTATUSSEN), ...REQUIRED }),
    one('archiefactiedatum', 'Archiefactiedatum', DATE),
    one('startdatumBewaartermijn', 'Begin van de bewaartermijn', DATE),
    one('processobjectaard', 'Aard van het procesobject'),
    group('processobject', 'Procesobject', [
      ['datumkenmerk', 'Datumkenmerk'],
      ['identificatie', 'Identificatie'],
      ['objecttype', 'Objecttype'],
      ['registratie', 'Registratie'],
    ]),
  ],
  'label',
  'help',
  'must',
)

const OF_DOCUMENT: Correction[] = words(
  [
    one('titel', 'Titel', REQUIRED),
    one('beschrijving', 'Beschrijving', LONG),
    one('auteur', 'Auteur', REQUIRED),
    one('informatieobjecttype', 'Documenttype (adres)', REQUIRED),
    one('vertrouwelijkheidaanduiding', 'Vertrouwelijkheidaanduiding', { kind: 'select', choices: LEVELS, ...REQUIRED }),
    one('status', 'Status', {
      kind: 'select',
      choices: [EMPTY, ...choices(['in_bewerking', 'ter_vaststelling', 'definitief', 'gearchiveerd'])],
    }),
    one('identificatie', 'Identificatie', REQUIRED),
    one('bronorganisatie', 'Bronorganisatie (RSIN)', REQUIRED),
    one('creatiedatum', 'Creatiedatum', { ...DATE, ...REQUIRED }),
    one('ontvangstdatum', 'Ontvangstdatum', DATE),
    one('verzenddatum', 'Verzenddatum', DATE),
    one('taal', 'Taal', { ...REQUIRED, help: 'Drie letters, zoals nld.' }),
    one('formaat', 'Formaat', { help: 'Een mediatype, zoals application/pdf.' }),
    one('bestandsnaam', 'Bestandsnaam'),
    one('link', 'Link'),
    one('verschijningsvorm', 'Verschijningsvorm'),
    one('trefwoorden', 'Trefwoorden', { kind: 'lines', help: 'Eén trefwoord per regel.' }),
    group('ondertekening', 'Ondertekening', [
      [
        'soort',
        'Soort ondertekening',
        { kind: 'select', choices: [EMPTY, ...choices(['analoog', 'digitaal', 'pki'])] },
      ],
      ['datum', 'Datum van de ondertekening', DATE],
    ]),
    group('integriteit', 'Integriteit', [
      ['algoritme', 'Algoritme', { kind: 'select', choices: [EMPTY, ...choices(ALGORITMEN)] }],
      ['waarde', 'Waarde'],
      ['datum', 'Datum van de integriteit', DATE],
    ]),
    one('indicatieGebruiksrecht', 'Gebruiksrechten', { kind: 'select', choices: YES_OR_NO }, BOOLEAN),
    one('inhoudIsVervallen', 'Inhoud vervallen', { kind: 'select', choices: YES_OR_NO }, BOOLEAN),
    one('isGereedVoorPublicatie', 'Gereed voor publicatie', { kind: 'select', choices: YES_OR_NO }, BOOLEAN),
    one('tonenAanInitiator', 'Tonen aan initiator', { kind: 'check' }),
  ],
  'label',
  'help',
  'must',
)

/** Held against the schemas of the API: no field asks for more than a PATCH takes. */
const held = (schema: TSchema, corrections: Correction[]): readonly Correction[] => {
  const typed = corrections.filter(({ text }) => !text).flatMap(({ fields }) => fields)
  boundedBy(schema, [{ key: '', title: '', fields: typed }])
  return corrections
}
export const ZAAK_CORRECTIONS = held(ZaakInput, OF_ZAAK)
export const DOCUMENT_CORRECTIONS = held(DocumentUpdate, OF_DOCUMENT)

/** What stands in the form for a resource of the API. */
export const valuesFor = ({ name, fields, text }: Correction, resource: object): Values =>
  text ? { [name]: text.write((resource as Record<string, unknown>)[name]) } : valuesOf(fields, resource)

/** What it says, for the list of all. */
export function saidBy({ fields, text, name }: Correction, resource: object): string {
  const value = (resource as Record<string, unknown>)[name]
  if (text === BOOLEAN) return value === null ? '' : value ? t('ja') : t('nee')
  if (text) return text.write(value)
  return fields
    .map((field) => inWords(field, resource))
    .filter((said) => said !== '')
    .join(', ')
}

/**
 * The body of a PATCH with what somebody filled in.
 * @throws Problem 400 for what cannot be read, or lacks
 */
export function bodyOf({ name, fields, text }: Correction, form: FormValues): Record<string, unknown> {
  const values = submitted(fields, form)
  if (text) {
    const value = text.read(String(values[name] ?? ''))
    if (value === undefined) throw formProblem({ [name]: text.must })
    return { [name]: value }
  }
  const { body, faults } = toBody(fields, values)
  if (faults.length > 0) throw formProblem(Object.fromEntries(faults.map((one) => [one.name, one.reason])))
  const members = body[name]
  const isGroup = fields.some((field) => field.name !== name)
  const isEmpty =
    isGroup && Object.values(members as object).every((one) => one === null || one === '' || one === false)
  return isEmpty && name !== 'opschorting' ? { [name]: null } : body
}

/** @throws Problem 404 for a field that is not corrected by hand */
export function correctionOf(corrections: readonly Correction[], name: string): Correction {
  const found = corrections.find((one) => one.name === name)
  if (!found) throw notFound(t('Dit veld wordt niet met de hand gecorrigeerd.'))
  return found
}

/** The labels of all other fields, which a rule may name. */
export const labelsBeside = (corrections: readonly Correction[], { name }: Correction): ReadonlyMap<string, string> =>
  new Map(corrections.flatMap((other) => (other.name === name ? [] : [[other.name, other.label]])))

/** The form that corrects a field. @param about what it is a field of */
export const correctionForm = (
  reply: FastifyReply,
  correction: Correction,
  about: { breadcrumbs: Crumb[]; back: string; isDocument: boolean; isClosed: boolean },
  values: Values | FormValues,
  faults: FormFaults = {},
) =>
  reply.page('repair-field', {
    ...about,
    title: t`${correction.label} corrigeren`,
    fields: correction.fields,
    eenheden: DURATION_UNITS,
    values,
    faults,
  })
