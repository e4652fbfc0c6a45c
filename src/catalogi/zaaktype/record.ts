// What rights and audit records keep of a zaaktype.
import type { ZaaktypeRow } from './columns.ts'

export const placeOf = ({ catalogusId, identificatie: key }: ZaaktypeRow) => ({ catalogusId, key })
export const named = (row: ZaaktypeRow) => ({
  uuid: row.uuid,
  catalogusUuid: row.catalogusUuid,
  weergave: `${row.identificatie} - ${row.omschrijving}`,
})
