// How often one request may ask other services, and for how long.
import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { Problem } from '../../src/core/problem.ts'
import { askOther } from '../../src/services/questions.ts'
import { type CurrentRequest, currentRequest } from '../../src/telemetry/current-request.ts'
import { givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, faultsOf, givenZaak } from '../zaken/given.ts'

t.test('a request asks other services at most so many questions', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  const zaak = (await givenZaak(test, { zaaktype })).url
  let asked = 0
  const document = { informatieobjecttype, status: 'gearchiveerd' }
  const elders = await givenOtherServer(
    t,
    test,
    new Proxy(
      {},
      {
        get: () => {
          asked++
          return document
        },
      },
    ),
  )
  const addTo = (many: number) => sql`
    insert into zaakinformatieobject (zaak_id, informatieobject_url)
    select z.id, ${`${elders.root}/drc/documenten/`} || there.n + extra.n
    from zaak z, (select count(*) as n from zaakinformatieobject) there, generate_series(1, ${many}::int) extra (n)
    where z.uuid = ${zaak.split('/').at(-1)!}`
  const archive = () =>
    test.call(
      'PATCH',
      zaak,
      { archiefstatus: 'gearchiveerd', archiefnominatie: 'vernietigen', archiefactiedatum: '2030-01-01' },
      CRS,
    )
  await addTo(LIMITS.questions + 1)
  const refused = await archive()
  t.equal(refused.status, 400)
  t.same(faultsOf(refused), ['nonFieldErrors: max_items'])
  t.ok(asked <= LIMITS.questions && asked > LIMITS.questions - 10, 'a few were under way at the last')
  t.equal((await test.call('GET', zaak, undefined, CRS)).body.archiefstatus, 'nog_te_archiveren')
  await sql`delete from zaakinformatieobject where id = (select max(id) from zaakinformatieobject)`
  t.equal((await archive()).status, 200, 'the next request has its own count')
})

t.test('a request asks nothing more when other services took too long together', async (t) => {
  const request: CurrentRequest = {
    id: 'x',
    began: 0,
    questions: 0,
    until: undefined,
    warnings: new Set<string>(),
    addresses: new Set<string>(),
    away: (work) => work(),
  }
  await currentRequest.run(request, async () => {
    t.equal(await askOther(async () => 'answer'), 'answer')
    t.ok(request.until! > performance.now() + LIMITS.questionsMs - 10_000, 'counted from the first question')
    request.until = performance.now() - 1
    let isAsked = false
    const error = (await Promise.resolve()
      .then(() => askOther(async () => (isAsked = true)))
      .catch((error) => error)) as Problem
    t.ok(error instanceof Problem)
    t.match([error.status, error.headers], [503, { 'retry-after': '60' }])
    t.notOk(isAsked)
  })
  t.equal(await askOther(async () => 'job'), 'job', 'what is no request has no such bound')
})
