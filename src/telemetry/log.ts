import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { originOfJob } from './request-id.ts'

// Whatever a library hangs on an error, request or job: these never reach a log line.
const SECRETS = [
  'authorization',
  'password',
  'secret',
  'geheim',
  'token',
  'secretKey',
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
    destination ?? pino.destination({ fd: 1, sync: false }),
  )
}

/** The same log for lines of plain values, as there is one for every request: to look for secrets within each costs most of it. */
export function plainLog(log: Logger): Logger {
  return log.child({}, { redact: { paths: SECRETS, censor: CENSOR } })
}

/** Takes passwords out of connection addresses and nine-digit numbers (BSN, RSIN) out of messages. */
function scrub(text: string | undefined): string | undefined {
  return text?.replace(/:\/\/[^@\s/]+@/g, '://[removed]@').replace(/\b\d{9}\b/g, '[number]')
}
