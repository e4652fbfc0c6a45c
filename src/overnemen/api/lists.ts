// The lists of the APIs of the standard that a takeover reads, in this order.
import { PATHS } from '../../http/links.ts'

export type ListOf = { name: string; path: string; query?: string; kinds: string[]; oldestFirst?: boolean }
const list = (name: keyof typeof PATHS, kinds: string[] = [name], query = ''): ListOf => ({
  name: kinds[0] ?? name,
  path: PATHS[name],
  query,
  kinds,
})
/** Without it lists of types lack the concepts, and lists of their parts those of concepts. A service that refuses it shows all. */
const ANY_STATUS = 'status=alles'

/** Lists that may be read side by side; each line needs those above it. */
export const LISTS: ListOf[][] = [
  [list('catalogus')],
  [list('informatieobjecttype', ['informatieobjecttype'], ANY_STATUS)],
  [list('besluittype', ['besluittype'], ANY_STATUS)],
  [list('zaaktype', ['zaaktype', 'zaaktyperelatie'], ANY_STATUS)],
  [
    list('statustype', ['statustype'], ANY_STATUS),
    list('roltype', ['roltype'], ANY_STATUS),
    list('resultaattype', ['resultaattype'], ANY_STATUS),
  ],
  [
    list('eigenschap', ['eigenschap'], ANY_STATUS),
    list('zaaktypeinformatieobjecttype', ['zaaktype_informatieobjecttype'], ANY_STATUS),
    list('zaakobjecttype', ['zaakobjecttype'], ANY_STATUS),
    { name: 'applicatie', path: PATHS.applicatie, kinds: [] },
  ],
  [{ ...list('enkelvoudiginformatieobject', ['document']), oldestFirst: true }, list('zaak', ['zaak', 'zaakrelatie'])],
  [
    list('rol'),
    list('resultaat'),
    list('zaakobject'),
    list('klantcontact'),
    list('zaaknotitie'),
    list('besluit'),
    list('verzending'),
  ],
  [list('status')],
  [list('substatus')],
]

/** Lists of what hangs below objects. They are read for objects that changed. */
export const BELOW: Record<
  string,
  { of: string; audit: string; lists: { kind: string; path(uuid: string, url: string): string; column: string }[] }
> = {
  zaakdelen: {
    of: 'zaak',
    audit: PATHS.zaak,
    lists: [
      { kind: 'zaakeigenschap', path: (uuid) => `${PATHS.zaak}/${uuid}/zaakeigenschappen`, column: 'zaak_id' },
      { kind: 'zaakbesluit', path: (uuid) => `${PATHS.zaak}/${uuid}/besluiten`, column: 'zaak_id' },
      {
        kind: 'zaakinformatieobject',
        path: (_, url) => `${PATHS.zaakinformatieobject}?zaak=${url}`,
        column: 'zaak_id',
      },
      { kind: 'zaakcontactmoment', path: (_, url) => `${PATHS.zaakcontactmoment}?zaak=${url}`, column: 'zaak_id' },
      { kind: 'zaakverzoek', path: (_, url) => `${PATHS.zaakverzoek}?zaak=${url}`, column: 'zaak_id' },
    ],
  },
  documentdelen: {
    of: 'document',
    audit: PATHS.enkelvoudiginformatieobject,
    lists: [
      {
        kind: 'gebruiksrecht',
        path: (_, url) => `${PATHS.gebruiksrechten}?informatieobject=${url}`,
        column: 'enkelvoudiginformatieobject_id',
      },
      {
        kind: 'objectinformatieobject',
        path: (_, url) => `${PATHS.objectinformatieobject}?informatieobject=${url}`,
        column: 'enkelvoudiginformatieobject_id',
      },
    ],
  },
  besluitdelen: {
    of: 'besluit',
    audit: PATHS.besluit,
    lists: [
      {
        kind: 'besluitinformatieobject',
        path: (_, url) => `${PATHS.besluitinformatieobject}?besluit=${url}`,
        column: 'besluit_id',
      },
    ],
  },
}

/** The lists by their name. */
export const listOf = new Map(LISTS.flat().map((one) => [one.name, one]))
