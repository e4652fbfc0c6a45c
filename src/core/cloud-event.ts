// A cloud event that goes with a change. notificaties/cloud-events.ts makes its body.

export type CloudEvent = {
  /** The channel whose abonnementen get it. */
  kanaal: 'zaken' | 'documenten' | 'besluiten'
  resource: 'zaak' | 'document' | 'besluit'
  /** What happened, as the last part of its type: gemuteerd, geopend. */
  actie: string
  url: string
  uuid: string
  /** What receivers filter on. */
  data: Record<string, string | string[] | null>
  /** Of a case that goes with its change: whether it was published. Others are asked for it when the change is recorded. */
  published?: boolean
}

/** The `type` of a cloud event: `nl.overheid.zaken.zaak-create`. */
export const eventType = ({ kanaal, resource, actie }: Pick<CloudEvent, 'kanaal' | 'resource' | 'actie'>): string =>
  `nl.overheid.${kanaal}.${resource}-${actie}`
