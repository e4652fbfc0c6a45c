// Documents at other servers, as closing and archiving of their case look at them: asked before a transaction begins.
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { isLastStatustype } from '../../catalogi/type-relations.ts'
import { LIMITS } from '../../core/limits.ts'
import type { InvalidParam } from '../../core/problem.ts'
import { fault, onObject } from '../../core/problem.ts'
import { localUuid } from '../../http/links.ts'
import { askEach } from '../../services/services.ts'

type RemoteState = { status?: unknown; locked?: unknown; indicatieGebruiksrecht?: unknown }

/** zrc-007 for documents elsewhere, when this statustype may close the case. */
export async function closingFaultsElsewhere(
  app: FastifyInstance,
  zaak: string,
  statustype: unknown,
  base: string,
): Promise<InvalidParam[]> {
  const own = typeof statustype === 'string' ? (localUuid(statustype, base, 'statustype') ?? null) : null
  const laatste = sql<boolean>`not exists (
    select from statustype y where y.uuid = ${own}::uuid and not ${sql.raw(isLastStatustype('y'))})`
  const states = await ask(app, await urlsOf(app, localUuid(zaak, base, 'zaak'), laatste))
  const faults: InvalidParam[] = []
  if (states.some((state) => state?.locked === true))
    faults.push(onObject('informatieobject-locked', 'Een document bij een andere server is vergrendeld.'))
  if (states.includes(null))
    faults.push(
      onObject(
        'indicatiegebruiksrecht-unset',
        'Een document bij een andere server is niet op te vragen, dus ook niet of er gebruiksrechten zijn.',
      ),
    )
  else if (states.some((state) => typeof state?.indicatieGebruiksrecht !== 'boolean'))
    faults.push(
      onObject(
        'indicatiegebruiksrecht-unset',
        'Niet van elk document bij een andere server is bekend of er gebruiksrechten zijn.',
      ),
    )
  return faults
}

/** zrc-022 for documents elsewhere. */
export async function archivingFaultsElsewhere(app: FastifyInstance, zaakUuid: string): Promise<InvalidParam[]> {
  const states = await ask(app, await urlsOf(app, zaakUuid, sql<boolean>`true`))
  if (states.every((state) => state?.status === 'gearchiveerd')) return []
  const reason = states.includes(null)
    ? 'Een document bij een andere server is niet op te vragen.'
    : 'Niet alle documenten bij een andere server hebben de status gearchiveerd.'
  return [fault('archiefstatus', 'documents-not-archived', reason)]
}

async function urlsOf(app: FastifyInstance, zaakUuid: string | undefined, when: ReturnType<typeof sql<boolean>>) {
  if (zaakUuid === undefined) return []
  const rows = await app.read
    .selectFrom('zaakinformatieobject as i')
    .innerJoin('zaak as z', 'z.id', 'i.zaakId')
    .where('z.uuid', '=', zaakUuid)
    .where('i.informatieobjectUrl', 'is not', null)
    .where(when)
    .select((eb) => eb.ref('i.informatieobjectUrl').$notNull().as('url'))
    .limit(LIMITS.questions + 1) // of more nobody hears: an import may leave a million
    .execute()
  return rows.map(({ url }) => url)
}

/** What each server says now; null when it does not. After one that does not answer nobody is asked any more. */
async function ask(app: FastifyInstance, urls: string[]): Promise<(RemoteState | null)[]> {
  let silent = false
  return askEach(urls, async (url) => {
    const fetched = silent ? undefined : await app.parts.services.fetchJson(url, { fresh: true })
    const body = fetched?.kind === 'ok' ? fetched.body : undefined
    if (body !== null && typeof body === 'object') return body
    silent = true
    return null
  })
}
