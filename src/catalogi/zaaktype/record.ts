// What rights and audit records keep of a zaaktype.
import type { ZaaktypeRow } from './columns.ts'

export const placeOf = ({ catalogusId, identificatie: sleutel }: ZaaktypeRow) => ({ catalogusId, sleutel })
export const named = (row: ZaaktypeRow) => ({
  uuid: row.uuid,
  catalogusUuid: row.catalogusUuid,
  weergave: `${row.identificatie} - ${row.omschrijving}`,
})
