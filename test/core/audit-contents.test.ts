// What an object was before and after a change is in the record of that change, whatever it was and whatever happened to the others:
// it is read byte for byte as jsonb would give it.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { inflated, pack, unpack } from '../../src/core/audit-contents.ts'
import { Last, mutator } from '../../src/core/mutate.ts'
import type { Actie, Change, NewRow } from '../../src/core/records.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { BASE, givenZaaktype, type Json, type TestApp, testApp, uuidOf } from '../app.ts'
import { CRS, givenZaak, ZAKEN } from '../zaken/given.ts'

const actor = systemActor('test', BASE)
const { numbers } = secretBox('the key of this test, which nothing else has')
const uuids = {
  hoofdObjectUuid: '5257995d-9778-4031-bb2d-60d68bacde5d',
  resourceUuid: 'BAB18B8C-04F2-4448-9272-556F9A3678F6',
}
/** Members as clients send them, and some as nobody does. */
const objects = fc.dictionary(
  fc.oneof(
    fc.constantFrom('inpBsn', 'omschrijving', 'é', 'ab', 'ba', '10', '9', '__proto__', 'zaakgeometrie'),
    fc.string({ maxLength: 9 }),
  ),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' }),
  { maxKeys: 30 },
)
const hasNul = (value: unknown) => /\\u0000/.test(JSON.stringify(value))
const samples = (count: number): Json[] =>
  fc
    .sample(objects, count * 2)
    .filter((one) => !hasNul(one))
    .slice(0, count)

/** As these would be read, if they stood in columns of jsonb. */
async function asJsonb({ database }: TestApp, values: unknown[]): Promise<string[]> {
  const rows = await database.sql<{ value: unknown }[]>`
    select v::jsonb as value from unnest(${values.map((value) => JSON.stringify(value ?? null))}::text[]) with ordinality x(v, n) order by n`
  return rows.map(({ value }) => JSON.stringify(value))
}

t.test('an object is read as jsonb gives it, also a large one, and one with numbers of persons', async (t) => {
  const test = await testApp(t)
  const large = { punten: Array.from({ length: 20_000 }, (_, n) => [n / 7, -n]), naam: 'é'.repeat(40_000) }
  const persons = { inpBsn: '999990019', identifier: '~1.x.y', diep: [{ bsn: 999990019, anpIdentificatie: '' }] }
  const all = [large, persons, {}, ...samples(150)]
  const expected = await asJsonb(test, all)
  for (const [n, object] of all.entries()) {
    const packed = pack(numbers, uuids, { hoofdObject: 'a', resourceUrl: 'b', oud: object, nieuw: all[n - 1] })
    const read = unpack(numbers, { ...uuids, packed, made: null })
    t.equal(JSON.stringify(read.oud), expected[n])
    t.equal(JSON.stringify(read.nieuw), n > 0 ? expected[n - 1] : 'null')
    t.same([read.hoofdObject, read.resourceUrl], ['a', 'b'])
  }
  const stored = inflated(pack(numbers, uuids, { hoofdObject: '', resourceUrl: '', oud: null, nieuw: persons }), uuids)
  t.notMatch(stored, '999990019', 'sealed')
})

t.test('records that were written by an earlier program are read', async (t) => {
  const given = {
    hoofdObject: `${BASE}/zaken/api/v1/zaken/${uuids.hoofdObjectUuid}`,
    resourceUrl: `${BASE}/zaken/api/v1/resultaten/${uuids.resourceUuid.toLowerCase()}`,
    oud: { toelichting: '', uuid: uuids.resourceUuid },
    nieuw: { url: 'x', toelichting: 'Gegrond', archiefstatus: 'nog_te_archiveren' },
  }
  const BEFORE =
    '0183949b56fafa39f9c9893919f9c525d84a3d626c8396b1b88d421a0621c6654a3ad598c524b4ec75727432b470b270d635307143d3ef66e908d2ef66a6540b2fd02b304a5cf7d4f4a27cf06813e144541b0b00'
  t.same(unpack(numbers, { ...uuids, packed: Buffer.from(BEFORE, 'hex'), made: null }), given)
  t.throws(() => inflated(Buffer.of(99, 1), uuids), /no dictionary 99/)
})

t.test('records are small: a change of one member costs little beside that member', async (t) => {
  const test = await testApp(t)
  const { url } = await givenZaak(test)
  await test.call('PATCH', url, { omschrijving: 'Een andere omschrijving' }, CRS)
  const rows = await test.database.sql<{ actie: string; bytes: number; whole: number }[]>`
    select actie, length(packed) as bytes, pg_column_size(a.*) as whole from audit a where hoofd_object_uuid = ${uuidOf(url)} order by id`
  t.same(
    rows.map(({ actie }) => actie),
    ['create', 'partial_update'],
  )
  t.ok(rows[0]!.bytes < 200 && rows[1]!.bytes < 280, JSON.stringify(rows))
})

t.test(
  'whatever changes at the same time, in one transaction or by itself, is in the trail of its main object',
  async (t) => {
    const test = await testApp(t)
    const mutate = mutator(test.database)
    const mains = Array.from({ length: 4 }, () => ({ uuid: randomUUID(), url: '' }))
    for (const main of mains) main.url = `${BASE}/zaken/api/v1/zaken/${main.uuid}`
    const values = samples(400)
    const kept: { main: string; url: string; actie: Actie; oud: Json; nieuw: Json }[] = []
    const parts = new Map<string, Json>()
    const pick = <T>(items: readonly T[]): T => items[fc.sample(fc.nat(items.length - 1), 1)[0]!]!
    /** The next change of an object that is there, or of a new one; its copies are kept whole. */
    const next = (): Change => {
      const value = { ...values.pop(), nummer: kept.length }
      const main = pick(mains)
      const known = [...parts.keys()].filter((url) => parts.get(url).main === main.url)
      const isNew = known.length === 0 || pick([true, false, false])
      const url = isNew ? (pick([true, false]) ? main.url : `${BASE}/zaken/api/v1/rollen/${randomUUID()}`) : pick(known)
      const oud = isNew ? null : parts.get(url).state
      const actie = isNew ? 'create' : pick(['update', 'partial_update', 'destroy'] as const)
      const nieuw = actie === 'destroy' ? null : actie === 'partial_update' ? { ...oud, ...value } : value
      if (nieuw === null) parts.delete(url)
      else parts.set(url, { main: main.url, state: nieuw })
      kept.push({ main: main.uuid, url, actie, oud, nieuw })
      const isMain = url === main.url
      return {
        ...{
          component: 'zrc',
          actie,
          resource: isMain ? 'zaak' : 'rol',
          url,
          uuid: uuidOf(url),
          weergave: String(kept.length),
        },
        ...{ kanaal: null, oud, nieuw, ...(!isMain && { hoofdobject: main }) },
      }
    }
    for (let turn = 0; turn < 40; turn++) {
      await Promise.all(
        Array.from({ length: 3 }, async (_, lane) => {
          const { weergave, nieuw, ...change } = next()
          if (lane > 0 || nieuw === null) {
            const changes = [{ weergave, nieuw, ...change }, ...Array.from({ length: lane }, next)]
            return mutate(actor, async (m) => changes.forEach(m.record))
          }
          const made = { gemaakt: turn, a: [null, 'é'] }
          kept.at(-1)!.nieuw = { ...nieuw, ...made }
          return mutate(actor, async () => {
            const insert: NewRow<object>['insert'] = (sql) => sql`
            gemaakt as (select 1 as id, ${weergave}::text as weergave, ${sql.json(made)}::jsonb as nieuw)`
            return new Last({ insert, change: { ...change, nieuw } })
          })
        }),
      )
    }
    t.ok(kept.length > 100)
    const expected = await asJsonb(
      test,
      kept.flatMap(({ oud, nieuw }) => [oud, nieuw]),
    )
    let seen = 0
    for (const main of mains) {
      const { body } = await test.call('GET', `${main.url}/audittrail`)
      for (const line of body as Json[]) {
        const { oud, nieuw } = line.wijzigingen
        const n = Number(line.resourceWeergave) - 1
        const change = kept[n]!
        t.equal(JSON.stringify(oud), expected[2 * n])
        t.equal(JSON.stringify(nieuw), expected[2 * n + 1])
        t.same([line.hoofdObject, line.resourceUrl, line.actie], [main.url, change.url, change.actie])
        seen++
      }
      const [first] = body
      t.same((await test.call('GET', `${main.url}/audittrail/${first.uuid}`)).body, first)
    }
    t.equal(seen, kept.length)
  },
)

t.test('the trail of a case has what the API answered at each change', async (t) => {
  const test = await testApp(t)
  const { call } = test
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' }],
  })
  const { url: zaak } = await givenZaak(test, { zaaktype })
  const [roltype] = (await call('GET', zaaktype)).body.roltypen
  const ofAnswer = ({ body: { _expand, ...resource } }: { body: Json }) => resource
  const shown = async (url: string) => ofAnswer(await call('GET', url, undefined, CRS))
  const steps: { actie: Actie; url: string; oud: Json; nieuw: Json }[] = [
    { actie: 'create', url: zaak, oud: null, nieuw: await shown(zaak) },
  ]
  const rollen: string[] = []
  const rol = () => ({
    ...{ zaak, roltype, betrokkeneType: 'natuurlijk_persoon', roltoelichting: `stap ${steps.length}` },
    betrokkeneIdentificatie: { inpBsn: '999990019', geslachtsnaam: 'De Vriés "de\\tweede"' },
  })
  const turns = ['patch', 'rol', 'put', 'rol', 'wijzig', 'wijzig', 'patch', 'weg', 'rol', 'wijzig', 'weg', 'patch']
  for (const turn of [...turns, ...fc.sample(fc.constantFrom(...turns), 40)]) {
    if (turn === 'patch' || turn === 'put') {
      const oud = await shown(zaak)
      const body =
        turn === 'patch' ? { toelichting: `stap ${steps.length}` } : { ...oud, omschrijving: `stap ${steps.length}` }
      const answer = await call(turn === 'patch' ? 'PATCH' : 'PUT', zaak, body, CRS)
      t.equal(answer.status, 200, answer.text)
      steps.push({ actie: turn === 'patch' ? 'partial_update' : 'update', url: zaak, oud, nieuw: ofAnswer(answer) })
    } else if (turn === 'rol' || rollen.length === 0) {
      const answer = await call('POST', `${ZAKEN}/rollen`, rol())
      t.equal(answer.status, 201, answer.text)
      rollen.push(answer.body.url)
      steps.push({ actie: 'create', url: answer.body.url, oud: null, nieuw: ofAnswer(answer) })
    } else if (turn === 'wijzig') {
      const oud = await shown(rollen[0]!)
      const answer = await call('PUT', rollen[0]!, rol())
      t.equal(answer.status, 200, answer.text)
      steps.push({ actie: 'update', url: rollen[0]!, oud, nieuw: ofAnswer(answer) })
    } else {
      const url = rollen.shift()!
      const oud = await shown(url)
      t.equal((await call('DELETE', url)).status, 204)
      steps.push({ actie: 'destroy', url, oud, nieuw: null })
    }
  }
  const trail = (await call('GET', `${zaak}/audittrail`)).body as Json[]
  const expected = await asJsonb(
    test,
    steps.flatMap(({ oud, nieuw }) => [oud, nieuw]),
  )
  t.equal(trail.length, steps.length)
  for (const [n, { actie, url }] of steps.entries()) {
    const line = trail[n]
    t.same([line.actie, line.resourceUrl, line.hoofdObject], [actie, url, zaak])
    t.equal(JSON.stringify(line.wijzigingen.oud), expected[2 * n])
    t.equal(JSON.stringify(line.wijzigingen.nieuw), expected[2 * n + 1])
  }
})
