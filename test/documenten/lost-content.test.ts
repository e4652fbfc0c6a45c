import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { countLost } from '../../src/documenten/storage/lost.ts'
import { testApp } from '../app.ts'
import { givenDocument } from './documenten.ts'

t.test(
  'content of which the bytes are gone is our loss: 503 that says so, a log line, and a note until it is back',
  async (t) => {
    const test = await testApp(t, { LOG_LEVEL: 'error' })
    const errors = t.capture(test.parts.log, 'error')
    const { url } = await givenDocument(test)
    t.equal((await test.call('GET', `${url}/download`)).status, 200)
    const [row] = await test.database.sql`select key from file`
    const path = join(test.config.documentenDir, row!.key)
    await rename(path, `${path}.elsewhere`)
    for (const headers of [{}, { range: 'bytes=0-1' }] as Record<string, string>[]) {
      const answer = await test.call('GET', `${url}/download`, undefined, { headers })
      t.match(answer, { status: 503, body: { code: 'inhoud-vermist', detail: /niet meer in de opslag/ } })
      t.notMatch(answer.text, row!.key)
    }
    t.match(
      errors().map(({ args }) => args[1]),
      ['the bytes of a document are gone from the store'],
    )
    t.equal((await test.call('GET', url)).status, 200, 'the document itself is there')
    t.equal(await countLost(test.parts), 1)
    await rename(`${path}.elsewhere`, path)
    t.equal(await countLost(test.parts), 0, 'what was put back is found')
    t.equal((await test.call('GET', `${url}/download`)).status, 200)
  },
)
