// What a service answered, for who started the command.
import { UsageError } from './usage.ts'

/** A service cannot be reached, or cannot do its work now. */
export class ServiceAway extends Error {}
/** The service does not let this client do it. */
export class ServiceForbids extends Error {}
/** The service is busy with another: later it may be taken. */
export class ServiceBusy extends Error {}
/** The service refuses what it was sent. */
export class ServiceRefuses extends Error {}

/** What an answer that is no success is, by its status and the code of its first fault. */
export function serviceFault(status: number, message: string, code?: string): Error {
  if (status === 401 || status === 403) return new ServiceForbids(message)
  if (status === 404) return new UsageError(message)
  if (status === 409 || status === 429 || code === 'existing-import-started') return new ServiceBusy(message)
  return status >= 500 ? new ServiceAway(message) : new ServiceRefuses(message)
}
