// Judges objects that are taken over although our rules would refuse to make them. The report has a remark for each.
import { passesElfproef } from '../http/formats.ts'
import { judgeGeometrie } from '../zaken/zaak/geometry.ts'
import { fieldOf, identificationOf, shownValue } from './data-faults.ts'
import { type Kind, kindOf, type Taken } from './kinds.ts'
import { json } from './normalise.ts'
import { isRd, toDegrees } from './rd.ts'
import type { Finding } from './source.ts'

/** Whether it is a number of nine digits, other than zero, that passes the test of eleven. */
function isNumber(text: string): boolean {
  return /^\d{9}$/.test(text) && text !== '000000000' && passesElfproef(text)
}

const RSIN: Record<string, string[]> = {
  catalogus: ['rsin'],
  zaak: ['bronorganisatie', 'verantwoordelijke_organisatie', 'opdrachtgevende_organisatie'],
  besluit: ['verantwoordelijke_organisatie'],
}

/** Remarks on one object, none when our rules would have let it be made. They do not keep it from being taken over. */
export function judge(kind: Kind, object: Taken): Omit<Finding, 'kind' | 'key'>[] {
  const found: Omit<Finding, 'kind' | 'key'>[] = []
  const remark = (code: string, field: string, text: string, value = '') =>
    found.push({ outcome: 'gemarkeerd', code, field: fieldOf(kind, field), text, value })
  const rsin = (field: string, value: unknown) => {
    if (typeof value === 'string' && value !== '' && !isNumber(value))
      remark('elfproef', field, 'Het nummer voldoet niet aan de elfproef.', shownValue(field, value))
  }
  for (const field of RSIN[kind.name] ?? []) rsin(field, object[field])
  if (kind.name === 'zaak' && object.archiefstatus !== 'nog_te_archiveren' && object.einddatum === null)
    remark('gearchiveerd-open', 'archiefstatus', 'De zaak is gearchiveerd en niet afgesloten.')
  if (kind.name === 'rol') {
    const { inpBsn, innNnpId } = (object.betrokkene_identificatie ?? {}) as Record<string, unknown>
    for (const [field, value] of Object.entries({ inpBsn, innNnpId }))
      if (typeof value === 'string' && value !== '' && !isNumber(value))
        remark('elfproef', field, 'Het nummer voldoet niet aan de elfproef.') // without it: it is of a person
  }
  if (kind.name === 'document') {
    const versions = object.versies as Record<string, unknown>[]
    rsin('bronorganisatie', versions.at(-1)?.bronorganisatie)
    for (const { versie, path, bestandsomvang, link } of versions)
      if (!path && !link)
        remark(
          'zonder-inhoud',
          `versie ${String(versie)}`,
          bestandsomvang
            ? `De bron heeft geen inhoud, maar noemt ${String(bestandsomvang)} bytes.`
            : 'De bron heeft geen inhoud.',
        )
  }
  return found
}

/**
 * The object with its geometry as ours, or without one that is none.
 * @param rd what becomes of coordinates of the Dutch grid: degrees, or without it no geometry
 */
export function judgeGeometry(kind: string, object: Taken, findings: Finding[], rd?: 'omrekenen'): Taken {
  if (kind !== 'zaak' || !object.zaakgeometrie) return object
  const given = object.zaakgeometrie
  const isGrid = isRd(given)
  const { geometrie, faults } = judgeGeometrie('zaakgeometrie', isGrid && rd ? toDegrees(given) : given)
  const remark = (code: string, text: string) =>
    findings.push({
      ...{ kind, key: object.uuid, outcome: 'gemarkeerd', code, field: 'zaakgeometrie', text },
      identificatie: identificationOf(kindOf(kind), object),
      value: shownValue('zaakgeometrie', JSON.stringify(given)),
    })
  if (isGrid && faults.length === 0) remark('waarde-anders', 'De geometrie stond in RD, en is omgerekend naar graden.')
  else if (faults.length > 0)
    remark('geometrie', isGrid ? RD_LEFT_OUT : 'De geometrie is geen geldige GeoJSON; de zaak is zonder overgenomen.')
  else if (json(geometrie) !== json(given))
    remark('waarde-anders', 'De geometrie heeft een derde dimensie of eigen velden: die gaan niet mee.')
  return { ...object, zaakgeometrie: geometrie }
}
const RD_LEFT_OUT = 'De geometrie staat in RD; de zaak is zonder overgenomen. Met --rd convert wordt zij graden.'
