// node test/generate-kubernetes.ts <swagger.json> <version> <crd.yaml>…: writes test/kubernetes.json from `api/openapi-spec/swagger.json`
// of a release of Kubernetes (also in the Go module k8s.io/kubernetes), and the definitions of CloudNativePG (`config/crd/bases` of
// the Go modules github.com/cloudnative-pg/cloudnative-pg and …/plugin-barman-cloud): clusters, poolers, scheduledbackups and
// objectstores. It has a JSON schema of each kind that we ship, in which unknown names are refused, as `kubectl apply
// --validate=strict` does.
import { readFile, writeFile } from 'node:fs/promises'
import { parse } from 'yaml'

const KINDS = [
  'apps/v1 Deployment',
  'autoscaling/v2 HorizontalPodAutoscaler',
  'batch/v1 Job',
  'networking.k8s.io/v1 Ingress',
  'networking.k8s.io/v1 NetworkPolicy',
  'policy/v1 PodDisruptionBudget',
  'v1 ConfigMap',
  'v1 PersistentVolumeClaim',
  'v1 Service',
  'v1 ServiceAccount',
]

const DEFINITIONS = '#/definitions/'
const WORDS = new Set(['description', 'format']) // as texts: a property may have these names too

type Schema = {
  properties?: Record<string, object>
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
}
type Source = { definitions: Record<string, Schema> }

const [, , path, version, ...crds] = process.argv
const { definitions } = JSON.parse(await readFile(path!, 'utf8')) as Source
const nameOf = (asked: string) => {
  const found = Object.entries(definitions).find(([, { 'x-kubernetes-group-version-kind': kinds = [] }]) =>
    kinds.some(({ group, version, kind }) => asked === `${[group, version].filter(Boolean).join('/')} ${kind}`),
  )
  if (!found) throw new Error(`no ${asked} in Kubernetes ${version}`)
  return found[0]
}

const kept = new Map<string, unknown>()
const kinds = Object.fromEntries(KINDS.map((kind) => [kind, { $ref: keep(nameOf(kind)) }]))
const ofOperators = Object.fromEntries((await Promise.all(crds.map(readKind))).sort())
const whole = { version, kinds, ofOperators, definitions: Object.fromEntries([...kept].sort()) }
await writeFile(new URL('kubernetes.json', import.meta.url), `${JSON.stringify(whole)}\n`)

type Definition = {
  spec: {
    group: string
    names: { kind: string }
    versions: { name: string; schema: { openAPIV3Schema: { properties: Record<string, { properties: object }> } } }[]
  }
}

/** The kind that an operator defines, with its schema. */
async function readKind(file: string): Promise<[string, unknown]> {
  const { group, names, versions } = (parse(await readFile(file, 'utf8')) as Definition).spec
  const { name, schema } = versions[0]!
  const { spec, ...rest } = schema.openAPIV3Schema.properties
  delete rest.status
  // The pod of a pooler is one of Kubernetes, written out: nine tenths of its definition.
  if ('template' in spec!.properties)
    Object.assign(spec!.properties, { template: { $ref: keep('io.k8s.api.core.v1.PodTemplateSpec') } })
  return [
    `${group}/${name} ${names.kind}`,
    closed(withoutWords({ ...schema.openAPIV3Schema, properties: { ...rest, spec } })),
  ]
}

/** The same schema, refusing unknown names where it knows some. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (node === null || typeof node !== 'object') return node
  const all = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  return 'properties' in all && all.type === 'object' ? { additionalProperties: false, ...all } : all
}

/** Keeps a definition and all that it refers to. */
function keep(name: string): string {
  if (!kept.has(name)) {
    kept.set(name, true) // some refer to themselves
    const { properties, ...rest } = definitions[name]!
    const closed = properties && { properties: withoutWords(properties), additionalProperties: false }
    kept.set(name, { ...(withoutWords(rest) as object), ...closed, ...looser(name) })
  }
  return DEFINITIONS + name
}

/** What the API server takes beyond what its document says. */
function looser(name: string): object | undefined {
  if (name.endsWith('.IntOrString')) return { type: ['integer', 'string'] }
  if (name.endsWith('.Quantity')) return { type: ['number', 'string'] }
}

/** A schema without descriptions, formats and the words of Kubernetes' own. */
function withoutWords(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutWords)
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !key.startsWith('x-kubernetes-') && !(typeof value === 'string' && WORDS.has(key)))
      .map(([key, value]) => [
        key,
        key === '$ref' ? keep(String(value).slice(DEFINITIONS.length)) : withoutWords(value),
      ]),
  )
}
