// An applicatie as clients see it: its schemas, and its row with all its rights.
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { LIMITS } from '../../core/limits.ts'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { Patch, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import {
  Autorisatie,
  AutorisatieInput,
  CatalogusAutorisatie,
  type EffectiveRight,
  implied,
  type Right,
  toAutorisatie,
  toCatalogusAutorisatie,
  typesOfRight,
} from '../rights.ts'

export const ApplicatieInput = Type.Object({
  clientIds: Type.Array(Text(50, { minLength: 1 }), {
    minItems: 1,
    description: 'Client-ids, uniek over alle applicaties.',
  }),
  label: Text(100, { minLength: 1, description: 'Naam voor mensen.' }),
  heeftAlleAutorisaties: Type.Optional(
    Type.Boolean({ default: false, description: 'Mag alles; dan zijn er geen autorisaties.' }),
  ),
  alleenIsGereedVoorPublicatie: Type.Optional(
    Type.Boolean({ default: false, description: 'Leest alleen documenten die gereed zijn voor publicatie.' }),
  ),
  autorisaties: Type.Optional(Type.Array(AutorisatieInput, { maxItems: LIMITS.rights })),
  catalogusAutorisaties: Type.Optional(Type.Array(CatalogusAutorisatie)),
})
export const ApplicatiePatch = Patch(ApplicatieInput)
export const Applicatie = Type.Object({
  url: Url(),
  ...ApplicatieInput.properties,
  autorisaties: Type.Array(Autorisatie, {
    description: 'Ook wat catalogusAutorisaties inhouden, met een regel per versie van een type.',
  }),
  catalogusAutorisaties: Type.Array(CatalogusAutorisatie),
})
export type Applicatie = Static<typeof Applicatie>

export type ApplicatieRow = {
  id: number
  uuid: string
  label: string
  heeftAlleAutorisaties: boolean
  alleenIsGereedVoorPublicatie: boolean
  clientIds: string[]
  rechten: Right[]
  catalogusRechten: EffectiveRight[]
}

/** Applicaties of which `kept`, a condition on `a`, is true: the newest first, each with all its rights. */
export async function selectApplicaties(
  db: ReadDb,
  kept: RawBuilder<boolean>,
  limit: number,
  offset = 0,
): Promise<ApplicatieRow[]> {
  const { rows } = await sql<ApplicatieRow>`
    select a.id, a.uuid, a.label, a.heeft_alle_autorisaties, a.alleen_is_gereed_voor_publicatie,
      coalesce((select jsonb_agg(c.client_id order by c.place, c.client_id)
        from applicatie_client_all c where c.applicatie_id = a.id), '[]') as client_ids,
      coalesce((select jsonb_agg(jsonb_build_object('component', r.component, 'scopes', r.scopes, 'typeUrl', r.type_url,
          'typeUuid', r.type_uuid, 'max', r.max_vertrouwelijkheidaanduiding) order by r.id)
        from autorisatie r where r.applicatie_id = a.id), '[]') as rechten,
      coalesce((select jsonb_agg(jsonb_build_object('component', k.component, 'catalogusUuid', c.uuid, 'type', k.type,
          'scopes', k.scopes, 'max', k.max_vertrouwelijkheidaanduiding, 'inhoud', ${typesOfRight}) order by k.id)
        from catalogus_autorisatie k join catalogus c on c.id = k.catalogus_id where k.applicatie_id = a.id), '[]')
        as catalogus_rechten
    from applicatie a where ${kept} order by a.id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** @throws Problem 404 */
export async function requireApplicatie(db: ReadDb, uuid: string): Promise<ApplicatieRow> {
  const [row] = await selectApplicaties(db, sql<boolean>`a.uuid = ${uuid}`, 1)
  if (!row) throw notFound()
  return row
}

/** As clients see it: `autorisaties` also has what the rights for catalogues come to at this moment. */
export function toApplicatie(row: ApplicatieRow, base: string): Applicatie {
  const virtual = row.catalogusRechten
    .flatMap(implied)
    .sort((a, b) => (a.component < b.component ? -1 : a.component > b.component ? 1 : 0))
  return {
    url: link(base, 'applicatie', row.uuid),
    clientIds: row.clientIds,
    label: row.label,
    heeftAlleAutorisaties: row.heeftAlleAutorisaties,
    alleenIsGereedVoorPublicatie: row.alleenIsGereedVoorPublicatie,
    autorisaties: [...row.rechten, ...virtual].map((recht) => toAutorisatie(recht, base)),
    catalogusAutorisaties: row.catalogusRechten.map((recht) => toCatalogusAutorisatie(recht, base)),
  }
}

export type ApplicatieInput = Static<typeof ApplicatieInput>
