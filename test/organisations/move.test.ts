// What is left of a move that fails, or was killed, at each of its moments.
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { withSchema } from '../../src/database/schema.ts'
import { makeOrganisation } from '../../src/organisations/make.ts'
import { type Move, moveOrganisation } from '../../src/organisations/move.ts'
import { noPrograms, serverDirectory, startPrimary } from '../database/servers.ts'

t.test('a move', { skip: noPrograms }, async (t) => {
  const { port } = await startPrimary(t, join(await serverDirectory(t), 'data'), '-c wal_level=logical')
  const at = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const admin = postgres(at('postgres'), { max: 1, onnotice: () => {} })
  t.teardown(() => admin.end())
  const [from, to] = [at('van'), at('naar')]
  for (const name of ['van', 'naar']) await admin`create database ${admin(name)}`
  const [source, target] = [from, to].map((url) => postgres(url, { max: 1, onnotice: () => {} }))
  t.teardown(() => Promise.all([source!.end(), target!.end()]))
  const make = (url: string) => makeOrganisation(url, { hasFeed: false })
  const given = async (schema: string, more: Partial<Move> = {}): Promise<Move> => {
    await make(withSchema(from, schema))
    await source!.unsafe(`insert into ${schema}.setting (name, value) values ('FEED_DAYS', '3')`)
    return {
      rsin: '000000012',
      from,
      to,
      schema,
      make,
      hold: async () => {},
      settle: async () => {},
      tell: () => {},
      ...more,
    }
  }
  const rowsAt = async (sql: postgres.Sql, schema: string) =>
    (await sql.unsafe(`select name from ${schema}.setting`)).map(({ name }) => name)
  const nothingLeft = async (t: { same(found: unknown, wanted: unknown): unknown }) => {
    t.same(await source!`select slot_name from pg_replication_slots`, [])
    t.same(await source!`select pubname from pg_publication`, [])
    t.same(await target!`select subname from pg_subscription`, [])
  }

  await t.test('that fails before the switch leaves all where it was, and can be made again', async (t) => {
    const told: boolean[] = []
    const move = await given('een', {
      settle: async () => {
        throw new Error('the registry is away')
      },
      hold: async (isHeld) => void told.push(isHeld),
    })
    await t.rejects(moveOrganisation(move), /registry is away/)
    t.same(told, [true, false], 'it is served again where it was')
    await nothingLeft(t)
    t.same(await target!`select from pg_namespace where nspname like 'een%'`, [])
    t.same(await rowsAt(source!, 'een'), ['FEED_DAYS'])
    await moveOrganisation({ ...move, settle: async () => {} })
    t.same(await rowsAt(target!, 'een'), ['FEED_DAYS'])
    t.same(await rowsAt(source!, 'een_moved'), ['FEED_DAYS'])
    await nothingLeft(t)
    const there = { ...move, settle: async () => {} }
    await moveOrganisation({ ...there, from: to, to: from })
    await t.rejects(moveOrganisation(there), /een_moved of an earlier move/)
  })

  await t.test('that was killed is begun anew', async (t) => {
    const move = await given('twee')
    await make(withSchema(to, 'twee'))
    const name = `zaakstroom_move_${move.rsin}`
    await source!.unsafe(`create publication ${name} for table twee.setting`)
    await source!`select pg_create_logical_replication_slot(${name}, 'pgoutput')`
    await target!.unsafe(
      `create subscription ${name} connection '${from}' publication ${name} with (create_slot = false, slot_name = '${name}')`,
    )
    await moveOrganisation(move)
    t.same(await rowsAt(target!, 'twee'), ['FEED_DAYS'])
    await nothingLeft(t)
  })

  await t.test('whose source breaks after the switch keeps what is served from then on', async (t) => {
    const move = await given('drie', {
      settle: async () => {
        await admin`
          select pg_terminate_backend(pid) from pg_stat_activity where datname = 'van' and application_name = 'zaakstroom move'`
      },
    })
    await t.rejects(moveOrganisation(move))
    t.same(await rowsAt(target!, 'drie'), ['FEED_DAYS'])
  })

  await t.test('to where that schema is, is refused, and nothing is taken away there', async (t) => {
    const move = await given('vier')
    await make(withSchema(to, 'vier'))
    await t.rejects(moveOrganisation(move), /the target has that schema/)
    t.same(await target!`select nspname from pg_namespace where nspname = 'vier'`, [{ nspname: 'vier' }])
  })
})
