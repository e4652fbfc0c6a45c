// Servers that speak the protocols of the blob stores, as child processes with a directory of their own.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPackages } from '../own-packages.ts'

type TestLike = { teardown(work: () => unknown): unknown }

export type Opslagserver = {
  /** The settings with which a program uses it. */
  env: Record<string, string>
  /** Where it keeps its things. */
  directory: string
  stop(): Promise<void>
  /** Again on the same port; S3 with what it had. */
  start(): Promise<void>
}

/** S3, with a bucket. */
export async function givenS3(t: TestLike): Promise<Opslagserver> {
  const bin = (await ownPackages('s3rver')).resolve('s3rver/bin/s3rver.js')
  const { port, ...server } = await givenServer(
    t,
    (directory, port) => [
      '--openssl-legacy-provider', // its lists continue with tokens in DES
      ...['--import', new URL('s3rver-whole-writes.ts', import.meta.url).href],
      bin,
      ...['-d', directory, '-a', '127.0.0.1', '-p', `${port}`, '--configure-bucket', 'documenten'],
    ],
    /S3rver listening on 127\.0\.0\.1:(\d+)/,
  )
  return {
    ...server,
    env: {
      S3_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: 'S3RVER',
      S3_SECRET_ACCESS_KEY: 'S3RVER',
      S3_STORAGE_BUCKET_NAME: 'documenten',
    },
  }
}

// The account that every such server has; its key is in the documentation of the product.
const ACCOUNT = 'devstoreaccount1'
const ACCOUNT_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/** Azure Storage, with a container. It keeps all in memory: after a stop it is empty. */
export async function givenAzure(t: TestLike): Promise<Opslagserver> {
  const bin = (await ownPackages('azurite')).resolve('azurite/dist/src/blob/main.js')
  const { port, start, ...server } = await givenServer(
    t,
    (_directory, port) => [
      bin,
      ...['--silent', '--disableTelemetry', '--skipApiVersionCheck', '--inMemoryPersistence'],
      ...['--blobPort', `${port}`],
    ],
    /listens on http:\/\/127\.0\.0\.1:(\d+)/,
  )
  const AZURE_CONNECTION_STRING = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${ACCOUNT_KEY};BlobEndpoint=http://127.0.0.1:${port}/${ACCOUNT};`
  const { BlobServiceClient } = await import('@azure/storage-blob')
  const createContainer = async () => {
    await BlobServiceClient.fromConnectionString(AZURE_CONNECTION_STRING).createContainer('documenten')
  }
  await createContainer()
  return {
    ...server,
    start: () => start().then(createContainer),
    env: { AZURE_CONNECTION_STRING, AZURE_CONTAINER: 'documenten' },
  }
}

async function givenServer(t: TestLike, args: (directory: string, port: number) => string[], listening: RegExp) {
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-server-'))
  let port = 0
  let child: ChildProcess | undefined
  const start = async () => {
    child = spawn(process.execPath, args(directory, port), { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
    port = await listeningPort(child, listening)
  }
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child!.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })
  await start()
  return { directory, port, start, stop }
}

function listeningPort(child: ChildProcess, listening: RegExp): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (text) => {
        said = `${said}${text}`.slice(-4000)
        const [, port] = listening.exec(said) ?? []
        if (port) resolve(Number(port))
      })
    }
    child.once('exit', () => reject(new Error(`the server did not start: ${said}`)))
  })
}
