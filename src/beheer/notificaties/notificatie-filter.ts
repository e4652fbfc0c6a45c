// Which messages the log shows: the fields of its filter, read leniently, and what was chosen in words.
import { dayOf as dayAt, today } from '../../lib/day.ts'
import { isUuid, UUID_PATTERN } from '../../lib/uuid.ts'
import type { NotificatieFilter } from '../../notificaties/filter.ts'
import { type FormFaults, type FormValues, throwFormFaults } from '../frame/form.ts'
import { formatDate, formatShortDate, timeOf } from '../frame/format.ts'
import { t } from '../language/language.ts'
import { causeAt } from './abonnementen/labels.ts'

type FilterFields = Record<
  'status' | 'kanaal' | 'van' | 'tot' | 'object' | 'oorzaak' | 'ontvanger' | 'poging' | 'hoe' | 'bij',
  string
>
const STATUSSEN: Record<string, NotificatieFilter['status']> = {
  gepland: 'gepland',
  bezorgd: 'afgeleverd',
  geen: 'geen',
  mislukt: 'mislukt',
}

const RECEIVERS: Record<string, NotificatieFilter['ontvanger']> = {
  extern: 'extern',
  abonnementen: 'abonnementen',
}

const ENDED: Record<string, NotificatieFilter['hoe']> = { mislukt: 'mislukt', nogmaals: 'nogmaals' }

/** Read leniently: what is no date or state is no filter, with a word about it. */
export function readFilter(query: FormValues): { filter: NotificatieFilter; fields: FilterFields; faults: FormFaults } {
  const text = (name: keyof FilterFields) =>
    String([query[name]].flat().at(-1) ?? '')
      .trim()
      .slice(0, 1000)
      .replaceAll('\0', '')
  const fields: FilterFields = {
    status: Object.hasOwn(STATUSSEN, text('status')) ? text('status') : '',
    kanaal: text('kanaal'),
    van: dayOf(text('van')),
    tot: dayOf(text('tot')),
    object: text('object'),
    ontvanger: Object.hasOwn(RECEIVERS, text('ontvanger')) ? text('ontvanger') : '',
    poging: momentOf(text('poging')),
    hoe: Object.hasOwn(ENDED, text('hoe')) ? text('hoe') : '',
    bij: isUuid(text('bij')) ? text('bij') : '',
    oorzaak: /^(http-\d{3}|[a-z]+)$/.test(text('oorzaak')) ? text('oorzaak') : '',
  }
  if (fields.poging === '') Object.assign(fields, { hoe: '', bij: '' })
  const faults: FormFaults = {}
  for (const name of ['van', 'tot'] as const)
    if (text(name) !== '' && fields[name] === '') faults[name] = t('Vul een datum in als jjjj-mm-dd.')
  // Of a URL the last one: that is the object, what comes before is what it belongs to.
  const object = fields.object.match(new RegExp(UUID_PATTERN, 'gi'))?.at(-1)
  if (fields.object !== '' && !object) faults.object = t('Vul de URL of de UUID van een object in.')
  const { status, kanaal, van, tot, oorzaak, ontvanger, poging, hoe, bij } = fields
  const filter: NotificatieFilter = {
    ...(STATUSSEN[status] && { status: STATUSSEN[status] }),
    ...(kanaal && { kanaal }),
    ...(van && { van }),
    ...(tot && { tot }),
    ...(object && { object: object.toLowerCase() }),
    ...(oorzaak && { oorzaak }),
    ...(RECEIVERS[ontvanger] && { ontvanger: RECEIVERS[ontvanger] }),
    ...(poging && { poging, ...(ENDED[hoe] && { hoe: ENDED[hoe] }), ...(bij && { bij }) }),
  }
  return { filter, fields, faults }
}

/** A selection that is not understood in full may not become a larger one. */
export function refuseSelection(filter: NotificatieFilter, faults: FormFaults): void {
  throwFormFaults({
    ...faults,
    ...(filter.status && filter.status !== 'mislukt' && { status: t('Alleen mislukte berichten gaan opnieuw.') }),
  })
}

function dayOf(text: string): string {
  if (text === 'vandaag') return today()
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return ''
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : ''
}

/** A day, or the first moment of an hour. */
const momentOf = (text: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : dayOf(text)

/** The attempts of a moment that were chosen, as `26 nov 2026, uur vanaf 14:00, mislukt`. */
export function attemptsInWords({ poging, hoe, bij }: Pick<FilterFields, 'poging' | 'hoe' | 'bij'>): string {
  const day =
    poging.length === 10 ? formatDate(poging) : t`${formatShortDate(dayAt(poging))}, uur vanaf ${timeOf(poging)}`
  const at = bij ? t`${day}, bij één abonnement` : day
  return hoe === 'mislukt' ? t`${at}, mislukt` : hoe === 'nogmaals' ? t`${at}, nog eens geprobeerd` : at
}

/** What was selected, in a few phrases that stand behind each other. */
export function filterInWords({
  kanaal,
  van,
  tot,
  object,
  oorzaak,
  ontvanger,
  poging,
  hoe,
  bij,
}: FilterFields): string[] {
  return [
    kanaal ? t`kanaal ${kanaal}` : t('alle kanalen'),
    van && tot && van === tot
      ? t`van ${formatDate(van)}`
      : [van && t`vanaf ${formatDate(van)}`, tot && t`tot en met ${formatDate(tot)}`].filter(Boolean).join(' ') ||
        t('alle dagen'),
    ...(object ? [t`object ${object}`] : []),
    ...(poging ? [t`pogingen van ${attemptsInWords({ poging, hoe, bij })}`] : []),
    ...(oorzaak ? [t`oorzaak: ${causeAt(ontvanger === 'extern', oorzaak).text}`] : []),
    ...(ontvanger ? [ontvanger === 'extern' ? t('bij de notificatiedienst') : t('bij abonnementen')] : []),
  ]
}
