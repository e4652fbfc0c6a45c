// What becomes of rights when types come, go and change: consumers look again only at the applications that are announced.
import t from 'tap'
import { givenCatalogus, givenInformatieobjecttype, type TestApp, testApp, uuidOf } from '../app.ts'
import { auditRecords } from '../audit-records.ts'

const URL = '/autorisaties/api/v1/applicaties'

/** Labels of the applications that `work` announced. */
async function announced({ database: { sql } }: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const [last] = await sql`select coalesce(max(id), 0)::int as id from notificatie`
  await work()
  const rows = await sql`
    select a.label, n.actie from notificatie n join applicatie a on n.resource_url like '%' || a.uuid
    where n.kanaal = 'autorisaties' and n.id > ${last!.id} order by a.label`
  return rows.map(({ label, actie }) => `${label} ${actie}`)
}

t.test('rights follow the types', async (t) => {
  const test = await testApp(t)
  const { call } = test
  const catalogus = await givenCatalogus(test)
  const other = await givenCatalogus(test)
  const iot = (omschrijving: string, more: object = {}) =>
    givenInformatieobjecttype(test, { catalogus, omschrijving, ...more })
  const brief = await iot('Brief')
  const nota = await iot('Nota', { beginGeldigheid: '2020-01-01', eindeGeldigheid: '2023-12-31' })
  const met = { component: 'drc', scopes: ['documenten.lezen'], maxVertrouwelijkheidaanduiding: 'intern' }
  const given = async (label: string, rights: object) => {
    const { body } = await call('POST', URL, { clientIds: [label], label, ...rights })
    t.ok(body.url, label)
    return body.url as string
  }
  const opType = (type: string, where = catalogus) => ({
    catalogusAutorisaties: [{ ...met, catalogus: where, type }],
  })
  await given('alles hier', opType(''))
  await given('alles daar', opType('', other))
  await given('brieven', opType('Brief'))
  await given("nota's", opType('Nota'))
  const versie = await given('een versie', { autorisaties: [{ ...met, informatieobjecttype: nota }] })

  t.test('a new type announces the applications whose rights reach it', async (t) => {
    t.strictSame(await announced(test, () => iot('Foto')), ['alles hier update'])
    t.strictSame(await announced(test, () => iot('Brief')), ['alles hier update', 'brieven update'])
  })

  t.test('a type with another name announces those that lose it and those that get it', async (t) => {
    const rename = (omschrijving: string) => async () =>
      t.equal((await call('PATCH', brief, { omschrijving })).status, 200)
    t.strictSame(await announced(test, rename('Nota')), ['brieven update', "nota's update"])
    t.strictSame(await announced(test, rename('Nota')), [], 'the same name is no change')
    t.strictSame(await announced(test, rename('Brief')), ['brieven update', "nota's update"])
  })

  t.test('a type that moves to another catalogue does so too', async (t) => {
    const { body } = await call('GET', brief)
    t.strictSame(await announced(test, () => call('PUT', brief, { ...body, catalogus: other })), [
      'alles daar update',
      'alles hier update',
      'brieven update',
    ])
    t.equal((await call('PUT', brief, body)).status, 200)
  })

  t.test('a type that is removed takes the rights for that version with it', async (t) => {
    t.strictSame(await announced(test, async () => t.equal((await call('DELETE', nota)).status, 204)), [
      'alles hier update',
      'een versie update',
      "nota's update",
    ])
    t.strictSame((await call('GET', versie)).body.autorisaties, [])
    const trail = await auditRecords(test.database, test.database.sql`hoofd_object_uuid = ${uuidOf(versie)}`)
    t.match(trail.at(-1), {
      oud: { autorisaties: [{ informatieobjecttype: nota }] },
      nieuw: { autorisaties: [] },
    })
  })
})
