/**
 * Reads a source until `enough` has been seen, or it ends.
 * @returns what was read so far, and all bytes from the first on. A source that fails while it is looked at fails again for who
 *   reads on, after what came before.
 */
export async function peek(
  from: AsyncIterable<Uint8Array>,
  enough: (read: Buffer) => boolean,
): Promise<{ ahead: Buffer; bytes: AsyncIterable<Buffer> }> {
  const source = from[Symbol.asyncIterator]()
  let ahead: Buffer = Buffer.alloc(0)
  let failure: { error: unknown } | undefined
  while (!enough(ahead)) {
    const next = await source.next().catch((error: unknown) => {
      failure = { error }
      return { done: true, value: undefined } as const
    })
    if (next.done) break
    ahead = Buffer.concat([ahead, next.value])
  }
  async function* again(): AsyncGenerator<Buffer> {
    try {
      if (ahead.length > 0) yield ahead
      if (failure) throw failure.error
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value as Buffer
    } finally {
      await source.return?.()
    }
  }
  return { ahead, bytes: again() }
}
