// Where the bytes of documents are, as the settings say it.

export const BACKENDS = ['filesystem', 's3_storage', 'azure_blob_storage'] as const

export type Backend = (typeof BACKENDS)[number]

export type AzureSettings = {
  container: string
  /** Prefix of all names. */
  location: string
  /**
   * Who we are: a connection string; or an account with the client of an application; or just an account, and then the SDK
   * looks for an identity, such as the managed one of the machine.
   */
  account: { connectionString: string } | { name: string; client?: { id: string; tenant: string; secret: string } }
  connectionTimeoutMs: number
  apiVersion?: string | undefined
}

export type S3Settings = {
  bucket: string
  /** Prefix of all keys. */
  location: string
  /** Without a key the SDK looks for one, such as that of the role of the machine. */
  key?: { id: string; secret: string } | undefined
  region?: string | undefined
  /** A server other than Amazon's. */
  endpoint?: string | undefined
}
