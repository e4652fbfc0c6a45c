// The webhook: alerts as JSON to one address, by Standard Webhooks (id, timestamp, signature). `text` says all of it for programs that
// show a message to people, such as Mattermost. The call goes the way of all calls (services/transport.ts).
import type { Config } from '../../config.ts'
import { sign } from '../../notificaties/deliver.ts'
import { FOR_SERVICES } from '../../services/addresses.ts'
import { openAgent, sendWithin } from '../../services/transport.ts'
import type { Line } from './kinds.ts'
import type { WebhookSettings } from './settings.ts'
import { addressOf, type MessageKind, subjectOf, textOf } from './text.ts'

const MS = 10_000
const MAX_ANSWER = 4096

/** It was answered, by a status that is no success. */
export class WebhookRefused extends Error {
  readonly status: number
  constructor(status: number) {
    super(`the webhook answered ${status}`)
    this.status = status
  }
}

/**
 * @param moment when the message was made
 * @throws WebhookRefused, or what `failureKind` understands
 */
export async function callWebhook(
  { url, secret }: WebhookSettings,
  message: { uuid: string; kind: MessageKind; lines: Line[]; moment: string },
  config: Config,
): Promise<void> {
  const { uuid, kind, lines, moment } = message
  const body = JSON.stringify({
    type: kind,
    timestamp: moment,
    text: `${subjectOf(kind, lines)}\n\n${textOf(kind, lines, config)}`,
    data: { alerts: lines.map(({ path, ...line }) => ({ ...line, url: addressOf({ path }, config) ?? null })) },
  })
  const seconds = String(Math.floor(Date.parse(moment) / 1000))
  const agent = openAgent({ policy: FOR_SERVICES, connections: 1, proxies: config.proxies })
  try {
    const { status } = await sendWithin(MS, agent, {
      url: new URL(url),
      method: 'POST',
      body,
      headers: {
        'webhook-id': uuid,
        'webhook-timestamp': seconds,
        ...(secret && { 'webhook-signature': sign(secret, `${uuid}.${seconds}.${body}`) }),
      },
      limit: MAX_ANSWER,
      statusSuffices: true,
    })
    if (status < 200 || status >= 300) throw new WebhookRefused(status)
  } finally {
    await agent.destroy()
  }
}
