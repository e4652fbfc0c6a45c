// What a process keeps in memory at the top of a file, or in a plugin, is kept for all organisations together: a cache there without the
// organisation in its key gives one what is another's. Each such place is listed here with the reason why it may be. What belongs to an
// organisation is made with `app.each`.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { keptIn } from './shared-state.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Whatever these make is of no organisation. */
const MADE: Record<string, string> = {
  'new Gauge': METRIC(),
  'new Counter': METRIC(),
  'new Histogram': METRIC(),
  'new Registry': METRIC(),
  'new AsyncLocalStorage': 'of the request or the work that goes on',
  'answerReader()': 'by the columns of a resource, which are in the source',
  'rowsById()': 'the text of a statement, without schema and values',
  'rowByUuid()': 'the text of a statement, without schema and values',
  'compiled()': 'the text of a statement, without schema and values',
  'openReferences()': 'copies of the selectielijst, by the path of their file',
  'openSelectielijst()': 'copies of the selectielijst, by the path of their file',
  'openRepeats()': 'lines of the log that were said a moment ago, by their text',
  'new AbortController': 'that the application closes',
}

function METRIC(): string {
  return 'figures for the centre'
}

const TURN = 'work that fills a core or memory: so many at once in the process, and nothing is kept of it'
const CONNECTION = 'connections, which are of no organisation until a request is read'
const OBJECT = 'by an object of one request, answer or organisation'
const SOURCE = 'a table of the source, filled when it is loaded'
const STATIC = 'pages and documents that are alike for all; the address is put in for each answer'
const SHARED: Record<string, string> = {
  'src/app.ts collectRoutes.known': SOURCE,
  'src/autorisaties/access-hook.ts registerAccess.proxies': 'TRUST_PROXY, of the process',
  'src/beheer/accounts/oidc-client.ts keySets':
    'public keys, by what is known of a provider, which each organisation has of its own',
  'src/beheer/accounts/password.ts hashing': TURN,
  'src/beheer/accounts/password.ts hashingKnown': TURN,
  'src/beheer/catalogi/transfer.ts uploads': TURN,
  'src/beheer/frame/event-stream.ts openEventStreams.closing': 'that the application closes',
  'src/beheer/frame/format.ts made': 'formats of dates and numbers, by language',
  'src/beheer/frame/manual.ts registerManual.pages': STATIC,
  'src/beheer/frame/page.ts registerPage.english': 'templates',
  'src/beheer/frame/stylesheets.ts ourFiles': STATIC,
  'src/beheer/language/english/accounts.ts accounts': SOURCE,
  'src/beheer/language/english/imports.ts imports': SOURCE,
  'src/beheer/language/english/operations.ts operations': SOURCE,
  'src/beheer/language/english/settings.ts settings': SOURCE,
  'src/beheer/language/english/zaken.ts zaken': SOURCE,
  'src/beheer/language/language.ts wordsOfTables': SOURCE,
  'src/catalogi/besluittypen.ts source': SOURCE,
  'src/catalogi/fields.ts part': SOURCE,
  'src/catalogi/fields.ts period': SOURCE,
  'src/catalogi/fields.ts version': SOURCE,
  'src/catalogi/informatieobjecttypen.ts source': SOURCE,
  'src/catalogi/zaaktype/eigenschappen.ts source': SOURCE,
  'src/catalogi/zaaktype/resultaattypen.ts source': SOURCE,
  'src/catalogi/zaaktype/roltypen.ts source': SOURCE,
  'src/catalogi/zaaktype/statustypen.ts source': SOURCE,
  'src/catalogi/zaaktype/zaakobjecttypen.ts source': SOURCE,
  'src/http/unknown-members.ts dropped': OBJECT,
  'src/catalogi/zaaktype/zaaktype-informatieobjecttypen.ts source': SOURCE,
  'src/cli/server.ts NEVER': 'a promise that is never kept',
  'src/cli/takeover-lines.ts told': 'of a command, which is for one organisation',
  'src/cli/terminal.ts read': 'standard input of a command',
  'src/core/access.ts indexes': OBJECT,
  'src/database/address.ts tlsServers': 'whether a server speaks TLS, by its host and port',
  'src/database/database.ts waitingForConnection': METRIC(),
  'src/database/driver-values.ts names': 'names of columns',
  'src/database/embedded-directory.ts locks': 'of the embedded server',
  'src/database/hosts.ts classes': 'by the whole address of a database, with its schema',
  'src/database/listen.ts ears': 'by database: who listens is told by channel, and reads what is its own again',
  'src/database/look.ts looks': 'by database: whether it answers',
  'src/database/password-file.ts files': 'by database: the file with its password',
  'src/database/primary.ts known': 'by database: which of its hosts takes writes',
  'src/database/primary.ts log': 'the log of the process',
  'src/database/refusal.ts marked': OBJECT,
  'src/database/database.ts updates': 'the text of statements, without schema and values',
  'src/documenten/document/download.ts contentSender.given': OBJECT,
  'src/documenten/document/download.ts countDownload': 'how many there are, by organisation and client',
  'src/documenten/document/download.ts wholeDownloads': TURN,
  'src/documenten/import/columns.ts placesByHeader': OBJECT,
  'src/documenten/import/draft.ts workbooks': TURN,
  'src/documenten/import/small-heap.ts imports': 'how many there are: a setting of V8 depends on it',
  'src/beheer/catalogi/transfer.ts countForms': 'how many there are, by organisation and account',
  'src/documenten/import/receive.ts countReceiving': 'how many there are, by organisation and client',
  'src/documenten/import/receive.ts shares': OBJECT,
  'src/documenten/import/xlsx.ts heldOfAll': 'how many bytes there are',
  'src/documenten/import/xlsx.ts receiving': 'by organisation and account',
  'src/documenten/storage/index.ts storageFaults': METRIC(),
  'src/documenten/storage/scan.ts scanned': METRIC(),
  'src/feed/events.ts openEvents.readers': 'that the application closes',
  'src/feed/events.ts openEvents.shared': 'by organisation, address, rights and position',
  'src/http/connections.ts boundConnections.addresses': CONNECTION,
  'src/http/connections.ts boundConnections.begin': CONNECTION,
  'src/http/connections.ts boundConnections.connections': CONNECTION,
  'src/http/connections.ts boundConnections.destroy': CONNECTION,
  'src/http/connections.ts boundConnections.expects': CONNECTION,
  'src/http/connections.ts boundConnections.ofSocket': CONNECTION,
  'src/http/connections.ts boundConnections.proxies': CONNECTION,
  'src/http/connections.ts boundConnections.spares': CONNECTION,
  'src/http/connections.ts boundConnections.tooMany': CONNECTION,
  'src/http/connections.ts boundConnections.unknownExpectation': CONNECTION,
  'src/http/connections.ts boundConnections.waiting': CONNECTION,
  'src/http/etag.ts tagChanges.read': SOURCE,
  'src/http/expand.ts sizes': OBJECT,
  'src/http/fault-pages.ts serveFaultPages.makers': STATIC,
  'src/http/fault-pages.ts serveFaultPages.pages': STATIC,
  'src/http/input-faults.ts validators': SOURCE,
  'src/http/input.ts readers': SOURCE,
  'src/http/json.ts large': OBJECT,
  'src/http/links.ts places': 'of an address of ours, which is compared',
  'src/http/numbers.ts sources': OBJECT,
  'src/http/openapi/index.ts collectOpenapi.components': STATIC,
  'src/http/openapi/index.ts serveComponent.text': STATIC,
  'src/http/openapi/index.ts threads': TURN,
  'src/http/openapi/pages.ts serveReference.pages': STATIC,
  'src/http/page.ts normalised': 'of an address of ours, which is compared',
  'src/http/places.ts sharePlaces.leaving': OBJECT,
  'src/http/places.ts sharePlaces.waits': OBJECT,
  'src/http/places.ts takesLarge': OBJECT,
  'src/http/stream.ts countStream': 'how many there are, by organisation and client',
  'src/http/stream.ts shares': OBJECT,
  'src/http/turns.ts pieces': TURN,
  'src/http/turns.ts running': TURN,
  'src/http/turns.ts small': TURN,
  'src/http/turns.ts wake': TURN,
  'src/http/verwerkingen.ts PLACES': SOURCE,
  'src/lib/day.ts days': 'TIME_ZONE, of the process',
  'src/lib/day.ts zone': 'TIME_ZONE, of the process',
  'src/nrc/abonnement/callback.ts running': 'how many there are, by organisation',
  'src/operations/health.ts looked': OBJECT,
  'src/operations/health.ts registerHealth.warned': 'of the process',
  'src/operations/metrics-server.ts hasDefaults': METRIC(),
  'src/overnemen/kinds.ts VERSION': SOURCE,
  'src/overnemen/playback/play.ts typesThere': OBJECT,
  'src/telemetry/current-request.ts requests': OBJECT,
  'src/telemetry/log.ts droppedLines': METRIC(),
  'src/telemetry/tracing.ts open': 'what sends traces, of the process',
  'src/telemetry/tracing.ts traceRequests.spans': OBJECT,
  'src/zaken/expand.ts loaders': SOURCE,
  'src/zaken/object-schema.ts threads': TURN,
  'src/zaken/part-queries.ts readers': SOURCE,
  'src/zaken/rollen.ts CONTEXT': SOURCE,
  'src/zaken/zaak/filters.ts zaaktypenByList': OBJECT,
  'src/zaken/zaak/read.ts finders': 'the text of a statement, without schema and values',
  'src/zaken/zaak/search.ts threads': TURN,
  'src/zaken/zaak/within-thread.ts lies': 'of a thread that judges one area',
  'src/zaken/zaakbesluiten.ts source': SOURCE,
  'src/zaken/zaakeigenschappen.ts source': SOURCE,
}

t.test('what is kept for all organisations together is what the list says, and nothing else', async (t) => {
  const names = globSync('{src,tasks}/**/*.ts', { cwd: ROOT })
  const kept = keptIn(names.map((name) => ({ name, path: join(ROOT, name) })))
  t.same([...new Set(kept.map(({ what }) => what))].filter((what) => MADE[what]).sort(), Object.keys(MADE).sort())
  const found = kept.filter(({ what }) => !MADE[what]).map(({ id }) => id)
  t.same(
    found.filter((id) => !SHARED[id]),
    [],
    'make it with app.each, or list it with the reason why it may be shared',
  )
  t.same(
    Object.keys(SHARED).filter((id) => !found.includes(id)),
    [],
    'no longer there',
  )
})

t.test('a cache is seen wherever it hides', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-kept-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const sources: [name: string, text: string, kept: string[]][] = [
    ['top.ts', 'const kept = new Map(); export const f = (a) => kept.set(a, 1)', ['top.ts kept']],
    ['let.ts', 'let last: string | undefined\nexport function f(a: string) { last = a }', ['let.ts last']],
    ['constant.ts', "const names = new Set(['a']); export const f = (a) => names.has(a)", []],
    ['list.ts', 'const all: string[] = []; export const f = (a: string) => void all.push(a)', ['list.ts all']],
    ['object.ts', 'const all = {}; export const f = (a: string) => { all[a] = 1 }', ['object.ts all']],
    [
      'plugin.ts',
      "export async function p(app) { const a = new Map(); app.get('/', () => a.set(1, 2)) }",
      ['plugin.ts p.a'],
    ],
    [
      'each.ts',
      'export async function p(app) { const a = app.each(() => new Map()); app.addHook(() => a().set(1)) }',
      [],
    ],
    ['local.ts', 'export function f(app) { const a = new Map(); return [1].map((one) => a.set(one, 1)) }', []],
    [
      'maker.ts',
      "export function openIt() { const a = new Map(); return (one) => a.set(one) }\nexport const p = async (app) => { const it = openIt(); app.get('/', it) }",
      ['maker.ts p.it'],
    ],
    ['class.ts', 'const agent = new Agent()', ['class.ts agent']],
  ]
  for (const [name, text] of sources) writeFileSync(join(directory, name), text)
  const kept = keptIn(sources.map(([name]) => ({ name, path: join(directory, name) })))
  for (const [name, , ids] of sources)
    t.same(
      kept.flatMap(({ id }) => (id.startsWith(`${name} `) ? id : [])),
      ids,
      name,
    )
})
