// cloud-events: what happened to a case, document or besluit as a cloud event (CloudEvents 1.0, structured mode). Off, unless
// ENABLE_CLOUD_EVENTS. They are rows of table `notificatie` beside the notifications of the standard, written in the
// transaction of the change, and go the same way: to the external service at `cloudevents` below its root, and to the
// abonnementen here that asked for cloud events.
import type { Config } from '../config.ts'
import { ownAddress } from '../http/links.ts'
import type { Message } from './claims.ts'

export const CLOUD_EVENT = 'application/cloudevents+json'

/**
 * A message as a cloud event. A notification of the standard becomes one too, for who wants nothing else. Its id is that of
 * the message, at every attempt and replay.
 */
export function eventBody(config: Config, message: Message): Record<string, unknown> {
  const { uuid, kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, bron, cloudevent } = message
  const source = bron || config.notificationsSource || ownAddress(config)
  const head = { specversion: '1.0', id: uuid, source }
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
    dataref: new URL(resourceUrl).pathname,
    datacontenttype: 'application/json',
    data: kenmerken,
  }
}
