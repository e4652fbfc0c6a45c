// Slow: it loses the database three times for each of 120 operations.
// Every operation, with the database lost at its commit: what is answered is what was done, and a repetition does nothing twice.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { FILE, lostAnswersPage, playLostAnswers } from './lost-answers.ts'

t.setTimeout(900_000)

t.test('what was done is told as done, what was not as not done, and a key gives the first answer', async (t) => {
  const { rows, missing, wrong } = await playLostAnswers(t)
  t.strictSame(wrong, [])
  t.strictSame(missing, [], 'every operation that changes something has its row')
  t.equal(await readFile(FILE, 'utf8'), lostAnswersPage(rows), 'run npm run answers')
})
