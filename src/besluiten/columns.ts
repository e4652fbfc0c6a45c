// The fields of a besluit and of its documents, as the standard has them.
import Type, { type Static } from 'typebox'
import {
  DateOnly,
  OptionalChoice,
  OptionalDate,
  OptionalText,
  Patch,
  Reference,
  Rsin,
  Url,
  Uuid,
} from '../http/input.ts'

export const VERVALREDENEN = {
  tijdelijk: 'Besluit met tijdelijke werking',
  ingetrokken_overheid: 'Besluit ingetrokken door overheid',
  ingetrokken_belanghebbende: 'Besluit ingetrokken o.v.v. belanghebbende',
} as const
export type Vervalreden = keyof typeof VERVALREDENEN | ''

// 200: what the standard gives a type and a zaak; other references get 1000.
export const BesluitInput = Type.Object({
  identificatie: OptionalText(50, 'Zonder opgave wordt het nummer gemaakt.'),
  verantwoordelijkeOrganisatie: Rsin,
  besluittype: Reference(200),
  zaak: Type.Optional(Type.String({ format: 'uri-reference-zgw', maxLength: 200, default: '' })),
  datum: DateOnly,
  toelichting: OptionalText(),
  bestuursorgaan: OptionalText(50),
  ingangsdatum: DateOnly,
  vervaldatum: OptionalDate,
  vervalreden: OptionalChoice(Object.keys(VERVALREDENEN) as (keyof typeof VERVALREDENEN)[]),
  publicatiedatum: OptionalDate,
  verzenddatum: OptionalDate,
  uiterlijkeReactiedatum: OptionalDate,
})
export const BesluitPatch = Patch(BesluitInput)
export const Besluit = Type.Object({
  url: Url(),
  ...BesluitInput.properties,
  vervalredenWeergave: Type.String(),
  _expand: Type.Optional(Type.Object({})),
})
export type BesluitInput = Static<typeof BesluitInput>
export type BesluitPatch = Static<typeof BesluitPatch>
export type Besluit = Static<typeof Besluit>

export const BesluitinformatieobjectInput = Type.Object({ informatieobject: Reference(), besluit: Reference() })
export const Besluitinformatieobject = Type.Object({
  url: Url(),
  ...BesluitinformatieobjectInput.properties,
  _expand: Type.Optional(Type.Object({})),
})
export type Besluitinformatieobject = Static<typeof Besluitinformatieobject>

export const Params = Type.Object({ uuid: Uuid })
