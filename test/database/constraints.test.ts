// Constraints of the database that no request can break by itself, since its rules are judged before: they are for two that come at
// once. Each is broken here by SQL, and held against what a client would be told.
import t from 'tap'
import { toProblem } from '../../src/core/problem.ts'
import { givenBesluittype, givenCatalogus, givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { givenDocument, givenType, givenZaak, made, ZAKEN } from '../zaken/given.ts'

t.test('constraints', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const { sql } = database
  const catalogus = await givenCatalogus(test)
  const type = await givenType(test, undefined, undefined, { catalogus })
  const zaak = await givenZaak(test, type)
  made(await call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: type.resultaattype }))
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  await givenDocument(test, informatieobjecttype)
  const besluittype = await givenBesluittype(test, { catalogus })
  await sql`insert into zaakbesluit (zaak_id, besluit_url) select id, 'https://example.com/1' from zaak`
  await sql`insert into zaak_gerelateerde_zaak (zaak_id, andere_zaak_url) select id, 'https://example.com/1' from zaak`
  await sql`insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_url)
    select id, 'zaak', 'https://example.com/1' from enkelvoudiginformatieobject`
  await sql`insert into service (label, slug, kind, api_root) values ('a', 'a', 'orc', 'https://example.com/')`

  const failure = (work: Promise<unknown>) =>
    work.then(
      () => ({ code: 'none', constraint_name: 'none' }),
      (error: { code: string; constraint_name: string }) => error,
    )
  const answers: [table: string, params: { name: string; code: string } | null][] = [
    ['resultaat', { name: 'zaak', code: 'unique' }],
    ['objectinformatieobject', { name: 'nonFieldErrors', code: 'unique' }],
    ['service', { name: 'apiRoot', code: 'unique' }],
    // No answer: who writes these leaves out what is there (`on conflict`).
    ['zaakbesluit', null],
    ['zaak_gerelateerde_zaak', null],
  ]
  for (const [table, answer] of answers) {
    const name = { resultaat: 'resultaat_zaak_unique', service: 'service_api_root_unique' }[table] ?? `${table}_unique`
    await t.test(`${name}: the same again under another id and uuid`, async (t) => {
      const columns = await sql<{ name: string }[]>`select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table} and column_name not in ('id', 'uuid', 'slug')`
      const same = columns.map((column) => `"${column.name}"`).join()
      const slug = table === 'service' ? { into: ', slug', from: ", 'b'" } : { into: '', from: '' }
      const error = await failure(
        sql.unsafe(`insert into ${table} (${same}${slug.into}) select ${same}${slug.from} from ${table} limit 1`),
      )
      t.match(error, { code: '23505', constraint_name: name })
      if (answer) t.match(toProblem(error), { status: 400, invalidParams: [answer] })
    })
  }

  await t.test(
    'a document or case that was removed at the same moment is answered as one that does not exist',
    async (t) => {
      const error = await failure(sql`insert into gebruiksrecht
      (enkelvoudiginformatieobject_id, omschrijving_voorwaarden, startdatum) values (0, 'x', now())`)
      t.match(toProblem(error), { status: 400, invalidParams: [{ name: 'informatieobject', code: 'bad-url' }] })
      const besluit = made(
        await call('POST', '/besluiten/api/v1/besluiten', {
          verantwoordelijkeOrganisatie: '517439943',
          besluittype,
          datum: '2026-03-02',
          ingangsdatum: '2026-03-02',
        }),
      )
      const moved = await failure(sql`update besluit set zaak_id = 0 where uuid = ${uuidOf(besluit.url)}`)
      t.match(toProblem(moved), { status: 400, invalidParams: [{ name: 'zaak', code: 'bad-url' }] })
    },
  )
})
