// The settings of the program: each stands here, and only here, with its name in the environment, its bounds, its default and
// what the help and docs/settings.md say of it. The type `Config` follows from this schema. Besides what JSON Schema knows a
// setting may have:
//
//   env       its name in the environment
//   must      what a value has to do, in the words of a fault: a pattern is no message to an operator
//   secret    it may stand in a file instead, whose path is in NAME_FILE, as containers are given their secrets
//   alsoRead  another name that is in use for it
//   pages     it may be changed in the pages while the program runs, and how they name it. What has no `pages` is read once, at
//             the start: it is needed before the database is there, or belongs to one process
//
// Settings that belong together are an object; ../config.ts makes of it what the program uses.
import Type from 'typebox'
import { BACKENDS } from '../documenten/storage/index.ts'

/** Numbers of cases: with the year of their startdatum, with that of today, or as UWV makes them. */
export const NUMMERINGEN = ['use-start-datum-year', 'use-creation-year', 'use-uwv-identification'] as const

/** Under which heads the pages show settings, in this order. */
export const SETTING_GROUPS = [
  'Zaken',
  'Selectielijst',
  'Bewaren',
  'Notificaties',
  'Toegang tot de API’s',
  'Imports',
  'Inloggen',
] as const

/** How the pages show a setting that can be changed there. */
export type InPages = {
  groep: (typeof SETTING_GROUPS)[number]
  label: string
  uitleg: string
  /** What a text has to be, after "Vul … in". */
  moet?: string
  /** Values of an enum in words. */
  keuzes?: Record<string, string>
}
const pages = (inPages: InPages) => ({ pages: inPages })

const proxy = (env: string, description: string) =>
  Type.String({
    env,
    secret: true,
    must: 'begin with http:// or https://, and be a host and port, perhaps with a name and password',
    pattern: '^https?://[^/?#]+/?$',
    description,
  })

export const Settings = Type.Object({
  host: Type.String({ env: 'HOST', default: '127.0.0.1', minLength: 1, description: 'address to listen on' }),
  port: Type.Integer({ env: 'PORT', default: 8000, minimum: 0, maximum: 65535, description: 'port to listen on' }),
  databaseUrl: Type.Optional(
    Type.String({
      env: 'DATABASE_URL',
      secret: true,
      must: 'begin with postgres:// or postgresql://',
      pattern: '^postgres(ql)?://',
      description: 'PostgreSQL 15 or newer; unset: an embedded one in DATA_DIR',
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
      pattern: '^postgres(ql)?://([^@/?]*@)?[^/?,]+([/?].*)?$',
      description:
        'a streaming replica of the database, from which lists and reports are read; unset: from the database itself',
    }),
  ),
  databasePoolSize: Type.Integer({
    env: 'DATABASE_POOL_SIZE',
    default: 10,
    minimum: 2,
    maximum: 500,
    description: 'connections of one process',
  }),
  dataDir: Type.String({
    env: 'DATA_DIR',
    default: './data',
    minLength: 1,
    description: 'embedded database, generated key, stored files',
  }),
  publicUrl: Type.Optional(
    Type.String({
      env: 'PUBLIC_URL',
      must: 'begin with https:// or http://, and have no slash at the end, no ? and no #',
      pattern: '^https?://[^/?#]+(/[^?#]*[^/?#])?$',
      description: 'address in links, without slash at the end',
    }),
  ),
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustProxy: Type.Optional(
    Type.String({
      env: 'TRUST_PROXY',
      minLength: 1,
      description: 'addresses or ranges (CIDR) of our own proxies, with commas: they say who the client is',
    }),
  ),
  secretKey: Type.Optional(
    Type.String({
      env: 'SECRET_KEY',
      secret: true,
      minLength: 16,
      description: 'encrypts client secrets; `start` generates one into DATA_DIR',
    }),
  ),
  bootstrapClient: Type.Object({
    id: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_CLIENT_ID',
        minLength: 1,
        maxLength: 50,
        description: 'client id with all rights, made or updated at start',
      }),
    ),
    secret: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_CLIENT_SECRET',
        secret: true,
        minLength: 1,
        maxLength: 255,
        description: 'its secret',
      }),
    ),
  }),
  /** The first account of the administration pages. */
  bootstrapAdmin: Type.Object({
    gebruikersnaam: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_ADMIN_USERNAME',
        must: 'be 1 to 150 visible ASCII characters without spaces',
        pattern: '^[\\x21-\\x7e]{1,150}$',
        description: 'account of the administration pages, made at start when it is not there',
      }),
    ),
    wachtwoord: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_ADMIN_PASSWORD',
        secret: true,
        minLength: 12,
        maxLength: 1000,
        description: 'its password, at least 12 characters',
      }),
    ),
  }),
  beheerTheme: Type.Object({
    css: Type.Optional(
      Type.String({
        env: 'BEHEER_THEME_CSS',
        minLength: 1,
        description: 'stylesheet with the NL Design System tokens of the municipality',
      }),
    ),
    className: Type.Optional(
      Type.String({
        env: 'BEHEER_THEME_CLASS',
        must: 'be one name of letters, digits, _ and -',
        pattern: '^[\\w-]+$',
        description: 'class under which its tokens stand, such as `utrecht-theme`',
      }),
    ),
  }),
  /** Whom the OpenAPI documents name. */
  apiContact: Type.Object({
    name: Type.String({
      env: 'API_CONTACT_NAME',
      default: 'Beheer van deze Zaakstroom',
      minLength: 1,
      description: 'whom the OpenAPI documents name to ask',
    }),
    email: Type.Optional(
      Type.String({
        env: 'API_CONTACT_EMAIL',
        must: 'be an e-mail address',
        pattern: '^[^@\\s]+@[^@\\s]+$',
        description: 'their e-mail address, which the NL API Design Rules want',
      }),
    ),
    url: Type.Optional(
      Type.String({
        env: 'API_CONTACT_URL',
        must: 'begin with https:// or http://, and have no spaces',
        pattern: '^https?://[^\\s]+$',
        description: 'their page; unset: our page of the APIs',
      }),
    ),
  }),
  beheerTotpRequired: Type.Boolean({
    env: 'BEHEER_TOTP_REQUIRED',
    default: false,
    description: 'true: whoever signs in with a password has to set up one-time codes',
    ...pages({
      groep: 'Inloggen',
      label: 'Eenmalige codes verplicht',
      uitleg:
        'Wie met een wachtwoord inlogt moet eerst eenmalige codes instellen. Dat geldt meteen, ook voor wie nu is ingelogd.',
    }),
  }),
  /** The provider that people may sign in to the pages with. */
  oidc: Type.Object({
    issuer: Type.Optional(
      Type.String({
        env: 'OIDC_ISSUER',
        must: 'begin with https:// or http://, and have no ? and no #',
        pattern: '^https?://[^?#]+$',
        description: 'OpenID Connect provider for the administration pages',
      }),
    ),
    clientId: Type.Optional(Type.String({ env: 'OIDC_CLIENT_ID', minLength: 1, description: 'our client id there' })),
    clientSecret: Type.Optional(
      Type.String({
        env: 'OIDC_CLIENT_SECRET',
        secret: true,
        minLength: 1,
        description: 'our secret there; unset: a public client, with PKCE alone',
      }),
    ),
    label: Type.String({
      env: 'OIDC_LABEL',
      default: 'OpenID Connect',
      minLength: 1,
      maxLength: 60,
      description: 'name of the provider',
    }),
    scopes: Type.String({
      env: 'OIDC_SCOPES',
      must: 'have openid among its words',
      default: 'openid profile email',
      pattern: '(^| )openid( |$)',
      description: 'scopes',
    }),
    roleClaim: Type.String({
      env: 'OIDC_ROLE_CLAIM',
      must: 'be names with a single dot between them',
      default: 'roles',
      pattern: '^[^.]+(\\.[^.]+)*$',
      description: 'claim of the ID token with the roles, with dots for a claim within a claim',
    }),
    viewer: Type.String({
      env: 'OIDC_ROLE_VIEWER',
      default: 'viewer',
      description: 'values of that claim that mean viewer, with commas',
    }),
    operator: Type.String({ env: 'OIDC_ROLE_OPERATOR', default: 'operator', description: 'those that mean operator' }),
    administrator: Type.String({
      env: 'OIDC_ROLE_ADMINISTRATOR',
      default: 'administrator',
      description: 'those that mean administrator',
    }),
  }),
  jwtExpiry: Type.Integer({
    env: 'JWT_EXPIRY',
    default: 3600,
    minimum: 1,
    description: 'seconds that a token lives after iat',
    ...pages({
      groep: 'Toegang tot de API’s',
      label: 'Geldigheid van een token, in seconden',
      uitleg:
        'Zo lang na het maken (iat) wordt een token van een applicatie aangenomen. Te kort, en applicaties krijgen 403.',
    }),
  }),
  jwtLeeway: Type.Integer({
    env: 'JWT_LEEWAY',
    alsoRead: 'TIME_LEEWAY',
    default: 0,
    minimum: 0,
    description: 'seconds of clock difference that are forgiven',
    ...pages({
      groep: 'Toegang tot de API’s',
      label: 'Verschil tussen klokken, in seconden',
      uitleg: 'Zoveel mogen de klokken van een applicatie en van deze dienst verschillen.',
    }),
  }),
  jwtIatSkew: Type.Integer({
    env: 'JWT_IAT_SKEW',
    default: 300,
    minimum: 0,
    maximum: 86_400,
    description: 'seconds that iat of a token may lie in the future',
    ...pages({
      groep: 'Toegang tot de API’s',
      label: 'Token uit de toekomst, in seconden',
      uitleg: 'Zoveel mag het moment waarop een token is gemaakt (iat) in de toekomst liggen.',
    }),
  }),
  documentenDir: Type.Optional(
    Type.String({
      env: 'DOCUMENTEN_DIR',
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
    default: 0,
    minimum: 0,
    maximum: 720,
    description:
      'hours that the bytes of a deleted document stay in storage; longer than a backup takes, so that a restored document has its bytes',
    ...pages({
      groep: 'Bewaren',
      label: 'Inhoud van verwijderde documenten, in uren',
      uitleg:
        'Zo lang blijft de inhoud van een verwijderd document nog in de opslag staan. Niemand kan die dan nog opvragen. Neem meer uren dan een back-up duurt: dan heeft elk document na het terugzetten zijn inhoud.',
    }),
  }),
  proxies: Type.Object({
    http: Type.Optional(
      proxy('HTTP_PROXY', 'proxy for calls over http to services, receivers and the provider of OpenID Connect'),
    ),
    https: Type.Optional(proxy('HTTPS_PROXY', 'proxy for those over https; unset: that of HTTP_PROXY')),
    except: Type.String({
      env: 'NO_PROXY',
      default: '',
      description: 'hosts and domains, with commas, that are called without a proxy',
    }),
  }),
  clamdUrl: Type.Optional(
    Type.String({
      env: 'CLAMD_URL',
      must: 'be tcp://host:port or unix:/path',
      pattern: '^(tcp://[^/?#@]+:\\d+|unix:/.+)$',
      description: 'malware scanner (clamd of ClamAV) that content has to pass before it is stored; unset: none',
    }),
  ),
  clamdMaxBytes: Type.Integer({
    env: 'CLAMD_MAX_BYTES',
    default: 100 * 1024 * 1024,
    minimum: 1024,
    maximum: 2 ** 32,
    description: 'bytes of one content that the malware scanner takes: at most its StreamMaxLength',
  }),
  clamdUnavailable: Type.Enum(['refuse', 'accept'], {
    env: 'CLAMD_UNAVAILABLE',
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
      default: 'openzaak',
      minLength: 1,
      description: 'container; it has to exist',
    }),
    location: Type.String({
      env: 'AZURE_LOCATION',
      default: 'documenten',
      description: 'prefix of the names in the container',
    }),
    connectionTimeoutSeconds: Type.Integer({
      env: 'AZURE_CONNECTION_TIMEOUT_SECS',
      default: 5,
      minimum: 1,
      maximum: 60,
      description: 'seconds in which a connection with Azure has to be there',
    }),
    apiVersion: Type.Optional(
      Type.String({
        env: 'AZURE_STORAGE_API_VERSION',
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
      groep: 'Imports',
      label: 'Rijen per stap',
      uitleg: 'Zoveel rijen van een import worden samen verwerkt. Geldt voor imports die hierna beginnen.',
    }),
  }),
  importRetentionDays: Type.Integer({
    env: 'IMPORT_RETENTION_DAYS',
    alsoRead: 'IMPORT_RENTENTION_DAYS',
    default: 7,
    minimum: 0,
    maximum: 36_500,
    description: 'days after which imports are removed',
    ...pages({
      groep: 'Bewaren',
      label: 'Imports, in dagen',
      uitleg: 'Zo lang na het einde blijft een import met zijn rapport bewaard. De documenten zelf blijven.',
    }),
  }),
  zaakIdentificatieGenerator: Type.Enum(NUMMERINGEN, {
    env: 'ZAAK_IDENTIFICATIE_GENERATOR',
    default: 'use-start-datum-year',
    description: 'how numbers of cases are made: use-start-datum-year, use-creation-year or use-uwv-identification',
    ...pages({
      groep: 'Zaken',
      label: 'Nummers van nieuwe zaken',
      uitleg: 'Hoe een zaak zijn nummer krijgt als de aanvrager er geen meegeeft. Bestaande nummers blijven.',
      keuzes: {
        'use-start-datum-year': 'ZAAK-, het jaar van de startdatum en een volgnummer',
        'use-creation-year': 'ZAAK-, het jaar van vandaag en een volgnummer',
        'use-uwv-identification': 'zoals bij UWV',
      },
    }),
  }),
  zaakEigenschapWaardeValidation: Type.Boolean({
    env: 'ZAAK_EIGENSCHAP_WAARDE_VALIDATION',
    default: false,
    description: 'true: the value of a zaakeigenschap has to fit the specificatie of its eigenschap',
    ...pages({
      groep: 'Zaken',
      label: 'Waarden van eigenschappen controleren',
      uitleg:
        'De waarde van een eigenschap moet passen bij de specificatie in het zaaktype, anders wordt hij geweigerd.',
    }),
  }),
  allowUnpublishedTypes: Type.Boolean({
    env: 'ALLOW_UNPUBLISHED_TYPES',
    default: false,
    description:
      'true: zaken, documenten and besluiten may be made of types that are still a concept; for test environments',
    ...pages({
      groep: 'Zaken',
      label: 'Concepttypen toestaan',
      uitleg:
        'Zaken, documenten en besluiten mogen worden gemaakt van typen die nog een concept zijn. Alleen voor een testomgeving.',
    }),
  }),
  corsOrigins: Type.Optional(
    Type.String({
      env: 'CORS_ALLOWED_ORIGINS',
      minLength: 1,
      description: 'origins whose scripts may call the APIs from a browser, with commas, or *; unset: none',
      ...pages({
        groep: 'Toegang tot de API’s',
        label: 'Websites waarvan scripts de API’s mogen aanroepen (CORS)',
        uitleg: 'Adressen zoals https://formulieren.example.nl, met komma’s ertussen, of * voor alle. Leeg: geen.',
        moet: 'adressen als https://example.nl, met komma’s ertussen, of *',
      }),
    }),
  ),
  workerConcurrency: Type.Integer({
    env: 'WORKER_CONCURRENCY',
    default: 10,
    minimum: 1,
    maximum: 200,
    description: 'jobs at once in one worker',
  }),
  workerHealthPort: Type.Optional(
    Type.Integer({
      env: 'WORKER_HEALTH_PORT',
      minimum: 1,
      maximum: 65535,
      description: '`worker` answers /livez and /readyz here; unset: nowhere',
    }),
  ),
  /** What fills the settings of notifications at a first start. */
  notifications: Type.Object({
    apiRoot: Type.Optional(
      Type.String({
        env: 'NOTIFICATIONS_API_ROOT',
        must: 'begin with https:// or http:// and end in a slash, and have no ?, no # and no @',
        pattern: '^https?://[^/?#@]+/([^?#]*/)?$',
        description: 'notifications service, ending in a slash; fills the settings at a first start',
      }),
    ),
    clientId: Type.Optional(
      Type.String({ env: 'NOTIFICATIONS_CLIENT_ID', minLength: 1, description: 'our client id there' }),
    ),
    secret: Type.Optional(
      Type.String({ env: 'NOTIFICATIONS_SECRET', secret: true, minLength: 1, description: 'our secret there' }),
    ),
  }),
  notificationsDisabled: Type.Boolean({
    env: 'NOTIFICATIONS_DISABLED',
    default: false,
    description: 'true: changes are not announced at all',
    ...pages({
      groep: 'Notificaties',
      label: 'Notificaties uitzetten',
      uitleg: 'Wijzigingen worden niet meer gemeld. Ze worden ook later niet alsnog gemeld.',
    }),
  }),
  enableCloudEvents: Type.Boolean({
    env: 'ENABLE_CLOUD_EVENTS',
    default: false,
    description: 'true: cloud events of cases are sent beside the notifications, and taken at /events',
  }),
  notificationsSource: Type.Optional(
    Type.String({
      env: 'NOTIFICATIONS_SOURCE',
      minLength: 1,
      maxLength: 100,
      description: 'member source of every notification; cloud events without it name our address',
      ...pages({
        groep: 'Notificaties',
        label: 'Bron in elke notificatie',
        uitleg: 'Wat in source van elke notificatie staat. Leeg: het adres van deze dienst.',
        moet: 'ten hoogste 100 tekens',
      }),
    }),
  ),
  notificationsConcurrency: Type.Integer({
    env: 'NOTIFICATIONS_CONCURRENCY',
    default: 50,
    minimum: 1,
    maximum: 500,
    description: 'notifications that one worker sends at once',
  }),
  notificatiesMode: Type.Optional(
    Type.Enum(['extern', 'ingebouwd', 'beide'], {
      env: 'NOTIFICATIES_MODE',
      description:
        'who gets our messages: extern (a notifications service elsewhere), ingebouwd (the abonnementen here) or beide; unset: as it is in the database, and ingebouwd for `start` without a service elsewhere',
    }),
  ),
  notificatiesHttpHosts: Type.String({
    env: 'NOTIFICATIES_HTTP_HOSTS',
    default: '',
    description: 'hosts, with commas, whose callbacks may begin with http://; * for all. Loopback always may',
    ...pages({
      groep: 'Notificaties',
      label: 'Hosts zonder https',
      uitleg: 'Hosts, met komma’s ertussen, waarvan een callback met http:// mag beginnen; * voor alle.',
      moet: 'namen van hosts',
    }),
  }),
  notificatiesTestCallbackAuth: Type.Boolean({
    env: 'TEST_CALLBACK_AUTH',
    default: true,
    description: 'false: a callback need not refuse a message without Authorization when an abonnement is made',
    ...pages({
      groep: 'Notificaties',
      label: 'Callback moet Authorization eisen',
      uitleg: 'Een nieuw abonnement wordt geweigerd als zijn callback een bericht zonder Authorization aanneemt.',
    }),
  }),
  notificationDaysRetained: Type.Integer({
    env: 'NOTIFICATION_NUMBER_OF_DAYS_RETAINED',
    default: 60,
    minimum: 1,
    maximum: 36_500,
    description: 'days after which delivered and failed notifications are removed',
    ...pages({
      groep: 'Bewaren',
      label: 'Notificaties, in dagen',
      uitleg: 'Zo lang blijven notificaties bewaard die bezorgd of mislukt zijn.',
    }),
  }),
  outgoingLogRetentionDays: Type.Integer({
    env: 'OUTGOING_LOG_RETENTION_DAYS',
    default: 30,
    minimum: 0,
    maximum: 36_500,
    description: 'days after which the log of requests to other services is removed; 0: there is none',
    ...pages({
      groep: 'Bewaren',
      label: 'Logboek van uitgaande verzoeken, in dagen',
      uitleg: 'Zo lang blijven regels over verzoeken aan andere diensten bewaard. 0: er komt geen logboek.',
    }),
  }),
  selectielijstApiRoot: Type.Optional(
    Type.String({
      env: 'SELECTIELIJST_API_ROOT',
      must: 'begin with https:// or http:// and end in a slash, and have no ?, no # and no @',
      pattern: '^https?://[^/?#@]+/([^?#]*/)?$',
      description:
        'API of the selectielijst, ending in a slash; unset, and none imported: its URLs are stored unverified',
      ...pages({
        groep: 'Selectielijst',
        label: 'Adres van de API van de selectielijst',
        uitleg:
          'Leeg, en geen selectielijst geïmporteerd: verwijzingen naar de selectielijst worden niet gecontroleerd.',
        moet: 'een adres dat begint met https:// of http:// en eindigt op een schuine streep',
      }),
    }),
  ),
  selectielijstBestand: Type.Optional(
    Type.String({
      env: 'SELECTIELIJST_BESTAND',
      minLength: 1,
      description: 'JSON file with answers of the selectielijst, looked in first',
    }),
  ),
  metricsPort: Type.Optional(
    Type.Integer({
      env: 'METRICS_PORT',
      minimum: 1,
      maximum: 65535,
      description: 'metrics for Prometheus; unset: nowhere',
    }),
  ),
  otelEndpoint: Type.Optional(
    Type.String({
      env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      must: 'begin with https:// or http://, and have no ? and no #',
      pattern: '^https?://[^?#\\s]+$',
      description: 'collector that traces are sent to (OTLP over HTTP, /v1/traces below it); unset: nothing is traced',
    }),
  ),
  otelHeaders: Type.Optional(
    Type.String({
      env: 'OTEL_EXPORTER_OTLP_HEADERS',
      secret: true,
      description: 'headers for the collector, as name=value with commas, percent-encoded',
    }),
  ),
  otelServiceName: Type.String({
    env: 'OTEL_SERVICE_NAME',
    default: 'zaakstroom',
    minLength: 1,
    description: 'name of this service in traces',
  }),
  otelSamplerArg: Type.Number({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    default: 1,
    minimum: 0,
    maximum: 1,
    description: 'part of the traces that is sent, from 0 to 1; a caller that sends traceparent decides for its own',
  }),
  minUploadSize: Type.Integer({
    env: 'MIN_UPLOAD_SIZE',
    default: 4 * 1024 ** 3,
    minimum: 1024,
    description: 'largest body of a request with content, in bytes',
  }),
  uploadChunkSize: Type.Optional(
    Type.Integer({
      env: 'DOCUMENTEN_UPLOAD_CHUNK_SIZE',
      minimum: 1,
      description: 'size of a bestandsdeel in bytes; default MIN_UPLOAD_SIZE',
    }),
  ),
  /** How long requests are still served after the stop was announced. */
  stopDelaySeconds: Type.Integer({
    env: 'STOP_DELAY_SECONDS',
    default: 0,
    minimum: 0,
    maximum: 20,
    description: 'seconds that the API goes on after a signal, while /readyz is 503 and a balancer turns away from it',
  }),
  httpHeadersTimeout: Type.Integer({
    env: 'HTTP_HEADERS_TIMEOUT',
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'seconds in which the headers of a request have to be there',
  }),
  httpRequestTimeout: Type.Integer({
    env: 'HTTP_REQUEST_TIMEOUT',
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'seconds in which its body has to be there, other than content and imports',
  }),
  httpMinRate: Type.Integer({
    env: 'HTTP_MIN_RATE',
    default: 1024,
    minimum: 0,
    description: 'bytes a second, over that time, at which content has to come in and an answer has to be read; 0: any',
  }),
  httpMaxConnections: Type.Integer({
    env: 'HTTP_MAX_CONNECTIONS',
    default: 2000,
    minimum: 10,
    description: 'connections at once; when they are taken only /livez is answered',
  }),
  httpMaxConnectionsPerAddress: Type.Integer({
    env: 'HTTP_MAX_CONNECTIONS_PER_ADDRESS',
    default: 500,
    minimum: 1,
    description: 'of one address; those that TRUST_PROXY names have no bound of their own',
  }),
  logLevel: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    env: 'LOG_LEVEL',
    default: 'info',
    description: 'least severe level that is logged',
  }),
})
