// verstuur-notificatie: makes one attempt to deliver a message. Running twice is harmless: an attempt is written down
// before it is made, and only the job that wrote it makes it. When the next one is due is data, with a job of its own.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import { readInput } from '../src/input.ts'
import { openVerzender, type VerzenderParts } from '../src/notificaties/verzenden.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'verstuur-notificatie': Static<typeof Payload>
    }
  }
}

export function verstuurNotificatie(parts: VerzenderParts): Task {
  const verzend = openVerzender(parts)
  return async (payload, { job, abortSignal }) => {
    const { id } = readInput(Payload, payload)
    await verzend(id, job.id, abortSignal)
  }
}
