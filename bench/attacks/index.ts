import type { Attack } from './attack.ts'
import { connectionAttacks } from './connections.ts'
import { dataAttacks } from './data.ts'
import { inputAttacks } from './input.ts'
import { pageAttacks } from './pages.ts'

/** All attacks, one after another. The first does nothing: what the good client sees when it is alone. */
export const ATTACKS: Attack[] = [
  { name: 'nothing', rights: [], answers: [], send: async ({ signal }) => idle(signal) },
  ...connectionAttacks,
  ...inputAttacks,
  ...dataAttacks,
  ...pageAttacks,
]

async function idle(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
