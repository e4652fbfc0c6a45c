// What the selectielijst says about a resultaattype.
import type { InvalidParam } from '../../core/problem.ts'
import type { Found, Selectielijst } from '../selectielijst.ts'

/** It is asked before the transaction begins. */
export type Sources = { omschrijving: Found; klasse: Found }

/** May ask over the network, so outside any transaction. What it did not find is no exception: the rules judge it later. */
export async function askSelectielijst(
  selectielijst: Selectielijst,
  {
    resultaattypeomschrijving,
    selectielijstklasse,
  }: { resultaattypeomschrijving: string; selectielijstklasse: string },
): Promise<Sources> {
  const [omschrijving, klasse] = await Promise.all([
    selectielijst.find(resultaattypeomschrijving, 'ResultaattypeOmschrijvingGeneriek'),
    selectielijst.find(selectielijstklasse, 'Resultaat'),
  ])
  return { omschrijving, klasse }
}

/** ztc-002: both URLs lead to the selectielijst. */
export function sourceFaults({ omschrijving, klasse }: Sources): InvalidParam[] {
  const faults: InvalidParam[] = []
  if (omschrijving.kind === 'fault')
    faults.push({ name: 'resultaattypeomschrijving', code: omschrijving.code, reason: omschrijving.reason })
  if (klasse.kind === 'fault') faults.push({ name: 'selectielijstklasse', code: klasse.code, reason: klasse.reason })
  return faults
}

/** The generic description, as the selectielijst has it now. */
export function genericName({ omschrijving }: Sources): string | undefined {
  return omschrijving.kind === 'ok' ? String(omschrijving.body.omschrijving).slice(0, 20) : undefined
}
