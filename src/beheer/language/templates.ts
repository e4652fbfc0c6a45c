// Templates are written in Dutch. For English each is compiled once more with its sentences replaced: the text between
// two tags or statements ("Er zijn {1} rijen"), the attributes that people read, and the texts in its code.
import { parse } from 'acorn'
import { expected } from '../../database/rows.ts'

/** The English of a Dutch sentence, when there is one. */
export type Lookup = (dutch: string) => string | undefined

type Tag = { t: string; val: string }
type Marks = { tagOf(mark: string): Tag; addTag(tag: Tag): string; lookup: Lookup }
type Code = { type: string; start: number; end: number; [part: string]: unknown }

/** A plugin of Eta that puts another language into a template while it is compiled. */
export function templateLanguage(lookup: Lookup) {
  return {
    processAST: (buffer: (string | Tag)[]) => translateMarkup(buffer, lookup),
    processFnString: (code: string) => rewriteCode(code, false, lookup),
  }
}

// In the markup each tag of Eta stands as one character: its place in the list of tags, in an area that Unicode leaves free.
const FIRST_MARK = 0xe000
const MARKS = /[\ue000-\uf8ff]/g
const MARKUP = /(<code[^>]*>[^<]*<\/code>|<[a-z/!\ue000-\uf8ff](?:"[^"]*"|'[^']*'|[^>"'])*>)/i
const READ_ATTRIBUTE = /(\s(?:title|aria-label|placeholder|alt)=")([^"]*)(?=")/g

function translateMarkup(buffer: (string | Tag)[], lookup: Lookup): (string | Tag)[] {
  const tags: Tag[] = []
  const addTag = (tag: Tag) => String.fromCharCode(FIRST_MARK + tags.push(tag) - 1)
  const markup = buffer.map((part) => (typeof part === 'string' ? unescaped(part) : addTag(part))).join('')
  const tagOf = (mark: string) => expected(tags[mark.charCodeAt(0) - FIRST_MARK])
  const translate = (text: string, quoted: boolean) =>
    text
      .split(/([\ue000-\uf8ff])/)
      .reduce<string[]>(
        (runs, part, index) => {
          if (index % 2 === 1 && tagOf(part).t === 'e') runs.push(part, '')
          else runs.push(`${runs.pop()}${part}`)
          return runs
        },
        [''],
      )
      .map((run) => translateRun(run, quoted, { tagOf, addTag, lookup }))
      .join('')
  const english = markup
    .split(MARKUP)
    .map((part, index) =>
      index % 2 === 0
        ? translate(part, false)
        : part.replace(READ_ATTRIBUTE, (_, before: string, value: string) => before + translate(value, true)),
    )
    .join('')
  return english.split(/([\ue000-\uf8ff])/).map((part, index) => (index % 2 === 0 ? escaped(part) : tagOf(part)))
}

/** Text without statements in it. What it includes at its ends is no part of its sentence. */
function translateRun(run: string, quoted: boolean, { tagOf, addTag, lookup }: Marks): string {
  const values = run.match(MARKS) ?? []
  for (const value of values) {
    const tag = tagOf(value)
    if (tag.t === 'i') tag.val = rewriteCode(`(${tag.val})`, true, lookup).slice(1, -1)
  }
  const isEdge = (character: string) => /\s/.test(character) || (character >= '\ue000' && tagOf(character)?.t === 'r')
  const characters = [...run]
  const first = characters.findIndex((character) => !isEdge(character))
  const last = characters.findLastIndex((character) => !isEdge(character))
  const sentence = characters.slice(first, last + 1).join('')
  if (first < 0 || !/\p{L}/u.test(sentence.replace(MARKS, ''))) return run
  const inside: string[] = sentence.match(MARKS) ?? []
  let place = 0
  const found = lookup(sentence.replace(/\s+/g, ' ').replace(MARKS, () => `{${++place}}`))
  if (found === undefined) return run
  const text = found.replaceAll('<', '&lt;').replaceAll(quoted ? '"' : /(?!)/g, '&quot;')
  const filled = text.replace(/\{(\d+)(:lower)?\}/g, (_, number: string, lower?: string) => {
    const mark = expected(inside[Number(number) - 1])
    const { t, val } = tagOf(mark)
    return lower ? addTag({ t, val: `it.lowerFirst(${val})` }) : mark
  })
  return characters.slice(0, first).join('') + filled + characters.slice(last + 1).join('')
}

/**
 * The code of a template with its texts replaced: all that it shows, and elsewhere what reads as a sentence. Names, such as that of a
 * field, begin with a small letter and are one word.
 * @param shown whether the value of the code is what a reader sees
 */
function rewriteCode(code: string, shown: boolean, lookup: Lookup): string {
  const rewrite = (node: Code, isShown: boolean): string => {
    const keep = () => code.slice(node.start, node.end)
    if (node.type === 'Literal') {
      if (typeof node.value !== 'string' || !(isShown ? /\p{L}/u : SENTENCE).test(node.value)) return keep()
      const english = lookup(node.value.trim())
      return english === undefined ? keep() : JSON.stringify(node.value.replace(node.value.trim(), () => english))
    }
    if (node.type === 'TemplateLiteral') return rewriteTemplate(node, isShown)
    let rewritten = ''
    let place = node.start
    for (const [part, child] of childrenOf(node)) {
      if (child.start < place) continue // `{ naam }` is a name and its value at once
      rewritten +=
        code.slice(place, child.start) +
        (isName(node, part) ? sourceOf(child) : rewrite(child, isValue(node, part, isShown)))
      place = child.end
    }
    return rewritten + code.slice(place, node.end)
  }
  const sourceOf = (node: Code) => code.slice(node.start, node.end)
  const rewriteTemplate = (node: Code, isShown: boolean): string => {
    const parts = (node.quasis as { value: { cooked: string; raw: string } }[]).map(({ value }) => value)
    const values = (node.expressions as Code[]).map((value) => rewrite(value, isShown))
    const key = parts.map(({ cooked }, index) => (index ? `{${index}}${cooked}` : cooked)).join('')
    const text = parts.map(({ cooked }) => cooked).join('')
    const english = (isShown ? /\p{L}/u : SENTENCE).test(text) ? lookup(key.trim()) : undefined
    const raw =
      english === undefined
        ? parts.map(({ raw }, index) => (index ? `{${index}}${raw}` : raw)).join('')
        : key.replace(key.trim(), () => english.replace(/[`\\$]/g, '\\$&'))
    return `\`${raw.replace(/\{(\d+)\}/g, (_, number: string) => `\${${values[Number(number) - 1]}}`)}\``
  }
  return rewrite(parse(code, { ecmaVersion: 'latest', allowReturnOutsideFunction: true }) as unknown as Code, shown)
}

const SENTENCE = /^\s*\p{Lu}\p{Ll}|\p{L}[,.:]? \p{L}/u

const childrenOf = (node: Code) =>
  Object.entries(node)
    .flatMap(([part, value]) => [value].flat().map((child) => [part, child] as [string, Code]))
    .filter(([, child]) => typeof child?.type === 'string')
    .sort(([, one], [, other]) => one.start - other.start)

/** Whether a part of code is compared, looked up by, or markup that was translated before. */
function isName(node: Code, part: string): boolean {
  if (node.type === 'BinaryExpression') return node.operator !== '+'
  if (node.type === 'MemberExpression') return part === 'property' && node.computed === true
  if (node.type === 'Property') return part === 'key'
  if (node.type === 'AssignmentExpression') return node.operator === '+=' && (node.right as Code).type === 'Literal'
  return node.type === 'SwitchCase' && part === 'test'
}

/** Whether a part of code is (part of) what the code around it shows. */
function isValue(node: Code, part: string, shown: boolean): boolean {
  switch (node.type) {
    case 'Program':
    case 'ExpressionStatement':
    case 'ParenthesizedExpression':
      return shown
    case 'ConditionalExpression':
      return shown && part !== 'test'
    case 'LogicalExpression':
      return shown && (part === 'right' || node.operator !== '&&')
    case 'BinaryExpression':
      return shown
    case 'CallExpression':
      return part === 'arguments' && (node.callee as { property?: { name?: string } }).property?.name === 't'
    default:
      return false
  }
}

const unescaped = (text: string) =>
  text.replace(/\\(n|[\\'])/g, (_, character: string) => (character === 'n' ? '\n' : character))
const escaped = (text: string) => text.replace(/\\|'/g, '\\$&').replaceAll('\n', '\\n')
