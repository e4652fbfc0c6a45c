// The columns in which a kind of object is written, with the types that PostgreSQL reads them in.

import { LOOKUP_COLUMNS } from '../zaken/persons.ts'
import type { Column, Kind, List } from './kinds.ts'
import type { RowColumn } from './rows.ts'

const TYPES: Record<Column['type'], string> = {
  text: 'text',
  'text?': 'text',
  flag: 'boolean',
  boolean: 'boolean',
  integer: 'integer',
  bigint: 'bigint',
  date: 'date',
  moment: 'timestamptz',
  duration: 'text',
  texts: 'text[]',
  json: 'jsonb',
  items: 'jsonb',
  vertrouwelijkheid: 'vertrouwelijkheidaanduiding',
}
const OF_ELSEWHERE: Record<string, string> = { is_eindstatus: 'boolean', resultaattype_elsewhere: 'jsonb' }

/** The columns that are written, with their types. */
export function columnsOf(kind: Kind | List): RowColumn[] {
  return [
    ...kind.columns.map(({ name, type }) => ({ name, type: TYPES[type] })),
    ...kind.refs.flatMap((one) => [
      { name: one.id, type: one.kind ? 'bigint' : 'uuid' },
      ...(one.url ? [{ name: one.url, type: 'text' }] : []),
      ...Object.keys(one.elsewhere ?? {}).map((name) => ({ name, type: OF_ELSEWHERE[name] ?? 'text' })),
    ]),
    ...('name' in kind ? (DERIVED[kind.name] ?? []) : []),
    ...('number' in kind && kind.number ? [{ name: 'duplicate', type: 'integer' }] : []),
  ]
}

/** Columns of our rows that are derived, and that no source has. */
export const DERIVED: Record<string, RowColumn[]> & { document: RowColumn[] } = {
  zaak: [{ name: 'zaakgeometrie_grenzen', type: 'box' }],
  rol: LOOKUP_COLUMNS.map((name) => ({ name, type: 'bytea' })),
  document: [
    { name: 'bronorganisatie', type: 'text' },
    { name: 'identificatie', type: 'text' },
    { name: 'informatieobjecttype_id', type: 'bigint' },
    { name: 'informatieobjecttype_url', type: 'text' },
    { name: 'vertrouwelijkheidaanduiding', type: 'vertrouwelijkheidaanduiding' },
    { name: 'versie', type: 'integer' },
    { name: 'is_gereed_voor_publicatie', type: 'boolean' },
  ],
}
