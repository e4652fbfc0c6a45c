// Holds the order of the rooms: the block `rooms` of docs/architecture.md names them from the lowest to the highest. A room imports
// from rooms above its own line, and from nothing else.
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

const ARCHITECTURE = new URL('../docs/architecture.md', import.meta.url)

async function orderOfRooms(): Promise<string[]> {
  const [, block = ''] = /```rooms\n([\s\S]*?)```/.exec(await readFile(ARCHITECTURE, 'utf8')) ?? []
  return block
    .split('\n')
    .map((line) => line.trim().split(/\s/, 1)[0] ?? '')
    .filter((name) => name !== '')
}

/** The room of a file: `src/config.ts` belongs to `src/config`, `src/beheer/frame/form.ts` to `src/beheer/frame`. */
function roomOf(file: string, rooms: readonly string[]): string | undefined {
  const within = rooms.filter((room) => file.startsWith(`${room}/`) || file === `${room}.ts`)
  return within.sort((a, b) => b.length - a.length)[0]
}

t.test('every file of src and tasks is in a room that docs/architecture.md names', async (t) => {
  const rooms = await orderOfRooms()
  t.equal(new Set(rooms).size, rooms.length, 'no room twice')
  for await (const file of glob('{src,tasks}/**/*.ts')) t.ok(roomOf(file, rooms), file)
})

t.test('a room imports only from rooms below it', async (t) => {
  const rooms = await orderOfRooms()
  const wrong: string[] = []
  let imports = 0
  for await (const file of glob('{src,tasks}/**/*.ts')) {
    const room = roomOf(file, rooms)
    for (const [, spec = ''] of (await readFile(file, 'utf8')).matchAll(
      /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm,
    )) {
      const target = normalize(join(dirname(file), spec))
      const other = roomOf(target, rooms)
      if (!other || !room || other === room) continue
      imports++
      if (rooms.indexOf(other) > rooms.indexOf(room)) wrong.push(`${file} imports ${target}`)
    }
  }
  t.ok(imports > 1000, `${imports} imports between rooms were read`)
  t.strictSame(wrong, [])
})

t.test('parsers of bodies are made by one file, which passes over no digest and no key', async (t) => {
  const makers: string[] = []
  for await (const file of glob('{src,tasks}/**/*.ts'))
    if ((await readFile(file, 'utf8')).includes('addContentTypeParser')) makers.push(file)
  t.same(makers, ['src/http/content.ts'])
})
