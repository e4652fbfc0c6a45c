// Pictures of figures over time, drawn on the server: stacked bars with a colour, a pattern and a word for each part.

/** A bar: what it stands for, its parts from below to above, and where it leads. */
export type Bar = { label: string; values: number[]; path: string }
export type BarPart = { word: string; tone: 'goed' | 'let-op' | 'fout' }

type DrawnBar = Bar & { x: number; segments: { y: number; height: number; tone: BarPart['tone'] }[] }
export type Bars = {
  parts: BarPart[]
  bars: DrawnBar[]
  top: number
  isEmpty: boolean
  width: number
  height: number
  barWidth: number
}

const HEIGHT = 100
const STEP = 20
const BAR = 16
/** What is not nothing is seen. */
const LEAST = 2

/** Where each part of each bar stands, in a picture of 100 high, of which the highest bar takes all. */
export function drawBars(parts: BarPart[], bars: Bar[]): Bars {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const top = Math.max(1, ...sums)
  return {
    parts,
    top,
    isEmpty: sums.every((sum) => sum === 0),
    width: bars.length * STEP,
    height: HEIGHT,
    barWidth: BAR,
    bars: bars.map((bar, place) => {
      let y = HEIGHT
      const segments = bar.values.flatMap((value, part) => {
        const height = value === 0 ? 0 : Math.max(LEAST, (value / top) * (HEIGHT - LEAST * parts.length))
        y -= height
        const { tone } = parts[part] ?? { tone: 'goed' as const }
        return height === 0 ? [] : [{ y: rounded(y), height: rounded(height), tone }]
      })
      return { ...bar, x: place * STEP + (STEP - BAR) / 2, segments }
    }),
  }
}

const rounded = (value: number) => Math.round(value * 100) / 100
