// From a directory with files to documents, with the two commands of an import.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readImportCsv } from '../../src/documenten/import/csv.ts'
import { BASE, givenInformatieobjecttype, testApp } from '../app.ts'
import { givenFile } from '../documenten/importing.ts'
import { programEnv } from '../program-env.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

t.test('a directory becomes a CSV, and the CSV documents', { timeout: 300_000 }, async (t) => {
  const app = await testApp(t)
  const { config } = app.parts
  const type = await givenInformatieobjecttype(app)
  await givenFile(app, 'archief/2024/verslag_MT.pdf', '%PDF-1.7 inhoud')
  await givenFile(app, 'archief/é.txt', 'tekst')
  await givenFile(app, 'buiten.txt')
  await mkdir(join(app.importDir, 'archief/leeg'))
  await writeFile(Buffer.concat([Buffer.from(join(app.importDir, 'archief/oud ')), Buffer.from([0xe9, 0x25])]), '')
  const day = new Date('2023-06-15T12:00:00Z')
  await utimes(join(app.importDir, 'archief/2024/verslag_MT.pdf'), day, day)
  const out = join(app.importDir, '..', 'uit.csv')
  const env = {
    DATABASE_URL: config.databaseUrl ?? '',
    SECRET_KEY: 'key of the tests, long enough',
    IMPORT_DOCUMENTEN_BASE_DIR: app.importDir,
  }
  const run = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [MAIN, 'import', ...args], { env: programEnv(env) }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
      )
    })
  const prepare = [
    'prepare',
    join(app.importDir, 'archief'),
    '--type',
    type,
    '--bronorganisatie',
    '000000000',
    '--out',
    out,
  ]
  const made = await run(...prepare, '--auteur', 'Archief', '--json')
  t.match(JSON.parse(made.stdout), { file: out, files: 3, bytes: 20, toComplete: [] }, made.stderr)
  const text = await readFile(out)
  t.equal(text.toString('utf8', 0, 8), '\ufeffuuid;')
  const { header, regels } = await readImportCsv(
    (async function* () {
      yield text
    })(),
  )
  const rows = (await Array.fromAsync(regels)).map((cells) =>
    Object.fromEntries(header.map((naam, i) => [naam, cells[i]])),
  )
  t.match(rows, [
    {
      bestandspad: 'archief/2024/verslag_MT.pdf',
      bestandsnaam: 'verslag_MT.pdf',
      titel: 'verslag MT',
      creatiedatum: '2023-06-15',
      formaat: 'application/pdf',
      bestandsomvang: '15',
      'integriteit.waarde': createHash('sha256').update('%PDF-1.7 inhoud').digest('hex'),
      taal: 'nld',
      auteur: 'Archief',
      informatieobjecttype: type,
    },
    { bestandspad: 'archief/oud %E9%25', bestandsomvang: '0', formaat: '' },
    { bestandspad: 'archief/é.txt', titel: 'é', formaat: 'text/plain' },
  ])
  t.match(await run(...prepare), { code: 0, stdout: /Complete in every row: auteur\./ })
  const elsewhere = await run('prepare', join(app.importDir, '..'), '--type', type, '--out', out)
  t.match(elsewhere, { code: 64, stderr: /is not in the import directory/ })
  t.match(await run('prepare', join(app.importDir, 'weg'), '--type', type, '--out', out), { code: 64 })

  // The worker of this test runs while the command watches.
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as { port: number }
  const filled = text.toString().replaceAll(BASE, `http://127.0.0.1:${port}`)
  await writeFile(out, `${filled}${';'.repeat(26)}\r\n${filled.split('\r\n')[1]!.replace('archief/2024', 'weg')}\r\n`)
  let watching = true
  const watched = run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`, '--watch', '--json').finally(
    () => {
      watching = false
    },
  )
  while (watching) await app.runJobs()
  const { code, stdout, stderr } = await watched
  t.equal(code, 1, 'a row was refused')
  t.match(
    JSON.parse(stdout || '{}'),
    {
      status: 'finished',
      processedSuccessfully: 3,
      processedInvalid: 1,
      emptyRows: 1,
      reasons: [{ reason: 'bestandspad: Het bestand bestaat niet.', rows: 1 }],
    },
    stderr,
  )
  // What failed is tried again without a file, when what it lacked is there.
  const failed = (JSON.parse(stdout) as { uploadUrl: string }).uploadUrl.split('/').at(-2) as string
  const again = await run('run', '--rest', failed, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`)
  t.match(again, { code: 0, stdout: /The import has begun/ })
  await app.runJobs()
  t.match(
    (await app.call('GET', '/documenten/api/v1/import?pageSize=1')).body.results[0],
    { total: 1, processedInvalid: 1 },
    'only the row that failed',
  )
  t.match(await run('run', '--id', 'beheer'), { code: 64, stderr: /name a file/ })
  const as = ['--id', 'beheer', '--api', `http://127.0.0.1:${port}`]
  t.match(await run('list', ...as), { code: 0, stdout: new RegExp(`${failed}  finished  4/4, 1 refused`) })
  t.match(await run('watch', failed, ...as), { code: 1, stdout: /3 documents made, 1 rows refused/ })
  const report = await run('report', failed, ...as, '--rows', 'mislukt')
  t.equal(report.stdout.trim().split('\r\n').length, 2, 'the header and the row that failed')
  t.match(await run('cancel', failed, ...as), { code: 64, stderr: /al gestopt/ })
  t.match(await run('delete', failed, ...as), { code: 0, stdout: /its documents stay/ })
  t.match(await run('report', failed, ...as), { code: 64, stderr: /Niet gevonden/ })
  await writeFile(out, 'x')
  t.match(await run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`), {
    code: 64,
    stderr: /ontbreken/,
  })
  t.match(
    (await app.call('GET', '/documenten/api/v1/import?pageSize=1')).body.results[0],
    { status: 'finished' },
    'nothing is left open',
  )

  // With --wait the next one waits behind an open one, and is refused without.
  await writeFile(out, filled)
  const open = await app.call('POST', '/documenten/api/v1/import/create')
  t.match(await run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`), { code: 64 })
  const waits = await run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`, '--wait')
  t.match(waits, { code: 0, stdout: /waits at place 1/ })
  t.equal((await app.call('DELETE', `${new URL(open.body.url).pathname}/delete`)).status, 204)
  await app.runJobs()
  t.match((await app.call('GET', '/documenten/api/v1/import?pageSize=1')).body.results[0], { status: 'finished' })
})
