// Jobs, notifications, and other calls to others.
import Type from 'typebox'
import { pages } from '../in-pages.ts'

const proxy = (env: string, description: string) =>
  Type.String({
    env,
    kind: 'address',
    secret: true,
    must: 'begin with http:// or https://, and be a host and port, perhaps with a name and password',
    pattern: '^https?://[^/?#]+/?$',
    description,
  })

export const BACKGROUND = {
  proxies: Type.Object({
    http: Type.Optional(
      proxy('HTTP_PROXY', 'proxy for calls over http to services, receivers and the provider of OpenID Connect'),
    ),
    https: Type.Optional(proxy('HTTPS_PROXY', 'proxy for those over https; unset: that of HTTP_PROXY')),
    except: Type.String({
      env: 'NO_PROXY',
      needs: ['HTTP_PROXY', 'HTTPS_PROXY'],
      kind: 'hosts',
      default: '',
      description: 'hosts and domains, with commas, that are called without a proxy',
    }),
  }),
  workerConcurrency: Type.Integer({
    env: 'WORKER_CONCURRENCY',
    roles: ['worker', 'start'],
    default: 10,
    minimum: 1,
    maximum: 200,
    description: 'jobs at once in one worker',
  }),
  workerOrganisations: Type.Integer({
    env: 'WORKER_ORGANISATIONS',
    roles: ['worker'],
    needs: ['CONTROL_DATABASE_URL'],
    default: 10,
    minimum: 1,
    maximum: 500,
    description:
      'with CONTROL_DATABASE_URL: organisations that one worker works for at once, each over at most ten connections; others take turns',
  }),
  workerHealthPort: Type.Optional(
    Type.Integer({
      env: 'WORKER_HEALTH_PORT',
      roles: ['worker'],
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
        kind: 'address',
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
  abonnementenMax: Type.Optional(
    Type.Integer({
      env: 'ABONNEMENTEN_MAX',
      minimum: 0,
      maximum: 1_000_000,
      description: 'abonnementen that there may be; unset: as many as each application may have',
    }),
  ),
  notificationsDisabled: Type.Boolean({
    env: 'NOTIFICATIONS_DISABLED',
    default: false,
    description: 'true: changes are not announced at all',
    ...pages({
      group: 'Notificaties',
      label: 'Notificaties uitzetten',
      help: 'Wijzigingen worden niet meer gemeld. Ze worden ook later niet alsnog gemeld.',
    }),
  }),
  enableCloudEvents: Type.Boolean({
    env: 'ENABLE_CLOUD_EVENTS',
    default: false,
    description: 'true: cloud events of cases are sent beside the notifications, and taken at /events',
  }),
  cloudEventsProfile: Type.Enum(['nl-gov', 'open-zaak'], {
    env: 'CLOUD_EVENTS_PROFILE',
    needs: ['ENABLE_CLOUD_EVENTS'],
    default: 'nl-gov',
    description:
      'nl-gov: cloud events by the NL GOV profile, of published cases; open-zaak: as Open Zaak sends them, of all cases',
  }),
  cloudEventsSource: Type.Optional(
    Type.String({
      env: 'CLOUD_EVENTS_SOURCE',
      needs: ['ENABLE_CLOUD_EVENTS'],
      must: 'be a URN, such as urn:nld:oin:00000001823288444000:systeem:zaakstroom',
      pattern: '^urn:[A-Za-z0-9][A-Za-z0-9-]{1,31}:[!-~]{1,200}$',
      description: 'member source of cloud events by the NL GOV profile: your OIN and this system',
    }),
  ),
  notificationsSource: Type.Optional(
    Type.String({
      env: 'NOTIFICATIONS_SOURCE',
      minLength: 1,
      maxLength: 100,
      description: 'member source of every notification; cloud events without it name our address',
      ...pages({
        group: 'Notificaties',
        label: 'Bron in elke notificatie',
        help: 'Wat in source van elke notificatie staat. Leeg: het adres van deze dienst.',
        must: 'ten hoogste 100 tekens',
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
        'who gets our messages: extern (a notifications service elsewhere, where `zaakstroom notifications register-channels` makes our channels), ingebouwd (the abonnementen here) or beide; unset: as it is in the database, and ingebouwd for `start` without a service elsewhere',
    }),
  ),
  notificatiesHttpHosts: Type.String({
    env: 'NOTIFICATIES_HTTP_HOSTS',
    kind: 'hosts',
    default: '',
    description: 'hosts, with commas, whose callbacks may begin with http://; * for all. Loopback always may',
    ...pages({
      group: 'Notificaties',
      label: 'Hosts zonder https',
      help: 'Hosts, met komma’s ertussen, waarvan een callback met http:// mag beginnen; * voor alle.',
      must: 'namen van hosts',
    }),
  }),
  allowedPrivateHosts: Type.Optional(
    Type.String({
      env: 'ALLOWED_PRIVATE_HOSTS',
      description:
        'hosts (*.domain for all below one), addresses and ranges (CIDR), with commas, that a callback may be at although they are private or loopback; unset: none, but loopback with the embedded database',
      ...pages({
        group: 'Notificaties',
        label: 'Private hosts voor callbacks',
        help: 'Hosts (*.domein voor alles daaronder), adressen en reeksen (CIDR), met komma’s ertussen, in het eigen netwerk waar een callback mag staan. Alle andere private adressen worden geweigerd.',
        must: 'namen van hosts, adressen of reeksen',
      }),
    }),
  ),
  notificatiesTestCallbackAuth: Type.Boolean({
    env: 'TEST_CALLBACK_AUTH',
    default: true,
    description: 'false: a callback need not refuse a message without Authorization when an abonnement is made',
    ...pages({
      group: 'Notificaties',
      label: 'Callback moet Authorization eisen',
      help: 'Een nieuw abonnement wordt geweigerd als zijn callback een bericht zonder Authorization aanneemt.',
    }),
  }),
  notificationDaysRetained: Type.Integer({
    env: 'NOTIFICATION_NUMBER_OF_DAYS_RETAINED',
    default: 60,
    minimum: 1,
    maximum: 36_500,
    description: 'days after which delivered and failed notifications are removed',
    ...pages({
      group: 'Bewaren',
      label: 'Notificaties, in dagen',
      help: 'Zo lang blijven notificaties bewaard die bezorgd of mislukt zijn.',
    }),
  }),
  feedDays: Type.Integer({
    env: 'FEED_DAYS',
    default: 60,
    minimum: 0,
    maximum: 36_500,
    description:
      'days for which changes are kept for who copies (`_deltas`); 0: there is no feed. `migrate` and `start` switch it',
  }),
  feedSnapshotDays: Type.Integer({
    env: 'FEED_SNAPSHOT_DAYS',
    needs: ['FEED_DAYS'],
    default: 7,
    minimum: 1,
    maximum: 365,
    description: 'days for which a snapshot is kept, from which a copy begins (`_snapshots`)',
  }),
  idempotencyKeyHours: Type.Integer({
    env: 'IDEMPOTENCY_KEY_HOURS',
    default: 24,
    minimum: 1,
    maximum: 168,
    description: 'hours for which a request with an Idempotency-Key may be repeated; the answer is kept as long',
  }),
  idempotencyKeysMost: Type.Integer({
    env: 'IDEMPOTENCY_KEYS_MOST',
    default: 1_000_000,
    minimum: 1000,
    maximum: 100_000_000,
    description: 'keys of one applicatie that are kept; beyond it the oldest go before their term is over',
  }),
  outgoingLogRetentionDays: Type.Integer({
    env: 'OUTGOING_LOG_RETENTION_DAYS',
    default: 30,
    minimum: 0,
    maximum: 36_500,
    description: 'days after which the log of requests to other services is removed; 0: there is none',
    ...pages({
      group: 'Bewaren',
      label: 'Logboek van uitgaande verzoeken, in dagen',
      help: 'Zo lang blijven regels over verzoeken aan andere diensten bewaard. 0: er komt geen logboek.',
    }),
  }),
  selectielijstApiRoot: Type.Optional(
    Type.String({
      env: 'SELECTIELIJST_API_ROOT',
      kind: 'address',
      must: 'begin with https:// or http:// and end in a slash, and have no ?, no # and no @',
      pattern: '^https?://[^/?#@]+/([^?#]*/)?$',
      description:
        'API of the selectielijst, ending in a slash; unset, and none imported: its URLs are stored unverified',
      ...pages({
        group: 'Selectielijst',
        label: 'Adres van de API van de selectielijst',
        help: 'Leeg, en geen selectielijst geïmporteerd: verwijzingen naar de selectielijst worden niet gecontroleerd.',
        must: 'een adres dat begint met https:// of http:// en eindigt op een schuine streep',
      }),
    }),
  ),
  selectielijstBestand: Type.Optional(
    Type.String({
      env: 'SELECTIELIJST_BESTAND',
      kind: 'json',
      minLength: 1,
      description: 'JSON file with answers of the selectielijst, looked in first',
    }),
  ),
}
