// What undici does not accept of a server: `100 Continue` before the answer although nobody asked for it (RFC 9110, 15.2). It ends the
// connection, and a message that was accepted would count as failed. undici has no option for it, so its socket leaves it out.
import type { Duplex } from 'node:stream'

const BEGIN = Buffer.from('HTTP/1.1 100 ')
const END = '\r\n\r\n'
const MAX_HEADERS = 16_384

/** Leaves `100 Continue` out of what is read from a socket on which each request is written after the answer to the one before. */
export function withoutContinue(socket: Duplex): void {
  const read = socket.read.bind(socket)
  const { write } = socket
  // What came since the last write, while it may still be an informational answer.
  let held: Buffer | undefined
  socket.write = (...what: unknown[]) => {
    held ??= Buffer.alloc(0)
    return Reflect.apply(write, socket, what)
  }
  socket.read = (size?: number) => {
    for (;;) {
      const chunk: Buffer | null = read(size)
      if (!held || !chunk) return chunk
      held = afterContinue(Buffer.concat([held, chunk]))
      if (mayContinue(held)) continue
      const answer = held
      held = undefined
      return answer
    }
  }
}

const mayContinue = (bytes: Buffer) =>
  bytes.length < MAX_HEADERS && bytes.subarray(0, BEGIN.length).equals(BEGIN.subarray(0, bytes.length))

function afterContinue(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.subarray(0, BEGIN.length).equals(BEGIN)) {
    const end = rest.indexOf(END)
    if (end < 0) break
    rest = rest.subarray(end + END.length)
  }
  return rest
}
