// Keys: what data is sealed with, who seals with what, and how far the sealing with the newest key is.

import type { FastifyInstance } from 'fastify'
import { t } from '../language/language.ts'

export function registerKeyPage(app: FastifyInstance): void {
  app.get('/sleutels', { config: { access: 'beheer', rol: 'viewer' } }, async (_request, reply) => {
    const { sql } = app.reader
    const { ring } = app.parts.box
    const [keys, places] = await Promise.all([
      sql<{ id: string; createdAt: string; retiredAt: string | null; processes: number; without: number }[]>`
        select id, created_at as "createdAt", retired_at as "retiredAt",
          (select count(*)::int from key_holder h where h.seen_at > now() - interval '30 seconds' and h.seals = k.id) as processes,
          (select count(*)::int from key_holder h where h.seen_at > now() - interval '30 seconds' and not k.id = any(h.keys)) as without
        from data_key k order by created_at desc, id limit 100`,
      sql<{ place: string; key: string; done: boolean; share: number; seen: number; resealed: number }[]>`
        select place, key, done_at is not null as done, seen, resealed,
          case when done_at is not null then 100 when position is null then 0 else floor(100.0 * seen / greatest(seen + until - position, 1)) end::int as share
        from reseal order by begun_at, place`,
    ])
    return reply.page('keys', {
      title: t('Sleutels'),
      keys: keys.map((key) => ({ ...key, isHere: ring.ids.includes(key.id) })),
      places,
      isBusy: places.some(({ done }) => !done),
    })
  })
}
