// What a file keeps in memory for as long as the process runs: at its top, or in a plugin, which is registered once for all organisations.
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type AnyNode, type Function as FunctionNode, type Node, type Pattern, parse } from 'acorn'
import { ancestor, simple } from 'acorn-walk'

/** One thing that is kept. `id` is its file and its name, with that of its plugin. */
export type Kept = { id: string; what: string }

type Held = { name: string; what: string; scope: Scope; exported: boolean }
type Scope = { kind: 'file' | 'plugin' | 'function'; name: string }
type File = { path: string; held: Held[]; changed: Set<string>; calls: Called[] }
type Called = { name: string; callee: string; scope: Scope }

const COLLECTIONS = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'LRUCache'])
/** Classes of what never changes, or changes for its own use alone. */
const PLAIN = /^(Intl\.\w+|RegExp|URL|TextEncoder|TextDecoder|Error|Date)$/
const CHANGES = new Set([
  ...['set', 'add', 'delete', 'clear', 'push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'write'],
])

/** Calls with which a plugin adds something to the application. */
const REGISTERS =
  /^(get|head|post|put|patch|delete|options|all|route|register|each|addHook|add[A-Z]\w+|decorate\w*|set\w+Handler)$/

/** @param paths of the sources, with what they are called */
export function keptIn(paths: readonly { path: string; name: string }[]): Kept[] {
  const files = paths.map(({ path, name }) => readSource(path, name))
  const changed = new Set(files.flatMap((file) => [...file.changed]))
  const isKept = (file: File, { name, what, exported }: Held) =>
    what === 'let' || what.startsWith('new ')
      ? !COLLECTIONS.has(what.slice(4)) || changedIn(file, name, exported)
      : changedIn(file, name, exported)
  const changedIn = (file: File, name: string, exported: boolean) => (exported ? changed : file.changed).has(name)
  // Who makes what has state of its own, also by calling one who does.
  const makers = new Set<string>()
  for (const file of files)
    for (const held of file.held) if (held.scope.kind === 'function' && isKept(file, held)) makers.add(held.scope.name)
  for (let before = -1; before !== makers.size; ) {
    before = makers.size
    for (const { calls } of files)
      for (const { callee, scope } of calls)
        if (scope.kind === 'function' && scope.name !== '' && makers.has(callee)) makers.add(scope.name)
  }
  return files.flatMap((file) => {
    const at = ({ kind, name }: Scope, of: string) => `${file.path} ${kind === 'plugin' && name ? `${name}.` : ''}${of}`
    return [
      ...file.held.flatMap((held) =>
        held.scope.kind !== 'function' && isKept(file, held)
          ? [{ id: at(held.scope, held.name), what: held.what }]
          : [],
      ),
      ...file.calls.flatMap(({ name, callee, scope }) =>
        scope.kind !== 'function' && makers.has(callee) ? [{ id: at(scope, name), what: `${callee}()` }] : [],
      ),
    ]
  })
}

function readSource(path: string, name: string): File {
  const tree = parse(stripTypeScriptTypes(readFileSync(path, 'utf8')), { ecmaVersion: 'latest', sourceType: 'module' })
  const file: File = { path: name, held: [], changed: new Set(), calls: [] }
  const top: Scope = { kind: 'file', name: '' }
  const scopeOf = (ancestors: readonly Node[]): Scope => {
    const at = ancestors.findLastIndex((node, index) => index < ancestors.length - 1 && isFunction(node))
    return at < 0 ? top : functionScope(ancestors[at] as FunctionNode, ancestors[at - 1])
  }
  const changes = (target: AnyNode, ancestors: readonly Node[], isWhole: boolean) => {
    const named = rootOf(target, isWhole)
    if (named && ancestors.slice(0, -1).some(isFunction)) file.changed.add(named)
  }
  ancestor(tree, {
    VariableDeclaration(node, _state, ancestors) {
      const scope = scopeOf(ancestors)
      if (scope.kind === 'function' && ancestors.filter(isFunction).length > 1) return
      const exported = ancestors.at(-2)?.type === 'ExportNamedDeclaration'
      for (const { id, init } of node.declarations)
        for (const name of namesIn(id)) {
          const what = node.kind === 'let' ? 'let' : whatIs(init)
          if (what === 'call') file.calls.push({ name, callee: calleeOf(init), scope })
          else if (what) file.held.push({ name, what, scope, exported })
        }
    },
    ArrowFunctionExpression({ body }, _state, ancestors) {
      if (body.type !== 'CallExpression' || ancestors.filter(isFunction).length > 1) return
      const scope = functionScope(ancestors.at(-1) as FunctionNode, ancestors.at(-2))
      if (scope.kind === 'function') file.calls.push({ name: '', callee: calleeOf(body), scope })
    },
    AssignmentExpression: ({ left }, _state, ancestors) => changes(left, ancestors, true),
    UpdateExpression: ({ argument }, _state, ancestors) => changes(argument, ancestors, true),
    UnaryExpression: ({ operator, argument }, _state, ancestors) => {
      if (operator === 'delete') changes(argument, ancestors, true)
    },
    CallExpression: ({ callee, arguments: [first] }, _state, ancestors) => {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      if (CHANGES.has(callee.property.name)) changes(callee.object, ancestors, false)
      const isAssign = callee.property.name === 'assign' && rootOf(callee.object, false) === 'Object'
      if (isAssign && first) changes(first, ancestors, false)
    },
  })
  // A variable that nothing assigns later is none.
  file.held = file.held.filter(
    ({ what, name, scope }) => what !== 'let' || scope.kind === 'file' || file.changed.has(name),
  )
  return file
}

const isFunction = ({ type }: Node) => /Function/.test(type)

function functionScope(node: FunctionNode, parent: Node | undefined): Scope {
  const declared = parent as AnyNode | undefined
  const of = node.id?.name ?? (declared?.type === 'VariableDeclarator' ? namesIn(declared.id)[0] : '') ?? ''
  const hasApp = node.params.some((param) => param.type === 'Identifier' && param.name === 'app')
  return { kind: hasApp && registers(node) ? 'plugin' : 'function', name: of }
}

/** Whether it adds something to the application: else it is a step of a handler. */
function registers(node: Node): boolean {
  let found = false
  simple(node, {
    CallExpression({ callee }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      if (callee.object.type === 'Identifier' && callee.object.name === 'app')
        found ||= REGISTERS.test(callee.property.name)
    },
  })
  return found
}

function whatIs(init: AnyNode | null | undefined): string | undefined {
  switch (init?.type) {
    case 'NewExpression': {
      const name = textOf(init.callee)
      return PLAIN.test(name) ? undefined : `new ${name}`
    }
    case 'ArrayExpression':
      return 'array'
    case 'ObjectExpression':
      return 'object'
    case 'CallExpression':
      return 'call'
    case 'AwaitExpression':
      return whatIs(init.argument)
    default:
      return undefined
  }
}

const calleeOf = (init: AnyNode | null | undefined): string =>
  init?.type === 'CallExpression'
    ? textOf(init.callee)
    : init?.type === 'AwaitExpression'
      ? calleeOf(init.argument)
      : ''

function textOf(node: AnyNode): string {
  if (node.type === 'Identifier') return node.name
  return node.type === 'MemberExpression' ? `${textOf(node.object as AnyNode)}.${textOf(node.property as AnyNode)}` : ''
}

/** The name of what is changed: of `a`, of `a.b` and of `a[b]` it is `a`. */
function rootOf(node: AnyNode, isWhole: boolean): string | undefined {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression') return isWhole ? rootOf(node.object as AnyNode, true) : undefined
  return undefined
}

function namesIn(pattern: Pattern): string[] {
  return pattern.type === 'Identifier' ? [pattern.name] : []
}
