import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addresses } from '../../src/overnemen/addresses.ts'
import { auditFromApi } from '../../src/overnemen/api/shape.ts'
import { writeAudit } from '../../src/overnemen/trail.ts'
import { BASE, type Json, testApp } from '../app.ts'
import { givenZaak } from '../zaken/given.ts'

t.test('a line of the audit trail comes over once, and one that was made here never again', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const zaak = await givenZaak(test)
  const trail = async () => (await test.call('GET', `${zaak.url}/audittrail`)).body
  const [own] = await trail()
  const old = 'https://oud.example'
  // The case came from there: what is ours keeps its own trail.
  const takeover = await sql`insert into takeover (kind, source, secret) values ('api', ${old}, '') returning id`
  await sql`
    insert into takeover_object (kind, uuid, takeover_id, hash, round, changed_in)
    values ('zaak', ${zaak.uuid}, ${takeover[0]!.id}, '', 1, 1)`
  const come = (...lines: Json[]) =>
    sql.begin((trx) => writeAudit(trx, 1, lines.map(auditFromApi), addresses([old], BASE), test.parts.box.numbers, []))
  const foreign = {
    ...own,
    ...{
      uuid: randomUUID(),
      actie: 'update',
      actieWeergave: 'Object bijgewerkt',
      aanmaakdatum: '2020-01-01T00:00:00Z',
    },
    ...{ hoofdObject: own.hoofdObject.replace(BASE, old), resourceUrl: `${old}/zaken/api/v1/rollen/geen-uuid` },
    wijzigingen: { oud: { naam: 'é', a: 1 }, nieuw: null },
  }
  t.match(await come(own, foreign), { seen: 2, written: 1, unchanged: 1 })
  t.match(await come(foreign), { written: 0, unchanged: 1 })
  await Promise.all([come({ ...foreign, uuid: zaak.uuid }), come({ ...foreign, uuid: zaak.uuid })])
  const lines = await trail()
  t.equal(lines.length, 3)
  t.same(lines.at(-1), own, 'what was taken over comes before')
  t.equal(
    JSON.stringify(lines[0]),
    JSON.stringify({
      ...foreign,
      hoofdObject: own.hoofdObject,
      resourceUrl: `${BASE}/zaken/api/v1/rollen/geen-uuid`,
      wijzigingen: { oud: { a: 1, naam: 'é' }, nieuw: null },
    }),
    'with what stood in it as it was',
  )
})
