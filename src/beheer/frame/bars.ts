// Pictures of figures over time, drawn on the server: stacked bars with a colour, a pattern and a word for each part.

/** What a bar stands for, its parts from below to above, and where it leads, if anywhere. */
export type Bar = {
  label: string
  values: number[]
  path?: string
  /** What it says in words, and in the cells of its row in the table; made of the values when absent. */
  words?: string
  cells?: string[]
}
export type Tone = 'goed' | 'let-op' | 'fout' | 'bezig' | 'stil'
export type BarPart = { word: string; tone: Tone }

type Told = {
  /** What the full height stands for, in words. */
  topText?: string
  /** Headings of the columns of the table behind the first; those of the parts when absent. */
  heads?: string[]
  /** A sentence below the name. */
  note?: string
}
type DrawnBar = Bar & { x: number; segments: { y: number; height: number; tone: Tone }[] }
export type Bars = Told & {
  parts: BarPart[]
  bars: DrawnBar[]
  /** What the full height stands for: the highest bar, unless a height was given. */
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

/**
 * Where each part of each bar stands, in a picture of 100 high.
 * @param full what the full height stands for; absent: the highest bar
 */
export function drawBars(parts: BarPart[], bars: Bar[], { full, ...told }: Told & { full?: number } = {}): Bars {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const top = full ?? (Math.max(0, ...sums) || 1)
  return {
    ...told,
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
