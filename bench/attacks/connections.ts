// Attacks by connections: slow ones, many of them, and requests that cost the server more than they cost the client.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, drip, head } from './attack.ts'

const JSON_BODY = { host: 'x', 'content-type': 'application/json', 'content-length': 1000 }

export const connectionAttacks: Attack[] = [
  {
    name: 'bodies that drip, without a token',
    rights: [],
    answers: [0, 403, 408, 503],
    send: async ({ open, signal, scale }) => {
      const sockets = await openMany(1500 * scale, () => open(head('POST', '/zaken/api/v1/zaken', JSON_BODY)))
      await Promise.all(sockets.map((socket) => drip(socket, 2000, signal)))
    },
  },
  {
    name: '/readyz, 20 at once',
    rights: [],
    answers: [200],
    send: async ({ send }) => {
      await Promise.all(Array.from({ length: 20 }, () => send('GET', '/readyz')))
    },
  },
]

/** As many connections as that, opened 50 at a time; those that were refused are left out. */
async function openMany<T>(count: number, open: () => Promise<T | undefined>): Promise<T[]> {
  const opened: T[] = []
  for (let left = Math.max(1, Math.round(count)); left > 0; left -= 50) {
    const some = await Promise.all(Array.from({ length: Math.min(50, left) }, open))
    opened.push(...some.filter((one) => one !== undefined))
    await sleep(5)
  }
  return opened
}
