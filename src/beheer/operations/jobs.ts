// Jobs: the queue of jobs as it stands: why each waits, and what to do about it.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import { UUID_PATTERN } from '../../lib/uuid.ts'
import { mutateFromPage } from '../frame/change.ts'
import type { FormValues } from '../frame/form.ts'
import { formatDuration, formatNumber } from '../frame/format.ts'
import { type Cursor, keysetPage } from '../frame/keyset-list.ts'
import { redirectWith } from '../frame/page.ts'
import { t, words } from '../language/language.ts'
import type { Tone } from '../notificaties/notificatie-labels.ts'
import { queuePictures } from '../notificaties/queue-picture.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { id: string } }

const STATES = words(
  {
    wacht: { tone: 'let-op', text: 'Wacht', help: 'Kan beginnen, zodra een worker er plaats voor heeft.' },
    bezig: { tone: 'bezig', text: 'Bezig', help: 'Een worker voert de taak uit.' },
    gepland: { tone: '', text: 'Gepland', help: 'Begint op een later moment.' },
    mislukt: { tone: 'fout', text: 'Mislukt', help: 'Alle pogingen zijn gebruikt. Er gebeurt niets meer vanzelf.' },
  } as const,
  'text',
  'help',
) satisfies Record<string, { tone: Tone; text: string; help: string }>
type State = keyof typeof STATES

/** What a kind of job is for. */
const JOB_WORDS: Record<keyof GraphileWorker.Tasks, string> = words({
  'send-notificaties': 'Notificaties versturen',
  'import-dry-run': 'Een upload proefdraaien',
  'import-batch': 'Deel van een import verwerken',
  'import-receipt': 'Het bewijs van een import maken',
  'remove-import': 'Verwijderde import opruimen',
  'remove-draft': 'Niet gestarte upload opruimen',
  'remove-file': 'Bestand van een document verwijderen',
  'remove-bytes': 'Opgeslagen bytes verwijderen',
  'fold-counts': 'Aantallen van lijsten bijwerken',
  'remove-keys': 'Verlopen sleutels van aanvragen opruimen',
  'make-snapshot': 'Momentopname voor een kopie maken',
  'watch-feed': 'Nakijken of de wijzigingen nog op elkaar aansluiten',
  'watch-alerts': 'Nakijken of er iets te melden is',
  'send-alerts': 'Meldingen versturen',
  'send-digests': 'Dagelijkse samenvattingen klaarzetten',
  'rotate-signing-keys': 'Sleutels van het token-endpoint vervangen',
  'complete-relation': 'Verwijzing bij een andere dienst afmaken',
  'remove-relation': 'Verwijzing bij een andere dienst verwijderen',
  'replay-messages': 'Berichten opnieuw klaarzetten voor een abonnement',
  'remove-abonnementen': 'Opgezegde abonnementen opruimen',
  'block-abonnementen': 'Abonnementen blokkeren waarvoor te veel wacht',
  'takeover-step': 'Een andere installatie overnemen',
  reseal: 'Versleutelen met de nieuwste sleutel',
  retention: 'Opruimen na de bewaartermijn',
})

function labelOf(task: string): string {
  return Object.hasOwn(JOB_WORDS, task) ? JOB_WORDS[task as keyof typeof JOB_WORDS] : task
}

type Group = { kind: string; fault: string; count: number; name: string; latest: string }

/** Jobs are counted up to here: pages that are open count every ten seconds. */
export const COUNT_JOBS_TO = 100_000
/** The oldest first: a job that failed was tried for days, and those of now stand behind it. */
const COUNTED = sql`(select * from jobs order by id limit ${sql.lit(COUNT_JOBS_TO)})`
/** More failed jobs than this are tried again in several times. */
const MOST = 10_000
/** Of an error what its jobs have in common: its first line, without the numbers in it. */
const ERROR_KIND = sql<string>`left(regexp_replace(split_part(coalesce(j.last_error, ''), E'\\n', 1), ${sql.lit(`${UUID_PATTERN}|[0-9]+`)}, '…', 'g'), 200)`

type Job = {
  id: number
  task: string
  state: State
  belongsTo: string | null
  attempts: number
  maxAttempts: number
  lastFault: string | null
  createdAt: string
  runAt: string
  busySince: string | null
  worker: string | null
}

export function registerJobs(app: FastifyInstance): void {
  const { reader } = app

  app.get('/taken', { config: viewing }, async (request, reply) => {
    const query = request.query as FormValues
    const text = (name: string) => String([query[name]].flat().at(-1) ?? '').replaceAll('\0', '')
    const state = Object.hasOwn(STATES, text('staat')) ? (text('staat') as State) : undefined
    const kind = text('taak').slice(0, 128)
    const [list, counts, failures, queue] = await Promise.all([
      keysetPage(request, {
        key: ({ id }: Job) => String(id),
        rows: (limit, cursor) => selectJobs(state, kind, limit, cursor, text('sorteer') === 'nummer'),
      }),
      countByState(kind),
      readFailures(),
      queuePictures(app.reader, 'jobs'),
    ])
    const per = Object.fromEntries(counts.map((row) => [row.staat, row.count]))
    const inQueue = counts.reduce((sum, row) => sum + row.inQueue, 0)
    return reply.page('jobs', {
      title: t('Taken'),
      defaultSort: '-nummer',
      list,
      rows: list.rows.map((job) => ({ ...inWords(job), ...pageOf(job.belongsTo) })),
      failures,
      queue,
      state: state ?? '',
      kind,
      countedTo: inQueue < COUNT_JOBS_TO ? undefined : COUNT_JOBS_TO,
      states: Object.entries(STATES).map(([name, words]) => ({ name, ...words, count: per[name] ?? 0 })),
      kinds: [['', t('Alle')], ...Object.entries(JOB_WORDS)],
    })
  })

  // Before the single job, whose address would take it.
  app.post('/taken/opnieuw', { config: operating }, async (request, reply) => {
    const { taak, fout } = (request.body ?? {}) as FormValues
    const count = await retryFailed(request, String(taak ?? ''), String(fout ?? ''))
    const text =
      count === 0
        ? t('Er was geen mislukte taak om opnieuw uit te voeren.')
        : count === 1
          ? t('De taak wordt opnieuw uitgevoerd. Als zij klaar is staat zij niet meer hier.')
          : t`${formatNumber(count)} taken worden opnieuw uitgevoerd. Wat klaar is staat niet meer hier.`
    return redirectWith(request, reply, '/taken', text, count === 0 ? 'info' : 'goed')
  })

  app.get<Params>('/taken/:id', { config: viewing }, async (request, reply) => {
    const job = await requireJob(request.params.id)
    const [workers, [waiting]] = await Promise.all([readWorkers(), readWaiting(job.id)])
    return reply.page('job', {
      title: `${labelOf(job.task)} (${job.id})`,
      breadcrumbs: [{ path: '/taken', name: t('Taken') }],
      job: inWords(job),
      age: job.busySince === null ? null : formatDuration((Date.now() - Date.parse(job.busySince)) / 1000),
      why: whyWaiting(job, workers, waiting?.bezet ?? false),
      ...pageOf(job.belongsTo),
    })
  })

  app.get<Params>('/taken/:id/verwijderen', { config: operating }, async (request, reply) => {
    const job = await requireJob(request.params.id)
    return reply.page('job-delete', {
      title: t('Taak verwijderen'),
      breadcrumbs: [
        { path: '/taken', name: t('Taken') },
        { path: `/taken/${job.id}`, name: String(job.id) },
      ],
      job: inWords(job),
    })
  })

  // graphile-worker's own functions leave a job alone that a worker has.
  app.post<Params>('/taken/:id/opnieuw', { config: operating }, async (request, reply) => {
    const job = await requireJob(request.params.id)
    const done = await changeJobs(
      request,
      job,
      'taak-opnieuw',
      (id) => sql`select id from reschedule_jobs(array[${id}::bigint], run_at => now(), attempts => 0)`,
    )
    if (!done) return redirectWith(request, reply, `/taken/${job.id}`, notFailed(), 'fout')
    return redirectWith(
      request,
      reply,
      '/taken',
      t('De taak wordt opnieuw uitgevoerd. Als zij klaar is staat zij niet meer hier.'),
    )
  })
  app.post<Params>('/taken/:id/verwijderen', { config: operating }, async (request, reply) => {
    const job = await requireJob(request.params.id)
    const done = await changeJobs(
      request,
      job,
      'taak-verwijderen',
      (id) => sql`select id from complete_jobs(array[${id}::bigint])`,
    )
    if (!done) return redirectWith(request, reply, `/taken/${job.id}`, notFailed(), 'fout')
    return redirectWith(request, reply, '/taken?staat=mislukt', t('De taak is verwijderd.'))
  })

  /** Of the jobs that are counted: those in each state of the kind `taak` ('': any), and all that are in it. */
  async function countByState(task: string) {
    const { rows } = await sql<{ staat: State; count: number; inQueue: number }>`
      select job_state(j.locked_at, j.attempts, j.max_attempts, j.run_at) as staat, count(*)::int as "inQueue",
        (count(*) filter (where ${task} = '' or j.task_identifier = ${task}))::int as count
      from ${COUNTED} j group by 1`.execute(reader.db)
    return rows
  }

  /** Failed jobs by kind and error, the most frequent first. */
  async function readFailures(): Promise<Group[]> {
    const { rows } = await sql<Omit<Group, 'name'>>`
      select j.task_identifier as kind, ${ERROR_KIND} as fault, count(*)::int as count, max(j.updated_at) as latest
      from ${COUNTED} j where job_state(j.locked_at, j.attempts, j.max_attempts, j.run_at) = 'mislukt'
      group by 1, 2 order by 3 desc limit 10`.execute(reader.db)
    return rows.map((row) => ({ ...row, name: labelOf(row.kind) }))
  }

  async function retryFailed(request: FastifyRequest, task: string, fout: string): Promise<number> {
    return mutateFromPage(request, async (m) => {
      const { rows } = await sql<{ id: number }>`
        select r.id from reschedule_jobs(array(
          select j.id from jobs j
          where job_state(j.locked_at, j.attempts, j.max_attempts, j.run_at) = 'mislukt'
            and (${task} = '' or (j.task_identifier = ${task} and ${ERROR_KIND} = ${fout}))
          order by j.id limit ${MOST}), run_at => now(), attempts => 0) r`.execute(m.trx)
      m.audit({
        handeling: 'taken-opnieuw',
        soort: 'taak',
        weergave: task ? labelOf(task) : 'alle mislukte taken',
        nieuw: { aantal: rows.length, ...(fout && { fout }) },
      })
      return rows.length
    })
  }

  async function changeJobs(
    request: Parameters<typeof mutateFromPage>[0],
    job: Job,
    handeling: string,
    statement: (id: number) => RawBuilder<unknown>,
  ): Promise<boolean> {
    try {
      await mutateFromPage(request, async (m) => {
        // Again: somebody may have done it meanwhile, and a worker taken it up.
        const { rows } = await sql`select id from jobs where id = ${job.id}
          and job_state(locked_at, attempts, max_attempts, run_at) = 'mislukt'`.execute(m.trx)
        if (rows.length === 0 || (await statement(job.id).execute(m.trx)).rows.length === 0) throw TOO_LATE
        const { task, belongsTo, attempts, lastFault } = job
        m.audit({
          handeling,
          soort: 'taak',
          id: String(job.id),
          weergave: `${task} ${belongsTo ?? ''}`.trim(),
          oud: { taak: task, belongsTo, pogingen: attempts, lastFault },
        })
      })
      return true
    } catch (error) {
      if (error === TOO_LATE) return false
      throw error
    }
  }

  async function selectJobs(
    state: State | undefined,
    task: string,
    limit: number,
    { na, voor }: Cursor,
    upwards: boolean,
  ): Promise<Job[]> {
    const back = upwards === (voor === undefined)
    const from = /^\d{1,15}$/.exec(String(na ?? voor ?? ''))?.[0]
    const order = back ? sql`asc` : sql`desc`
    const { rows: ids } = await sql<{ id: number }>`
      select id from jobs
      where ${state ? sql`job_state(locked_at, attempts, max_attempts, run_at) = ${state}` : sql`true`}
        and ${task ? sql`task_identifier = ${task}` : sql`true`}
        and ${from ? sql`id ${back ? sql`>` : sql`<`} ${from}::text::bigint` : sql`true`}
      order by id ${order} limit ${limit}`.execute(reader.db)
    const found = await readJobs(ids.map(({ id }) => id))
    return back ? found : found.reverse()
  }

  async function readJobs(ids: number[]): Promise<Job[]> {
    if (ids.length === 0) return []
    const { rows } = await sql<Job>`
      select * from job_rows(array[${sql.join(ids)}]::bigint[]) order by id`.execute(reader.db)
    return rows
  }

  async function requireJob(text: string): Promise<Job> {
    const [job] = /^\d{1,15}$/.test(text) ? await readJobs([Number(text)]) : []
    if (!job) throw notFound(t('Deze taak bestaat niet (meer). Een taak die klaar is verdwijnt.'))
    return job
  }

  async function readWorkers(): Promise<Worker[]> {
    return reader.sql<
      Worker[]
    >`select name, name || ' (' || host || ', pid ' || pid || ')' as weergave, seen_at as "seenAt",
      extract(epoch from clock_timestamp() - seen_at)::float8 as stilte from worker`
  }

  async function readWaiting(id: number) {
    return reader.sql<{ bezet: boolean }[]>`
      select exists (select from jobs other
        where other.queue_name = j.queue_name and other.locked_at is not null and other.id <> j.id) as bezet
      from jobs j where j.id = ${id}`
  }
}

/** Seconds after which a worker counts as gone. It gives a sign of life every second. */
export const SILENT_AFTER = 5

type Worker = { name: string; weergave: string; seenAt: string; stilte: number }

const TOO_LATE = new Error('the job is no longer failed')
const notFailed = () => t('Dit kan alleen met een mislukte taak. De taak is intussen veranderd.')

function inWords(job: Job) {
  return { ...job, name: labelOf(job.task), words: STATES[job.state] }
}

/** Why a job stands where it stands, and what to do about it. */
function whyWaiting(job: Job, workers: Worker[], queueIsBusy: boolean): { text: string; advice: string } {
  const needed = job.task === 'send-notificaties' ? 'notificaties' : 'worker'
  const alive = workers.filter(({ name, stilte }) => name === needed && Math.abs(stilte) <= SILENT_AFTER)
  const whatToDo = t('Lees de laatste fout hieronder. Neem de oorzaak weg')
  switch (job.state) {
    case 'mislukt':
      return {
        text: t`Alle ${job.maxAttempts} pogingen zijn gebruikt. Er gebeurt niets meer vanzelf.`,
        advice: t`${whatToDo} en laat de taak opnieuw uitvoeren. Verwijder de taak alleen als haar werk niet meer nodig is.`,
      }
    case 'gepland':
      if (job.attempts === 0)
        return { text: t('De taak is gepland voor een later moment.'), advice: t('U hoeft niets te doen.') }
      return {
        text: t`Poging ${job.attempts} mislukte. De taak wordt vanzelf opnieuw geprobeerd, steeds wat later.`,
        advice: t`${whatToDo}, dan lukt de volgende poging.`,
      }
    case 'bezig': {
      const own = workers.find(({ weergave }) => weergave === job.worker)
      if (job.worker === null || !own)
        return {
          text: t('De worker die deze taak had bestaat niet meer.'),
          advice: t('U hoeft niets te doen: een andere worker neemt de taak binnen 20 seconden over.'),
        }
      if (Math.abs(own.stilte) > SILENT_AFTER)
        return {
          text: t`De worker is stil sinds ${formatDuration(Math.abs(own.stilte))}.`,
          advice: t('Controleer of zijn proces nog draait. Een andere worker neemt de taak binnen 20 seconden over.'),
        }
      return { text: t('De worker is actief en werkt aan deze taak.'), advice: t('U hoeft niets te doen.') }
    }
    case 'wacht':
      if (alive.length === 0)
        return {
          text: t('Er draait geen worker die deze taak kan uitvoeren.'),
          advice: t('Start het programma met de opdracht worker (of start). De taak begint dan vanzelf.'),
        }
      if (queueIsBusy)
        return {
          text: t('Een andere taak uit dezelfde rij is nog bezig; zij gaan een voor een.'),
          advice: t('U hoeft niets te doen.'),
        }
      return {
        text: t('De taak kan beginnen, maar alle plaatsen bij de workers zijn bezet.'),
        advice: t('U hoeft niets te doen. Duurt het lang, start dan meer workers of verhoog WORKER_CONCURRENCY.'),
      }
  }
}

/** The page of what a job belongs to. */
function pageOf(belongsTo: string | null): { path?: string } {
  const [, uuid] = /^import ([0-9a-f-]{36})$/.exec(belongsTo ?? '') ?? []
  return uuid ? { path: `/imports/${uuid}` } : {}
}
