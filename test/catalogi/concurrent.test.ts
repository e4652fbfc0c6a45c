// A type that is removed while something that names it is being made: the answer is that of a type that does not exist.
import t from 'tap'
import { toProblem } from '../../src/core/problem.ts'
import {
  type Answer,
  givenBesluittype,
  givenCatalogus,
  givenInformatieobjecttype,
  givenZaaktype,
  type TestApp,
  testApp,
  uuidOf,
} from '../app.ts'
import { besluitBody } from '../besluiten/given.ts'
import { newDocument } from '../documenten/documenten.ts'
import { until } from '../until.ts'
import { CRS, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'
import {
  besluittypeBody,
  eigenschapBody,
  faults,
  iotBody,
  post,
  resultaattypeBody,
  ZTC,
  zaaktypeBody,
  ziotBody,
} from './catalogi.ts'

/** What a request answers when a row that it names disappears after it looked at it, and before it wrote. */
async function removedMeanwhile(
  { database: { sql } }: TestApp,
  table: string,
  url: string,
  request: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Promise<Answer> | undefined
  await sql.begin(async (trx) => {
    const [{ pid } = { pid: 0 }] = await trx`select pg_backend_pid() as pid`
    const { count } = await trx`delete from ${trx(table)} where uuid = ${uuidOf(url)}`
    if (count !== 1) throw new Error(`${table} ${url} is not there`)
    answer = request()
    let done = false
    answer.finally(() => {
      done = true
    })
    await until('a request that waits for the removal', async () => {
      const waiting = await sql`select 1 from pg_stat_activity where ${pid!} = any(pg_blocking_pids(pid))`
      if (done) throw new Error('the request did not wait for the removal')
      return waiting.length > 0
    })
  })
  return answer!
}

t.test('what is removed at the same moment does not exist', async (t) => {
  const test = await testApp(t)
  const { call } = test
  const catalogus = await givenCatalogus(test)
  const create = (path: string, body: object) => () => call('POST', `${ZTC}/${path}`, body)
  const concept = () => post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), identificatie: `Z${Math.random()}` })
  const iot = () => post(test, 'informatieobjecttypen', iotBody(catalogus, `I${Math.random()}`))
  const besluittype = () => post(test, 'besluittypen', besluittypeBody(catalogus, `B${Math.random()}`))
  const statustype = (zaaktype: string, volgnummer = 1) =>
    post(test, 'statustypen', { zaaktype, omschrijving: 'Ontvangen', volgnummer })
  const zaakobjecttype = (zaaktype: string) => ({
    zaaktype,
    anderObjecttype: false,
    objecttype: 'https://objecttypen.example/1',
    relatieOmschrijving: 'r',
  })
  const gone = async (table: string, url: string, fault: string, request: () => Promise<Answer>) => {
    const answer = await removedMeanwhile(test, table, url, request)
    t.strictSame([answer.status, faults(answer)], [400, [fault]], `${table}: ${fault}`)
  }

  t.test('types that types name', async () => {
    const empty = await givenCatalogus(test)
    await gone('catalogus', empty, 'catalogus does_not_exist', create('informatieobjecttypen', iotBody(empty)))
    const zaaktype = { ...zaaktypeBody(catalogus), identificatie: 'NIEUW' }
    let one = await besluittype()
    await gone(
      'besluittype',
      one,
      'besluittypen does_not_exist',
      create('zaaktypen', { ...zaaktype, besluittypen: [one] }),
    )
    one = await concept()
    await gone(
      'zaaktype',
      one,
      'deelzaaktypen does_not_exist',
      create('zaaktypen', { ...zaaktype, deelzaaktypen: [one] }),
    )
    one = await concept()
    const gerelateerd = [{ zaaktype: one, aardRelatie: 'vervolg' }]
    await gone(
      'zaaktype',
      one,
      'gerelateerdeZaaktypen does_not_exist',
      create('zaaktypen', { ...zaaktype, gerelateerdeZaaktypen: gerelateerd }),
    )
    one = await iot()
    const besluit = { ...besluittypeBody(catalogus, 'Nieuw'), informatieobjecttypen: [one] }
    await gone('informatieobjecttype', one, 'informatieobjecttypen does_not_exist', create('besluittypen', besluit))
  })

  t.test('what the parts of a zaaktype name', async () => {
    const zaaktype = await concept()
    let one = await iot()
    await gone(
      'informatieobjecttype',
      one,
      'informatieobjecttype does_not_exist',
      create('zaaktype-informatieobjecttypen', ziotBody(zaaktype, one)),
    )
    one = await besluittype()
    const resultaattype = resultaattypeBody(zaaktype)
    await gone(
      'besluittype',
      one,
      'besluittypen does_not_exist',
      create('resultaattypen', { ...resultaattype, besluittypen: [one] }),
    )
    one = await iot()
    await gone(
      'informatieobjecttype',
      one,
      'informatieobjecttypen does_not_exist',
      create('resultaattypen', { ...resultaattype, informatieobjecttypen: [one] }),
    )
    one = await statustype(zaaktype)
    const eigenschap = { ...eigenschapBody(zaaktype), statustype: one }
    await gone('statustype', one, 'statustype does_not_exist', create('eigenschappen', eigenschap))
    one = await statustype(zaaktype)
    const object = { ...zaakobjecttype(zaaktype), statustype: one }
    await gone('statustype', one, 'statustype does_not_exist', create('zaakobjecttypen', object))
    one = await statustype(zaaktype)
    const ziot = { ...ziotBody(zaaktype, await iot()), statustype: one }
    await gone('statustype', one, 'statustype does_not_exist', create('zaaktype-informatieobjecttypen', ziot))
    const rol = { zaaktype, omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' }
    await gone('zaaktype', zaaktype, 'zaaktype does_not_exist', create('roltypen', rol))
  })

  t.test('types of documents, besluiten and cases', async () => {
    let one = await givenInformatieobjecttype(test)
    await gone('informatieobjecttype', one, 'informatieobjecttype bad-url', () =>
      call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', newDocument(one)),
    )
    one = await givenBesluittype(test)
    await gone('besluittype', one, 'besluittype bad-url', () =>
      call('POST', '/besluiten/api/v1/besluiten', besluitBody(one)),
    )
    one = await givenZaaktype(test)
    await gone('zaaktype', one, 'zaaktype bad-url', () => call('POST', `${ZAKEN}/zaken`, zaakBody(one), CRS))
  })

  t.test('types of what belongs to a case', async () => {
    const zaaktype = await givenZaaktype(test)
    const { url: zaak } = await givenZaak(test, { zaaktype })
    const within = (path: string, body: object) => () => call('POST', `${ZAKEN}/${path}`, { zaak, ...body })
    await statustype(zaaktype, 99) // the last one closes a case, which asks for more
    let one = await statustype(zaaktype)
    const moment = { statustype: one, datumStatusGezet: '2026-03-02T10:00:00Z' }
    await gone('statustype', one, 'statustype bad-url', within('statussen', moment))
    one = await post(test, 'resultaattypen', resultaattypeBody(zaaktype))
    await gone('resultaattype', one, 'resultaattype bad-url', within('resultaten', { resultaattype: one }))
    one = await post(test, 'roltypen', { zaaktype, omschrijving: 'Adviseur', omschrijvingGeneriek: 'adviseur' })
    const rol = {
      betrokkeneType: 'medewerker',
      roltype: one,
      roltoelichting: 'x',
      betrokkeneIdentificatie: { identificatie: '1' },
    }
    await gone('roltype', one, 'roltype bad-url', within('rollen', rol))
    one = await post(test, 'eigenschappen', eigenschapBody(zaaktype))
    const eigenschap = one
    await gone('eigenschap', one, 'eigenschap bad-url', () =>
      call('POST', `${zaak}/zaakeigenschappen`, { zaak, eigenschap, waarde: 'x' }),
    )
    one = await post(test, 'zaakobjecttypen', zaakobjecttype(zaaktype))
    const object = {
      objectType: 'overige',
      objectTypeOverige: 'boom',
      objectIdentificatie: { overigeData: { a: 1 } },
      zaakobjecttype: one,
    }
    await gone('zaakobjecttype', one, 'zaakobjecttype bad-url', within('zaakobjecten', object))
  })

  t.test('no foreign key to a type is forgotten', async (t) => {
    // Only what hangs below something that was held, or is held itself, is left out.
    const held = /^(\w+_zaaktype_id_fkey|resultaattype_\w+_resultaattype_id_fkey|besluittype_\w+_besluittype_id_fkey)$/
    const rows = await test.database.sql`
      select conname from pg_constraint where contype = 'f' and conparentid = 0 and confrelid::regclass::text in
        ('catalogus', 'zaaktype', 'besluittype', 'informatieobjecttype', 'statustype', 'resultaattype', 'roltype', 'eigenschap', 'zaakobjecttype')`
    t.ok(rows.length > 20)
    const forgotten = rows.filter(
      ({ conname }) =>
        toProblem({ code: '23503', constraint_name: conname }).status !== 400 &&
        (conname === 'zaak_zaaktype_id_fkey' || !held.test(conname)),
    )
    t.strictSame(forgotten, [])
  })
})
