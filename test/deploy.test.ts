// What is shipped to run and to watch the service, held against the service: metrics that exist, alerts that are explained,
// a chart that can be rendered.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { SETTINGS } from '../src/config/environment.ts'
import { openLog } from '../src/telemetry/log.ts'
import { startMetrics } from '../src/telemetry/metrics.ts'
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

const helm = process.env.HELM ?? 'helm'
const hasHelm = spawnSync(helm, ['version', '--short']).status === 0

t.test(
  'the chart passes helm lint and renders',
  { skip: !hasHelm && 'no helm here: set HELM to its path' },
  async (t) => {
    const chart = join(ROOT, 'deploy/helm/zaakstroom')
    const lint = spawnSync(helm, ['lint', '--strict', chart], { encoding: 'utf8' })
    t.equal(lint.status, 0, lint.stdout + lint.stderr)
    const everything = [
      'api.autoscaling.enabled',
      'worker.autoscaling.enabled',
      'ingress.enabled',
      'metrics.serviceMonitor.enabled',
    ]
    for (const settings of [[], everything]) {
      const set = settings.flatMap((name) => ['--set', `${name}=true`])
      const { stdout, stderr, status } = spawnSync(helm, ['template', 'proef', chart, ...set], { encoding: 'utf8' })
      t.equal(status, 0, stderr)
      const objects = stdout.split(/^---$/m).flatMap((text) => parse(text) ?? [])
      t.ok(objects.length > 5)
      for (const { kind, spec } of objects as { kind: string; spec: { template: { spec: Record<string, never> } } }[]) {
        if (kind !== 'Deployment' && kind !== 'Job') continue
        const { securityContext, containers } = spec.template.spec as unknown as {
          securityContext: { runAsNonRoot: boolean }
          containers: { securityContext: { readOnlyRootFilesystem: boolean } }[]
        }
        t.equal(securityContext.runAsNonRoot, true)
        for (const container of containers) t.equal(container.securityContext.readOnlyRootFilesystem, true)
      }
    }
    const refused = spawnSync(helm, ['template', 'proef', chart, '--set', 'api.replicas=0'], { encoding: 'utf8' })
    t.not(refused.status, 0, 'values are checked by their schema')
  },
)

/** The names under which Prometheus stores a metric. */
function namesOf(name: string, type: string): string[] {
  if (type !== 'histogram' && type !== 'summary') return [name]
  return [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]
}
