// Resultaattypen: the outcome of a case, and what the selectielijst says about how long it is kept.

import { GENERIC, ROOT } from '../../catalogi/examples/definition.ts'
import { type Listed, noKlasse, type Selectielijst } from '../../catalogi/selectielijst.ts'
import { askSelectielijst, type Sources } from '../../catalogi/zaaktype/resultaattype-selectielijst.ts'
import {
  changeResultaattype,
  createResultaattype,
  deleteResultaattype,
  ResultaattypeInput,
} from '../../catalogi/zaaktype/resultaattypen.ts'
import { lowerFirst, t, words } from '../language/language.ts'
import { typeChoices } from './context.ts'
import { durationFields, durationInWords } from './duration.ts'
import { boundedBy, type Choice, type Field, type Group } from './fields.ts'
import { AFLEIDINGSWIJZEN, NOMINATIES, OBJECTTYPEN } from './labels.ts'
import type { KindOf, PartContext } from './part.ts'

type Item = Awaited<ReturnType<typeof createResultaattype>>

/** Generic outcomes of the national list, for when no selectielijst is configured. */
const KNOWN_OMSCHRIJVINGEN = Object.entries(GENERIC).map(
  ([name, uuid]): Choice => [`${ROOT}resultaattypeomschrijvingen/${uuid}`, name],
)

export const RESULTAATTYPEN: KindOf<typeof createResultaattype, typeof changeResultaattype, Sources> = words(
  {
    path: 'resultaattypen',
    resource: 'resultaattype',
    table: 'resultaattype',
    one: 'Resultaattype',
    name: 'Resultaattypen',
    help: 'Hoe een zaak kan aflopen, en hoe lang het dossier daarna wordt bewaard.',
    columns: ['Omschrijving', 'Bewaren of vernietigen', 'Bewaartermijn', 'Telt vanaf'],
    row: (item) => [
      item.omschrijving,
      NOMINATIES.find(([code]) => code === item.archiefnominatie)?.[1] ?? '',
      durationInWords(item.archiefactietermijn),
      AFLEIDINGSWIJZEN.find(([code]) => code === item.brondatumArchiefprocedure?.afleidingswijze)?.[1] ?? '',
    ],
    nameOf: (item) => item.omschrijving,
    groups,
    initial: () => ({ brondatumArchiefprocedure: { afleidingswijze: 'afgehandeld' } }),
    toForm: (item) => ({
      ...item,
      selectielijstklasse: item.selectielijstklasse.endsWith('/beheer/catalogi/selectielijst')
        ? ''
        : item.selectielijstklasse,
      datumEigenschap: item.brondatumArchiefprocedure?.datumkenmerk ?? '',
    }),
    toApi: ({ datumEigenschap, ...body }) => {
      const brondatum = body.brondatumArchiefprocedure as Record<string, unknown> | undefined
      if (brondatum?.afleidingswijze !== 'eigenschap') return body
      return { ...body, brondatumArchiefprocedure: { ...brondatum, datumkenmerk: datumEigenschap } }
    },
    prepare: async (body, { selectielijst, item, base }) => {
      // Where there is nothing to choose from, the address says that it has not been chosen.
      if (body.selectielijstklasse === '') body.selectielijstklasse = noKlasse(base)
      const asked = { ...item, ...body } as Record<'resultaattypeomschrijving' | 'selectielijstklasse', string>
      return askSelectielijst(selectielijst, asked)
    },
    create: (m, body, sources) => createResultaattype(m, body, sources),
    change: (m, uuid, body, sources) => changeResultaattype(m, uuid, 'partial_update', body, sources),
    remove: deleteResultaattype,
    extendable: false,
  },
  'one',
  'name',
  'help',
  'columns',
)

async function groups({ db, base, selectielijst, zaaktype, item }: PartContext<Item>): Promise<Group[]> {
  const procestype = zaaktype.resource.selectielijstProcestype ?? ''
  const [omschrijvingen, klassen, besluittypen, documenttypen] = await Promise.all([
    selectielijst.list('ResultaattypeOmschrijvingGeneriek'),
    procestype ? selectielijst.list('Resultaat', procestype) : undefined,
    typeChoices(db, base, 'besluittype', zaaktype.catalogusId),
    typeChoices(db, base, 'informatieobjecttype', zaaktype.catalogusId),
  ])
  const dates = await db
    .selectFrom('eigenschap')
    .where('zaaktypeId', '=', zaaktype.id)
    .where('specificatieFormaat', 'in', ['datum', 'datum_tijd'])
    .select('naam')
    .orderBy('naam')
    .execute()
  const brondatum = (name: string) => `brondatumArchiefprocedure.${name}`
  const wijze = (...values: string[]) => ({ name: brondatum('afleidingswijze'), values })
  return boundedBy(ResultaattypeInput, [
    {
      key: 'resultaat',
      title: '',
      fields: [
        {
          name: 'omschrijving',
          label: t('Omschrijving'),
          help: t('Zoals u de uitkomst noemt. Ten hoogste 30 tekens.'),
        },
        omschrijvingField(omschrijvingen, item),
        { name: 'toelichting', label: t('Toelichting'), kind: 'long', optional: true, correctable: true },
      ],
    },
    {
      key: 'archief',
      title: t('Archief'),
      help: archiefHelp(klassen, procestype, omschrijvingen),
      fields: [
        klasseField(klassen, item),
        {
          name: 'archiefnominatie',
          label: t('Bewaren of vernietigen'),
          kind: 'select',
          choices: [['', klassen?.kind === 'ok' ? t('Zoals de selectielijst zegt') : t('Kies')], ...NOMINATIES],
          optional: klassen?.kind === 'ok',
        },
        {
          name: 'archiefactietermijn',
          label: t('Bewaartermijn'),
          kind: 'duration',
          help:
            klassen?.kind === 'ok'
              ? t('Leeg: zoals de selectielijst zegt.')
              : t('Mag leeg blijven als het dossier blijvend wordt bewaard.'),
          optional: true,
        },
        {
          name: brondatum('afleidingswijze'),
          label: t('De bewaartermijn telt vanaf'),
          kind: 'select',
          choices: AFLEIDINGSWIJZEN.filter(
            ([code]) => code !== 'gerelateerde_zaak' || item?.brondatumArchiefprocedure?.afleidingswijze === code,
          ),
        },
        {
          name: 'datumEigenschap',
          label: t('Eigenschap met de datum'),
          kind: 'select',
          choices: [['', t('Kies')], ...dates.map(({ naam }): Choice => [naam, naam])],
          help:
            dates.length > 0
              ? t('Een eigenschap van dit zaaktype van de soort datum.')
              : t('Dit zaaktype heeft nog geen eigenschap van de soort datum: maak er eerst een.'),
          when: wijze('eigenschap'),
        },
        {
          name: brondatum('procestermijn'),
          label: t('Vaste tijd'),
          kind: 'duration',
          help: t('Zo lang na de einddatum begint de bewaartermijn te tellen.'),
          when: wijze('termijn'),
        },
        {
          name: brondatum('datumkenmerk'),
          label: t('Naam van de datum'),
          help: t('Zoals die in het object of de registratie heet.'),
          when: wijze('zaakobject', 'ander_datumkenmerk'),
        },
        {
          name: brondatum('objecttype'),
          label: t('Soort object'),
          kind: 'select',
          choices: [['', t('Kies')], ...OBJECTTYPEN],
          when: wijze('zaakobject', 'ander_datumkenmerk'),
        },
        { name: brondatum('registratie'), label: t('Registratie'), when: wijze('ander_datumkenmerk') },
        {
          name: brondatum('einddatumBekend'),
          label: t('De datum is al bekend als de zaak sluit'),
          kind: 'check',
          when: wijze(
            'eigenschap',
            'hoofdzaak',
            'ingangsdatum_besluit',
            'vervaldatum_besluit',
            'zaakobject',
            'ander_datumkenmerk',
            'gerelateerde_zaak',
          ),
        },
      ],
    },
    {
      key: 'verplicht',
      title: t('Wat bij dit resultaat hoort'),
      folded: true,
      fields: [
        {
          name: 'informatieobjecttypen',
          label: t('Documenttypen'),
          kind: 'checks',
          choices: documenttypen,
          optional: true,
        },
        { name: 'besluittypen', label: t('Besluittypen'), kind: 'checks', choices: besluittypen, optional: true },
        { name: 'procesobjectaard', label: t('Aard van het procesobject'), optional: true },
        { name: 'procestermijn', label: t('Procestermijn'), kind: 'duration', optional: true },
      ],
    },
  ])
}

const textOf = (item: Record<string, unknown>, name: string) => String(item[name] ?? '')

function omschrijvingField(listed: Listed, item: Item | undefined): Field {
  const own = item?.resultaattypeomschrijving as string | undefined
  const found =
    listed.kind === 'ok'
      ? listed.items.map((one): Choice => [textOf(one, 'url'), textOf(one, 'omschrijving'), textOf(one, 'definitie')])
      : listed.kind === 'none'
        ? KNOWN_OMSCHRIJVINGEN
        : []
  const choices =
    own === undefined || found.some(([url]) => url === own)
      ? found
      : [...found, [own, item?.omschrijvingGeneriek || own] as const]
  return {
    name: 'resultaattypeomschrijving',
    label: t('Landelijke naam van de uitkomst'),
    kind: 'select',
    choices: [['', t('Kies')], ...choices.toSorted((a, b) => a[1].localeCompare(b[1], 'nl'))],
    help: t('Hieraan herkennen andere systemen de uitkomst.'),
  }
}

/** The klassen of the procestype, each with what it says about keeping: the script fills that in, the service too. */
function klasseField(klassen: Listed | undefined, item: Item | undefined): Field {
  const own = item?.selectielijstklasse as string | undefined
  const base: Field = { name: 'selectielijstklasse', label: t('Klasse van de selectielijst') }
  if (klassen?.kind !== 'ok' || klassen.items.length === 0)
    return {
      ...base,
      kind: 'url',
      optional: true,
      help: t('Het adres (URL) van de klasse, als u dat hebt. Leeg: nog niet gekozen.'),
    }
  const sorted = klassen.items.toSorted((a, b) => numberOf(a).localeCompare(numberOf(b), 'nl', { numeric: true }))
  const choices = sorted.map((one): Choice => [textOf(one, 'url'), klasseInWords(one)])
  if (own && !choices.some(([url]) => url === own))
    choices.push([own, t`De huidige, van een ander procestype (${own.slice(-12)})`])
  return {
    ...base,
    kind: 'select',
    choices: [['', t('Kies')], ...choices],
    help: t(
      'Na uw keuze volgen hieronder bewaren of vernietigen, de bewaartermijn en vanaf wanneer die telt. U mag daarvan afwijken.',
    ),
    data: Object.fromEntries(sorted.map((one) => [textOf(one, 'url'), klasseData(one)])),
  }
}

const numberOf = (klasse: Record<string, unknown>) => textOf(klasse, 'volledigNummer') || textOf(klasse, 'nummer')

/** `11.1 Verleend – vernietigen na 5 jaar`. */
function klasseInWords(klasse: Record<string, unknown>): string {
  const termijn = typeof klasse.bewaartermijn === 'string' ? durationInWords(klasse.bewaartermijn) : ''
  const waardering = textOf(klasse, 'waardering').replaceAll('_', ' ')
  const omschrijving = textOf(klasse, 'omschrijving')
  return `${numberOf(klasse)} ${textOf(klasse, 'naam')}${omschrijving && ` (${omschrijving})`} – ${waardering}${termijn && t` na ${termijn}`}`
}

function klasseData(klasse: Record<string, unknown>): Record<string, string> {
  const { amount, unit } = durationFields(typeof klasse.bewaartermijn === 'string' ? klasse.bewaartermijn : null)
  const procestermijn = textOf(klasse, 'procestermijn')
  const wijze =
    procestermijn === 'nihil'
      ? 'afgehandeld'
      : procestermijn === 'ingeschatte_bestaansduur_procesobject'
        ? 'termijn'
        : ''
  return { nominatie: textOf(klasse, 'waardering'), aantal: amount, eenheid: unit, wijze, uitleg: explain(klasse) }
}

/** What a klasse means for a dossier, in sentences. */
function explain(klasse: Record<string, unknown>): string {
  const termijn = typeof klasse.bewaartermijn === 'string' ? durationInWords(klasse.bewaartermijn) : ''
  const procestermijn = textOf(klasse, 'procestermijn')
  const fate =
    textOf(klasse, 'waardering') === 'blijvend_bewaren'
      ? t('blijft het dossier bewaard')
      : t('wordt het dossier vernietigd')
  const from =
    procestermijn === 'nihil'
      ? t(' de einddatum van de zaak')
      : `: ${lowerFirst(textOf(klasse, 'procestermijnWeergave').replace(/\.$/, '') || procestermijn.replaceAll('_', ' '))}`
  return [
    t`Volgens klasse ${numberOf(klasse)} ${fate}${termijn && t` na ${termijn}`}.`,
    procestermijn && t`De termijn telt vanaf${from}.`,
    textOf(klasse, 'herkomst') && t`Herkomst: ${textOf(klasse, 'herkomst')}.`,
    textOf(klasse, 'toelichting'),
  ]
    .filter(Boolean)
    .join(' ')
}

function archiefHelp(klassen: Listed | undefined, procestype: string, omschrijvingen: Listed): string {
  if (omschrijvingen.kind === 'none')
    return t(
      'Er is geen selectielijst ingesteld. Kies daarom zelf of het dossier wordt bewaard, en hoe lang. Wie de dienst draait leest de selectielijst in met “zaakstroom selectielijst import”: daarna kiest u hier alleen de klasse.',
    )
  if (omschrijvingen.kind === 'fault' || klassen?.kind === 'fault') {
    const { reason } = (klassen?.kind === 'fault' ? klassen : omschrijvingen) as { reason: string }
    return t`De selectielijst antwoordt nu niet: ${reason}. Wat er staat blijft staan; kiezen kan als zij er weer is.`
  }
  if (!procestype)
    return t('Dit zaaktype heeft nog geen procestype. Kies dat eerst, bij Archief: dan helpt de selectielijst hier.')
  return t('De selectielijst zegt hoe lang dossiers worden bewaard.')
}

/** For people: the procestypen of the selectielijst, newest year first. */
export async function procestypeChoices(selectielijst: Selectielijst): Promise<{ listed: Listed; choices: Choice[] }> {
  const listed = await selectielijst.list('ProcesType')
  if (listed.kind !== 'ok') return { listed, choices: [] }
  const sorted = listed.items.toSorted((a, b) => Number(b.jaar) - Number(a.jaar) || Number(a.nummer) - Number(b.nummer))
  return {
    listed,
    choices: sorted.map(
      (one): Choice => [
        textOf(one, 'url'),
        `${textOf(one, 'jaar')}: ${textOf(one, 'nummer')} – ${textOf(one, 'naam')}`,
      ],
    ),
  }
}
