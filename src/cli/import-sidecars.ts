// Metadata in XML beside the files of an archive, as columns of an import: MDTO, and ToPX (TMLO) by the mapping of the Nationaal
// Archief. A file has a sidecar beside it, a directory has one within it. What the file lacks comes from the directories around it.
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../core/vertrouwelijkheidaanduiding.ts'
import type { CsvRow } from '../documenten/import/columns.ts'

/** What a sidecar tells. */
export type Sidecar = { level: string; identificatie: string; omschrijving: string; values: Partial<CsvRow> }

const MOST_BYTES = 1024 * 1024
const OF_FILE = ['.bestand.mdto.xml', '.mdto.xml', '.metadata', '.topx.xml']
const OF_DIRECTORY = ['.mdto.xml', '.informatieobject.mdto.xml', '.metadata', '.topx.xml']
const ANY = /\.(mdto\.xml|metadata|topx\.xml)$/i

/** Whether a file holds the metadata of another. */
export const isSidecar = (path: string): boolean => ANY.test(path)

/**
 * @param root directories above it are not looked at
 * @param unread hears of a sidecar that cannot be read, and why
 */
export function openSidecars(root: string, unread: (path: string, reason: string) => void) {
  const known = new Map<string, Sidecar | undefined>()

  async function first(paths: string[]): Promise<Sidecar | undefined> {
    for (const path of paths) {
      const text = await readFile(path).catch((error) => {
        if (error.code !== 'ENOENT') unread(path, error.code)
      })
      if (!text) continue
      try {
        if (text.length > MOST_BYTES) throw new Error('larger than a megabyte')
        return sidecarIn(text.toString())
      } catch (error) {
        unread(path, (error as Error).message)
      }
    }
    return undefined
  }

  async function ofDirectory(directory: string): Promise<Sidecar | undefined> {
    if (!known.has(directory)) {
      if (known.size > 1000) known.clear()
      known.set(directory, await first(OF_DIRECTORY.map((end) => join(directory, basename(directory) + end))))
    }
    return known.get(directory)
  }

  /** The columns of a file, and the Dossier that it is in. */
  return async (file: string): Promise<{ values: Partial<CsvRow>; dossier?: Sidecar }> => {
    const stem = file.replace(/\.[^./]{1,10}$/, '')
    const own = await first([...new Set([file, stem])].flatMap((name) => OF_FILE.map((end) => name + end)))
    let values = own?.values ?? {}
    let dossier = own?.level === 'dossier' ? own : undefined
    for (let at = dirname(file); at.startsWith(root); at = dirname(at)) {
      const around = await ofDirectory(at)
      if (around?.level === 'dossier') dossier ??= around
      // An identificatie and a name are of one thing; what an aggregation says of its contents holds for all of them.
      const isRecord = around?.level === 'archiefstuk' || around?.level === 'record'
      const { identificatie, titel, beschrijving, ...shared } = around?.values ?? {}
      values = {
        ...shared,
        ...(isRecord && own?.level === 'bestand' && { identificatie, titel, beschrijving }),
        ...values,
      }
      if (at === root) break
    }
    return dossier ? { values, dossier } : { values }
  }
}

type Node = { [name: string]: unknown }
const OPTIONS = { removeNSPrefix: true, ignoreAttributes: true, parseTagValue: false, trimValues: true }

/** @throws what is no MDTO and no ToPX */
export function sidecarIn(xml: string): Sidecar {
  const parsed = new XMLParser(OPTIONS).parse(xml) as Node
  const mdto = childOf(parsed.MDTO)
  if (mdto) return fromMdto(childOf(mdto.bestand), childOf(mdto.informatieobject))
  const topx = childOf(parsed.ToPX)
  if (topx) return fromTopx(childOf(topx.bestand), childOf(topx.aggregatie))
  throw new Error('no MDTO and no ToPX')
}

function fromMdto(file: Node | undefined, thing: Node | undefined): Sidecar {
  const node = file ?? thing ?? {}
  const checksum = childOf(node.checksum)
  const made = all(node.event)
    .map(childOf)
    .find((event) => /creatie/i.test(text(event, 'eventType', 'begripLabel')))
  const values = {
    ...idOf(node, 'identificatie', 'identificatieKenmerk'),
    titel: text(node, 'naam'),
    beschrijving: text(node, 'omschrijving'),
    trefwoorden: all(node.trefwoord)
      .map((word) => text(word))
      .join(','),
    taal: languageOf(text(node, 'taal')),
    creatiedatum: dayIn(text(made, 'eventTijd') || text(node, 'dekkingInTijd', 'dekkingInTijdBegindatum')),
    auteur: text(node, 'archiefvormer', 'verwijzingNaam'),
    ...checksumOf(
      text(checksum, 'checksumAlgoritme', 'begripLabel'),
      text(checksum, 'checksumWaarde'),
      text(checksum, 'checksumDatum'),
    ),
    bestandsomvang: text(node, 'omvang'),
  }
  const level = file ? 'bestand' : text(node, 'aggregatieniveau', 'begripLabel')
  return sidecar(level, values)
}

function fromTopx(file: Node | undefined, thing: Node | undefined): Sidecar {
  const node = file ?? thing ?? {}
  const format = childOf(node.formaat)
  const sum = childOf(format?.fysiekeIntegriteit)
  const secret = text(node, 'vertrouwelijkheid', 'classificatieNiveau').toLowerCase().replaceAll(/[ -]/g, '_')
  const values = {
    ...idOf(node, 'identificatiekenmerk'),
    titel: text(node, 'naam'),
    beschrijving: text(node, 'omschrijving'),
    taal: languageOf(text(node, 'taal')),
    creatiedatum: dayIn(
      text(format, 'datumAanmaak') ||
        text(node, 'dekking', 'inTijd', 'begin') ||
        text(node, 'eventGeschiedenis', 'datumOfPeriode', 'datum'),
    ),
    auteur: text(node, 'context', 'actor', 'geautoriseerdeNaam'),
    vertrouwelijkheidaanduiding: (VERTROUWELIJKHEIDAANDUIDINGEN as readonly string[]).includes(secret) ? secret : '',
    ...checksumOf(text(sum, 'algoritme'), text(sum, 'waarde'), text(sum, 'datumEnTijd')),
    bestandsomvang: text(format, 'omvang'),
  }
  return sidecar(file ? 'bestand' : text(node, 'aggregatieniveau'), values)
}

function sidecar(level: string, values: Partial<CsvRow>): Sidecar {
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<CsvRow>
  const { identificatie = '', titel = '' } = filled
  return { level: level.toLowerCase(), identificatie, omschrijving: titel, values: filled }
}

/** A column takes forty characters. */
function idOf(node: Node, ...path: string[]): Partial<CsvRow> {
  const id = text(node, ...path)
  return id.length <= 40 ? { identificatie: id } : {}
}

/** As the standard of the API names them. */
function checksumOf(algorithm: string, value: string, at: string): Partial<CsvRow> {
  const name = algorithm
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/^(sha)(\d{3})$/, '$1_$2')
    .replace('sha1', 'sha_1')
  if (!/^(md5|sha_(1|256|512))$/.test(name) || value === '') return {}
  return { 'integriteit.algoritme': name, 'integriteit.waarde': value.toLowerCase(), 'integriteit.datum': dayIn(at) }
}

/** A day of a moment; the first one of a year or a month. */
function dayIn(moment: string): string {
  const [, year = '', month = '01', day = '01'] = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?/.exec(moment) ?? []
  return year && `${year}-${month}-${day}`
}

const LANGUAGES: Record<string, string> = {
  nl: 'nld',
  dut: 'nld',
  en: 'eng',
  de: 'deu',
  ger: 'deu',
  fr: 'fra',
  fre: 'fra',
  fy: 'fry',
}

function languageOf(name: string): string {
  const code = name.toLowerCase().slice(0, name.includes('-') ? name.indexOf('-') : undefined)
  return LANGUAGES[code] ?? (code.length === 3 ? code : '')
}

const all = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])
const childOf = (value: unknown): Node | undefined => {
  const [first] = all(value)
  return typeof first === 'object' && first !== null ? (first as Node) : undefined
}

/** The text of the first element at a path; '' when there is none. */
function text(value: unknown, ...path: string[]): string {
  let at: unknown = all(value)[0]
  for (const name of path) at = all(childOf(at)?.[name])[0]
  return typeof at === 'string' ? at : ''
}
