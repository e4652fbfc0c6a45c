// Jobs: the queue of jobs as it stands: why each waits, and what to do about it.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { notFound } from '../http/problem.ts'
import { UUID_PATTERN } from '../http/uuid.ts'
import { mutateFromPage } from './change.ts'
import type { FormValues } from './form.ts'
import { formatDuration, formatNumber } from './format.ts'
import { type Cursor, keysetPage } from './keyset-list.ts'
import { t, words } from './language/language.ts'
import type { Tone } from './notificatie-labels.ts'
import { redirectWith } from './page.ts'

const viewing = { access: 'beheer', rol: 'viewer' } as const
const operating = { access: 'beheer', rol: 'operator' } as const
type Params = { Params: { id: string } }

const STATES = words(
  {
    wacht: { soort: 'let-op', tekst: 'Wacht', uitleg: 'Kan beginnen, zodra een worker er plaats voor heeft.' },
    bezig: { soort: 'bezig', tekst: 'Bezig', uitleg: 'Een worker voert de taak uit.' },
    gepland: { soort: '', tekst: 'Gepland', uitleg: 'Begint op een later moment.' },
    mislukt: { soort: 'fout', tekst: 'Mislukt', uitleg: 'Alle pogingen zijn gebruikt. Er gebeurt niets meer vanzelf.' },
  } as const,
  'tekst',
  'uitleg',
) satisfies Record<string, { soort: Tone; tekst: string; uitleg: string }>
type State = keyof typeof STATES

/** What a kind of job is for. */
const JOB_WORDS: Record<keyof GraphileWorker.Tasks, string> = words({
  'verstuur-notificaties': 'Notificaties versturen',
  'import-dry-run': 'Een upload proefdraaien',
  'import-batch': 'Deel van een import verwerken',
  'remove-import': 'Verwijderde import opruimen',
  'remove-draft': 'Niet gestarte upload opruimen',
  'remove-file': 'Bestand van een document verwijderen',
  'remove-bytes': 'Opgeslagen bytes verwijderen',
  'fold-counts': 'Aantallen van lijsten bijwerken',
  'complete-relation': 'Verwijzing bij een andere dienst afmaken',
  'remove-relation': 'Verwijzing bij een andere dienst verwijderen',
  'replay-messages': 'Berichten opnieuw klaarzetten voor een abonnement',
  'remove-abonnementen': 'Opgezegde abonnementen opruimen',
  'block-abonnementen': 'Abonnementen blokkeren waarvoor te veel wacht',
  'takeover-step': 'Een andere installatie overnemen',
  retention: 'Opruimen na de bewaartermijn',
})

function labelOf(taak: string): string {
  return Object.hasOwn(JOB_WORDS, taak) ? JOB_WORDS[taak as keyof typeof JOB_WORDS] : taak
}

type Group = { taak: string; fout: string; aantal: number; naam: string; laatst: string }

/** Jobs are counted up to here: pages that are open count every ten seconds. */
export const COUNT_JOBS_TO = 100_000
/** The oldest first: a job that failed was tried for days, and those of now stand behind it. */
const COUNTED = sql`(select * from graphile_worker.jobs order by id limit ${sql.lit(COUNT_JOBS_TO)})`
/** More failed jobs than this are tried again in several times. */
const MOST = 10_000
/** Of an error what its jobs have in common: its first line, without the numbers in it. */
const ERROR_KIND = sql<string>`left(regexp_replace(split_part(coalesce(j.last_error, ''), E'\\n', 1), ${sql.lit(`${UUID_PATTERN}|[0-9]+`)}, '…', 'g'), 200)`

type Job = {
  id: number
  taak: string
  staat: State
  hoortBij: string | null
  pogingen: number
  maxPogingen: number
  laatsteFout: string | null
  gemaaktOp: string
  vanaf: string
  bezigSinds: string | null
  worker: string | null
}

export function registerJobs(app: FastifyInstance): void {
  const { db, sql: driver } = app.reader

  app.get('/taken', { config: viewing }, async (request, reply) => {
    const query = request.query as FormValues
    const tekst = (naam: string) => String([query[naam]].flat().at(-1) ?? '').replaceAll('\0', '')
    const staat = Object.hasOwn(STATES, tekst('staat')) ? (tekst('staat') as State) : undefined
    const taak = tekst('taak').slice(0, 128)
    const [list, aantallen, storingen] = await Promise.all([
      keysetPage(request, {
        key: ({ id }: Job) => String(id),
        rows: (limit, cursor) => selectJobs(staat, taak, limit, cursor, tekst('sorteer') === 'nummer'),
      }),
      countByState(taak),
      readFailures(),
    ])
    const per = Object.fromEntries(aantallen.map((row) => [row.staat, row.aantal]))
    const inQueue = aantallen.reduce((sum, row) => sum + row.inQueue, 0)
    return reply.page('jobs', {
      title: t('Taken'),
      defaultSort: '-nummer',
      list,
      rows: list.rows.map((job) => ({ ...inWords(job), ...pageOf(job.hoortBij) })),
      storingen,
      staat: staat ?? '',
      taak,
      countedTo: inQueue < COUNT_JOBS_TO ? undefined : COUNT_JOBS_TO,
      staten: Object.entries(STATES).map(([naam, woorden]) => ({ naam, ...woorden, aantal: per[naam] ?? 0 })),
      soorten: [['', t('Alle')], ...Object.entries(JOB_WORDS)],
    })
  })

  // Before the single job, whose address would take it.
  app.post('/taken/opnieuw', { config: operating }, async (request, reply) => {
    const { taak, fout } = (request.body ?? {}) as FormValues
    const aantal = await retryFailed(request, String(taak ?? ''), String(fout ?? ''))
    const tekst =
      aantal === 0
        ? t('Er was geen mislukte taak om opnieuw uit te voeren.')
        : aantal === 1
          ? t('De taak wordt opnieuw uitgevoerd. Als zij klaar is staat zij niet meer hier.')
          : t`${formatNumber(aantal)} taken worden opnieuw uitgevoerd. Wat klaar is staat niet meer hier.`
    return redirectWith(request, reply, '/taken', tekst, aantal === 0 ? 'info' : 'goed')
  })

  app.get<Params>('/taken/:id', { config: viewing }, async (request, reply) => {
    const taak = await requireJob(request.params.id)
    const [workers, [rij]] = await Promise.all([readWorkers(), readWaiting(taak.id)])
    return reply.page('job', {
      title: `${labelOf(taak.taak)} (${taak.id})`,
      breadcrumbs: [{ path: '/taken', name: t('Taken') }],
      taak: inWords(taak),
      leeftijd: taak.bezigSinds === null ? null : formatDuration((Date.now() - Date.parse(taak.bezigSinds)) / 1000),
      waarom: whyWaiting(taak, workers, rij?.bezet ?? false),
      ...pageOf(taak.hoortBij),
    })
  })

  app.get<Params>('/taken/:id/verwijderen', { config: operating }, async (request, reply) => {
    const taak = await requireJob(request.params.id)
    return reply.page('job-delete', {
      title: t('Taak verwijderen'),
      breadcrumbs: [
        { path: '/taken', name: t('Taken') },
        { path: `/taken/${taak.id}`, name: String(taak.id) },
      ],
      taak: inWords(taak),
    })
  })

  // graphile-worker's own functions leave a job alone that a worker has.
  app.post<Params>('/taken/:id/opnieuw', { config: operating }, async (request, reply) => {
    const taak = await requireJob(request.params.id)
    const gelukt = await changeJobs(
      request,
      taak,
      'taak-opnieuw',
      (id) => sql`select id from graphile_worker.reschedule_jobs(array[${id}::bigint], run_at => now(), attempts => 0)`,
    )
    if (!gelukt) return redirectWith(request, reply, `/taken/${taak.id}`, notFailed(), 'fout')
    return redirectWith(
      request,
      reply,
      '/taken',
      t('De taak wordt opnieuw uitgevoerd. Als zij klaar is staat zij niet meer hier.'),
    )
  })
  app.post<Params>('/taken/:id/verwijderen', { config: operating }, async (request, reply) => {
    const taak = await requireJob(request.params.id)
    const gelukt = await changeJobs(
      request,
      taak,
      'taak-verwijderen',
      (id) => sql`select id from graphile_worker.complete_jobs(array[${id}::bigint])`,
    )
    if (!gelukt) return redirectWith(request, reply, `/taken/${taak.id}`, notFailed(), 'fout')
    return redirectWith(request, reply, '/taken?staat=mislukt', t('De taak is verwijderd.'))
  })

  /** Of the jobs that are counted: those in each state of the kind `taak` ('': any), and all that are in it. */
  async function countByState(taak: string) {
    const { rows } = await sql<{ staat: State; aantal: number; inQueue: number }>`
      select taak_staat(j.locked_at, j.attempts, j.max_attempts, j.run_at) as staat, count(*)::int as "inQueue",
        (count(*) filter (where ${taak} = '' or j.task_identifier = ${taak}))::int as aantal
      from ${COUNTED} j group by 1`.execute(db)
    return rows
  }

  /** Failed jobs by kind and error, the most frequent first. */
  async function readFailures(): Promise<Group[]> {
    const { rows } = await sql<Omit<Group, 'naam'>>`
      select j.task_identifier as taak, ${ERROR_KIND} as fout, count(*)::int as aantal, max(j.updated_at) as laatst
      from ${COUNTED} j where taak_staat(j.locked_at, j.attempts, j.max_attempts, j.run_at) = 'mislukt'
      group by 1, 2 order by 3 desc limit 10`.execute(db)
    return rows.map((row) => ({ ...row, naam: labelOf(row.taak) }))
  }

  async function retryFailed(request: FastifyRequest, taak: string, fout: string): Promise<number> {
    return mutateFromPage(request, async (m) => {
      const { rows } = await sql<{ id: number }>`
        select r.id from graphile_worker.reschedule_jobs(array(
          select j.id from graphile_worker.jobs j
          where taak_staat(j.locked_at, j.attempts, j.max_attempts, j.run_at) = 'mislukt'
            and (${taak} = '' or (j.task_identifier = ${taak} and ${ERROR_KIND} = ${fout}))
          order by j.id limit ${MOST}), run_at => now(), attempts => 0) r`.execute(m.trx)
      m.audit({
        handeling: 'taken-opnieuw',
        soort: 'taak',
        weergave: taak ? labelOf(taak) : 'alle mislukte taken',
        nieuw: { aantal: rows.length, ...(fout && { fout }) },
      })
      return rows.length
    })
  }

  async function changeJobs(
    request: Parameters<typeof mutateFromPage>[0],
    taak: Job,
    handeling: string,
    statement: (id: number) => RawBuilder<unknown>,
  ): Promise<boolean> {
    try {
      await mutateFromPage(request, async (m) => {
        // Again: somebody may have done it meanwhile, and a worker taken it up.
        const { rows } = await sql`select id from graphile_worker.jobs where id = ${taak.id}
          and taak_staat(locked_at, attempts, max_attempts, run_at) = 'mislukt'`.execute(m.trx)
        if (rows.length === 0 || (await statement(taak.id).execute(m.trx)).rows.length === 0) throw TOO_LATE
        const { taak: soort, hoortBij, pogingen, laatsteFout } = taak
        m.audit({
          handeling,
          soort: 'taak',
          id: String(taak.id),
          weergave: `${soort} ${hoortBij ?? ''}`.trim(),
          oud: { taak: soort, hoortBij, pogingen, laatsteFout },
        })
      })
      return true
    } catch (error) {
      if (error === TOO_LATE) return false
      throw error
    }
  }

  async function selectJobs(
    staat: State | undefined,
    taak: string,
    limit: number,
    { na, voor }: Cursor,
    upwards: boolean,
  ): Promise<Job[]> {
    const back = upwards === (voor === undefined)
    const from = /^\d{1,15}$/.exec(String(na ?? voor ?? ''))?.[0]
    const order = back ? sql`asc` : sql`desc`
    const { rows: ids } = await sql<{ id: number }>`
      select id from graphile_worker.jobs
      where ${staat ? sql`taak_staat(locked_at, attempts, max_attempts, run_at) = ${staat}` : sql`true`}
        and ${taak ? sql`task_identifier = ${taak}` : sql`true`}
        and ${from ? sql`id ${back ? sql`>` : sql`<`} ${from}::text::bigint` : sql`true`}
      order by id ${order} limit ${limit}`.execute(db)
    const found = await readJobs(ids.map(({ id }) => id))
    return back ? found : found.reverse()
  }

  async function readJobs(ids: number[]): Promise<Job[]> {
    if (ids.length === 0) return []
    const { rows } = await sql<Job>`
      select * from taken(array[${sql.join(ids)}]::bigint[]) order by id`.execute(db)
    return rows
  }

  async function requireJob(text: string): Promise<Job> {
    const [taak] = /^\d{1,15}$/.test(text) ? await readJobs([Number(text)]) : []
    if (!taak) throw notFound(t('Deze taak bestaat niet (meer). Een taak die klaar is verdwijnt.'))
    return taak
  }

  async function readWorkers(): Promise<Worker[]> {
    return driver<
      Worker[]
    >`select naam, naam || ' (' || host || ', pid ' || pid || ')' as weergave, gezien_op as "gezienOp",
      extract(epoch from clock_timestamp() - gezien_op)::float8 as stilte from worker`
  }

  async function readWaiting(id: number) {
    return driver<{ bezet: boolean }[]>`
      select exists (select from graphile_worker.jobs other
        where other.queue_name = j.queue_name and other.locked_at is not null and other.id <> j.id) as bezet
      from graphile_worker.jobs j where j.id = ${id}`
  }
}

type Worker = { naam: string; weergave: string; gezienOp: string; stilte: number }

const TOO_LATE = new Error('the job is no longer failed')
const notFailed = () => t('Dit kan alleen met een mislukte taak. De taak is intussen veranderd.')
const STIL_NA = 5

function inWords(taak: Job) {
  return { ...taak, naam: labelOf(taak.taak), woorden: STATES[taak.staat] }
}

/** Why a job stands where it stands, and what to do about it. */
function whyWaiting(taak: Job, workers: Worker[], rijBezet: boolean): { tekst: string; advies: string } {
  const nodig = taak.taak === 'verstuur-notificaties' ? 'notificaties' : 'worker'
  const levend = workers.filter(({ naam, stilte }) => naam === nodig && Math.abs(stilte) <= STIL_NA)
  const storing = t('Lees de laatste fout hieronder. Neem de oorzaak weg')
  switch (taak.staat) {
    case 'mislukt':
      return {
        tekst: t`Alle ${taak.maxPogingen} pogingen zijn gebruikt. Er gebeurt niets meer vanzelf.`,
        advies: t`${storing} en laat de taak opnieuw uitvoeren. Verwijder de taak alleen als haar werk niet meer nodig is.`,
      }
    case 'gepland':
      if (taak.pogingen === 0)
        return { tekst: t('De taak is gepland voor een later moment.'), advies: t('U hoeft niets te doen.') }
      return {
        tekst: t`Poging ${taak.pogingen} mislukte. De taak wordt vanzelf opnieuw geprobeerd, steeds wat later.`,
        advies: t`${storing}, dan lukt de volgende poging.`,
      }
    case 'bezig': {
      const eigen = workers.find(({ weergave }) => weergave === taak.worker)
      if (taak.worker === null || !eigen)
        return {
          tekst: t('De worker die deze taak had bestaat niet meer.'),
          advies: t('U hoeft niets te doen: een andere worker neemt de taak binnen 20 seconden over.'),
        }
      if (Math.abs(eigen.stilte) > STIL_NA)
        return {
          tekst: t`De worker is stil sinds ${formatDuration(Math.abs(eigen.stilte))}.`,
          advies: t('Controleer of zijn proces nog draait. Een andere worker neemt de taak binnen 20 seconden over.'),
        }
      return { tekst: t('De worker is actief en werkt aan deze taak.'), advies: t('U hoeft niets te doen.') }
    }
    case 'wacht':
      if (levend.length === 0)
        return {
          tekst: t('Er draait geen worker die deze taak kan uitvoeren.'),
          advies: t('Start het programma met de opdracht worker (of start). De taak begint dan vanzelf.'),
        }
      if (rijBezet)
        return {
          tekst: t('Een andere taak uit dezelfde rij is nog bezig; zij gaan een voor een.'),
          advies: t('U hoeft niets te doen.'),
        }
      return {
        tekst: t('De taak kan beginnen, maar alle plaatsen bij de workers zijn bezet.'),
        advies: t('U hoeft niets te doen. Duurt het lang, start dan meer workers of verhoog WORKER_CONCURRENCY.'),
      }
  }
}

/** The page of what a job belongs to. */
function pageOf(hoortBij: string | null): { path?: string } {
  const [, uuid] = /^import ([0-9a-f-]{36})$/.exec(hoortBij ?? '') ?? []
  return uuid ? { path: `/imports/${uuid}` } : {}
}
