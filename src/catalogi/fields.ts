// Kinds of fields that the types share.
import Type from 'typebox'
import { ExpandQuery } from '../http/expand.ts'
import { Url, Uuid } from '../http/input.ts'
import { DatumGeldigheid } from './rules.ts'

export const Params = Type.Object({ uuid: Uuid })
/** What a detail can be asked: relations to include, and for types with versions the day that decides which are shown. */
export const Detail = Type.Object({ ...ExpandQuery })
export const DetailOpDatum = Type.Object({ ...ExpandQuery, datumGeldigheid: DatumGeldigheid })

export const Duur = Type.String({ format: 'duration' })
export const OptionalDuur = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'duration', default: null }),
)
export const OptionalUrl = (maxLength = 200) => Type.Optional(Type.String({ format: 'uri', maxLength, default: '' }))
/** A type in a relation: its URL, or its omschrijving or identificatie. */
export const TypeRelatie = (maxLength = 1000) =>
  Type.String({ minLength: 1, maxLength, description: 'URL, of de omschrijving of identificatie binnen de catalogus' })
export const Teksten = (maxLength: number) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength }), { default: [] }))
export const Urls = Type.Array(Url())
export const NullableDate = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' })
export const NullableUrl = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri', maxLength: 1000, default: null }),
)
