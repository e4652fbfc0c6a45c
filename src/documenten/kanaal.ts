import { link } from '../links.ts'
import type { DocumentRow } from './vinden.ts'

/** How people name a document. */
export const weergave = (row: Pick<DocumentRow, 'bronorganisatie' | 'identificatie'>): string =>
  `${row.bronorganisatie} - ${row.identificatie}`

/** Where changes of a document and of what hangs on it are announced. `catalogus` is that of a type elsewhere, when known. */
export function documentenKanaal(row: DocumentRow, base: string, catalogus = '') {
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
