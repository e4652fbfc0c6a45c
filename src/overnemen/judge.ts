// Judges objects that are taken over although our rules would refuse to make them. The report has a remark for each.
import { passesElfproef } from '../http/formats.ts'
import { judgeGeometrie } from '../zaken/zaak/geometry.ts'
import type { Kind, Taken } from './kinds.ts'
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
export function judge(kind: Kind, object: Taken): Finding[] {
  const found: Finding[] = []
  const remark = (code: string, field: string, text: string) =>
    found.push({ soort: kind.name, sleutel: object.uuid, uitkomst: 'gemarkeerd', code, field, text })
  const rsin = (field: string, value: unknown) => {
    if (typeof value === 'string' && value !== '' && !isNumber(value))
      remark('elfproef', field, `${value} voldoet niet aan de elfproef.`)
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
    for (const { versie, pad, bestandsomvang, link } of versions)
      if (!pad && !link)
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

/** The object with its geometry as ours, or without one that is none. */
export function judgeGeometry(soort: string, object: Taken, findings: Finding[]): Taken {
  if (soort !== 'zaak' || !object.zaakgeometrie) return object
  const { geometrie, faults } = judgeGeometrie('zaakgeometrie', object.zaakgeometrie)
  if (faults.length > 0)
    findings.push({
      soort,
      sleutel: object.uuid,
      uitkomst: 'gemarkeerd',
      code: 'geometrie',
      field: 'zaakgeometrie',
      text: 'De geometrie is geen geldige GeoJSON; de zaak is zonder overgenomen.',
    })
  return { ...object, zaakgeometrie: geometrie }
}
