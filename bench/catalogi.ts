// What rights cost: a list of types and a list of documents as a client with all rights and as clients with 1, 30 and 1,000
// autorisaties, beside the same SQL run directly; and the check of one object, without anything around it.
import { randomBytes, randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { signToken } from '../src/autorisaties/clients.ts'
import { isAllowed, reach, systemActor } from '../src/core/access.ts'
import type { Actor, Autorisatie } from '../src/core/actor.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../src/core/vertrouwelijkheidaanduiding.ts'
import { withPath } from '../test/with-path.ts'
import { type Service, startService } from './service.ts'

const SIZES = [1, 30, 1000]

/** `--documents 20000 --requests 300` */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: { documents: { type: 'string', default: '20000' }, requests: { type: 'string', default: '300' } },
  })
  checkRights()
  const secret = randomBytes(32).toString('hex')
  const secretKey = randomBytes(32).toString('hex')
  const service = await startService({ SECRET_KEY: secretKey })
  const sql = postgres(withPath(service.databaseUrl), { max: 1, onnotice: () => {} })
  try {
    const types = await givenTypes(sql, Math.max(...SIZES))
    await givenDocuments(sql, types, Number(values.documents))
    const requests = Number(values.requests)
    const everything = await measureClient(service, sql, requests, { types, token: () => service.token() })
    report('all rights', everything)
    for (const size of SIZES) {
      const id = `bench-${size}`
      await givenClient(service, id, types.slice(0, size))
      await sql`insert into applicatie_secret (client_id, sealed_secret) values (${id}, ${secretBox(secretKey).seal(secret, id)})`
      const measured = await measureClient(service, sql, requests, {
        types: types.slice(0, size),
        token: () => signToken(id, secret),
      })
      report(`${size} autorisaties`, measured, everything)
    }
    console.log(`peak memory of the service: ${await service.peakMemory()} MB`)
  } finally {
    await sql.end()
    await service.stop()
  }
}

// ---- the check by itself ----

function checkRights(): void {
  for (const size of SIZES) {
    const uuids = Array.from({ length: size }, () => randomUUID())
    const autorisaties: Autorisatie[] = uuids.map((typeUuid, index) => ({
      component: 'drc',
      scopes: new Set(['documenten.lezen']),
      typeUrl: '',
      typeUuid,
      typeId: index,
      max: 'geheim',
    }))
    const actor: Actor = { ...systemActor('bench'), alleAutorisaties: false, autorisaties }
    const times = 200_000
    isAllowed(actor, 'drc', ['documenten.lezen'], { type: { uuid: uuids[0]! } })
    const one = perCall(times, (index) =>
      isAllowed(actor, 'drc', ['documenten.lezen'], {
        type: { uuid: uuids[index % size]! },
        vertrouwelijkheidaanduiding: VERTROUWELIJKHEIDAANDUIDINGEN[index % 8]!,
      }),
    )
    const list = perCall(times, () => reach(actor, 'drc', ['documenten.lezen']))
    console.log(`${size} autorisaties: one object ${one.toFixed(2)} µs, reach of a list ${list.toFixed(2)} µs`)
  }
}

function perCall(times: number, work: (index: number) => unknown): number {
  const start = performance.now()
  for (let index = 0; index < times; index++) work(index)
  return ((performance.now() - start) * 1000) / times
}

// ---- what is measured ----

type Type = { id: number; uuid: string }
type Measured = { types: Spread; detail: Spread; documents: Spread; sqlTypes: Spread; sqlDocuments: Spread }
type Spread = { median: number; p99: number }

async function measureClient(
  service: Service,
  sql: postgres.Sql,
  requests: number,
  client: { types: Type[]; token: () => string },
): Promise<Measured> {
  const token = client.token()
  const get = async (path: string) => {
    const response = await fetch(new URL(path, service.address), { headers: { authorization: `Bearer ${token}` } })
    const body = (await response.json()) as { results: { url: string }[] }
    if (!response.ok) throw new Error(`${path} gave ${response.status}`)
    return body
  }
  const [first] = (await get(`${DRC}?pageSize=1`)).results
  const detail = new URL(first!.url).pathname
  const ids = client.types.map(({ id }) => id)
  return {
    types: await spread(requests, () => get('/catalogi/api/v1/informatieobjecttypen?pageSize=100')),
    detail: await spread(requests, () => get(detail)),
    documents: await spread(requests, () => get(`${DRC}?pageSize=100`)),
    sqlTypes: await spread(
      requests,
      () => sql`
        select t.*, c.uuid as catalogus from informatieobjecttype t join catalogus c on c.id = t.catalogus_id
        where not t.concept order by t.id desc limit 100`,
    ),
    sqlDocuments: await spread(
      requests,
      () => sql`
        select e.uuid, v.* from enkelvoudiginformatieobject e
        join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
        where e.informatieobjecttype_id = any(${ids}::bigint[]) and e.vertrouwelijkheidaanduiding <= 'zeer_geheim'
        order by e.id limit 100`,
    ),
  }
}

const DRC = '/documenten/api/v1/enkelvoudiginformatieobjecten'

async function spread(times: number, work: () => Promise<unknown>): Promise<Spread> {
  for (let warm = 0; warm < Math.min(20, times); warm++) await work()
  const taken: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const start = performance.now()
    await work()
    taken.push(performance.now() - start)
  }
  taken.sort((a, b) => a - b)
  return { median: taken[Math.floor(times / 2)]!, p99: taken[Math.min(times - 1, Math.floor(times * 0.99))]! }
}

function report(name: string, measured: Measured, beside?: Measured): void {
  const line = (what: 'types' | 'detail' | 'documents', sql?: Spread) => {
    const { median, p99 } = measured[what]
    const parts = [`${what} ${median.toFixed(2)} ms (p99 ${p99.toFixed(2)})`]
    if (sql) parts.push(`SQL ${sql.median.toFixed(2)} ms, ratio ${(median / sql.median).toFixed(1)}`)
    if (beside) parts.push(`${(median / beside[what].median).toFixed(2)} of all rights`)
    return parts.join(', ')
  }
  console.log(
    [
      `${name}:`,
      `  list of ${line('types', measured.sqlTypes)}`,
      `  list of ${line('documents', measured.sqlDocuments)}`,
      `  document ${line('detail')}`,
    ].join('\n'),
  )
}

// ---- what it is measured on ----

async function givenTypes(sql: postgres.Sql, count: number): Promise<Type[]> {
  return sql<Type[]>`
    with c as (
      insert into catalogus (domein, rsin, contactpersoon_beheer_naam) values ('BENCH', '000000000', 'x') returning id
    )
    insert into informatieobjecttype (catalogus_id, omschrijving, vertrouwelijkheidaanduiding, begin_geldigheid, concept,
      informatieobjectcategorie)
    select c.id, 'Type ' || n, 'openbaar', '2024-01-01', false, 'bench' from c, generate_series(1, ${count}) n
    returning id::int, uuid`
}

async function givenDocuments(sql: postgres.Sql, types: Type[], count: number): Promise<void> {
  const ids = types.map(({ id }) => id)
  await sql`
    with gemaakt as (
      insert into enkelvoudiginformatieobject (identificatie, bronorganisatie, informatieobjecttype_id, vertrouwelijkheidaanduiding, versie)
      select 'BENCH-' || n, '000000000', (${ids}::bigint[])[1 + n % ${ids.length}::int], 'openbaar', 1 from generate_series(1, ${count}) n
      returning id, informatieobjecttype_id, identificatie, bronorganisatie
    )
    insert into enkelvoudiginformatieobject_versie (enkelvoudiginformatieobject_id, versie, informatieobjecttype_id, identificatie,
      bronorganisatie, creatiedatum, titel, vertrouwelijkheidaanduiding, auteur, taal)
    select id, 1, informatieobjecttype_id, identificatie, bronorganisatie, '2024-05-01', 'Document', 'openbaar', 'Archief', 'nld'
    from gemaakt`
  await sql`analyze`
}

/** Through the API, so that rights are written as clients write them. */
async function givenClient(service: Service, id: string, types: Type[]): Promise<void> {
  await service.call('POST', '/autorisaties/api/v1/applicaties', {
    clientIds: [id],
    label: id,
    autorisaties: [
      { component: 'ztc', scopes: ['catalogi.lezen'] },
      ...types.map(({ uuid }) => ({
        component: 'drc',
        scopes: ['documenten.lezen'],
        informatieobjecttype: `${service.address}/catalogi/api/v1/informatieobjecttypen/${uuid}`,
        maxVertrouwelijkheidaanduiding: 'zeer_geheim',
      })),
    ],
  })
}
