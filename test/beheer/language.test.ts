// The pages in English: every sentence has its translation, and what users typed stays as it is.
import { Eta } from 'eta'
import t from 'tap'
import { ENGLISH } from '../../src/beheer/language/english/index.ts'
import { REASONS } from '../../src/beheer/language/english/reasons.ts'
import { inLanguage, t as say, words } from '../../src/beheer/language/language.ts'
import { templateLanguage } from '../../src/beheer/language/templates.ts'
import { collectMessages } from './messages.ts'

const inEnglish = <T>(work: () => T) => inLanguage('en', work)
t.test('every sentence of the pages has English, and no English is left over', async (t) => {
  const messages = collectMessages()
  t.ok(messages.size > 2000)
  t.same(
    [...messages]
      .filter(([dutch]) => !ENGLISH.has(dutch))
      .map(([dutch, places]) => `${dutch} (${[...places].join(', ')})`),
    [],
    'sentences without English in src/beheer/language/english/',
  )
  t.same(
    [...ENGLISH.keys()].filter((dutch) => !messages.has(dutch)),
    [],
    'English of sentences that are not said',
  )
})

t.test('English names the values that the Dutch names', async (t) => {
  const values = (text: string) => [...new Set(text.match(/\{\d+/g) ?? [])].sort()
  for (const [dutch, english] of [...ENGLISH, ...Object.entries(REASONS)]) {
    if (values(dutch).join() !== values(english).join()) t.fail(`${dutch} → ${english}`)
  }
})

t.test('a sentence keeps its values, in the places where English has them', async (t) => {
  const name = 'Zaken'
  t.equal(say`Het account ${name} is gemaakt.`, 'Het account Zaken is gemaakt.')
  t.equal(
    inEnglish(() => say`Het account ${name} is gemaakt.`),
    'The account Zaken has been made.',
  )
  t.equal(
    inEnglish(() => say('wat niemand zegt')),
    'wat niemand zegt',
  )
  const table = words({ rows: [{ naam: 'Zaken', code: 'Zaken' }] }, 'naam')
  t.match(
    inEnglish(() => ({ ...table.rows[0] })),
    { naam: 'Cases', code: 'Zaken' },
  )
  t.match(table.rows[0], { naam: 'Zaken', code: 'Zaken' })
})

t.test('a template is read in English, with its values and statements in place', async (t) => {
  const english: Record<string, string> = {
    'Er zijn {1} rijen': 'There are {1} rows',
    'Van {1} naar {2}.': 'To {2} from {1}.',
    geen: 'none',
    'Nog “{1}”': 'Still “{1}”',
    Zoek: 'Find',
    status: 'state',
    'Nieuw {1}': 'New {1:lower}',
  }
  const eta = new Eta({ plugins: [templateLanguage((dutch) => english[dutch])] })
  const render = (template: string, values: object) =>
    eta.renderString(template, { lowerFirst: (text: string) => text.toLowerCase(), ...values })
  t.equal(
    render('<p>\n  Er zijn <%= it.n %>\n  rijen</p><% if (it.n) { %>geen<% } %>', { n: 3 }),
    '<p>\n  There are 3 rows</p>none',
  )
  t.equal(render('Van <%= it.a %> naar <%= it.b %>.', { a: '<1>', b: 2 }), 'To 2 from &lt;1&gt;.')
  t.equal(
    render('<b title="Zoek" class="geen"><%= it.a || "geen" %></b>', { a: '' }),
    '<b title="Find" class="geen">none</b>',
  )
  t.equal(render('<b><%= it.a || "geen" %></b>', { a: 'Zoek' }), '<b>Zoek</b>', 'a value is no sentence')
  t.equal(render('<% const x = `Nog “${it.a}”` %><%= x %>', { a: 'Zoek' }), 'Still “Zoek”')
  t.equal(
    render('<% const x = { naam: "status" } %><i id="<%= x.naam %>"></i>', {}),
    '<i id="status"></i>',
    'names stay',
  )
  t.equal(render('<code>geen</code> Nieuw <%= it.a %>', { a: 'Zaaktype' }), '<code>geen</code> New zaaktype')
})
