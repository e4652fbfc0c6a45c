import t from 'tap'
import { boundingBox, type Geometrie, type Punt, readGeometrie, withinTest } from '../../src/zaken/zaak/geometry.ts'

const square = (from: number, to: number): Punt[] => [
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
