// Documents as objects in a bucket of S3, or of a server that speaks its protocol. The SDK is loaded at the first use.
//
// A write carries an id of its own in the metadata of the object. When the answer to it is lost and it is made again, the
// condition that nothing stands under the key fails on our own object: the id tells that it was ours.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import type { Logger } from 'pino'
import type { S3Settings } from '../../config/storage.ts'
import { expected } from '../../database/rows.ts'
import { loadOptional } from '../../lib/optional-package.ts'
import {
  asPrefix,
  codeOf,
  guarded,
  inParts,
  measure,
  openBrake,
  PART,
  PARTS_AT_ONCE,
  statusOf,
  storeFaults,
  TRIES,
  unusedKey,
  wholeDeadline,
  wholeSize,
  withDeadline,
} from './blob.ts'
import { identityOf, OWNER, requireKey, type Store, StoreUnavailable } from './index.ts'
import { ownerIn, ownerLine } from './owner.ts'

const WRITE_ID = 'zaakstroom-write'

/** Content in a bucket of S3 or a server that speaks it. The connection opens with the first question. */
export function s3Store(settings: S3Settings, log?: Pick<Logger, 'error'>): Store {
  const Bucket = settings.bucket
  const prefix = asPrefix(settings.location)
  const asFault = storeFaults('s3_storage', log)
  let conditional = true // some servers refuse the condition
  const braked = openBrake()
  let opened: ReturnType<typeof openS3> | undefined
  const open = () => {
    opened ??= openS3(settings)
    return opened
  }

  type Opened = Awaited<ReturnType<typeof openS3>>
  async function call<T>(work: (s3: Opened, abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const s3 = await open()
      return await withDeadline((signal) => work(s3, signal))
    } catch (error) {
      throw asFault(error)
    }
  }

  /** Undefined when there is none, and also when we may not know: who may not list gets 403 for what is absent. */
  function head(key: string): Promise<Sdk.HeadObjectCommandOutput | undefined> {
    return call(async ({ client, sdk }, abortSignal) => {
      try {
        return await client.send(new sdk.HeadObjectCommand({ Bucket, Key: prefix + key }), { abortSignal })
      } catch (error) {
        if (statusOf(error) === 404 || statusOf(error) === 403) return undefined
        throw error
      }
    })
  }

  async function ownerOf(): Promise<string | undefined> {
    return call(async ({ client, sdk }, abortSignal) => {
      try {
        const found = await client.send(new sdk.GetObjectCommand({ Bucket, Key: prefix + OWNER }), { abortSignal })
        return ownerIn((await found.Body?.transformToString()) ?? '')
      } catch (error) {
        // A role that may not list a bucket is told 403 of what is not there.
        if (codeOf(error) === 'NoSuchKey' || statusOf(error) === 403) return undefined
        throw error
      }
    })
  }

  const abortUpload = (Key: string, UploadId: string) =>
    call(({ client, sdk }, abortSignal) =>
      client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal }),
    )

  return {
    backend: 's3_storage',
    identity: identityOf('s3_storage', settings.endpoint, Bucket, prefix),

    async write(asked, bytes, { signal, fresh } = {}) {
      requireKey(asked)
      signal?.throwIfAborted()
      const key = fresh ? asked : await unusedKey(asked, async (key) => (await head(key)) !== undefined)
      const id = randomUUID()
      const measured = measure(bytes, signal)
      const parts = inParts(measured.stream)
      try {
        const params = {
          Bucket,
          Key: prefix + key,
          ContentType: 'application/octet-stream',
          Metadata: { [WRITE_ID]: id },
          ...(conditional && { IfNoneMatch: '*' }),
        }
        const { client, sdk, Upload } = await open()
        const first = (await parts.next()).value as Buffer
        if (first.byteLength < PART) {
          const put = new sdk.PutObjectCommand({ ...params, Body: first })
          const ms = wholeDeadline(first.byteLength)
          await braked(() => withDeadline((abortSignal) => client.send(put, { abortSignal }), { ms }))
        } else {
          const Body = Readable.from(chain(first, parts), { objectMode: false, highWaterMark: 256 * 1024 })
          const upload = new Upload({ client, params: { ...params, Body }, partSize: PART, queueSize: PARTS_AT_ONCE })
          await braked(() => upload.done()).finally(() => Body.destroy()) // on any failure it aborts what it began
        }
      } catch (error) {
        const fault = measured.fault()
        if (fault) throw fault.error
        if (statusOf(error) === 501 && conditional) conditional = false // works when it is tried again
        if (statusOf(error) !== 412) throw asFault(error)
        if ((await head(key))?.Metadata?.[WRITE_ID] !== id) throw new StoreUnavailable('key-taken')
      } finally {
        void measured.stream.return(undefined).catch(() => {}) // waits for a source that is silent
      }
      return { key, size: measured.size(), sha256: measured.sha256() }
    },

    async read(key, range) {
      requireKey(key)
      return call(async ({ client, sdk }, abortSignal) => {
        const input = { Bucket, Key: prefix + key, ...(range && { Range: `bytes=${range.start}-${range.end}` }) }
        try {
          const found = await client.send(new sdk.GetObjectCommand(input), { abortSignal })
          return {
            size: wholeSize(found.ContentRange, found.ContentLength),
            stream: guarded(found.Body as Readable, asFault),
          }
        } catch (error) {
          if (codeOf(error) === 'NoSuchKey') return undefined
          if (statusOf(error) !== 416) throw error
          return { size: (await head(key))?.ContentLength ?? 0, stream: Readable.from([]) }
        }
      })
    },

    async remove(key) {
      requireKey(key)
      await call(({ client, sdk }, abortSignal) =>
        client.send(new sdk.DeleteObjectCommand({ Bucket, Key: prefix + key }), { abortSignal }),
      )
    },

    async *list(wanted = '') {
      let ContinuationToken: string | undefined
      do {
        const input = { Bucket, Prefix: prefix + wanted, ContinuationToken }
        const page = await call(({ client, sdk }, abortSignal) =>
          client.send(new sdk.ListObjectsV2Command(input), { abortSignal }),
        )
        for (const { Key, Size } of page.Contents ?? []) {
          const key = (Key ?? '').slice(prefix.length)
          // What ends in a slash is how some programs show a directory.
          if (key === '' || key.startsWith('.') || key.endsWith('/')) continue
          yield { key, size: Size ?? 0 }
        }
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined
      } while (ContinuationToken)
    },

    async *unfinished() {
      let markers: Pick<Sdk.ListMultipartUploadsCommandInput, 'KeyMarker' | 'UploadIdMarker'> | undefined = {}
      while (markers) {
        const input: Sdk.ListMultipartUploadsCommandInput = { Bucket, Prefix: prefix, ...markers }
        const page: Sdk.ListMultipartUploadsCommandOutput | undefined = await call(({ client, sdk }, abortSignal) =>
          client.send(new sdk.ListMultipartUploadsCommand(input), { abortSignal }).catch((error) => {
            if (statusOf(error) !== 501) throw error
            return undefined // a server that does not tell; its own rules have to end them
          }),
        )
        for (const { Key, UploadId } of page?.Uploads ?? []) yield `${expected(UploadId)} ${expected(Key)}`
        markers = page?.IsTruncated
          ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
          : undefined
      }
    },

    async removeUnfinished(name) {
      const space = name.indexOf(' ')
      await abortUpload(name.slice(space + 1), name.slice(0, space))
    },

    owner: ownerOf,

    async claim(owner) {
      const put = (more: object) =>
        call(({ client, sdk }, abortSignal) => {
          const input = { Bucket, Key: prefix + OWNER, Body: ownerLine(owner), ...more }
          return client.send(new sdk.PutObjectCommand(input), { abortSignal }).catch((error) => {
            if (statusOf(error) === 501) conditional = false
            else if (statusOf(error) !== 412) throw error
          })
        })
      if ((await ownerOf()) !== undefined) return // some servers pass over the condition
      if (conditional) await put({ IfNoneMatch: '*' })
      if (!conditional) await put({})
    },

    // To begin an upload needs the same rights as to write, and leaves nothing, also where versions are kept.
    async check() {
      const Key = `${prefix}.zaakstroom/${randomUUID()}`
      const begun = await call(({ client, sdk }, abortSignal) =>
        client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }), { abortSignal }),
      )
      await abortUpload(Key, expected(begun.UploadId)).catch((error) => {
        if (error.code !== 'MethodNotAllowed' && error.code !== 'NotImplemented') throw error
      })
    },
  }
}

async function* chain(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

/** @throws PackageMissing when this installation was made without them */
export const s3Packages = () =>
  loadOptional('DOCUMENTEN_BACKEND=s3_storage', () =>
    Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]),
  )

async function openS3({ key, region, endpoint }: S3Settings) {
  const [sdk, { Upload }] = await s3Packages()
  const client = new sdk.S3Client({
    region: region ?? 'us-east-1',
    followRegionRedirects: region === undefined,
    maxAttempts: TRIES,
    requestHandler: {
      connectionTimeout: 5000,
      requestTimeout: 15_000, // until the answer begins
      throwOnRequestTimeout: true,
      socketTimeout: 120_000, // of silence, also when it is our reader who is slow
    },
    ...(key && { credentials: { accessKeyId: key.id, secretAccessKey: key.secret } }),
    // Other servers often know neither names of buckets in the host name nor the newer checksums.
    ...(endpoint && {
      endpoint,
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED' as const,
      responseChecksumValidation: 'WHEN_REQUIRED' as const,
    }),
  })
  return { sdk, Upload, client }
}
