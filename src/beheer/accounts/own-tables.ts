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
import {
  deleteNotice,
  deleteSession,
  insertNotice,
  insertSession,
  markConfirmed,
  readSession,
} from '../frame/session.ts'
import {
  checkPassword,
  endProviderSessions,
  endSessionsOf,
  findByName,
  isAccountOf,
  linkOidc,
  recordFailure,
  recordSignIn,
} from './accounts.ts'
import { bringAlong } from './centre-mirror.ts'
import { findBrowser, insertBrowser, makeLink, ownerOfLink, useLink } from './known-browsers.ts'
import { challengeMoment, findPasskey, usePasskey } from './passkeys.ts'
import { begin, runningAttempt, useCode } from './totp.ts'

declare module 'fastify' {
  interface FastifyInstance {
    own: ReturnType<typeof openOwnTables>
  }
}

/** With the database, which handlers do not have. */
export type WholeParts = FastifyInstance['parts'] & { database: Database }

const on =
  (database: Database) =>
  <Given extends unknown[], Found>(work: (database: Database, ...given: Given) => Found) =>
  (...given: Given): Found =>
    work(database, ...given)

export type SignInTables = ReturnType<typeof openSignInTables>

/** What signing in asks of the tables of an organisation, or of the registry, which has the same for accounts of the centre. */
export function openSignInTables(database: Database) {
  const here = on(database)
  return {
    accounts: {
      find: here(findByName),
      checkPassword: here(checkPassword),
      recordFailure: here(recordFailure),
      recordSignIn: here(recordSignIn),
    },
    codes: { begin: here(begin), running: here(runningAttempt), use: here(useCode) },
    attempts: { claim: here(claimAttempt), giveBack: here(returnAttempt), succeeded: here(attemptSucceeded) },
  }
}

/** These functions with the database filled in: what `app.own` is. */
export function openOwnTables(parts: WholeParts) {
  const { database } = parts
  const here = on(database)
  return {
    ...openSignInTables(database),
    linkOidc: here(linkOidc),
    endSessionsOf: here(endSessionsOf),
    isAccountOf: here(isAccountOf),
    endProviderSessions: here(endProviderSessions),
    bringAlong: here(bringAlong),
    browsers: {
      find: here(findBrowser),
      insert: here(insertBrowser),
      ownerOfLink: here(ownerOfLink),
      makeLink: here(makeLink),
      useLink: here(useLink),
    },
    sessions: {
      read: here(readSession),
      insert: here(insertSession),
      confirm: here(markConfirmed),
      delete: here(deleteSession),
      addNotice: here(insertNotice),
      deleteNotice: here(deleteNotice),
    },
    passkeys: { moment: here(challengeMoment), find: here(findPasskey), use: here(usePasskey) },
    filters: { save: here(saveFilter), delete: here(deleteFilter) },
    audit: (request: FastifyRequest, records: Parameters<typeof writeAudit>[2]) =>
      writeAudit(database.db, request, records),
    /** How the parts of the service are. */
    readiness: () => readiness(parts),
    /** Looks for lost content, and notes what has come back. */
    countLost: () => countLost(parts),
    kanalen: { register: () => registerKanalen(parts), test: () => testNotificatie(parts) },
  }
}
