// Keys while processes are killed: keys.ts tells how. Repeat with KILL_SEED=…; KILL_CREATES=10000 for a long run.
// It starts and kills the program.
import t from 'tap'
import { playKeys } from './keys.ts'
import { randomFrom } from './processes.ts'

const CREATES = Number(process.env.KILL_CREATES ?? 400)
const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31))
const LIMIT_MS = Math.max(580_000, CREATES * 200)
t.setTimeout(LIMIT_MS)
t.comment(`KILL_SEED=${seed}`)

t.test('a create that is repeated with its key is done once, whatever was killed', { timeout: LIMIT_MS }, (t) =>
  playKeys(t, t, { creates: CREATES, random: randomFrom(seed) }),
)
