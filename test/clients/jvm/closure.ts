// Which files a class of a repository in Kotlin and Java needs of that repository.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const MODIFIERS = String.raw`(?:(?:@\w+(?:\([^)\n]*\))?|\w+)\s+)*`
const TYPES = new RegExp(`^${MODIFIERS}(?:class|interface|object|record|typealias|enum)\\s+(\\w+)`, 'gm')
const FUNCTIONS = /^(?:\w+\s+)*fun\s+(?:<[^>\n]*>\s*)?(?:[\w<>?*, ]+\.)?(\w+)\s*\(/gm
const VALUES = /^(?:const\s+|private\s+|internal\s+)*va[lr]\s+(?:[\w<>?*, ]+\.)?(\w+)/gm

type Source = { text: string; room: string; words: Set<string> }

/**
 * The files of main sources below `root` that those ending on `seeds` name, and what these name: by an import, in full, or as what
 * stands in the same package.
 * @param without files (by how they end) that are left out, with what only they name
 */
export async function closureOf(root: string, seeds: string[], without: string[]): Promise<string[]> {
  const sources = new Map<string, Source>()
  const declared = new Map<string, Set<string>>() // full name to files
  for await (const name of glob('**/src/main/**/*.{kt,java}', { cwd: root })) {
    const file = join(root, name)
    const text = await readFile(file, 'utf8')
    const room = /^package\s+([\w.]+)/m.exec(text)?.[1] ?? ''
    sources.set(file, { text, room, words: new Set(text.replace(/^import.*$/gm, '').match(/\w+/g)) })
    for (const pattern of [TYPES, FUNCTIONS, VALUES])
      for (const [, declares] of text.matchAll(pattern)) {
        const full = room ? `${room}.${declares}` : `${declares}`
        declared.set(full, (declared.get(full) ?? new Set()).add(file))
      }
  }
  const inRoom = Map.groupBy(declared.keys(), (full) => full.slice(0, Math.max(0, full.lastIndexOf('.'))))
  const found = new Set([...sources.keys()].filter((file) => seeds.some((seed) => file.endsWith(`/${seed}`))))
  for (const file of found) {
    const { text, room, words } = sources.get(file) as Source
    const names = [
      ...text.matchAll(/^import\s+(?:static\s+)?([\w.]+)/gm),
      ...text.matchAll(/\b([a-z]\w*(?:\.\w+){2,})/g),
    ]
      .map(([, name = '']) => name)
      .concat(
        [room, ...everythingOf(text)].flatMap((one) =>
          (inRoom.get(one) ?? []).filter((full) => words.has(lastOf(full))),
        ),
      )
    for (const name of names)
      for (const needed of declared.get(known(name, declared)) ?? [])
        if (!without.some((end) => needed.endsWith(end))) found.add(needed)
  }
  return [...found]
}

const lastOf = (full: string): string => full.slice(full.lastIndexOf('.') + 1)

const everythingOf = (text: string): string[] =>
  [...text.matchAll(/^import\s+([\w.]+)\.\*/gm)].map(([, room = '']) => room)

/** The longest part of a name that something is declared by: members of a class follow it. */
function known(name: string, declared: Map<string, unknown>): string {
  let full = name
  while (full.includes('.') && !declared.has(full)) full = full.slice(0, full.lastIndexOf('.'))
  return full
}
