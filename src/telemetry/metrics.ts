// metrics: what this process counts as it happens. operations/metrics-server.ts adds what the database knows, and serves them.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export const register = new Registry()

export const requestDuration = new Histogram({
  name: 'zaakstroom_request_duration_seconds',
  help: 'Time to answer a request, by route.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [register],
})

export const organisationRequests = new Histogram({
  name: 'zaakstroom_organisation_request_duration_seconds',
  help: 'Time to answer a request, by organisation and kind of status; with many organisations only.',
  labelNames: ['organisation', 'outcome'],
  buckets: [0.01, 0.05, 0.25, 1, 5, 30],
  registers: [register],
})

export const notificationAttempts = new Counter({
  name: 'zaakstroom_notification_attempts_total',
  help: 'Attempts to deliver a notification, by outcome.',
  labelNames: ['outcome'],
  registers: [register],
})

export const recordFailures = new Counter({
  name: 'zaakstroom_notification_record_failures_total',
  help: 'Times that the outcome of an attempt to deliver could not be recorded.',
  registers: [register],
})

export const notificationDelay = new Histogram({
  name: 'zaakstroom_notification_delivery_delay_seconds',
  help: 'Time from a change until its notification was accepted.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, 600, 3600, 14_400, 86_400],
  registers: [register],
})

export const verwerkingenMost = new Gauge({
  name: 'zaakstroom_processing_log_most',
  help: 'How many lines of the log of processing may wait for the collector (LOGBOEK_SPOOL_MOST).',
  registers: [register],
})

export const verwerkingenExported = new Counter({
  name: 'zaakstroom_processing_log_exported_total',
  help: 'Lines of the log of processing that the collector confirmed to this process.',
  registers: [register],
})

export const verwerkingenFailures = new Counter({
  name: 'zaakstroom_processing_log_failures_total',
  help: 'Times that the collector did not take lines of the log of processing from this process; they are sent again.',
  registers: [register],
})

export const verwerkingenAside = new Counter({
  name: 'zaakstroom_processing_log_set_aside_total',
  help: 'Lines of the log of processing that the collector refused by themselves: they are in `verwerking_aside`.',
  registers: [register],
})

export const verwerkingenLost = new Counter({
  name: 'zaakstroom_processing_log_dropped_total',
  help: 'Lines of reads that this process could not write before it ended, since the database was away. Those of changes never are.',
  registers: [register],
})

export const contentLost = new Counter({
  name: 'zaakstroom_content_lost_total',
  help: 'Requests for content of which the bytes are gone from the store.',
  registers: [register],
})

export const requestsWaiting = new Gauge({
  name: 'zaakstroom_requests_waiting',
  help: 'Requests that wait for their turn, since their client has as many at work as it may.',
  registers: [register],
})

export const listReads = new Counter({
  name: 'zaakstroom_list_reads_total',
  help: 'Reads of lists and reports by the server that answered; counted when there is a replica (DATABASE_READ_URL).',
  labelNames: ['server'],
  registers: [register],
})

export const replicaUsable = new Gauge({
  name: 'zaakstroom_replica_usable',
  help: 'Whether this process reads lists from the replica; absent without one.',
  labelNames: ['host'],
  registers: [register],
})

export const replicaLag = new Gauge({
  name: 'zaakstroom_replica_lag_bytes',
  help: 'Bytes of the log that the replica had yet to replay when it was last asked; absent without one.',
  labelNames: ['host'],
  registers: [register],
})

export const hostRefused = new Gauge({
  name: 'zaakstroom_database_host_refused',
  help: 'Whether a host of DATABASE_URL takes writes on an older timeline and is refused; absent with one host.',
  labelNames: ['host'],
  registers: [register],
})
