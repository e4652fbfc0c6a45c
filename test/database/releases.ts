// Expand and contract are two releases: what a release no longer uses, a later one drops. Judged by the text of migrations, since a
// release before is not run here.
import { isBefore, treatment } from '../../src/database/migrate.ts'

type File = { name: string; text: string }

/** What takes something away from programs that use it, with its name in the first group that is there. */
const TAKES_AWAY = [
  /\bdrop (?:table|view|materialized view|type|function|procedure|sequence)(?: if exists)? "?(\w+)/gi,
  /\bdrop column(?: if exists)? "?(\w+)/gi,
  /\balter table(?: if exists)?(?: only)? "?(\w+)"? rename to\b/gi,
  /\brename (?:column )?"?(?!to\b|constraint\b)(\w+)"? to\b/gi,
  /\balter (?:column )?"?(\w+)"? (?:set data )?type\b/gi,
  /\balter (?:column )?"?(\w+)"? set not null\b/gi,
  /\balter (?:column )?"?(\w+)"? drop default\b/gi,
]

/** What a file takes away, each once. */
export function takenAway({ text }: File): string[] {
  const statements = text.replaceAll(/--.*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return [...new Set(TAKES_AWAY.flatMap((pattern) => [...statements.matchAll(pattern)].map(([, name]) => name!)))]
}

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * What is wrong with the migrations of a release.
 * @param files those that the release before does not have
 * @param before the version of the release before
 * @param sources the program of that release, as one text
 */
export function contractFaults(files: File[], before: string, sources: string): string[] {
  return files.flatMap((file) => {
    const { worksFrom } = treatment(file.name, file.text)
    const gone = takenAway(file)
    if (worksFrom !== '' && isBefore(before, worksFrom))
      return [`${file.name} works from ${worksFrom} on: ${before}, the release before, would stop during the upgrade`]
    if (gone.length > 0 && worksFrom === '')
      return [`${file.name} takes ${gone.join(', ')} away, and does not say from which version on programs work`]
    return gone
      .filter((name) => new RegExp(`\\b(?:${name}|${camel(name)})\\b`).test(sources))
      .map(
        (name) => `${file.name} takes ${name} away, which ${before} uses: expand first, and contract a release later`,
      )
  })
}
