// What a file has to be to be imported as selectielijst, and what is told of it.
import t from 'tap'
import { readItems, SelectielijstRefused, summarise } from '../../src/catalogi/selectielijst-import.ts'

const ROOT = 'https://selectielijst.example/api/v1'
const procestype = {
  url: `${ROOT}/procestypen/1`,
  nummer: 1,
  jaar: 2020,
  naam: 'Instellen',
  omschrijving: 'Instellen',
  toelichting: '',
  procesobject: 'De vastgestelde organisatie-inrichting',
}
const resultaat = (n: number, more: object = {}) => ({
  url: `${ROOT}/resultaten/${n}`,
  procesType: procestype.url,
  nummer: n,
  volledigNummer: `1.${n}`,
  naam: 'Ingericht',
  herkomst: 'Risicoanalyse',
  waardering: 'vernietigen',
  procestermijn: 'nihil',
  bewaartermijn: 'P5Y',
  ...more,
})
const read = (...contents: unknown[]) =>
  readItems(contents.map((content, n) => ({ name: `${n + 1}.json`, text: JSON.stringify(content) })))

t.test('answers of the API are read as they come: lists, pages, single resources', async (t) => {
  const items = read(
    [procestype],
    { count: 2, next: null, results: [resultaat(1), resultaat(2, { bewaartermijn: 'P110Y' })] },
    [
      resultaat(3, { waardering: 'blijvend_bewaren', bewaartermijn: null, nummer: '1.1' }),
      resultaat(4, { bewaartermijn: '', procesType: `${ROOT}/procestypen/9` }),
      { url: `${ROOT}/resultaattypeomschrijvingen/1`, omschrijving: 'Afgebroken', definitie: 'd', opmerking: '' },
    ],
  )
  t.match(summarise(items), {
    procestypen: 1,
    jaren: [2020],
    resultaten: 4,
    vernietigen: 3,
    blijvendBewaren: 1,
    zonderTermijn: 1,
    kortsteTermijn: 'P5Y',
    langsteTermijn: 'P110Y',
    onbekendProcestype: 1,
    resultaattypeomschrijvingen: 1,
  })
})

t.test('a file that is something else is refused, with the reason', async (t) => {
  const refused = (content: unknown, reason: RegExp) =>
    t.throws(() => read(content), { message: reason, constructor: SelectielijstRefused }, String(reason))
  refused({ detail: 'Not found' }, /1\.json: nothing in it has a url/)
  refused([{ url: 'https://x.example/zaken/1' }], /zaken\/1: is no procestype, resultaat or/)
  refused([resultaat(1, { waardering: undefined })], /resultaten\/1: a Resultaat has waardering/)
  refused([resultaat(1, { waardering: 'misschien' })], /waardering is one of/)
  refused([resultaat(1, { bewaartermijn: '5 jaar' })], /bewaartermijn "5 jaar" is no ISO 8601 duration/)
  refused([resultaat(1, { procesType: null })], /procesType/)
  refused({ count: 3, next: `${ROOT}/resultaten?page=2`, results: [resultaat(1)] }, /one page, with 1 of 3/)
  t.throws(() => readItems([{ name: 'x.json', text: '<html>' }]), /x\.json: is no JSON/)
  const many = Array.from({ length: 50 }, (_, n) => resultaat(n, { waardering: '' }))
  t.throws(() => read(many), /and 30 more$/)
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  t.throws(() => readItems([{ name: 'x.json', text: deep }]), /nested too deep|is no JSON/)
})
