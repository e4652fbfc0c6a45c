// Documents as blobs in a container of Azure Storage. The SDK is loaded at the first use.
//
// Large documents are staged as blocks, which nobody sees until the list of them is committed. Blocks that are never
// committed are removed by Azure itself after a week; there is no call to do it.

import { randomUUID } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { BlockBlobClient, ContainerClient, RequestPolicyFactory } from '@azure/storage-blob'
import type { Logger } from 'pino'
import type { AzureSettings } from '../../config/storage.ts'
import { loadOptional } from '../../lib/optional-package.ts'
import {
  asPrefix,
  codeOf,
  guarded,
  inParts,
  measure,
  openBrake,
  PART_DEADLINE_MS,
  PARTS_AT_ONCE,
  statusOf,
  storeFaults,
  TRIES,
  unusedKey,
  wholeDeadline,
  wholeSize,
  withDeadline,
} from './blob.ts'
import { identityOf, MARKER, OWNER, requireKey, type Store, StoreUnavailable } from './index.ts'
import { ownerIn, ownerLine } from './owner.ts'

const WRITE_ID = 'zaakstroomwrite' // metadata names of Azure are identifiers
const NOTHING_THERE = { ifNoneMatch: '*' }

/** Content in a container of Azure. The connection opens with the first question. */
export function azureStore(settings: AzureSettings, log?: Pick<Logger, 'error'>): Store {
  const prefix = asPrefix(settings.location)
  const asFault = storeFaults('azure_blob_storage', log)
  const braked = openBrake()
  let opened: Promise<ContainerClient> | undefined
  const open = () => {
    opened ??= openContainer(settings)
    return opened
  }

  async function call<T>(work: (container: ContainerClient, abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const container = await open()
      return await withDeadline((signal) => work(container, signal))
    } catch (error) {
      throw asFault(error)
    }
  }

  const exists = (key: string) =>
    call((container, abortSignal) => container.getBlobClient(prefix + key).exists({ abortSignal }))

  return {
    backend: 'azure_blob_storage',
    identity: identityOf('azure_blob_storage', accountOf(settings), settings.container, prefix),

    async write(asked, bytes, { signal, fresh } = {}) {
      requireKey(asked)
      signal?.throwIfAborted()
      const key = fresh ? asked : await unusedKey(asked, exists)
      const id = randomUUID()
      const measured = measure(bytes, signal)
      try {
        const blob = (await open()).getBlockBlobClient(prefix + key)
        await braked(() => upload(blob, measured.stream, { [WRITE_ID]: id }))
      } catch (error) {
        const fault = measured.fault()
        if (fault) throw fault.error
        if (statusOf(error) !== 409 && statusOf(error) !== 412) throw asFault(error)
        // The answer to a first try was lost, or somebody else was faster.
        const there = await call((container, abortSignal) =>
          container.getBlobClient(prefix + key).getProperties({ abortSignal }),
        )
        if (there.metadata?.[WRITE_ID] !== id) throw new StoreUnavailable('key-taken')
      } finally {
        void measured.stream.return(undefined).catch(() => {}) // waits for a source that is silent
      }
      return { key, size: measured.size(), sha256: measured.sha256() }
    },

    async read(key, range) {
      requireKey(key)
      return call(async (container, abortSignal) => {
        const blob = container.getBlobClient(prefix + key)
        try {
          const length = range && range.end - range.start + 1
          const found = await blob.download(range?.start ?? 0, length, { abortSignal, maxRetryRequests: TRIES - 1 })
          return {
            size: wholeSize(found.contentRange, found.contentLength),
            stream: guarded(found.readableStreamBody as Readable, asFault),
          }
        } catch (error) {
          if (codeOf(error) === 'BlobNotFound') return undefined
          if (statusOf(error) !== 416) throw error
          return { size: (await blob.getProperties({ abortSignal })).contentLength ?? 0, stream: Readable.from([]) }
        }
      })
    },

    async remove(key) {
      requireKey(key)
      await call((container, abortSignal) =>
        container.getBlobClient(prefix + key).deleteIfExists({ abortSignal, deleteSnapshots: 'include' }),
      )
    },

    async *list(wanted = '') {
      let continuationToken: string | undefined
      do {
        const from = continuationToken
        const page = await call(async (container, abortSignal) => {
          const pages = container
            .listBlobsFlat({ prefix: prefix + wanted, abortSignal })
            .byPage({ maxPageSize: 1000, ...(from && { continuationToken: from }) })
          return (await pages.next()).value
        })
        for (const { name, properties } of page?.segment.blobItems ?? []) {
          const key = name.slice(prefix.length)
          if (key === '' || key.startsWith('.') || key.endsWith('/')) continue
          yield { key, size: properties.contentLength ?? 0 }
        }
        continuationToken = page?.continuationToken
      } while (continuationToken)
    },

    // Blocks that were never put together end by themselves, after a week.
    async *unfinished() {},
    async removeUnfinished() {},

    async owner() {
      return call(async (container, abortSignal) => {
        const blob = container.getBlobClient(prefix + OWNER)
        return blob.downloadToBuffer(0, undefined, { abortSignal }).then(
          (bytes) => ownerIn(bytes.toString()),
          (error) => {
            if (codeOf(error) !== 'BlobNotFound' && statusOf(error) !== 404) throw error
            return undefined
          },
        )
      })
    },

    async claim(owner) {
      await call(async (container, abortSignal) => {
        const line = ownerLine(owner)
        const options = { abortSignal, conditions: NOTHING_THERE }
        await container
          .getBlockBlobClient(prefix + OWNER)
          .upload(line, line.length, options)
          .catch((error) => {
            if (codeOf(error) !== 'BlobAlreadyExists') throw error
          })
      })
    },

    // Rights are looked at before the condition, so that after the first time this writes nothing.
    async check() {
      await call(async (container, abortSignal) => {
        const marker = container.getBlockBlobClient(prefix + MARKER)
        await marker.upload('', 0, { abortSignal, conditions: NOTHING_THERE }).catch((error) => {
          if (codeOf(error) !== 'BlobAlreadyExists') throw error
        })
      })
    },
  }
}

/** What of a connection string names the account: its keys may change. */
function accountOf({ account }: AzureSettings): string | undefined {
  if ('name' in account) return account.name
  const { connectionString } = account
  return /AccountName=([^;]+)/i.exec(connectionString)?.[1] ?? /BlobEndpoint=([^;?]+)/i.exec(connectionString)?.[1]
}

/** One request for what fits in a part, else blocks and the list of them. */
async function upload(blob: BlockBlobClient, bytes: AsyncIterable<Uint8Array>, metadata: Record<string, string>) {
  const failed = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  const blocks: string[] = []
  let first: Buffer | undefined
  const part = { ms: PART_DEADLINE_MS, signal: failed.signal }

  async function stage(body: Buffer): Promise<void> {
    while (underWay.size >= PARTS_AT_ONCE) await Promise.race(underWay)
    failed.signal.throwIfAborted()
    const id = Buffer.from(`${randomUUID()}-${String(blocks.length).padStart(6, '0')}`).toString('base64')
    blocks.push(id)
    const staging = withDeadline((abortSignal) => blob.stageBlock(id, body, body.byteLength, { abortSignal }), part)
      .catch((error) => failed.abort(error))
      .finally(() => underWay.delete(staging))
    underWay.add(staging)
  }

  try {
    for await (const body of inParts(bytes)) {
      if (first === undefined && blocks.length === 0) {
        first = body // whether it is the only one shows later
        continue
      }
      if (first) await stage(first)
      first = undefined
      await stage(body)
    }
    await Promise.all(underWay)
    failed.signal.throwIfAborted()
  } catch (error) {
    failed.abort(error)
    await Promise.all(underWay)
    throw error
  }
  const blobHTTPHeaders = { blobContentType: 'application/octet-stream' }
  await withDeadline(
    (abortSignal) => {
      const options = { abortSignal, conditions: NOTHING_THERE, metadata, blobHTTPHeaders }
      return first ? blob.upload(first, first.byteLength, options) : blob.commitBlockList(blocks, options)
    },
    { ms: first ? wholeDeadline(first.byteLength) : PART_DEADLINE_MS },
  )
}

/** @throws PackageMissing when this installation was made without it */
export const azurePackage = () =>
  loadOptional('DOCUMENTEN_BACKEND=azure_blob_storage', () => import('@azure/storage-blob'))

async function openContainer(settings: AzureSettings): Promise<ContainerClient> {
  const { account, container } = settings
  const { BlobServiceClient, StorageSharedKeyCredential, newPipeline } = await azurePackage()
  const retryOptions = { maxTries: TRIES, retryDelayInMs: 200, maxRetryDelayInMs: 2000 }
  const pipelineFor = (credential: Parameters<typeof newPipeline>[0]) => {
    const pipeline = newPipeline(credential, { retryOptions })
    // Before all others: some of them are to see what this changes.
    pipeline.factories.unshift(ourRequests(settings))
    return pipeline
  }
  if ('connectionString' in account) {
    const service = BlobServiceClient.fromConnectionString(account.connectionString, { retryOptions })
    // A string with a shared access signature has it in the address, and no credential to take along.
    if (!(service.credential instanceof StorageSharedKeyCredential)) return service.getContainerClient(container)
    return new BlobServiceClient(service.url, pipelineFor(service.credential)).getContainerClient(container)
  }
  const { ClientSecretCredential, DefaultAzureCredential } = await loadOptional(
    'Azure with an identity',
    () => import('@azure/identity'),
  )
  const { client } = account
  const credential = client
    ? new ClientSecretCredential(client.tenant, client.id, client.secret)
    : new DefaultAzureCredential()
  const url = `https://${account.name}.blob.core.windows.net`
  return new BlobServiceClient(url, pipelineFor(credential)).getContainerClient(container)
}

/** Connections that have to come about in time, and the version of the protocol that was set. */
function ourRequests({ connectionTimeoutMs, apiVersion }: AzureSettings): RequestPolicyFactory {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) }
  for (const agent of Object.values(agents)) limitConnecting(agent, connectionTimeoutMs)
  return {
    create: (next) => ({
      sendRequest: (request) => {
        request.agent = request.url.startsWith('https:') ? agents.https : agents.http
        if (apiVersion) request.headers.set('x-ms-version', apiVersion)
        return next.sendRequest(request)
      },
      shouldLog: () => false,
      log: () => {},
    }),
  }
}

function limitConnecting(agent: HttpAgent, ms: number): void {
  const create = agent.createConnection.bind(agent) as (...args: unknown[]) => Socket
  agent.createConnection = ((...args: unknown[]) => {
    const socket = create(...args)
    const late = () => socket.destroy(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' }))
    const timer = setTimeout(late, ms)
    socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
    return socket
  }) as typeof agent.createConnection
}
