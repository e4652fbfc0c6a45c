// Geometry of cases: GeoJSON in EPSG:4326, judged here and not in the database, which needs no extension that way.
import type { InvalidParam } from '../../http/problem.ts'

export type Punt = readonly [number, number]
export type Geometrie =
  | { type: 'Point'; coordinates: Punt }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Punt[] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: Punt[][] }
  | { type: 'MultiPolygon'; coordinates: Punt[][][] }
  | { type: 'GeometryCollection'; geometries: Geometrie[] }

/** GeoJSON (RFC 7946) as the documents show it: one shape for all kinds, which every generator of clients can make code of. */
export const GEOJSON = {
  $id: 'GeoJSONGeometry',
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      enum: ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon', 'GeometryCollection'],
    },
    coordinates: {
      type: 'array',
      items: {},
      description: 'Bij alles behalve GeometryCollection: lengte- en breedtegraad, of lijsten daarvan.',
    },
    geometries: {
      type: 'array',
      items: { $ref: '#/components/schemas/GeoJSONGeometry' },
      description: 'Bij GeometryCollection.',
    },
  },
}

const MAX_PUNTEN = 100_000

/** Reads GeoJSON: only what is known of it is kept, in two dimensions. Undefined when it is no geometry. */
export function readGeometrie(value: unknown, depth = 0): Geometrie | undefined {
  if (value === null || typeof value !== 'object' || depth > 5) return undefined
  const { type, coordinates, geometries } = value as Record<string, unknown>
  const read = typeof type === 'string' ? SHAPES.get(type) : undefined
  if (read) {
    const kept = read(coordinates)
    return kept === undefined ? undefined : ({ type, coordinates: kept } as Geometrie)
  }
  if (type !== 'GeometryCollection' || !Array.isArray(geometries)) return undefined
  const parts = geometries.map((part) => readGeometrie(part, depth + 1))
  return parts.every((part) => part !== undefined) ? { type, geometries: parts as Geometrie[] } : undefined
}

/** @returns the geometry with its fault, of which one is there when a value is */
export function judgeGeometrie(name: string, value: unknown): { geometrie: Geometrie | null; faults: InvalidParam[] } {
  if (value === null || value === undefined) return { geometrie: null, faults: [] }
  const geometrie = readGeometrie(value)
  if (geometrie && pointsOf(geometrie).length <= MAX_PUNTEN) return { geometrie, faults: [] }
  return { geometrie: null, faults: [{ name, code: 'invalid', reason: 'Dit is geen geldige GeoJSON-geometrie.' }] }
}

type Read = (value: unknown) => unknown
const listOf =
  (read: Read, least: number): Read =>
  (value) => {
    if (!Array.isArray(value) || value.length < least) return undefined
    const items = value.map(read)
    return items.includes(undefined) ? undefined : items
  }
const point: Read = (value) =>
  Array.isArray(value) && value.length >= 2 && value.length <= 4 && value.every((one) => Number.isFinite(one))
    ? [value[0], value[1]]
    : undefined
const ring: Read = (value) => {
  const points = listOf(point, 4)(value) as Punt[] | undefined
  const [first, last] = [points?.[0], points?.at(-1)]
  return first && last && first[0] === last[0] && first[1] === last[1] ? points : undefined
}
const SHAPES = new Map<string, Read>(
  Object.entries({
    Point: point,
    MultiPoint: listOf(point, 1),
    LineString: listOf(point, 2),
    MultiLineString: listOf(listOf(point, 2), 1),
    Polygon: listOf(ring, 1),
    MultiPolygon: listOf(listOf(ring, 1), 1),
  }),
)

/** The smallest box around it, as PostgreSQL writes a box; null around nothing. */
export function boundingBox(geometrie: Geometrie): string | null {
  const all = pointsOf(geometrie)
  if (all.length === 0) return null
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of all) {
    west = Math.min(west, x)
    south = Math.min(south, y)
    east = Math.max(east, x)
    north = Math.max(north, y)
  }
  return `((${east},${north}),(${west},${south}))`
}

function pointsOf(geometrie: Geometrie): Punt[] {
  switch (geometrie.type) {
    case 'Point':
      return [geometrie.coordinates]
    case 'MultiPoint':
    case 'LineString':
      return geometrie.coordinates
    case 'MultiLineString':
    case 'Polygon':
      return geometrie.coordinates.flat()
    case 'MultiPolygon':
      return geometrie.coordinates.flat(2)
    case 'GeometryCollection':
      return geometrie.geometries.flatMap(pointsOf)
  }
}

// ---- within ----

type Segment = readonly [Punt, Punt]
type Vlak = Punt[][]
type Delen = { punten: Punt[]; lijnen: Punt[][]; vlakken: Vlak[] }

function partsOf(geometrie: Geometrie): Delen {
  switch (geometrie.type) {
    case 'Point':
      return { punten: [geometrie.coordinates], lijnen: [], vlakken: [] }
    case 'MultiPoint':
      return { punten: geometrie.coordinates, lijnen: [], vlakken: [] }
    case 'LineString':
      return { punten: [], lijnen: [geometrie.coordinates], vlakken: [] }
    case 'MultiLineString':
      return { punten: [], lijnen: geometrie.coordinates, vlakken: [] }
    case 'Polygon':
      return { punten: [], lijnen: [], vlakken: [geometrie.coordinates] }
    case 'MultiPolygon':
      return { punten: [], lijnen: [], vlakken: geometrie.coordinates }
    case 'GeometryCollection': {
      const parts = geometrie.geometries.map(partsOf)
      return {
        punten: parts.flatMap((part) => part.punten),
        lijnen: parts.flatMap((part) => part.lijnen),
        vlakken: parts.flatMap((part) => part.vlakken),
      }
    }
  }
}

/**
 * Makes the test whether a geometry lies completely within an area: no part of it outside, and not only on the edge. An
 * area is a Polygon, a MultiPolygon or a collection of them; within a line or a point nothing lies.
 *
 * Edges are cut where they meet; of every piece the middle says on which side it is. Coordinates are taken as they are, on
 * a plane, which for areas of the size of a country is what other registers do too.
 */
export function withinTest(gebied: Geometrie): (geometrie: Geometrie) => boolean {
  const { vlakken } = partsOf(gebied)
  const randen = vlakken.flatMap(segments)
  const side = (point: Punt) => Math.max(-1, ...vlakken.map((vlak) => sideOf(point, vlak)))
  return (geometrie) => {
    if (vlakken.length === 0) return false
    const parts = partsOf(geometrie)
    let inside = parts.vlakken.length > 0
    const accept = (where: number) => {
      if (where > 0) inside = true
      return where >= 0
    }
    if (!parts.punten.every((point) => accept(side(point)))) return false
    for (const lijn of parts.lijnen) {
      for (const piece of paren(lijn)) if (!midpoints(piece, randen).every((point) => accept(side(point)))) return false
    }
    for (const vlak of parts.vlakken) {
      const eigen = segments(vlak)
      for (const piece of eigen) if (!midpoints(piece, randen).every((point) => side(point) >= 0)) return false
      // An edge of the area inside the polygon: a hole of the area, or a gap between its parts.
      for (const rand of randen) {
        if (
          midpoints(rand, eigen).some((point) => sideOf(point, vlak) > 0 && side(point) === 0 && isOuter(point, rand))
        )
          return false
      }
    }
    return inside
  }

  /** Whether one side of the edge at this point is outside the area: parts that only touch each other have no such edge. */
  function isOuter([x, y]: Punt, [[ax, ay], [bx, by]]: Segment): boolean {
    const length = Math.hypot(bx - ax, by - ay) || 1
    const [nx, ny] = [(-(by - ay) / length) * 1e-9, ((bx - ax) / length) * 1e-9]
    return side([x + nx, y + ny]) < 0 || side([x - nx, y - ny]) < 0
  }
}

const paren = (line: Punt[]): Segment[] => line.slice(1).map((point, index) => [line[index]!, point])
const segments = (vlak: Vlak): Segment[] => vlak.flatMap(paren)

/** 1 inside the polygon, 0 on its edge, -1 outside. */
function sideOf([x, y]: Punt, vlak: Vlak): -1 | 0 | 1 {
  let inside = false
  for (const ring of vlak) {
    for (let index = 1; index < ring.length; index++) {
      const [[ax, ay], [bx, by]] = [ring[index - 1]!, ring[index]!]
      if (isOn([x, y], [ring[index - 1]!, ring[index]!])) return 0
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
  }
  return inside ? 1 : -1
}

const NEAR = 1e-12

function isOn([x, y]: Punt, [[ax, ay], [bx, by]]: Segment): boolean {
  const [dx, dy] = [bx - ax, by - ay]
  const scale = Math.max(Math.abs(dx), Math.abs(dy))
  if (Math.abs(dx * (y - ay) - dy * (x - ax)) > NEAR * Math.max(1, scale)) return false
  return (
    x >= Math.min(ax, bx) - NEAR &&
    x <= Math.max(ax, bx) + NEAR &&
    y >= Math.min(ay, by) - NEAR &&
    y <= Math.max(ay, by) + NEAR
  )
}

/** The middles of the pieces into which a segment falls where others meet it. */
function midpoints(segment: Segment, others: readonly Segment[]): Punt[] {
  const [[ax, ay], [bx, by]] = segment
  const [dx, dy] = [bx - ax, by - ay]
  const cuts = [0, 1]
  for (const [[cx, cy], [ex, ey]] of others) {
    if (
      Math.max(cx, ex) < Math.min(ax, bx) ||
      Math.min(cx, ex) > Math.max(ax, bx) ||
      Math.max(cy, ey) < Math.min(ay, by) ||
      Math.min(cy, ey) > Math.max(ay, by)
    )
      continue
    const cross = dx * (ey - cy) - dy * (ex - cx)
    if (cross === 0) {
      const length = dx * dx + dy * dy
      if (length > 0)
        for (const [px, py] of [
          [cx, cy],
          [ex, ey],
        ] as const)
          cuts.push(((px - ax) * dx + (py - ay) * dy) / length)
    } else cuts.push(((cx - ax) * (ey - cy) - (cy - ay) * (ex - cx)) / cross)
  }
  const places = cuts.filter((at) => at >= 0 && at <= 1).sort((one, other) => one - other)
  return paren(places.map((at) => [at, 0] as Punt))
    .filter(([[from], [to]]) => to - from > NEAR)
    .map(([[from], [to]]) => [ax + (dx * (from + to)) / 2, ay + (dy * (from + to)) / 2] as Punt)
}
