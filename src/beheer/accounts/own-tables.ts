// What the pages write outside of `mutate`: sign-ins with their sessions, attempts and codes, and rows of the audit log for what
// changes nothing. Handlers have these functions, and not the database.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { attemptSucceeded, claimAttempt, returnAttempt } from '../../core/sign-in-attempts.ts'
import type { Database } from '../../database/database.ts'
import { countLost } from '../../documenten/storage/lost.ts'
import { registerKanalen, testNotificatie } from '../../notificaties/kanalen.ts'
import { readiness } from '../../operations/health.ts'
import { writeAudit } from '../frame/change.ts'
import { deleteFilter, saveFilter } from '../frame/saved-filters.ts'
import { deleteNotice, deleteSession, insertNotice, insertSession, readSession } from '../frame/session.ts'
import { checkPassword, findByName, linkOidc, recordFailure, recordSignIn } from './accounts.ts'
import { findBrowser, insertBrowser } from './known-browsers.ts'
import { begin, runningAttempt, useCode } from './totp.ts'

declare module 'fastify' {
  interface FastifyInstance {
    own: ReturnType<typeof openOwnTables>
  }
}

/** With the database, which handlers do not have. */
export type WholeParts = FastifyInstance['parts'] & { database: Database }

/** These functions with the database filled in: what `app.own` is. */
export function openOwnTables(parts: WholeParts) {
  const { database } = parts
  const on =
    <Given extends unknown[], Found>(work: (database: Database, ...given: Given) => Found) =>
    (...given: Given): Found =>
      work(database, ...given)
  return {
    accounts: {
      find: on(findByName),
      checkPassword: on(checkPassword),
      recordFailure: on(recordFailure),
      recordSignIn: on(recordSignIn),
      linkOidc: on(linkOidc),
    },
    codes: { begin: on(begin), running: on(runningAttempt), use: on(useCode) },
    attempts: { claim: on(claimAttempt), giveBack: on(returnAttempt), succeeded: on(attemptSucceeded) },
    browsers: { find: on(findBrowser), insert: on(insertBrowser) },
    sessions: {
      read: on(readSession),
      insert: on(insertSession),
      delete: on(deleteSession),
      addNotice: on(insertNotice),
      deleteNotice: on(deleteNotice),
    },
    filters: { save: on(saveFilter), delete: on(deleteFilter) },
    audit: (request: FastifyRequest, records: Parameters<typeof writeAudit>[2]) =>
      writeAudit(database.db, request, records),
    /** How the parts of the service are. */
    readiness: () => readiness(parts),
    /** Looks for lost content, and notes what has come back. */
    countLost: () => countLost(parts),
    kanalen: { register: () => registerKanalen(parts), test: () => testNotificatie(parts) },
  }
}
