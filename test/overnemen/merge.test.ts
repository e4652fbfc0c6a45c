// Two organisations become one: the one that takes over has work of its own, and keeps it.
import t from 'tap'
import { beginRound } from '../../src/overnemen/round.ts'
import { switchOver } from '../../src/overnemen/takeover.ts'
import { SECRET, type TestApp, testApp } from '../app.ts'
import { emptyDatabase } from '../setup.ts'
import { fillOpenZaak, fillOtherKinds, KIND, OLD, RSIN, uuidOf } from './open-zaak-database.ts'

const CRS = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }
const Z = '/zaken/api/v1'
const D = '/documenten/api/v1/enkelvoudiginformatieobjecten'

async function round(test: TestApp, given: Partial<Parameters<typeof beginRound>[1]> & { url: string }) {
  const begun = await beginRound(test.parts, {
    ...{ kind: 'api', secret: SECRET, trial: false, readOnly: true },
    settings: { clientId: 'beheer', oudeUrls: [], bytes: 'laten', naast: 2, samenvoegen: true, clients: 'apart' },
    ...given,
  })
  try {
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  } finally {
    await begun.release()
  }
  return begun
}

const remarks = async ({ database }: TestApp) =>
  (
    await database.sql<{ line: string }[]>`
      select outcome || ' ' || kind || ' ' || code as line from takeover_remark
      where code like 'botst-%' or code = 'eigen-werk' group by 1 order by 1`
  ).map(({ line }) => line)

t.test('what stands here is kept, works on and is announced; a plan says first what clashes', async (t) => {
  const { url } = await emptyDatabase(t)
  await fillOpenZaak(url, { zaken: 4, documents: 2 })
  await fillOtherKinds(url)
  const fromDatabase = {
    ...{ kind: 'open-zaak' as const, url, secret: url },
    settings: { oudeUrls: [OLD], bytes: 'laten' as const, naast: 2 },
  }
  const source = await testApp(t)
  await round(source, fromDatabase)
  const address = await source.app.listen({ host: '127.0.0.1', port: 0 })

  // This one took over as well, long ago, and went on since: the same uuids, and other work in them.
  const here = await testApp(t)
  const { sql } = here.database
  const first = await round(here, fromDatabase)
  await sql.begin((trx) => switchOver(trx, first.takeover))
  const taken = uuidOf(KIND.zaak, 1)
  const own = await here.call('PATCH', `${Z}/zaken/${taken}`, { omschrijving: 'Van hier' }, CRS)
  t.equal(own.status, 200)
  const document = `${D}/${uuidOf(KIND.document, 1)}`
  const { body: locked } = await here.call('POST', `${document}/lock`)
  await here.call('PATCH', document, {
    ...{ titel: 'Tweede versie', lock: locked.lock, inhoud: Buffer.from('hier').toString('base64'), bestandsomvang: 4 },
  })
  await here.call('POST', `${document}/unlock`, { lock: locked.lock })
  // What the source has and this one has not; and a case with the number of another here.
  await here.call('DELETE', `${Z}/zaken/${uuidOf(KIND.zaak, 3)}`, undefined, CRS)
  await sql`update zaak set uuid = gen_random_uuid() where uuid = ${uuidOf(KIND.zaak, 4)}`
  await sql`delete from takeover_object where uuid in (${uuidOf(KIND.zaak, 4)}, ${uuidOf(KIND.status, 8)}, ${uuidOf(KIND.rol, 4)})`
  await sql`
    insert into zaak_andere_zaak (zaak_id, place, aard_relatie, andere_zaak_url)
    select id, 99, 'vervolg', ${`${address}${Z}/zaken/${uuidOf(KIND.zaak, 3)}`} from zaak where uuid = ${taken}`
  const trailOf = async () => (await here.call('GET', `${Z}/zaken/${taken}/audittrail`)).body.length
  const trail = await trailOf()
  const before = await sql`select uuid, omschrijving, xmin::text from zaak order by uuid`

  await round(here, { url: address, trial: true })
  const plan = await remarks(here)
  for (const line of [
    'zaak botst-uuid',
    'document botst-uuid',
    'zaak botst-nummer',
    'applicatie botst-client',
    'zaak botst-host',
  ])
    t.ok(plan.includes(`gemarkeerd ${line}`), line)
  t.same(await sql`select uuid, omschrijving, xmin::text from zaak order by uuid`, before, 'a plan writes nothing')

  const messages = async () => (await sql`select from delivery`).length
  await round(here, { url: address })
  t.ok((await remarks(here)).includes('geweigerd zaak eigen-werk'))
  t.ok((await remarks(here)).includes('geweigerd document eigen-werk'))
  t.ok((await remarks(here)).includes('geweigerd rol eigen-werk'), 'no part of theirs comes into a case of ours')
  const show = async (path: string) => (await here.call('GET', path, undefined, CRS)).body
  t.equal((await show(`${Z}/zaken/${taken}`)).omschrijving, 'Van hier')
  t.match(await show(document), { versie: 2, titel: 'Tweede versie', bestandsomvang: 4 })
  t.equal((await here.call('GET', `${document}/download`)).text, 'hier')
  t.equal(await trailOf(), trail)
  t.equal((await show(`${Z}/zaken/${uuidOf(KIND.zaak, 3)}`)).omschrijving, 'Zaak 3', 'what was not here came')

  // Until the switch.
  const waiting = await messages()
  const change = (uuid: string) => here.call('PATCH', `${Z}/zaken/${uuid}`, { toelichting: 'x' }, CRS)
  t.equal((await change(taken)).status, 200, 'own work goes on')
  t.match(await change(uuidOf(KIND.zaak, 3)), { status: 409, body: { code: 'overneming-alleen-lezen' } })
  const made = await here.call(
    'POST',
    `${Z}/zaken`,
    {
      ...{ zaaktype: (await show(`${Z}/zaken/${taken}`)).zaaktype, bronorganisatie: RSIN, startdatum: '2026-11-01' },
      verantwoordelijkeOrganisatie: RSIN,
    },
    CRS,
  )
  t.equal(made.status, 201)
  t.ok((await messages()) >= waiting)
  const planned = (await sql`select from delivery where status = 'gepland'`).length
  const [merge] = await sql<[never]>`select * from takeover where status <> 'omgeschakeld' and not trial`
  t.equal(await sql.begin((trx) => switchOver(trx, merge!)), 0)
  t.equal((await sql`select from delivery where status = 'gepland'`).length, planned, 'its messages go on')
  t.equal((await change(uuidOf(KIND.zaak, 3))).status, 200)
})
