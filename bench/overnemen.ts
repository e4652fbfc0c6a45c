// How fast is a takeover from a database: a generated Open Zaak of so many cases, read and written in rounds.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { secretBox } from '../src/autorisaties/secret-box.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openStores, prepareNewStore } from '../src/documenten/storage/choose.ts'
import { startWorker } from '../src/jobs/worker.ts'
import { portionRunner } from '../src/overnemen/portions.ts'
import { beginRound, progressOf } from '../src/overnemen/round.ts'
import { openLog } from '../src/telemetry/log.ts'
import { overneemStap } from '../tasks/takeover-step.ts'
import { fillOpenZaak } from '../test/overnemen/open-zaak-database.ts'

/** `--zaken 200000`: cases, with a role, one or two statuses and a line of the audit trail each; `--documents`, `--naast`. */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      zaken: { type: 'string', default: '200000' },
      documents: { type: 'string', default: '100000' },
      naast: { type: 'string', default: '2' },
    },
  })
  const [zaken, documents, naast] = [Number(values.zaken), Number(values.documents), Number(values.naast)]
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  const server = await startEmbedded(join(directory, 'data'))
  try {
    const url = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href
    const admin = postgres(server.url, { max: 1, onnotice: () => {} })
    await admin.unsafe('create database oud')
    await admin.unsafe('create database nieuw')
    await admin.end()
    await fillOpenZaak(url('oud'), { zaken, documents })
    await migrate(url('nieuw'))
    const config = readConfig({
      DATABASE_URL: url('nieuw'),
      DATA_DIR: directory,
      SECRET_KEY: 'key of the benchmark, long enough',
      LOG_LEVEL: 'error',
    })
    const log = openLog(config.logLevel)
    const database = openDatabase(url('nieuw'), { max: naast + 4, name: 'bench' })
    await prepareNewStore(config, database, config.documentenBackend)
    const parts = { config, database, box: secretBox(config.secretKey!), store: openStores(config, log).store, log }
    const runner = portionRunner(parts)
    const worker = await startWorker({
      databaseUrl: url('nieuw'),
      taskList: { 'overneem-stap': overneemStap({ database, runner }) },
      concurrency: naast,
      log,
    })
    try {
      for (const title of ['first round', 'second round, nothing changed']) {
        const begun = performance.now()
        let highest = 0
        const round = await beginRound(parts, {
          soort: 'open-zaak',
          url: url('oud'),
          secret: url('oud'),
          proef: false,
          alleenLezen: true,
          settings: { oudeUrls: [], bytes: 'kopieren', naast },
        })
        while ((await round.state()).status === 'loopt') {
          await sleep(200)
          highest = Math.max(highest, process.memoryUsage().rss)
        }
        await round.release()
        const steps = await progressOf(parts, await round.state())
        console.log(
          `${title}: ${((performance.now() - begun) / 1000).toFixed(1)} s, at most ${Math.round(highest / 2 ** 20)} MB`,
        )
        for (const { naam, gelezen, seconden } of steps)
          if (gelezen > 1000)
            console.log(
              `  ${naam.padEnd(26)}${String(gelezen).padStart(8)} rows, ${Math.round(gelezen / seconden!)} a second`,
            )
      }
    } finally {
      await worker.stop()
      await runner.close()
      await database.close()
    }
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
