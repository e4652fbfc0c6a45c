// Geometry of cases: GeoJSON in EPSG:4326, judged here and not in the database, which needs no extension that way.
import type { FieldCode } from '../../core/codes.ts'
import { LIMITS } from '../../core/limits.ts'
import type { InvalidParam } from '../../core/problem.ts'

export type Point = readonly [number, number]
export type Geometrie =
  | { type: 'Point'; coordinates: Point }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Point[] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: Point[][] }
  | { type: 'MultiPolygon'; coordinates: Point[][][] }
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
  if (!geometrie) return fault(name, 'invalid', NO_GEOMETRIE)
  return { geometrie, faults: [] }
}

/** The same for one that is kept. A case is no map: `LIMITS.geometrieBytes` are plenty. */
export function judgeKept(name: string, value: unknown): { geometrie: Geometrie | null; faults: InvalidParam[] } {
  const judged = judgeGeometrie(name, value)
  if (!judged.geometrie || JSON.stringify(judged.geometrie).length <= LIMITS.geometrieBytes) return judged
  return fault(name, 'max_length', `De geometrie is als JSON ten hoogste ${LIMITS.geometrieBytes} bytes.`)
}

const NO_GEOMETRIE =
  'Dit is geen geldige GeoJSON-geometrie in EPSG:4326: lengtegraden van -180 tot 180, breedtegraden van -90 tot 90.'

const fault = (name: string, code: FieldCode, reason: string) => ({ geometrie: null, faults: [{ name, code, reason }] })

type Read = (value: unknown) => unknown
const listOf =
  (read: Read, least: number): Read =>
  (value) => {
    if (!Array.isArray(value) || value.length < least) return undefined
    const items = value.map(read)
    return items.includes(undefined) ? undefined : items
  }
const point: Read = (value) =>
  Array.isArray(value) &&
  value.length >= 2 &&
  value.length <= 4 &&
  value.every((one) => Number.isFinite(one)) &&
  Math.abs(value[0]) <= 180 &&
  Math.abs(value[1]) <= 90
    ? [value[0], value[1]]
    : undefined
const ring: Read = (value) => {
  const points = listOf(point, 4)(value) as Point[] | undefined
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
  const { west, south, east, north } = extentOf(all)
  return `((${east},${north}),(${west},${south}))`
}

/** How far these points reach to each side; infinite without any. */
export function extentOf(points: readonly Point[]): { west: number; south: number; east: number; north: number } {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of points) {
    west = Math.min(west, x)
    south = Math.min(south, y)
    east = Math.max(east, x)
    north = Math.max(north, y)
  }
  return { west, south, east, north }
}

function pointsOf(geometrie: Geometrie): Point[] {
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
