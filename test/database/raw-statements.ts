// The statements that the program writes as text, with the row type that each of them states. The compiler tells the types; the
// text is put together from the source, with the fragments that are put into it.
import { fileURLToPath } from 'node:url'
import type { CallExpression, Expression, Node, SourceFile, TemplateLiteral } from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
  type TypeReference,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Kind = 'string' | 'number' | 'boolean' | 'bytes' | 'null' | 'json' | 'any' | `list of ${string}`
/** What a row type says of a column. */
export type Stated = {
  optional: boolean
  kinds: ReadonlySet<Kind>
  /** The texts that it may be, when it names them all. */
  texts: readonly string[] | undefined
}
export type RawStatement = {
  /** File and function: what a list can name it by. */
  place: string
  line: number
  /** The query builder renames columns. */
  builder: boolean
  /** Columns by name, or what every column is; undefined when the statement states nothing. */
  row: ReadonlyMap<string, Stated> | Stated | undefined
  /** Whether something reads the rows. */
  isRead: boolean
  /** It runs on what handlers have to read with. */
  isReader: boolean
  /** The statement for choices of its fragments and names, with `$1` for values. Not all of them need to exist. */
  texts: string[]
  /** Why the text cannot be told from the source. */
  dynamic?: string
}

/** All raw statements in `src/` and `tasks/`. */
export function rawStatements(): RawStatement[] {
  const api = new API({ cwd: ROOT })
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProjects()
    const { program } = project!
    const compiler = compilerOf(project!)
    const files = program.getSourceFileNames().filter((name) => /^(src|tasks)\//.test(name.slice(ROOT.length)))
    return files.flatMap((name) => statementsOf(compiler, program.getSourceFile(name)!))
  } finally {
    api.close()
  }
}

/** What the compiler said of a node before: each question goes to another process. */
function remembering<K extends object, V>(ask: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { value: V }>()
  return (key) => {
    const found = known.get(key) ?? { value: ask(key) }
    known.set(key, found)
    return found.value
  }
}

type Compiler = {
  checker: Checker
  typeOf(node: Node): Type | undefined
  symbolOf(node: Node): TypeSymbol | undefined
  declarationOf(symbol: TypeSymbol): Node | undefined
  isArray(type: Type): boolean
  elementOf(type: Type): Type | undefined
}

function compilerOf(project: Project): Compiler {
  const { checker } = project
  const isArray = remembering((type: Type) => checker.isArrayLikeType(type))
  return {
    checker,
    typeOf: remembering((node: Node) => checker.getTypeAtLocation(node)),
    symbolOf: remembering((node: Node) => {
      const isShort = is.isShorthandPropertyAssignment(node.parent)
      const symbol = isShort
        ? checker.getShorthandAssignmentValueSymbol(node.parent)
        : checker.getSymbolAtLocation(node)
      return symbol && symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    }),
    declarationOf: remembering((symbol: TypeSymbol) => symbol.valueDeclaration?.resolve(project)),
    isArray,
    elementOf: (type) => (isArray(type) ? checker.getTypeArguments(type as TypeReference)[0] : undefined),
  }
}

const STATEMENT = /^\s*(select|insert|update|delete|with|merge|values|create temporary)\b/i
const CHOICES = 6 // so that names out of two meet those out of three

function statementsOf(compiler: Compiler, file: SourceFile): RawStatement[] {
  const { checker } = compiler
  const found: RawStatement[] = []
  const look = (node: Node): void => {
    node.forEachChild(look)
    const statement = statementAt(node)
    if (!statement || is.isTemplateSpan(outside(node))) return
    const kind = nameOf(compiler.typeOf(node))
    if (kind !== 'RawBuilder' && kind !== 'PendingQuery') return
    const builder = kind === 'RawBuilder'
    const given = statement.type && checker.getTypeFromTypeNode(statement.type as never)
    const row = given && rowOf(compiler, builder ? given : compiler.elementOf(given))
    const isReader = runsOnReader(compiler, node)
    if (builder && !row && !isReader) return // an expression of a query, or rows that nobody can read without a cast
    const said = new Set<string>()
    let dynamic: string | undefined
    for (let choice = 0; choice < CHOICES; choice++) {
      const text = new Text(compiler, builder, choice)
      try {
        said.add(
          is.isTaggedTemplateExpression(node) ? text.ofTemplate(node.template) : text.ofExpression(statement.text),
        )
      } catch (error) {
        if (!(error instanceof Dynamic)) throw error
        dynamic = error.message
      }
      if (!text.isOneOfMore) break
    }
    const texts = [...said].filter((text) => STATEMENT.test(text))
    if (texts.length === 0 && !dynamic) return
    if (texts.length === 0 && !given && !STATEMENT.test(headOf(statement.text))) return
    const line = file.text.slice(0, node.getStart(file)).split('\n').length
    const place = `${file.fileName.slice(ROOT.length)} ${ownerOf(node)}`
    found.push({
      place,
      line,
      builder,
      row,
      isRead: isRead(node),
      isReader,
      texts,
      ...(texts.length === 0 && { dynamic: dynamic! }),
    })
  }
  look(file)
  return found
}

/** A tagged template, or a call of `unsafe` with a text. */
function statementAt(node: Node): { type: Node | undefined; text: Node } | undefined {
  if (is.isTaggedTemplateExpression(node)) return { type: node.typeArguments?.[0], text: node.template }
  if (
    is.isCallExpression(node) &&
    is.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === 'unsafe'
  )
    return { type: node.typeArguments?.[0], text: node.arguments[0]! }
  return undefined
}

/** Whether the rows go anywhere: `await` alone as a statement throws them away. */
function isRead(node: Node): boolean {
  let at = node.parent
  while (is.isPropertyAccessExpression(at) || is.isCallExpression(at) || is.isParenthesizedExpression(at))
    at = at.parent
  return !(is.isAwaitExpression(at) && is.isExpressionStatement(at.parent))
}

/** Whether its tag is the one to read with, or the builder runs it on a `ReadDb`. */
function runsOnReader({ checker, typeOf }: Compiler, node: Node): boolean {
  if (is.isTaggedTemplateExpression(node) && nameOf(typeOf(node.tag)) === 'ReadSql') return true
  const call = node.parent.parent
  if (!is.isPropertyAccessExpression(node.parent) || !is.isCallExpression(call)) return false
  const [on] = call.arguments
  const type = node.parent.name.text === 'execute' && on ? typeOf(on) : undefined
  return type !== undefined && checker.typeToString(type).startsWith('ReadDb')
}

function outside(node: Node): Node {
  let at = node.parent
  while (is.isParenthesizedExpression(at) || is.isConditionalExpression(at)) at = at.parent
  return at
}

function ownerOf(node: Node): string {
  for (let at = node.parent; at; at = at.parent) {
    if ((is.isFunctionDeclaration(at) || is.isMethodDeclaration(at)) && at.name)
      return (at.name as { text: string }).text
    if (is.isVariableDeclaration(at) && is.isSourceFile(at.parent.parent.parent))
      return (at.name as { text: string }).text
  }
  return ''
}

const headOf = (node: Node): string =>
  is.isTemplateExpression(node) ? node.head.text : ((node as { text?: string }).text ?? '')

/** A fragment that is known when the program runs and not before. */
class Dynamic extends Error {}

type Bound = Map<number, { node: Node; bound: Bound }>

/** Puts the text of one statement together. */
class Text {
  #parameters = 0
  #so = ''
  readonly #compiler: Compiler
  readonly #builder: boolean
  /** Which way fragments go that depend on a condition. */
  readonly #choice: number

  constructor(compiler: Compiler, builder: boolean, choice: number) {
    this.#compiler = compiler
    this.#builder = builder
    this.#choice = choice
  }

  /** Whether another choice can give another text. */
  isOneOfMore = false

  ofTemplate(template: TemplateLiteral): string {
    return this.#template(template, new Map())
  }

  ofExpression(node: Node): string {
    return this.#constant(node, new Map())
  }

  #choose<T>(choices: readonly T[]): T {
    if (choices.length > 1) this.isOneOfMore = true
    return choices[this.#choice % choices.length]!
  }

  #template(node: TemplateLiteral, bound: Bound): string {
    if (!is.isTemplateExpression(node)) return (node as { text: string }).text
    const before = this.#so
    let text = node.head.text
    for (const span of node.templateSpans) {
      this.#so = before + text
      text += this.#part(span.expression, bound) + span.literal.text
    }
    this.#so = before
    return text
  }

  /** What an interpolation puts into the text. */
  #part(given: Node, bound: Bound): string {
    const node = bare(given)
    if (is.isTaggedTemplateExpression(node)) return this.#template(node.template, bound)
    if (is.isConditionalExpression(node) && this.#isFragment(node))
      return this.#part(this.#choose([node.whenTrue, node.whenFalse]), bound)
    if (is.isIdentifier(node)) {
      const symbol = this.#compiler.symbolOf(node)
      const argument = symbol && bound.get(symbol.id)
      if (argument) return this.#part(argument.node, argument.bound)
      if (!this.#isFragment(node)) return this.#parameter()
      const known = this.#knownAs(node)
      return known.length > 0 ? this.#part(this.#choose(known), bound) : this.#standIn(node)
    }
    if (is.isCallExpression(node)) return this.#call(node, bound)
    if (!this.#isFragment(node)) return this.#parameter()
    if (is.isBinaryExpression(node)) return this.#part(this.#choose([node.left, node.right]), bound)
    const known = this.#knownAs(node).filter((one) => one !== node)
    if (known.length > 0) return this.#part(this.#choose(known), bound)
    return this.#standIn(node)
  }

  #call(node: CallExpression, bound: Bound): string {
    const { typeOf } = this.#compiler
    const callee = bare(node.expression)
    const name = is.isPropertyAccessExpression(callee) ? callee.name.text : ''
    const [first, second] = node.arguments
    if (isTag(typeOf(callee))) return this.#helper(node, bound)
    if (is.isPropertyAccessExpression(callee) && isTag(typeOf(callee.expression))) {
      if (name === 'unsafe' || name === 'raw') return this.#constant(first!, bound)
      if (name === 'table' || name === 'ref' || name === 'id')
        return identifier(this.#constant(first!, bound), this.#builder)
      if (name === 'lit') return `'${this.#constant(first!, bound)}'`
      if (name === 'join') return this.#list(first!, bound).join(second ? this.#part(second, bound) : ', ')
      return this.#parameter() // json, array, typed: a value
    }
    const made = this.#bodyOf(node, bound)
    if (made) {
      const text = STATEMENT_LIKE.has(nameOf(typeOf(node)) ?? '')
      if (text || this.#isFragment(node)) return this.#part(made.node, made.bound)
    }
    if (!this.#isFragment(node)) return this.#parameter()
    return this.#standIn(node)
  }

  /** What a name or a place in an object can be: what a constant was made of, or what a function of the file is called with. */
  #knownAs(given: Node): Node[] {
    const node = bare(given)
    if (is.isElementAccessExpression(node))
      return this.#knownAs(node.expression).flatMap((object) =>
        is.isObjectLiteralExpression(object)
          ? object.properties.flatMap((one) => (is.isPropertyAssignment(one) ? [bare(one.initializer)] : []))
          : [],
      )
    if (is.isPropertyAccessExpression(node)) return this.#propertyOf(node.expression, node.name.text)
    if (!is.isIdentifier(node)) return [node]
    const symbol = this.#compiler.symbolOf(node)
    const declared = symbol && this.#compiler.declarationOf(symbol)
    if (!declared) return []
    if (is.isVariableDeclaration(declared)) return declared.initializer ? [bare(declared.initializer)] : []
    if (is.isBindingElement(declared)) {
      const whole = declared.parent.parent
      const name = (declared.propertyName ?? declared.name) as { text: string }
      return is.isVariableDeclaration(whole) && whole.initializer ? this.#propertyOf(whole.initializer, name.text) : []
    }
    if (!is.isParameterDeclaration(declared) || !is.isFunctionDeclaration(declared.parent)) return []
    const { name, parameters } = declared.parent
    const place = parameters.indexOf(declared)
    const made = name && this.#compiler.symbolOf(name)
    const stated: Node[] = []
    const look = (at: Node): void => {
      if (
        is.isCallExpression(at) &&
        is.isIdentifier(at.expression) &&
        this.#compiler.symbolOf(at.expression) === made
      ) {
        const argument = at.arguments[place]
        if (argument) stated.push(argument)
      }
      at.forEachChild(look)
    }
    look(node.getSourceFile())
    return stated
  }

  #propertyOf(object: Node, name: string): Node[] {
    return this.#knownAs(object).flatMap((one) => {
      const known = is.isIdentifier(one) || is.isElementAccessExpression(one) ? this.#knownAs(one) : [one]
      return known.flatMap((literal) =>
        is.isObjectLiteralExpression(literal)
          ? literal.properties.flatMap((property) =>
              is.isPropertyAssignment(property) && (property.name as { text?: string }).text === name
                ? [bare(property.initializer)]
                : [],
            )
          : [],
      )
    })
  }

  /** Fragments in an array. */
  #list(given: Node, bound: Bound): string[] {
    const node = bare(given)
    if (is.isArrayLiteralExpression(node)) return node.elements.map((element) => this.#part(element, bound))
    if (is.isCallExpression(node) && is.isPropertyAccessExpression(node.expression)) {
      const [work] = node.arguments
      if (['map', 'flatMap'].includes(node.expression.name.text) && work && is.isArrowFunction(work))
        return [this.#part(work.body, bound)]
    }
    if (is.isIdentifier(node)) {
      const symbol = this.#compiler.symbolOf(node)
      const argument = symbol && bound.get(symbol.id)
      if (argument) return this.#list(argument.node, argument.bound)
      const declared = symbol && this.#compiler.declarationOf(symbol)
      if (declared && is.isVariableDeclaration(declared) && declared.initializer)
        return this.#list(declared.initializer, bound)
    }
    const element = this.#compiler.elementOf(this.#compiler.typeOf(node)!)
    if (element && !isFragmentType(element)) return [this.#parameter()]
    return [this.#standInFor(element, node)]
  }

  /** `sql(…)` of the driver: names, or the columns and values of a row. */
  #helper(node: CallExpression, bound: Bound): string {
    const { typeOf } = this.#compiler
    const [first] = node.arguments
    const type = typeOf(first!)!
    if (type.flags & TypeFlags.StringLike || type.isUnionType()) return identifier(this.#constant(first!, bound), false)
    if (/\bin\s*$/i.test(this.#so)) return '(null)'
    if (/\binsert\s+into\s+\w+\s*$/i.test(this.#so)) return 'default values'
    const table = /\bupdate\s+(\w+)(?:\s+\w+)?\s+set\s*$/i.exec(this.#so)?.[1]
    if (table) return `:any column of ${table}:`
    throw new Dynamic('names or values that are only known when it runs')
  }

  /** A text that the source states. */
  #constant(given: Node, bound: Bound): string {
    const node = bare(given)
    const { typeOf } = this.#compiler
    if (is.isNoSubstitutionTemplateLiteral(node) || is.isStringLiteral(node)) return node.text
    if (is.isTemplateExpression(node))
      return (
        node.head.text +
        node.templateSpans.map((span) => this.#constant(span.expression, bound) + span.literal.text).join('')
      )
    if (is.isConditionalExpression(node)) return this.#constant(this.#choose([node.whenTrue, node.whenFalse]), bound)
    if (is.isIdentifier(node)) {
      const symbol = this.#compiler.symbolOf(node)
      const argument = symbol && bound.get(symbol.id)
      if (argument) return this.#constant(argument.node, argument.bound)
    }
    const type = typeOf(node)!
    const choices = type.isUnionType() ? type.getTypes() : [type]
    const choice = this.#choose(choices)
    if (choice.isStringLiteralType() || choice.isNumberLiteralType()) return String(choice.value)
    const known = this.#knownAs(node).filter((one) => one !== node)
    if (known.length > 0) return this.#constant(this.#choose(known), bound)
    if (is.isCallExpression(node)) {
      const made = this.#bodyOf(node, bound)
      if (made) return this.#constant(made.node, made.bound)
    }
    throw new Dynamic(`the text of ${node.getText().slice(0, 60)}`)
  }

  /** What a function of ours returns, with its parameters bound. */
  #bodyOf(node: CallExpression, bound: Bound): { node: Node; bound: Bound } | undefined {
    const callee = bare(node.expression)
    const symbol = is.isIdentifier(callee) ? this.#compiler.symbolOf(callee) : undefined
    const argument = symbol && bound.get(symbol.id)
    let declared = argument ? argument.node : symbol && this.#compiler.declarationOf(symbol)
    if (declared && is.isVariableDeclaration(declared)) declared = declared.initializer
    if (!declared || !(is.isArrowFunction(declared) || is.isFunctionDeclaration(declared)) || !declared.body)
      return undefined
    const inner: Bound = new Map(argument ? argument.bound : bound)
    declared.parameters.forEach((parameter, place) => {
      const value = node.arguments[place] ?? parameter.initializer
      if (!value || !is.isIdentifier(parameter.name)) return
      const own = this.#compiler.symbolOf(parameter.name)
      if (own) inner.set(own.id, { node: value, bound })
    })
    if (!is.isBlock(declared.body)) return { node: declared.body, bound: inner }
    const returned: Expression[] = []
    const look = (at: Node): void => {
      if (is.isFunctionLikeDeclaration(at)) return
      if (is.isReturnStatement(at) && at.expression) returned.push(at.expression)
      at.forEachChild(look)
    }
    declared.body.forEachChild(look)
    return returned.length > 0 ? { node: this.#choose(returned.reverse()), bound: inner } : undefined
  }

  #parameter(): string {
    this.#parameters++
    return `$${this.#parameters}`
  }

  #isFragment(node: Node): boolean {
    const type = this.#compiler.typeOf(node)
    return type !== undefined && isFragmentType(type)
  }

  #standIn(node: Node): string {
    return this.#standInFor(this.#compiler.typeOf(node), node)
  }

  /** An expression of the same type, for one that is only known when the program runs. */
  #standInFor(type: Type | undefined, node: Node): string {
    if (/\b(where|and|or|on|when)[\s(]*$/i.test(this.#so)) return 'true' // what stands there is a condition
    if (type && nameOf(type) === 'RawBuilder') {
      const [of] = this.#compiler.checker.getTypeArguments(type as TypeReference)
      if (of && of.flags & TypeFlags.Union && this.#compiler.checker.typeToString(of) === 'boolean') return 'true'
      if (of && of.flags & TypeFlags.String) return 'null::text'
    }
    throw new Dynamic(`the fragment ${node.getText().replaceAll(/\s+/g, ' ').slice(0, 60)}`)
  }
}

const STATEMENT_LIKE = new Set(['RawBuilder', 'PendingQuery', 'Fragment', 'Helper'])

/** The tag of the driver or of the query builder. */
function isTag(type: Type | undefined): boolean {
  if (type?.isUnionType()) return type.getTypes().some(isTag)
  return nameOf(type)?.endsWith('Sql') ?? false
}

function isFragmentType(type: Type): boolean {
  if (type.isUnionType()) return type.getTypes().some(isFragmentType)
  return STATEMENT_LIKE.has(nameOf(type) ?? '')
}

function bare(node: Node): Node {
  let at = node
  while (
    is.isParenthesizedExpression(at) ||
    is.isAsExpression(at) ||
    is.isNonNullExpression(at) ||
    is.isSatisfiesExpression(at) ||
    is.isAwaitExpression(at)
  )
    at = at.expression
  return at
}

function identifier(name: string, builder: boolean): string {
  const snake = builder ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name
  return snake
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

const nameOf = (type: Type | undefined): string | undefined => type?.getSymbol()?.name

/** The columns that a type states, when it is one of rows. */
function rowOf(compiler: Compiler, type: Type | undefined): RawStatement['row'] {
  const { checker } = compiler
  if (!type || !(type.flags & (TypeFlags.Object | TypeFlags.Intersection)) || compiler.isArray(type)) return undefined
  const properties = checker.getPropertiesOfType(type)
  const [index] = checker.getIndexInfosOfType(type)
  if (properties.length === 0) return index && statedOf(compiler, index.valueType, false)
  return new Map(
    properties.map((property) => {
      const optional = (property.flags & SymbolFlags.Optional) !== 0
      return [property.name, statedOf(compiler, checker.getTypeOfSymbol(property)!, optional)]
    }),
  )
}

function statedOf(compiler: Compiler, type: Type, optional: boolean): Stated {
  const kinds = new Set<Kind>()
  const texts: string[] = []
  let open = false
  const add = (one: Type): void => {
    if (one.isUnionType()) return void one.getTypes().forEach(add)
    const { flags } = one
    if (flags & TypeFlags.AnyOrUnknown) kinds.add('any')
    else if (flags & (TypeFlags.Nullable | TypeFlags.Void)) kinds.add('null')
    else if (flags & TypeFlags.StringLike) {
      kinds.add('string')
      if (one.isStringLiteralType()) texts.push(one.value)
      else open = true
    } else if (flags & TypeFlags.NumberLike) kinds.add('number')
    else if (flags & TypeFlags.BooleanLike) kinds.add('boolean')
    else if (flags & TypeFlags.Never) return
    else if (['Buffer', 'Uint8Array'].includes(nameOf(one) ?? '')) kinds.add('bytes')
    else if (compiler.isArray(one)) {
      const element = compiler.elementOf(one)
      for (const kind of element ? statedOf(compiler, element, false).kinds : []) kinds.add(`list of ${kind}`)
      kinds.add('json')
    } else kinds.add('json')
  }
  add(type)
  return { optional, kinds, texts: kinds.has('string') && !open ? texts : undefined }
}
