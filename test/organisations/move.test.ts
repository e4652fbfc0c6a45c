// Slow: a move is killed at each of its moments.
// What is left of a move that fails, or was killed, at each of its moments.
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import type { Control } from '../../src/cli/control.ts'
import { endKilledMove } from '../../src/cli/organisation-move.ts'
import { withSchema } from '../../src/database/schema.ts'
import { makeOrganisation } from '../../src/organisations/make.ts'
import { endMove, type Move, moveOrganisation } from '../../src/organisations/move.ts'
import { changeOrganisations, readOrganisations, updateOrganisation } from '../../src/organisations/registry.ts'
import { noPrograms, serverDirectory, startPrimary } from '../database/servers.ts'
import { emptyDatabase } from '../setup.ts'
import { givenMany } from './many.ts'

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
      begin: async () => {},
      hold: async () => {},
      settle: async () => {},
      end: async () => {},
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
    const told: string[] = []
    const move = await given('een', {
      begin: async () => void told.push('begin'),
      hold: async (isHeld) => {
        told.push(isHeld ? 'hold' : 'serve')
        if (isHeld) throw new Error('the registry is away')
      },
      end: async () => void told.push('end'),
    })
    await t.rejects(moveOrganisation(move), /registry is away/)
    t.same(told, ['begin', 'hold', 'serve', 'end'], 'it is served, whichever step failed')
    await nothingLeft(t)
    t.same(await target!`select from pg_namespace where nspname like 'een%'`, [])
    t.same(await rowsAt(source!, 'een'), ['FEED_DAYS'])

    told.length = 0
    const writer = postgres(from, { max: 1 })
    const writing = await writer.reserve()
    await writing.unsafe('begin; lock table een.zaak in row exclusive mode')
    const hold = async (isHeld: boolean) => {
      told.push(isHeld ? 'hold' : 'serve')
      if (!isHeld) await writing.unsafe('commit')
    }
    await moveOrganisation({ ...move, hold })
    writing.release()
    await writer.end({ timeout: 1 })
    t.same(told, ['begin', 'hold', 'serve', 'hold', 'end'], 'a table that is in use is waited for, while it is served')
    t.same(await rowsAt(target!, 'een'), ['FEED_DAYS'])
    t.same(await rowsAt(source!, 'een_moved'), ['FEED_DAYS'])
    await nothingLeft(t)
    const there = { ...move, hold: async () => {} }
    await moveOrganisation({ ...there, from: to, to: from })
    await t.rejects(moveOrganisation(there), /een_moved and een_moved_queue of an earlier move/)
    await source!`drop schema een_moved cascade`
    const begin = () => Promise.reject(new Error('it has begun'))
    await t.rejects(moveOrganisation({ ...there, begin }), /schema een_moved_queue of an earlier move/)
  })

  await t.test('that was killed before the switch is ended where it was', async (t) => {
    const told: string[] = []
    const move = await given('twee', {
      hold: async (isHeld) => void told.push(isHeld ? 'hold' : 'serve'),
      settle: async () => void told.push('settle'),
      end: async () => void told.push('end'),
    })
    await make(withSchema(to, 'twee'))
    const name = `zaakstroom_move_${move.rsin}`
    await source!.unsafe(`create publication ${name} for table twee.setting`)
    await source!`select pg_create_logical_replication_slot(${name}, 'pgoutput')`
    await target!.unsafe(
      `create subscription ${name} connection '${from}' publication ${name} with (create_slot = false, slot_name = '${name}')`,
    )
    t.equal(await endMove(move, false), false)
    t.same(told, ['serve', 'end'])
    await nothingLeft(t)
    t.same(await target!`select from pg_namespace where nspname like 'twee%'`, [])
    t.same(await rowsAt(source!, 'twee'), ['FEED_DAYS'])
  })

  await t.test('that was killed after the switch is ended at the target', async (t) => {
    const told: string[] = []
    const move = await given('drie', {
      hold: async (isHeld) => void told.push(isHeld ? 'hold' : 'serve'),
      settle: async () => {
        await admin`
          select pg_terminate_backend(pid) from pg_stat_activity where datname = 'van' and application_name = 'zaakstroom move'`
      },
    })
    await moveOrganisation(move)
    t.same(await rowsAt(target!, 'drie'), ['FEED_DAYS'])
    t.same(told, ['hold'])
    await nothingLeft(t)
    for (const isSettled of [false, true]) {
      told.length = 0
      const settle = async () => void told.push('settle')
      t.equal(await endMove({ ...move, settle, end: async () => void told.push('end') }, isSettled), true)
      t.same(told, isSettled ? ['end'] : ['settle', 'end'])
      t.same(await rowsAt(target!, 'drie'), ['FEED_DAYS'])
    }
    await t.rejects(endMove({ ...move, schema: 'nergens' }, false), /neither schema nergens nor nergens_moved/)
  })

  await t.test('to where that schema is, is refused, and nothing is taken away there', async (t) => {
    const move = await given('vier')
    await make(withSchema(to, 'vier'))
    await t.rejects(moveOrganisation(move), /the target has schema vier and vier_queue already/)
    t.same(await target!`select nspname from pg_namespace where nspname = 'vier'`, [{ nspname: 'vier' }])
  })
})

t.test('settings that were changed while an organisation moved have stayed', async (t) => {
  const { control, box, ...many } = await givenMany(t)
  const [from, to] = [(await emptyDatabase(t)).url, (await emptyDatabase(t)).url]
  const { rsin } = await many.add('000000012', { isBare: true, databaseUrl: from })
  const change = (changed: Parameters<typeof updateOrganisation>[3]) =>
    changeOrganisations(control, { rsin, actor: 'test', action: 'set' }, (trx) =>
      updateOrganisation(trx, box, { rsin }, changed),
    )
  const source = postgres(from, { max: 1, onnotice: () => {} })
  await source`create schema org_000000012_moved` // it was killed after the switch
  await source.end()
  await change({ move: { from, to }, state: 'moving', settings: { DATABASE_READ_URL: from, FEED_DAYS: '3' } })
  const [before] = await readOrganisations(control, box, rsin)
  await change((now) => ({ settings: { ...now.settings, FEED_DAYS: '7', SMTP_HOST: 'mail.voorbeeldstad.nl' } }))
  t.equal(await endKilledMove({ database: control, box } as Control, before!, () => {}), true)
  const [after] = await readOrganisations(control, box, rsin)
  t.match(after, { databaseUrl: to, state: 'active', move: undefined })
  t.same(after!.settings, { FEED_DAYS: '7', SMTP_HOST: 'mail.voorbeeldstad.nl' })
})
