// One clock: what is due, leased, planned or expired is judged and planned by the database. The clock of a process is read here alone.
import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'

const ROOT = new URL('../', import.meta.url)
const READS = /\bDate\.now\(\)|\bnew Date\(\)|\bnow = new Date\b/g

/** How often a file reads the clock, and why that decides nothing that the database could. */
const EXCEPTIONS: Record<string, [reads: number, reason: string]> = {
  'src/autorisaties/fsc.ts': [1, 'exp of a token that was checked before'],
  'src/autorisaties/issuers/verify.ts': [3, 'iat and exp of a token, within the leeway of its issuer'],
  'src/autorisaties/token-endpoint/endpoint.ts': [2, 'iat and exp of a token that is made, and exp of an assertion'],
  'src/autorisaties/token.ts': [1, 'iat and exp of a token, within JWT_LEEWAY'],
  'src/beheer/accounts/oidc.ts': [
    3,
    'a sealed cookie of a few minutes, which no row knows, and the moment that a provider tells',
  ],
  'src/beheer/assets/beheer.js': [2, 'in the browser: when it last heard something'],
  'src/beheer/frame/format.ts': [1, 'what a page shows: how long ago'],
  'src/beheer/imports/import-start.ts': [1, 'what a page shows: a dry run that may be asked for again'],
  'src/beheer/imports/imports.ts': [1, 'what a page shows: how long it runs'],
  'src/beheer/notificaties/notificatie-settings.ts': [1, 'what a page shows: an example of the schedule'],
  'src/beheer/notificaties/notificaties.ts': [1, 'what a page shows: that the next attempt at a receiver lies ahead'],
  'src/beheer/operations/jobs.ts': [1, 'what a page shows: how long it runs'],
  'src/beheer/operations/overview-parts.ts': [1, 'what a page shows: that the oldest message waits long'],
  'src/beheer/operations/overview.ts': [1, 'what a page shows: when it was made'],
  'src/beheer/takeover/takeover-labels.ts': [1, 'what a page shows: how long it runs'],
  'src/beheer/templates/abonnement.eta': [1, 'what a page shows: that a next attempt lies ahead'],
  'src/cli/import-file.ts': [1, 'a file for the user to complete: the day on which a hash was taken'],
  'src/cli/organisation-options.ts': [1, 'the name of a new key: the month, which nothing reads'],
  'src/core/outcome.ts': [2, 'a sealed link of a day, which no row knows'],
  'src/documenten/storage/index.ts': [1, 'the name of a directory; it is never read as a date'],
  'src/http/formats.ts': [1, 'whether a moment that a client names lies ahead'],
  'src/lib/moment.ts': [1, 'the message of a test, which no row keeps'],
  'src/lib/day.ts': [1, 'the day: what a page shows, and whether one that a client names lies ahead'],
  'src/notificaties/deliver.ts': [2, 'the moment in a signature; a Retry-After that is a date becomes seconds'],
  'src/notificaties/sender.ts': [1, 'a metric'],
  'src/nrc/notificaties.ts': [1, 'whether a moment that a client names lies ahead'],
  'src/operations/collector.ts': [1, 'a Retry-After that is a date becomes seconds'],
  'src/operations/metrics-server.ts': [1, 'a metric'],
  'src/operations/retention.ts': [1, 'what a page shows: the next run'],
  'src/organisations/export.ts': [1, 'a file says when it was made, for who reads it'],
  'src/organisations/remove.ts': [1, 'the proof of a removal says when it was made'],
  'src/overnemen/patience.ts': [1, 'when it asks again, for who reads it'],
  'src/overnemen/api/client.ts': [1, 'a Retry-After that is a date becomes seconds'],
  'src/telemetry/log.ts': [1, 'lines of the log'],
}

t.test('the clock of a process is read where the list says why, and nowhere else', async (t) => {
  const found: Record<string, number> = {}
  for (const room of ['src', 'tasks']) {
    for (const name of await readdir(new URL(room, ROOT), { recursive: true })) {
      if (!/\.(ts|js|eta)$/.test(name)) continue
      const text = await readFile(new URL(`${room}/${name}`, ROOT), 'utf8')
      const reads = text.match(READS)?.length ?? 0
      if (reads > 0) found[`${room}/${name}`] = reads
    }
  }
  t.strictSame(found, Object.fromEntries(Object.entries(EXCEPTIONS).map(([file, [reads]]) => [file, reads])))
})
