// Random sequences of what two clients do with imports, held against a model of their states. IMPORT_SEED=… repeats one.
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createClient } from '../../src/autorisaties/clients.ts'
import { type Answer, givenInformatieobjecttype, SECRET, testApp, uuidOf } from '../app.ts'
import { API, csvText, givenFile, goodRow, readReport } from './importing.ts'

type State = 'pending' | 'active' | 'finished' | 'error' | 'deleted'
type Modelled = { state: State; total: number; made: number }
type Model = Modelled[]
/** The uuids of the imports, in the order of the model. */
type Real = string[]

const seed = Number(process.env.IMPORT_SEED ?? Math.floor(Math.random() * 2 ** 31))
const SEQUENCES_MS = 10_000
t.setTimeout(580_000)
t.comment(`IMPORT_SEED=${seed}`)

const app = await testApp(t)
const { database, parts } = app
await createClient(database, parts.box, { id: 'tweede', label: 'Tweede', alleAutorisaties: true, secret: SECRET })
const type = await givenInformatieobjecttype(app)
await givenFile(app, 'brief.txt')
const rowsOf = (count: number) => csvText(Array.from({ length: count }, () => goodRow(type, 'brief.txt')))

const client = (second: boolean) => (method: string, path: string, body?: string) =>
  app.call(method, `${API}${path}`, body, { as: second ? 'tweede' : 'beheer' })
const codeOf = ({ status, body }: Answer) => [status, body?.invalidParams?.[0]?.code ?? body?.code].filter(Boolean)
const wanted = ({ status, body }: Answer, answer: unknown[]) =>
  deepStrictEqual(codeOf({ status, body } as Answer), answer)

const isOpen = ({ state }: Modelled) => state === 'pending' || state === 'active'
const NOT_FOUND = [404, 'not_found']
const STARTED = [400, 'existing-import-started']
const INVALID = [400, 'invalid-status']

type Step = {
  check(model: Readonly<Model>): boolean
  run(model: Model, real: Real): Promise<void>
  toString(): string
}
/** A step on one of the imports that there are, of which `which` is the place. */
function onOne(
  name: string,
  [second, which]: [boolean, number],
  run: (call: ReturnType<typeof client>, one: Modelled, path: string, model: Model) => Promise<void>,
  check: (one: Modelled) => boolean = () => true,
): Step {
  // The newest ones are the ones of which something may still become.
  const placeIn = ({ length }: Readonly<Model>) => length - 1 - (which % Math.min(length, 3))
  return {
    check: (model) => model.length > 0 && check(model[placeIn(model)]!),
    run: (model, real) => run(client(second), model[placeIn(model)]!, `/${real[placeIn(model)]}`, model).then(neverTwo),
    toString: () => `${name}(${second ? 'second' : 'first'}, ${which})`,
  }
}

async function neverTwo(): Promise<void> {
  const { body } = await client(false)('GET', '')
  const open = body.results.filter(({ status }: { status: string }) => status === 'pending' || status === 'active')
  if (open.length > 1) throw new Error(`${open.length} imports are open`)
}

const who = fc.tuple(fc.boolean(), fc.nat(2))

const create = fc.boolean().map(
  (second): Step => ({
    check: () => true,
    async run(model, real) {
      const answer = await client(second)('POST', '/create')
      wanted(answer, model.some(isOpen) ? STARTED : [201])
      if (answer.status === 201) add(model, real, answer)
    },
    toString: () => `create(${second ? 'second' : 'first'})`,
  }),
)
const createBoth = fc.constant<Step>({
  check: () => true,
  async run(model, real) {
    const answers = await Promise.all([true, false].map((second) => client(second)('POST', '/create')))
    const codes = answers.map(codeOf).sort((a, b) => Number(a[0]) - Number(b[0]))
    deepStrictEqual(codes, model.some(isOpen) ? [STARTED, STARTED] : [[201], STARTED])
    const made = answers.find(({ status }) => status === 201)
    if (made) add(model, real, made)
    await neverTwo()
  },
  toString: () => 'create(both)',
})
function add(model: Model, real: Real, { body }: Answer): void {
  model.push({ state: 'pending', total: 0, made: 0 })
  real.push(uuidOf(body.url))
}

const upload = fc.tuple(who, fc.nat(3)).map(([at, rows]) =>
  onOne(`upload ${rows}`, at, async (call, one, path, model) => {
    const answer = await call('POST', `${path}/upload`, rowsOf(rows))
    if (one.state === 'deleted') return wanted(answer, NOT_FOUND)
    if (one.state !== 'pending') {
      return wanted(answer, model.some((other) => other !== one && isOpen(other)) ? STARTED : INVALID)
    }
    wanted(answer, [200])
    Object.assign(one, { state: rows === 0 ? 'finished' : 'active', total: rows })
  }),
)
const cancel = who.map((at) =>
  onOne('cancel', at, async (call, one, path) => {
    const answer = await call('POST', `${path}/cancel`)
    if (one.state === 'deleted') return wanted(answer, NOT_FOUND)
    wanted(answer, isOpen(one) ? [200] : INVALID)
    if (isOpen(one)) one.state = 'error'
  }),
)
const cancelDuringUpload = who.map((at) =>
  onOne(
    'cancel during the upload',
    at,
    async (call, one, path) => {
      const [uploaded, cancelled] = await Promise.all([
        call('POST', `${path}/upload`, rowsOf(2)),
        client(!at[0])('POST', `${path}/cancel`),
      ])
      wanted(cancelled, [200])
      if (uploaded.status === 200) one.total = 2
      else wanted(uploaded, INVALID)
      one.state = 'error'
    },
    ({ state }) => state === 'pending',
  ),
)
const remove = who.map((at) =>
  onOne('delete', at, async (call, one, path) => {
    const answer = await call('DELETE', `${path}/delete`)
    if (one.state === 'deleted') return wanted(answer, NOT_FOUND)
    wanted(answer, one.state === 'active' ? [400, 'import-invalid-status'] : [204])
    if (one.state !== 'active') one.state = 'deleted'
  }),
)
const status = who.map((at) =>
  onOne('status', at, async (call, one, path) => {
    const answer = await call('GET', `${path}/status`)
    if (one.state === 'deleted') return wanted(answer, NOT_FOUND)
    const { status, total, processedSuccessfully } = answer.body
    deepStrictEqual([status, total, processedSuccessfully], [one.state, one.total, one.made])
  }),
)
const report = who.map((at) =>
  onOne('report', at, async (call, one, path) => {
    const answer = await call('GET', `${path}/report`)
    if (one.state === 'deleted' || isOpen(one)) return wanted(answer, NOT_FOUND)
    const rows = await readReport(answer.text)
    const made = rows.filter(({ resultaat }) => resultaat === 'Geïmporteerd')
    deepStrictEqual([answer.status, rows.length, made.length], [200, one.total, one.made])
  }),
)
const work = fc.constant<Step>({
  check: (model) => model.some(({ state }) => state === 'active'),
  async run(model) {
    await app.runJobs()
    for (const one of model) if (one.state === 'active') Object.assign(one, { state: 'finished', made: one.total })
  },
  toString: () => 'the worker works',
})

t.test('imports are as the model says after any sequence of two clients, and never two are open', async (t) => {
  let [sequences, steps] = [0, 0]
  const late = performance.now() + SEQUENCES_MS
  const all = [create, create, createBoth, upload, upload, cancel, cancelDuringUpload, remove, status, report, work]
  await fc.assert(
    fc.asyncProperty(fc.commands<Model, Real, false>(all, { maxCommands: 30 }), async (commands) => {
      if (performance.now() > late) return
      const model: Model = []
      await fc.asyncModelRun(() => ({ model, real: [] as Real }), commands)
      const { body } = await client(false)('GET', '')
      for (const { url, status } of body.results)
        if (status === 'pending' || status === 'active') await app.call('POST', `${url}/cancel`)
      sequences++
      steps += [...commands].length
    }),
    { seed, numRuns: 1000, endOnFailure: true },
  )
  t.comment(`${sequences} sequences, ${steps} steps`)
  t.ok(sequences > 0)
})
