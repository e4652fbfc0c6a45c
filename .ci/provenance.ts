// node .ci/provenance.ts <directory> [image@sha256:…]: writes there what the parts of the service are (sbom.cdx.json, CycloneDX), and
// of what a build was made (provenance.json): an in-toto statement with a provenance of SLSA (https://slsa.dev/spec/v1.0/provenance),
// which names the commit, the lockfile with the hash of every package, and that bill of materials. A working tree that differs
// from the commit is refused. Nothing is signed: whoever publishes an image signs with what the place of publication trusts.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 }).trim()
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
const fileHash = (path: string) => sha256(readFileSync(join(ROOT, path)))

const [, , directory, image] = process.argv
if (!directory) fail('name the directory to write to')
const changed = run('git', 'status', '--porcelain', '--untracked-files=no')
if (changed) fail(`the working tree differs from the commit:\n${changed}`)
const [, name, digest] = /^(.+)@sha256:([0-9a-f]{64})$/.exec(image ?? '') ?? []
if (image && !digest) fail(`not an image by its digest (name@sha256:…): ${image}`)

const commit = run('git', 'rev-parse', 'HEAD')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const sbom = run('npm', 'sbom', '--omit=dev', '--sbom-format=cyclonedx', '--package-lock-only')
const sources = ['Dockerfile', 'package.json', 'package-lock.json'].map((path) => ({
  name: path,
  digest: { sha256: fileHash(path) },
}))
const tree = { name: `zaakstroom-${version}`, digest: { gitTree: run('git', 'rev-parse', 'HEAD^{tree}') } }
const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [name ? { name, digest: { sha256: digest } } : tree],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: 'https://docs.docker.com/reference/dockerfile/',
      externalParameters: { dockerfile: 'Dockerfile' },
      resolvedDependencies: [
        { name: 'source', digest: { gitCommit: commit } },
        ...sources,
        { name: 'sbom.cdx.json', digest: { sha256: sha256(sbom) } },
      ],
    },
    runDetails: {
      builder: { id: process.env.BUILDER_ID ?? 'unknown' },
      metadata: { invocationId: process.env.BUILD_ID ?? '', finishedOn: new Date().toISOString() },
    },
  },
}
mkdirSync(directory, { recursive: true })
writeFileSync(join(directory, 'sbom.cdx.json'), sbom)
writeFileSync(join(directory, 'provenance.json'), `${JSON.stringify(statement, undefined, 2)}\n`)

function fail(why: string): never {
  console.error(`provenance: ${why}`)
  process.exit(1)
}
