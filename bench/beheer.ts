// How fast the administration pages are made, and how heavy they are, with a million rows behind each list.
import { createHash, randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { createAccount } from '../src/beheer/accounts/accounts.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { givenType, startService } from './service.ts'

/** `--rows 1000000 --runs 40`: how many there are of everything, and how often each page is asked. */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: { rows: { type: 'string', default: '1000000' }, runs: { type: 'string', default: '40' } },
  })
  const rows = Number(values.rows)
  const service = await startService()
  const database = openDatabase(service.databaseUrl, { max: 2, name: 'bench', settings: { statement_timeout: '0' } })
  try {
    const started = performance.now()
    await givenType(service)
    const { zaak, importUuid, notificatie } = await fill(database, rows)
    console.log(`${rows} cases, documents, notifications and rows of an import in ${seconds(started)} s`)
    const cookie = await givenSession(database)
    const pages = [
      '/',
      '/zaken',
      '/zaken?zaaktype=BENCH&staat=open',
      `/zaken?van=2026-01-05&tot=2026-01-06`,
      `/zaken?na=${Math.floor(rows / 2)}`,
      `/zaken/${zaak}`,
      `/zaken/${zaak}/documenten`,
      '/documenten',
      '/documenten?type=Brief',
      '/documenten?titel=document', // all of them
      `/documenten?titel=document+BENCH-${rows}`, // one
      '/documenten?titel=staat+er+niet', // none
      // Sorted, at both ends and in the middle.
      ...['identificatie', 'titel', 'creatiedatum'].flatMap((sort) => atAllPlaces('/documenten', sort, rows)),
      ...['identificatie', 'startdatum'].flatMap((sort) => atAllPlaces('/zaken', sort, rows)),
      '/notificaties',
      '/notificaties?status=mislukt',
      `/notificaties/${notificatie}`,
      '/imports',
      `/imports/${importUuid}`,
      '/taken',
      '/bewaartermijnen',
      '/audit',
    ]
    console.log('page                                          status  median      p95   compressed')
    for (const page of pages) {
      const times: number[] = []
      let status = 0
      let size = 0
      for (let run = 0; run < Number(values.runs); run++) {
        const from = performance.now()
        const answer = await fetch(`${service.address}/beheer${page}`, { headers: { cookie }, redirect: 'manual' })
        const body = Buffer.from(await answer.arrayBuffer())
        times.push(performance.now() - from)
        status = answer.status
        size = gzipSync(body).length
      }
      times.sort((a, b) => a - b)
      const at = (part: number) =>
        `${times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(1)} ms`
      const name = page.replace(/[0-9a-f-]{36}/, '…').padEnd(46)
      console.log(
        `${name} ${status} ${at(0.5).padStart(9)} ${at(0.95).padStart(9)} ${(size / 1000).toFixed(1).padStart(6)} kB`,
      )
    }
    console.log(`peak memory of the service: ${await service.peakMemory()} MB`)
  } finally {
    await database.close()
    await service.stop()
  }
}

/** A sorted list from its begin, onwards and back from the middle, and from its end, up and down. */
function atAllPlaces(path: string, sort: string, rows: number): string[] {
  const middle = Math.floor(rows / 2)
  return [sort, `-${sort}`].flatMap((by) =>
    ['', `&na=${middle}`, `&voor=${middle}`].map((from) => `${path}?sorteer=${by}${from}`),
  )
}

async function fill({ sql }: Database, rows: number) {
  await sql`
    insert into zaaktype (catalogus_id, identificatie, omschrijving, vertrouwelijkheidaanduiding, doel, aanleiding,
      indicatie_intern_of_extern, handeling_initiator, onderwerp, handeling_behandelaar, doorlooptijd,
      opschorting_en_aanhouding_mogelijk, verlenging_mogelijk, publicatie_indicatie, referentieproces_naam, verantwoordelijke,
      begin_geldigheid, versiedatum, concept)
    select id, 'BENCH', 'Melding', 'openbaar', 'x', 'x', 'extern', 'x', 'x', 'x', 'P30D', false, false, false, 'x', 'x',
      '2020-01-01', '2020-01-01', false from catalogus`
  await inPortions(rows, async (from, to) => {
    await sql`
      insert into zaak (identificatie, bronorganisatie, omschrijving, zaaktype_id, verantwoordelijke_organisatie, startdatum,
        vertrouwelijkheidaanduiding)
      select 'ZAAK-BENCH-' || n, '000000000', 'Melding ' || n, t.id, '000000000', '2024-01-01'::date + n % 900, 'openbaar'
      from generate_series(${from}::integer, ${to}::integer) n, zaaktype t`
    await sql`
      with e as (
        insert into enkelvoudiginformatieobject (bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding)
        select '000000000', 'BENCH-' || n, t.id, 'openbaar'
        from generate_series(${from}::integer, ${to}::integer) n, informatieobjecttype t returning *
      )
      insert into enkelvoudiginformatieobject_versie (enkelvoudiginformatieobject_id, versie, bronorganisatie, identificatie,
        informatieobjecttype_id, vertrouwelijkheidaanduiding, creatiedatum, titel, auteur, taal)
      select id, 1, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding, '2025-01-01',
        'Document ' || identificatie, 'Archief', 'nld' from e`
    await sql`
      with n as (
        insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken)
        select 'zaken', 'http://localhost/zaken/api/v1/zaken/' || u, u, 'zaak', 'http://localhost/zaken/api/v1/zaken/' || u,
          'create', '{}'
        from (select gen_random_uuid() as u from generate_series(${from}::integer, ${to}::integer) n) x
        returning id, hoofd_object_uuid
      ), mislukt as (
        insert into delivery (notificatie_id, hoofd_object_uuid, status, next_attempt_at, attempt, ended_at, cause)
        select id, hoofd_object_uuid, 'mislukt', null, 1, now(), 'http-503' from n where id % 20 = 0
      )
      insert into delivery_attempt (notificatie_id, number, duration_ms, outcome, http_status)
      select id, 1, 12, case when id % 20 = 0 then 'http' else 'delivered' end, case when id % 20 = 0 then 503 else 201 end
      from n`
    await sql`
      insert into beheer_audit (gebruiker, handeling, object_kind, object_id)
      select 'beheerder', 'document-downloaden', 'document', gen_random_uuid()::text
      from generate_series(${from}::integer, ${to}::integer)`
  })
  const [zaak] = await sql`select id, uuid from zaak order by id desc limit 1`
  await sql`
    insert into zaakinformatieobject (zaak_id, enkelvoudiginformatieobject_id)
    select ${zaak!.id}, id from enkelvoudiginformatieobject order by id desc limit 500`
  const [made] = await sql`
    insert into import (status, header, total, processed, succeeded, started_at, ended_at)
    values ('finished', '["uuid", "titel"]', ${rows}, ${rows}, ${rows - Math.floor(rows / 100)}, now() - interval '1 hour', now())
    returning id, uuid`
  await inPortions(rows, async (from, to) => {
    await sql`
      insert into import_row (import_id, number, cells)
      select ${made!.id}, n + 1, '["", "Een titel"]' from generate_series(${from}::integer, ${to}::integer) n`
    await sql`
      insert into import_outcome (import_id, number, succeeded, remark)
      select ${made!.id}, n + 1, n % 100 <> 0, case when n % 100 = 0 then 'titel: Dit veld is verplicht.' else '' end
      from generate_series(${from}::integer, ${to}::integer) n`
  })
  for (const table of [
    'zaak',
    'enkelvoudiginformatieobject',
    'enkelvoudiginformatieobject_versie',
    'notificatie',
    'delivery_attempt',
    'delivery',
    'beheer_audit',
    'import_row',
    'import_outcome',
    'zaakinformatieobject',
  ])
    await sql`vacuum analyze ${sql(table)}`
  const [notificatie] = await sql`
    select uuid from notificatie where id = (select max(notificatie_id) from delivery where status = 'mislukt')`
  return { zaak: zaak!.uuid as string, importUuid: made!.uuid as string, notificatie: notificatie!.uuid as string }
}

async function inPortions(rows: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
  for (let from = 1; from <= rows; from += 50_000) await work(from, Math.min(rows, from + 49_999))
}

/** Signs in as an administrator; the cookie. */
async function givenSession({ db, sql }: Database): Promise<string> {
  const { uuid } = await createAccount(db, { gebruikersnaam: 'beheerder', rol: 'administrator' })
  const value = randomBytes(32).toString('base64url')
  const key = createHash('sha256').update(value).digest()
  await sql`
    insert into beheer_session (key, account_id, expires_at)
    select ${key}, id, now() + interval '1 hour' from beheer_account where uuid = ${uuid}`
  return `zaakstroom=${value}`
}

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(0)
