// From a directory with files to documents, with the two commands of an import.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { prepareFile } from '../../src/cli/import-file.ts'
import { sidecarIn } from '../../src/cli/import-sidecars.ts'
import { readImportCsv } from '../../src/documenten/import/csv.ts'
import { readImportXlsx } from '../../src/documenten/import/xlsx.ts'
import { BASE, givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
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
  t.match(await run(...prepare), { code: 64, stderr: /is there already/ }, 'somebody may have filled it in')
  await rm(out)
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
  t.match(await run('cancel', failed, ...as), { code: 65, stderr: /al gestopt/ })
  t.match(await run('delete', failed, ...as), { code: 0, stdout: /its documents stay/ })
  t.match(await run('report', failed, ...as), { code: 64, stderr: /Niet gevonden/ })
  await writeFile(out, 'x')
  t.match(await run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`), {
    code: 65,
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
  t.match(await run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`), { code: 75 })
  const waits = await run('run', out, '--id', 'beheer', '--api', `http://127.0.0.1:${port}`, '--wait')
  t.match(waits, { code: 0, stdout: /waits at place 1/ })
  t.notMatch(waits.stderr, /same file/)
  t.equal((await app.call('DELETE', `${new URL(open.body.url).pathname}/delete`)).status, 204)
  await app.runJobs()
  const [done] = (await app.call('GET', '/documenten/api/v1/import?pageSize=1')).body.results
  t.match(done, { status: 'finished' })
  const same = new RegExp(
    `The same file again: import ${uuidOf(done.url)} made ${done.processedSuccessfully} documents`,
  )
  t.match(await run('run', out, ...as), { code: 0, stderr: same }, 'it is said before it starts')
})

const rowsOf = async (
  bytes: Buffer,
  read = readImportCsv as (bytes: AsyncIterable<Uint8Array>) => ReturnType<typeof readImportCsv>,
) => {
  const { header, regels } = await read(
    (async function* () {
      yield bytes
    })(),
  )
  return (await Array.fromAsync(regels)).map((cells) =>
    Object.fromEntries(header.map((name, i) => [name, cells[i] ?? ''])),
  )
}

async function givenDirectory(t: { teardown(work: () => unknown): unknown }) {
  const base = await mkdtemp(join(tmpdir(), 'zaakstroom-voorbereiden-'))
  t.teardown(() => rm(base, { recursive: true, force: true }))
  const root = join(base, 'café')
  await mkdir(root)
  const out = join(base, 'café', 'uit.csv')
  const prepare = (options: Partial<Parameters<typeof prepareFile>[0]> = {}) =>
    prepareFile({
      root,
      base,
      below: 'café',
      out,
      given: { informatieobjecttype: 'Brief (ALG)', bronorganisatie: '012345676' },
      exclude: ['Thumbs.db', '*.tmp'],
      sidecars: false,
      caseOf: async () => undefined,
      counted: () => {},
      ...options,
    })
  return { base, root, out, prepare }
}

t.test('what cannot be taken along is listed apart, and the rest is safe for a spreadsheet', async (t) => {
  const { root, out, prepare } = await givenDirectory(t)
  await writeFile(join(root, '=HYPERLINK("http:,,x").txt'), 'x')
  await writeFile(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from('.eml')]), 'From: a')
  await writeFile(join(root, 'Thumbs.db'), 'x')
  await writeFile(join(root, 'met\\streep.txt'), 'x')
  await symlink('Thumbs.db', join(root, 'koppeling'))
  const made = await prepare()
  t.match(made, { files: 2, leftOut: 2, refused: 1, list: `${out}.niet-mee.csv` })
  const text = await readFile(out, 'utf8')
  t.notMatch(text, /(^|;)"?=/m, 'no cell is a formula')
  t.match(await rowsOf(Buffer.from(text)), [
    { bestandspad: 'café/=HYPERLINK("http:,,x").txt', formaat: 'text/plain', bestandsnaam: '' },
    { bestandspad: 'café/caf%E9.eml', formaat: 'message/rfc822' },
  ])
  const list = await readFile(`${out}.niet-mee.csv`, 'utf8')
  for (const line of [
    /Thumbs\.db";?.*overgeslagen|Thumbs\.db;overgeslagen/,
    /koppeling;overgeslagen/,
    /met\\streep\.txt;geweigerd/,
  ])
    t.match(list, line)
  t.same(await stat(`${out}.bezig`).catch(() => 'gone'), 'gone')
})

t.test('one that was broken off takes over what it had read', async (t) => {
  const { root, out, prepare } = await givenDirectory(t)
  for (const name of ['a', 'b', 'c']) await writeFile(join(root, name), name)
  const { size, mtimeMs: mtime } = await stat(join(root, 'a'))
  const line = { path: 'café/a', size, mtime, row: { bestandspad: 'café/a', titel: 'van eerder' } }
  await writeFile(`${out}.bezig`, `${JSON.stringify(line)}\n{"path":"café/b","si`)
  t.match(await prepare(), { files: 3, takenOver: 1 })
  t.match(await rowsOf(await readFile(out)), [{ titel: 'van eerder' }, { titel: 'b' }, { titel: 'c' }])
})

t.test('a workbook has cells of text', async (t) => {
  const { root, out, prepare } = await givenDirectory(t)
  await writeFile(join(root, '0012.txt'), 'x')
  const xlsx = out.replace('.csv', '.xlsx')
  await prepare({ out: xlsx })
  const { header, regels } = await readImportXlsx(await readFile(xlsx))
  const [cells = []] = await Array.fromAsync(regels)
  const row = Object.fromEntries(header.map((name, i) => [name, cells[i]]))
  t.match(row, { bronorganisatie: '012345676', titel: '0012', bestandspad: 'café/0012.txt' })
})

const MDTO = (content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><MDTO xmlns="https://www.nationaalarchief.nl/mdto">${content}</MDTO>`

t.test('metadata beside files becomes columns, and a Dossier the case', async (t) => {
  const { root, out, prepare } = await givenDirectory(t)
  await mkdir(join(root, 'D1/R1'), { recursive: true })
  const dossier = `<informatieobject><identificatie><identificatieKenmerk>DOS-1</identificatieKenmerk><identificatieBron>x</identificatieBron></identificatie>
    <naam>Vergunning &amp; bezwaar</naam><aggregatieniveau><begripLabel>Dossier</begripLabel></aggregatieniveau>
    <archiefvormer><verwijzingNaam>Gemeente X</verwijzingNaam></archiefvormer></informatieobject>`
  await writeFile(join(root, 'D1/D1.mdto.xml'), MDTO(dossier))
  await writeFile(
    join(root, 'D1/R1/R1.mdto.xml'),
    MDTO(`<informatieobject><identificatie><identificatieKenmerk>REC-1</identificatieKenmerk></identificatie><naam>Brief aan aanvrager</naam>
      <aggregatieniveau><begripLabel>Archiefstuk</begripLabel></aggregatieniveau><taal>nl</taal><trefwoord>bouw</trefwoord><trefwoord>kap</trefwoord>
      <event><eventType><begripLabel>Creatie</begripLabel></eventType><eventTijd>2019-03</eventTijd></event></informatieobject>`),
  )
  await writeFile(join(root, 'D1/R1/brief.pdf'), '%PDF-1.7')
  await writeFile(
    join(root, 'D1/R1/brief.pdf.bestand.mdto.xml'),
    MDTO(
      '<bestand><identificatie><identificatieKenmerk>B-1</identificatieKenmerk></identificatie><naam>brief.pdf</naam></bestand>',
    ),
  )
  const asked: string[] = []
  const made = await prepare({
    sidecars: true,
    caseOf: async ({ identificatie }) => {
      asked.push(identificatie)
      return undefined
    },
  })
  t.match(made, { files: 1, dossiers: `${out}.dossiers.csv` })
  t.same(asked, ['DOS-1'])
  t.match(await readFile(`${out}.dossiers.csv`, 'utf8'), /DOS-1;Vergunning & bezwaar/)
  const [row] = await rowsOf(await readFile(out))
  t.match(row, { auteur: 'Gemeente X', creatiedatum: '2019-03-01', taal: 'nld', trefwoorden: 'bouw,kap', zaakUuid: '' })
  await rm(out)
  await prepare({ sidecars: true, caseOf: async () => '00000000-0000-4000-8000-000000000001' })
  t.match(await rowsOf(await readFile(out)), [{ zaakUuid: '00000000-0000-4000-8000-000000000001' }])
})

t.test('ToPX is read by the same columns, and what is neither is refused', (t) => {
  const { level, values } = sidecarIn(`<ToPX xmlns="http://www.nationaalarchief.nl/ToPX/v2.3"><bestand>
    <identificatiekenmerk>B-9</identificatiekenmerk><aggregatieniveau>Bestand</aggregatieniveau><naam>scan.tif</naam>
    <vertrouwelijkheid><classificatieNiveau>Intern</classificatieNiveau></vertrouwelijkheid>
    <formaat><omvang>12</omvang><fysiekeIntegriteit><algoritme>SHA-256</algoritme><waarde>ABC</waarde><datumEnTijd>2015-01-02T00:00:00</datumEnTijd></fysiekeIntegriteit>
    <datumAanmaak>2014-12-31</datumAanmaak></formaat></bestand></ToPX>`)
  t.equal(level, 'bestand')
  t.match(values, {
    identificatie: 'B-9',
    titel: 'scan.tif',
    vertrouwelijkheidaanduiding: 'intern',
    creatiedatum: '2014-12-31',
    'integriteit.algoritme': 'sha_256',
    'integriteit.waarde': 'abc',
    'integriteit.datum': '2015-01-02',
  })
  t.throws(() => sidecarIn('<html/>'), /no MDTO/)
  t.end()
})
