// Where bytes of documents are kept, what looks at them first, and imports.
import Type from 'typebox'
import { pages } from '../in-pages.ts'
import { BACKENDS } from '../storage.ts'

export const DOCUMENTEN = {
  documentenDir: Type.Optional(
    Type.String({
      env: 'DOCUMENTEN_DIR',
      kind: 'directory',
      minLength: 1,
      description: 'directory of the stored files; default DATA_DIR/documenten',
    }),
  ),
  documentenBackend: Type.Enum([...BACKENDS], {
    env: 'DOCUMENTEN_API_BACKEND',
    default: 'filesystem',
    description: 'where new documents go; those that exist stay where they are until `storage migrate`',
  }),
  documentenKeepDeletedHours: Type.Integer({
    env: 'DOCUMENTEN_KEEP_DELETED_HOURS',
    default: 24,
    minimum: 0,
    maximum: 720,
    description:
      'hours that the bytes of a deleted document stay in storage; longer than a backup takes, so that a restored document has its bytes',
    ...pages({
      group: 'Bewaren',
      label: 'Inhoud van verwijderde documenten, in uren',
      help: 'Zo lang blijft de inhoud van een verwijderd document nog in de opslag staan. Niemand kan die dan nog opvragen. Neem meer uren dan een back-up duurt: dan heeft elk document na het terugzetten zijn inhoud.',
    }),
  }),
  storageMaxBytes: Type.Optional(
    Type.Integer({
      env: 'STORAGE_MAX_BYTES',
      minimum: 0,
      maximum: 2 ** 53 - 1,
      description: 'bytes that the contents of all documents may take together; unset: as many as the storage holds',
    }),
  ),
  clamdUrl: Type.Optional(
    Type.String({
      env: 'CLAMD_URL',
      kind: 'socket',
      must: 'be tcp://host:port or unix:/path',
      pattern: '^(tcp://[^/?#@]+:\\d+|unix:/.+)$',
      description: 'malware scanner (clamd of ClamAV) that content has to pass before it is stored; unset: none',
    }),
  ),
  clamdMaxBytes: Type.Integer({
    env: 'CLAMD_MAX_BYTES',
    needs: ['CLAMD_URL'],
    default: 100 * 1024 * 1024,
    minimum: 1024,
    maximum: 2 ** 32,
    description: 'bytes of one content that the malware scanner takes: at most its StreamMaxLength',
  }),
  clamdUnavailable: Type.Enum(['refuse', 'accept'], {
    env: 'CLAMD_UNAVAILABLE',
    needs: ['CLAMD_URL'],
    default: 'refuse',
    description:
      'what happens to content that the malware scanner gives no verdict on: it is away, or the content is larger',
  }),
  s3: Type.Object({
    keyId: Type.Optional(
      Type.String({
        env: 'S3_ACCESS_KEY_ID',
        minLength: 1,
        description: 'key of S3; unset: the SDK looks for one, such as that of a role',
      }),
    ),
    secret: Type.Optional(
      Type.String({ env: 'S3_SECRET_ACCESS_KEY', secret: true, minLength: 1, description: 'its secret' }),
    ),
    region: Type.Optional(Type.String({ env: 'S3_REGION_NAME', minLength: 1, description: 'region of the bucket' })),
    endpoint: Type.Optional(
      Type.String({
        env: 'S3_ENDPOINT_URL',
        kind: 'address',
        must: 'begin with https:// or http://, and be a host and port alone',
        pattern: '^https?://[^/?#@]+/?$',
        description: 'server other than that of Amazon',
      }),
    ),
    bucket: Type.String({
      env: 'S3_STORAGE_BUCKET_NAME',
      default: 'openzaak',
      minLength: 1,
      description: 'bucket; it has to exist',
    }),
    location: Type.String({
      env: 'S3_LOCATION',
      default: 'documenten/',
      description: 'prefix of the keys in the bucket',
    }),
  }),
  azure: Type.Object({
    name: Type.Optional(
      Type.String({
        env: 'AZURE_ACCOUNT_NAME',
        must: 'be 3 to 24 small letters and digits',
        pattern: '^[a-z0-9]{3,24}$',
        description: 'storage account in Azure',
      }),
    ),
    clientId: Type.Optional(
      Type.String({
        env: 'AZURE_CLIENT_ID',
        minLength: 1,
        description: 'service principal; unset: the SDK looks for an identity',
      }),
    ),
    tenant: Type.Optional(Type.String({ env: 'AZURE_TENANT_ID', minLength: 1, description: 'its tenant' })),
    clientSecret: Type.Optional(
      Type.String({ env: 'AZURE_CLIENT_SECRET', secret: true, minLength: 1, description: 'its secret' }),
    ),
    connectionString: Type.Optional(
      Type.String({
        env: 'AZURE_CONNECTION_STRING',
        secret: true,
        minLength: 1,
        description: 'instead of the four above: address and key in one',
      }),
    ),
    container: Type.String({
      env: 'AZURE_CONTAINER',
      needs: ['AZURE_ACCOUNT_NAME', 'AZURE_CONNECTION_STRING'],
      default: 'openzaak',
      minLength: 1,
      description: 'container; it has to exist',
    }),
    location: Type.String({
      env: 'AZURE_LOCATION',
      needs: ['AZURE_ACCOUNT_NAME', 'AZURE_CONNECTION_STRING'],
      default: 'documenten',
      description: 'prefix of the names in the container',
    }),
    connectionTimeoutSeconds: Type.Integer({
      env: 'AZURE_CONNECTION_TIMEOUT_SECS',
      needs: ['AZURE_ACCOUNT_NAME', 'AZURE_CONNECTION_STRING'],
      default: 5,
      minimum: 1,
      maximum: 60,
      description: 'seconds in which a connection with Azure has to be there',
    }),
    apiVersion: Type.Optional(
      Type.String({
        env: 'AZURE_STORAGE_API_VERSION',
        needs: ['AZURE_ACCOUNT_NAME', 'AZURE_CONNECTION_STRING'],
        must: 'be a date such as 2025-05-05',
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description: 'version of the protocol; unset: that of the SDK',
      }),
    ),
  }),
  importBaseDir: Type.String({
    env: 'IMPORT_DOCUMENTEN_BASE_DIR',
    default: 'import-data',
    minLength: 1,
    description: 'directory against which bestandspad is resolved',
  }),
  importBatchSize: Type.Integer({
    env: 'IMPORT_DOCUMENTEN_BATCH_SIZE',
    default: 500,
    minimum: 1,
    maximum: 10_000,
    description: 'rows of an import that are handled together',
    ...pages({
      group: 'Imports',
      label: 'Rijen per stap',
      help: 'Zoveel rijen van een import worden samen verwerkt. Geldt voor imports die hierna beginnen.',
    }),
  }),
  importMaxRows: Type.Integer({
    env: 'IMPORT_MAX_ROWS',
    needs: ['IMPORTS_OPEN'],
    default: 5_000_000,
    minimum: 0,
    maximum: 1_000_000_000,
    description:
      'rows that the file of one import may have; what a file that is refused wrote is place in the database until a job removed it',
  }),
  importTooLarge: Type.Enum(['fail', 'wait'], {
    env: 'IMPORT_TOO_LARGE',
    default: 'fail',
    description:
      'what an import does with a file that can never fit in the store: fail its row, or wait for a larger store',
  }),
  importsOpen: Type.Integer({
    env: 'IMPORTS_OPEN',
    default: 1,
    minimum: 0,
    maximum: 1,
    description: 'imports that may be open at once; 0: none can be made',
  }),
  importRetentionDays: Type.Integer({
    env: 'IMPORT_RETENTION_DAYS',
    alsoRead: 'IMPORT_RENTENTION_DAYS',
    default: 7,
    minimum: 0,
    maximum: 36_500,
    description: 'days after which imports are removed',
    ...pages({
      group: 'Bewaren',
      label: 'Imports, in dagen',
      help: 'Zo lang na het einde blijft een import met zijn rapport bewaard. De documenten zelf blijven.',
    }),
  }),
}
