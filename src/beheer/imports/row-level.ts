// Which rows of an import somebody may see: those of a file of his own, and of others as its documents.
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { Level } from '../../documenten/import/report-rows.ts'
import { type Administrator, signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'

/** Up to which level he sees its rows; undefined: all of them, since he brought the file, or sees all there is. */
export function levelOf(request: FastifyRequest, broughtBy: string | null): Level | undefined {
  return levelFor(signedIn(request), broughtBy)
}

/** The same for anybody's account. */
export function levelFor(
  {
    gebruikersnaam,
    maxVertrouwelijkheidaanduiding,
  }: Pick<Administrator, 'gebruikersnaam' | 'maxVertrouwelijkheidaanduiding'>,
  broughtBy: string | null,
): Level | undefined {
  return maxVertrouwelijkheidaanduiding === 'zeer_geheim' || broughtBy === gebruikersnaam
    ? undefined
    : maxVertrouwelijkheidaanduiding
}

/** Whether row `r`, which became this document, is above that. */
export function isAbove(
  level: Level | undefined,
  [place, type]: readonly [number, number],
  document: RawBuilder<unknown> = sql`null`,
): RawBuilder<boolean> {
  if (level === undefined) return sql<boolean>`false`
  return sql<boolean>`level_of_import_row(r.cells, ${document}::uuid, ${place}::int, ${type}::int) > ${level}::vertrouwelijkheidaanduiding`
}

export const hiddenText = () => t('Vertrouwelijker dan u mag zien.')
