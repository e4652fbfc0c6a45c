import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { sentence } from '../../src/beheer/frame/history.ts'
import { actLabel } from '../../src/beheer/operations/audit-labels.ts'

t.test('whatever is recorded has words in the audit log', async (t) => {
  const codes = new Set<string>()
  const root = join(import.meta.dirname, '../../src')
  for await (const file of glob('{beheer,cli}/**/*.ts', { cwd: root }))
    for (const [, code] of (await readFile(join(root, file), 'utf8')).matchAll(/handeling: '([a-z-]+)'/g))
      codes.add(code!)
  t.ok(codes.size > 40)
  const isCode = (code: string) => actLabel(code).toLowerCase() === code.replaceAll('-', ' ')
  t.same([...codes].filter(isCode), [], 'none is shown as its code')
  t.equal(actLabel('account-maken'), 'Account gemaakt')
  t.equal(actLabel('zaaktype-nieuwe-versie'), 'Nieuwe versie van zaaktype gemaakt')
  t.equal(actLabel('informatieobjecttype-beeindigen'), 'Documenttype beëindigd')
  t.equal(actLabel('iets-onbekends'), 'Iets onbekends')
})

t.test('a status of a statustype elsewhere is named by what is known of it', (t) => {
  const uuid = '12345678-1234-4234-8234-123456789012'
  const nieuw = {
    url: `http://localhost/zaken/api/v1/statussen/${uuid}`,
    statustype: 'https://catalogi.example.nl/api/v1/statustypen/22345678-1234-4234-8234-123456789012',
  }
  const row = { actie: 'create', resource: 'status', weergave: '', oud: null, nieuw }
  t.equal(sentence(row, new Map([[uuid, 'Ontvangen']])), 'Status gezet op Ontvangen')
  t.equal(sentence(row, new Map()), 'Status gezet op een status van catalogi.example.nl')
  t.end()
})
