// cloud-events: what happened to a case, document or besluit as a cloud event (CloudEvents 1.0, structured mode). Off, unless
// ENABLE_CLOUD_EVENTS. They are rows of table `notificatie` beside the notifications of the standard, written in the
// transaction of the change, and go the same way: to the external service at `cloudevents` below its root, and to the
// abonnementen here that asked for cloud events.
import type { Config } from '../config.ts'
import { ownAddress } from '../http/links.ts'
import type { Message } from './claims.ts'

export const CLOUD_EVENT = 'application/cloudevents+json'

/** Digits of a place in the sequence, so that places sort as text. They have gaps, which `sequencetype` Integer must not have. */
const SEQUENCE_DIGITS = 19

type Settings = Pick<Config, 'cloudEventsProfile' | 'cloudEventsSource' | 'notificationsSource'> &
  Parameters<typeof ownAddress>[0]

/**
 * A message as a cloud event, by the NL GOV profile or as Open Zaak sends them. A notification of the standard becomes one too, for
 * who wants nothing else. Its id is that of the message, at every attempt and replay, and so is its place in the sequence: later
 * messages have higher numbers, with gaps where others got the messages between.
 * @param number of the message, as the outbox counts them; 0 for one that is in none, as a try-out
 */
export function eventBody(config: Settings, message: Message, number: number): Record<string, unknown> {
  const { uuid, kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, bron, cloudevent } = message
  const byProfile = config.cloudEventsProfile === 'nl-gov'
  const ours = (byProfile && config.cloudEventsSource) || config.notificationsSource || ownAddress(config)
  const source = bron || ours
  const head = {
    specversion: '1.0',
    id: uuid,
    source,
    ...(byProfile && number > 0 && { sequence: String(number).padStart(SEQUENCE_DIGITS, '0') }),
  }
  const subject = resourceUrl.split('/').at(-1)
  if (cloudevent === null)
    return {
      ...head,
      type: `nl.overheid.${kanaal}.${resource}.${actie}`,
      subject,
      time: aanmaakdatum,
      datacontenttype: 'application/json',
      data: { ...kenmerken, hoofdObject },
    }
  return {
    ...head,
    type: cloudevent,
    subject,
    time: `${aanmaakdatum.slice(0, 19)}Z`,
    dataref: byProfile ? resourceUrl : new URL(resourceUrl).pathname,
    datacontenttype: 'application/json',
    data: kenmerken,
  }
}
