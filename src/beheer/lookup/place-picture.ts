// The place of a case as a small picture, drawn on the server: its geometry within its bounding box, with a scale, and the same in
// words. No map of others is asked for it.
import { extentOf, type Geometrie, type Point, readGeometrie } from '../../zaken/zaak/geometry.ts'
import { formatNumber } from '../frame/format.ts'
import { t, words } from '../language/language.ts'

const WIDTH = 320
const HEIGHT = 200
/** Around what is drawn, with room for the scale below. */
const MARGIN = 28
/** Around a single point so much is shown, in metres to each side. */
const AROUND = 100
const METRES_PER_DEGREE = 111_320

type Shape = { kind: 'vlak' | 'lijn'; path: string }
type Place = {
  /** What kind of geometry it is, in words. */
  kind: string
  /** The one point, or from where to where: latitude and longitude in degrees. */
  where: string
  width: number
  height: number
  shapes: Shape[]
  points: { x: number; y: number }[]
  /** How long the line of the scale is, and what it stands for. */
  scale: { width: number; text: string }
  /** As GeoJSON, cut off; empty for a single point, of which `where` says all. */
  json: string
}

const KINDS: Record<Geometrie['type'], string> = words({
  Point: 'Punt',
  MultiPoint: 'Punten',
  LineString: 'Lijn',
  MultiLineString: 'Lijnen',
  Polygon: 'Vlak',
  MultiPolygon: 'Vlakken',
  GeometryCollection: 'Verzameling',
})

/** @param json of it, cut off at `most` characters; null for what is no geometry, or has no point */
export function drawPlace(geometry: unknown, most: number): Place | null {
  const read = readGeometrie(geometry)
  if (!read) return null
  const parts = partsOf(read)
  const all = parts.flatMap(({ lines }) => lines.flat())
  if (all.length === 0) return null
  const { west, south, east, north } = extentOf(all)
  const [middleX, middleY] = [(west + east) / 2, (south + north) / 2]
  // A degree of longitude is shorter the further it is from the equator.
  const shrink = Math.max(0.01, Math.cos((middleY * Math.PI) / 180))
  const metresX = (longitude: number) => (longitude - middleX) * shrink * METRES_PER_DEGREE
  const metresY = (latitude: number) => (latitude - middleY) * METRES_PER_DEGREE
  const reachX = Math.max(metresX(east), AROUND)
  const reachY = Math.max(metresY(north), AROUND)
  const perMetre = Math.min((WIDTH / 2 - MARGIN) / reachX, (HEIGHT / 2 - MARGIN) / reachY)
  const at = ([x, y]: Point) => ({
    x: round(WIDTH / 2 + metresX(x) * perMetre),
    y: round(HEIGHT / 2 - metresY(y) * perMetre),
  })
  const metres = niceLength(WIDTH / 4 / perMetre)
  const isOnePoint = west === east && south === north
  return {
    kind: KINDS[read.type],
    where: isOnePoint ? inWords(south, west) : t`${inWords(south, west)} tot ${inWords(north, east)}`,
    width: WIDTH,
    height: HEIGHT,
    shapes: parts.flatMap(({ kind, lines }) =>
      kind === 'punt' ? [] : [{ kind, path: lines.map((line) => pathOf(line.map(at), kind === 'vlak')).join('') }],
    ),
    points: distinct(parts.flatMap(({ kind, lines }) => (kind === 'punt' ? lines.flat().map(at) : []))),
    scale: {
      width: round(metres * perMetre),
      text: metres < 1000 ? `${formatNumber(metres)} m` : `${formatNumber(metres / 1000)} km`,
    },
    json: read.type === 'Point' ? '' : JSON.stringify(read).slice(0, most),
  }
}

type Part = { kind: 'punt' | 'lijn' | 'vlak'; lines: Point[][] }

function partsOf(geometry: Geometrie): Part[] {
  switch (geometry.type) {
    case 'Point':
      return [{ kind: 'punt', lines: [[geometry.coordinates]] }]
    case 'MultiPoint':
      return [{ kind: 'punt', lines: [geometry.coordinates] }]
    case 'LineString':
      return [{ kind: 'lijn', lines: [geometry.coordinates] }]
    case 'MultiLineString':
      return [{ kind: 'lijn', lines: geometry.coordinates }]
    case 'Polygon':
      return [{ kind: 'vlak', lines: geometry.coordinates }]
    case 'MultiPolygon':
      return geometry.coordinates.map((lines) => ({ kind: 'vlak', lines }))
    case 'GeometryCollection':
      return geometry.geometries.flatMap(partsOf)
  }
}

const round = (value: number) => Math.round(value * 10) / 10

/** Points that fall together are drawn once: a geometry of thousands of points then stays a small picture. */
function pathOf(points: { x: number; y: number }[], isClosed: boolean): string {
  const seen = points.filter(({ x, y }, place) => {
    const before = points[place - 1]
    return before?.x !== x || before.y !== y
  })
  return `M${seen.map(({ x, y }) => `${x} ${y}`).join('L')}${isClosed ? 'Z' : ''}`
}

const distinct = (points: { x: number; y: number }[]) => [
  ...new Map(points.map((point) => [`${point.x} ${point.y}`, point])).values(),
]

/** The largest 1, 2 or 5 with zeros behind it that is not more. */
function niceLength(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  return power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1)
}

/** `52,09° NB, 5,12° OL` */
function inWords(latitude: number, longitude: number): string {
  const degrees = (value: number) => String(Math.round(Math.abs(value) * 1e6) / 1e6)
  const north = latitude < 0 ? t`${degrees(latitude)}° ZB` : t`${degrees(latitude)}° NB`
  const east = longitude < 0 ? t`${degrees(longitude)}° WL` : t`${degrees(longitude)}° OL`
  return `${north}, ${east}`
}
