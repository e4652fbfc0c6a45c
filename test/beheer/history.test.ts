import t from 'tap'
import { changedFields } from '../../src/beheer/frame/history.ts'

t.test('what was changed is told field by field', async (t) => {
  const before = { omschrijving: 'Tegel', opschorting: { indicatie: false, reden: '' }, url: 'http://x/1' }
  const after = { omschrijving: 'Tegel los', opschorting: { indicatie: true, reden: 'wacht' }, url: 'http://x/2' }
  t.same(changedFields(before, after, new Map()), [
    { field: 'Omschrijving', before: 'Tegel', after: 'Tegel los' },
    { field: 'Opschorting: indicatie', before: 'nee', after: 'ja' },
    { field: 'Opschorting: reden', before: '', after: 'wacht' },
  ])
})

t.test('a large value is told by its size, whatever it holds', async (t) => {
  const line = (y: number) => ({ type: 'LineString', coordinates: Array.from({ length: 3000 }, (_, x) => [x, y]) })
  const persons = (bsn: string) => ({ personen: Array.from({ length: 300 }, () => ({ inpBsn: bsn })) })
  const before = { zaakgeometrie: line(1), objectIdentificatie: persons('123456782'), toelichting: 'x'.repeat(5000) }
  const after = { zaakgeometrie: line(2), objectIdentificatie: persons('111222333'), toelichting: 'y'.repeat(5000) }
  const changed = changedFields(before, after, new Map())
  t.match(changed, [
    { field: 'Zaakgeometrie', before: /^\d+ kB aan gegevens$/, after: /^\d+ kB aan gegevens$/ },
    { field: 'Object identificatie', before: /^\d+ kB/, after: /^\d+ kB/ },
    { field: 'Toelichting', before: /^x{2000}…$/, after: /^y{2000}…$/ },
  ])
  t.equal(changed.length, 3)
  t.same(changedFields(before, structuredClone(before), new Map()), [])
})

t.test('a name that every object has is a name like others', async (t) => {
  const after = {
    objectIdentificatie: { overigeData: JSON.parse('{"constructor":"a","toString":"b","__proto__":"c"}') },
  }
  t.same(
    changedFields(null, after, new Map()).map(({ after }) => after),
    ['a', 'b', 'c'],
  )
})
