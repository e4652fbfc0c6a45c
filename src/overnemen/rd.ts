// Coordinates of the Dutch grid (Rijksdriehoek, RD, EPSG:28992), in which a source may have written its geometry.
import type { Geometrie, Point } from '../zaken/zaak/geometry.ts'

/** Where the grid is used, in metres: the Netherlands. Nothing here can be degrees. */
const WITHIN = { x: [-7_000, 300_000], y: [289_000, 629_000] } as const
/** The church tower in Amersfoort, in the grid and in degrees: latitude, longitude. */
const CENTRE = { x: 155_000, y: 463_000, latitude: 52.1551744, longitude: 5.38720621 }
/**
 * The approximation of Schreutelkamp and Strang van Hees (2001), good to some 25 cm within the Netherlands: powers of the distance to
 * the centre east and north, in units of 100 km, and seconds of arc.
 */
const LATITUDE: [east: number, north: number, seconds: number][] = [
  [0, 1, 3235.65389],
  [2, 0, -32.58297],
  [0, 2, -0.2475],
  [2, 1, -0.84978],
  [0, 3, -0.0655],
  [2, 2, -0.01709],
  [1, 0, -0.00738],
  [4, 0, 0.0053],
  [2, 3, -0.00039],
  [4, 1, 0.00033],
  [1, 1, -0.00012],
]
const LONGITUDE: typeof LATITUDE = [
  [1, 0, 5260.52916],
  [1, 1, 105.94684],
  [1, 2, 2.45656],
  [3, 0, -0.81885],
  [1, 3, 0.05594],
  [3, 1, -0.05607],
  [0, 1, 0.01199],
  [3, 2, -0.00256],
  [1, 4, 0.00128],
  [0, 2, 0.00022],
  [2, 0, -0.00022],
  [5, 0, 0.00026],
]

/** Longitude and latitude (EPSG:4326), in degrees with seven decimals: a centimetre. */
export function fromRd([x, y]: Point): Point {
  const [east, north] = [(x - CENTRE.x) / 100_000, (y - CENTRE.y) / 100_000]
  const degrees = (terms: typeof LATITUDE) =>
    terms.reduce((sum, [p, q, seconds]) => sum + seconds * east ** p * north ** q, 0) / 3600
  const rounded = (value: number) => Math.round(value * 1e7) / 1e7
  return [rounded(CENTRE.longitude + degrees(LONGITUDE)), rounded(CENTRE.latitude + degrees(LATITUDE))]
}

const isPlace = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length >= 2 && value.every((one) => typeof one === 'number')
const isWithin = (value: number | undefined, [least, most]: readonly [number, number]) =>
  value !== undefined && value >= least && value <= most

/** Whether every place of a geometry lies in the grid. */
export function isRd(geometrie: unknown): boolean {
  const { coordinates, geometries } = (geometrie ?? {}) as { coordinates?: unknown; geometries?: unknown }
  if (Array.isArray(geometries)) return geometries.length > 0 && geometries.every(isRd)
  const all = (value: unknown): boolean =>
    isPlace(value)
      ? isWithin(value[0], WITHIN.x) && isWithin(value[1], WITHIN.y)
      : Array.isArray(value) && value.length > 0 && value.every(all)
  return all(coordinates)
}

/** The same geometry in degrees. @param geometrie one of which `isRd` says yes */
export function toDegrees(geometrie: unknown): Geometrie {
  const { type, coordinates, geometries } = geometrie as { type: string; coordinates?: unknown; geometries?: unknown[] }
  if (geometries) return { type, geometries: geometries.map(toDegrees) } as Geometrie
  const turned = (value: unknown): unknown =>
    isPlace(value) ? fromRd([value[0] ?? 0, value[1] ?? 0]) : (value as unknown[]).map(turned)
  return { type, coordinates: turned(coordinates) } as Geometrie
}
