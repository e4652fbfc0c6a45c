// What is shipped to run and to watch the service, held against the service: metrics that exist, alerts that are explained,
// a chart that can be rendered.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { SETTINGS } from '../src/config/environment.ts'
import { startMetrics } from '../src/operations/metrics-server.ts'
import { openLog } from '../src/telemetry/log.ts'
import { freePort } from './free-port.ts'
import { testDatabase } from './setup.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')

type Alert = { alert: string; expr: string; annotations: { summary: string } }
const alerts = (parse(await read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
)
const dashboard = JSON.parse(await read('deploy/grafana/zaakstroom.json')) as {
  panels: { id: number; targets: { expr: string }[] }[]
}

t.test('alerts and dashboard ask for metrics that exist', async (t) => {
  const { url } = await testDatabase(t)
  const port = await freePort()
  const metrics = await startMetrics({ port, host: '127.0.0.1', databaseUrl: url, log: openLog('silent') })
  t.teardown(() => metrics.close())
  const text = await (await fetch(metrics.address)).text()
  const known = new Set([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) => namesOf(name!, type!)))
  const asked = [
    ...alerts.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
  for (const expr of asked)
    for (const [name] of expr.matchAll(/zaakstroom_\w+/g)) t.ok(known.has(name), `${name} exists`)
})

t.test('every alert has a paragraph in the manual, and no paragraph lacks its alert', async (t) => {
  const manual = await read('docs/operations.md')
  const paragraphs = [...manual.matchAll(/^### (Zaakstroom\w+)$/gm)].map(([, name]) => name!)
  t.strictSame(paragraphs.sort(), alerts.map(({ alert }) => alert).sort())
})

t.test('panels of the dashboard have numbers of their own', async (t) => {
  const ids = dashboard.panels.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('the chart asks the settings that the program knows', async (t) => {
  const files = [
    'values.yaml',
    'templates/_helpers.tpl',
    'templates/api.yaml',
    'templates/worker.yaml',
    'templates/migrate.yaml',
  ]
  const chart = (await Promise.all(files.map((file) => read(`deploy/helm/zaakstroom/${file}`)))).join('\n')
  for (const name of [
    'DATABASE_URL',
    'DATABASE_DIRECT_URL',
    'DATABASE_READ_URL',
    'SECRET_KEY',
    'METRICS_PORT',
    'STOP_DELAY_SECONDS',
    'WORKER_HEALTH_PORT',
  ]) {
    t.match(chart, name)
    t.ok(
      SETTINGS.some(({ env }) => env === name),
      name,
    )
  }
})

t.test('the image runs as an ordinary user, who owns nothing but the places for data', async (t) => {
  const text = await read('Dockerfile')
  const last = text.slice(text.lastIndexOf('\nFROM ')).replaceAll('\\\n', ' ').split('\n')
  const user = last.findIndex((line) => /^USER /.test(line))
  t.match(last[user], /^USER (?!root|0)/)
  t.strictSame(
    last.slice(user + 1).filter((line) => /^(USER|RUN|COPY|ADD) /.test(line)),
    [],
    'nothing is made after that',
  )
  t.notOk(
    last.some((line) => /^(COPY|ADD) .*--chown/.test(line)),
    'what is copied is of root',
  )
  const owned = last.flatMap((line) =>
    [...line.matchAll(/chown \S+ ([^&|;]+)/g)].flatMap(([, paths]) => paths!.trim().split(/\s+/)),
  )
  t.strictSame(owned.sort(), ['/import-data', '/var/lib/zaakstroom'])
  for (const line of text.split('\n').filter((line) => line.includes('npm ci'))) t.match(line, '--ignore-scripts')
})

t.test('the scan of an image names what its user may write, and programs with the rights of others', async (t) => {
  const directory = t.testdir({ 'a file': 'x' })
  const archive = join(directory, 'image.tar')
  const add = (path: string, owner: number, mode: string, from = 'a file') => {
    const names = `--transform=s,.*,${path},`
    const made = spawnSync('tar', [
      '-rf',
      archive,
      '-C',
      directory,
      `--owner=${owner}`,
      `--group=${owner}`,
      `--mode=${mode}`,
      names,
      from,
    ])
    t.equal(made.status, 0, String(made.stderr))
  }
  const scan = async () => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, '.ci/image-scan.ts')], {
      input: await readFile(archive),
      encoding: 'utf8',
    })
    return [status, ...stdout.trim().split('\n').slice(0, -1)]
  }
  add('./app/src/main.ts', 0, '644')
  add('./var/lib/zaakstroom/a', 1000, '600')
  add('./import-data', 1000, '755')
  t.strictSame(await scan(), [0])
  add('./app/of the user', 1000, '644')
  add('./app/of-all', 0, '666')
  add('./import-data-too', 1000, '755')
  add('./usr/bin/su', 0, '4755')
  add('./usr/bin/wall', 0, '2755')
  t.strictSame(await scan(), [
    1,
    'writable: /app/of the user',
    'writable: /app/of-all',
    'writable: /import-data-too',
    'runs as somebody else: /usr/bin/su',
    'runs as somebody else: /usr/bin/wall',
  ])
})

const helm = process.env.HELM ?? 'helm'
const hasHelm = spawnSync(helm, ['version', '--short']).status === 0
const chart = join(ROOT, 'deploy/helm/zaakstroom')
/** Schemas of the kinds that the chart renders; `test/generate-kubernetes.ts` made them. */
const kubernetes = JSON.parse(await read('test/kubernetes.json')) as {
  version: string
  kinds: Record<string, object>
  definitions: object
}

type Container = { name: string; resources?: object; securityContext: Record<string, unknown>; env: { name: string }[] }
type Rendered = {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: { template: { spec: { securityContext: Record<string, unknown>; containers: Container[] } } }
}

const PLAIN = {}
const EVERYTHING = {
  imagePullSecrets: [{ name: 'register' }],
  secrets: {
    directDatabaseUrl: { name: 'direct', key: 'DATABASE_URL' },
    readDatabaseUrl: { name: 'replica', key: 'DATABASE_URL' },
    migrateDatabaseUrl: { name: 'owner', key: 'DATABASE_URL' },
  },
  env: { PUBLIC_URL: 'https://zaken.example.nl', HTTP_MAX_CONNECTIONS: 100, NOTIFICATIONS_DISABLED: true },
  envFrom: [{ secretRef: { name: 'meer' } }],
  api: { autoscaling: { enabled: true } },
  worker: { autoscaling: { enabled: true } },
  service: { type: 'LoadBalancer' },
  ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' }, tls: { enabled: true, secretName: 'tls' } },
  persistence: { documenten: { storageClass: 'nfs' }, importData: { enabled: true, existingClaim: 'uitwisseling' } },
  metrics: { podMonitor: { enabled: true } },
  networkPolicy: {
    ingressFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    databasePorts: [5432, 6432],
    extraEgress: [{ ports: [{ port: 4318, protocol: 'TCP' }] }],
  },
  serviceAccount: { name: 'zaken', annotations: { a: 'b' } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'zaken', operator: 'Exists' }],
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] } },
  podAnnotations: { a: 'b' },
}

function runHelm(...args: string[]): (values: object) => { stdout: string; status: number | null; said: string } {
  return (values) => {
    const { stdout, stderr, status } = spawnSync(helm, [...args, '--values', '-'], {
      encoding: 'utf8',
      input: JSON.stringify(values),
    })
    return { stdout, status, said: stdout + stderr }
  }
}
const template = runHelm('template', 'proef', chart, '--kube-version', kubernetes.version)
const render = (values: object): Rendered[] => {
  const { stdout, status, said } = template(values)
  if (status !== 0) throw new Error(said)
  return stdout.split(/^---$/m).flatMap((text) => parse(text) ?? [])
}

t.test('the chart, rendered by helm', { skip: !hasHelm && 'no helm here: set HELM to its path' }, async (t) => {
  t.test('passes helm lint, with and without everything', async (t) => {
    for (const values of [PLAIN, EVERYTHING]) {
      const { status, said } = runHelm('lint', '--strict', chart)(values)
      t.equal(status, 0, said)
    }
  })

  t.test('is what Kubernetes takes: each object follows its schema, without unknown names', async (t) => {
    const { version, kinds, definitions } = kubernetes
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true })
    const seen = new Set<string>()
    for (const values of [PLAIN, EVERYTHING])
      for (const object of render(values)) {
        const kind = `${object.apiVersion} ${object.kind}`
        seen.add(kind)
        if (kind === 'monitoring.coreos.com/v1 PodMonitor') continue // of Prometheus' operator, not of Kubernetes
        const isValid = ajv.compile({ ...kinds[kind], definitions })
        t.ok(kinds[kind] && isValid(object), `${kind} ${object.metadata.name} of Kubernetes ${version}`, {
          faults: isValid.errors?.map(({ instancePath, message, params }) => ({ instancePath, message, params })),
        })
      }
    t.strictSame([...seen].sort(), [...Object.keys(kinds), 'monitoring.coreos.com/v1 PodMonitor'].sort())
  })

  t.test('runs without root on a file system that it cannot write, with bounds on what it takes', async (t) => {
    for (const values of [PLAIN, EVERYTHING])
      for (const { kind, spec } of render(values)) {
        if (kind !== 'Deployment' && kind !== 'Job') continue
        const { securityContext, containers } = spec.template.spec
        t.match(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
        for (const container of containers) {
          t.match(container.securityContext, {
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          })
          t.match(container.resources, { requests: { cpu: /\d/, memory: /\d/ }, limits: { memory: /\d/ } })
        }
      }
  })

  t.test('migrates over a direct connection, as the owner of the schema when there is one', async (t) => {
    const url = (secrets: object) => {
      const job = render({ secrets }).find(({ kind }) => kind === 'Job')!
      return job.spec.template.spec.containers[0]!.env
    }
    const of = (name: string) => [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name, key: 'URL' } } }]
    const given = (name: string) => ({ name, key: 'URL' })
    t.strictSame(url({ databaseUrl: given('a') }), of('a'))
    t.strictSame(url({ databaseUrl: given('a'), directDatabaseUrl: given('b') }), of('b'))
    t.strictSame(
      url({ databaseUrl: given('a'), directDatabaseUrl: given('b'), migrateDatabaseUrl: given('c') }),
      of('c'),
    )
  })

  t.test('refuses values that it does not know or that cannot be', async (t) => {
    for (const values of [{ api: { replicas: 0 } }, { api: { replica: 2 } }, { secrets: { secretKey: { name: '' } } }])
      t.not(template(values).status, 0, JSON.stringify(values))
  })
})

/** The names under which Prometheus stores a metric. */
function namesOf(name: string, type: string): string[] {
  if (type !== 'histogram' && type !== 'summary') return [name]
  return [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]
}
