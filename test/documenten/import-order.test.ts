// Which rows win, and that neither the size of the batches nor anything else that happens meanwhile changes that.
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { API, type CsvRow, csvText, givenFile, givenImport, goodRow, outcome, runImport } from './importing.ts'

const UUID_BESTAAT = 'uuid: Er bestaat al een document met deze uuid; dat blijft ongewijzigd.'
const NUMMER_BESTAAT = 'identificatie: Deze identificatie bestaat al binnen de bronorganisatie.'
const REFUSED = 'De database weigert deze rij (niet op vrijdag).'

/** Makes the database refuse every document with this title, at once or (for a deferred trigger) at the commit. */
async function refuseTitle(
  { database }: TestApp,
  title: string,
  kind: 'before' | 'deferred' = 'before',
): Promise<void> {
  await database.sql.unsafe(`
    create function weiger_${kind}() returns trigger language plpgsql as $$
      begin if new.titel = '${title}' then raise exception 'niet op vrijdag'; end if; return new; end $$`)
  await database.sql.unsafe(
    kind === 'before'
      ? 'create trigger weiger before insert on enkelvoudiginformatieobject_versie for each row execute function weiger_before()'
      : `create constraint trigger weiger_later after insert on enkelvoudiginformatieobject_versie deferrable initially deferred
         for each row execute function weiger_deferred()`,
  )
}

t.setTimeout(580_000)

t.test('the outcome is that of the rows one by one, whatever the size of the batches', async (t) => {
  const apps = await Promise.all(
    ['1', '3', '7', '500'].map(async (size) => {
      const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: size })
      await givenFile(app, 'brief.txt')
      await refuseTitle(app, 'weiger')
      return { app, type: await givenInformatieobjecttype(app) }
    }),
  )
  const row = fc.record({
    uuid: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 3 }),
    nummer: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 3 }),
    bronorganisatie: fc.constantFrom('000000000', '111222333'),
    kwaad: fc.option(fc.constantFrom('titel', 'bestand', 'size', 'database'), { freq: 3 }),
  })
  const uuids = new Set<string>() // what the register holds: it grows from file to file
  const nummers = new Set<string>()
  let files = 0
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 25 }), async (rows) => {
      const series = String(Math.floor(files++ / 2)).padStart(12, '0') // the second file meets the documents of the first
      const rijen = rows.map(({ uuid, nummer, bronorganisatie, kwaad }) => ({
        uuid: uuid === null ? '' : `0000000${uuid}-0000-4000-8000-${series}`,
        identificatie: nummer === null ? '' : `N${series}-${nummer}`,
        bronorganisatie,
        titel: kwaad === 'titel' ? '' : kwaad === 'database' ? 'weiger' : 'goed',
        bestandspad: kwaad === 'bestand' ? 'geen.txt' : 'brief.txt',
        bestandsomvang: kwaad === 'size' ? '1' : '',
      }))
      const expected = rijen.map((rowOf) => {
        const nummer = `${rowOf.bronorganisatie} ${rowOf.identificatie}`
        const bestaat = [
          ...(rowOf.uuid && uuids.has(rowOf.uuid) ? [UUID_BESTAAT] : []),
          ...(rowOf.identificatie && nummers.has(nummer) ? [NUMMER_BESTAAT] : []),
        ].join(' ')
        if (!rowOf.titel) return 'titel: Dit veld is verplicht.'
        if (bestaat) return bestaat
        if (rowOf.bestandspad !== 'brief.txt') return 'bestandspad: Het bestand bestaat niet.'
        if (rowOf.bestandsomvang) return 'bestandsomvang: Het bestand is 9 bytes groot.'
        if (rowOf.titel === 'weiger') return REFUSED
        if (rowOf.uuid) uuids.add(rowOf.uuid)
        if (rowOf.identificatie) nummers.add(nummer)
        return ''
      })
      const got = await Promise.all(
        apps.map(async ({ app, type }) => {
          const result = await runImport(
            app,
            csvText(rijen.map((rowOf) => goodRow(type, 'brief.txt', rowOf as CsvRow))),
          )
          return result.rows.map(({ opmerking, resultaat }) => {
            if ((opmerking === '') !== (resultaat === 'Geïmporteerd')) throw new Error('a comment without a failure')
            return opmerking
          })
        }),
      )
      for (const remarks of got) t.strictSame(remarks, expected)
      return got.every((remarks) => JSON.stringify(remarks) === JSON.stringify(expected))
    }),
    { numRuns: 12, endOnFailure: true },
  )
})

t.test('of rows that the database refuses only these fail', async (t) => {
  const app = await testApp(t)
  const type = await givenInformatieobjecttype(app)
  await givenFile(app, 'brief.txt')
  await refuseTitle(app, 'weiger')
  await refuseTitle(app, 'later', 'deferred')
  await app.database.sql.unsafe(`
    create function zwijg() returns trigger language plpgsql as $$
      begin if new.identificatie = 'STIL' then return null; end if; return new; end $$;
    create trigger zwijg before insert on enkelvoudiginformatieobject for each row execute function zwijg();
    alter table enkelvoudiginformatieobject_versie add constraint geen_spaans check (taal <> 'spa')`)
  const bad = new Map<number, [CsvRow, string]>([
    [3, [{ titel: 'weiger' }, REFUSED]],
    [4, [{ titel: 'weiger' }, REFUSED]],
    [40, [{ titel: 'later' }, REFUSED]],
    [77, [{ taal: 'spa' }, 'De database weigert deze rij (regel geen_spaans).']],
    [99, [{ identificatie: 'STIL' }, 'De database weigert deze rij.']],
  ])
  const rijen = Array.from({ length: 100 }, (_, n) => goodRow(type, 'brief.txt', bad.get(n)?.[0]))
  const { rows, status } = await runImport(app, csvText(rijen))
  t.match(status, { status: 'finished', processed: 100, processedSuccessfully: 95, processedInvalid: 5 })
  for (const [n, { opmerking }] of rows.entries()) t.equal(opmerking, bad.get(n)?.[1] ?? '', `row ${n}`)
})

t.test('the number of queries for a batch does not depend on its rows', async (t) => {
  const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '500' })
  const type = await givenInformatieobjecttype(app)
  await givenFile(app, 'brief.txt')
  const count = async (rows: number) => {
    const rijen = Array.from({ length: rows }, (_, n) =>
      goodRow(type, n % 5 === 4 ? 'geen.txt' : 'brief.txt', n % 2 ? {} : { identificatie: `${rows}-${n}` }),
    )
    const uuid = await givenImport(app)
    await app.call('POST', `${API}/${uuid}/upload`, csvText(rijen))
    const queries: string[] = []
    app.database.sql.options.debug = (_connection, query) => {
      // Not the signs of life and of use, which come by the clock, and not the receipt, which is a job of its own afterwards.
      if (!/set (seen_at|last_signed_at)|import_receipt|from import_outcome u/.test(query)) queries.push(query)
    }
    await app.runJobs()
    app.database.sql.options.debug = false
    t.match((await outcome(app, uuid)).status, { status: 'finished', processedInvalid: rows / 5 })
    // Of the receipt nothing is left of its transactions but their ends.
    const isEmpty = (n: number) => queries[n]?.trim() === 'begin' && queries[n + 1]?.trim() === 'commit'
    return queries.filter((_, n) => !isEmpty(n) && !isEmpty(n - 1))
  }
  await count(5) // the driver asks once for the types of arrays
  const [ten, many] = [await count(10), await count(200)]
  t.strictSame(many, ten)
  t.ok(ten.length < 27, `${ten.length} queries`)
})

t.test('a number that we make up avoids those that exist, also later in the file', async (t) => {
  const app = await testApp(t)
  const type = await givenInformatieobjecttype(app)
  await givenFile(app, 'brief.txt')
  const number = (n: number) => `DOCUMENT-2024-${String(n).padStart(10, '0')}`
  const [{ next }] = (await app.database.sql`select nextval('document_nummer')::int + 1 as next`) as unknown as [
    { next: number },
  ]
  const supplied = Array.from({ length: 600 }, (_, n) =>
    goodRow(type, 'brief.txt', { identificatie: number(next + n) }),
  )
  const first = await runImport(app, csvText(supplied))
  t.match(first.status, { processedSuccessfully: 600 })
  const mixed = [
    goodRow(type, 'brief.txt'),
    goodRow(type, 'brief.txt'),
    goodRow(type, 'brief.txt', { identificatie: number(next + 600) }),
    goodRow(type, 'brief.txt', { identificatie: number(next + 601) }),
    goodRow(type, 'brief.txt', { identificatie: number(next + 5) }),
  ]
  const { rows } = await runImport(app, csvText(mixed))
  t.strictSame(
    rows.map(({ opmerking }) => opmerking),
    ['', '', '', '', NUMMER_BESTAAT],
  )
})

t.test('documents that others make meanwhile cost the import those rows and no others', async (t) => {
  const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '20' })
  const type = await givenInformatieobjecttype(app)
  await givenFile(app, 'brief.txt')
  const rijen = Array.from({ length: 400 }, (_, n) => goodRow(type, 'brief.txt', { identificatie: `P${n}` }))
  const uuid = await givenImport(app)
  await app.call('POST', `${API}/${uuid}/upload`, csvText(rijen))
  const made = new Set<string>()
  let running = true
  const others = (async () => {
    // From the end to the beginning, so that they meet the import somewhere, and with transactions that last a little.
    for (let n = 399; n >= 0 && running; n -= 3) {
      await app.database.sql.begin(async (trx) => {
        const rows = await trx`
          insert into enkelvoudiginformatieobject (bronorganisatie, identificatie, informatieobjecttype_url, vertrouwelijkheidaanduiding)
          values ('000000000', ${`P${n}`}, 'http://elders.example/x', 'openbaar') on conflict do nothing returning 1`
        if (rows.length > 0) made.add(`P${n}`)
        await sleep(2)
      })
    }
  })()
  await app.runJobs()
  running = false
  await others
  const { rows, status } = await outcome(app, uuid)
  t.match(status, { status: 'finished', processed: 400 })
  t.ok(made.size > 0, 'they met')
  for (const { identificatie, opmerking } of rows) {
    t.equal(opmerking, made.has(identificatie!) ? NUMMER_BESTAAT : '', identificatie!)
  }
  const [{ count }] = (await app.database
    .sql`select count(*)::int as count from enkelvoudiginformatieobject`) as unknown as [{ count: number }]
  t.equal(count, 400, 'every number once')
})

t.test('workers that take each batch at the same time do it once', async (t) => {
  const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
  const type = await givenInformatieobjecttype(app)
  await givenFile(app, 'brief.txt')
  const rijen = Array.from({ length: 200 }, (_, n) =>
    goodRow(type, n % 7 ? 'brief.txt' : 'geen.txt', { identificatie: `W${n}` }),
  )
  const uuid = await givenImport(app)
  await app.call('POST', `${API}/${uuid}/upload`, csvText(rijen))
  const { importBatch } = await import('../../tasks/import-batch.ts')
  const { copyPool } = await import('../../src/documenten/import/copy.ts')
  const pool = copyPool({ baseDir: app.config.importBaseDir, opslagRoot: app.config.documentenDir })
  t.teardown(pool.stop)
  const workers = [1, 2, 3].map(() => importBatch({ ...app.parts, copyFiles: pool.copyFiles }))
  for (let start = 0; start < 200; start += 10) {
    const helpers = { job: { id: '0', attempts: 1, max_attempts: 6 } } as never
    await Promise.all(workers.map((work) => work({ import: uuid, start }, helpers)))
  }
  const { rows, status } = await outcome(app, uuid)
  t.match(status, { status: 'finished', processed: 200, processedSuccessfully: 171, processedInvalid: 29 })
  for (const [n, { opmerking }] of rows.entries())
    t.equal(opmerking, n % 7 ? '' : 'bestandspad: Het bestand bestaat niet.')
})
