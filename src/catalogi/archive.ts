// How resultaattypen are archived: what the selectielijst says, and which members of brondatumArchiefprocedure go together.
import Type, { type Static } from 'typebox'
import type { InvalidParam } from '../core/problem.ts'
import { OptionalText } from '../http/input.ts'
import { OptionalArchiveDuur } from './fields.ts'
import type { Found } from './selectielijst.ts'

const AFLEIDINGSWIJZEN = [
  'afgehandeld',
  'ander_datumkenmerk',
  'eigenschap',
  'gerelateerde_zaak',
  'hoofdzaak',
  'ingangsdatum_besluit',
  'termijn',
  'vervaldatum_besluit',
  'zaakobject',
] as const
export const OBJECTTYPEN = [
  'adres',
  'besluit',
  'buurt',
  'enkelvoudig_document',
  'gemeente',
  'gemeentelijke_openbare_ruimte',
  'huishouden',
  'inrichtingselement',
  'kadastrale_onroerende_zaak',
  'kunstwerkdeel',
  'maatschappelijke_activiteit',
  'medewerker',
  'natuurlijk_persoon',
  'niet_natuurlijk_persoon',
  'openbare_ruimte',
  'organisatorische_eenheid',
  'pand',
  'spoorbaandeel',
  'status',
  'terreindeel',
  'terrein_gebouwd_object',
  'vestiging',
  'waterdeel',
  'wegdeel',
  'wijk',
  'woonplaats',
  'woz_deelobject',
  'woz_object',
  'woz_waarde',
  'zakelijk_recht',
  'overige',
] as const

export const BrondatumArchiefprocedure = Type.Object({
  afleidingswijze: Type.Enum(AFLEIDINGSWIJZEN),
  datumkenmerk: OptionalText(80),
  einddatumBekend: Type.Optional(Type.Boolean({ default: false })),
  objecttype: Type.Optional(Type.Enum([...OBJECTTYPEN, ''] as const, { default: '' })),
  registratie: OptionalText(80),
  procestermijn: OptionalArchiveDuur,
})
export type Brondatum = Static<typeof BrondatumArchiefprocedure>

type Member = 'datumkenmerk' | 'einddatumBekend' | 'objecttype' | 'registratie' | 'procestermijn'
type Use = 'filled' | 'empty' | 'free'

// ztc-004 … ztc-008, in this order.
const MEMBERS: readonly Member[] = ['datumkenmerk', 'einddatumBekend', 'objecttype', 'registratie', 'procestermijn']
const RULES: Record<Brondatum['afleidingswijze'], readonly Use[]> = {
  afgehandeld: ['empty', 'empty', 'empty', 'empty', 'empty'],
  ander_datumkenmerk: ['filled', 'free', 'filled', 'filled', 'empty'],
  eigenschap: ['filled', 'free', 'empty', 'empty', 'empty'],
  gerelateerde_zaak: ['empty', 'free', 'empty', 'empty', 'empty'],
  hoofdzaak: ['empty', 'free', 'empty', 'empty', 'empty'],
  ingangsdatum_besluit: ['empty', 'free', 'empty', 'empty', 'empty'],
  termijn: ['empty', 'empty', 'empty', 'empty', 'filled'],
  vervaldatum_besluit: ['empty', 'free', 'empty', 'empty', 'empty'],
  zaakobject: ['filled', 'free', 'filled', 'empty', 'empty'],
}

/** ztc-004 to ztc-008: which members an afleidingswijze needs, and which have no meaning with it. All at once. */
export function brondatumFaults(brondatum: Brondatum): InvalidParam[] {
  return MEMBERS.flatMap((member, place): InvalidParam[] => {
    const use = RULES[brondatum.afleidingswijze][place]
    const filled = Boolean(brondatum[member])
    const name = `brondatumArchiefprocedure.${member}`
    const wijze = brondatum.afleidingswijze
    if (use === 'filled' && !filled)
      return [{ name, code: 'required', reason: `Dit veld is verplicht bij afleidingswijze ${wijze}.` }]
    if (use === 'empty' && filled)
      return [{ name, code: 'must-be-empty', reason: `Dit veld is leeg bij afleidingswijze ${wijze}.` }]
    return []
  })
}

/** ztc-002: the klasse belongs to the procestype of the zaaktype. */
export function procestypeFaults(klasse: Found, selectielijstProcestype: string): InvalidParam[] {
  if (klasse.kind !== 'ok' || klasse.body.procesType === selectielijstProcestype) return []
  return [
    {
      name: 'nonFieldErrors',
      code: 'procestype-mismatch',
      reason: 'De selectielijstklasse hoort niet bij het procestype van het zaaktype.',
    },
  ]
}

/** ztc-003: the procestermijn of the klasse and the afleidingswijze fit. */
export function afleidingswijzeFaults(klasse: Found, afleidingswijze: string | undefined): InvalidParam[] {
  if (klasse.kind !== 'ok' || afleidingswijze === undefined) return []
  const { procestermijn } = klasse.body
  if (typeof procestermijn !== 'string' || procestermijn === '') return []
  if (procestermijn === 'nihil' ? afleidingswijze === 'afgehandeld' : fits(procestermijn, afleidingswijze)) return []
  return [
    {
      name: 'nonFieldErrors',
      code: 'invalid-afleidingswijze-for-procestermijn',
      reason: `Deze afleidingswijze past niet bij procestermijn ${procestermijn.slice(0, 100)} van de selectielijstklasse.`,
    },
  ]
}

function fits(procestermijn: string, afleidingswijze: string): boolean {
  if (procestermijn === 'ingeschatte_bestaansduur_procesobject') return afleidingswijze === 'termijn'
  return afleidingswijze !== 'afgehandeld'
}
