// Numbers that the database itself holds: each bound of a constraint is met at its last value that is good and at the first that is not.
import postgres from 'postgres'
import t from 'tap'
import { testDatabase } from '../setup.ts'

type Bound = [table: string, constraint: string, column: string, good: string[], bad: string[]]
const between = (least: number, most: number): [string[], string[]] => [
  [String(least), String(most)],
  [String(least - 1), String(most + 1)],
]
const long = (least: number, most: number): [string[], string[]] => [
  [`repeat('x', ${Math.max(least, 0)})`, `repeat('x', ${most})`],
  [...(least > 0 ? [`repeat('x', ${least - 1})`] : []), `repeat('x', ${most + 1})`],
]
const years = (most: number): [string[], string[]] => [[`'P${most}Y'`], [`'P${most}Y1D'`]]

const BOUNDS: Bound[] = [
  ['applicatie_client', 'applicatie_client_client_id_check', 'client_id', ...long(1, 50)],
  ['applicatie_issuer_client', 'applicatie_issuer_client_client_id_check', 'client_id', ...long(1, 255)],
  ['token_issuer', 'token_issuer_audiences_check', 'audiences', ["'{a}'"], ["'{}'"]],
  ['token_issuer', 'token_issuer_algorithms_check', 'algorithms', ["'{ES256}'"], ["'{}'"]],
  ['token_issuer', 'token_issuer_client_claims_check', 'client_claims', ["'{a}'"], ["'{}'"]],
  ['token_issuer', 'token_issuer_max_lifetime_seconds_check', 'max_lifetime_seconds', ...between(60, 86_400)],
  ['token_issuer', 'token_issuer_leeway_seconds_check', 'leeway_seconds', ...between(0, 300)],
  ['service', 'service_label_check', 'label', ...long(1, 100)],
  ['service', 'service_slug_check', 'slug', ...long(1, 100)],
  ['service', 'service_timeout_ms_check', 'timeout_ms', ...between(100, 300_000)],
  ['kanaal', 'kanaal_naam_check', 'naam', ...long(1, 50)],
  ['kanaal', 'kanaal_documentatie_link_check', 'documentatie_link', ...long(0, 200)],
  ['abonnement', 'abonnement_callback_url_check', 'callback_url', ["''", "repeat('x', 2000)"], ["repeat('x', 2001)"]],
  ['abonnement', 'abonnement_concurrency_check', 'concurrency', ...between(1, 50)],
  ['abonnement', 'abonnement_timeout_ms_check', 'timeout_ms', ...between(1000, 60_000)],
  ['abonnement', 'abonnement_ondertekening_check', 'ondertekening', ["'{a,b}'"], ["'{a,b,c}'"]],
  ['resend', 'resend_per_minute_check', 'per_minute', ...between(1, 600_000)],
  ['notificatie_settings', 'notificatie_settings_max_retries_check', 'max_retries', ...between(0, 100)],
  [
    'notificatie_settings',
    'notificatie_settings_backoff_check',
    'backoff',
    ["'0'", "'1000000'"],
    ["'-1'", "'1000001'"],
  ],
  ['notificatie_settings', 'notificatie_settings_backoff_max_check', 'backoff_max', ...between(1, 31_536_000)],
  ['notificatie_settings', 'notificatie_settings_base_factor_check', 'base_factor', ...between(1, 1000)],
  ['notificatie_settings', 'notificatie_settings_block_after_hours_check', 'block_after_hours', ...between(1, 87_600)],
  [
    'notificatie_settings',
    'notificatie_settings_block_from_count_check',
    'block_from_count',
    ...between(1, 100_000_000),
  ],
  ['statustype', 'statustype_volgnummer_check', 'volgnummer', ...between(1, 9999)],
  ['zaaktype_informatieobjecttype', 'zaaktype_informatieobjecttype_volgnummer_check', 'volgnummer', ...between(1, 999)],
  ['bestandsdeel', 'bestandsdeel_omvang_check', 'omvang', ['1'], ['0']],
  ['beheer_account', 'beheer_account_gebruikersnaam_check', 'gebruikersnaam', ...long(1, 150)],
  ['beheer_account', 'beheer_account_naam_check', 'naam', ...long(0, 200)],
  ['beheer_account', 'beheer_account_email_check', 'email', ...long(0, 254)],
  ['zaaktype', 'zaaktype_doorlooptijd_is_term', 'doorlooptijd', ...years(100)],
  ['zaaktype', 'zaaktype_servicenorm_is_term', 'servicenorm', ...years(100)],
  ['zaaktype', 'zaaktype_verlengingstermijn_is_term', 'verlengingstermijn', ...years(100)],
  ['besluittype', 'besluittype_reactietermijn_is_term', 'reactietermijn', ...years(100)],
  ['besluittype', 'besluittype_publicatietermijn_is_term', 'publicatietermijn', ...years(100)],
  ['statustype', 'statustype_doorlooptijd_is_term', 'doorlooptijd', ...years(100)],
  ['zaak', 'zaak_verlenging_duur_is_term', 'verlenging_duur', ...years(100)],
  ['resultaattype', 'resultaattype_archiefactietermijn_is_term', 'archiefactietermijn', ...years(500)],
  ['resultaattype', 'resultaattype_procestermijn_is_term', 'procestermijn', ...years(500)],
  ['resultaattype', 'resultaattype_brondatum_procestermijn_is_term', 'brondatum_procestermijn', ...years(500)],
  ['of_organisation', 'of_organisation_rsin', 'rsin', ["'000000012'"], ["'00000012'", "'0000000012'"]],
  ['idempotency_key', 'idempotency_key_key_check', 'key', ["'k'", "repeat('k', 255)"], ["''", "repeat('k', 256)"]],
]

t.test('the numbers of the database', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())

  for (const [table, constraint, column, good, bad] of BOUNDS) {
    await t.test(`${constraint} lets its bounds in, and nothing beyond`, async (t) => {
      await sql.unsafe(`create temporary table probe (like ${table} including constraints)`)
      const others = await sql<{ drop: string }[]>`
        select format('alter table probe drop constraint %I', conname) as drop from pg_constraint
        where conrelid = 'probe'::regclass and contype = 'c' and conname <> ${constraint}
        union all select format('alter table probe alter column %I drop not null', attname) from pg_attribute
        where attrelid = 'probe'::regclass and attnum > 0 and attnotnull`
      for (const { drop } of others) await sql.unsafe(drop)
      for (const value of good) await sql.unsafe(`insert into probe (${column}) values (${value})`)
      for (const value of bad)
        await t.rejects(sql.unsafe(`insert into probe (${column}) values (${value})`), { code: '23514' }, value)
      await sql`drop table probe`
    })
  }

  await t.test('no check has a bound that is not met here', async (t) => {
    const found = await sql<{ name: string }[]>`
      select conname as name from pg_constraint
      where contype = 'c' and connamespace = current_schema()::regnamespace
        and pg_get_constraintdef(oid) ~ '(<|>|<=|>=) \\(?''?-?\\d|\\{\\d|is_term'`
    const met = new Set(BOUNDS.map(([, constraint]) => constraint))
    t.same(
      found.map(({ name }) => name).filter((name) => !met.has(name) && !/_one_(zaak|type)$|_source_check$/.test(name)),
      [],
    )
  })

  await t.test(
    'a delivery is tried as often as the documentation says, until somebody chooses otherwise',
    async (t) => {
      t.match(
        await sql`select max_retries, backoff, backoff_max, base_factor, in_order, block_after_hours, block_from_count
      from notificatie_settings`,
        [
          {
            max_retries: 7,
            backoff: 25,
            backoff_max: 52_000,
            base_factor: 4,
            in_order: true,
            block_after_hours: 336,
            block_from_count: 1_000_000,
          },
        ],
      )
    },
  )

  await t.test('a catalogue and a zaaktype have room for as many as an answer holds', async (t) => {
    const rows = await sql<{ name: string; args: string }[]>`
      select tgrelid::regclass::text as name, encode(tgargs, 'escape') as args from pg_trigger
      where tgname like '%\\_has\\_room' order by 1`
    const [part, type] = ['zaaktype_id\\0001000\\000', 'catalogus_id\\00025000\\000']
    t.same(
      rows.map(({ name, args }) => [name, args]),
      [
        ['besluittype', type],
        ['eigenschap', part],
        ['informatieobjecttype', type],
        ['resultaattype', part],
        ['roltype', part],
        ['statustype', part],
        ['zaakobjecttype', part],
        ['zaaktype', type],
        ['zaaktype_informatieobjecttype', part],
      ],
    )
  })

  await t.test('a value of a kenmerk is compared as it is up to sixty characters', async (t) => {
    const [row] =
      await sql`select kenmerk_short(repeat('a', 60)) as short, length(kenmerk_short(repeat('a', 61))) as size,
      kenmerk_short(repeat('a', 61)) = kenmerk_short(repeat('a', 62)) as same`
    t.same(row, { short: 'a'.repeat(60), size: 64, same: false })
  })

  await t.test('the reason that rows share has no number of theirs, and at most a thousand characters', async (t) => {
    const [row] = await sql`select import_reason('Rij 12: ' || repeat('a', 1001)) = repeat('a', 1000) as short,
      import_reason('bestandsomvang: Het bestand is 9 bytes groot. titel: x') as size,
      import_reason('pad: ten hoogste 255 bytes per onderdeel.') as other`
    t.same(row, {
      short: true,
      size: 'bestandsomvang: Het bestand is # bytes groot. titel: x',
      other: 'pad: ten hoogste 255 bytes per onderdeel.',
    })
  })

  await t.test(
    'of what a receiver answers to one message only, 400, 413, 415 and 422 let the next of its main object pass',
    async (t) => {
      const object = '00000000-0000-4000-8000-000000000000'
      const [{ id: abonnement }] = (await sql`
      insert into abonnement (callback_url, auth) values ('http://x', '') returning id`) as unknown as [{ id: string }]
      for (const status of [399, 400, 401, 410, 412, 413, 414, 415, 416, 421, 422, 423, 499, 500]) {
        await sql`insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, attempt, claimed_by, begun_at, ended_at)
        values (${status}, ${abonnement}, ${object}, 1, 0, now(), now() - interval '1 minute')`
        await sql`update abonnement set not_before = null, failing_since = null`
        await sql`select record_attempts(array[${status}]::bigint[], array[${abonnement}]::bigint[], array[1], array['http'],
        array[${status}]::integer[], array[null]::text[], array[1], array[null]::float8[], array[null]::float8[], 5,
        array[1, 300]::float8[], 'gone')`
        const [left] = await sql`
        select status, refusals, aside from delivery where notificatie_id = ${status}`
        t.same(left, { status: 'gepland', refusals: 1, aside: [400, 413, 415, 422].includes(status) }, String(status))
        const [receiver] = await sql`select status from abonnement`
        t.equal(receiver!.status, status < 410 ? 'actief' : 'opgezegd', `410 unsubscribes: ${status}`)
      }
      const [receiver] =
        await sql`select failures, extract(epoch from not_before - now())::float8 as rest, reason from abonnement`
      t.match(receiver, { failures: 14, reason: 'gone' })
      t.ok(receiver!.rest > 200 && receiver!.rest <= 300, 'left alone for the last of the waits')
    },
  )
})
