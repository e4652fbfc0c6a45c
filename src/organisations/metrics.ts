// What Prometheus is told of many organisations.
import { Gauge } from 'prom-client'
import { register } from '../telemetry/metrics.ts'
import { type Organisation, STATES } from './organisation.ts'

/** So many organisations have a series of their own: those with the most jobs. */
const MOST = 100

const organisations = new Gauge({
  name: 'zaakstroom_organisations',
  help: 'Organisations of this installation, by state.',
  labelNames: ['state'],
  registers: [register],
})
const runnersOpen = new Gauge({
  name: 'zaakstroom_organisation_runners_open',
  help: 'Organisations that this worker works for at this moment.',
  registers: [register],
})
const runnersWaiting = new Gauge({
  name: 'zaakstroom_organisation_runners_waiting',
  help: 'Organisations that have work, and wait until this worker works for them.',
  registers: [register],
})
const jobsWaiting = new Gauge({
  name: 'zaakstroom_organisation_jobs_waiting',
  help: 'Jobs that are due, by organisation: of the hundred that have the most.',
  labelNames: ['organisation'],
  registers: [register],
})
const databases = new Gauge({
  name: 'zaakstroom_organisation_databases',
  help: 'Databases of organisations as this worker sees them: up, or away.',
  labelNames: ['state'],
  registers: [register],
})

const served = new Gauge({
  name: 'zaakstroom_organisations_served',
  help: 'Organisations that this api was asked for lately: open, or away (it could not be opened).',
  labelNames: ['state'],
  registers: [register],
})

/** What an api has open now. */
export function countServed(seen: { open: number; away: number }): void {
  for (const state of ['open', 'away'] as const) served.set({ state }, seen[state])
}

/** How many there are of each state. */
export function countOrganisations(all: readonly Pick<Organisation, 'state'>[]): void {
  for (const state of STATES) organisations.set({ state }, all.filter((one) => one.state === state).length)
}

/** What a worker saw last. */
export function countRunners(seen: {
  open: number
  waiting: number
  jobs: readonly { rsin: string; jobs: number }[]
  up: number
  away: number
}): void {
  runnersOpen.set(seen.open)
  runnersWaiting.set(seen.waiting)
  databases.set({ state: 'up' }, seen.up)
  databases.set({ state: 'away' }, seen.away)
  jobsWaiting.reset()
  for (const { rsin, jobs } of seen.jobs.toSorted((a, b) => b.jobs - a.jobs).slice(0, MOST))
    jobsWaiting.set({ organisation: rsin }, jobs)
}
