// betrokkene: how somebody who is involved is named on the pages. His number is sealed in the database, and shown by its last digits.
import { sql } from 'kysely'
import { maskBsn } from '../frame/lookup.ts'

/** Of `rol r`: who it is, if he has a name; the number of a person; and the number of another. */
export const WHO = sql`coalesce(nullif(r.afwijkende_naam_betrokkene, ''), nullif(r.betrokkene, ''),
        nullif(btrim(regexp_replace(concat_ws(' ', r.betrokkene_identificatie ->> 'voornamen', r.betrokkene_identificatie ->> 'voorvoegselGeslachtsnaam',
          r.betrokkene_identificatie ->> 'geslachtsnaam', r.betrokkene_identificatie ->> 'statutaireNaam',
          r.betrokkene_identificatie ->> 'achternaam', r.betrokkene_identificatie ->> 'naam',
          r.betrokkene_identificatie #>> '{handelsnaam,0}'), ' +', ' ', 'g')), '')) as who,
        jsonb_build_object('inpBsn', r.betrokkene_identificatie -> 'inpBsn') as person,
        coalesce(nullif(r.betrokkene_identificatie ->> 'identificatie', ''), nullif(r.betrokkene_identificatie ->> 'innNnpId', ''),
          nullif(r.betrokkene_identificatie ->> 'vestigingsNummer', ''), '') as number`

export type Who = { who: string | null; person: { inpBsn?: string | null }; number: string }

/** The name, else the number. */
export const nameOf = ({ who, person, number }: Who): string =>
  who || (person.inpBsn ? `BSN ${maskBsn(person.inpBsn)}` : '') || number
