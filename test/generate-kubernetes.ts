// node test/generate-kubernetes.ts <swagger.json> <version>: writes test/kubernetes.json from `api/openapi-spec/swagger.json` of a release of
// Kubernetes (also in the Go module k8s.io/kubernetes): a JSON schema of each kind that the chart renders, in which unknown names are
// refused, as `kubectl apply --validate=strict` does.
import { readFile, writeFile } from 'node:fs/promises'

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

const WORDS = new Set(['description', 'format']) // as texts: a property may have these names too

type Schema = {
  properties?: Record<string, object>
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
}
type Source = { definitions: Record<string, Schema> }

const [, , path, version] = process.argv
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
await writeFile(
  new URL('kubernetes.json', import.meta.url),
  `${JSON.stringify({ version, kinds, definitions: Object.fromEntries([...kept].sort()) })}\n`,
)

/** Keeps a definition and all that it refers to. */
function keep(name: string): string {
  if (!kept.has(name)) {
    kept.set(name, true) // some refer to themselves
    const { properties, ...rest } = definitions[name]!
    const closed = properties && { properties: withoutWords(properties), additionalProperties: false }
    kept.set(name, { ...(withoutWords(rest) as object), ...closed, ...looser(name) })
  }
  return `#/definitions/${name}`
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
        key === '$ref' ? keep(String(value).slice('#/definitions/'.length)) : withoutWords(value),
      ]),
  )
}
