// Attacks by what a request says: values, lists, geometry.
import type { Attack } from './attack.ts'

export const inputAttacks: Attack[] = [
  {
    name: 'a body that is far too large',
    rights: [{ component: 'zrc', scopes: ['zaken.aanmaken'] }],
    answers: [400, 413],
    send: async ({ send, scale }) => {
      const body = `{"omschrijving":"${'x'.repeat(100_000_000 * scale)}"}`
      await Promise.all(Array.from({ length: 3 }, () => send('POST', '/zaken/api/v1/zaken', body)))
    },
  },
]
