import t from 'tap'
import { boundingBox, type Geometrie, type Point, readGeometrie } from '../../src/zaken/zaak/geometry.ts'
import { TooManySegments, withinTest } from '../../src/zaken/zaak/within.ts'

const square = (from: number, to: number): Point[] => [
  [from, from],
  [to, from],
  [to, to],
  [from, to],
  [from, from],
]
const area = { type: 'Polygon', coordinates: [square(0, 10), square(4, 6)] } as Geometrie // with a hole

t.test('within: completely inside, and not only on the edge', async (t) => {
  const lies = withinTest(area)
  const cases: [string, unknown, boolean][] = [
    ['a point inside', { type: 'Point', coordinates: [1, 1] }, true],
    ['a point outside', { type: 'Point', coordinates: [11, 1] }, false],
    ['a point on the edge', { type: 'Point', coordinates: [0, 5] }, false],
    ['a point in the hole', { type: 'Point', coordinates: [5, 5] }, false],
    [
      'points, one on the edge',
      {
        type: 'MultiPoint',
        coordinates: [
          [0, 5],
          [1, 1],
        ],
      },
      true,
    ],
    [
      'a line inside',
      {
        type: 'LineString',
        coordinates: [
          [1, 1],
          [9, 1],
        ],
      },
      true,
    ],
    [
      'a line along the edge',
      {
        type: 'LineString',
        coordinates: [
          [0, 1],
          [0, 9],
        ],
      },
      false,
    ],
    [
      'a line through the hole',
      {
        type: 'LineString',
        coordinates: [
          [1, 5],
          [9, 5],
        ],
      },
      false,
    ],
    [
      'a line that leaves and comes back',
      {
        type: 'LineString',
        coordinates: [
          [1, 1],
          [11, 5],
          [1, 9],
        ],
      },
      false,
    ],
    ['the area itself', area, true],
    ['a square around the hole', { type: 'Polygon', coordinates: [square(3, 7)] }, false],
    [
      'a square around the hole with the same hole',
      { type: 'Polygon', coordinates: [square(3, 7), square(4, 6)] },
      true,
    ],
    ['a square that reaches out', { type: 'Polygon', coordinates: [square(8, 12)] }, false],
    ['a collection', { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 1] }] }, true],
  ]
  for (const [name, geometrie, expected] of cases) t.equal(lies(readGeometrie(geometrie)!), expected, name)
  t.notOk(withinTest({ type: 'Point', coordinates: [1, 1] })({ type: 'Point', coordinates: [1, 1] }))
})

t.test('only GeoJSON is read, in two dimensions', async (t) => {
  t.same(readGeometrie({ type: 'Point', coordinates: [1, 2, 3], crs: {} }), { type: 'Point', coordinates: [1, 2] })
  for (const wrong of [
    1,
    {},
    { type: 'Point' },
    { type: 'Point', coordinates: ['1', 2] },
    { type: 'Point', coordinates: [1, null] },
    { type: 'LineString', coordinates: [[1, 1]] },
    { type: 'Polygon', coordinates: [square(0, 1).slice(0, 4)] },
    { type: 'GeometryCollection', geometries: [{ type: 'x' }] },
  ])
    t.equal(readGeometrie(wrong), undefined, JSON.stringify(wrong))
  t.equal(boundingBox(area), '((10,10),(0,0))')
  t.equal(boundingBox({ type: 'GeometryCollection', geometries: [] }), null)
})

/** A circle of so many points. */
const circle = (points: number, radius: number, [x, y]: Point = [5, 52]): Point[] => {
  const ring = Array.from({ length: points }, (_, n): Point => {
    const angle = (2 * Math.PI * n) / points
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })
  return [...ring, ring[0]!]
}

t.test('the work of a test is bounded by what is near', async (t) => {
  const province = { type: 'Polygon', coordinates: [circle(5000, 1)] } as Geometrie
  const lies = withinTest(province, 500_000)
  let inside = 0
  for (let n = 0; n < 10_000; n++)
    if (lies({ type: 'Point', coordinates: [4 + (n % 100) / 50, 51 + Math.floor(n / 100) / 50] })) inside++
  t.ok(Math.abs(inside / 10_000 - Math.PI / 4) < 0.01, String(inside))
  t.ok(lies({ type: 'Polygon', coordinates: [circle(2000, 0.9)] }))
  t.notOk(lies({ type: 'Polygon', coordinates: [circle(2000, 1.1)] }))
})

t.test('shapes in which all segments are near each other use the budget up', async (t) => {
  const teeth = Array.from({ length: 12_000 }, (_, n): Point => [n / 1000, n % 2 ? 10 : 0])
  const area = { type: 'Polygon', coordinates: [[...teeth, [12, -1], [-1, -1], [-1, 10], teeth[0]!]] } as Geometrie
  const points = Array.from({ length: 3000 }, (_, n): Point => [-0.5, 0.1 + n / 1000])
  t.ok(withinTest(area)({ type: 'MultiPoint', coordinates: points.slice(0, 10) }))
  try {
    withinTest(area, 1_000_000)({ type: 'MultiPoint', coordinates: points })
    t.fail('nothing was thrown')
  } catch (error) {
    t.ok(error instanceof TooManySegments)
  }
})
