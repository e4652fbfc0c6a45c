// Creating a besluit.
import { sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, Problem, throwFaults } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { link } from '../http/links.ts'
import type { RemoteChange, RemoteRelation } from '../services/remote-relations.ts'
import { requireWritable } from '../zaken/lock.ts'
import { type BesluitInput, type BesluitRow, toBesluit, toRow } from './columns.ts'
import { findBesluit } from './read.ts'
import { recordBesluit } from './record.ts'
import { AANMAKEN, requireMay } from './rights.ts'
import {
  type Besluittype,
  dateFaults,
  identificatieFaults,
  judgeZaak,
  publishedFaults,
  requireBesluittype,
  type Settings,
  type ZaakElsewhere,
  zaaktypeElsewhereFaults,
  zaaktypeFaults,
} from './rules.ts'
import { syncZaakbesluit } from './zaakbesluiten.ts'

/**
 * @param context.elsewhere what `fetchBesluittypeElsewhere` found
 * @param context.zaakElsewhere what `fetchZaakElsewhere` found, with `remote` for the other side of it (brc-006)
 */
export async function createBesluit(
  m: Mutation,
  input: BesluitInput,
  context: {
    elsewhere: Besluittype | InvalidParam | undefined
    config: Settings
    zaakElsewhere?: ZaakElsewhere | InvalidParam | undefined
    remote?: RemoteChange
  },
): Promise<BesluitRow> {
  const { base } = m.actor
  const type = await requireBesluittype(m.read, input.besluittype, base, context.elsewhere) // brc-001
  requireMay(m.actor, AANMAKEN, type)
  const { zaakElsewhere } = context
  const remoteZaak = zaakElsewhere && 'url' in zaakElsewhere ? zaakElsewhere : null
  const { zaak, faults } = remoteZaak
    ? { zaak: null, faults: await zaaktypeElsewhereFaults(m.read, type, remoteZaak, base) } // brc-007
    : zaakElsewhere && 'code' in zaakElsewhere
      ? { zaak: null, faults: [zaakElsewhere] }
      : await judgeZaak(m, input.zaak)
  throwFaults([
    ...(await identificatieFaults(m.read, input)), // brc-002
    ...publishedFaults(type, context.config), // brc-001
    ...faults,
    ...dateFaults(input, context.config),
    ...(await zaaktypeFaults(m.read, type, zaak)), // brc-007
  ])
  if (zaak) requireWritable(m, zaak)
  const uuid = await insertBesluit(m, {
    ...toRow(input),
    besluittypeId: type.id,
    besluittypeUrl: type.besluittypeUrl,
    besluittypeCatalogusUrl: type.id === null ? type.catalogusUrl : '',
    zaakId: zaak?.id ?? null,
    zaakUrl: remoteZaak?.url ?? null,
  })
  if (remoteZaak && context.remote) {
    context.remote.changedRows.push({ table: 'besluit', uuid })
    context.remote.relations.push(zaakbesluitElsewhere(remoteZaak.url, uuid, base)) // brc-006
  }
  const row = expected(await findBesluit(m.read, uuid))
  recordBesluit(m, 'create', row, null, toBesluit(row, base))
  await syncZaakbesluit(m, null, { row, zaak }) // brc-006
  return row
}

type NewBesluit = ReturnType<typeof toRow> & {
  besluittypeId: number | null
  besluittypeUrl: string | null
  besluittypeCatalogusUrl: string
  zaakId: number | null
  zaakUrl: string | null
}

/** brc-006: the zaakbesluit that the server of a case elsewhere has to have. @param zaak the URL of that case */
export const zaakbesluitElsewhere = (zaak: string, uuid: string, base: string): RemoteRelation => ({
  kind: 'zaakbesluit',
  sourceTable: 'besluit',
  sourceUuid: uuid,
  listUrl: `${zaak}/besluiten`,
  content: { besluit: link(base, 'besluit', uuid) },
})

/** brc-002: with the number of the client, or the next free one. */
async function insertBesluit(m: Mutation, values: NewBesluit): Promise<string> {
  if (values.identificatie !== '')
    return (await m.trx.insertInto('besluit').values(values).returning('uuid').executeTakeFirstOrThrow()).uuid
  for (let attempt = 1; attempt <= 10; attempt++) {
    const made = await m.trx
      .insertInto('besluit')
      .values({ ...values, identificatie: sql<string>`besluit_identificatie(${values.datum}::date)` })
      .onConflict((conflict) => conflict.constraint('besluit_identificatie_unique').doNothing())
      .returning('uuid')
      .executeTakeFirst()
    if (made) return made.uuid
    await sql`select skip_besluitnummers(${values.datum}::date)`.execute(m.trx)
  }
  throw new Problem(409, { detail: 'Er kon geen vrij nummer worden gevonden.' })
}
