// send-notificaties: sends what is due, and looks on for as long as more comes. Adding this job wakes a sender; running it
// twice is harmless.
import type { Task } from 'graphile-worker'
import { expected } from '../src/database/rows.ts'
import type { Sender } from '../src/notificaties/sender.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'send-notificaties': { all?: true }
    }
  }
}

export function sendNotifications(sender: Sender): Task {
  return async (payload, { job }) => sender.run(expected(job.locked_by), { all: isOfAll(payload) })
}

/** Whether it may have missed something: statements add `LOOK_AT_ALL` too. */
const isOfAll = (payload: unknown) => (payload as { all?: unknown } | null)?.all === true
