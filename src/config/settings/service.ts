// Where the service listens, its database, and its address as others know it.
import Type from 'typebox'
import { SCHEMA_NAME } from '../../database/schema.ts'

export const SERVICE = {
  host: Type.String({ env: 'HOST', default: '127.0.0.1', minLength: 1, description: 'address to listen on' }),
  timeZone: Type.String({
    env: 'TIME_ZONE',
    default: 'Europe/Amsterdam',
    must: 'be the name of a time zone, such as Europe/Amsterdam',
    pattern: '^[A-Za-z]+([/_+-][A-Za-z0-9]+)*$',
    description: 'time zone in which a day begins: for what is of today, the year in a number, and the pages',
  }),
  port: Type.Integer({
    env: 'PORT',
    roles: ['api', 'start'],
    default: 8000,
    minimum: 0,
    maximum: 65535,
    description: 'port to listen on',
  }),
  databaseUrl: Type.Optional(
    Type.String({
      env: 'DATABASE_URL',
      secret: true,
      must: 'begin with postgres:// or postgresql://',
      pattern: '^postgres(ql)?://',
      description: 'PostgreSQL 15 or newer; unset: an embedded one in DATA_DIR',
    }),
  ),
  controlDatabaseUrl: Type.Optional(
    Type.String({
      env: 'CONTROL_DATABASE_URL',
      secret: true,
      must: 'begin with postgres:// or postgresql://',
      pattern: '^postgres(ql)?://',
      description:
        'for many organisations in one installation: where it is kept which there are (zaakstroom organisation); then DATABASE_URL is not set',
    }),
  ),
  organisation: Type.Optional(
    Type.String({
      env: 'ORGANISATION',
      needs: ['CONTROL_DATABASE_URL'],
      pattern: '^[0-9]{9}$',
      must: 'be an RSIN: nine digits',
      description: 'with CONTROL_DATABASE_URL: RSIN of the organisation that a subcommand is for',
    }),
  ),
  databaseDirectUrl: Type.Optional(
    Type.String({
      env: 'DATABASE_DIRECT_URL',
      secret: true,
      must: 'begin with postgres:// or postgresql://',
      pattern: '^postgres(ql)?://',
      description: 'the same database without the pooler (PgBouncer in transaction mode) that DATABASE_URL then names',
    }),
  ),
  databaseReadUrl: Type.Optional(
    Type.String({
      env: 'DATABASE_READ_URL',
      secret: true,
      must: 'begin with postgres:// or postgresql:// and name one host',
      pattern: '^postgres(ql)?://([^@/?]*@)?[^/?,]*([/?].*)?$',
      description:
        'a streaming replica of the database, from which lists and reports are read; unset: from the database itself',
    }),
  ),
  databaseSchema: Type.Optional(
    Type.String({
      env: 'DATABASE_SCHEMA',
      kind: 'schema',
      pattern: SCHEMA_NAME,
      must: 'be lower-case letters, digits and _, and begin with no digit',
      description:
        'schema of the tables, for several organisations in one database; the queue stands in one beside it, …_queue; unset: zaakstroom, unless options in the address name one',
    }),
  ),
  databaseTls: Type.Object({
    ca: Type.Optional(
      Type.String({
        env: 'DATABASE_SSLROOTCERT',
        needs: ['DATABASE_URL', 'DATABASE_READ_URL'],
        secret: true,
        must: 'be a certificate in PEM',
        pattern: '^-----BEGIN ',
        description: 'who signs the certificate of the database (PEM), for addresses that name no sslrootcert',
      }),
    ),
    cert: Type.Optional(
      Type.String({
        env: 'DATABASE_SSLCERT',
        needs: ['DATABASE_URL', 'DATABASE_READ_URL'],
        secret: true,
        must: 'be a certificate in PEM',
        pattern: '^-----BEGIN ',
        description: 'certificate with which we sign in to the database (PEM)',
      }),
    ),
    key: Type.Optional(
      Type.String({
        env: 'DATABASE_SSLKEY',
        secret: true,
        must: 'be a key in PEM',
        pattern: '^-----BEGIN ',
        description: 'its key (PEM)',
      }),
    ),
  }),
  databasePoolSize: Type.Integer({
    env: 'DATABASE_POOL_SIZE',
    default: 10,
    minimum: 2,
    maximum: 500,
    description:
      'connections for the work of one process; an `api` opens 3 more, a `worker` 10 more, `start` twice this and 13, and with DATABASE_READ_URL an `api` this many at the replica besides',
  }),
  dataDir: Type.String({
    env: 'DATA_DIR',
    kind: 'directory',
    default: './data',
    minLength: 1,
    description: 'embedded database, generated key, stored files',
  }),
  publicUrl: Type.Optional(
    Type.String({
      env: 'PUBLIC_URL',
      kind: 'address',
      must: 'begin with https:// or http://, and have no slash at the end, no ? and no #',
      pattern: '^https?://[^/?#]+(/[^?#]*[^/?#])?$',
      description: 'address in links, without slash at the end',
    }),
  ),
  ownUrls: Type.Optional(
    Type.String({
      env: 'OWN_URLS',
      minLength: 1,
      description:
        'further addresses of our own, with commas, written as PUBLIC_URL: what they name is ours, in bodies and filters',
    }),
  ),
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustProxy: Type.Optional(
    Type.String({
      env: 'TRUST_PROXY',
      kind: 'ranges',
      minLength: 1,
      description: 'addresses or ranges (CIDR) of our own proxies, with commas: they say who the client is',
    }),
  ),
}
