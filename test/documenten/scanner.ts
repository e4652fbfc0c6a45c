// A malware scanner that speaks as clamd does (its commands INSTREAM and PING), and finds the file that all scanners find (EICAR).
import { type AddressInfo, createServer } from 'node:net'

// In two pieces, so that no scanner takes this test for malware.
export const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!$H+H*'].join('')

type Test = { teardown(work: () => unknown): unknown }
type Scanner = { url: string; contents: Buffer[]; stop(): Promise<void> }

/** A scanner that notes what it was given. `answer` is said in place of a verdict. */
export async function givenScanner(t: Test, answer?: string): Promise<Scanner> {
  const contents: Buffer[] = []
  const server = createServer((socket) => {
    let read: Buffer = Buffer.alloc(0)
    let content: Buffer[] | undefined
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk])
      if (!content) {
        const end = read.indexOf(0)
        if (end === -1) return
        const command = read.subarray(0, end).toString()
        read = read.subarray(end + 1)
        if (command === 'zPING') return void socket.end('PONG\0')
        if (command !== 'zINSTREAM') return void socket.end('UNKNOWN COMMAND\0')
        content = []
      }
      while (read.byteLength >= 4 && read.byteLength >= 4 + read.readUInt32BE()) {
        const length = read.readUInt32BE()
        if (length === 0) {
          const whole = Buffer.concat(content)
          contents.push(whole)
          return void socket.end(
            `${answer ?? `stream: ${whole.includes(EICAR) ? 'Eicar-Test-Signature FOUND' : 'OK'}`}\0`,
          )
        }
        content.push(read.subarray(4, 4 + length))
        read = read.subarray(4 + length)
      }
    })
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  t.teardown(() => server.listening && stop())
  return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, contents, stop }
}
