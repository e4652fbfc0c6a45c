// The fields of a besluit and of its documents, and how they stand in their rows.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import {
  answerReader,
  answersOf,
  type ColumnsOf,
  columnWriter,
  fieldsOf,
  inputsOf,
  rowWriter,
} from '../database/fields.ts'
import type { Besluit as BesluitTable } from '../database/types.ts'
import {
  DateOnly,
  OptionalChoice,
  OptionalDate,
  OptionalText,
  Patch,
  Put,
  Reference,
  Rsin,
  Url,
  Uuid,
} from '../http/input.ts'
import { link, linkOr } from '../http/links.ts'

const VERVALREDENEN = {
  tijdelijk: 'Besluit met tijdelijke werking',
  ingetrokken_overheid: 'Besluit ingetrokken door overheid',
  ingetrokken_belanghebbende: 'Besluit ingetrokken o.v.v. belanghebbende',
} as const

/** A besluit as queries find it. */
export type BesluitRow = Selectable<BesluitTable> & {
  besluittypeUuid: string | null
  catalogusUuid: string | null
  zaakUuid: string | null
}

const { kept, apart, shown } = fieldsOf<BesluitTable, BesluitRow>()

/**
 * The fields of a besluit, in the order of its answers. A column that none of them holds, and that is not among the `Own`,
 * does not compile.
 */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'besluit', row.uuid)),
  identificatie: kept(OptionalText(50, 'Zonder opgave wordt het nummer gemaakt.'), 'identificatie', ''),
  verantwoordelijkeOrganisatie: kept(Rsin, 'verantwoordelijkeOrganisatie'),
  // 200: what the standard gives a type and a zaak; other references get 1000.
  besluittype: apart(Reference(200), besluittypeLink),
  zaak: apart(
    Type.Optional(Type.String({ format: 'uri-reference-zgw', maxLength: 200, default: '' })),
    ({ zaakUuid, zaakUrl }, base) => (zaakUuid ? link(base, 'zaak', zaakUuid) : (zaakUrl ?? '')),
  ),
  datum: kept(DateOnly, 'datum'),
  toelichting: kept(OptionalText(), 'toelichting', ''),
  bestuursorgaan: kept(OptionalText(50), 'bestuursorgaan', ''),
  ingangsdatum: kept(DateOnly, 'ingangsdatum'),
  vervaldatum: kept(OptionalDate, 'vervaldatum', null),
  vervalreden: kept(OptionalChoice(Object.keys(VERVALREDENEN) as (keyof typeof VERVALREDENEN)[]), 'vervalreden', ''),
  publicatiedatum: kept(OptionalDate, 'publicatiedatum', null),
  verzenddatum: kept(OptionalDate, 'verzenddatum', null),
  uiterlijkeReactiedatum: kept(OptionalDate, 'uiterlijkeReactiedatum', null),
  vervalredenWeergave: shown(Type.String(), ({ vervalreden }) =>
    vervalreden === '' ? '' : VERVALREDENEN[vervalreden as keyof typeof VERVALREDENEN],
  ),
}
/** Columns that the code of besluiten writes: what a besluit is of and belongs to. */
type Own = 'id' | 'uuid' | 'duplicate' | 'zaakId' | 'zaakUrl' | `besluittype${'Id' | 'Url' | 'CatalogusUrl'}`
const _nothingForgotten = {} satisfies Record<Exclude<keyof BesluitTable, ColumnsOf<typeof FIELDS> | Own>, never>

export const BesluitInput = Type.Object(inputsOf(FIELDS))
export const BesluitPut = Put(BesluitInput)
export const BesluitPatch = Patch(BesluitInput)
export const Besluit = Type.Object({ ...answersOf(FIELDS), _expand: Type.Optional(Type.Object({})) })
export type BesluitInput = Static<typeof BesluitInput>
export type BesluitPatch = Static<typeof BesluitPatch>
export type Besluit = Static<typeof Besluit>

/** The columns for the fields that are given. */
export const toColumns = columnWriter<BesluitTable, typeof FIELDS>(FIELDS)
/** All columns of the fields: what is not given is empty. */
export const toRow = rowWriter<BesluitTable, typeof FIELDS>(FIELDS)
export const toBesluit = answerReader<BesluitRow, typeof FIELDS>(FIELDS)

/** The URL of the type, ours or elsewhere. */
export function besluittypeLink(row: Pick<BesluitRow, 'besluittypeUuid' | 'besluittypeUrl'>, base: string): string {
  return linkOr(base, 'besluittype', row.besluittypeUuid, row.besluittypeUrl)
}

export const BesluitinformatieobjectInput = Type.Object({ informatieobject: Reference(), besluit: Reference() })
export const Besluitinformatieobject = Type.Object({
  url: Url(),
  ...BesluitinformatieobjectInput.properties,
  _expand: Type.Optional(Type.Object({})),
})
export type Besluitinformatieobject = Static<typeof Besluitinformatieobject>

export const Params = Type.Object({ uuid: Uuid })
