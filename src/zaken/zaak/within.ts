// Whether a geometry lies within an area. Edges stand in a tree by their boxes, so that each point and each segment is
// compared with those near it alone; what is compared is counted, since shapes can be made in which all are near.
import Flatbush from 'flatbush'
import type { Geometrie, Point } from './geometry.ts'

type Segment = readonly [Point, Point]
type Polygon = Point[][]
type Shapes = { points: Point[]; lines: Point[][]; polygons: Polygon[] }

/** Thrown when more segments were compared than was allowed. */
export class TooManySegments extends Error {}

/**
 * Makes the test whether a geometry lies completely within an area: no part of it outside, and not only on the edge. An
 * area is a Polygon, a MultiPolygon or a collection of them; within a line or a point nothing lies.
 *
 * Edges are cut where they meet; of every piece the middle says on which side it is. Coordinates are taken as they are, on
 * a plane, which for areas of the size of a country is what other registers do too.
 * @param most how many segments may be compared by all tests together
 * @throws TooManySegments by the test, when they are used up
 */
export function withinTest(given: Geometrie, most = Number.POSITIVE_INFINITY): (geometrie: Geometrie) => boolean {
  let left = most
  const compare = () => {
    if (--left < 0) throw new TooManySegments()
  }
  const { polygons } = partsOf(given)
  if (polygons.length === 0) return () => false
  const area = edgesOf(polygons, compare)
  return (geometrie) => {
    const parts = partsOf(geometrie)
    let inside = parts.polygons.length > 0
    const accept = (where: number) => {
      if (where > 0) inside = true
      return where >= 0
    }
    if (!parts.points.every((point) => accept(area.side(point)))) return false
    for (const line of parts.lines) {
      for (const piece of pairs(line))
        if (!middles(piece, area, compare).every((point) => accept(area.side(point)))) return false
    }
    for (const polygon of parts.polygons) {
      const own = edgesOf([polygon], compare)
      for (const piece of own.all)
        if (!middles(piece, area, compare).every((point) => area.side(point) >= 0)) return false
      // An edge of the area inside the polygon: a hole of the area, or a gap between its parts.
      const isGap = (edge: Segment) =>
        middles(edge, own, compare).some(
          (point) => own.side(point) > 0 && area.side(point) === 0 && isOuter(point, edge),
        )
      let hasGap = false
      area.near(own.box, (edge) => {
        hasGap ||= isGap(edge)
      })
      if (hasGap) return false
    }
    return inside
  }

  /** Whether one side of the edge at this point is outside the area: parts that only touch each other have no such edge. */
  function isOuter([x, y]: Point, [[ax, ay], [bx, by]]: Segment): boolean {
    const length = Math.hypot(bx - ax, by - ay) || 1
    const [nx, ny] = [(-(by - ay) / length) * 1e-9, ((bx - ax) / length) * 1e-9]
    return area.side([x + nx, y + ny]) < 0 || area.side([x - nx, y - ny]) < 0
  }
}

/** The ids of the points that a test lets pass. @param points id, x and y of each, one after the other */
export function pointsWithin(lies: (geometrie: Geometrie) => boolean, points: Float64Array): number[] {
  const found: number[] = []
  for (let at = 0; at < points.length; at += 3) {
    const [id, x, y] = [points[at]!, points[at + 1]!, points[at + 2]!]
    if (lies({ type: 'Point', coordinates: [x, y] })) found.push(id)
  }
  return found
}

function partsOf(geometrie: Geometrie): Shapes {
  switch (geometrie.type) {
    case 'Point':
      return { points: [geometrie.coordinates], lines: [], polygons: [] }
    case 'MultiPoint':
      return { points: geometrie.coordinates, lines: [], polygons: [] }
    case 'LineString':
      return { points: [], lines: [geometrie.coordinates], polygons: [] }
    case 'MultiLineString':
      return { points: [], lines: geometrie.coordinates, polygons: [] }
    case 'Polygon':
      return { points: [], lines: [], polygons: [geometrie.coordinates] }
    case 'MultiPolygon':
      return { points: [], lines: [], polygons: geometrie.coordinates }
    case 'GeometryCollection': {
      const parts = geometrie.geometries.map(partsOf)
      return {
        points: parts.flatMap((part) => part.points),
        lines: parts.flatMap((part) => part.lines),
        polygons: parts.flatMap((part) => part.polygons),
      }
    }
  }
}

const NEAR = 1e-12

type Box = readonly [west: number, south: number, east: number, north: number]
type Edges = {
  all: Segment[]
  box: Box
  /** Calls with every edge whose box meets this one. */
  near(box: Box, found: (edge: Segment) => void): void
  /** 1 inside one of the polygons, 0 on the edge of one, -1 outside all. */
  side(point: Point): -1 | 0 | 1
}

function edgesOf(polygons: Polygon[], compare: () => void): Edges {
  const all: Segment[] = []
  const ofPolygon: number[] = []
  for (const [number, polygon] of polygons.entries()) {
    for (const ring of polygon) {
      for (const edge of pairs(ring)) {
        all.push(edge)
        ofPolygon.push(number)
      }
    }
  }
  const tree = new Flatbush(all.length)
  for (const edge of all) tree.add(...boxOf(edge))
  tree.finish()
  const search = ([west, south, east, north]: Box, found: (index: number) => void) => {
    tree.search(west, south, east, north, (index) => {
      compare()
      found(index)
      return false
    })
  }
  return {
    all,
    box: [tree.minX, tree.minY, tree.maxX, tree.maxY],
    near: (box, found) => search(box, (index) => found(all[index]!)),
    side: ([x, y]) => {
      // The edges that a ray to the east may cross. An odd number within a polygon: inside.
      const crossed = new Set<number>()
      const touched = new Set<number>()
      search([x - NEAR, y - NEAR, Number.POSITIVE_INFINITY, y + NEAR], (index) => {
        const edge = all[index]!
        const polygon = ofPolygon[index]!
        if (isOn([x, y], edge)) touched.add(polygon)
        const [[ax, ay], [bx, by]] = edge
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax && !crossed.delete(polygon))
          crossed.add(polygon)
      })
      for (const polygon of crossed) if (!touched.has(polygon)) return 1
      return touched.size > 0 ? 0 : -1
    },
  }
}

const boxOf = ([[ax, ay], [bx, by]]: Segment): Box => [
  Math.min(ax, bx),
  Math.min(ay, by),
  Math.max(ax, bx),
  Math.max(ay, by),
]

const pairs = (line: Point[]): Segment[] => line.slice(1).map((point, index) => [line[index]!, point])

function isOn([x, y]: Point, [[ax, ay], [bx, by]]: Segment): boolean {
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
function middles(segment: Segment, others: Edges, compare: () => void): Point[] {
  const [[ax, ay], [bx, by]] = segment
  const [dx, dy] = [bx - ax, by - ay]
  const cuts = [0, 1]
  others.near(boxOf(segment), ([[cx, cy], [ex, ey]]) => {
    const cross = dx * (ey - cy) - dy * (ex - cx)
    if (cross === 0) {
      const length = dx * dx + dy * dy
      if (length > 0) {
        cuts.push(((cx - ax) * dx + (cy - ay) * dy) / length)
        cuts.push(((ex - ax) * dx + (ey - ay) * dy) / length)
      }
    } else cuts.push(((cx - ax) * (ey - cy) - (cy - ay) * (ex - cx)) / cross)
  })
  const places = cuts.filter((at) => at >= 0 && at <= 1).sort((one, other) => one - other)
  const found: Point[] = []
  for (let index = 1; index < places.length; index++) {
    const [from, to] = [places[index - 1]!, places[index]!]
    compare()
    if (to - from > NEAR) found.push([ax + (dx * (from + to)) / 2, ay + (dy * (from + to)) / 2])
  }
  return found
}
