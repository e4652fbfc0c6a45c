// Slow: it loses the database twice for each of 120 operations, and hangs up once.
// Every operation, with the database lost at its commit: what is answered is what was done, and a repetition does nothing twice.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { FILE, formsOf, lostAnswersPage, playLostAnswers, withFrozenOf } from './lost-answers.ts'

t.setTimeout(900_000)

t.test('what was done is told as done, what was not as not done, and a key gives the first answer', async (t) => {
  const { rows, missing, wrong } = await playLostAnswers(t)
  t.strictSame(wrong, [])
  t.strictSame(missing, [], 'every operation that changes something has its row')
  const page = await readFile(FILE, 'utf8')
  const whole = withFrozenOf(page, rows)
  t.equal(page, lostAnswersPage(whole, formsOf(page)), 'run npm run answers')
})
