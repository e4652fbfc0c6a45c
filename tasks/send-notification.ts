// verstuur-notificatie: delivers a message, from its first attempt to its last. Such jobs are many and short, so they are not
// run one by one like all others: the sender takes, ends and moves them in portions, together with what it writes down.
import { openVerzender, type Verzender, type VerzenderParts } from '../src/notificaties/deliver.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'verstuur-notificatie': { id: number }
    }
  }
}

export function verstuurNotificatie(parts: VerzenderParts): Verzender {
  return openVerzender(parts)
}
