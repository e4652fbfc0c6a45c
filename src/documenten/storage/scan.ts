// Content passes a scanner for malware (clamd of ClamAV, its command INSTREAM) on its way into the store. The scanner judges when
// it has had all bytes, which is before a store makes them visible: what it refuses has never been there.

import { connect, type Socket } from 'node:net'
import type { Logger } from 'pino'
import { Refused } from '../../core/problem.ts'
import { type Scanner, type Store, StoreUnavailable } from './index.ts'

export type ScannerSettings = {
  /** `tcp://host:port` or `unix:/path`. */
  clamdUrl: string
  /** Bytes of one content that it takes. */
  clamdMaxBytes: number
  /** What happens to content when the scanner gives no verdict. */
  clamdUnavailable: 'refuse' | 'accept'
}

const REASONS = {
  malware: 'In de inhoud is schadelijke software gevonden.',
  'too-large-to-scan': 'De inhoud is te groot om op schadelijke software te onderzoeken.',
}

/** The scanner found something, or does not take as much. The message is Dutch, for whoever sent the content. */
export class ContentRefused extends Refused {
  override name = 'ContentRefused'
  declare readonly code: keyof typeof REASONS

  constructor(code: keyof typeof REASONS) {
    super('inhoud', code, REASONS[code])
  }
}

/** How often contents were scanned in this process, by what came of it. Metrics tell it. */
export const scanned = { clean: 0, malware: 0, 'too-large-to-scan': 0, unavailable: 0 }

/** The store, into which nothing is written but what the scanner lets pass. */
export function scannedStore(store: Store, scanner: Scanner): Store {
  return { ...store, scanner, write: (key, bytes, options) => store.write(key, scanner.scan(bytes), options) }
}

const CONNECT_MS = 5000
/** Longer than clamd takes at most for one content (MaxScanTime) or waits for bytes (ReadTimeout): two minutes each. */
const SILENT_MS = 150_000
const LOG_EVERY_MS = 60_000

/** What has clamd look at content that passes. Where it gives no verdict, `clamdUnavailable` says what becomes of the content. */
export function openScanner(
  { clamdUrl, clamdMaxBytes, clamdUnavailable }: ScannerSettings,
  log?: Partial<Pick<Logger, 'error' | 'warn'>>,
): Scanner {
  const accept = clamdUnavailable === 'accept'
  let logged = -LOG_EVERY_MS

  /** Undefined when it fails and content is accepted then. */
  async function passing<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ContentRefused) {
        scanned[error.code]++
        if (!accept || error.code === 'malware') throw error
        return undefined
      }
      scanned.unavailable++
      const code = (error as NodeJS.ErrnoException).code ?? 'no-answer'
      if (performance.now() - logged >= LOG_EVERY_MS) {
        logged = performance.now()
        log?.error?.({ code, accept }, 'the malware scanner gives no verdict')
      }
      if (!accept) throw new StoreUnavailable(code, 'malware scanner')
      return undefined
    }
  }

  return {
    async *scan(bytes) {
      let session = await passing(() => begin(clamdUrl, clamdMaxBytes))
      try {
        for await (const chunk of bytes) {
          const { send } = session ?? {}
          if (send && !(await passing(() => send(chunk).then(() => true)))) {
            session?.close()
            session = undefined
          }
          yield chunk
        }
        const { verdict } = session ?? {}
        if (verdict && (await passing(() => verdict(log).then(() => true)))) scanned.clean++
      } finally {
        session?.close()
      }
    },

    async check() {
      const socket = await open(clamdUrl).catch((error: NodeJS.ErrnoException) => {
        throw new StoreUnavailable(error.code ?? 'no-answer', 'malware scanner')
      })
      try {
        socket.write('zPING\0')
        if ((await answerOf(socket)) !== 'PONG') throw new StoreUnavailable('no-answer', 'malware scanner')
      } finally {
        socket.destroy()
      }
    },
  }
}

type Session = {
  /** @throws ContentRefused when the scanner takes no more */
  send(chunk: Uint8Array): Promise<void>
  /** Returns when the content may pass. @throws ContentRefused */
  verdict(log?: Partial<Pick<Logger, 'warn'>>): Promise<void>
  close(): void
}

async function begin(clamdUrl: string, maxBytes: number): Promise<Session> {
  const socket = await open(clamdUrl)
  const answer = answerOf(socket)
  answer.catch(() => {}) // asked for later
  let size = 0
  let early = false
  void answer.then(
    () => (early = true),
    () => (early = true),
  )
  /** Waits until the scanner has taken what was written, or has answered. */
  const write = async (...parts: (string | Uint8Array)[]) => {
    socket.cork()
    let room = true
    for (const part of parts) room = socket.write(part)
    socket.uncork()
    if (!room) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), answer])
    if (early) judge(await answer)
  }
  await write('zINSTREAM\0')
  return {
    send: async (chunk) => {
      size += chunk.byteLength
      // What the scanner says of it is lost when it hangs up with bytes under way.
      if (size > maxBytes) throw new ContentRefused('too-large-to-scan')
      if (chunk.byteLength > 0) await write(lengthOf(chunk.byteLength), chunk)
    },
    verdict: async (log) => {
      socket.write(lengthOf(0))
      judge(await answer, log)
    },
    close: () => void socket.destroy(),
  }
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes)
  return length
}

/** @throws ContentRefused unless the answer is that nothing was found; any other Error when it is no verdict */
function judge(answer: string, log?: Partial<Pick<Logger, 'warn'>>): void {
  if (answer === 'stream: OK') return
  const found = /^stream: (.{1,200}) FOUND$/.exec(answer)
  if (found) {
    log?.warn?.({ signature: found[1] }, 'content was refused: the malware scanner found something')
    throw new ContentRefused('malware')
  }
  if (answer.startsWith('INSTREAM size limit exceeded')) throw new ContentRefused('too-large-to-scan')
  throw new Error('no verdict')
}

async function open(clamdUrl: string): Promise<Socket> {
  const unix = clamdUrl.startsWith('unix:')
  const { hostname, port } = unix ? { hostname: '', port: '' } : new URL(clamdUrl)
  const socket = unix
    ? connect(clamdUrl.slice('unix:'.length))
    : connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), noDelay: true })
  socket.setTimeout(CONNECT_MS, () =>
    socket.destroy(Object.assign(new Error('the scanner is silent'), { code: 'timeout' })),
  )
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('connect', resolve).once('error', reject)
  await promise
  socket.setTimeout(SILENT_MS)
  return socket
}

/** What the scanner says, up to the NUL that ends it. */
function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\0')
      if (end !== -1 || text.length > 1000) resolve(text.slice(0, end === -1 ? 1000 : end))
    })
    socket.on('error', reject)
    socket.on('close', () => reject(Object.assign(new Error('the scanner hung up'), { code: 'closed' })))
  })
}
