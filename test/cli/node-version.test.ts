import t from 'tap'
import { requireNode } from '../../src/cli/node-version.ts'

t.test('an older Node is told in words what the program needs', (t) => {
  requireNode()
  requireNode('26.0.0')
  requireNode('100.1.0')
  for (const version of ['22.21.0', '9.0.0'])
    t.throws(() => requireNode(version), new RegExp(`this is Node ${version}, and the program needs 26 or newer`))
  t.end()
})
