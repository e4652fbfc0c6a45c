// The rollen of a case as a whole, as zaak_bijwerken gives them.
import type { RemoteTypes } from '../catalogi/remote-types.ts'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalid, throwFaults } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { readInput } from '../http/input.ts'
import { isUuid } from '../lib/uuid.ts'
import { each } from './composite-faults.ts'
import type { ZaakCore } from './lock.ts'
import {
  deleteRollen,
  findRollen,
  judgeChangedRol,
  openNewRollen,
  RolPart,
  type RolSettings,
  writeRollen,
} from './rollen.ts'

type Given = Record<string, unknown>

/** Rollen as a whole: those with a uuid stay and change, those without are new, those that are not named go. */
export async function replaceRollen(
  m: Mutation,
  kern: ZaakCore,
  given: Given[],
  typen: RemoteTypes,
  config: RolSettings,
): Promise<void> {
  const kept = await keptRollen(m, kern, given)
  const there = await m.trx
    .selectFrom('rol')
    .where('zaakId', '=', kern.id)
    .select('uuid')
    .limit(2 * LIMITS.items + 1)
    .execute()
  if (there.length > 2 * LIMITS.items)
    throw invalid('rollen', 'max_items', `De zaak heeft meer dan ${2 * LIMITS.items} rollen. Wijzig ze een voor een.`)
  const rows = await findRollen(
    m,
    there.map(({ uuid }) => uuid),
  )
  await deleteRollen(
    m,
    kern,
    rows.filter(({ uuid }) => !kept.has(uuid)),
  )
  const before = new Map(rows.map((row) => [row.uuid, row]))
  const added = given.filter((rol) => rol.uuid === undefined)
  const judge = await openNewRollen(m, kern, urlsOf(added), typen, config)
  const judged = await each('rollen', given, async (rol) => {
    const input = readInput(RolPart, rol)
    return rol.uuid === undefined
      ? judge(input)
      : judgeChangedRol(m, kern, expected(before.get(uuidIn(rol))), input, config)
  })
  await writeRollen(m, kern, judged)
}

/** The uuids that are given, each once and each of a rol of this case. */
async function keptRollen(m: Mutation, kern: ZaakCore, given: Given[]): Promise<ReadonlySet<string>> {
  const found = await m.sql<{ uuid: string; zaak_id: number }[]>`
    select uuid, zaak_id from rol where uuid = any(${given.map(uuidIn).filter(isUuid)}::uuid[])`
  const zaken = new Map(found.map(({ uuid, zaak_id }) => [uuid, zaak_id]))
  const kept = new Set<string>()
  const faults: InvalidParam[] = []
  for (const [index, rol] of given.entries()) {
    if (rol.uuid === undefined) continue
    const name = `rollen.${index}.uuid`
    const uuid = uuidIn(rol)
    const zaakId = zaken.get(uuid)
    if (kept.has(uuid)) faults.push({ name, code: 'duplicate', reason: 'Deze rol staat er al.' })
    else if (zaakId === undefined) faults.push({ name, code: 'does-not-exist', reason: 'Deze rol bestaat niet.' })
    else if (zaakId !== kern.id)
      faults.push({ name, code: 'missing-relation', reason: 'Deze rol hoort bij een andere zaak.' })
    kept.add(uuid)
  }
  throwFaults(faults)
  return kept
}

/** The uuid that a rol names, as the database writes it. */
const uuidIn = ({ uuid }: Given) => String(uuid).toLowerCase()

/** The types that rollen name, which were not read yet. */
export const urlsOf = (rollen: Given[]) => rollen.map(({ roltype }) => String(roltype))
