// Retention: what is kept for how long, what a clean-up would remove, and what the last ones did.

import type { FastifyInstance } from 'fastify'
import { nextRun, toRemove } from '../../operations/retention.ts'
import { mutateFromPage } from '../frame/change.ts'
import { redirectWith } from '../frame/page.ts'
import { signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'

const PATH = '/bewaartermijnen'
const TASK = 'retention'

export function registerRetention(app: FastifyInstance): void {
  const { config } = app.parts
  const terms = () => ({ imports: config.importRetentionDays, notificaties: config.notificationDaysRetained })

  app.get(PATH, { config: { access: 'beheer', rol: 'viewer' } }, async (_request, reply) => {
    const [due, runs, [job]] = await Promise.all([
      toRemove(app.read, config),
      app.read.selectFrom('retentionRun').selectAll().orderBy('id', 'desc').limit(10).execute(),
      app.reader.sql<{ bezig: boolean }[]>`select locked_at is not null as bezig from jobs
        where task_identifier = ${TASK} and attempts < max_attempts and run_at <= now() limit 1`,
    ])
    return reply.page('retention', {
      title: t('Bewaartermijnen'),
      terms: terms(),
      due,
      runs,
      next: nextRun().toISOString(),
      bezig: job ? (job.bezig ? 'bezig' : 'wacht') : null,
    })
  })

  app.get(`${PATH}/uitvoeren`, { config: { access: 'beheer', rol: 'administrator' } }, async (_request, reply) =>
    reply.page('retention-run', {
      title: t('Nu opruimen'),
      breadcrumbs: [{ path: PATH, name: t('Bewaartermijnen') }],
      terms: terms(),
      due: await toRemove(app.read, config),
    }),
  )

  app.post(`${PATH}/uitvoeren`, { config: { access: 'beheer', rol: 'administrator' } }, async (request, reply) => {
    await mutateFromPage(request, async (m) => {
      await m.enqueue(TASK, { door: signedIn(request).gebruikersnaam }, { jobKey: TASK })
      m.audit({
        handeling: 'bewaartermijnen-uitvoeren',
        soort: 'bewaartermijnen',
        nieuw: await toRemove(m.read, config),
      })
    })
    return redirectWith(
      request,
      reply,
      PATH,
      t('Het opruimen is gestart. De uitslag staat hieronder zodra het klaar is.'),
    )
  })
}
