import t from 'tap'
import { givenInformatieobjecttype, testApp } from '../app.ts'

const EIO = '/documenten/api/v1/enkelvoudiginformatieobjecten'

t.test('a document is made, read, changed under a lock, and deleted', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  const made = await test.call('POST', EIO, {
    bronorganisatie: '000000000', creatiedatum: '2025-01-01', titel: 'x', auteur: 'a', taal: 'nld', informatieobjecttype: type,
    inhoud: Buffer.from('hallo').toString('base64'),
  })
  t.equal(made.status, 201, made.text)
  t.match(made.body, { bestandsomvang: 5, lock: '', versie: 1 })
  const list = await test.call('GET', EIO)
  t.match(list.body, { count: 1, results: [{ url: made.body.url, _expand: {} }] }, list.text)
  const got = await test.call('GET', made.body.inhoud)
  t.equal(got.text, 'hallo')
})
