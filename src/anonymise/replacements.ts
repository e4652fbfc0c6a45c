// What stands in the place of a value in a copy for testing. The same value gets the same replacement everywhere, by a key that is
// made for one copy and thrown away after it: nobody can compute the way back, and two copies have nothing in common.
//
// A replacement has the shape of what it replaces, so that it passes the rules of the APIs: a number its check digit, a text at most its
// length, a date its year. What a replacement is made of means nothing.
import { createHmac } from 'node:crypto'
import { passesElfproef } from '../http/formats.ts'
import { UUID_PATTERN } from '../lib/uuid.ts'
import { boundingBox, type Geometrie } from '../zaken/zaak/geometry.ts'
import { openTestNumbers } from './test-numbers.ts'

/** A value of JSON. A column of text is a string, an array of texts a list of these. */
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value }
/** Gives what stands in the place of a value that is there. `sibling` is another column of its row, as the source has it. */
export type Replace = (value: Value, sibling: (column: string) => Value) => Value

/** The replacements of one copy. */
export type Replacements = Record<
  | 'text'
  | 'texts'
  | 'code'
  | 'label'
  | 'identificatie'
  | 'person'
  | 'organisation'
  | 'email'
  | 'phone'
  | 'file'
  | 'url'
  | 'date'
  | 'detail'
  | 'property'
  | 'marks'
  | 'geometry'
  | 'box'
  | 'nothing'
  | 'size',
  Replace
> & { field(name: string): Replace | undefined }

const WORDS =
  `aanvraag akkoord als avond bericht beter boom brug buiten dag daarna deel door een eerder elk en gebied geel gesprek
  groen groot haven het hier hoek huis in jaar kaart kant klein kort kring lang licht lijn lijst maand markt meer met middag morgen
  muur na nieuw noord of om onder oost open over park plaats plan plein punt rand regel rond ruim ruimte school snel soms stap stil
  straat stuk te tuin uit van veld verder voor vorm water week weg west wijk zand zij zomer zuid`.split(/\s+/)
const SURNAMES =
  `Appel Berg Boom Brink Bos Duin Eik Haan Heide Hoek Iep Kamp Kers Kraan Linde Meer Molen Noot Olm Peer Plas Poort Roos
  Steen Stroom Tuin Veld Vink Vliet Wilg Zand Zwaan`.split(/\s+/)
const FIRST_NAMES =
  `Aafke Bas Cato Daan Elin Floor Gijs Hidde Ilse Jip Koen Lotte Mees Nina Otis Puck Roos Sam Tess Wout`.split(/\s+/)
const PLACES = `Bergdorp Dijkstad Eikveen Heidehoek Molenkamp Noordwoud Plasbroek Veldhaven Waterwijk Zandbrug`.split(
  /\s+/,
)
const STREETS = `Appellaan Boomstraat Dijkweg Eikenpad Havenstraat Lindelaan Molenweg Parkstraat Plein Tuinpad`.split(
  /\s+/,
)

const DATE = /^\d{4}-\d{2}-\d{2}([T ][0-9:.]+(Z|[+-][0-9:]+)?)?$/
const TERM = /^P[0-9T][0-9YMWDTHS.]*$/
const UUID = new RegExp(`^(urn:uuid:)?${UUID_PATTERN}$`, 'i')
const OURS =
  /^https?:\/\/[^/?#]+(\/[^?#]*)?\/(autorisaties|besluiten|catalogi|documenten|notificaties|zaken)\/api\/v1\//
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i

/**
 * @param key of this copy
 * @param choices what eigenschappen offer to choose from: such a value says nothing by itself, and stays
 */
export function openReplacements(key: Buffer, choices: ReadonlySet<string>): Replacements {
  const numbers = openTestNumbers((text) => digest('number', text).readUInt32LE(0))
  const digest = (kind: string, text: string) => createHmac('sha512', key).update(`${kind}\0${text}`).digest()
  const pick = (list: readonly string[], kind: string, text: string) =>
    list[digest(kind, text).readUInt32LE(0) % list.length] ?? ''

  /** Words, of at most the length of what they replace. */
  const words = (text: string): string => {
    let made = ''
    for (let round = 0; made.length < text.length; round++) {
      const bytes = digest(`text${round}`, text)
      for (let place = 0; place < bytes.length && made.length < text.length; place += 2)
        made += `${made === '' ? '' : ' '}${WORDS[bytes.readUInt16LE(place) % WORDS.length]}`
    }
    const cut = made.slice(0, text.length).trimEnd()
    return cut.slice(0, 1).toUpperCase() + cut.slice(1)
  }
  /** A digit for a digit and a letter for a letter; what passes the elfproef goes on passing it. */
  const code = (text: string): string => {
    if (isNumber(text)) return numbers.of(text)
    if (/^\d{8}$/.test(text) && isNumber(`0${text}`)) return numbers.of(`0${text}`).slice(1)
    let bytes = Buffer.alloc(0)
    let place = 0
    let round = 0
    return text.replace(/[\p{L}\p{N}]/gu, (sign) => {
      if (place >= bytes.length) {
        bytes = digest(`code${round++}`, text)
        place = 0
      }
      const byte = bytes[place++] ?? 0
      if (/\p{N}/u.test(sign)) return String(text[0] === sign && sign !== '0' ? 1 + (byte % 9) : byte % 10)
      return String.fromCharCode((sign === sign.toLowerCase() ? 97 : 65) + (byte % 26))
    })
  }
  const aNumber = (text: string): string => {
    for (let round = 0; ; round++) {
      const bytes = digest(`anumber${round}`, text)
      const made = Array.from({ length: 10 }, (_, place) =>
        place === 0 ? 1 + ((bytes[0] ?? 0) % 9) : (bytes[place] ?? 0) % 10,
      )
      if (isANumber(made)) return made.join('')
    }
  }
  /** Numbers of persons within a text that stays. */
  const scrubbed = (text: string) =>
    text.replace(/(?<!\d)\d{9}(?!\d)/g, (found) => (isNumber(found) ? numbers.of(found) : found))
  const person = (text: string) => `${pick(FIRST_NAMES, 'first', text)} ${pick(SURNAMES, 'surname', text)}`
  const initials = (text: string) =>
    text
      .replace(/\p{L}/gu, () => '#')
      .replace(/#/g, (_, place: number) => String.fromCharCode(65 + ((digest('initial', text)[place % 64] ?? 0) % 26)))
  const organisation = (text: string) =>
    `${pick(SURNAMES, 'organisation', text)} en ${pick(SURNAMES, 'partner', text)} BV`.slice(
      0,
      Math.max(text.length, 20),
    )
  const email = (text: string) => `p${digest('email', text).toString('hex', 0, 6)}@example.org`
  const phone = (text: string) => `0600${String(digest('phone', text).readUInt32LE(0) % 1_000_000).padStart(6, '0')}`
  const postcode = (text: string) => {
    const bytes = digest('postcode', text)
    const letter = (place: number) => String.fromCharCode(65 + ((bytes[place] ?? 0) % 26))
    return `${1000 + (bytes.readUInt16LE(0) % 9000)}${text.includes(' ') ? ' ' : ''}${letter(2)}${letter(3)}`
  }
  const date = (text: string): string => {
    const bytes = digest('date', text)
    const two = (n: number) => String(n).padStart(2, '0')
    const [month, day] = [two(1 + ((bytes[0] ?? 0) % 12)), two(1 + ((bytes[1] ?? 0) % 28))]
    if (DATE.test(text)) return `${text.slice(0, 4)}-${month}-${day}`
    return /^\d{8}/.test(text) ? `${text.slice(0, 4)}${month}${day}` : code(text)
  }
  /** Server and path stay; what names one thing there does not, and the query goes. */
  const url = (text: string): string => {
    if (OURS.test(text)) return text
    const parsed = URL.canParse(text) ? new URL(text) : undefined
    if (!parsed?.host) return code(text)
    const parts = parsed.pathname.split('/')
    const last = parts.findLastIndex((part) => part !== '')
    const path = parts.map((part, place) => (place === last || /\d{4}/.test(part) ? address(part) : part)).join('/')
    return `${parsed.protocol}//${parsed.host}${path}`
  }
  const address = (part: string) => (UUID.test(part) ? uuid(part) : code(part))
  const uuid = (text: string) => {
    const hex = digest('uuid', text.toLowerCase()).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }
  const file = (text: string): string => {
    const extension = /\.[a-z0-9]{1,5}$/i.exec(text)?.[0] ?? ''
    return (
      words(text.slice(0, text.length - extension.length))
        .replaceAll(' ', '-')
        .toLowerCase() + extension
    )
  }
  const label = (text: string): string => (/^[A-Z]*-?\d{4}-\d+$/.test(text) ? scrubbed(text) : words(text))
  /** What stands in a field that is not known: what is found by its shape stays, and all else goes. */
  const unknown = (value: Value): Value => {
    if (typeof value === 'number')
      return Math.abs(value) < 1000 ? value : Number(code(String(Math.trunc(value))).slice(0, 15))
    if (typeof value !== 'string') return value
    if (value === '' || DATE.test(value) || TERM.test(value) || UUID.test(value)) return value
    if (ADDRESS.test(value)) return url(value)
    if (value.includes('@')) return email(value)
    return /\d/.test(value) ? code(value) : words(value)
  }
  const geometry = (value: Value): Value => {
    const bytes = digest('geometry', JSON.stringify(value))
    const part = (place: number) => bytes.readUInt32LE(place) / 2 ** 32
    // Stretched as well, so that a plot is not known by its shape; a polygon stays a polygon.
    const [east, north, wide, high] = [part(0) - 0.5, part(4) - 0.5, 0.7 + part(8) * 0.6, 0.7 + part(12) * 0.6]
    let from: [number, number] | undefined
    const moved = (position: Value): Value => {
      if (!Array.isArray(position)) return position
      const [x, y, ...rest] = position
      if (typeof x !== 'number' || typeof y !== 'number') return position.map(moved)
      from ??= [x, y]
      return [
        within(from[0] + east / 5 + (x - from[0]) * wide, 180),
        within(from[1] + north / 10 + (y - from[1]) * high, 90),
        ...rest,
      ]
    }
    const shape = (one: Value): Value =>
      isObject(one)
        ? mapped(one, (name, inner) =>
            name === 'coordinates'
              ? moved(inner)
              : name === 'geometries' && Array.isArray(inner)
                ? inner.map(shape)
                : name === 'type'
                  ? inner
                  : null,
          )
        : one
    return shape(value)
  }

  const onText =
    (change: (text: string) => string): Replace =>
    (value) =>
      typeof value === 'string' && value !== '' ? change(value) : value
  const KEEP: Replace = (value) => value
  /** Fields within JSON, by their names in the APIs. */
  const FIELDS: Record<string, Replace> = Object.fromEntries(
    (
      [
        [
          'inpBsn innNnpId rsin kvkNummer vestigingsNummer identifier actingSubject anpIdentificatie annIdentificatie',
          onText(code),
        ],
        [
          'identificatie numIdentificatie oaoIdentificatie aoaIdentificatie kadastraleIdentificatie wozObjectNummer nummer',
          onText(code),
        ],
        ['inpA_nummer', onText(aNumber)],
        ['geslachtsnaam achternaam', onText((text) => pick(SURNAMES, 'surname', text))],
        ['voornamen', onText((text) => pick(FIRST_NAMES, 'first', text))],
        ['voorletters', onText(initials)],
        [
          'voorvoegselGeslachtsnaam voorvoegselAchternaam aoaHuisnummertoevoeging huisnummertoevoeging',
          onText(() => ''),
        ],
        ['statutaireNaam handelsnaam organisatorischeEenheid', (value) => each(value, onText(organisation))],
        ['naam contactpersoonnaam volledigeNaam', onText(person)],
        ['emailadres email', onText(email)],
        ['telefoonnummer faxnummer', onText(phone)],
        ['geboortedatum overlijdensdatum', onText(date)],
        ['aoaPostcode postcode postadresPostcode', onText(postcode)],
        [
          'wplWoonplaatsNaam woonplaatsnaam woonplaatsNaam lndLandnaam gemeenteNaam wijkNaam buurtNaam',
          onText((text) => pick(PLACES, 'place', text)),
        ],
        ['gorOpenbareRuimteNaam openbareRuimteNaam', onText((text) => pick(STREETS, 'street', text))],
        [
          'aoaHuisnummer huisnummer postBusOfAntwoordnummer',
          (value) => (typeof value === 'number' ? 1 + (digest('house', String(value)).readUInt32LE(0) % 200) : value),
        ],
        ['aoaHuisletter huisletter', onText(code)],
        [
          `geslachtsaanduiding innRechtsvorm source levelOfAssurance identifierType role id uuid type objectType aardRelatie postadresType
          landcode lndLandcode typeWaterdeel soort algoritme duur`,
          KEEP,
        ],
        [
          `bronorganisatie verantwoordelijkeOrganisatie zaaktype.identificatie zaaktype.omschrijving vertrouwelijkheidaanduiding archiefstatus
          archiefnominatie component actie kanaal objecttype resource`,
          KEEP,
        ],
        ['waarde', onText((text) => (choices.has(text) ? text : property(text)))],
      ] as [string, Replace][]
    ).flatMap(([names, replace]) => names.split(/\s+/).map((name) => [name, replace])),
  )
  const property = (text: string): string => {
    if (choices.has(text) || DATE.test(text) || /^(19|20)\d{6}(\d{6})?$/.test(text)) return text
    return /^[\d.,\s-]+$/.test(text) ? code(text) : words(text)
  }
  /** An object within JSON, and all that hangs on it. */
  const detail = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(detail)
    if (!isObject(value)) return unknown(value)
    return mapped(value, (name, inner) => {
      const known = FIELDS[name]
      return known && !isObject(inner) ? known(inner, () => null) : detail(inner)
    })
  }
  return {
    text: onText(words),
    texts: (value) => each(value, onText(words)),
    code: onText(code),
    label: onText(label),
    identificatie: onText(scrubbed),
    person: onText(person),
    organisation: onText(organisation),
    email: onText(email),
    phone: onText(phone),
    file: onText(file),
    url: onText(url),
    date: onText(date),
    detail,
    property: onText(property),
    marks: (value) =>
      each(value, (one) =>
        isObject(one)
          ? mapped(one, (name, inner) => (name === 'kenmerk' ? onText(code) : onText(words))(inner, () => null))
          : one,
      ),
    geometry: (value) => geometry(value),
    box: (_, sibling) => boundingBox(geometry(sibling('zaakgeometrie')) as unknown as Geometrie),
    nothing: () => null,
    size: (value) => (value === null ? value : sizeClass(Number(value))),
    field: (name) => FIELDS[name],
  }
}

/** The size of the bytes that stand for these: the highest power of two that is not above it. */
export const sizeClass = (size: number): number => (size < 1 ? 0 : 2 ** Math.floor(Math.log2(size)))

const isNumber = (text: string) => /^\d{9}$/.test(text) && text !== '000000000' && passesElfproef(text)

/** No two neighbours alike, a sum of 0 or 5 modulo 11, and the digits by powers of two a multiple of 11 (Logisch Ontwerp BRP). */
function isANumber(digits: number[]): boolean {
  const sum = digits.reduce((total, digit) => total + digit, 0) % 11
  const weighed = digits.reduce((total, digit, place) => total + digit * 2 ** place, 0)
  return (sum === 0 || sum === 5) && weighed % 11 === 0 && digits.every((digit, place) => digit !== digits[place + 1])
}

const within = (coordinate: number, bound: number) => Math.max(-bound, Math.min(bound, Number(coordinate.toFixed(7))))

export const isObject = (value: Value): value is { [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function mapped(value: { [name: string]: Value }, change: (name: string, inner: Value) => Value): Value {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(name, inner)]))
}

const each = (value: Value, change: Replace): Value =>
  Array.isArray(value) ? value.map((one) => change(one, () => null)) : change(value, () => null)
