// A TCP proxy that cuts connections at an instruction: when the server has answered it, or before the server got it.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Between program and server: loses what goes one way, then ends the connections; new ones work, unless it is `closed`. */
export async function cuttingProxy(url: string) {
  const { hostname, port } = new URL(url)
  const pairs = new Set<[client: Socket, server: Socket]>()
  let isClosed = false
  let statements = 0
  let turns = 0
  let isAsking = false
  let cut: { at: 'answer' | 'request' | Meanwhile; closed: boolean } | undefined
  const endAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  const listener = createServer((client) => {
    if (isClosed) return void client.destroy()
    const server = connect(Number(port), hostname)
    const pair: [Socket, Socket] = [client, server]
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
    }
    let pid = 0 // of its process of the server
    server.on('data', (answer: Buffer) => {
      const at = pid === 0 ? answer.indexOf(BACKEND_KEY) : -1
      if (at >= 0) pid = answer.readInt32BE(at + BACKEND_KEY.length)
    })
    const committing = new Set<string>() // prepared statements that record a change by themselves
    client.on('data', (data: Buffer) => {
      const isCommit = commits(data, committing)
      if (cut && isCommit) {
        const { at, closed } = cut
        cut = undefined
        isClosed = closed
        if (at === 'request') return endAll()
        if (typeof at === 'function') return at({ pid, end: () => client.destroy() })
        server.unpipe(client)
        server.on('data', (answer: Buffer) => {
          if (answer.includes(IDLE)) endAll()
        })
        server.resume()
      }
      if (!isAsking) turns++
      isAsking = true
      // Every message is a letter, its length and its body; a statement ends with Sync, or is a message Q by itself.
      for (let at = 0; at + 5 <= data.length; at += 1 + data.readUInt32BE(at + 1))
        if (data[at] === 0x53 || data[at] === 0x51) statements++
    })
    server.on('data', () => {
      isAsking = false
    })
    client.pipe(server)
    server.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${address.port}` }).href,
    /** How many statements were asked for, and how often something was asked after an answer. */
    statements: () => statements,
    turns: () => turns,
    loseAnswers(closed = false, last = 'COMMIT') {
      isClosed = closed
      for (const [client, server] of pairs) {
        server.unpipe(client)
        let answers = ''
        server.on('data', (data) => {
          answers += data.toString('latin1')
          if (answers.includes(last)) client.destroy()
        })
        server.resume()
      }
    },
    /**
     * Cuts all connections at the next commit, or statement that commits by itself: before the server gets it, or when it has answered it.
     * A function is called instead, and cuts nothing by itself.
     * @param closed whether nobody can connect until `reopen`
     */
    cutAt(at: 'answer' | 'request' | Meanwhile, closed = false) {
      cut = { at, closed }
    },
    /** Whether that has not happened yet. */
    isArmed: () => cut !== undefined,
    disarm() {
      cut = undefined
      isClosed = false
    },
    /** After `loseAnswers(true)`. */
    reopen() {
      isClosed = false
    },
    endClients() {
      for (const [client] of pairs) client.destroy()
    },
    loseRequests() {
      for (const [client, server] of pairs) {
        client.unpipe(server)
        client.once('data', () => client.destroy())
        client.resume()
      }
    },
    close: () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      listener.close()
    },
  }
}

/** What is to be done while a commit is on its way to this process of the server; `end` ends the connection that it came by. */
type Meanwhile = (connection: { pid: number; end(): void }) => void

/** BackendKeyData, before the number of the process. */
const BACKEND_KEY = Buffer.from([0x4b, 0, 0, 0, 12])

/** ReadyForQuery outside of a transaction. */
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
const [PARSE, BIND, QUERY] = [0x50, 0x42, 0x51]

/** Whether among these messages is one after which something is committed. Notes statements that are prepared. */
function commits(data: Buffer, committing: Set<string>): boolean {
  for (let at = 0; at + 5 <= data.length; at += 1 + data.readUInt32BE(at + 1)) {
    const body = data.subarray(at + 5, at + 1 + data.readUInt32BE(at + 1))
    const [first = '', second = ''] = body.toString('latin1').split('\0')
    if (data[at] === QUERY && first === 'commit') return true
    if (data[at] === PARSE && /insert into audit/.test(second) && /gemaakt as/.test(second)) committing.add(first)
    if (data[at] === BIND && committing.has(second)) return true
  }
  return false
}
