// Geometry as PostGIS stores it, as GeoJSON. The database could do it, but only where its functions are in the search path and
// with a number of decimals that has to be guessed.
type Geojson = { type: string; coordinates?: unknown; geometries?: Geojson[] }

const NAMES = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection']

/** Reads EWKB in hexadecimal, as a geometry is written out: OGC 06-103r4 with the flags of PostGIS. Throws on anything else. */
export function fromEwkb(hex: string): Geojson {
  const bytes = Buffer.from(hex, 'hex')
  let at = 0

  function geometry(): Geojson {
    const little = bytes.readUInt8(at) === 1
    at += 1
    const integer = () => {
      const value = little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)
      at += 4
      return value
    }
    const double = () => {
      const value = little ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at)
      at += 8
      return value
    }
    const many = <T>(one: () => T): T[] => Array.from({ length: integer() }, one)
    const flags = integer()
    const type = flags & 0xff
    if (flags & 0x20000000) integer() // the reference system: always EPSG:4326 there
    const [z, m] = [(flags & 0x80000000) !== 0, (flags & 0x40000000) !== 0]
    const position = () => {
      const place = [double(), double(), ...(z ? [double()] : [])]
      if (m) double()
      return place
    }
    const name = NAMES[type - 1]
    if (!name) throw new Error(`geometry of kind ${type}`)
    if (type === 1) return { type: name, coordinates: position() }
    if (type === 2) return { type: name, coordinates: many(position) }
    if (type === 3) return { type: name, coordinates: many(() => many(position)) }
    if (type === 7) return { type: name, geometries: many(geometry) }
    return { type: name, coordinates: many(geometry).map(({ coordinates }) => coordinates) }
  }

  return geometry()
}
