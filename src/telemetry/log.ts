import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { UUID_PATTERN } from '../lib/uuid.ts'
import { originOfJob } from './request-id.ts'

// Whatever a library hangs on an error, request or job: these never reach a log line.
const SECRETS = [
  'authorization',
  'password',
  'secret',
  'geheim',
  'token',
  'secretKey',
  'dataKeys',
  'databaseUrl',
  'connectionString',
]

const CENSOR = '[removed]'

/**
 * The log: one JSON object a line on standard output (or where `destination` says), times in UTC.
 * Errors keep type, message, stack and code; what the driver adds, such as the parameters of a query, is left out.
 */
export function openLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      mixin: originOfJob, // requests have a log of their own with their id
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'event',
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: CENSOR },
      serializers: {
        err: (error) => {
          const { type, message, stack } = stdSerializers.err(error as Error) as {
            type?: string
            message?: string
            stack?: string
          }
          return {
            type,
            message: scrub(message),
            stack: scrub(stack),
            code: (error as { code?: unknown } | null)?.code,
          }
        },
      },
    },
    destination ?? logDestination(1),
  )
}

/** Bytes of lines that wait for whoever reads them. */
const MAX_WAITING = 16 * 1024 * 1024

/** How many lines this process has dropped. Metrics tell it. */
export const droppedLines = { count: 0 }

/** Nobody waits for a reader of the log that has stopped: what does not fit any more is dropped and counted. */
export function logDestination(fd: number): DestinationStream {
  return pino.destination({ fd, sync: false, maxLength: MAX_WAITING }).on('drop', () => droppedLines.count++)
}

/** The same log for lines of plain values, as there is one for every request: to look for secrets within each costs most of it. */
export function plainLog(log: Logger): Logger {
  return log.child({}, { redact: { paths: SECRETS, censor: CENSOR } })
}

/** Takes passwords out of connection addresses and numbers (BSN, RSIN) out of messages. */
function scrub(text: string | undefined): string | undefined {
  return text && withoutNumbers(text.replace(/:\/\/[^@\s/]+@/g, '://[removed]@'))
}

const NUMBER_OR_UUID = new RegExp(`${UUID_PATTERN}|(?<![\\da-z])\\d{8,9}(?![\\da-z])`, 'gi')

/** Takes out numbers of eight or nine digits, which may be a BSN or RSIN; what looks like one within a uuid stays. */
export const withoutNumbers = (text: string, by = '[number]'): string =>
  /\d{8}/.test(text) ? text.replace(NUMBER_OR_UUID, (found) => (found.length > 9 ? found : by)) : text
