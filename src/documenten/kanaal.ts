import type { ReadDb } from '../database/database.ts'
import { link } from '../http/links.ts'
import type { Services } from '../services/services.ts'
import type { DocumentRow } from './document/read.ts'
import { fetchTypeElsewhere } from './type.ts'

/** How people name a document. */
export const documentLabel = (row: Pick<DocumentRow, 'bronorganisatie' | 'identificatie'>): string =>
  `${row.bronorganisatie} - ${row.identificatie}`

/** The same of a row of `enkelvoudiginformatieobject`. */
export const DOCUMENT_LABEL = `bronorganisatie || ' - ' || identificatie`

type Subject = Pick<
  DocumentRow,
  | 'bronorganisatie'
  | 'laatsteTypeUuid'
  | 'laatsteTypeUrl'
  | 'laatsteVertrouwelijkheidaanduiding'
  | 'laatsteCatalogusUuid'
>

/** Where changes of a document and of what hangs on it are announced. `catalogus` is that of a type elsewhere, when known. */
export function documentenKanaal(row: Subject, base: string, catalogus = '') {
  return {
    naam: 'documenten',
    kenmerken: {
      bronorganisatie: row.bronorganisatie,
      informatieobjecttype: row.laatsteTypeUuid
        ? link(base, 'informatieobjecttype', row.laatsteTypeUuid)
        : (row.laatsteTypeUrl ?? ''),
      vertrouwelijkheidaanduiding: row.laatsteVertrouwelijkheidaanduiding,
      'informatieobjecttype.catalogus': row.laatsteCatalogusUuid
        ? link(base, 'catalogus', row.laatsteCatalogusUuid)
        : catalogus,
    },
  }
}

/**
 * The catalogue of a document whose type stands elsewhere, as that service said (it is remembered for a while); `''` when
 * the type is ours, or does not answer. To be asked before a transaction begins.
 */
export async function catalogusElsewhere(
  db: ReadDb,
  services: Services,
  uuid: string | undefined,
  base: string,
): Promise<string> {
  if (uuid === undefined) return ''
  const row = await db
    .selectFrom('enkelvoudiginformatieobject')
    .where('uuid', '=', uuid)
    .select('informatieobjecttypeUrl')
    .executeTakeFirst()
  const type = await fetchTypeElsewhere(services, row?.informatieobjecttypeUrl ?? undefined, base)
  return type && 'catalogus' in type ? type.catalogus : ''
}
