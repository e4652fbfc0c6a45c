// Fields that the types share, and kinds of them.
import Type from 'typebox'
import { fieldsOf } from '../database/fields.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalDate, Reference, Url, Uuid } from '../http/input.ts'
import { link, type Resource } from '../http/links.ts'
import { DatumGeldigheid } from './versions.ts'

export const Params = Type.Object({ uuid: Uuid })
/** What a detail can be asked: relations to include, and for types with versions the day that decides which are shown. */
export const Detail = Type.Object({ ...ExpandQuery })
export const DetailOnDate = Type.Object({ ...ExpandQuery, datumGeldigheid: DatumGeldigheid })

export const Duur = Type.String({ format: 'duration' })
export const OptionalDuur = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'duration', default: null }),
)
/** A term of archiving, which may be as long as those of the selectielijst. */
export const OptionalArchiveDuur = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'duration-archiving', default: null }),
)
export const OptionalUrl = (maxLength = 200) => Type.Optional(Type.String({ format: 'uri', maxLength, default: '' }))
/** A type in a relation: its URL, or its omschrijving or identificatie. */
export const TypeRelation = (maxLength = 1000) =>
  Type.String({ minLength: 1, maxLength, description: 'URL, of de omschrijving of identificatie binnen de catalogus' })
/** A list of texts, none of them empty, that may be left out. */
export const Texts = (maxLength: number) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength }), { default: [] }))
export const Urls = Type.Array(Url())
export const Names = Type.Array(Type.String())
export const linksOf = (uuids: readonly string[], resource: Resource, base: string): string[] =>
  uuids.map((uuid) => link(base, resource, uuid))
export const NullableDate = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' })
export const NullableUrl = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri', maxLength: 1000, default: null }),
)

// ---- what the types with versions share ----

type Version = { concept: boolean; beginObject: string | null; eindeObject: string | null; catalogusUuid: string }
const version = fieldsOf<unknown, Version>()

export const CATALOGUS = {
  catalogus: version.apart(Reference(), (row, base) => link(base, 'catalogus', row.catalogusUuid)),
}
export const CONCEPT = { concept: version.shown(Type.Boolean(), (row) => row.concept) }
/** From the first day of the first version to the last day of the last. */
export const VERSIONS_PERIOD = {
  beginObject: version.shown(NullableDate, (row) => row.beginObject),
  eindeObject: version.shown(NullableDate, (row) => row.eindeObject),
}
/** Columns of a type that its code writes. */
export type OwnOfType = 'id' | 'uuid' | 'catalogusId' | 'concept'

// ---- what the parts of a zaaktype share ----

type Period = { beginGeldigheid: string | null; eindeGeldigheid: string | null }
type OfZaaktype = { zaaktypeUuid: string; zaaktypeIdentificatie: string; catalogusUuid: string }
const period = fieldsOf<Period, Period>()
const part = fieldsOf<unknown, OfZaaktype>()

/** The zaaktype that a part belongs to. */
export const ZAAKTYPE = {
  zaaktype: part.apart(Reference(), (row, base) => link(base, 'zaaktype', row.zaaktypeUuid)),
}
/** What answers tell of that zaaktype. */
export const OF_ZAAKTYPE = {
  zaaktypeIdentificatie: part.shown(Type.String(), (row) => row.zaaktypeIdentificatie),
  catalogus: part.shown(Url(), (row, base) => link(base, 'catalogus', row.catalogusUuid)),
}
/** From when to when a part can be used. */
export const GELDIGHEID = {
  beginGeldigheid: period.kept(OptionalDate, 'beginGeldigheid', null),
  eindeGeldigheid: period.kept(OptionalDate, 'eindeGeldigheid', null),
}
/** The same period, as that of the part in all its versions: parts have no versions of their own. */
export const OBJECT_PERIOD = {
  beginObject: period.shown(NullableDate, (row) => row.beginGeldigheid),
  eindeObject: period.shown(NullableDate, (row) => row.eindeGeldigheid),
}
/** Columns of a part that its code writes. */
export type OwnOfPart = 'id' | 'uuid' | 'zaaktypeId'
