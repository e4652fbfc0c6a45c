// Which messages the log shows: the fields of its filter, read leniently, and what was chosen in words.
import { today } from '../../lib/day.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import type { NotificatieFilter } from '../../notificaties/filter.ts'
import { type FormFaults, type FormValues, throwFormFaults } from '../frame/form.ts'
import { formatDate } from '../frame/format.ts'
import { t } from '../language/language.ts'
import { causeAt } from './abonnementen/labels.ts'

type FilterFields = Record<'status' | 'kanaal' | 'van' | 'tot' | 'object' | 'oorzaak' | 'ontvanger', string>
const STATUSSEN: Record<string, NotificatieFilter['status']> = {
  gepland: 'gepland',
  bezorgd: 'afgeleverd',
  mislukt: 'mislukt',
}

const RECEIVERS: Record<string, NotificatieFilter['ontvanger']> = {
  extern: 'extern',
  abonnementen: 'abonnementen',
}

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
    oorzaak: /^(http-\d{3}|[a-z]+)$/.test(text('oorzaak')) ? text('oorzaak') : '',
  }
  const faults: FormFaults = {}
  for (const name of ['van', 'tot'] as const)
    if (text(name) !== '' && fields[name] === '') faults[name] = t('Vul een datum in als jjjj-mm-dd.')
  // Of a URL the last one: that is the object, what comes before is what it belongs to.
  const object = fields.object.match(new RegExp(UUID_PATTERN, 'gi'))?.at(-1)
  if (fields.object !== '' && !object) faults.object = t('Vul de URL of de UUID van een object in.')
  const { status, kanaal, van, tot, oorzaak, ontvanger } = fields
  const filter: NotificatieFilter = {
    ...(STATUSSEN[status] && { status: STATUSSEN[status] }),
    ...(kanaal && { kanaal }),
    ...(van && { van }),
    ...(tot && { tot }),
    ...(object && { object: object.toLowerCase() }),
    ...(oorzaak && { oorzaak }),
    ...(RECEIVERS[ontvanger] && { ontvanger: RECEIVERS[ontvanger] }),
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

/** What was selected, in a few phrases that stand behind each other. */
export function filterInWords({ kanaal, van, tot, object, oorzaak, ontvanger }: FilterFields): string[] {
  return [
    kanaal ? t`kanaal ${kanaal}` : t('alle kanalen'),
    van && tot && van === tot
      ? t`van ${formatDate(van)}`
      : [van && t`vanaf ${formatDate(van)}`, tot && t`tot en met ${formatDate(tot)}`].filter(Boolean).join(' ') ||
        t('alle dagen'),
    ...(object ? [t`object ${object}`] : []),
    ...(oorzaak ? [t`oorzaak: ${causeAt(ontvanger === 'extern', oorzaak).text}`] : []),
    ...(ontvanger ? [ontvanger === 'extern' ? t('bij de notificatiedienst') : t('bij abonnementen')] : []),
  ]
}
