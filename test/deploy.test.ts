// What is shipped to run and to watch the service, held against the service: metrics that exist, alerts that are explained,
// a chart that can be rendered.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { runApi } from '../src/cli/run-api.ts'
import { SETTINGS } from '../src/config/environment.ts'
import { readConfig } from '../src/config.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { addressOf } from '../src/database/address.ts'
import { openDatabase } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { LIMITS } from '../src/database/session.ts'
import { startMetrics } from '../src/operations/metrics-server.ts'
import { openLog } from '../src/telemetry/log.ts'
import '../src/organisations/metrics.ts' // a process of one organisation has them not
import { hasPooler, startPooler } from './database/pooler.ts'
import { freePort } from './free-port.ts'
import { emptyDatabase, testDatabase } from './setup.ts'

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
  const metrics = await startMetrics({ port, host: '127.0.0.1', role: 'api', databaseUrl: url, log: openLog('silent') })
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

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

t.test(
  'every alert fires for the installation in trouble, and not for the one beside it',
  { skip: !hasPromtool && 'no promtool here: install prometheus' },
  async (t) => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], {
      cwd: join(ROOT, 'deploy/prometheus'),
      encoding: 'utf8',
    })
    t.equal(status, 0, stdout + stderr)
  },
)

t.test('every alert has a test in which it fires, and judges each installation by itself', async (t) => {
  const { tests } = parse(await read('deploy/prometheus/alerts.test.yaml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[]
  }
  const fired = tests.flatMap(({ alert_rule_test }) =>
    alert_rule_test.flatMap(({ alertname, exp_alerts }) => (exp_alerts.length > 0 ? [alertname] : [])),
  )
  t.strictSame(fired.sort(), alerts.map(({ alert }) => alert).sort())
  for (const { alert, expr } of alerts)
    if (alert !== 'ZaakstroomAbsent')
      t.notMatch(
        expr,
        /\b(min|max|sum|group|count) ?(\(|by \((?!namespace, job))/,
        `${alert} goes by namespace and job`,
      )
})

t.test('the dashboard asks for the installation that was chosen', async (t) => {
  for (const { expr } of dashboard.panels.flatMap(({ targets }) => targets))
    for (const [, selector] of expr.matchAll(/zaakstroom_\w+({[^}]*})?/g))
      t.match(selector, /namespace=~"\$namespace", job=~"\$job"/, expr)
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

t.test('images that others make are pinned by digest, and Node is the one that we test with', async (t) => {
  const files = ['Dockerfile', 'compose.yaml', 'deploy/compose.pooler.yaml']
  const named = (await Promise.all(files.map(read))).flatMap((text) =>
    [...text.matchAll(/^(?:FROM|\s+image:) (\S+)/gm)].map(([, image]) => image!),
  )
  const foreign = named.filter((image) => image !== 'zaakstroom' && image !== 'packages')
  t.ok(foreign.length >= 4)
  for (const image of foreign) t.match(image, /^[^@:]+:[^@]+@sha256:[0-9a-f]{64}$/)
  const { devDependencies } = JSON.parse(await read('package.json')) as { devDependencies: { node: string } }
  for (const image of foreign.filter((image) => image.startsWith('node:')))
    t.match(image, `node:${devDependencies.node}-slim@`)
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
/** Schemas of the kinds that the chart renders, and of those of operators; `test/generate-kubernetes.ts` made them. */
const kubernetes = JSON.parse(await read('test/kubernetes.json')) as {
  version: string
  kinds: Record<string, object>
  ofOperators: Record<string, object>
  definitions: object
}

/** Whether an object is what its kind takes. */
function isTaken(t: Test, object: { apiVersion: string; kind: string; metadata: { name: string } }): void {
  const { version, kinds, ofOperators, definitions } = kubernetes
  const kind = `${object.apiVersion} ${object.kind}`
  const schema = kinds[kind] ?? ofOperators[kind]
  const isValid = new Ajv({ allErrors: true, strictTypes: false }).compile({ ...schema, definitions })
  t.ok(schema && isValid(object), `${kind} ${object.metadata.name} of Kubernetes ${version}`, {
    faults: isValid.errors?.map(({ instancePath, message, params }) => ({ instancePath, message, params })),
  })
}

type Container = {
  name: string
  image: string
  resources?: object
  securityContext: Record<string, unknown>
  env: { name: string; value?: string }[]
  envFrom?: object[]
  volumeMounts: { name: string; mountPath: string }[]
}
type Pod = {
  securityContext: Record<string, unknown>
  containers: Container[]
  volumes: { name: string }[]
  topologySpreadConstraints?: object[]
}
type Rendered = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  data?: Record<string, string>
  spec: {
    template: { spec: Pod }
    ingress: { ports: { port: string }[]; from?: object[] }[]
    groups: unknown[]
  }
}
/** Of the operator of Prometheus, not of Kubernetes. */
const OF_OPERATOR = ['monitoring.coreos.com/v1 PodMonitor', 'monitoring.coreos.com/v1 PrometheusRule']

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
  metrics: {
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    rules: { enabled: true, labels: { release: 'prometheus' } },
    dashboard: { enabled: true },
  },
  volumes: [{ name: 'ca', configMap: { name: 'our-ca' } }],
  volumeMounts: [{ name: 'ca', mountPath: '/etc/our-ca', readOnly: true }],
  networkPolicy: {
    ingressFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
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

// What CloudNativePG is given, beside the chart.

type Named = { name: string }
type Cluster = {
  metadata: Named
  spec: {
    bootstrap: {
      initdb: { database: string; owner: string; secret: Named; postInitApplicationSQL: string[] }
    }
    certificates: { serverAltDNSNames: string[] }
    plugins: { name: string; parameters: { barmanObjectName: string } }[]
  }
}
type Pooler = {
  metadata: Named
  spec: { cluster: Named; pgbouncer: { poolMode: string; parameters: Record<string, string> } }
}
type Key = { name: string; key: string }
type Store = { metadata: Named; spec: { configuration: { s3Credentials: Record<string, Key> } } }
type Secret = { metadata: Named; type?: string; stringData: Record<string, string> }

const all = async <T>(file: string): Promise<T[]> =>
  parseAllDocuments(await read(`deploy/cloudnativepg/${file}`)).map((document) => document.toJS() as T)
const objects = await all<{ apiVersion: string; kind: string; metadata: Named; spec: object }>('cluster.yaml')
const the = <T>(wanted: string): T => objects.find(({ kind }) => kind === wanted)! as T
const cluster = the<Cluster>('Cluster')
const pooler = the<Pooler>('Pooler')
const { initdb } = cluster.spec.bootstrap
const given = parse(await read('deploy/cloudnativepg/values.yaml')) as {
  secrets: Record<string, Key>
  volumes: { secret: { secretName: string } }[]
}
const secrets = await all<Secret>('secrets.yaml')
const secretOf = ({ name, key }: Key): string | undefined =>
  secrets.find(({ metadata }) => metadata.name === name)?.stringData[key]

t.test('the chart, rendered by helm', { skip: !hasHelm && 'no helm here: set HELM to its path' }, async (t) => {
  t.test('passes helm lint, with and without everything', async (t) => {
    for (const values of [PLAIN, EVERYTHING]) {
      const { status, said } = runHelm('lint', '--strict', chart)(values)
      t.equal(status, 0, said)
    }
  })

  t.test('is what Kubernetes takes: each object follows its schema, without unknown names', async (t) => {
    const seen = new Set<string>()
    for (const values of [PLAIN, EVERYTHING])
      for (const object of render(values)) {
        const kind = `${object.apiVersion} ${object.kind}`
        seen.add(kind)
        if (!OF_OPERATOR.includes(kind)) isTaken(t, object)
      }
    t.strictSame([...seen].sort(), [...Object.keys(kubernetes.kinds), ...OF_OPERATOR].sort())
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

  const podsOf = (values: object) =>
    render(values).flatMap(({ kind, metadata, spec }) =>
      kind === 'Deployment' || kind === 'Job' ? [{ name: metadata.name, ...spec.template.spec }] : [],
    )
  const find = (values: object, kind: string) => render(values).filter((one) => one.kind === kind)

  t.test("gives volumes, mounts and settings of one's own to every pod and to the migration", async (t) => {
    const pods = podsOf(EVERYTHING)
    t.strictSame(pods.map(({ name }) => name).sort(), ['proef-api', 'proef-migrate', 'proef-worker'])
    for (const { name, containers, volumes } of pods) {
      t.ok(
        volumes.some((one) => one.name === 'ca'),
        `${name} has the volume`,
      )
      for (const { volumeMounts, env, envFrom } of containers) {
        t.ok(
          volumeMounts.some(({ mountPath }) => mountPath === '/etc/our-ca'),
          `${name} mounts it`,
        )
        t.ok(
          env.some((one) => one.name === 'PUBLIC_URL'),
          `${name} has the settings`,
        )
        t.strictSame(envFrom, EVERYTHING.envFrom, `${name} has those of the Secret`)
      }
    }
  })

  t.test('takes a secret from a file that is mounted, and asks for the one or the other', async (t) => {
    const values = {
      secrets: { databaseUrl: { name: '', key: '' }, secretKey: { name: '', key: '' } },
      env: { DATABASE_URL_FILE: '/run/secrets/url', SECRET_KEY_FILE: '/run/secrets/key' },
    }
    for (const { containers } of podsOf(values)) {
      const names = containers.flatMap(({ env }) => env.map(({ name }) => name))
      t.notOk(names.includes('DATABASE_URL') || names.includes('SECRET_KEY'))
      t.ok(names.includes('DATABASE_URL_FILE'))
    }
    t.match(template({ secrets: { secretKey: { name: '', key: '' } } }).said, 'SECRET_KEY_FILE')
  })

  t.test('gives documents to the group once, and leaves users and groups to OpenShift', async (t) => {
    for (const { securityContext } of podsOf(PLAIN)) t.equal(securityContext.fsGroupChangePolicy, 'OnRootMismatch')
    const none = { runAsUser: null, runAsGroup: null, fsGroup: null }
    for (const { securityContext } of podsOf({ podSecurityContext: none })) {
      t.notOk('runAsUser' in securityContext || 'runAsGroup' in securityContext || 'fsGroup' in securityContext)
      t.equal(securityContext.runAsNonRoot, true)
    }
  })

  t.test('lets its own namespace in, and only those that are named to the metrics', async (t) => {
    const own = { podSelector: {} }
    const ingress = (values: object) =>
      Object.fromEntries(
        find(values, 'NetworkPolicy')[0]!.spec.ingress.map(({ ports, from }) => [ports[0]!.port, from]),
      )
    t.strictSame(ingress(PLAIN), { http: undefined, metrics: [own] })
    t.strictSame(ingress(EVERYTHING), {
      http: [own, ...EVERYTHING.networkPolicy.ingressFrom],
      metrics: [own, ...EVERYTHING.networkPolicy.metricsFrom],
    })
  })

  t.test('has no budget that keeps the node of a single pod from being drained, and spreads the others', async (t) => {
    const budgets = (values: object) => find(values, 'PodDisruptionBudget').map(({ metadata }) => metadata.name)
    t.strictSame(budgets(PLAIN), ['proef-api', 'proef-worker'])
    t.strictSame(budgets({ api: { replicas: 1 }, worker: { replicas: 1 } }), [])
    t.strictSame(budgets({ api: { autoscaling: { enabled: true, minReplicas: 1 } } }), ['proef-worker'])
    for (const budget of find(PLAIN, 'PodDisruptionBudget')) t.match(budget.spec, { maxUnavailable: 1 })
    for (const { name, topologySpreadConstraints } of podsOf(PLAIN))
      if (name !== 'proef-migrate') t.equal(topologySpreadConstraints?.length, 1, name)
  })

  t.test('brings monitor, rules and dashboard, with the labels that are looked for', async (t) => {
    for (const kind of ['PodMonitor', 'PrometheusRule'])
      t.equal(find(EVERYTHING, kind)[0]?.metadata.labels.release, 'prometheus', kind)
    t.strictSame(find(EVERYTHING, 'PrometheusRule')[0]?.spec, parse(await read('deploy/prometheus/alerts.yaml')))
    const [map] = find(EVERYTHING, 'ConfigMap')
    t.equal(map?.metadata.labels.grafana_dashboard, '1')
    t.strictSame(JSON.parse(map?.data?.['zaakstroom.json'] ?? ''), dashboard)
    t.strictSame(find(PLAIN, 'PrometheusRule'), [])
  })

  t.test('takes the addresses of CloudNativePG and its authority by the values beside them', async (t) => {
    for (const { name, containers, volumes } of podsOf(given)) {
      const { env, volumeMounts } = containers[0]!
      const ca = env.find((one) => one.name === 'DATABASE_SSLROOTCERT_FILE')?.value
      const mount = volumeMounts.find(({ mountPath }) => ca?.startsWith(`${mountPath}/`))
      t.ok(
        volumes.some((volume) => volume.name === mount?.name),
        `${name} can read ${ca}`,
      )
    }
  })

  t.test('pins the image by its digest', async (t) => {
    const digest = `sha256:${'a'.repeat(64)}`
    for (const { containers } of podsOf({ image: { tag: '1.0.0', digest } }))
      for (const { image } of containers) t.equal(image, `zaakstroom:1.0.0@${digest}`)
  })

  t.test('refuses values that it does not know or that cannot be', async (t) => {
    for (const values of [
      { api: { replicas: 0 } },
      { api: { replica: 2 } },
      { secrets: { secretKey: { name: '' } } },
      { image: { digest: 'latest' } },
    ])
      t.not(template(values).status, 0, JSON.stringify(values))
  })
})

t.test('what CloudNativePG is given follows the definitions of its operators, without unknown names', async (t) => {
  for (const object of objects) isTaken(t, object)
  t.strictSame(
    [...new Set(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))].sort(),
    [...Object.keys(kubernetes.ofOperators), 'v1 Service'].sort(),
  )
})

t.test('cluster, pooler, backup, secrets and values name one database', async (t) => {
  const { name } = cluster.metadata
  const backup = the<{ spec: { cluster: Named; pluginConfiguration: Named } }>('ScheduledBackup').spec
  t.strictSame([pooler.spec.cluster, backup.cluster], [{ name }, { name }])
  const [plugin] = cluster.spec.plugins
  const store = the<Store>('ObjectStore')
  t.equal(backup.pluginConfiguration.name, plugin!.name)
  t.equal(plugin!.parameters.barmanObjectName, store.metadata.name)
  for (const key of Object.values(store.spec.configuration.s3Credentials)) t.ok(secretOf(key), key.key)

  const reading = the<{ metadata: Named; spec: { selector: Record<string, string> } }>('Service')
  t.equal(reading.spec.selector['cnpg.io/cluster'], name)
  t.match(reading.spec.selector['cnpg.io/instanceName'], new RegExp(`^${name}-[123]$`), 'one instance')
  const hosts = {
    databaseUrl: pooler.metadata.name,
    directDatabaseUrl: `${name}-rw`,
    readDatabaseUrl: reading.metadata.name,
  }
  for (const [which, host] of Object.entries(hosts)) {
    const address = addressOf(secretOf(given.secrets[which]!)!)
    const { owner: user, database } = initdb
    t.match(address, { host, port: 5432, user, database, mode: 'verify-full', password: /^\$\{PASSWORD\}$/ }, which)
    if (host !== `${name}-rw`) t.ok(cluster.spec.certificates.serverAltDNSNames.includes(host), `it is ${host}`)
  }
  t.equal(given.volumes[0]!.secret.secretName, `${name}-ca`, 'the Secret that the operator makes')
  t.match(secretOf(given.secrets.secretKey!), /^\$/)
  t.match(
    secrets.find(({ metadata }) => metadata.name === initdb.secret.name),
    { type: 'kubernetes.io/basic-auth', stringData: { username: initdb.owner, password: /^\$\{PASSWORD\}$/ } },
  )
})

t.test('the steps in the manual fill in all that the secrets leave open', async (t) => {
  const manual = await read('docs/operations.md')
  const open = (await read('deploy/cloudnativepg/secrets.yaml')).matchAll(/: .*\$\{(\w+)\}/g)
  for (const [, name] of open) t.match(manual, `${name}=`)
})

t.test(
  'behind a Pooler, which has no connect_query, the role brings what a session needs',
  { skip: !hasPooler && 'no pgbouncer here' },
  async (t) => {
    const { url } = await emptyDatabase(t)
    const { username, pathname } = new URL(url)
    const ours = `role ${initdb.owner} in database ${initdb.database}`
    const sql = postgres(url, { max: 1 })
    for (const statement of initdb.postInitApplicationSQL)
      await sql.unsafe(statement.replace(ours, `role ${username} in database ${pathname.slice(1)}`))
    await sql.end()
    await migrate(url)
    // As the operator writes it: https://cloudnative-pg.io/documentation/current/connection_pooling/
    const { poolMode, parameters } = pooler.spec.pgbouncer
    const lines = {
      listen_addr: '*',
      listen_port: 5432,
      auth_type: 'hba',
      auth_file: '',
      pool_mode: poolMode,
      ignore_startup_parameters: 'extra_float_digits,options',
      ...parameters,
    }
    const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}\n`)
    const bouncer = await startPooler(url, 3, `[databases]\n* = host=postgres port=5432\n[pgbouncer]\n${text.join('')}`)
    t.teardown(bouncer.stop)
    const key = 'the key of this database, long enough'
    const directory = t.testdir({ import: {} })
    const config = readConfig({
      DATABASE_URL: bouncer.url,
      DATABASE_DIRECT_URL: url,
      DATA_DIR: join(directory, 'data'),
      IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import'),
      SECRET_KEY: key,
      PORT: '0',
      LOG_LEVEL: 'silent',
    })
    const log = openLog('warn')
    const warned = t.capture(log, 'warn')
    const api = await runApi(config, url, secretBox(key), log)
    t.teardown(() => api.stop())
    t.strictSame(
      warned().map(({ args }) => args),
      [],
      'it starts, and misses no limit',
    )
    t.equal((await fetch(`${api.address}/readyz`)).status, 200)
    const database = openDatabase(url, { max: 1, name: 'test', pooler: bouncer.url })
    t.teardown(database.close)
    const rows = await database.sql<{ name: string; value: string }[]>`
      select name, setting as value from pg_settings where name in ${database.sql(Object.keys(LIMITS))}`
    t.strictSame(Object.fromEntries(rows.map(({ name, value }) => [name, value])), LIMITS)
  },
)

/** The names under which Prometheus stores a metric. */
function namesOf(name: string, type: string): string[] {
  if (type !== 'histogram' && type !== 'summary') return [name]
  return [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]
}
