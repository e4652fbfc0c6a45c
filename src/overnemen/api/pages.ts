// Reads a page of which one row cannot be shown: smaller pages, down to that row.
import type { Json } from './client.ts'

export type Page = { status: number; results: Json[] }
/** A row by its place in the list, from 1, and by those that stand beside it, as far as they can be shown. */
export type Lost = { place: number; status: number; before?: string | undefined; after?: string | undefined }

const leastFactor = (size: number): number => {
  for (let by = 2; by * by <= size; by++) if (size % by === 0) return by
  return size
}

/**
 * The rows of a page, and those of them that the source answers with a 500. One of 500 rows costs some twenty requests.
 * @returns undefined when the page is past the end; `other` is a status that says something else than that of a row
 */
export async function rowsPast(
  page: (number: number, size: number) => Promise<Page>,
  number: number,
  size: number,
): Promise<{ rows: Json[]; lost: Lost[]; other?: number } | undefined> {
  const found: (Json | Lost)[] = []
  let [isPast, other]: [boolean, number | undefined] = [false, undefined]
  const read = async (number: number, size: number): Promise<void> => {
    const { status, results } = await page(number, size)
    if (status === 200) found.push(...results)
    else if (status === 404) isPast = true
    else if (status !== 500) other = status
    else if (size === 1) found.push({ place: number, status })
    else {
      const by = leastFactor(size)
      for (let at = 1; at <= by && !isPast && other === undefined; at++) await read((number - 1) * by + at, size / by)
    }
  }
  await read(number, size)
  if (isPast && found.length === 0) return undefined
  const isLost = (one: Json | Lost): one is Lost => !('url' in one)
  const nameAt = (places: (Json | Lost)[]) => places.find((one): one is Json => !isLost(one))?.url as string | undefined
  const lost = found.flatMap((one, at) =>
    isLost(one)
      ? [{ ...one, before: nameAt(found.slice(0, at).toReversed()), after: nameAt(found.slice(at + 1)) }]
      : [],
  )
  return { rows: found.filter((one): one is Json => !isLost(one)), lost, ...(other !== undefined && { other }) }
}
