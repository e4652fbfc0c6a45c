// By hand: `npm test -- test/clients/jvm.ts`. The client classes of GZAC and ZAC, compiled from their own repositories, against a service
// with the world of clients.test.ts. What it needs, and is skipped with a word without: a JDK of 17 or later, Maven with the libraries of
// these clients, git, and their repositories, from GZAC_SOURCE and ZAC_SOURCE: an address or a folder.
//
// In a process of its own: compiling takes minutes.
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { prepareNrc } from '../../src/nrc/start.ts'
import { SECRET, testApp } from '../app.ts'
import { made } from '../zaken/given.ts'
import { GZAC_FILTERS } from './facts.ts'
import { closureOf } from './jvm/closure.ts'
import { givenWorld } from './world.ts'

const run = promisify(execFile)
const MINUTE = 60_000
t.setTimeout(30 * MINUTE)

type Program = {
  name: string
  source: string
  /** The folder of the repository that has the sources. */
  folder: string
  /** Classes of the client with which it begins; what they name comes along. */
  seeds: string[]
  /** Files that are left out with what they name, since ours stand in their place: they ask nothing of the service. */
  instead: Record<string, string | null>
  driver: string
  main: string
  pom: string
}

const HERE = join(import.meta.dirname, 'jvm')
const PROGRAMS: Program[] = [
  {
    name: 'GZAC',
    source: process.env.GZAC_SOURCE ?? 'https://github.com/valtimo-platform/valtimo',
    folder: 'backend',
    seeds: ['ZakenApiClient.kt', 'DocumentenApiClient.kt', 'CatalogiApiClient.kt', 'BesluitenApiClient.kt'],
    instead: { 'catalogiapi/service/CatalogiService.kt': 'CatalogiService.kt' },
    driver: 'Gzac.kt',
    main: 'zaakstroom.GzacKt',
    pom: 'gzac.xml',
  },
  {
    // A copy of ZAC of August 2024: the repository of today is larger than most machines of a test fetch, and makes its models as it is built.
    name: 'ZAC',
    source: process.env.ZAC_SOURCE ?? 'https://github.com/NL-AMS-LOCGOV/zaakafhandelcomponent',
    folder: 'src',
    seeds: [
      'ZRCClient.java',
      'DRCClient.java',
      'ZTCClient.java',
      'BRCClient.java',
      'Notificatie.java',
      'HoofdzaakZaakPatch.java',
      'LocatieZaakPatch.java',
      'RelevantezaakZaakPatch.java',
    ],
    instead: {
      'shared/util/ZGWClientHeadersFactory.java': 'ZGWClientHeadersFactory.java',
      'configuratie/ConfiguratieService.java': 'ConfiguratieService.java',
      'notificaties/NotificatieReceiver.java': null,
      'util/FlywayIntegrator.java': null,
      'ztc/ZTCClientService.java': null,
    },
    driver: 'Zac.java',
    main: 'zaakstroom.Zac',
    pom: 'zac.xml',
  },
]

const test = await testApp(t, { DOCUMENTEN_UPLOAD_CHUNK_SIZE: '1000' })
await test.app.listen({ port: 0, host: '127.0.0.1' })
await test.database.sql`update notificatie_settings set mode = 'ingebouwd'`
await prepareNrc(test.database, test.config)
const subscribed = made(
  await test.call('POST', '/notificaties/api/v1/abonnement', {
    callbackUrl: '',
    kanalen: [{ naam: 'zaken' }, { naam: 'documenten' }],
  }),
)
const API = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`

for (const program of PROGRAMS)
  t.test(`the client of ${program.name} works on this service`, async (t) => {
    const lacks = await lacking(['java', '-version'], ['mvn', '-v'], ['git', '--version'])
    if (lacks) return skip(t, `there is no ${lacks}`)
    const folder = t.testdir({})
    try {
      await checkout(program, folder)
    } catch (error) {
      return skip(t, `its repository cannot be had: ${String(error).slice(0, 200)}`)
    }
    const classpath = await built(t, program, folder)
    if (!classpath) return
    await drive(t, program, classpath)
  })

const skip = (t: Test, why: string): void => void t.pass('its client', { skip: why })

async function lacking(...commands: [string, ...string[]][]): Promise<string | undefined> {
  for (const [command, ...args] of commands)
    try {
      await run(command, args)
    } catch {
      return command
    }
  return undefined
}

async function checkout({ source, folder }: Program, into: string): Promise<void> {
  await run('git', ['clone', '--quiet', '--depth', '1', source, join(into, 'repository')], { timeout: 5 * MINUTE })
  await readdir(join(into, 'repository', folder))
}

/** Compiles the classes with our driver. @returns the class path; undefined when the libraries cannot be had */
async function built(t: Test, program: Program, folder: string): Promise<string | undefined> {
  const { seeds, instead, driver, pom } = program
  const files = await closureOf(join(folder, 'repository'), seeds, Object.keys(instead))
  const project = join(folder, 'project')
  for (const file of files) {
    const to = join(project, 'src', file.slice(file.lastIndexOf('/src/main/') + '/src/'.length))
    await mkdir(dirname(to), { recursive: true })
    await cp(file, to)
  }
  for (const ours of [...Object.values(instead).filter((ours) => ours !== null), driver])
    await cp(join(HERE, ours), join(project, 'src/main', ours.endsWith('.java') ? 'java' : 'kotlin', ours))
  await writeFile(join(project, 'pom.xml'), await readFile(join(HERE, pom)))
  const goals = ['-B', '-q', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath']
  try {
    await run('mvn', goals, { cwd: project, timeout: 20 * MINUTE, maxBuffer: 64 * 1024 * 1024 })
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string }
    if (/Could not (transfer|find|resolve)|Unknown host/i.test(stdout)) {
      skip(t, `its libraries cannot be had: ${stdout.slice(0, 300)}`)
      return undefined
    }
    throw new Error(`its client does not compile: ${stdout.slice(0, 2000)}`)
  }
  return `${join(project, 'target/classes')}:${(await readFile(join(project, 'classpath'), 'utf8')).trim()}`
}

async function drive(t: Test, { main }: Program, classpath: string): Promise<void> {
  const world = await givenWorld(test)
  const here = JSON.parse(JSON.stringify(world).replaceAll('http://localhost/', `${API}/`))
  const filters = { ...GZAC_FILTERS, zaaktype: here.zaaktype }
  const { body } = await test.call('GET', `${subscribed.url}/berichten?limit=100`)
  const messages = body.items.map(({ bericht }: { bericht: unknown }) => JSON.stringify(bericht))
  const env = {
    ...process.env,
    API,
    TOKEN: signToken('beheer', SECRET),
    WORLD: JSON.stringify({ ...here, filters, messages }),
  }
  const program = spawn('java', ['-cp', classpath, main], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 5 * MINUTE,
  })
  let steps = 0
  let ended = false
  for await (const line of createInterface(program.stdout)) {
    if (line.startsWith('ok ') && ++steps) t.pass(line)
    else if (line.startsWith('not ok ')) t.fail(line)
    else if (line.startsWith('done, ')) ended = true
  }
  t.ok(ended, `it came to its end, after ${steps} steps`)
}
